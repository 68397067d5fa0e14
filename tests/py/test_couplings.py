"""Couplings of joint coordinates in all commands: against the same robot with the joint removed by hand, closed forms, and each other."""

import json
import math
import subprocess

import numpy as np
import pytest
from program import Program, drift, work_of_joints

INERTIA = [0.02, 0.03, 0.04, 0, 0, 0]


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


def robot(links, *couplings, **more):
    return {"format": "limber-robot/3", "name": "coupled", "links": links, "couplings": list(couplings), **more}


def without_couplings(robot):
    return {key: value for key, value in robot.items() if key != "couplings"}


def wheel(name, inertia, **joint):
    """A balanced body that turns about z of the world."""
    return {"name": f"{name}_body", "parent": "world", "joint": {"name": name, "type": "revolute", **joint},
            "rigid": {"mass": 1, "inertia": [inertia, inertia, inertia, 0, 0, 0]}}


def slider(name, mass, parent="world", **joint):
    return {"name": f"{name}_body", "parent": parent, "joint": {"name": name, "type": "prismatic", **joint}, "rigid": {"mass": mass}}


def boom(**more):
    """A beam that bends and twists."""
    beam = {"length": 1.2, "mass_per_length": 2, "EIy": 300, "EIz": 400, "GJ": 120, "inertia_per_length": [0.01, 0.005, 0.005],
            "modes": {"y": {"shape": "hermite"}, "z": {"shape": "hermite"}, "twist": {"shape": "craig-bampton", "count": 1}}, "stiffening": "axial"}
    return {"name": "boom", "beam": {**beam, **more}, "joint": {"name": "swing", "type": "revolute", "axis": [1, 2, -1]}}


def close(found, expected): return np.linalg.norm(np.array(found) - expected) <= 1e-9 * np.linalg.norm(expected)


# ---- a rigid coupling is the robot with the joint removed by hand -----------------------------------------------------------------


