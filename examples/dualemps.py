"""The DualEMPS on a circle and on a square, from robot file to plot: creates the FMU, closes a position loop around it, checks the result.

usage: dualemps.py [FOLDER] [--seconds S] [--tolerance R]
       results are written to FOLDER (default build/out/run); S: seconds of each path (25); R: of the FMU's integrator (1e-5);
       LIMBER may name another limber program

Two flexible legs are attached to two sliders and joined by a pin (Briot and Khalil). The controller runs in this script, outside the FMU, every
millisecond: force = Kp (r - q) + Kd (r' - q'), constant over the step, with Kp = m w^2 and Kd = 2 m w, w = 100 rad/s and m the mass of a
slider and its leg. Friction is as in the paper; the controller does not compensate it. The references are those of the rigid robot:

circle   of the point P, radius 0.1 m around (0.28, 0.90) m at 0.2 m/s, after 2 s from the start to its lowest point
square   of the two sliders, 0.25 m wide; an edge takes 1.8 s, then the robot rests until 6.25 s

The speed along a path rises and falls as half a cosine: within 0.2 s on the circle, within 0.05 s on the square, so that the legs
vibrate after each stop. (The paper shows its profile only as a figure.) They vibrate at the first frequency of the robot, near 14 Hz,
until the friction of the pivots locks them; the remaining vibration is at about 20 Hz, the frequency of the robot with locked pivots.

Checks, with exit code 1 if one fails: the loop is closed in every sample, the ends of the legs computed from the outputs agree with the
FMU's P, the sliders follow their references, the legs vibrate at the first frequency."""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

import fmpy
import fmpy.fmi2
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from canadarm import ROOT, limber, shown  # noqa: E402

ROBOT = ROOT / "resources/dualemps.json"
STEP = 1e-3
CUT_OFF = 100.0  # w, rad/s
CENTER, RADIUS, SPEED, APPROACH, SOFT = np.array([0.28, 0.90]), 0.1, 0.2, 2.0, 0.2
STROKE, EDGE, PERIOD, HARD = 0.25, 1.8, 6.25, 0.05
PAPER_SECONDS = 6 * 60 + 5  # for the square, on a Pentium 4 at 2.7 GHz
FIRST_FREQUENCY = 14.212  # Hz, sliders locked; the paper computes 14.22 and measures 14
INPUTS = ["slide1.tau", "slide2.tau"]
MEASURED = ["slide1.q", "slide2.q", "slide1.qd", "slide2.qd"]
OUTPUTS = MEASURED + [
    "pivot1.q", "pivot2.q", *(f"{blade}.{what}" for blade in ("blade1", "blade1b", "blade2")
                              for what in ("deflection[1]", "deflection[2]", "rotation[3]")),
    *(f"tip.position[{k}]" for k in (1, 2)), *(f"tip.quaternion[{k}]" for k in (1, 4)),
    *(f"tip.acceleration[{k}]" for k in (1, 2)), "apex.force[1]", "apex.force[2]"]


# ---- the robot ---------------------------------------------------------------------------------------------------------------


class Geometry:
    """Lengths and masses from the robot file. Legs begin at the sliders, on x = 0 and x = distance."""

    def __init__(self, robot):
        link = {each["name"]: each for each in robot["links"]}
        along_x = lambda pose: pose["xyz"][0]
        self.distance = along_x(link["slider2"]["joint"]["origin"])
        self.base = along_x(link["base1"]["rigid"]["tip"])
        self.blade = link["blade1"]["beam"]["length"]
        self.elbow = along_x(link["elbow1"]["rigid"]["tip"])
        self.blade_b = along_x(link["blade1b"]["joint"]["origin"]) + link["blade1b"]["beam"]["length"]
        self.leg = self.base + self.blade + self.elbow
        self.reach = self.leg + self.blade_b
        mass = lambda each: each["rigid"]["mass"] if "rigid" in each else each["beam"]["length"] * each["beam"]["mass_per_length"]
        cut = robot["links"].index(link["slider2"])
        self.mass = np.array([sum(map(mass, part)) for part in (robot["links"][:cut], robot["links"][cut:])])

    def sliders(self, P):
        """Sliders of the rigid robot for the point P:  P = (0, q1) + reach e(a1),  apex = (0, q1) + leg e(a1) = (d, q2) + leg e(a2)"""
        a1 = np.arccos(P[0] / self.reach)
        q1 = P[1] - self.reach * np.sin(a1)
        a2 = np.arccos(np.cos(a1) - self.distance / self.leg)
        return np.array([q1, q1 + self.leg * (np.sin(a1) - np.sin(a2))])

    def point(self, q):
        """P of the rigid robot: the apex is above the middle of the line between the sliders"""
        half = np.array([np.full_like(q[0], self.distance), q[1] - q[0]]) / 2
        height = np.sqrt(self.leg**2 / (half**2).sum(axis=0) - 1)
        apex = half + height * np.array([-half[1], half[0]])
        return np.array([np.zeros_like(q[0]), q[0]]) + self.reach / self.leg * apex


