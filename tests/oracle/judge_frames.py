"""Jets and frames of the judge: 4x4 matrices with their time derivatives, along with their quaternions."""

from math import comb, factorial
from typing import NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

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
