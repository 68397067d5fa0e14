"""What importers actually do, and the FMU must take."""

import ctypes as ct
import gc
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import unzip
from importer import CO_SIMULATION, DISCARD, ERROR, MODEL_EXCHANGE, OK, WARNING, EventInfo, Instance

HERE = Path(__file__).resolve().parent
TIP = ["tip.position[1]", "tip.position[2]"]


def run(instance, steps, h=0.01, first=0, start=0.0):
    """Steps with the first input (a torque, a reference, a valve's command) moving; what is watched after each."""
    path, watched = [], instance.package.watched
    for i in range(first, first + steps):
        driven = instance.package.inputs[0]
        assert instance.set({driven: 0.2 * math.sin(5 * i * h)}) == OK
        assert instance.step(start + i * h, h) == OK, instance.log
        path.append(instance.get(*watched))
    return path


def started(package, kind=CO_SIMULATION, **experiment):
    return Instance(package, kind).initialise(**experiment)


def refused(instance, status, *parts):
    """fmi2Error, and a logged text with these parts."""
    assert status == ERROR
    assert instance.log, "nothing was logged"
    logged, category, text = instance.log[-1]
    assert logged == ERROR and category == "logStatusError"
    for part in parts: assert part in text


def elsewhere(code, *arguments, **environment):
    """Runs Python in a process of its own; what it prints."""
    result = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                            cwd=HERE, env={**os.environ, "PYTHONPATH": str(HERE), **environment})
    assert result.returncode == 0, result.stderr
    return result.stdout


# ---- resource locations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "with blank", "100%", "per%20cent", "ümläut", "a#b?c"])
@pytest.mark.parametrize("form", ["file:///", "file:/", "file:////", "localhost", "slash", "path", "path slash"])
def test_resource_location(arm, tmp_path, name, form):
    folder = tmp_path / name
    shutil.copytree(arm.resources, folder)
    uri = folder.as_uri()[len("file://"):]
    location = {"file:///": "file://" + uri, "file:/": "file:" + uri, "file:////": "file:///" + uri,
                "localhost": "file://localhost" + uri, "slash": "file://" + uri + "/", "path": str(folder),
                "path slash": str(folder) + "/"}[form]
    instance = Instance(arm, location=location)
    assert instance.c, instance.log
    instance.free()


@pytest.mark.parametrize("location, part", [(None, "NULL"), ("", "empty"), ("/no/such", "/no/such/robot.json"),
                                            ("http://x/y", "file:")])
def test_resource_location_that_is_none(arm, location, part):
    instance = Instance(arm, location=location)
    assert not instance.c
    refused(instance, ERROR, part)


def test_changed_robot_is_refused(arm, tmp_path):
    shutil.copytree(arm.resources, tmp_path / "r")
    robot = tmp_path / "r/robot.json"
    robot.write_text(robot.read_text().replace("500.0", "501.0"))
    instance = Instance(arm, location=str(tmp_path / "r"))
    assert not instance.c
    refused(instance, ERROR, arm.guid, "robot file was changed")


def test_wrong_guid_is_refused(fmu):
    for guid in "{wrong}", None:
        instance = Instance(fmu, guid=guid)
        assert not instance.c
        refused(instance, ERROR, "guid", fmu.guid)


# ---- time -----------------------------------------------------------------------------------------------------------


def test_last_step_past_the_stop_by_rounding(fmu):
    for over in 1.0, 1 + 2.3e-16, 1 + 4e-16:
        instance = started(fmu, stop=1.0)
        assert instance.step(0, 0.7) == OK
        assert instance.step(0.7, 1.0 * over - 0.7) == OK, instance.log
        refused(instance, instance.step(1.0, 0.1), "stop time")
        instance.free()


def test_step_clearly_past_the_stop(fmu):
    instance = started(fmu, stop=1.0)
    refused(instance, instance.step(0, 1.01), "stop time")
    assert instance.step(0, 1) == OK
    instance.free()


