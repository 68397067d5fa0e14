"""The companions against closed-form cases, alone and with a mass or an inertia that they drive."""

import ctypes as ct
import math
import os
import subprocess

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from importer import DISCARD, ERROR, MODEL_EXCHANGE, OK, Instance
from test_robustness import growth, output_rates

BORE, ROD, STROKE, CLOSED, DEAD, SUPPLY, ATMOSPHERE = 0.080, 0.045, 1.0, 1.4, 0.05, 200e5, 101325.0
A1, A2 = math.pi / 4 * BORE**2, math.pi / 4 * (BORE**2 - ROD**2)
BETA, NOMINAL_FLOW, NOMINAL_DROP = 1.2e9, 40e-3 / 60, 35e5
K = NOMINAL_FLOW / math.sqrt(NOMINAL_DROP)
BARE = {"clearance": 0.0, "leakage": 0.0, "coulomb": 0.0, "viscous": 0.0, "air": 0.0, "laminar_drop": 1e3}  # a cylinder of the textbook

N, KT, R, L, BANDWIDTH = 120.0, 0.8, 0.9, 6e-3, 3000.0
FRICTIONLESS = {"efficiency": 1.0, "viscous": 0.0, "coulomb": 0.0}

MASS, ROPE, STIFFNESS, GROUND_STIFFNESS, G = 300.0, 2.0, 2e5, 1e6, 9.81
WEIGHT, HEIGHT, UNDAMPED = MASS * G, "position[3]", {"damping": 0.0, "ground_damping": 0.0}


def started(package, settings, kind=None, inputs=None, tolerance=1e-8):
    """An initialised instance with these parameters and inputs."""
    instance = Instance(package) if kind is None else Instance(package, kind)
    assert instance.set({**settings, **(inputs or {})}) == OK, instance.log
    return instance.initialise(tolerance=tolerance)


def march(instance, names, h, steps, inputs=None):
    """Rows of `names` at 0, h, 2 h, ... in co-simulation; inputs(t) sets inputs before each step."""
    rows = [instance.get(*names)]
    for i in range(steps):
        if inputs: assert instance.set(inputs(i * h)) == OK
        assert instance.step(i * h, h) == OK, instance.log
        rows.append(instance.get(*names))
    return np.arange(steps + 1) * h, np.array(rows).T


def driven_mass(package, settings, inertia, position, rate, force, until, inputs=None, start=0.0, watched=(), method="Radau"):
    """The drive and an inertia that it moves, integrated in one piece: model exchange inside of a stiff solver at 1e-9.
    Rows: time, position, rate of the inertia, then what is watched, then the drive's states."""
    instance = started(package, settings, MODEL_EXCHANGE, {position: start, **(inputs or {})})
    assert instance.EnterContinuousTimeMode() == OK
    n = len(package.states)
    x0, nominal, derivative = ((ct.c_double * n)() for _ in range(3))
    assert instance.GetContinuousStates(x0, n) == OK and instance.GetNominalsOfContinuousStates(nominal, n) == OK

    def put(t, y):
        assert instance.SetTime(float(t)) == OK and instance.set({position: y[0], rate: y[1]}) == OK
        assert instance.SetContinuousStates((ct.c_double * n)(*y[2:]), n) == OK

    def rhs(t, y):
        put(t, y)
        status = instance.GetDerivatives(derivative, n)
        if status == DISCARD: return np.full(n + 2, np.nan)  # a wild guess of the solver: it takes a smaller step
        assert status == OK, instance.log
        return [y[1], instance.get(force) / inertia, *derivative]

    scale = np.array([1, 1, *nominal])
    result = solve_ivp(rhs, (0, until), [start, 0, *x0], method=method, rtol=1e-9, atol=1e-9 * scale, dense_output=True)
    assert result.success, result.message
    t, rows = np.linspace(0, until, 401), []
    for at in t:
        y = result.sol(at)
        put(at, y)
        rows.append([at, *y[:2], *[instance.get(name) for name in watched], *y[2:]])
    instance.free()
    return np.array(rows).T


# ---- servo ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bandwidth", [BANDWIDTH, R / L])
def test_current_loop_is_of_first_order(servo, bandwidth):
    """The controller's zero takes the winding's pole: i = i* (1 - exp(-wc t)), with wc = R/L the time constant of the winding."""
    instance = started(servo, {**FRICTIONLESS, "current_bandwidth": bandwidth}, tolerance=1e-9)
    assert instance.set({"feedforward": 5 * N * KT}) == OK
    t, (current, voltage) = march(instance, ["current", "voltage"], 0.1 / bandwidth, 60)
    assert np.abs(current - 5 * (1 - np.exp(-bandwidth * t))).max() < 5e-7
    assert np.abs(voltage - (R * current + L * bandwidth * 5 * np.exp(-bandwidth * t))).max() < 1e-5
    instance.free()


def test_torque_is_current_times_constant_times_ratio(servo):
    """After a step of what is asked for, and from the start where it is asked for at the start."""
    for late in True, False:
        asked = {"feedforward": 700.0}
        instance = started(servo, FRICTIONLESS, inputs=None if late else asked)
        assert instance.get("tau") == pytest.approx(0 if late else 700, rel=1e-14)
        assert instance.set(asked) == OK and instance.step(0, 0.1) == OK
        tau, current = instance.get("tau", "current")
        assert tau == pytest.approx(N * KT * current, rel=1e-14) and tau == pytest.approx(700, rel=1e-6)
        instance.free()


@pytest.mark.parametrize("rate", [0.5, -0.5])
def test_friction_and_efficiency(servo, rate):
    """At a rate far above friction_rate: viscous + (coulomb + (1 - efficiency) |motor torque|) against the motion."""
    instance = started(servo, {"torque_start": 500.0, "efficiency": 0.8, "friction_rate": 0.01}, inputs={"qd": rate, "reference_rate": rate})
    tau, motor = instance.get("tau", "current")
    load = math.hypot(500, 1e-3 * N * KT * 20) - 1e-3 * N * KT * 20
    assert motor * N * KT == pytest.approx(500, rel=1e-14)
    assert tau == pytest.approx(500 - math.copysign(10 + 0.2 * load, rate) - 20 * rate, rel=1e-12)
    instance.free()


