"""Frames in `limber eval`, on random robots against the judge: varying beams, loads, children, loops and actuators on frames. The
reference files are in test_reference.py."""

import json

import numpy as np
import pytest
from judge import Robot
from program import Program
from random_robots import boom, closed_boom, coupled_boom, random_state
from test_derivatives import answers
from test_reference import TOLERANCE, flat

SEEDS = range(16)


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


def opened(seed):
    robot = boom(seed)
    return robot, random_state(robot, np.random.default_rng([16, seed]))


# ---- the judge itself, where the reference does not reach -------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_multipliers_of_the_judge_do_virtual_work(seed):
    """Forces on the two sides, and where the plane turns with a link a torque on that: G' lambda."""
    robot, state = closed_boom(seed)
    judge, q, none = Robot(robot), np.array(state["q"]), np.zeros(3)
    G = judge.gap([q, np.eye(judge.n)])[1].T
    multiplier = np.arange(1.0, 1 + len(G))
    at_rest = [q, np.zeros(judge.n), np.zeros(judge.n), none, none]
    found = judge.inverse(*at_rest) - judge.inverse(*at_rest, None, multiplier)
    assert np.abs(found - multiplier @ G).max() <= 1e-12 * (np.abs(multiplier) @ np.abs(G)).max() + 1e-13 * np.abs(judge.inverse(*at_rest)).max()


def test_the_robots_have_everything():
    """The seeds cover every kind of frame and loop."""
    robots = [closed_boom(seed)[0] for seed in SEEDS]
    text = json.dumps(robots)
    for word in "parent_frame", "node", "added_mass_per_length", "material", "section", "value", "plane_of", "planar-pin", "ball", "spherical":
        assert f'"{word}"' in text, word
    places = [frame["at"] for robot in robots for frame in robot["frames"]]
    assert {"hinge", "tip", 0} <= {at for at in places if not isinstance(at, dict)}
    mounts = [frame["at"] for robot in robots for frame in robot["frames"] for link in robot["links"]
              if link["joint"].get("parent_frame") == frame["name"]]
    assert sum(isinstance(at, float) for at in mounts) >= 5 and sum(isinstance(at, dict) for at in mounts) >= 2


# ---- eval -------------------------------------------------------------------------------------------------------------------


def check(program, robot, state, algorithm):
    judge = Robot(robot)
    found, expected = flat(program.json("eval", robot, "-", "--algorithm", algorithm, state=state)), answers(judge, state, judge.site)
    assert expected.keys() <= found.keys()
    for key, value in expected.items():
        assert np.shape(found[key]) == np.shape(value) or key.endswith(".elongation"), key
        may_vanish = "." in key or key in ("gap", "gap_rate")
        floor = 1e-3 if may_vanish else 1e-6 * np.linalg.norm(found["mass_matrix"]) if key == "bias" else 0
        error = np.linalg.norm(np.array(found[key]) - value) / max(np.linalg.norm(value), floor)
        assert error <= TOLERANCE.get(key.split(".")[-1], 1e-9), f"{key}: {error:.1e}"


