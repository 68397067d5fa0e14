"""A concrete pump slews its boom, from robot file to plot: creates the FMU, starts it in static equilibrium, checks the result.

usage: concrete_pump.py [FOLDER] [--seconds S]
       results are written to FOLDER (default build/out/run); S: simulated seconds (60); LIMBER may name another limber program

The boom has four tapered box sections, 33 m in all, with pipe and concrete, on a turret whose chassis is supported by four elastic outriggers. The torque
of the slewing drive accelerates and brakes the boom. Every section has an inertial sensor at its middle and strain gauges
near its root; the bending moment is EI times the measured curvature.

Checks, with exit code 1 if one fails: the energy balance holds (work of the drive minus losses equals the change of energy), the moment at
the gauge of the first section agrees with the weight outward of it."""

import argparse
import json
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from canadarm import ROOT, limber, read_table  # noqa: E402

ROBOT = ROOT / "resources/concrete-pump.json"
STEP = 0.01
SECTIONS = (1, 2, 3, 4)
# time [s], torque of the slewing drive [N.m]
PROFILE = [(0, 0), (2, 0), (3, 9000), (9, 9000), (10, 1200), (32, 1200), (33, -7500), (39, -7500), (40, 0), (60, 0)]
G = 9.81


def write_profile(file):
    file.write_text("time,slew.tau\n" + "".join(f"{t},{torque}\n" for t, torque in PROFILE), encoding="utf-8")


# ---- the boom as its file describes it -------------------------------------------------------------------------------------------


def dimensions(beam, x):
    """width, height, wall of the box at x"""
    table = beam["section"]
    return [np.interp(x, table["x"], [each[key] for each in table["section"]]) for key in ("width", "height", "wall")]


def bending_stiffness(beam, x):
    """EI of bending in the vertical plane"""
    width, height, wall = dimensions(beam, x)
    inner = (width - 2 * wall, height - 2 * wall)
    return beam["material"]["E"] * (width * height**3 - inner[0] * inner[1]**3) / 12


def mass_per_length(beam, x):
    width, height, wall = dimensions(beam, x)
    area = width * height - (width - 2 * wall) * (height - 2 * wall)
    return beam["material"]["density"] * area + beam["added_mass_per_length"]


def gauge(robot, section):
    """station of the strain gauges of a section"""
    return next(frame["at"] for frame in robot["frames"] if frame["name"] == f"gauge{section}")


def moments(robot, result):
    """bending moment in the vertical plane at the gauges, one row a section [N.m]"""
    beams = {link["name"]: link["beam"] for link in robot["links"] if "beam" in link}
    return np.array([bending_stiffness(beams[f"section{i}"], gauge(robot, i)) * result[f"gauge{i}.curvature[2]"]
                     for i in SECTIONS])


def moment_of_weight(robot, state):
    """moment about the gauge of section 1 of the weight outward of it, in the undeformed boom; `state`: the start by name [N.m]"""
    links = {link["name"]: link for link in robot["links"]}
    point, origin, angle, total = np.zeros(2), None, 0.0, 0.0
    for i in SECTIONS:
        link, beam = links[f"section{i}"], links[f"section{i}"]["beam"]
        angle += state[f"knuckle{i}.q"]
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        if origin is None: origin = point + gauge(robot, 1) * along
        first = gauge(robot, 1) if i == 1 else 0
        x = np.linspace(first, beam["length"], 2001)
        density = mass_per_length(beam, x)
        total += np.trapezoid(density, x) * (point - origin)[0] + np.trapezoid(density * x, x) * along[0]
        point = point + beam["length"] * along
        for name in (f"lever{i + 1}", f"rod{i + 1}"):
            if name in links: total += links[name]["rigid"]["mass"] * (point - origin)[0]
        if "payload" in link:
            com = link["payload"]["com"]
            total += link["payload"]["mass"] * (point + com[0] * along + com[2] * across - origin)[0]
    return G * total


# ---- the result ----------------------------------------------------------------------------------------------------------------


