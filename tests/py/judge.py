"""An independent implementation of the model of docs/theory.md: slow and plain, sharing nothing with the library, and analytic,
so that it accepts complex numbers and can be differentiated by complex steps.

Every frame is a 4x4 matrix along a motion q(t), known with its time derivatives; every body is a set of mass points with spin
(a rigid body: one; a beam: the points of a Gauss rule; a nodal body: its nodes). The velocities of the points when one velocity
is 1 and all others are 0 are the Jacobian, and virtual work gives the forces. A position may be a quaternion, so q has nq
numbers, qd and qdd have n. Arrays of coordinates may have any number of axes in front of the last.

All elastic terms (`full`). No stops, of the loops `ball` and `planar-pin`, and of format 2 the joints, the default of
`foreshortening`, and the Craig-Bampton shapes of twist and axial."""

from math import comb, factorial
from typing import NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from scipy.linalg import eigh
from scipy.optimize import brentq

X, Y, Z = np.eye(3)

# ---- jets: a quantity and its time derivatives, a list of arrays [x, x_dot, ...] -------------------------------------------


def mul(A, B, product=np.matmul):
    """Leibniz: (A B)^(k) = sum over i of (k over i) A^(i) B^(k-i)."""
    return [sum(comb(k, i) * product(A[i], B[k - i]) for i in range(k + 1)) for k in range(len(A))]


def add(A, B): return [a + b for a, b in zip(A, B)]


def minus(A): return [-a for a in A]


def dot(a, b): return np.sum(a * b, -1)


def scale(a, M): return np.asarray(a)[..., None, None] * M


# f(y) = sum over k of (-y)^k / (2k + first)!: cos phi, sin phi/phi, (1 - cos phi)/phi^2 of y = phi^2, with two derivatives; by
# the series near zero, where all its digits are good
SERIES = [[polyder([(-1.0) ** k / factorial(2 * k + first) for k in range(12)], d) for d in range(3)] for first in range(3)]


def closed_form(y):
    """[first][derivative], from  f0' = -f1/2,  2y f1' = f0 - f1,  2y f2' = f1 - 2 f2."""
    phi = np.sqrt(y)
    f = [np.cos(phi), np.sin(phi) / phi, 2 * np.sin(phi / 2) ** 2 / y]
    g = [-f[1] / 2, (f[0] - f[1]) / (2 * y), (f[1] - 2 * f[2]) / (2 * y)]
    h = [-g[1] / 2, (g[0] - 3 * g[1]) / (2 * y), (g[1] - 4 * g[2]) / (2 * y)]
    return list(zip(f, g, h))


def series(y, first):
    """Chain rule: f, f' y_dot, f'' y_dot^2 + f' y_ddot."""
    small = np.abs(y[0]) < 1
    large = closed_form(np.where(small, 1, y[0]))[first]
    f = [np.where(small, polyval(np.where(small, y[0], 0), near), far) for near, far in zip(SERIES[first], large[:len(y)])]
    return [f[0], *[f[1] * yd for yd in y[1:2]], *[f[2] * y[1] ** 2 + f[1] * ydd for ydd in y[2:]]]


def skew(v):
    zero = np.zeros_like(v[..., 0])
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(v.shape[:-1] + (3, 3))


def unskew(A):
    """v of the skew part of A."""
    return np.stack([A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]], -1) / 2


# ---- frames: 4x4 matrices (jets), and their quaternions -----------------------------------------------------------------


def block(shape, rows, columns, A):
    """4x4, all zero but for A."""
    M = np.zeros(shape + (4, 4), A.dtype)
    M[..., rows, columns] = A
    return M


def move(v):
    M = [block(a.shape[:-1], slice(3), 3, a) for a in v]
    M[0] = M[0] + np.eye(4)
    return M


