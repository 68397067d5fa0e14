"""Paths and packing that the tests share."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def program(variable, default):
    path = Path(os.environ.get(variable, ROOT / default))
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
    """pack(robot file) packs it and gives the FMU's path."""
    folder = tmp_path_factory.mktemp("fmu")
    packed = {}

    def of(robot):
        if robot not in packed:
            result = subprocess.run([limber, "fmu", robot, "-o", folder / f"{robot.stem}.fmu"], capture_output=True, text=True)
            if result.returncode != 0 and "yet" in result.stderr: pytest.skip(result.stderr.strip())
            assert result.returncode == 0, result.stderr
            packed[robot] = folder / f"{robot.stem}.fmu"
        return packed[robot]

    return of
