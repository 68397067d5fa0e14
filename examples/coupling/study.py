"""Errors of the co-simulation of a system relative to its monolithic simulation, by communication step, coupling method and master."""

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .master import Failed, Iterated, Master
from .monolith import Monolith
from .system import ROOT, System

STEPS = [0.5e-3, 1e-3, 2e-3, 5e-3, 10e-3]
LONG_STEPS = [1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3]  # for the form with drives inside
WITHIN = 0.02  # a step is usable if the tip error is below this fraction of its range
SHOWN = 0.01  # [s] between the points of comparison: a multiple of each step, or a divisor
TOLERANCE = 1e-8  # for the reference
METHODS = {
    "at once": lambda case, right: Master(case.system, case.folder, recorded=case.recorded),
    "at once, slopes": lambda case, right: Master(case.system, case.folder, slopes=True, recorded=case.recorded),
    "in turn": lambda case, right: Master(case.system, case.folder, case.order, recorded=case.recorded),
    "in turn, slopes": lambda case, right: Master(case.system, case.folder, case.order, True, recorded=case.recorded),
    "iterated": lambda case, right: Iterated(case.system, case.folder, size=right["largest"], recorded=case.recorded),
    "iterated, tight": lambda case, right: Iterated(case.system, case.folder, size=right["largest"], tolerance=1e-8, recorded=case.recorded),
}
EXPLICIT = [method for method in METHODS if "iterated" not in method]
MARKERS = dict(zip(METHODS, "o^sDvP"))
BEST = "in turn, slopes"
TOOLS = {"ecos": "ecos_master.py", "libcosim": "cosim_master.py"}


class Compared(NamedTuple):
    """A compared quantity: the distance between the values of these columns in two runs, times `scale`; 0: as a fraction of the range."""
    name: str
    unit: str
    columns: list
    scale: float = 0


class Case(NamedTuple):
    """A system, its package unpacked in `folder`; `recorded` {component: variables}; `inside` {joint or actuator of the arm: component that
    its drive is in the other form}, empty if the drives are separate FMUs. The arm steps last."""
    system: System
    folder: Path
    recorded: dict
    compared: list
    inside: dict = {}

    @property
    def order(self):
        return sorted(self.system.components, key=lambda name: name == "arm")

    def names(self, instances=None):
        """"component.variable" of each column, the same in both forms"""
        order = self.recorded if instances is None else [each.name for each in instances]
        return [self._name(component, name) for component in order for name in self.recorded.get(component, ())]

    def _name(self, component, name):
        of, inside, variable = name.partition(".drive.")
        return f"{self.inside[of]}.{variable}" if inside else f"{component}.{name}"

    def columns(self, rows, instances=None):
        """{"component.variable": values, "time": times}"""
        return dict(zip(self.names(instances), np.array(rows).T), time=np.linspace(0, self.system.stop_time, len(rows)))


class Progress:
    """A progress line on a terminal; otherwise one line at the end."""

    def __init__(self, what, until):
        self.what, self.until, self.start, self.shown = what, until, time.monotonic(), 0.0

    def __call__(self, t):
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self.shown < 0.1: return
        self.shown = now
        print(f"\r{self.what} ... {100 * t / self.until:3.0f} %", end="", file=sys.stderr, flush=True)

    def done(self, result=""):
        clear = "\r" + " " * (len(self.what) + 12) + "\r" if sys.stderr.isatty() else ""
        print(f"{clear}{self.what}: {time.monotonic() - self.start:.1f} s{result}", file=sys.stderr, flush=True)


def reference(case, tolerance=TOLERANCE):
    """The monolithic simulation, at the points of comparison; "largest": the largest magnitude in each connection."""
    progress = Progress(f"{case.system.name}: monolithic, tolerance {tolerance:g}", case.system.stop_time)
    times = np.linspace(0, case.system.stop_time, round(case.system.stop_time / SHOWN) + 1)
    monolith = Monolith(case.system, case.folder, case.recorded)
    rows = monolith.run(times, tolerance, progress)
    monolith.free()
    progress.done(f", {monolith.evaluations} right-hand sides")
    return {**case.columns(rows, monolith.instances), "largest": monolith.largest}


def rows_of(case, master, h, every, right, progress):
    """The recorded values every `every` seconds, or every step if that is longer. Raises Failed if a compared quantity exceeds ten times its largest value in the reference."""
    compared = {name for each in case.compared for name in each.columns}
    most = np.array([10 * np.abs(right[name]).max() if name in compared else np.inf for name in case.names(master.instances)])
    rows = [master.record()]
    for k in range(round(case.system.stop_time / h)):
        master.step(h)
        progress(master.time)
        if (k + 1) % max(1, round(every / h)) != 0: continue
        rows.append(master.record())
        if (np.abs(rows[-1]) > most).any(): raise Failed(f"diverges at {master.time:.3f} s")
    return rows


def cosimulate(case, method, h, right, every=SHOWN):
    """A run with rows every `every` seconds. Raises Failed if a step is rejected or values diverge."""
    progress = Progress(f"{case.system.name}: {method}, {1e3 * h:g} ms", case.system.stop_time)
    with contextlib.redirect_stdout(io.StringIO()):  # messages of FMUs that reject a step
        master = METHODS[method](case, right)
        try: rows = rows_of(case, master, h, every, right, progress)
        except Failed as failure:
            progress.done(f", fails: {failure}")
            raise
        finally: master.free()
    passes = f", {master.passes / round(case.system.stop_time / h):.1f} passes per step" if hasattr(master, "passes") else ""
    progress.done(passes)
    return case.columns(rows, master.instances)


