"""The examples check themselves; here they and their robots are checked from outside."""

import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from program import Program, read_csv, resource

# coordinates of the DualEMPS in the order of its file, as columns of the example: hermite shapes are deflection and slope at the end
COORDINATES = ["slide1.q", "pivot1.q", *(f"{blade}.{what}" for blade in ("blade1", "blade1b")
                                         for what in ("deflection[2]", "rotation[3]", "deflection[1]")),
               "slide2.q", "pivot2.q", "blade2.deflection[2]", "blade2.rotation[3]", "blade2.deflection[1]"]


@pytest.fixture(scope="module")
def example(root, limber, tmp_path_factory):
    """example(NAME, option, ...): what it prints and its folder, in which its picture is; run once."""
    made = {}

    def of(name, *options):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            result = subprocess.run([sys.executable, root / f"examples/{name}.py", folder, *options], capture_output=True, text=True,
                                    env={**os.environ, "LIMBER": str(limber)}, timeout=300)
            assert result.returncode == 0, result.stdout + result.stderr
            made[name] = result.stdout, folder
        return made[name]

    return of


@pytest.fixture(scope="module")
def program(limber, tmp_path_factory): return Program(limber, tmp_path_factory.mktemp("program"))


@pytest.mark.parametrize("name, options, checks, picture", [
    ("dualemps", ["--seconds", "4"], 4, "dualemps"), ("concrete_pump", ["--seconds", "12"], 0, "concrete-pump"), ("boom", ["--seconds", "12"], 3, "boom"),
    ("crane", ["--quick"], 13, "crane"), pytest.param("servo", ["--quick"], 13, "servo", marks=pytest.mark.all), ("control", ["--quick"], 2, None)])
def test_checks_itself_and_plots(example, name, options, checks, picture):
    text, folder = example(name, *options)
    assert text.count("  ok  ") == checks and "FAILED" not in text
    if picture: assert (folder / f"{picture}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name, words, code, says", [("dualemps", ["folder", "--seconds", "2"], 2, "at least 3"), ("crane", ["file"], 1, "crane.py: ")])
def test_wrong_use(root, limber, tmp_path, name, words, code, says):
    """A run that is too short; a folder that is a file."""
    (tmp_path / "file").write_text("")
    result = subprocess.run([sys.executable, root / f"examples/{name}.py", *words], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "LIMBER": str(limber)})
    assert result.returncode == code and says in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("name, rows", [("crane", 8001), pytest.param("servo", 4001, marks=pytest.mark.all)])
def test_both_forms_of_a_system_have_the_same_columns(example, name, rows):
    folder, headers = example(name, "--quick")[1], []
    for form in (name, f"{name}-drives"):
        with zipfile.ZipFile(folder / f"{form}.ssp") as package: assert "SystemStructure.ssd" in package.namelist()
        header, *lines = (folder / f"{form}.csv").read_text().splitlines()
        assert "arm.tip.position[1]" in header and len(lines) == rows
        headers.append(sorted(header.split(",")))
    assert headers[0] == headers[1]


# ---- loops --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["circle", "square"])
def test_dualemps_is_closed_where_the_example_was(example, program, path):
    """`limber eval`, which closes nothing, at states that the example wrote"""
    table = read_csv(example("dualemps", "--seconds", "4")[1] / f"dualemps-{path}.csv")
    assert len(table["time"]) == 4001 and np.abs(table["slide1.q"] - table["slide1.q"][0]).max() > 0.05
    for at in range(1, 4001, 800):
        gap = program.json("eval", resource("dualemps"), "-", state={"q": [table[name][at] for name in COORDINATES]})["gap"]
        assert np.abs(gap).max() < 1e-9


@pytest.mark.parametrize("name", ["concrete-pump", "concrete-pump-drives"])
def test_start_closes_every_loop(program, name):
    """`eval` closes nothing: its gap is that of the start values in the file"""
    assert np.abs(program.json("eval", resource(name), "-", state={})["gap"]).max() < 1e-9


# ---- the concrete pump -------------------------------------------------------------------------------------------------


def test_pressures_hold_the_load(program):
    """p1 A1 - p2 A2 at the static start is the force that `limber static` finds."""
    robot = resource("concrete-pump-drives")
    start = program.simulate(robot, 0.01, 0.01, 1e-6, start_static=1)
    found = program.json("static", robot, "--json")["actuators"]
    for actuator in json.loads(robot.read_text())["actuators"]:
        name, drive = actuator["name"], actuator["drive"]
        force = start[f"{name}.drive.p1"][0] * drive["bore"] ** 2 - start[f"{name}.drive.p2"][0] * (drive["bore"] ** 2 - drive["rod"] ** 2)
        assert np.pi / 4 * force == pytest.approx(found[name], rel=1e-6)


def test_the_concrete_pump(example, program):
    """It stands for two seconds, when the torque is zero, and then slews. The springs of the four feet carry its weight, less that of
    the pads, which rest on the ground; `check` has nothing to warn of."""
    text, folder = example("concrete_pump", "--seconds", "12")
    table, robot = read_csv(folder / "concrete-pump.csv"), resource("concrete-pump")
    assert (folder / "concrete-pump.fmu").is_file() and table["slew.q"][-1] > 0.3 and "energy balance" in text
    for name in ("tip.position[3]", "knuckle1.q", "imu4.specific_force[3]", "gauge1.curvature[2]"):
        assert np.ptp(table[name][:200]) < 1e-6 * abs(table[name][0]), name
    links = {link["name"]: link for link in json.loads(robot.read_text(encoding="utf-8"))["links"]}
    checked = program.json("check", robot, "--json")
    assert checked["warnings"] == []
    carried = sum(-link["joint"]["stiffness"] * table[f"{name}.q"][0] for name, link in links.items() if name.startswith("foot_"))
    pads = sum(link["rigid"]["mass"] for name, link in links.items() if name.startswith("pad_"))
    assert carried == pytest.approx(9.81 * (checked["mass"] - pads), rel=1e-6)
