#!/usr/bin/env python3
"""Cost and error of the integration: tolerance, order, exact Jacobian, inputs that change at every step, energy over 20 s.

    build/out/venv/bin/python bench/integration.py [forced] [orders] [jacobian] [inputs] [energy] [--write-docs]

Without a name it runs all parts, which takes ten minutes or more. --write-docs writes the output to docs/integration.md. CPU
seconds are those of one thread on an otherwise idle machine."""

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
LONGEST = 30  # time limit of one run [s]
TIP = [f"tip.position[{i}]" for i in (1, 2, 3)]


def simulate(robot, until, step, rtol, inputs=None, start=None, longest=LONGEST, **settings):
    """({variable: values}, statistics) of `limber simulate`; (None, reason) if it takes too long or fails."""
    command = [LIMBER, "simulate", robot, "--until", until, "--step", step, "--rtol", rtol, "--stats"]
    command += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    if inputs: command += ["--inputs", inputs]
    if start: command += ["--at", "-"]
    try:
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, input=json.dumps(start), timeout=longest)
    except subprocess.TimeoutExpired:
        return None, f"> {longest}"
    if result.returncode == 3: return None, "fails"
    if result.returncode: sys.exit(result.stderr)
    return columns(result.stdout), json.loads(result.stderr.splitlines()[-1])


def columns(text):
    """{name: values} of a CSV."""
    rows = list(csv.reader(text.splitlines()))
    return dict(zip(rows[0], np.array(rows[1:], float).T))


page = []


def say(text):
    """Adds text to the page and prints it."""
    page.append(text)
    print(text, flush=True)


# ---- tolerance ------------------------------------------------------------------------------------------------------


def forced(folder):
    say("\n## Error against tolerance\n\n"
        "The forced Canadarm, 10 s, rows of torque every 1 ms, against a trajectory that was integrated by another program at 1e-10\n"
        "(whose own error is about 1e-7 m).\n\n"
        "| rtol | steps | right-hand sides | CPU s | tip [m] | joints [rad] |\n| ---: | ---: | ---: | ---: | ---: | ---: |")
    data = ROOT / "tests/data/canadarm-forced"
    reference = columns((data / "trajectory.csv").read_text())
    for rtol in [10.0 ** -k for k in range(3, 10)]:
        result, stats = simulate(ROOT / "resources/canadarm.json", 10, 0.01, rtol, inputs=data / "torques.csv")
        tip, joints = (max(np.abs(result[x] - reference[x]).max() for x in reference if chosen(x))
                       for chosen in (TIP.__contains__, lambda x: x.endswith("_joint.q")))
        say(f"| {rtol:.0e} | {stats['steps']} | {stats['rhs']} | {stats['cpu_seconds']:.3f} | {tip:.1e} | {joints:.1e} |")


# ---- order and tolerance --------------------------------------------------------------------------------------------


def canadarms(folder):
    """The forced Canadarm: as it is, with 1 % damping, with six Craig-Bampton coordinates per link."""
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
    say("\n## Order and tolerance\n\nTorques are piecewise linear over 0.1 s, so that the rows of the input file do not limit the steps. `solver.max_order` is the first column.")
    lines = (ROOT / "tests/data/canadarm-forced/torques.csv").read_text().splitlines()
    inputs = folder / "torques.csv"
    inputs.write_text("\n".join([lines[0], *lines[1::100]]) + "\n")
    for name, robot in canadarms(folder):
        reference, _ = simulate(robot, 10, 0.1, 1e-10, inputs=inputs, longest=300, **{"solver.max_order": 5})
        say(f"\nForced Canadarm, 10 s, {name}:\n\n| max. order | rtol | steps | right-hand sides | CPU s | error at the tip [m] |\n"
            "| ---: | ---: | ---: | ---: | ---: | ---: |")
        for order in 2, 3, 5:
            for rtol in [10.0 ** -k for k in range(3, 10)]:
                result, stats = simulate(robot, 10, 0.1, rtol, inputs=inputs, **{"solver.max_order": order})
                if result is None: say(f"| {order} | {rtol:.0e} | | | {stats} | |")
                else:
                    error = max(np.abs(result[x] - reference[x]).max() for x in TIP) if reference else math.nan
                    say(f"| {order} | {rtol:.0e} | {stats['steps']} | {stats['rhs']} | {stats['cpu_seconds']:.3f} | {error:.1e} |")


# ---- inputs that change at every step -------------------------------------------------------------------------------

TORQUES = {"canadarm": {"upper_joint.tau": lambda t: 400 * (1 - math.cos(2.1 * t)),
                        "lower_joint.tau": lambda t: 200 * (1 - math.cos(3.7 * t)),
                        "wrist_joint.tau": lambda t: 100 * (1 - math.cos(5 * t))},
           "cibicik": {"slew.tau": lambda t: 20 * math.sin(t), "boom_joint.tau": lambda t: 150 + 30 * math.sin(2 * t),
                       "jib_joint.tau": lambda t: 30 * math.sin(3 * t), "hand_joint.tau": lambda t: 2 * math.sin(5 * t)}}


