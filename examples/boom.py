"""A concrete pump moves its boom with four hydraulic cylinders, with oil and valves inside the FMU and valve commands every 10 ms, with and
without pressure feedback.

usage: boom.py [FOLDER] [--seconds S]
       results are written to FOLDER (default build/out/run); S: simulated seconds (60); LIMBER may name another limber program

The robot is resources/concrete-pump-drives.json: 33 m of tapered box sections on a chassis with four outriggers, cylinders with
counterbalance valves on a common pump. The FMU starts in static equilibrium, with the pressures that hold the load.

The controller runs in this script, outside the FMU, every 10 ms; its commands are constant in between:

    command = rate/v + k (reference - length) - d (P - P_slow),   P = p1 - p2 A2/A1,   T dP_slow/dt = P - P_slow

rate/v is the feedforward, with the rate v at full opening. The last term is pressure feedback: it lets the cylinder yield to a change of the load pressure P
and thereby removes energy from the boom; it does not respond to a constant load. The cylinders move one after another, with rests in between.

Checks, with exit code 1 if one fails: the boom starts at rest, the cylinders reach their references, hydraulic work equals energy plus losses, pressure
feedback reduces the remaining motion of the tip 3 s after the last move to less than a fifth, 60 s take at most 12 s of CPU time."""

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

ROBOT = ROOT / "resources/concrete-pump-drives.json"
STEP = 0.01
CYLINDERS = (1, 2, 3, 4)
MOVES = {1: [(2, 6, 0.15), (34, 5, -0.12)], 2: [(10, 5, -0.06), (27, 5, 0.05)], 3: [(17, 4, -0.05)], 4: [(22, 3, 0.04)]}  # start [s], duration [s], distance [m]
FULL_RATE = {1: 0.10, 2: 0.10, 3: 0.10, 4: 0.14}  # v: rate at full opening [m/s]
GAIN = 6.0         # k [1/m]
FEEDBACK = 2.5e-8  # d [1/Pa]
SLOW = 2.0         # T [s]
AFTER = 3.0        # [s]
LOSSES = ("valve", "counterbalance", "leakage", "friction")
STORED = ("compression", "stops")
POWERS = ("supply", *LOSSES, *STORED)
INPUTS = [f"cylinder{i}.drive.command" for i in CYLINDERS]
LENGTHS, P1, P2 = ([f"cylinder{i}.{what}" for i in CYLINDERS] for what in ("length", "drive.p1", "drive.p2"))
OUTPUTS = [*LENGTHS, *P1, *P2, *(f"cylinder{i}.drive.power.{what}" for i in CYLINDERS for what in POWERS),
           *(f"tip.position[{k}]" for k in (1, 2, 3)), *(f"tip.velocity[{k}]" for k in (1, 2, 3)), "energy.total", "power.losses", "pump.share"]


# ---- motion ------------------------------------------------------------------------------------------------------------------


def moved(t, moves):
    """distance and rate of a cylinder: each move begins and ends with zero rate"""
    distance = rate = 0.0
    for start, duration, length in moves:
        s = np.clip((t - start) / duration, 0, 1)
        distance += length * (s - np.sin(2 * np.pi * s) / (2 * np.pi))
        rate += length / duration * (1 - np.cos(2 * np.pi * s))
    return distance, rate


class Controller:
    def __init__(self, robot, lengths, pressures, feedback):
        drives = [actuator["drive"] for actuator in robot["actuators"]]
        self.ring = np.array([1 - (drive["rod"] / drive["bore"])**2 for drive in drives])  # A2/A1
        self.start, self.feedback = np.array(lengths), feedback
        self.slow = self.load(pressures)

    def load(self, pressures):
        p1, p2 = np.reshape(pressures, (2, -1))
        return p1 - p2 * self.ring

    def references(self, t):
        motion = np.array([moved(t, MOVES[i]) for i in CYLINDERS])
        return self.start + motion[:, 0], motion[:, 1]

    def commands(self, t, lengths, pressures):
        reference, rate = self.references(t)
        load = self.load(pressures)
        command = rate / list(FULL_RATE.values()) + GAIN * (reference - lengths) - self.feedback * (load - self.slow)
        self.slow = self.slow + STEP / SLOW * (load - self.slow)
        return np.clip(command, -1, 1)


