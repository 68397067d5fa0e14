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


@pytest.fixture(scope="session")
def root():
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def limber():
    """The command line, release build."""
    return program("LIMBER", "build/out/limber")


@pytest.fixture(scope="session")
def limber_sanitized():
    """The command line with address and undefined-behaviour sanitizers."""
    return program("LIMBER_SANITIZED", "build/out/sanitize/limber")


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