@pytest.mark.quick
def test_a_joint_that_is_held(program):
    """2 q = 0.6 holds the wrist of a flexible arm where a fixed joint would: and its force is the torque that a prescribed joint needs."""
    hand = {"name": "hand", "rigid": {"mass": 2, "com": [0.1, -0.2, 0.1], "inertia": INERTIA, "tip": {"xyz": [0.3, 0, 0.1]}}}
    grip = {"name": "grip", "joint": {"name": "cross", "type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 1], "viscous": 0.3},
            "rigid": {"mass": 1, "com": [0.1, 0, 0], "inertia": INERTIA}}
    of = lambda **joint: robot([boom(), {**hand, "joint": {"name": "wrist", **joint}}, grip], gravity=[1, -2, -9])
    turning = {"type": "revolute", "origin": {"xyz": [0.1, 0, 0], "rpy": [0, 0, 0.4]}}
    coupled = of(**turning) | {"couplings": [{"name": "hold", "terms": {"wrist.q": 2}, "offset": 0.6}]}
    removed = without_couplings(of(type="fixed", origin={"xyz": [0.1, 0, 0], "rpy": [0, 0, 0.7]}))
    random = np.random.default_rng(1)
    q, qd, tau = random.uniform(-0.3, 0.3, 9), random.uniform(-1, 1, 9), random.uniform(-5, 5, 4)
    q[6], qd[6], kept = 0.3, 0, [0, 1, 2, 3, 4, 5, 7, 8]
    force = {"tip_force": [3, -1, 2]}
    found = program.json("eval", coupled, "-", state={"q": q.tolist(), "qd": qd.tolist(), "tau": tau.tolist(), **force})
    expected = program.json("eval", removed, "-", state={"q": q[kept].tolist(), "qd": qd[kept].tolist(), "tau": tau[[0, 2, 3]].tolist(), **force})
    assert close(np.array(found["qdd"])[kept], expected["qdd"]) and abs(found["qdd"][6]) < 1e-9
    assert close(found["tip_acceleration"], expected["tip_acceleration"])
    assert abs(found["gap"][0]) < 1e-15 and abs(found["gap_rate"][0]) < 1e-15
    prescribed = without_couplings(of(**turning, motion="prescribed"))
    needed = program.json("eval", prescribed, "-", state={"q": q.tolist(), "qd": qd.tolist(), "tau": [tau[0], 0, *tau[2:]], **force})
    assert close([2 * found["couplings"]["hold"]["force"] + tau[1]], needed["prescribed_tau"])
    assert found["lambda"] == [found["couplings"]["hold"]["force"]]


@pytest.mark.quick
def test_a_hand_that_stays_parallel(program):
    """q2 = -q1: the hand does not turn, and is a point mass at the tip of the arm."""
    arm = {"name": "arm", "joint": {"name": "lift", "type": "revolute"}, "rigid": {"mass": 3, "com": [0.4, 0.1, 0], "inertia": INERTIA, "tip": {"xyz": [1, 0, 0]}}}
    hand = {"name": "hand", "joint": {"name": "level", "type": "revolute", "passive": True}, "rigid": {"mass": 2, "com": [0.3, -0.2, 0], "inertia": INERTIA}}
    gravity = {"gravity": [0, -9.81, 0]}
    coupled = robot([arm, hand], {"name": "parallel", "terms": {"lift.q": 1, "level.q": 1}}, **gravity)
    removed = without_couplings(robot([{**arm, "payload": {"mass": 2}}], **gravity))
    for q, qd, tau in (0.3, 2.0, 5.0), (-1.2, -3.0, 0.0):
        found = program.json("eval", coupled, "-", state={"q": [q, -q], "qd": [qd, -qd], "tau": [tau, 0]})
        expected = program.json("eval", removed, "-", state={"q": [q], "qd": [qd], "tau": [tau]})["qdd"]
        assert close(found["qdd"], [expected[0], -expected[0]])
        # the torque that turns the hand with its center of mass: from its own equation, at com accelerated with the tip
        a = np.array([-math.sin(q), math.cos(q)]) * expected[0] - np.array([math.cos(q), math.sin(q)]) * qd**2 + [0, 9.81]
        assert close([found["couplings"]["parallel"]["force"]], [2 * (0.3 * a[1] + 0.2 * a[0])])


def test_a_motor_behind_a_gear(program):
    """A rotor of its own, q_m = 50 q, is a motor inertia of 2500 times its own at the joint; it starts away from zero."""
    rotor, ratio = wheel("motor", 0.002, start={"position": 0.1}), 50
    coupled = robot([boom(), rotor], {"name": "gear", "terms": {"motor.q": 1, "swing.q": -ratio}, "offset": 0.1}, gravity=[0, 0, -9.81], tip="boom")
    moved = boom()
    moved["joint"] |= {"motor_inertia": 0.002 * ratio**2}
    removed = without_couplings(robot([moved], gravity=[0, 0, -9.81]))
    random = np.random.default_rng(2)
    q, qd = random.uniform(-0.1, 0.1, 6), random.uniform(-1, 1, 6)
    found = program.json("eval", coupled, "-", state={"q": [*q, ratio * q[0] + 0.1], "qd": [*qd, ratio * qd[0]], "tau": [3, 0.2]})
    expected = program.json("eval", removed, "-", state={"q": q.tolist(), "qd": qd.tolist(), "tau": [3 + ratio * 0.2]})
    assert close(found["qdd"], [*expected["qdd"], ratio * expected["qdd"][0]])
    at_rest = {"until": 1, "step": 0.1, "rtol": 1e-11}
    runs = [program.simulate(one, **at_rest) for one in (coupled, removed)]
    for name in ("swing.q", "boom.eta[1]", "tip.position[3]"):
        assert np.abs(runs[0][name] - runs[1][name]).max() <= 1e-8 * np.abs(runs[1][name]).max(), name


def test_a_chain_of_a_telescope(program):
    """The second stage moves twice as far as the first: a mass of m1 + 4 m2 with the weight of m1 + 2 m2."""
    coupled = robot([slider("first", 5), slider("second", 3, "first_body", passive=True)],
                    {"name": "chain", "terms": {"first.q": 1, "second.q": -1}, "offset": -0.2}, gravity=[0, 0, -9.81])
    for tau in 0.0, 200.0:
        found = program.json("eval", coupled, "-", state={"q": [0.5, 0.7], "qd": [0.1, 0.1], "tau": [tau, 0]})
        a = (tau - (5 + 2 * 3) * 9.81) / (5 + 4 * 3)
        assert close(found["qdd"], [a, a]) and close(found["lambda"], [-3 * (2 * a + 9.81)])


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e7, 1e12])
def test_a_multiple_of_a_coupling_is_the_same(program, scale):
    """Gaps count relative to the numbers that they are the difference of; the start is open by 0.2 rad."""
    arm = lambda f: robot([boom(), wheel("motor", 0.1, start={"position": 0.2})], {"name": "gear", "terms": {"motor.q": f, "swing.q": -f}}, gravity=[0, 0, -9.81])
    found, expected = (program.simulate(arm(f), until=1, step=0.5, rtol=1e-9) for f in (scale, 1))
    for name in ("swing.q", "motor.q", "boom.eta[1]"):
        assert np.abs(found[name] - expected[name]).max() <= 1e-8 * np.abs(expected["swing.q"]).max(), name
    assert np.abs(scale * found["gear.force"] - expected["gear.force"]).max() <= 1e-6 * np.abs(expected["gear.force"]).max()


