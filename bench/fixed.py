"""Fixed steps (solver.fixed_step) through the FMU: instructions and time of each fmi2DoStep, and the error by step.

usage: fixed.py [--only NAME ...] [--methods NAME ...] [--steps N] [--runs N] [--no-instructions] [--no-errors]

Each row is one FMU, stepped by host.c with H = fixed_step = 1 ms and inputs that change at every step. Exit code 1 means that a bound
was missed. Results go to build/out/bench/fixed.json. With all robots, methods and steps it takes about half an hour."""

import argparse
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import builds
import numpy as np
import problems
import runs

H = 1e-3
METHODS = {"ESDIRK": None, "symmetric": "symmetric"}  # solver.method 0, which is ESDIRK in fixed steps, and 4
STEPS = {4e-3: (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4), 1e-3: (1e-3, 5e-4, 2.5e-4)}  # inputs held for: fixed steps
TIGHT = 1e-10
WORST_INSTRUCTIONS = 3  # times the median
LATE_TIME = 3           # the 99.9th percentile, times the median
REAL_TIME_PRIORITY = 10
OUT = builds.RELEASE / "bench/fixed.json"


def say(text=""):
    print(text, flush=True)


# ---- the robots ----------------------------------------------------------------------------------------------------------------


@dataclass
class Axis:
    """input = force(t) + kp (start - q) - kd qd, held over a step"""
    input: str
    q: str
    qd: str
    start: float
    kp: float
    kd: float
    force: callable


def joint(name, start, kp, kd, robot):
    return Axis(f"{name}.tau", f"{name}.q", f"{name}.qd", start, kp, kd, problems.TORQUES[robot][f"{name}.tau"])


def cylinder(name, start, kp, kd, hold, share, omega):
    """`hold` balances gravity at the start"""
    return Axis(f"{name}.force", f"{name}.length", f"{name}.rate", start, kp, kd, lambda t: hold * (1 + share * math.sin(omega * t)))


@dataclass
class Robot:
    """`seconds` of the runs whose error is measured, without the controller: with force(t) alone or, if `replayed`, the inputs of a
    controlled run. `median`: bound on the median time of a step [s]. `bounded`: the bounds on steps apply"""
    name: str
    axes: list
    joints: list
    seconds: float
    median: float = math.inf
    replayed: bool = False
    bounded: bool = True

    def component(self, step):
        return {"arm": ("fmu", problems.RESOURCES / f"{self.name}.json", {"solver.fixed_step": step} if step else {})}

    def recorded(self):
        return tuple(("arm", name) for name in (*runs.TIP, *(f"{joint}.q" for joint in self.joints)))

    def controlled(self, steps):
        """H = fixed_step, inputs from a controller at each step. As references: force/kp + start, and rate 0"""
        table = np.array([[*(axis.start + axis.force(i * H) / axis.kp for axis in self.axes), 0] for i in range(steps + 1)])
        controls = [("arm", axis.input, axis.q, axis.qd, axis.kp, axis.kd, i, len(self.axes)) for i, axis in enumerate(self.axes)]
        return runs.Hosted(self.component(H), H, steps, 100, table=table, controls=controls, recorded=self.recorded())

    def controlled_inputs(self, program):
        """A row for each millisecond"""
        problem = self.controlled(round(self.seconds / H) + 1)
        problem.components, problem.every = self.component(0), 1
        problem.recorded = tuple(("arm", axis.input) for axis in self.axes)
        return problem.run(program, TIGHT, "esdirk").tip[1:]

    def inputs(self, program, held):
        if self.replayed: return self.controlled_inputs(program)[::round(held / H)]
        return np.array([[axis.force(i * held) for axis in self.axes] for i in range(round(self.seconds / held) + 1)])

    def driven(self, program, held, step):
        """Given inputs, held for a time. step 0: by the tolerance"""
        table = self.inputs(program, held)
        steps = len(table) - 1
        return runs.Hosted(self.component(step), held, steps, round(4e-3 / held), table=table,
                           inputs={("arm", axis.input): i for i, axis in enumerate(self.axes)}, recorded=self.recorded())


@dataclass
class Loop(Robot):
    """DualEMPS along a circle: a closed loop, dry friction and a controller, which is part of all of its runs"""

    def controlled(self, steps):
        return self.along_circle(H, H, steps * H)

    def driven(self, program, held, step):
        return self.along_circle(held, step, self.seconds) if held == H else None

    def along_circle(self, held, step, seconds):
        problem = problems.dualemps("circle", seconds)
        kind, source, _ = problem.components["arm"]
        problem.components = {"arm": (kind, source, {"solver.fixed_step": step} if step else {})}
        problem.every = round(4e-3 / held)
        problem.recorded = self.recorded()
        return problem


