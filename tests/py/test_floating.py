"""A flexible arm that floats free: its momentum and energy stay, through every attitude, and a manoeuvre does not make momentum.

The momentum is the first six rows of M qd. They belong to the velocities of a `free` joint: the first three are the linear
momentum in axes of the joint frame J, the next three the angular momentum about the origin of the hinge frame O, in axes of O."""

import itertools

import numpy as np
import pytest
from coordinates import Coordinates
from judge import Robot, motion_of, pose
from program import Program, drift, write_csv
from scipy.spatial.transform import Rotation

ORIGIN = {"xyz": [0.3, -0.2, 0.1], "rpy": [0.4, -0.7, 1.1]}


def beam(length, mass_per_length, EI):
    return {"length": length, "mass_per_length": mass_per_length, "EIy": EI, "EIz": 1.5 * EI, "GJ": EI,
            "inertia_per_length": [0.02, 0.01, 0.01],
            "modes": {"y": {"shape": "hermite"}, "z": {"shape": "hermite"}, "twist": {"shape": "craig-bampton", "count": 1}}}


def arm(position=(1, 0, 0, 0), velocity=(0, 0, 0, 0, 0, 0)):
    """A base that floats, two flexible links on sprung joints. No gravity, no damping."""
    return {"format": "limber-robot/2", "name": "floating", "links": [
        {"name": "base", "joint": {"name": "base", "type": "free", "origin": ORIGIN,
                                   "start": {"position": [0.5, -0.4, 0.3, *position], "velocity": list(velocity)}},
         "rigid": {"mass": 20, "com": [0.1, 0, 0], "inertia": [2, 3, 4, 0.1, 0.2, -0.1],
                   "tip": {"xyz": [0.5, 0.1, 0], "rpy": [0.2, 0.3, 0.4]}}},
        {"name": "upper", "joint": {"name": "shoulder", "type": "universal", "axis": [0, 1, 0], "axis2": [0, 0, 1], "stiffness": 20},
         "beam": beam(2, 1.5, 60)},
        {"name": "lower", "joint": {"name": "elbow", "type": "revolute", "axis": [0, 1, 0.2], "stiffness": 10},
         "beam": beam(1.5, 1, 30), "payload": {"mass": 1, "inertia": [0.02, 0.02, 0.02, 0, 0, 0]}}]}


TUMBLING = arm(velocity=(0.05, -0.03, 0.02, 0.2, 0.9, 0.1))


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


# ---- momentum ---------------------------------------------------------------------------------------------------------------------


def momentum(M, q, qd):
    """(P, H) in world axes, H about the world's origin:  P = R_J p,  H = R_J R_O h + r_O x P."""
    p, h = np.split((np.asarray(M) @ qd)[:6], 2)
    joint = pose(ORIGIN)
    R = joint.R[0]
    P = R @ p
    return P, R @ Rotation.from_quat([*q[4:7], q[3]]).apply(h) + np.cross(joint.p[0] + R @ q[:3], P)


def of_bodies(robot, q, qd):
    """(m v, H) of every body: base, beams, payload."""
    jet = [q, qd, np.zeros(robot.n)]
    frames, out = robot.frames(jet), []
    for i in range(len(robot.links)):
        for thing in robot.carried(i, frames, jet):
            x, _, W, _ = motion_of(thing)
            mv = thing.body.mass[:, None] * x[1]
            spin = thing.frame.R[0] @ np.einsum("pij,pj->i", thing.body.inertia, W)
            out.append((mv.sum(0), np.cross(x[0], mv).sum(0) + spin))
    return out


def states(robot, result, rows):
    names = Coordinates(robot)
    for row in rows:
        yield tuple(np.array([result[name][row] for name in of]) for of in (names.positions, names.velocities))


def momenta(program, robot, result, rows):
    """(rows, 2, 3)"""
    at = lambda q, qd: program.json("eval", robot, "-", state={"q": q.tolist(), "qd": qd.tolist()})["mass_matrix"]
    return np.array([momentum(at(q, qd), q, qd) for q, qd in states(robot, result, rows)])


def test_momentum_is_the_sum_over_the_bodies():
    """By the judge alone: M transformed by hand, and mass points."""
    robot, random = Robot(TUMBLING), np.random.default_rng(2)
    for _ in range(5):
        q, qd = random.uniform(-1, 1, robot.nq), random.uniform(-1, 1, robot.n)
        q[3:7] /= np.linalg.norm(q[3:7])
        found = momentum(robot.mass_matrix(q), q, qd)
        for vector, expected in zip(found, np.sum(of_bodies(robot, q, qd), axis=0)):
            assert np.linalg.norm(vector - expected) <= 1e-12 * np.linalg.norm(expected)


# ---- tumbling ---------------------------------------------------------------------------------------------------------------------

UNTIL = 100.0


