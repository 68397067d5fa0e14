"""The companions: what they compute against the equations of docs/drives.md (tests/oracle/companions.py), their integration against a
solver around these, starts, failures, input derivatives, packing. tests/c/companion_test.c has derivatives and conservation laws."""

import ctypes as ct
import math
import os
import subprocess

import companions
import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from importer import DISCARD, ERROR, MODEL_EXCHANGE, OK, Instance
from scipy.integrate import solve_ivp

BORE, ROD, CLOSED, SUPPLY = 0.080, 0.045, 1.4, 200e5
A1, A2 = math.pi / 4 * BORE**2, math.pi / 4 * (BORE**2 - ROD**2)
SEALED = {"clearance": 0.0, "leakage": 0.0}
WEIGHT, STIFFNESS, GROUND_STIFFNESS = 300 * 9.81, 2e5, 1e6  # of the sling


def started(package, settings, kind=None, inputs=None, tolerance=1e-8, start=0.0):
    """An initialised instance with these parameters and inputs."""
    instance = Instance(package) if kind is None else Instance(package, kind)
    assert instance.set({**settings, **(inputs or {})}) == OK, instance.log
    return instance.initialise(start=start, tolerance=tolerance)


def values(instance, names): return dict(zip(names, np.atleast_1d(instance.get(*names)))) if names else {}


def parameters(package): return [name for name, causality in package.causality.items() if causality == "parameter" and package.type[name] == "Real"]


# ---- the equations --------------------------------------------------------------------------------------------------

SPREAD = {"command": 1.5, "length": 0.52, "rate": 0.2, "supply_share": 0.0, "feedforward": 1000, "torque": 5, "q": 0.03, "qd": 0.3,
          "motor_angle": 0.3}  # of inputs and states about their start; else the nominal value, 1 for an input
CASES = [("servo", {}), ("servo", {"voltage_limit": 60.0, "current_limit": 6.0, "rate_limit": 0.4}), ("cylinder", {}),
         ("cylinder", {"overlap": 0.1, "tank_pressure": 3e5, "hose_volume1": 2e-3, "hose_volume2": 1e-3, "tank_underlap": 0.05}),
         ("cylinder", {"counterbalance1": 100e5, "tank_underlap": 0.05, "counterbalance_flow": 10e-3 / 60}),
         ("cylinder", {"counterbalance1": 150e5, "counterbalance2": 120e5, "pilot_ratio": 2.0, "clearance": 0.01}),
         ("gear", {}), ("gear", {"backlash": 3e-3, "motor_friction": 0.01}), ("spring", {"damping": 40.0, "preload": 500.0, "rest_length": 1.2}),
         ("axis", {"move[3].time": -0.5, "move[3].duration": 2.0, "move[3].distance": 0.2}), ("sling", {"length": 1.0}),
         ("sling", {"gravity[1]": 2.0, "gravity[2]": -3.0, "ground": 0.5, "friction": 0.4})]


def drawn(random, package, settings, share):
    """Values of inputs and states, anywhere that the companion can be."""
    instance = started(package, settings, MODEL_EXCHANGE)
    names, n = package.inputs + package.states, len(package.states)
    nominal = (ct.c_double * n)()
    assert instance.GetNominalsOfContinuousStates(nominal, n) == OK
    scales = dict(zip(names, [1.0] * len(package.inputs) + list(nominal)))
    point = {name: x + SPREAD.get(name, scales[name]) * random.uniform(-1, 1) for name, x in values(instance, names).items()}
    assert instance.set(point | ({"supply_share": share} if "supply_share" in point else {})) == OK
    return instance


@pytest.mark.parametrize("name, settings", CASES)
def test_equations(request, name, settings):
    """All that is computed, at random points; and directional derivatives against differences at one of them."""
    package, random, rows = request.getfixturevalue(name), np.random.default_rng(1), []
    computed = [n for n, c in package.causality.items() if c in ("output", "local") and n not in package.states]
    for k in range(40):
        instance = drawn(random, package, settings, share=(1.0, 0.6)[k % 2])
        v = values(instance, package.inputs + package.states + parameters(package))
        expected = companions.COMPANIONS[name](v)
        assert set(expected) == set(computed)
        rows.append([[expected[n] for n in computed], instance.get(*computed)])
        if k == 0: check_derivatives(instance, package, computed)
        instance.free()
    expected, found = np.array(rows).transpose(1, 0, 2)
    error = np.abs(found - expected).max(axis=0) / np.maximum(np.abs(expected).max(axis=0), 1e-12)
    assert error.max() < 1e-9, computed[error.argmax()]


