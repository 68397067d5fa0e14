"""Analyses of closed robots: modes, linearize, zeros, matrices, inverse, check, bench. Against published frequencies, against
differences of `limber eval` and `limber matrices`, and against each other."""

import copy
import csv
import io
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

ROOT = Path(__file__).resolve().parents[2]
DUALEMPS, FOUR_BAR, PARALLELOGRAM, PUMP = (
    ROOT / "resources" / f"{name}.json" for name in ("dualemps", "four-bar", "parallelogram", "concrete-pump"))
LOCKED = [14.212, 25.054, 48.172, 91.938, 110.383, 436.70]  # this model, Hz
PAPER = {"paper's model": [14.22, 25.09, 48.22, 92.37, 109.08], "measured": [14, 25, 48, 93, 108]}
TYPES = ["ball", "planar-pin", "pin", "weld"]


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


def smooth(link):
    for key in "viscous", "coulomb": link["joint"].pop(key, None)


def arm(name, x, passive_from, start):
    """Four joints, one beam."""
    axes = [[0, 0, 1], [0, 1, 0.2], [1, 0, 0], [0, 1, 1]]
    beam = {"length": 0.5, "mass_per_length": 0.8, "EIy": 40, "EIz": 30, "GJ": 20, "inertia_per_length": [2e-3, 1e-3, 1e-3],
            "modes": {"y": {"shape": "hermite"}, "twist": {"shape": "linear"}},
            "damping_ratio": 0.01, "foreshortening": True}
    links = []
    for i, axis in enumerate(axes):
        joint = {"name": f"{name}j{i}", "type": "revolute", "axis": axis, "viscous": 0.02, "start": {"position": start[i]},
                 "passive": i >= passive_from, "motor_inertia": 0.01, "stiffness": 0.5}
        link = {"name": f"{name}{i}", "joint": joint}
        if i == 1: link["beam"] = beam
        else: link["rigid"] = {"mass": 0.3, "com": [0.05, 0.01, 0], "inertia": [1e-3, 2e-3, 2.5e-3, 0, 0, 0], "tip": {"xyz": [0.15, 0, 0]}}
        links.append(link)
    links[0]["parent"] = "world"
    links[0]["joint"]["origin"] = {"xyz": [x, 0, 0]}
    return links


def two_arms(kind):
    """Two arms under gravity, joined off their tips."""
    loop = {"name": "grip", "type": kind, "between": ["a3", "b3"],
            "at": [{"xyz": [0.03, 0.02, -0.01], "rpy": [0.3, -0.2, 0.4]}, {"xyz": [-0.02, 0.03, 0.02], "rpy": [0.1, 0.5, -0.3]}]}
    if kind == "planar-pin": loop["plane"] = [[1, 0, 0], [0, 0.6, 0.8]]
    if kind == "pin": loop["axis"] = [0.2, 0.3, 1]
    return {"format": "limber-robot/1", "name": "two_arms", "gravity": [0.5, -1, -9.81],
            "links": arm("a", 0, 2, [1.4, -0.7, 0.4, -1.3]) + arm("b", 0.5, 1, [1.8, -0.6, -0.8, -1.7]), "loops": [loop]}


def closed_start(limber, file):
    return {key: np.array(value) for key, value in answer(limber, "check", file, "--json")["start"].items()}


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


def differences(limber, file, q, moving, multipliers, step=1e-6):
    """d/dq of M qdd + h - G' lambda at rest, and d/dqd of it."""
    n = len(q)

    def bias(x, rate):
        return np.array(json.loads(run(limber, "eval", file, "-", state={"q": list(x), "qd": list(rate)}).stdout)["bias"])

    def held(x):
        jacobian = np.array(answer(limber, "matrices", file, "-", state={"q": list(x)})["constraint_jacobian"])
        return bias(x, np.zeros(n)) - jacobian.T @ multipliers

    K, D = np.zeros((n, n)), np.zeros((n, n))
    for j in moving:
        e = np.zeros(n)
        e[j] = step
        K[:, j] = (held(q + e) - held(q - e)) / (2 * step)
        D[:, j] = (bias(q, e) - bias(q, -e)) / (2 * step)
    return K[np.ix_(moving, moving)], D[np.ix_(moving, moving)]


