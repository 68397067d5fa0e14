"""The companion drives against closed-form cases, alone and with a mass or an inertia that they drive."""

import ctypes as ct
import math
import os
import subprocess

import fmpy
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from importer import DISCARD, ERROR, MODEL_EXCHANGE, OK, Instance
from test_robustness import growth

BORE, ROD, STROKE, CLOSED, DEAD, SUPPLY, ATMOSPHERE = 0.080, 0.045, 1.0, 1.4, 0.05, 200e5, 101325.0
A1, A2 = math.pi / 4 * BORE**2, math.pi / 4 * (BORE**2 - ROD**2)
BETA, NOMINAL_FLOW, NOMINAL_DROP = 1.2e9, 40e-3 / 60, 35e5
K = NOMINAL_FLOW / math.sqrt(NOMINAL_DROP)
BARE = {"clearance": 0.0, "leakage": 0.0, "coulomb": 0.0, "viscous": 0.0, "air": 0.0, "laminar_drop": 1e3}  # a cylinder of the textbook

N, KT, R, L, BANDWIDTH = 120.0, 0.8, 0.9, 6e-3, 3000.0
FRICTIONLESS = {"efficiency": 1.0, "viscous": 0.0, "coulomb": 0.0}


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
    assert "outside of the cylinder" in instance.log[-1][2] and "length_closed" in instance.log[-1][2]
    assert instance.set({"length": 1.9}) == OK and instance.step(0.01, 0.01) == OK
    instance.free()


def test_running_into_the_impossible_ends(cylinder):
    """Pressed together within a step until no volume is left, the pressure without bound: that is said, and does not take forever."""
    instance = started(cylinder, {**BARE}, inputs={"length": CLOSED + 0.005}, tolerance=1e-8)
    assert instance.set({"rate": -33.0}) == OK
    assert instance.step(0, 0.002) == DISCARD
    assert "outside of the cylinder" in instance.log[-1][2]
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


# ---- both -----------------------------------------------------------------------------------------------------------

IMPOSSIBLE = [("servo", "efficiency", 1.2), ("servo", "inductance", 0.0), ("cylinder", "bore", -1.0), ("cylinder", "rod", 0.08),
              ("cylinder", "solver.relative_tolerance", -1.0)]


@pytest.mark.parametrize("name, parameter, value", IMPOSSIBLE)
def test_impossible_parameters(request, name, parameter, value):
    instance = Instance(request.getfixturevalue(name))
    assert instance.set({parameter: value}) == OK and instance.EnterInitializationMode() == OK
    assert instance.ExitInitializationMode() == ERROR and parameter in instance.log[-1][2]
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


@pytest.mark.parametrize("name, parameter", [("servo", "resistance"), ("cylinder", "viscous")])
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


@pytest.mark.parametrize("name, inputs", [("servo", {"reference": 0.05, "qd": 0.02}), ("cylinder", {"command": 0.5, "rate": 0.01})])
def test_directional_derivatives(request, name, inputs):
    """Against differences, of every unknown by every known."""
    package = request.getfixturevalue(name)
    instance = started(package, {}, MODEL_EXCHANGE, inputs)
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
    assert nonzero > 25
    instance.free()


@pytest.mark.parametrize("name, driven", [("servo", "reference"), ("cylinder", "command")])
def test_output_derivatives(request, name, driven):
    package = request.getfixturevalue(name)
    instance, h = started(package, {}, inputs={driven: 0.3}, tolerance=1e-9), 1e-5
    outputs = package.outputs
    for i in range(400): assert instance.step(i * h, h) == OK
    n = len(outputs)
    before, rate = np.array(instance.get(*outputs)), (ct.c_double * n)()
    assert instance.GetRealOutputDerivatives(instance.references(outputs), n, (ct.c_int * n)(*[1] * n), rate) == OK
    assert instance.step(400 * h, h) == OK
    difference = (np.array(instance.get(*outputs)) - before) / h
    assert np.array(rate) == pytest.approx(difference, rel=0.05, abs=1e-6 * np.abs(before).max() / h)
    instance.free()


@pytest.mark.parametrize("name, start", [("servo", {"reference": 0.2}), ("cylinder", {"command": 0.4})])
def test_co_simulation_agrees_with_model_exchange(drive, name, start):
    options = dict(stop_time=0.1, output_interval=0.001, relative_tolerance=1e-8, start_values=start)
    cs = fmpy.simulate_fmu(str(drive(name)), fmi_type="CoSimulation", **options)
    me = fmpy.simulate_fmu(str(drive(name)), fmi_type="ModelExchange", **options)
    for output in cs.dtype.names[1:]:
        other = np.interp(cs["time"], me["time"], me[output])
        assert np.abs(cs[output] - other).max() <= 1e-4 * np.ptp(cs[output]) + 1e-9, output


@pytest.mark.parametrize("name", ["servo", "cylinder"])
def test_command_line(limber, limber_sanitized, tmp_path, name):
    library = str(limber.parent / f"{name}.so")
    for arguments, code, word in [([name], 2, "-o"), ([], 2, "which drive"), (["motor", "-o", "x"], 2, "motor"),
                                  ([name, "-o", "x", "--set", "nonsense=1"], 1, "nonsense"),
                                  ([name, "-o", "x", "--set", "viscous"], 2, "NAME=VALUE"),
                                  ([name, "-o", "x", "--set", "viscous=-1"], 1, "must not be negative"),
                                  ([name, "-o", "x", "--set", "viscous=nan"], 1, "finite"),
                                  ([name, "-o", "x.fmu", "--set", "viscous=3"], 0, "")]:
        answer = subprocess.run([limber_sanitized, "drive", *arguments], capture_output=True, text=True, cwd=tmp_path,
                                env={**os.environ, "LIMBER_DRIVE_LIBRARY": library})
        assert answer.returncode == code and word in answer.stderr, answer.stderr
        assert (tmp_path / "x.fmu").exists() == (code == 0) and not (tmp_path / "x").exists()
