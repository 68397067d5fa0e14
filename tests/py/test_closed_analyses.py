"""Analyses of closed robots: modes, linearize, zeros, matrices, inverse, check, bench. Against published frequencies and
against each other."""

import copy
import csv
import io
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
DUALEMPS, FOUR_BAR, PARALLELOGRAM, PUMP = (
    ROOT / "resources" / f"{name}.json" for name in ("dualemps", "four-bar", "parallelogram", "concrete-pump"))
LOCKED = [14.212, 25.054, 48.172, 91.938, 110.383, 436.70]  # this model, Hz
PAPER = {"paper's model": [14.22, 25.09, 48.22, 92.37, 109.08], "measured": [14, 25, 48, 93, 108]}


def run(limber, command, robot, *options, state=None):
    return subprocess.run([limber, command, robot, *map(str, options)], input=None if state is None else json.dumps(state),
                          capture_output=True, text=True, timeout=60)


def answer(limber, command, robot, *options, state=None):
    done = run(limber, command, robot, *options, state=state)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def table(limber, command, robot, *options):
    done = run(limber, command, robot, *options)
    assert (done.returncode, done.stderr) == (0, "")
    return columns(done.stdout)


def columns(text):
    rows = list(csv.reader(io.StringIO(text)))
    numbers = np.array(rows[1:], dtype=float)
    return {name: numbers[:, i] for i, name in enumerate(rows[0])}


def write(folder, robot, name="robot.json"):
    file = folder / name
    file.write_text(json.dumps(robot))
    return file


def dualemps(**changes):
    """The robot, every link changed by a function of its name."""
    robot = json.loads(DUALEMPS.read_text())
    for link in robot["links"]:
        for change in changes.values(): change(link)
    return robot


# ---- modes -----------------------------------------------------------------------------------------------------------


def test_dualemps_frequencies(limber):
    found = answer(limber, "modes", DUALEMPS, "--json")
    f = found["frequency"]
    assert len(f) == 9  # 13 coordinates less 2 sliders and 2 equations
    np.testing.assert_allclose(f[:6], LOCKED, rtol=1e-4)
    np.testing.assert_allclose(f[:4], PAPER["paper's model"][:4], rtol=5e-3)
    np.testing.assert_allclose(f[:5], PAPER["measured"], rtol=0.025)
    for shares in found["participation"]:
        assert len(shares) == 11
        assert sum(shares.values()) == pytest.approx(1, rel=1e-12)
    print("\nHz:", np.round(f[:6], 3), PAPER)


@pytest.mark.parametrize("file", [PARALLELOGRAM, FOUR_BAR], ids=lambda file: file.stem)
def test_modes_are_eigenvalues_of_the_minimal_realisation(limber, tmp_path, file):
    """In equilibrium under gravity, where constraint forces stiffen and soften: rates of change and frequencies of both."""
    state = tmp_path / "state.json"
    state.write_text(json.dumps(json.loads(run(limber, "static", file, "--json").stdout)["operating_point"]))
    A = np.array(json.loads(run(limber, "linearize", file, "--minimal", "--at", state).stdout)["A"])
    modes = json.loads(run(limber, "modes", file, "--joints", "free", "--json", "--at", state).stdout)
    found = np.array(modes["damped_growth"]) + 2j * math.pi * np.array(modes["damped_frequency"])
    values = np.linalg.eigvals(A)
    assert 2 * len(found) == len(values) and max(np.abs(values - one).min() / np.abs(values).max() for one in found) < 1e-7


def at(limber, command, file, q, *options):
    """The answer at positions that leave loops open, which is told."""
    done = run(limber, command, file, *options, "--at", "-", state={"q": list(q)})
    assert done.returncode == 0 and "leaves loop" in done.stderr
    return json.loads(done.stdout)


SWEPT = [(FOUR_BAR, "crank_joint", 0.3), (FOUR_BAR, "crank_joint", 4.0), (DUALEMPS, "slide1", 0.3), (PARALLELOGRAM, "foot1", -0.7),
         (PARALLELOGRAM, "foot2", -0.9), (PUMP, "knuckle2", -1.3)]