@pytest.mark.parametrize("kind, joints", [*((kind, "locked") for kind in TYPES), ("pin", "free")])
def test_modes_against_differences(limber, tmp_path, kind, joints):
    file = write(tmp_path, two_arms(kind))
    q = closed_start(limber, file)["q"]
    matrices = answer(limber, "matrices", file, "-", state={"q": list(q)})
    names, M, G = matrices["coordinates"], np.array(matrices["M"]), np.array(matrices["constraint_jacobian"])
    driven = ["aj0.q", "aj1.q", "bj0.q"] if joints == "locked" else []
    moving = [i for i, name in enumerate(names) if name not in driven]
    bias = np.array(json.loads(run(limber, "eval", file, "-", state={"q": list(q)}).stdout)["bias"])

    # multipliers of the forward dynamics with the driven joints held
    M, G, k = M[np.ix_(moving, moving)], G[:, moving], len(G)
    kkt = np.block([[M, -G.T], [G, np.zeros((k, k))]])
    multipliers = np.linalg.solve(kkt, np.concatenate([-bias[moving], np.zeros(k)]))[len(moving):]
    assert np.linalg.norm(multipliers) > 0.1
    K, D = differences(limber, file, q, moving, multipliers)
    N = scipy.linalg.null_space(G)
    K, D, M = N.T @ K @ N, N.T @ D @ N, N.T @ M @ N
    square, phi = scipy.linalg.eigh(0.5 * (K + K.T), M)
    order = np.argsort(np.where(square > 0, square, 0), kind="stable")

    found = answer(limber, "modes", file, "--joints", joints, "--json")
    f = np.array(found["frequency"])
    assert len(f) == len(moving) - k
    expected = np.sqrt(np.maximum(square, 0)) / (2 * np.pi)
    np.testing.assert_allclose(f, expected[order], rtol=1e-6, atol=1e-5)
    growing = [g for g in found["growth"] if g > 0]
    np.testing.assert_allclose(sorted(growing), sorted(np.sqrt(-square[square < 0])), rtol=1e-5)
    zeta = [v @ D @ v / (2 * np.sqrt(s)) for v, s in zip(phi.T, square) if s > 1]
    np.testing.assert_allclose(np.array(found["damping_ratio"])[-len(zeta):], zeta, rtol=1e-5)


def test_sweep_closes_the_rest(limber, tmp_path):
    swept = answer(limber, "modes", DUALEMPS, "--sweep", "slide1=-0.1:0.3:3", "--json")
    robot = dualemps()
    robot["format"], robot["loops"][0]["start"] = "limber-robot/2", "approximate"
    for position, row in zip(swept["position"], swept["frequency"]):
        robot["links"][0]["joint"]["start"] = {"position": position}
        f = answer(limber, "modes", write(tmp_path, robot), "--json")["frequency"]
        np.testing.assert_allclose(row, f, rtol=1e-9)
    assert abs(swept["frequency"][0][2] - swept["frequency"][2][2]) > 1e-3


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


def test_sweep_of_a_passive_joint(limber):
    """The joint that is swept stays where it is put: the sliders give way."""
    swept = answer(limber, "modes", DUALEMPS, "--sweep", "pivot1=1.2309594173407747:1.4:2", "--json")
    np.testing.assert_allclose(swept["frequency"][0][:6], LOCKED, rtol=1e-4)
    assert not np.allclose(swept["frequency"][1][:6], LOCKED, rtol=1e-4)


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


@pytest.mark.parametrize("kind", TYPES)
def test_linearize_against_differences(limber, tmp_path, kind):
    """In motion, every state."""
    robot = two_arms(kind)
    for i, link in enumerate(robot["links"]): link["joint"]["start"]["velocity"] = 0.3 * (-1) ** i
    file = write(tmp_path, robot)
    system = answer(limber, "linearize", file)
    point, n = system["operating_point"], len(system["states"]) // 2
    A, C = np.array(system["A"]), np.array(system["C"])
    forces = [i for i, name in enumerate(system["outputs"]) if name.startswith("grip.force")]
    at = json.loads(run(limber, "eval", file, "-", state=point).stdout)
    assert np.abs(at["gap"]).max() < 1e-11 and np.abs(at["gap_rate"]).max() < 1e-11
    np.testing.assert_allclose(point["qdd"], at["qdd"], rtol=1e-9, atol=1e-9)
    step = 1e-6
    for j in range(2 * n):
        change = []
        for sign in 1, -1:
            x = np.concatenate([point["q"], point["qd"]])
            x[j] += sign * step
            e = json.loads(run(limber, "eval", file, "-", state={"q": list(x[:n]), "qd": list(x[n:])}).stdout)
            change.append(np.array(e["qdd"] + e["lambda"]))
        slope = (change[0] - change[1]) / (2 * step)
        own = np.concatenate([A[n:, j], C[forces, j]])
        np.testing.assert_allclose(own, slope, rtol=1e-5, atol=1e-7 * np.abs(A).max())


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