def energy_gap(result):
    """The largest difference between the change of energy and the work of the drive minus losses, as a fraction of the largest work."""
    integral = lambda power: np.concatenate([[0], np.cumsum(np.diff(result["time"]) * (power[1:] + power[:-1]) / 2)])
    work, losses = integral(result["power.joints"]), integral(result["power.losses"])
    energy = result["energy.total"] - result["energy.total"][0]
    return np.abs(energy - work + losses).max() / max(np.abs(work).max(), 1)


def plot(robot, result, file):
    t = result["time"]
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
                         "grid.alpha": 0.3, "legend.frameon": False})
    figure, axes = plt.subplots(4, 1, figsize=(9, 11), sharex=True, constrained_layout=True)
    colors = ["#1b6ca8", "#d1602e", "#3a8c5c", "#7a4fa3"]
    axes[0].plot(t, np.degrees(result["slew.q"]), color=colors[0], label="slew.q [deg]")
    axes[0].plot(t, np.interp(t, *zip(*PROFILE)) / 100, color="black", linewidth=1, label="torque of the drive [100 N.m]")
    axes[0].set(ylabel="slewing", title="Concrete pump, 33 m boom, slewed by a torque")
    lateral = -np.sin(result["slew.q"]) * result["tip.acceleration[1]"] + np.cos(result["slew.q"]) * result["tip.acceleration[2]"]
    axes[1].plot(t, lateral, color=colors[1], linewidth=1, label="tip, normal to the boom")
    axes[1].set(ylabel="acceleration [m/s$^2$]")
    bending = moments(robot, result)
    for i, color in zip(SECTIONS, colors):
        axes[2].plot(t, 1e-3 * (bending[i - 1] - bending[i - 1][0]), color=color, linewidth=1,
                     label=f"gauge{i}, from {1e-3 * bending[i - 1][0]:.0f} kN.m")
        axes[3].plot(t, np.degrees(result[f"imu{i}.angular_rate[3]"]), color=color, linewidth=1, label=f"imu{i}.angular_rate[3]")
    axes[2].set(ylabel="change of moment [kN.m]")
    axes[3].set(ylabel="rate [deg/s]", xlabel="time [s]", xlim=(0, t[-1]))
    for axis, place in zip(axes, ("center right", "upper right", "upper right", "upper right")): axis.legend(loc=place, fontsize=9)
    figure.align_ylabels(axes)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/out/run")
    parser.add_argument("--seconds", type=float, default=60.0)
    return parser.parse_args()


def main():
    options = arguments()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    torques, table, picture = (folder / f"concrete-pump{end}" for end in ("-torque.csv", ".csv", ".png"))
    write_profile(torques)
    robot = json.loads(ROBOT.read_text(encoding="utf-8"))
    limber("fmu", ROBOT, "-o", folder / "concrete-pump.fmu")
    messages = limber("simulate", ROBOT, "--until", f"{options.seconds:g}", "--step", f"{STEP:g}", "--inputs", torques,
                      "--set", "start_static=1", "--stats", "-o", table)
    result, cpu = read_table(table), json.loads(messages.splitlines()[-1])["cpu_seconds"]
    plot(robot, result, picture)

    state = {f"knuckle{i}.q": result[f"knuckle{i}.q"][0] for i in SECTIONS}
    measured, weight = moments(robot, result)[0][0], moment_of_weight(robot, state)
    print(f"  slewed by                {np.degrees(result['slew.q'][-1]):.1f} deg")
    print(f"  tip height               {result['tip.position[3]'].min():.3f} to {result['tip.position[3]'].max():.3f} m")
    print(f"  moment at gauge1         {1e-3 * measured:.1f} kN.m at the start; by the weight outward of it {1e-3 * weight:.1f} kN.m")
    print(f"  CPU time                 {cpu:.2f} s for {options.seconds:g} s: {options.seconds / cpu:.0f} times real time")
    checks = [("energy balance, fraction of the drive's work", energy_gap(result), 1e-4),
              ("moment at gauge1 against the weight, relative", abs(measured / weight - 1), 0.05)]
    failed = [text for text, value, limit in checks if not value < limit]
    for text, value, limit in checks: print(f"  {text}: {value:.2g}, must be below {limit:g}")
    if failed: sys.exit("concrete_pump.py: " + "; ".join(failed))
    print(f"  plot: {picture}")


if __name__ == "__main__": main()
