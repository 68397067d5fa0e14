"""Line actuators by hand: virtual work, energy, points that coincide, and what they do to frequencies. Cranes on their stops."""

import ctypes as ct
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from importer import CO_SIMULATION, DISCARD, ERROR, MODEL_EXCHANGE, OK, Instance, unzip
from test_loops import FOUR_BAR, Run, read

CRANE = Path(__file__).resolve().parents[2] / "resources" / "crane.json"


def run(limber, *arguments, **options):
    return subprocess.run([limber, *map(str, arguments)], capture_output=True, text=True, timeout=100, **options)


def evaluate(limber, file, state, *options):
    result = run(limber, "eval", file, "-", *options, input=json.dumps({key: list(x) for key, x in state.items()}))
    assert result.returncode == 0, result.stderr
    return {key: np.array(value) for key, value in json.loads(result.stdout).items()}


def line(name, start, end):
    point = lambda link, frame, xyz: {"link": link, "xyz": xyz} | ({} if link == "world" else {"frame": frame})
    return {"name": name, "type": "line", "from": point(*start), "to": point(*end)}


def bars(closed):
    """Bars of 0.4 and 0.7 m after each other, and one of 0.5 m that stands 0.6 m beside them; closed: joined at the ends."""
    links = []
    for name, parent, x, L in (("a", "world", 0, 0.4), ("b", "a", 0, 0.7), ("c", "world", 0.6, 0.5)):
        joint = {"name": f"j{name}", "type": "revolute"} | ({"origin": {"xyz": [x, 0, 0]}} if x else {})
        links.append({"name": name, "parent": parent, "joint": joint,
                      "rigid": {"mass": 2, "com": [L / 2, 0, 0], "inertia": [1e-3, L * L / 6, L * L / 6, 0, 0, 0],
                                "tip": {"xyz": [L, 0, 0]}}})
    pin = {"name": "end", "type": "planar-pin", "plane": [[1, 0, 0], [0, 1, 0]], "between": ["b", "c"]}
    return {"format": "limber-robot/1", "name": "bars", "gravity": [0, -9.81, 0], "links": links,
            "loops": [pin] if closed else [],
            "actuators": [line("push", ("world", None, [0.1, -0.3, 0.2]), ("b", "tip", [-0.2, 0.05, 0])),
                          line("pull", ("a", "hinge", [0.3, 0.02, 0]), ("c", "hinge", [0.4, 0, -0.1]))]}


def lengths(q):
    """Of both lines, complex q welcome: e^(i angle) turns."""
    turn = lambda angle: np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    a, b, c = turn(q[0]), turn(q[0] + q[1]), turn(q[2])
    push = a @ [0.4, 0] + b @ [0.5, 0.05] - [0.1, -0.3]
    pull = [0.6, 0] + c @ [0.4, 0] - a @ [0.3, 0.02]
    return np.array([np.sqrt(push @ push + 0.2**2), np.sqrt(pull @ pull + 0.1**2)])


@pytest.mark.quick
@pytest.mark.parametrize("algorithm", ["recursive", "composite"])
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_forces_are_the_joint_torques_of_virtual_work(limber, tmp_path, closed, algorithm):
    file = tmp_path / "bars.json"
    file.write_text(json.dumps(bars(closed)))
    q, qd, F = np.array([0.9, -0.5, 1.3]), np.array([0.7, -0.4, 1.1]), np.array([120.0, -75.0])
    if closed:
        start = json.loads(run(limber, "check", file, "--json").stdout)["start"]
        q = np.array(start["q"])
    gradient = np.array([lengths(q + 1e-30j * e).imag / 1e-30 for e in np.eye(3)])  # of joint i, line k
    state = {"q": q, "qd": qd}
    pushed = evaluate(limber, file, state | {"actuator_force": F}, "--algorithm", algorithm)
    turned = evaluate(limber, file, state | {"tau": gradient @ F}, "--algorithm", algorithm)
    free = evaluate(limber, file, state, "--algorithm", algorithm)
    assert np.abs(pushed["actuator_length"] - lengths(q)).max() < 1e-12
    assert np.abs(pushed["actuator_rate"] - gradient.T @ qd).max() < 1e-12
    for key in ("qdd", "lambda") if closed else ("qdd",):
        size = np.abs(pushed[key] - free[key]).max()
        assert size > 1 and np.abs(pushed[key] - turned[key]).max() < 1e-10 * size, key


