"""The concrete pump with cylinders inside and its example, judged from outside."""

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def robot(root): return root / "resources/concrete-pump-drives.json"


def test_start_closes_every_loop(limber, robot):
    result = subprocess.run([limber, "eval", robot, "-"], input="{}", capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert max(map(abs, json.loads(result.stdout)["gap"])) < 1e-9


def test_pressures_hold_the_load(limber, robot, tmp_path):
    """p1 A1 - p2 A2 at the static start is the force that `limber static` finds."""
    table = tmp_path / "start.csv"
    done = subprocess.run([limber, "simulate", robot, "--until", "0.01", "--step", "0.01", "--set", "start_static=1", "-o", table],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names, first, *_ = [line.split(",") for line in table.read_text().splitlines()]
    start = dict(zip(names, map(float, first)))
    found = json.loads(subprocess.run([limber, "static", robot, "--json"], capture_output=True, text=True).stdout)
    for actuator in json.loads(robot.read_text())["actuators"]:
        drive = actuator["drive"]
        A1 = 3.141592653589793 * drive["bore"]**2 / 4
        A2 = A1 - 3.141592653589793 * drive["rod"]**2 / 4
        value = start[f"{actuator['name']}.drive.p1"] * A1 - start[f"{actuator['name']}.drive.p2"] * A2
        assert value == pytest.approx(found["actuators"][actuator["name"]], rel=1e-6)


def test_example_moves_and_plots(root, limber, tmp_path):
    result = subprocess.run([sys.executable, root / "examples/boom.py", tmp_path, "--seconds", "12"], capture_output=True, text=True,
                            env={**os.environ, "LIMBER": str(limber)})
    assert result.returncode == 0, result.stdout + result.stderr
    assert (tmp_path / "boom.png").read_bytes().startswith(b"\x89PNG")
