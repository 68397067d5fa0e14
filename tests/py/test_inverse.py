"""`limber inverse`: torques for a joint motion. They are judged by simulating them, by the rigid arm, and by what a tight
tolerance gives; errors are judged by how they fall. There and back is in tests/validation."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from program import columns as table, write_csv as write

ROOT = Path(__file__).resolve().parents[2]
CANADARM, CIBICIK = (ROOT / "resources" / f"{name}.json" for name in ("canadarm", "cibicik"))
PROFILE = {"canadarm": ([0.075, 0.05, 0.1], [10, 5, 5]),  # Mohan and Saha (44)
           "cibicik": ([0.3, 0.2, -0.3, 0.4], [2, 2, 2, 2])}


def invoke(limber, *arguments):
    return subprocess.run([str(word) for word in (limber, *arguments)], capture_output=True, text=True, timeout=120)


def answer(limber, *arguments):
    run = invoke(limber, *arguments)
    assert (run.returncode, run.stderr) == (0, "")
    return table(run.stdout)


def refusal(limber, code, *arguments):
    """What standard error says when the command ends with this exit code and prints nothing."""
    run = invoke(limber, *arguments)
    assert (run.returncode, run.stdout) == (code, ""), run.stderr
    return run.stderr


def profile(robot, until, step):
    """Options of the robot's cycloid."""
    rate, period = (",".join(map(str, numbers)) for numbers in PROFILE[robot.stem])
    return ["--profile", "cycloid", "--rate", rate, "--period", period, "--until", until, "--step", step]


def joints(robot):
    return [link["joint"] for link in json.loads(robot.read_text())["links"]]


def cycloid(robot, t):
    """The same motion as a table."""
    columns = {"time": t}
    for joint, k, T in zip(joints(robot), *PROFILE[robot.stem]):
        start, w = joint.get("start", {}).get("position", 0), np.pi / T
        columns |= {joint["name"] + ".q": start + k * (t - np.sin(w * t) / w), joint["name"] + ".qd": k * (1 - np.cos(w * t)),
                    joint["name"] + ".qdd": k * w * np.sin(w * t)}
    return columns


def torques(result):
    return [name for name in result if name.endswith(".tau")]


def error(result, reference, names, every=1):
    """The largest error of these columns, each as a share of its largest value."""
    return max(np.abs(result[name] - reference[name][::every]).max() / np.abs(reference[name]).max() for name in names)


def falls(errors, factor):
    return all(after * factor <= before for before, after in zip(errors, errors[1:]))


@pytest.fixture(scope="module")
def damped(tmp_path_factory):
    """damped(robot file): the same robot with 2 % of damping in every beam."""

    def of(robot):
        document = json.loads(robot.read_text())
        for link in document["links"]:
            if "beam" in link: link["beam"]["damping_ratio"] = 0.02
        file = tmp_path_factory.mktemp("damped") / robot.name
        file.write_text(json.dumps(document))
        return file

    return of


# ---- how exact -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot, until", [(CANADARM, 4), (CIBICIK, 1)])
def test_a_profile_is_as_exact_as_the_tolerance_whatever_the_rows(limber, damped, robot, until):
    """The formula holds at every instant: a row more or less changes nothing that the tolerance does not allow."""
    robot = damped(robot)
    reference = answer(limber, "inverse", robot, *profile(robot, until, 0.01), "--rtol", 1e-11)
    for every, step in (1, 0.01), (20, 0.2):
        errors = [error(answer(limber, "inverse", robot, *profile(robot, until, step), "--rtol", rtol), reference,
                        torques(reference), every) for rtol in (1e-5, 1e-7, 1e-9)]
        print(f"{robot.stem}, rows every {step} s, rtol 1e-5 1e-7 1e-9: torques {' '.join(f'{e:.1e}' for e in errors)}")
        assert falls(errors, 4) and errors[-1] < 3e-6


def test_a_table_is_followed_to_fourth_order(limber, damped, tmp_path):
    robot, until, errors = damped(CIBICIK), 1.0, []
    reference = answer(limber, "inverse", robot, *profile(robot, until, 0.0125), "--rtol", 1e-10)
    for every in 8, 4, 2:
        file = write(tmp_path / "motion.csv", cycloid(robot, np.linspace(0, until, round(until / 0.0125 / every) + 1)))
        found = answer(limber, "inverse", robot, "--trajectory", file, "--rtol", 1e-10)
        errors.append(error(found, reference, torques(reference), every))
        print(f"cibicik, table with rows every {0.0125 * every} s: torques {errors[-1]:.1e}")
    assert falls(errors, 8) and errors[-1] < 1e-5


# ---- the rigid arm --------------------------------------------------------------------------------------------------


