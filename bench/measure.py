"""Instructions, operations and times.

Instructions and operations are counted in two programs at a time; times are measured with nothing else running."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from math import log
from pathlib import Path

import arms
import builds
import callgrind
import opcount

LINKS = (1, 2, 4, 8, 16, 32, 64)
MODES = {0: (0, 0), 2: (2, 0), 4: (2, 2), 8: (4, 4)}       # elastic coordinates of a link: modes along y, along z
RIVAL_LINKS, RIVAL_MODES = 8, {5: (3, 2), 10: (5, 5)}
FIT_FROM = 8                                               # links; in shorter arms the first and the last link dominate
RIGID = ("chain-7", "twisted-7")
JACOBIAN = ("cibicik", "canadarm", "canadarm-spatial")       # robots whose full Jacobian is measured
TERMS = ("full", "linear", "ruthless")
ALGORITHMS = ("forward", "composite")
DERIVED = ("forward", "derivatives")
CALLS = 2                                                  # states over which a count is averaged

# 256 dependent multiplications, three cycles each on every x86-64 core of the last fifteen years
CLOCK = r"""
#include <stdio.h>
#include <time.h>
#define X4(x) x x x x
int main(void)
{
    double best = 1e30;
    for (int batch = 0; batch < 2000; batch++) {
        struct timespec from, to;
        unsigned long x = 3;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < 40; i++) __asm__ volatile(X4(X4(X4(X4("imul %0, %0\n\t")))) : "+r"(x));
        clock_gettime(CLOCK_MONOTONIC, &to);
        const double ns = 1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
        if (ns < best) best = ns;
    }
    printf("%.6g\n", 40 * 256 * 3 / best);
    return 0;
}
"""


class Failed(RuntimeError):
    """A measured program failed."""


class Progress:
    """A progress line, on a terminal only."""

    def __init__(self, total, what):
        self.total, self.what, self.done, self.shown = total, what, 0, sys.stderr.isatty()

    def step(self, name):
        self.done += 1
        if self.shown: print(f"\r{f'[{self.done}/{self.total}] {self.what}: {name}':78}", end="", file=sys.stderr, flush=True)
        if self.shown and self.done == self.total: print(f"\r{'':78}\r", end="", file=sys.stderr, flush=True)


# ---- one measurement ----------------------------------------------------------------------------------------------


def side_by_side(jobs, what):
    """{key: result} of the jobs {key: function}, in their order. Runs two at a time if there are two cores."""
    progress = Progress(len(jobs), what)

    def work(item):
        answer = item[1]()
        progress.step(item[0])
        return answer

    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        return dict(zip(jobs, pool.map(work, jobs.items())))


def instructions(build, robot, algorithm, terms=None, calls=CALLS, kernel="kernel"):
    """Instructions of one call, averaged over a few states. kernel_fmu is the kernel of the FMU build."""
    command = [Path(build) / "bench" / kernel, robot, algorithm, calls, *([terms] if terms else [])]
    return callgrind.instructions(command) / calls


def nanoseconds(build, robot, rounds=3, patience=3.0):
    """forward_ns, composite_ns, inverse_ns, derivatives_ns: the best of a few rounds, or of one if a round takes long."""
    best, start = {}, time.monotonic()
    for _ in range(rounds):
        answer = subprocess.run([Path(build) / "limber", "bench", robot, "--json"], capture_output=True, text=True)
        if answer.returncode != 0: raise Failed(f"limber bench {robot}: exit code {answer.returncode}\n{answer.stderr.strip()}")
        for key, ns in json.loads(answer.stdout).items(): best[key] = min(ns, best.get(key, ns))
        if time.monotonic() - start > patience: break
    return best


def gigahertz(build):
    """The clock rate of a busy core; None if it cannot be measured here."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "clock.c", Path(folder) / "clock"
        source.write_text(CLOCK, encoding="utf-8")
        made = subprocess.run([builds.compiler(build)[0], "-O1", "-std=gnu11", source, "-o", program], capture_output=True)
        if made.returncode != 0: return None
        return float(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


# ---- all measurements -----------------------------------------------------------------------------------------------------


class Study:
    """All measurements of a release and a scalar build: writes the robots, counts, then measures times."""

    def __init__(self, release, scalar, folder, quick):
        self.release, self.scalar, self.robots = release, scalar, Path(folder) / "robots"
        self.links = (8, 16) if quick else LINKS
        self.modes = {m: MODES[m] for m in ((0, 4) if quick else MODES)}
        self.rigid = [name for name in (RIGID[:1] if quick else RIGID) if (builds.ROOT / f"resources/{name}.json").is_file()]
        self.jacobian = JACOBIAN[:1] if quick else JACOBIAN
        self.terms = ("ruthless",) if quick else TERMS

    def run(self):
        growing = {(n, m): arms.write(n, *self.modes[m], self.robots) for m in self.modes for n in self.links}
        rivals = {m: arms.write(RIVAL_LINKS, *yz, self.robots) for m, yz in RIVAL_MODES.items()}
        rigid = {name: builds.ROOT / f"resources/{name}.json" for name in self.rigid}
        differentiated = {name: builds.ROOT / f"resources/{name}.json" for name in self.jacobian}
        counted = arms.write(RIVAL_LINKS, 2, 2, self.robots)

        jobs, of = {}, lambda *arguments, **more: (lambda: instructions(*arguments, **more))
        for key, robot in growing.items():
            for a in ALGORITHMS: jobs[f"{robot.stem} {a}"] = of(self.release, robot, a)
        for m, robot in rivals.items():
            for a in ALGORITHMS:
                jobs[f"{robot.stem} {a}"] = of(self.release, robot, a)
                jobs[f"{robot.stem} {a} FMU"] = of(self.release, robot, a, kernel="kernel_fmu")
                jobs[f"{robot.stem} {a} scalar"] = of(self.scalar, robot, a)
        for name, robot in rigid.items():
            jobs[f"{name} forward"] = of(self.release, robot, "forward")
            jobs[f"{name} forward FMU"] = of(self.release, robot, "forward", kernel="kernel_fmu")
            jobs[f"{name} forward scalar"] = of(self.scalar, robot, "forward")
        for name, robot in differentiated.items():
            for a in DERIVED:
                jobs[f"{name} {a}"] = of(self.release, robot, a)
                jobs[f"{name} {a} FMU"] = of(self.release, robot, a, kernel="kernel_fmu")
        for terms in self.terms: jobs[f"{counted.stem} {terms}"] = of(self.release, counted, "forward", terms)
        count = side_by_side(jobs, "instructions")

        jobs = {(terms, a): (lambda t=terms, a=a: opcount.count_robot(Path(self.scalar) / "bench/kernel", counted, t, a))
                for a in ALGORITHMS for terms in (self.terms if a == "forward" else self.terms[:1])}
        jobs |= {name: (lambda r=robot: opcount.count_robot(Path(self.scalar) / "bench/kernel", r)) for name, robot in rigid.items()}
        operations = side_by_side(jobs, "operations")

        timed = {robot.stem: robot for robot in (*growing.values(), *rivals.values(), *rigid.values(), *differentiated.values())}
        progress, taken = Progress(len(timed), "time"), {}
        for name, robot in timed.items():
            progress.step(name)
            taken[name] = nanoseconds(self.release, robot)

        def row(robot, build="", algorithms=ALGORITHMS):
            row = {a: count[f"{robot.stem} {a}{build}"] for a in algorithms}
            return row | ({} if build else {f"{a}_ns": taken[robot.stem][f"{a}_ns"] for a in algorithms})

        rows = [{"links": n, "elastic": m, "n": n * (1 + m), **row(robot)} for (n, m), robot in growing.items()]
        return {
            "machine": self.machine(),
            "growth": rows,
            "exponents": [exponents(rows, m) for m in self.modes],
            "rivals": [{"links": RIVAL_LINKS, "elastic": m, "build": build, **row(robot, key)}
                       for m, robot in rivals.items() for build, key in (("release", ""), ("FMU", " FMU"), ("scalar", " scalar"))],
            "operations": [{"terms": key[0], "algorithm": key[1], "release_instructions": count.get(f"{counted.stem} {key[0]}")
                            if key[1] == "forward" else None, **result.as_dict()}
                           for key, result in operations.items() if isinstance(key, tuple)],
            "jacobian": [{"robot": name, "build": build, **row(robot, key, DERIVED)}
                         for name, robot in differentiated.items() for build, key in (("release", ""), ("FMU", " FMU"))],
            "rigid": [{"robot": name, "instructions": count[f"{name} forward"], "fmu_instructions": count[f"{name} forward FMU"],
                       "scalar_instructions": count[f"{name} forward scalar"], "forward_ns": taken[name]["forward_ns"],
                       **{kind: operations[name].as_dict()[kind] for kind in opcount.KINDS}} for name in rigid],
        }

    def machine(self):
        compilers = {"release": builds.compiler(self.release), "FMU": builds.compiler(self.release, builds.fmu_target(self.release)),
                     "scalar": builds.compiler(self.scalar)}
        return {"processor": builds.processor(), "gigahertz": gigahertz(self.release), "compiler": compilers["release"][1],
                "flags": {name: " ".join(flags) for name, (_, _, flags) in compilers.items()},
                "valgrind": subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()}


def exponents(rows, elastic, first=FIT_FROM):
    """p in instructions ~ links^p, by least squares in logarithms, from `first` links on."""
    rows = [row for row in rows if row["elastic"] == elastic and row["links"] >= first]
    slope = lambda a: statistics.linear_regression([log(row["links"]) for row in rows], [log(row[a]) for row in rows]).slope
    return {"elastic": elastic, "from": rows[0]["links"], "to": rows[-1]["links"], **{a: slope(a) for a in ALGORITHMS}}
