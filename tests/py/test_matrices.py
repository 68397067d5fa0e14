"""`limber matrices`: closed forms, sums against `limber eval`, and what is refused. That M_dot - 2 C is skew is in
tests/c/dyn_matrices_test.c, to rounding, and in tests/validation, where the double pendulum is too."""

import functools
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from coordinates import has_quaternion

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[2]
CANADARM = ROOT / "resources/canadarm.json"


@functools.cache
def load(file):
    return json.loads(file.read_text(encoding="utf-8"))


def references():
    return [pytest.param(file, id=file.stem) for file in sorted((ROOT / "tests/data/reference").glob("*.json"))
            if not has_quaternion(load(file)["robot"])]  # those are in test_joints.py


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


def rests(robot, coordinates):
    names = {link["joint"].get("name", link["name"]): link["joint"].get("rest", 0) for link in robot["links"]}
    return np.array([names[name[:-2]] if name.endswith(".q") else 0 for name in coordinates])


@pytest.mark.parametrize("file", references())
def test_the_matrices_add_up(limber, tmp_path, file):
    """M is that of eval. Damping and friction change sign with qd, so half the sum of the bias at qd and at -qd is
    C qd + G + K (q - rest); at qd = 0 it is G + K (q - rest) alone."""
    robot, case = load(file)["robot"], load(file)["cases"][-1]
    path = write(tmp_path, robot)
    q, qd = np.array(case["q"]), np.array(case["qd"])
    found = answer(limber, "matrices", path, {"q": list(q), "qd": list(qd)})
    ahead, back, still = (answer(limber, "eval", path, {"q": list(q), "qd": list(sign * qd)}) for sign in (1, -1, 0))
    assert np.array_equal(found["M"], ahead["mass_matrix"])
    stretch = q - rests(robot, found["coordinates"])
    terms = np.abs(found["K"]) @ np.abs(stretch) + np.abs(found["G"]) + np.abs(found["C"]) @ np.abs(qd)
    size = np.linalg.norm(terms + np.abs(ahead["bias"]))
    assert np.linalg.norm(found["G"] + found["K"] @ stretch - still["bias"]) <= 1e-13 * size
    both = 0.5 * (ahead["bias"] + back["bias"])
    assert np.linalg.norm(found["C"] @ qd + found["G"] + found["K"] @ stretch - both) <= 1e-13 * size
    assert np.linalg.norm(found["C"] @ qd) > 0


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


@pytest.mark.parametrize("arguments", [[], ["a"], ["a", "b", "c"], ["a", "b", "--nonsense"], ["a", "-x"]],
                         ids=lambda arguments: " ".join(arguments) or "nothing")
def test_wrong_usage(limber_sanitized, arguments):
    done = subprocess.run([limber_sanitized, "matrices", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stdout == "" and "limber matrices --help" in done.stderr


@pytest.mark.parametrize("state, named", [('{"q": [1]}', "q"), ('{"nonsense": 1}', "nonsense"), ("[]", "object"), ("{", "")])
def test_bad_state_is_refused(limber_sanitized, state, named):
    done = subprocess.run([limber_sanitized, "matrices", CANADARM, "-"], input=state, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == "" and done.stderr and named in done.stderr and "Sanitizer" not in done.stderr


def test_missing_files_and_robots_that_cannot_be_computed_with(limber_sanitized, tmp_path):
    for arguments in [CANADARM, tmp_path / "none.json"], [tmp_path / "none.json", CANADARM]:
        done = subprocess.run([limber_sanitized, "matrices", *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "none.json" in done.stderr and done.stdout == ""
    huge = {"format": "limber-robot/1", "name": "huge", "gravity": [0, 0, -1e300], "links": [
        {"name": "heavy", "joint": {"type": "prismatic"}, "rigid": {"mass": 1e300}}]}
    done = subprocess.run([limber_sanitized, "matrices", write(tmp_path, huge), "-"], input="{}", capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 3 and done.stdout == "" and "not finite" in done.stderr


def test_without_coordinates(limber_sanitized):
    done = subprocess.run([limber_sanitized, "matrices", ROOT / "tests/data/good/smallest.json", "-"], input="{}",
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and all(value == [] for value in json.loads(done.stdout).values())


def test_help(limber):
    done = subprocess.run([limber, "matrices", "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "" and "Coriolis" in done.stdout and "ruthless" in done.stdout