def test_position_loop_moves_an_inertia_as_the_linear_system_does(servo):
    """(q, qd, i, W, T)' = A (...) + b q* for a step small enough that nothing limits; the exact solution by exp(A t)."""
    J, kp, kv, ki, step, until = 150.0, 4.0, 2000.0, 6000.0, 0.01, 2.0
    k, wc = N * KT, BANDWIDTH
    current = np.array([-kv * kp, -kv, 0, 0, 1]) / k  # i* by (q, qd, i, W, T)
    voltage = wc * L * (current - [0, 0, 1, 0, 0]) + [0, k, 0, 1, 0]
    A = np.array([[0, 1, 0, 0, 0], [0, 0, k / J, 0, 0], (voltage - [0, k, R, 0, 0]) / L,
                  wc * R * (current - [0, 0, 1, 0, 0]), [-ki * kp, -ki, 0, 0, 0]])
    b = np.array([0, 0, wc * kv * kp / k, wc * R * kv * kp / k, ki * kp])
    assert max(np.linalg.eigvals(A).real) < 0
    rest = -np.linalg.solve(A, b) * step
    assert rest[0] == pytest.approx(step)
    rows = driven_mass(servo, FRICTIONLESS, J, "q", "qd", "tau", until, inputs={"reference": step})
    exact = np.array([rest - expm(A * t) @ rest for t in rows[0]]).T
    assert np.abs(rows[1] - exact[0]).max() < 1e-7 * step
    assert np.abs(rows[3] - exact[2]).max() < 1e-6 * np.abs(exact[2]).max()


def test_limits_are_respected(servo):
    """A step that asks for everything: rate, current and voltage stay within; the joint arrives without winding up."""
    watched = ["current_reference", "current", "voltage", "rate_reference"]
    limits = {"voltage_limit": 60.0, "current_limit": 6.0, "rate_limit": 0.4}
    _, q, qd, asked, current, voltage, rate, *_ = driven_mass(servo, limits, 150.0, "q", "qd", "tau", 8.0,
                                                              inputs={"reference": 1.5}, watched=watched)
    assert np.abs(asked).max() <= 6 and np.abs(current).max() <= 6 * (1 + 1e-6)
    assert np.abs(voltage).max() <= 60 and np.abs(rate).max() <= 0.4
    assert np.abs(asked).max() == 6 and np.abs(rate).max() == 0.4  # they were reached
    assert q.max() < 1.5 * 1.05 and abs(q[-1] - 1.5) < 0.01 and np.abs(qd).max() < 0.4 * 1.2


# ---- cylinder -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [30e3, -20e3, 0.0])
def test_force_is_pressure_times_area(cylinder, force):
    instance = started(cylinder, {**BARE, "force_start": force})
    p1, p2, got = instance.get("p1", "p2", "force")
    assert got == pytest.approx(p1 * A1 - p2 * A2, rel=1e-12, abs=1e-9) and got == pytest.approx(force, rel=1e-9, abs=1e-6)
    assert min(p1, p2) == 10e5
    for i in range(100): assert instance.step(i * 0.1, 0.1) == OK  # the valve shut and nothing leaking: it holds
    assert instance.get("force") == pytest.approx(force, rel=1e-9, abs=1e-6)
    instance.free()


def test_spool_is_of_second_order(cylinder):
    """1 - exp(-z w t) (cos wd t + z w/wd sin wd t)"""
    w, z, h = 150.0, 0.8, 1e-3
    instance = started(cylinder, {}, inputs={"command": 0.6}, tolerance=1e-9)
    t, (spool, _) = march(instance, ["spool", "p1"], h, 60)
    wd = w * math.sqrt(1 - z * z)
    assert np.abs(spool - 0.6 * (1 - np.exp(-z * w * t) * (np.cos(wd * t) + z * w / wd * np.sin(wd * t)))).max() < 1e-7
    instance.free()


@pytest.mark.parametrize("air", [0.0, 0.01])
def test_pressure_rises_by_flow_over_volume(cylinder, air):
    """dp/dt = beta Q/V in a blocked cylinder, beta softened by the air: 1/beta + air pa/P^2."""
    instance = started(cylinder, {**BARE, "air": air}, MODEL_EXCHANGE, {"length": CLOSED + 0.3})
    for p in 0.0, 5e5, 150e5:
        assert instance.set({"spool": 0.4, "p1": p, "p2": 60e5}) == OK
        flow1, flow2, rise1, rise2 = instance.get("flow1", "flow2", "der(p1)", "der(p2)")
        assert flow1 == pytest.approx(0.4 * K * math.sqrt(SUPPLY - p), rel=1e-6)
        assert flow2 == pytest.approx(-0.4 * K * math.sqrt(60e5), rel=1e-6)
        absolute = lambda q: (q + ATMOSPHERE + math.hypot(q + ATMOSPHERE, 1000)) / 2
        beta = lambda q: 1 / (1 / BETA + air * ATMOSPHERE / absolute(q)**2)
        assert rise1 == pytest.approx(beta(p) * flow1 / (A1 * (DEAD + 0.3)), rel=1e-12)
        assert rise2 == pytest.approx(beta(60e5) * flow2 / (A2 * (DEAD + STROKE - 0.3)), rel=1e-12)
    instance.free()


def test_nominal_flow_at_nominal_drop(cylinder):
    instance = started(cylinder, {"clearance": 0.0}, MODEL_EXCHANGE)
    assert instance.set({"spool": 1.0, "p1": SUPPLY - NOMINAL_DROP, "p2": NOMINAL_DROP}) == OK
    assert instance.get("flow1", "flow2") == pytest.approx([NOMINAL_FLOW, -NOMINAL_FLOW], rel=1e-12)
    assert instance.set({"spool": -1.0, "p1": NOMINAL_DROP, "p2": SUPPLY - NOMINAL_DROP}) == OK
    assert instance.get("flow1", "flow2") == pytest.approx([-NOMINAL_FLOW, NOMINAL_FLOW], rel=1e-12)
    instance.free()


@pytest.mark.parametrize("opening, speed", [(0.5, math.sqrt(SUPPLY * A1 / (A1**3 + A2**3))),
                                            (-0.5, -math.sqrt(SUPPLY * A2 / (A1**3 + A2**3)))])
def test_steady_speed_without_load(cylinder, opening, speed):
    """p1 A1 = p2 A2 and both edges pass what the piston takes: v = z K sqrt(ps A1/(A1^3 + A2^3)) extending, with the other area
    under the root retracting."""
    rows = driven_mass(cylinder, {**BARE, "viscous": 1.0}, 50.0, "length", "rate", "force", 0.8, inputs={"command": opening},
                       start=CLOSED + (0.1 if opening > 0 else 0.9), watched=["flow1"])
    assert rows[2][-1] == pytest.approx(abs(opening) * K * speed, rel=1e-4)
    assert rows[2][-1] == pytest.approx(rows[3][-1] / A1, rel=1e-4)


