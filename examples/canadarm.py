"""The forced Canadarm, from robot file to plot: creates the FMU, computes torques, simulates with FMPy, checks the result.

usage: canadarm.py [FOLDER]    results are written to FOLDER (default build/out/run); LIMBER may name another limber program

The torques are those that would move the rigid arm along theta_i = k_i (t - T_i/pi sin(pi t/T_i)) (Mohan and Saha). The flexible
arm follows that motion, except for the bending of its links. Two checks, with exit code 1 if one fails: the work of the joints
equals the energy of the arm, and `limber simulate` at a tight tolerance gives the same motion."""

import os
import subprocess
import sys
import time
from pathlib import Path

import fmpy
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
LIMBER = os.path.abspath(os.environ.get("LIMBER", ROOT / "build/out/limber"))
ROBOT = "resources/canadarm.json"
LINKS = ["upper", "lower", "wrist"]
RATE = np.array([0.075, 0.05, 0.1])  # k_i, rad/s
PERIOD = np.array([10.0, 5.0, 5.0])  # T_i, s
UNTIL, STEP, TOLERANCE = 10.0, 0.01, 1e-6
WRENCH = [f"tip.{kind}[{axis}]" for kind in ("force", "torque") for axis in (1, 2, 3)]


def shown(path):
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def limber(*arguments):
    """Prints the command and runs it in the project's folder; returns its messages, which are printed as well."""
    arguments = [shown(argument) if isinstance(argument, Path) else argument for argument in arguments]
    print("$ limber", *arguments, flush=True)
    result = subprocess.run([LIMBER, *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    print(result.stderr, end="", file=sys.stderr, flush=True)
    if result.returncode != 0: sys.exit(f"{Path(sys.argv[0]).name}: limber {arguments[0]} failed, exit code {result.returncode}")
    return result.stderr


def read_table(file):
    """Columns by FMU name. (numpy's own reader of names would drop dots and brackets.)"""
    with open(file, encoding="utf-8") as text: names = text.readline().strip().split(",")
    return dict(zip(names, np.loadtxt(file, delimiter=",", skiprows=1, unpack=True)))


def write_table(file, result):
    names = result.dtype.names
    np.savetxt(file, np.column_stack([result[name] for name in names]), "%.17g", ",", header=",".join(names), comments="")


def signals_of(table):
    """Torques in the form FMPy needs, and a tip wrench of zero.

    All nine inputs are included: FMPy 0.3.32 passes input derivatives only if there are nine signals."""
    names = ["time", *(f"{link}_joint.tau" for link in LINKS), *WRENCH]
    signals = np.zeros(len(table["time"]), dtype=[(name, float) for name in names])
    for name in names[:4]: signals[name] = table[name]
    return signals


def simulate(fmu, signals):
    """The result and the CPU seconds, including unpacking and reading by the importer."""
    description = fmpy.read_model_description(str(fmu))
    recorded = [variable.name for variable in description.modelVariables
                if variable.causality == "output" or variable.name.startswith(("energy.", "power."))]
    start = time.process_time()
    result = fmpy.simulate_fmu(str(fmu), fmi_type="CoSimulation", stop_time=UNTIL, output_interval=STEP,
                               relative_tolerance=TOLERANCE, input=signals, set_input_derivatives=True, output=recorded)
    return result, time.process_time() - start


def wanted_angles(t):
    """theta_i, one row per joint."""
    return RATE[:, None] * (t - PERIOD[:, None] / np.pi * np.sin(np.pi * t / PERIOD[:, None]))


def angles(result):
    return np.array([result[f"{link}_joint.q"] for link in LINKS])


def deflections(result):
    """Deflection of each link's tip relative to its hinge, normal to the link in the plane of motion."""
    return np.array([result[f"{link}.deflection[2]"] for link in LINKS])


def tip(result):
    return np.array([result[f"tip.position[{axis}]"] for axis in (1, 2, 3)])


def plot(result, file):
    t, wanted, q = result["time"], wanted_angles(result["time"]), angles(result)
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
                         "grid.alpha": 0.3, "legend.frameon": False})
    figure, axes = plt.subplots(3, 1, figsize=(9, 9), sharex=True, constrained_layout=True, height_ratios=[1.3, 1, 1.3])
    colors = ["#1b6ca8", "#d1602e", "#3a8c5c"]
    for i, (link, color) in enumerate(zip(LINKS, colors)):
        axes[0].plot(t, np.degrees(q[i]), color=color, linewidth=1.8, label=f"{link}_joint.q")
        axes[0].plot(t, np.degrees(wanted[i]), color="black", linewidth=1, linestyle=(0, (4, 4)),
                     label="desired $\\theta_i$" if i == 2 else None)
        axes[1].plot(t, np.degrees(q[i] - wanted[i]), color=color, linewidth=1.2, label=f"{link}_joint")
        bend = 1e3 * deflections(result)[i]
        axes[2].plot(t, bend, color=color, linewidth=1.2, label=f"{link}.deflection[2], up to {np.abs(bend).max():.3g} mm")
    axes[0].set(ylabel="joint angle [deg]", title="Canadarm driven by the torques of the rigid arm")
    axes[1].set(ylabel="angle minus $\\theta_i$ [deg]")
    axes[2].set(ylabel="tip deflection of the link [mm]", xlabel="time [s]", xlim=(0, UNTIL))
    for axis, place in zip(axes, ("upper left", "upper right", "lower right")): axis.legend(loc=place)
    for axis in axes[1:]: axis.axhline(0, color="black", linewidth=0.6, zorder=0)
    figure.align_ylabels(axes)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def energy_gap(result):
    """The largest difference between the arm's energy and the work of the joints, as a fraction of the largest energy."""
    power, energy = result["power.joints"], result["energy.total"]
    work = np.concatenate([[0], np.cumsum(np.diff(result["time"]) * (power[1:] + power[:-1]) / 2)])
    return np.abs(energy - energy[0] - work).max() / np.abs(energy).max()