CIBICIK = ["slew", "boom_joint", "jib_joint", "hand_joint"]
CIBICIK_AXES = [joint("slew", 0, 100, 20, "cibicik"), joint("boom_joint", math.pi / 6, 1000, 40, "cibicik"),
                joint("jib_joint", 2 * math.pi / 3, 200, 20, "cibicik"), joint("hand_joint", math.pi / 6, 20, 1, "cibicik")]

ROBOTS = {
    "canadarm": Robot("canadarm", [joint("upper_joint", 0, 2000, 2000, "canadarm"), joint("lower_joint", 0, 1000, 700, "canadarm"),
                                   joint("wrist_joint", 0, 500, 200, "canadarm")], ["upper_joint", "lower_joint", "wrist_joint"], 5, 20e-6),
    "cibicik": Robot("cibicik", CIBICIK_AXES, CIBICIK, 2, replayed=True),
    "crane": Robot("crane", [cylinder("lift", 1.86715, 2e5, 5e4, 15918.929, 0.1, 3), cylinder("fold", 1.238366, 1e5, 1e4, -4516.412, 0.2, 5)],
                   ["boom_joint", "jib_joint"], 2),
    "dualemps": Loop("dualemps", [], ["slide1", "slide2", "pivot1", "pivot2"], 5, bounded=False),
}
# The torques alone: within 0.7 s the arm swings round and the hand turns by 50 rad/s
WHIRLED = Robot("cibicik", CIBICIK_AXES, CIBICIK, 2)


# ---- each step -----------------------------------------------------------------------------------------------------------------


def job_file(problem, program, method):
    return runs.stored("\n".join(problem.job(program, None, method)) + "\n", ".job")


def occupy(core):
    """On one core, before other processes where the system permits that"""
    os.sched_setaffinity(0, {core})
    try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REAL_TIME_PRIORITY))
    except PermissionError: pass


def times(job, repetitions):
    """Times of the steps [s] in the run that was disturbed least, by the 99.9th percentile; the least of all runs, step by step; printed
    rows. Runs are alike: what is longer in one of them alone is the system."""
    file, found, cores = runs.FOLDER / "times", [], sorted(os.sched_getaffinity(0))
    for i in range(repetitions):
        core = cores[-1 - i % len(cores)]
        done = subprocess.run([runs.HOST, job, file], capture_output=True, text=True, preexec_fn=lambda: occupy(core))
        if done.returncode: raise runs.Broken(done.stderr.strip()[-300:])
        found.append(1e-9 * np.fromfile(file))
    return min(found, key=lambda spent: np.percentile(spent, 99.9)), np.min(found, axis=0), done.stdout


def instructions(job):
    """Instructions of each step: callgrind counts inside fmi2DoStep and tells the sum after each step"""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", "--collect-atstart=no", "--toggle-collect=measured_*",
               runs.HOST, job, os.devnull]
    environment = dict(os.environ, LD_BIND_NOW="1")
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment) as running:
        sums = [int(line.split()[1]) for line in running.stderr if re.match(r"events-1: ", line)]
    if running.returncode or not sums: raise runs.Broken(f"callgrind: exit code {running.returncode}, {len(sums)} counts")
    return np.diff([0, *sums])


def distribution(values):
    return {"median": float(np.median(values)), "percentile_99_9": float(np.percentile(values, 99.9)), "worst": float(values.max()),
            "worst_at": int(values.argmax()), "least": float(values.min())}


def measured_steps(robot, program, method, given):
    job = job_file(robot.controlled(given.steps), program, METHODS[method])
    spent, least, printed = times(job, given.runs)
    rows = np.array([line.split(",") for line in printed.splitlines()], float)
    result = {"robot": robot.name, "bounded": robot.bounded, "method": method, "steps": len(spent), "time": distribution(spent),
              "least_time": distribution(least), "runs": given.runs,
              "range": dict(zip(robot.joints, (rows[:, 3:].max(0) - rows[:, 3:].min(0)).tolist()))}
    if not given.no_instructions: result["instructions"] = distribution(instructions(job))
    return result


def missed(robot, result):
    """The bounds that were missed"""
    time, count = result["time"], result.get("instructions")
    if not robot.bounded: return
    where = f"{robot.name}, {result['method']}"
    if METHODS[result["method"]] is None and not time["median"] < robot.median:
        yield f"{where}: median {1e6 * time['median']:.1f} us, bound {1e6 * robot.median:g} us"
    if not time["percentile_99_9"] <= LATE_TIME * time["median"]:
        least = result["least_time"]
        yield (f"{where}: 99.9th percentile {time['percentile_99_9'] / time['median']:.2f} times the median time, bound {LATE_TIME} "
               f"({least['percentile_99_9'] / least['median']:.2f} in the least times of {result['runs']} runs: what is above that is the system)")
    if count and not count["worst"] <= WORST_INSTRUCTIONS * count["median"]:
        yield f"{where}: worst {count['worst'] / count['median']:.2f} times the median instructions, bound {WORST_INSTRUCTIONS}"


