"""The controller's FMU: in an importer, its rate and that of the importer, its model's payload, sensors, in the loop with an arm.
tests/c/controller_*_test.c have its laws."""

import ctypes as ct
import json
import os
import subprocess

import fmpy
import fmpy.validation
import numpy as np
import pytest
from conftest import PAYLOAD_ARM
from importer import OK, Instance, unzip
from test_robustness import growth

JOINTS = ["shoulder", "elbow"]
TAU = [f"{joint}.tau" for joint in JOINTS]
SAMPLE = 1e-3


def names(*endings):
    return [f"{joint}.{ending}" for ending in endings for joint in JOINTS]


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "payload_arm.json"
    file.write_text(PAYLOAD_ARM)
    return file


def controller_of(limber, robot, sensors=(), **settings):
    """The file of the controller and what the command answers."""
    file = robot.parent / f"controller{len(list(robot.parent.iterdir()))}.fmu"
    words = [word for name in sensors for word in ("--sensor", name)] + [word for key, value in settings.items() for word in ("--set", f"{key}={value!r}")]
    return file, subprocess.run([limber, "drive", "controller", robot, "-o", file, *words], capture_output=True, text=True)


@pytest.fixture(scope="module")
def packed(limber, robot):
    """packed(sensors, parameter=value, ...) is the FMU."""
    def of(sensors=(), arm=robot, **settings):
        file, answer = controller_of(limber, arm, sensors, **settings)
        assert answer.returncode == 0, answer.stderr
        return file
    return of


def course(t):
    """Desired and measured motion, which differ"""
    s, c = np.sin(2 * t), np.cos(2 * t)
    return dict(zip(names("q_ref", "qd_ref", "qdd_ref", "q", "qd"),
                    [0.3 * s, -0.5 * s, 0.6 * c, -c, -1.2 * s, 2 * s, 0.29 * s, -0.51 * s, 0.58 * c, -1.02 * c]))


def march(instance, start, steps, h=SAMPLE):
    rows = []
    for k in range(start, start + steps):
        assert instance.set(course(k * h)) == OK and instance.step(k * h, h) == OK, instance.log
        rows.append(instance.get(*TAU))
    return rows


def started(package, **values):
    instance = Instance(package)
    assert instance.set({**course(0), **values}) == OK
    return instance.initialise()


def test_variables_without_sensors(packed):
    """None of an observer, of a static start or of a solver; torques change at samples."""
    kinds = {v.name: (v.causality, v.variability) for v in fmpy.read_model_description(str(packed())).modelVariables}
    assert kinds["elbow.tau"] == ("output", "discrete") and kinds["elbow.q"] == ("input", "continuous")
    assert kinds["lower.payload.mass"] == ("parameter", "tunable")
    assert not kinds.keys() & {"observer_bandwidth", "vibration_damping", "load[1]", "start_static", "solver.method"}


def test_runs_in_fmpy_with_longer_and_shorter_steps(packed):
    """The importer's step is not the sample time: two sample times and a half, and two fifths"""
    file = str(packed())
    for h in (2.5e-3, 0.4e-3):
        result = fmpy.simulate_fmu(file, stop_time=0.05, step_size=h, output_interval=h, start_values={"elbow.q_ref": 0.1}, output=TAU)
        assert len(result) == round(0.05 / h) + 1 and np.isfinite(result["elbow.tau"]).all() and abs(result["elbow.tau"][-1]) > 0.1


def test_steps_take_no_memory(controller):
    instance, k = started(controller), iter(range(10**6))
    assert growth(lambda: march(instance, next(k), 1), 500, 5_000) < 1 << 18


def test_payload_of_the_model_may_change(packed, robot):
    """At rest the torques are those that hold the arm: with the payload that was set between steps as with one from the start"""
    held = unzip(file := packed(law=1), file.with_suffix(""))
    rest = dict.fromkeys(names("q_ref", "qd_ref", "qdd_ref", "q", "qd"), 0.0)
    torques = []
    for at_start, later in ((0.5, 0.8), (0.8, 0.8)):
        instance = started(held, **rest, **{"lower.payload.mass": at_start})
        first = instance.get(*TAU)
        assert instance.set({"lower.payload.mass": later}) == OK and instance.set(rest) == OK and instance.step(0, SAMPLE) == OK
        torques.append((first, instance.get(*TAU)))
    assert torques[0][0] != torques[0][1] and torques[0][1] == torques[1][1]
    assert torques[1][1][0] == pytest.approx(9.81 * (2.0 * 0.5 + 0.8 * 1.4 + 0.8 * 1.8), rel=0.02)  # but for the deflection


# ---- sensors --------------------------------------------------------------------------------------------------------------

GAUGES = ["upper_gauge.curvature[3]", "lower_gauge.curvature[3]"]
SENSORS = [*GAUGES, "tip.specific_force[2]"]