@pytest.mark.parametrize("algorithm", ["recursive", "composite"])
@pytest.mark.parametrize("make", [opened, closed_boom, coupled_boom], ids=["tree", "loops", "couplings"])
@pytest.mark.parametrize("seed", SEEDS)
def test_robots_agree_with_the_judge(program, seed, make, algorithm):
    check(program, *make(seed), algorithm)


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_subtracts_applied_forces(program, seed):
    """`inverse` is M qdd + h minus the generalized forces of tip wrench, frame wrenches and actuators."""
    robot, state = opened(seed)
    judge, qdd = Robot(robot), np.random.default_rng(seed).uniform(-3, 3, Robot(robot).n)
    q, qd, force, torque, push = (np.array(state[key]) for key in ("q", "qd", "tip_force", "tip_torque", "actuator_force"))
    expected = judge.inverse(q, qd, qdd, force, torque, push, None, judge.wrenches(state.get("frame_wrench", {})))
    found = program.json("eval", robot, "-", state={**state, "qdd": qdd.tolist()})["inverse"]
    assert np.linalg.norm(found - expected) <= 1e-10 * np.linalg.norm(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_frame_takes_a_wrench(program, seed):
    """Also those without `load`."""
    robot, state = opened(seed)
    random = np.random.default_rng(seed)
    state["frame_wrench"] = {frame["name"]: random.uniform(-5, 5, 6).tolist() for frame in robot["frames"]}
    check(program, robot, state, "recursive")


# ---- two descriptions of one robot ------------------------------------------------------------------------------------------

ARM = {"name": "arm", "parent": "world", "joint": {"type": "revolute", "axis": [0, 1, 2]}, "beam": {
    "length": 1.2, "mass_per_length": {"x": [0, 0.7, 1.2], "value": [3, 2, 1]}, "EIy": 300, "EIz": 400, "GJ": 100,
    "inertia_per_length": [0.02, 0.01, 0.01], "modes": {"y": {"shape": "hermite"}, "z": {"shape": "craig-bampton", "count": 3},
                                                        "twist": {"shape": "linear"}}}}
HAND = {"name": "hand", "joint": {"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0]},
        "rigid": {"mass": 2, "com": [0.2, 0.1, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "tip": {"xyz": [0.3, 0, 0.1]}}}
OFFSET = {"xyz": [0.1, -0.2, 0.05], "rpy": [0.3, -0.4, 0.5]}


def pair(frame, origin=None):
    """Arm and hand, the hand on the tip or on a frame."""
    joint = HAND["joint"] | ({"origin": origin} if origin else {}) | ({"parent_frame": "f"} if frame else {})
    robot = {"format": "limber-robot/2", "name": "pair", "gravity": [0, 0, -9.81], "links": [ARM, {**HAND, "joint": joint}]}
    return robot | ({"frames": [{"name": "f", "link": "arm", **frame}]} if frame else {})


@pytest.mark.parametrize("frame, origin", [({}, None), ({"at": "tip"}, None), ({"at": 1.2}, None), ({"at": 1.2, **OFFSET}, OFFSET)],
                         ids=["default", "tip", "x = L", "offset"])
def test_the_last_station_is_the_tip(program, frame, origin):
    q, qd = [0.4, 0.02, -0.01, 0.03, 0.02, -0.01, 0.02, 0.5, -0.3], [0.3, 0.1, 0.2, -0.1, 0.2, 0.1, 0.3, -0.5, 0.7]
    state = {"q": q, "qd": qd, "tau": [3, 2, 1], "tip_force": [1, 2, 3]}
    found, expected = (program.json("eval", robot, "-", state=state) for robot in (pair(frame), pair(None, origin)))
    for key, value in expected.items():
        assert np.linalg.norm(np.array(found[key]) - value) <= 1e-12 * np.linalg.norm(value) * (100 if "qdd" in key or "acc" in key else 1), key
    if "at" in frame and frame["at"] != "tip": assert {"curvature", "elongation"} <= found["frames"]["f"].keys()


def test_a_wrench_on_a_frame_is_its_wrench_at_the_tip(program):
    """On a rigid link and at the end of a beam: the force, and the torque plus offset x force."""
    for link in "arm", "hand":
        robot = pair(None) | {"tip": link, "frames": [{"name": "f", "link": link, **OFFSET, "load": True}]}
        state = {"q": [0.4, 0.02, -0.01, 0.03, 0.02, -0.01, 0.02, 0.5, -0.3]}
        base = program.json("eval", robot, "-", state=state)
        f, t = np.array([3.0, -2.0, 5.0]), np.array([1.0, 0.5, -0.7])
        arm = np.array(base["frames"]["f"]["position"]) - base["tip_position"]
        one = program.json("eval", robot, "-", state=state | {"frame_wrench": {"f": [*f, *t]}})
        other = program.json("eval", robot, "-", state=state | {"tip_force": f.tolist(), "tip_torque": (t + np.cross(arm, f)).tolist()})
        assert np.linalg.norm(np.array(one["qdd"]) - other["qdd"]) <= 1e-11 * np.linalg.norm(one["qdd"])
        assert np.linalg.norm(np.array(one["qdd"]) - base["qdd"]) > 1e-4 * np.linalg.norm(one["qdd"])