def test_a_stiff_arm_tends_to_the_rigid_one(limber, damped, tmp_path):
    """A motion that starts and ends gently, so that nothing rings: what is left is bent by 1/EI, and so are the torques."""
    t, columns, errors, w = np.linspace(0, 2, 401), {}, [], np.pi / 2
    s, c = np.sin(w * t), np.cos(w * t)
    for joint, a in zip(joints(CIBICIK), (0.4, -0.3, 0.5, 0.6)):
        columns |= {joint["name"] + ".q": a * s**8, joint["name"] + ".qd": 8 * a * w * s**7 * c,
                    joint["name"] + ".qdd": 8 * a * w * w * (7 * s**6 * c**2 - s**8)}
    file = write(tmp_path / "motion.csv", {"time": t, **columns})
    limp = damped(CIBICIK)
    rigid = answer(limber, "inverse", limp, "--trajectory", file, "--rigid")
    for factor in 8, 32, 128:
        document = json.loads(limp.read_text())
        for link in document["links"]:
            for stiffness in ("EIy", "EIz", "GJ"):
                if "beam" in link: link["beam"][stiffness] *= factor
        robot = tmp_path / "stiff.json"
        robot.write_text(json.dumps(document))
        found = answer(limber, "inverse", robot, "--trajectory", file, "--rtol", 1e-9)
        errors.append(error(found, rigid, torques(rigid)))
        print(f"cibicik, {factor} times as stiff: {errors[-1]:.1e} from the rigid arm")
    slopes = np.diff(np.log(errors)) / np.log(4)
    assert np.all(np.abs(slopes + 1) < 0.1), slopes


# ---- where it starts ------------------------------------------------------------------------------------------------


def test_static_start_is_that_of_simulate(limber, tmp_path):
    """Joints held: also where the motion has a rate and an acceleration from the first row on."""
    t = np.linspace(0, 0.1, 11)
    columns = {"time": t}
    for joint in joints(CIBICIK):
        start = joint.get("start", {}).get("position", 0)
        columns |= {joint["name"] + suffix: values for suffix, values in
                    ((".q", start + 0.1 * t + t * t), (".qd", 0.1 + 2 * t), (".qdd", 2 + 0 * t))}
    file, elastic = write(tmp_path / "motion.csv", columns), tmp_path / "elastic.csv"
    simulated = answer(limber, "simulate", CIBICIK, "--until", 0.01, "--step", 0.01, "--set", "start_static=true")
    names = [name for name in simulated if ".eta[" in name or ".etad[" in name]
    assert len(names) == 24
    for start, value in ("static", lambda name: simulated[name][0]), ("zero", lambda name: 0):
        answer(limber, "inverse", CIBICIK, "--trajectory", file, "--start", start, "--elastic", elastic)
        found = table(elastic.read_text())
        assert [found[name][0] for name in names] == [pytest.approx(value(name), rel=1e-9, abs=1e-15) for name in names]
    assert max(abs(simulated[name][0]) for name in names) > 1e-3


# ---- the tables -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [["--rigid"], []])
def test_json(limber, tmp_path, options):
    """Both tables, the same numbers as in the CSV, digit by digit."""
    def of(*more):
        done = invoke(limber, "inverse", CANADARM, *profile(CANADARM, 0.3, 0.1), *options, *more)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def as_json(text):
        names, *rows = (line.split(",") for line in text.splitlines())
        return {"columns": names, "rows": [[float(number) for number in row] for row in rows]}

    elastic = [] if options else ["--elastic", tmp_path / "elastic"]
    expected = as_json(of(*elastic))
    second = as_json((tmp_path / "elastic").read_text()) if elastic else None
    assert json.loads(of("--json", *elastic)) == expected
    if elastic: assert json.loads((tmp_path / "elastic").read_text()) == second


def test_elastic_table(limber, damped, tmp_path):
    """The elastic motion beside the torques is that of the simulation that they drive."""
    robot, elastic, file = damped(CANADARM), tmp_path / "elastic.csv", tmp_path / "torques.csv"
    invoke(limber, "inverse", robot, *profile(robot, 2, 0.005), "--rtol", 1e-8, "--elastic", elastic, "-o", file)
    beside, tau = table(elastic.read_text()), table(file.read_text())
    simulated = answer(limber, "simulate", robot, "--inputs", file, "--until", 2, "--step", 0.005, "--rtol", 1e-8)
    assert np.array_equal(beside["time"], tau["time"])
    assert all(np.array_equal(beside[name], tau[name]) for name in torques(tau))
    names = [name for name in simulated if ".eta[" in name or name.startswith("tip.position")]
    assert error(beside, simulated, [name for name in names if np.ptp(simulated[name]) > 0]) < 1e-3


