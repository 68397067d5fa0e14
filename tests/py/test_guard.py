"""`simulate` warns once for each link that bends beyond the validity of the model, with time, link and number, and goes on."""

import csv
import io
import json
import re
import subprocess

import numpy as np
import pytest


def beam(length, **more):
    return {"length": length, "mass_per_length": 2, "EIz": 500, "modes": {"y": {"shape": "craig-bampton", "count": 3}}, **more}


def arm(*beams):
    return {"format": "limber-robot/2", "name": "arm", "links": [
        {"name": f"link{i}", "joint": {"name": f"j{i}", "type": "revolute"}, "beam": each} for i, each in enumerate(beams, 1)]}


def simulate(limber, tmp_path, robot, torque, *options, step="0.0001", until="0.01"):
    (tmp_path / "robot.json").write_text(json.dumps(robot))
    (tmp_path / "inputs.csv").write_text(f"time,j1.tau\n0,{torque}\n1,{torque}\n")
    done = subprocess.run([limber, "simulate", tmp_path / "robot.json", "--until", until, "--step", step, "--inputs",
                           tmp_path / "inputs.csv", *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr.splitlines()


def bent(row, link, length):
    """Whether the outputs of a row are beyond a fifth of the length or 0.5 rad."""
    size = [np.linalg.norm([float(row[f"{link}.{what}[{k}]"]) for k in (1, 2, 3)]) for what in ("deflection", "rotation")]
    return size[0] > 0.2 * length or size[1] > 0.5


@pytest.mark.parametrize("method", ["auto", "cvode", "esdirk", "explicit"])
def test_a_torque_that_is_far_too_large(limber, tmp_path, method):
    """1e5 N.m on an arm of 1.8 m. The warnings come in the step in which the outputs pass the bounds."""
    rows, said = simulate(limber, tmp_path, arm(beam(1.0), beam(0.8)), 1e5, "--method", method)
    assert len(said) == 2
    for link, length, line in [("link1", 1.0, said[0]), ("link2", 0.8, said[1])]:
        match = re.search(rf"warning: at t = (\S+) s: .*'{link}' (?:bends by (\S+) m|turns by (\S+) rad)", line)
        assert match, line
        first = next(i for i, row in enumerate(rows) if bent(row, link, length))
        assert float(rows[first - 1]["time"]) < float(match[1]) <= float(rows[first]["time"]) + 1e-12


def test_a_usual_torque_is_quiet(limber, tmp_path):
    rows, said = simulate(limber, tmp_path, arm(beam(1.0), beam(0.8)), 20, until="0.5", step="0.01")
    assert said == [] and not any(bent(row, "link1", 1.0) for row in rows)


def test_twist_counts_as_rotation(limber, tmp_path):
    soft = beam(1.0, EIz=1e5, GJ=1, inertia_per_length=[0.01, 0, 0], modes={"twist": {"shape": "linear"}})
    robot = arm(soft)
    robot["links"][0]["joint"]["axis"] = [1, 0, 0]
    robot["links"][0]["payload"] = {"mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    _, said = simulate(limber, tmp_path, robot, 2, until="1", step="0.01")
    assert len(said) == 1 and "the tip of link 'link1' turns by" in said[0] and "0.5 rad" in said[0]
