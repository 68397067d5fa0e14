// The page of `limber view`: reads its data, makes the scene and the panel, and runs the clock.

import * as THREE from "three";
import { loadKernel } from "./kernel.js";
import { Labels } from "./labels.js";
import { axisColors, palette } from "./palette.js";
import { Panel, element } from "./panel.js";
import { Player } from "./player.js";
import { Plots } from "./plots.js";
import { Mode, exaggerate } from "./pose.js";
import { Result } from "./result.js";
import { RobotView } from "./robot_view.js";
import { Stage } from "./stage.js";
import style from "./style.css";
import { Trails } from "./trails.js";

const KINDS = { names: ["link", "joint", "loop", "line", "payload", "tip"], frames: ["frame"] };

class App {
    constructor(kernel, data, results, root) {
        Object.assign(this, { kernel, results, root });
        if (data.q) kernel.q.set(data.q);
        this.pose = Float64Array.from(kernel.q); // by sliders
        this.start = Float64Array.from(kernel.q);
        this.modes = (data.modes ?? []).map((mode) => new Mode(mode, this.start, kernel));
        const first = this.modes.findIndex((mode) => mode.frequency > 0); // those before it do not oscillate
        this.mode = this.modes.length > 0 ? Math.max(first, 0) : null;
        this.modeScale = 1;
        this.phase = 0;
        this.exaggeration = 1;
        this.way = "over"; // how a second result is shown
        this.shown = new Set(["joints", "grid", "axes", "gravity", "trail"]);
        this.hidden = new Set(); // links
        this.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
        this.#build();
    }

    #build() {
        const part = (name) => this.root.querySelector(`.${name}`), { description } = this.kernel;
        this.stage = new Stage(part("scene").querySelector("canvas"), description);
        this.stage.resize();
        this.views = [new RobotView(description, palette.light)];
        for (const _ of this.results.slice(1)) this.views.push(new RobotView(description, palette.light));
        this.trails = this.views.map((view) => new Trails(view.group));
        for (const view of this.views) this.stage.scene.add(view.group);
        this.labels = new Labels(part("labels"));
        this.plots = new Plots(part("plots"), this.results, (t) => this.player.seek(t));
        if (this.results.length > 0) {
            this.player = new Player(part("player"), this.results, () => this.#showResult());
            for (const axis of [1, 2, 3]) if (this.#moves(`tip.position[${axis}]`)) this.plots.add(`tip.position[${axis}]`);
        }
        this.panel = new Panel(part("panel"), this);
        this.#listen(part("scene"));
        this.#listenToPrinting();
        this.setTheme(this.theme);
        this.#place();
        this.arrange("over");
        this.panel.markMode(this.mode);
        this.#makeTrails();
        this.setShown("names", false);
    }

    #moves(name) {
        return this.results.some((result) => {
            const values = result.columns.get(name);
            return values && values.some((value) => Math.abs(value - values[0]) > 1e-4 * this.kernel.description.size);
        });
    }

