"""What both examples do: pack the system, run it in every way, say how it went.

An example is a module with a text as its help, RECORDED {component: variables}, JUDGED (study.Judged), WORK (which kind goes in), and
balance(run)      work, what of it is stored, and what is lost [J]
passed_on(run)    mechanical work at the coupling: as the drives gave it, as the arm took it [J]
checks(run)       (what, value, limit) each: every value must stay below its limit; None: not done
plot(...)         run, case, errors found, file
story(run)        lines for the summary"""

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

AGREES = {"ecos": 2e-3, "libcosim": 5e-4}  # share of the range: another master that couples at once, against ours; they settle the start
# in fewer passes
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3,
                     "legend.frameon": False})


def arguments(text):
    parser = argparse.ArgumentParser(usage=text.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/out/run")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def prepare(name, folder, recorded, judged):
    """The case and its package."""
    folder = folder.resolve() / name
    package = system.pack(ROOT / f"resources/{name}.ssd", folder, limber)
    return study.Case(system.read(ROOT / f"resources/{name}.ssd"), folder, recorded, judged), package


def integral(run, *names):
    return sum(np.trapezoid(run[name], run["time"]) for name in names)


def imbalance(work, *parts):
    """Share of the work that is in none of the parts"""
    return abs(work - sum(parts)) / abs(work)


def other_masters(case, package, right, quick):
    """Runs of the package in the masters of others: prints how far they are from the reference, gives checks against our own."""
    why = "--quick" if quick else study.missing_tools()
    if why is not None: return [(f"{tool} against our master ({why})", None, AGREES[tool]) for tool in study.TOOLS]
    ours, checks = study.cosimulate(case, "at once", 1e-3, right), []
    for tool in study.TOOLS:
        run = study.run_tool(case, package, tool)
        errors = study.errors(case, run, right)
        print(f"{tool}, 1 ms: " + ", ".join(f"{each.name} {errors[each.name]:.2g} {each.unit}" for each in case.judged))
        checks.append((f"{tool} against our master at once, share of the range", disagreement(case, run, ours), AGREES[tool]))
    return checks


def disagreement(case, run, other):
    """Largest difference of what is judged, as a share of its range"""
    return max(np.abs(run[name] - other[name])[1:].max() / max(np.ptp(other[column]) for column in each.columns)
               for each in case.judged for name in each.columns)


def step_study(case, right, quick):
    """Prints the tables; what was found."""
    steps, ways = ([2e-3], [study.BEST]) if quick else (study.STEPS, study.WAYS)
    found = study.compare(case, right, steps, ways)
    for judged in case.judged:
        print(f"\nlargest error against the reference: {judged.name} [{judged.unit}]")
        for line in study.table(found, judged, steps, ways): print("  " + line)
    print()
    return found


def conclude(checks, files):
    """Prints checks, (what, value, limit) each, and files, and ends the program."""
    good = True
    for what, value, limit in checks:
        if value is None:
            print(f"  not done  {what}")
            continue
        good = good and value < limit
        print(f"  {'ok    ' if value < limit else 'FAILED'}  {what}: {value:.2g}, limit {limit:g}")
    for what, file in files.items(): print(f"{what + ':':9}{shown(file)}")
    sys.exit(0 if good else 1)


def judge(name, example, given):
    """Runs everything, prints it, and gives the checks and the files"""
    case, package = prepare(name, given.folder, example.RECORDED, example.JUDGED)
    files = {what: case.folder.with_suffix(suffix) for what, suffix in (("package", ".ssp"), ("results", ".csv"), ("plot", ".png"))}
    right = study.reference(case, 1e-6 if given.quick else study.TOLERANCE)
    best = study.cosimulate(case, study.BEST, 1e-3, right, every=1e-3)
    write_table(files["results"], best)
    others = other_masters(case, package, right, given.quick)
    example.plot(best, case, step_study(case, right, given.quick), files["plot"])
    work, stored, lost = example.balance(best)
    gave, took = example.passed_on(best)
    print(f"{example.WORK} work {work:.1f} J: {stored:.1f} J stored, {lost:.1f} J lost ({study.BEST}, 1 ms)")
    print(f"drives gave {gave:.2f} J to the arm, it took {took:.2f} J")
    for line in example.story(best): print(line)
    return [*example.checks(best), (f"{example.WORK} work less what is stored and lost, share of it", imbalance(work, stored, lost), 1e-3),
            ("work that the drives gave less what the arm took, share of it", imbalance(gave, took), 1e-3),
            ("tip against the reference [mm]", study.errors(case, best, right)["tip"], 1), *others], files


def run(name, example):
    given = arguments(example.__doc__)
    try: conclude(*judge(name, example, given))
    except (OSError, study.Failed) as error: sys.exit(f"{name}.py: {error}")
