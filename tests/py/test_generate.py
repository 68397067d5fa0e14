"""limber generate: the code compiles without warnings and agrees with the library; counts, kept parameters."""

import json
import os
import json
import re
import subprocess
from pathlib import Path

import pytest

import generated_code

ROOT = Path(__file__).resolve().parents[2]
LIMBER = os.environ["LIMBER"]


def generate(robot, folder, *options):
    return subprocess.run([LIMBER, "generate", str(robot), "-o", str(folder), *options], capture_output=True, text=True)


def counts(answer):
    """{function: [additions, multiplications, divisions, sines, square roots]}"""
    rows = [row.split() for row in answer.stdout.splitlines()[1:]]
    return {row[0]: list(map(int, row[1:])) for row in rows}


@pytest.mark.parametrize("robot", ["canadarm", "chain-7", "dualemps", "two-arms", "crane", "lin-lewis"])
def test_robots_of_resources_agree_with_the_library(robot, tmp_path):
    answer = generate(ROOT / f"resources/{robot}.json", tmp_path)
    assert answer.returncode == 0, answer.stderr
    for compiler in generated_code.compilers():
        problem = generated_code.build_and_run(tmp_path, compiler, "-O1")
        assert problem is None, problem


SPRING_ALONE = {"format": "limber-robot/2", "name": "spring", "links": [{"name": "arm", "joint": {"name": "q", "type": "revolute", "passive": True}, "rigid": {"mass": 2, "com": [0.4, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}}],
                "actuators": [{"name": "s", "type": "line", "from": {"link": "world", "xyz": [0, 1, 0]}, "to": {"link": "arm", "frame": "hinge", "xyz": [0.5, 0.1, 0]},
                               "drive": {"type": "spring", "stiffness": 1e3, "damping": 10, "rest_length": 0.8}}]}
FREE_COUPLED = {"format": "limber-robot/3", "name": "free", "links": [{"name": "body", "joint": {"name": "f", "type": "free"}, "rigid": {"mass": 2, "com": [0.1, 0.2, 0], "inertia": [0.2, 0.3, 0.4, 0, 0, 0]}}],
                "couplings": [{"name": "s", "terms": {"f.position[1]": 1, "f.position[3]": -0.5}, "stiffness": 100, "damping": 3}]}


# no coordinates; badly conditioned; a drive without states; a spring on the position of a free joint
@pytest.mark.parametrize("robot", ["smallest", "spinning-tip-mass", SPRING_ALONE, FREE_COUPLED], ids=lambda robot: robot if isinstance(robot, str) else robot["name"])
def test_odd_robots_agree_with_the_library(robot, tmp_path):
    file = ROOT / f"tests/data/good/{robot}.json"
    if isinstance(robot, dict):
        file = tmp_path / "robot.json"
        file.write_text(json.dumps(robot))
    answer = generate(file, tmp_path)
    assert answer.returncode == 0, answer.stderr
    for compiler in generated_code.compilers():
        problem = generated_code.build_and_run(tmp_path, compiler, "-O1")
        assert problem is None, problem


def test_random_robots_agree_with_the_library(tmp_path):
    subprocess.run([generated_code.ROBOTS, tmp_path, "6"], check=True)
    for i in range(6):
        problem = generated_code.build_and_run(tmp_path / str(i), generated_code.compilers()[i % len(generated_code.compilers())], "-O0")
        assert problem is None, problem


def test_fewer_operations_than_the_papers(tmp_path):
    robot = ROOT / "resources/dualemps.json"
    for terms in "full", "linear", "ruthless":
        additions, multiplications, divisions = counts(generate(robot, tmp_path, "--elastic-terms", terms))["forward"][:3]
        assert additions <= 1287 and multiplications + divisions <= 1555  # Briot and Khalil


def test_the_head_of_a_function_states_its_counts(tmp_path):
    answer = generate(ROOT / "resources/canadarm.json", tmp_path)
    additions, multiplications, divisions, sines = counts(answer)["forward"][:4]
    head = (tmp_path / "canadarm_forward.c").read_text().split("*/")[0]
    assert f"{additions} additions, {multiplications} multiplications, {divisions} divisions, {sines} sines" in head


def test_kept_parameters_are_arguments(tmp_path):
    robot = json.loads((ROOT / "resources/canadarm.json").read_text())
    robot["gravity"] = [0, -9.81, 0]
    robot["links"][-1]["payload"] = {"mass": 20.0, "com": [0.1, 0, 0]}
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(robot))
    answer = generate(file, tmp_path / "code", "--keep", "payload.mass", "--keep", "gravity")
    assert answer.returncode == 0, answer.stderr
    header = (tmp_path / "code/canadarm.h").read_text()
    assert "parameters[0]: wrist.payload.mass, 20" in header and re.search(r"forward\(.*const double parameters\[4\]", header)
    problem = generated_code.build_and_run(tmp_path / "code", generated_code.compilers()[0], "-O1")
    assert problem is None, problem


def test_unknown_parameters_are_refused(tmp_path):
    answer = generate(ROOT / "resources/canadarm.json", tmp_path, "--keep", "payload.color")
    assert answer.returncode == 2 and "payload.color" in answer.stderr and "LINK.payload.mass" in answer.stderr


@pytest.mark.parametrize("robot", ["crane-drives", "cibicik-servo-drives"])
def test_drives_inside_are_part_of_the_code(robot, tmp_path):
    """Their equations are called with inputs and states; two robots fit in one program."""
    answer = generate(ROOT / f"resources/{robot}.json", tmp_path)
    assert answer.returncode == 0 and answer.stderr == ""
    header = next(tmp_path.glob("*[!e].h")).read_text()
    assert re.search(r"_driven\(.*const double drive_input\[\d+\], const double drive_state\[\d+\].*double drive_rate\[\d+\]\)", header)
    assert "/* drive_state[0]: " in header
    for compiler in generated_code.compilers():
        problem = generated_code.build_and_run(tmp_path, compiler, "-O1")
        assert problem is None, problem
    exported = subprocess.run(["nm", "--defined-only", "-g", tmp_path / "test-gcc"], capture_output=True, text=True).stdout
    assert not re.search(r" (servo|cylinder)_drive", exported)  # another robot may be linked to the same program


def test_wrenches_are_arguments(tmp_path):
    answer = generate(ROOT / "tests/data/good/actuators.json", tmp_path, "--wrenches")
    assert answer.returncode == 0, answer.stderr
    header = next(tmp_path.glob("*.h")).read_text()
    for function in "forward", "jacobian", "residual": assert re.search(rf"{function}\(.*const double tip_wrench\[6\]", header)
    problem = generated_code.build_and_run(tmp_path, generated_code.compilers()[0], "-O1")
    assert problem is None, problem