# ---- a run -------------------------------------------------------------------------------------------------------------------


def instantiate(description, folder, seconds, reference_of):
    fmu = fmpy.fmi2.FMU2Slave(guid=description.guid, unzipDirectory=str(folder), instanceName="boom",
                              modelIdentifier=description.coSimulation.modelIdentifier)
    fmu.instantiate()
    fmu.setBoolean([reference_of["start_static"]], [True])
    fmu.setupExperiment(startTime=0, stopTime=seconds)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu


def drive(fmu, reference_of, robot, seconds, feedback):
    """Outputs before every step and after the last one, references, commands; CPU seconds of the FMU's steps"""
    steps, cpu = round(seconds / STEP), 0.0
    inputs, outputs = ([reference_of[name] for name in names] for names in (INPUTS, OUTPUTS))
    rows, commands, references = np.empty((steps + 1, len(outputs))), np.zeros((steps + 1, 4)), np.empty((steps + 1, 4))
    controller = None
    for i in range(steps + 1):
        y = rows[i] = fmu.getReal(outputs)
        controller = controller or Controller(robot, y[:4], y[4:12], feedback)
        references[i] = controller.references(i * STEP)[0]
        if i == steps: break
        commands[i] = controller.commands(i * STEP, y[:4], y[4:12])
        fmu.setReal(inputs, commands[i])
        begin = time.process_time()
        fmu.doStep(i * STEP, STEP)
        cpu += time.process_time() - begin
    result = dict(zip(OUTPUTS, rows.T), time=STEP * np.arange(steps + 1))
    result.update(zip(INPUTS, commands.T))
    result.update((f"reference{i}", references[:, i - 1]) for i in CYLINDERS)
    return result, cpu


# ---- results -----------------------------------------------------------------------------------------------------------------


def integral(result, power):
    return np.sum(np.diff(result["time"]) * (power[1:] + power[:-1]) / 2)


def energy_gap(result):
    """Hydraulic work minus energy stored and lost, as a fraction of the total energy exchanged"""
    total = lambda names: integral(result, sum(result[f"cylinder{i}.drive.power.{what}"] for i in CYLINDERS for what in names))
    gained = result["energy.total"][-1] - result["energy.total"][0]
    lost = total(LOSSES) + integral(result, result["power.losses"])
    return abs(total(("supply",)) - total(STORED) - gained - lost) / (abs(total(("supply",))) + lost)


def settled(seconds):
    """Time after which no reference moves"""
    return min(max(start + duration for moves in MOVES.values() for start, duration, _ in moves), seconds)


def swing(result):
    """Largest minus smallest height of the tip, from AFTER seconds after the last move on, without the slow drift [m]"""
    t = result["time"]
    part = t >= min(settled(t[-1]) + AFTER, t[-1] - AFTER)
    height = result["tip.position[3]"][part]
    drift = np.polyval(np.polyfit(t[part], height, 1), t[part])
    return np.ptp(height - drift)


