#!/usr/bin/env python3
"""Forced Canadarm in Exudyn and in Limber: CPU time at equal error of the tip.

    build/out/venv/bin/python bench/exudyn_compare.py [--method NAME] [--set NAME=VALUE]... [--quick] [--check]

Two models of Exudyn: floating frame of reference with the shapes of Limber's links, and planar ANCF cables. The errors are
against each model's own converged solution, the times are the best of interleaved runs, and for each error the cheapest
combination of settings and step size that was tried counts. --method and --set are passed to `limber simulate`; --quick tries
fewer settings; --check exits with 1 if a ratio misses its bound. Output: Markdown, also in build/out/bench/exudyn.md for
bench/integration.py. It takes about ten minutes (quick: two)."""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import forced_motion  # noqa: E402
from program import write_csv  # noqa: E402

LIMBER = os.environ.get("LIMBER", ROOT / "build/out/limber")
RESULT = ROOT / "build/out/bench/exudyn.md"
REQUIREMENTS = "build/requirements-exudyn.txt"
UNTIL, OUTPUT = 10.0, 0.2  # [s]
TARGETS = (1e-3, 1e-4, 1e-5)  # error of the tip [m]
BOUNDS = {"floating frame": 20, "ANCF": 8}
ROUNDS = 7  # of timed runs
SHORTLIST = 3  # candidates that are timed for each target

try:
    import exudyn_models as exudyn
except ImportError as error:
    if error.name != "exudyn": raise
    sys.exit(f"exudyn_compare.py: the Python package exudyn is not installed. Install it with\n"
             f"    build/out/venv/bin/python -m pip install -r {REQUIREMENTS}")

Trial = namedtuple("Trial", "label run error seconds")  # run() returns (tip, seconds)


def distance(a, b): return float(np.abs(a - b).max())


def say(text):
    """Adds text to the result."""
    print(text, flush=True)
    with RESULT.open("a", encoding="utf-8") as file: file.write(text + "\n")


def note(text): print(text, file=sys.stderr, flush=True)


# ---- problem --------------------------------------------------------------------------------------------------------


def write_torques(folder):
    """The torques of the Canadarm's forced motion in straight pieces of 0.1 s: (file, rows)."""
    table = forced_motion.torques(10)
    return write_csv(folder / "torques.csv", table), np.column_stack(list(table.values()))


def robot(folder, name, foreshortening, shape=None):
    """The Canadarm with or without foreshortening, with other shape functions: its file."""
    description = json.loads((ROOT / "resources/canadarm.json").read_text())
    for link in description["links"]:
        link["beam"]["foreshortening"] = foreshortening
        if shape: link["beam"]["modes"]["y"] = shape
    file = folder / f"{name}.json"
    file.write_text(json.dumps(description))
    return file


# ---- Limber ---------------------------------------------------------------------------------------------------------


def limber(file, torques, rtol, options):
    """(tip positions, CPU seconds of the integration)."""
    command = [LIMBER, "simulate", file, "--until", UNTIL, "--step", OUTPUT, "--rtol", f"{rtol:.3g}", "--inputs", torques, "--stats"]
    result = subprocess.run([str(word) for word in command + options], capture_output=True, text=True)
    if result.returncode: sys.exit(result.stderr)
    names, *rows = csv.reader(result.stdout.splitlines())
    columns = dict(zip(names, np.array(rows, float).T))
    return np.column_stack([columns["tip.position[1]"], columns["tip.position[2]"]]), json.loads(result.stderr.splitlines()[-1])["cpu_seconds"]


def limber_trials(file, torques, options, quick):
    """(trials at tolerances below 1, reference)."""
    reference, _ = limber(file, torques, 1e-10, [] if options else ["--set", "solver.max_order=5"])
    per_decade, trials = 2 if quick else 4, []
    for k in range(1, 9 * per_decade + 1):
        rtol = 10.0 ** (-k / per_decade)
        def run(rtol=rtol): return limber(file, torques, rtol, options)
        tip, seconds = run()
        trials.append(Trial(f"rtol {rtol:.1e}", run, distance(tip, reference), seconds))
        if trials[-1].error < TARGETS[-1] / 10: break
    return trials, reference


