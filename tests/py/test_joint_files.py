"""Joints with several degrees of freedom in robot files and STATEs: the start, coordinates by name, quaternions, and what is refused."""

import json
import subprocess

import numpy as np
import pytest
from coordinates import Coordinates
from judge import Robot
from program import SEVERAL_JOINTS, Program
from test_joints import BODY, SEVERAL, alone, relative
from test_reference import load


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


def run(limber, command, robot, *options, state=None):
    """robot: a file. The finished process."""
    text = state if state is None or isinstance(state, str) else json.dumps(state)
    return subprocess.run([limber, command, robot, *options], input=text, capture_output=True, text=True, timeout=60)


# ---- STATE ---------------------------------------------------------------------------------------------------------------------------

STARTED = {"format": "limber-robot/2", "name": "started", "gravity": [0, 0, -9.81], "links": [
    {"name": "cart", "joint": {"name": "slide", "type": "prismatic", "axis": [1, 0, 0], "start": {"position": 0.3, "velocity": -0.2}},
     "rigid": BODY},
    {"name": "cross", "joint": {"name": "cross", "type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0],
                                "start": {"position": [0.4, -0.5], "velocity": [0.1, 0.2]}},
     "rigid": {**BODY, "tip": {"xyz": [0.5, 0, 0]}}},
    {"name": "rod", "joint": {"name": "ball", "type": "spherical", "start": {"position": [0.5, 0.5, -0.5, 0.5], "velocity": [1, 2, 3]}},
     "beam": {"length": 1, "mass_per_length": 1, "EIz": 50, "inertia_per_length": [0.01, 0.005, 0.005], "modes": {"y": {"shape": "hermite"}}}},
    {"name": "loose", "joint": {"name": "loose", "type": "free",
                                "start": {"position": [1, 2, 3, 0.8, 0, 0.6, 0], "velocity": [0.1, 0.2, 0.3, -1, -2, -3]}},
     "rigid": BODY}]}
START = {"q": [0.3, 0.4, -0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1, 2, 3, 0.8, 0, 0.6, 0],
         "qd": [-0.2, 0.1, 0.2, 1, 2, 3, 0, 0, 0.1, 0.2, 0.3, -1, -2, -3]}


def test_what_is_left_out_is_the_start(program):
    whole = program.json("eval", STARTED, "-", state=START)
    assert whole["kinetic_energy"] > 1
    for state in {}, {"q": START["q"]}, {"qd": START["qd"]}, {"q": {}}, {"qd": {}, "q": {}}, {"tau": [0] * 12}:
        assert program.json("eval", STARTED, "-", state=state) == whole
    assert program.json("linearize", STARTED) == program.json("linearize", STARTED, "--at", "-", state=START)
    assert program.json("matrices", STARTED, "-", state={}) == program.json("matrices", STARTED, "-", state=START)
    first = program.simulate(STARTED, 1e-3, 1e-3, 1e-6)
    names = Coordinates(STARTED)
    assert [first[name][0] for name in names.positions + names.velocities] == START["q"] + START["qd"]


def test_the_start_in_format_1_too(program):
    robot = {"format": "limber-robot/1", "name": "old", "gravity": [0, -9.81, 0], "links": [
        {"name": "a", "joint": {"type": "revolute", "start": {"position": 0.7, "velocity": 2}}, "rigid": {**BODY, "com": [1, 0, 0]}}]}
    at = lambda **state: program.json("eval", robot, "-", state=state)
    assert at() == at(q=[0.7], qd=[2])
    assert at(q={"a.q": 0.1}) == at(q=[0.1], qd=[2]) and at(qd={"a.qd": 0.1}) == at(q=[0.7], qd=[0.1])


def test_states_by_name(program):
    names = Coordinates(STARTED)
    random = np.random.default_rng(8)
    q, qd = random.uniform(-1, 1, len(names.positions)), random.uniform(-1, 1, len(names.velocities))
    for joint in Robot(STARTED).moving:
        if joint.type in ("spherical", "free"): q[joint.quaternion[0]] /= np.linalg.norm(q[joint.quaternion[0]])
    at = lambda **state: program.json("eval", STARTED, "-", state=state)
    assert at(q=dict(zip(names.positions, q.tolist())), qd=dict(zip(names.velocities, qd.tolist()))) == at(q=q.tolist(), qd=qd.tolist())
    for key, of in ("q", names.positions), ("qd", names.velocities):
        for k, name in enumerate(of):
            if "quaternion" in name: continue
            moved = [*START[key]]
            moved[k] += 0.1
            assert at(**{key: {name: moved[k]}}) == at(**{key: moved}), name
    whole = {f"ball.quaternion[{k + 1}]": x for k, x in enumerate([0.6, 0, 0.8, 0])}
    moved = START["q"][:3] + [0.6, 0, 0.8, 0] + START["q"][7:]
    assert at(q=whole) == at(q=moved)


