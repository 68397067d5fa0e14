"""`limber eval` against reference data: robots, states and answers computed by an independent program.

Norm-wise 1e-9; accelerations and the forces of prescribed joints, which carry cond(M), 1e-8."""

import functools
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests/data/reference").glob("*.json"))

STATE = ["q", "qd", "tau", "tip_force", "tip_torque", "prescribed_qdd", "actuator_force", "frame_wrench"]
TOLERANCE = {"qdd": 1e-8, "tip_acceleration": 1e-8, "acceleration": 1e-8, "prescribed_tau": 1e-8, "lambda": 1e-8}


@functools.cache
def load(file):
    return json.loads(file.read_text(encoding="utf-8"))


def cases():
    return [pytest.param(file, number, id=f"{file.stem}-{number}")
            for file in FILES for number in range(len(load(file)["cases"]))]


def evaluate(limber, file, case, folder, *options):
    robot = folder / "robot.json"
    robot.write_text(json.dumps(load(file)["robot"]))
    state = json.dumps({key: case[key] for key in STATE if key in case})
    return subprocess.run([limber, "eval", robot, "-", *options], input=state, capture_output=True, text=True, timeout=60)


def flat(answer):
    """What is said of frames beside the rest: {"F.position": ..., "qdd": ..., ...}"""
    frames = {f"{name}.{key}": value for name, frame in answer.get("frames", {}).items() for key, value in frame.items()}
    return frames | {key: value for key, value in answer.items() if key != "frames"}


def floor(key, case):
    """What rounding alone may leave of a bias whose terms cancel, in units of 1e-9: 1e-15 |M| (1 + |qd|^2).

    In the first case of lin-lewis nothing moves: the bias is zero, where the reference has 1e-16."""
    if key != "bias": return 0.0
    return 1e-6 * float(np.linalg.norm(case["mass_matrix"]) * (1 + np.linalg.norm(case["qd"]) ** 2))


@pytest.mark.parametrize("algorithm", [pytest.param("recursive", marks=pytest.mark.quick), "composite"])
@pytest.mark.parametrize("file, number", cases())
def test_agrees_with_the_reference(limber, tmp_path, file, number, algorithm):
    case = load(file)["cases"][number]
    expected_of = flat({key: value for key, value in case.items() if key not in STATE})
    run = evaluate(limber, file, case, tmp_path, "--algorithm", algorithm)
    assert (run.returncode, run.stderr) == (0, "")
    answer = flat(json.loads(run.stdout))
    assert expected_of.keys() <= answer.keys()
    for key in sorted(expected_of):
        found, expected = np.array(answer[key]), np.array(expected_of[key])
        assert found.shape == expected.shape, key
        size = max(float(np.linalg.norm(expected)), floor(key, case))
        assert np.linalg.norm(found - expected) <= TOLERANCE.get(key.split(".")[-1], 1e-9) * size, key


def test_there_is_something_to_agree_with():
    assert len(cases()) >= 45
    assert {"f2-joints-1", "f2-joints-2", "f2-floating", "f2-taper", "f2-frames", "f2-loops"} <= {file.stem for file in FILES}