def test_communication_point_off_by_rounding(fmu):
    instance = started(fmu)
    assert instance.step(0, 0.1) == OK
    assert instance.step(math.nextafter(0.1, 1), 0.1) == OK
    refused(instance, instance.step(0.35, 0.1), "communication point")
    assert instance.step(math.nextafter(0.2, 0), 0.1) == OK
    instance.free()


@pytest.mark.parametrize("adding", [True, False])
def test_a_million_steps(canadarm, adding):
    n, h = 1_000_000, 1 / 60  # at rest, no gravity: the clock is what is tried
    instance = started(canadarm, stop=n * h)
    t, step, component = 0.0, canadarm.library.fmi2DoStep, ct.c_void_p(instance.c)
    for i in range(n):
        if step(component, ct.c_double(t), ct.c_double(h), 1) != OK: pytest.fail(f"step {i}: {instance.log}")
        t = t + h if adding else (i + 1) * h
    refused(instance, instance.step(t, h), "stop time")
    instance.free()


def test_late_start_loses_nothing(fmu):
    early, late = started(fmu), started(fmu, start=1e6)
    a, b = run(early, 100), run(late, 100, start=1e6)
    worst = max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q))
    assert worst == 0
    early.free()
    late.free()


def test_one_step_over_everything(canadarm):
    """More than 500 internal steps in one."""
    instance = started(canadarm, stop=20)
    assert instance.set({canadarm.named(r".*\.tau")[0]: 100.0}) == OK
    assert instance.step(0, 20) == OK, instance.log
    instance.free()


@pytest.mark.parametrize("h", [0.0, -0.1, math.nan, math.inf, -math.inf])
def test_steps_of_no_length(fmu, h):
    instance = started(fmu)
    refused(instance, instance.step(0, h), "fmi2DoStep", "positive and finite")
    refused(instance, instance.step(math.nan, 0.1), "positive and finite")
    assert instance.step(0, 0.1) == OK
    instance.free()


def test_a_step_that_fails_leaves_the_last_good_state(arm):
    instance = started(arm)
    assert instance.step(0, 0.01) == OK
    good, time = instance.save(), ct.c_double()
    assert instance.set({"shoulder.tau": 1e200}) == OK
    assert instance.step(0.01, 0.01) == DISCARD
    assert instance.log[-1][0] == ERROR and "at t = 0.01" in instance.log[-1][2]
    assert all(map(math.isfinite, instance.get(*TIP)))
    assert instance.GetRealStatus(2, ct.byref(time)) == OK and 0.01 <= time.value < 0.02
    assert instance.SetFMUstate(good) == OK and instance.set({"shoulder.tau": 0.0}) == OK
    assert instance.step(0.01, 0.01) == OK
    assert instance.FreeFMUstate(ct.byref(good)) == OK
    instance.free()


@pytest.mark.parametrize("torque", [1e20, 1e30, -1e30, 1e100, 1e150, 1e200, 1e308, -1e308])
@pytest.mark.parametrize("robot", ["arm", "canadarm"])
def test_absurd_torques_fail_fast(request, robot, torque):
    """Either the step is done or it fails within seconds, with reason and culprit; it never passes for a step without motion."""
    package = request.getfixturevalue(robot)
    instance = started(package)
    assert instance.step(0, 0.01) == OK
    states = instance.get(*package.states)
    assert instance.set({package.named(r".*\.tau")[0]: torque}) == OK
    before = time.process_time()
    status = instance.step(0.01, 0.01)
    assert time.process_time() - before < 8
    if status == OK:
        assert max(map(abs, instance.get(*package.states))) > 1e6
    else:
        assert status == DISCARD and re.search(r"at t = .*: .*; the fastest is \S+ = ", instance.log[-1][2])
        assert all(map(math.isfinite, instance.get(*package.states)))
        if abs(torque) > 1e100: assert instance.get(*package.states) == states
    assert instance.Reset() == OK
    assert run(instance.initialise(), 3) == run(started(package), 3)
    instance.free()


