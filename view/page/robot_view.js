// One robot in the scene: its objects, made once from the description, and moved by the numbers of the kernel.

import * as THREE from "three";
import { axisColors } from "./palette.js";
import { Tube, cylinder, follow, jointSymbol, stretch, triad } from "./shapes.js";

const FRAME = 12, LINK_FRAMES = 3;

export class RobotView {
    /** colors: of the palette. */
    constructor(description, colors) {
        this.description = description;
        this.colors = colors;
        this.group = new THREE.Group();
        this.picks = []; // meshes with a name, for the pointer
        this.names = []; // what can be labeled: { text, kind, object or mesh, link }
        this.materials = {};
        this.views = []; // of the links
        this.#layOut();
        description.links.forEach((link, i) => this.#makeLink(link, i));
        this.#makeArms();
        this.#makeFrames();
        this.#makeLoops();
        this.#makeLines();
        this.#makeTip();
    }

    // Offsets into the numbers: scene_numbers() in scene/scene.h
    #layOut() {
        const { links, arms, frames, loops } = this.description;
        let at = 0;
        this.linkAt = links.map((link) => {
            const here = at;
            at += FRAME * (LINK_FRAMES + link.size.length / 2);
            return here;
        });
        this.armAt = at;
        this.frameAt = this.armAt + 6 * arms.length;
        this.loopAt = this.frameAt + FRAME * frames.length;
        this.lineAt = this.loopAt + 6 * loops.length;
    }