def test_stiffness_of_the_shut_cylinder(cylinder):
    """-dF/ds at constant oil: beta (A1^2/V1 + A2^2/V2), by the directional derivatives; and the mass on it swings so."""
    s, mass = 0.3, 2000.0
    stiffness = BETA * (A1**2 / (A1 * (DEAD + s)) + A2**2 / (A2 * (DEAD + STROKE - s)))
    instance = started(cylinder, BARE, MODEL_EXCHANGE, {"length": CLOSED + s})
    by = lambda unknown, known: directional(instance, unknown, known)
    assert by("force", "p1") == pytest.approx(A1) and by("force", "p2") == pytest.approx(-A2)
    assert -(A1 * by("der(p1)", "rate") - A2 * by("der(p2)", "rate")) == pytest.approx(stiffness, rel=1e-12)
    instance.free()
    period = 2 * math.pi / math.sqrt(stiffness / mass)
    t, length, rate, *_ = driven_mass(cylinder, {**BARE, "force_start": 200.0}, mass, "length", "rate", "force", 20 * period,
                                      start=CLOSED + s)
    swing = length - length.mean()
    ups = [i for i in range(len(t) - 1) if swing[i] < 0 <= swing[i + 1]]
    crossings = [t[i] - swing[i] * (t[i + 1] - t[i]) / (swing[i + 1] - swing[i]) for i in ups]
    measured = (crossings[-1] - crossings[0]) / (len(crossings) - 1)
    assert len(crossings) >= 19 and measured == pytest.approx(period, rel=1e-3)


def test_work_of_the_supply(cylinder):
    """Pump work = kinetic energy of the load + losses + compression, over a stroke with a stop at its end."""
    mass = 1000.0
    names = [f"power.{what}" for what in ("supply", "mechanical", "valve", "leakage", "friction", "stops", "compression")]
    settings = {"stroke": 0.6}
    t, length, rate, *rows = driven_mass(cylinder, settings, mass, "length", "rate", "force", 1.0, inputs={"command": 0.7},
                                         start=CLOSED + 0.5, watched=names)
    energy = {name: np.trapezoid(row, t) for name, row in zip(names, rows)}
    rest = energy.pop("power.supply") - sum(energy.values())
    assert abs(rest) < 1e-9 * sum(map(abs, energy.values()))
    assert length.max() > CLOSED + 0.6 and energy["power.valve"] > 0 and energy["power.friction"] > 0
    before = t < 0.35  # the stop is reached later: until then the trapezoidal rule is fair
    assert np.trapezoid(rows[1][before], t[before]) == pytest.approx(mass * rate[before][-1]**2 / 2, rel=2e-2)


def test_no_pressure_below_vacuum(cylinder):
    """The rod pulled out with the valve shut: the oil's air expands and the oil boils, the pressure falls to vacuum and there it
    stays, but for a few per cent of an atmosphere; pushed back in, the oil carries again."""
    instance = started(cylinder, {"clearance": 0.0, "leakage": 0.0}, inputs={"length": CLOSED + 0.1}, tolerance=1e-6)
    h, speed, lowest = 1e-3, 1.0, math.inf
    for i in range(600):
        s, v = (0.1 + speed * i * h, speed) if i < 300 else (0.7 - speed * i * h, -speed)
        assert instance.set({"length": CLOSED + s, "rate": v}) == OK
        assert instance.step(i * h, h) == OK, instance.log
        lowest = min(lowest, *instance.get("p1", "p2"))
    assert -1.05 * ATMOSPHERE < lowest < -0.9 * ATMOSPHERE
    assert instance.get("p1") == pytest.approx(10e5, rel=0.05)
    instance.free()


def test_end_stops_hold(cylinder):
    rows = driven_mass(cylinder, {}, 1000.0, "length", "rate", "force", 1.5, inputs={"command": 1.0}, start=CLOSED + 0.8)
    late = rows[0] > 1.2
    assert (rows[1] < CLOSED + STROKE + 5e-3).all() and (rows[1][late] > CLOSED + STROKE).all()
    assert rows[1][late].mean() == pytest.approx(CLOSED + STROKE + SUPPLY * A1 / 1e8, abs=5e-4)


def test_length_outside_of_the_cylinder(cylinder):
    """Says so, leaves the last good state, goes on when the length is a possible one again."""
    instance = started(cylinder, {}, tolerance=1e-6)
    assert instance.step(0, 0.01) == OK
    assert instance.set({"length": 5.0}) == OK
    assert instance.step(0.01, 0.01) == DISCARD
    assert "outside the range of the cylinder" in instance.log[-1][2] and "length_closed" in instance.log[-1][2]
    assert instance.set({"length": 1.9}) == OK and instance.step(0.01, 0.01) == OK
    instance.free()


def test_what_cannot_begin_ends(cylinder, drive):
    """An importer that repeats a discarded step, as FMPy does, is told that this leads nowhere."""
    instance = started(cylinder, {}, inputs={"length": 3.0}, tolerance=1e-6)
    assert instance.step(0, 0.01) == DISCARD and instance.step(0, 0.01) == ERROR
    assert "outside the range of the cylinder" in instance.log[-1][2]
    assert instance.set({"length": 1.9}) == OK and instance.step(0, 0.01) == OK
    instance.free()
    with pytest.raises(FMICallException, match="fmi2DoStep failed with status 3"):
        fmpy.simulate_fmu(str(drive("cylinder")), stop_time=0.1, start_values={"length": 3.0})


def test_running_into_the_impossible_ends(cylinder):
    """Pressed together within a step until no volume is left, the pressure without bound: that is said, and does not take forever."""
    instance = started(cylinder, {**BARE}, inputs={"length": CLOSED + 0.005}, tolerance=1e-8)
    assert instance.set({"rate": -33.0}) == OK
    assert instance.step(0, 0.002) == DISCARD
    assert "outside the range of the cylinder" in instance.log[-1][2]
    time = ct.c_double()
    assert instance.GetRealStatus(2, ct.byref(time)) == OK and 0 < time.value < 0.002
    assert instance.set({"length": CLOSED + 0.1, "rate": 0.0}) == OK and instance.step(time.value, 0.01) == OK
    instance.free()