def test_minimal_realisation_has_the_frequencies(limber, tmp_path):
    file = write(tmp_path, dualemps(smooth=smooth))
    _, A, *_ = minimal(limber, file)
    poles = np.sort(np.abs(np.linalg.eigvals(A)))[4::2] / (2 * np.pi)
    np.testing.assert_allclose(poles, answer(limber, "modes", file, "--joints", "free", "--json")["frequency"][2:], rtol=1e-6)


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


def test_zeros_of_a_drive_are_the_frequencies_with_it_locked(limber, tmp_path):
    """Torque to the joint's own position, no friction: zeros on the imaginary axis, where the robot rings with that joint locked."""
    robot = dualemps(smooth=smooth)
    found = answer(limber, "zeros", write(tmp_path, robot), "--input", "slide1.tau", "--output", "slide1.q")
    zeros = np.array(found["zeros"])
    assert found["minimum_phase"] and found["relative_degree"] == 2 and np.all(zeros[:, 0] == 0)
    robot["links"][0]["joint"]["motion"] = "prescribed"
    f = answer(limber, "modes", write(tmp_path, robot), "--joints", "free", "--json")["frequency"]
    np.testing.assert_allclose(zeros[zeros[:, 1] > 0, 1] / (2 * np.pi), f[1:], rtol=1e-7)
    poles = np.array(found["poles"])
    assert np.all(np.abs(poles[poles[:, 1] > 0, 1]) > zeros[zeros[:, 1] > 0, 1])  # they alternate
    assert len(poles) == len(zeros) + 2 == 20  # 22 less the pair at the origin: the other slider


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


def test_static_operating_point(limber, tmp_path):
    """Torques that hold the sliders while a spring pulls at a passive joint of the stiff robot."""
    robot = dualemps()
    for link in robot["links"]:
        if "beam" in link: link["beam"]["modes"] = {}
    robot["links"][1]["joint"].update({"stiffness": 50, "rest": 1})
    del robot["links"][0]["joint"]["viscous"]
    file = write(tmp_path, robot)
    point = answer(limber, "linearize", file, "--static")["operating_point"]
    assert np.abs(point["qdd"]).max() < 1e-9 and np.abs(point["tau"]).max() > 1


def test_static_operating_point_under_gravity(limber, tmp_path):
    robot = dualemps()
    robot["gravity"] = [0, -9.81, 0]
    file = write(tmp_path, robot)
    point = answer(limber, "linearize", file, "--static")["operating_point"]
    assert np.abs(point["qdd"]).max() < 1e-5
    weight = 9.81 * answer(limber, "check", file, "--json")["mass"]
    assert sum(point["tau"]) == pytest.approx(weight, rel=1e-8)  # the sliders carry all of it


# ---- matrices, check, bench -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TYPES)
def test_constraint_jacobian(limber, tmp_path, kind):
    file = write(tmp_path, two_arms(kind))
    q, step = closed_start(limber, file)["q"], 1e-6
    G = np.array(answer(limber, "matrices", file, "-", state={"q": list(q)})["constraint_jacobian"])
    for j in range(len(q)):
        e = np.zeros(len(q))
        e[j] = step
        gaps = [json.loads(run(limber, "eval", file, "-", state={"q": list(q + s * e)}).stdout)["gap"] for s in (1, -1)]
        np.testing.assert_allclose(G[:, j], (np.array(gaps[0]) - gaps[1]) / (2 * step), atol=1e-8)


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


def test_bench(limber):
    found = answer(limber, "bench", DUALEMPS, "--json")
    assert all(found[key] > 0 for key in ("forward_ns", "composite_ns", "inverse_ns"))


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


def test_rigid_inverse_is_that_of_stiff_links(limber, tmp_path):
    """Elastic motion and its torques fall with the stiffness; damped, so that no ringing is left to integrate."""
    fast = ["--profile", "cycloid", "--rate", "1,0.5", "--period", "0.1,0.1", "--until", "0.1", "--step", "0.005", "--rtol", "1e-10"]

    def stiff(factor):
        def change(link):
            if "beam" not in link: return
            link["beam"]["damping_ratio"] = 0.5
            for key in "EIz", "EA": link["beam"][key] *= factor
        return change

    expected = table(limber, "inverse", write(tmp_path, dualemps(soft=soft)), *fast[:-2], "--rigid")
    distance = []
    for factor in 1, 1000:
        found = table(limber, "inverse", write(tmp_path, dualemps(soft=soft, stiff=stiff(factor))), *fast)
        distance.append(max(np.abs(found[key] - expected[key]).max() / np.abs(expected[key]).max() for key in ("slide1.tau", "slide2.tau")))
    print("\nrigid and flexible torques differ by", distance)
    assert distance[1] < 1e-4 and distance[1] < 0.05 * distance[0]


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
