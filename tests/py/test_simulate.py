"""limber simulate: usage, and what it takes from STATE and --set."""
import csv
import json
import subprocess

import pytest

pytestmark = pytest.mark.quick

ARM = {"format": "limber-robot/1", "name": "moved", "gravity": [0, -9.81, 0], "links": [
    {"name": "base", "joint": {"type": "revolute", "motion": "prescribed"}, "rigid": {"mass": 1, "tip": {"xyz": [1, 0, 0]}}},
    {"name": "arm", "joint": {"name": "elbow", "type": "revolute"},
     "beam": {"length": 1, "mass_per_length": 2, "EIz": 500, "modes": {"y": {"shape": "clamped-free", "count": 1}}}}]}


@pytest.fixture
def simulate(limber, tmp_path):
    robot = tmp_path / "robot.json"
    robot.write_text(json.dumps(ARM))

    def of(*options, command="simulate", state=None):
        return subprocess.run([limber, command, robot, *options], input=state, capture_output=True, text=True, timeout=60)
    return of


def test_state_moves_prescribed_joints(simulate):
    """The first row is what eval tells of the state."""
    state = json.dumps({"q": [0.9, 0.4, 0.02], "qd": [0.3, -0.2, 0.1], "prescribed_qdd": [1.5]})
    done = simulate("--until", "0.01", "--step", "0.01", "--at", "-", state=state)
    assert done.returncode == 0, done.stderr
    row = next(csv.DictReader(done.stdout.splitlines()))
    told = json.loads(simulate("-", command="eval", state=state).stdout)
    for k in range(3):
        for name, key in ("position", "tip_position"), ("velocity", "tip_velocity"), ("acceleration", "tip_acceleration"):
            assert float(row[f"tip.{name}[{k + 1}]"]) == pytest.approx(told[key][k], rel=1e-12, abs=1e-12)
    assert float(row["base.tau"]) == pytest.approx(told["prescribed_tau"][0], rel=1e-10)


def test_forces_of_the_state_are_held(limber, root, tmp_path):
    """An arm stays where the operating point of `linearize --static` puts and holds it; inputs by name win."""
    robot, state, torques = root / "resources/cibicik.json", tmp_path / "state.json", tmp_path / "torques.csv"
    run = lambda *words: subprocess.run([limber, *map(str, words)], capture_output=True, text=True, check=True, timeout=60).stdout
    point = json.loads(run("linearize", robot, "--static"))["operating_point"]
    state.write_text(json.dumps({key: point[key] for key in ("q", "tau")}))
    torques.write_text("time,hand_joint.tau\n0,0\n")
    moved = []
    for more in [], ["--inputs", torques]:
        rows = list(csv.DictReader(run("simulate", robot, "--until", 0.2, "--step", 0.2, "--at", state, *more).splitlines()))
        moved.append(max(abs(float(rows[-1][name]) - float(rows[0][name])) for name in rows[0] if name.endswith("joint.q")))
    assert max(map(abs, point["tau"])) > 1 and moved[0] < 1e-6 and moved[1] > 1e-3


@pytest.mark.parametrize("name, meant", [
    ("arm.EIZZ", "arm.EIz"), ("arm.EIy", "arm.EIz"), ("elbow.viscos", "elbow.viscous"), ("gravity", "gravity[1]"), ("arm.eta_start", "arm.eta_start[1]"),
    ("arm.stiffness", None)])
def test_names_of_parameters_are_suggested(simulate, name, meant):
    """Of the same link or joint: elbow.stiffness is not what arm.stiffness means."""
    done = simulate("--until", "1", "--step", "1", "--set", f"{name}=1")
    assert done.returncode == 1 and f"{name}: no such parameter of this robot" in done.stderr
    assert (f'did you mean "{meant}"?' if meant else "robot\n") in done.stderr


def test_values_beyond_all_bounds_are_no_result(simulate):
    done = simulate("--until", "0.2", "--step", "0.1", "--set", "elbow.q_start=1e155")
    assert done.returncode == 3 and "limber: simulate: at t = 0 s: tip.quaternion[1] is not finite" in done.stderr
    assert "nan" not in done.stdout