CART = {"format": "limber-robot/2", "name": "cart", "gravity": [0, 0, -9.81], "links": [
    {"name": "rail", "joint": {"type": "prismatic", "axis": [1, 0, 0], "motion": "prescribed"}, "rigid": {"mass": 2}},
    {"name": "mast", "joint": {"type": "fixed"}, "rigid": {"mass": 1}},
    {"name": "arm", "joint": {"type": "revolute", "axis": [0, 1, 0], "start": {"position": 0.3}},
     "beam": {"length": 1, "mass_per_length": 1, "EIy": 50, "damping_ratio": 0.02, "modes": {"z": {"shape": "clamped-free", "count": 2}}}},
    {"name": "rod", "joint": {"type": "revolute", "axis": [0, 1, 0], "passive": True, "static": "held", "viscous": 0.01,
                              "start": {"position": 0.5}},
     "rigid": {"mass": 0.5, "com": [0, 0, -0.2], "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}}]}


@pytest.fixture
def cart(tmp_path):
    """A prescribed rail, a fixed mast, a flexible arm with a drive, and a passive rod at its end."""
    file = tmp_path / "cart.json"
    file.write_text(json.dumps(CART))
    return file


def test_prescribed_and_passive_joints(limber, cart, tmp_path):
    """A joint that the file prescribes has its motion for input, a passive one is integrated: simulate takes the table as it is."""
    t, w, errors, drives = 2.0, np.pi, [], []
    for step in 0.01, 0.005, 0.0025:
        times = np.linspace(0, t, round(t / step) + 1)
        motion = {"time": times, **{f"{joint}.{name}": start * (name == "q") + values for joint, start, a in
                                    (("rail", 0, 0.2), ("arm", 0.3, 0.4)) for name, values in
                                    (("q", a * (times - np.sin(w * times) / w)), ("qd", a * (1 - np.cos(w * times))),
                                     ("qdd", a * w * np.sin(w * times)))}}
        file, elastic = tmp_path / "torques.csv", tmp_path / "elastic.csv"
        run = invoke(limber, "inverse", cart, "--trajectory", write(tmp_path / "motion.csv", motion), "--rtol", 1e-8,
                     "--elastic", elastic, "-o", file)
        assert (run.returncode, run.stderr) == (0, "")
        inputs, beside = table(file.read_text()), table(elastic.read_text())
        assert list(inputs) == ["time", "rail.q", "rail.qd", "rail.qdd", "arm.tau"]
        assert error(inputs, motion, ["rail.q", "rail.qd", "rail.qdd"]) < 1e-12
        run = invoke(limber, "simulate", cart, "--inputs", file, "--until", t, "--step", step, "--rtol", 1e-8, "--set", "start_static=true")
        lines = run.stderr.splitlines()  # the rod is held at the start, and released
        assert run.returncode == 0 and len(lines) == 1 and "passive joint 'rod' is held by tau" in lines[0]
        found = table(run.stdout)
        errors.append(max(np.abs(found["arm.q"] - motion["arm.q"]).max(), np.abs(found["rod.q"] - beside["rod.q"]).max()))
        drives.append(error(found, beside, ["rail.tau"]))
        assert np.ptp(beside["rod.q"]) > 0.5
        print(f"cart there and back, rows every {step} s: joints {errors[-1]:.1e} rad, drive of the rail {drives[-1]:.1e}")
    assert falls(errors, 3) and errors[-1] < 1e-4
    assert falls(drives, 3) and drives[-1] < 1e-2


def test_rigid_needs_passive_joints_too(limber, cart, tmp_path):
    given = {name: [0.0] for name in ("time", "rail.q", "rail.qd", "rail.qdd", "arm.q", "arm.qd", "arm.qdd")}
    file = write(tmp_path / "motion.csv", given)
    said = refusal(limber, 1, "inverse", cart, "--trajectory", file, "--rigid")
    assert [f"the column rod.{name} is missing" in said for name in ("q", "qd", "qdd")] == [True] * 3
    assert list(answer(limber, "inverse", cart, "--trajectory", file)) == ["time", "rail.q", "rail.qd", "rail.qdd", "arm.tau"]


def test_parameters_are_set(limber, damped):
    """Without gravity a motion from rest begins without torque; with --rigid too."""
    robot, options = damped(CIBICIK), profile(CIBICIK, 0.1, 0.1)
    for more in [], ["--rigid"]:
        weightless = answer(limber, "inverse", robot, *options, *more, "--set", "gravity[3]=0")
        assert abs(weightless["boom_joint.tau"][0]) < 1e-9 < 1 < abs(answer(limber, "inverse", robot, *options, *more)["boom_joint.tau"][0])
    assert "no such parameter" in refusal(limber, 1, "inverse", robot, *options, "--set", "gravity[4]=0")
    assert "not a finite number" in refusal(limber, 1, "inverse", robot, *options, "--set", "gravity[3]=heavy")
    assert "must be positive" in refusal(limber, 1, "inverse", robot, *options, "--set", "boom.EIz=-1")


# ---- errors ---------------------------------------------------------------------------------------------------------

HEADER = "time,upper_joint.q,upper_joint.qd,upper_joint.qdd,lower_joint.q,lower_joint.qd,lower_joint.qdd,wrist_joint.q," \
         "wrist_joint.qd,wrist_joint.qdd"
ROW = "0,0,0,0,0,0,0,0,0"
BAD_TABLES = {
    "empty": ("", "expected a header line"),
    "no rows": (HEADER + "\n", "at least one row"),
    "time is not first": ("t,upper_joint.q\n0,0\n", "line 1: the first column must be time, not 't'"),
    "a column is missing": (HEADER.replace("lower_joint.qd,", "lower_joint.rate,") + f"\n0,{ROW}\n",
                            "the column lower_joint.qd is missing: q, qd and qdd of every joint with a drive are needed"),
    "a column stands twice": (HEADER + f",lower_joint.q\n0,{ROW},0\n", "line 1: column lower_joint.q is given twice"),
    "a short row": (HEADER + f"\n0,{ROW}\n1,2\n", "line 3: expected 10 numbers, found 2"),
    "time stands still": (HEADER + f"\n0,{ROW}\n0,{ROW}\n", "line 3: time must increase"),
    "time goes back": (HEADER + f"\n0,{ROW}\n1,{ROW}\n0.5,{ROW}\n", "line 4: time must increase"),
    "not a number": (HEADER + f"\n0,{ROW[:-1]}x\n", "line 2, wrist_joint.qdd: 'x' is not a finite number"),
    "not finite": (HEADER + f"\n0,{ROW[:-1]}nan\n", "line 2, wrist_joint.qdd: 'nan' is not a finite number"),
    "infinite": (HEADER + f"\ninf,{ROW}\n", "line 2, time: 'inf' is not a finite number"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(limber_sanitized, tmp_path, name):
    text, expected = BAD_TABLES[name]
    file = tmp_path / "motion.csv"
    file.write_text(text)
    said = refusal(limber_sanitized, 1, "inverse", CANADARM, "--trajectory", file)
    assert str(file) in said and expected in said


def several(*kinds):
    """A chain of driven joints."""
    more = {"universal": {"axis": [1, 0, 0], "axis2": [0, 1, 0]}}
    return {"format": "limber-robot/2", "name": "several", "links": [
        {"name": f"link{i}", "joint": {"name": f"j{i}", "type": kind, **more.get(kind, {})},
         "rigid": {"mass": 1, "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}} for i, kind in enumerate(kinds)]}


@pytest.mark.parametrize("kinds, rate, period, code, expected", [
    (["universal", "revolute"], "1,1,1", "1,1,0", 2, "--period: T of j1 must be positive, not 0"),
    (["universal", "revolute"], "1,1,1", "1,-2,1", 2, "--period: T of j0 must be positive, not -2"),
    (["universal", "revolute"], "1,1", "1,1", 2, "--rate takes 3 numbers with commas between, one for every joint with a drive (two"),
    (["revolute", "spherical"], "1", "1", 1, "joint 'j1' is spherical: a motion can be given for joints with one or two coordinates only")])
def test_bad_profiles_of_several_coordinates(limber_sanitized, tmp_path, kinds, rate, period, code, expected):
    file = tmp_path / "several.json"
    file.write_text(json.dumps(several(*kinds)))
    options = ["--profile", "cycloid", "--rate", rate, "--period", period, "--until", "1", "--step", "0.5"]
    assert expected in refusal(limber_sanitized, code, "inverse", file, *options)


def test_no_equilibrium_is_a_failed_computation(limber_sanitized, tmp_path):
    """Nothing holds the passive slider; from zero it falls as it likes."""
    robot = tmp_path / "column.json"
    robot.write_text(json.dumps({"format": "limber-robot/1", "name": "column", "gravity": [0, 0, -9.81], "links": [
        {"name": "beam", "joint": {"name": "base", "type": "revolute", "axis": [0, 0, 1]},
         "beam": {"length": 1.0, "mass_per_length": 1.0, "EIz": 10.0, "modes": {"y": {"shape": "clamped-free", "count": 2}}}},
        {"name": "mass", "parent": "beam", "joint": {"name": "slide", "type": "prismatic", "axis": [0, 0, 1], "passive": True},
         "rigid": {"mass": 1.0}}]}))
    options = ["--profile", "cycloid", "--rate", "1", "--period", "1", "--until", "0.02", "--step", "0.01"]
    assert "no static equilibrium" in refusal(limber_sanitized, 3, "inverse", robot, *options)
    assert len(answer(limber_sanitized, "inverse", robot, *options, "--start", "zero")["time"]) == 3
