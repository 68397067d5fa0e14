"""A hydraulic crane lifts a load from the ground: arm, two cylinders with valves, their axis controllers and the load. The system has two forms,
each an SSP package: six FMUs (resources/crane.ssd), and four with the cylinders inside the arm (resources/crane-drives.ssd). Both are coupled by
several methods and compared with a monolithic simulation of the six FMUs.

usage: crane.py [FOLDER] [--quick]
       results are written to FOLDER (default build/out/run); --quick: one step size of each form, a coarser reference, no
       other masters; LIMBER may name another limber program

The lift cylinder extends by 0.25 m from 0.5 s to 3.5 s, the fold cylinder by 0.08 m from 3 s to 5 s; the rope of the load, 200 kg, is
slack at first and becomes taut after 1.2 s. Checks, with exit code 1 if one fails: the crane starts at rest; the load is lifted; the
cylinders reach their references; at 1 ms, hydraulic work equals energy plus losses; the tip agrees with the monolithic simulation (with
cylinders inside also at 10 ms); other masters agree with this one. Prints the longest usable step of both forms."""

import sys

import numpy as np

from coupling import report, study
from coupling.report import plt

LINES = ("lift", "fold")
DRIVES = {line: f"cylinder_{line}" for line in LINES}
LOSSES = [f"cylinder_{line}.power.{what}" for line in LINES for what in ("valve", "leakage", "friction")]
COMPRESSED = [f"cylinder_{line}.power.{what}" for line in LINES for what in ("compression", "stops")]
RECORDED = {
    **{f"axis_{line}": ["reference", "command"] for line in LINES},
    **{f"cylinder_{line}": ["force", "p1", "p2", "spool", *(f"power.{what}" for what in
                            ("supply", "mechanical", "valve", "leakage", "friction", "compression", "stops"))] for line in LINES},
    "sling": ["position[1]", "position[2]", "tension", "ground_force", "energy.total", "power.losses"],
    "arm": ["lift.length", "fold.length", "boom_joint.q", "jib_joint.q", "boom.deflection[1]", "boom.deflection[2]",
            "tip.position[1]", "tip.position[2]", "tip.velocity[1]", "tip.velocity[2]", "energy.total", "power.losses", "power.actuators"],
}
COMPARED = [study.Compared("tip", "mm", ["arm.tip.position[1]", "arm.tip.position[2]"], 1e3),
          study.Compared("force of the lift cylinder", "fraction of its range", ["cylinder_lift.force"])]
WORK = "hydraulic"
FIRST_MOVE = 0.5  # [s]


def balance(run):
    """Hydraulic work, the part stored (energy of crane and load, compression of oil and stops), and the part lost [J]"""
    work = report.integral(run, *(f"cylinder_{line}.power.supply" for line in LINES))
    gained = sum(run[f"{part}.energy.total"][-1] - run[f"{part}.energy.total"][0] for part in ("arm", "sling"))
    return work, gained + report.integral(run, *COMPRESSED), report.integral(run, *LOSSES, "arm.power.losses", "sling.power.losses")


def coupling_work(run):
    """Work at the pins: supplied by the cylinders, received by the crane [J]"""
    return report.integral(run, *(f"cylinder_{line}.power.mechanical" for line in LINES)), report.integral(run, "arm.power.actuators")


def checks(run):
    before = run["time"] < FIRST_MOVE
    speed = np.hypot(run["arm.tip.velocity[1]"], run["arm.tip.velocity[2]"])[before].max()
    arrival = max(abs(run[f"arm.{line}.length"][-1] - run[f"axis_{line}.reference"][-1]) for line in LINES)
    return [("speed of the tip before the first move (it creeps because the valve leaks) [m/s]", speed, 0.01),
            ("force of the ground at the end [N]", run["sling.ground_force"][-1], 1e-9),
            ("cylinders minus their references at the end [m]", arrival, 0.01)]


def plot_crane(axis, run):
    """The crane at five times"""
    for k, t in enumerate(np.linspace(0, run["time"][-1], 5)):
        i = np.searchsorted(run["time"], t - 1e-9)
        at = lambda name: run[name][i]
        q, along, across = at("arm.boom_joint.q"), 4 + at("arm.boom.deflection[1]"), at("arm.boom.deflection[2]")
        boom = [np.cos(q) * along - np.sin(q) * across, 2 + np.sin(q) * along + np.cos(q) * across]
        tip, load = ([at(f"{of}.position[{j}]") for j in (1, 2)] for of in ("arm.tip", "sling"))
        color = plt.cm.viridis(k / 5)
        axis.plot(*zip((0, 2), boom, tip), "-o", color=color, linewidth=2.5, markersize=4, label=f"{t:g} s")
        axis.plot(*zip(tip, load), color=color, linewidth=0.8)
        axis.plot(*load, "s", color=color, markersize=9)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.plot([0, 0], [0, 2], color="black", linewidth=5)
    axis.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="Crane and load")
    axis.legend(fontsize=9)


def plot(run, studies, file):
    figure, axes = plt.subplot_mosaic([["crane", "load"], ["length", "bending"], ["lift", "fold"], ["error0", "error1"], ["inside0", "inside1"]],
                                      figsize=(11, 18), constrained_layout=True, height_ratios=[1.3, 1, 1, 1, 1])
    t = run["time"]
    plot_crane(axes["crane"], run)
    axes["load"].plot(t, run["sling.tension"], label="rope")
    axes["load"].plot(t, run["sling.ground_force"], label="ground")
    axes["load"].set(ylabel="force on the load [N]", title="Load")
    for line in LINES:
        drawn, = axes["length"].plot(t, run[f"arm.{line}.length"] - run[f"arm.{line}.length"][0], label=line)
        axes["length"].plot(t, run[f"axis_{line}.reference"] - run[f"axis_{line}.reference"][0], "--", color=drawn.get_color(), linewidth=1)
        for chamber in ("p1", "p2"): axes[line].plot(t, run[f"cylinder_{line}.{chamber}"] / 1e5, label=chamber)
        axes[line].set(ylabel="pressure [bar]", title=f"{line.capitalize()} cylinder")
    axes["length"].set(ylabel="extension [m]", title="Cylinders, and their references (dashed)")
    axes["bending"].plot(t, 1e3 * run["arm.boom.deflection[2]"])
    axes["bending"].set(ylabel="[mm]", title="Deflection of the boom's end")
    for name in ("load", "length", "bending", "lift", "fold"): axes[name].set(xlabel="time [s]", xlim=(0, t[-1]))
    for name in ("load", "length", "lift", "fold"): axes[name].legend(fontsize=9)
    for each, row in zip(studies, ("error", "inside")): study.plot_errors(*each, [axes[f"{row}{k}"] for k in (0, 1)])
    study.plot_legend(axes["error0"])
    figure.savefig(file, dpi=110)
    plt.close(figure)


def summary(run):
    lifted = run["sling.position[2]"][-1] - run["sling.position[2]"][0]
    yield f"load lifted by {lifted:.2f} m, its weight {run['sling.ground_force'][0]:.0f} N; rope {run['sling.tension'].max():.0f} N at most"
    bent = 1e3 * run["arm.boom.deflection[2]"]
    yield f"boom bent by {-bent[0]:.1f} mm at the start, {-bent.min():.1f} mm at most, {-bent[-1]:.1f} mm at the end"


if __name__ == "__main__": report.run("crane", sys.modules[__name__])