def cpu_of_run(package, torques, until, h, way, rtol=1e-6):
    """CPU seconds of the steps; `way`: inputs `held` constant over each step, or with their derivatives (`slopes`)."""
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
    say("\n## Inputs that change at every step\n\nSimulated seconds per CPU second, rtol 1e-6, through the FMU.\n\n"
        "| robot | one step | constant inputs, new every 1 ms | ratio | with derivatives, new every 1 ms | ratio |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, until in ("canadarm", 5.0), ("cibicik", 2.0):
        fmu = folder / f"{name}.fmu"
        subprocess.run([LIMBER, "fmu", ROOT / f"resources/{name}.json", "-o", fmu], check=True, capture_output=True)
        with zipfile.ZipFile(fmu) as archive: archive.extractall(folder / name)
        package = Package(folder / name)
        one, held, slopes = (until / min(cpu_of_run(package, TORQUES[name], until, h, way) for _ in range(5))
                             for h, way in ((until, "slopes"), (0.001, "held"), (0.001, "slopes")))
        say(f"| {name} | {one:.1f} | {held:.1f} | {one / held:.2f} | {slopes:.1f} | {one / slopes:.2f} |")


# ---- energy ---------------------------------------------------------------------------------------------------------

STRUCK = {"canadarm": ([0] * 9, 3, 5.0), "canadarm-spatial": ([0] * 15, 5, 5.0),
          "cibicik": ([0, 0.52] + [0] * 6 + [2.09] + [0] * 6 + [0.52], 1, 0.5), "lin-lewis": ([0] * 16, 0, 1e-3),
          "chain-7": ([0] * 7, 3, 5.0), "twisted-7": ([0] * 7, 3, 5.0)}


def energy(folder):
    say("\n## Energy\n\nDrift over 20 s of free motion after an impulse on a joint, without damping and gravity, relative to the largest kinetic energy;\n"
        "reduction is the ratio to the drift at the tolerance before. An impulse excites all modes equally. If the fastest of them hold most of the\n"
        "energy, as in Lin and Lewis's link (15 modes, up to 1.7 kHz), a loose tolerance damps them out.\n\n"
        "| robot | rtol | steps | CPU s | drift | reduction |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, (q, coordinate, joule) in STRUCK.items():
        robot = ROOT / f"resources/{name}.json"
        state = subprocess.run([LIMBER, "eval", robot, "-"], input=json.dumps({"q": q}), capture_output=True, text=True, check=True)
        M = np.array(json.loads(state.stdout)["mass_matrix"])
        qd = np.linalg.solve(M, np.eye(len(M))[coordinate])
        start = {"q": q, "qd": (qd * math.sqrt(2 * joule / (qd @ M @ qd))).tolist()}
        before = math.nan
        for rtol in [10.0 ** -k for k in range(4, 10)]:
            result, stats = simulate(robot, 20, 0.1, rtol, start=start, **{f"gravity[{i}]": 0 for i in (1, 2, 3)})
            if result is None: say(f"| {name} | {rtol:.0e} | | {stats} | | |")
            else:
                drift = np.abs(result["energy.total"] - result["energy.total"][0]).max() / result["energy.kinetic"].max()
                fell = "" if math.isnan(before) else f"{before / drift:.1f}"
                say(f"| {name} | {rtol:.0e} | {stats['steps']} | {stats['cpu_seconds']:.2f} | {drift:.1e} | {fell} |")
                before = drift


def jacobian(folder):
    say("\n## Exact Jacobian against differences\n\nTwo seconds of free motion at rtol 1e-6 from a start with bent links and moving joints. The Jacobian is computed by tangents of the recursion and by\n"
        "forward differences of the right-hand side (whose evaluations are included); the Newton iteration is the same. Error: tip against rtol 1e-10.\n\n"
        "| robot | Jacobian | steps | right-hand sides | Jacobians | CPU s | error at the tip [m] |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in "canadarm", "cibicik":
        command = [ROOT / "build/out/bench/jacobian", ROOT / f"resources/{name}.json"]
        for row in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines(): say(f"| {name} | {row} |")


HEAD = """# Integration

Generated by `build/out/venv/bin/python bench/integration.py --write-docs`; do not edit.

CVODE (BDF, Newton with the exact Jacobian) is part of every FMU. If links bend or joints have springs or stops, its order is at most 2 for
rtol above 2e-6. Otherwise it is at most 5, at a tenth of the requested tolerance. The tables show why. CPU seconds are from one machine;
the numbers of steps and right-hand sides are the same in every run."""


def main():
    parts = {"forced": forced, "orders": orders, "jacobian": jacobian, "inputs": inputs, "energy": energy}
    words = [word for word in sys.argv[1:] if word != "--write-docs"]
    if any(word not in parts for word in words): sys.exit(__doc__)
    write = len(words) < len(sys.argv) - 1
    if write and words: sys.exit("integration.py: --write-docs needs all parts: give no names")
    with tempfile.TemporaryDirectory() as folder:
        for word in words or parts: parts[word](Path(folder))
    if write: (ROOT / "docs/integration.md").write_text("\n".join([HEAD, *page]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
