"""`limber matrices`: closed forms, sums against `limber eval`, and what is refused. That M_dot - 2 C is skew is in
tests/c/dyn_matrices_test.c, to rounding, and in tests/validation, where the double pendulum is too."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from coordinates import Coordinates
from judge import Robot
from test_derivatives import STEP
from test_reference import FILES, load

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[2]


def answer(limber, command, robot, state):
    done = subprocess.run([limber, command, robot, "-"], input=json.dumps(state), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return {key: value if key == "coordinates" else np.array(value) for key, value in json.loads(done.stdout).items()}


def write(folder, robot):
    file = folder / "robot.json"
    file.write_text(json.dumps(robot))
    return file


# ---- closed forms ----------------------------------------------------------------------------------------------------


def test_stiffness_of_a_beam_element(limber, tmp_path):
    """One hermite element: EI/L^3 [[12, -6 L], [-6 L, 4 L^2]] of tip deflection and slope."""
    L, EI = 1.7, 25.0
    robot = write(tmp_path, {"format": "limber-robot/1", "name": "beam", "links": [
        {"name": "beam", "joint": {"type": "revolute", "name": "hinge", "stiffness": 3.0},
         "beam": {"length": L, "mass_per_length": 1, "EIz": EI, "modes": {"y": {"shape": "hermite"}}}}]})
    found = answer(limber, "matrices", robot, {"q": [0.1, 0.02, -0.05]})
    want = np.zeros((3, 3))
    want[0, 0] = 3
    want[1:, 1:] = EI / L**3 * np.array([[12, -6 * L], [-6 * L, 4 * L**2]])
    # the sign of the slope coordinate is that of its shape, L (s^3 - s^2), whose tip slope is 1
    assert np.allclose(found["K"], want, rtol=1e-12) and found["coordinates"] == ["hinge.q", "beam.eta[1]", "beam.eta[2]"]
    assert np.array_equal(found["G"], [0, 0, 0])


def test_input_matrix(limber, tmp_path):
    """A column for every joint that moves; nothing in those of joints without a torque."""
    def block(name, **joint): return {"name": name, "joint": {"axis": [1, 0, 0], **joint}, "rigid": {"mass": 1}}
    robot = write(tmp_path, {"format": "limber-robot/1", "name": "train", "links": [
        block("a", type="prismatic"), block("b", type="prismatic", passive=True), block("c", type="fixed"),
        block("d", type="prismatic", motion="prescribed"), block("e", type="prismatic")]})
    found = answer(limber, "matrices", robot, {})
    assert np.array_equal(found["B"], np.diag([1, 0, 0, 1])) and found["coordinates"] == ["a.q", "b.q", "d.q", "e.q"]
    assert np.array_equal(found["M"], [[5, 4, 2, 1], [4, 4, 2, 1], [2, 2, 2, 1], [1, 1, 1, 1]])  # prescribed joint included


# ---- sums ------------------------------------------------------------------------------------------------------------


def stretches(robot, q):
    """What the springs see: eta, q - rest, the rotation vector of a spherical joint, nothing of a free one."""
    out = np.zeros(robot.n)
    for joint, eta, eta_q in zip(robot.joint, robot.eta, robot.eta_q): out[joint.v], out[eta] = joint.stretch(q), q[eta_q]
    return out


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_matrices_add_up(limber, tmp_path, file):
    """M is that of eval. Damping and friction change sign with qd, so half the sum of the bias at qd and at -qd is C qd + G + K stretch
    (gaps of couplings have offsets of their own); at qd = 0 it is G + K stretch alone. C works as M_dot / 2 does, M_dot by the judge: qd' (M_dot - 2 C) qd = 0."""
    robot, case = load(file)["robot"], load(file)["cases"][-1]
    path, judge, q, qd = write(tmp_path, robot), Robot(robot), np.array(case["q"]), np.array(case["qd"])
    found = answer(limber, "matrices", path, {"q": list(q), "qd": list(qd)})
    names = Coordinates(robot)
    assert found["coordinates"] == names.tangent
    assert np.array_equal(found["B"], np.eye(judge.n)[:, judge.driven] * [name in names.inputs for name in names.forces])
    ahead, back, still = (answer(limber, "eval", path, {"q": list(q), "qd": list(sign * qd)}) for sign in (1, -1, 0))
    assert np.array_equal(found["M"], ahead["mass_matrix"])
    C, stretch = found["C"], stretches(judge, q)
    springs = [one for one in judge.couplings.values() if not one.rigid]
    coupled = sum((one.given["stiffness"] * np.outer(one.velocities, one.velocities) for one in springs), np.zeros((judge.n, judge.n)))
    strain = (found["K"] - coupled) @ stretch + sum(one.given["stiffness"] * one.gap([q])[0] * one.velocities for one in springs)
    size = np.linalg.norm(np.abs(found["K"]) @ np.abs(stretch) + np.abs(found["G"]) + np.abs(C) @ np.abs(qd) + np.abs(ahead["bias"]))
    assert np.linalg.norm(found["G"] + strain - still["bias"]) <= 1e-12 * size
    assert np.linalg.norm(C @ qd + found["G"] + strain - 0.5 * (ahead["bias"] + back["bias"])) <= 1e-12 * size
    M_dot = judge.mass_matrix(q + 1j * STEP * judge.tangent(q) @ qd).imag / STEP
    assert abs(qd @ (M_dot - 2 * C) @ qd) <= 1e-11 * np.abs(qd) @ (np.abs(M_dot) + np.abs(C)) @ np.abs(qd)


def test_damping_and_friction_are_not_in_it(limber, tmp_path):
    robot = json.loads((ROOT / "tests/data/reference/random-4.json").read_text())["robot"]
    state = json.loads((ROOT / "tests/data/reference/random-4.json").read_text())["cases"][1]
    state = {key: state[key] for key in ("q", "qd")}
    before = answer(limber, "matrices", write(tmp_path, robot), state)
    for link in robot["links"]:
        link["joint"] |= {"viscous": 1e3, "coulomb": 50.0}
        if "beam" in link: link["beam"] |= {"damping_ratio": 0.3, "rayleigh": [5.0, 0.1]}
    after = answer(limber, "matrices", write(tmp_path, robot), state)
    assert all(np.array_equal(before[key], after[key]) for key in "MCKGB")


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_robots_that_cannot_be_computed_with(limber_sanitized, tmp_path):
    huge = {"format": "limber-robot/1", "name": "huge", "gravity": [0, 0, -1e300], "links": [
        {"name": "heavy", "joint": {"type": "prismatic"}, "rigid": {"mass": 1e300}}]}
    done = subprocess.run([limber_sanitized, "matrices", write(tmp_path, huge), "-"], input="{}", capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 3 and done.stdout == "" and "not finite" in done.stderr


def test_without_coordinates(limber_sanitized):
    done = subprocess.run([limber_sanitized, "matrices", ROOT / "tests/data/good/smallest.json", "-"], input="{}",
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and all(value == [] for value in json.loads(done.stdout).values())
