"""The FMUs on which the test of every rule of docs/reliability.md runs: one list. Robots that are added to resources/ are in it;
tests/py/test_reliability.py fails if a companion is not."""

from pathlib import Path

from description import Description
from importer import unzip

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = {file.stem: file for file in sorted((ROOT / "resources").glob("*.json")) if not file.name.endswith(".schema.json")}
TEST_ROBOTS = ROOT / "tests/data/good"
SMALL = TEST_ROBOTS / "f2-plain.json"

FLOATING = "f2-free"
DRIVEN = "crane-drives"  # drives inside the arm
GENERATED = "generated"  # code generated for SMALL
COMPANIONS = ["servo", "cylinder", "gear", "spring", "axis", "sling"]
CONTROLLER = "controller"  # of SMALL; for co-simulation alone, because it works in samples

EVERY = [*ROBOTS, FLOATING, GENERATED, *COMPANIONS, CONTROLLER]
assert DRIVEN in EVERY


def opened(file, folder):
    """The FMU unzipped, with its description and its file."""
    package = unzip(file, folder)
    package.archive, package.description = file, Description(folder / "modelDescription.xml")
    return package
