"""How far co-simulation of a system is from the system in one piece: by communication step, by way of coupling, by master."""

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
SHOWN = 0.01  # [s] between the points at which runs are compared: a multiple of each step
TOLERANCE = 1e-8  # of the reference
WAYS = {
    "at once": lambda case, right: Master(case.system, case.folder, recorded=case.recorded),
    "at once, slopes": lambda case, right: Master(case.system, case.folder, slopes=True, recorded=case.recorded),
    "in turn": lambda case, right: Master(case.system, case.folder, case.order, recorded=case.recorded),
    "in turn, slopes": lambda case, right: Master(case.system, case.folder, case.order, True, recorded=case.recorded),
    "iterated": lambda case, right: Iterated(case.system, case.folder, size=right["largest"], recorded=case.recorded),
    "iterated, tight": lambda case, right: Iterated(case.system, case.folder, size=right["largest"], tolerance=1e-8, recorded=case.recorded),
}
MARKERS = dict(zip(WAYS, "o^sDvP"))
BEST = "in turn, slopes"
TOOLS = {"ecos": "ecos_master.py", "libcosim": "cosim_master.py"}


class Judged(NamedTuple):
    """What is compared: the distance between two runs' values of these columns, times `scale`; if not scaled, the share of its range."""
    name: str
    unit: str
    columns: list
    scale: float = 0


class Case(NamedTuple):
    """A system, its package unpacked in `folder`; `recorded` {component: variables}. The arm steps last."""
    system: System
    folder: Path
    recorded: dict
    judged: list

    @property
    def order(self):
        return sorted(self.system.components, key=lambda name: name == "arm")

    def names(self, instances=None):
        """"component.variable" of each column"""
        order = self.recorded if instances is None else [each.name for each in instances]
        return [f"{component}.{name}" for component in order for name in self.recorded.get(component, ())]

    def columns(self, rows, instances=None):
        """{"component.variable": values, "time": times}"""
        return dict(zip(self.names(instances), np.array(rows).T), time=np.linspace(0, self.system.stop_time, len(rows)))


class Progress:
    """A line that says how far it is; elsewhere than on a terminal one line at the end."""

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
    """The system in one piece, at the points of comparison; "largest": what was largest in each connection."""
    progress = Progress(f"{case.system.name}: in one piece, tolerance {tolerance:g}", case.system.stop_time)
    times = np.linspace(0, case.system.stop_time, round(case.system.stop_time / SHOWN) + 1)
    monolith = Monolith(case.system, case.folder, case.recorded)
    rows = monolith.run(times, tolerance, progress)
    monolith.free()
    progress.done(f", {monolith.evaluations} right-hand sides")
    return {**case.columns(rows, monolith.instances), "largest": monolith.largest}


def rows_of(case, master, h, every, right, progress):
    """What is recorded every so many seconds. Raises Failed where what is judged runs away: to ten times its largest in the right run."""
    judged = {name for each in case.judged for name in each.columns}
    most = np.array([10 * np.abs(right[name]).max() if name in judged else np.inf for name in case.names(master.instances)])
    rows = [master.record()]
    for k in range(round(case.system.stop_time / h)):
        master.step(h)
        progress(master.time)
        if (k + 1) % round(every / h) != 0: continue
        rows.append(master.record())
        if (np.abs(rows[-1]) > most).any(): raise Failed(f"runs away at {master.time:.3f} s")
    return rows


def cosimulate(case, way, h, right, every=SHOWN):
    """A run with rows every so many seconds. Raises Failed where a step is refused or values run away."""
    progress = Progress(f"{case.system.name}: {way}, {1e3 * h:g} ms", case.system.stop_time)
    with contextlib.redirect_stdout(io.StringIO()):  # what FMUs say when they refuse a step
        master = WAYS[way](case, right)
        try: rows = rows_of(case, master, h, every, right, progress)
        except Failed as failure:
            progress.done(f", fails: {failure}")
            raise
        finally: master.free()
    passes = f", {master.passes / round(case.system.stop_time / h):.1f} passes a step" if hasattr(master, "passes") else ""
    progress.done(passes)
    return case.columns(rows, master.instances)


def missing_tools():
    """Why the masters of others are not there; None where they are."""
    folder = ROOT / "build/out/tools"
    if (folder / "python.missing").exists(): return " / ".join((folder / "python.missing").read_text().splitlines()[1:])
    return None if (folder / "python.stamp").exists() else "build/setup.sh masters was not run"


def run_tool(case, package, tool, h=1e-3):
    """The package in another master; Failed where that does not get to the end."""
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
    """{what is judged: largest distance from the right run at the points of comparison}; infinite where it is larger than the motion"""
    result = {}
    for each in case.judged:
        values = lambda of: np.array([of[name][::round((len(of["time"]) - 1) / (len(right["time"]) - 1))] for name in each.columns])
        distance = np.linalg.norm(values(run) - values(right), axis=0)[1:].max()
        size = np.ptp(values(right), axis=1).max()
        result[each.name] = (distance * each.scale if each.scale else distance / size) if distance < size else np.inf
    return result


def compare(case, right, steps=STEPS, ways=WAYS):
    """{(way, step): errors, infinite where it fails}"""
    result = {}
    for way in ways:
        for h in steps:
            try: found = errors(case, cosimulate(case, way, h, right), right)
            except Failed: found = {each.name: np.inf for each in case.judged}
            result[way, h] = found if np.isfinite(list(found.values())).all() else dict.fromkeys(found, np.inf)
    return result


def table(found, judged, steps=STEPS, ways=WAYS):
    """Lines of a table in Markdown, a column a way."""
    error = lambda way, h: found[way, h][judged.name]
    yield "| step [ms] | " + " | ".join(ways) + " |"
    yield "| --- |" + " --- |" * len(ways)
    for h in steps:
        yield f"| {1e3 * h:g} | " + " | ".join(f"{error(way, h):.2g}" if np.isfinite(error(way, h)) else "fails" for way in ways) + " |"


def plot_errors(case, found, axes):
    """The errors by step; what fails stands above the line, side by side."""
    for axis, judged in zip(axes, case.judged):
        error = {key: each[judged.name] for key, each in found.items()}
        good = [each for each in error.values() if np.isfinite(each)]
        edge = 3 * max(good)
        for k, (way, marker) in enumerate(MARKERS.items()):
            steps = np.array([h for h in STEPS if (way, h) in found])
            if len(steps) == 0: continue
            values = np.array([error[way, h] for h in steps])
            line, = axis.loglog(1e3 * steps, np.where(np.isfinite(values), values, np.nan), marker + "-", label=way)
            lost = 1e3 * steps[~np.isfinite(values)] * 1.06 ** (k - 2.5)
            axis.plot(lost, [1.8 * edge] * len(lost), marker, color=line.get_color(), fillstyle="none", markersize=5)
        if len(good) < len(error):
            axis.axhline(edge, color="black", linewidth=0.6)
            axis.text(1e3 * STEPS[0], 1.3 * edge, "fails", fontsize=9)
        axis.set(xlabel="communication step [ms]", ylabel=f"[{judged.unit}]", title=f"{case.system.name}: error of the {judged.name}",
                 ylim=(min(good) / 2, 4 * edge))
        axis.set_xticks([1e3 * h for h in STEPS], [f"{1e3 * h:g}" for h in STEPS], minor=False)
        axis.minorticks_off()


def plot_legend(axis):
    """Below the whole figure"""
    axis.figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=len(WAYS), fontsize=9)
