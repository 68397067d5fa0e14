"""A flexible arm that floats free keeps its momentum, by the judge as the sum over its bodies, and its energy through every attitude."""

import numpy as np
import pytest
from coordinates import Coordinates
from judge import Robot, motion_of, pose
from program import Program, drift
from scipy.spatial.transform import Rotation

ORIGIN = {"xyz": [0.3, -0.2, 0.1], "rpy": [0.4, -0.7, 1.1]}


def beam(length, mass_per_length, EI):
    return {"length": length, "mass_per_length": mass_per_length, "EIy": EI, "EIz": 1.5 * EI, "GJ": EI,
            "inertia_per_length": [0.02, 0.01, 0.01],
            "modes": {"y": {"shape": "hermite"}, "z": {"shape": "hermite"}, "twist": {"shape": "craig-bampton", "count": 1}}}


def arm(velocity):
    """A base that floats, two flexible links on sprung joints. No gravity, no damping."""
    return {"format": "limber-robot/2", "name": "floating", "links": [
        {"name": "base", "joint": {"name": "base", "type": "free", "origin": ORIGIN,
                                   "start": {"position": [0.5, -0.4, 0.3, 1, 0, 0, 0], "velocity": velocity}},
         "rigid": {"mass": 20, "com": [0.1, 0, 0], "inertia": [2, 3, 4, 0.1, 0.2, -0.1],
                   "tip": {"xyz": [0.5, 0.1, 0], "rpy": [0.2, 0.3, 0.4]}}},
        {"name": "upper", "joint": {"name": "shoulder", "type": "universal", "axis": [0, 1, 0], "axis2": [0, 0, 1], "stiffness": 20},
         "beam": beam(2, 1.5, 60)},
        {"name": "lower", "joint": {"name": "elbow", "type": "revolute", "axis": [0, 1, 0.2], "stiffness": 10},
         "beam": beam(1.5, 1, 30), "payload": {"mass": 1, "inertia": [0.02, 0.02, 0.02, 0, 0, 0]}}]}


def momentum(robot, q, qd):
    """(sum of m v, H) of base, beams and payload, in world axes."""
    jet = [q, qd, np.zeros(robot.n)]
    frames, out = robot.frames(jet), []
    for i in range(len(robot.links)):
        for thing in robot.carried(i, frames, jet):
            x, _, W, _ = motion_of(thing)
            mv = thing.body.mass[:, None] * x[1]
            spin = thing.frame.R[0] @ np.einsum("pij,pj->i", thing.body.inertia, W)
            out.append((mv.sum(0), np.cross(x[0], mv).sum(0) + spin))
    return np.sum(out, axis=0)


def octants(result):
    """How many of the eight octants of the world each axis of the base pointed into."""
    R = Rotation.from_quat(np.array([result[f"base.quaternion[{k}]"] for k in (2, 3, 4, 1)]).T).as_matrix()
    R = pose(ORIGIN).R[0] @ R
    return [len({tuple(signs) for signs in R[:, :, k] > 0}) for k in range(3)]


@pytest.mark.parametrize("method", [0, 1, 2])
def test_a_tumbling_arm_keeps_momentum_and_energy(limber, tmp_path, method):
    """To a tenth of the tolerance, over 100 s."""
    program, robot, rtol = Program(limber, tmp_path), arm([0.05, -0.03, 0.02, 0.2, 0.9, 0.1]), 1e-7
    judge, names = Robot(robot), Coordinates(robot)
    result = program.simulate(robot, 100, 0.25, rtol, **{"solver.method": method})
    found = np.array([momentum(judge, *(np.array([result[name][row] for name in of]) for of in (names.positions, names.velocities)))
                      for row in np.linspace(0, len(result["time"]) - 1, 12).astype(int)])
    scale = np.linalg.norm(found[0], axis=-1)
    error = (np.linalg.norm(found - found[0], axis=-1) / scale).max()
    print(f"momentum {error:.1e}, energy {drift(result):.1e}")
    assert scale.min() > 0.5 and max(error, drift(result)) < 0.1 * rtol
    # it did tumble: every axis of the base through every octant, both halves of the quaternions, and it did bend
    assert octants(result) == [8, 8, 8]
    assert np.ptp(np.sign(result["base.quaternion[1]"])) == 2
    norm = np.sqrt(sum(result[f"base.quaternion[{k}]"] ** 2 for k in (1, 2, 3, 4)))
    assert np.abs(norm - 1).max() <= 1e-6
    assert max(np.ptp(result[f"lower.deflection[{k}]"]) for k in (2, 3)) > 1e-2