@pytest.mark.parametrize("method", range(5))
@pytest.mark.parametrize("h", [0.01, 1.0, 100.0])
def test_a_torque_of_1e12_is_discarded(canadarm, method, h):
    instance, reached = Instance(canadarm), ct.c_double()
    assert instance.set_integer("solver.method", method) == OK
    instance.initialise()
    assert instance.step(0, 0.01) == OK and instance.set({canadarm.named(r".*\.tau")[0]: 1e12}) == OK
    before = time.process_time()
    assert instance.step(0.01, h) == DISCARD and time.process_time() - before < 5
    assert "the motion is too fast" in instance.log[-1][2] and "the fastest is" in instance.log[-1][2]
    assert instance.GetRealStatus(2, ct.byref(reached)) == OK and 0.01 <= reached.value < 0.02
    instance.free()


@pytest.mark.parametrize("method", range(5))
def test_steps_are_limited(arm, method):
    """A discarded step continues from the time that it reached; the internal steps are those of a run without limit."""
    t, discarded, ends = 0.0, 0, []
    for limit in 10, 0:
        instance, reached = Instance(arm), ct.c_double()
        assert instance.set_integer("solver.method", method) == OK and instance.set_integer("solver.max_steps", limit) == OK
        assert instance.set({"solver.max_step": 1e-3}) == OK
        instance.initialise()
        t = 0.0
        while t < 0.1:
            status = instance.step(t, 0.1 - t)
            assert instance.GetRealStatus(2, ct.byref(reached)) == OK and t < reached.value <= 0.1 + 1e-12
            t = reached.value
            if status == OK: break
            assert status == DISCARD and limit > 0 and "solver.max_steps was reached: 10 internal steps" in instance.log[-1][2]
            discarded += 1
        ends.append(instance.get(*arm.states))
        instance.free()
    assert discarded >= 9 and ends[0] == pytest.approx(ends[1], rel=1e-4, abs=1e-6)


def test_a_link_without_inertia_is_named(limber, tmp_path):
    """A payload that is put down and leaves nothing behind."""
    robot = tmp_path / "bare.json"
    robot.write_text(json.dumps({"format": "limber-robot/1", "name": "bare", "links": [
        {"name": "a", "joint": {"type": "revolute"}, "rigid": {"mass": 1, "com": [0.5, 0, 0], "tip": {"xyz": [1, 0, 0]}}},
        {"name": "b", "joint": {"type": "revolute"}, "rigid": {"mass": 0, "tip": {"xyz": [1, 0, 0]}}, "payload": {"mass": 1}}]}))
    subprocess.run([limber, "fmu", robot, "-o", tmp_path / "bare.fmu"], check=True, capture_output=True)
    instance = started(unzip(tmp_path / "bare.fmu", tmp_path / "fmu"))
    assert instance.step(0, 0.1) == OK and instance.set({"b.payload.mass": 0.0}) == OK
    assert instance.step(0.1, 0.1) == DISCARD
    assert "link 'b'" in instance.log[-1][2] and "not positive definite" in instance.log[-1][2]
    assert instance.set({"b.payload.mass": 1.0}) == OK and instance.step(0.1, 0.1) == OK
    instance.free()


def test_a_step_without_end_is_given_up(canadarm):
    instance = started(canadarm)
    assert instance.set({canadarm.named(r".*\.tau")[0]: 1.0}) == OK
    assert instance.step(0, 1e15) == DISCARD and "too fast" in instance.log[-1][2]
    instance.free()


@pytest.mark.parametrize("first", [0.0, 0.1])
@pytest.mark.parametrize("h", [1e-320, 1e-300, 1e-20, 1e-17, 1e-16, 1e-12])
def test_tiny_steps(arm, first, h):
    """Shorter than time can be told apart, with inputs that jump at every one."""
    instance, t = started(arm), first
    if first > 0: assert instance.step(0, first) == OK
    for k in range(5):
        assert instance.set({"shoulder.tau": 10.0 * k}) == OK
        assert instance.step(t, h) == OK, instance.log
        t += h
    assert instance.step(t, 0.01) == OK, instance.log
    instance.free()


