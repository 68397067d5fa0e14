// Meshes that follow the numbers of the kernel: links as tubes along their sections, joints, lines.

import * as THREE from "three";

const SIDES = 20;

/** Corners of a section and their normals in the plane (y, z), for width = height = 1. A rectangle has each corner twice. */
function outlineOf(kind) {
    const points = [];
    if (kind === "rectangle") {
        const corner = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
        corner.forEach(([y, z], i) => {
            const [y2, z2] = corner[(i + 1) % 4], n = [(y + y2) / 2, (z + z2) / 2];
            points.push([y / 2, z / 2, ...n], [y2 / 2, z2 / 2, ...n]);
        });
        return { points, step: 2 };
    }
    for (let i = 0; i < SIDES; i++) {
        const a = (2 * Math.PI * i) / SIDES;
        points.push([Math.cos(a) / 2, Math.sin(a) / 2, Math.cos(a), Math.sin(a)]);
    }
    return { points, step: 1 };
}

/** A body along n sections with their outline, as one mesh whose vertices move. */
export class Tube {
    constructor(link, material) {
        this.n = link.size.length / 2;
        this.size = link.size;
        this.axes = link.body === "beam"; // sections have axes of their own; else they are normal to the line
        this.outline = outlineOf(link.outline);
        const ring = this.outline.points.length, geometry = new THREE.BufferGeometry();
        this.ring = ring;
        this.positions = new Float32Array(3 * ring * (this.n + 2));
        this.normals = new Float32Array(3 * ring * (this.n + 2));
        geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3).setUsage(THREE.DynamicDrawUsage));
        geometry.setAttribute("normal", new THREE.BufferAttribute(this.normals, 3).setUsage(THREE.DynamicDrawUsage));
        geometry.setIndex(this.#indices());
        this.mesh = new THREE.Mesh(geometry, material);
        this.mesh.frustumCulled = false;
    }

    #indices() {
        const { ring, n } = this, index = [], { step } = this.outline;
        for (let k = 0; k + 1 < n; k++)
            for (let i = 0; i < ring; i += step) {
                const a = k * ring + i, b = k * ring + ((i + 1) % ring), c = a + ring, d = b + ring;
                index.push(a, b, c, b, d, c);
            }
        for (const cap of [0, 1]) // fans; the last two rings are the ends once more, with normals along the body
            for (let i = 1; i + 1 < ring; i++) {
                const first = (n + cap) * ring;
                if (cap === 0) index.push(first, first + i + 1, first + i);
                else index.push(first, first + i, first + i + 1);
            }
        return index;
    }

    /** frames: 12 numbers for each section. */
    update(numbers, offset) {
        for (let k = 0; k < this.n; k++) this.#place(numbers, offset, k, k, 0);
        this.#place(numbers, offset, 0, this.n, -1);
        this.#place(numbers, offset, this.n - 1, this.n + 1, 1);
        this.mesh.geometry.attributes.position.needsUpdate = true;
        this.mesh.geometry.attributes.normal.needsUpdate = true;
    }

    // Section k as ring number `row`; end: -1 or 1 for a cap, whose normals point along the body
    #place(numbers, offset, k, row, end) {
        const at = offset + 12 * k, { y, z, x } = this.axes ? axesAt(numbers, at) : this.#axesAlong(numbers, offset, k);
        const width = this.size[2 * k], height = this.size[2 * k + 1];
        let to = 3 * this.ring * row;
        for (const [u, v, nu, nv] of this.outline.points) {
            for (let i = 0; i < 3; i++, to++) {
                this.positions[to] = numbers[at + i] + u * width * y[i] + v * height * z[i];
                this.normals[to] = end === 0 ? nu * y[i] + nv * z[i] : end * x[i];
            }
        }
    }

    #axesAlong(numbers, offset, k) {
        const a = offset + 12 * Math.max(k - 1, 0), b = offset + 12 * Math.min(k + 1, this.n - 1);
        return axesOfLine(numbers[b] - numbers[a], numbers[b + 1] - numbers[a + 1], numbers[b + 2] - numbers[a + 2]);
    }
}

