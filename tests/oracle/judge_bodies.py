"""Bodies of the judge: mode shapes, properties that vary along a beam, and bodies as mass points with spin."""

from math import factorial
from typing import Callable, NamedTuple

import numpy as np
from judge_frames import X, add, mul, skew
from scipy.linalg import eigh
from scipy.optimize import brentq

# ---- shapes -----------------------------------------------------------------------------------------------------------------


def waves(b, s, d):
    """d-th derivative, over b^d, of exp(-b s), exp(-b (1 - s)), cos b s, sin b s: what every bending eigenfunction is made of."""
    c, t = np.cos(b * s), np.sin(b * s)
    return np.stack([(-1) ** d * np.exp(-b * s), np.exp(-b * (1 - s)), [c, -t, -c, t][d], [t, c, -t, -c][d]], -1)


def eigenfunctions(tip_rows, count, unit):
    """Clamped at 0; tip_rows(b, w0..w3) are two more conditions on value and derivatives at 1. A list of (b, coefficients)."""
    def conditions(b):
        rows = [waves(b, 0.0, 0), waves(b, 0.0, 1), *tip_rows(b[..., None], *[waves(b, 1.0, d) for d in range(4)])]
        return np.stack(rows, -2)

    determinant = lambda b: np.linalg.det(conditions(np.asarray(b)))
    grid = np.arange(0.05, 4 * (count + 2), 0.01)
    sign, found = np.sign(determinant(grid)), []
    for i in np.flatnonzero(sign[1:] != sign[:-1])[:count]:
        b = brentq(determinant, grid[i], grid[i + 1], xtol=1e-15, rtol=1e-15)
        c = np.linalg.svd(conditions(np.asarray(b)))[2][-1]
        found.append((b, c / unit(b, c)))
    assert len(found) == count
    return found


def bending(modes, L, rhoA):
    """phi(s, d): d-th derivative by s = x/L of all shapes, (..., count). rhoA: mean mass per length."""
    shape = modes["shape"]
    count = modes.get("count", 2)
    k = np.arange(1, count + 1)

    def powers(s, exponents, coefficients, d):
        out = 0
        for p, c in zip(exponents, coefficients):
            factor = factorial(p) // factorial(p - d) if p >= d else 0
            out = out + factor * np.asarray(c) * s[..., None] ** max(p - d, 0)
        return out

    def waved(modes_found, s, d):
        return np.stack([b**d * waves(b, s, d) @ c for b, c in modes_found], -1) if modes_found else np.zeros(s.shape + (0,))

    hermite = lambda s, d: powers(s, [2, 3], [[3, -L], [-2, L]], d)
    tip_value = lambda b, c: waves(b, np.float64(1), 0) @ c
    if shape in ("clamped-free", "clamped-mass"):
        m, j = modes.get("tip_mass", 0) / (rhoA * L), modes.get("tip_inertia", 0) / (rhoA * L**3)
        rows = lambda b, w0, w1, w2, w3: [w2 - j * b**3 * w1, w3 + m * b * w0]  # in s, each over its power of b
        free = eigenfunctions(rows, count, tip_value)
        return lambda s, d: waved(free, s, d)
    if shape == "craig-bampton":
        fixed = eigenfunctions(lambda b, w0, w1, w2, w3: [w0, w1], count - 2, lambda b, c: -c[2])
        return lambda s, d: np.concatenate([hermite(s, d), waved(fixed, s, d)], -1)
    if shape == "hermite": return hermite
    if shape == "polynomial":
        return lambda s, d: powers(s, k + 1, np.eye(count), d)
    assert shape == "pinned-pinned", shape
    return lambda s, d: (k * np.pi) ** d * np.sin(k * np.pi * s[..., None] + d * np.pi / 2)


def along(modes):
    """Twist and axial likewise."""
    linear = lambda s, d: s[..., None] if d == 0 else np.ones(s.shape + (1,))
    if modes["shape"] == "linear": return linear
    if modes["shape"] == "craig-bampton":
        k = np.pi * np.arange(1, modes.get("count", 1))
        return lambda s, d: np.concatenate([linear(s, d), k**d * np.sin(k * s[..., None] + d * np.pi / 2)], -1)
    assert modes["shape"] == "clamped-free", modes["shape"]
    w = (np.arange(1, modes.get("count", 1) + 1) - 0.5) * np.pi
    return lambda s, d: w**d * np.sin(w * s[..., None] + d * np.pi / 2) / np.sin(w)


# ---- bodies: mass points with spin ----------------------------------------------------------------------------------------


class Points(NamedTuple):
    r: np.ndarray  # positions at eta = 0, (P, 3)
    Phi: np.ndarray  # translation, (P, 3, m)
    Lambda: np.ndarray  # rotation, (P, 3, m)
    G: np.ndarray | None  # foreshortening f = 1/2 eta' G eta, (P, m, m)

    def moved(self, eta):
        """Positions and rotation vectors in F, jets."""
        x = [np.einsum("pik,...k->...pi", self.Phi, e) for e in eta]
        x[0] = x[0] + self.r
        if self.G is not None:
            f = mul(eta, eta, lambda a, b: np.einsum("...pj,...j->...p", np.einsum("pjk,...k->...pj", self.G, b), a) / 2)
            x = add(x, [-a[..., None] * X for a in f])
        return x, [np.einsum("pik,...k->...pi", self.Lambda, e) for e in eta]

    def one(self, eta): return [[a[..., 0, :] for a in jet] for jet in self.moved(eta)]


