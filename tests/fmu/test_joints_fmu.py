"""FMUs of robots whose joints have several degrees of freedom: variables, states and their derivatives, dependencies, and the same
motion in co-simulation, in model exchange and by `limber simulate`."""

import ctypes as ct
import json

import fmpy
import numpy as np
import pytest
from coordinates import Coordinates, numbered
from fmpy.validation import validate_fmu
from importer import CO_SIMULATION, DISCARD, ERROR, MODEL_EXCHANGE, OK, Instance, unzip
from judge import hamilton
from program import SEVERAL_JOINTS, Program
from test_fmu_package import Packed, joint_rows, observed

ROBOT = SEVERAL_JOINTS
NAMES = Coordinates(ROBOT)
JOINTS = ["float", "cross", "piston", "ball", "loose", "driven"]


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "several.json"
    file.write_text(json.dumps(ROBOT))
    return file


@pytest.fixture(scope="module")
def packed(limber, robot, tmp_path_factory):
    return Packed(limber, robot, tmp_path_factory.mktemp("packed"))


@pytest.fixture(scope="module")
def package(packed, tmp_path_factory):
    return unzip(packed.fmu, tmp_path_factory.mktemp("unzipped"))


# ---- variables --------------------------------------------------------------------------------------------------------------------

def test_every_variable_of_the_joints_and_no_other(packed):
    rows = [row for link in ROBOT["links"] for row in joint_rows(link["joint"])]
    found = {name for name in packed.by_name if name.split(".")[0] in JOINTS}
    assert {row[0] for row in rows} == found


def test_states_and_aliases(packed):
    """Positions in the order of q, then velocities. The derivative of a quaternion is a variable of its own, all others are aliases."""
    rate = dict(zip(NAMES.tangent, NAMES.velocities)) | dict(zip(NAMES.velocities, NAMES.accelerations))
    states = NAMES.position_states + NAMES.velocity_states
    found = [u.variable for u in packed.description.derivatives]
    assert [v.derivative.name for v in found] == states and [v.name for v in found] == [f"der({name})" for name in states]
    references = [v.valueReference for v in packed.variables]
    for v, state in zip(found, states):
        assert float(packed.by_name[state].nominal) > 0
        if "quaternion" in state: assert v.unit == "1/s" and references.count(v.valueReference) == 1 and v.causality == "local"
        else: assert (v.valueReference, v.unit) == (packed.by_name[rate[state]].valueReference, packed.by_name[rate[state]].unit)


def test_valid_for_fmpy(packed):
    assert validate_fmu(str(packed.fmu)) == []


# ---- values -----------------------------------------------------------------------------------------------------------------------


def quaternion_names(joint): return numbered(f"{joint}.quaternion", 4)


def test_start_values(package):
    instance = Instance(package, MODEL_EXCHANGE).initialise()
    assert instance.get(*numbered("float.position", 3), *quaternion_names("float")) == [0.1, 0.2, 0.3, 0.5, 0.5, -0.5, 0.5]
    assert instance.get(*numbered("ball.omega", 3)) == [1, -2, 0.5] and instance.get(*quaternion_names("loose")) == [1, 0, 0, 0]
    instance.free()
    instance = Instance(package, MODEL_EXCHANGE)
    assert instance.set(dict(zip(numbered("ball.quaternion_start", 4), [0.6, 0, 0, 0.8]))) == OK
    assert instance.set({"cross.q_start[2]": 0.7, "float.velocity_start[3]": 1.5}) == OK
    instance.initialise()
    assert np.abs(np.array(instance.get(*quaternion_names("ball"))) - [0.6, 0, 0, 0.8]).max() <= 1e-15
    assert instance.get("cross.q[2]", "float.velocity[3]") == [0.7, 1.5]
    instance.free()


@pytest.mark.parametrize("start", [[0, 0, 0, 0], [0.5, 0, 0, 0], [1, 1, 0, 0]])
def test_a_start_that_is_no_rotation_is_refused(package, start):
    instance = Instance(package, CO_SIMULATION)
    statuses = [instance.set(dict(zip(numbered("ball.quaternion_start", 4), start))), instance.SetupExperiment(0, 0.0, 0.0, 0, 0.0),
                instance.EnterInitializationMode(), instance.ExitInitializationMode()]
    assert ERROR in statuses
    assert any("ball" in text and "quaternion" in text for _, _, text in instance.log)
    instance.free()


def test_derivative_of_a_quaternion(package):
    """1/2 quaternion o (0, omega), from the quaternion as it stands; everything else sees it normalized."""
    instance = Instance(package, MODEL_EXCHANGE).initialise()
    watched = NAMES.accelerations + package.named(r"tip\..*(position|velocity|acceleration).*")
    random, values = np.random.default_rng(1), None
    e, omega = random.standard_normal(4), random.standard_normal(3)
    for size in 1.0, 1.05, 0.9:
        given = e / np.linalg.norm(e) * size
        assert instance.set(dict(zip(quaternion_names("ball"), given)) | dict(zip(numbered("ball.omega", 3), omega))) == OK
        found = instance.get(*[f"der({name})" for name in quaternion_names("ball")])
        assert np.abs(found - hamilton(given, np.append(0, omega)) / 2).max() <= 1e-15
        assert np.abs(np.array(instance.get(*quaternion_names("ball"))) - given).max() == 0
        now = np.array(instance.get(*[name for name in watched if name not in NAMES.prescribed]))
        if values is not None: assert np.abs(now - values).max() <= 1e-10 * np.abs(values).max()
        values = now
    instance.free()