@pytest.fixture(scope="module")
def gauged(tmp_path_factory):
    """The arm with rotors, and with a strain gauge near the root of each link"""
    robot = json.loads(PAYLOAD_ARM)
    robot["format"] = "limber-robot/2"
    for link in robot["links"]: link["joint"]["motor_inertia"] = 2.0
    robot["frames"] = [{"name": f"{link}_gauge", "link": link, "at": 0.05, "sensor": True} for link in ("upper", "lower")]
    file = tmp_path_factory.mktemp("gauged") / "gauged_arm.json"
    file.write_text(json.dumps(robot))
    return file


def test_sensors_are_inputs_with_the_names_and_units_of_the_arm(packed, pack, gauged):
    file = packed(SENSORS, arm=gauged)
    assert fmpy.validation.validate_fmu(str(file)) == []
    own, arm = ({v.name: v for v in fmpy.read_model_description(str(name)).modelVariables} for name in (file, pack(gauged)))
    for name in SENSORS:
        assert own[name].causality == "input" and arm[name].causality == "output" and own[name].unit == arm[name].unit
        assert own[name].description == f"measured: {arm[name].description}"
        assert own[f"{name}.noise"].causality == own[f"{name}.resolution"].causality == "parameter" and own[f"{name}.noise"].unit == own[name].unit
    assert float(own[f"{GAUGES[0]}.noise"].start) == 1e-5 and float(own["tip.specific_force[2].noise"].start) == 0.01
    assert [own[f"load[{k}]"].unit for k in (1, 2, 3)] == ["N"] * 3 and own["load[1]"].causality == "output"
    assert own["observer_bandwidth"].unit == "rad/s" and own["vibration_damping"].unit == "1/s"


@pytest.mark.parametrize("sensors, words", [
    (["upper_gauge.curvature[4]"], ["sensors[0]", "no such sensor", "upper_gauge.curvature[3]", "tip.specific_force[1]"]),
    (["elbow.q"], ["no such sensor"]), (GAUGES + GAUGES[:1], ["sensors[2]", "named before"]),
    (["upper_gauge.curvature[2]"], ["does not see"]), (["upper_gauge.elongation"], ["does not see"])])
def test_wrong_sensors(limber, gauged, sensors, words):
    file, result = controller_of(limber, gauged, sensors)
    assert result.returncode == 1 and not file.exists()
    for word in words: assert word in result.stderr
    assert "curvature[1]" not in result.stderr  # the model has no twist


def test_sensors_find_a_heavier_payload(packed, pack, gauged):
    """In the loop with an arm whose payload is 0.2 kg heavier than the model's 0.5 kg: load[2] is its weight, and the tip, which hung lower, is where it is desired."""
    heavier = gauged.with_name("heavier.json")
    robot = json.loads(gauged.read_text())
    robot["links"][1]["payload"]["mass"] += 0.2
    heavier.write_text(json.dumps(robot))
    plant_package, measured, height = unzip(pack(heavier), heavier.with_suffix("")), names("q", "qd") + GAUGES, {}
    for bandwidth in (0.0, 5.0):
        file = packed(GAUGES, arm=gauged, correction_bandwidth=20.0, tip_compensation=1, observer_bandwidth=bandwidth)
        controller, plant = Instance(unzip(file, file.with_suffix(""))).initialise(), Instance(plant_package)
        assert plant.SetBoolean(plant.references(["start_static"]), 1, (ct.c_int * 1)(1)) == OK
        plant.initialise()
        for k in range(3000):
            assert controller.set(dict(zip(measured, plant.get(*measured)))) == OK and controller.step(k * SAMPLE, SAMPLE) == OK, controller.log
            assert plant.set(dict(zip(TAU, controller.get(*TAU)))) == OK and plant.step(k * SAMPLE, SAMPLE) == OK, plant.log
        height[bandwidth] = plant.get("tip.position[2]")
    along, down, aside = controller.get("load[1]", "load[2]", "load[3]")
    assert down == pytest.approx(-0.2 * 9.81, abs=0.01) and aside == 0 and abs(along) < 0.1  # gauges hardly see a force along the arm
    assert height[0.0] < -2e-3 and abs(height[5.0]) < 0.02 * abs(height[0.0])


@pytest.mark.parametrize("arguments, code, word", [
    (["ROBOT"], 2, "expected -o"), (["-o", "x.fmu"], 2, "robot file"), (["ROBOT", "-o", "x.fmu", "--set", "elbow.gain=2"], 1, "no parameter"),
    (["LOOP", "-o", "x.fmu"], 1, "it has loops"), (["missing.json", "-o", "x.fmu"], 1, "missing.json"),
    (["ROBOT", "-o", "x.fmu", "--set", "law=7"], 1, "law"), (["ROBOT", "-o", "x.fmu", "--sensor"], 2, "--sensor needs a value: --sensor NAME"),
    (["ROBOT", "-o", "x.fmu", "--sensor", "tip.specific_force[1]"], 1, "format 2")])
def test_wrong_use(limber, robot, root, tmp_path, arguments, code, word):
    places = {"ROBOT": robot, "LOOP": root / "resources/four-bar.json"}
    answer = subprocess.run([limber, "drive", "controller", *(places.get(word, word) for word in arguments)], cwd=tmp_path, capture_output=True, text=True)
    assert answer.returncode == code and word in answer.stderr and os.listdir(tmp_path) == []
