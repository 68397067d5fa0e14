#!/usr/bin/env python3
"""What the integration costs and errs by: order and tolerance, inputs that change at every step, energy over 20 s.

    build/out/venv/bin/python bench/integration.py [orders] [inputs] [energy]

Without a word all of them; some minutes. CPU seconds are those of one thread with nothing else running."""

import csv
import ctypes as ct
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/fmu"))
from importer import OK, Instance, Package  # noqa: E402

LIMBER = os.environ.get("LIMBER", ROOT / "build/out/limber")
LONGEST = 60  # seconds that one run may take
TIP = [f"tip.position[{i}]" for i in (1, 2, 3)]


def simulate(robot, until, step, rtol, inputs=None, start=None, **settings):
    """({variable: values}, statistics) of `limber simulate`; None, None when it takes too long."""
    command = [LIMBER, "simulate", robot, "--until", until, "--step", step, "--rtol", rtol, "--stats"]
    command += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    if inputs: command += ["--inputs", inputs]
    if start: command += ["--at", "-"]
    try:
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, input=json.dumps(start), timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return None, None
    if result.returncode: sys.exit(result.stderr)
    rows = list(csv.reader(result.stdout.splitlines()))
    return dict(zip(rows[0], np.array(rows[1:], float).T)), json.loads(result.stderr.splitlines()[-1])


# ---- order and tolerance --------------------------------------------------------------------------------------------


def canadarms(folder):
    """The forced Canadarm: as it is, with 1 % damping, with six Craig-Bampton coordinates a link."""
    for name, damping, shape in (("damping 0", 0, None), ("damping 1 %", 0.01, None),
                                 ("six Craig-Bampton coordinates, damping 0", 0, {"shape": "craig-bampton", "count": 6})):
        robot = json.loads((ROOT / "resources/canadarm.json").read_text())
        for link in robot["links"]:
            link["beam"]["damping_ratio"] = damping
            if shape: link["beam"]["modes"]["y"] = shape
        file = folder / "canadarm.json"
        file.write_text(json.dumps(robot))
        yield name, file


def orders(folder):
    """Torques in straight pieces of 0.1 s, so that not the rows of the inputs set the steps."""
    lines = (ROOT / "tests/data/canadarm-forced/torques.csv").read_text().splitlines()
    inputs = folder / "torques.csv"
    inputs.write_text("\n".join([lines[0], *lines[1::100]]) + "\n")
    for name, robot in canadarms(folder):
        reference, _ = simulate(robot, 10, 0.1, 1e-11, inputs=inputs, **{"solver.max_order": 5})
        print(f"\nForced Canadarm, 10 s, {name}\n\n| order up to | rtol | steps | right-hand sides | CPU s | error at the tip [m] |\n"
              "| ---: | ---: | ---: | ---: | ---: | ---: |")
        for order in 2, 3, 5:
            for rtol in [10.0 ** -k for k in range(3, 10)]:
                result, stats = simulate(robot, 10, 0.1, rtol, inputs=inputs, **{"solver.max_order": order})
                if result is None: print(f"| {order} | {rtol:.0e} | | | > {LONGEST} | |", flush=True)
                else:
                    error = max(np.abs(result[x] - reference[x]).max() for x in TIP) if reference else math.nan
                    print(f"| {order} | {rtol:.0e} | {stats['steps']} | {stats['rhs']} | {stats['cpu_seconds']:.3f} | {error:.1e} |",
                          flush=True)


# ---- inputs that change at every step -------------------------------------------------------------------------------

TORQUES = {"canadarm": {"upper_joint.tau": lambda t: 400 * (1 - math.cos(2.1 * t)),
                        "lower_joint.tau": lambda t: 200 * (1 - math.cos(3.7 * t)),
                        "wrist_joint.tau": lambda t: 100 * (1 - math.cos(5 * t))},
           "cibicik": {"slew.tau": lambda t: 20 * math.sin(t), "boom_joint.tau": lambda t: 150 + 30 * math.sin(2 * t),
                       "jib_joint.tau": lambda t: 30 * math.sin(3 * t), "hand_joint.tau": lambda t: 2 * math.sin(5 * t)}}


