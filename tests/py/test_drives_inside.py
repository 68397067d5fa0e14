"""Drives inside the arm in the commands: modes with oil stiffness, linearization, static start, eval, inverse; and the schema, which
repeats the parameters of the companions."""

import io
import json
import math
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
CRANE = ROOT / "resources/crane-drives.json"
CYLINDER = {"type": "cylinder", "bore": 0.1, "rod": 0.05, "length_closed": 0.5, "stroke": 1, "coulomb": 0, "viscous": 0, "leakage": 0,
            "clearance": 0, "overlap": 0.1, "air": 0, "bulk_modulus": 1e9, "pressure_start": 1e6}


def run(limber, *words, **more):
    return subprocess.run([limber, *map(str, words)], capture_output=True, text=True, **more)


def answer(limber, *words):
    done = run(limber, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def slide(drive, gravity=-10.0):
    """A mass of 100 kg on a vertical slide, 1 m above the ground, that a line actuator carries."""
    return {"format": "limber-robot/2", "name": "slide", "gravity": [0, 0, gravity],
            "links": [{"name": "mass", "joint": {"name": "z", "type": "prismatic", "axis": [0, 0, 1], "passive": True, "start": {"position": 1}},
                       "rigid": {"mass": 100}}],
            "actuators": [{"name": "jack", "type": "line", "from": {"link": "world", "xyz": [0, 0, 0]},
                           "to": {"link": "mass", "frame": "hinge", "xyz": [0, 0, 0]}, "drive": drive}]}


@pytest.fixture
def write(tmp_path):
    def write(robot, name="robot.json"):
        (tmp_path / name).write_text(json.dumps(robot))
        return tmp_path / name
    return write


@pytest.mark.quick
def test_mass_on_oil(limber, write):
    """Valve closed: two oil springs in parallel, A^2 beta/V each, and a damping ratio of rounding."""
    file = write(slide({**CYLINDER, "force_start": 1000}))
    modes = answer(limber, "modes", file, "--json")
    areas = [math.pi / 4 * 0.1**2, math.pi / 4 * (0.1**2 - 0.05**2)]
    stiffness = sum(A**2 * 1e9 / (A * (0.05 + s)) for A, s in zip(areas, (0.5, 0.5)))
    frequency = math.sqrt(stiffness / 100) / (2 * math.pi)
    near = np.abs(np.array(modes["frequency"]) / frequency - 1)
    assert near.min() < 1e-9
    assert abs(modes["damping_ratio"][near.argmin()]) < 1e-9
    assert sum(modes["participation"][near.argmin()].values()) == pytest.approx(1)


@pytest.mark.quick
def test_mass_on_a_spring(limber, write):
    file = write(slide({"type": "spring", "stiffness": 4e4, "damping": 40, "rest_length": 1.1}))
    modes = answer(limber, "modes", file, "--static", "--json")
    w, zeta = math.sqrt(400), 40 / (2 * 100 * 20)
    assert modes["frequency"] == pytest.approx([w * math.sqrt(1 - zeta**2) / (2 * math.pi)], rel=1e-9)
    assert modes["damping_ratio"] == pytest.approx([zeta], rel=1e-9)
    static = answer(limber, "static", file, "--json")
    assert static["positions"]["z.q"] == pytest.approx(1.1 - 1000 / 4e4, rel=1e-9)
    assert static["actuators"]["jack"] == pytest.approx(1000, rel=1e-9)


@pytest.mark.quick
def test_modes_are_eigenvalues_of_the_linearization(limber):
    A = np.array(answer(limber, "linearize", CRANE, "--static")["A"])
    modes = answer(limber, "modes", CRANE, "--static", "--json")
    values = np.linalg.eigvals(A)
    expected = sorted((abs(one.imag) / (2 * math.pi), one.real) for one in values if one.imag >= 0)
    found = sorted(zip(modes["frequency"], modes["growth"]))
    assert np.allclose([f for f, _ in found], [f for f, _ in expected], rtol=1e-6, atol=1e-6)
    assert np.allclose(sorted(g for _, g in found), sorted(g for _, g in expected), rtol=1e-4, atol=1e-4)


@pytest.mark.quick
def test_static_start_holds(limber, write, tmp_path):
    """Pressures that carry the weight: nothing moves, and the force is that of `limber static`."""
    file = write(slide(CYLINDER))
    out = tmp_path / "run.csv"
    done = run(limber, "simulate", file, "--until", 1, "--step", 0.5, "--set", "start_static=true", "-o", out)
    assert done.returncode == 0, done.stderr
    names = out.read_text().split("\n", 1)[0].split(",")
    rows = np.loadtxt(out, delimiter=",", skiprows=1)
    column = lambda name: rows[:, names.index(name)]
    areas = [math.pi / 4 * 0.1**2, math.pi / 4 * (0.1**2 - 0.05**2)]
    assert column("jack.force") == pytest.approx(np.full(3, 1000.0), rel=1e-9)
    assert column("jack.drive.p1") * areas[0] - column("jack.drive.p2") * areas[1] == pytest.approx(np.full(3, 1000.0), rel=1e-9)
    assert column("z.q") == pytest.approx(np.ones(3), abs=1e-12)


# joint and actuator besides those of slide(); what is refused, exit code and message. Where a stop would need more than the pump has, the stop is
# named; a spring that carries the mass 2.5 m away takes it where the cylinder does not reach
REFUSED = [
    (slide({**CYLINDER, "supply_pressure": 1e5, "pressure_start": 0}), {}, ["static"], 1, "jack.drive"),
    (slide(CYLINDER), {"start": {"position": 1.51}}, ["static"], 1, "jack.drive: static start: holding force against an end stop = 1001000 N"),
    (slide({"type": "spring"}), {}, ["static", "--hold-actuators", "jack"], 1, "'jack': the force of a spring follows from its length"),
    (slide({"type": "spring"}), {}, ["static", "--free-actuators", "jack"], 1, "'jack': the force of a spring follows from its length"),
    (slide({"type": "spring"}), {}, ["inverse", "--profile", "cycloid", "--rate", 1, "--period", 1, "--until", 1, "--step", 1], 1, "springs as drives"),
    (slide(CYLINDER, gravity=10.0), {"stiffness": 400, "static": "free"}, ["static", "--free-actuators", "jack"], 3,
     "jack.drive: the length is outside the range of the cylinder")]


@pytest.mark.quick
@pytest.mark.parametrize("robot, joint, command, code, text", REFUSED)
def test_what_drives_cannot_do(limber, write, robot, joint, command, code, text):
    robot["links"][0]["joint"] |= joint
    done = run(limber, command[0], write(robot), *command[1:])
    assert done.returncode == code and text in done.stderr, done.stderr


def test_what_drives_tell_are_outputs(limber, write):
    """States, pressures and powers, so that an importer may connect and a linearization have them."""
    outputs = answer(limber, "linearize", write(slide({**CYLINDER, "force_start": 1000})))["outputs"]
    for name in "p1", "p2", "spool", "spool_rate", "line1", "power.supply", "power.mechanical", "power.compression":
        assert f"jack.drive.{name}" in outputs
    assert "jack.force" in outputs and "jack.drive.length" not in outputs and "jack.drive.rate" not in outputs


@pytest.mark.quick
def test_static_start_with_relieved_chambers(limber, write, tmp_path):
    """A counterbalance valve holds the load, and the other chamber is at tank pressure; without it the load is refused."""
    drive = {**CYLINDER, "clearance": 1e-4, "overlap": 0, "tank_underlap": 0.05, "tank_pressure": 3e5}
    start = lambda file: run(limber, "simulate", file, "--until", "1", "--step", "1", "--set", "start_static=1", "-o", tmp_path / "out.csv")
    refused = start(write(slide(drive)))
    assert refused.returncode == 1 and "relieves chamber 1" in refused.stderr
    assert start(write(slide({**drive, "counterbalance1": 2e7}))).returncode == 0
    names, first, last = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    value = lambda row, name: float(row[names.index(name)])
    assert value(first, "jack.drive.p2") == 3e5
    assert abs(value(last, "z.q") - value(first, "z.q")) < 1e-5


def test_a_line_that_is_too_short_for_its_cylinder(limber, write):
    """`check` warns with the length; none of the lengths that the cylinder can have is warned about."""
    ranges = {"length_closed": 0.6, "stroke": 0.5, "dead_length": 0.05}
    for closed, warned in ((0.6, False), (1.04, False), (1.06, True), (0.46, False), (0.44, True)):
        told = answer(limber, "check", write(slide({**CYLINDER, **ranges, "length_closed": closed})), "--json")["warnings"]
        assert any("jack.drive: 1 m long at the start" in line for line in told) == warned, (closed, told)


def test_eval_has_the_forces_of_drives(limber, write):
    """STATE with states of the drive: p1 A1 - p2 A2 on the mass."""
    file = write(slide(CYLINDER))
    state = write({"drive_states": [3e6, 1e6, 0, 0]}, "state.json")
    areas = [math.pi / 4 * 0.1**2, math.pi / 4 * (0.1**2 - 0.05**2)]
    force = 3e6 * areas[0] - 1e6 * areas[1]
    assert answer(limber, "eval", file, state)["qdd"] == pytest.approx([force / 100 - 10], rel=1e-12)
    linear = answer(limber, "linearize", file, "--at", state)
    assert linear["operating_point"]["qdd"] == pytest.approx([force / 100 - 10], rel=1e-12)


def test_inputs_of_drives_in_a_state(limber, write):
    """The command acts on the spool, and names that do not exist are refused."""
    file = write(slide(CYLINDER))
    opened = answer(limber, "linearize", file, "--at", write({"drive_states": [3e6, 1e6, 0.5, 0], "drive_inputs": {"jack.drive.command": 0.5}}, "state.json"))
    A, names = np.array(opened["A"]), opened["states"]
    p1 = names.index("jack.drive.p1")
    assert A[p1, names.index("jack.drive.spool")] > 0 and A[p1, p1] < 0
    wrong = run(limber, "linearize", file, "--at", write({"drive_inputs": {"jack.drive.comand": 0.5}}, "wrong.json"))
    assert wrong.returncode == 1 and "jack.drive.comand" in wrong.stderr


@pytest.mark.parametrize("command", [["static"], ["linearize", "--static"]])
def test_the_operating_point_has_the_commands_that_hold(limber, write, tmp_path, command):
    """As a STATE it stays: the servos' references are the positions."""
    file, out = ROOT / "resources/cibicik-servo-drives.json", tmp_path / "run.csv"
    point = answer(limber, command[0], file, "--json", *command[1:])["operating_point"]
    assert point["drive_inputs"]["boom_joint.drive.reference"] == pytest.approx(math.pi / 6)
    done = run(limber, "simulate", file, "--at", write(point, "state.json"), "--until", 1, "--step", 0.5, "-o", out)
    assert done.returncode == 0, done.stderr
    names, *rows = [line.split(",") for line in out.read_text().splitlines()]
    for name in "boom_joint.q", "jib_joint.q", "hand_joint.q":
        assert np.ptp([float(row[names.index(name)]) for row in rows]) < 1e-6


def inverse(limber, file, folder):
    motion = folder / "motion.csv"
    motion.write_text("time,z.q,z.qd,z.qdd\n0,1,0,0\n1,1,0,0\n")
    return run(limber, "inverse", file, "--trajectory", motion, "-o", folder / "forces.csv")


def test_inverse_dynamics_finds_the_forces(limber, write, tmp_path):
    """The drive is left out: the force that moves the mass is found."""
    done = inverse(limber, write(slide(CYLINDER)), tmp_path)
    assert done.returncode == 0, done.stderr
    table = [line.split(",") for line in (tmp_path / "forces.csv").read_text().strip().split("\n")]
    force = [float(row[table[0].index("jack.force")]) for row in table[1:]]
    assert force == pytest.approx([1000.0] * len(force), rel=1e-9)


@pytest.mark.parametrize("name", ["servo", "gear", "cylinder", "spring"])
def test_schema_has_the_parameters_of_the_companion(limber, tmp_path, name):
    """Names, order, defaults, units and descriptions."""
    fmu = tmp_path / "drive.fmu"
    assert run(limber, "drive", name, "-o", fmu).returncode == 0
    with zipfile.ZipFile(io.BytesIO(fmu.read_bytes())) as archive:
        description = ElementTree.fromstring(archive.read("modelDescription.xml"))
    expected = {node.get("name"): (float(node[0].get("start")), f"{node.get('description')} [{node[0].get('unit')}]")
                for node in description.iter("ScalarVariable")
                if node.get("causality") == "parameter" and not node.get("name").startswith("solver.")}
    schema = json.loads((ROOT / "resources/limber-robot-3.schema.json").read_text())["$defs"][name]["properties"]
    found = {key: (value["default"], value["description"]) for key, value in schema.items() if key not in ("type", "supply")}
    assert list(found) == list(expected)
    for key, (default, text) in expected.items():
        assert found[key][0] == pytest.approx(default, rel=1e-15) and found[key][1] == text, key
