"""An arm with flexible links and electric drives moves a load: Cibicik and Egeland's manipulator with a servo drive and an axis controller
at each joint. The system has two forms, each an SSP package: nine FMUs (resources/servo.ssd), and five with the drives inside the arm
(resources/servo-drives.ssd). Both are coupled by several methods and compared with a monolithic simulation of the nine FMUs.

usage: servo.py [FOLDER] [--quick]
       results are written to FOLDER (default build/out/run); --quick: one step size of each form, a coarser reference, no
       other masters; LIMBER may name another limber program

Slewing and boom move from 0.2 s to 1.7 s, jib and hand from 0.7 s to 2.2 s, with 10 kg in the hand. Checks, with exit code 1 if one fails:
the arm starts at rest; the joints reach their references; at 1 ms, electrical work equals energy plus losses; the tip agrees with the
monolithic simulation (with drives inside also at 10 ms); other masters agree with this one. Prints the longest usable step of both
forms."""

import sys

import numpy as np

from coupling import report, study
from coupling.report import plt

JOINTS = {"slew": "slew", "boom": "boom_joint", "jib": "jib_joint", "hand": "hand_joint"}  # axis, joint of the arm
DRIVES = {joint: f"servo_{axis}" for axis, joint in JOINTS.items()}
RECORDED = {
    **{f"axis_{axis}": ["reference"] for axis in JOINTS},
    **{f"servo_{axis}": ["tau", "current", "voltage", *(f"power.{what}" for what in
                         ("electrical", "mechanical", "copper", "gear", "magnetic"))] for axis in JOINTS},
    "arm": [*(f"{joint}.q" for joint in JOINTS.values()), *(f"tip.position[{k}]" for k in (1, 2, 3)),
            *(f"tip.velocity[{k}]" for k in (1, 2, 3)), "boom.deflection[2]", "boom.deflection[3]", "jib.deflection[2]", "jib.deflection[3]",
            "energy.total", "power.losses", "power.joints"],
}
COMPARED = [study.Compared("tip", "mm", [f"arm.tip.position[{k}]" for k in (1, 2, 3)], 1e3),
          study.Compared("torque of the slewing drive", "fraction of its range", ["servo_slew.tau"])]
WORK = "electrical"
FIRST_MOVE = 0.2  # [s]


def balance(run):
    """Electrical work, the part stored (energy of arm and windings), and the part lost [J]"""
    of = lambda *powers: report.integral(run, *(f"servo_{axis}.power.{power}" for axis in JOINTS for power in powers))
    gained = run["arm.energy.total"][-1] - run["arm.energy.total"][0]
    return of("electrical"), gained + of("magnetic"), of("copper", "gear") + report.integral(run, "arm.power.losses")


def coupling_work(run):
    """Work at the joints: supplied by the drives, received by the arm [J]"""
    return report.integral(run, *(f"servo_{axis}.power.mechanical" for axis in JOINTS)), report.integral(run, "arm.power.joints")


def joint_error(run, axis):
    return run[f"arm.{JOINTS[axis]}.q"] - run[f"axis_{axis}.reference"]


def checks(run):
    speed = np.linalg.norm([run[f"arm.tip.velocity[{k}]"] for k in (1, 2, 3)], axis=0)
    return [("speed of the tip before the first move [m/s]", speed[run["time"] < FIRST_MOVE].max(), 1e-3),
            ("speed of the tip at the end [m/s]", speed[-1], 5e-3),
            ("joints minus their references at the end [rad]", max(abs(joint_error(run, axis)[-1]) for axis in JOINTS), 1e-3)]


def plot(run, studies, file):
    figure, axes = plt.subplot_mosaic([["joints", "error"], ["current", "voltage"], ["tip", "bending"], ["error0", "error1"], ["inside0", "inside1"]],
                                      figsize=(11, 17), constrained_layout=True)
    t = run["time"]
    for axis, joint in JOINTS.items():
        line, = axes["joints"].plot(t, run[f"arm.{joint}.q"], label=axis)
        axes["joints"].plot(t, run[f"axis_{axis}.reference"], "--", color=line.get_color(), linewidth=1)
        axes["error"].plot(t, 1e3 * joint_error(run, axis))
        for what in ("current", "voltage"): axes[what].plot(t, run[f"servo_{axis}.{what}"], label=axis)
    for k, name in enumerate("xyz", 1): axes["tip"].plot(t, run[f"arm.tip.position[{k}]"], label=name)
    for link in ("boom", "jib"):
        for k, how in ((2, "in the plane"), (3, "across")):
            values = 1e3 * run[f"arm.{link}.deflection[{k}]"]
            axes["bending"].plot(t, values - values[0], label=f"{link}, {how}")
    for name, unit, title in (("joints", "[rad]", "Joints, and their references (dashed)"), ("error", "[mrad]", "Joints minus references"),
                              ("current", "[A]", "Motor currents"), ("voltage", "[V]", "Motor voltages"), ("tip", "[m]", "Tip"),
                              ("bending", "[mm]", "Deflection of the links, from the start")):
        axes[name].set(xlabel="time [s]", ylabel=unit, title=title, xlim=(0, t[-1]))
    for name in ("joints", "current", "tip", "bending"): axes[name].legend(fontsize=9)
    for each, row in zip(studies, ("error", "inside")): study.plot_errors(*each, [axes[f"{row}{k}"] for k in (0, 1)])
    study.plot_legend(axes["error0"])
    figure.savefig(file, dpi=110)
    plt.close(figure)


def summary(run):
    moved = np.linalg.norm([run[f"arm.tip.position[{k}]"][-1] - run[f"arm.tip.position[{k}]"][0] for k in (1, 2, 3)])
    off = 1e3 * max(np.abs(joint_error(run, axis)).max() for axis in JOINTS)
    yield f"load moved by {moved:.2f} m; joints {off:.1f} mrad off their references at most"
    bent = [1e3 * np.ptp(run[f"arm.boom.deflection[{k}]"]) for k in (2, 3)]
    yield f"boom bends through {bent[0]:.1f} mm in the plane of boom and jib, {bent[1]:.1f} mm across"


if __name__ == "__main__": report.run("servo", sys.modules[__name__])