def errors(program, rtol, method):
    """Of momentum and energy, as shares of their scale, over the run; and the run."""
    result = program.simulate(TUMBLING, UNTIL, 0.25, rtol, **{"solver.method": method})
    rows = np.linspace(0, len(result["time"]) - 1, 12).astype(int)
    assert result["time"][rows[-1]] == UNTIL
    found = momenta(program, TUMBLING, result, rows)
    scale = np.linalg.norm(found[0], axis=-1)
    assert scale.min() > 0.5
    return (np.linalg.norm(found - found[0], axis=-1) / scale).max(), drift(result), result


def octants(result):
    """How many of the eight octants of the world each axis of the base pointed into."""
    R = Rotation.from_quat(np.array([result[f"base.quaternion[{k}]"] for k in (2, 3, 4, 1)]).T).as_matrix()
    R = pose(ORIGIN).R[0] @ R
    return [len({tuple(signs) for signs in R[:, :, k] > 0}) for k in range(3)]


@pytest.mark.parametrize("method", [0, 1])
def test_a_tumbling_arm_keeps_momentum_and_energy(program, method):
    """Errors fall with the tolerance and stay below a tenth of it."""
    runs = {rtol: errors(program, rtol, method) for rtol in (1e-6, 1e-7, 1e-8)}
    for rtol, (of_momentum, of_energy, _) in runs.items(): print(f"rtol {rtol:.0e}: momentum {of_momentum:.1e}, energy {of_energy:.1e}")
    result = runs[1e-8][2]
    assert all(max(m, e) < 0.1 * rtol for rtol, (m, e, _) in runs.items())
    for (m, e, _), (finer_m, finer_e, _) in itertools.pairwise(runs.values()): assert finer_m < m and finer_e < e
    # it did tumble: every axis of the base through every octant, both halves of the quaternions, and it did bend
    assert octants(result) == [8, 8, 8]
    assert np.ptp(np.sign(result["base.quaternion[1]"])) == 2
    norm = np.sqrt(sum(result[f"base.quaternion[{k}]"] ** 2 for k in (1, 2, 3, 4)))
    assert np.abs(norm - 1).max() <= 1e-6
    assert max(np.ptp(result[f"lower.deflection[{k}]"]) for k in (2, 3)) > 1e-2


@pytest.mark.parametrize("position", [(0, 1, 0, 0), (0.5, 0.5, 0.5, 0.5), (0.5, 0.5, -0.5, -0.5)])
def test_no_attitude_is_special(program, position):
    """The same motion from another attitude, seen in axes of the base: what the springs and beams do is the same."""
    turn = Rotation.from_quat([*position[1:], position[0]])
    velocity = [0.05, -0.03, 0.02, 0.3, 0.5, -0.4]
    plain = program.simulate(arm(velocity=velocity), 5, 0.05, 1e-10)
    turned = program.simulate(arm(position, [*turn.apply(velocity[:3]), *velocity[3:]]), 5, 0.05, 1e-10)
    for name in "shoulder.q[1]", "shoulder.q[2]", "elbow.q", "base.omega[1]", "base.omega[2]", "base.omega[3]", "lower.deflection[3]":
        assert np.abs(plain[name] - turned[name]).max() <= 1e-6 * np.ptp(plain[name]), name


# ---- a manoeuvre --------------------------------------------------------------------------------------------------------------------


def test_a_manoeuvre_makes_no_momentum(program):
    """From rest, by joint torques alone: swung out, back, and left to ring."""
    robot = arm()
    t = np.linspace(0, 12, 121)
    pulse = np.where(t < 8, np.sin(2 * np.pi * t / 8), 0)
    torques = write_csv(program.new(".csv"), {"time": t, "shoulder.tau[1]": 15 * pulse, "shoulder.tau[2]": -10 * pulse,
                                              "elbow.tau": 6 * np.where(t < 6, np.sin(2 * np.pi * t / 3), 0)})
    result = program.simulate(robot, 20, 0.05, 1e-8, inputs=torques)
    rows = np.arange(0, len(result["time"]), 20)
    judge = Robot(robot)
    bodies = np.array([of_bodies(judge, q, qd) for q, qd in states(robot, result, rows)])  # (rows, bodies, 2, 3)
    scale = np.linalg.norm(bodies, axis=-1).sum(axis=1).max(axis=0)
    assert scale.min() > 1, "nothing moved"
    found = np.linalg.norm(momenta(program, robot, result, rows), axis=-1)
    print(f"momentum after the manoeuvre: {found[-1] / scale}, largest on the way {(found / scale).max(axis=0)}")
    assert (found[0] == 0).all() and (found <= 1e-6 * scale).all()
    # nothing pulled at it, so the centre of mass stayed; but the base turned
    assert max(np.ptp(result[f"base.quaternion[{k}]"]) for k in (2, 3, 4)) > 1e-2
