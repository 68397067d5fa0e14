"""The FMUs on which the test of every rule of docs/reliability.md runs: the few of docs/reliability.toml, which together have every
feature, and all with LIMBER_TESTS=all. Robots that are added to resources/ are among all; tests/py/test_reliability.py fails if a companion is not."""

import os
import tomllib
from pathlib import Path

from description import Description
from importer import unzip

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = {file.stem: file for file in sorted((ROOT / "resources").glob("*.json")) if not file.name.endswith(".schema.json")}
TEST_ROBOTS = ROOT / "tests/data/good"
SMALL = TEST_ROBOTS / "f2-plain.json"

GENERATED = "generated"  # code generated for SMALL
COMPANIONS = ["servo", "cylinder", "gear", "spring", "axis", "sling"]
CONTROLLER = "controller"  # of SMALL; for co-simulation alone, because it works in samples

FEW = [fmu["name"] for fmu in tomllib.loads((ROOT / "docs/reliability.toml").read_text(encoding="utf-8"))["fmu"]]
RUN_ALL = os.environ.get("LIMBER_TESTS") == "all"
LISTED = list(dict.fromkeys([*ROBOTS, *FEW, *COMPANIONS])) if RUN_ALL else FEW


def opened(file, folder):
    """The FMU unzipped, with its description and its file."""
    package = unzip(file, folder)
    package.archive, package.description = file, Description(folder / "modelDescription.xml")
    return package