def check_derivatives(instance, package, computed):
    for known in package.inputs + package.states:
        at, changes = instance.get(known), (ct.c_double * len(computed))()
        assert instance.GetDirectionalDerivative(instance.references(computed), len(computed), instance.references([known]), 1,
                                                 (ct.c_double * 1)(1), changes) == OK, instance.log
        h, here, sides = 1e-6 * max(abs(at), 1e-2), np.array(instance.get(*computed)), []
        for x in at + h, at - h:
            assert instance.set({known: x}) == OK
            sides.append(np.array(instance.get(*computed)))
        assert instance.set({known: at}) == OK
        difference = (sides[0] - sides[1]) / (2 * h)
        assert (np.abs(difference - changes) <= 1e-4 * np.abs(difference) + 1e-9 * (np.abs(here) + 1e-9) / h).all(), known


# ---- integration ----------------------------------------------------------------------------------------------------


def hook(x=0.0, y=0.0, z=2.0): return {f"hook.position[{k}]": value for k, value in enumerate((x, y, z), 1)}


def moves(*given):
    return {f"move[{k + 1}].{name}": x for k, move in enumerate(given) for name, x in zip(("time", "duration", "distance"), move)}


MOTIONS = {"length": "rate", "q": "qd", "position": "rate", **{f"hook.position[{k}]": f"hook.velocity[{k}]" for k in (1, 2, 3)}}
COURSES = {  # companion, parameters, inputs at the start, inputs from then on, duration, step
    "servo at its limits": ("servo", {"voltage_limit": 60.0, "current_limit": 6.0, "rate_limit": 0.4}, {}, {"reference": 1.5, "qd": 0.1}, 0.05, 1e-3),
    "servo": ("servo", {}, {"feedforward": 300.0}, {"reference": 0.01, "feedforward": 700.0}, 0.02, 1e-4),
    "cylinder that extends": ("cylinder", {}, {}, {"command": 0.6, "rate": 0.2}, 0.1, 2e-3),
    "cylinder pulled to vacuum": ("cylinder", SEALED, {"length": CLOSED + 0.1}, {"rate": 1.0}, 0.2, 2e-3),
    "load that is lowered": ("cylinder", {"counterbalance1": 250e5, "tank_underlap": 0.1, "force_start": 60e3}, {},
                             {"command": -0.3, "rate": -0.05}, 0.2, 2e-3),
    "gear with play": ("gear", {"backlash": 1e-3, "motor_friction": 0.01}, {}, {"torque": 3.0, "qd": 0.2}, 0.2, 2e-3),
    "overlapping moves": ("axis", {"start": 0.6, **moves((0.13, 0.7, 0.5), (0.4, 0.8, -0.9), (1.5, 0.25, 0.3), (-0.5, 1.0, 0.2))}, {},
                          {"position": 0.2, "rate": 0.1}, 2.0, 0.013),
    "load that swings": ("sling", {}, hook(z=5.0), {**hook(0.3, -0.2, 5.01)}, 2.0, 0.02),
    "load that is lifted askew": ("sling", {}, hook(z=1.9), {**hook(z=1.9), "hook.velocity[1]": 0.4, "hook.velocity[3]": 0.6}, 0.5, 5e-3),
    "load that falls": ("sling", {"friction": 0.4}, hook(0.5, 0, 5.0), hook(0, 0, 1.5), 1.5, 0.01)}