def ahead(angle, x, y):
    """A step by (x, y) in axes rotated by the angle"""
    return np.array([np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y])


def leg_end(geometry, result, side):
    """Position and direction of the end of a leg's elbow, from slider, pivot and bending"""
    blade, angle = f"blade{side}", result[f"pivot{side}.q"]
    x = np.full_like(angle, geometry.distance if side == 2 else 0)
    p = np.array([x, result[f"slide{side}.q"]])
    p = p + ahead(angle, geometry.base + geometry.blade + result[blade + ".deflection[1]"], result[blade + ".deflection[2]"])
    angle = angle + result[blade + ".rotation[3]"]
    return p + ahead(angle, geometry.elbow, 0), angle


# ---- references ----------------------------------------------------------------------------------------------------------------


def travelled(t, duration, ramp):
    """Fraction of a path at time t: the speed rises within `ramp`, is constant, and falls within `ramp` to zero at `duration`"""
    t = np.clip(t, 0, duration)
    rising = lambda s: (s - ramp / np.pi * np.sin(np.pi * s / ramp)) / 2
    started, stopping = np.minimum(t, ramp), np.maximum(t - (duration - ramp), 0)
    held = np.clip(t - ramp, 0, duration - 2 * ramp)
    return (rising(started) + held + stopping - rising(stopping)) / (duration - ramp)


def circle(geometry, t, seconds):
    """Sliders from the start to the lowest point, then around the circle, at rest again half a second before the end"""
    turning = seconds - APPROACH - 0.5
    angle = SPEED / RADIUS * (turning - SOFT) * travelled(t - APPROACH, turning, SOFT) - np.pi / 2
    around = geometry.sliders(CENTER[:, None] + RADIUS * np.array([np.cos(angle), np.sin(angle)]))
    return around * travelled(t, APPROACH, SOFT)


def square(geometry, t, seconds):
    """Sliders, edge after edge: the first out, the second out, the first back, the second back"""
    edges = [travelled(t - PERIOD * i, EDGE, HARD) * (1 if i % 4 < 2 else -1) for i in range(int(np.ceil(seconds / PERIOD)))]
    return STROKE * np.array([sum(edges[side::2], np.zeros_like(t)) for side in (0, 1)])


# ---- the loop ----------------------------------------------------------------------------------------------------------------


def instantiate(description, folder, tolerance, seconds):
    fmu = fmpy.fmi2.FMU2Slave(guid=description.guid, unzipDirectory=str(folder), instanceName="dualemps",
                              modelIdentifier=description.coSimulation.modelIdentifier)
    fmu.instantiate()
    fmu.setupExperiment(tolerance=tolerance, startTime=0, stopTime=seconds)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu


def drive(fmu, reference_of, mass, path, seconds):
    """One run: outputs before every step and after the last one, the forces, the references, and the CPU seconds of the loop"""
    steps = round(seconds / STEP)
    t = STEP * np.arange(steps + 1)
    r = path(t)
    rate = (path(t + STEP / 2) - path(t - STEP / 2)) / STEP
    Kp, Kd = mass * CUT_OFF**2, 2 * mass * CUT_OFF
    inputs, outputs = ([reference_of[name] for name in names] for names in (INPUTS, OUTPUTS))
    rows, forces = np.empty((steps + 1, len(outputs))), np.empty((steps + 1, 2))
    start = time.process_time()
    for i in range(steps + 1):
        y = rows[i] = fmu.getReal(outputs)
        forces[i] = Kp * (r[:, i] - y[:2]) + Kd * (rate[:, i] - y[2:4])
        if i == steps: break
        fmu.setReal(inputs, forces[i])
        fmu.doStep(t[i], STEP)
    cpu_seconds = time.process_time() - start
    result = dict(zip(OUTPUTS, rows.T), time=t, reference1=r[0], reference2=r[1])
    result.update(zip(INPUTS, forces.T))
    return result, cpu_seconds