@pytest.mark.parametrize("setting", ["elastic_terms=1.5", "solver.max_order=2.5", "start_static=7", "solver.method=1.5",
                                     "solver.method=5", "solver.max_steps=0.5", "solver.max_steps=-1", "solver.dense_jacobian=2"])
def test_parameters_that_count_take_whole_numbers(simulate, setting):
    done = simulate("--until", "1", "--step", "1", "--set", setting)
    assert done.returncode == 1 and done.stdout == "" and setting.split("=")[0] in done.stderr


@pytest.mark.parametrize("until, step", [("1e300", "1e-300"), ("1e10", "1e-10")])
def test_too_many_steps_are_wrong_usage(simulate, until, step):
    done = simulate("--until", until, "--step", step)
    assert done.returncode == 2 and done.stdout == "" and "steps" in done.stderr


def test_a_largest_step_without_end_is_given_up(simulate):
    done = simulate("--until", "1", "--step", "0.5", "--set", "solver.max_step=1e-300")
    assert done.returncode == 3 and "too small to reach the end" in done.stderr


def test_json(simulate):
    """The same numbers as in the CSV, digit by digit."""
    options = ["--until", "0.3", "--step", "0.1"]
    names, *rows = csv.reader(simulate(*options).stdout.splitlines())
    done = simulate(*options, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"columns": names, "rows": [[float(number) for number in row] for row in rows]}


