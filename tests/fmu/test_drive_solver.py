"""Methods and limits of the integration of drives: the parameters solver.* of an arm."""

import ctypes as ct

import numpy as np
import pytest

from importer import DISCARD, ERROR, OK, Instance


def by_method(package, method, fixed_step=0.0):
    instance = Instance(package)
    assert instance.set_integer("solver.method", method) == OK and instance.set({"solver.fixed_step": fixed_step}) == OK
    return instance.initialise(tolerance=1e-8)


@pytest.mark.parametrize("name, inputs", [("servo", {"reference": 0.02}), ("cylinder", {"command": 0.3}), ("gear", {"torque": 2.0}), ("sling", {"hook.velocity[1]": 0.3})])
def test_drives_have_every_method(request, name, inputs):
    """All agree, also in short fixed steps, and a saved state continues bit for bit."""
    package, rows = request.getfixturevalue(name), []
    for method, fixed in [(m, 0.0) for m in range(5)] + [(2, 2e-5), (4, 2e-5)]:
        instance = by_method(package, method, fixed)
        assert instance.set(inputs) == OK
        for i in range(10): assert instance.step(i * 1e-3, 1e-3) == OK, instance.log
        state = instance.save()
        ends = []
        for _ in range(2):
            for i in range(10, 20): assert instance.step(i * 1e-3, 1e-3) == OK
            ends.append(instance.get(*package.states))
            assert instance.SetFMUstate(state) == OK
        assert ends[0] == ends[1]
        rows.append(ends[0] if isinstance(ends[0], list) else [ends[0]])
        assert instance.FreeFMUstate(ct.byref(state)) == OK
        instance.free()
    scale = np.abs(rows).max(axis=0)
    assert (np.abs(np.array(rows) - rows[0]).max(axis=0) <= 1e-5 * scale + 1e-8).all()  # atol: 1e-8 of a nominal value of 1


@pytest.mark.parametrize("method", [1, 3])
def test_drives_refuse_fixed_steps(servo, method):
    instance = Instance(servo)
    assert instance.set_integer("solver.method", method) == OK and instance.set({"solver.fixed_step": 1e-3}) == OK
    assert instance.EnterInitializationMode() == OK and instance.ExitInitializationMode() == ERROR
    assert "solver.fixed_step = 0.001" in instance.log[-1][2] and "choose solver.method = 0, 2 or 4" in instance.log[-1][2]
    instance.free()


def test_drives_limit_steps(servo):
    instance, reached = Instance(servo), ct.c_double()
    assert instance.set_integer("solver.max_steps", 2) == OK and instance.set({"solver.max_step": 1e-3}) == OK
    instance.initialise()
    assert instance.step(0, 0.1) == DISCARD and "solver.max_steps was reached: 2 internal steps" in instance.log[-1][2]
    assert instance.GetRealStatus(2, ct.byref(reached)) == OK and 0 < reached.value <= 2e-3 + 1e-12
    instance.free()
