#!/usr/bin/env python3
"""Instructions of generated code and of the library (callgrind).

    generated.py    writes the tables into docs/generate.md

One call of the forward dynamics: same compiler and flags (AVX2). The states are those of the generated test program; the library's are those
of bench/kernel. Sines and cosines count with what the C library runs for them.

Steps of an FMU, with generated code and without it: the calls of fmi2DoStep in bench/host.c. Torques, forces and wrenches are
constant."""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import builds
import callgrind

ROOT = builds.ROOT
sys.path.insert(0, str(ROOT / "docs/tools"))
from markdown_page import table

ROBOTS = {"chain-7": "3399", "twisted-7": "5392", "canadarm": "half of the library", "cibicik": "half of the library", "dualemps": ""}
CALLS = 20
SIMULATED = ["canadarm", "cibicik", "crane", "dualemps", "chain-7", "cibicik-servo-drives"]
STEP, STEPS = 0.01, 100


def library(robot):
    return callgrind.instructions([builds.RELEASE / "bench/kernel", ROOT / f"resources/{robot}.json", "forward", CALLS]) / CALLS


def generated(robot, folder):
    """Compiles the generated test program with the flags of the library; only calls of the forward dynamics count."""
    compiler, _, flags = builds.compiler()
    subprocess.run([builds.RELEASE / "limber", "generate", ROOT / f"resources/{robot}.json", "-o", folder], check=True, capture_output=True)
    test = next(Path(folder).glob("*_test.c"))
    prefix, program = test.name[:-len("_test.c")], Path(folder) / "program"
    states = int(re.search(r"STATES = (\d+)", test.read_text(encoding="utf-8"))[1])
    subprocess.run([compiler, *flags, *Path(folder).glob("*.c"), "-lm", "-o", program], check=True)
    return callgrind.instructions([program], f"{prefix}_forward") / states


def steps(robot, folder, *options):
    """Instructions of all steps of a simulation."""
    subprocess.run([builds.RELEASE / "limber", "fmu", ROOT / f"resources/{robot}.json", "-o", folder / "x.fmu", *options], check=True,
                   capture_output=True)
    with zipfile.ZipFile(folder / "x.fmu") as archive: archive.extractall(folder)
    root = ET.parse(folder / "modelDescription.xml").getroot()
    library = folder / "binaries/linux64" / f"{root.find('CoSimulation').get('modelIdentifier')}.so"
    variables = root.findall("ModelVariables/ScalarVariable")
    pushed = [v.get("valueReference") for v in variables if v.get("causality") == "input"
              and v.get("name").split("[")[0].split(".")[-1] in ("tau", "force", "torque")]
    tip = next(v.get("valueReference") for v in variables if v.get("name") == "tip.position[1]")
    lines = [f"step {STEP} {STEPS} {STEPS}", "couple 0 0 0", f"fmu {library} {root.get('guid')} {(folder / 'resources').as_uri()} 0",
             *[f"real 0 {reference} {(-1) ** i * (1 + 0.3 * (i % 4))}" for i, reference in enumerate(pushed)], f"record 0 {tip}"]
    (folder / "job").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return callgrind.instructions([builds.RELEASE / "bench/host", folder / "job"])


def simulations():
    rows = []
    for robot in SIMULATED:
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            ours, theirs = steps(robot, Path(a), "--generated"), steps(robot, Path(b))
        rows.append([robot, f"{ours / 1e6:.1f}", f"{theirs / 1e6:.1f}", f"{ours / theirs:.2f}"])
    return table(["robot", "generated code, 1e6", "library, 1e6", "ratio"], rows)


def calls():
    rows = []
    for robot, target in ROBOTS.items():
        with tempfile.TemporaryDirectory() as folder: ours, theirs = generated(robot, folder), library(robot)
        rows.append([robot, f"{ours:.0f}", f"{theirs:.0f}", f"{ours / theirs:.2f}", target])
    return table(["robot", "generated", "library", "ratio", "to beat"], rows)


def write(page, name, part, by="bench/generated.py"):
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- begin {name}: measured by {by}, do not edit -->", f"<!-- end {name} -->"
    before, after = text.split(begin)[0], text.split(end)[1]
    page.write_text(f"{before}{begin}\n\n{part}\n\n{end}{after}", encoding="utf-8")
    print(part)


def main():
    builds.release()
    builds.build(builds.RELEASE, targets=("limber_fmu", "generated_fmu", "bench_host"))
    page = ROOT / "docs/generate.md"
    write(page, "simulations", simulations())
    write(page, "instructions", calls())


if __name__ == "__main__":
    main()
