"""Motions: torques of the rigid arm on the flexible one, a controlled maneuver, a beam that is spun up, free motion."""

import ctypes as ct
import sys
import time
import zipfile

import numpy as np

from forced_motion import PERIOD, RATE, torques, trajectory
from program import ROOT, columns, drift, load, resource, robot, work_of_joints, write_csv
from rows import Curves, at_least, case, figure, near, small

sys.path.insert(0, str(ROOT / "tests/fmu"))
from importer import OK, Instance, Package  # noqa: E402

# ---- Canadarm, forced ------------------------------------------------------------------------------------------------

CANADARM_JOINTS = ["upper_joint.q", "lower_joint.q", "wrist_joint.q"]


def stiffer(factor):
    arm = load("canadarm")
    for link in arm["links"]: link["beam"]["EIz"] *= factor
    return arm


def deviation(result):
    """The largest distance of each joint from theta_i [rad]"""
    t = result["time"]
    return [np.abs(result[name] - k * (t - T / np.pi * np.sin(np.pi * t / T))).max() for name, k, T in zip(CANADARM_JOINTS, RATE, PERIOD)]


@case("Canadarm, forced motion", "Mohan and Saha, section 7.1 and equation 44, T_i and k_i after table 2",
      """Torques of the rigid arm for theta_i = k_i (t - T_i/pi sin(pi t/T_i)), 10 s, from `limber inverse --rigid`, on the flexible arm: `limber simulate`. The
      reference was integrated elsewhere at 1e-10 and is itself good to some 1e-7 m. The joints follow theta_i up to the flexibility: the distance goes
      as 1/EI. The paper finds its Cholesky solution of the accelerations unstable after about 5 s (section 7.2, figures 6 to 8). This is not
      seen here: recursion and Cholesky factorisation (`--algorithm composite`) give the same accelerations in all states that are passed
      in 10 s. Its equation 43 as printed does not vanish at the joint; with minus signs before sinh and cosh of zeta it is the clamped-free shape
      that is meant and used here. The paper calls flexible links dissipating (section 7.2); without damping they are not: energy and the work of
      the torques agree.""")
def forced_canadarm(program):
    arm, exact = resource("canadarm"), torques()
    found = columns(program.run("inverse", arm, *cycloid("canadarm", 0.001), "--rigid"))
    assert list(found) == list(exact) and len(found["time"]) == len(exact["time"])
    yield small("torques of the rigid arm against the closed form, of their largest value",
                max(np.abs(found[name] - exact[name]).max() / np.abs(exact[name]).max() for name in list(exact)[1:]), 1e-12)

    inputs = write_csv(program.new(".csv"), found)
    result, reference = program.simulate(arm, 10, 0.001, 1e-9, inputs=inputs), trajectory()
    error = lambda names: max(np.abs(result[name][::10] - reference[name]).max() for name in names)
    yield small("joints against the reference, rtol 1e-9", error(CANADARM_JOINTS), 1e-5, "rad")
    yield small("tip against the reference, rtol 1e-9", error(["tip.position[1]", "tip.position[2]"]), 2e-6, "m")

    soft, hard = (deviation(x) for x in (result, program.simulate(stiffer(100), 10, 0.01, 1e-8, inputs=inputs)))
    yield figure("joints 1, 2, 3 away from theta_i by at most, deg", "", " ".join(f"{x:.2f}" for x in np.degrees(soft)))
    yield near("the same, EI 100 times as large: share that is left", [0.01] * 3, np.array(hard) / soft, ".4f", absolute=2e-3)
    yield small("energy minus work of the torques, of the largest kinetic energy",
                drift({name: values[::2] for name, values in result.items()}, work_of_joints(result)), 1e-6)
    yield small("accelerations, recursive against Cholesky, 50 states over 10 s, of their norm", algorithms_differ(program, arm, found, result), 1e-11)


