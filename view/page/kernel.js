// The kinematics: view/page/kernel.c as WebAssembly. One robot.

/*! Limber, BSD-3-Clause; the WebAssembly part contains json-c (MIT, Copyright (c) 2004-2022 Metaparadigm Pte. Ltd., Eric Haszlakiewicz
    and others) and wasi-libc (MIT, Copyright (c) 2005-2020 Rich Felker, et al.) */

import { fromBase64, inflate } from "./bytes.js";
import compressed from "kernel.wasm.gz"; // base64, by esbuild

/** Instantiates the kernel with the text of a robot file; throws what the reader of the robot file reports. */
export async function loadKernel(robotText) {
    const module = await WebAssembly.compile(await inflate(fromBase64(compressed), "gzip"));
    const system = {}; // the C library asks for files and random numbers, of which none are needed
    for (const { module: place, name } of WebAssembly.Module.imports(module)) (system[place] ??= {})[name] = () => 0;
    const { exports } = await WebAssembly.instantiate(module, system);
    exports._initialize?.();
    return new Kernel(exports, robotText);
}

class Kernel {
    constructor(exports, robotText) {
        this.exports = exports;
        const bytes = new TextEncoder().encode(robotText + "\0");
        const at = exports.allocate(bytes.length);
        new Uint8Array(exports.memory.buffer).set(bytes, at);
        this.handle = exports.make(at);
        const message = this.#text(exports.message(this.handle));
        if (message) throw new Error(message);
        this.description = JSON.parse(this.#text(exports.description(this.handle)));
        this.count = exports.number_count(this.handle);
    }

    #text(at) {
        const bytes = new Uint8Array(this.exports.memory.buffer);
        return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
    }

    // Views are made at each use: memory may have grown.
    get q() { return new Float64Array(this.exports.memory.buffer, this.exports.positions(this.handle), this.description.nq); }
    get tangent() { return new Float64Array(this.exports.memory.buffer, this.exports.tangent(this.handle), this.description.nv); }

    /** Where everything is at q: the layout is that of scene_numbers() in scene/scene.h. */
    numbers() { return new Float64Array(this.exports.memory.buffer, this.exports.numbers(this.handle), this.count); }

    /** Moves q by a tangent. */
    shift(tangent, share) {
        this.tangent.set(tangent);
        this.exports.shift(this.handle, share);
    }

    /** Moves velocity k of the joint of a link by `amount` while the loops stay closed; false where they do not allow it. */
    drag(link, k, amount) {
        const tangent = this.tangent;
        tangent.fill(0);
        tangent[this.description.links[link].joint.v + k] = amount;
        return this.exports.drag(this.handle, link) === 0;
    }

    /** Closes the loops, by joints if these are sufficient; false where it cannot. */
    close() { return this.description.loops.length === 0 || this.exports.close(this.handle) === 0; }

    get gap() { return this.exports.gap(this.handle); }
}