    // Everything that is drawn at the start, and at some times of the results
    #fit() {
        const points = [], include = () => points.push(...this.views[0].extent(this.kernel.numbers()));
        this.kernel.q.set(this.pose);
        include();
        for (const result of this.results)
            for (let k = 0; k <= 10; k++) {
                result.at(result.start + (k / 10) * (result.end - result.start), this.kernel.q);
                include();
            }
        this.stage.fit(points);
    }

    // ---- what moves ---------------------------------------------------------------------------------------------------

    #setPose(view) {
        const { kernel } = this;
        kernel.q.set(this.pose);
        if (this.playsResult) {
            this.#positions(view);
            exaggerate(kernel, this.exaggeration);
        } else if (this.mode !== null) this.modes[this.mode].at(kernel, this.phase, this.modeScale);
        else exaggerate(kernel, this.exaggeration);
    }

    // Of a result at the time of the player, as they are in it
    #positions(view) {
        const { kernel, player } = this, result = this.results[view];
        kernel.q.set(this.pose);
        result.at(Math.min(Math.max(player.time, result.start), result.end), kernel.q);
        return kernel.q;
    }

    get playsResult() { return this.results.length > 0 && this.mode === null && !this.dragged; }

    #place() {
        this.views.forEach((view, i) => {
            this.#setPose(i);
            view.update(this.kernel.numbers());
            if (i === 0) this.panel.showPositions(this.kernel.q);
        });
    }

    // The time was moved: the result is shown in place of a mode or a pose by sliders
    #showResult() {
        if (this.dragged) this.#say("");
        this.dragged = false;
        if (this.mode !== null) this.showMode(null);
        this.redraw();
    }

    /** A slider was moved: the loops follow. */
    drag(slider, value) {
        if (this.playsResult) this.pose.set(this.#positions(0)); // goes on from what is seen
        this.player?.pause();
        this.dragged = true;
        if (this.mode !== null) this.showMode(null);
        const { kernel } = this;
        kernel.q.set(this.pose);
        const from = slider.free ? slider.angle : kernel.q[slider.index];
        this.free = kernel.drag(slider.link, slider.k, value - from);
        if (slider.free) slider.angle = value;
        this.pose.set(kernel.q);
        this.#say(this.free ? "" : "The closed loops do not allow a position beyond this one.");
        this.redraw();
    }

    #say(text) { this.root.querySelector(".message").textContent = text; }

    resetPose() {
        this.#say("");
        this.pose.set(this.start);
        this.dragged = false;
        for (const slider of this.panel.sliders) slider.angle = 0;
        this.redraw();
    }

    showMode(index) {
        if (index !== null) this.player?.pause();
        this.mode = index;
        this.phase = 0;
        this.panel.markMode(index);
        this.redraw();
    }

    // ---- what is shown --------------------------------------------------------------------------------------------------

    arrange(way) {
        this.way = way;
        this.panel.markWay(way);
        this.stage.halves = way === "side" && this.views.length > 1 ? 2 : 1;
        this.stage.resize(true);
        for (const view of this.views.slice(1)) view.setGhost(way === "over");
        this.#fit();
        this.redraw();
    }

    showLink(i, on) {
        if (on) this.hidden.delete(i);
        else this.hidden.add(i);
        this.#applyShown();
    }

    setShown(key, on) {
        if (on) this.shown.add(key);
        else this.shown.delete(key);
        this.panel.check(key, on);
        const kinds = new Set();
        if (this.shown.has("names")) for (const kind of KINDS.names) kinds.add(kind);
        if (this.shown.has("names") && this.shown.has("frames")) kinds.add("frame");
        for (const kind of ["axes", "gravity"]) if (this.shown.has(kind)) kinds.add(kind);
        this.labels.set(this.views[0], this.stage.marks, kinds);
        if (key === "trail" || key === "frameTrails") this.#makeTrails();
        this.#applyShown();
    }

    #applyShown() {
        const { stage, shown } = this;
        stage.grid.visible = shown.has("grid");
        stage.axes.visible = shown.has("axes");
        stage.gravity.visible = shown.has("gravity");
        for (const view of this.views) {
            view.views.forEach((link, i) => {
                link.body.visible = !this.hidden.has(i);
                link.joint.visible = shown.has("joints");
                if (link.ellipsoid) link.ellipsoid.visible = shown.has("ellipsoids");
            });
            view.frames.forEach((frame, i) => (frame.visible = shown.has("frames") && !this.hidden.has(this.kernel.description.frames[i].link)));
        }
        this.redraw();
    }

    #makeTrails() {
        const colors = palette[this.theme], [view] = this.views, places = [];
        if (this.shown.has("trail")) places.push({ at: view.linkAt[view.description.tip] + 24, color: colors.trail });
        if (this.shown.has("frameTrails")) view.description.frames.forEach((_, i) => places.push({ at: view.frameAt + 12 * i, color: colors.frameTrail }));
        this.results.forEach((result, i) => this.trails[i].make(this.kernel, result, this.exaggeration, places));
    }

    // On paper the page is light
    #listenToPrinting() {
        let theme;
        matchMedia("print").addEventListener("change", ({ matches }) => {
            if (matches) theme = this.theme;
            this.setTheme(matches ? "light" : theme);
            this.draw();
        });
    }

    toggleTheme() { this.setTheme(this.theme === "dark" ? "light" : "dark"); }

    setTheme(theme) {
        this.theme = theme;
        this.root.dataset.theme = theme;
        this.stage.setColors(palette[theme]);
        for (const view of this.views) view.setColors(palette[theme]);
        this.plots.redraw();
        this.#makeTrails();
        this.redraw();
    }

    /** deformed: trails depend on it too. */
    redraw(deformed = false) {
        this.stage.changed = true;
        if (deformed) this.#makeTrails();
    }

    // ---- pointer and keys ------------------------------------------------------------------------------------------------

    #listen(scene) {
        const tooltip = this.root.querySelector(".tooltip"), ray = new THREE.Raycaster();
        scene.addEventListener("pointermove", (event) => {
            const { left, top, width, height } = scene.getBoundingClientRect();
            const at = new THREE.Vector2(((event.clientX - left) / width) * 2 - 1, 1 - ((event.clientY - top) / height) * 2);
            ray.setFromCamera(at, this.stage.camera);
            const hit = event.buttons === 0 && ray.intersectObjects([...this.views[0].picks, ...this.stage.picks].filter(isShown), false)[0]?.object.userData;
            tooltip.hidden = !hit;
            if (!hit) return;
            tooltip.replaceChildren(element("strong", {}, hit.text), element("span", {}, hit.detail));
            tooltip.style.transform = `translate(${event.clientX - left + 14}px, ${event.clientY - top + 14}px)`;
        });
        scene.addEventListener("pointerleave", () => (tooltip.hidden = true));
        const embedded = "embedded" in this.root.dataset; // keys and wheel are the page's until the scene is clicked
        this.stage.controls.enableZoom = !embedded;
        scene.addEventListener("pointerdown", () => (this.stage.controls.enableZoom = true));
        (embedded ? this.root : document).addEventListener("keydown", (event) => {
            if (event.target.matches?.("input, select, textarea") && !(event.target.type === "range" && event.key === " ")) return;
            if (event.key === " " && event.target.matches?.("button, summary")) return; // presses it
            if (!event.ctrlKey && !event.metaKey && !event.altKey && this.#key(event)) event.preventDefault();
        });
    }

    #key({ key, shiftKey }) {
        const { stage, player } = this, low = key.toLowerCase(), flip = (what) => this.setShown(what, !this.shown.has(what));
        const turns = { a: [-0.1, 0, 1], d: [0.1, 0, 1], w: [0, -0.1, 1], s: [0, 0.1, 1], q: [0, 0, 1.1], e: [0, 0, 1 / 1.1] };
        const toggles = { n: "names", j: "joints", f: "frames", g: "grid", i: "ellipsoids" };
        if (turns[low]) stage.turn(...turns[low]);
        else if (toggles[low]) flip(toggles[low]);
        else if (low === "r") stage.reset();
        else if (low === "t") this.toggleTheme();
        else if (this.modes.length > 0 && /^[0-9]$/.test(key)) {
            if (Number(key) <= this.modes.length) this.showMode(key === "0" ? null : Number(key) - 1);
        } else if (player) return this.#playerKey(key, shiftKey ? 10 : 1);
        else return false;
        return true;
    }

    #playerKey(key, factor) {
        const { player } = this;
        if (key === " ") player.toggle();
        else if (key === "ArrowRight") player.seek(player.time + factor * player.step);
        else if (key === "ArrowLeft") player.seek(player.time - factor * player.step);
        else if (key === "Home") player.seek(player.start);
        else if (key === "End") player.seek(player.end);
        else if (key === "+" || key === "-") player.faster(key === "+" ? 1 : -1);
        else if (key.toLowerCase() === "l") player.toggleLoop();
        else return false;
        return true;
    }

    // ---- the clock ---------------------------------------------------------------------------------------------------------

    /** One picture. */
    draw() {
        this.#place();
        const beside = this.way === "side" && this.views.length > 1;
        this.stage.draw([this.views[0].group], this.views.slice(1).map((view) => view.group));
        this.labels.place(this.stage, (name) => !beside && !this.hidden.has(name.link));
        if (this.player) this.plots.draw(this.player.time, this.theme);
        this.frames = (this.frames ?? 0) + 1;
    }

    run() {
        let last = performance.now();
        const tick = (now) => {
            const elapsed = Math.min((now - last) / 1000, 0.5);
            last = now;
            this.player?.advance(elapsed);
            if (this.mode !== null && !this.still) {
                this.phase = (this.phase + elapsed * 2 * Math.PI * 0.8) % (2 * Math.PI);
                this.stage.changed = true;
            }
            this.stage.resize();
            if (this.stage.changed) this.draw();
            requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
    }
}

