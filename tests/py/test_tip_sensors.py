"""tip.specific_force and tip.angular_rate of format 2: what an inertial measurement unit on the tip shows."""

import csv
import io
import json
import subprocess

import numpy as np
import pytest

pytestmark = pytest.mark.quick

BODY = {"mass": 2, "com": [0.3, 0.1, 0], "inertia": [0.1, 0.2, 0.2, 0, 0, 0], "tip": {"xyz": [0.6, 0, 0], "rpy": [0.3, -0.5, 0.8]}}
BEAM = {"length": 0.8, "mass_per_length": 2, "EIy": 300, "EIz": 200, "GJ": 100, "inertia_per_length": [0.01, 0, 0],
        "modes": {"y": {"shape": "craig-bampton", "count": 2}, "z": {"shape": "craig-bampton", "count": 2},
                  "twist": {"shape": "linear"}}}
GRAVITY = [1.0, -2.0, -9.5]


def arm(number=2, last=BEAM, **more):
    kind = "rigid" if "mass" in last else "beam"
    return {"format": f"limber-robot/{number}", "name": "arm", "gravity": GRAVITY, **more, "links": [
        {"name": "slew", "joint": {"type": "revolute", "axis": [0, 0, 1], "start": {"position": 0.4, "velocity": 1.5}}, "rigid": BODY},
        {"name": "lift", "joint": {"type": "revolute", "axis": [0, 1, 0], "start": {"position": -0.6, "velocity": -2}}, "rigid": BODY},
        {"name": "jib", "joint": {"type": "revolute", "axis": [1, 0, 1], "start": {"velocity": 1}}, kind: last}]}


def simulate(limber, tmp_path, robot, *options):
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(robot))
    done = subprocess.run([limber, "simulate", file, "--until", "0.2", "--step", "0.02", *options], capture_output=True, text=True,
                          timeout=60, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def column(of, name, count=3): return np.stack([of[f"{name}[{k}]"] for k in range(1, count + 1)], axis=1)


def matrix(quaternion):
    w, v = quaternion[0], quaternion[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


@pytest.mark.parametrize("last", [BODY, BEAM], ids=["rigid", "beam"])
def test_axes_of_the_tip(limber, tmp_path, last):
    """R'(a - g) and R' omega, from the outputs in world axes."""
    of = simulate(limber, tmp_path, arm(last=last), "--rtol", "1e-9")
    R = np.array([matrix(q) for q in column(of, "tip.quaternion", 4)])
    force = np.einsum("tij,ti->tj", R, column(of, "tip.acceleration") - GRAVITY)
    rate = np.einsum("tij,ti->tj", R, column(of, "tip.angular_velocity"))
    np.testing.assert_allclose(column(of, "tip.specific_force"), force, rtol=0, atol=1e-12 * np.abs(force).max())
    np.testing.assert_allclose(column(of, "tip.angular_rate"), rate, rtol=0, atol=1e-12 * np.abs(rate).max())


def test_free_fall_shows_nothing(limber, tmp_path):
    """A body that falls freely without turning: no specific force; gravity is still in the acceleration."""
    robot = {"format": "limber-robot/2", "name": "stone", "gravity": GRAVITY,
             "links": [{"name": "stone", "joint": {"name": "float", "type": "free"}, "rigid": BODY}]}
    of = simulate(limber, tmp_path, robot)
    np.testing.assert_allclose(column(of, "tip.specific_force"), 0, atol=1e-12)
    np.testing.assert_allclose(column(of, "tip.acceleration"), np.tile(GRAVITY, (11, 1)), atol=1e-12)


def test_format_1_has_none(limber, tmp_path):
    robot = arm(1)
    assert not [name for name in simulate(limber, tmp_path, robot) if "specific_force" in name or "angular_rate" in name]


def linearize(limber, tmp_path, robot):
    (tmp_path / "robot.json").write_text(json.dumps(robot))
    done = subprocess.run([limber, "linearize", tmp_path / "robot.json"], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_the_first_joint_does_not_change_the_rate(limber, tmp_path):
    """C of linearize: the slewing angle turns the tip with its angular velocity; seen from the tip nothing changes."""
    answer = linearize(limber, tmp_path, arm())
    C = np.array(answer["C"])
    slew, lift = answer["states"].index("slew.q"), answer["states"].index("lift.q")
    rows = [answer["outputs"].index(f"tip.angular_rate[{k}]") for k in (1, 2, 3)]
    np.testing.assert_array_less(np.abs(C[rows, slew]), 1e-13)
    assert np.abs(C[rows, lift]).max() > 0.1
