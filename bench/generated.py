#!/usr/bin/env python3
"""Instructions of one call: generated forward dynamics and the library's, same compiler and flags (callgrind, AVX2).

    generated.py    writes the table into docs/generate.md

The states are those of the generated test program; the library's are those of bench/kernel. Sines and cosines count with what
the C library runs for them."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import builds
import callgrind

ROOT = builds.ROOT
sys.path.insert(0, str(ROOT / "docs/tools"))
from markdown_page import table

ROBOTS = {"chain-7": "3399", "twisted-7": "5392", "canadarm": "half of the library", "cibicik": "half of the library", "dualemps": ""}
CALLS = 20


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


def main():
    builds.release()
    rows = []
    for robot, target in ROBOTS.items():
        with tempfile.TemporaryDirectory() as folder: ours, theirs = generated(robot, folder), library(robot)
        rows.append([robot, f"{ours:.0f}", f"{theirs:.0f}", f"{ours / theirs:.2f}", target])
    part = table(["robot", "generated", "library", "ratio", "to beat"], rows)
    page = ROOT / "docs/generate.md"
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- begin instructions: measured by bench/generated.py, do not edit -->", "<!-- end instructions -->"
    before, after = text.split(begin)[0], text.split(end)[1]
    page.write_text(f"{before}{begin}\n\n{part}\n\n{end}{after}", encoding="utf-8")
    print(part)


if __name__ == "__main__":
    main()
