"""Paths and packing that the tests share."""

import fcntl
import hashlib
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def program(variable, default):
    path = Path(os.environ.get(variable, ROOT / default)).resolve()
    if not path.is_file():
        pytest.fail(f"{path} is missing: run ./test.sh, or name the program in {variable}")
    return path


def quick(config):
    return config.getoption("markexpr") == "quick"


def pytest_ignore_collect(collection_path, config):
    """`pytest -m quick` reads those files alone that have quick tests: importing the others takes as long as the tests."""
    if quick(config) and collection_path.name.startswith("test_") and "mark.quick" not in collection_path.read_text(encoding="utf-8"): return True


def pytest_collection_modifyitems(config, items):
    if os.environ.get("LIMBER_TESTS") == "all": return
    for item in items:
        if item.get_closest_marker("all"): item.add_marker(pytest.mark.skip(reason="takes long: LIMBER_TESTS=all runs it"))


@pytest.fixture(scope="session")
def root():
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def limber():
    """The command line, release build."""
    return program("LIMBER", "build/out/limber")


@pytest.fixture(scope="session")
def limber_sanitized(request):
    """The command line with address and undefined-behaviour sanitizers; the plain one in quick tests, for which there is no other."""
    return request.getfixturevalue("limber") if quick(request.config) else program("LIMBER_SANITIZED", "build/out/sanitize/limber")


@pytest.fixture(scope="session")
def made(limber, tmp_path_factory):
    """made(name, arguments) is the file `name` that `limber ARGUMENTS -o FILE` writes, once for all workers of a session."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ: folder = folder.parent

    def of(name, *arguments):
        words = [str(word) for word in arguments]
        own = folder / hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]  # files of one name may be of different robots
        own.mkdir(exist_ok=True)
        with open(own / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
            if not (own / name).exists():
                result = subprocess.run([limber, *words, "-o", own / name], capture_output=True, text=True)
                assert result.returncode == 0, result.stderr
        return own / name

    return of


@pytest.fixture(scope="session")
def pack(made):
    """pack(robot file, options of `limber fmu`) gives the FMU's path."""
    return lambda robot, *options: made(f"{robot.stem}.fmu", "fmu", robot, *options)
