// Time plots of chosen columns: one strip for each, with the time of the scene as a cursor.

import { curveColors } from "./palette.js";
import { format } from "./robot_view.js";
import { roundStep } from "./stage.js";

const LEFT = 64, RIGHT = 12, TOP = 20, BOTTOM = 20;

export class Plots {
    constructor(container, results, onTime) {
        this.container = container;
        this.results = results;
        this.onTime = onTime;
        this.strips = new Map();
    }

    get names() { return [...this.strips.keys()]; }

    add(name) {
        if (this.strips.has(name)) return;
        const figure = document.createElement("figure"), caption = document.createElement("figcaption");
        const canvas = document.createElement("canvas"), remove = document.createElement("button");
        remove.textContent = "×";
        remove.title = `Remove the plot of ${name}`;
        remove.addEventListener("click", () => this.remove(name));
        caption.append(document.createElement("span"), remove);
        figure.append(caption, canvas);
        this.container.append(figure);
        this.container.hidden = false;
        const pick = (event) => {
            if (event.buttons === 0) return;
            const { left, width } = canvas.getBoundingClientRect(), s = (event.clientX - left - LEFT) / (width - LEFT - RIGHT);
            this.onTime(this.start + Math.min(Math.max(s, 0), 1) * (this.end - this.start));
        };
        canvas.addEventListener("pointerdown", pick);
        canvas.addEventListener("pointermove", pick);
        this.strips.set(name, { figure, canvas, caption: caption.firstChild, picture: null });
    }

    remove(name) {
        this.strips.get(name)?.figure.remove();
        this.strips.delete(name);
        this.container.hidden = this.strips.size === 0;
    }

    get start() { return Math.min(...this.results.map((result) => result.start)); }
    get end() { return Math.max(...this.results.map((result) => result.end)); }

    redraw() { for (const strip of this.strips.values()) strip.picture = null; }

    /** Curves are drawn once into a picture; the cursor goes over it. */
    draw(t, theme) {
        for (const [name, strip] of this.strips) {
            const { canvas } = strip, ratio = Math.min(devicePixelRatio, 2), width = canvas.clientWidth, height = canvas.clientHeight;
            if (canvas.width !== Math.round(width * ratio)) strip.picture = null;
            strip.picture ??= this.#curves(name, width, height, ratio, theme, strip);
            const context = canvas.getContext("2d");
            context.setTransform(1, 0, 0, 1, 0, 0);
            context.drawImage(strip.picture, 0, 0);
            context.setTransform(ratio, 0, 0, ratio, 0, 0);
            const x = LEFT + ((t - this.start) / (this.end - this.start || 1)) * (width - LEFT - RIGHT);
            context.strokeStyle = theme === "dark" ? "#fff" : "#111";
            context.lineWidth = 1;
            context.beginPath();
            context.moveTo(x, TOP - 4);
            context.lineTo(x, height - BOTTOM);
            context.stroke();
            const values = this.results.map((result) => result.value(name, t));
            strip.caption.textContent = `${name} = ${values.map((value) => (value === undefined ? "–" : format(value))).join(" | ")}`;
        }
    }

    #curves(name, width, height, ratio, theme, strip) {
        const picture = document.createElement("canvas"), context = picture.getContext("2d"), dark = theme === "dark";
        strip.canvas.width = picture.width = Math.round(width * ratio);
        strip.canvas.height = picture.height = Math.round(height * ratio);
        context.scale(ratio, ratio);
        context.fillStyle = dark ? "#18212a" : "#fff";
        context.fillRect(0, 0, width, height);
        const [low, high] = this.#range(name), x = (t) => LEFT + ((t - this.start) / (this.end - this.start || 1)) * (width - LEFT - RIGHT);
        const y = (value) => height - BOTTOM - ((value - low) / (high - low)) * (height - TOP - BOTTOM);
        context.font = "11px system-ui, sans-serif";
        context.fillStyle = dark ? "#b9c6d2" : "#445361";
        context.strokeStyle = dark ? "#33424f" : "#dce3e9";
        context.textAlign = "right";
        for (const value of roundNumbers(low, high, 4)) {
            line(context, LEFT, y(value), width - RIGHT, y(value));
            context.fillText(format(value), LEFT - 6, y(value) + 4);
        }
        context.textAlign = "center";
        for (const t of roundNumbers(this.start, this.end, Math.max(width / 110, 2)))
            context.fillText(`${format(t)} s`, Math.min(x(t), width - RIGHT - 14), height - 6);
        this.results.forEach((result, i) => this.#curve(context, result, name, x, y, curveColors[theme][i % 4], i));
        return picture;
    }

    #curve(context, result, name, x, y, color, i) {
        const values = result.columns.get(name);
        if (!values) return;
        context.strokeStyle = color;
        context.lineWidth = 1.6;
        context.setLineDash(i % 2 ? [6, 3] : []); // not by color alone
        context.beginPath();
        values.forEach((value, k) => context.lineTo(x(result.plotTime[k]), y(value)));
        context.stroke();
        context.setLineDash([]);
    }

    #range(name) {
        let low = Infinity, high = -Infinity;
        for (const result of this.results)
            for (const value of result.columns.get(name) ?? []) {
                if (value < low) low = value;
                if (value > high) high = value;
            }
        if (!(high > low)) return low === Infinity ? [0, 1] : [low - (Math.abs(low) || 1) / 2, low + (Math.abs(low) || 1) / 2];
        return [low, high];
    }
}

/** The multiples of a round number between two numbers, at most `most` and one more. */
function roundNumbers(low, high, most) {
    const step = roundStep((high - low) / most || 1), numbers = [];
    for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k++) numbers.push(Number((k * step).toPrecision(12)));
    return numbers;
}

function line(context, x1, y1, x2, y2) {
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
}