def plot(results, file):
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
                         "grid.alpha": 0.3, "legend.frameon": False})
    figure, axes = plt.subplots(4, 1, figsize=(9.5, 12.5), constrained_layout=True)
    colors = ["#1b6ca8", "#d1602e", "#3a8c5c", "#7a4fa3"]
    first, with_feedback = results["without feedback"], results["with feedback"]
    t = first["time"]
    for i, color in zip(CYLINDERS, colors):
        start = with_feedback[f"reference{i}"][0]
        axes[0].plot(t, with_feedback[f"cylinder{i}.length"] - start, color=color, label=f"cylinder{i}")
        axes[0].plot(t, with_feedback[f"reference{i}"] - start, color=color, linewidth=1, linestyle=(0, (4, 3)))
        axes[1].plot(t, with_feedback[f"cylinder{i}.drive.p{1 if i == 1 else 2}"] / 1e5, color=color, linewidth=1,
                     label=f"{i}: p{1 if i == 1 else 2}")
    axes[0].set(ylabel="extension [m]", title="With feedback; references dashed")
    axes[1].set(ylabel="pressure [bar]", title="Pressure on the load side, with feedback")
    for (name, result), color in zip(results.items(), ("#d1602e", "#1b6ca8")):
        axes[2].plot(t, result["tip.position[3]"], color=color, linewidth=1.2, label=name)
        part = t >= settled(t[-1]) - 0.5
        height = result["tip.position[3]"][part]
        axes[3].plot(t[part], height - height[-1], color=color, linewidth=1.2, label=name)
    axes[2].set(ylabel="height of the tip [m]", title="Tip")
    axes[3].set(ylabel="height [m]", xlabel="time [s]", title="Tip after the last move, relative to its end")
    for axis in axes:
        axis.set_title(axis.get_title(), loc="left")
        axis.set_title("")
        axis.legend(loc="lower right", bbox_to_anchor=(1, 0.99), fontsize=9, ncols=4, borderaxespad=0.2)
    for axis in axes[:3]: axis.set_xlim(0, t[-1])
    figure.align_ylabels(axes)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def checks(results, cpu, seconds):
    worst = lambda of: max(of(result) for result in results.values())
    before = lambda result: np.linalg.norm([result[f"tip.velocity[{k}]"][result["time"] < 2] for k in (1, 2, 3)], axis=0).max()
    late = lambda result: max(abs(result[f"cylinder{i}.length"][-1] - result[f"reference{i}"][-1]) for i in CYLINDERS)
    found = [("speed of the tip before the first move [m/s]", worst(before), 0.01),
             ("hydraulic work minus energy and losses, relative", worst(energy_gap), 1e-3),
             ("CPU time of the steps per simulated time", max(cpu.values()) / seconds, 0.2)]
    if seconds >= settled(60) + 10:
        found += [("cylinders minus their references at the end [m]", worst(late), 0.01),
                  ("residual motion of the tip, with feedback relative to without", swing(results["with feedback"]) / swing(results["without feedback"]), 0.2)]
    return found


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/out/run")
    parser.add_argument("--seconds", type=float, default=60.0)
    return parser.parse_args()


def main():
    given = arguments()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    fmu, picture = folder / "boom.fmu", folder / "boom.png"
    limber("fmu", ROBOT, "-o", fmu)
    robot, description = json.loads(ROBOT.read_text(encoding="utf-8")), fmpy.read_model_description(str(fmu))
    reference_of = {variable.name: variable.valueReference for variable in description.modelVariables}
    unpacked, results, cpu = fmpy.extract(str(fmu)), {}, {}
    for name, feedback in (("without feedback", 0.0), ("with feedback", FEEDBACK)):
        instance = instantiate(description, unpacked, given.seconds, reference_of)
        results[name], cpu[name] = drive(instance, reference_of, robot, given.seconds, feedback)
        instance.terminate()
        instance.freeInstance()
        print(f"{name}: {cpu[name]:.2f} s of CPU for {given.seconds:g} s: {given.seconds / cpu[name]:.0f} times real time; "
              f"tip swings by {1e3 * swing(results[name]):.1f} mm from {AFTER:g} s after the last move on; smallest supply factor of the pump {results[name]['pump.share'].min():.2f}")
    shutil.rmtree(unpacked, ignore_errors=True)
    plot(results, picture)
    good = True
    for what, value, limit in checks(results, cpu, given.seconds):
        good = good and value < limit
        print(f"  {'ok    ' if value < limit else 'FAILED'}  {what}: {value:.2g}, limit {limit:g}")
    print(f"FMU:  {shown(fmu)}\nplot: {shown(picture)}")
    sys.exit(0 if good else 1)


if __name__ == "__main__": main()
