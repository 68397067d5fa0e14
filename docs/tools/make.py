"""Makes the generated parts of the documentation.

usage: make.py [--check] [figures]

Without arguments: the generated parts of docs/robot-file.md, docs/cli.md, docs/variables.md, docs/generate.md and docs/equations.md, docs/reliability.md, and docs/figures/frames.svg.
`figures` also runs the simulation behind docs/figures/canadarm.svg again, and draws docs/figures/concrete-pump.svg and viewer.png. --check changes nothing; exit
code 1 when something is stale. LIMBER may
name another limber program."""

import os
import sys
import tempfile
from pathlib import Path

import cli_reference
import elastica
import equations_reference
import frames_figure
import generate_reference
import reliability_page
import robot_reference
import variables_reference
from markdown_page import replace_part

ROOT = Path(__file__).resolve().parents[2]
LIMBER = Path(os.environ.get("LIMBER", ROOT / "build/out/limber")).resolve()


def robot_file():
    page = ROOT / "docs/robot-file.md"
    reference, source, gaps = robot_reference.reference(ROOT)
    text = replace_part(page.read_text(encoding="utf-8"), "reference", reference, source)
    with tempfile.TemporaryDirectory() as folder:
        text = replace_part(text, "elastica", elastica.reference(LIMBER, Path(folder)), "a computation")
    return page, text, [f"{source}: {gap}" for gap in gaps]


def command_line():
    page = ROOT / "docs/cli.md"
    part = cli_reference.reference(LIMBER)
    return page, replace_part(page.read_text(encoding="utf-8"), "reference", part, "the help texts of limber"), []


def variables():
    page = ROOT / "docs/variables.md"
    with tempfile.TemporaryDirectory() as folder: part = variables_reference.reference(LIMBER, Path(folder))
    return page, replace_part(page.read_text(encoding="utf-8"), "reference", part, "the model description"), []


def generated_code():
    page = ROOT / "docs/generate.md"
    with tempfile.TemporaryDirectory() as folder: part = generate_reference.reference(LIMBER, Path(folder))
    return page, replace_part(page.read_text(encoding="utf-8"), "counts", part, "limber generate"), []


def equations():
    page = ROOT / "docs/equations.md"
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder: parts = equations_reference.parts(LIMBER, Path(folder))
    for name, part in parts.items(): text = replace_part(text, name, part, "limber equations")
    return page, text, []


def frames(): return ROOT / "docs/figures/frames.svg", frames_figure.svg(), []


def reliability(): return ROOT / "docs/reliability.md", reliability_page.page(ROOT), reliability_page.missing_tests(ROOT)


PARTS = [robot_file, command_line, variables, generated_code, equations, frames, reliability]


def main():
    check, stale = "--check" in sys.argv, []
    for part in PARTS:
        file, text, notes = part()
        for note in notes: print(f"note: {note}", file=sys.stderr)
        if file.is_file() and file.read_text(encoding="utf-8") == text: continue
        if check: stale.append(str(file.relative_to(ROOT)))
        else: file.write_text(text, encoding="utf-8")
    if "figures" in sys.argv and not check:
        import arm_figure
        import robot_figures
        arm_figure.draw(LIMBER, ROOT)
        robot_figures.draw(LIMBER, ROOT)
    for name in stale: print(f"{name} is stale: run docs/tools/make.py", file=sys.stderr)
    sys.exit(1 if stale else 0)


if __name__ == "__main__": main()
