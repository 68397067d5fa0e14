// Playing results: play, pause, scrub, speed, loop.

import { element } from "./panel.js";

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export class Player {
    constructor(container, results, onChange) {
        this.start = Math.min(...results.map((result) => result.start));
        this.end = Math.max(...results.map((result) => result.end));
        this.step = (this.end - this.start) / Math.max(...results.map((result) => result.time.length - 1), 1);
        this.time = this.start;
        this.speed = 1;
        this.looping = true;
        this.playing = false;
        this.onChange = onChange;
        this.#build(container);
        container.hidden = false;
    }

    #build(container) {
        this.button = element("button", { textContent: "▶", title: "play (space)", ariaLabel: "play", onclick: () => this.toggle() });
        this.slider = element("input", { type: "range", min: this.start, max: this.end, step: "any", value: this.start, ariaLabel: "time",
                                         oninput: () => this.seek(Number(this.slider.value)) });
        this.output = element("output", {});
        this.select = element("select", { title: "speed (+ −)", ariaLabel: "speed", onchange: () => (this.speed = Number(this.select.value)) },
            ...SPEEDS.map((speed) => element("option", { value: speed, selected: speed === 1 }, `${speed} ×`)));
        this.loop = element("button", { textContent: "↻", title: "loop (L)", ariaLabel: "loop", ariaPressed: "true", onclick: () => this.toggleLoop() });
        container.append(this.button, this.slider, this.output, this.select, this.loop);
        this.#show();
    }

    toggle() {
        this.playing = !this.playing;
        if (this.playing && this.time >= this.end) this.time = this.start;
        this.button.textContent = this.playing ? "⏸" : "▶";
        this.button.ariaLabel = this.playing ? "pause" : "play";
    }

    pause() { if (this.playing) this.toggle(); }

    toggleLoop() {
        this.looping = !this.looping;
        this.loop.ariaPressed = String(this.looping);
    }

    faster(by) {
        this.speed = SPEEDS[Math.min(Math.max(SPEEDS.indexOf(this.speed) + by, 0), SPEEDS.length - 1)];
        this.select.value = this.speed;
    }

    seek(time) {
        this.time = Math.min(Math.max(time, this.start), this.end);
        this.#show();
        this.onChange();
    }

    /** Moves on by a time of the clock [s]. */
    advance(elapsed) {
        if (!this.playing) return;
        let time = this.time + elapsed * this.speed;
        if (time > this.end) {
            if (this.looping) time = this.start + ((time - this.start) % (this.end - this.start || 1));
            else {
                time = this.end;
                this.toggle();
            }
        }
        this.seek(time);
    }

    #show() {
        this.slider.value = this.time;
        this.output.textContent = `${this.time.toFixed(3)} s`;
    }
}
