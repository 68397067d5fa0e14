"""The common part of both examples: packs the system, runs it with every method, reports the results.

An example is a module with its help text as docstring, RECORDED {component: variables}, COMPARED (study.Compared), WORK (kind of input
work), and
balance(run)        work, the part stored, and the part lost [J]
coupling_work(run)  mechanical work at the coupling: given by the drives, received by the arm [J]
checks(run)         (quantity, value, limit) each: every value must be below its limit; None: not done
plot(...)           run, case, errors found, file
summary(run)        lines for the summary"""

import argparse
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from canadarm import ROOT, limber, shown  # noqa: E402
from dualemps import write_table  # noqa: E402

from . import study, system  # noqa: E402

AGREES = {"ecos": 2e-3, "libcosim": 5e-4}  # fraction of the range: another master that couples at once, against ours; they
# initialize in fewer passes
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3,
                     "legend.frameon": False})


def arguments(text):
    parser = argparse.ArgumentParser(usage=text.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/out/run")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def prepare(name, folder, recorded, compared):
    """The case and its package."""
    folder = folder.resolve() / name
    package = system.pack(ROOT / f"resources/{name}.ssd", folder, limber)
    return study.Case(system.read(ROOT / f"resources/{name}.ssd"), folder, recorded, compared), package


def integral(run, *names):
    return sum(np.trapezoid(run[name], run["time"]) for name in names)


def imbalance(work, *parts):
    """Fraction of the work that is in none of the parts"""
    return abs(work - sum(parts)) / abs(work)


def other_masters(case, package, right, quick):
    """Runs the package in other masters: prints their errors to the reference, returns checks against our own."""
    why = "--quick" if quick else study.missing_tools()
    if why is not None: return [(f"{tool} against our master ({why})", None, AGREES[tool]) for tool in study.TOOLS]
    ours, checks = study.cosimulate(case, "at once", 1e-3, right), []
    for tool in study.TOOLS:
        run = study.run_tool(case, package, tool)
        errors = study.errors(case, run, right)
        print(f"{tool}, 1 ms: " + ", ".join(f"{each.name} {errors[each.name]:.2g} {each.unit}" for each in case.compared))
        checks.append((f"{tool} against our master at once, fraction of the range", disagreement(case, run, ours), AGREES[tool]))
    return checks


def disagreement(case, run, other):
    """Largest difference of the compared quantities, as a fraction of their range"""
    return max(np.abs(run[name] - other[name])[1:].max() / max(np.ptp(other[column]) for column in each.columns)
               for each in case.compared for name in each.columns)


def step_study(case, right, quick):
    """Prints the tables of errors and returns the errors."""
    steps, methods = ([2e-3], [study.BEST]) if quick else (study.STEPS, study.METHODS)
    found = study.compare(case, right, steps, methods)
    for compared in case.compared:
        print(f"\nlargest error against the reference: {compared.name} [{compared.unit}]")
        for line in study.table(found, compared, steps, methods): print("  " + line)
    print()
    return found


def conclude(checks, files):
    """Prints checks, (quantity, value, limit) each, and files, and ends the program."""
    good = True
    for what, value, limit in checks:
        if value is None:
            print(f"  not done  {what}")
            continue
        good = good and value < limit
        print(f"  {'ok    ' if value < limit else 'FAILED'}  {what}: {value:.2g}, limit {limit:g}")
    for what, file in files.items(): print(f"{what + ':':9}{shown(file)}")
    sys.exit(0 if good else 1)


def run_all(name, example, given):
    """Runs everything, prints the results, and returns the checks and the files"""
    case, package = prepare(name, given.folder, example.RECORDED, example.COMPARED)
    files = {what: case.folder.with_suffix(suffix) for what, suffix in (("package", ".ssp"), ("results", ".csv"), ("plot", ".png"))}
    right = study.reference(case, 1e-6 if given.quick else study.TOLERANCE)
    best = study.cosimulate(case, study.BEST, 1e-3, right, every=1e-3)
    write_table(files["results"], best)
    others = other_masters(case, package, right, given.quick)
    example.plot(best, case, step_study(case, right, given.quick), files["plot"])
    work, stored, lost = example.balance(best)
    gave, took = example.coupling_work(best)
    print(f"{example.WORK} work {work:.1f} J: {stored:.1f} J stored, {lost:.1f} J lost ({study.BEST}, 1 ms)")
    print(f"work given by the drives {gave:.2f} J, received by the arm {took:.2f} J")
    for line in example.summary(best): print(line)
    return [*example.checks(best), (f"{example.WORK} work minus the parts stored and lost, fraction of it", imbalance(work, stored, lost), 1e-3),
            ("work given by the drives minus work received by the arm, fraction of it", imbalance(gave, took), 1e-3),
            ("tip against the reference [mm]", study.errors(case, best, right)["tip"], 1), *others], files


def run(name, example):
    given = arguments(example.__doc__)
    try: conclude(*run_all(name, example, given))
    except (OSError, study.Failed) as error: sys.exit(f"{name}.py: {error}")
