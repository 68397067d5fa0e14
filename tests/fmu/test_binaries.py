"""What holds for the library of every FMU of the list in fmus.py. It has everything twice: for any processor, and for those with
AVX2 and FMA; both compute the same, and states go from one to the other. (The build has libraries without the second in tests/base.)
Whatever floating-point environment the host has, results are the same and the environment stays."""

import copy
import ctypes as ct
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fmus import COMPANIONS, CONTROLLER
from importer import CO_SIMULATION, MODEL_EXCHANGE, OK, Instance

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-9  # of the largest number: rounding, amplified by the condition of the mass matrix


@pytest.fixture
def pair(every_fmu, limber):
    """The FMU as it is packed, and with the library for any processor, which is without generated code."""
    base = copy.copy(every_fmu)
    base.file = limber.parent / "tests/base" / f"{every_fmu.name if every_fmu.name in [*COMPANIONS, CONTROLLER] else 'limber_fmu'}.so"
    base.library = ct.CDLL(str(base.file), mode=os.RTLD_LOCAL)
    base.library.fmi2Instantiate.restype = ct.c_void_p
    return every_fmu, base


def host(limber, name, package, *before):
    """Runs a program of tests/host with an FMU, under another if one is given before; (exit code, what it prints)"""
    outputs = [package.reference[each] for each in package.outputs if package.type[each] == "Real"]
    command = [*before, limber.parent / f"tests/host_{name}", package.file, package.guid, package.resources.as_uri(),
               len(package.states) if package.exchanged else "-", *outputs]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    return result.returncode, result.stdout + result.stderr


# ---- the host's floating-point environment ----------------------------------------------------------------------------------


def test_any_floating_point_environment(limber, pair):
    for package in pair: assert host(limber, "environment", package) == (0, "")


# ---- memory that runs out -----------------------------------------------------------------------------------------------------


def test_every_allocation_fails_once(limber, pair):
    """In the FMU or in the C library for it: no crash, no leak, a status and a message, never other numbers."""
    code, text = host(limber, "faults", pair[0])
    assert code == 0 and re.fullmatch(r"\d\d+ allocations\n", text), text


# ---- threads ----------------------------------------------------------------------------------------------------------------


def test_threads_share_nothing(limber, every_fmu):
    """Instances that are made, run and freed in threads at the same time give the same numbers."""
    assert host(limber, "threads", every_fmu) == (0, "")


@pytest.mark.parametrize("name", ["arm", "cylinder", "controller"])
def test_no_races(limber, request, name):
    """helgrind finds no race among instances that are made, run and freed in threads at the same time; this includes json-c and SUNDIALS."""
    if shutil.which("valgrind") is None: pytest.skip("valgrind is missing: build/setup.sh installs it")
    code, text = host(limber, "threads", request.getfixturevalue(name), "valgrind", "--tool=helgrind", "--error-exitcode=3", "-q")
    assert (code, text) == (0, "")


def test_the_seed_of_hashes_is_set_before_threads(limber):
    """json-c sets it at the first hash, without a lock: a data race of the first two instances, if base/vendor.c did not hash before."""
    result = subprocess.run([limber.parent / "tests/host_seed"], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


# ---- what a system must have ------------------------------------------------------------------------------------------------


def test_no_newer_glibc_than_2_17(every_fmu):
    """Every Linux library of the FMU."""
    libraries = sorted((every_fmu.folder / "binaries").glob("linux*/*"))
    assert every_fmu.file in libraries
    for file in libraries:
        table = subprocess.run(["objdump", "-T", file], check=True, capture_output=True, text=True).stdout
        versions = {tuple(map(int, text.split("."))) for text in re.findall(r"GLIBC_([0-9.]+)", table)}
        assert (2, 2, 5) in versions and max(versions) <= (2, 17)


def test_needs_only_libc_and_libm(every_fmu):
    table = subprocess.run(["objdump", "-p", every_fmu.file], check=True, capture_output=True, text=True).stdout
    needed = {line.split()[1] for line in table.splitlines() if line.strip().startswith("NEEDED")}
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    assert not any(word in table for word in ("SONAME", "RPATH", "RUNPATH"))


# ---- two sets of instructions -----------------------------------------------------------------------------------------------


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
    if n == 0: pytest.skip("a spring has no states, and a controller is for co-simulation alone")
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
