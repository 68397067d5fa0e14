"""Controllers that contain a model of the arm: the Canadarm and Cibicik and Egeland's manipulator under PD, computed torque of the rigid and of
the flexible arm, input shaping, the correction loop, strain gauges and an accelerometer (docs/control.md), with the payload of the model and with one that is
20 % heavier.

usage: control.py [FOLDER] [--quick] [--write-docs]
       results are written to FOLDER (default build/out/run); --quick: only Cibicik's arm with the heavier payload, without and with the
       correction loop and with strain gauges; --write-docs: also the tables of docs/control.md and docs/figures/control.svg; LIMBER may name
       another limber program

Tuning. The gains are tuned for computed torque without the correction loop, and are the same for every law: kp = w^2, kd = 2 w
(damping ratio 1) with w half of the first natural frequency of the arm with locked joints, in the start pose with the payload of the model. The table
of decay rates shows that this is close to the best choice. The weights of LQR would give a rigid joint the same gains. The bandwidth of the correction loop is twice that natural frequency,
and the bandwidth of the observer and the vibration damping are a tenth of it. The sample time is 1 ms.
Checks, with exit code 1 if one fails: the correction loop at least halves the RMS tip error, and strain gauges reduce the remaining tip error at
the end to at most a quarter, for both arms."""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import fmpy
import matplotlib
import numpy as np
from fmpy.fmi2 import FMU2Slave

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from canadarm import LIMBER, ROOT, limber, shown  # noqa: E402

STEP, RECORD = 1e-3, 10  # sample time and communication step [s]; every so many steps are recorded
HEAVIER = 1.2
PD, PD_GRAVITY, RIGID, FLEXIBLE = range(4)  # parameter law
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3,
                     "legend.frameon": False, "svg.hashsalt": "limber", "svg.fonttype": "none"})


@dataclass
class Case:
    """An arm and its move: joints by `change` within `duration`, starting after `before`, then `after` seconds of rest [s]"""
    name: str
    robot: dict
    link: str  # that has the payload
    mass: float  # of the model's payload [kg]
    change: list
    before: float
    duration: float
    after: float
    results: dict = field(default_factory=dict)
    gauges: list = field(default_factory=list)  # outputs of the strain gauges

    def __post_init__(self):
        self.add_gauges()
        joints = [link["joint"] for link in self.robot["links"]]
        self.joints = [joint["name"] for joint in joints]
        self.start = np.array([joint.get("start", {}).get("position", 0.0) for joint in joints])
        self.end = self.before + self.duration + self.after

    def add_gauges(self):
        """Strain gauges at a twentieth of each flexible link's length, for the directions in which it bends"""
        self.robot = upgraded(self.robot)
        for link in self.robot["links"]:
            if "beam" not in link: continue
            name, modes = f"{link['name']}_gauge", link["beam"]["modes"]
            self.robot.setdefault("frames", []).append({"name": name, "link": link["name"], "at": link["beam"]["length"] / 20, "sensor": True})
            self.gauges += [f"{name}.curvature[{k}]" for direction, k in (("z", 2), ("y", 3)) if direction in modes]


def upgraded(robot):
    """The same robot in format 2, which has frames"""
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old.json"), Path(folder, "new.json")
        old.write_text(json.dumps(robot))
        limber("upgrade", old, "-o", new)
        return json.loads(new.read_text())


def canadarm():
    """The paper's arm has neither damping nor rotors nor payload. Without rotors, the joints' inertia is 9 kg m^2 with free modes and 47000 kg m^2
    with locked modes, and with these gains the feedback of the velocities through the mass matrix is unstable at 1 ms."""
    robot = json.loads((ROOT / "resources/canadarm.json").read_text())
    for link, position, rotor in zip(robot["links"], (0.3, 0.6, -0.4), (500.0, 200.0, 20.0)):
        link["joint"].update(start={"position": position}, motor_inertia=rotor)
        link["beam"]["damping_ratio"] = 0.01
    robot["links"][2]["payload"] = {"mass": 100.0}
    return Case("Canadarm", robot, "wrist", 100.0, [0.6, 0.5, -0.5], 2.0, 40.0, 20.0)


