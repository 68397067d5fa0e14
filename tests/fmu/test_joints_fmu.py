"""The FMU of a robot whose joints have several degrees of freedom: quaternions as states, parameters, and the same motion in
co-simulation, in model exchange and by `limber simulate`. tests/c/sim_joints_test.c has derivatives, tests/py/test_fmu_package.py variables."""

import ctypes as ct
import json

import fmpy
import numpy as np
import pytest
from coordinates import Coordinates, numbered
from fmus import opened
from importer import DISCARD, MODEL_EXCHANGE, OK, Instance
from judge import hamilton
from program import SEVERAL_JOINTS, Program

ROBOT = SEVERAL_JOINTS
NAMES = Coordinates(ROBOT)
QUATERNION, OMEGA = numbered("ball.quaternion", 4), numbered("ball.omega", 3)


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "several.json"
    file.write_text(json.dumps(ROBOT))
    return file


@pytest.fixture(scope="module")
def package(pack, robot, tmp_path_factory): return opened(pack(robot), tmp_path_factory.mktemp("unzipped"))


# ---- quaternions --------------------------------------------------------------------------------------------------------------------


def test_derivative_of_a_quaternion(package):
    """1/2 quaternion o (0, omega), from the quaternion as it stands; everything else sees it normalized."""
    instance = Instance(package, MODEL_EXCHANGE).initialise()
    watched = [*NAMES.accelerations, *package.named(r"tip\..*(position|velocity|acceleration).*")]
    random, values = np.random.default_rng(1), None
    e, omega = random.standard_normal(4), random.standard_normal(3)
    for size in 1.0, 1.05, 0.9:
        given = e / np.linalg.norm(e) * size
        assert instance.set(dict(zip(QUATERNION, given)) | dict(zip(OMEGA, omega))) == OK
        assert np.abs(instance.get(*[f"der({name})" for name in QUATERNION]) - hamilton(given, np.append(0, omega)) / 2).max() <= 1e-15
        assert instance.get(*QUATERNION) == given.tolist()
        now = np.array(instance.get(*[name for name in watched if name not in NAMES.prescribed]))
        if values is not None: assert np.abs(now - values).max() <= 1e-10 * np.abs(values).max()
        values = now
    instance.free()


def test_a_quaternion_of_zero_is_reported(package):
    """Between two values that are set one by one it may be there; what is evaluated then fails, and the instance stays usable."""
    instance = Instance(package, MODEL_EXCHANGE, logging=True).initialise()
    n, before = len(package.states), instance.get(*QUATERNION)
    derivatives = (ct.c_double * n)()
    assert instance.set(dict.fromkeys(QUATERNION, 0.0)) == OK and instance.GetDerivatives(derivatives, n) == DISCARD
    assert any("joint 'ball': its quaternion is 0" in text for _, _, text in instance.log)
    assert instance.set(dict(zip(QUATERNION, before))) == OK
    assert instance.GetDerivatives(derivatives, n) == OK and np.isfinite(list(derivatives)).all()
    instance.free()


def test_dependencies_of_a_quaternion(package):
    """w, x, y, z of 1/2 quaternion o (0, omega): each of the other three components once, and all of omega."""
    declared = package.description.depends("Outputs", "Derivatives")
    for joint in "float", "ball", "loose":
        names = numbered(f"{joint}.quaternion", 4)
        for name in names:
            assert declared[f"der({name})"] == set(names) - {name} | set(numbered(f"{joint}.omega", 3)) and declared[name] == {name}


# ---- motion -------------------------------------------------------------------------------------------------------------------------

UNTIL, STEP = 1.0, 0.02
WATCHED = [name for name in NAMES.positions + NAMES.velocities if not name.startswith("driven.")] + numbered("tip.position", 3)
INPUTS = {"driven.q[1]": 0.5, "driven.q[2]": 0.6, "driven.qd[1]": 0.0, "driven.qd[2]": 0.0, "cross.tau[1]": 3.0, "cross.tau[2]": -2.0,
          "ball.torque[1]": 0.5, "ball.torque[3]": -0.3, "float.force[3]": 40.0, "float.torque[2]": 1.0, "tip.force[1]": 0.7}


def by_fmpy(package, kind, rtol):
    return fmpy.simulate_fmu(str(package.archive), fmi_type=kind, stop_time=UNTIL, output_interval=STEP, relative_tolerance=rtol,
                             output=WATCHED, start_values=INPUTS)


def largest(one, other):
    return max(np.abs(one[name] - other[name]).max() / max(np.ptp(other[name]), 1e-2) for name in WATCHED)


def test_three_ways_to_the_same_motion(limber, package, robot, tmp_path):
    inputs = tmp_path / "inputs.csv"
    inputs.write_text("\n".join([",".join(["time", *INPUTS]), ",".join(["0", *map(str, INPUTS.values())])]) + "\n")
    reference = Program(limber, tmp_path).simulate(robot, UNTIL, STEP, 1e-10, inputs=inputs)
    assert np.ptp(reference["ball.quaternion[1]"]) > 0.1 and np.ptp(reference["float.quaternion[2]"]) > 0.1
    for rtol, bound in (1e-6, 1e-3), (1e-8, 1e-5):
        stepped, exchanged = by_fmpy(package, "CoSimulation", rtol), by_fmpy(package, "ModelExchange", rtol)
        assert largest(stepped, reference) <= bound
        at_steps = {name: np.interp(reference["time"], exchanged["time"], exchanged[name]) for name in WATCHED}
        assert largest(at_steps, reference) <= 10 * bound
    norms = [np.sqrt(sum(reference[name] ** 2 for name in numbered(f"{joint}.quaternion", 4))) for joint in ("float", "ball", "loose")]
    assert np.abs(np.array(norms) - 1).max() <= 1e-6


@pytest.mark.parametrize("joint, key, value, edit", [
    ("cross", "viscous[2]", 2.5, {"viscous": [0.5, 2.5]}), ("cross", "motor_inertia[1]", 0.4, {"motor_inertia": [0.4, 0.1]}),
    ("cross", "rest[2]", 0.3, {"rest": [0.1, 0.3]}), ("piston", "viscous[1]", 3.0, {"viscous": [3.0, 0.2]}),
    ("ball", "stiffness", 9.0, {"stiffness": 9.0}), ("ball", "viscous", 0.7, {"viscous": 0.7})])
def test_parameters_are_the_numbers_of_the_file(limber, tmp_path, joint, key, value, edit):
    program = Program(limber, tmp_path)
    links = [link | {"joint": link["joint"] | edit} if link["joint"]["name"] == joint else link for link in ROBOT["links"]]
    edited = program.simulate({**ROBOT, "links": links}, 0.2, 0.1, 1e-7)
    set_by_name, plain = (program.simulate(ROBOT, 0.2, 0.1, 1e-7, **settings) for settings in ({f"{joint}.{key}": value}, {}))
    for name in WATCHED: assert np.array_equal(edited[name], set_by_name[name]), name
    assert any(not np.array_equal(edited[name], plain[name]) for name in WATCHED)