def test_restarts_without_a_step_count_no_jacobians(arm):
    instance = Instance(arm, logging=True).initialise()
    assert instance.step(0, 0.1) == OK
    before = instance.save()
    assert instance.Terminate() == OK
    assert instance.SetFMUstate(before) == OK and instance.FreeFMUstate(ct.byref(before)) == OK
    for k in range(20): assert instance.set({"shoulder.tau": 100.0 * k}) == OK and instance.step(0.1, 1e-20) == OK
    assert instance.Terminate() == OK
    counts = [re.search(r"(\d+) Jacobians", text)[1] for _, category, text in instance.log
              if category == "solver" and text.startswith("until")]
    assert len(counts) == 2 and counts[0] == counts[1]
    instance.free()


def test_infinite_derivatives_are_no_derivatives(arm):
    instance = started(arm, MODEL_EXCHANGE)
    n = len(arm.states)
    assert instance.set({"shoulder.tau": 1e308}) == OK
    assert instance.GetDerivatives((ct.c_double * n)(), n) == DISCARD
    assert instance.set({"shoulder.tau": 1.0}) == OK
    assert instance.GetDerivatives((ct.c_double * n)(), n) == OK
    instance.free()


# ---- saved states ---------------------------------------------------------------------------------------------------


def test_state_goes_on_bit_for_bit(fmu):
    instance = started(fmu)
    run(instance, 20)
    state = instance.save()
    onward = run(instance, 20, first=20)
    assert instance.SetFMUstate(state) == OK
    assert run(instance, 20, first=20) == onward
    assert instance.Terminate() == OK and instance.SetFMUstate(state) == OK  # after termination
    assert run(instance, 20, first=20) == onward
    fresh = Instance(fmu)  # nothing was called but fmi2Instantiate
    assert fresh.SetFMUstate(state) == OK
    assert run(fresh, 20, first=20) == onward
    assert instance.FreeFMUstate(ct.byref(state)) == OK
    fresh.free()
    instance.free()


def test_state_in_another_process(fmu, tmp_path):
    instance = started(fmu)
    run(instance, 20)
    (tmp_path / "state").write_bytes(instance.serialise())
    onward = run(instance, 20, first=20)
    code = """
import sys
from importer import *
import test_robustness as t
instance = Instance(Package(sys.argv[1]))
state, status = instance.deserialise(open(sys.argv[2], "rb").read())
assert status == OK and instance.SetFMUstate(state) == OK
print(t.run(instance, 20, first=20))"""
    assert elsewhere(code, fmu.folder, tmp_path / "state").strip() == str(onward)
    instance.free()


def test_damaged_states_are_refused(fmu, canadarm):
    instance = started(fmu)
    run(instance, 3)
    good, chance = instance.serialise(), random.Random(4)
    for kind in range(200):
        bad = bytearray(good)
        if kind % 4 == 0: del bad[chance.randrange(len(bad)):]
        elif kind % 4 == 1: bad += chance.randbytes(chance.randrange(1, 99))
        else:
            for _ in range(chance.choice([1, 1, 2, 8])):
                at = chance.randrange(len(bad))
                bad[at] ^= chance.randrange(1, 256)
        if bytes(bad) == good: continue
        state, status = instance.deserialise(bytes(bad))
        refused(instance, status, "rejected")
        assert not state.value
    other = started(canadarm)
    refused(instance, instance.deserialise(other.serialise())[1], "another robot")
    refused(instance, instance.deserialise(b"")[1], "too short")
    refused(instance, instance.SetFMUstate(None), "NULL")
    assert instance.deserialise(good)[1] == OK
    assert instance.step(0.03, 0.01) == OK
    other.free()
    instance.free()


def test_reset_and_run_again(fmu):
    instance = started(fmu)
    first = run(instance, 30)
    for _ in range(3):
        assert instance.Reset() == OK
        instance.initialise()
        assert run(instance, 30) == first
    instance.free()


# ---- memory and threads ---------------------------------------------------------------------------------------------


def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(action, warm_up, times):
    for _ in range(warm_up): action()
    before = resident()
    for _ in range(times): action()
    return resident() - before


