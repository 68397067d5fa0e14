"""Joints with several degrees of freedom in the commands: states, matrices, modes, what is refused, motions with known solutions. Their
derivatives are in test_derivatives.py, `eval` is in test_reference.py."""

import json
import subprocess

import numpy as np
import pytest
from coordinates import Coordinates
from judge import Robot
from program import SEVERAL_JOINTS, Program, drift
from random_robots import random_state
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipj
from test_derivatives import answers
from test_reference import FILES, load

BODY = {"mass": 2.0, "com": [0, 0, 0], "inertia": [0.3, 0.25, 0.2, 0, 0, 0]}


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


def run(limber, command, robot, *options, state=None):
    """robot: a file. The finished process."""
    text = state if state is None or isinstance(state, str) else json.dumps(state)
    return subprocess.run([limber, command, robot, *options], input=text, capture_output=True, text=True, timeout=60)


def robot(*links, **more):
    return {"format": "limber-robot/2", "name": "tried", "links": list(links), **more}


# ---- commands -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["recursive", "composite"])
def test_every_joint_agrees_with_the_judge(program, algorithm):
    """Prescribed and passive ones among them."""
    state = random_state(SEVERAL_JOINTS, np.random.default_rng(3))
    found = program.json("eval", SEVERAL_JOINTS, "-", "--algorithm", algorithm, state=state)
    for key, value in answers(Robot(SEVERAL_JOINTS), state, []).items():
        assert np.linalg.norm(np.array(found[key]) - value) <= 1e-9 * np.linalg.norm(value), key


def start_of(description):
    """Positions and velocities where its joints start."""
    names, start = Coordinates(description), {}
    for key, of, of_joint in ("q", names.positions, "position"), ("qd", names.velocities, "velocity"):
        values = dict.fromkeys(of, 0.0) | {name: 1.0 for name in of if name.endswith("quaternion[1]")}
        for joint, own in names.joints:
            values |= zip(getattr(own, {"q": "positions", "qd": "velocities"}[key]), joint.get("start", {}).get(of_joint, []))
        start[key] = list(values.values())
    return start


START, NAMES = start_of(SEVERAL_JOINTS), Coordinates(SEVERAL_JOINTS)
QUATERNIONS = [k for k, name in enumerate(NAMES.positions) if "quaternion" in name]


def scaled(factor):
    """The start, quaternions times a factor."""
    return [x * factor if k in QUATERNIONS else x for k, x in enumerate(START["q"])]


def test_quaternions_are_normalized(program):
    """Off by less than 1e-3 in norm, or of the other sign: the same rotation."""
    exact = program.json("eval", SEVERAL_JOINTS, "-", state={})
    assert program.json("eval", SEVERAL_JOINTS, "-", state=START) == exact
    for factor in 1.0009, 0.9991, -1.0:
        found = program.json("eval", SEVERAL_JOINTS, "-", state={"q": scaled(factor)})
        for key, value in exact.items(): assert np.allclose(found[key], value, rtol=1e-11, atol=1e-11 * max(1, np.linalg.norm(value))), key


BAD = [
    ({"q": scaled(1.002)}, ["q", "1.002"]), ({"q": scaled(0.998)}, ["q", "0.998"]), ({"q": scaled(0)}, ["q"]),
    ({"q": {"ball.quaternion[1]": 0.9}}, ["ball", "quaternion"]), ({"q": START["qd"]}, ["q", str(len(START["q"]))]),
    ({"qd": START["q"]}, ["qd", str(len(START["qd"]))]), ({"qdd": START["q"]}, ["qdd", str(len(START["qd"]))]),
    ({"tau": [0.0] * 4}, ["tau", str(len(NAMES.forces))]), ({"q": {"ball.omega[1]": 0.0}}, ["ball.omega[1]"]),
    ({"q": {"ball.dtheta[1]": 0.0}}, ["ball.dtheta[1]"]), ({"q": {"cross.q[3]": 0.0}}, ["cross.q[3]"]),
    ({"prescribed_qdd": [1.0]}, ["prescribed_qdd"])]


@pytest.mark.parametrize("state, parts", BAD)
def test_bad_state_is_refused(limber_sanitized, program, state, parts):
    done = run(limber_sanitized, "eval", program.robot(SEVERAL_JOINTS), "-", state=state)
    assert done.returncode == 1 and done.stdout == "" and "Sanitizer" not in done.stderr
    for part in parts: assert part in done.stderr, done.stderr