def steps_row(result):
    time, least, count = result["time"], result["least_time"], result.get("instructions")
    us = lambda seconds: f"{1e6 * seconds:.1f}"
    counts = f"{count['median']:.0f} | {count['worst']:.0f} | {count['worst'] / count['median']:.2f}" if count else "- | - | -"
    return (f"| {result['robot']} | {result['method']} | {us(time['median'])} | {us(time['percentile_99_9'])} | "
            f"{time['percentile_99_9'] / time['median']:.2f} | {us(time['worst'])} | {us(least['percentile_99_9'])} | {us(least['worst'])} | {counts} |")


# ---- errors --------------------------------------------------------------------------------------------------------------------


def distances(rows, reference):
    """(largest distance of the tip [m], largest error of a joint [rad or m])"""
    change = rows - reference
    return float(np.linalg.norm(change[:, :3], axis=1).max()), float(np.abs(change[:, 3:]).max())


def errors(robot, name, program, held, methods):
    """A result for each method and step; the first, of CVODE at the tight tolerance, is the error of the reference"""
    exact = robot.driven(program, held, 0)
    if exact is None: return
    reference = exact.run(program, TIGHT, "esdirk").tip
    result = lambda method, step, **error: {"robot": name, "held": held, "method": method, "step": step, **error}
    yield result("CVODE", 0, **errors_of(exact, program, "cvode", reference, TIGHT))
    for method in methods:
        for step in STEPS[held]:
            yield result(method, step, **errors_of(robot.driven(program, held, step), program, METHODS[method], reference))


def errors_of(problem, program, word, reference, rtol=None):
    try: tip, joint = distances(problem.run(program, rtol, word).tip, reference)
    except runs.Broken as failure: return {"failure": reason(failure)}
    return {"tip": tip, "joint": joint} if np.isfinite(tip) else {"failure": "not finite"}


def reason(failure):
    """When and why the FMU gave up, without the names of files"""
    found = re.search(r"at t = [^;(\n]*", str(failure))
    return found[0].strip() if found else str(failure).strip().splitlines()[-1]


def errors_row(result):
    step = f"{1e3 * result['step']:g}" if result["step"] else f"rtol {TIGHT:g}"
    values = f"{result['tip']:.1e} | {result['joint']:.1e}" if "tip" in result else f"{result['failure']} | -"
    return f"| {result['robot']} | {1e3 * result['held']:g} | {result['method']} | {step} | {values} |"


# ---- command line --------------------------------------------------------------------------------------------------------------


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=ROBOTS, help="robots")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--runs", type=int, default=5, help="runs whose time is measured; the one least disturbed is reported")
    parser.add_argument("--no-instructions", action="store_true")
    parser.add_argument("--no-errors", action="store_true")
    return parser.parse_args()


def processor():
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return {key: re.search(rf"{key}\s*: (.*)", text)[1] for key in ("model name", "cpu MHz")}


def measure_steps(chosen, program, given):
    """([result], [bound that was missed])"""
    results, failed = [], []
    say("| robot | method | median [us] | 99.9 % [us] | / median | worst [us] | least of all runs: 99.9 % [us] | worst [us] "
        "| median [instructions] | worst | / median |\n| --- | --- |" + 9 * " ---: |")
    for robot in chosen:
        for method in given.methods:
            try: result = measured_steps(robot, program, method, given)
            except runs.Broken as failure:
                failed.append(f"{robot.name}, {method}: {reason(failure)}")
                continue
            results.append(result)
            failed += missed(robot, result)
            say(steps_row(result))
    return results, failed


def measure_errors(chosen, program, methods):
    results = []
    say("| robot | inputs held for [ms] | method | step [ms] | tip [m] | joints [rad, m] |\n| --- | ---: | --- | ---: | ---: | ---: |")
    named = {robot.name: robot for robot in chosen}
    if "cibicik" in named: named["cibicik whirled"] = WHIRLED
    for name, robot in named.items():
        for held in STEPS:
            for result in errors(robot, name, program, held, methods):
                results.append(result)
                say(errors_row(result))
    return results


def main():
    given = parse()
    builds.build(builds.RELEASE, targets=("limber_cli", "limber_fmu", "bench_host"))
    program = runs.Program("now", builds.RELEASE / "limber")
    chosen = [robot for name, robot in ROBOTS.items() if not given.only or name in given.only]
    found = {"processor": processor()}
    say(f"## fmi2DoStep with H = solver.fixed_step = 1 ms, {given.steps} steps; {', '.join(found['processor'].values())} MHz\n")
    found["steps"], failed = measure_steps(chosen, program, given)
    if not given.no_errors:
        say("\n## Largest error against a run at a tight tolerance with the same held inputs\n")
        found["errors"] = measure_errors(chosen, program, given.methods)
    found["missed"] = failed
    OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    say("\n" + ("\n".join(f"missed: {text}" for text in failed) or "all bounds are met"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