def test_the_command_is_held_to_its_range(cylinder):
    ends = []
    for command in 1.0, 3.0:
        instance = started(cylinder, {}, inputs={"command": command})
        assert instance.step(0, 0.2) == OK
        ends.append(instance.get("spool"))
        instance.free()
    assert ends[0] == ends[1] == pytest.approx(1, abs=1e-6)


# ---- axis -----------------------------------------------------------------------------------------------------------

MOVES = [(0.13, 0.7, 0.5), (0.4, 0.8, -0.9), (1.5, 0.25, 0.3), (-0.5, 1.0, 0.2)]  # time, duration, distance; some overlap


def moves(settings):
    names = ("time", "duration", "distance")
    return {**settings, **{f"move[{k + 1}].{name}": x for k, move in enumerate(MOVES) for name, x in zip(names, move)}}


@pytest.mark.parametrize("start", [0.0, 1000.0])
def test_moves_are_cycloids(axis, start):
    """reference = start + sum d (x - sin(2 pi x)/(2 pi)), x = (t - t0)/T held to 0..1, time counted from the start of the simulation."""
    instance, h, kp, kd = Instance(axis), 0.013, 7.0, 0.4
    assert instance.set(moves({"start": 0.6, "position_gain": kp, "rate_gain": kd, "position": 0.2})) == OK
    instance.initialise(start=start)
    rows = [instance.get("reference", "reference_rate", "command", "clock")]
    for i in range(160):
        assert instance.step(start + i * h, h) == OK, instance.log
        rows.append(instance.get("reference", "reference_rate", "command", "clock"))
    reference, rate, command, clock = np.array(rows).T
    t = np.arange(161) * h
    shares = [(np.clip((t - t0) / T, 0, 1), T, d) for t0, T, d in MOVES]
    exact = 0.6 + sum(d * (x - np.sin(2 * np.pi * x) / (2 * np.pi)) for x, T, d in shares)
    exact_rate = sum(d / T * (1 - np.cos(2 * np.pi * x)) for x, T, d in shares)
    assert np.abs(clock - t).max() < 1e-12
    assert np.abs(reference - exact).max() < 1e-12 and np.abs(rate - exact_rate).max() < 1e-11
    assert np.abs(command - (kd * exact_rate + kp * (exact - 0.2))).max() < 1e-11
    assert reference[-1] == pytest.approx(0.6 + 0.5 - 0.9 + 0.3 + 0.2, abs=1e-15) and rate[-1] == 0
    instance.free()


def give_slope(instance, name, slope):
    assert instance.SetRealInputDerivatives(instance.references([name]), 1, (ct.c_int * 1)(1), (ct.c_double * 1)(slope)) == OK


def way_of_position(instance, t, h=0.1):
    """How far the position of an axis with the gain 2 goes within a step from 1: what its command shows."""
    assert instance.set({"position": 1.0}) == OK and instance.step(t, h) == OK, instance.log
    reference, command = instance.get("reference", "command")
    return reference - command / 2 - 1


def test_position_goes_on_by_its_rate(axis):
    """Within a step, unless the importer gives another slope, which holds for one step and may be 0."""
    instance = started(axis, {"position_gain": 2.0, "rate_gain": 0.0}, inputs={"position": 1.0, "rate": 0.5})
    for i, (given, slope) in enumerate([(None, 0.5), (0.2, 0.2), (None, 0.5), (0.0, 0.0), (None, 0.5)]):
        if given is not None: give_slope(instance, "position", given)
        assert way_of_position(instance, i * 0.1) == pytest.approx(0.1 * slope, abs=1e-15)
    instance.free()


def test_slope_that_was_given_is_saved_and_reset(axis):
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
    assert way_of_position(instance.initialise(), 0) == pytest.approx(0.05, abs=1e-15)
    instance.free()


# ---- sling ----------------------------------------------------------------------------------------------------------


def hook(x=0.0, y=0.0, z=2.0):
    return {f"hook.position[{k}]": value for k, value in enumerate((x, y, z), 1)}


@pytest.mark.parametrize("height", [0.5, 2.0, 2.005, 2.01, 2.02, 5.0])
def test_load_stays_at_rest(sling, height):
    """Lying, hanging, or both: below the hook, the weight carried by rope and ground as two springs would. It does not move by itself."""
    instance = started(sling, {}, inputs=hook(0.3, -0.2, height))
    x, y, z, tension, ground = first = instance.get("position[1]", "position[2]", HEIGHT, "tension", "ground_force")
    assert (x, y) == (0.3, -0.2)
    assert tension == pytest.approx(STIFFNESS * max(height - z - ROPE, 0), abs=1e-6)
    assert ground == pytest.approx(GROUND_STIFFNESS * max(-z, 0), abs=1e-6)
    assert tension + ground == pytest.approx(WEIGHT, rel=1e-9)
    assert (tension > 0) == (height > 2 - WEIGHT / GROUND_STIFFNESS) and (ground > 0) == (height < 2 + WEIGHT / STIFFNESS)
    assert instance.get("force[1]", "force[2]", "force[3]") == pytest.approx([0, 0, -tension], abs=1e-9)
    for i in range(20): assert instance.step(i * 0.1, 0.1) == OK, instance.log
    assert instance.get("position[1]", "position[2]", HEIGHT, "tension", "ground_force") == pytest.approx(first, rel=1e-6, abs=1e-6)
    instance.free()


def test_gravity_along_another_axis(sling):
    """As the crane's, -y; the ground then lies across it."""
    gravity = {"gravity[2]": -G, "gravity[3]": 0.0, "ground": 1.0}
    instance = started(sling, gravity, inputs=hook(5.8, 1.98, 0.4))
    assert instance.get("position[1]", "position[2]", "position[3]") == pytest.approx([5.8, 1 - WEIGHT / GROUND_STIFFNESS, 0.4], abs=1e-12)
    assert instance.get("ground_force") == pytest.approx(WEIGHT, rel=1e-9)
    instance.free()


def test_hanging_load_oscillates(sling):
    """The hook jumps up by less than the rope is stretched: z = z1 - a cos(w t), w = sqrt(k/m)."""
    a, w, h = 0.01, math.sqrt(STIFFNESS / MASS), 2e-3
    instance = started(sling, UNDAMPED, inputs=hook(z=5.0), tolerance=1e-9)
    rest = instance.get(HEIGHT)
    assert instance.set(hook(z=5.0 + a)) == OK
    t, (z, tension) = march(instance, [HEIGHT, "tension"], h, 500)
    assert np.abs(z - (rest + a - a * np.cos(w * t))).max() < 1e-5 * a
    assert np.abs(tension[1:] - (WEIGHT + STIFFNESS * a * np.cos(w * t[1:]))).max() < 1e-5 * STIFFNESS * a
    instance.free()


