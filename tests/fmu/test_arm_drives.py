"""A crane with its cylinders inside the arm, resources/crane-drives.json, against the same crane in pieces: arm and cylinders as FMUs in
model exchange, integrated as one system of equations (examples/coupling/monolith.py)."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.integrate
from program import Program, columns, write_csv

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from coupling import system  # noqa: E402
from coupling.monolith import Monolith  # noqa: E402

LINES = ("lift", "fold")
UNTIL, ROW = 1.2, 0.01  # [s]: end of the runs, step of their rows
COMPARED = {"arm": ["lift.length", "fold.length", "tip.position[1]", "tip.position[2]", "boom_joint.q", "jib_joint.q"],
            **{f"cylinder_{line}": ["force", "p1", "p2", "spool", "flow1", "power.valve"] for line in LINES}}
INSIDE = [name if part == "arm" else f"{part.removeprefix('cylinder_')}.drive.{name}"
          for part, names in COMPARED.items() for name in names]


def commands(t): return np.array([0.06 * np.sin(5 * t), 0.05 * (1 - np.cos(7 * t))]).T


@pytest.fixture(scope="module")
def pieces(made, pack, root, tmp_path_factory):
    """The crane in pieces, as a system, and the folder with its FMUs."""
    folder, robot = tmp_path_factory.mktemp("pieces"), json.loads((root / "resources/crane-drives.json").read_text())
    drives = {each["name"]: {k: v for k, v in each.pop("drive").items() if k != "type"} for each in robot["actuators"]}
    (folder / "arm.json").write_text(json.dumps(robot))
    for file in pack(folder / "arm.json"), made("cylinder.fmu", "drive", "cylinder"): (folder / file.name).symlink_to(file)
    parts, wires = {"arm": system.Component("arm", "arm.fmu", {})}, []
    for line in LINES:
        parts[f"cylinder_{line}"] = system.Component(f"cylinder_{line}", "cylinder.fmu", drives[line])
        wires += [system.Connection(("arm", f"{line}.{what}"), (f"cylinder_{line}", what)) for what in ("length", "rate")]
        wires += [system.Connection((f"cylinder_{line}", "force"), ("arm", f"{line}.force"))]
    return system.System("crane", parts, wires, UNTIL), folder


def in_one_piece(pieces, rows, tolerance=1e-10):
    """Rows of what is compared: commands are linear from (t, u) to (t', u')."""
    crane = Monolith(*pieces, COMPARED)
    ports = [each.port(["command"]) for each in crane.instances if each.name.startswith("cylinder")]
    nominal, result, x = np.concatenate([part.nominal for part in crane.parts]), [], crane.x.copy()

    def f(t, x):
        for port, value in zip(ports, u0 + (u1 - u0) * ((t - t0) / (t1 - t0))): port.set(value)
        return crane.f(t, x)

    for (t0, u0), (t1, u1) in rows:
        done = scipy.integrate.solve_ivp(f, (t0, t1), x, "DOP853", rtol=tolerance, atol=tolerance * nominal)
        assert done.success, done.message
        x = done.y[:, -1]
        f(t1, x)
        if abs(t1 / ROW - round(t1 / ROW)) < 1e-9: result.append(np.concatenate([each.recorded.get() for each in crane.instances]))
    crane.free()
    return np.array(result)


def check_inside(program, root, times, expected, bound, *options):
    """`limber simulate` of the crane with drives inside: the largest difference of a variable, as a share of its range."""
    table = {"time": times, **{f"{line}.drive.command": u for line, u in zip(LINES, commands(times).T)}}
    inputs = write_csv(program.new(".csv"), table)
    found = columns(program.run("simulate", root / "resources/crane-drives.json", "--until", UNTIL, "--step", ROW, "--rtol", 1e-9,
                                "--inputs", inputs, *options))
    error = (np.abs(np.array([found[name][1:] for name in INSIDE]).T - expected).max(axis=0) / np.ptp(expected, axis=0)).max()
    print(f"largest difference {error:.1e} of the range")
    assert error < bound


@pytest.fixture(scope="module")
def program(limber, tmp_path_factory): return Program(limber, tmp_path_factory.mktemp("inside"))


@pytest.fixture(scope="module")
def expected(pieces):
    times = np.arange(round(UNTIL / ROW) + 1) * ROW
    rows = list(zip(times, commands(times)))
    return times, in_one_piece(pieces, zip(rows, rows[1:]))


@pytest.mark.parametrize("method", ["auto", "cvode", "esdirk", "explicit", "symmetric"])
def test_crane_equals_the_pieces(program, root, expected, method):
    check_inside(program, root, *expected, 1e-7, "--method", method)


@pytest.mark.parametrize("hold", [1e-3, 1e-2, 5e-2])
def test_held_commands(program, root, pieces, hold):
    """Commands that a controller holds for `hold` seconds: coupled FMUs with held forces fail at 1.25 ms (docs/coupling.md)."""
    times = np.arange(round(UNTIL / hold) + 1) * hold
    edges = np.union1d(np.round(times, 9), np.round(np.arange(round(UNTIL / ROW) + 1) * ROW, 9))
    held = lambda t: commands(times[min(int(t / hold + 1e-6), len(times) - 1)])
    expected = in_one_piece(pieces, [((a, held(a)), (b, held(a))) for a, b in zip(edges, edges[1:])])
    check_inside(program, root, times, expected, 1e-6, "--hold")
