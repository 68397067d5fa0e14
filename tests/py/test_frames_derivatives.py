"""Derivatives of what sensors on frames show and of what loads on frames do, on random robots: `linearize` and the FMU's directional
derivatives against complex steps through the judge."""

import json

import numpy as np
import pytest
from importer import unzip
from judge import Robot
from program import Program
from random_robots import boom, closed_boom, random_state
from test_derivatives import Subject, Worst, check_tangents
from test_joints import check_linearization

SEEDS = range(8)
TOLERANCE = 1e-10


def opened(seed):
    robot = boom(seed)
    return robot, random_state(robot, np.random.default_rng([17, seed]))


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [opened, closed_boom], ids=["open", "closed"])
def test_linearization_is_exact(program, make, seed):
    robot, state = make(seed)
    worst = Worst()
    found, _ = check_linearization(program, robot, state, worst)
    frames = robot["frames"]
    for frame in frames:
        name, kinds = frame["name"], ["position[1]", "quaternion[4]", "specific_force[2]", "angular_rate[3]"]
        if not isinstance(frame["at"], (str, dict)): kinds += ["curvature[3]", "elongation"]
        assert all((f"{name}.{kind}" in found["outputs"]) == frame["sensor"] for kind in kinds)
        assert all((f"{name}.{kind}" in found["inputs"]) == frame["load"] for kind in ("force[1]", "torque[3]"))
    print(f"\n{seed}:", worst)
    assert max(worst.values()) <= TOLERANCE, str(worst)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [opened, closed_boom], ids=["open", "closed"])
def test_directional_derivatives_are_exact(pack, tmp_path, make, seed):
    robot, state = make(seed)
    file, worst = tmp_path / f"boom{seed}.json", Worst()
    file.write_text(json.dumps(robot))
    this = Subject(robot, Robot(robot), unzip(pack(file), tmp_path / "fmu"))
    check_tangents(this, state, worst)
    this.instance.free()
    print(f"\n{seed}:", worst)
    assert max(worst.values()) <= TOLERANCE, str(worst)
