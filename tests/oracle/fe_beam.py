"""Natural frequencies of a clamped beam by fine finite elements, independent of the library and of the mode shapes: Euler-Bernoulli
elements with cubic Hermite shapes for bending, linear two-node bars for twist and axial, consistent masses. Elements end where a
property has a kink, so that the error of an eigenvalue is a series in even powers of their length, and Romberg's extrapolation of
a few meshes converges to 1e-8 before rounding counts."""

import itertools

import numpy as np
from judge_bodies import gauss, properties, stations_of
from scipy.linalg import solve_triangular

POINTS, WEIGHTS = gauss(0, 1, 5)
DEPTH = 3  # powers that are extrapolated


def nodes(beam, per_piece):
    """Of a mesh with as many equal elements on each piece between stations."""
    stations = stations_of(beam) * beam["length"]
    pieces = [np.linspace(a, b, per_piece, endpoint=False) for a, b in itertools.pairwise(stations)]
    return np.concatenate([*pieces, stations[-1:]])


def hermite(s, h, d):
    """d-th derivative by x of the four cubics of an element with length h: deflection and slope at either end."""
    basis = np.polynomial.polynomial.Polynomial
    cubics = [basis([1, 0, -3, 2]), basis([0, h, -2 * h, h]), basis([0, 0, 3, -2]), basis([0, 0, -h, h])]
    return np.stack([cubic.deriv(d)(s) if d else cubic(s) for cubic in cubics], -1) / h**d


def hat(s, h, d):
    return np.stack([1 - s, s], -1) if d == 0 else np.ones(s.shape + (1,)) * [-1 / h, 1 / h]


def assemble(x, terms):
    """Rows B and C of a mesh, clamped at its first node: B'B = K, C'C = M. terms(points) gives (matrix, shapes, derivative, property)
    of each integral, whose rows are sqrt(weight * property) times the shapes at the points."""
    rows, h = {"K": [], "M": []}, np.diff(x)
    for name, shapes, d, value in terms(x[:-1, None] + h[:, None] * POINTS):
        per_node = 2 if shapes is hermite else 1
        part = np.zeros((*value.shape, per_node * len(x)))
        for k, length in enumerate(h):
            part[k, :, per_node * k:per_node * (k + 2)] = np.sqrt(length * WEIGHTS * value[k])[:, None] * shapes(POINTS, length, d)
        rows[name].append(part.reshape(-1, part.shape[-1])[:, per_node:])
    return np.concatenate(rows["K"]), np.concatenate(rows["M"])


def integrals(beam, family, rotary):
    """Strain and kinetic energy of a family of motions; rotary: the factor of the rotary inertia in bending."""
    def terms(x):
        of = properties(beam, x)
        mass = of.rhoA + of.added
        if family == "y": return [("K", hermite, 2, of.EIz), ("M", hermite, 0, mass), ("M", hermite, 1, rotary * of.J[..., 2])]
        if family == "z": return [("K", hermite, 2, of.EIy), ("M", hermite, 0, mass), ("M", hermite, 1, rotary * of.J[..., 1])]
        if family == "twist": return [("K", hat, 1, of.GJ), ("M", hat, 0, of.J[..., 0])]
        assert family == "axial", family
        return [("K", hat, 1, of.EA), ("M", hat, 0, mass)]

    return terms


def of_tip(family, tip):
    """Rows of a rigid body at the last node, as `payload` describes it; its centre of mass lies on the beam's axis."""
    m, (c, *off), J = tip.get("mass", 0), tip.get("com", [0, 0, 0]), tip.get("inertia", [0] * 6)
    assert off == [0, 0] and not any(J[3:]), "families would couple"
    if family in "yz": return np.array([np.sqrt(m) * np.array([1, c]), np.sqrt(J[2 if family == "y" else 1]) * np.array([0, 1])])
    return np.array([[np.sqrt(J[0] if family == "twist" else m)]])


def coarse(beam, family, tip, count, rotary, per_piece):
    """The lowest eigenvalues w^2 on one mesh. With B = Q R, 1/w are the largest singular values of C R^-1: rounding takes cond(R),
    the root of cond(K), from them."""
    B, C = assemble(nodes(beam, per_piece), integrals(beam, family, rotary))
    end = of_tip(family, tip)
    C = np.concatenate([C, np.pad(end, [(0, 0), (C.shape[1] - end.shape[1], 0)])])
    of_strain, of_motion = (np.linalg.qr(rows, mode="r") for rows in (B, C))
    return np.linalg.svd(solve_triangular(of_strain, of_motion.T, trans="T"), compute_uv=False)[:count] ** -2.0


def frequencies(beam, family, tip=None, count=3, rotary=1, tolerance=1e-8):
    """The lowest natural frequencies [Hz] of a beam of the robot file, clamped at x = 0, with a body at its end. rotary = 0 leaves
    the rotary inertia of bending out, as closed forms do."""
    order = 4 if family in "yz" else 2  # of the error
    coarsest = max(1, 4 // (len(stations_of(beam)) - 1))
    table = []
    for level in range(7):
        row = [coarse(beam, family, tip or {}, count, rotary, coarsest * 2**level)]
        for k, before in enumerate(table[-1][:DEPTH] if table else []):
            ratio = 2.0 ** (order + 2 * k)
            row.append((ratio * row[k] - before) / (ratio - 1))
        table.append(row)
        if level > DEPTH and np.all(np.abs(row[-1] - table[-2][-1]) <= tolerance / 4 * row[-1]): return np.sqrt(row[-1]) / (2 * np.pi)
    raise AssertionError(f"finite elements did not converge: {table[-2][-1]}, {table[-1][-1]}")
