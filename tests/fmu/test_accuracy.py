"""How exact the integration is: against a trajectory from elsewhere, itself at a tight tolerance, the energy, a spinning beam."""

import csv
import json
import math
import subprocess

import fmpy
import numpy as np
import pytest

from importer import ERROR, OK, Instance

TIP = ["tip.position[1]", "tip.position[2]"]
JOINTS = ["upper_joint", "lower_joint", "wrist_joint"]


@pytest.fixture(scope="session")
def simulate(limber):
    """simulate(robot file, until, step, rtol, ...) gives {variable: values over time} of `limber simulate`."""

    def run(robot, until, step, rtol, inputs=None, start=None, **settings):
        command = [limber, "simulate", robot, "--until", until, "--step", step, "--rtol", rtol]
        command += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        if inputs: command += ["--inputs", inputs]
        if start: command += ["--at", "-"]
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, input=json.dumps(start))
        assert result.returncode == 0, result.stderr
        rows = list(csv.reader(result.stdout.splitlines()))
        return dict(zip(rows[0], np.array(rows[1:], float).T))

    return run


@pytest.fixture(scope="session")
def struck(limber):
    """struck(robot file, q, coordinate, energy): the state right after an impulse on a coordinate, qd = M^-1 e p."""

    def of(robot, q, coordinate, energy):
        result = subprocess.run([limber, "eval", robot, "-"], input=json.dumps({"q": q}), capture_output=True, text=True, check=True)
        M = np.array(json.loads(result.stdout)["mass_matrix"])
        qd = np.linalg.solve(M, np.eye(len(M))[coordinate])
        return {"q": q, "qd": (qd * math.sqrt(2 * energy / (qd @ M @ qd))).tolist()}

    return of


def read_csv(file):
    with open(file) as lines: rows = list(csv.reader(lines))
    return dict(zip(rows[0], np.array(rows[1:], float).T))


def write_csv(file, columns):
    with open(file, "w") as out:
        out.write(",".join(columns) + "\n")
        for row in zip(*columns.values()): out.write(",".join(f"{float(x)!r}" for x in row) + "\n")
    return file


def largest(result, reference, names):
    return max(np.abs(result[name] - reference[name]).max() for name in names)


def falls(errors, factor):
    return all(after * factor <= before for before, after in zip(errors, errors[1:]))


# ---- a trajectory from elsewhere ------------------------------------------------------------------------------------


def test_forced_canadarm(simulate, root):
    """Torques of the rigid arm's inverse dynamics, 10 s; the trajectory was integrated elsewhere at 1e-10."""
    data = root / "tests/data/canadarm-forced"
    reference, joints = read_csv(data / "trajectory.csv"), [f"{joint}.q" for joint in JOINTS]
    tip, joint = [], []
    for rtol in 1e-5, 1e-6, 1e-7, 1e-9:
        result = simulate(root / "resources/canadarm.json", 10, 0.01, rtol, inputs=data / "torques.csv")
        tip.append(largest(result, reference, TIP))
        joint.append(largest(result, reference, joints))
        print(f"forced Canadarm, rtol {rtol:.0e}: tip {tip[-1]:.1e} m, joints {joint[-1]:.1e} rad")
    assert tip[-1] < 2e-6 and joint[-1] < 1e-5
    assert falls(tip[:3], 2) and falls(joint, 2)  # the trajectory itself is no better than some 1e-7 m


# ---- co-simulation and model exchange against a tight tolerance -----------------------------------------------------

SMOOTH = {"upper_joint.tau": lambda t: 400 * (1 - math.cos(2.1 * t)), "lower_joint.tau": lambda t: 200 * (1 - math.cos(3.7 * t)),
          "wrist_joint.tau": lambda t: 100 * (1 - math.cos(5 * t))}
WATCHED = [f"{joint}.q" for joint in JOINTS] + TIP + [f"{link}.deflection[2]" for link in ("upper", "lower", "wrist")]
UNTIL = 2.0


@pytest.fixture(scope="module")
def smooth(simulate, root, tmp_path_factory):
    """The Canadarm under smooth torques at rtol 1e-10, every 1 ms; rows of the inputs every 1 ms."""
    t = np.linspace(0, UNTIL, 2001)
    file = write_csv(tmp_path_factory.mktemp("smooth") / "torques.csv",
                     {"time": t, **{name: [f(x) for x in t] for name, f in SMOOTH.items()}})
    return file, simulate(root / "resources/canadarm.json", UNTIL, 0.001, 1e-10, inputs=file)


def share_of_range(times, values, reference):
    """The largest error of any watched variable, as a share of its range."""
    at = np.rint(np.asarray(times) * 1000).astype(int)
    return max(np.abs(values[name] - reference[name][at]).max() / np.ptp(reference[name]) for name in WATCHED)