def test_a_motor_that_keeps_turning(program):
    """After 1e5 rad a gap of 1e-13 is far below rounding."""
    wheels = robot([wheel("a", 0.01), wheel("b", 0.3)], {"name": "gear", "terms": {"a.q": 1, "b.q": -3.7}})
    motion = program.simulate(wheels, until=300, step=100, rtol=1e-9, start={"tau": [2, 0]})
    reduced = 2 / (0.01 + 0.3 / 3.7**2)
    assert motion["a.q"][-1] == pytest.approx(0.5 * reduced * 300**2, rel=1e-9)
    assert np.abs(motion["a.q"] - 3.7 * motion["b.q"]).max() < 1e-12 * motion["a.q"][-1]


def test_a_nut_on_a_fine_thread(program):
    """One coordinate is prescribed, in other units: the factor of the other one counts alone."""
    turning = {"name": "thread", "terms": {"screw.q": 1e-6, "nut.q": -1}}
    found = program.json("check", robot([slider("nut", 1, motion="prescribed"), wheel("screw", 0.1)], turning), "--json")
    assert not [text for text in found.get("warnings", []) if "redundant" in str(text)]


# ---- elastic ------------------------------------------------------------------------------------------------------------------------


def geared_arm(**coupling):
    arm = boom(damping_ratio=0.0)
    return robot([arm, wheel("motor", 0.01)], {"name": "belt", "terms": {"motor.q": 1, "swing.q": -3}, **coupling}, gravity=[0, 0, -9.81])


def test_elastic_becomes_rigid(program):
    """The difference falls as 1/k: of an equilibrium whose passive joint hangs on the coupling, and of the natural frequencies."""
    def frequencies(**coupling): return np.array(program.json("modes", geared_arm(**coupling), "--joints", "free", "--json")["frequency"])

    def equilibrium(**coupling):
        held = geared_arm(**coupling)
        held["links"][0]["joint"]["passive"] = True
        answer = program.json("static", held, "--json")
        return np.array([answer["positions"]["swing.q"], *answer["tip"], answer["couplings"]["belt"]])

    for compute, hard in (frequencies, 1e7), (equilibrium, 1e6):
        limit = compute()
        apart = [np.linalg.norm((compute(stiffness=k)[:len(limit)] - limit) * (np.abs(limit) > 1e-6)) for k in (hard, 10 * hard)]
        assert apart[0] > 0 and apart[0] / apart[1] == pytest.approx(10, rel=0.02), (compute, apart)


@pytest.mark.quick
def test_two_wheels_on_a_belt(program):
    """w^2 = k (1/I1 + c^2/I2); damped, stiffness and offset as parameters, force and gap as outputs, in all of its analyses."""
    k, d, c = 90.0, 0.6, -2.0
    coupled = robot([wheel("a", 0.5), wheel("b", 2.0)], {"name": "belt", "terms": {"a.q": 1, "b.q": c}, "stiffness": k, "damping": d, "offset": 0.1})
    mobility = 1 / 0.5 + c**2 / 2.0
    w, ratio = math.sqrt(k * mobility), d * math.sqrt(mobility / k) / 2
    modes = program.json("modes", coupled, "--joints", "free", "--json")
    assert modes["frequency"][-1] == pytest.approx(w / (2 * math.pi), rel=1e-9)
    assert modes["damping_ratio"][-1] == pytest.approx(ratio, rel=1e-9)
    values = np.linalg.eigvals(np.array(program.json("linearize", coupled)["A"]))
    assert max(values.imag) == pytest.approx(w * math.sqrt(1 - ratio**2), rel=1e-9)
    row = np.array([1, c])
    assert np.allclose(program.json("matrices", coupled, "-", state={})["K"], k * np.outer(row, row), rtol=1e-14)
    state = {"q": [0.3, 0.2], "qd": [1.0, -0.5]}
    gap, rate = row @ state["q"] - 0.1, row @ state["qd"]
    told = program.json("eval", coupled, "-", state=state)
    assert told["couplings"]["belt"]["force"] == pytest.approx(-k * gap - d * rate, rel=1e-14)
    assert told["potential_energy"] == pytest.approx(k * gap**2 / 2, rel=1e-14)
    assert close(told["bias"], (k * gap + d * rate) * row) and "gap" not in told and "lambda" not in told
    run = program.simulate(coupled, 1, 0.002, 1e-9, start=state, **{"belt.stiffness": 2 * k, "belt.offset": 0.0})
    gap, rate = run["a.q"] + c * run["b.q"], run["a.qd"] + c * run["b.qd"]
    assert np.allclose(run["belt.gap"], gap, atol=1e-14) and np.allclose(run["belt.force"], -2 * k * gap - d * rate, atol=1e-11)
    lost = work_of_joints({"time": run["time"], "power.joints": run["power.losses"]})
    assert np.ptp(run["energy.total"][::2] + lost) < 1e-6 * run["energy.total"][0]