@pytest.mark.parametrize("course", COURSES)
def test_integration(request, course):
    """Co-simulation against a solver around the equations; measured positions go on by their rates. The start time does not matter."""
    name, settings, at_start, then, until, h = COURSES[course]
    package = request.getfixturevalue(name)
    instance = started(package, settings, inputs=at_start, tolerance=1e-9, start=1000.0)
    assert instance.set(then) == OK
    fixed, states = values(instance, package.inputs + parameters(package)), package.states
    moving = {position: fixed[rate] for position, rate in MOTIONS.items() if position in fixed and rate in fixed}

    def point(t, y): return fixed | {name: fixed[name] + rate * t for name, rate in moving.items()} | dict(zip(states, y))

    def rates(t, y):
        found = companions.COMPANIONS[name](point(t, y))
        return [found[f"der({state})"] for state in states]

    solution = solve_ivp(rates, (0, until), np.atleast_1d(instance.get(*states)), "LSODA", rtol=1e-10, atol=1e-10, max_step=h, dense_output=True).sol
    watched, rows = [*states, *(output for output in package.outputs if output not in states)], []
    steps = round(until / h)
    for i in range(1, steps + 1):
        assert instance.step(1000 + (i - 1) * h, h) == OK, instance.log
        y = solution(i * h)
        found = dict(zip(states, y)) | companions.COMPANIONS[name](point(i * h, y))
        rows.append([[found[each] for each in watched], instance.get(*watched)])
        assert instance.set({position: fixed[position] + rate * i * h for position, rate in moving.items()}) == OK
    instance.free()
    expected, found = np.array(rows).transpose(1, 0, 2)
    error = np.abs(found - expected).max(axis=0) / np.maximum(np.abs(expected).max(axis=0), 1e-3)
    print(dict(zip(watched, error)))
    assert error.max() < 2e-5, watched[error.argmax()]
    assert (np.ptp(expected, axis=0) > 0).sum() >= 3


@pytest.mark.parametrize("name, inputs", [("servo", {"reference": 0.02}), ("cylinder", {"command": 0.3}), ("gear", {"torque": 2.0}), ("sling", {"hook.velocity[1]": 0.3})])
def test_every_method(request, name, inputs):
    """All agree, also in short fixed steps, and a saved state continues bit for bit."""
    package, rows = request.getfixturevalue(name), []
    for method, fixed in [(m, 0.0) for m in range(5)] + [(2, 2e-5), (4, 2e-5)]:
        instance = Instance(package)
        assert instance.set_integer("solver.method", method) == OK and instance.set({"solver.fixed_step": fixed, **inputs}) == OK
        instance.initialise(tolerance=1e-8)
        for i in range(10): assert instance.step(i * 1e-3, 1e-3) == OK, instance.log
        state, ends = instance.save(), []
        for _ in range(2):
            for i in range(10, 20): assert instance.step(i * 1e-3, 1e-3) == OK
            ends.append(np.atleast_1d(instance.get(*package.states)).tolist())
            assert instance.SetFMUstate(state) == OK
        assert ends[0] == ends[1]
        rows.append(ends[0])
        assert instance.FreeFMUstate(ct.byref(state)) == OK
        instance.free()
    scale = np.abs(rows).max(axis=0)
    assert (np.abs(np.array(rows) - rows[0]).max(axis=0) <= 1e-5 * scale + 1e-8).all()  # atol: 1e-8 of a nominal value of 1


# ---- measured positions ---------------------------------------------------------------------------------------------


def give_slope(instance, name, slope):
    assert instance.SetRealInputDerivatives(instance.references([name]), 1, (ct.c_int * 1)(1), (ct.c_double * 1)(slope)) == OK


def way_of_position(instance, t, h=0.1):
    """How far the position of an axis with the gain 2 goes within a step from 1: what its command shows."""
    assert instance.set({"position": 1.0}) == OK and instance.step(t, h) == OK, instance.log
    reference, command = instance.get("reference", "command")
    return reference - command / 2 - 1


def test_position_goes_on_by_its_rate(axis):
    """Within a step, unless the importer gives another slope, which holds for one step and may be 0; it is saved, and reset."""
    settings, inputs = {"position_gain": 2.0, "rate_gain": 0.0}, {"position": 1.0, "rate": 0.5}
    instance = started(axis, settings, inputs=inputs)
    without = instance.save()
    give_slope(instance, "position", 0.0)
    state = instance.save()
    for saved, way in (state, 0), (without, 0.05), (state, 0):
        assert instance.SetFMUstate(saved) == OK
        assert way_of_position(instance, 0) == pytest.approx(way, abs=1e-15)
    for saved in state, without: assert instance.FreeFMUstate(ct.byref(saved)) == OK
    give_slope(instance, "position", 0.0)
    assert instance.Reset() == OK and instance.set({**settings, **inputs}) == OK
    instance.initialise()
    for i, (given, slope) in enumerate([(None, 0.5), (0.2, 0.2), (None, 0.5), (0.0, 0.0), (None, 0.5)]):
        if given is not None: give_slope(instance, "position", given)
        assert way_of_position(instance, i * 0.1) == pytest.approx(0.1 * slope, abs=1e-15)
    instance.free()


