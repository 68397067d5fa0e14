"""limber simulate --inputs: what the inputs do between rows, and which rows cost steps."""
import json
import subprocess

import numpy as np
import pytest

from program import ROOT, columns, write_csv

SLIDER_CRANK = ROOT / "tests/data/slider-crank.json"
CANADARM = ROOT / "resources/canadarm.json"
TORQUES = ["upper_joint.tau", "lower_joint.tau", "wrist_joint.tau"]
# a mass of 2 kg on a guide, and beside it a turntable with prescribed motion
TWO = {"format": "limber-robot/2", "name": "two", "gravity": [0, 0, 0], "tip": "table", "links": [
    {"name": "mass", "joint": {"name": "guide", "type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2}},
    {"name": "table", "parent": "world", "joint": {"name": "turn", "type": "revolute", "axis": [0, 0, 1], "motion": "prescribed",
                                                   "start": {"position": 0.25, "velocity": 0.5}},
     "rigid": {"mass": 1, "tip": {"xyz": [1, 0, 0]}}}]}


@pytest.fixture
def run(limber, tmp_path):
    """run(robot, table, until, step, ...): {variable: values}, statistics."""
    (tmp_path / "two.json").write_text(json.dumps(TWO))

    def of(robot, table, until, step, *options, code=0):
        file = write_csv(tmp_path / "inputs.csv", table)
        words = ["simulate", robot or tmp_path / "two.json", "--inputs", file, "--until", until, "--step", step, "--stats", *options]
        done = subprocess.run([limber, *map(str, words)], capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stderr
        return (columns(done.stdout), json.loads(done.stderr)) if code == 0 else done.stderr
    return of


def turned(result):
    """q, qd, qdd of the turntable, from its tip."""
    x, y = result["tip.position[1]"], result["tip.position[2]"]
    velocity, acceleration = ([result[f"tip.{name}[{k}]"] for k in (1, 2)] for name in ("velocity", "acceleration"))
    return np.unwrap(np.arctan2(y, x)), x * velocity[1] - y * velocity[0], x * acceleration[1] - y * acceleration[0]


def motion(name, t, q, qd, qdd):
    return {"time": t, f"{name}.q": q, f"{name}.qd": qd, f"{name}.qdd": qdd}


def crank(t, rate=150, T=0.02):
    """From rest, smoothly, to 150 rad/s in 20 ms."""
    w = np.pi / T
    return motion("motor", t, rate / 2 * (t - np.sin(w * t) / w), rate / 2 * (1 - np.cos(w * t)), rate / 2 * w * np.sin(w * t))


# ---- prescribed motion ----------------------------------------------------------------------------------------------


def test_a_closed_flexible_slider_crank_follows_its_crank(run):
    """10 ms with rows of 0.1 ms: took half a million steps when q, qd and qdd were not one curve."""
    _, statistics = run(SLIDER_CRANK, crank(np.linspace(0, 0.01, 101)), 0.01, 1e-4)
    print("slider-crank, 10 ms:", statistics)
    assert statistics["steps"] < 2500 and statistics["restarts"] == 1


def test_the_quintic_goes_through_q_qd_and_qdd_of_both_rows(run):
    """Rows that contradict each other too: position, rate and acceleration are those of one polynomial of degree 5."""
    t, rows = np.array([0, 0.4, 1.0]), np.array([[0.1, 1, -2], [0.9, -0.5, 3], [0.3, 0.2, 0.1]])
    result, _ = run(None, motion("turn", t, *rows.T), 1, 0.02)
    found = turned(result)
    for a, b, A, B in zip(t, t[1:], rows, rows[1:]):
        powers = lambda s: np.array([[s**k for k in range(6)], [k * s**(k - 1) if k else 0 for k in range(6)],
                                     [k * (k - 1) * s**(k - 2) if k > 1 else 0 for k in range(6)]])
        c = np.linalg.solve(np.vstack([powers(a), powers(b)]), np.concatenate([A, B]))
        for i, s in enumerate(result["time"]):
            if a <= s <= b: assert [x[i] for x in found] == pytest.approx(powers(s) @ c, rel=1e-9, abs=1e-9)


def test_motion_rests_before_the_first_and_after_the_last_row(run):
    t = np.array([0.3, 0.5, 0.7])
    result, _ = run(None, motion("turn", t, 1 + t, np.ones(3), np.zeros(3)), 1, 0.1)
    q, qd, qdd = turned(result)
    assert q == pytest.approx(1 + np.clip(result["time"], 0.3, 0.7), rel=1e-12) and np.abs(qdd).max() < 1e-9
    within = (result["time"] > 0.3 + 1e-9) & (result["time"] < 0.7 + 1e-9)
    assert qd == pytest.approx(np.where(within, 1, 0), abs=1e-9)


@pytest.mark.parametrize("given", ["q", "q qd", "q qdd", "qd", "qd qdd", "qdd"])
def test_columns_that_are_left_out_are_derived(run, given):
    """The error falls to second order or better with the distance of rows; integrals begin at the start of the robot file."""
    errors, exact = [], lambda t: (0.25 + 0.5 * t + 0.3 * (1 - np.cos(2 * t)), 0.5 + 0.6 * np.sin(2 * t), 1.2 * np.cos(2 * t))
    for n in 21, 41:
        t = np.linspace(0, 2, n)
        table = motion("turn", t, *exact(t))
        kept = {name: x for name, x in table.items() if name == "time" or name.split(".")[1] in given.split()}
        result, _ = run(None, kept, 2, 0.0125)
        errors.append([np.abs(x - y).max() for x, y in zip(turned(result), exact(result["time"]))])
    print(given, *errors)
    assert all(after < before / 3.5 or after < 1e-9 for before, after in zip(*errors)) and max(errors[1]) < 2e-3


# ---- other inputs ---------------------------------------------------------------------------------------------------


def test_a_spline_takes_a_cubic_force_exactly(run):
    """x'' = f/m: four rows say all of a cubic."""
    t = np.linspace(0, 1.5, 4)
    result, _ = run(None, {"time": t, "guide.tau": 4 - 6 * t + 5 * t**2 - 3 * t**3}, 1.5, 0.1, "--interpolate", "cubic", "--rtol", 1e-10)
    s = result["time"]
    assert result["guide.qdd"] == pytest.approx(2 - 3 * s + 2.5 * s**2 - 1.5 * s**3, rel=1e-12)
    assert result["guide.q"] == pytest.approx(s**2 - s**3 / 2 + 2.5 * s**4 / 12 - 1.5 * s**5 / 20, rel=1e-7, abs=1e-9)


def torques(t):
    return {"time": t, **{name: a * np.sin(w * t) for name, a, w in zip(TORQUES, (400, 200, 100), (1.2, 0.7, 1.7))}}


def test_rows_of_a_spline_cost_no_steps(run):
    steps = [run(CANADARM, torques(np.linspace(0, 4, n)), 4, 0.5, "--interpolate", "cubic", "--rtol", 1e-3)[1]["steps"]
             for n in (401, 4001, 40001)]
    print("rows 401, 4001, 40001: steps", steps)
    assert max(steps) < 1.2 * min(steps) and max(steps) < 1500


def test_rows_of_a_straight_line_cost_no_steps(run):
    """Corners every 0.5 s, at 5 rows and at 4001: the same steps up to rounding, the same motion."""
    corners = np.linspace(0, 2, 5)
    height = np.array([[0, 1, 1, -2, 0.5], [0, 0, 2, 2, -1], [0, -1, 1, -1, 1]])
    done = []
    for n in 5, 4001:
        t = np.linspace(0, 2, n)
        table = {"time": t, **{name: 100 * np.interp(t, corners, y) for name, y in zip(TORQUES, height)}}
        done.append(run(CANADARM, table, 2, 0.5, "--rtol", 1e-4))
    steps = [statistics["steps"] for _, statistics in done]
    print("rows 5, 4001: steps", steps)
    assert max(steps) < 1.1 * min(steps) and max(steps) < 3000
    for name in "tip.position[1]", "tip.position[2]":
        assert np.abs(done[0][0][name] - done[1][0][name]).max() < 1e-3 * np.ptp(done[0][0][name])


def test_a_polygon_is_followed_to_the_corner(run):
    """x'' = f/m with corners: piecewise cubic, whatever the tolerance."""
    t, f = np.array([0, 0.35, 0.4, 1.1, 1.3]), np.array([0, 8, -4, 2, 2])
    result, _ = run(None, {"time": t, "guide.tau": f}, 1.5, 0.05, "--rtol", 1e-9)
    fine = np.linspace(0, 1.5, 30001)
    rate = np.concatenate([[0], np.cumsum(np.interp((fine[1:] + fine[:-1]) / 2, t, f / 2) * np.diff(fine))])
    position = np.concatenate([[0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(fine))])
    assert result["guide.qdd"] == pytest.approx(np.interp(result["time"], t, f / 2), abs=1e-9)
    assert result["guide.q"] == pytest.approx(np.interp(result["time"], fine, position), abs=1e-6)


def test_output_rows_do_not_restart_the_integrator(run):
    for step in 0.5, 0.013:
        for between in "linear", "cubic":
            assert run(CANADARM, torques(np.linspace(0, 2, 81)), 2, step, "--interpolate", between)[1]["restarts"] == 1


# ---- held inputs ----------------------------------------------------------------------------------------------------


def test_held_inputs_jump_at_rows(run):
    """x'' = f/m, f constant between rows; an output at a jump is still that of the force before it."""
    t, f = np.array([0.1, 0.4, 0.9]), np.array([3.0, -5.0, 1.0])
    result, _ = run(None, {"time": t, "guide.tau": f}, 1.2, 0.1, "--hold")
    x, v, s = 0.0, 0.0, 0.0
    for i, end in enumerate(result["time"][1:], 1):
        force = f[max(0, np.searchsorted(t, end - 1e-9) - 1)]
        x, v, s = x + v * (end - s) + force / 4 * (end - s)**2, v + force / 2 * (end - s), end
        assert (result["guide.q"][i], result["guide.qd"][i], result["guide.qdd"][i]) == pytest.approx((x, v, force / 2), abs=1e-7)


def test_held_motion_goes_on_from_each_row(run):
    t, q, qd, qdd = np.array([0, 0.5]), np.array([0.2, 0.9]), np.array([1.0, -1.0]), np.array([2.0, 0.5])
    result, _ = run(None, motion("turn", t, q, qd, qdd), 1, 0.1, "--hold")
    row = (result["time"] > 0.5 + 1e-9).astype(int)
    s = result["time"] - t[row]
    for found, want in zip(turned(result), (q[row] + qd[row] * s + qdd[row] * s**2 / 2, qd[row] + qdd[row] * s, qdd[row])):
        assert found == pytest.approx(want, abs=1e-9)


def test_rows_that_repeat_held_inputs_cost_no_steps(run):
    done = []
    for n in 5, 2001:
        t = np.linspace(0, 2, n)
        done.append(run(CANADARM, {"time": t, **{name: 10 * k * np.floor(2 * t + 1e-9) for k, name in enumerate(TORQUES, 1)}},
                        2, 0.5, "--hold", "--rtol", 1e-4)[1])
    assert done[0]["steps"] == done[1]["steps"] and done[0]["restarts"] == done[1]["restarts"]


# ---- wrong usage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["turn.tau", "turn.rate", "guide.q"])
def test_columns_must_be_inputs(run, name):
    assert f"{name}: no such input of this robot" in run(None, {"time": [0], name: [0]}, 1, 1, code=1)
