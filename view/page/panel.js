// The panel beside the scene: results, modes, joints, links, display. Plain elements, usable by keyboard.

import { format } from "./robot_view.js";

export function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
        else if (key in made && key !== "list") made[key] = value;
        else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
}

function section(title, open, ...children) {
    return element("details", { open }, element("summary", {}, title), ...children);
}

function checkbox(text, checked, onchange, title = "") {
    const box = element("input", { type: "checkbox", checked, onchange: () => onchange(box.checked) });
    return element("label", { className: "check", title }, box, element("span", {}, text));
}

export class Panel {
    constructor(container, app) {
        this.app = app;
        this.sliders = [];
        container.append(...this.#parts());
    }

    #parts() {
        const { app } = this, { description } = app.kernel, parts = [this.#head(description)];
        if (app.results.length > 0) parts.push(this.#plots());
        if (app.modes.length > 0) parts.push(this.#modes());
        const moving = description.links.filter((link) => link.joint.nv > 0);
        if (moving.length > 0) parts.push(section("Joints", app.results.length === 0 && app.modes.length === 0, this.#joints(description)));
        parts.push(section("Links", false, this.#tree(description, -1)));
        parts.push(section("Display", true, this.#display(description)));
        parts.push(section("Keys", false, this.#keys()));
        return parts;
    }

    #head(description) {
        return element("header", {}, element("h1", {}, description.name), element("p", {}, description.description));
    }

    // ---- results --------------------------------------------------------------------------------------------------

    #plots() {
        const { app } = this, names = [...new Set(app.results.flatMap((result) => [...result.columns.keys()]))];
        const list = element("datalist", { id: "columns" }, ...names.map((name) => element("option", { value: name })));
        const input = element("input", { type: "search", placeholder: "variable to plot", list: "columns", ariaLabel: "variable to plot",
                                         onchange: () => { if (names.includes(input.value)) { app.plots.add(input.value); input.value = ""; app.redraw(); } } });
        const parts = [input, list];
        if (app.results.length > 1)
            parts.push(element("div", { className: "row" }, app.results.length > 2 ? "other results: " : "second result: ", ...(this.ways = ["side", "over"].map((way) =>
                element("button", { onclick: () => app.arrange(way), textContent: way === "side" ? "beside" : "as ghost", value: way })))));
        const legend = app.results.map((result, i) => element("div", { className: `legend result${i}` }, `${i + 1}: ${result.name}`));
        return section("Results", true, ...legend, ...parts);
    }

    markWay(way) {
        for (const button of this.ways ?? []) button.ariaPressed = String(button.value === way);
    }

    // ---- modes ----------------------------------------------------------------------------------------------------

    #modes() {
        const { app } = this;
        this.modeRows = app.modes.map((mode, i) => {
            const grows = mode.growth > 0 ? `, grows as e^(${format(mode.growth)} t)` : "";
            return element("button", { className: "mode", ariaPressed: "false", onclick: () => app.showMode(app.mode === i ? null : i) },
                element("span", {}, String(i + 1)), element("span", {}, `${format(mode.frequency)} Hz`),
                element("span", {}, `ζ ${format(Number(mode.damping_ratio.toPrecision(3)))}${grows}`));
        });
        const scale = element("input", { type: "range", min: 0, max: 4, step: 0.05, value: 1, ariaLabel: "amplitude",
                                         oninput: () => { app.modeScale = Number(scale.value); } });
        return section("Modes", true, element("p", { className: "note" }, "frequency and damping ratio ζ; pick one to see its shape"),
            element("div", { className: "list" }, ...this.modeRows), element("label", { className: "row" }, "amplitude", scale));
    }

    markMode(index) {
        this.modeRows?.forEach((row, i) => { row.ariaPressed = String(i === index); });
    }

    // ---- joints ---------------------------------------------------------------------------------------------------

    #joints(description) {
        const rows = [];
        description.links.forEach((link, i) => {
            for (let k = 0; k < link.joint.nv; k++) rows.push(this.#slider(link, i, k));
        });
        return element("div", { className: "sliders" }, ...rows,
            element("button", { onclick: () => this.app.resetPose(), textContent: "start pose" }));
    }

    // One velocity of a joint. A quaternion has no coordinates: its sliders turn about the axes of the body.
    #slider(link, i, k) {
        const { app } = this, { joint } = link, turn = joint.omega < 0 ? -1 : k - joint.omega, free = turn >= 0 && turn < 3;
        const at = joint.quaternion >= 0 && k > joint.omega ? k + 1 : k; // a quaternion has one number more than its velocities
        const position = free ? null : joint.positions[at];
        const turns = free || position.unit === "rad", size = app.kernel.description.size;
        const start = free ? 0 : position.start, span = turns ? Math.PI : 0.5 * size;
        const lower = free ? -Math.PI : position.lower ?? start - span, upper = free ? Math.PI : position.upper ?? start + span;
        const input = element("input", { type: "range", min: lower, max: upper, step: "any", value: start,
                                         ariaLabel: free ? `${joint.name} rotation ${k}` : position.name });
        const value = element("output", {}), slider = { link: i, k, free, input, value, turns, angle: 0,
                                                         index: free ? -1 : joint.q + at, name: free ? `${joint.name} ${"xyz"[turn]}` : position.name };
        input.addEventListener("input", () => app.drag(slider, Number(input.value)));
        this.sliders.push(slider);
        const motion = { driven: "", passive: " (passive)", prescribed: " (prescribed)" }[joint.motion];
        return element("label", { className: "slider" }, element("span", { title: `${joint.type}, ${joint.motion}` }, slider.name + motion), value, input);
    }

    /** Sliders and numbers follow the pose. */
    showPositions(q) {
        for (const slider of this.sliders) {
            const x = slider.free ? slider.angle : q[slider.index];
            if (document.activeElement !== slider.input || Math.abs(slider.input.value - x) > 1e-9) slider.input.value = x;
            slider.value.textContent = slider.turns ? `${((x * 180) / Math.PI).toFixed(1)}°` : `${x.toFixed(3)} m`;
        }
    }

    // ---- links and display ------------------------------------------------------------------------------------------

    #tree(description, parent) {
        const list = element("ul", { className: "tree" });
        description.links.forEach((link, i) => {
            if (link.parent !== parent) return;
            list.append(element("li", {}, checkbox(link.name, true, (on) => this.app.showLink(i, on)), this.#tree(description, i)));
        });
        return list;
    }

    #display(description) {
        const { app } = this, rows = [], boxes = {};
        const add = (key, text, on, title) => rows.push(boxes[key] = checkbox(text, on, (checked) => app.setShown(key, checked), title));
        add("names", "names", false, "N");
        add("joints", "joints", true, "J");
        if (description.frames.length > 0) add("frames", "frames", false, "F");
        add("grid", `ground grid, ${format(app.stage.gridStep)} m`, true, "G");
        add("axes", "world axes", true, "");
        if (Math.hypot(...description.gravity) > 0) add("gravity", "gravity", true, "");
        if (description.links.some((link) => link.ellipsoid)) add("ellipsoids", "inertia ellipsoids of rigid links", false, "I");
        if (app.results.length > 0) {
            add("trail", "trail of the tip", true, "");
            if (description.frames.length > 0) add("frameTrails", "trails of frames", false, "");
        }
        if (description.links.some((link) => link.modes > 0)) rows.push(this.#exaggeration());
        rows.push(element("div", { className: "row" }, element("button", { onclick: () => app.stage.reset(), textContent: "reset view" }),
                          element("button", { onclick: () => app.toggleTheme(), textContent: "light / dark" })));
        this.boxes = boxes;
        return element("div", {}, ...rows);
    }

    #exaggeration() {
        const value = element("output", {}, "1 ×"), { app } = this;
        // 1 to 1000, logarithmic
        const input = element("input", { type: "range", min: 0, max: 3, step: 0.05, value: 0, ariaLabel: "deformation times", oninput: () => {
            app.exaggeration = 10 ** Number(input.value);
            value.textContent = `${format(Number(app.exaggeration.toPrecision(2)))} ×`;
            app.redraw(true);
        } });
        return element("label", { className: "slider" }, element("span", {}, "deformation"), value, input);
    }

    check(key, on) {
        const box = this.boxes[key]?.querySelector("input");
        if (box) box.checked = on;
    }

    #keys() {
        const keys = [["drag, wheel", "turn, zoom; right button: move"], ["W A S D, Q E", "turn, zoom"], ["R", "reset view"], ["N J F G I", "names, joints, frames, grid, inertia"],
                      ["T", "light / dark"]];
        if (this.app.results.length > 0) keys.push(["space", "play, pause"], ["← →", "back, forward (shift: 10 ×)"], ["Home End", "start, end"], ["+ −", "speed"], ["L", "loop"]);
        if (this.app.modes.length > 0) keys.push(["1 … 9", "mode"], ["0", "no mode"]);
        return element("dl", {}, ...keys.flatMap(([key, text]) => [element("dt", {}, key), element("dd", {}, text)]));
    }
}