def shown(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("code, command, options", [
    (3, "simulate", ["--until", "1", "--step", "0.5", "--set", "solver.max_step=1e-300"]),
    (1, "simulate", ["--until", "1", "--step", "0.5", "--set", "nothing=1"]),
    (2, "simulate", ["--until", "1"]), (1, "inverse", ["--trajectory", "none.csv"]), (1, "eval", ["none.json"])],
    ids=["computation", "input", "usage", "inverse", "eval"])
def test_a_result_stays_when_the_command_fails(simulate, tmp_path, code, command, options):
    before = shown(tmp_path)
    assert simulate(*options, "-o", tmp_path / "new.csv", command=command).returncode == code
    assert shown(tmp_path) == before
    (tmp_path / "old.csv").write_text("time\n0\n")
    assert simulate(*options, "-o", tmp_path / "old.csv", command=command).returncode == code
    assert (tmp_path / "old.csv").read_text() == "time\n0\n" and shown(tmp_path) == sorted([*before, "old.csv"])


def test_second_tables_stay_when_the_command_fails(simulate, tmp_path):
    (tmp_path / "elastic.csv").write_text("kept")
    motion = tmp_path / "motion.csv"
    motion.write_text("time,base.q,base.qd,base.qdd,elbow.q,elbow.qd,elbow.qdd\n0,0,0,0,0,0,0\n1,0,0,1e300,0,0,0\n")
    before = shown(tmp_path)
    done = simulate("--trajectory", motion, "--elastic", tmp_path / "elastic.csv", command="inverse")
    assert done.returncode == 3, done.stderr
    assert (tmp_path / "elastic.csv").read_text() == "kept" and shown(tmp_path) == before


@pytest.mark.parametrize("command, options", [("simulate", ["--until", "1", "--step", "0.5"]),
                                              ("inverse", ["--trajectory", "none.csv"])])
@pytest.mark.parametrize("rtol", ["1", "1e3"])
def test_tolerances_are_below_one(simulate, command, options, rtol):
    done = simulate(*options, "--rtol", rtol, command=command)
    assert (done.returncode, done.stdout) == (2, "") and "--rtol takes a number from 1e-15 to less than 1" in done.stderr
    done = simulate("--until", "1", "--step", "0.5", "--set", f"solver.relative_tolerance={rtol}")
    assert (done.returncode, done.stdout) == (1, "") and "solver.relative_tolerance" in done.stderr and "below 1" in done.stderr


def test_tolerances_just_below_one_are_taken(simulate):
    assert simulate("--until", "0.2", "--step", "0.1", "--rtol", "0.99").returncode == 0


# ---- methods --------------------------------------------------------------------------------------------------------

METHODS = ["auto", "cvode", "esdirk", "explicit", "symmetric"]


def swing(simulate, *options):
    done = simulate("--until", "0.5", "--step", "0.05", "--rtol", "1e-8", "--stats", *options)
    assert done.returncode == 0, done.stderr
    rows = [[float(x) for x in row] for row in list(csv.reader(done.stdout.splitlines()))[1:]]
    return rows, json.loads(done.stderr.splitlines()[-1])


@pytest.mark.parametrize("number, word", list(enumerate(METHODS)))
def test_methods(simulate, number, word):
    """By word, by number and by parameter the same run; --stats says what was used and why; all methods agree."""
    rows, stats = swing(simulate, "--method", word)
    assert swing(simulate, "--method", str(number))[0] == rows
    assert swing(simulate, "--set", f"solver.method={number}")[0] == rows
    assert stats["method"] in METHODS[1:] if word == "auto" else stats["method"] == word
    assert ("solver.method" in stats["reason"]) == (word != "auto") and stats["steps"] > 0
    reference, _ = swing(simulate, "--method", "cvode", "--set", "solver.relative_tolerance=1e-11")
    for row, exact in zip(rows, reference): assert row[:3] == pytest.approx(exact[:3], rel=1e-5, abs=1e-6)


def test_statistics(simulate):
    _, stats = swing(simulate)
    assert list(stats) == ["method", "reason", "steps", "rhs", "jacobians", "restarts", "residuals", "factorizations", "newton_iterations",
                           "error_test_failures", "newton_failures", "events", "cpu_seconds"]
    assert stats["residuals"] > stats["steps"] and stats["jacobians"] == 0
    _, dense = swing(simulate, "--set", "solver.dense_jacobian=true")
    assert dense["residuals"] == 0 and dense["jacobians"] > 0


def test_unknown_method(simulate):
    done = simulate("--until", "1", "--step", "0.5", "--method", "rk4")
    assert (done.returncode, done.stdout) == (2, "") and "auto, cvode, esdirk, explicit or symmetric" in done.stderr and "'rk4'" in done.stderr


def test_two_methods(simulate):
    done = simulate("--until", "1", "--step", "0.5", "--set", "solver.method=2", "--method", "cvode")
    assert (done.returncode, done.stdout) == (2, "") and "--method cvode and --set solver.method=2" in done.stderr


def test_refused_parameter_has_its_unit(simulate):
    done = simulate("--until", "1", "--step", "0.5", "--set", "solver.max_step=-1", "--set", "solver.max_order=7")
    assert (done.returncode, done.stdout) == (1, "")
    assert "solver.max_step = -1 s: must not be negative\n" in done.stderr and "solver.max_order = 7: must be 0 (chosen) or 1 to 5\n" in done.stderr


@pytest.mark.parametrize("method", ["cvode", "explicit"])
def test_methods_without_fixed_steps(simulate, method):
    done = simulate("--until", "1", "--step", "0.5", "--method", method, "--set", "solver.fixed_step=0.01")
    assert (done.returncode, done.stdout) == (1, "") and "solver.fixed_step = 0.01" in done.stderr
    assert "choose solver.method = 0, 2 or 4" in done.stderr


@pytest.mark.parametrize("method", ["auto", "esdirk", "symmetric"])
@pytest.mark.parametrize("fixed, per_row", [(0.05, 1), (0.02, 3), (0.05 / 7, 7), (1, 1), (0.0499999, 2)])
def test_fixed_steps(simulate, method, fixed, per_row):
    _, stats = swing(simulate, "--method", method, "--set", f"solver.fixed_step={fixed!r}")
    assert stats["steps"] == 10 * per_row and stats["error_test_failures"] == stats["newton_failures"] == 0


def test_fixed_steps_converge(simulate):
    reference, _ = swing(simulate, "--method", "cvode", "--set", "solver.relative_tolerance=1e-11")
    errors = []
    for fixed in 4e-3, 1e-3:
        rows, _ = swing(simulate, "--set", f"solver.fixed_step={fixed}")
        errors.append(max(abs(row[1] - exact[1]) for row, exact in zip(rows, reference)))
    assert errors[1] < errors[0] / 16 and errors[1] < 1e-6


def test_steps_are_limited(simulate):
    done = simulate("--until", "1", "--step", "0.5", "--set", "solver.max_steps=3", "--set", "solver.max_step=0.01")
    assert done.returncode == 3 and "solver.max_steps was reached: 3 internal steps" in done.stderr