@pytest.mark.parametrize("attitude", [[1, 0, 0, 0], [0.5, 0.5, -0.5, 0.5], [0, 1, 0, 0]])
def test_frequencies_of_a_spherical_pendulum(program, attitude):
    """m g l over the inertia about the hinge, in two planes; turning about the vertical takes no work. However the frames lie:
    at rest the hinge frame is turned by `attitude` against the joint frame, which is turned back."""
    x, y, z = np.array(attitude[1:]) * -1
    roll, pitch, yaw = Rotation.from_quat([x, y, z, attitude[0]]).as_euler("ZYX")[::-1]
    joint = {"type": "spherical", "origin": {"rpy": [roll, pitch, yaw]}}
    pendulum = robot({"name": "body", "joint": {"name": "j", **joint}, "rigid": {**BODY, "com": [0, 0, -0.4]}}, gravity=[0, 0, -9.81])
    found = 2 * np.pi * np.array(program.json("modes", pendulum, "--json", "--at", "-", "--joints", "free", state={"q": attitude})["frequency"])
    assert np.allclose(found, [0, *np.sqrt(2 * 9.81 * 0.4 / (np.array([0.3, 0.25]) + 2 * 0.16))], rtol=1e-10, atol=1e-7)


def test_check_counts_positions_and_velocities(program):
    """A quaternion has one number more than its angular velocity; stops name their coordinate; columns stand below each other."""
    stop = {"lower": -1, "upper": 1, "stiffness": 10}
    links = [{**link, "joint": {**link["joint"], "limits": [None, stop]}} if link["joint"]["name"] == "piston" else link
             for link in SEVERAL_JOINTS["links"]]
    given = {**SEVERAL_JOINTS, "links": links}
    table, found = program.run("check", given).splitlines(), program.json("check", given, "--json")
    assert table[0].startswith("several: 29 coordinates (26 velocities), 13.3 kg")
    assert (found["n"], found["nv"]) == (29, 26)
    assert "joint piston, coordinate 2, stops at -1 and 1, stiffness 10, damping 0" in table
    motion = table[2].index("motion")
    assert all(line[motion - 2:motion] == "  " and line[motion:].split()[0] in ("driven", "passive", "prescribed") for line in table[3:9])


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_slender_link_is_told(limber, program, kind):
    """It resists no spin about its own axis."""
    slender = {"mass": 1, "com": [0.3, 0, 0], "inertia": [0, 0.1, 0.1, 0, 0, 0]}
    rod = robot({"name": "rod", "joint": {"name": "ball", "type": kind}, "rigid": slender})
    said = run(limber, "eval", program.robot(rod), "-", state={})
    assert said.returncode == 3 and "motor_inertia" not in said.stderr
    assert f"nothing resists some motion of link 'rod' ({kind} joint 'ball'): give it" in said.stderr


SANITIZED = ["f2-floating", "f2-frames", "f2-joints-1", "f2-loops", "f2-taper", "crane-50", "nodal-20", "prescribed-30", "random-5"]


@pytest.mark.parametrize("file", [file for file in FILES if file.stem in SANITIZED], ids=lambda file: file.stem)
def test_sanitized(limber_sanitized, tmp_path, file):
    """Every analysis under the sanitizers."""
    sanitized, case = Program(limber_sanitized, tmp_path), load(file)["cases"][-1]
    state = {key: case[key] for key in ("q", "qd", "tau", "tip_force", "tip_torque")}
    given = sanitized.robot(load(file)["robot"])
    for command, options in [("eval", ["-"]), ("eval", ["-", "--algorithm", "composite"]), ("matrices", ["-"]),
                             ("linearize", ["--at", "-"]), ("modes", ["--at", "-", "--joints", "free"]),
                             ("modes", ["--at", "-", "--joints", "locked"]),
                             ("simulate", ["--at", "-", "--until", "0.01", "--step", "0.005"])]:
        sanitized.run(command, given, *options, state=state)
    loops = [{**loop, "start": "approximate"} for loop in load(file)["robot"].get("loops", [])]  # straight links are far from closed
    if "f2" in file.stem: sanitized.run("check", {**load(file)["robot"], **({"loops": loops} if loops else {})})


# ---- motions with known solutions ---------------------------------------------------------------------------------------------


def vector(result, name, count=3):
    return np.array([result[f"{name}[{k}]"] for k in range(1, count + 1)])


