// Opens pages of `limber view` in Chromium, without a window and without a graphics card, and prints what they show as JSON.
// node browse.mjs MODULES: each line of standard input is a list of tasks, { page, beside (files that it may load), screenshot, dark, width, height,
// steps: [[name, ...arguments], ...] }; the answers are one line of standard output.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , modules] = process.argv;
const { chromium } = createRequire(`${modules}/`)("playwright-core");

// Run inside the page; each returns what is asked for
const steps = {
    places: (app) => {
        app.draw();
        const places = app.views[0].places(), { camera } = app.stage, { THREE } = window.limber, projected = {};
        const inverse = camera.matrixWorldInverse.toArray(), projection = camera.projectionMatrix.toArray();
        for (const [name, at] of Object.entries(places)) projected[name] = new THREE.Vector3(...at).project(camera).toArray();
        return { places, projected, inverse, projection };
    },
    seek: (app, t) => { app.player.seek(t); },
    play: async (app, seconds) => {
        app.player.toggle();
        await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
        app.player.toggle();
        return app.player.time;
    },
    press: (app, key) => { document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); return app.player?.time; },
    space: (app, selector) => { // whether it plays the result
        app.root.querySelector(selector).dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
        return app.player.playing;
    },
    sliders: (app) => app.panel.sliders.map((slider) => ({ name: slider.name, min: Number(slider.input.min), max: Number(slider.input.max) })),
    slide: (app, name, value) => {
        const slider = app.panel.sliders.find((each) => each.name === name);
        slider.input.value = value;
        slider.input.dispatchEvent(new Event("input"));
        app.draw();
        return { gap: app.kernel.gap, free: app.free, q: Object.fromEntries(app.kernel.description.positions.map((each, i) => [each, app.pose[i]])), loops: app.views[0].loops.map(
            (loop) => loop.children[0].position.distanceTo(loop.children[1].position)) };
    },
    show: (app, key, on) => { app.setShown(key, on); app.draw(); },
    labels: (app) => [...app.root.querySelectorAll(".label")].filter((label) => label.style.visibility === "visible").map((label) => {
        const { x, y, width, height } = label.getBoundingClientRect();
        return { text: label.textContent, x, y, width, height };
    }),
    mode: (app, index, phase) => { app.still = true; app.showMode(index); app.phase = phase; app.draw(); return app.kernel.gap; },
    shown_mode: (app) => app.mode,
    extent: (app) => { // all that is drawn, on the page
        app.draw();
        return app.views[0].extent(app.kernel.numbers()).map((point) => point.project(app.stage.camera).toArray());
    },
    hover: (app, name) => { // the pointer is moved to something; what the tooltip says
        const { THREE } = window.limber, each = app.views[0].names.find(({ text }) => text === name), scene = app.root.querySelector(".scene");
        const at = app.stage.project(app.views[0].anchor(each, new THREE.Vector3())), { left, top } = scene.getBoundingClientRect();
        scene.dispatchEvent(new PointerEvent("pointermove", { clientX: left + at.x, clientY: top + at.y, bubbles: true }));
        const tooltip = app.root.querySelector(".tooltip");
        return tooltip.hidden ? null : tooltip.innerText;
    },
    modes: (app) => app.modes.map(({ frequency, damping_ratio }) => ({ frequency, damping_ratio })),
    exaggerate: (app, factor) => { app.exaggeration = factor; app.redraw(true); app.draw(); },
    hide: (app, link) => { app.showLink(link, false); app.draw(); return app.views[0].views.map((view) => view.body.visible); },
    rate: async (app, seconds) => { // pictures in a second while a result is played
        app.player.playing || app.player.toggle();
        const first = app.frames;
        await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
        app.player.toggle();
        return (app.frames - first) / seconds;
    },
};

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox",
           ...(process.env.LIMBER_GPU ? [] : ["--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]),
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});

async function show(task) {
    const page = await browser.newPage({ viewport: { width: task.width ?? 800, height: task.height ?? 500 }, colorScheme: task.dark ? "dark" : "light" });
    const errors = [], requests = [], results = [], url = pathToFileURL(task.page).href;
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("request", (request) => /^(data|blob):/.test(request.url()) || requests.push(request.url()));
    try {
        await page.goto(url);
        await page.evaluate(async () => { window.app = await window.limber.ready; });
        for (const [name, ...given] of task.steps ?? [])
            results.push(await page.evaluate(`(${steps[name]})(window.app, ...${JSON.stringify(given)})`));
        if (task.screenshot) await page.screenshot({ path: task.screenshot });
    } catch (error) {
        errors.push(error.message);
    }
    await page.close();
    const allowed = (each) => each === url || (task.beside ?? []).some((name) => each === new URL(name, url).href);
    return { errors, requests: requests.filter((each) => !allowed(each)), results };
}

for await (const line of createInterface({ input: process.stdin })) {
    const answers = [];
    for (const task of JSON.parse(line)) answers.push(await show(task));
    console.log(JSON.stringify(answers));
}
await browser.close();