function isShown(mesh) {
    for (let object = mesh; object; object = object.parent) if (!object.visible) return false;
    return true;
}

function layOut(root) {
    document.head.append(element("style", {}, style));
    root.className = "embedded" in root.dataset ? "limber embedded" : "limber";
    root.append(
        element("main", {},
            element("div", { className: "scene" }, element("canvas", { tabIndex: 0, ariaLabel: "3-D scene" }), element("div", { className: "labels" }),
                element("div", { className: "tooltip", hidden: true }), element("div", { className: "message", role: "status" })),
            element("div", { className: "player", hidden: true }), element("div", { className: "plots", hidden: true })),
        element("aside", { className: "panel" }));
}

async function start() {
    const root = document.getElementById("limber") ?? document.body;
    const robot = document.getElementById("limber-robot"); // the robot file alone
    const data = robot ? { robot: robot.textContent } : JSON.parse(document.getElementById("limber-data").textContent);
    layOut(root);
    try {
        const kernel = await loadKernel(data.robot), results = [];
        for (const result of data.results ?? []) results.push(await Result.read(result));
        const app = new App(kernel, data, results, root);
        app.run();
        return app;
    } catch (error) {
        root.querySelector(".message").textContent = error.message;
        throw error;
    }
}

window.limber = { axisColors, THREE, ready: start() };
