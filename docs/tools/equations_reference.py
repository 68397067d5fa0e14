"""The examples of docs/equations.md: pages of `limber equations` in Markdown with formulas."""

import json
import re
import subprocess
from pathlib import Path

from markdown_page import table

ROOT = Path(__file__).resolve().parents[2]


def page(limber, robot, form):
    return subprocess.run([limber, "equations", robot, "--format", form], check=True, capture_output=True, text=True).stdout


def markdown(latex):
    """The table of parameters, with six digits, and the formulas of a LaTeX page."""
    rows = re.search(r"meaning \\\\\n(.*?)\\end\{longtable\}", latex, re.DOTALL)[1].splitlines()
    cells = [re.sub(r" \\\\$", "", row).replace("\\_", "_").replace("\\^{}", "^").split(" & ") for row in rows]
    for row in cells: row[1] = f"{float(re.sub(r'[$]|}', '', row[1]).replace(chr(92) + 'cdot 10^{', 'e')):.6g}"
    parts = [table(["symbol", "value", "unit", "meaning"], cells)]
    for what, formulas in re.findall(r"\n\n([^\n]*)\n\\begin\{align\*\}\n(.*?)\\end\{align\*\}", latex, re.DOTALL):
        parts.append(f"{what[0].upper()}{what[1:]}:\n\n```math\n\\begin{{aligned}}\n{formulas}\\end{{aligned}}\n```")
    return "\n\n".join(parts)


def link_with_modes(count, folder):
    robot = json.loads((ROOT / "resources/lin-lewis.json").read_text(encoding="utf-8"))
    robot["links"][0]["beam"]["modes"]["y"]["count"] = count
    file = folder / "link.json"
    file.write_text(json.dumps(robot), encoding="utf-8")
    return file


def parts(limber, folder):
    """{name of the part: text}"""
    pendulum, arm = (ROOT / f"examples/equations/{name}.json" for name in ("double-pendulum", "rigid-flexible-rigid"))
    return {"pendulum": f"```\n{page(limber, pendulum, 'text')}```\n\n{markdown(page(limber, pendulum, 'latex'))}",
            "link": markdown(page(limber, link_with_modes(2, folder), "latex")),
            "arm": markdown(page(limber, arm, "latex"))}