def turn(theta):
    """Exp(theta) = I + sin/phi S + (1 - cos)/phi^2 S^2."""
    y, S = mul(theta, theta, dot), [block(t.shape[:-1], slice(3), slice(3), skew(t)) for t in theta]
    M = add(mul(series(y, 1), S, scale), mul(series(y, 2), mul(S, S), scale))
    M[0] = M[0] + np.eye(4)
    return M


def quaternion(theta):
    y = [dot(theta[0], theta[0]) / 4]
    return np.concatenate([series(y, 0)[0][..., None], series(y, 1)[0][..., None] * theta[0] / 2], -1)


def hamilton(a, b):
    w = a[..., :1] * b[..., :1] - dot(a[..., 1:], b[..., 1:])[..., None]
    return np.concatenate([w, a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])], -1)


def unit(e): return e / np.sqrt(dot(e, e))[..., None]


def shorter(e):
    """Of e and -e, which are the same rotation, the one with an angle up to pi."""
    return e * np.where(e[..., :1].real < 0, -1, 1)


def spin(jet):
    """The rotation with quaternion e, angular velocity omega and acceleration alpha in the axes that turn:
    R = I + 2 w [v]x + 2 [v]x^2,  R_dot = R [omega]x,  R_ddot = R ([omega]x^2 + [alpha]x)."""
    e = unit(jet[0])
    V, S = skew(e[..., 1:]), [skew(a) for a in jet[1:]]
    R = np.eye(3) + 2 * scale(e[..., 0], V) + 2 * V @ V
    rates = [R, *[R @ omega for omega in S[:1]], *[R @ (S[0] @ S[0] + alpha) for alpha in S[1:]]]
    H = [block(a.shape[:-2], slice(3), slice(3), a) for a in rates]
    H[0][..., 3, 3] = 1
    return H


def rotation_vector(e):
    """Of a quaternion e = (cos(phi/2), sin(phi/2) axis), up to a full turn."""
    w, v = e[..., 0], e[..., 1:]
    s = np.sqrt(dot(v, v))
    still = s == 0
    half = np.arctan(s / w) + np.pi * (w.real < 0)
    return v * np.where(still, 2, 2 * half / np.where(still, 1, s))[..., None]


class Frame(NamedTuple):
    H: list  # jet of the 4x4 matrix, from the frame to the world
    e: np.ndarray  # quaternion

    def follow(self, *steps):
        """Steps are frames that stay, or (move, jet), (turn, jet), (spin, jet)."""
        H, e = self
        for step in steps:
            if isinstance(step, Frame):
                H, e = [h @ step.H[0] for h in H], hamilton(e, step.e)
            else:
                H = mul(H, step[0](step[1]))
                if step[0] is turn: e = hamilton(e, quaternion(step[1]))
                if step[0] is spin: e = hamilton(e, unit(step[1][0]))
        return Frame(H, e)

    @property
    def R(self): return [h[..., :3, :3] for h in self.H]

    @property
    def p(self): return [h[..., :3, 3] for h in self.H]


HERE = np.array([1.0, 0, 0, 0])


def pose(at):
    """The frame {xyz, rpy}: Rz(yaw) Ry(pitch) Rx(roll)."""
    xyz, (roll, pitch, yaw) = at.get("xyz", [0, 0, 0]), at.get("rpy", [0, 0, 0])
    turns = [(turn, [angle * axis]) for angle, axis in ((yaw, Z), (pitch, Y), (roll, X))]
    return Frame(move([np.array(xyz, float)]), HERE).follow(*turns)


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


def bending(modes, beam):
    """phi(s, d): d-th derivative by s = x/L of all shapes, (..., count)."""
    shape, L, rhoA = modes["shape"], beam["length"], beam["mass_per_length"]
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
    frames = [Points(r[[i]], Phi[[i]], Lambda[[i]], None) for i in (of["hinge_node"], of["tip_node"])]
    return Body(Points(r + p, Phi - skew(p) @ Lambda, Lambda, None), np.array([node["mass"] for node in nodes], float),
                np.array([matrix(node.get("inertia", [0] * 6)) for node in nodes]), *frames,
                np.array(of["stiffness"], float), np.array(of.get("damping", np.zeros((m, m))), float))


