"""STATE documents: what is left out is the robot's start, in every command that takes one; q and qd by FMU variable names."""

import csv
import io
import json
import subprocess

import numpy as np
import pytest

from coordinates import Coordinates
from program import SEVERAL_JOINTS

ROBOT = {"format": "limber-robot/1", "name": "arm", "gravity": [0, -9.81, 0], "links": [
    {"name": "one", "joint": {"name": "j1", "type": "revolute", "start": {"position": 0.3, "velocity": -0.5}},
     "rigid": {"mass": 2, "com": [0.5, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "tip": {"xyz": [1, 0, 0]}}},
    {"name": "two", "joint": {"name": "j2", "type": "revolute", "start": {"position": -0.7, "velocity": 0.25}},
     "beam": {"length": 1, "mass_per_length": 1, "EIz": 100, "modes": {"y": {"shape": "clamped-free", "count": 2}}}}]}
START = {"q": [0.3, -0.7, 0, 0], "qd": [-0.5, 0.25, 0, 0]}
NAMED = {"q": {"two.eta[1]": 0.01, "j1.q": 0.6}, "qd": {"j2.qd": 1}, "tau": [1, 2]}
SPELT = {"q": [0.6, -0.7, 0.01, 0], "qd": [-0.5, 1, 0, 0], "tau": [1, 2]}
COMMANDS = {
    "eval": lambda robot: ["eval", robot, "-"],
    "matrices": lambda robot: ["matrices", robot, "-"],
    "modes": lambda robot: ["modes", robot, "--json", "--at", "-"],
    "linearize": lambda robot: ["linearize", robot, "--at", "-"],
    "zeros": lambda robot: ["zeros", robot, "--input", "j1.tau", "--output", "j1.q", "--at", "-"],
    "simulate": lambda robot: ["simulate", robot, "--until", "0.02", "--step", "0.01", "--at", "-"],
}


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    file = tmp_path_factory.mktemp("state") / "arm.json"
    file.write_text(json.dumps(ROBOT))
    return file


def run(limber, arguments, state):
    done = subprocess.run([limber, *map(str, arguments)], input=json.dumps(state), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("short, spelt", [({}, START), ({"q": START["q"]}, START), ({"qd": {}}, START), (NAMED, SPELT)],
                         ids=["nothing", "q", "empty-object", "names"])
def test_what_is_left_out_is_the_start(limber, robot, command, short, spelt):
    arguments = COMMANDS[command](robot)
    assert run(limber, arguments, short) == run(limber, arguments, spelt)


def test_names_of_joints_with_several_positions(limber, tmp_path):
    """Positions and velocities have different names and numbers; a quaternion is given number by number."""
    file = tmp_path / "several.json"
    file.write_text(json.dumps(SEVERAL_JOINTS))
    named = {"q": {"ball.quaternion[1]": 0.6, "ball.quaternion[3]": 0.8, "cross.q[2]": 0.7, "float.position[3]": -1, "arm.eta[2]": 0.01},
             "qd": {"ball.omega[2]": 3, "float.velocity[1]": 0.5, "hand.etad[1]": -0.02, "piston.qd[2]": 0.1}}
    names, state = Coordinates(SEVERAL_JOINTS), {}
    for given, order, key in [("q", names.positions, "position"), ("qd", names.velocities, "velocity")]:
        values = dict.fromkeys(order, 0) | {f"{joint}.quaternion[1]": 1 for joint in ("loose",) if given == "q"}
        for joint, of_joint in names.joints:
            values |= zip(getattr(of_joint, {"q": "positions", "qd": "velocities"}[given]), joint.get("start", {}).get(key, []))
        state[given] = [(values | named[given])[name] for name in order]
    assert run(limber, ["eval", file, "-"], named) == run(limber, ["eval", file, "-"], state)


def test_a_start_value_that_is_set_wins(limber, robot):
    """simulate --set of a start value and a STATE that names another coordinate: both count."""
    arguments = [*COMMANDS["simulate"](robot), "--set", "j2.q_start=0.1"]
    first = next(csv.DictReader(io.StringIO(run(limber, arguments, {"q": {"j1.q": 0.6}}))))
    np.testing.assert_array_equal([float(first[name]) for name in ("j1.q", "j2.q", "j1.qd")], [0.6, 0.1, -0.5])