@pytest.mark.parametrize("file, joint, target", SWEPT, ids=lambda value: getattr(value, "stem", str(value)))
def test_sweeps_and_states_follow_the_same_branch(limber, file, joint, target):
    """The row at a position does not depend on range and spacing of the sweep, and is that of a STATE with this position: of
    driven joints, and of passive ones, which the driven follow."""
    names = answer(limber, "matrices", file, "-", state={})["coordinates"]
    q = np.array(answer(limber, "check", file, "--json")["start"]["q"])
    place = names.index(f"{joint}.q")
    rows = []
    for first, count in (target, 1), (float(q[place]), 2), (target - 0.3, 4), (target + 0.5, 2):
        swept = answer(limber, "modes", file, "--sweep", f"{joint}={first!r}:{target!r}:{count}", "--json")
        rows.append(swept["frequency"][-1])
    q[place] = target
    rows.append(at(limber, "modes", file, q, "--json")["frequency"])
    for row in rows[1:]: np.testing.assert_allclose(row, rows[0], rtol=1e-9, atol=1e-9)
    point = at(limber, "linearize", file, q)["operating_point"]
    assert point["q"][place] == pytest.approx(target, abs=1e-12)


def test_states_do_not_jump_to_another_branch(limber):
    """A crank rocker half a turn on: the rocker stays on its side whatever the guess."""
    names = answer(limber, "matrices", FOUR_BAR, "-", state={})["coordinates"]
    crank, coupler, rocker = (names.index(f"{name}_joint.q") for name in ("crank", "coupler", "rocker"))
    found = []
    for guess in (-0.16, 1.5), (2.0, -1.5), (-3.0, 0.0):
        q = np.zeros(len(names))
        q[[crank, coupler, rocker]] = 3.9, *guess
        found.append(at(limber, "linearize", FOUR_BAR, q)["operating_point"]["q"])
    for other in found[1:]: np.testing.assert_allclose(other, found[0], atol=1e-10)
    assert math.sin(found[0][rocker]) > 0.3


def test_state_that_no_branch_leads_to(limber, tmp_path):
    """It is closed from its own positions, which is told; the loops of the result are closed."""
    reference = json.loads((ROOT / "tests/data/reference/f2-loops.json").read_text())
    robot, q = tmp_path / "robot.json", reference["cases"][0]["q"]
    robot.write_text(json.dumps(reference["robot"]))
    done = run(limber, "linearize", robot, "--at", "-", state={"q": q})
    assert done.returncode == 0 and "no branch of closed poses" in done.stderr
    point = json.loads(done.stdout)["operating_point"]
    gap = answer(limber, "eval", robot, "-", state={"q": point["q"]})["gap"]
    assert np.abs(gap).max() < 1e-9


def test_sweep_out_of_reach(limber):
    done = run(limber, "modes", DUALEMPS, "--sweep", "slide1=0:3:4")
    assert done.returncode == 1 and done.stdout == ""
    assert "apex" in done.stderr and "slide1.q = 2" in done.stderr  # the legs reach 1.2 m


def test_state_that_is_open_is_closed_and_told(limber):
    q = np.zeros(13)
    q[[1, 9]] = 1.0, 2.0
    done = run(limber, "modes", DUALEMPS, "--json", "--at", "-", state={"q": list(q)})
    assert done.returncode == 0 and "'apex'" in done.stderr
    np.testing.assert_allclose(json.loads(done.stdout)["frequency"][:6], LOCKED, rtol=1e-4)


@pytest.mark.parametrize("command", [["modes"], ["linearize"], ["check"], ["bench"],
                                     ["zeros", "--input", "slide1.tau", "--output", "slide1.q"]])
def test_what_cannot_close(limber_sanitized, tmp_path, command):
    robot = dualemps(rigid=rigid)
    robot["links"][6]["joint"].update({"origin": {"xyz": [4, 0, 0]}})
    done = run(limber_sanitized, command[0], write(tmp_path, robot), *command[1:])
    assert done.returncode == 1 and done.stdout == ""
    assert "apex" in done.stderr and "gap of 2.8 m" in done.stderr


# ---- linearize and zeros ----------------------------------------------------------------------------------------------


def minimal(limber, file, *options, state=None):
    system = answer(limber, "linearize", file, "--minimal", *options, state=state)
    return system, *(np.array(system[key]).reshape(len(system[rows]), -1)
                     for key, rows in zip("ABCD", ["states", "states", "outputs", "outputs"]))