def test_quaternions_are_normalized(program):
    """Off by less than 1e-3 in norm: the same rotation."""
    exact = program.json("eval", STARTED, "-", state=START)
    for factor in 1.0009, 0.9991, -1.0:
        q = np.array(START["q"])
        q[3:7] *= factor
        q[12:16] *= factor
        found = program.json("eval", STARTED, "-", state={**START, "q": q.tolist()})
        for key, value in exact.items(): assert relative(found[key], value, 1e-3) <= 1e-11, key


@pytest.fixture
def started(program):
    return program.robot(STARTED)


BAD = [
    pytest.param({"q": [*START["q"][:3], *np.array(START["q"][3:7]) * 1.002, *START["q"][7:]]}, ["q", "1.002"], id="norm-above"),
    pytest.param({"q": [*START["q"][:3], *np.array(START["q"][3:7]) * 0.998, *START["q"][7:]]}, ["q", "0.998"], id="norm-below"),
    pytest.param({"q": [*START["q"][:3], 0, 0, 0, 0, *START["q"][7:]]}, ["q"], id="zero-quaternion"),
    pytest.param({"q": {"ball.quaternion[1]": 0.9}}, ["ball", "quaternion"], id="quaternion-in-part"),
    pytest.param({"q": START["qd"]}, ["q", "16"], id="as-many-positions-as-velocities"),
    pytest.param({"qd": START["q"]}, ["qd", "14"], id="as-many-velocities-as-positions"),
    pytest.param({"qdd": START["q"]}, ["qdd", "14"], id="as-many-accelerations-as-positions"),
    pytest.param({"tau": [0.0] * 4}, ["tau", "12"], id="one-torque-per-joint"),
    pytest.param({"tau": [0.0] * 16}, ["tau", "12"], id="too-many-torques"),
    pytest.param({"q": {"ball.omega[1]": 0.0}}, ["ball.omega[1]"], id="velocity-in-q"),
    pytest.param({"qd": {"slide.q": 0.0}}, ["slide.q"], id="position-in-qd"),
    pytest.param({"q": {"ball.dtheta[1]": 0.0}}, ["ball.dtheta[1]"], id="tangent-in-q"),
    pytest.param({"q": {"nobody.q": 0.0}}, ["nobody.q"], id="unknown-name"),
    pytest.param({"q": {"cross.q[3]": 0.0}}, ["cross.q[3]"], id="index-too-large"),
    pytest.param({"q": {"slide.q": "far"}}, ["slide.q", "far"], id="text"),
    pytest.param('{"q": {"slide.q": NaN}}', ["slide.q"], id="nan"),
    pytest.param({"prescribed_qdd": [1.0]}, ["prescribed_qdd"], id="nothing-prescribed"),
]


@pytest.mark.parametrize("state, parts", BAD)
def test_bad_state_is_refused(limber_sanitized, started, state, parts):
    for command, options in ("eval", ["-"]), ("matrices", ["-"]), ("linearize", ["--at", "-"]), ("modes", ["--at", "-"]):
        if "qdd" in state and command != "eval": continue
        done = run(limber_sanitized, command, started, *options, state=state)
        assert done.returncode == 1 and done.stdout == "" and "Sanitizer" not in done.stderr, command
        for part in parts: assert part in done.stderr, (command, done.stderr)


# ---- the robot file -----------------------------------------------------------------------------------------------------------------


def one(joint, **top):
    return alone(joint, rigid=BODY) | top


