#!/usr/bin/env python3
"""Instructions of whole simulations at equal tip error, today and at commit ff4cbf0, in one run.

    build/out/venv/bin/python bench/gains.py [--only NAME ...] [--all-methods] [--quick] [--baseline-only] [--list]

--only           problems whose names begin so (--list shows them)
--all-methods    measures each method as well, and checks that the automatic choice costs at most 1.5 times the best of them
--quick          fewer tolerances, no check of the references, no chains of 64 links
--baseline-only  measures ff4cbf0 and nothing of today

Prints a Markdown table and writes build/out/bench/gains.json. Exit code 1: a bound is missed; 2: something could not be measured.
Figures of ff4cbf0 are kept below build/out/baseline; the first run takes about an hour, a later one a fraction of it."""

import argparse
import json
import math
import sys
from dataclasses import dataclass, field

import ancestor
import baseline
import builds
import callgrind
import numpy as np
import problems
import runs

LIMITS = {"automatic": 1.5, "growth": 1.15, "drift": 1e-4, "smooth": 2.0}
CHAINS = (4, 8, 16, 32, 64)
LINKS, BOUND_OF_CHAIN = 32, 40           # longer chains are simulated by today's program alone: ff4cbf0 would take hours under callgrind
TIGHT, TIGHT_FOR_CHAINS = 1e-10, 1e-8    # of references; the chains are damped, so that 1e-8 leaves less than 1e-8 m
FAR_SLOWER = 4                           # times the CPU time of the automatic choice: a method that takes more is not measured
REFERENCE_SHARE = 0.1                    # of the permitted error: how far the two programs may differ at the tightest tolerance
RTOLS = [10.0 ** (-k / 4) for k in range(4, 41)]


@dataclass
class Figure:
    """One program on one problem."""
    rtol: float
    error: float
    instructions: float
    seconds: float = None  # CPU time of the run that was not counted


@dataclass
class Row:
    """One line of the table; `checks`: (what, value, limit): the value must be at most the limit."""
    name: str
    bound: float
    before: Figure = None
    now: Figure = None
    methods: dict = field(default_factory=dict)
    checks: list = field(default_factory=list)

    @property
    def gain(self):
        return self.before.instructions / self.now.instructions if self.before and self.now else math.nan

    @property
    def missed(self):
        best = min((each.instructions for each in self.methods.values()), default=math.inf)
        texts = [f"gain {self.gain:.1f} < {self.bound:g}"] if self.now and self.bound and not self.gain >= self.bound else []
        texts += [f"{what} {value:.3g} > {limit:g}" for what, value, limit in self.checks if not value <= limit]
        if self.now and self.now.instructions > LIMITS["automatic"] * best: texts.append(f"automatic {self.now.instructions / best:.2f} times the best method")
        return texts


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---- figures ---------------------------------------------------------------------------------------------------------------------


def distance(path, other):
    """Largest distance between two paths of the tip [m]"""
    return float(np.linalg.norm(path - other, axis=1).max())


def tried(problem, program, rtol, method, reference, longest):
    """(CPU seconds, error) of a run that is not counted; infinite if it fails"""
    try:
        run = problem.run(program, rtol, method, longest=longest)
    except runs.Broken as failure:
        say(f"  {program.name} {method or ''} {rtol:.1e}: {failure}")
        return math.inf, math.inf
    error = distance(run.tip, reference)
    say(f"  {program.name} {method or ''} {rtol:.1e}: {run.cost:.3f} s, {error:.1e} m")
    return run.cost, error


def sufficient(problem, program, method, error, reference, rtols, longest):
    """{rtol: (CPU seconds, error)} of tolerances that attain the error: the loosest two in a row, any looser ones, and one finer
    one between the loosest and its failing neighbor"""
    good, in_a_row = {}, 0
    for rtol in rtols:
        result = tried(problem, program, rtol, method, reference, longest)
        in_a_row = in_a_row + 1 if result[1] <= error else 0
        if in_a_row: good[rtol] = result
        if in_a_row == 2: break
    if not good: raise runs.Broken(f"{program.name}: no tolerance attains {error:g} m")
    best = max(good)
    if best == rtols[0]: return good
    looser = rtols[rtols.index(best) - 1]
    middle = math.sqrt(best * looser)
    result = tried(problem, program, middle, method, reference, longest)
    if result[1] <= error: good[middle] = result
    return good


