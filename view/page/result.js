// A result of a simulation, as `limber view` writes it into the page (cli/view_result.c).

import { fromBase64, inflate, unshuffle } from "./bytes.js";

export class Result {
    /** Times, positions of all coordinates by column, and other columns for plots. */
    static async read(data) {
        const bytes = await inflate(fromBase64(data.data), "deflate"), result = new Result();
        let offset = 0;
        const take = (count, Type) => {
            const numbers = unshuffle(bytes, offset, count, Type);
            offset += count * Type.BYTES_PER_ELEMENT;
            return numbers;
        };
        result.name = data.name;
        result.time = take(data.rows, Float64Array);
        result.positions = data.wide.map((wide) => (wide === null ? null : take(data.rows, wide ? Float64Array : Float32Array)));
        result.plotTime = take(data.plot_rows, Float64Array);
        result.columns = new Map(data.columns.map((name) => [name, take(data.plot_rows, Float32Array)]));
        return result;
    }

    get end() { return this.time[this.time.length - 1]; }
    get start() { return this.time[0]; }

    /** The row at or before a time. */
    row(t) { return rowBefore(this.time, t); }

    /** Positions at a time, linear between rows; columns that the result does not have are left as they are in q. */
    at(t, q) {
        const i = this.row(t), j = Math.min(i + 1, this.time.length - 1);
        const s = j > i ? Math.min(Math.max((t - this.time[i]) / (this.time[j] - this.time[i]), 0), 1) : 0;
        this.positions.forEach((column, k) => {
            if (column) q[k] = s === 0 ? column[i] : column[i] + s * (column[j] - column[i]);
        });
    }

    /** Value of a column at a time, of the row before it; undefined outside of the result. */
    value(name, t) {
        return t < this.start || t > this.end ? undefined : this.columns.get(name)?.[rowBefore(this.plotTime, t)];
    }
}

function rowBefore(time, t) {
    let low = 0, high = time.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (time[middle] <= t) low = middle;
        else high = middle - 1;
    }
    return low;
}