class Body(NamedTuple):
    points: Points
    mass: np.ndarray  # (P)
    inertia: np.ndarray  # of spin, (P, 3, 3)
    hinge: Points
    tip: Points
    K: np.ndarray
    D: np.ndarray
    section: Callable | None = None  # Points of the section at a station x, or of a node
    strain: Callable | None = None  # of a beam, at x: rows psi', -w'', v'' and a', (4, m)


def matrix(six):
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], float)


def stiff(r): return Points(np.array([r], float), np.zeros((1, 3, 0)), np.zeros((1, 3, 0)), None)


def rigid(of, tip=(0, 0, 0)):
    none = np.zeros((0, 0))
    return Body(stiff(of.get("com", [0, 0, 0])), np.array([of["mass"]], float), matrix(of.get("inertia", [0] * 6))[None],
                stiff([0, 0, 0]), stiff(tip), none, none)


def nodal(of):
    m, nodes = of["modes"], of["nodes"]
    r, p = (np.array([node.get(key, [0, 0, 0]) for node in nodes], float) for key in ("position", "com"))
    Phi, Lambda = (np.array([node[key] for node in nodes], float).reshape(-1, 3, m) for key in ("translation", "rotation"))
    section = lambda i: Points(r[[i]], Phi[[i]], Lambda[[i]], None)
    return Body(Points(r + p, Phi - skew(p) @ Lambda, Lambda, None), np.array([node["mass"] for node in nodes], float),
                np.array([matrix(node.get("inertia", [0] * 6)) for node in nodes]), section(of["hinge_node"]), section(of["tip_node"]),
                np.array(of["stiffness"], float), np.array(of.get("damping", np.zeros((m, m))), float), section)


# ---- properties along a beam ------------------------------------------------------------------------------------------------


def table(given):
    """A function of x: a number (or a triple) for all x, or piecewise linear."""
    if not isinstance(given, dict): return lambda x: np.ones(np.shape(x) + np.shape(given)) * given
    value = np.array(given["value"], float)
    columns = value.reshape(len(value), -1).T
    return lambda x: np.stack([np.interp(x, given["x"], column) for column in columns], -1).reshape(np.shape(x) + value.shape[1:])


def torsion_of_rectangle(a, b):
    """Prandtl's stress function in a Fourier series along the long side a:  a b^3 (1/3 - 64/pi^5 b/a sum over odd n of
    tanh(n pi a/2b)/n^5)."""
    a, b = np.maximum(a, b)[..., None], np.minimum(a, b)[..., None]
    n = np.arange(1, 4001, 2)
    return (a * b**3)[..., 0] * (1 / 3 - 64 / np.pi**5 * (b / a * np.tanh(n * np.pi * a / (2 * b)) / n**5).sum(-1))


def area_moments(shape, d):
    """A, Iy = int z^2 dA, Iz = int y^2 dA, torsion constant. Of hollow sections outside less inside; a box twists as Bredt says."""
    disc = lambda D: np.stack([np.pi / 4 * D**2, np.pi / 64 * D**4, np.pi / 64 * D**4, np.pi / 32 * D**4])
    sheet = lambda y, z: np.stack([y * z, y * z**3 / 12, z * y**3 / 12])
    if shape == "round": return disc(d["diameter"])
    if shape == "tube": return disc(d["outer_diameter"]) - disc(d["outer_diameter"] - 2 * d["wall"])
    y, z = d["width"], d["height"]
    if shape == "rectangle": return np.concatenate([sheet(y, z), torsion_of_rectangle(y, z)[None]])
    assert shape == "box", shape
    t = d["wall"]
    enclosed, around = (y - t) * (z - t), 2 * (y - t) + 2 * (z - t)
    return np.concatenate([sheet(y, z) - sheet(y - 2 * t, z - 2 * t), (4 * enclosed**2 * t / around)[None]])


class Properties(NamedTuple):
    """Of a beam, at each of the points x."""
    rhoA: np.ndarray
    added: np.ndarray
    J: np.ndarray  # diagonal of the rotary inertia per length, (P, 3)
    EIy: np.ndarray
    EIz: np.ndarray
    GJ: np.ndarray
    EA: np.ndarray


def properties(of, x):
    added = table(of.get("added_mass_per_length", 0.0))(x)
    if "material" not in of:
        J = table(of.get("inertia_per_length", [0.0, 0.0, 0.0]))(x)
        return Properties(table(of["mass_per_length"])(x), added, J, *[table(of.get(key, 0.0))(x) for key in ("EIy", "EIz", "GJ", "EA")])
    material, section = of["material"], of["section"]
    stations, sections = (section["x"], section["section"]) if "x" in section else ([0, of["length"]], [section] * 2)
    sizes = {key: np.interp(x, stations, [one[key] for one in sections]) for key in sections[0] if key != "shape"}
    A, Iy, Iz, torsion = area_moments(sections[0]["shape"], sizes)
    E, rho = material["E"], material["density"]
    G = material["G"] if "G" in material else E / (2 * (1 + material["poisson"]))
    return Properties(rho * A, added, rho * np.stack([Iy + Iz, Iy, Iz], -1), E * Iy, E * Iz, G * torsion, E * A)


