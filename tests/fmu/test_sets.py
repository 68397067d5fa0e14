"""An FMU library holds everything twice: for any processor, and for those with AVX2 and FMA. Both compute the same, and states go from
one to the other. The build has libraries without the second in tests/base."""

import copy
import ctypes as ct
import os
import random
from pathlib import Path

import numpy as np
import pytest

from importer import CO_SIMULATION, MODEL_EXCHANGE, OK, Instance, unzip

ROBOTS = sorted(file.name for file in (Path(__file__).resolve().parents[2] / "resources").glob("*.json") if "schema" not in file.name)
DRIVES = ["servo", "cylinder", "gear", "spring", "axis", "sling"]
TOLERANCE = 1e-9  # of the largest number: rounding, amplified by the condition of the mass matrix


@pytest.fixture(scope="module", params=ROBOTS + DRIVES)
def pair(request, limber, pack, root, tmp_path_factory):
    """The FMU as it is packed, and with the library for any processor."""
    folder = tmp_path_factory.mktemp("sets")
    robot = request.param.endswith(".json")
    shipped = unzip(pack(root / "resources" / request.param), folder) if robot else request.getfixturevalue(request.param)
    base = copy.copy(shipped)
    base.library = ct.CDLL(str(limber.parent / "tests/base" / f"{'limber_fmu' if robot else request.param}.so"), mode=os.RTLD_LOCAL)
    base.library.fmi2Instantiate.restype = ct.c_void_p
    return shipped, base


def close(ours, theirs, what):
    ours, theirs = np.array(ours), np.array(theirs)
    error = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-12)
    print(what, "differ by", error)
    assert error < TOLERANCE


def test_the_processor_decides(pair):
    """AVX2 and FMA are used where the processor has them, and the log says so."""
    flags = Path("/proc/cpuinfo").read_text().split()
    for package, expected in zip(pair, ["AVX2 and FMA" if {"avx2", "fma"} <= set(flags) else "SSE2", "SSE2"]):
        instance = Instance(package, logging=True)
        assert (OK, "logAll", f"fmi2Instantiate: computes with {expected}") in instance.log
        instance.free()
        quiet = Instance(package)
        assert quiet.log == []
        quiet.free()


def evaluated(package, moved, driven, seeds):
    """Derivatives, outputs and a directional derivative at the start moved by `moved`, with inputs moved by `driven`"""
    instance = Instance(package, MODEL_EXCHANGE).initialise()
    n = len(package.states)
    x, dx, changes = (ct.c_double * n)(), (ct.c_double * n)(), (ct.c_double * len(package.outputs))()
    assert instance.GetContinuousStates(x, n) == OK
    x = (ct.c_double * n)(*np.add(x, moved))
    assert instance.SetContinuousStates(x, n) == OK
    assert instance.set({name: instance.get(name) + change for name, change in driven.items()}) == OK
    assert instance.GetDerivatives(dx, n) == OK, instance.log
    real = [name for name in package.outputs if package.type[name] == "Real"]
    values = instance.get(*real)
    states = instance.references(package.states)
    assert instance.GetDirectionalDerivative(instance.references(real), len(real), states, n, (ct.c_double * n)(*seeds), changes) == OK
    instance.free()
    return list(dx), np.atleast_1d(values), list(changes)


def test_the_same_derivatives(pair):
    numbers = random.Random(4)
    n = len(pair[0].states)
    if n == 0: pytest.skip("no states")
    for _ in range(3):
        moved = [1e-3 * numbers.uniform(-1, 1) for _ in range(n)]
        driven = {name: numbers.uniform(-0.05, 0.05) for name in pair[0].inputs}
        seeds = [numbers.uniform(-1, 1) for _ in range(n)]
        for what, ours, theirs in zip(("derivatives", "outputs", "changes"), *(evaluated(each, moved, driven, seeds) for each in pair)):
            close(ours, theirs, what)


def path(instance, first, steps):
    driven = instance.package.inputs[0]
    rows = []
    for i in range(first, first + steps):
        assert instance.set({driven: 0.02 * np.sin(3e-2 * i)}) == OK
        assert instance.step(2e-3 * i, 2e-3) == OK, instance.log
        rows.append(instance.get(*instance.package.watched))
    return rows


def test_the_same_motion(pair):
    close(*(path(Instance(each, CO_SIMULATION).initialise(tolerance=1e-10), 0, 20) for each in pair), "paths")


def test_states_go_from_one_to_the_other(pair):
    """Saved by one set, continued by the other."""
    for one, other in (pair, pair[::-1]):
        first, second = (Instance(each, CO_SIMULATION).initialise(tolerance=1e-10) for each in (one, other))
        path(first, 0, 5)
        state, status = second.deserialise(first.serialise())
        assert status == OK and second.SetFMUstate(state) == OK, second.log
        close(path(first, 5, 5), path(second, 5, 5), "paths")
        for instance in first, second: instance.free()
