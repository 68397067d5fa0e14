"""The table of docs/generate.md: operations of the generated functions, from `limber generate`."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import arms

ROBOTS = [("canadarm", "full"), ("canadarm-spatial", "full"), ("cibicik", "full"), ("chain-7", "full"), ("twisted-7", "full"),
          ("dualemps", "full"), ("dualemps", "linear"), ("dualemps", "ruthless"), ("parallelogram", "full"), ("crane", "full"),
          ("two-arms", "full"), ("lin-lewis", "full"), ("four-bar", "full"), ("concrete-pump", "full")]


def counts(limber, robot, terms, folder):
    """{function: [additions, multiplications, divisions, sines, square roots]}"""
    answer = subprocess.run([limber, "generate", robot, "-o", folder, "--elastic-terms", terms], check=True, capture_output=True,
                            text=True).stdout
    return {row.split()[0]: list(map(int, row.split()[1:])) for row in answer.splitlines()[1:]}


def cell(numbers):
    """additions / multiplications and divisions"""
    return f"{numbers[0]} / {numbers[1] + numbers[2]}"


def reference(limber, folder):
    arm = arms.write(8, 2, 2, folder)
    robots = [(ROOT / f"resources/{name}.json", name, terms) for name, terms in ROBOTS]
    robots += [(arm, "8 links, 2 modes in 2 planes", terms) for terms in ("ruthless", "full")]
    lines = ["| robot | elastic terms | forward | inverse | mass matrix and bias | Jacobian | tip | residual | sines, forward |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for file, name, terms in robots:
        found = counts(limber, file, terms, folder / "code")
        cells = [cell(found[function]) for function in ("forward", "inverse", "mass", "jacobian", "tip", "residual")]
        lines.append(f"| {name} | {terms} | {' | '.join(cells)} | {found['forward'][3]} |")
    return "\n".join(lines) + "\n"