def test_instances_leave_nothing_behind(fmu):
    def cycle():
        instance = Instance(fmu)
        instance.free()
    times = 1_000 if fmu.file.stem.endswith("controller") else 10_000  # a controller makes its model twice
    assert growth(cycle, 500, times) < 1 << 20


def test_resets_leave_nothing_behind(arm):
    instance = started(arm)

    def cycle():
        assert instance.Reset() == OK
        assert instance.set({"upper.EIz": 600.0}) == OK  # the model is made again
        instance.initialise()
        assert instance.step(0, 0.01) == OK
        state = instance.save()
        assert instance.FreeFMUstate(ct.byref(state)) == OK
    assert growth(cycle, 100, 1_000) < 1 << 20
    instance.free()


def test_instances_on_threads(fmu):
    alone = run(started(fmu), 30)
    results = [None] * 64

    def work(mine):
        instances = [started(fmu) for _ in mine]
        for place, instance in zip(mine, instances): results[place] = run(instance, 30)
        for instance in instances: instance.free()
    threads = [threading.Thread(target=work, args=(range(8 * k, 8 * k + 8),)) for k in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert all(result == alone for result in results)


# ---- logging --------------------------------------------------------------------------------------------------------


def test_messages_are_finished_text(fmu, tmp_path):
    folder = tmp_path / "100%s"
    instance = Instance(fmu, location=str(folder))  # the logger of these tests takes no further arguments
    assert not instance.c
    text = instance.log[-1][2]
    assert "100%%s" in text and "%" not in text.replace("%%", "")


def test_no_logger(fmu):
    assert not Instance(fmu, guid="{wrong}", logger=False).c
    instance = Instance(fmu, logger=False, logging=True).initialise()
    assert instance.step(0, -1) == ERROR
    assert instance.step(0, 1) == OK
    instance.free()


def test_quiet_unless_asked(fmu):
    instance = started(fmu)
    run(instance, 10)
    assert instance.Terminate() == OK
    assert instance.log == []
    instance.free()


def test_errors_are_logged_in_any_case(fmu):
    instance = started(fmu)
    refused(instance, instance.step(0, -1), "fmi2DoStep")
    instance.free()


def test_categories_are_listed(fmu):
    assert {"logStatusError", "solver"} <= set(fmu.categories)
    instance = Instance(fmu, logging=True).initialise()
    run(instance, 10)
    instance.step(0, -1)
    assert instance.Terminate() == OK
    assert instance.log and {category for _, category, _ in instance.log} <= set(fmu.categories)
    assert any(category == "solver" and "right-hand sides" in text for _, category, text in instance.log)
    for category in fmu.categories:
        one = (ct.c_char_p * 1)(category.encode())
        assert instance.SetDebugLogging(1, 1, one) == OK and instance.SetDebugLogging(0, 1, one) == OK
    unknown = (ct.c_char_p * 1)(b"gossip")
    assert instance.SetDebugLogging(1, 1, (ct.c_char_p * 1)(b"logStatusWarning")) == OK
    assert instance.SetDebugLogging(1, 1, unknown) == WARNING and instance.log[-1][0] == WARNING and "gossip" in instance.log[-1][2]
    instance.free()


# ---- misuse ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_not_finite_inputs(arm, value):
    instance = started(arm)
    before = instance.get(*TIP)
    refused(instance, instance.set({"shoulder.tau": 1.0, "elbow.tau": value}), "elbow.tau", "finite")
    assert instance.get("shoulder.tau") == 0 and instance.get(*TIP) == before
    assert instance.step(0, 0.1) == OK
    instance.free()


def test_null_arrays_and_unknown_references(arm):
    instance = started(arm)
    vr, value, wild = instance.references(["elbow.q"]), (ct.c_double * 1)(), (ct.c_uint * 1)(123456)
    refused(instance, instance.GetReal(None, 1, value), "fmi2GetReal", "NULL")
    refused(instance, instance.GetReal(vr, 1, None), "NULL")
    refused(instance, instance.SetReal(None, 1, value), "fmi2SetReal", "NULL")
    refused(instance, instance.GetReal(wild, 1, value), "123456")
    refused(instance, instance.SetReal(wild, 1, value), "123456")
    refused(instance, instance.GetInteger(vr, 1, (ct.c_int * 1)()), "Real")
    refused(instance, instance.GetString(vr, 1, (ct.c_char_p * 1)()), "String")
    refused(instance, instance.GetRealOutputDerivatives(vr, 1, (ct.c_int * 1)(2), value), "order")
    assert instance.GetReal(None, 0, None) == OK
    assert instance.step(0, 0.1) == OK
    instance.free()


def test_wrong_state_is_refused_and_forgiven(arm):
    instance = Instance(arm)
    refused(instance, instance.step(0, 0.1), "fmi2DoStep", "instantiated", "step complete")
    refused(instance, instance.ExitInitializationMode(), "fmi2ExitInitializationMode", "instantiated", "initialization mode")
    refused(instance, instance.Terminate(), "fmi2Terminate")
    instance.initialise()
    refused(instance, instance.SetupExperiment(0, 0.0, 0.0, 0, 0.0), "fmi2SetupExperiment", "step complete")
    refused(instance, instance.SetTime(0.0), "fmi2SetTime", "model exchange")
    refused(instance, instance.set({"upper.EIz": 1.0}), "upper.EIz", "fixed")
    refused(instance, instance.set({"tip.position[1]": 1.0}), "tip.position[1]")
    refused(instance, instance.CancelStep(), "pending")
    assert instance.step(0, 0.1) == OK
    assert instance.Terminate() == OK
    refused(instance, instance.step(0.1, 0.1), "terminated")
    assert len(instance.get(*TIP)) == 2
    instance.free()


def test_impossible_parameters(arm):
    instance = Instance(arm)
    assert instance.set({"upper.EIz": -1.0}) == OK
    assert instance.EnterInitializationMode() == OK
    refused(instance, instance.ExitInitializationMode(), "upper.EIz")
    assert instance.set({"upper.EIz": 500.0}) == OK and instance.ExitInitializationMode() == OK
    assert instance.step(0, 0.1) == OK
    instance.free()


@pytest.mark.parametrize("initialising", [False, True])
def test_impossible_parameters_can_be_saved(arm, initialising):
    """They are refused when they are to act, not before."""
    instance = Instance(arm)
    if initialising: assert instance.EnterInitializationMode() == OK
    assert instance.set({"upper.EIz": -1.0}) == OK
    saved = instance.save()
    assert instance.set({"upper.EIz": 500.0}) == OK and instance.SetFMUstate(saved) == OK and instance.get("upper.EIz") == -1
    if not initialising: assert instance.EnterInitializationMode() == OK
    refused(instance, instance.ExitInitializationMode(), "upper.EIz")
    assert instance.set({"upper.EIz": 400.0}) == OK and instance.ExitInitializationMode() == OK
    assert instance.FreeFMUstate(ct.byref(saved)) == OK
    fresh = Instance(arm)
    assert fresh.set({"upper.EIz": 400.0}) == OK
    assert run(instance, 3) == run(fresh.initialise(), 3)
    instance.free(), fresh.free()


def test_a_model_that_cannot_be_made_stays_refused(limber, tmp_path):
    """A length that passes every check of its own, but makes no modal mass matrix: refused as often as it is tried."""
    robot = tmp_path / "twin.json"
    robot.write_text(json.dumps({"format": "limber-robot/1", "name": "twin", "links": [
        {"name": "a", "joint": {"type": "revolute"}, "beam": {"length": 1, "mass_per_length": 1, "EIz": 1, "modes": {
            "y": {"shape": "hermite"}}}}]}))
    subprocess.run([limber, "fmu", robot, "-o", tmp_path / "twin.fmu"], check=True, capture_output=True)
    instance = Instance(unzip(tmp_path / "twin.fmu", tmp_path / "fmu"))
    assert instance.set({"a.length": 1e-300}) == OK and instance.EnterInitializationMode() == OK
    for _ in range(3): refused(instance, instance.ExitInitializationMode(), "link 'a'", "not positive definite")
    assert instance.set({"a.length": 1.0}) == OK and instance.ExitInitializationMode() == OK
    assert instance.step(0, 0.1) == OK
    instance.free()


def test_values_beyond_all_bounds_are_discarded(arm):
    instance = started(arm)
    assert instance.set({"shoulder.tau": 1e308}) == OK
    value = (ct.c_double * 1)()
    assert instance.GetReal(instance.references(["shoulder.qdd"]), 1, value) == DISCARD and not math.isfinite(value[0])
    assert len(instance.get(*TIP)) == 2  # what can be read can be read
    instance.free()


def output_rates(instance, names):
    rates = (ct.c_double * len(names))()
    order = (ct.c_int * len(names))(*[1] * len(names))
    assert instance.GetRealOutputDerivatives(instance.references(names), len(names), order, rates) == OK
    return list(rates)


def test_reset_counts_anew(fmu):
    instance = Instance(fmu, logging=True)
    for _ in range(3):
        run(instance.initialise(), 20)
        assert instance.Terminate() == OK and instance.Reset() == OK
    told = [text for _, category, text in instance.log if category == "solver" and text.startswith("until")]
    assert len(told) == 3 and len(set(told)) == 1
    instance.free()


def test_reset_forgets_slopes_of_inputs(arm):
    instance, names = started(arm), ["shoulder.qdd", "tip.acceleration[2]"]
    first = output_rates(instance, names)
    slope = instance.references(["shoulder.tau"]), 1, (ct.c_int * 1)(1), (ct.c_double * 1)(7.0)
    assert instance.SetRealInputDerivatives(*slope) == OK and instance.step(0, 0.1) == OK
    assert instance.Reset() == OK
    assert output_rates(instance.initialise(), names) == first
    instance.free()


def test_prescribed_motion_is_one_curve(pack, tmp_path):
    """q + qd s + qdd s^2/2 + j s^3/6, with j the slope of qdd, for one step; slopes of q and qd are those inputs, whatever is given."""
    robot = tmp_path / "turntable.json"
    robot.write_text('{"format": "limber-robot/1", "name": "turntable", "links": [{"name": "table", "rigid": {"mass": 1, "tip": {"xyz": [1, 0, 0]}},'
                     ' "joint": {"name": "turn", "type": "revolute", "motion": "prescribed"}}]}')
    instance, names = Instance(unzip(pack(robot), tmp_path / "fmu")).initialise(), ["turn.q", "turn.qd", "turn.qdd"]
    goes_on = [1 + 0.05 + 0.01, 0.7, 2.0]
    for i, (given, came) in enumerate([({}, goes_on), ({"turn.q": 0.0}, goes_on), ({"turn.qd": 0.0, "turn.q": 7.0}, goes_on),
                                       ({"turn.qdd": 6.0}, [1.061, 0.73, 2.6]), ({}, goes_on)]):
        assert instance.set({"turn.q": 1.0, "turn.qd": 0.5, "turn.qdd": 2.0}) == OK
        for name, slope in given.items():
            assert instance.SetRealInputDerivatives(instance.references([name]), 1, (ct.c_int * 1)(1), (ct.c_double * 1)(slope)) == OK
        assert instance.step(i * 0.1, 0.1) == OK and instance.get(*names) == pytest.approx(came, rel=1e-14)
        q, qd, qdd = came  # the motion at the end, as the tip has it, and its rate of change
        assert instance.get("tip.velocity[2]") == pytest.approx(qd * math.cos(q), rel=1e-12)
        assert output_rates(instance, ["tip.position[2]", "tip.velocity[2]"]) == pytest.approx(
            [qd * math.cos(q), qdd * math.cos(q) - qd**2 * math.sin(q)], rel=1e-12)
    assert instance.step(0.5, 0.1) == OK and instance.get(*names) == pytest.approx([1.06 + 0.07 + 0.01, 0.9, 2.0], rel=1e-14)
    instance.free()


def test_status_questions(fmu):
    instance = started(fmu)
    assert instance.step(0, 0.25) == OK
    time, flag, status = ct.c_double(), ct.c_int(1), ct.c_int()
    assert instance.GetRealStatus(2, ct.byref(time)) == OK and time.value == 0.25  # fmi2LastSuccessfulTime
    assert instance.GetBooleanStatus(3, ct.byref(flag)) == OK and flag.value == 0  # fmi2Terminated
    assert instance.GetStatus(0, ct.byref(status)) == DISCARD                      # fmi2DoStepStatus: never pending
    refused(instance, instance.GetRealStatus(2, None), "NULL")
    instance.free()


# ---- model exchange -------------------------------------------------------------------------------------------------


def test_states_set_like_any_real(exchanged_fmu):
    """As CasADi does: event mode, fmi2SetReal on states and inputs, fmi2GetReal on derivatives."""
    instance = started(exchanged_fmu, MODEL_EXCHANGE)
    n = len(exchanged_fmu.states)
    x = [0.1 * (i + 1) / n for i in range(n)]
    assert instance.set(dict(zip(exchanged_fmu.states, x))) == OK
    assert [instance.get(state) for state in exchanged_fmu.states] == x
    by_real = [instance.get(f"der({state})") for state in exchanged_fmu.states]
    values, derivatives = (ct.c_double * n)(*x), (ct.c_double * n)()
    assert instance.EnterContinuousTimeMode() == OK
    assert instance.SetContinuousStates(values, n) == OK
    assert instance.GetDerivatives(derivatives, n) == OK
    assert list(derivatives) == by_real
    instance.free()


def test_payload_changes_in_event_mode(arm):
    instance = started(arm, MODEL_EXCHANGE)
    info = EventInfo()
    assert instance.EnterContinuousTimeMode() == OK
    refused(instance, instance.set({"lower.payload.mass": 2.0}), "event mode")
    assert instance.EnterEventMode() == OK
    before = instance.get("shoulder.qdd", "shoulder.qd")
    assert instance.set({"lower.payload.mass": 2.0}) == OK
    assert instance.NewDiscreteStates(ct.byref(info)) == OK and not info.new_states and not info.terminate
    after = instance.get("shoulder.qdd", "shoulder.qd")
    assert after[0] != before[0] and after[1] == before[1]
    instance.free()


def test_payload_changes_between_steps(arm):
    instance = started(arm)
    assert instance.step(0, 0.1) == OK
    before = instance.get("shoulder.qd")
    assert instance.set({"lower.payload.mass": 2.0}) == OK
    assert instance.get("shoulder.qd") == before
    assert instance.step(0.1, 0.1) == OK
    instance.free()


# ---- the process around it ------------------------------------------------------------------------------------------

TRAJECTORY = """
import ctypes, locale, os, sys
from importer import *
import test_robustness as t
if len(sys.argv) > 2 and sys.argv[2].endswith(".so"): other = ctypes.CDLL(sys.argv[2], mode=os.RTLD_GLOBAL)
elif len(sys.argv) > 2: assert locale.localeconv()["decimal_point"] == "." and locale.setlocale(locale.LC_ALL, sys.argv[2]) \\
    and locale.localeconv()["decimal_point"] == ","
print(t.run(t.started(Package(sys.argv[1])), 20))"""


def test_another_sundials_in_the_process(fmu):
    others = sorted(Path("/usr/lib").glob("*/libsundials_cvode*.so")) + sorted(Path("/usr/lib").glob("libsundials_cvode*.so"))
    if not others: pytest.skip("no shared SUNDIALS here")
    alone = elsewhere(TRAJECTORY, fmu.folder)
    for other in others: assert elsewhere(TRAJECTORY, fmu.folder, other) == alone


def test_decimal_comma(fmu, tmp_path):
    make = shutil.which("localedef")
    if not make: pytest.skip("no localedef here")
    subprocess.run([make, "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True)
    if not (tmp_path / "de_DE.UTF-8").exists(): pytest.skip("no sources of locales here")
    assert elsewhere(TRAJECTORY, fmu.folder, "de_DE.UTF-8", LOCPATH=str(tmp_path)) == elsewhere(TRAJECTORY, fmu.folder)
