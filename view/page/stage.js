// The stage: renderer, camera, lights, grid, axes, gravity; drawing one robot, or two side by side.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { axisColors } from "./palette.js";
import { pointAlong, triad } from "./shapes.js";

export class Stage {
    constructor(canvas, description) {
        this.canvas = canvas;
        this.description = description;
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
        this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
        this.scene = new THREE.Scene();
        this.camera = new THREE.PerspectiveCamera(30, 1, 0.01, 1000);
        this.camera.up.set(...description.view.up);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.addEventListener("change", () => (this.changed = true));
        this.halves = 1; // 2: two pictures side by side
        this.changed = true;
        this.#addLights();
        this.#addWorld();
    }

    #addLights() {
        const { up, eye } = this.description.view;
        this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8899aa, 1.6));
        const sun = new THREE.DirectionalLight(0xffffff, 2.0);
        sun.position.set(...eye).addScaledVector(new THREE.Vector3(...up), 1.2);
        this.scene.add(sun);
        this.scene.children[0].position.set(...up);
    }

    #addWorld() {
        const { size, gravity, view } = this.description, up = new THREE.Vector3(...view.up), step = roundStep(size / 8);
        this.grid = new THREE.GridHelper(24 * step, 24);
        pointAlong(this.grid, view.up);
        this.scene.add(this.grid);
        this.axes = triad(0.14 * size, axisColors);
        this.scene.add(this.axes);
        this.marks = ["x", "y", "z"].map((text, i) => mark(text, "axes", this.axes, new THREE.Vector3().setComponent(i, 0.16 * size)));
        this.gravity = new THREE.Group();
        const g = Math.hypot(...gravity);
        if (g > 0) {
            this.gravity.add(new THREE.ArrowHelper(new THREE.Vector3(...gravity).divideScalar(g), new THREE.Vector3(), 0.14 * size, 0, 0.045 * size, 0.025 * size));
            this.gravity.children[0].cone.userData = { text: "gravity", detail: `${Number(g.toPrecision(6))} m/s²` };
            this.marks.push(mark("g", "gravity", this.gravity, new THREE.Vector3(...gravity).multiplyScalar((0.165 * size) / g)));
        }
        this.scene.add(this.gravity);
        this.picks = this.gravity.children.slice(0, 1).map((arrow) => arrow.cone);
        this.up = up;
        this.gridStep = step;
    }

    setColors(colors) {
        this.scene.background = new THREE.Color(colors.background);
        const old = this.grid, step = this.gridStep;
        this.grid = new THREE.GridHelper(24 * step, 24, colors.gridAxis, colors.grid);
        this.grid.quaternion.copy(old.quaternion);
        this.grid.position.copy(old.position);
        this.grid.visible = old.visible;
        this.scene.remove(old);
        this.scene.add(this.grid);
        this.gravity.children[0]?.setColor(colors.gravity);
        this.changed = true;
    }

    /** Looks at points from the description's direction so that they fill the picture, and puts the grid below them. */
    fit(points) {
        const box = new THREE.Box3().setFromPoints(points), size = box.getSize(new THREE.Vector3()), axis = 0.18 * this.description.size;
        if (box.distanceToPoint(new THREE.Vector3()) < axis) // the world's axes are seen too where the robot stands on them
            points = points.concat([0, 1, 2].map((i) => new THREE.Vector3().setComponent(i, axis)));
        const sphere = Math.max(0.5 * size.length(), 0.2 * this.description.size), part = 0.84;
        const [right, eye] = [this.description.view.right, this.description.view.eye].map((axis) => new THREE.Vector3(...axis));
        const pageUp = new THREE.Vector3().crossVectors(eye, right), tall = part * Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
        const center = box.getCenter(new THREE.Vector3()), wide = tall * this.camera.aspect;
        let distance = 3 * sphere;
        for (let round = 0; round < 4; round++) { // the middle of what is seen becomes the target
            const seen = points.map((point) => {
                const from = point.clone().sub(center), depth = from.dot(eye);
                return { x: from.dot(right), y: from.dot(pageUp), depth, scale: distance / (distance - depth) };
            });
            const middle = (key) => {
                const all = seen.map((at) => at[key] * at.scale);
                return (largest(all) - largest(all.map((x) => -x))) / 2;
            };
            const [dx, dy] = [middle("x"), middle("y")];
            center.addScaledVector(right, dx).addScaledVector(pageUp, dy);
            distance = Math.max(largest(seen.map(({ x, y, depth }) => depth + Math.max(Math.abs(y - dy) / tall, Math.abs(x - dx) / wide))), sphere / tall / 4);
        }
        this.controls.target.copy(center);
        this.camera.position.set(...this.description.view.eye).normalize().multiplyScalar(distance).add(center);
        this.camera.near = distance / 200;
        this.camera.far = distance * 40;
        this.camera.updateProjectionMatrix();
        this.controls.update();
        const low = Math.min(0, this.up.dot(box.min), this.up.dot(box.max));
        this.grid.position.copy(center).addScaledVector(this.up, low - this.up.dot(center) - 0.012 * this.description.size);
        const far = size.clone().multiplyScalar(0.5).add(center);
        this.gravity.position.copy(center).addScaledVector(this.up, this.up.dot(far) - this.up.dot(center) - 0.05 * sphere)
            .addScaledVector(new THREE.Vector3(...this.description.view.right), 0.85 * sphere);
        this.home = { position: this.camera.position.clone(), target: center.clone() };
        this.changed = true;
    }

    reset() {
        this.camera.position.copy(this.home.position);
        this.controls.target.copy(this.home.target);
        this.controls.update();
    }

    /** Turns about the target, and moves towards it: for keys. [rad], factor */
    turn(azimuth, polar, zoom) {
        const offset = this.camera.position.clone().sub(this.controls.target);
        const right = new THREE.Vector3().crossVectors(this.up, offset).normalize();
        offset.applyAxisAngle(this.up, azimuth);
        const tilt = offset.angleTo(this.up) + polar;
        if (tilt > 0.05 && tilt < Math.PI - 0.05) offset.applyAxisAngle(right, polar);
        this.camera.position.copy(this.controls.target).addScaledVector(offset, zoom);
        this.controls.update();
    }

    resize(always = false) {
        const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
        if (!always && width === this.width && height === this.height) return;
        [this.width, this.height] = [width, height];
        this.renderer.setSize(width, height);
        this.camera.aspect = width / this.halves / height;
        this.camera.updateProjectionMatrix();
        this.changed = true;
    }

    /** Side by side, `left` is shown only in the left half, and `right` only in the right. */
    draw(left, right) {
        this.resize();
        const { halves } = this, width = this.width / halves;
        this.renderer.setScissorTest(halves === 2);
        for (let half = 0; half < halves; half++) {
            this.renderer.setViewport(half * width, 0, width, this.height);
            this.renderer.setScissor(half * width, 0, width, this.height);
            for (const group of left) group.visible = halves === 1 || half === 0;
            for (const group of right) group.visible = halves === 1 || half === 1;
            this.renderer.render(this.scene, this.camera);
        }
        for (const group of [...left, ...right]) group.visible = true;
        this.changed = false;
    }

    /** Pixels of a point of the world; `out` is overwritten. */
    project(point) {
        const ndc = point.clone().project(this.camera);
        return { x: (0.5 + 0.5 * ndc.x) * this.width, y: (0.5 - 0.5 * ndc.y) * this.height, ndc, hidden: ndc.z > 1 };
    }
}

const largest = (numbers) => numbers.reduce((most, x) => Math.max(most, x), -Infinity); // of any count of them

/** A letter at a point of an object, for Labels. */
function mark(text, kind, parent, at) {
    const object = new THREE.Object3D();
    object.position.copy(at);
    parent.add(object);
    return { text, kind, object };
}

/** 1, 2 or 5 times a power of ten, not below x. */
export function roundStep(x) {
    const power = 10 ** Math.floor(Math.log10(x));
    return power * [1, 2, 5, 10].find((digit) => digit * power >= x * (1 - 1e-9));
}