def test_damping_of_the_rope(sling):
    """About the hanging load the damping ratio is g d/(2 w): of small motions, by the directional derivatives."""
    d, w = 0.3, math.sqrt(STIFFNESS / MASS)
    instance = started(sling, {"damping": d}, MODEL_EXCHANGE, hook(z=5.0))
    by = lambda known: directional(instance, "der(velocity[3])", known)
    assert by(HEIGHT) == pytest.approx(-w**2, rel=1e-9) and by("velocity[3]") == pytest.approx(-G * d, rel=1e-9)
    instance.free()


def test_load_swings_as_a_pendulum(sling):
    """A small swing about a hook that was moved aside: x = a (1 - cos(w t)), w = sqrt(g/l), l with the stretch."""
    a, w, h = 0.002, math.sqrt(G / (ROPE + WEIGHT / STIFFNESS)), 0.01
    instance = started(sling, UNDAMPED, inputs=hook(z=5.0), tolerance=1e-9)
    energy = instance.set(hook(x=a, z=5.0)) or instance.get("energy.total")
    t, (x, y, total) = march(instance, ["position[1]", "position[2]", "energy.total"], h, 600)
    assert np.abs(x - a * (1 - np.cos(w * t))).max() < 1e-4 * a and np.abs(y).max() == 0
    assert np.abs(total - energy).max() < 1e-6 * WEIGHT * a
    instance.free()


def test_load_is_lifted_by_its_weight(sling):
    """The hook rises slowly: rope and ground share the weight, the tension grows until it is the weight, then the load goes up."""
    h, speed = 2e-3, 0.02
    instance = started(sling, {}, inputs={**hook(z=1.99), "hook.velocity[3]": speed})
    t, (z, tension, ground) = march(instance, [HEIGHT, "tension", "ground_force"], h, 1500, lambda t: hook(z=1.99 + speed * t))
    lifted = int(np.argmax(ground == 0))
    assert tension[0] == 0 and 0 < lifted and (z[lifted:] > 0).all() and (ground[lifted:] == 0).all() and (z[:lifted] < 0).all()
    ripple = MASS * speed * math.sqrt((STIFFNESS + GROUND_STIFFNESS) / MASS)  # what the beginning of the motion may stir up
    assert np.abs(tension + ground - WEIGHT)[:lifted].max() < ripple
    assert tension[lifted] == pytest.approx(WEIGHT, abs=ripple) and (np.diff(tension[:lifted]) >= -1e-6 * WEIGHT).all()
    assert z[-1] == pytest.approx(1.99 + speed * t[-1] - ROPE - WEIGHT / STIFFNESS, abs=ripple / STIFFNESS)
    instance.free()


def test_rope_never_pushes(sling):
    """The hook falls away: the load falls freely, z0 - g t^2/2, until the ground takes it."""
    h = 0.01
    instance = started(sling, {}, inputs=hook(z=5.0), tolerance=1e-9)
    z0 = instance.get(HEIGHT)
    assert instance.set(hook(z=1.5)) == OK
    t, (z, tension, ground, losses) = march(instance, [HEIGHT, "tension", "ground_force", "power.losses"], h, 300)
    free = slice(1, int(math.sqrt(2 * z0 / G) / h))
    assert (tension[free] == 0).all() and (ground[free] == 0).all()
    assert np.abs(z - (z0 - G * t**2 / 2))[free].max() < 1e-6
    assert ground.max() > 5 * WEIGHT and (tension >= 0).all() and (ground >= 0).all() and (losses >= -1e-9).all()
    assert z[-1] == pytest.approx(-WEIGHT / GROUND_STIFFNESS, abs=1e-4) and ground[-1] == pytest.approx(WEIGHT, rel=0.05)
    instance.free()


def test_friction_on_the_ground(sling):
    """mu m g against the motion along the ground, v/sqrt(v^2 + v_f^2) of it; none off the ground."""
    instance = started(sling, {"friction": 0.4}, MODEL_EXCHANGE, hook(z=1.0))
    assert instance.set({"velocity[1]": 0.03, "velocity[2]": -0.04}) == OK
    share = 0.05 / math.hypot(0.05, 0.01)
    assert instance.get("der(velocity[1])", "der(velocity[2])", "der(velocity[3])") == pytest.approx(
        [-0.6 * 0.4 * G * share, 0.8 * 0.4 * G * share, 0], rel=1e-9, abs=1e-9)
    assert instance.get("power.losses") == pytest.approx(0.4 * WEIGHT * 0.05 * share, rel=1e-9)
    assert instance.set({HEIGHT: 0.001}) == OK and instance.get("der(velocity[1])") == 0
    instance.free()


def test_lifted_load_in_model_exchange(sling):
    """A hook that rises askew with a constant velocity. In co-simulation its position goes on by itself; the other way is a solver
    at 1e-10 around the derivatives. Rope, ground and friction all take part."""
    until, velocity, n = 0.5, np.array([0.4, -0.1, 0.6]), 6
    at = lambda t: hook(*(np.array([0, 0, 1.9]) + velocity * t))
    rates = {f"hook.velocity[{k}]": v for k, v in enumerate(velocity, 1)}
    instance = started(sling, {}, MODEL_EXCHANGE, {**at(0), **rates})
    assert instance.EnterContinuousTimeMode() == OK
    derivative = (ct.c_double * n)()

    def rhs(t, y):
        assert instance.SetTime(float(t)) == OK and instance.set(at(t)) == OK
        assert instance.SetContinuousStates((ct.c_double * n)(*y), n) == OK and instance.GetDerivatives(derivative, n) == OK
        return list(derivative)
    result = solve_ivp(rhs, (0, until), instance.get(*sling.states), rtol=1e-10, atol=1e-12, max_step=1e-3, dense_output=True)
    instance.free()
    instance = started(sling, {}, inputs={**at(0), **rates}, tolerance=1e-9)
    t, rows = march(instance, sling.states + ["tension", "ground_force"], 0.005, 100)
    assert np.abs(rows[:n] - result.sol(t)).max() < 1e-6
    assert rows[n][0] == 0 < rows[n][-1] and rows[n + 1][0] > 0 == rows[n + 1][-1] and abs(rows[0][-1]) > 1e-3
    instance.free()