# ---- starts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, settings, inputs, expected", [
    *(("servo", {"torque_start": torque}, {}, {"tau": torque}) for torque in (1727.9999, -1727.9999)),
    ("servo", {"torque_start": 200.0}, {"feedforward": 700.0}, {"tau": 900.0}),
    *(("cylinder", SEALED, {"force_start": force}, {"force": force}) for force in (30e3, -20e3, 0.0)),
    ("cylinder", SEALED, {"force_start": (SUPPLY * A1 - 10e5 * A2) * (1 - 1e-12)}, {"p1": SUPPLY, "p2": 10e5}),
    ("cylinder", SEALED, {"force_start": (10e5 * A1 - SUPPLY * A2) * (1 - 1e-12)}, {"p1": 10e5, "p2": SUPPLY}),
    *(("gear", {"torque_start": 150.0, "backlash": play}, {"torque": 1.5, "q": 0.3}, {"tau": 150.0}) for play in (0.0, 0.02)),
    ("sling", {}, hook(0.3, -0.2, 0.5), {"position[1]": 0.3, "position[2]": -0.2, "tension": 0.0, "ground_force": WEIGHT}),
    ("sling", {}, hook(z=5.0), {"position[3]": 3 - WEIGHT / STIFFNESS, "tension": WEIGHT, "force[3]": -WEIGHT, "ground_force": 0.0}),
    ("sling", {}, hook(z=2.005), {"tension": STIFFNESS * (0.005 * GROUND_STIFFNESS + WEIGHT) / (STIFFNESS + GROUND_STIFFNESS)}),
    ("sling", {"gravity[2]": -9.81, "gravity[3]": 0.0, "ground": 1.0}, hook(5.8, 1.98, 0.4),
     {"position[1]": 5.8, "position[2]": 1 - WEIGHT / GROUND_STIFFNESS, "position[3]": 0.4, "ground_force": WEIGHT})])
def test_starts_at_rest(request, name, settings, inputs, expected):
    instance = started(request.getfixturevalue(name), settings, inputs=inputs)
    for _ in range(2):
        assert instance.get(*expected) == pytest.approx(expected[next(iter(expected))] if len(expected) == 1 else list(expected.values()), rel=1e-9, abs=1e-6)
        assert instance.step(_, 1.0) == OK, instance.log
    instance.free()


IMPOSSIBLE = [
    ("cylinder", {"rod": 0.2}, "the rod must be thinner than the bore"), ("sling", {"gravity[3]": 0.0}, "gravity must not be zero"),
    ("servo", {"torque_start": 1728.1}, "voltage, 1728 N.m"), ("servo", {"torque_start": -865.0, "voltage_limit": 9.0}, "voltage, 864 N.m"),
    ("cylinder", {"pressure_start": 201e5}, "supply_pressure"), ("cylinder", {"tank_pressure": 200e5}, "tank_pressure must be below supply_pressure"),
    ("cylinder", {"bore": 1e200}, "whose areas are finite"),
    ("cylinder", {"counterbalance2": 250e5, "clearance": 0.0}, "clearance must be positive with a counterbalance valve"),
    ("cylinder", {"force_start": -7e4, "bore": 0.1, "rod": 0.06, "pressure_start": 0.0, "supply_pressure": 100e5}, "-50265.4825 to 78539.8163 N")]


