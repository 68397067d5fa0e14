"""Endurance: soak.py [STEPS] [CYCLES] [THREADS] [--record]

An FMU for a long time (bench/soak.c): STEPS communication steps of one instance (default 1e7), CYCLES of instantiate, initialize, step and
free (default 1e4), THREADS instances at once (default 64). Memory must not grow by more than 1 MB after the first tenth, and results
of cycles and threads must be alike to the bit. --record writes the figures to bench/soak.json, from which docs/reliability.md is made."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "bench/soak.json"
ROBOTS = {"canadarm": ["upper_joint", "lower_joint", "wrist_joint"]}
GROWTH = 1 << 20


def soak(limber, robot, joints, steps, cycles, threads):
    with tempfile.TemporaryDirectory() as folder:
        fmu = Path(folder) / f"{robot}.fmu"
        subprocess.run([limber, "fmu", ROOT / f"resources/{robot}.json", "-o", fmu], check=True, stdout=subprocess.DEVNULL)
        with zipfile.ZipFile(fmu) as archive: archive.extractall(folder)
        root = ElementTree.parse(Path(folder) / "modelDescription.xml").getroot()
        reference = {v.get("name"): v.get("valueReference") for v in root.iter("ScalarVariable")}
        values = [reference[f"{joint}.{what}"] for joint in joints for what in ("q", "qd", "tau")]
        command = [limber.parent / "bench/soak", Path(folder) / f"binaries/linux64/{robot}.so", root.get("guid"), f"{folder}/resources",
                   steps, cycles, threads, *values]
        result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


def faults(figures):
    found = [f"memory grew by {figures[key]} bytes" for key in ("steps_growth", "cycles_growth") if figures[key] > GROWTH]
    return found + [f"{figures[key]} results differ" for key in ("cycles_different", "threads_different") if figures[key] > 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="?", type=float, default=1e7)
    parser.add_argument("cycles", nargs="?", type=float, default=1e4)
    parser.add_argument("threads", nargs="?", type=int, default=64)
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    limber = Path(os.environ.get("LIMBER", ROOT / "build/out/limber"))
    figures, wrong = {}, []
    for robot, joints in ROBOTS.items():
        figures[robot] = soak(limber, robot, joints, int(arguments.steps), int(arguments.cycles), arguments.threads)
        print(robot, json.dumps(figures[robot]), flush=True)
        wrong += [f"{robot}: {fault}" for fault in faults(figures[robot])]
    if arguments.record: FIGURES.write_text(json.dumps(figures, indent=2) + "\n")
    print("\n".join(wrong) if wrong else "memory flat, results alike to the bit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