def missing_tools():
    """Why other masters are not available; None if they are."""
    folder = ROOT / "build/out/tools"
    if (folder / "python.missing").exists(): return " / ".join((folder / "python.missing").read_text().splitlines()[1:])
    return None if (folder / "python.stamp").exists() else "build/setup.sh masters was not run"


def run_tool(case, package, tool, h=1e-3):
    """Runs the package in another master; Failed if that does not complete."""
    progress = Progress(f"{case.system.name}: {tool}, {1e3 * h:g} ms", case.system.stop_time)
    with tempfile.TemporaryDirectory() as folder:
        job, result = Path(folder) / "job.json", Path(folder) / "rows.npy"
        job.write_text(json.dumps(dict(package=str(package), step=h, steps=round(case.system.stop_time / h), recorded=case.recorded,
                                       result=str(result))))
        script = Path(__file__).with_name(TOOLS[tool])
        done = subprocess.run([ROOT / "build/out/tools/venv/bin/python", script, job], capture_output=True, text=True)
        progress.done()
        if done.returncode != 0: raise Failed(f"{tool}: {done.stderr.strip() or done.stdout.strip()}")
        return case.columns(np.load(result)[::round(SHOWN / h)])


def errors(case, run, right):
    """{compared quantity: largest distance from the reference at the points that both runs have}; infinite if larger than the motion"""
    result, rows = {}, min(len(of["time"]) - 1 for of in (run, right))
    for each in case.compared:
        values = lambda of: np.array([of[name][::round((len(of["time"]) - 1) / rows)] for name in each.columns])
        distance = np.linalg.norm(values(run) - values(right), axis=0)[1:].max()
        size = np.ptp(values(right), axis=1).max()
        result[each.name] = (distance * each.scale if each.scale else distance / size) if distance < size else np.inf
    return result


def compare(case, right, steps=STEPS, methods=METHODS):
    """{(method, step): errors, infinite if it fails}"""
    result = {}
    for method in methods:
        for h in steps:
            try: found = errors(case, cosimulate(case, method, h, right), right)
            except Failed: found = {each.name: np.inf for each in case.compared}
            result[method, h] = found if np.isfinite(list(found.values())).all() else dict.fromkeys(found, np.inf)
    return result


def longest(case, right, method, found):
    """The longest of LONG_STEPS up to which the tip stays within WITHIN of its range; None: not even with the first. Uses what is found, runs
    the others."""
    tip, best = case.compared[0], None
    limit = WITHIN * tip.scale * max(np.ptp(right[name]) for name in tip.columns)
    for h in LONG_STEPS:
        error = found[method, h] if (method, h) in found else compare(case, right, [h], [method])[method, h]
        if not error[tip.name] < limit: break
        best = h
    return best


def longest_table(cases, right, methods=EXPLICIT):
    """Lines of a Markdown table of the longest usable steps [ms]; `cases` {title: (case, errors found)}"""
    yield "| | " + " | ".join(methods) + " |"
    yield "| --- |" + " --- |" * len(methods)
    for title, (case, found) in cases.items():
        steps = [longest(case, right, method, found) for method in methods]
        yield f"| {title} | " + " | ".join(f"{1e3 * h:g}" if h else "none" for h in steps) + " |"


def table(found, compared, steps=STEPS, methods=METHODS):
    """Lines of a Markdown table, one column per method."""
    error = lambda method, h: found[method, h][compared.name]
    yield "| step [ms] | " + " | ".join(methods) + " |"
    yield "| --- |" + " --- |" * len(methods)
    for h in steps:
        yield f"| {1e3 * h:g} | " + " | ".join(f"{error(method, h):.2g}" if np.isfinite(error(method, h)) else "fails" for method in methods) + " |"


def plot_errors(case, found, axes):
    """The errors by step; failed runs are above the line, side by side."""
    every = sorted({h for _, h in found})
    for axis, compared in zip(axes, case.compared):
        error = {key: each[compared.name] for key, each in found.items()}
        good = [each for each in error.values() if np.isfinite(each)]
        edge = 3 * max(good)
        for k, (method, marker) in enumerate(MARKERS.items()):
            steps = np.array([h for h in every if (method, h) in found])
            if len(steps) == 0: continue
            values = np.array([error[method, h] for h in steps])
            line, = axis.loglog(1e3 * steps, np.where(np.isfinite(values), values, np.nan), marker + "-", label=method)
            lost = 1e3 * steps[~np.isfinite(values)] * 1.06 ** (k - 2.5)
            axis.plot(lost, [1.8 * edge] * len(lost), marker, color=line.get_color(), fillstyle="none", markersize=5)
        if len(good) < len(error):
            axis.axhline(edge, color="black", linewidth=0.6)
            axis.text(1e3 * every[0], 1.3 * edge, "fails", fontsize=9)
        axis.set(xlabel="communication step [ms]", ylabel=f"[{compared.unit}]", title=f"{case.system.name}: error of the {compared.name}",
                 ylim=(min(good) / 2, 4 * edge))
        axis.set_xticks([1e3 * h for h in every], [f"{1e3 * h:g}" for h in every], minor=False)
        axis.minorticks_off()


def plot_legend(axis):
    """A legend below the figure"""
    axis.figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS), fontsize=9)