def cibicik():
    robot = json.loads((ROOT / "resources/cibicik-servo.json").read_text())
    return Case("Cibicik", robot, "hand", 10.0, [0.8, 0.5, -0.6, 0.3], 0.5, 2.0, 3.0)


# ---- tuning ---------------------------------------------------------------------------------------------------------------


def answer(*arguments, text=None):
    result = subprocess.run([LIMBER, *map(str, arguments)], input=text, capture_output=True, text=True)
    if result.returncode != 0: sys.exit(f"control.py: limber {arguments[0]}: {result.stderr}")
    return json.loads(result.stdout)


def tune(case):
    """First locked frequency, bandwidths, and the slowest decay of the closed loop for several bandwidths of PD"""
    case.omega = 2 * np.pi * answer("modes", case.file, "--json")["frequency"][0]
    case.bandwidth, case.correction = case.omega / 2, 2 * case.omega
    linear = answer("linearize", case.file, "--static")
    M = np.array(answer("matrices", case.file, "-", text=json.dumps(linear["operating_point"]))["M"])
    states = linear["states"]
    q, qd = ([states.index(f"{joint}.{what}") for joint in case.joints] for what in ("q", "qd"))
    B = np.array(linear["B"])[:, [linear["inputs"].index(f"{joint}.tau") for joint in case.joints]] @ M[np.ix_(q, q)]
    case.decay = {}
    for share in (0.25, 0.375, 0.5, 0.625, 0.75, 1.0):
        w, A = share * case.omega, np.array(linear["A"])
        A[:, q] -= B * w**2
        A[:, qd] -= B * 2 * w
        poles = np.linalg.eigvals(A)
        case.decay[share] = -poles[abs(poles) < 4 * case.omega].real.max()  # faster modes decay by their own damping


def gains(case, kp, kd):
    return {f"{joint}.{name}": value for joint in case.joints for name, value in (("kp", kp), ("kd", kd))}


def lqr(case):
    """Weights that give a rigid joint the gains of PD: acceptable errors x and w x/sqrt(2), acceptable acceleration w^2 x"""
    w, x = case.bandwidth, 0.01
    weights = {"lqr_position": x, "lqr_rate": w * x / np.sqrt(2), "lqr_acceleration": w**2 * x}
    return {"feedback": 1, **{f"{joint}.{name}": value for joint in case.joints for name, value in weights.items()}}


def shaper(case, impulses):
    """(delay, share) of impulses half a period apart, for an undamped mode: ZV has 2, ZVD has 3"""
    half, shares = np.pi / case.omega, {2: [0.5, 0.5], 3: [0.25, 0.5, 0.25]}[impulses]
    return [(i * half, share) for i, share in enumerate(shares)]


def laws(case):
    """Name in tables: parameters of the controller, shaper of the desired motion, sensors"""
    w, c = case.bandwidth, case.correction
    pd = gains(case, w**2, 2 * w)
    observer = {"observer_bandwidth": case.omega / 10, "vibration_damping": case.omega / 10}
    flexible = {"law": FLEXIBLE, "tip_compensation": 2, "compensation_bandwidth": 4 * case.omega}
    loop = {**pd, **flexible, "correction_bandwidth": c}
    return {"PD with gravity compensation": ({**pd, "law": PD_GRAVITY}, None),
            "computed torque, rigid": ({**pd, "law": RIGID}, None),
            "computed torque, rigid; ZV shaping": ({**pd, "law": RIGID}, shaper(case, 2)),
            "computed torque, rigid; ZVD shaping": ({**pd, "law": RIGID}, shaper(case, 3)),
            RIVAL: ({**pd, **flexible}, None),
            LOOP: (loop, None),
            GAUGES_ALONE: ({**loop, "observer_bandwidth": case.omega / 10}, None, GAUGED),
            GAUGES: ({**loop, **observer}, None, GAUGED),
            ACCELEROMETER: ({**loop, **observer}, None, INERTIAL),
            BOTH: ({**loop, **observer}, None, ALL_SENSORS),
            LQR: ({**flexible, **lqr(case)}, None),
            LQR_LOOP: ({**flexible, **lqr(case), "correction_bandwidth": c}, None),
            LQR_GAUGES: ({**flexible, **lqr(case), "correction_bandwidth": c, **observer}, None, GAUGED),
            STIFF: ({**gains(case, w**2 + 2 * w * c, 2 * w + c), **flexible}, None)}


