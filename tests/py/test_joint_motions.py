"""Motions of spherical and free joints with known solutions: the free top, the steadily precessing top, a body on two spherical
joints, a spring that passes half a turn."""

import numpy as np
import pytest
from program import Program, drift
from scipy.integrate import solve_ivp
from scipy.special import ellipj
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.quick


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


def robot(*links, **more):
    return {"format": "limber-robot/2", "name": "top", "links": list(links), **more}


def vector(result, name, count=3):
    return np.array([result[f"{name}[{k}]"] for k in range(1, count + 1)])


def rotations(result, joint):
    return Rotation.from_quat(np.roll(vector(result, f"{joint}.quaternion", 4), -1, axis=0).T)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_free_top(program, kind, sign):
    """Euler's equations by Jacobi's elliptic functions (Landau and Lifshitz, section 37); the angular momentum stays in space. Either sign
    of a quaternion is the same start."""
    I, start, t = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0, 2.0]), np.linspace(0, 20, 41)
    energy2, square = I @ start**2, np.sum((I * start) ** 2)
    low, high = energy2 * I[2] - square, square - energy2 * I[0]
    sn, cn, dn, _ = ellipj(t * np.sqrt((I[2] - I[1]) * high / I.prod()), (I[1] - I[0]) * low / ((I[2] - I[1]) * high))
    expected = np.array([np.sqrt(low / (I[0] * (I[2] - I[0]))) * cn, np.sqrt(low / (I[1] * (I[2] - I[1]))) * sn,
                         np.sqrt(high / (I[2] * (I[2] - I[0]))) * dn])
    rest = [0, 0, 0] if kind == "free" else []
    joint = {"name": "ball", "type": kind, "start": {"position": [*rest, sign, 0, 0, 0], "velocity": [*rest, *start]}}
    top = robot({"name": "top", "joint": joint, "rigid": {"mass": 2, "com": [0, 0, 0], "inertia": [*I, 0, 0, 0]}}, gravity=[0, 0, 0])
    found = program.simulate(top, 20, 0.5, 1e-9)
    omega = vector(found, "ball.omega")
    assert np.abs(omega - expected).max() <= 1e-5
    momentum = rotations(found, "ball").apply((I[:, None] * omega).T)
    assert np.abs(momentum - I * start).max() <= 1e-5
    assert np.abs(np.linalg.norm(vector(found, "ball.quaternion", 4), axis=0) - 1).max() <= 1e-15


def test_a_steadily_precessing_top(program):
    """A cos(tilt) W^2 - C spin W + m g l = 0, the slow root: the axis goes round a cone at the rate W."""
    m, g, l, C, spin, tilt = 1.5, 9.81, 0.4, 0.02, 200.0, np.pi / 3
    a = (0.05 + m * l * l) * np.cos(tilt)
    W = (C * spin - np.sqrt((C * spin) ** 2 - 4 * a * m * g * l)) / (2 * a)
    joint = {"name": "ball", "type": "spherical", "start": {"position": [np.cos(tilt / 2), np.sin(tilt / 2), 0, 0],
                                                            "velocity": [0, W * np.sin(tilt), spin]}}
    body = {"mass": m, "com": [0, 0, l], "inertia": [0.05, 0.05, C, 0, 0, 0], "tip": {"xyz": [0, 0, 1]}}
    found = program.simulate(robot({"name": "top", "joint": joint, "rigid": body}, gravity=[0, 0, -g]), 3, 0.1, 1e-9)
    angle = W * found["time"]
    cone = np.array([np.sin(tilt) * np.sin(angle), -np.sin(tilt) * np.cos(angle), np.full_like(angle, np.cos(tilt))])
    assert np.abs(vector(found, "tip.position") - cone).max() <= 1e-5


@pytest.mark.parametrize("start", [[1, 0, 0, 0], [-np.cos(0.25), -np.sin(0.25), 0, 0]])
def test_a_body_on_two_spherical_joints(program, start):
    """Two halves welded together: six equations, five of them independent, and a pendulum about the line through the joints that goes
    over the top again and again. The first start is closed by the passive joints."""
    y, z, I, g = 0.03, 0.2, 0.06, (0.5, 2.0, -9.81)

    def half(name, tip, position, origin):
        return {"name": name, "parent": "world", "joint": {"name": f"{name}_ball", "type": "spherical", "passive": True, "origin": {"xyz": origin},
                                                           "start": {"position": position, "velocity": [3, 0, 0]}},
                "rigid": {"mass": 1, "com": [tip / 2, y, z], "inertia": [I, 0.05, 0.06, 0.001, 0, 0], "tip": {"xyz": [tip, 0, 0]}}}

    body = robot(half("one", 0.8, [np.cos(0.25), np.sin(0.25), 0, 0], [0, 0, 0]), half("two", -0.2, start, [1, 0, 0]), gravity=list(g),
                 tip="one", loops=[{"name": "weld", "type": "weld", "between": ["one", "two"]}])
    found = program.simulate(body, 4, 0.02, 1e-8)
    e = vector(found, "one_ball.quaternion", 4)
    angle = np.unwrap(2 * np.arctan2(e[1], e[0]), period=4 * np.pi)

    def pendulum(t, x):
        c, s = np.cos(x[0]), np.sin(x[0])
        return [x[1], ((y * c - z * s) * g[2] - (y * s + z * c) * g[1]) / (I + y * y + z * z)]

    expected = solve_ivp(pendulum, (0, 4), [angle[0], found["one_ball.omega[1]"][0]], t_eval=found["time"], rtol=1e-11, atol=1e-12).y
    assert np.ptp(angle) > 4 * np.pi
    assert np.abs(angle - expected[0]).max() <= 1e-4 and np.abs(found["one_ball.omega[1]"] - expected[1]).max() <= 1e-4


def test_a_spring_beyond_half_a_turn(program):
    """At |theta| = pi the torque changes its sign and the energy has a cusp: motion across it keeps the energy."""
    joint = {"name": "ball", "type": "spherical", "stiffness": 1, "start": {"velocity": [4, 0.5, 0.3]}}
    body = {"mass": 1, "com": [0, 0, 0], "inertia": [1, 2, 3, 0, 0, 0]}
    found = program.simulate(robot({"name": "top", "joint": joint, "rigid": body}, gravity=[0, 0, 0]), 20, 0.1, 1e-8)
    w = found["ball.quaternion[1]"]
    assert np.sum(w[1:] * w[:-1] < 0) >= 4 and drift(found) <= 1e-5