RULE, WEIGHT = np.polynomial.legendre.leggauss(64)
RULE, WEIGHT = (RULE + 1) / 2, WEIGHT / 2


def beam(of, foreshortening):
    """foreshortening: what holds where the beam does not say."""
    L, modes = of["length"], of["modes"]
    families = [(axis, (bending(modes[axis], of) if axis in "yz" else along(modes[axis])))
                for axis in ("y", "z", "twist", "axial") if axis in modes]

    def rows(s, d, components):
        """Derivative d by x of the shapes, each in the row its family has in `components`: (P, 3, m)."""
        parts = [np.zeros((len(s), 3, 0))]
        for axis, phi in families:
            part = np.zeros((len(s), 3, phi(s, 0).shape[-1]))
            if axis in components:
                row, sign = components[axis]
                part[:, row] = sign * phi(s, d) / L**d
            parts.append(part)
        return np.concatenate(parts, -1)

    def points(s):
        # r = (x + a - f, v, w), theta = (psi, -w', v'), f = 1/2 int_0^x v'^2 + w'^2
        Phi = rows(s, 0, {"axial": (0, 1), "y": (1, 1), "z": (2, 1)})
        Lambda = rows(s, 0, {"twist": (0, 1)}) + rows(s, 1, {"z": (1, -1), "y": (2, 1)})
        G = None
        if of.get("foreshortening", foreshortening):
            inner = [rows(RULE * t, 1, {"y": (1, 1), "z": (2, 1)}) for t in s]
            G = np.array([t * L * np.einsum("p,pij,pik->jk", WEIGHT, slope, slope) for t, slope in zip(s, inner)])
        return Points(np.outer(s * L, X), Phi, Lambda, G)

    bulk, dx = points(RULE), WEIGHT * L
    J = np.diag(of.get("inertia_per_length", [0, 0, 0]))
    # K = int EIz v''^2 + EIy w''^2 + GJ psi'^2 + EA a'^2,  Mff = int rhoA Phi' Phi + Lambda' J Lambda
    bends = rows(RULE, 2, {"y": (0, of.get("EIz", 0) ** 0.5), "z": (1, of.get("EIy", 0) ** 0.5)})
    strains = rows(RULE, 1, {"twist": (0, of.get("GJ", 0) ** 0.5), "axial": (1, of.get("EA", 0) ** 0.5)})
    K = sum(np.einsum("p,pij,pik->jk", dx, part, part) for part in (bends, strains))
    Mff = np.einsum("p,pij,pik->jk", dx * of["mass_per_length"], bulk.Phi, bulk.Phi) \
        + np.einsum("p,pij,il,plk->jk", dx, bulk.Lambda, J, bulk.Lambda)
    # D = Mff V 2 zeta w V' Mff + alpha Mff + beta K
    (alpha, beta), MV = of.get("rayleigh", [0, 0]), np.zeros_like(K)
    if len(K):
        w2, V = eigh(K, Mff)
        MV = Mff @ V * (2 * of.get("damping_ratio", 0) * np.sqrt(w2)) ** 0.5
    return Body(bulk, dx * of["mass_per_length"], dx[:, None, None] * J, points(np.zeros(1)), points(np.ones(1)), K,
                MV @ MV.T + alpha * Mff + beta * K)


# ---- joints -------------------------------------------------------------------------------------------------------------------

POSITIONS = {"fixed": 0, "revolute": 1, "prismatic": 1, "universal": 2, "cylindrical": 2, "spherical": 4, "free": 7}
QUATERNION = {"spherical": 0, "free": 3}  # where the joint's positions have it