@pytest.mark.quick
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_free_top(program, kind, sign):
    """Euler's equations by Jacobi's elliptic functions (Landau and Lifshitz, section 37); the angular momentum stays in space. Either sign
    of a quaternion is the same start."""
    I, start, t = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0, 2.0]), np.linspace(0, 20, 41)
    energy2, square = I @ start**2, np.sum((I * start) ** 2)
    low, high = energy2 * I[2] - square, square - energy2 * I[0]
    sn, cn, dn, _ = ellipj(t * np.sqrt((I[2] - I[1]) * high / I.prod()), (I[1] - I[0]) * low / ((I[2] - I[1]) * high))
    expected = np.array([np.sqrt(low / (I[0] * (I[2] - I[0]))) * cn, np.sqrt(low / (I[1] * (I[2] - I[1]))) * sn,
                         np.sqrt(high / (I[2] * (I[2] - I[0]))) * dn])
    rest = [0, 0, 0] if kind == "free" else []
    joint = {"name": "ball", "type": kind, "start": {"position": [*rest, sign, 0, 0, 0], "velocity": [*rest, *start]}}
    top = robot({"name": "top", "joint": joint, "rigid": {"mass": 2, "com": [0, 0, 0], "inertia": [*I, 0, 0, 0]}}, gravity=[0, 0, 0])
    found = program.simulate(top, 20, 0.5, 1e-9)
    omega = vector(found, "ball.omega")
    assert np.abs(omega - expected).max() <= 1e-5
    momentum = Rotation.from_quat(np.roll(vector(found, "ball.quaternion", 4), -1, axis=0).T).apply((I[:, None] * omega).T)
    assert np.abs(momentum - I * start).max() <= 1e-5
    assert np.abs(np.linalg.norm(vector(found, "ball.quaternion", 4), axis=0) - 1).max() <= 1e-15


@pytest.mark.parametrize("start", [[1, 0, 0, 0], [-np.cos(0.25), -np.sin(0.25), 0, 0]])
def test_a_body_on_two_spherical_joints(program, start):
    """Two halves welded together: six equations, five of them independent, and a pendulum about the line through the joints that goes
    over the top again and again. The first start is closed by the passive joints."""
    y, z, I, g = 0.03, 0.2, 0.06, (0.5, 2.0, -9.81)

    def half(name, tip, position, origin):
        return {"name": name, "parent": "world", "joint": {"name": f"{name}_ball", "type": "spherical", "passive": True, "origin": {"xyz": origin},
                                                           "start": {"position": position, "velocity": [3, 0, 0]}},
                "rigid": {"mass": 1, "com": [tip / 2, y, z], "inertia": [I, 0.05, 0.06, 0.001, 0, 0], "tip": {"xyz": [tip, 0, 0]}}}

    body = robot(half("one", 0.8, [np.cos(0.25), np.sin(0.25), 0, 0], [0, 0, 0]), half("two", -0.2, start, [1, 0, 0]), gravity=list(g),
                 tip="one", loops=[{"name": "weld", "type": "weld", "between": ["one", "two"]}])
    found = program.simulate(body, 4, 0.02, 1e-8)
    e = vector(found, "one_ball.quaternion", 4)
    angle = np.unwrap(2 * np.arctan2(e[1], e[0]), period=4 * np.pi)

    def pendulum(t, x):
        c, s = np.cos(x[0]), np.sin(x[0])
        return [x[1], ((y * c - z * s) * g[2] - (y * s + z * c) * g[1]) / (I + y * y + z * z)]

    expected = solve_ivp(pendulum, (0, 4), [angle[0], found["one_ball.omega[1]"][0]], t_eval=found["time"], rtol=1e-11, atol=1e-12).y
    assert np.ptp(angle) > 4 * np.pi
    assert np.abs(angle - expected[0]).max() <= 1e-4 and np.abs(found["one_ball.omega[1]"] - expected[1]).max() <= 1e-4


def test_a_spring_beyond_half_a_turn(program):
    """At |theta| = pi the torque changes its sign and the energy has a cusp: motion across it keeps the energy."""
    joint = {"name": "ball", "type": "spherical", "stiffness": 1, "start": {"velocity": [4, 0.5, 0.3]}}
    body = {"mass": 1, "com": [0, 0, 0], "inertia": [1, 2, 3, 0, 0, 0]}
    found = program.simulate(robot({"name": "top", "joint": joint, "rigid": body}, gravity=[0, 0, 0]), 20, 0.1, 1e-8)
    w = found["ball.quaternion[1]"]
    assert np.sum(w[1:] * w[:-1] < 0) >= 4 and drift(found) <= 1e-5