    #material(name) {
        return (this.materials[name] ??= new THREE.MeshLambertMaterial({ color: this.colors[name] }));
    }

    setColors(colors) {
        this.colors = colors;
        for (const [name, material] of Object.entries(this.materials)) material.color.set(this.ghost ? colors.ghost : colors[name]);
    }

    /** Translucent and in one color, or as the robot itself. */
    setGhost(ghost) {
        this.ghost = ghost;
        for (const [name, material] of Object.entries(this.materials)) {
            const translucent = ghost || name === "ellipsoid";
            Object.assign(material, { transparent: translucent, opacity: translucent ? 0.35 : 1, depthWrite: !translucent, needsUpdate: true });
        }
        this.setColors(this.colors);
    }

    #name(object, text, detail, kind, link) {
        object.traverse((mesh) => {
            if (!mesh.isMesh) return;
            mesh.userData = { text, detail };
            this.picks.push(mesh);
        });
        this.names.push({ text, kind, object, link });
    }

    #radius(link) { // of a joint's symbol: visible beside the section at the hinge
        const wide = link.size.length > 0 ? Math.max(link.size[0], link.size[1]) : 0;
        return Math.min(Math.max(0.62 * wide, 0.55 * this.description.nominal), 2.5 * this.description.nominal);
    }

    #makeLink(link, i) {
        const body = new THREE.Group(), joint = link.joint, view = { body, hinge: new THREE.Group(), floats: link.joint.type === "free" };
        body.add(view.hinge);
        this.views.push(view);
        if (link.size.length > 0) {
            const tube = new Tube(link, this.#material(link.modes > 0 ? "flexible" : "rigid"));
            body.add(tube.mesh);
            view.tube = tube;
            this.#name(tube.mesh, link.name, `${link.body}, ${format(link.mass)} kg` + (link.modes ? `, ${link.modes} modes` : ""), "link", i);
        }
        const symbol = jointSymbol(joint, this.#radius(link), this.#material(joint.motion === "none" ? "rigid" : joint.motion));
        body.add(symbol);
        view.joint = symbol;
        if (joint.nv > 0) this.#name(symbol, joint.name, `${joint.type}, ${joint.motion}` + (joint.drive ? `, drive: ${joint.drive}` : ""), "joint", i);
        if (link.parent < 0 && joint.type !== "free") this.#makeGround(link, view);
        if (joint.type === "prismatic" || joint.type === "cylindrical") {
            view.slide = cylinder(0.3 * this.#radius(link), this.#material("arm"));
            body.add(view.slide);
        }
        if (link.payload) this.#makePayload(link, view, i);
        if (link.ellipsoid) this.#makeEllipsoid(link, view);
        this.group.add(body);
    }

    #makeGround(link, view) {
        const r = this.#radius(link), { up } = this.description.view;
        const plate = new THREE.Mesh(new THREE.CylinderGeometry(1.1 * r, 1.9 * r, 1.2 * r, 4), this.#material("ground"));
        plate.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...up));
        plate.userData.shift = new THREE.Vector3(...up).multiplyScalar(-1.3 * r);
        view.ground = plate;
        view.body.add(plate);
    }

    #makePayload(link, view, i) {
        const mesh = new THREE.Mesh(new THREE.BoxGeometry(1, 1, 1), this.#material("payload")), holder = new THREE.Group();
        mesh.scale.setScalar(0.8 * link.payload.size);
        mesh.position.set(...link.payload.com);
        holder.add(mesh);
        view.payload = holder;
        view.body.add(holder);
        this.#name(holder, `payload of ${link.name}`, `${format(link.payload.mass)} kg`, "payload", i);
    }

    #makeEllipsoid(link, view) {
        const { at, semiaxes } = link.ellipsoid, R = at.R, least = 0.02 * this.description.nominal;
        const material = (this.materials.ellipsoid ??= new THREE.MeshLambertMaterial({
            color: this.colors.ellipsoid, transparent: true, opacity: 0.3, depthWrite: false }));
        const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), material), holder = new THREE.Group();
        const [a, b, c] = semiaxes.map((x) => Math.max(x, least));
        mesh.matrixAutoUpdate = false;
        mesh.matrix.set(R[0] * a, R[1] * b, R[2] * c, at.p[0], R[3] * a, R[4] * b, R[5] * c, at.p[1], R[6] * a, R[7] * b, R[8] * c, at.p[2], 0, 0, 0, 1);
        holder.add(mesh);
        view.ellipsoid = holder;
        holder.visible = false;
        view.hinge.add(holder);
    }

    #makeArms() {
        this.arms = this.description.arms.map((link) => {
            const mesh = cylinder(0.3 * this.description.nominal, this.#material("arm"), 12);
            this.views[link].body.add(mesh);
            return mesh;
        });
    }

    #makeFrames() {
        this.frames = this.description.frames.map((frame) => {
            const object = triad(3 * this.description.nominal, axisColors);
            this.group.add(object);
            object.visible = false;
            this.#name(object, frame.name, `frame at ${frame.at}` + (frame.sensor ? ", sensor" : "") + (frame.load ? ", load" : ""), "frame", frame.link);
            return object;
        });
    }

    #makeLoops() {
        const r = 0.8 * this.description.nominal;
        this.loops = this.description.loops.map((loop) => {
            const object = new THREE.Group();
            for (let k = 0; k < 2; k++) object.add(new THREE.Mesh(new THREE.SphereGeometry(r, 20, 14), this.#material("loop")));
            this.group.add(object);
            this.#name(object, loop.name, `loop, ${loop.type}`, "loop", loop.link);
            return object;
        });
    }

    #makeLines() {
        const r = 0.55 * this.description.nominal;
        this.lines = this.description.lines.map((line) => {
            const object = new THREE.Group(), view = { object, rest: null };
            view.barrel = cylinder(r, this.#material("barrel"));
            view.rod = cylinder(0.5 * r, this.#material("rod"));
            view.pins = [0, 1].map(() => new THREE.Mesh(new THREE.SphereGeometry(0.9 * r, 16, 12), this.#material("barrel")));
            object.add(view.barrel, view.rod, ...view.pins);
            this.group.add(object);
            this.#name(object, line.name, line.drive === "force" ? "line" : `line, drive: ${line.drive}`, "line", line.link);
            return view;
        });
    }

    #makeTip() {
        this.tip = new THREE.Group();
        this.tip.add(new THREE.Mesh(new THREE.SphereGeometry(0.6 * this.description.nominal, 20, 14), this.#material("tip")));
        this.group.add(this.tip);
        this.#name(this.tip, "tip", `tip frame of ${this.description.links[this.description.tip].name}`, "tip", this.description.tip);
    }

    /** Moves everything to where the numbers say. */
    update(numbers) {
        this.views.forEach((view, i) => {
            const at = this.linkAt[i];
            follow(view.joint, numbers, view.floats ? at + FRAME : at);
            view.tube?.update(numbers, at + FRAME * LINK_FRAMES);
            if (view.payload) follow(view.payload, numbers, at + 2 * FRAME);
            follow(view.hinge, numbers, at + FRAME);
            if (view.ground) view.ground.position.fromArray(numbers, at).add(view.ground.userData.shift);
            if (view.slide) stretch(view.slide, [...numbers.subarray(at, at + 3), ...numbers.subarray(at + FRAME, at + FRAME + 3)], 0);
        });
        follow(this.tip, numbers, this.linkAt[this.description.tip] + 2 * FRAME);
        this.arms.forEach((mesh, i) => stretch(mesh, numbers, this.armAt + 6 * i));
        this.frames.forEach((object, i) => follow(object, numbers, this.frameAt + FRAME * i));
        this.loops.forEach((object, i) => object.children.forEach((mesh, k) => mesh.position.fromArray(numbers, this.loopAt + 6 * i + 3 * k)));
        this.lines.forEach((view, i) => this.#moveLine(view, numbers, this.lineAt + 6 * i));
    }

    // The barrel keeps its length, 0.6 of the length at the start; the rod moves in it
    #moveLine(view, numbers, at) {
        const length = stretch(view.rod, numbers, at);
        view.rest ??= length;
        stretch(view.barrel, numbers, at, 0, length > 0 ? Math.min((0.6 * view.rest) / length, 1) : 1);
        view.pins.forEach((pin, k) => pin.position.fromArray(numbers, at + 3 * k));
    }

    /** Points around what the numbers place: corners of sections, payloads, ends of arms, loops and lines. */
    extent(numbers) {
        const points = [], { links } = this.description, put = (at) => points.push(new THREE.Vector3().fromArray(numbers, at));
        const putAt = (at, local) => points.push(new THREE.Vector3(...[0, 1, 2].map((i) =>
            numbers[at + i] + local.reduce((sum, x, j) => sum + x * numbers[at + 3 + 3 * i + j], 0))));
        links.forEach((link, i) => {
            const at = this.linkAt[i];
            for (let k = 0; k < LINK_FRAMES; k++) put(at + FRAME * k);
            for (let k = 0; k < link.size.length / 2; k++)
                for (const [y, z] of [[1, 1], [1, -1], [-1, 1], [-1, -1]])
                    putAt(at + FRAME * (LINK_FRAMES + k), [0, (y * link.size[2 * k]) / 2, (z * link.size[2 * k + 1]) / 2]);
            if (link.payload) putAt(at + 2 * FRAME, link.payload.com);
        });
        for (let at = this.armAt; at < this.frameAt; at += 3) put(at);
        for (let at = this.loopAt; at < numbers.length; at += 3) put(at);
        return points;
    }

    /** Origins of the hinge frames, of the frames of the robot and of the tip frame as the scene has them, by name. World axes. */
    places() {
        const out = {}, put = (name, object) => (out[name] = new THREE.Vector3().setFromMatrixPosition(object.matrixWorld).toArray());
        this.group.updateMatrixWorld(true);
        this.description.links.forEach((link, i) => put(`joint ${link.joint.name}`, this.views[i].hinge));
        this.description.frames.forEach((frame, i) => put(`frame ${frame.name}`, this.frames[i]));
        put("tip", this.tip);
        return out;
    }

    /** The point that is labeled: the middle of a body, the origin of everything else. World axes. */
    anchor(name, out) {
        const { object, kind, link } = name;
        if (kind === "link") {
            const { positions, n, ring } = this.views[link].tube, middle = (n - 1) / 2;
            out.set(0, 0, 0);
            for (const k of [Math.floor(middle), Math.ceil(middle)])
                for (let i = 0; i < ring; i++) out.add(new THREE.Vector3().fromArray(positions, 3 * (ring * k + i)));
            return out.divideScalar(2 * ring).applyMatrix4(this.group.matrixWorld);
        }
        if (kind === "loop" || kind === "line") return object.children[kind === "loop" ? 0 : 1].getWorldPosition(out);
        return out.setFromMatrixPosition(object.matrixWorld);
    }
}

export const format = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(3) : String(Number(x.toPrecision(5))));
