"""The page of `limber view`: its size, and how many pictures a second it draws.

python bench/viewer.py [--gpu]    needs what build/viewer.sh installs, and Chromium (build/viewer.sh browser)

Without --gpu the pictures are computed by the processor (SwiftShader), as where there is no graphics card."""

import argparse
import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMBER = Path(os.environ.get("LIMBER", ROOT / "build/out/limber"))
LINKS, ROWS, MODES = 23, (10_000, 60_000), 3


def chain():
    """A chain of flexible links with box sections, joints about alternating axes."""
    section = {"shape": "box", "width": 0.1, "height": 0.12, "wall": 0.005}
    beam = {"length": 1.0, "material": {"E": 2.1e11, "G": 8e10, "density": 7800}, "section": section,
            "modes": {"y": {"shape": "clamped-free", "count": 2}, "z": {"shape": "clamped-free", "count": 1}}}
    links = [{"name": f"link{i}", "parent": f"link{i - 1}" if i else "world", "beam": beam,
              "joint": {"name": f"joint{i}", "type": "revolute", "axis": [0, 1, 0] if i % 2 else [0, 0, 1]}} for i in range(LINKS)]
    return {"format": "limber-robot/2", "name": "chain_23", "gravity": [0, 0, -9.81], "links": links}


def motion(file, rows):
    """A made-up result at 1 kHz: every coordinate is a sine of its own frequency."""
    columns = [(f"joint{i}.q", 0.2, 0.1 + 0.01 * i) for i in range(LINKS)]
    columns += [(f"link{i}.eta[{k + 1}]", 0.01, 1 + 0.1 * i + k) for i in range(LINKS) for k in range(MODES)]
    with file.open("w") as out:
        out.write(",".join(["time", *(name for name, *_ in columns)]) + "\n")
        for row in range(rows):
            t = 0.001 * row
            out.write(",".join([f"{t:.6g}", *(f"{a * math.sin(2 * math.pi * f * t):.9g}" for _, a, f in columns)]) + "\n")


def limber(*words):
    subprocess.run([LIMBER, *words], check=True, stdout=subprocess.DEVNULL)


def rate(page, gpu):
    program = ["node", ROOT / "tests/view/browse.mjs", ROOT / "build/out/viewer"]
    task = [{"page": str(page), "steps": [["rate", 2], ["rate", 6]]}]
    out = subprocess.run(program, input=json.dumps(task) + "\n", check=True, capture_output=True, text=True,
                         env={**os.environ, **({"LIMBER_GPU": "1"} if gpu else {})}).stdout
    [answer] = json.loads(out)
    assert answer["errors"] == [], answer["errors"]
    return answer["results"][1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gpu", action="store_true", help="draw with the graphics card")
    gpu = parser.parse_args().gpu
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        robot, result, page = folder / "chain.json", folder / "chain.csv", folder / "chain.html"
        canadarm = ROOT / "resources/canadarm.json"
        limber("simulate", canadarm, "--until", "10", "--step", "0.01", "-o", folder / "canadarm.csv")
        limber("view", canadarm, "--result", folder / "canadarm.csv", "-o", folder / "canadarm.html")
        print(f"Canadarm with 10 s, 1001 rows: {(folder / 'canadarm.html').stat().st_size / 1e6:.2f} MB")
        robot.write_text(json.dumps(chain()))
        for rows in ROWS:
            motion(result, rows)
            limber("view", robot, "--result", result, "-o", page)
            print(f"{LINKS} flexible links, {rows} rows: {page.stat().st_size / 1e6:.2f} MB, {rate(page, gpu):.1f} pictures a second, "
                  f"800 x 500 pixels, {'graphics card' if gpu else 'SwiftShader'}")


if __name__ == "__main__":
    main()
