"""What bench/integration.py measures beside work and precision. Each part returns a result that JSON can hold."""

import copy
import ctypes as ct
import csv
import json
import math
import subprocess
import sys
import time

import builds
import callgrind
import numpy as np
import problems
import runs
import work_precision
from gains import distance
from problems import NO_GRAVITY, STRUCK, TORQUES, forced_torques, resource, struck, table_text
from runs import Simulated

sys.path.insert(0, str(builds.ROOT / "tests/fmu"))
from importer import OK, Instance, Package  # noqa: E402

LONGEST = 300  # time limit of one run [s]


def note(text): print(text, file=sys.stderr, flush=True)


def least(run, times=3):
    """The run with the least CPU time"""
    return min((run() for _ in range(times)), key=lambda each: each.cost)


# ---- ARKODE ------------------------------------------------------------------------------------------------------------------


def arkode(program):
    """Tables of ARKODE at several tolerances; instructions of the cheapest run of each table that attains TARGET."""
    target = 1e-5
    tool = builds.RELEASE / "bench/arkode"
    if not tool.is_file(): return None
    problem = problems.forced_canadarm()
    files = [runs.stored(json.dumps(problem.robot), ".json"), runs.stored(problem.inputs, ".csv")]
    printed = subprocess.run([tool, *files], capture_output=True, text=True, check=True).stdout
    rows = [[cell.strip() for cell in line.split("|")] for line in printed.splitlines()]
    names = "table", "rtol", "steps", "rhs", "jacobians", "seconds", "error"
    points = [{"table": row[0], **{name: float(cell) for name, cell in zip(names[1:], row[1:])}} for row in rows if len(row) == len(names)]
    best = {}
    for point in points:
        if point["error"] <= target and point["seconds"] < best.get(point["table"], {"seconds": math.inf})["seconds"]: best[point["table"]] = point
    for name, point in best.items():
        point["instructions"], _ = callgrind.count([tool, *files, name, point["rtol"]], "integrate*")
    return {"target": target, "best": list(best.values()), "points": points}


# ---- Newton ------------------------------------------------------------------------------------------------------------------


def free(name, until, **settings):
    """A robot of resources/ that moves freely from its start"""
    return Simulated(resource(name), until, 0.1, settings=settings)


def newton(program):
    """Iterations with the articulated matrix and with the exact Jacobian, rtol 1e-6"""
    cases = {"Canadarm, forced": problems.forced_canadarm(), "Cibicik, struck": struck(program.limber, "cibicik", 1, 0.1),
             "chain of 8 links": problems.chain(8, 1e-3), "chain of 32 links": problems.chain(32, 1e-3), "crane": free("crane", 1),
             "DualEMPS (loop)": free("dualemps", 0.2, **{"slide1.qd_start": 0.2}), "four-bar (loop)": free("four-bar", 0.5),
             "parallelogram (loops)": free("parallelogram", 0.2), "two arms (loop)": free("two-arms", 0.5)}
    rows = []
    for (name, problem), method in ((case, method) for case in cases.items() for method in ("esdirk", "cvode")):
        row = {"problem": name, "method": method}
        for way, dense in ("articulated", 0), ("exact", 1):
            this = copy.copy(problem)
            this.settings = {**problem.settings, "solver.dense_jacobian": dense}
            run = least(lambda: this.run(program, 1e-6, method, longest=LONGEST), 2)
            row[way] = {"iterations": run.stats["newton_iterations"], "steps": run.stats["steps"], "seconds": run.cost}
        rows.append(row)
        note(f"  {row}")
    return rows


def orders(program):
    """CVODE with its order limited, on the forced Canadarm"""
    problem = problems.forced_canadarm()
    method, rtol = work_precision.TIGHT[0]
    right = problem.run(program, rtol, method).tip
    rows = []
    for order in 2, 3, 5:
        this = copy.copy(problem)
        this.settings = {"solver.max_order": order}
        for k in range(3, 10):
            run = this.run(program, 10.0**-k, "cvode", longest=LONGEST)
            rows.append({"order": order, "rtol": 10.0**-k, "steps": run.stats["steps"], "error": distance(run.tip, right)})
    return rows


# ---- inputs that jump, saved states ----------------------------------------------------------------------------------------------

STEP = 1e-3
SECONDS = {"canadarm": 5, "cibicik": 2}


def jumps(program, name, method):
    """What a communication step of 1 ms with held torques takes: counts of `limber simulate --hold`"""
    times = [i * STEP for i in range(round(SECONDS[name] / STEP) + 1)]
    text = table_text(["time", *TORQUES[name]], [[t, *(f(t) for f in TORQUES[name].values())] for t in times])
    problem = Simulated(resource(name), SECONDS[name], STEP, text, options=("--hold",))
    stats = problem.run(program, 1e-6, method).stats
    return {key: stats[key] / (len(times) - 1) for key in ("steps", "rhs", "residuals", "restarts", "factorizations")}