class Joint(NamedTuple):
    given: dict  # as the file describes it
    q: slice  # of its positions, in q
    v: slice  # of its velocities, in qd

    @property
    def type(self): return self.given["type"]

    @property
    def quaternion(self):
        """Where q has it, and the first of the three velocities that belong to it."""
        first = QUATERNION[self.type]
        return slice(self.q.start + first, self.q.stop), self.v.start + first

    def steps(self, q):
        """From the joint frame to the hinge frame O along the motion with the jet q, as Frame.follow() takes them."""
        jet = [q[0][..., self.q], *[a[..., self.v] for a in q[1:]]]
        axis = lambda key: np.array(self.given.get(key, Z), float) / np.linalg.norm(self.given.get(key, Z))
        part = lambda k, key: [a[..., k, None] * axis(key) for a in jet]
        if self.type == "revolute": return [(turn, part(0, "axis"))]
        if self.type == "prismatic": return [(move, part(0, "axis"))]
        if self.type == "universal": return [(turn, part(0, "axis")), (turn, part(1, "axis2"))]
        if self.type == "cylindrical": return [(turn, part(0, "axis")), (move, part(1, "axis"))]
        if self.type == "spherical": return [(spin, jet)]
        if self.type == "free": return [(move, [a[..., :3] for a in jet]), (spin, [a[..., 3:] for a in jet])]
        return []

    def number(self, key, absent=0.0):
        """One per velocity."""
        return np.broadcast_to(np.array(self.given.get(key, absent), float), self.v.stop - self.v.start)

    def stretch(self, q):
        """What the spring sees: q - rest, or the rotation vector; a free joint has no spring."""
        if self.type == "spherical": return rotation_vector(shorter(unit(q[..., self.q])))
        return q[..., self.q] - self.number("rest") if self.type not in QUATERNION else np.zeros(6)

    def force(self, q, qd, qdd):
        """What motor inertia, friction and spring need."""
        rate = qd[..., self.v]
        return self.number("motor_inertia") * qdd[..., self.v] + self.number("viscous") * rate \
            + self.number("coulomb") * np.tanh(rate / self.number("coulomb_velocity", 1e-3)) \
            + self.number("stiffness") * self.stretch(q)


# ---- the robot ----------------------------------------------------------------------------------------------------------------


class Carried(NamedTuple):
    """A body as it moves."""
    frame: Frame  # its F
    eta: list  # jet
    body: Body


