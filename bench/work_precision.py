"""Work and precision of every method on the problems of bench/problems.py: tip error, CPU time, instructions."""

import math

import problems
import runs
from gains import distance

METHODS = {"auto": None, **{name: name for name in runs.METHODS}}  # {name: what --method gets}
TIGHT = ("explicit", 1e-11), ("esdirk", 1e-9)  # the reference, and a run that shows its error
MOST_COUNTED = 2e9       # callgrind counts some 1e8 instructions a second: costlier runs are not counted
MOST_COUNTED_QUICK = 2e8
PER_SECOND = 7e9         # instructions of a second of CPU time, to tell in advance
LONGEST = 60             # time limit of a run [s]; the next tolerance is not tried
SLOW = 1                 # after a run that takes so much CPU time no tighter tolerance is tried [s]
ENOUGH = 3e-10           # an error below that is of no interest [m]
TIMED = 4                # runs of which the best counts, while they take less than TIMED_FOR together
TIMED_FOR = 0.25         # [s]
DECADES = range(2, 9)


def all_problems(limber):
    """{key: (title, problem)}"""
    return {
        "canadarm": ("Canadarm, forced, 2 clamped-free modes", problems.forced_canadarm()),
        "craig-bampton": ("Canadarm, forced, 6 Craig-Bampton", problems.forced_canadarm(problems.CRAIG_BAMPTON)),
        "foreshortening": ("Canadarm, 6 Craig-Bampton, foreshortening", problems.forced_canadarm(problems.CRAIG_BAMPTON, True)),
        "cibicik": ("Cibicik, struck, 2 s", problems.struck(limber, "cibicik", 2, 0.02)),
        "lin-lewis": ("Lin and Lewis, struck, 2 s", problems.struck(limber, "lin-lewis", 2, 0.02)),
        "chain": ("chain of 32 links, 2 s", problems.chain(32, 1e-3)),
        "held canadarm": ("Canadarm, held for 1 ms, 5 s", problems.held("canadarm", 5)),
        "held cibicik": ("Cibicik, held for 1 ms, 2 s", problems.held("cibicik", 2)),
        "dualemps": ("DualEMPS along a circle, 25 s", problems.dualemps("circle")),
        "crane": ("crane, coupled at 1 ms, 8 s", problems.crane()),
    }


def timed(problem, program, rtol, method):
    """(tip, least CPU seconds)"""
    run = problem.run(program, rtol, method, longest=LONGEST)
    best, spent = run.cost, run.cost
    for _ in range(TIMED - 1):
        if spent > TIMED_FOR: break
        cost = problem.run(program, rtol, method, longest=LONGEST).cost
        best, spent = min(best, cost), spent + cost
    return run.tip, best


def counted(problem, program, rtol, method, seconds, most=MOST_COUNTED):
    """Instructions; None: too many to count"""
    if seconds * PER_SECOND > most: return None
    return problem.run(program, rtol, method, counted=True).cost


def curve(problem, program, method, right, note, quick):
    """Points (rtol, error, seconds, instructions), loosest tolerance first; instructions at every second one. A failure ends as text."""
    points = []
    for k in DECADES[:: 2 if quick else 1]:
        rtol = 10.0**-k
        try: tip, seconds = timed(problem, program, rtol, method)
        except runs.Broken as failure:
            points.append({"rtol": rtol, "failure": str(failure)})
            if "more than" in str(failure): break
            continue
        error = distance(tip, right)
        instructions = counted(problem, program, rtol, method, seconds, MOST_COUNTED_QUICK if quick else MOST_COUNTED) if k % 2 == 0 else None
        points.append({"rtol": rtol, "error": error, "seconds": seconds, "instructions": instructions})
        note(f"  {method or 'auto'} {rtol:.0e}: {error:.1e} m, {1e3 * seconds:.1f} ms, {instructions and instructions / 1e6} M")
        if error < ENOUGH or seconds > SLOW: break
    return points


def measure(program, note, known=None, quick=False):
    """{problem: title, error of the reference, {method: points}}; `known`: results of problems that are not measured again; quick: fewer points"""
    results = dict(known or {})
    for key, (title, problem) in all_problems(program.limber).items():
        if key in results: continue
        note(key)
        right, other = (problem.run(program, rtol, method, longest=10 * LONGEST).tip for method, rtol in TIGHT)
        results[key] = {"title": title, "reference": distance(right, other),
                        "methods": {name: curve(problem, program, method, right, note, quick) for name, method in METHODS.items()}}
        yield results


def good(points):
    return [point for point in points if "error" in point]


def cost_at(points, error, cost):
    """The cost at this error: along the curve of the cheapest points, straight between two in logarithms. None: not attained; the cost of
    the cheapest point if that errs less."""
    best, least = [], math.inf
    for point in sorted((p for p in good(points) if p[cost]), key=lambda p: p[cost]):
        if point["error"] < least:
            best.append((point["error"], point[cost]))
            least = point["error"]
    for (e0, c0), (e1, c1) in zip([(None, None), *best], best):
        if e1 > error: continue
        if e0 is None: return c1
        share = math.log(e0 / error) / math.log(e0 / e1)
        return c0 * (c1 / c0) ** share
    return None
