"""A crane with its cylinders inside the arm, resources/crane-drives.json, against the same crane in pieces: arm and cylinders as FMUs in
model exchange, integrated as one system of equations (examples/coupling/monolith.py)."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import fmpy
import fmpy.validation
import numpy as np
import pytest
import scipy.integrate

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))
from coupling import system  # noqa: E402
from coupling.monolith import Monolith  # noqa: E402

LINES = ("lift", "fold")
UNTIL, ROW = 1.2, 0.01  # [s]: end of the runs, step of their rows
COMPARED = {"arm": ["lift.length", "fold.length", "tip.position[1]", "tip.position[2]", "boom_joint.q", "jib_joint.q"],
            **{f"cylinder_{line}": ["force", "p1", "p2", "spool", "flow1", "power.valve"] for line in LINES}}


def name_inside(component, variable):
    """What a variable of the pieces is called in the arm with its drives inside."""
    return variable if component == "arm" else f"{component.removeprefix('cylinder_')}.drive.{variable}"


@pytest.fixture(scope="module")
def robot(root):
    return json.loads((root / "resources/crane-drives.json").read_text())


@pytest.fixture(scope="module")
def pieces(limber, root, robot, tmp_path_factory):
    """Folder with the FMUs of the arm without its drives, a cylinder and an axis."""
    folder = tmp_path_factory.mktemp("pieces")
    bare = {**robot, "actuators": [{k: v for k, v in each.items() if k != "drive"} for each in robot["actuators"]]}
    (folder / "arm.json").write_text(json.dumps(bare))
    for words in (["fmu", folder / "arm.json", "-o", folder / "arm.fmu"], ["drive", "cylinder", "-o", folder / "cylinder.fmu"],
                  ["drive", "axis", "-o", folder / "axis.fmu"]):
        subprocess.run([limber, *words], check=True, stdout=subprocess.DEVNULL)
    return folder


def components(robot, axes={}):
    """The crane in pieces; `axes`: parameters of the axis controllers."""
    drives = {each["name"]: {k: v for k, v in each["drive"].items() if k != "type"} for each in robot["actuators"]}
    parts = {"arm": system.Component("arm", "arm.fmu", {})}
    wires = []
    for line in LINES:
        parts[f"cylinder_{line}"] = system.Component(f"cylinder_{line}", "cylinder.fmu", drives[line])
        wires += [system.Connection(("arm", f"{line}.{what}"), (f"cylinder_{line}", what)) for what in ("length", "rate")]
        wires += [system.Connection((f"cylinder_{line}", "force"), ("arm", f"{line}.force"))]
        if line not in axes: continue
        parts[f"axis_{line}"] = system.Component(f"axis_{line}", "axis.fmu", axes[line])
        wires += [system.Connection(("arm", f"{line}.{ours}"), (f"axis_{line}", theirs))
                  for ours, theirs in (("length", "position"), ("rate", "rate"))]
        wires += [system.Connection((f"axis_{line}", "command"), (f"cylinder_{line}", "command"))]
    return system.System("crane", parts, wires, UNTIL)


class Commanded(Monolith):
    """The crane in pieces with given valve commands."""

    def __init__(self, robot, folder):
        super().__init__(components(robot), folder, COMPARED)
        self.ports = [each.port(["command"]) for each in self.instances if each.name.startswith("cylinder")]

    def follow(self, rows, tolerance=1e-10):
        """Rows of the recorded variables: from row to row commands are linear, from (t, u) to (t', u')."""
        nominal = np.concatenate([part.nominal for part in self.parts])
        result, x = [], self.x.copy()

        def f(t, x):
            for port, value in zip(self.ports, u0 + (u1 - u0) * ((t - t0) / (t1 - t0))): port.set(value)
            return self.f(t, x)

        for (t0, u0), (t1, u1) in rows:
            if t1 == t0: continue
            done = scipy.integrate.solve_ivp(f, (t0, t1), x, "DOP853", rtol=tolerance, atol=tolerance * nominal)
            assert done.success, done.message
            x = done.y[:, -1]
            f(t1, x)
            if abs(t1 / ROW - round(t1 / ROW)) < 1e-9: result.append(np.concatenate([each.recorded.get() for each in self.instances]))
        return np.array(result)


@pytest.fixture(scope="module")
def commands(root, robot, pieces):
    """Valve commands of a run in one piece with the axis controllers of resources/crane.ssd: times, and a column for each line."""
    of_ssd = system.read(root / "resources/crane.ssd").components
    axes = {line: {**of_ssd[f"axis_{line}"].parameters, "move[1].time": start} for line, start in zip(LINES, (0.1, 0.3))}
    run = Monolith(components(robot, axes), pieces, {f"axis_{line}": ["command"] for line in LINES})
    times = np.arange(round(UNTIL / ROW) + 1) * ROW
    values = run.run(times, 1e-6)
    run.free()
    assert np.ptp(values, axis=0).min() > 0.02
    return times, values


def simulate(limber, root, folder, rows, held, *options):
    """Columns of `limber simulate` of the crane with drives inside, at the rows of the pieces."""
    with open(folder / "commands.csv", "w") as file:
        table = csv.writer(file)
        table.writerow(["time", *(f"{line}.drive.command" for line in LINES)])
        table.writerows([repr(float(t)), *(repr(float(one)) for one in u)] for t, u in rows)
    out = folder / "inside.csv"
    subprocess.run([limber, "simulate", root / "resources/crane-drives.json", "--until", str(UNTIL), "--step", str(ROW), "--rtol", "1e-9",
                    "--inputs", folder / "commands.csv", *(["--hold"] if held else []), *options, "-o", out], check=True)
    names = out.read_text().split("\n", 1)[0].split(",")
    columns = [names.index(name_inside(part, name)) for part, many in COMPARED.items() for name in many]
    return np.loadtxt(out, delimiter=",", skiprows=2)[:, columns]


def error(inside, pieces):
    """Largest difference of a variable, as a share of its range."""
    found = (np.abs(inside - pieces).max(axis=0) / np.ptp(pieces, axis=0)).max()
    print(f"largest difference {found:.1e} of the range")
    return found


@pytest.fixture(scope="module")
def expected(robot, pieces, commands):
    """The run in one piece with these commands, linear from row to row."""
    rows = list(zip(*commands))
    one_piece = Commanded(robot, pieces)
    result = one_piece.follow(list(zip(rows, rows[1:])))
    one_piece.free()
    return result


@pytest.mark.parametrize("method", ["auto", "cvode", "esdirk", "explicit", "symmetric"])
def test_crane_equals_the_pieces(limber, root, commands, expected, tmp_path, method):
    inside = simulate(limber, root, tmp_path, zip(*commands), False, "--method", method)
    assert error(inside, expected) < 1e-7


def test_dense_newton_matrix(limber, root, commands, expected, tmp_path):
    inside = simulate(limber, root, tmp_path, zip(*commands), False, "--method", "esdirk", "--set", "solver.dense_jacobian=true")
    assert error(inside, expected) < 1e-7


@pytest.mark.parametrize("hold", [1e-3, 1e-2, 5e-2])
def test_held_commands(limber, root, robot, pieces, commands, tmp_path, hold):
    """Commands that a controller holds for `hold` seconds: coupled FMUs with held forces fail at 1.25 ms (docs/coupling.md)."""
    times = np.arange(round(UNTIL / hold) + 1) * hold
    values = np.column_stack([np.interp(times, commands[0], column) for column in commands[1].T])
    edges = np.union1d(np.round(times, 9), np.round(np.arange(round(UNTIL / ROW) + 1) * ROW, 9))
    held = lambda t: values[min(int(t / hold + 1e-6), len(times) - 1)]
    one_piece = Commanded(robot, pieces)
    expected = one_piece.follow([((a, held(a)), (b, held(a))) for a, b in zip(edges, edges[1:])])
    one_piece.free()
    assert error(simulate(limber, root, tmp_path, zip(times, values), True), expected) < 1e-6


def test_fmu_is_valid(pack, root):
    assert fmpy.validation.validate_fmu(str(pack(root / "resources/crane-drives.json"))) == []
