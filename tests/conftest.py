"""Paths and packing that the tests share."""

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
def pack(limber, tmp_path_factory):
    """pack(robot file) packs it, once, and gives the FMU's path."""
    packed = {}

    def of(robot):
        if robot not in packed:
            file = tmp_path_factory.mktemp("fmu") / f"{robot.stem}.fmu"  # files of one name may hold different robots
            result = subprocess.run([limber, "fmu", robot, "-o", file], capture_output=True, text=True)
            assert result.returncode == 0, result.stderr
            packed[robot] = file
        return packed[robot]

    return of