def test_forces_on_bent_links_do_virtual_work(limber, tmp_path):
    """M (qdd - qdd of no force) = F dl/dq, elastic coordinates too; dl/dq by the lengths at neighbouring positions."""
    robot, file = read(CRANE), tmp_path / "crane.json"
    robot["actuators"][1]["from"] = {"link": "boom", "frame": "hinge", "xyz": [2.8, 0.2, 0]}  # the boom bends between its ends
    file.write_text(json.dumps(robot))
    q = np.array([0.5, 0.02, -0.003, 0.001, -1.2, -0.01, 0.002, 0.001])
    state, F, h = {"q": q, "qd": 0.1 * np.arange(8)}, np.array([4e4, -3e4]), 1e-4
    length = lambda x: evaluate(limber, file, {"q": x})["actuator_length"]
    gradient = np.array([(8 * (length(q + h * e) - length(q - h * e)) - length(q + 2 * h * e) + length(q - 2 * h * e)) / (12 * h)
                         for e in np.eye(8)])
    free, pushed = evaluate(limber, file, state), evaluate(limber, file, state | {"actuator_force": F})
    force = free["mass_matrix"] @ (pushed["qdd"] - free["qdd"])
    assert np.abs(force - gradient @ F).max() < 1e-9 * np.abs(force).max()
    assert np.abs(gradient[1:4]).max() > 1e-3  # bending counts


@pytest.mark.quick
def test_energy_is_the_work_of_torques_and_actuators(limber, tmp_path):
    """Closed and bent; Simpson's rule over the power leaves the integrator's error."""
    robot = read(FOUR_BAR)
    robot["actuators"] = [line("push", ("world", None, [0.1, -0.3, 0.05]), ("coupler", "tip", [0.02, 0.03, 0])),
                          line("pull", ("crank", "hinge", [0.1, 0.01, 0]), ("rocker", "tip", [-0.1, 0, 0.02]))]
    forces = tmp_path / "forces.csv"
    forces.write_text("time,crank_joint.tau,push.force,pull.force\n0,0,0,-15\n0.2,2,20,10\n")
    this = Run(limber, tmp_path, robot, 0.2, 1e-4, "--rtol", 1e-9, "--inputs", forces)
    power = this["power.joints"] + this["power.actuators"]
    work = np.cumsum((power[:-2:2] + 4 * power[1:-1:2] + power[2::2]) * 1e-4 / 3)
    gained = this["energy.total"][2::2] - this["energy.total"][0]
    print(f"\nwork {np.ptp(work):.3g} J, unbalanced {np.abs(gained - work).max():.1e} J")
    assert np.ptp(this["power.actuators"]) > 10 and np.abs(gained - work).max() < 1e-5 * np.ptp(work)


# ---- points that coincide ------------------------------------------------------------------------------------------------------

SHORT = "actuators[0] (cylinder): the two points of an actuator coincide"


def slider(folder, start):
    """Slides to the point that its cylinder comes from, at 1 m/s."""
    joint = {"name": "slide", "type": "prismatic", "axis": [1, 0, 0], "start": {"position": start, "velocity": -1}}
    file = folder / "slider.json"
    file.write_text(json.dumps({"format": "limber-robot/1", "name": "slider",
                                "links": [{"name": "block", "parent": "world", "joint": joint, "rigid": {"mass": 1}}],
                                "actuators": [line("cylinder", ("world", None, [0, 0, 0]), ("block", "tip", [0, 0, 0]))]}))
    return file


@pytest.mark.parametrize("command", [["eval", "-"], ["simulate", "--until", 1, "--step", 0.1], ["linearize"], ["modes", "--joints", "free"],
                                     ["simulate", "--until", 1, "--step", 1, "--set", "start_static=true"]], ids=lambda c: c[0])
def test_points_that_coincide_are_named(limber, tmp_path, command):
    result = run(limber, command[0], slider(tmp_path, 0), *command[1:], input="{}")
    assert result.returncode == 3 and SHORT in result.stderr


def test_points_that_come_together_are_named(limber, tmp_path):
    result = run(limber, "simulate", slider(tmp_path, 0.25), "--until", 1, "--step", 0.05)
    assert result.returncode == 3 and SHORT in result.stderr and "at t = 0.2" in result.stderr


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE], ids=["co-simulation", "model exchange"])
def test_an_fmu_does_not_start_where_points_coincide(pack, tmp_path, kind):
    """And says so though logging is off; from elsewhere it does."""
    instance = Instance(unzip(pack(slider(tmp_path, 0)), tmp_path / "fmu"), kind=kind)
    assert instance.EnterInitializationMode() == OK and instance.ExitInitializationMode() == ERROR
    assert SHORT in instance.log[-1][2]
    assert instance.set({"slide.q_start": 0.5}) == OK and instance.ExitInitializationMode() == OK
    instance.free()


