// Paths of the tip and of frames over a result.

import * as THREE from "three";
import { exaggerate } from "./pose.js";

const MOST_POINTS = 1500;

export class Trails {
    constructor(group) {
        this.group = group;
        this.lines = [];
    }

    /** Computes the paths anew: places are offsets into the numbers, with a color each. */
    make(kernel, result, factor, places) {
        for (const line of this.lines) {
            this.group.remove(line);
            line.geometry.dispose();
        }
        if (places.length === 0) return void (this.lines = []);
        const n = Math.min(result.time.length, MOST_POINTS), points = places.map(() => new Float32Array(3 * n));
        this.times = Float64Array.from({ length: n }, (_, i) => result.time[Math.round((i * (result.time.length - 1)) / Math.max(n - 1, 1))]);
        const before = Float64Array.from(kernel.q);
        this.times.forEach((t, i) => {
            result.at(t, kernel.q);
            exaggerate(kernel, factor);
            const numbers = kernel.numbers();
            places.forEach(({ at }, k) => points[k].set(numbers.subarray(at, at + 3), 3 * i));
        });
        kernel.q.set(before);
        this.lines = places.map(({ color }, k) => {
            const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(points[k], 3));
            const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color }));
            line.frustumCulled = false;
            this.group.add(line);
            return line;
        });
    }
}
