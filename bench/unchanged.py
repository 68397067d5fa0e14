#!/usr/bin/env python3
"""Results and instructions now against those of an earlier commit: python bench/unchanged.py [--commit C] [--only results|kernels|problems]

The commit is unpacked below build/out/baseline and built by its own CMake files. Of every robot in resources/ the two programs
evaluate the same random states (bound 1e-12 of the largest number of a result) and simulate 1 s (1e-8). Of the kernels that an FMU
runs the instructions are counted (bound 1.00), and of the steps of whole simulations (bound 1.02; 0.70 of arms with hydraulic drives
inside) and of `limber linearize --static` of such an arm, the whole program (0.50). Exit code 1: a bound is missed."""

import argparse
import csv
import io
import json
import random
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import builds
import callgrind
import measure
import problems
import runs

COMMIT = "a8e59dd"
KERNELS = ("chain-7", "twisted-7", "canadarm", "cibicik", "dualemps", "crane", "concrete-pump")
ALGORITHMS = ("forward", "inverse", "derivatives")
SCALES = (0.1, 0.02, 0.005, 0.001, 0.0002)
CALLS = 4


def built(commit):
    """The build directory of the commit, with the program and the kernel."""
    tree = builds.RELEASE / "baseline" / f"{commit}-whole"
    directory = tree / "build/out"
    if not (tree / "complete").is_file():
        archive = subprocess.run(["git", "-C", builds.ROOT, "archive", commit], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files: files.extractall(tree, filter="data")
        options = [f"-D{name}={builds.cached(builds.RELEASE, name)}" for name in ("CMAKE_C_COMPILER", "LIMBER_MARCH", "FMI2_INCLUDE_DIR")]
        for command in (["cmake", "-S", tree, "-B", directory, "-G", "Ninja", *options],
                        ["cmake", "--build", directory, "--target", "limber_cli", "bench_kernel_fmu"]):
            subprocess.run(command, check=True, capture_output=True)
        (tree / "complete").touch()
    return directory


# ---- results -----------------------------------------------------------------------------------------------------------


def call(program, *words, given=None):
    answer = subprocess.run([program, *map(str, words)], input=given, capture_output=True, text=True)
    return answer.stdout if answer.returncode == 0 else f"exit code {answer.returncode}"


def apart(ours, theirs):
    """The largest difference of two results (numbers in lists and objects), relative to the largest number of each entry."""
    if isinstance(theirs, dict): return max((apart(ours[key], theirs[key]) for key in theirs), default=0)
    flat = lambda x: [number for y in x for number in flat(y)] if isinstance(x, list) else [x]
    ours, theirs = flat(ours), flat(theirs)
    if any(x is None or isinstance(x, str) for x in theirs): return 0 if ours == theirs else float("inf")
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / max(*map(abs, theirs), 1e-300) if theirs else 0


def table(program, robot, *options):
    """{column: numbers} of a simulation; {"": exit code} where it fails."""
    text = call(program, "simulate", robot, *options)
    if text.startswith("exit"): return {"": text}
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def random_states(program, robot):
    """States around the start, farther and nearer: some robots have a valid mass matrix only where they bend little."""
    chance, start = random.Random(robot.stem), table(program, robot, "--until", 0.001, "--step", 0.001)
    q = {name: column[0] for name, column in start.items() if re.search(r"\.(q|eta)(\[\d+\])?$", name)}
    for scale in SCALES:
        state = {"q": {name: value + scale * chance.uniform(-1, 1) for name, value in q.items()},
                 "qd": {re.sub(r"\.(q|eta)\b", r".\1d", name): 10 * scale * chance.uniform(-1, 1) for name in q}}
        yield json.dumps(state)


def evaluated(ours, theirs, robot):
    worst = compared = 0
    for state in random_states(theirs, robot):
        a, b = (call(program, "eval", robot, "-", given=state) for program in (ours, theirs))
        if a.startswith("exit") or b.startswith("exit"): worst = max(worst, 0 if a == b else float("inf"))
        else: worst, compared = max(worst, apart(json.loads(a), json.loads(b))), compared + 1
    return worst if compared else float("nan")


def simulated(ours, theirs, robot):
    """1 s from the start; each column relative to its own largest number, or to the largest state where it is zero but for rounding."""
    a, b = (table(program, robot, "--until", 1, "--step", 0.05, "--rtol", 1e-8) for program in (ours, theirs))
    if "" in a or "" in b: return 0 if a == b else float("inf")
    return max(max(abs(x - y) for x, y in zip(a[name], b[name], strict=True)) / max(1e-3, *map(abs, b[name])) for name in b)


def results(directory):
    ours, theirs = builds.RELEASE / "limber", directory / "limber"
    rows = []
    for robot in sorted((builds.ROOT / "resources").glob("*.json")):
        if "schema" in robot.name: continue
        rows.append((robot.stem, evaluated(ours, theirs, robot), simulated(ours, theirs, robot)))
        print("%-24s eval %.1e   1 s %.1e" % rows[-1], flush=True)
    return [f"{name}: eval {a:.1e}, simulation {b:.1e}" for name, a, b in rows if not (a <= 1e-12 and b <= 1e-8)]


# ---- kernels -----------------------------------------------------------------------------------------------------------


def kernels(directory):
    programs = {"before": directory / "bench/kernel_fmu", "now": builds.RELEASE / "bench/kernel_fmu"}
    jobs = {(robot, algorithm, which): (lambda program=program, robot=robot, algorithm=algorithm: callgrind.instructions(
                [program, builds.ROOT / f"resources/{robot}.json", algorithm, CALLS]))
            for robot in KERNELS for algorithm in ALGORITHMS for which, program in programs.items()}
    counted, missed = measure.side_by_side(jobs, "kernels"), []
    for robot in KERNELS:
        for algorithm in ALGORITHMS:
            before, now = counted[robot, algorithm, "before"], counted[robot, algorithm, "now"]
            print(f"{robot:14} {algorithm:12} {before / CALLS:10.0f} {now / CALLS:10.0f}   {now / before:.4f}")
            if now > 1.00005 * before: missed.append(f"{robot} {algorithm}: {now / before:.4f} of the instructions")
    return missed


# ---- whole simulations -------------------------------------------------------------------------------------------------


def whole(directory):
    """Steps at rtol 1e-6, and the static linearization"""
    before, now = runs.Program("before", directory / "limber"), runs.Program("now", builds.RELEASE / "limber")
    arm = lambda name, until: runs.Simulated(problems.resource(name), until, 0.1 * until)
    cases = {"forced Canadarm": (problems.forced_canadarm(), 1.02),
             "the same, 6 Craig-Bampton": (problems.forced_canadarm(problems.CRAIG_BAMPTON), 1.02),
             "the same with foreshortening": (problems.forced_canadarm(problems.CRAIG_BAMPTON, True), 1.02),
             **{f"struck {name}": (problems.struck(before.limber, name, 0.5, 0.1), 1.02) for name in problems.STRUCK},
             **{f"chain of {n} links": (problems.chain(n, 1e-3), 1.02) for n in (4, 16)},
             **{name: (arm(name, 1), 1.02) for name in ("crane", "four-bar", "dualemps", "concrete-pump")},
             **{name: (arm(name, 0.5), 0.70) for name in ("crane-drives", "concrete-pump-drives")}}
    jobs = {(name, program.name): (lambda problem=problem, program=program: problem.run(program, 1e-6, counted=True).cost)
            for name, (problem, _) in cases.items() for program in (before, now)}
    driven = builds.ROOT / "resources/concrete-pump-drives.json"
    for program in (before, now):
        jobs["linearize --static", program.name] = lambda program=program: callgrind.instructions(
            [program.limber, "linearize", "--static", driven], "main")
    counted, missed = measure.side_by_side(jobs, "whole simulations"), []
    for name, bound in [*((name, bound) for name, (_, bound) in cases.items()), ("linearize --static", 0.50)]:
        ratio = counted[name, "now"] / counted[name, "before"]
        print(f"{name:30} {counted[name, 'before'] / 1e6:10.1f} M {counted[name, 'now'] / 1e6:10.1f} M   {ratio:.4f}")
        if ratio > bound: missed.append(f"{name}: {ratio:.4f} of the instructions, at most {bound}")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default=COMMIT)
    parser.add_argument("--only", choices=("results", "kernels", "problems"))
    options = parser.parse_args()
    directory = built(options.commit)
    parts = {"results": results, "kernels": kernels, "problems": whole}
    missed = [line for name, part in parts.items() if options.only in (None, name) for line in part(directory)]
    print(*[f"MISSED: {line}" for line in missed] or [f"unchanged since {options.commit}"], sep="\n")
    return bool(missed)


if __name__ == "__main__": sys.exit(main())