def test_energy_of_a_lifted_load(sling):
    """A bounce and a swing, with all losses: energy.total + what was lost - what the hook gave stays what it was."""
    names = ["energy.total", "power.losses", "force[1]", "force[3]"]
    h, swing = 2e-4, lambda t: (0.3 * math.sin(2 * t), 2.0 + 0.3 * math.sin(3 * t), 0.6 * math.cos(2 * t), 0.9 * math.cos(3 * t))

    def inputs(t):
        x, z, xd, zd = swing(t)
        return {**hook(x=x, z=z), "hook.velocity[1]": xd, "hook.velocity[3]": zd}
    instance = started(sling, {}, inputs=inputs(0), tolerance=1e-8)
    t, (total, losses, fx, fz) = march(instance, names, h, 10_000, inputs)
    _, _, xd, zd = np.array([swing(x) for x in t]).T
    balance = total - total[0] + np.concatenate([[0], np.cumsum(((losses + fx * xd + fz * zd)[1:] + (losses + fx * xd + fz * zd)[:-1]) * h / 2)])
    assert np.ptp(total) > 500 and np.abs(balance).max() < 2e-3 * np.ptp(total)
    instance.free()


def test_a_hook_below_the_ground_is_refused(sling):
    """A load that lies above its hook would be pulled into the ground; with a slack rope the hook may be anywhere."""
    instance = started(sling, {}, inputs={"hook.position[3]": -3.0}, tolerance=1e-6)
    assert instance.step(0, 0.01) == DISCARD and "the hook is below the ground" in instance.log[-1][2]
    instance.free()
    instance = started(sling, {}, inputs={"hook.position[3]": -1.0}, tolerance=1e-6)
    assert instance.step(0, 0.01) == OK and instance.get("tension") == 0
    instance.free()


# ---- gear and spring ------------------------------------------------------------------------------------------------


def test_gear_swings_as_two_inertias_do(gear):
    """A rotor N^2 Jm and an inertia J on the spring k between them, undamped: w^2 = k (1/J + 1/(N^2 Jm)); the mean of both moves as
    one inertia under the torque N T."""
    J, ratio, rotor, k, torque = 5.0, 100.0, 1e-3, 2e4, 0.2
    reflected, until = ratio**2 * rotor, 0.4
    t, q, qd, angle, *_ = driven_mass(gear, {"damping": 0.0}, J, "q", "qd", "tau", until, inputs={"torque": torque}, watched=["motor_angle"])
    w = math.sqrt(k * (1 / J + 1 / reflected))
    together = ratio * torque / (J + reflected) * t**2 / 2
    twist = ratio * torque / reflected / w**2 * (1 - np.cos(w * t))
    assert np.abs((J * q + reflected * angle / ratio) / (J + reflected) - together).max() < 1e-7 * together[-1]
    assert np.abs(angle / ratio - q - twist).max() < 1e-6 * twist.max()


def test_gear_starts_with_its_torque(gear):
    """Also through the play: the motor torque T/N keeps it, and within the play there is nearly no torque."""
    for play in 0.0, 0.02:
        instance = started(gear, {"torque_start": 150.0, "backlash": play}, inputs={"torque": 1.5, "q": 0.3})
        assert instance.step(0, 1) == OK and instance.get("tau") == pytest.approx(150, rel=1e-9)
        assert instance.get("twist") == pytest.approx(150 / 2e4 + play / 2, abs=play / 200 + 1e-12)
        instance.free()
    instance = started(gear, {"backlash": 0.02}, MODEL_EXCHANGE)
    assert instance.set({"motor_angle": 0.3}) == OK and 0 < instance.get("tau") < 0.02 * 2e4 * 0.003
    instance.free()


def test_spring_pushes_when_short(spring):
    instance = started(spring, {"rest_length": 1.2, "preload": 500.0, "damping": 40.0}, MODEL_EXCHANGE, {"length": 1.1, "rate": 0.5})
    assert instance.get("force") == pytest.approx(500 + 1e5 * 0.1 - 40 * 0.5, rel=1e-12)
    instance.free()


# ---- options of the cylinder ----------------------------------------------------------------------------------------

LOADED = {"counterbalance1": 250e5, "tank_underlap": 0.05, "force_start": 60e3, "air": 0.0}
LOAD_MASS = 60e3 / 9.81


def lowered(cylinder, settings, command, until=3.0, start=CLOSED + 0.6, inputs=None):
    """A hanging load, its weight as a force of the drive: rows time, length, rate, line1, line2, p1, p2, spool, spool_rate."""
    weight = settings["force_start"]
    instance = started(cylinder, settings, MODEL_EXCHANGE, {"length": start, "command": command, **(inputs or {})})
    assert instance.EnterContinuousTimeMode() == OK
    n = len(cylinder.states)
    x0, nominal, derivative = ((ct.c_double * n)() for _ in range(3))
    assert instance.GetContinuousStates(x0, n) == OK and instance.GetNominalsOfContinuousStates(nominal, n) == OK

    def put(t, y):
        assert instance.SetTime(float(t)) == OK and instance.set({"length": y[0], "rate": y[1]}) == OK
        assert instance.SetContinuousStates((ct.c_double * n)(*y[2:]), n) == OK

    def rhs(t, y):
        put(t, y)
        assert instance.GetDerivatives(derivative, n) == OK, instance.log
        return [y[1], (instance.get("force") - weight) / LOAD_MASS, *derivative]

    result = solve_ivp(rhs, (0, until), [start, 0, *x0], method="Radau", rtol=1e-7, atol=1e-7 * np.array([1, 1, *nominal]))
    assert result.success, result.message
    put(until, result.y[:, -1])
    end = dict(zip(("line1", "line2", "p1", "p2", "flow1", "flow2", "supply_flow", "supply_demand"),
                   instance.get("line1", "line2", "p1", "p2", "flow1", "flow2", "supply_flow", "supply_demand")))
    instance.free()
    return result.y[0], result.y[1], end


def test_counterbalance_valve_holds_the_load(cylinder):
    """Without one, a valve that relieves its lines lets the load down, by the flow through its underlap; with one it stays, and its
    line is empty."""
    tight = {**LOADED, "leakage": 0.0, "clearance": 1e-6, "viscous": 2e5}
    length, _, end = lowered(cylinder, tight, 0.0, until=5.0)
    assert np.abs(length - length[0]).max() < 1e-3 and end["flow1"] == 0 and end["line1"] < 1e5
    _, rate, end = lowered(cylinder, {**tight, "counterbalance1": 0.0}, 0.0, until=2.0)
    assert end["line1"] == end["p1"] and end["flow1"] == pytest.approx(-0.05 * K * math.sqrt(end["p1"]), rel=1e-3)
    assert rate[-1] == pytest.approx(end["flow1"] / A1, rel=1e-2)  # the pressures still change a little