class Robot:
    def __init__(self, robot):
        assert robot.get("elastic_terms", "full") == "full"
        self.links = robot["links"]
        self.gravity = np.array(robot.get("gravity", [0, 0, 0]), float)
        names = [link["name"] for link in self.links]
        self.parent = [names.index(link["parent"]) if link.get("parent", "world") != "world"
                       else -1 if "parent" in link else i - 1 for i, link in enumerate(self.links)]
        self.tip = names.index(robot.get("tip", names[-1]))
        self.origin = [pose(link["joint"].get("origin", {})) for link in self.links]
        self.tip_turn = [pose({"rpy": link.get("rigid", {}).get("tip", {}).get("rpy", [0, 0, 0])}) for link in self.links]
        spot = lambda end: (names.index(end["link"]) if end["link"] != "world" else None,
                            0 if end.get("frame") == "hinge" else 2, np.array(end.get("xyz", [0, 0, 0]), float))
        self.actuators = {a["name"]: (spot(a["from"]), spot(a["to"])) for a in robot.get("actuators", [])}
        self.loops = {}  # ends A and B, directions of the gap
        for loop in robot.get("loops", []):
            assert loop["type"] in ("ball", "planar-pin") and "at" not in loop, "not known to the judge"
            ends, along = [spot({"link": link}) for link in loop["between"]], np.array(loop.get("plane", np.eye(3)), float)
            self.loops[loop["name"]] = (*ends, along)
        self.place(robot.get("format") == "limber-robot/2")
        self.moving = [joint for joint in self.joint if joint.v.stop > joint.v.start]
        velocities = lambda joints: [k for joint in joints for k in range(joint.v.start, joint.v.stop)]
        self.driven = velocities(self.moving)  # where tau belongs
        self.prescribed = velocities(joint for joint in self.moving if joint.given.get("motion") == "prescribed")
        self.free = [k for k in range(self.n) if k not in self.prescribed]

    def place(self, foreshortening):
        """Bodies, and where their coordinates stand: link by link the joint's, then eta."""
        self.body, self.joint, self.eta_q, self.eta, self.nq, self.n = [], [], [], [], 0, 0
        for link in self.links:
            joint = link["joint"]
            assert not {"dh", "limits"} & set(joint) and "material" not in link.get("beam", {}), "not known to the judge"
            body = (beam(link["beam"], foreshortening) if "beam" in link else nodal(link["nodal"]) if "nodal" in link
                    else rigid(link["rigid"], link["rigid"].get("tip", {}).get("xyz", [0, 0, 0])))
            q, v = self.nq + POSITIONS[joint["type"]], self.n + POSITIONS[joint["type"]] - (joint["type"] in QUATERNION)
            self.body.append(body)
            self.joint.append(Joint(joint, slice(self.nq, q), slice(self.n, v)))
            self.nq, self.n = q + len(body.K), v + len(body.K)
            self.eta_q.append(slice(q, self.nq))
            self.eta.append(slice(v, self.n))

    def tangent(self, q):
        """N(q), nq x n:  q_dot = N qd.  Of a quaternion  e_dot = 1/2 e o (0, omega);  else 1."""
        N = np.zeros((self.nq, self.n))
        for joint, eta_q, eta in zip(self.joint, self.eta_q, self.eta):
            N[joint.q, joint.v] = np.eye(joint.q.stop - joint.q.start, joint.v.stop - joint.v.start)
            N[eta_q, eta] = np.eye(eta.stop - eta.start)
            if joint.type in QUATERNION:
                e, first = joint.quaternion
                N[e, first:first + 3] = np.stack([hamilton(q[e], np.append(0, axis)) / 2 for axis in np.eye(3)], -1)
        return N

    def elastic(self, i, q):
        """Jet of eta of link i."""
        return [q[0][..., self.eta_q[i]], *[a[..., self.eta[i]] for a in q[1:]]]

    def frames(self, q):
        """Frames O, F and T of every link along the motion with the jet q."""
        order, out = len(q), []
        world = Frame([np.eye(4)] + [np.zeros((4, 4))] * (order - 1), HERE)
        for i in range(len(self.links)):
            body, eta = self.body[i], self.elastic(i, q)
            O = (out[self.parent[i]][2] if self.parent[i] >= 0 else world).follow(self.origin[i], *self.joint[i].steps(q))
            (r, theta), (r_tip, theta_tip) = body.hinge.one(eta), body.tip.one(eta)
            F = O.follow((turn, minus(theta)), (move, minus(r)))
            T = F.follow((move, r_tip), (turn, theta_tip), self.tip_turn[i])
            out.append((O, F, T))
        return out

    def carried(self, i, frames, q):
        """The bodies of link i."""
        (O, F, T), link = frames[i], self.links[i]
        none = [a[..., :0] for a in q]
        yield Carried(F, self.elastic(i, q), self.body[i])
        if "hub" in link: yield Carried(O, none, rigid(link["hub"]))
        if "payload" in link: yield Carried(T, none, rigid(link["payload"]))

    # -- points that are pushed ------------------------------------------------------------------------------------------------

    def point(self, frames, spot):
        """Jet of a point fixed in a frame of a link, or in the world."""
        link, frame, xyz = spot
        if link is None: return [xyz] + [np.zeros(3)] * (len(frames[0][0].H) - 1)
        return [R @ xyz + p for R, p in zip(frames[link][frame].R, frames[link][frame].p)]

    def lines(self, frames):
        """Of every actuator: direction from its first to its second point, length, rate."""
        for start, end in self.actuators.values():
            d = add(self.point(frames, end), minus(self.point(frames, start)))
            length = np.sqrt(dot(d[0], d[0]))
            yield d[0] / length[..., None], length, dot(d[0], d[1]) / length

    def gap(self, frames):
        """Jet of the gaps of all loops, A minus B, one after the other."""
        parts = [[d @ along.T for d in add(self.point(frames, A), minus(self.point(frames, B)))]
                 for A, B, along in self.loops.values()]
        return [np.concatenate(part, -1) for part in zip(*parts)]

    def pushes(self, frames, force, push, multiplier):
        """(point, force on it): at the tip, by actuators, by loops."""
        yield (self.tip, 2, np.zeros(3)), force
        for k, ((start, end), (u, _, _)) in enumerate(zip(self.actuators.values(), self.lines(frames))):
            if push is not None: yield from ((end, push[..., k, None] * u), (start, -push[..., k, None] * u))
        row = 0
        for A, B, along in self.loops.values():
            if multiplier is not None:
                f = multiplier[..., row:row + len(along)] @ along
                yield from ((A, f), (B, -f))
            row += len(along)

    # -- forces -------------------------------------------------------------------------------------------------------------

    def inertial(self, thing):
        """What the points of a body need: force f = m (a - g) on r; moment I W_dot on W = omega + theta_dot, in F; and
        omega x I W on omega alone, since d/dt delta-phi and delta-omega differ by omega x delta-phi (Hamel)."""
        x, omega, W, W_dot = motion_of(thing)
        momentum = np.einsum("pij,...pj->...pi", thing.body.inertia, W)
        return (x[0], thing.body.mass[:, None] * (x[2] - self.gravity), np.einsum("pij,...pj->...pi", thing.body.inertia, W_dot),
                np.cross(omega[..., None, :], momentum))

    def inverse(self, q, qd, qdd, force, torque, push=None, multiplier=None):
        """M qdd + h - Q(tip wrench, actuators, loops): what joints and, were they driven, modes must give."""
        jet, one = [q, qd, qdd], [q[..., None, :], np.eye(self.n)]
        frames, jacobian = self.frames(jet), self.frames(one)
        out = (q[..., :1] + qd[..., :1] + qdd[..., :1]) * np.zeros(self.n)
        for i, link in enumerate(self.links):
            for thing, unit in zip(self.carried(i, frames, jet), self.carried(i, jacobian, one)):
                _, f, spin, gyro = self.inertial(thing)
                x, omega, W, _ = motion_of(unit)  # (..., n, P, 3)
                out = out + np.einsum("...npi,...pi->...n", x[1], f) + np.einsum("...npi,...pi->...n", W, spin) \
                    + np.einsum("...ni,...pi->...n", omega, gyro)
            eta, etad, _ = self.elastic(i, jet)
            out[..., self.eta[i]] += eta @ self.body[i].K + etad @ self.body[i].D
        T = jacobian[self.tip][2]
        spin = unskew(T.R[1] @ np.swapaxes(T.R[0], -1, -2))
        out = out - np.einsum("...ni,...i->...n", spin, torque)
        for spot, f in self.pushes(frames, force, push, multiplier):
            if spot[0] is not None: out = out - np.einsum("...ni,...i->...n", self.point(jacobian, spot)[1], f)
        for joint in self.moving: out[..., joint.v] += joint.force(q, qd, qdd)
        return out

    def mass_matrix(self, q):
        unit = [q, np.eye(self.n)]
        frames = self.frames(unit)
        M = np.zeros((self.n, self.n))
        for i in range(len(self.links)):
            for thing in self.carried(i, frames, unit):
                x, _, W, _ = motion_of(thing)
                M = M + np.einsum("p,jpi,kpi->jk", thing.body.mass, x[1], x[1]) \
                    + np.einsum("pil,jpi,kpl->jk", thing.body.inertia, W, W)
        for joint in self.moving: M[joint.v, joint.v] += np.diag(joint.number("motor_inertia"))
        return M

    # -- answers -------------------------------------------------------------------------------------------------------------

    def energies(self, q, qd):
        """Kinetic and potential."""
        jet = [q, qd, np.zeros(self.n)]
        frames, T, V = self.frames(jet), 0.0, 0.0
        for i in range(len(self.links)):
            for thing in self.carried(i, frames, jet):
                x, _, W, _ = motion_of(thing)
                T = T + (thing.body.mass @ dot(x[1], x[1]) + np.einsum("pi,pij,pj", W, thing.body.inertia, W)) / 2
                V = V - thing.body.mass @ (x[0] @ self.gravity)
            eta = q[self.eta_q[i]]
            V = V + eta @ self.body[i].K @ eta / 2
        for joint in self.moving:
            T = T + joint.number("motor_inertia") @ qd[joint.v] ** 2 / 2
            V = V + joint.number("stiffness") @ joint.stretch(q) ** 2 / 2
        return T, V

    def outputs(self, q, qd, qdd, force, torque, push=None, multiplier=None):
        """By name: tip motion, deflections, reactions, each (..., 3), the quaternion (..., 4); actuators (..., 1)."""
        jet = [q, qd, qdd]
        frames = self.frames(jet)
        T = frames[self.tip][2]
        p, R = T.p, T.R
        out = {"tip.position": p[0], "tip.quaternion": T.e, "tip.velocity": p[1], "tip.acceleration": p[2],
               "tip.rotation": R[0], "tip.angular_velocity": unskew(R[1] @ np.swapaxes(R[0], -1, -2))}
        for name, (_, length, rate) in zip(self.actuators, self.lines(frames)):
            out |= {f"{name}.length": length[..., None], f"{name}.rate": rate[..., None]}
        # wrench that link i takes from its joint: what its bodies and all outboard need, less what pushes them
        F, N = [0] * len(self.links), [0] * len(self.links)
        N[self.tip] = -torque
        for spot, f in self.pushes(frames, force, push, multiplier):
            if (i := spot[0]) is not None: F[i], N[i] = F[i] - f, N[i] - np.cross(self.point(frames, spot)[0], f)
        for i in reversed(range(len(self.links))):
            for thing in self.carried(i, frames, jet):
                x, f, spin, gyro = self.inertial(thing)
                F[i] = F[i] + f.sum(-2)
                N[i] = N[i] + np.cross(x, f).sum(-2) + times(thing.frame.R[0], (spin + gyro).sum(-2))
            if self.parent[i] >= 0:
                F[self.parent[i]], N[self.parent[i]] = F[self.parent[i]] + F[i], N[self.parent[i]] + N[i]
            O, _, tip = frames[i]
            inward, name = np.swapaxes(O.R[0], -1, -2), self.links[i]["name"]
            out[f"{name}.root_force"] = times(inward, F[i])
            out[f"{name}.root_moment"] = times(inward, N[i] - np.cross(O.p[0], F[i]))
            if len(self.body[i].K):
                body = self.body[i]
                out[f"{name}.deflection"] = times(inward, tip.p[0] - O.p[0]) - (body.tip.r - body.hinge.r)[0]
                out[f"{name}.rotation"] = rotation_vector(hamilton(O.e * [1, -1, -1, -1], tip.e))
        return out


def times(R, v): return np.einsum("...ij,...j->...i", R, v)


def motion_of(thing):
    """Points of a body: jet of world positions; omega of its frame F, in F; W = omega + theta_dot and W_dot of each."""
    R, p = thing.frame.R, thing.frame.p
    r, theta = thing.body.points.moved(thing.eta)
    x = add(mul(R, r, lambda A, b: b @ np.swapaxes(A, -1, -2)), [a[..., None, :] for a in p])
    # R' R_dot = [omega]x,  R' R_ddot = [omega_dot]x + [omega]x^2
    omega, *omega_dot = [unskew(np.swapaxes(R[0], -1, -2) @ a) for a in R[1:]]
    W = omega[..., None, :] + theta[1]
    W_dot = omega_dot[0][..., None, :] + theta[2] if omega_dot else None
    return x, omega, W, W_dot