def test_a_quaternion_of_zero_is_told(package):
    """Between two values that are set one by one it may be there; what is evaluated then fails, and the instance stays usable."""
    instance = Instance(package, MODEL_EXCHANGE, logging=True).initialise()
    names, n = quaternion_names("ball"), len(package.states)
    derivatives, before = (ct.c_double * n)(), instance.get(*names)
    assert instance.set(dict.fromkeys(names, 0.0)) == OK
    assert instance.GetDerivatives(derivatives, n) == DISCARD
    assert any("joint 'ball': its quaternion is 0" in text for _, _, text in instance.log)
    assert instance.set(dict(zip(names, before))) == OK
    assert instance.GetDerivatives(derivatives, n) == OK and np.isfinite(list(derivatives)).all()
    instance.free()


def test_output_derivatives(package):
    instance = Instance(package).initialise()
    assert instance.step(0, 0.1) == OK, instance.log
    outputs = [name for name in NAMES.position_states if name in package.outputs]
    rate = dict(zip(NAMES.tangent, NAMES.velocities))
    expected = instance.get(*[f"der({name})" if "quaternion" in name else rate[name] for name in outputs])
    found, order = (ct.c_double * len(outputs))(), (ct.c_int * len(outputs))(*[1] * len(outputs))
    assert instance.GetRealOutputDerivatives(instance.references(outputs), len(outputs), order, found) == OK
    assert np.abs(np.array(found) - expected).max() <= 1e-12
    instance.free()


# ---- derivatives and dependencies ---------------------------------------------------------------------------------------------------

WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central differences of eighth order


def test_directional_derivatives(package, packed):
    """All outputs and state derivatives by every state and input; a component of a quaternion moves alone, off the sphere."""
    instance = Instance(package, MODEL_EXCHANGE).initialise()
    inputs = [name for name in package.inputs if not name.startswith("driven.q")]
    assert instance.set({name: 0.5 + 0.1 * k for k, name in enumerate(inputs)}) == OK
    known, unknown = package.states + package.inputs, list(packed.declared())
    at, h = dict(zip(known, instance.get(*known))), 1e-3
    values = lambda: np.array(instance.get(*unknown))
    size = np.abs(values())
    vector = np.array([name.split("[")[0].replace("moment", "force") for name in unknown])
    n, one, out = len(unknown), (ct.c_double * 1)(1.0), (ct.c_double * len(unknown))()
    for name in known:
        expected = 0
        for k, weight in WEIGHTS.items():
            for side in 1, -1:
                assert instance.set({name: at[name] + side * k * h}) == OK
                expected = expected + side * weight * values() / h
        assert instance.set({name: at[name]}) == OK
        assert instance.GetDirectionalDerivative(instance.references(unknown), n, instance.references([name]), 1, one, out) == OK
        error = np.abs(np.array(out) - expected)
        for sort in set(vector):
            rows = vector == sort
            assert error[rows].max() <= 1e-7 * (1 + size[rows].max() + np.abs(expected[rows]).max()), (sort, name)
    instance.free()


def test_dependencies_are_complete_and_true(packed, tmp_path):
    declared = {(unknown, known) for unknown, dependencies in packed.declared().items() for known in dependencies}
    seen = observed(packed, tmp_path)
    assert seen - declared == set()
    # the moment on a spherical joint depends on its position and rate by `stiffness` and `viscous`, parameters that are 0 in this file
    by_parameters = {(moment, name) for moment in numbered("side.root_moment", 3)
                     for name in [*quaternion_names("loose"), *numbered("loose.omega", 3)]}
    assert declared - seen <= by_parameters


def test_dependencies_of_a_quaternion(packed):
    """w, x, y, z of 1/2 quaternion o (0, omega): each of the other three components once, and all of omega."""
    for joint in "float", "ball", "loose":
        omega = set(numbered(f"{joint}.omega", 3))
        for name in quaternion_names(joint):
            assert packed.declared()[f"der({name})"] == set(quaternion_names(joint)) - {name} | omega
            assert packed.declared()[name] == {name}


# ---- motion -------------------------------------------------------------------------------------------------------------------------

UNTIL, STEP = 1.0, 0.02
WATCHED = [name for name in NAMES.positions + NAMES.velocities if not name.startswith("driven.")] + numbered("tip.position", 3)
HELD = {"driven.q[1]": 0.5, "driven.q[2]": 0.6, "driven.qd[1]": 0.0, "driven.qd[2]": 0.0}
PUSHED = {"cross.tau[1]": 3.0, "cross.tau[2]": -2.0, "ball.torque[1]": 0.5, "ball.torque[3]": -0.3, "float.force[3]": 40.0,
          "float.torque[2]": 1.0, "tip.force[1]": 0.7}


