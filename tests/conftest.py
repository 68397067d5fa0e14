"""Paths that the tests share."""

import os
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