def test_backlash(program):
    """Half the width to both sides exerts next to no force; far beyond, k times the rest. The force is the slope of the energy."""
    coupled = robot([wheel("a", 1.0)], {"name": "play", "terms": {"a.q": 1}, "stiffness": 100.0, "backlash": 0.2})
    at = lambda q: program.json("eval", coupled, "-", state={"q": [q]})
    force = lambda q: at(q)["couplings"]["play"]["force"]
    assert force(0) == 0 and abs(force(0.05)) < 0.05 * 100 * 0.1 and force(-0.7) == -force(0.7)
    assert force(1.1) == pytest.approx(-100 * 1.0, rel=1e-4)
    for q in 0.02, 0.09, 0.1, 0.3:
        h = 1e-4
        slope = (8 * (at(q + h)["potential_energy"] - at(q - h)["potential_energy"]) - at(q + 2 * h)["potential_energy"] + at(q - 2 * h)["potential_energy"]) / (12 * h)
        assert slope == pytest.approx(-force(q), rel=1e-7, abs=1e-9)


# ---- motion -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coupling", [{}, {"stiffness": 400.0}, {"stiffness": 400.0, "backlash": 0.02}], ids=["rigid", "elastic", "backlash"])
def test_energy_is_conserved(program, coupling):
    """A flexible arm and a wheel, coupled, over 20 s."""
    swinging = geared_arm(**coupling)
    swinging["links"][0]["beam"]["modes"] = {"y": {"shape": "hermite"}, "z": {"shape": "hermite"}}
    rows = program.run("simulate", swinging, "--until", "20", "--step", "0.1", "--rtol", "1e-10", "--method", "symmetric", "--at", "-",
                       state={"q": [0.3, 0, 0, 0, 0, 0.9], "qd": [1, 0, 0, 0, 0, 3]}).splitlines()
    table = dict(zip(rows[0].split(","), np.array([row.split(",") for row in rows[1:]], float).T))
    assert table["energy.kinetic"].max() > 1
    assert drift(table) <= 1e-8


def test_the_start_obeys(program):
    """Passive joints move first, then all that are not prescribed by the least change; too far is an error with the place."""
    def started(passive, offset=0.2):
        coupled = robot([wheel("a", 1.0), wheel("b", 1.0, passive=passive)], {"name": "gear", "terms": {"a.q": 1, "b.q": 2}, "offset": offset})
        return program.json("check", coupled, "--json")

    assert started(True)["start"]["q"] == pytest.approx([0, 0.1], abs=1e-12)
    assert started(False)["start"]["q"] == pytest.approx([0.04, 0.08], abs=1e-12)
    assert started(True)["couplings"] == [{"name": "gear", "type": "rigid", "terms": {"a.q": 1.0, "b.q": 2.0}, "independent": 1}]
    assert started(True)["notes"] == [f"{program.folder}/4.json: joint 'b' moves by 0.1 rad from its start position to close the couplings"]
    with pytest.raises(AssertionError, match=r"couplings\[0\] \(gear\): .* joint 'b' would have to move by 0.5 rad.*check offset"): started(True, 1.0)


def test_what_is_not_independent(program):
    """The same coupling twice: one is dropped with a warning, and the other carries the whole force."""
    gear = {"terms": {"a.q": 1, "b.q": 2}}
    twice = robot([wheel("a", 1.0), wheel("b", 1.0)], {"name": "one", **gear}, {"name": "two", "terms": {"a.q": -2, "b.q": -4}})
    once = robot([wheel("a", 1.0), wheel("b", 1.0)], {"name": "one", **gear})
    answer = program.json("check", twice, "--json")
    assert [one["independent"] for one in answer["couplings"]] in ([1, 0], [0, 1]) and "couplings[" in answer["warnings"][0]
    runs = [program.simulate(one, 1, 0.1, 1e-10, **{"a.qd_start": 1.0}) for one in (twice, once)]
    assert np.allclose(runs[0]["a.q"], runs[1]["a.q"], rtol=1e-12)