RIVAL, LOOP, STIFF = "computed torque, flexible", "the same with the correction loop", "computed torque, flexible; kp + λ kd, kd + λ"
GAUGES_ALONE, GAUGES = "the same with the correction loop and strain gauges, σᵥ = 0", "the same with the correction loop and strain gauges"
ACCELEROMETER = "the same with the correction loop and an accelerometer at the tip"
BOTH = "the same with the correction loop, strain gauges and the accelerometer"
LQR, LQR_LOOP = "torques of the command, flexible; LQR", "the same LQR with the correction loop"
LQR_GAUGES = "the same LQR with the correction loop and strain gauges"
NO_SENSORS, GAUGED, INERTIAL, ALL_SENSORS = range(4)  # equipment


# ---- runs -----------------------------------------------------------------------------------------------------------------


class Fmu:
    """A slave of FMPy, by names"""
    def __init__(self, file):
        description = fmpy.read_model_description(str(file))
        self.folder = fmpy.extract(str(file))
        self.slave = FMU2Slave(guid=description.guid, unzipDirectory=self.folder,
                               modelIdentifier=description.coSimulation.modelIdentifier, instanceName=file.stem)
        self.variables = {variable.name: variable for variable in description.modelVariables}
        self.slave.instantiate()
        self.slave.setupExperiment(tolerance=1e-6, startTime=0.0)

    def __getattr__(self, name):
        return getattr(self.slave, name)

    def references(self, names):
        return [self.variables[name].valueReference for name in names]

    def put(self, values):
        for name, value in values.items():
            kind = self.variables[name].type
            setter = {"Integer": self.slave.setInteger, "Boolean": self.slave.setBoolean, "Real": self.slave.setReal}[kind]
            setter(self.references([name]), [value])

    def close(self):
        self.slave.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


def desired(case, t, shape=None):
    """q, qd, qdd of the joints at the times t, columns: a polynomial of order 7"""
    rows = 0
    for delay, share in shape or [(0.0, 1.0)]:
        s = np.clip((t - case.before - delay) / case.duration, 0, 1)
        course = (s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3), 140 * s**3 * (1 - s)**3 / case.duration,
                  420 * s**2 * (1 - s)**2 * (1 - 2 * s) / case.duration**2)
        rows = rows + share * np.concatenate([np.outer(case.change, x) for x in course])
    rows[:len(case.joints)] += case.start[:, None]
    return rows.T


def undeformed_tip(case, q):
    """Positions of the tip of the undeformed arm"""
    plant = Fmu(case.plant)
    plant.enterInitializationMode()
    at, tip = plant.references([f"{joint}.q_start" for joint in case.joints]), plant.references(TIP)
    rows = []
    for row in q:
        plant.setReal(at, row)
        rows.append(plant.getReal(tip))
    plant.close()
    return np.array(rows)


TIP = [f"tip.position[{k}]" for k in (1, 2, 3)]