def counted(problem, program, rtol, method, error, seconds=None):
    figure = Figure(rtol, error, problem.run(program, rtol, method, counted=True).cost, seconds)
    say(f"  {program.name} {method or ''} {rtol or 0:.1e}: {figure.instructions / 1e6:.1f} M instructions, {error:.1e} m")
    return figure


def attained(problem, program, error, reference, method=None, rtols=RTOLS, automatic=None):
    """The cheapest run with at most this error: that with the loosest tolerance, or a tighter one that took less time. `automatic`: the
    figure of the automatic choice; a run that takes FAR_SLOWER times its CPU time is not counted"""
    most = FAR_SLOWER * automatic.seconds if automatic else math.inf
    good = sufficient(problem, program, method, error, reference, rtols, min(runs.LONGEST, 2 + 10 * most))
    candidates = {max(good), min(good, key=lambda rtol: good[rtol][0])}
    candidates = [rtol for rtol in candidates if good[rtol][0] <= most]
    if not candidates: raise runs.Broken(f"takes more than {FAR_SLOWER} times the CPU time of the automatic choice")
    return min((counted(problem, program, rtol, method, *good[rtol][::-1]) for rtol in candidates), key=lambda figure: figure.instructions)


class Bench:
    """Both programs, and what is kept of ff4cbf0."""

    def __init__(self, given):
        self.given, self.rtols = given, RTOLS[::4] if given.quick else RTOLS
        builds.build(builds.RELEASE, targets=("limber_cli", "limber_fmu", *ancestor.TARGETS[2:], "bench_host"))
        _, self.directory = ancestor.build()
        self.commit = runs.Program(baseline.NAME, self.directory / "limber")
        self.today = runs.Program("now", builds.RELEASE / "limber")
        self.store = ancestor.Store(self.directory)
        self.differing = ancestor.differing_flags(builds.RELEASE, self.directory)

    def reference(self, problem, rtol=TIGHT):
        """The path of the tip by ff4cbf0 at a tight tolerance"""
        return np.array(self.store.get(f"reference {rtol:g} {problem.key()}", lambda: problem.run(self.commit, rtol).tip.tolist()))

    def before(self, problem, error, reference):
        """ff4cbf0 at this tip error"""
        kept = self.store.get(f"attained {error:g} {problem.key()}", lambda: vars(attained(problem, self.commit, error, reference)))
        return Figure(**kept)

    def before_at(self, problem, rtol, reference):
        """ff4cbf0 at this tolerance (None: its default)"""
        make = lambda: vars(counted(problem, self.commit, rtol, None, distance(problem.run(self.commit, rtol).tip, reference)))
        return Figure(**self.store.get(f"at {rtol} {problem.key()}", make))

    def agreement(self, problem, reference, error, rtol=TIGHT):
        """A check: today's program at a tight tolerance against the reference"""
        if self.given.quick: return []
        return [("error of the reference [m]", distance(problem.run(self.today, rtol).tip, reference), REFERENCE_SHARE * error)]

    def methods(self, measure):
        """{method: measure(method)} where the program has the method"""
        found = {}
        for method in runs.METHODS if self.given.all_methods else ():
            try: found[method] = measure(method)
            except runs.Refused: say(f"  {method}: refused")
            except runs.Broken as failure: say(f"  {method}: {failure}")
        return found


# ---- rows of the table ------------------------------------------------------------------------------------------------------------


def equal_error(bench, name, problem, error, bound, exact=None, tight=TIGHT):
    """`exact`: the problem whose solution at rtol `tight` is the reference, if it is another one"""
    right = bench.reference(exact or problem, tight)
    row = Row(f"{name}, {error:.0e} m", bound, bench.before(problem, error, right))
    if bench.given.baseline_only: return row
    measure = lambda method=None: attained(problem, bench.today, error, right, method, bench.rtols, row.now)
    row.now = measure()
    row.methods = bench.methods(measure)
    row.checks = bench.agreement(exact or problem, right, error, tight)
    return row