@pytest.mark.parametrize("name, settings, reason", IMPOSSIBLE)
def test_what_cannot_start(request, limber, limber_sanitized, tmp_path, name, settings, reason):
    """It is not packed, and refused by an FMU whose parameters are set to it."""
    file, words = tmp_path / "x.fmu", [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    answer = subprocess.run([limber_sanitized, "drive", name, "-o", file, *words], capture_output=True, text=True,
                            env={**os.environ, "LIMBER_DRIVE_LIBRARY": str(limber.parent / f"{name}.so")})
    assert answer.returncode == 1 and reason in answer.stderr and answer.stderr.count("\n") == 1 and not file.exists(), answer.stderr
    instance = Instance(request.getfixturevalue(name))
    assert instance.set(settings) == OK and instance.EnterInitializationMode() == OK
    assert instance.ExitInitializationMode() == ERROR and reason in instance.log[-1][2]
    instance.free()


# ---- motions that a companion cannot follow -------------------------------------------------------------------------

OUTSIDE = "outside the range of the cylinder"


@pytest.mark.parametrize("name, settings, start, wrong, reason", [
    ("cylinder", {}, {"length": 1.9}, {"length": 5.0}, OUTSIDE), ("sling", {}, hook(z=2.0), hook(z=-3.0), "the hook is below the ground"),
    ("cylinder", {**SEALED, "air": 0.0}, {"length": CLOSED + 0.005}, {"rate": -33.0}, OUTSIDE)])  # within a step, the pressure without bound
def test_impossible_motions(request, name, settings, start, wrong, reason):
    """Reported; the last good state is kept, and the simulation continues when the motion is possible again."""
    instance, time = started(request.getfixturevalue(name), settings, inputs=start), ct.c_double()
    assert instance.step(0, 0.01) == OK
    assert instance.set(wrong) == OK and instance.step(0.01, 0.01) == DISCARD and reason in instance.log[-1][2]
    assert instance.GetRealStatus(2, ct.byref(time)) == OK and 0.01 <= time.value < 0.02
    assert instance.set({**dict.fromkeys(wrong, 0.0), **start}) == OK and instance.step(time.value, 0.01) == OK, instance.log
    instance.free()


def test_what_cannot_begin_ends(cylinder, drive):
    """An importer that repeats a discarded step, as FMPy does, is told that this leads nowhere."""
    instance = started(cylinder, {}, inputs={"length": 3.0})
    assert instance.step(0, 0.01) == DISCARD and instance.step(0, 0.01) == ERROR and OUTSIDE in instance.log[-1][2]
    assert instance.set({"length": 1.9}) == OK and instance.step(0, 0.01) == OK
    instance.free()
    with pytest.raises(FMICallException, match="fmi2DoStep failed with status 3"):
        fmpy.simulate_fmu(str(drive("cylinder")), stop_time=0.1, start_values={"length": 3.0})


# ---- packing --------------------------------------------------------------------------------------------------------


def test_settings_are_packed(drive):
    """What --set says is the start value in the XML and the value that the library takes, in both interfaces."""
    file = str(drive("cylinder", bore=0.1, rod=0.05, force_start=1000.0))
    start = {v.name: v.start for v in fmpy.read_model_description(file).modelVariables}
    assert float(start["bore"]) == 0.1 and float(start["rod"]) == 0.05 and float(start["stroke"]) == 1
    options = dict(stop_time=0.1, output_interval=0.001, relative_tolerance=1e-8, start_values={"command": 0.4}, output=["force", "p1", "p2"])
    cs, me = (fmpy.simulate_fmu(file, fmi_type=kind, **options) for kind in ("CoSimulation", "ModelExchange"))
    assert cs["force"][0] == pytest.approx(1000, rel=1e-9)
    assert cs["p1"][0] * 0.1**2 - cs["p2"][0] * (0.1**2 - 0.05**2) == pytest.approx(4000 / math.pi, rel=1e-9)
    for name in options["output"]:
        assert np.abs(cs[name] - np.interp(cs["time"], me["time"], me[name])).max() <= 1e-4 * np.ptp(cs[name]), name


@pytest.mark.parametrize("name, parameter, demand", [
    ("servo", "viscous", "must not be negative"), ("cylinder", "viscous", "must not be negative"), ("gear", "backlash", "must not be negative"),
    ("spring", "stiffness", "must not be negative"), ("axis", "move[4].duration", "must be positive"), ("sling", "damping", "must not be negative")])
def test_command_line(limber, limber_sanitized, tmp_path, name, parameter, demand):
    library = str(limber.parent / f"{name}.so")
    for arguments, code, word in [([name], 2, "-o"), ([], 2, "expected servo|cylinder"), (["motor", "-o", "x"], 2, "motor"),
                                  ([name, "-o", "x", "--set", "nonsense=1"], 1, "nonsense"),
                                  ([name, "-o", "x", "--set", parameter], 2, "NAME=VALUE"),
                                  ([name, "-o", "x", "--set", f"{parameter}=-1"], 1, demand),
                                  ([name, "-o", "x", "--set", f"{parameter}=nan"], 1, "finite"),
                                  ([name, "-o", "x.fmu", "--set", f"{parameter}=3"], 0, "")]:
        answer = subprocess.run([limber_sanitized, "drive", *arguments], capture_output=True, text=True, cwd=tmp_path,
                                env={**os.environ, "LIMBER_DRIVE_LIBRARY": library})
        assert answer.returncode == code and word in answer.stderr, answer.stderr
        assert code == 0 or answer.stderr.startswith("limber: drive: "), answer.stderr
        assert (tmp_path / "x.fmu").exists() == (code == 0) and not (tmp_path / "x").exists()
