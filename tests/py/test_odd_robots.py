"""Robots that pass every check of the file and yet cannot be computed with, and results that cannot be written."""
import json
import subprocess

import pytest


def robot(*links):
    return {"format": "limber-robot/1", "name": "odd", "links": list(links)}


def run(limber, tmp_path, description, *arguments, state="{}"):
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(description))
    command = [arguments[0], file, *arguments[1:]]
    return subprocess.run([limber, *command], input=state, capture_output=True, text=True, timeout=120)


def link(name, **more):
    return {"name": name, "joint": {"type": "revolute", "axis": [0.1, 0.2, 0.3]}, **more}


SINGULAR = {
    "point mass on its axis": (robot({"name": "a", "joint": {"type": "revolute"}, "rigid": {"mass": 1, "com": [0, 0, 0.3]}}), "a"),
    "nothing beyond the last joint": (robot(link("a", rigid={"mass": 1, "com": [1, 0, 0]}), link("b", rigid={"mass": 0})), "b"),
    "two joints on one axis": (robot(link("a", rigid={"mass": 0}), link("b", rigid={"mass": 1, "com": [1, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]})), ""),
    "two slides along one line": (
        robot({"name": "a", "joint": {"type": "prismatic", "axis": [1, 2, 3]}, "rigid": {"mass": 0}},
              {"name": "b", "joint": {"type": "prismatic", "axis": [1, 2, 3]}, "rigid": {"mass": 1}}), ""),
}


@pytest.mark.parametrize("algorithm", ["recursive", "composite"])
@pytest.mark.parametrize("name", SINGULAR)
def test_singular_mass_matrix_is_told(limber, tmp_path, name, algorithm):
    description, culprit = SINGULAR[name]
    result = run(limber, tmp_path, description, "eval", "-", "--algorithm", algorithm)
    assert result.returncode == 3 and result.stdout == ""
    assert "nothing resists" in result.stderr and f"'{culprit}" in result.stderr


def test_bench_does_not_time_a_failure(limber, tmp_path):
    result = run(limber, tmp_path, SINGULAR["point mass on its axis"][0], "bench")
    assert result.returncode == 3 and "nothing resists" in result.stderr


@pytest.mark.parametrize("description", [
    robot({"name": "a", "joint": {"type": "revolute"}, "rigid": {"mass": 1e-300, "com": [1e-10, 0, 0], "inertia": [0, 0, 1e-320, 0, 0, 0]}}),
    robot(link("a", beam={"length": 1, "mass_per_length": 1e-300, "EIz": 1e308, "modes": {"y": {"shape": "clamped-free", "count": 2}}})),
], ids=["tiny", "huge"])
def test_answers_are_finite_or_refused(limber, tmp_path, description):
    result = run(limber, tmp_path, description, "eval", "-", state='{"tau": [1]}')
    assert result.returncode == 3 and result.stdout == "" and "finite" in result.stderr


def polynomial(count):
    return robot({"name": "a", "joint": {"type": "revolute"},
                  "beam": {"length": 1, "mass_per_length": 1, "EIz": 1, "modes": {"y": {"shape": "polynomial", "count": count}}}})


def test_shapes_that_are_alike_are_warned_of_and_then_refused(limber, tmp_path):
    assert json.loads(run(limber, tmp_path, polynomial(4), "check", "--json").stdout)["warnings"] == []
    assert "digits" in json.loads(run(limber, tmp_path, polynomial(9), "check", "--json").stdout)["warnings"][0]
    refused = run(limber, tmp_path, polynomial(20), "check")
    assert refused.returncode == 1 and "links[0].beam.modes" in refused.stderr


def test_output_file(limber, tmp_path):
    plain = run(limber, tmp_path, polynomial(3), "eval", "-")
    assert run(limber, tmp_path, polynomial(3), "eval", "-", "-o", tmp_path / "out.json").returncode == 0
    assert (tmp_path / "out.json").read_text() == plain.stdout
    assert run(limber, tmp_path, polynomial(3), "eval", "-", "-o", tmp_path / "no" / "out.json").returncode == 1
    assert run(limber, tmp_path, polynomial(3), "eval", "-", "-o").returncode == 2


@pytest.mark.parametrize("arguments", [["eval", "-"], ["check"], ["check", "--json"]])
def test_a_full_disk_is_no_success(limber, tmp_path, arguments):
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(polynomial(3)))
    with open("/dev/full", "w") as full:
        result = subprocess.run([limber, arguments[0], file, *arguments[1:]], input="{}", stdout=full, stderr=subprocess.PIPE,
                                text=True, timeout=60)
    assert result.returncode == 1 and "could not be written" in result.stderr