def co_simulate(package, h, rtol):
    """With steps of h; inputs follow their curve to first order through fmi2SetRealInputDerivatives, from row to row."""
    import ctypes as ct
    instance = Instance(package).initialise(stop=UNTIL, tolerance=rtol)
    names, n = list(SMOOTH), len(SMOOTH)
    references, orders = instance.references(names), (ct.c_int * n)(*[1] * n)
    times, rows = [0.0], [instance.get(*WATCHED)]
    for i in range(round(UNTIL / h)):
        t = i * h
        u, v = [f(t) for f in SMOOTH.values()], [f(t + h) for f in SMOOTH.values()]
        assert instance.set(dict(zip(names, u))) == OK
        slopes = (ct.c_double * n)(*[(b - a) / h for a, b in zip(u, v)])
        assert instance.SetRealInputDerivatives(references, n, orders, slopes) == OK
        assert instance.step(t, h) == OK, instance.log
        times.append(t + h)
        rows.append(instance.get(*WATCHED))
    instance.free()
    return times, dict(zip(WATCHED, np.array(rows).T))


def chords(smooth, simulate, root, h, folder):
    """The reference for steps of h: the same straight pieces of torque, so that only the integration differs."""
    if h == 0.001: return smooth[1]
    t = np.arange(0, UNTIL + h / 2, h)
    file = write_csv(folder / f"{h}.csv", {"time": t, **{name: [f(x) for x in t] for name, f in SMOOTH.items()}})
    return simulate(root / "resources/canadarm.json", UNTIL, 0.001, 1e-10, inputs=file)


@pytest.mark.parametrize("h", [0.001, 0.01, 0.1])
def test_co_simulation_is_exact(canadarm, simulate, smooth, root, tmp_path, h):
    reference, errors = chords(smooth, simulate, root, h, tmp_path), []
    for rtol in 1e-5, 1e-6, 1e-7, 1e-8:
        errors.append(share_of_range(*co_simulate(canadarm, h, rtol), reference))
        print(f"co-simulation, step {1000 * h:g} ms, rtol {rtol:.0e}: {errors[-1]:.1e} of the range")
    assert errors[1] < 1e-3
    assert errors[3] < errors[1] / 4 < errors[0]


def test_fmpy_co_simulation_is_exact(canadarm_fmu, smooth):
    """FMPy holds inputs over a step, here 1 ms: given their value in the middle of it, that costs some 1e-6."""
    t, h, errors = np.linspace(0, UNTIL, 2001), 0.001, []
    signals = np.array([(x, *[f(x + h / 2) for f in SMOOTH.values()]) for x in t], [("time", float)] + [(name, float) for name in SMOOTH])
    for rtol in 1e-5, 1e-6, 1e-7:
        result = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type="CoSimulation", stop_time=UNTIL, output_interval=h,
                                   relative_tolerance=rtol, input=signals, output=WATCHED)
        errors.append(share_of_range(result["time"], result, smooth[1]))
        print(f"FMPy, co-simulation, step 1 ms, rtol {rtol:.0e}: {errors[-1]:.1e} of the range")
    assert errors[1] < 1e-3
    assert errors[2] < errors[0] / 4


def test_fmpy_model_exchange_is_exact(canadarm_fmu, simulate, root):
    """A bent arm swings free: FMPy's solver holds inputs while it looks past the end of its step, an error that is not the FMU's."""
    start = {"lower_joint.q_start": 0.5, "wrist_joint.q_start": -0.8, "upper_joint.qd_start": 0.3, "lower_joint.qd_start": -0.6,
             "wrist_joint.qd_start": 1.5, "upper.eta_start[1]": 0.05, "lower.eta_start[1]": 0.05, "wrist.eta_start[1]": 0.01}
    reference, errors = simulate(root / "resources/canadarm.json", 1, 0.001, 1e-10, **start), []
    for rtol in 1e-5, 1e-6, 1e-7:
        result = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type="ModelExchange", stop_time=1, output_interval=0.01,
                                   relative_tolerance=rtol, start_values=start, output=WATCHED)
        errors.append(share_of_range(result["time"], result, reference))
        print(f"FMPy, model exchange, rtol {rtol:.0e}: {errors[-1]:.1e} of the range")
    assert errors[1] < 1e-3 and falls(errors, 2)


# ---- energy ---------------------------------------------------------------------------------------------------------


def drift(result, work=0.0):
    """The largest error of the energy, as a share of the largest kinetic energy."""
    return np.abs(result["energy.total"] - result["energy.total"][0] - work).max() / result["energy.kinetic"].max()