def cross(**more):
    return one({"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0], **more})


BAD_ROBOTS = [
    pytest.param(one({"type": "spherical"}, format="limber-robot/1"), ["links[0].joint.type", "limber-robot/2"], id="format-1-joint"),
    pytest.param(one({"type": "universal", "axis": [1, 0, 0]}), ["links[0].joint", "axis2"], id="second-axis-missing"),
    pytest.param(one({"type": "universal", "axis2": [1, 0, 0]}), ["links[0].joint", "axis"], id="first-axis-missing"),
    pytest.param(cross(axis2=[-2, 0, 0]), ["links[0].joint.axis2", "parallel"], id="parallel"),
    pytest.param(one({"type": "cylindrical", "axis2": [1, 0, 0]}), ["links[0].joint.axis2"], id="second-axis-of-cylindrical"),
    pytest.param(one({"type": "spherical", "motion": "prescribed"}), ["links[0].joint.motion", "prescribed"], id="prescribed-spherical"),
    pytest.param(one({"type": "free", "motion": "prescribed"}), ["links[0].joint.motion", "prescribed"], id="prescribed-free"),
    pytest.param(one({"type": "spherical", "coulomb": 1}), ["links[0].joint.coulomb"], id="coulomb-of-spherical"),
    pytest.param(one({"type": "spherical", "viscous": [1, 2, 3]}), ["links[0].joint.viscous"], id="array-of-spherical"),
    pytest.param(one({"type": "spherical", "limits": {"lower": 0, "upper": 1, "stiffness": 1}}), ["links[0].joint.limits"],
                 id="limits-of-spherical"),
    pytest.param(one({"type": "free", "viscous": 1}), ["links[0].joint.viscous"], id="viscous-of-free"),
    pytest.param(cross(viscous=[1, 2, 3]), ["links[0].joint.viscous"], id="three-numbers"),
    pytest.param(cross(viscous=[1, -2]), ["links[0].joint.viscous[1]", "-2"], id="negative"),
    pytest.param(one({"type": "revolute", "viscous": [1, 2]}), ["links[0].joint.viscous"], id="array-of-revolute"),
    pytest.param(one({"type": "spherical", "start": {"position": [1, 0, 0]}}), ["links[0].joint.start.position"], id="three-positions"),
    pytest.param(one({"type": "spherical", "start": {"position": [0.5, 0.5, 0.5, 0.6]}}), ["links[0].joint.start.position"],
                 id="norm-of-start"),
    pytest.param(one({"type": "free", "start": {"velocity": [1, 2, 3]}}), ["links[0].joint.start.velocity"], id="three-velocities"),
    pytest.param(one({"type": "cylindrical", "start": {"position": 1}}), ["links[0].joint.start.position"], id="one-position"),
    pytest.param(one({"type": "cylindrical", "dh": {"a": 1}}), ["links[0].joint.dh"], id="dh-of-cylindrical"),
]


@pytest.mark.parametrize("robot, parts", BAD_ROBOTS)
def test_bad_joint_is_refused(limber_sanitized, program, robot, parts):
    done = run(limber_sanitized, "check", program.robot(robot))
    assert done.returncode == 1 and "Sanitizer" not in done.stderr
    for part in parts: assert part in done.stderr, done.stderr


@pytest.mark.parametrize("file", SEVERAL, ids=lambda file: file.stem)
def test_sanitized(limber_sanitized, tmp_path, file):
    """Every analysis under the sanitizers."""
    sanitized, case = Program(limber_sanitized, tmp_path), load(file)["cases"][-1]
    state = {key: case[key] for key in ("q", "qd", "tau", "tip_force", "tip_torque")}
    robot = sanitized.robot(load(file)["robot"])
    for command, options in [("eval", ["-"]), ("eval", ["-", "--algorithm", "composite"]), ("matrices", ["-"]),
                             ("linearize", ["--at", "-"]), ("modes", ["--at", "-", "--joints", "free"]),
                             ("modes", ["--at", "-", "--joints", "locked"]),
                             ("simulate", ["--at", "-", "--until", "0.01", "--step", "0.005"])]:
        sanitized.run(command, robot, *options, state=state)
    loops = [{**loop, "start": "approximate"} for loop in load(file)["robot"].get("loops", [])]  # straight links are far from closed
    sanitized.run("check", {**load(file)["robot"], **({"loops": loops} if loops else {})})


def test_check_counts_positions_and_velocities(program):
    """A quaternion has one number more than its angular velocity; stops name their coordinate; columns stand below each other."""
    stop = {"lower": -1, "upper": 1, "stiffness": 10}
    links = [{**link, "joint": {**link["joint"], "limits": [None, stop]}} if link["joint"]["name"] == "piston" else link
             for link in SEVERAL_JOINTS["links"]]
    robot = {**SEVERAL_JOINTS, "links": links}
    table, found = program.run("check", robot).splitlines(), program.json("check", robot, "--json")
    assert table[0].startswith("several: 29 coordinates (26 velocities), 13.3 kg")
    assert (found["n"], found["nv"]) == (29, 26)
    assert "joint piston, coordinate 2, stops at -1 and 1, stiffness 10, damping 0" in table
    motion = table[2].index("motion")
    assert all(line[motion - 2:motion] == "  " and line[motion:].split()[0] in ("driven", "passive", "prescribed") for line in table[3:9])


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_slender_link_is_told(limber, program, kind):
    """It resists no spin about its own axis."""
    slender = {"mass": 1, "com": [0.3, 0, 0], "inertia": [0, 0.1, 0.1, 0, 0, 0]}
    robot = {"format": "limber-robot/2", "name": "rod", "links": [{"name": "rod", "joint": {"name": "ball", "type": kind}, "rigid": slender}]}
    said = run(limber, "eval", program.robot(robot), "-", state={})
    assert said.returncode == 3 and "motor_inertia" not in said.stderr
    assert f"nothing resists some motion of link 'rod' ({kind} joint 'ball'): give it" in said.stderr