def test_minimal_realisation_has_the_same_transfer_function(limber):
    """About an equilibrium."""
    full = answer(limber, "linearize", DUALEMPS)
    system, A, B, C, D = minimal(limber, DUALEMPS)
    assert len(full["states"]) == 26 and len(system["states"]) == 22
    assert {"slide1.q", "slide2.qd", "blade1.eta[1]"} <= set(system["states"]) and "pivot1.q" not in system["states"]
    F = {key: np.array(full[key]) for key in "ABCD"}
    for s in 3j, 40 + 200j, 1000j:
        of_full = F["C"] @ np.linalg.solve(s * np.eye(26) - F["A"], F["B"]) + F["D"]
        of_minimal = C @ np.linalg.solve(s * np.eye(22) - A, B) + D
        np.testing.assert_allclose(of_minimal, of_full, rtol=1e-6, atol=1e-9 * np.abs(of_full).max())


def test_minimal_realisation_follows_prescribed_joints(limber, tmp_path):
    """A prescribed slider takes the passive joints along: differences on the loops, free coordinates held."""
    robot = dualemps()
    robot["links"][0]["joint"]["motion"] = "prescribed"
    robot["links"][1]["joint"]["stiffness"] = 300
    file = write(tmp_path, robot)
    system, A, B, C, D = minimal(limber, file)
    names = answer(limber, "check", file, "--json")["links"]
    names = [name for link in names for name in link["coordinates"]]
    half, q0, step = len(system["states"]) // 2, np.array(system["operating_point"]["q"]), 1e-5
    solved = [i for i, name in enumerate(names) if name not in system["states"] and name != "slide1.q"]
    free = [names.index(name) for name in system["states"][:half]]
    assert [names[i] for i in solved] == ["pivot1.q", "pivot2.q"]

    def on_loops(q):
        for _ in range(20):
            e = json.loads(run(limber, "eval", file, "-", state={"q": list(q)}).stdout)
            if np.abs(e["gap"]).max() < 1e-14: break
            G = np.array(answer(limber, "matrices", file, "-", state={"q": list(q)})["constraint_jacobian"])
            q = q.copy()
            q[solved] -= np.linalg.solve(G[:, solved], e["gap"])
        return np.concatenate([np.array(e["qdd"])[free], e["tip_position"]])

    tips = [system["outputs"].index(f"tip.position[{k}]") for k in (1, 2, 3)]
    known = {"slide1.q": np.concatenate([B[half:, system["inputs"].index("slide1.q")], D[tips, system["inputs"].index("slide1.q")]])}
    for j in 0, 3, half - 1: known[system["states"][j]] = np.concatenate([A[half:, j], C[tips, j]])
    for name, own in known.items():
        e = np.zeros(len(q0))
        e[names.index(name)] = step
        slope = (on_loops(q0 + e) - on_loops(q0 - e)) / (2 * step)
        np.testing.assert_allclose(own, slope, rtol=1e-5, atol=1e-7 * np.abs(slope).max())


def test_zeros_are_those_of_the_transfer_function(limber):
    found = answer(limber, "zeros", DUALEMPS, "--input", "slide1.tau", "--output", "tip.position[2]")
    system = answer(limber, "linearize", DUALEMPS)
    A, B, C = (np.array(system[key]) for key in "ABC")
    b, c = B[:, system["inputs"].index("slide1.tau")], C[system["outputs"].index("tip.position[2]")]
    z, p = (np.array([complex(*x) for x in found[key]]) for key in ("zeros", "poles"))
    for s in 5j, 300j, -20 + 700j:
        value = c @ np.linalg.solve(s * np.eye(len(A)) - A, b)
        factors = found["gain"] * np.exp(np.log(s - z).sum() - np.log(s - p).sum())
        assert factors == pytest.approx(value, rel=1e-5)


# ---- matrices, check, bench -------------------------------------------------------------------------------------------


def test_open_robot_has_no_constraint_jacobian(limber):
    assert "constraint_jacobian" not in answer(limber, "matrices", ROOT / "resources/canadarm.json", "-", state={})


def test_check_tells_loops(limber, tmp_path):
    robot = dualemps()
    robot["loops"][0].update({"type": "ball"})
    del robot["loops"][0]["plane"]
    robot["links"][1]["joint"]["start"]["position"] = 1
    file = write(tmp_path, robot)
    found = answer(limber, "check", file, "--json")
    assert found["loops"] == [{"name": "apex", "type": "ball", "between": ["elbow1", "elbow2"], "equations": 3, "independent": 2}]
    assert any("loops[0] (apex)" in text for text in found["warnings"])
    e = json.loads(run(limber, "eval", file, "-", state=found["start"]).stdout)
    assert np.abs(e["gap"]).max() < 1e-11
    text = run(limber, "check", file).stdout
    assert "ball, 3 equations, 2 independent" in text and "closes at the start: slide1 0 pivot1 1.2309" in text
    f = answer(limber, "modes", file, "--json")["frequency"]
    np.testing.assert_allclose(f[:6], LOCKED, rtol=1e-4)