def cpu_of_run(package, torques, until, h, way, rtol=1e-6):
    """CPU seconds of the steps; `way`: inputs `held` over each step, or with their `slopes` (in one go: one straight piece)."""
    instance = Instance(package).initialise(tolerance=rtol)
    names, steps = list(torques), round(until / h)
    n, references = len(names), instance.references(names)
    first = (ct.c_int * n)(*[1] * n)
    at = [[f(i * h) for f in torques.values()] for i in range(steps + 1)]
    u = [(ct.c_double * n)(*row) for row in at]
    slope = [(ct.c_double * n)(*[(b - a) / h for a, b in zip(*pair)]) for pair in zip(at, at[1:])]
    from_ = time.process_time()
    for i in range(steps):
        instance.SetReal(references, n, u[i])
        if way == "slopes": instance.SetRealInputDerivatives(references, n, first, slope[i])
        if instance.step(i * h, h) != OK: sys.exit(str(instance.log))
    spent = time.process_time() - from_
    instance.free()
    return spent


def inputs(folder):
    print("\nSimulated seconds per CPU second, rtol 1e-6\n\n"
          "| robot | in one go | inputs held, new every 1 ms | ratio | with slopes, new every 1 ms | ratio |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, until in ("canadarm", 5.0), ("cibicik", 2.0):
        fmu = folder / f"{name}.fmu"
        subprocess.run([LIMBER, "fmu", ROOT / f"resources/{name}.json", "-o", fmu], check=True, capture_output=True)
        with zipfile.ZipFile(fmu) as archive: archive.extractall(folder / name)
        package = Package(folder / name)
        one, held, slopes = (until / min(cpu_of_run(package, TORQUES[name], until, h, way) for _ in range(2))
                             for h, way in ((until, "slopes"), (0.001, "held"), (0.001, "slopes")))
        print(f"| {name} | {one:.1f} | {held:.1f} | {one / held:.2f} | {slopes:.1f} | {one / slopes:.2f} |", flush=True)


# ---- energy ---------------------------------------------------------------------------------------------------------

STRUCK = {"canadarm": ([0] * 9, 3, 5.0), "canadarm-spatial": ([0] * 15, 5, 5.0),
          "cibicik": ([0, 0.52] + [0] * 6 + [2.09] + [0] * 6 + [0.52], 1, 0.5), "lin-lewis": ([0] * 16, 0, 1e-3),
          "chain-7": ([0] * 7, 3, 5.0), "twisted-7": ([0] * 7, 3, 5.0)}


def energy(folder):
    print("\nDrift of the energy over 20 s of free motion after an impulse on a joint, no gravity, of the largest kinetic energy\n\n"
          "| robot | rtol | steps | CPU s | drift |\n| --- | ---: | ---: | ---: | ---: |")
    for name, (q, coordinate, joule) in STRUCK.items():
        robot = ROOT / f"resources/{name}.json"
        state = subprocess.run([LIMBER, "eval", robot, "-"], input=json.dumps({"q": q}), capture_output=True, text=True, check=True)
        M = np.array(json.loads(state.stdout)["mass_matrix"])
        qd = np.linalg.solve(M, np.eye(len(M))[coordinate])
        start = {"q": q, "qd": (qd * math.sqrt(2 * joule / (qd @ M @ qd))).tolist()}
        for rtol in [10.0 ** -k for k in range(4, 10)]:
            result, stats = simulate(robot, 20, 0.1, rtol, start=start, **{f"gravity[{i}]": 0 for i in (1, 2, 3)})
            if result is None: print(f"| {name} | {rtol:.0e} | | > {LONGEST} | |", flush=True)
            else:
                drift = np.abs(result["energy.total"] - result["energy.total"][0]).max() / result["energy.kinetic"].max()
                print(f"| {name} | {rtol:.0e} | {stats['steps']} | {stats['cpu_seconds']:.2f} | {drift:.1e} |", flush=True)


def main():
    parts = {"orders": orders, "inputs": inputs, "energy": energy}
    unknown = [word for word in sys.argv[1:] if word not in parts]
    if unknown: sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        for word in sys.argv[1:] or parts: parts[word](Path(folder))


if __name__ == "__main__":
    main()
