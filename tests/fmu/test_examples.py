"""The examples judge themselves; here they are judged from outside."""

import csv
import json
import os
import subprocess
import sys

import pytest

# coordinates of the DualEMPS in the order of its file, as columns of the example: hermite shapes are deflection and slope at the end
COORDINATES = ["slide1.q", "pivot1.q", *(f"{blade}.{what}" for blade in ("blade1", "blade1b")
                                         for what in ("deflection[2]", "rotation[3]", "deflection[1]")),
               "slide2.q", "pivot2.q", "blade2.deflection[2]", "blade2.rotation[3]", "blade2.deflection[1]"]


@pytest.fixture(scope="module")
def dualemps(root, limber, tmp_path_factory):
    """What four seconds of it print, and its folder."""
    folder = tmp_path_factory.mktemp("dualemps")
    result = subprocess.run([sys.executable, root / "examples/dualemps.py", folder, "--seconds", "4"], capture_output=True,
                            text=True, env={**os.environ, "LIMBER": str(limber)})
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout, folder


def test_dualemps_checks_itself_and_plots(dualemps):
    text, folder = dualemps
    assert text.count("  ok  ") == 4 and "FAILED" not in text
    assert (folder / "dualemps.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("path", ["circle", "square"])
def test_dualemps_is_closed_where_the_example_was(path, dualemps, limber, root):
    """`limber eval`, which closes nothing, at states that the example wrote"""
    with open(dualemps[1] / f"dualemps-{path}.csv", encoding="utf-8") as file: rows = list(csv.DictReader(file))
    assert len(rows) == 4001
    moved = max(abs(float(row["slide1.q"]) - float(rows[0]["slide1.q"])) for row in rows)
    assert moved > 0.05
    for row in rows[1::800]:
        state = json.dumps({"q": [float(row[name]) for name in COORDINATES]})
        result = subprocess.run([limber, "eval", root / "resources/dualemps.json", "-"], input=state, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        assert max(map(abs, json.loads(result.stdout)["gap"])) < 1e-9


def test_dualemps_refuses_a_run_that_is_too_short(root, limber, tmp_path):
    result = subprocess.run([sys.executable, root / "examples/dualemps.py", tmp_path, "--seconds", "2"], capture_output=True,
                            text=True, env={**os.environ, "LIMBER": str(limber)})
    assert result.returncode == 2 and "at least 3" in result.stderr
