"""`limber eval` against reference data: robots, states and answers computed by an independent program.

Norm-wise 1e-9; accelerations and the forces of prescribed joints, which carry cond(M), 1e-8. In the files of tests/data/reference
mass matrices are lower triangles with 13 digits."""

import functools
import json
import subprocess

import numpy as np
import pytest
from program import ROOT, Program

FILES = sorted((ROOT / "tests/data/reference").glob("*.json"))

STATE = ["q", "qd", "tau", "tip_force", "tip_torque", "prescribed_qdd", "actuator_force", "frame_wrench"]
TOLERANCE = {"qdd": 1e-8, "tip_acceleration": 1e-8, "acceleration": 1e-8, "prescribed_tau": 1e-8, "lambda": 1e-8}


@functools.cache
def load(file):
    """Robot and cases of a file, with whole mass matrices."""
    reference = json.loads(file.read_text(encoding="utf-8"))
    for case in reference["cases"]:
        rows = case["mass_matrix"]
        case["mass_matrix"] = np.array([[rows[max(i, k)][min(i, k)] for k in range(len(rows))] for i in range(len(rows))])
    return reference


CASES = [pytest.param(file, number, id=f"{file.stem}-{number}") for file in FILES for number in range(len(load(file)["cases"]))]


def flat(answer):
    """What is reported of frames and couplings beside the rest: {"F.position": ..., "qdd": ..., ...}"""
    named = [*answer.get("frames", {}).items(), *answer.get("couplings", {}).items()]
    return {f"{name}.{key}": value for name, one in named for key, value in one.items()} | \
        {key: value for key, value in answer.items() if key not in ("frames", "couplings")}


def floor(key, case):
    """What rounding alone may leave of a bias whose terms cancel, in units of 1e-9: 1e-15 |M| (1 + |qd|^2).

    In the first case of lin-lewis nothing moves: the bias is zero, where the reference has 1e-16."""
    if key != "bias": return 0.0
    return 1e-6 * float(np.linalg.norm(case["mass_matrix"]) * (1 + np.linalg.norm(case["qd"]) ** 2))


@pytest.mark.parametrize("algorithm", [pytest.param("recursive", marks=pytest.mark.quick), "composite"])
@pytest.mark.parametrize("file, number", CASES)
def test_agrees_with_the_reference(limber, tmp_path, file, number, algorithm):
    robot, case = load(file)["robot"], load(file)["cases"][number]
    state = {key: case[key] for key in STATE if key in case}
    words = [limber, "eval", Program(limber, tmp_path).robot(robot), "-", "--algorithm", algorithm]
    done = subprocess.run(words, input=json.dumps(state), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    answer = flat(json.loads(done.stdout))
    expected = flat({key: value for key, value in case.items() if key not in STATE})
    assert expected.keys() <= answer.keys()
    for key, value in expected.items():
        assert np.shape(answer[key]) == np.shape(value), key
        size = max(np.linalg.norm(value), floor(key, case))
        assert np.linalg.norm(np.array(answer[key]) - value) <= TOLERANCE.get(key.split(".")[-1], 1e-9) * size, key


def test_there_is_something_to_agree_with():
    assert len(CASES) >= 45
    assert {"f2-joints-1", "f2-joints-2", "f2-floating", "f2-taper", "f2-frames", "f2-loops", "f3-couplings", "f3-couplings-2"} <= {file.stem for file in FILES}