def checks(result, reference):
    """(quantity, largest value, limit): each value must be below its limit."""
    return [("energy minus work of the joints, fraction of the energy", energy_gap(result), 1e-3),
            ("joints against limber simulate [rad]", np.abs(angles(result) - angles(reference)).max(), 1e-3),
            ("tip against limber simulate [m]", np.abs(tip(result) - tip(reference)).max(), 1e-3)]


def summarize(result, cpu_seconds):
    bend, gap = np.abs(deflections(result)), np.abs(angles(result) - wanted_angles(result["time"]))
    softest, loosest = (np.unravel_index(array.argmax(), array.shape) for array in (bend, gap))
    at = lambda place: f"at {result['time'][place[1]]:.2f} s"
    x, y, z = tip(result)[:, -1]
    print(f"  final tip position       {x:.4f}  {y:.4f}  {z:.4f} m")
    print(f"  largest tip deflection   {1e3 * bend[softest]:.2f} mm, {LINKS[softest[0]]}, {at(softest)}")
    print(f"  largest angle - theta_i  {np.degrees(gap[loosest]):.3f} deg, {LINKS[loosest[0]]}_joint, {at(loosest)}")
    print(f"  CPU time                 {cpu_seconds:.2f} s for {UNTIL:g} s simulated, including unpacking the FMU")


def main():
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/out/run"
    folder.mkdir(parents=True, exist_ok=True)
    fmu, torques, reference, table, picture = (folder / name for name in (
        "canadarm.fmu", "torques.csv", "simulate.csv", "canadarm.csv", "canadarm.png"))

    limber("fmu", ROBOT, "-o", fmu)
    limber("inverse", ROBOT, "--profile", "cycloid", "--rate", ",".join(f"{k:g}" for k in RATE), "--period",
           ",".join(f"{T:g}" for T in PERIOD), "--until", f"{UNTIL:g}", "--step", "0.001", "--rigid", "-o", torques)
    limber("simulate", ROBOT, "--until", f"{UNTIL:g}", "--step", f"{STEP:g}", "--inputs", torques, "--rtol", "1e-9",
           "-o", reference)

    print(f"FMPy {fmpy.__version__}: co-simulation, {UNTIL:g} s in steps of {1e3 * STEP:g} ms, tolerance {TOLERANCE:g}")
    result, cpu_seconds = simulate(fmu, signals_of(read_table(torques)))
    write_table(table, result)
    plot(result, picture)
    summarize(result, cpu_seconds)

    good = True
    for what, value, limit in checks(result, read_table(reference)):
        good = good and value < limit
        print(f"  {'ok    ' if value < limit else 'FAILED'}  {what}: {value:.2g}, limit {limit:g}")
    for what, file in (("FMU", fmu), ("results", table), ("plot", picture)): print(f"{what + ':':9}{shown(file)}")
    sys.exit(0 if good else 1)


if __name__ == "__main__": main()