def co_simulate(package, rtol):
    instance = Instance(package).initialise(stop=UNTIL, tolerance=rtol)
    assert instance.set({**HELD, **PUSHED}) == OK
    rows = [instance.get(*WATCHED)]
    for i in range(round(UNTIL / STEP)):
        assert instance.step(i * STEP, STEP) == OK, instance.log
        rows.append(instance.get(*WATCHED))
    instance.free()
    return dict(zip(WATCHED, np.array(rows).T))


@pytest.fixture(scope="module")
def simulated(limber, robot, tmp_path_factory):
    """By limber simulate, with the same inputs."""
    folder = tmp_path_factory.mktemp("simulated")
    inputs = folder / "inputs.csv"
    table = {**HELD, **PUSHED}
    inputs.write_text("\n".join([",".join(["time", *table]), ",".join(["0", *map(str, table.values())])]) + "\n")
    return lambda rtol: Program(limber, folder).simulate(robot, UNTIL, STEP, rtol, inputs=inputs)


def by_fmpy(fmu, kind, rtol):
    return fmpy.simulate_fmu(str(fmu), fmi_type=kind, stop_time=UNTIL, output_interval=STEP, relative_tolerance=rtol, output=WATCHED,
                             start_values={**HELD, **PUSHED})


def largest(one, other):
    return max(np.abs(one[name] - other[name]).max() / max(np.ptp(other[name]), 1e-2) for name in WATCHED)


def test_three_ways_to_the_same_motion(package, packed, simulated):
    reference = simulated(1e-10)
    assert np.ptp(reference["ball.quaternion[1]"]) > 0.1 and np.ptp(reference["float.quaternion[2]"]) > 0.1
    for rtol, bound in (1e-6, 1e-3), (1e-8, 1e-5):
        ours = co_simulate(package, rtol)
        assert largest(ours, reference) <= bound
        assert largest(ours, simulated(rtol)) <= bound
        stepped, exchanged = by_fmpy(packed.fmu, "CoSimulation", rtol), by_fmpy(packed.fmu, "ModelExchange", rtol)
        assert largest(stepped, ours) <= bound
        at_steps = {name: np.interp(reference["time"], exchanged["time"], exchanged[name]) for name in WATCHED}
        assert largest(at_steps, reference) <= 10 * bound
    norms = [np.sqrt(sum(reference[name] ** 2 for name in quaternion_names(joint))) for joint in ("float", "ball", "loose")]
    assert np.abs(np.array(norms) - 1).max() <= 1e-6


def test_saved_state_restores_bit_for_bit(package):
    run = lambda instance, first: [instance.step((first + i) * STEP, STEP) == OK and instance.get(*WATCHED) for i in range(10)]
    instance = Instance(package).initialise()
    assert instance.set({**HELD, **PUSHED}) == OK
    run(instance, 0)
    saved, content = instance.save(), instance.serialise()
    ahead = run(instance, 10)
    assert all(ahead)
    assert instance.SetFMUstate(saved) == OK
    assert run(instance, 10) == ahead
    fresh = Instance(package).initialise()
    state, status = fresh.deserialise(content)
    assert status == OK and fresh.SetFMUstate(state) == OK
    assert run(fresh, 10) == ahead
    assert fresh.FreeFMUstate(ct.byref(state)) == OK and instance.FreeFMUstate(ct.byref(saved)) == OK
    for one in instance, fresh: one.free()


def test_reset_runs_again(package):
    assert all(np.array_equal(a, b) for a, b in zip(co_simulate(package, 1e-6).values(), co_simulate(package, 1e-6).values()))


@pytest.mark.parametrize("joint, key, value, edit", [
    ("cross", "viscous[2]", 2.5, lambda numbers: numbers | {"viscous": [0.5, 2.5]}),
    ("cross", "motor_inertia[1]", 0.4, lambda numbers: numbers | {"motor_inertia": [0.4, 0.1]}),
    ("cross", "rest[2]", 0.3, lambda numbers: numbers | {"rest": [0.1, 0.3]}),
    ("piston", "viscous[1]", 3.0, lambda numbers: numbers | {"viscous": [3.0, 0.2]}),
    ("ball", "stiffness", 9.0, lambda numbers: numbers | {"stiffness": 9.0}),
    ("ball", "viscous", 0.7, lambda numbers: numbers | {"viscous": 0.7})])
def test_parameters_are_the_numbers_of_the_file(limber, tmp_path, joint, key, value, edit):
    program, links = Program(limber, tmp_path), [{**link} for link in ROBOT["links"]]
    for link in links:
        if link["joint"]["name"] == joint: link["joint"] = edit(link["joint"])
    edited = program.simulate({**ROBOT, "links": links}, 0.2, 0.1, 1e-7)
    set_by_name, plain = (program.simulate(ROBOT, 0.2, 0.1, 1e-7, **settings) for settings in ({f"{joint}.{key}": value}, {}))
    for name in WATCHED: assert np.array_equal(edited[name], set_by_name[name]), name
    assert any(not np.array_equal(edited[name], plain[name]) for name in WATCHED)