def test_an_fmu_discards_points_that_coincide(pack, tmp_path):
    """CVODE does not get there; a one-step method may end a step there, but cannot begin one."""
    package = unzip(pack(slider(tmp_path, 0.25)), tmp_path / "fmu")
    first = Instance(package)
    assert first.set_integer("solver.method", 1) == OK and first.initialise().step(0, 0.1) == OK
    assert first.step(0.1, 0.15) == DISCARD and SHORT in first.log[-1][2]
    first.free()
    other = Instance(package).initialise()
    assert other.step(0, 0.1) == OK
    assert DISCARD in (other.step(0.1, 0.15), other.step(0.25, 0.05)) and SHORT in other.log[-1][2]
    other.free()
    second = Instance(package, kind=MODEL_EXCHANGE, logging=True).initialise()
    x, rates = (ct.c_double * 2)(0, -1), (ct.c_double * 2)()
    assert second.EnterContinuousTimeMode() == OK
    assert second.SetContinuousStates(x, 2) == OK
    assert second.GetDerivatives(rates, 2) == DISCARD and SHORT in second.log[-1][2]
    x[0] = 0.5
    assert second.SetContinuousStates(x, 2) == OK and second.GetDerivatives(rates, 2) == OK
    second.free()


# ---- cranes ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("F", [[0, 0], [6e4, -4e4]], ids=["unloaded", "loaded"])
def test_frequencies_with_the_forces_of_cylinders(limber, tmp_path, F):
    """M phi w^2 = K phi with K the change of -M qdd, the force that is missing, by differences."""
    q, h = np.array([0.5, 0.02, -0.003, 0.001, -1.2, -0.01, 0.002, 0.001]), 1e-5
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"q": list(q), "actuator_force": F}))

    def missing(x):
        answer = evaluate(limber, CRANE, {"q": x, "actuator_force": F})
        return -answer["mass_matrix"] @ answer["qdd"]

    K = np.array([(missing(q + h * e) - missing(q - h * e)) / (2 * h) for e in np.eye(8)]).T
    M = evaluate(limber, CRANE, {"q": q})["mass_matrix"]
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    result = run(limber, "modes", CRANE, "--at", state, "--json")
    assert result.returncode == 0, result.stderr
    modes = json.loads(result.stdout)
    found = np.sort((2 * math.pi * np.array(modes["frequency"]))**2 - np.array(modes["growth"])**2)
    assert np.abs(found / squares - 1).max() < 1e-5


def test_a_crane_that_falls_on_its_stops(limber, tmp_path):
    """Without damping it bounces and keeps its energy; with it, energy falls all the time."""
    robot = read(CRANE)
    damped = Run(limber, tmp_path, robot, 3, 0.01)
    assert (np.diff(damped["energy.total"]) <= 1e-6 * np.ptp(damped["energy.kinetic"])).all()
    for link in robot["links"]:
        link["joint"] |= {"viscous": 0, "limits": link["joint"]["limits"] | {"damping": 0}}
        link["beam"]["damping_ratio"] = 0
    this = Run(limber, tmp_path, robot, 3, 0.01, "--rtol", 1e-8)
    assert this["boom_joint.q"].min() < -0.01 and (np.diff(np.sign(this["boom_joint.qd"])) > 0).sum() >= 1  # it hits and comes back
    assert this.drift() < 1e-7 * np.ptp(this["energy.kinetic"])


# ---- linearize --static: forces that hold passive joints ------------------------------------------------------------------------


def static_point(limber, file, state=None):
    result = run(limber, "linearize", file, "--static", *(["--at", "-"] if state else []), input=json.dumps(state) if state else None)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["operating_point"]


def height(q):
    """Potential energy of the bars: 2 kg, each at its middle."""
    turned = lambda length, angle: length * np.sin(angle)
    tip = turned(0.4, q[0])
    return 2 * 9.81 * (tip / 2 + tip + turned(0.35, q[0] + q[1]) + turned(0.25, q[2]))