def acceleration_of_P(result):
    """In the axes of the last link: along it and normal to it. The accelerometer of the paper measures the normal component."""
    w, z = result["tip.quaternion[1]"], result["tip.quaternion[4]"]
    return ahead(-2 * np.arctan2(z, w), result["tip.acceleration[1]"], result["tip.acceleration[2]"])


# ---- results -----------------------------------------------------------------------------------------------------------------


def gap(geometry, result):
    """Largest distance between the ends of the two legs over the run"""
    return np.linalg.norm(leg_end(geometry, result, 1)[0] - leg_end(geometry, result, 2)[0], axis=0).max()


def point_gap(geometry, result):
    """Largest distance between the FMU's P and P computed along the first leg"""
    p, angle = leg_end(geometry, result, 1)
    p = p + ahead(angle, geometry.blade_b + result["blade1b.deflection[1]"], result["blade1b.deflection[2]"])
    return np.linalg.norm(p - [result["tip.position[1]"], result["tip.position[2]"]], axis=0).max()


def slider_error(result):
    return max(np.abs(result[f"slide{side}.q"] - result[f"reference{side}"]).max() for side in (1, 2))


def point_error(geometry, result):
    wanted = geometry.point(np.array([result["reference1"], result["reference2"]]))
    return np.linalg.norm(wanted - [result["tip.position[1]"], result["tip.position[2]"]], axis=0).max()


def swing_frequency(result):
    """Peak of the spectrum of the normal acceleration, in the half second after the first stop"""
    piece = acceleration_of_P(result)[1][round((EDGE + 0.02) / STEP):][:500]
    spectrum = np.abs(np.fft.rfft((piece - piece.mean()) * np.hanning(len(piece)), 2**14))
    return np.fft.rfftfreq(2**14, STEP)[spectrum.argmax()]


def checks(geometry, results):
    """(quantity, largest value, limit): each value must be below its limit."""
    largest = lambda of: max(of(result) for result in results.values())
    return [("gap of the loop [m]", largest(lambda result: gap(geometry, result)), 1e-9),
            ("P along the first leg against tip.position [m]", largest(lambda result: point_gap(geometry, result)), 1e-9),
            ("sliders against their references [m]", largest(slider_error), 1e-3),
            ("frequency after the stop, relative error to 14.21 Hz", abs(swing_frequency(results["square"]) / FIRST_FREQUENCY - 1), 0.05)]


def plot_paths(axis, geometry, results):
    for (name, result), color in zip(results.items(), ("#1b6ca8", "#d1602e")):
        x, y = geometry.point(np.array([result["reference1"], result["reference2"]]))
        axis.plot(result["tip.position[1]"], result["tip.position[2]"], color=color, linewidth=1.8, label=f"P, {name}")
        axis.plot(x, y, color="black", linewidth=0.8, linestyle=(0, (4, 4)), label="rigid robot" if name == "square" else None)
    axis.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="Paths of P")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, -0.6), ncols=3, fontsize=9)