def stations_of(of):
    """Where some property of the beam may have a kink, s = x/L from 0 to 1."""
    tables = [given["x"] for given in of.values() if isinstance(given, dict) and "x" in given]
    return np.unique(np.clip(np.round(np.concatenate([[0, 1], *[np.array(x) / of["length"] for x in tables]]), 12), 0, 1))


# ---- beams ------------------------------------------------------------------------------------------------------------------

def gauss(a, b, count):
    x, w = np.polynomial.legendre.leggauss(count)
    return a + (b - a) * (x + 1) / 2, w * (b - a) / 2


RULE, WEIGHT = gauss(0, 1, 64)


def piecewise(stations):
    """A Gauss rule on each piece, the more points the longer it is: 64 for the whole beam."""
    pieces = [gauss(a, b, 16 + int(48 * (b - a))) for a, b in zip(stations, stations[1:])]
    return np.concatenate([s for s, _ in pieces]), np.concatenate([w for _, w in pieces])


def shape_rows(of, modes):
    """rows(s, d, components): derivative d by x of the shapes, each in the row its family has in `components`, (P, 3, m)."""
    L, (s, w) = of["length"], piecewise(stations_of(of))
    mean = w @ properties(of, s * L).rhoA
    families = [(axis, (bending(modes[axis], L, mean) if axis in "yz" else along(modes[axis])))
                for axis in ("y", "z", "twist", "axial") if axis in modes]

    def rows(s, d, components):
        parts = [np.zeros((len(s), 3, 0))]
        for axis, phi in families:
            part = np.zeros((len(s), 3, phi(s, 0).shape[-1]))
            if axis in components:
                row, sign = components[axis]
                part[:, row] = sign * phi(s, d) / L**d
            parts.append(part)
        return np.concatenate(parts, -1)

    return rows


def beam(of, foreshortening):
    """foreshortening: what holds where the beam does not say."""
    L, rows = of["length"], shape_rows(of, of["modes"])

    def points(s):
        # r = (x + a - f, v, w), theta = (psi, -w', v'), f = 1/2 int_0^x v'^2 + w'^2
        Phi = rows(s, 0, {"axial": (0, 1), "y": (1, 1), "z": (2, 1)})
        Lambda = rows(s, 0, {"twist": (0, 1)}) + rows(s, 1, {"z": (1, -1), "y": (2, 1)})
        G = None
        if of["stiffening"] == "axial" if "stiffening" in of else of.get("foreshortening", foreshortening):
            inner = [rows(RULE * t, 1, {"y": (1, 1), "z": (2, 1)}) for t in s]
            G = np.array([t * L * np.einsum("p,pij,pik->jk", WEIGHT, slope, slope) for t, slope in zip(s, inner)])
        return Points(np.outer(s * L, X), Phi, Lambda, G)

    def strains(s):
        """psi', -w'', v'', a': (P, 4, m)"""
        curvature = rows(s, 1, {"twist": (0, 1)}) + rows(s, 2, {"z": (1, -1), "y": (2, 1)})
        return np.concatenate([curvature, rows(s, 1, {"axial": (0, 1)})[:, :1]], 1)

    s, weight = piecewise(stations_of(of))
    bulk, dx, of_x, strain = points(s), weight * L, properties(of, s * L), strains(s)
    J = of_x.J[:, :, None] * np.eye(3)
    # K = int GJ psi'^2 + EIy w''^2 + EIz v''^2 + EA a'^2,  Mff = int rhoA Phi' Phi + Lambda' J Lambda
    K = np.einsum("p,pi,pij,pik->jk", dx, np.stack([of_x.GJ, of_x.EIy, of_x.EIz, of_x.EA], -1), strain, strain)
    Mff = np.einsum("p,pij,pik->jk", dx * of_x.rhoA, bulk.Phi, bulk.Phi) \
        + np.einsum("p,pij,pil,plk->jk", dx, bulk.Lambda, J, bulk.Lambda)
    # D = Mff V 2 zeta w V' Mff + alpha Mff + beta K: the added mass has no part in it
    (alpha, beta), MV = of.get("rayleigh", [0, 0]), np.zeros_like(K)
    if len(K):
        w2, V = eigh(K, Mff)
        MV = Mff @ V * (2 * of.get("damping_ratio", 0) * np.sqrt(w2)) ** 0.5
    section = lambda x: points(np.array([x / L]))
    return Body(bulk, dx * (of_x.rhoA + of_x.added), dx[:, None, None] * J, section(0), section(L), K,
                MV @ MV.T + alpha * Mff + beta * K, section, lambda x: strains(np.array([x / L]))[0])
