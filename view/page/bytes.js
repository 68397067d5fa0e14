// Compressed numbers inside a page.

export function fromBase64(text) {
    const binary = atob(text), bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

/** Decompresses; format: "gzip" or "deflate" (zlib). */
export async function inflate(bytes, format) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers whose bytes are stored plane by plane, all first bytes, then all second bytes: they compress better so. */
export function unshuffle(bytes, offset, count, Type) {
    const size = Type.BYTES_PER_ELEMENT, out = new Uint8Array(count * size);
    for (let b = 0; b < size; b++)
        for (let i = 0, from = offset + b * count; i < count; i++) out[i * size + b] = bytes[from + i];
    return new Type(out.buffer);
}