def inputs(program):
    """The same torques in one communication step, and in steps of 1 ms: held, or with their derivatives; rtol 1e-6"""
    rows = []
    for name, seconds in SECONDS.items():
        ways = {"smooth": problems.smooth(name, seconds), "held": problems.held(name, seconds),
                "slopes": problems.arm_fmu(name, STEP, round(seconds / STEP), 10, slopes=True)}
        for label, method in work_precision.METHODS.items():
            row = {"robot": name, "method": label, "seconds": seconds, "jumps": jumps(program, name, method)}
            for way, problem in ways.items():
                cost = least(lambda: problem.run(program, 1e-6, method)).cost
                row[way] = {"seconds": cost, "instructions": work_precision.counted(problem, program, 1e-6, method, cost)}
            rows.append(row)
            note(f"  {row}")
    return rows


class Stepped:
    """An FMU in steps of 1 ms with held torques. save: the state is saved before each step; twice: restored, and the step taken again."""

    def __init__(self, package, name, method):
        self.package, self.method = package, method
        self.torques, self.steps = TORQUES[name], round(SECONDS[name] / STEP)

    def run(self, save=False, twice=False):
        """(CPU seconds of a step, end of the tip)"""
        arm = Instance(self.package)
        arm.set_integer("solver.method", runs.METHODS.get(self.method, 0))
        arm.initialise(tolerance=1e-6)
        n, references, state = len(self.torques), arm.references(list(self.torques)), ct.c_void_p()
        u = [(ct.c_double * n)(*(f(i * STEP) for f in self.torques.values())) for i in range(self.steps)]
        start = time.process_time()
        for i in range(self.steps):
            arm.SetReal(references, n, u[i])
            if save or twice: arm.GetFMUstate(ct.byref(state))
            if arm.step(i * STEP, STEP) != OK: raise runs.Broken(str(arm.log))
            if twice:
                arm.SetFMUstate(state)
                if arm.step(i * STEP, STEP) != OK: raise runs.Broken(str(arm.log))
        spent, tip = time.process_time() - start, arm.get(*runs.TIP)
        arm.free()
        return spent / self.steps, tip


def states(program):
    rows = []
    for name in SECONDS:
        fmu = runs.Fmu(program, "fmu", problems.RESOURCES / f"{name}.json")
        package = Package(fmu.library.parents[2])
        for method in "auto", "esdirk", "explicit", "cvode":
            stepped = Stepped(package, name, method)
            ways = {"plain": {}, "saved": {"save": True}, "twice": {"twice": True}}
            found = {way: min((stepped.run(**options) for _ in range(3))) for way, options in ways.items()}
            rows.append({"robot": name, "method": method, **{way: spent for way, (spent, _) in found.items()},
                         "alike": found["plain"][1] == found["saved"][1] == found["twice"][1]})
            note(f"  {rows[-1]}")
    return rows


# ---- accelerations and reactions -------------------------------------------------------------------------------------------------


def equations(program, problem, columns, torques):
    """The largest difference between reported accelerations and those that the equations of motion give at the reported state, relative to
    the range of each; the same for the moment about each joint's axis, which is the torque"""
    accelerations = {name.replace(".qdd", ".q").replace(".etadd", ".eta"): name for name in columns if ".qdd" in name or ".etadd" in name}
    robot, worst = runs.stored(json.dumps(problem.robot), ".json"), 0.0
    order = [name for link in problem.robot["links"] for name in accelerations
             if name == link["joint"]["name"] + ".q" or name.startswith(link["name"] + ".eta[")]
    at = lambda rows, name, t: float(np.interp(t, rows["time"], rows[name]))
    for i in range(0, len(columns["time"]), 50):
        t = columns["time"][i]
        state = {"q": {name: columns[name][i] for name in order},
                 "qd": {velocity: columns[velocity][i] for velocity in (name.replace(".q", ".qd").replace(".eta", ".etad") for name in order)},
                 "tau": [at(torques, link["joint"]["name"] + ".tau", t) for link in problem.robot["links"]]}
        answer = subprocess.run([program.limber, "eval", robot, "-"], input=json.dumps(state), capture_output=True, text=True, check=True)
        for name, qdd in zip(order, json.loads(answer.stdout)["qdd"]):
            worst = max(worst, abs(qdd - columns[accelerations[name]][i]) / np.ptp(columns[accelerations[name]]))
        for link in problem.robot["links"]:
            tau = link["joint"]["name"] + ".tau"
            worst = max(worst, abs(columns[link["name"] + ".root_moment[3]"][i] - at(torques, tau, t)) / np.ptp(torques[tau]))
    return worst