def run(case, parameters, shape, mass, equipment=NO_SENSORS):
    """Controller first, then the arm with constant torques: the only delay is that of sampling. Rows of tip, joints, torques,
    and the median of the time that a sample takes [s]"""
    controller, plant = Fmu(case.controllers[equipment]), Fmu(case.plant)
    names = lambda *endings: [f"{joint}.{ending}" for ending in endings for joint in case.joints]
    references, measured = controller.references(names("q_ref", "qd_ref", "qdd_ref")), controller.references(names("q", "qd") + case.sensors[equipment])
    tau, motion = controller.references(names("tau")), plant.references(names("q", "qd") + case.sensors[equipment])
    tau_in, observed = plant.references(names("tau")), plant.references(TIP + names("q", "tau"))
    t = np.arange(round(case.end / STEP) + 1) * STEP
    reference = desired(case, t, shape)
    controller.put(parameters)
    controller.enterInitializationMode()
    controller.setReal(references, reference[0])
    start = controller.getReal(controller.references(names("q_command")))
    controller.setReal(measured[:len(start)], start)
    controller.exitInitializationMode()
    plant.put({**dict(zip(names("q_start"), start)), "start_static": True, f"{case.link}.payload.mass": mass})
    plant.enterInitializationMode()
    plant.exitInitializationMode()
    rows, spent = [], []
    for k, now in enumerate(t):
        if k % RECORD == 0: rows.append(plant.getReal(observed))
        if k + 1 == len(t): break
        controller.setReal(references, reference[k])
        controller.setReal(measured, plant.getReal(motion))
        begun = time.perf_counter()
        controller.doStep(now, STEP)
        spent.append(time.perf_counter() - begun)
        plant.setReal(tau_in, controller.getReal(tau))
        plant.doStep(now, STEP)
    controller.close()
    plant.close()
    return np.array(rows), np.median(spent)


def errors_of(case, rows, shape):
    """Against the tip of the undeformed arm along the desired, perhaps shaped motion: RMS and largest tip error, error at the end; and the
    largest swing of the tip in the last half of the rest [m]"""
    error = np.linalg.norm(rows[:, :3] - undeformed_tip(case, desired(case, case.t, shape)[:, :len(case.joints)]), axis=1)
    late = case.t > case.end - case.after / 2
    return {"t": case.t, "error": error, "rms": np.sqrt(np.mean(error**2)), "largest": error.max(), "end": error[-1],
            "swing": np.ptp(rows[late, :3], axis=0).max()}


def study(case, folder, quick):
    stem = case.name.lower()
    case.file, case.plant = (folder / f"control-{stem}{end}" for end in (".json", ".fmu"))
    case.file.write_text(json.dumps(case.robot))
    limber("fmu", case.file, "-o", case.plant)
    inertial = [f"tip.specific_force[{k}]" for k in (1, 2, 3)]
    case.sensors = {NO_SENSORS: [], GAUGED: case.gauges, INERTIAL: inertial, ALL_SENSORS: case.gauges + inertial}
    case.controllers = {equipment: folder / f"control-{stem}-controller{equipment}.fmu" for equipment in case.sensors}
    for equipment, names in case.sensors.items():
        limber("drive", "controller", case.file, "-o", case.controllers[equipment], *(word for name in names for word in ("--sensor", name)))
    tune(case)
    case.t = np.arange(0, round(case.end / STEP) + 1, RECORD) * STEP
    for factor in (HEAVIER,) if quick else (1.0, HEAVIER):
        for name, (parameters, shape, *equipment) in laws(case).items():
            if quick and name not in (RIVAL, LOOP, GAUGES): continue
            rows, spent = run(case, parameters, shape, factor * case.mass, *equipment)
            found = case.results[name, factor] = {**errors_of(case, rows, shape), "spent": spent}
            print(f"{case.name}, payload {factor:g} of the model's, {name}: RMS tip error {1e3 * found['rms']:.2f} mm", flush=True)
    case.ratio = case.results[LOOP, HEAVIER]["rms"] / case.results[RIVAL, HEAVIER]["rms"]
    case.left = case.results[GAUGES, HEAVIER]["end"] / case.results[LOOP, HEAVIER]["end"]


# ---- report ---------------------------------------------------------------------------------------------------------------