def forced(bench, name, problem, bounds):
    for error, bound in bounds.items(): yield equal_error(bench, name, problem, error, bound)


def canadarm(bench):
    yield from forced(bench, "forced Canadarm, 2 clamped-free modes", problems.forced_canadarm(), {1e-6: 7, 1e-5: 4})


def craig_bampton(bench):
    yield from forced(bench, "forced Canadarm, 6 Craig-Bampton coordinates", problems.forced_canadarm(problems.CRAIG_BAMPTON), {1e-6: 30, 1e-5: 7})


def foreshortening(bench):
    yield from forced(bench, "the same with foreshortening", problems.forced_canadarm(problems.CRAIG_BAMPTON, True), {1e-6: 15, 1e-5: 5})


def cibicik(bench):
    yield equal_error(bench, "Cibicik undamped, struck, 2 s", problems.struck(bench.commit.limber, "cibicik", 2, 0.02), 1e-5, 4)


def drift(problem, program, rtol=None, method=None):
    """Largest change of the energy, relative to the largest kinetic energy"""
    columns = problem.run(program, rtol, method).columns
    return np.abs(columns["energy.total"] - columns["energy.total"][0]).max() / columns["energy.kinetic"].max()


def lin_lewis(bench):
    """Today's program at its default settings"""
    short, long = (problems.struck(bench.commit.limber, "lin-lewis", until, 0.1) for until in (2, 20))
    right = bench.reference(short)
    row = Row("Lin and Lewis, 15 modes struck, 2 s, ff4cbf0 at 1e-7", 4, bench.before_at(short, 1e-7, right))
    lost = bench.store.get(f"drift 1e-07 {long.key()}", lambda: drift(long, bench.commit, 1e-7))
    row.name += f" (its drift in 20 s {lost:.1e})"
    if not bench.given.baseline_only:
        measure = lambda method=None: counted(short, bench.today, None, method, distance(short.run(bench.today, None, method).tip, right))
        row.now, row.checks = measure(), [("drift in 20 s", drift(long, bench.today), LIMITS["drift"])]
        enough = lambda method: drift(long, bench.today, None, method) <= LIMITS["drift"]
        row.methods = {name: figure for name, figure in bench.methods(measure).items() if enough(name)}
    yield row


def growth(links, instructions):
    """The exponent p of instructions = c links^p, by least squares"""
    return float(np.polyfit(np.log(links), np.log(instructions), 1)[0])


def smooth_chain(bench, links):
    rows, exact = problems.chain(links, 1e-3), problems.chain(links, 2e-4)
    if links <= LINKS:
        return equal_error(bench, f"chain of {links} links", rows, 1e-5, BOUND_OF_CHAIN if links == LINKS else None, exact, TIGHT_FOR_CHAINS)
    right = exact.run(bench.today, TIGHT_FOR_CHAINS).tip
    return Row(f"chain of {links} links, 1e-05 m", None, now=attained(rows, bench.today, 1e-5, right, None, bench.rtols))


def chains(bench):
    """Growth is that of the smooth torque; 32 links also with the torque in straight pieces of 20 ms"""
    yield equal_error(bench, f"chain of {LINKS} links, torque in straight pieces of 20 ms", problems.chain(LINKS, 0.02, smooth=False),
                      1e-5, BOUND_OF_CHAIN, tight=TIGHT_FOR_CHAINS)
    rows = {}
    for links in CHAINS:
        if links > LINKS and (bench.given.quick or bench.given.baseline_only): return
        rows[links] = smooth_chain(bench, links)
        if links == CHAINS[-1]:
            exponent = growth(list(rows), [row.now.instructions for row in rows.values()])
            rows[links].checks.append((f"growth, {CHAINS[0]} to {CHAINS[-1]} links: exponent", exponent, LIMITS["growth"]))
        yield rows[links]