def accelerations(program):
    """Errors relative to the range, forced Canadarm, rows of torque every 1 ms"""
    text = forced_torques(1000)
    problem = Simulated(resource("canadarm"), 10, 0.01, text)
    right = problem.run(program, *reversed(work_precision.TIGHT[0])).columns
    names, *values = csv.reader(text.splitlines())
    torques = dict(zip(names, np.array(values, float).T))
    kinds = {"qdd": ".qdd", "root_force": ".root_force[", "root_moment": ".root_moment["}
    chosen = {kind: [name for name in right if part in name and np.ptp(right[name]) > 1e-6] for kind, part in kinds.items()}
    rows = []
    for rtol in 1e-6, 1e-8:
        for label, method in work_precision.METHODS.items():
            run = problem.run(program, rtol, method, longest=LONGEST)
            row = {"rtol": rtol, "method": label, "equations": float(equations(program, problem, run.columns, torques))}
            for kind, members in chosen.items():
                error, name = max((float(np.abs(run.columns[name] - right[name]).max() / np.ptp(right[name])), name) for name in members)
                row[kind] = {"error": error, "name": name}
            rows.append(row)
            note(f"  {row}")
    return rows


# ---- fixed steps -------------------------------------------------------------------------------------------------------------------

FIXED_STEPS = [2.5e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2]


def fixed(program):
    """Error of the tip against the step, smooth inputs"""
    rows = []
    for name, problem in ("Canadarm, forced", problems.forced_canadarm()), ("chain of 8 links", problems.chain(8, 1e-3)):
        right = problem.run(program, *reversed(work_precision.TIGHT[0])).tip
        for h in FIXED_STEPS:
            row = {"problem": name, "step": h}
            this = copy.copy(problem)
            this.settings = {**problem.settings, "solver.fixed_step": h}
            for method in "esdirk", "symmetric":
                try: error = distance(this.run(program, None, method, longest=LONGEST).tip, right)
                except runs.Broken: error = math.inf
                row[method] = error if math.isfinite(error) else None
            rows.append(row)
            note(f"  {row}")
    return rows


# ---- energy ------------------------------------------------------------------------------------------------------------------------

LOSSES = "viscous", "coulomb", "limits"
MOVING = {"crane": {}, "cibicik-servo": {}, "dualemps": {"slide1.qd_start": 0.2, "slide2.qd_start": -0.1}, "four-bar": {},
          "parallelogram": {}, "two-arms": {}}


def lossless(name):
    robot = resource(name)
    for link in robot["links"]:
        if "beam" in link: link["beam"]["damping_ratio"] = 0
        for loss in LOSSES: link["joint"].pop(loss, None)
    return robot


def conservative(limber):
    """{robot: problem} for every robot of resources/, without losses: struck and without gravity, or let go from its start"""
    found = {name: struck(limber, name, 20, 0.1) for name in STRUCK}
    found.update({name: Simulated(lossless(name), 20, 0.1, settings=start) for name, start in MOVING.items()})
    return found


def drift(columns):
    return float(np.abs(columns["energy.total"] - columns["energy.total"][0]).max() / columns["energy.kinetic"].max())


def energy(program):
    """Drift over 20 s, relative to the largest kinetic energy"""
    rows = []
    for name, problem in conservative(program.limber).items():
        for k in range(4, 9):
            try: run = problem.run(program, 10.0**-k, longest=LONGEST)
            except runs.Broken as failure:
                rows.append({"robot": name, "rtol": 10.0**-k, "failure": str(failure)})
                note(f"  {rows[-1]}")
                if "more than" in str(failure): break
                continue
            rows.append({"robot": name, "rtol": 10.0**-k, "method": run.stats["method"], "steps": run.stats["steps"], "seconds": run.cost,
                         "drift": drift(run.columns)})
            note(f"  {rows[-1]}")
            if run.cost > LONGEST / 6: break
    return rows


# ---- weak points --------------------------------------------------------------------------------------------------------------------


def damping(program):
    """Energy that each method loses or gains in 2 s of the struck Cibicik arm"""
    problem, rows = struck(program.limber, "cibicik", 2, 0.02), []
    for label, method in work_precision.METHODS.items():
        row = {"method": label}
        for k in range(2, 8):
            columns = problem.run(program, 10.0**-k, method, longest=LONGEST).columns
            row[f"{10.0**-k:.0e}"] = float(columns["energy.total"][-1] / columns["energy.total"][0] - 1)
        rows.append(row)
    return rows


def chaos(program):
    """How two runs of the four-bar part: error of the tip until t"""
    problem = Simulated(lossless("four-bar"), 20, 0.1)
    right = problem.run(program, 1e-11, "explicit", longest=LONGEST).tip
    rows = []
    for rtol in 1e-6, 1e-8, 1e-10:
        tip = problem.run(program, rtol, longest=LONGEST).tip
        rows.append({"rtol": rtol, "errors": {str(t): distance(tip[: 10 * t + 1], right[: 10 * t + 1]) for t in (1, 2, 5, 10, 20)}})
    return rows


def reason(program):
    """What automatic says of its choice, on the struck arm"""
    return struck(program.limber, "cibicik", 2, 0.1).run(program).stats["reason"]


PARTS = {"reason": reason, "arkode": arkode, "newton": newton, "orders": orders, "inputs": inputs, "states": states,
         "accelerations": accelerations, "fixed": fixed, "energy": energy, "damping": damping, "chaos": chaos}
