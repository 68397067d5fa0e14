// Colors that remain distinct with color-blindness (after Okabe and Ito), for light and dark pages.

export const palette = {
    light: { background: 0xf6f8fa, grid: 0xc9d3dc, gridAxis: 0x9fb0bf, flexible: 0x2b7bba, rigid: 0x8793a0, arm: 0x9aa7b4, driven: 0x24374a,
             passive: 0xdfe5ea, prescribed: 0xcc79a7, barrel: 0xe69f00, rod: 0xb9c2cb, loop: 0xd55e00, payload: 0xe3c04c, tip: 0xd55e00,
             ground: 0x5d6b78, trail: 0xaa4499, frameTrail: 0x117733, gravity: 0x5d6b78, ellipsoid: 0x117733, ghost: 0xd07a2d },
    dark: { background: 0x12181f, grid: 0x2c3946, gridAxis: 0x4c6073, flexible: 0x56a5e0, rigid: 0x93a1af, arm: 0x76848f, driven: 0x4d647b,
            passive: 0xe8edf2, prescribed: 0xe39bc2, barrel: 0xf0b43a, rod: 0xd0d7de, loop: 0xf0803c, payload: 0xe8cf6a, tip: 0xf0803c,
            ground: 0x8fa0b0, trail: 0xd58fce, frameTrail: 0x59c08a, gravity: 0x9fb0bf, ellipsoid: 0x59c08a, ghost: 0xf0a860 },
};

export const axisColors = [0xd55e00, 0x009e73, 0x0072b2]; // x, y, z

/** Lines of plots: one color for each result. */
export const curveColors = { light: ["#1f6fb2", "#c25200", "#117733", "#aa4499"], dark: ["#6cb5ee", "#f39a55", "#66c79a", "#d99ad2"] };