def bars_with_passive(folder, *passive):
    robot, file = bars(False), folder / "bars.json"
    for link in robot["links"]:
        if link["name"] in passive: link["joint"]["passive"] = True
    file.write_text(json.dumps(robot))
    return file


def slope(function, q):
    return np.array([function(q + 1e-30j * e).imag / 1e-30 for e in np.eye(3)])


def test_actuators_hold_passive_joints_by_virtual_work(limber, tmp_path):
    """dV = F dl of the passive joints a and c; the drive of b has what is left."""
    q = np.array([0.9, -0.5, 1.3])
    point = static_point(limber, bars_with_passive(tmp_path, "a", "c"), {"q": q.tolist()})
    weight, gradient = slope(height, q), slope(lengths, q)
    F = np.linalg.solve(gradient[[0, 2]], weight[[0, 2]])
    assert np.abs(np.array(point["actuator_force"]) - F).max() < 1e-12 * np.abs(F).max()
    assert np.abs(np.array(point["tau"]) - [0, (weight - gradient @ F)[1], 0]).max() < 1e-12 * np.abs(weight).max()


def test_the_smallest_of_all_forces_hold_one_joint(limber, tmp_path):
    q = np.array([0.9, -0.5, 1.3])
    point = static_point(limber, bars_with_passive(tmp_path, "a"), {"q": q.tolist()})
    F = np.linalg.pinv(slope(lengths, q)[:1]) @ slope(height, q)[:1]
    assert np.abs(np.array(point["actuator_force"]) - F).max() < 1e-12 * np.abs(F).max()


def test_a_joint_more_than_actuators_settles(limber, tmp_path):
    """Three passive joints on two lines: they move to where the lines, at their lengths, hold them."""
    file, q = bars_with_passive(tmp_path, "a", "b", "c"), np.array([0.9, -0.5, 1.3])
    point = static_point(limber, file, {"q": q.tolist()})
    assert np.abs(lengths(np.array(point["q"])) - lengths(q)).max() < 1e-9 < 1e-2 < np.abs(point["q"] - q).max()
    assert np.abs(evaluate(limber, file, {"q": point["q"], "actuator_force": point["actuator_force"]})["qdd"]).max() < 1e-8


@pytest.mark.parametrize("links", ["stiff", "soft"])
def test_cylinders_hold_the_bent_crane(limber, tmp_path, links):
    """The forces that are found hold it in `eval` too; dV of the joints, V by neighbouring positions, is F dl."""
    robot, file = read(CRANE), tmp_path / "crane.json"
    if links == "soft":  # and the line of one bends the boom
        robot["actuators"][1]["from"] = {"link": "boom", "frame": "tip", "xyz": [-1.2, 0.4, 0]}
        robot["links"][0]["beam"]["material"]["E"] = 4e10
    file.write_text(json.dumps(robot))
    point = static_point(limber, file)
    joints, q, F, h = [0, 4], np.array(point["q"]), np.array(point["actuator_force"]), 1e-3
    assert np.abs(q[joints] - [0.5, -1.2]).max() == 0 and np.abs(q[1]) > 0.01
    rest = evaluate(limber, file, {"q": q, "actuator_force": F})
    free = evaluate(limber, file, {"q": q})
    assert np.abs(rest["qdd"]).max() < 1e-7 < 1 < np.abs(free["qdd"][joints]).max()

    def work(x):
        found = evaluate(limber, file, {"q": x})
        return found["potential_energy"] - F @ found["actuator_length"]

    for e in np.eye(8)[joints]:
        change = (8 * (work(q + h * e) - work(q - h * e)) - work(q + 2 * h * e) + work(q - 2 * h * e)) / (12 * h)
        assert abs(change) < 1e-7 * np.abs(F).max()


def test_forces_that_a_state_has_are_kept_on_request(limber):
    found = static_point(limber, CRANE)
    given = {"q": found["q"], "actuator_force": [1.6e4, -4.6e3]}
    again = static_point(limber, CRANE, given)
    assert again["actuator_force"] == pytest.approx(found["actuator_force"], rel=1e-12)
    result = run(limber, "linearize", CRANE, "--static", "--free-actuators", "lift,fold", "--at", "-", input=json.dumps(given))
    assert result.returncode == 0, result.stderr
    point = json.loads(result.stdout)["operating_point"]
    assert point["actuator_force"] == given["actuator_force"] and np.abs(np.subtract(point["q"], found["q"])).max() > 1e-3
