"""The documentation is current: generated parts, examples, links, numbers."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/tools"))
import make  # noqa: E402
import robot_reference  # noqa: E402
from markdown_page import replace_part  # noqa: E402

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
HAS_FORMAT_2 = (ROOT / "resources/limber-robot-2.schema.json").is_file()


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def needs_format_2(text):
    if "limber-robot/2" in text and not HAS_FORMAT_2: pytest.skip("robot format 2 is not there yet")


def check(limber, robot, tmp_path):
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(robot))
    return subprocess.run([limber, "check", file, "--json"], capture_output=True, text=True)


# ---- generated parts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", make.PARTS, ids=lambda part: part.__name__)
def test_generated_part_is_current(limber, monkeypatch, part):
    monkeypatch.setattr(make, "LIMBER", limber)
    file, text, _ = part()
    assert file.is_file(), f"{file.name} is missing: run docs/tools/make.py"
    assert file.read_text(encoding="utf-8") == text, f"{file.name} is stale: run docs/tools/make.py"


def test_a_changed_schema_makes_the_page_stale():
    _, newest, older = robot_reference.newest_schema(ROOT)
    before = robot_reference.Reference(newest, older).make()
    changed = json.loads(json.dumps(newest))
    changed["properties"]["gravity"]["default"] = [0, 0, -9.81]
    assert robot_reference.Reference(changed, older).make() != before
    changed = json.loads(json.dumps(newest))
    changed["$defs"]["loop"]["properties"]["clearance"] = {"description": "play of the loop [m]", "type": "number"}
    assert "| `clearance` | Play of the loop | m | number |" in robot_reference.Reference(changed, older).make()


def test_every_key_of_the_schema_is_on_the_page():
    _, newest, _ = robot_reference.newest_schema(ROOT)
    page = (ROOT / "docs/robot-file.md").read_text(encoding="utf-8")

    def keys(node):
        if isinstance(node, dict):
            for key, member in (node.get("properties") or {}).items():
                if isinstance(member, dict): yield key
            for member in node.values(): yield from keys(member)
        elif isinstance(node, list):
            for member in node: yield from keys(member)

    missing = sorted({key for key in keys(newest) if f"| `{key}` |" not in page})
    assert not missing


def test_the_newest_schema_says_meaning_and_unit():
    file, newest, older = robot_reference.newest_schema(ROOT)
    walk = robot_reference.Reference(newest, older)
    walk.make()
    if not HAS_FORMAT_2: pytest.skip("robot format 2 is not there yet")
    assert not walk.gaps, f"{file.name}:\n" + "\n".join(walk.gaps)


def test_a_page_must_have_its_part():
    with pytest.raises(ValueError): replace_part("no part here", "reference", "text", "source")


# ---- examples -----------------------------------------------------------------------------------------------------


ROBOTS = [(page, number) for page in PAGES for number in range(len(blocks(page, "json")))]


@pytest.mark.parametrize("page, number", ROBOTS, ids=[f"{page.stem}-{number}" for page, number in ROBOTS])
def test_json_example_passes_check(limber, tmp_path, page, number):
    text = blocks(page, "json")[number]
    needs_format_2(text)
    done = check(limber, json.loads(text), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr


def test_readme_example_runs(limber, tmp_path):
    script, = blocks(ROOT / "README.md", "bash")
    assert len(script.splitlines()) <= 20
    needs_format_2(script)
    script = script.replace("build/out/venv/bin/python", sys.executable).replace("build/out/limber", str(limber))
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "arm.png").stat().st_size > 1000


def test_elastic_gear_has_the_frequency_of_the_page(limber, tmp_path):
    page = ROOT / "docs/robot-file.md"
    text = next(text for text in blocks(page, "json") if '"elastic_gear"' in text)
    needs_format_2(text)
    file = tmp_path / "gear.json"
    file.write_text(text)
    done = subprocess.run([limber, "modes", file, "--joints", "locked", "--json"], capture_output=True, text=True, check=True)
    printed = float(re.search(r"= ([0-9.]+) Hz", page.read_text(encoding="utf-8"))[1])
    assert abs(json.loads(done.stdout)["frequency"][0] - printed) <= 0.005


def source_text():
    """All sources, with the pieces of C strings joined."""
    files = [file for folder in ("fmu_src", "drives", "cli", "modelDescription", "analysis") for file in (ROOT / folder).rglob("*.[ch]")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(files))
    return re.sub(r'"\s*"', "", text).replace('\\"', '"')


def test_messages_of_importing_exist():
    """Literal pieces of the messages in the table of failures; what varies is written ... or NAME or as a number."""
    table = (ROOT / "docs/importing.md").read_text(encoding="utf-8").split("## When it fails")[1]
    source, missing = source_text(), []
    for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
        for message in re.findall(r"`([^`]+)`", row):
            pieces = re.split(r"\.\.\.|NAME|robot file|co-simulation|model exchange|[\[\]();:0-9]+", message)
            pieces = [piece.strip(" ,='\"") for piece in pieces]
            missing += [piece for piece in pieces if len(piece) > 9 and piece not in source]
    assert not missing, f"docs/importing.md quotes messages that the program does not have: {missing}"


# ---- links --------------------------------------------------------------------------------------------------------


def prose(page):
    """The page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Those that headings make, as on GitHub."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target): continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists(): broken.append(target)
        elif anchor and file.suffix == ".md" and anchor not in anchors(file): broken.append(target)
    assert not broken, f"{page.name}: {broken}"


def test_equation_numbers_of_the_theory_are_unique():
    numbers = re.findall(r"\\tag\{([^}]+)\}", (ROOT / "docs/theory.md").read_text(encoding="utf-8"))
    assert len(numbers) == len(set(numbers)) and numbers
