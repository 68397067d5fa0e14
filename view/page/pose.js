// Where the robot is: a pose by sliders, a result at a time, or a mode at a phase. All positions come from the kernel.

/** Elastic coordinates times a factor; loops are then closed again by the joints. */
export function exaggerate(kernel, factor) {
    if (factor === 1) return;
    const { q } = kernel;
    for (const link of kernel.description.links)
        for (let k = 0; k < link.modes; k++) q[link.eta + k] *= factor;
    kernel.close();
}

export class Mode {
    /** data: frequency, damping_ratio, growth, re, im (tangents), about the positions q0. */
    constructor(data, q0, kernel) {
        Object.assign(this, data);
        this.q0 = q0;
        this.amplitude = this.#chooseAmplitude(kernel);
    }

    // The largest displacement is 8 % of the robot's size, but no joint turns by more than 0.5 rad: the shape is that of small motions
    #chooseAmplitude(kernel) {
        const small = 1e-4 / Math.max(...this.re.map(Math.abs), ...this.im.map(Math.abs), 1e-30);
        kernel.q.set(this.q0);
        const before = Float64Array.from(kernel.numbers());
        this.#move(kernel, small, 0);
        const after = kernel.numbers();
        let largest = 0, at = 0;
        for (const link of kernel.description.links) {
            for (let k = 0; k < 3 + link.size.length / 2; k++, at += 12)
                largest = Math.max(largest, Math.hypot(...[0, 1, 2].map((i) => after[at + i] - before[at + i])));
        }
        const turn = Math.max(...turns(kernel.description).map((v) => Math.hypot(this.re[v], this.im[v])), 1e-30);
        return largest > 0 ? Math.min((0.08 * kernel.description.size * small) / largest, 0.5 / turn) : 1;
    }

    #move(kernel, amount, phase) {
        const c = Math.cos(phase), s = Math.sin(phase);
        kernel.q.set(this.q0);
        kernel.shift(this.re.map((re, i) => re * c - this.im[i] * s), amount);
        kernel.close();
    }

    /** q = q0 + scale Re(phi e^(i phase)) */
    at(kernel, phase, scale) { this.#move(kernel, scale * this.amplitude, phase); }
}

/** The velocities of joints that are rotations. */
function turns(description) {
    return description.links.flatMap(({ joint }) => Array.from({ length: joint.nv }, (_, k) => k).filter((k) => {
        const ofQuaternion = joint.omega >= 0 && k >= joint.omega && k < joint.omega + 3;
        return ofQuaternion || joint.positions[joint.quaternion >= 0 && k > joint.omega ? k + 1 : k].unit === "rad";
    }).map((k) => joint.v + k));
}
