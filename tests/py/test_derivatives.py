"""Exact derivatives: fmi2GetDirectionalDerivative against complex steps through the judge, on every reference robot.

f(x + i h) = f(x) + i h f'(x) - h^2/2 f'' ...: with h = 1e-30 the imaginary part is the derivative to rounding, nothing being
subtracted. Inverse dynamics ID = M qdd + h - Q vanish along the motion whatever changes, so
    0 = d ID at fixed qdd + M dqdd,   dqdd = M^-1 (dtau - d ID at fixed qdd),
which takes no derivative of M^-1; with dqdd known, all else is one complex step in (q, qd, qdd)."""

import ctypes as ct
import functools
import json

import numpy as np
import pytest
from importer import MODEL_EXCHANGE, OK, Instance, unzip
from judge import Robot
from test_reference import FILES, load, waits

STEP = 1e-30
OPEN = [file for file in FILES if not waits(file)]


@functools.cache
def judge_of(file):
    return Robot(load(file)["robot"])


def inputs_of(case):
    return [np.array(case[key], float) for key in ("q", "qd", "tip_force", "tip_torque")]


# ---- the judge is judged: the reference's numbers come from another program -------------------------------------------------


def accelerations(robot, case):
    """qdd, and the forces of prescribed joints."""
    q, qd, force, torque = inputs_of(case)
    M, qdd, free = robot.mass_matrix(q), np.zeros(robot.n), robot.free
    qdd[robot.prescribed] = case.get("prescribed_qdd", [])
    needed = robot.inverse(q, qd, qdd, force, torque)
    given = np.zeros(robot.n)
    given[[robot.q[i] for i in robot.joints]] = case["tau"]
    qdd[free] = np.linalg.solve(M[np.ix_(free, free)], (given - needed)[free])
    return qdd, (needed + M[:, free] @ qdd[free])[robot.prescribed]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_judge_agrees_with_the_reference(file):
    robot = judge_of(file)
    for case in load(file)["cases"]:
        q, qd, force, torque = inputs_of(case)
        M = robot.mass_matrix(q)
        answer = robot.outputs(q, qd, np.array(case["qdd"]), force, torque)
        found = {f"tip_{key}": answer[f"tip.{key}"] for key in ("position", "rotation", "velocity", "angular_velocity", "acceleration")}
        found["mass_matrix"], found["bias"] = M, robot.inverse(q, qd, np.zeros(robot.n), np.zeros(3), np.zeros(3))
        found["kinetic_energy"], found["potential_energy"] = robot.energies(q, qd)
        if not waits(file):
            found["qdd"], drives = accelerations(robot, case)
            if robot.prescribed: found["prescribed_tau"] = drives
        for key, value in found.items():
            rounding = 1e-15 * np.linalg.norm(M) * (1 + qd @ qd) if key == "bias" else 0
            assert np.linalg.norm(value - np.array(case[key])) <= 1e-10 * np.linalg.norm(case[key]) + rounding, key