# ---- Exudyn ---------------------------------------------------------------------------------------------------------

# (new Jacobian in each step, relative tolerance of Newton, contractivity above which a new Jacobian is computed)
NEWTON = {"Jacobian in each step, 1e-3": (True, 1e-3, 0.5), "Jacobian in each step, 1e-4": (True, 1e-4, 0.5),
          "Jacobian in each step, 1e-8": (True, 1e-8, 0.5),
          "Jacobian kept, 1e-5": (False, 1e-5, 0.1), "Jacobian kept, 1e-6": (False, 1e-6, 0.02),
          "Jacobian kept, 1e-8": (False, 1e-8, 0.5)}
STEPS = [100 * n for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 23, 26, 30, 34, 38, 42, 46, 50, 56, 64, 72, 80, 100)]


def fastest_linear_solver(make):
    """Of the three solvers, by a short run each."""
    def seconds(name): return min(exudyn.integrate(make(), 1.0, OUTPUT, 300, (True, 1e-3, 0.5), name)[1] for _ in range(3))
    return min(exudyn.LINEAR_SOLVERS, key=seconds)


def exudyn_trials(make, reference, label, quick):
    """Trials with all Newton settings, with more steps until the error is below the smallest target."""
    trials, solver = [], fastest_linear_solver(make)
    for name, newton in list(NEWTON.items())[:: 2 if quick else 1]:
        for steps in STEPS[:: 2 if quick else 1]:
            def run(steps=steps, newton=newton): return exudyn.integrate(make(), UNTIL, OUTPUT, steps, newton, solver)
            tip, seconds = run()
            if tip is None: continue
            trials.append(Trial(f"{label}{steps} steps, {solver}, {name}", run, distance(tip, reference), seconds))
            if trials[-1].error < TARGETS[-1]: break
    return trials