def plot(cases, files):
    shown_laws = {"PD with gravity compensation": "C7", "computed torque, rigid": "C0", "computed torque, rigid; ZVD shaping": "C2", RIVAL: "C1", LOOP: "C3", GAUGES: "C4"}
    figure, axes = plt.subplots(2, len(cases), figsize=(11, 7.5), layout="constrained", squeeze=False)
    for column, case in zip(axes.T, cases):
        for name, color in shown_laws.items():
            found = case.results[name, HEAVIER]
            thin = max(1, len(found["t"]) // 500)
            for axis in column: axis.plot(found["t"][::thin], 1e3 * found["error"][::thin], color=color, label=name, linewidth=1.3)
        stop = case.before + case.duration
        column[0].axvspan(case.before, stop, color="0.95", zorder=0)
        column[0].set(title=f"{case.name}: tip error, payload 20 % heavier than the model's", ylabel="[mm]", xlim=(0, case.end), yscale="log", ylim=(1, None))
        rest = [1e3 * case.results[name, HEAVIER]["error"][case.t > stop].max() for name in (RIVAL, LOOP)]
        column[1].set(title="The same after the move", xlabel="time [s]", ylabel="[mm]", xlim=(stop, case.end), ylim=(0, 1.5 * max(rest)))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    for file in files: figure.savefig(file, metadata={"Date": None} if str(file).endswith("svg") else None, dpi=110)
    plt.close(figure)


def tables(cases):
    lines = ["| | first locked frequency ω₁ [rad/s] | PD bandwidth ω₁/2 [rad/s] | λ = 2 ω₁ [rad/s] | slowest decay of the closed loop [1/s] for a PD "
             "bandwidth of " + ", ".join(f"{share:g}" for share in cases[0].decay) + " ω₁ |", "| --- | --- | --- | --- | --- |"]
    for case in cases:
        lines.append(f"| {case.name} | {case.omega:.3f} | {case.bandwidth:.3f} | {case.correction:.3f} | "
                     + ", ".join(f"{decay:.3g}" for decay in case.decay.values()) + " |")
    for case in cases:
        lines += ["", f"**{case.name}**, payload {case.mass:g} kg in the model; in the arm {case.mass:g} kg (exact) and {HEAVIER * case.mass:g} kg (heavier). Tip errors in mm.", "",
                  "| law | exact: RMS | heavier: RMS | heavier: largest | heavier: at the end | heavier: swing at rest |", "| --- | --- | --- | --- | --- | --- |"]
        for name in laws(case):
            exact, heavier = case.results[name, 1.0], case.results[name, HEAVIER]
            lines.append(f"| {name} | {1e3 * exact['rms']:.2f} | " + " | ".join(f"{1e3 * heavier[key]:.2f}" for key in ("rms", "largest", "end", "swing")) + " |")
        lines += ["", f"Correction loop compared with computed torque without it: {case.ratio:.2f} of its RMS tip error; the goal was at most 0.5. "
                  f"A sample takes {1e6 * case.results[LOOP, HEAVIER]['spent']:.0f} µs with it, {1e6 * case.results[RIVAL, HEAVIER]['spent']:.0f} µs without, "
                  f"{1e6 * case.results[GAUGES, HEAVIER]['spent']:.0f} µs with strain gauges, {1e6 * case.results[BOTH, HEAVIER]['spent']:.0f} µs with the accelerometer as well, including the call by FMPy."]
    return "\n".join(lines)


def write_docs(cases):
    page = ROOT / "docs/control.md"
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- begin results: measured by examples/control.py, do not edit -->\n", "<!-- end results -->"
    head, rest = text.split(begin)
    page.write_text(head + begin + "\n" + tables(cases) + "\n\n" + end + rest.split(end)[1], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/out/run")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    cases = [cibicik()] if options.quick else [canadarm(), cibicik()]
    for case in cases: study(case, folder, options.quick)
    failed = False
    for case in cases:
        for what, share, most in (("the correction loop leaves {:.2f} of the RMS tip error", case.ratio, 0.5),
                                  ("strain gauges leave {:.3f} of its tip error at the end", case.left, 0.25)):
            failed = failed or not share <= most
            print(f"  {'ok' if share <= most else 'FAILED'}  {case.name}: {what.format(share)}; at most {most:g}")
    if not options.quick:
        figures = [folder / "control.png"] + ([ROOT / "docs/figures/control.svg"] if options.write_docs else [])
        plot(cases, figures)
        print(tables(cases))
        print(f"plot: {shown(folder / 'control.png')}")
        if options.write_docs: write_docs(cases)
    sys.exit(1 if failed else 0)


if __name__ == "__main__": main()