const column = (numbers, at, j) => [numbers[at + 3 + j], numbers[at + 6 + j], numbers[at + 9 + j]];
const axesAt = (numbers, at) => ({ x: column(numbers, at, 0), y: column(numbers, at, 1), z: column(numbers, at, 2) });

function axesOfLine(dx, dy, dz) {
    const x = new THREE.Vector3(dx, dy, dz).normalize();
    const y = new THREE.Vector3(Math.abs(x.z) < 0.9 ? 0 : 1, 0, Math.abs(x.z) < 0.9 ? 1 : 0).cross(x).normalize();
    const z = new THREE.Vector3().crossVectors(x, y);
    return { x: x.toArray(), y: y.toArray(), z: z.toArray() };
}

/** Sets an object's matrix to a frame of the numbers. */
export function follow(object, numbers, at) {
    const n = numbers;
    object.matrixAutoUpdate = false;
    object.matrix.set(n[at + 3], n[at + 4], n[at + 5], n[at], n[at + 6], n[at + 7], n[at + 8], n[at + 1],
                      n[at + 9], n[at + 10], n[at + 11], n[at + 2], 0, 0, 0, 1);
    object.matrixWorldNeedsUpdate = true;
}

const up = new THREE.Vector3(0, 1, 0), from = new THREE.Vector3(), to = new THREE.Vector3(), along = new THREE.Vector3();

/** Stretches a cylinder of unit length (along its y axis) between two points, from the fraction a to b of the line. */
export function stretch(mesh, numbers, at, a = 0, b = 1) {
    from.fromArray(numbers, at);
    to.fromArray(numbers, at + 3);
    along.subVectors(to, from);
    const length = along.length();
    mesh.position.copy(from).addScaledVector(along, (a + b) / 2);
    mesh.scale.set(1, Math.max(length * (b - a), 1e-9), 1);
    if (length > 0) mesh.quaternion.setFromUnitVectors(up, along.divideScalar(length));
    return length;
}

export function cylinder(radius, material, sides = 16) {
    return new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, 1, sides), material);
}

/** Turns what is modeled along y into the direction of an axis. */
export function pointAlong(object, axis) {
    object.quaternion.setFromUnitVectors(up, new THREE.Vector3(...axis).normalize());
    return object;
}

/** The symbol of a joint, in its joint frame; r: its radius. */
export function jointSymbol(joint, r, material) {
    const group = new THREE.Group();
    const add = (geometry, axis) => {
        const mesh = new THREE.Mesh(geometry, material);
        if (axis) pointAlong(mesh, axis);
        group.add(mesh);
    };
    const pin = (axis, length) => add(new THREE.CylinderGeometry(r, r, length, 24), axis);
    if (joint.type === "revolute") pin(joint.axis, 3 * r);
    else if (joint.type === "universal") { pin(joint.axis, 3 * r); pin(joint.axis2, 3 * r); }
    else if (joint.type === "prismatic") add(new THREE.BoxGeometry(1.5 * r, 2.6 * r, 1.5 * r), joint.axis);
    else if (joint.type === "cylindrical") { pin(joint.axis, 2 * r); add(new THREE.CylinderGeometry(0.6 * r, 0.6 * r, 4.5 * r, 16), joint.axis); }
    else if (joint.type === "spherical") add(new THREE.SphereGeometry(1.3 * r, 24, 16));
    else if (joint.type === "free") add(new THREE.OctahedronGeometry(1.2 * r));
    return group;
}

/** Three axes of a frame, as thin arrows. */
export function triad(length, colors) {
    const group = new THREE.Group();
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, i) => {
        const material = new THREE.MeshBasicMaterial({ color: colors[i] });
        const shaft = cylinder(0.025 * length, material, 8), head = new THREE.Mesh(new THREE.ConeGeometry(0.075 * length, 0.22 * length, 12), material);
        for (const [mesh, at, size] of [[shaft, 0.4, 0.8], [head, 0.89, 1]]) {
            pointAlong(mesh, axis);
            mesh.position.set(...axis).multiplyScalar(at * length);
            if (mesh === shaft) mesh.scale.y = size * length;
            group.add(mesh);
        }
    });
    return group;
}
