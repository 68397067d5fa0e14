"""Line actuators: energy, points that coincide, forces that a STATE gives."""

import ctypes as ct
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from importer import CO_SIMULATION, DISCARD, ERROR, MODEL_EXCHANGE, OK, Instance, unzip
from test_loops import FOUR_BAR, Run, read

CRANE = Path(__file__).resolve().parents[2] / "resources" / "crane.json"


def run(limber, *arguments, **options):
    return subprocess.run([limber, *map(str, arguments)], capture_output=True, text=True, timeout=100, **options)


def line(name, start, end):
    point = lambda link, frame, xyz: {"link": link, "xyz": xyz} | ({} if link == "world" else {"frame": frame})
    return {"name": name, "type": "line", "from": point(*start), "to": point(*end)}


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

SHORT = "actuators[0] (cylinder): the two points of a line coincide"


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


# ---- linearize --static: forces that hold passive joints ------------------------------------------------------------------------


def static_point(limber, file, state=None):
    result = run(limber, "linearize", file, "--static", *(["--at", "-"] if state else []), input=json.dumps(state) if state else None)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["operating_point"]


def test_forces_that_a_state_has_are_kept_on_request(limber):
    found = static_point(limber, CRANE)
    given = {"q": found["q"], "actuator_force": [1.6e4, -4.6e3]}
    again = static_point(limber, CRANE, given)
    assert again["actuator_force"] == pytest.approx(found["actuator_force"], rel=1e-12)
    result = run(limber, "linearize", CRANE, "--static", "--free-actuators", "lift,fold", "--at", "-", input=json.dumps(given))
    assert result.returncode == 0, result.stderr
    point = json.loads(result.stdout)["operating_point"]
    assert point["actuator_force"] == given["actuator_force"] and np.abs(np.subtract(point["q"], found["q"])).max() > 1e-3