def test_load_is_lowered_at_the_speed_of_the_supply(cylinder):
    """A small counterbalance valve throttles, more than the edge to the tank: p1 + r p2 is between setting and setting + range, and
    both flows fit the speed."""
    settings = {**LOADED, "tank_underlap": 0.1, "clearance": 1e-5, "leakage": 0.0, "counterbalance_flow": 10e-3 / 60, "viscous": 2e5}
    length, rate, end = lowered(cylinder, settings, -0.1, until=3.0)
    assert 250e5 < end["p1"] + 4 * end["p2"] < 350e5 and end["p1"] - end["line1"] > 20e5
    assert end["flow2"] == pytest.approx(0.1 * K * math.sqrt(SUPPLY - end["p2"]), rel=1e-3)
    assert end["flow1"] == pytest.approx(A1 * rate[-1], rel=1e-3) and end["flow2"] == pytest.approx(-A2 * rate[-1], rel=1e-3)


def test_load_is_raised_through_the_check_valve(cylinder):
    _, rate, end = lowered(cylinder, {**LOADED, "force_start": 40e3, "viscous": 2e4}, 0.4, until=1.5, start=CLOSED + 0.2)
    assert rate[-1] > 0.02 and 0 < end["line1"] - end["p1"] < 10e5 and end["flow1"] == pytest.approx(A1 * rate[-1], rel=2e-2)


@pytest.mark.parametrize("valves", [{}, {"counterbalance1": 250e5, "counterbalance2": 250e5, "tank_underlap": 0.05}])
def test_supply_gives_its_share(cylinder, valves):
    instance = started(cylinder, valves, MODEL_EXCHANGE)
    for share in 1.0, 0.6, 0.1:
        assert instance.set({"spool": 0.7, "p1": 60e5, "p2": 30e5, "supply_share": share}) == OK
        flow, demand = instance.get("supply_flow", "supply_demand")
        assert flow == pytest.approx(share * demand, rel=1e-14) and demand > 1e-4
    instance.free()


def test_hoses_soften_the_oil(cylinder):
    """beta A^2/V in each chamber, its volume larger by the hose's."""
    s, hoses = 0.3, (2e-3, 1e-3)
    instance = started(cylinder, {**BARE, "hose_volume1": hoses[0], "hose_volume2": hoses[1]}, MODEL_EXCHANGE, {"length": CLOSED + s})
    assert -directional(instance, "der(p1)", "rate") == pytest.approx(BETA * A1 / (A1 * (DEAD + s) + hoses[0]), rel=1e-12)
    assert directional(instance, "der(p2)", "rate") == pytest.approx(BETA * A2 / (A2 * (DEAD + STROKE - s) + hoses[1]), rel=1e-12)
    instance.free()


# ---- all ------------------------------------------------------------------------------------------------------------

IMPOSSIBLE = [("servo", "efficiency", 1.2), ("servo", "inductance", 0.0), ("cylinder", "bore", -1.0), ("cylinder", "rod", 0.08),
              ("cylinder", "solver.relative_tolerance", -1.0), ("axis", "move[3].duration", 0.0), ("sling", "length", 0.0),
              ("sling", "gravity[3]", 0.0), ("servo", "torque_start", -1e4), ("cylinder", "force_start", 1e6), ("cylinder", "pressure_start", 201e5),
              ("gear", "motor_inertia", 0.0), ("spring", "rest_length", -1.0)]


@pytest.mark.parametrize("name, parameter, value", IMPOSSIBLE)
def test_impossible_parameters(request, name, parameter, value):
    instance = Instance(request.getfixturevalue(name))
    assert instance.set({parameter: value}) == OK and instance.EnterInitializationMode() == OK
    assert instance.ExitInitializationMode() == ERROR and parameter.split("[")[0] in instance.log[-1][2]
    instance.free()


@pytest.mark.parametrize("name, settings, reason", [
    ("cylinder", {"rod": 0.2}, "the rod must be thinner than the bore"), ("cylinder", {"bore": 0.04}, "the rod must be thinner than the bore"),
    ("sling", {"gravity[3]": 0}, "gravity must not be zero"), ("servo", {"torque_start": 1728.1}, "voltage, 1728 N.m"),
    ("servo", {"torque_start": -865, "voltage_limit": 9}, "voltage, 864 N.m"), ("cylinder", {"pressure_start": 201e5}, "supply_pressure"),
    ("cylinder", {"tank_pressure": 200e5}, "tank_pressure must be below supply_pressure"), ("cylinder", {"bore": 1e200}, "whose areas are finite"),
    ("cylinder", {"counterbalance2": 250e5, "clearance": 0}, "clearance must be positive with a counterbalance valve"),
    ("cylinder", {"force_start": -7e4, "bore": 0.1, "rod": 0.06, "pressure_start": 0, "supply_pressure": 100e5}, "-50265.4825 to 78539.8163 N")])
