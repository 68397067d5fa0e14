"""The common part of both examples: creates the system in both forms, with drives as FMUs (NAME.ssd) and with drives inside the arm
(NAME-drives.ssd), simulates them with every method, and reports the results.

An example is a module with its help text as docstring, RECORDED {component: variables}, COMPARED (study.Compared; the tip first), WORK (kind
of input work), DRIVES {joint or actuator of the arm: component of its drive}, and
balance(run)        work, the part stored, and the part lost [J]
coupling_work(run)  mechanical work at the coupling: supplied by the drives, received by the arm [J]
checks(run)         (quantity, value, limit) each: every value must be below its limit; None: not done
plot(...)           run, [(case, errors found)] of both forms, file
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

AGREES = {"ecos": 2e-3, "libcosim": 5e-4}  # fraction of the range: another master that couples at once, compared with ours; they
# initialize in fewer passes
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3,
                     "legend.frameon": False})


def arguments(text):
    parser = argparse.ArgumentParser(usage=text.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/out/run")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def prepare(name, folder, recorded, compared, inside={}):
    """The case and its package."""
    folder = folder.resolve() / name
    package = system.pack(ROOT / f"resources/{name}.ssd", folder, limber)
    return study.Case(system.read(ROOT / f"resources/{name}.ssd"), folder, recorded, compared, inside), package


def prepare_inside(name, folder, example):
    """The form with drives inside the arm: the same variables, with the name of its joint or actuator as prefix for those of a drive"""
    recorded = {component: list(names) for component, names in example.RECORDED.items() if component not in example.DRIVES.values()}
    for of, component in example.DRIVES.items(): recorded["arm"] += [f"{of}.drive.{name}" for name in example.RECORDED[component]]
    return prepare(f"{name}-drives", folder, recorded, example.COMPARED, example.DRIVES)


def integral(run, *names):
    return sum(np.trapezoid(run[name], run["time"]) for name in names)


def imbalance(work, *parts):
    """Fraction of the work that is in none of the parts"""
    return abs(work - sum(parts)) / abs(work)


def other_masters(case, package, right, quick):
    """Runs the package in other masters: prints their errors to the reference, returns checks against our own."""
    why, name = "--quick" if quick else study.missing_tools(), case.system.name
    if why is not None: return [(f"{name}: {tool} against our master ({why})", None, AGREES[tool]) for tool in study.TOOLS]
    ours, checks = study.cosimulate(case, "at once", 1e-3, right), []
    for tool in study.TOOLS:
        run = study.run_tool(case, package, tool)
        errors = study.errors(case, run, right)
        print(f"{name}: {tool}, 1 ms: " + ", ".join(f"{each.name} {errors[each.name]:.2g} {each.unit}" for each in case.compared))
        checks.append((f"{name}: {tool} compared with our master at once, fraction of the range", disagreement(case, run, ours), AGREES[tool]))
    return checks


def disagreement(case, run, other):
    """Largest difference of the compared quantities, as a fraction of their range"""
    return max(np.abs(run[name] - other[name])[1:].max() / max(np.ptp(other[column]) for column in each.columns)
               for each in case.compared for name in each.columns)


def step_study(case, right, steps, methods):
    """Prints the tables of errors and returns the errors."""
    found = study.compare(case, right, steps, methods)
    for compared in case.compared:
        print(f"\n{case.system.name}, largest error relative to the reference: {compared.name} [{compared.unit}]")
        for line in study.table(found, compared, steps, methods): print("  " + line)
    return found


def both_studies(case, inside, right, quick):
    """The errors of both forms, and their longest usable steps"""
    given = [([2e-3], [study.BEST]), ([10e-3], [study.BEST])] if quick else [(study.STEPS, study.METHODS), (study.LONG_STEPS, study.EXPLICIT)]
    studies = [(each, step_study(each, right, *what)) for each, what in zip((case, inside), given)]
    if not quick:
        print(f"\nlongest step [ms] for which the tip error stays within {100 * study.WITHIN:g} % of its range, of "
              + ", ".join(f"{1e3 * h:g}" for h in study.LONG_STEPS))
        for line in study.longest_table(dict(zip(("drives as FMUs", "drives inside"), studies)), right): print("  " + line)
    print()
    return studies


def conclude(checks, files):
    """Prints checks, (quantity, value, limit) each, and files, and ends the program."""
    good = True
    for what, value, limit in checks:
        if value is None:
            print(f"  not done  {what}")
            continue
        good = good and value < limit
        print(f"  {'ok    ' if value < limit else 'FAILED'}  {what}: {value:.2g}, limit {limit:g}")
    for what, file in files: print(f"{what + ':':9}{shown(file)}")
    sys.exit(0 if good else 1)


def check(example, case, run, right):
    """Prints the results of a run at 1 ms; returns its checks"""
    work, stored, lost = example.balance(run)
    gave, took = example.coupling_work(run)
    print(f"{case.system.name}: {example.WORK} work {work:.1f} J: {stored:.1f} J stored, {lost:.1f} J lost ({study.BEST}, 1 ms)")
    print(f"work supplied by the drives {gave:.2f} J, received by the arm {took:.2f} J")
    for line in example.summary(run): print(line)
    checks = [*example.checks(run), (f"{example.WORK} work minus the parts stored and lost, relative", imbalance(work, stored, lost), 1e-3),
              ("work supplied by the drives minus work received by the arm, relative", imbalance(gave, took), 1e-3),
              ("tip error relative to the reference [mm]", study.errors(case, run, right)["tip"], 1)]
    return [(f"{case.system.name}: {what}", *numbers) for what, *numbers in checks]


def run_all(name, example, given):
    """Runs everything, prints the results, and returns the checks and the files"""
    prepared = [prepare(name, given.folder, example.RECORDED, example.COMPARED), prepare_inside(name, given.folder, example)]
    (case, _), (inside, _) = prepared
    right = study.reference(case, 1e-6 if given.quick else study.TOLERANCE)
    checks, runs = [], []
    for each, package in prepared:
        runs.append(study.cosimulate(each, study.BEST, 1e-3, right, every=1e-3))
        write_table(each.folder.with_suffix(".csv"), runs[-1])
        checks += other_masters(each, package, right, given.quick)
    studies = both_studies(case, inside, right, given.quick)
    plot = case.folder.with_suffix(".png")
    example.plot(runs[0], studies, plot)
    checked = [check(example, each, run, right) for (each, _), run in zip(prepared, runs)]
    long = (f"{inside.system.name}: tip error relative to the reference [mm] ({study.BEST}, 10 ms)", studies[1][1][study.BEST, 10e-3]["tip"], 10)
    return [*checked[0], *checked[1], long, *checks], [*(("package", package) for _, package in prepared),
                                                     *(("results", each.folder.with_suffix(".csv")) for each, _ in prepared), ("plot", plot)]


def run(name, example):
    given = arguments(example.__doc__)
    try: conclude(*run_all(name, example, given))
    except (OSError, study.Failed) as error: sys.exit(f"{name}.py: {error}")