@pytest.mark.parametrize("options", [["--start", "zero"], ["--rigid"]], ids=["flexible", "rigid"])
def test_inverse_dynamics(program, tmp_path, options):
    """The drive of a gear's one side gives the torque of both, and of a spring on the other side."""
    coupled = robot([wheel("a", 0.5), wheel("b", 2.0, passive=True)], {"name": "gear", "terms": {"a.q": 1, "b.q": -2}},
                    {"name": "return", "terms": {"b.q": 1}, "stiffness": 7.0, "damping": 0.3})
    t = np.linspace(0, 1, 101)
    motion = tmp_path / "motion.csv"
    q, qd, qdd = 0.3 * t**3, 0.9 * t**2, 1.8 * t
    motion.write_text("time,a.q,a.qd,a.qdd\n" + "".join(",".join(repr(float(x)) for x in row) + "\n" for row in zip(t, q, qd, qdd)))
    out = tmp_path / "out.csv"
    program.run("inverse", coupled, "--trajectory", motion, "-o", out, *options)
    table = np.genfromtxt(out, delimiter=",", names=True, deletechars="")
    expected = (0.5 + 2.0 / 4) * qdd + (7.0 * q / 2 + 0.3 * qd / 2) / 2
    found = np.interp(t, table["time"], table["a.tau"])
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


# ---- statics ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_statics(program):
    """A weight on a spring between two slides, and on a rigid chain: its force is the weight, which the driven slide holds."""
    slides = [slider("held", 2), slider("hanging", 4, passive=True)]
    spring = robot(slides, {"name": "line", "terms": {"hanging.q": 1, "held.q": -1}, "stiffness": 500.0, "offset": -0.1}, gravity=[0, 0, -9.81])
    answer = program.json("static", spring, "--json")
    assert answer["positions"]["hanging.q"] == pytest.approx(-0.1 - 4 * 9.81 / 500, rel=1e-12)
    assert answer["couplings"] == {"line": pytest.approx(4 * 9.81, rel=1e-12)} and answer["stability"] == "stable"
    assert answer["holding"]["held.tau"] == pytest.approx(6 * 9.81, rel=1e-12)
    chain = robot(slides, {"name": "line", "terms": {"hanging.q": 2, "held.q": 1}}, gravity=[0, 0, -9.81])
    answer = program.json("static", chain, "--json")
    assert answer["couplings"] == {"line": pytest.approx(4 * 9.81 / 2, rel=1e-12)}
    assert answer["holding"]["held.tau"] == pytest.approx((2 - 4 / 2) * 9.81, abs=1e-12)
    run = program.simulate(spring, 1, 0.5, 1e-8, start_static="true")
    assert run["line.force"][0] == pytest.approx(4 * 9.81, rel=1e-9) and run["hanging.qdd"][0] == pytest.approx(0, abs=1e-9)


def test_free_joints_settle_on_their_couplings(program):
    """Both slides of a chain free: the one that weighs more sinks, against a spring."""
    slides = [slider("a", 2, passive=True), slider("b", 4, passive=True)]
    coupled = robot(slides, {"name": "chain", "terms": {"a.q": 1, "b.q": 1}}, {"name": "spring", "terms": {"a.q": 1}, "stiffness": 300.0}, gravity=[0, 0, -9.81])
    answer = program.json("static", coupled, "--json")
    assert answer["positions"]["a.q"] == pytest.approx(2 * 9.81 / 300, rel=1e-12) and answer["stability"] == "stable"
    assert answer["couplings"] == {"chain": pytest.approx(4 * 9.81), "spring": pytest.approx(-2 * 9.81)}


# ---- the rest -----------------------------------------------------------------------------------------------------------------------


def test_pictures(program):
    file = program.new(".svg")
    program.run("picture", geared_arm(), "-o", file)
    assert file.stat().st_size > 1000


def test_controllers_refuse_couplings(limber, tmp_path):
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(robot([wheel("a", 1.0), wheel("b", 1.0)], {"name": "gear", "terms": {"a.q": 1, "b.q": 2}})))
    answer = subprocess.run([limber, "drive", "controller", file, "-o", tmp_path / "c.fmu"], capture_output=True, text=True)
    assert answer.returncode != 0 and "it has couplings" in answer.stderr
