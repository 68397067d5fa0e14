#!/usr/bin/env python3
"""CPU time of `limber static` for every robot in resources/.

    build/out/venv/bin/python bench/statics.py

Prints a Markdown table: the least of ten runs, reading the file and printing included. Exit code 1: a robot takes more than 0.1 s."""

import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMBER = os.environ.get("LIMBER", ROOT / "build/out/limber")
RUNS, BOUND = 10, 0.1  # [s]


def seconds(file):
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before = used()
    subprocess.run([LIMBER, "static", file], check=True, stdout=subprocess.DEVNULL)
    return used() - before


def main():
    robots = sorted(file for file in (ROOT / "resources").glob("*.json") if "schema" not in file.name)
    least = {file.stem: min(seconds(file) for _ in range(RUNS)) for file in robots}
    print("| robot | CPU time [ms] |\n| --- | ---: |")
    for name, value in least.items(): print(f"| {name} | {1e3 * value:.0f} |")
    return 1 if max(least.values()) > BOUND else 0


if __name__ == "__main__":
    sys.exit(main())