def test_check_warns_of_links_that_are_deformed_to_close(limber, tmp_path):
    robot = dualemps()
    robot["links"][6]["joint"]["origin"]["xyz"] = [1.22, 0, 0]  # the legs reach 1.2 m
    for link, position in (1, 0.05), (7, 3.1): robot["links"][link]["joint"]["start"]["position"] = position
    assert any("links are deformed" in text for text in answer(limber, "check", write(tmp_path, robot), "--json")["warnings"])


# ---- inverse ---------------------------------------------------------------------------------------------------------

CYCLOID = ["--profile", "cycloid", "--rate", "0.1,0.05", "--period", "1,1", "--until", "0.5", "--step", "0.005"]


def soft(link):
    """Friction without a corner, so that runs are short."""
    if "coulomb" in link["joint"]: link["joint"]["coulomb_velocity"] = 0.05


def rigid(link):
    if "beam" in link: link["beam"]["modes"] = {}


def cycloid(rate, t, T=1.0):
    return rate * (t - T / np.pi * np.sin(np.pi * t / T))


def simulated_error(limber, file, torques, folder):
    inputs = folder / "tau.csv"
    inputs.write_text(torques)
    found = table(limber, "simulate", file, "--inputs", inputs, "--until", 0.5, "--step", 0.005, "--rtol", 1e-9)
    t = found["time"]
    return max(np.abs(found["slide1.q"] - cycloid(0.1, t)).max(), np.abs(found["slide2.q"] - cycloid(0.05, t)).max())


def test_flexible_inverse_simulated(limber, tmp_path):
    file = write(tmp_path, dualemps(soft=soft))
    torques = run(limber, "inverse", file, *CYCLOID)
    assert (torques.returncode, torques.stderr) == (0, "")
    error = simulated_error(limber, file, torques.stdout, tmp_path)
    print("\nslider error", error)
    assert error < 2e-6  # rows 5 ms apart, joined by chords


@pytest.mark.parametrize("more_drives", [False, True])
def test_rigid_inverse_simulated(limber, tmp_path, more_drives):
    """Also with a drive more than the two that suffice: torques are then not unique, any that balance will do."""
    robot = dualemps(soft=soft, rigid=rigid)
    file = write(tmp_path, robot)
    done = run(limber, "inverse", file, *CYCLOID, "--rigid")
    assert (done.returncode, done.stderr) == (0, "")
    torques = done.stdout
    if more_drives:
        moves = tmp_path / "motion.csv"
        (tmp_path / "tau.csv").write_text(torques)
        motion = run(limber, "simulate", file, "--inputs", tmp_path / "tau.csv", "--until", 0.5, "--step", 0.005, "--rtol", 1e-10)
        moves.write_text(motion.stdout)
        robot["links"][1]["joint"]["passive"] = False
        file = write(tmp_path, robot, "driven.json")
        done = run(limber, "inverse", file, "--trajectory", moves, "--rigid")
        assert (done.returncode, done.stderr) == (0, "")
        assert "pivot1.tau" in columns(done.stdout) and np.abs(columns(done.stdout)["pivot1.tau"]).max() > 1e-3
        torques = done.stdout
    assert simulated_error(limber, file, torques, tmp_path) < 2e-6


def test_rigid_inverse_refuses(limber, tmp_path):
    robot = dualemps(soft=soft)
    robot["links"].insert(6, {"name": "pendulum", "joint": {"name": "swing", "type": "revolute", "passive": True}, "rigid": {"mass": 1, "com": [0.1, 0, 0]}})
    done = run(limber, "inverse", write(tmp_path, robot), *CYCLOID, "--rigid")
    assert done.returncode == 3 and "do not determine the motion of the passive joints" in done.stderr
    done = run(limber, "inverse", DUALEMPS, *CYCLOID[:2], "--rate", "8,-8", *CYCLOID[4:], "--rigid")
    assert done.returncode == 3 and "apex" in done.stderr and "t = " in done.stderr
