"""What importers and the process around an FMU do. tests/c/fmi_*_test.c have what each function refuses and how it answers."""

import ctypes as ct
import gc
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from importer import CO_SIMULATION, DISCARD, ERROR, MODEL_EXCHANGE, OK, EventInfo, Instance, unzip

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


def packed(pack, folder, name, *links):
    """The FMU of a rigid or flexible arm, unzipped."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"format": "limber-robot/1", "name": name, "links": links}))
    return unzip(pack(file), folder / "fmu")


# ---- resource locations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["with blank", "per%20cent 100%", "ümläut", "a#b?c"])
def test_resource_location(arm, tmp_path, name):
    """tests/c/fmi_location_test.c has all spellings."""
    folder = tmp_path / name
    shutil.copytree(arm.resources, folder)
    for location in folder.as_uri(), str(folder):
        instance = Instance(arm, location=location)
        assert instance.c, instance.log
        instance.free()


def test_changed_robot_is_refused(arm, tmp_path):
    shutil.copytree(arm.resources, tmp_path / "r")
    robot = tmp_path / "r/robot.json"
    robot.write_text(robot.read_text().replace("500.0", "501.0"))
    instance = Instance(arm, location=str(tmp_path / "r"))
    assert not instance.c
    refused(instance, ERROR, arm.guid, "robot file was changed")


# ---- time -----------------------------------------------------------------------------------------------------------


def test_late_start_loses_nothing(fmu):
    early, late = started(fmu), started(fmu, start=1e6)
    assert run(early, 100) == run(late, 100, start=1e6)
    early.free(), late.free()


@pytest.mark.parametrize("h", [1e-320, 1e-20, 1e-16, 1e-12])
def test_tiny_steps(arm, h):
    """Shorter than time can be told apart, with inputs that jump at every one."""
    instance, t = started(arm), 0.1
    assert instance.step(0, t) == OK
    for k in range(5):
        assert instance.set({"shoulder.tau": 10.0 * k}) == OK and instance.step(t, h) == OK, instance.log
        t += h
    assert instance.step(t, 0.01) == OK, instance.log
    instance.free()


# ---- saved states ---------------------------------------------------------------------------------------------------

CONTINUED = """
import sys
from importer import *
import test_robustness as t
instance = Instance(Package(sys.argv[1]))
state, status = instance.deserialise(open(sys.argv[2], "rb").read())
assert status == OK and instance.SetFMUstate(state) == OK
print(t.run(instance, 20, first=20))"""


def test_state_goes_on_bit_for_bit(fmu, tmp_path):
    """After other steps, after termination, in an instance that was only made, in another process."""
    instance, fresh = started(fmu), Instance(fmu)
    run(instance, 20)
    state = instance.save()
    (tmp_path / "state").write_bytes(instance.serialise())
    onward = run(instance, 20, first=20)
    for one, ended in (instance, False), (instance, True), (fresh, False):
        if ended: assert one.Terminate() == OK
        assert one.SetFMUstate(state) == OK and run(one, 20, first=20) == onward
    assert elsewhere(CONTINUED, fmu.folder, tmp_path / "state").strip() == str(onward)
    assert instance.FreeFMUstate(ct.byref(state)) == OK
    instance.free(), fresh.free()


def test_states_of_others_are_refused(fmu, canadarm):
    instance, other = started(fmu), started(canadarm)
    good = instance.serialise()
    refused(instance, instance.deserialise(other.serialise())[1], "another robot")
    refused(instance, instance.deserialise(good[:-1] + bytes([good[-1] ^ 1]))[1], "rejected")
    assert instance.deserialise(good)[1] == OK and instance.step(0, 0.01) == OK
    instance.free(), other.free()


def test_reset_and_run_again(fmu):
    """The same path, and the same number of steps in the log."""
    instance, paths = Instance(fmu, logging=True), []
    for _ in range(3):
        paths.append(run(instance.initialise(), 20))
        assert instance.Terminate() == OK and instance.Reset() == OK
    told = [text for _, category, text in instance.log if category == "solver" and text.startswith("until")]
    assert paths[0] == paths[1] == paths[2] and len(told) == 3 and len(set(told)) == 1
    instance.free()


def test_reset_forgets_slopes_of_inputs(arm):
    instance, names = started(arm), ["shoulder.qdd", "tip.acceleration[2]"]
    first = output_rates(instance, names)
    slope = instance.references(["shoulder.tau"]), 1, (ct.c_int * 1)(1), (ct.c_double * 1)(7.0)
    assert instance.SetRealInputDerivatives(*slope) == OK and instance.step(0, 0.1) == OK
    assert instance.Reset() == OK
    assert output_rates(instance.initialise(), names) == first
    instance.free()


# ---- memory ---------------------------------------------------------------------------------------------


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
    assert growth(cycle, 300, 2_000) < 1 << 18


@pytest.mark.parametrize("name, parameter", [("arm", "upper.EIz"), ("cylinder", "viscous"), ("sling", "mass")])
def test_resets_leave_nothing_behind(request, name, parameter):
    instance = started(request.getfixturevalue(name))

    def cycle():
        assert instance.Reset() == OK and instance.set({parameter: 600.0}) == OK  # the model is made again
        instance.initialise()
        assert instance.step(0, 0.01) == OK
        state = instance.save()
        assert instance.step(0.01, 0.01) == OK and instance.SetFMUstate(state) == OK and instance.FreeFMUstate(ct.byref(state)) == OK
    assert growth(cycle, 100, 1_000) < 1 << 20
    instance.free()


# ---- misuse ---------------------------------------------------------------------------------------------------------


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


def test_a_model_that_cannot_be_made_stays_refused(pack, tmp_path):
    """A length that passes every check of its own, but makes no modal mass matrix: refused as often as it is tried."""
    twin = packed(pack, tmp_path, "twin", {"name": "a", "joint": {"type": "revolute"}, "beam": {
        "length": 1, "mass_per_length": 1, "EIz": 1, "modes": {"y": {"shape": "hermite"}}}})
    instance = Instance(twin)
    assert instance.set({"a.length": 1e-300}) == OK and instance.EnterInitializationMode() == OK
    for _ in range(3): refused(instance, instance.ExitInitializationMode(), "link 'a'", "not positive definite")
    assert instance.set({"a.length": 1.0}) == OK and instance.ExitInitializationMode() == OK
    assert instance.step(0, 0.1) == OK
    instance.free()


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE])
def test_values_beyond_all_bounds_are_discarded(arm, kind):
    instance, value, n = started(arm, kind), (ct.c_double * 1)(), len(arm.states)
    assert instance.set({"shoulder.tau": 1e308}) == OK
    assert instance.GetReal(instance.references(["shoulder.qdd"]), 1, value) == DISCARD and not math.isfinite(value[0])
    assert len(instance.get(*TIP)) == 2  # what can be read can be read
    if kind == MODEL_EXCHANGE:
        assert instance.GetDerivatives((ct.c_double * n)(), n) == DISCARD and instance.set({"shoulder.tau": 1.0}) == OK
        assert instance.GetDerivatives((ct.c_double * n)(), n) == OK
    instance.free()


@pytest.mark.parametrize("torque", [1e20, 1e150, -1e308])
def test_absurd_torques_fail_fast(canadarm, torque):
    """Either the step is done or it fails within seconds, with reason and culprit; it never passes for a step without motion."""
    instance = started(canadarm)
    assert instance.step(0, 0.01) == OK
    states, before = instance.get(*canadarm.states), time.process_time()
    assert instance.set({"upper_joint.tau": torque}) == OK
    status = instance.step(0.01, 0.01)
    assert time.process_time() - before < 8
    if status == OK: assert max(map(abs, instance.get(*canadarm.states))) > 1e6
    else:
        assert status == DISCARD and re.search(r"at t = .*: .*; the fastest is \S+ = ", instance.log[-1][2])
        assert all(map(math.isfinite, instance.get(*canadarm.states)))
        if abs(torque) > 1e100: assert instance.get(*canadarm.states) == states
    instance.free()


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE])
def test_a_payload_changes(arm, kind):
    """Between steps or in event mode: accelerations are others at once, velocities are not."""
    instance, info = started(arm, kind), EventInfo()
    if kind == CO_SIMULATION: assert instance.step(0, 0.1) == OK
    else: assert instance.EnterContinuousTimeMode() == OK and instance.EnterEventMode() == OK
    before = instance.get("shoulder.qdd", "shoulder.qd")
    assert instance.set({"lower.payload.mass": 2.0}) == OK
    if kind == CO_SIMULATION: assert instance.get("shoulder.qd") == before[1] and instance.step(0.1, 0.1) == OK
    else: assert instance.NewDiscreteStates(ct.byref(info)) == OK and not info.new_states and not info.terminate
    after = instance.get("shoulder.qdd", "shoulder.qd")
    assert after[0] != before[0] and (kind == CO_SIMULATION or after[1] == before[1])
    instance.free()


# ---- slopes of inputs and outputs -----------------------------------------------------------------------------------


def output_rates(instance, names):
    rates = (ct.c_double * len(names))()
    order = (ct.c_int * len(names))(*[1] * len(names))
    assert instance.GetRealOutputDerivatives(instance.references(names), len(names), order, rates) == OK
    return list(rates)


def test_prescribed_motion_is_one_curve(pack, tmp_path):
    """q + qd s + qdd s^2/2 + j s^3/6, with j the slope of qdd, for one step; slopes of q and qd are those inputs, whatever is given."""
    table = packed(pack, tmp_path, "turntable", {"name": "table", "rigid": {"mass": 1, "tip": {"xyz": [1, 0, 0]}},
                   "joint": {"name": "turn", "type": "revolute", "motion": "prescribed"}})
    instance, names = started(table), ["turn.q", "turn.qd", "turn.qdd"]
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