def converged(make, newton, steps=20000):
    """(tip at `steps` steps extrapolated from half as many, its distance from that without extrapolation)."""
    coarse, fine = (exudyn.integrate(make(), UNTIL, OUTPUT, n, newton, "EigenSparse")[0] for n in (steps // 2, steps))
    if coarse is None or fine is None: sys.exit("exudyn_compare.py: the reference solution of Exudyn failed")
    return fine + (fine - coarse) / 3, distance(fine, coarse) / 3


def floating_frame(links, rows, planar, quick):
    def make(): return exudyn.floating_frame(links, rows, planar)
    reference, uncertainty = converged(make, (True, 1e-8, 0.5))
    return exudyn_trials(make, reference, "", quick), reference, f"time: {uncertainty:.0e} m before extrapolation"


def cables(links, rows, axial_stiffness, quick):
    def make(elements): return lambda: exudyn.cables(links, rows, elements, axial_stiffness)
    newton = (True, 1e-5, 0.5)  # the residuals of stiff cables do not fall by much more
    reference, uncertainty = converged(make(12), newton)
    coarser, _ = converged(make(8), newton)
    trials = [trial for n in (1, 2, 3, 4, 6) for trial in exudyn_trials(make(n), reference, f"{n} elements a link, ", quick)]
    return trials, reference, f"time: {uncertainty:.0e} m before extrapolation; 8 against 12 elements a link: {distance(reference, coarser):.0e} m"


# ---- comparison -----------------------------------------------------------------------------------------------------


def shortlist(trials, target):
    """The cheapest trials whose error is at most the target, by their first run."""
    return sorted((t for t in trials if t.error <= target), key=lambda t: t.seconds)[:SHORTLIST]


def best_times(groups):
    """For each group of trials the fastest one with its least time, over interleaved runs."""
    least = {}
    for _ in range(ROUNDS):
        for group in groups:
            for trial in group: least[trial.run] = min(least.get(trial.run, np.inf), trial.run()[1])
    return [min(((t, least[t.run]) for t in group), key=lambda pair: pair[1], default=None) for group in groups]


def compare(title, other, ours, bound):
    """Prints a table; returns whether all ratios reach the bound (None: no bound)."""
    say(f"\n### {title}\n\n| tip error at most [m] | Exudyn [ms] | its error [m] | its settings | Limber [ms] | its error [m] | its tolerance | ratio |\n"
          "| ---: | ---: | ---: | --- | ---: | ---: | --- | ---: |")
    reached = True
    for target in TARGETS:
        pair = best_times([shortlist(other, target), shortlist(ours, target)])
        if None in pair:
            say(f"| {target:.0e} | no run reaches it |")
            reached = False
            continue
        (a, x), (b, y) = pair
        say(f"| {target:.0e} | {1e3 * x:.1f} | {a.error:.1e} | {a.label} | {1e3 * y:.2f} | {b.error:.1e} | {b.label} | {x / y:.1f} |")
        reached = reached and (bound is None or x / y >= bound)
    if bound is not None: say(f"\nBound: a ratio of at least {bound}: {'reached' if reached else 'missed'}.")
    return reached


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--method", help="integration method of Limber, passed to `limber simulate`")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter of Limber, passed to `limber simulate`")
    parser.add_argument("--axial-stiffness", type=float, default=1e8, help="of the ANCF cables [N]; Limber's links are inextensible (default 1e8)")
    parser.add_argument("--quick", action="store_true", help="fewer settings")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a ratio misses its bound")
    return parser.parse_args()


def main():
    given = arguments()
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.unlink(missing_ok=True)
    options = (["--method", given.method] if given.method else []) + [word for value in given.set for word in ("--set", value)]
    links = json.loads((ROOT / "resources/canadarm.json").read_text())["links"]
    six = {"shape": "craig-bampton", "count": 6}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        torques, rows = write_torques(folder)
        ours = {}
        for key, file in {"plain": robot(folder, "plain", False), "two": robot(folder, "two", True), "six": robot(folder, "six", True, six)}.items():
            note(f"Limber, {key}")
            ours[key] = limber_trials(file, torques, options, given.quick)
        note("Exudyn, floating frame")
        spatial, spatial_limit, _ = floating_frame(links, rows, False, given.quick)
        planar, frame_limit, frame_note = floating_frame(links, rows, True, given.quick)
        note("Exudyn, ANCF")
        cable, cable_limit, cable_note = cables(links, rows, given.axial_stiffness, given.quick)
        quick = " Quick run: half of the settings of Exudyn were tried." if given.quick else ""
        say(f"## Limber against Exudyn {exudyn.VERSION}\n\nForced Canadarm, {UNTIL:g} s, torques in straight pieces of 0.1 s, errors every {OUTPUT:g} s.{quick} Options of Limber: {' '.join(options) or 'none'}. "
              f"EA of the cables: {given.axial_stiffness:.0e} N.\n\n| distance between converged tips | m |\n| --- | ---: |")
        for text, a, b in (("floating frame in space, Limber without foreshortening", spatial_limit, "plain"), ("floating frame, planar, Limber without foreshortening", frame_limit, "plain"),
                            ("ANCF, Limber with foreshortening, two clamped-free modes", cable_limit, "two"),
                           ("ANCF, Limber with foreshortening, six Craig-Bampton coordinates", cable_limit, "six")):
            say(f"| {text} | {distance(a, ours[b][1]):.1e} |")
        say(f"\nUncertainty of the limits: floating frame, {frame_note}; ANCF, {cable_note}.")
        reached = [compare("Floating frame in space (Euler parameters, revolute joints), two clamped-free modes a link", spatial, ours["plain"][0], BOUNDS["floating frame"]),
                   compare("Floating frame, planar joints and Tait-Bryan angles, two clamped-free modes a link", planar, ours["plain"][0], BOUNDS["floating frame"]),
                   compare("ANCF cables; Limber with foreshortening, two clamped-free modes a link", cable, ours["two"][0], BOUNDS["ANCF"]),
                   compare("ANCF cables; Limber with foreshortening, six Craig-Bampton coordinates a link", cable, ours["six"][0], None)]
    sys.exit(1 if given.check and not all(reached) else 0)


if __name__ == "__main__":
    main()
