"""Frames on the command line and in the FMU: wrenches of a STATE, `eval`, `inverse`, `linearize`, `simulate`, `check`, parameters,
strain gauges."""

import json
import subprocess

import numpy as np
import pytest
from program import columns, write_csv

BEAM = {"length": 2, "mass_per_length": 3, "EIy": 4e3, "EIz": 5e3, "GJ": 2e3, "EA": 1e6, "inertia_per_length": [0.01, 0.005, 0.005],
        "modes": {"y": {"shape": "craig-bampton", "count": 3}, "z": {"shape": "hermite"}, "twist": {"shape": "linear"}}, "damping_ratio": 0.02}
FRAMES = [{"name": "gauge", "link": "boom", "at": 0, "sensor": True},
          {"name": "hook", "link": "boom", "at": 1.3, "xyz": [0, 0.1, -0.2], "rpy": [0.3, 0, 0.5], "sensor": True, "load": True},
          {"name": "end", "link": "boom", "at": 2.0, "sensor": True, "load": True},
          {"name": "bracket", "link": "boom", "at": 0.7, "xyz": [0.1, 0, 0]},
          {"name": "imu", "link": "jib", "at": "hinge", "sensor": True}]
ROBOT = {"format": "limber-robot/2", "name": "boom", "gravity": [0, 0, -9.81], "tip": "boom", "frames": FRAMES, "links": [
    {"name": "boom", "joint": {"name": "luff", "type": "revolute", "axis": [0, 1, 0], "start": {"position": -0.4}}, "beam": BEAM},
    {"name": "jib", "joint": {"name": "swing", "type": "spherical", "parent_frame": "bracket", "viscous": 0.1},
     "rigid": {"mass": 2, "com": [0, 0, -0.4], "inertia": [0.1, 0.1, 0.05, 0, 0, 0]}}],
    "actuators": [{"name": "jack", "type": "line", "from": {"link": "world", "xyz": [0.8, 0, -0.5]}, "to": {"frame": "bracket"}}]}
STATE = {"q": [-0.4, 0.01, -0.02, 0.003, 0.02, 0.01, 0.02, 0.9, 0.1, -0.3, 0.3], "qd": [0.5, 0.1, 0.2, -0.3, 0.1, 0.2, 0.3, -1, 0.4, 2],
         "tau": [12, 0.3, -0.2, 0.5], "tip_force": [3, -2, 1], "actuator_force": [50],
         "frame_wrench": {"hook": [4, -5, 6, 0.1, 0.2, 0.3], "bracket": [-7, 8, 2, 0.5, -0.4, 0.3]}}
STATE["q"][7:] = list(np.array(STATE["q"][7:]) / np.linalg.norm(STATE["q"][7:]))


def answer(limber, *arguments, state=None):
    return subprocess.run([limber, *map(str, arguments)], input=None if state is None else json.dumps(state), capture_output=True,
                          text=True, timeout=60)


def output(limber, *arguments, state=None):
    done = answer(limber, *arguments, state=state)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def file(tmp_path):
    def write(robot):
        path = tmp_path / "boom.json"
        path.write_text(json.dumps(robot))
        return path
    return write


def with_flags(**flags):
    return {**ROBOT, "frames": [{**frame, **flags} for frame in FRAMES]}


def test_eval_answers_every_frame(limber, file):
    frames = json.loads(output(limber, "eval", file(ROBOT), "-", state=STATE))["frames"]
    assert list(frames) == [frame["name"] for frame in FRAMES]
    for frame in FRAMES:
        keys = {"position", "rotation", "velocity", "angular_velocity", "acceleration"}
        if not isinstance(frame["at"], str): keys |= {"curvature", "elongation"}
        assert set(frames[frame["name"]]) == keys


def test_a_wrench_acts_on_any_frame(limber, file):
    """Sensors and loads do not matter, in any command that takes a STATE."""
    for command in ["eval", "ROBOT", "-"], ["linearize", "ROBOT", "--at", "-"], ["modes", "ROBOT", "--json", "--at", "-"]:
        found = []
        for flags in {}, {"sensor": True, "load": True}:
            robot = file(with_flags(**flags))
            answered = json.loads(output(limber, *[robot if word == "ROBOT" else word for word in command], state=STATE))
            found.append(np.array(answered["qdd"] if "qdd" in answered else answered["A"] if "A" in answered else answered["frequency"]))
        without = {key: value for key, value in STATE.items() if key != "frame_wrench"}
        assert np.allclose(found[0], found[1], rtol=1e-10, atol=1e-8)
        calm = json.loads(output(limber, "eval", file(ROBOT), "-", state=without))["qdd"]
        if command[0] == "eval": assert np.abs(found[0] - calm).max() > 1


@pytest.mark.parametrize("wrench, path, text", [
    ({"hok": [0] * 6}, "frame_wrench.hok", 'no such frame, did you mean "hook"?'),
    ({"something_else": [0] * 6}, "frame_wrench.something_else", "no such frame; names are those of the robot file, as gauge"),
    ({"tip": [0] * 6}, "frame_wrench.tip", "the wrench on the tip is tip_force and tip_torque"),
    ({"hook": [0] * 3}, "frame_wrench.hook", "array of 6"),
    ({"hook": ["x"] * 6}, "frame_wrench.hook[0]", "must be a number"),
    ([0] * 6, "frame_wrench", "must be an object")])
def test_bad_wrenches(limber, file, wrench, path, text):
    done = answer(limber, "eval", file(ROBOT), "-", state={"frame_wrench": wrench})
    assert done.returncode == 1 and f"{path}" in done.stderr and text in done.stderr, done.stderr