def held(bench):
    for name, title, seconds in ("canadarm", "Canadarm", 5), ("cibicik", "Cibicik", 2):
        row = equal_error(bench, f"{title}, torques held for 1 ms, {seconds} s", problems.held(name, seconds), 1e-6, 8)
        if name == "canadarm":
            smooth = problems.smooth(name, seconds)
            one = bench.before_at(smooth, 1e-6, bench.reference(smooth))
            row.name += f" (smooth run of ff4cbf0: {one.instructions / 1e6:.0f} M)"
            if row.now: row.checks.append(("cost relative to the smooth run", row.now.instructions / one.instructions, LIMITS["smooth"]))
        yield row


def default_tolerance(bench, name, problem, bound):
    """Every FMU at its default tolerance; the error must not be larger than that of ff4cbf0"""
    right = bench.reference(problem)
    row = Row(name, bound, bench.before_at(problem, None, right))
    if bench.given.baseline_only: return row
    measure = lambda method=None: counted(problem, bench.today, None, method, distance(problem.run(bench.today, None, method).tip, right))
    row.now = measure()
    row.methods = {method: figure for method, figure in bench.methods(measure).items() if figure.error <= row.before.error}
    row.checks = [("error of the tip [m]", row.now.error, row.before.error), *bench.agreement(problem, right, row.before.error)]
    return row


def dualemps(bench):
    for path in "circle", "square":
        yield default_tolerance(bench, f"DualEMPS driven along a {path}, 25 s, PD at 1 ms", problems.dualemps(path), 5)


def crane(bench):
    yield default_tolerance(bench, "crane, 8 s, coupled at 1 ms", problems.crane(), 4)


PARTS = {"canadarm": canadarm, "craig-bampton": craig_bampton, "foreshortening": foreshortening, "cibicik": cibicik, "lin-lewis": lin_lewis,
         "chains": chains, "held": held, "dualemps": dualemps, "crane": crane}


# ---- report --------------------------------------------------------------------------------------------------------------------------


def shown(figure):
    """instructions, tolerance and error of a figure as cells"""
    if figure is None: return "| | | "
    return f"| {figure.instructions / 1e6:.1f} | {f'{figure.rtol:.1e}' if figure.rtol else 'default'} | {figure.error:.1e} "


def line(row):
    methods = ", ".join(f"{name} {figure.instructions / 1e6:.1f}" for name, figure in row.methods.items())
    bound = f"{row.bound:g}" if row.bound else ""
    verdict = "" if row.now is None else "missed: " + "; ".join(row.missed) if row.missed else "met" if row.bound or row.checks else ""
    verdict += "".join(f"; {what} {value:.3g}" for what, value, limit in row.checks if value <= limit)
    return f"| {row.name} {shown(row.before)}{shown(row.now)}| {row.gain:.1f} | {bound} | {methods} | {verdict} |"


HEAD = (f"| problem | {baseline.NAME} [M instructions] | rtol | tip error [m] | now [M instructions] | rtol | tip error [m] | gain | at least | methods [M instructions] | |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |")


def save(rows):
    file = builds.RELEASE / "bench/gains.json"
    plain = lambda value: vars(value)
    file.write_text(json.dumps([{**vars(row), "gain": row.gain, "missed": row.missed} for row in rows], indent=1, default=plain) + "\n", encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--only", nargs="+", default=[""])
    for option in "--all-methods", "--quick", "--baseline-only", "--list": parser.add_argument(option, action="store_true")
    given = parser.parse_args()
    given.parts = [name for name in PARTS if name.startswith(tuple(given.only))]
    if not given.parts: parser.error(f"--only {' '.join(given.only)}: the problems are {', '.join(PARTS)}")
    return given


def main():
    given = arguments()
    if given.list: return print("\n".join(PARTS))
    rows = []
    try:
        bench = Bench(given)
        print(f"{builds.version(builds.cached(builds.RELEASE, 'CMAKE_C_COMPILER'))}; flags that differ between the builds: {', '.join(bench.differing) or 'none'}\n\n{HEAD}", flush=True)
        for name in given.parts:
            for row in PARTS[name](bench):
                rows.append(row)
                print(line(row), flush=True)
                save(rows)
    except (builds.Failed, baseline.NotInHistory, callgrind.Failed, runs.Broken) as failure:
        say(f"gains.py: {failure}")
        return 2
    return 1 if any(row.missed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