def plot(geometry, results, file):
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
                         "grid.alpha": 0.3, "legend.frameon": False})
    figure, axes = plt.subplot_mosaic([["paths", "swing"], ["circle", "circle"], ["square", "square"]], figsize=(10, 10.5),
                                      constrained_layout=True, height_ratios=[1.2, 1, 1])
    plot_paths(axes["paths"], geometry, results)
    for name in ("circle", "square"):
        t, across = results[name]["time"], acceleration_of_P(results[name])[1]
        axes[name].plot(t, across, color="#1b6ca8", linewidth=0.7)
        axes[name].set(xlabel="time [s]", ylabel="acceleration of P [m/s$^2$]", xlim=(0, t[-1]),
                       title=f"Normal to the last link, {name}")
    shown_part = (t > EDGE - 0.15) & (t < EDGE + 1.05)
    axes["swing"].plot(t[shown_part], across[shown_part], color="#1b6ca8", linewidth=1)
    axes["swing"].axvline(EDGE, color="black", linewidth=0.8, linestyle=(0, (4, 4)))
    axes["swing"].set(xlabel="time [s]", ylabel="acceleration of P [m/s$^2$]",
                      title=f"First stop of the square: {swing_frequency(results['square']):.1f} Hz")
    figure.savefig(file, dpi=130)
    plt.close(figure)


def summarize(geometry, name, result, cpu_seconds):
    seconds, across = result["time"][-1], acceleration_of_P(result)[1]
    force = max(np.abs(result[name]).max() for name in INPUTS)
    print(f"{name}: {cpu_seconds:.2f} s of CPU for {seconds:g} s simulated, including the loop in Python")
    if name == "square":
        print(f"  the paper's model            {PAPER_SECONDS} s for its square, on a Pentium 4 at 2.7 GHz, not on this computer")
    print(f"  largest gap of the loop      {gap(geometry, result):.1e} m")
    print(f"  slider minus reference       {1e3 * slider_error(result):.3f} mm at most, with at most {force:.0f} N")
    print(f"  P minus P of the rigid robot {1e3 * point_error(geometry, result):.3f} mm at most")
    print(f"  normal acceleration          {np.abs(across).max():.2f} m/s^2 at most, {np.sqrt((across**2).mean()):.3f} rms")
    if name == "square":
        print(f"  after the first stop         vibrates at {swing_frequency(result):.2f} Hz (model at rest, no friction: {FIRST_FREQUENCY})")


def write_table(file, result):
    names = ["time", *(name for name in result if name != "time")]
    np.savetxt(file, np.column_stack([result[name] for name in names]), "%.17g", ",", header=",".join(names), comments="")


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/out/run")
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    given = parser.parse_args()
    if not given.seconds >= 3: parser.error(f"--seconds {given.seconds:g}: must be at least 3, for the approach to the circle")
    return given


def main():
    given = arguments()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    file, fmu, picture = (folder / name for name in ("dualemps.json", "dualemps.fmu", "dualemps.png"))

    robot = json.loads(ROBOT.read_text(encoding="utf-8"))
    robot["tip"] = "tool"  # P, not the end of the second leg
    file.write_text(json.dumps(robot, indent=1), encoding="utf-8")
    limber("fmu", file, "-o", fmu)
    geometry, description = Geometry(robot), fmpy.read_model_description(str(fmu))
    reference_of = {variable.name: variable.valueReference for variable in description.modelVariables}

    print(f"FMPy {fmpy.__version__}: co-simulation and controller, {given.seconds:g} s in steps of {1e3 * STEP:g} ms, tolerance "
          f"{given.tolerance:g}; m = {geometry.mass[0]:.2f} and {geometry.mass[1]:.2f} kg")
    unpacked, results, tables = fmpy.extract(str(fmu)), {}, []
    for name, path in (("circle", circle), ("square", square)):
        instance = instantiate(description, unpacked, given.tolerance, given.seconds)
        results[name], cpu_seconds = drive(instance, reference_of, geometry.mass,
                                           lambda t, path=path: path(geometry, t, given.seconds), given.seconds)
        instance.terminate()
        instance.freeInstance()
        tables.append(folder / f"dualemps-{name}.csv")
        write_table(tables[-1], results[name])
        summarize(geometry, name, results[name], cpu_seconds)
    shutil.rmtree(unpacked, ignore_errors=True)
    plot(geometry, results, picture)

    good = True
    for what, value, limit in checks(geometry, results):
        good = good and value < limit
        print(f"  {'ok    ' if value < limit else 'FAILED'}  {what}: {value:.2g}, limit {limit:g}")
    for what, each in (("FMU", fmu), *(("results", table) for table in tables), ("plot", picture)):
        print(f"{what + ':':9}{shown(each)}")
    sys.exit(0 if good else 1)


if __name__ == "__main__": main()