def algorithms_differ(program, arm, torques, result):
    states = program.json("linearize", arm)["states"]
    q, qd, worst = states[:len(states) // 2], states[len(states) // 2:], 0.0
    for at in range(200, len(result["time"]), 200):
        state = {"q": [result[name][at] for name in q], "qd": [result[name][at] for name in qd],
                 "tau": [values[at] for name, values in torques.items() if name != "time"]}
        one, other = (np.array(program.json("eval", arm, "-", "--algorithm", algorithm, state=state)["qdd"])
                      for algorithm in ("recursive", "composite"))
        worst = max(worst, np.linalg.norm(one - other) / np.linalg.norm(one))
    return worst


# ---- there and back --------------------------------------------------------------------------------------------------

CYCLOIDS = {"canadarm": (RATE, PERIOD, 10), "cibicik": ([0.3, 0.2, -0.3, 0.4], [2, 2, 2, 2], 2)}


def cycloid(name, step, until=None):
    """Options of `limber inverse`."""
    rate, period, whole = CYCLOIDS[name]
    return ["--profile", "cycloid", "--rate", ",".join(map(str, rate)), "--period", ",".join(map(str, period)),
            "--until", until or whole, "--step", step]


def damped(name, stiffness=1):
    """The robot with 2 % of damping in every beam, as many times as stiff."""
    arm = load(name)
    for link in arm["links"]:
        if "beam" not in link: continue
        link["beam"] |= {"damping_ratio": 0.02} | {key: stiffness * link["beam"][key] for key in ("EIy", "EIz", "GJ") if key in link["beam"]}
    return arm


@case("Flexible arms: torques for a motion, there and back", "`limber simulate` undoes `limber inverse`",
      """Torques for cycloids of all joints, simulated from the same start, give the joints back; 2 % damping. `simulate` joins the rows of torque by chords, which
      miss the curve by the square of the rows' distance, so halving it quarters the error. Rows should be close enough for the fastest vibration in the
      torques. Against a tight tolerance: largest error of any torque as a fraction of its largest value, 1 s. A torque contains the strain forces, stiffness times
      elastic coordinate: the stiffer the arm, the more digits of the coordinate it takes.""")
def there_and_back(program):
    for name in CYCLOIDS:
        arm, errors, until = program.robot(damped(name)), [], CYCLOIDS[name][2]
        for step in 0.02, 0.01, 0.005:
            torques = write_csv(program.new(".csv"), columns(program.run("inverse", arm, *cycloid(name, step), "--rtol", 1e-8)))
            found, errors = program.simulate(arm, until, 0.1, 1e-8, inputs=torques, start_static="true"), errors + [0.0]
            for link, k, T in zip(load(name)["links"], *CYCLOIDS[name][:2]):
                joint, t = link["joint"], found["time"]
                given = joint.get("start", {}).get("position", 0) + k * (t - T / np.pi * np.sin(np.pi * t / T))
                errors[-1] = max(errors[-1], np.abs(found[joint["name"] + ".q"] - given).max())
        yield figure(f"{name}, {until} s: joints, rows every 20, 10, 5 ms, rad", "", " ".join(f"{error:.0e}" for error in errors))
        yield small(f"{name}: joints, rows every 5 ms", errors[-1], 3e-6, "rad")
        yield at_least(f"{name}: error falls, rows twice as close, by", 3, min(errors[0] / errors[1], errors[1] / errors[2]))
    for stiffness, words, bound in (1, "as it is", 1e-6), (100, "100 times as stiff", 1e-4):
        arm = program.robot(damped("cibicik", stiffness))
        exact, *found = (columns(program.run("inverse", arm, *cycloid("cibicik", 0.02, until=1), "--rtol", rtol))
                         for rtol in (1e-12, 1e-6, 1e-7, 1e-8, 1e-9))
        errors = [max(np.abs(x[name] - exact[name]).max() / np.abs(exact[name]).max() for name in list(exact)[1:]) for x in found]
        yield figure(f"cibicik {words}: torques, rtol 1e-6, 1e-7, 1e-8, 1e-9", "", " ".join(f"{error:.0e}" for error in errors))
        yield small(f"cibicik {words}: torques, rtol 1e-8, the default, against 1e-12", errors[2], bound)


# ---- Cibicik and Egeland's maneuver ---------------------------------------------------------------------------------

JOINTS = ["slew", "boom_joint", "jib_joint", "hand_joint"]
POSITION_GAIN = np.array([1800, 2000, 400, 20.0])  # N m/rad
RATE_GAIN = np.array([900, 1000, 200, 2.0])        # N m s/rad
GROUPS = {"joints": [f"{joint}.q" for joint in JOINTS],
          "tip": [f"tip.position[{i}]" for i in (1, 2, 3)],
          "bending of boom and jib": [f"{link}.deflection[{i}]" for link in ("boom", "jib") for i in (2, 3)],
          "twist of boom and jib": [f"{link}.rotation[1]" for link in ("boom", "jib")]}
WATCHED = [name for group in GROUPS.values() for name in group]


def commanded(t):
    return np.radians([45 if t >= 3 else 0] + ([60] * 3 if t >= 0.5 else [30, 120, 30]))


class Controller:
    """tau = holding torque of the rigid arm in the commanded pose + Kp (q_commanded - q)"""

    def __init__(self, program, arm):
        self.hold, coordinates = {}, program.json("matrices", arm, "-", state={})["coordinates"]
        self.at = [coordinates.index(f"{joint}.q") for joint in JOINTS]
        for t in 4, 1, 0:
            q, pose = np.zeros(len(coordinates)), commanded(t)
            q[self.at] = pose
            found = program.json("eval", arm, "-", state={"q": list(q)})
            self.hold[tuple(pose)] = np.array(found["bias"])[self.at]
        self.mass = np.array(found["mass_matrix"])  # at the start

    def torque(self, t, q):
        pose = commanded(t)
        return self.hold[tuple(pose)] + POSITION_GAIN * (pose - q)


def maneuver(package, controller, terms, until=6.0, h=1e-3, every=10):
    """{variable: values} every 10 ms, and the CPU seconds of the loop; terms: 1 full, 2 linear."""
    instance = Instance(package)
    assert instance.SetInteger(instance.references(["elastic_terms"]), 1, (ct.c_int * 1)(terms)) == OK
    instance.initialise(tolerance=1e-6)
    torques, angles, n = instance.references([f"{joint}.tau" for joint in JOINTS]), instance.references(GROUPS["joints"]), len(JOINTS)
    q, times, rows = (ct.c_double * n)(), [0.0], [instance.get(*WATCHED)]
    before = time.process_time()
    for i in range(round(until / h)):
        assert instance.GetReal(angles, n, q) == OK
        assert instance.SetReal(torques, n, (ct.c_double * n)(*controller.torque(i * h, np.array(q)))) == OK
        assert instance.step(i * h, h) == OK, instance.log
        if (i + 1) % every == 0:
            times.append((i + 1) * h)
            rows.append(instance.get(*WATCHED))
    spent = time.process_time() - before
    instance.free()
    return {"time": np.array(times), **dict(zip(WATCHED, np.array(rows).T))}, spent


@case("4-joint arm, controlled maneuver", "Cibicik and Egeland, section VI-B, table I, figures 6 to 10",
      """The joints hold (0, 30, 120, 30) deg; at 0.5 s joints 2 to 4 are commanded to 60 deg, at 3 s joint 1 to 45 deg; 6 s, from the undeformed arm under
      gravity. The FMU with `elastic_terms` full against linear, rtol 1e-6. The paper does not give its PD controller; here it is
      Kp = 1800, 2000, 400, 20 N m/rad, set every 1 ms by an importer's loop, and Kd = 900, 1000, 200, 2 N m s/rad, plus the torque that holds the rigid arm in the
      commanded pose. Kd is the joints' viscous friction, which acts at every instant: a torque -Kd qd that is held over h = 1 ms makes the loop
      unstable, as Kd h is more than twice the inertia 1/(M^-1)_ii that a sudden torque meets at three of the joints. The paper linearizes in all elastic displacements
      and rates; `linear` does so in each link's mass matrix and bias and keeps frames exact.
      Curves coincide as in its figures. Differences are fractions of the largest range in the group of curves. CPU
      seconds are what one machine showed, the Python loop included; they are not checked.""")
def cibicik(program):
    arm = load("cibicik")
    for link, gain in zip(arm["links"], RATE_GAIN): link["joint"]["viscous"] = gain
    arm = program.robot(arm)
    packed, unzipped = program.new(".fmu"), program.new("")
    program.run("fmu", arm, "-o", packed)
    with zipfile.ZipFile(packed) as archive: archive.extractall(unzipped)
    package, controller = Package(unzipped), Controller(program, arm)
    (full, full_time), (linear, linear_time) = (maneuver(package, controller, terms) for terms in (1, 2))

    assert not np.array_equal(full["tip.position[1]"], linear["tip.position[1]"])  # two models, not one twice
    for group, names in GROUPS.items():
        error = max(np.abs(full[name] - linear[name]).max() for name in names) / max(np.ptp(full[name]) for name in names)
        yield small(f"{group}, linear against full", error, 1e-3 if group in ("joints", "tip") else 1e-2)
    for t, wanted in (0.5, commanded(0)), (3.0, commanded(1)), (6.0, commanded(6)):
        at = np.searchsorted(full["time"], t - 1e-9)
        yield near(f"joints at {t:g} s, deg", np.degrees(wanted), np.degrees([full[name][at] for name in GROUPS["joints"]]), ".0f",
                   absolute=1, unit="deg")
    met = 1 / np.linalg.inv(controller.mass).diagonal()[controller.at]
    yield figure("Kd h / (1/(M^-1)_ii) at the start, joints 1 to 4; below 2 it could be held", "",
                 " ".join(f"{ratio:.2g}" for ratio in RATE_GAIN * 1e-3 / met))
    yield figure("CPU seconds, full", "3901", f"{full_time:.0f}")
    yield figure("CPU seconds, linear", "314; 14 optimised", f"{linear_time:.0f}")
    lines = lambda names, scale: {mark + name: (x["time"], scale * x[name], style) for name in names
                                  for mark, x, style in (("", full, "-"), ("_", linear, "k--"))}
    yield Curves("cibicik", "Maneuver of Cibicik and Egeland's arm: elastic terms full, in color, and linear, dashed.",
                 [("joints", "t [s]", "deg", lines(GROUPS["joints"], 180 / np.pi)),
                  ("bending at the tips", "t [s]", "mm", lines(GROUPS["bending of boom and jib"], 1e3))])


# ---- spin-up ---------------------------------------------------------------------------------------------------------


@case("Spin-up beam", "Kane, Ryan and Banerjee",
      """L = 10 m, 1.2 kg/m, EI = 1.4e4 N m^2; omega = 0.4 (t - 15/(2 pi) sin(2 pi t/15)) up to 15 s. Tip relative to the rotating frame. With `foreshortening` the
      rotation stiffens the beam; without it, it softens and the deflection grows beyond the beam's length.""")
def spin_up(program):
    t, w = np.linspace(0, 15, 1501), 2 * np.pi / 15
    inputs = write_csv(program.new(".csv"), {"time": t, "base.q": 0.4 * (t**2 / 2 - (1 - np.cos(w * t)) / w**2),
                                             "base.qd": 0.4 * (t - np.sin(w * t) / w), "base.qdd": 0.4 * (1 - np.cos(w * t))})

    def deflection(modes, foreshortening, until):
        link = {"name": "beam", "joint": {"name": "base", "type": "revolute", "axis": [0, 0, 1], "motion": "prescribed"},
                "beam": {"length": 10, "mass_per_length": 1.2, "EIz": 1.4e4, "foreshortening": foreshortening,
                         "modes": {"y": {"shape": "clamped-free", "count": modes}}}}
        result = program.simulate(robot(link, gravity=[0, 0, 0]), until, 0.01, 1e-8, inputs=inputs)
        return result["time"], result["beam.deflection[2]"]

    for modes, lowest in (2, -0.57502), (4, -0.57581):
        times, y = deflection(modes, True, 15)
        yield near(f"{modes} clamped-free: lowest deflection, m", lowest, y.min(), ".5f", absolute=1e-4, unit="m")
        yield near(f"{modes} clamped-free: when, s", 6.77, times[y.argmin()], ".2f", absolute=0.03, unit="s")
    beyond = np.abs(deflection(2, False, 12.5)[1]).max()
    yield at_least("2 clamped-free without `foreshortening`: deflection before 12.5 s, m", 10, beyond, ".0e")


# ---- free motion -----------------------------------------------------------------------------------------------------


@case("Free motion: energy", "conservation; 20 s after a joint impulse",
      """Drift of the energy as a fraction of the largest kinetic energy. How it falls with the tolerance, for all robots, is in
      [integration.md](integration.md), which `bench/integration.py --write-docs` makes, and in `tests/fmu/test_accuracy.py`.""")
def energy(program):
    arm = resource("canadarm")
    lost = drift(program.simulate(arm, 20, 0.1, 1e-8, start=program.struck(arm, [0] * 9, 3, 5.0)))
    yield small("canadarm, 5 J by the second joint, rtol 1e-8", lost, 1e-4)
