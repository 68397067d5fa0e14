"""The concrete pump of resources/ and its example, judged from outside."""

import csv
import json
import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def robot(root): return root / "resources/concrete-pump.json"


@pytest.fixture(scope="module")
def run(root, limber, tmp_path_factory):
    """What 12 seconds of the example print, and the table it writes."""
    folder = tmp_path_factory.mktemp("pump")
    result = subprocess.run([sys.executable, root / "examples/concrete_pump.py", folder, "--seconds", "12"], capture_output=True,
                            text=True, env={**os.environ, "LIMBER": str(limber)})
    assert result.returncode == 0, result.stdout + result.stderr
    with open(folder / "concrete-pump.csv", encoding="utf-8") as file: rows = list(csv.DictReader(file))
    return result, rows, folder


def test_start_closes_every_loop(limber, robot):
    """`eval` closes nothing: its gap is that of the start values in the file"""
    result = subprocess.run([limber, "eval", robot, "-"], input="{}", capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert max(map(abs, json.loads(result.stdout)["gap"])) < 1e-9


def test_check_finds_nothing_to_warn_of(limber, robot):
    result = subprocess.run([limber, "check", robot, "--json"], capture_output=True, text=True)
    assert result.returncode == 0 and json.loads(result.stdout)["warnings"] == [], result.stderr


def test_example_slews_and_plots(run):
    result, rows, folder = run
    assert (folder / "concrete-pump.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "concrete-pump.fmu").is_file()
    assert float(rows[-1]["slew.q"]) > 0.3 and "energy balance" in result.stdout


def test_the_boom_stands_before_it_slews(run):
    """From the static start nothing moves in the first two seconds, when the torque is zero"""
    for name in ("tip.position[3]", "knuckle1.q", "imu4.specific_force[3]", "gauge1.curvature[2]"):
        values = [float(row[name]) for row in run[1][:200]]
        assert max(values) - min(values) < 1e-6 * abs(values[0]), name


def test_outriggers_carry_the_weight(run, limber, robot):
    """The springs of the four feet carry the weight of the pump, less that of the pads, which rest on the ground"""
    file = json.loads(robot.read_text(encoding="utf-8"))
    feet = {link["name"]: link["joint"]["stiffness"] for link in file["links"] if link["name"].startswith("foot_")}
    carried = sum(-stiffness * float(run[1][0][f"{name}.q"]) for name, stiffness in feet.items())
    check = subprocess.run([limber, "check", robot, "--json"], capture_output=True, text=True)
    pads = sum(link["rigid"]["mass"] for link in file["links"] if link["name"].startswith("pad_"))
    assert carried == pytest.approx(9.81 * (json.loads(check.stdout)["mass"] - pads), rel=1e-6)