def test_check_lists_frames(limber, file):
    robot = file(ROBOT)
    listed = json.loads(output(limber, "check", robot, "--json"))["frames"]
    assert [frame["name"] for frame in listed] == [frame["name"] for frame in FRAMES]
    assert [frame["at"] for frame in listed] == [0, 1.3, "tip", 0.7, "hinge"]
    text = output(limber, "check", robot)
    assert "frame hook on boom at x = 1.3 m: sensor, load" in text and "frame bracket on boom at x = 0.7 m\n" in text


def test_operating_point_is_a_state(limber, file):
    robot = file(ROBOT)
    first = json.loads(output(limber, "linearize", robot, "--at", "-", state=STATE))
    point = first["operating_point"]
    assert point["frame_wrench"]["hook"] == STATE["frame_wrench"]["hook"] and point["frame_wrench"]["end"] == [0] * 6
    again = json.loads(output(limber, "linearize", robot, "--at", "-", state={key: value for key, value in point.items() if key != "qdd"}))
    assert np.allclose(first["A"], again["A"], rtol=1e-12, atol=1e-10)


def test_energy_balances_with_a_moving_load(limber, file, tmp_path):
    """Change of energy = work of the load on the hook and of the joints, minus losses."""
    t = np.linspace(0, 1, 2001)
    force, torque = np.outer(np.sin(9 * t), [20, -30, 40]), np.outer(np.cos(7 * t), [1, 2, -3])
    names = [f"hook.{kind}[{k}]" for kind in ("force", "torque") for k in (1, 2, 3)]
    inputs = write_csv(tmp_path / "inputs.csv", {"time": t, **dict(zip(names, [*force.T, *torque.T]))})
    column = columns(output(limber, "simulate", file(ROBOT), "--until", 1, "--step", 5e-4, "--rtol", 1e-9, "--inputs", inputs, "--interpolate", "cubic"))
    vector = lambda name: np.stack([column[f"{name}[{k}]"] for k in (1, 2, 3)], axis=1)
    power = (force * vector("hook.velocity")).sum(1) + (torque * vector("hook.angular_velocity")).sum(1)
    power += column["power.joints"] + column["power.actuators"] - column["power.losses"]
    work = np.sum(power[:-1] + power[1:]) / 2 * 5e-4
    energy = column["energy.total"]
    assert abs(energy[-1] - energy[0] - work) < 1e-4 * (energy.max() - energy.min())
    steps = np.abs(np.diff(np.stack([column[f"imu.quaternion[{k}]"] for k in range(1, 5)], axis=1), axis=0))
    assert steps.max() < 0.1  # the sign of a quaternion does not jump


def test_a_beam_stays_longer_than_its_stations(limber, file):
    robot = file(ROBOT)
    done = answer(limber, "simulate", robot, "--until", 0.01, "--step", 0.01, "--set", "boom.length=1.2")
    assert done.returncode != 0 and "boom.length = 1.2 m: must not be below 1.3, the station of frame 'hook'" in done.stderr
    output(limber, "simulate", robot, "--until", 0.01, "--step", 0.01, "--set", "boom.length=1.8")


# ---- strain gauges, against closed forms --------------------------------------------------------------------------------------

L, RHOA, STIFF, G = 1.5, 2.0, np.array([150.0, 300.0, 400.0]), 9.81  # GJ, EIy, EIz
HERMITE = {"y": {"shape": "hermite"}, "z": {"shape": "hermite"}, "twist": {"shape": "linear"}}
QUARTICS = {key: {"shape": "polynomial", "count": 3} for key in "yz"}  # exact under the own weight


@pytest.mark.parametrize("modes, force, torque, gravity", [
    (HERMITE, [0, 20, 0], [0, 0, 0], [0, 0, 0]), (HERMITE, [0, 0, -30], [0, 0, 0], [0, 0, 0]), (HERMITE, [0, 0, 0], [4, 0, 0], [0, 0, 0]),
    (QUARTICS, [0, 0, 0], [0, 0, 0], [0, 0, -G]), (QUARTICS, [0, 0, 0], [0, 0, 0], [0, 3.0, -4.0])])
def test_gauges_see_the_moment_that_the_joint_holds(limber, file, tmp_path, modes, force, torque, gravity):
    """Stiffness times curvature at x = 0 in static equilibrium. Of the own weight the moment about x comes from the deflection, which no
    gauge sees."""
    beam = {"length": L, "mass_per_length": RHOA, "GJ": STIFF[0], "EIy": STIFF[1], "EIz": STIFF[2], "inertia_per_length": [0.02, 0, 0],
            "foreshortening": False, "modes": modes}
    robot = {"format": "limber-robot/2", "name": "gauged", "gravity": gravity, "links": [{"name": "arm", "joint": {"type": "fixed"}, "beam": beam}],
             "frames": [{"name": "gauge", "link": "arm", "sensor": True, "at": 0}]}
    names = [f"tip.{key}[{k + 1}]" for key in ("force", "torque") for k in range(3)]
    inputs = write_csv(tmp_path / "inputs.csv", dict(zip(["time", *names], [[0, 1], *([x] * 2 for x in force + torque)])))
    row = columns(output(limber, "simulate", file(robot), "--until", 1e-6, "--step", 1e-6, "--inputs", inputs, "--set", "start_static=true"))
    seen, held = (np.array([row[f"{name}[{k}]"][0] for k in (1, 2, 3)]) for name in ("gauge.curvature", "arm.root_moment"))
    expected = torque + np.cross([L, 0, 0], force) + RHOA * L**2 / 2 * np.cross([1, 0, 0], gravity)
    assert np.linalg.norm(STIFF * seen - expected) <= 1e-6 * np.linalg.norm(expected)
    rows = slice(0 if modes is HERMITE else 1, 3)
    assert np.allclose((STIFF * seen)[rows], -held[rows], rtol=1e-6, atol=1e-6)