def test_what_cannot_start_is_not_packed(limber, limber_sanitized, tmp_path, name, settings, reason):
    file, words = tmp_path / "x.fmu", [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    answer = subprocess.run([limber_sanitized, "drive", name, "-o", file, *words], capture_output=True, text=True,
                            env={**os.environ, "LIMBER_DRIVE_LIBRARY": str(limber.parent / f"{name}.so")})
    assert answer.returncode == 1 and reason in answer.stderr, answer.stderr
    assert answer.stderr.count("\n") == 1 and not file.exists()


@pytest.mark.parametrize("name, output, settings", [
    ("servo", "tau", {"torque_start": 1727.9999}), ("servo", "tau", {"torque_start": -1727.9999}),
    ("cylinder", "force", {"force_start": (SUPPLY * A1 - 10e5 * A2) * (1 - 1e-12)}),
    ("cylinder", "force", {"force_start": (10e5 * A1 - SUPPLY * A2) * (1 - 1e-12)})])
def test_largest_start(request, name, output, settings):
    """What the drive can just give is taken, and is there at the start."""
    instance = started(request.getfixturevalue(name), settings)
    assert instance.get(output) == pytest.approx(next(iter(settings.values())), rel=1e-9)
    if name == "cylinder": assert max(instance.get("p1", "p2")) == pytest.approx(SUPPLY, rel=1e-9)
    else:  # at rest it stays
        assert instance.step(0, 1) == OK and instance.get(output) == pytest.approx(next(iter(settings.values())), rel=1e-9)
    instance.free()


def test_settings_are_packed(drive, limber):
    """What --set says is the start value in the XML and the value that the library takes."""
    file = str(drive("cylinder", bore=0.1, rod=0.05, force_start=1000.0))
    start = {v.name: v.start for v in fmpy.read_model_description(file).modelVariables}
    assert float(start["bore"]) == 0.1 and float(start["rod"]) == 0.05 and float(start["stroke"]) == 1
    result = fmpy.simulate_fmu(file, stop_time=0.01, output=["force", "p1", "p2"])
    assert result["force"][0] == pytest.approx(1000, rel=1e-9)
    assert result["p1"][0] * 0.1**2 - result["p2"][0] * (0.1**2 - 0.05**2) == pytest.approx(4000 / math.pi, rel=1e-9)


def directional(instance, unknown, known):
    result = (ct.c_double * 1)()
    assert instance.GetDirectionalDerivative(instance.references([unknown]), 1, instance.references([known]), 1,
                                             (ct.c_double * 1)(1), result) == OK, instance.log
    return result[0]


@pytest.mark.parametrize("name, parameter", [("servo", "resistance"), ("cylinder", "viscous"), ("axis", "start"), ("sling", "mass"), ("gear", "damping"), ("spring", "preload")])
def test_resets_leave_nothing_behind(request, name, parameter):
    instance = started(request.getfixturevalue(name), {})

    def cycle():
        assert instance.Reset() == OK and instance.set({parameter: 3.0}) == OK
        instance.initialise()
        assert instance.step(0, 0.01) == OK
        state = instance.save()
        assert instance.step(0.01, 0.01) == OK and instance.SetFMUstate(state) == OK and instance.FreeFMUstate(ct.byref(state)) == OK
    assert growth(cycle, 100, 1_000) < 1 << 20
    instance.free()


@pytest.mark.parametrize("name, inputs, least", [
    ("servo", {"reference": 0.05, "qd": 0.02}, 25), ("cylinder", {"command": 0.5, "rate": 0.01}, 25), ("axis", {"clock": 0.3}, 3),
    ("gear", {"torque": 3.0, "q": 0.1, "qd": 0.3, "motor_angle": 10.5, "motor_rate": 20.0}, 20), ("spring", {"length": 0.9, "rate": 0.2}, 5),
    ("sling", {"hook.position[3]": 2.0, "hook.velocity[1]": 0.4, "velocity[1]": 0.2, "position[2]": 0.3, "velocity[3]": -0.1}, 60)])
def test_directional_derivatives(request, name, inputs, least):
    """Against differences, of every unknown by every known."""
    package = request.getfixturevalue(name)
    instance = started(package, {}, MODEL_EXCHANGE, {n: x for n, x in inputs.items() if n in package.inputs})
    assert instance.set(inputs) == OK
    unknowns = [n for n, c in package.causality.items() if c in ("output", "local")]
    nonzero = 0
    for known in package.inputs + package.states:
        at = instance.get(known)
        h = 1e-6 * max(abs(at), 1e-2)
        rows = []
        for x in at + h, at - h:
            assert instance.set({known: x}) == OK
            rows.append(instance.get(*unknowns))
        assert instance.set({known: at}) == OK
        here = instance.get(*unknowns)
        for unknown, up, down, value in zip(unknowns, *rows, here):
            exact, difference = directional(instance, unknown, known), (up - down) / (2 * h)
            assert exact == pytest.approx(difference, rel=1e-4, abs=1e-9 * (abs(value) + 1e-9) / h), (unknown, known)
            nonzero += exact != 0
    assert nonzero >= least
    instance.free()


@pytest.mark.parametrize("name, driven", [
    ("servo", {"reference": 0.02}), ("cylinder", {"command": 0.3}), ("axis", {"rate": 0.3}),
    ("gear", {"torque": 3.0, "qd": 0.2}), ("spring", {"rate": 0.2}),
    ("sling", {"hook.position[3]": 2.005, "hook.velocity[1]": 0.5, "hook.velocity[2]": -0.3, "hook.velocity[3]": 0.2})])
def test_output_derivatives(request, name, driven):
    """Against central differences, each output by its own rate; every one of them moves, but for powers of what is at rest or not there."""
    package = request.getfixturevalue(name)
    instance, h = started(package, {}, inputs=driven, tolerance=1e-10), 1e-5
    outputs = package.outputs
    rows = []
    for i in range(102):
        assert instance.step(i * h, h) == OK
        rows.append(np.atleast_1d(instance.get(*outputs)))
        if i == 100: rates = output_rates(instance, outputs)
    before, _, after = np.array(rows[-3:])
    for output, rate, difference in zip(outputs, rates, (after - before) / (2 * h)):
        assert difference != 0 or output.startswith("power."), output
        assert rate == pytest.approx(difference, rel=1e-3, abs=0), output
    instance.free()


@pytest.mark.parametrize("name, start", [("servo", {"reference": 0.2}), ("cylinder", {"command": 0.4}), ("gear", {"torque": 2.0}),
                                         ("axis", {"move[1].distance": 0.4, "move[1].duration": 0.08})])
def test_co_simulation_agrees_with_model_exchange(drive, name, start):
    options = dict(stop_time=0.1, output_interval=0.001, relative_tolerance=1e-8, start_values=start)
    cs = fmpy.simulate_fmu(str(drive(name)), fmi_type="CoSimulation", **options)
    me = fmpy.simulate_fmu(str(drive(name)), fmi_type="ModelExchange", **options)
    for output in cs.dtype.names[1:]:
        other = np.interp(cs["time"], me["time"], me[output])
        assert np.abs(cs[output] - other).max() <= 1e-4 * np.ptp(cs[output]) + 1e-9, output


@pytest.mark.parametrize("name, parameter, demand", [
    ("servo", "viscous", "must not be negative"), ("cylinder", "viscous", "must not be negative"), ("gear", "backlash", "must not be negative"),
    ("spring", "stiffness", "must not be negative"),
    ("axis", "move[4].duration", "must be positive"), ("sling", "damping", "must not be negative")])
def test_command_line(limber, limber_sanitized, tmp_path, name, parameter, demand):
    library = str(limber.parent / f"{name}.so")
    for arguments, code, word in [([name], 2, "-o"), ([], 2, "expected the name of a drive; see"), (["motor", "-o", "x"], 2, "motor"),
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
