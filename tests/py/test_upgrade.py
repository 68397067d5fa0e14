"""limber upgrade: a format 1 file becomes one of format 2 with the same meaning, and nothing else of its text changes."""

import json
import math
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "resources/limber-robot-2.schema.json").read_text(encoding="utf-8"))
ROBOTS = sorted(file for file in (ROOT / "resources").glob("*.json") if not file.name.endswith(".schema.json"))
FILES = [file for file in ROBOTS + sorted((ROOT / "tests/data/good").glob("*.json"))
         if json.loads(file.read_text(encoding="utf-8"))["format"] == "limber-robot/1"]
REFUSED = {"joints-named-like-links": ["links[1].name", "links[0].joint", "links[1].joint.name", "links[0].name"]}
KEPT = [file for file in FILES if file.stem not in REFUSED]
NAMES = ["old.json", "-o", "new.json"]


def run(program, *arguments, **options):
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def upgrade(limber, folder, text, *options):
    (folder / "old.json").write_bytes(text.encode())
    return run(limber, "upgrade", *NAMES, *options, cwd=folder)


def bends(link):
    modes = link.get("beam", {}).get("modes", {})
    return "y" in modes or "z" in modes


def same_meaning(robot):
    """The document in format 2."""
    links = [{**link, "beam": {"foreshortening": False, **link["beam"]}} if bends(link) else link for link in robot["links"]]
    return {**robot, "format": "limber-robot/2", "links": links}


def robot_of(*links, **more):
    body = {"rigid": {"mass": 1}}
    return json.dumps({"format": "limber-robot/1", "name": "r", "links": [{**body, **link} for link in links], **more})


def link(name, /, **joint):
    return {"name": name, "joint": {"type": "revolute", **joint}}


# ---- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_upgraded_file_has_the_same_meaning(limber, tmp_path, file):
    new = tmp_path / "new.json"
    answer = run(limber, "upgrade", file, "-o", new, "--json")
    assert (answer.returncode, answer.stderr) == (0, "")
    robot, upgraded = json.loads(file.read_text(encoding="utf-8")), json.loads(new.read_text(encoding="utf-8"))
    assert upgraded == same_meaning(robot)
    assert list(upgraded) == list(robot)
    jsonschema.Draft202012Validator(SCHEMA).validate(upgraded)
    said = [link["name"] for link in robot["links"] if bends(link) and "foreshortening" not in link["beam"]]
    assert json.loads(answer.stdout) == {"file": str(new), "name": robot["name"], "format": "limber-robot/2", "foreshortening_false": said}


@pytest.mark.parametrize("file", [file for file in ROBOTS if file in KEPT], ids=lambda file: file.stem)
def test_eval_agrees_bit_for_bit(limber, tmp_path, file):
    new = tmp_path / "new.json"
    assert run(limber, "upgrade", file, "-o", new).returncode == 0
    n = len(json.loads(run(limber, "eval", file, "-", input="{}").stdout)["qdd"])
    state = json.dumps({"q": [0.01 * math.sin(k + 1) for k in range(n)], "qd": [0.1 * math.cos(k) for k in range(n)],
                        "tip_force": [1, -2, 3]})
    old_answer, new_answer = (run(limber, "eval", robot, "-", input=state) for robot in (file, new))
    assert old_answer.returncode == 0, old_answer.stderr
    assert new_answer.stdout == old_answer.stdout


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_nothing_else_of_the_text_changes(limber, tmp_path, file):
    new = tmp_path / "new.json"
    run(limber, "upgrade", file, "-o", new)
    old_text, new_text = file.read_bytes().decode(), new.read_bytes().decode()
    assert re.sub(r',\s*"foreshortening": false', "", new_text) == \
        re.sub(r',\s*"foreshortening": false', "", old_text.replace("limber-robot/1", "limber-robot/2"))


BEAM = '{"length": 1.0e0, "mass_per_length": 2.50, "EIz": 1E2, "modes": {"y": {"shape": "hermite"}}%s}'


@pytest.mark.parametrize("beam, wanted", [
    (BEAM % "", BEAM % ', "foreshortening": false'),
    (BEAM % ', "foreshortening": true', BEAM % ', "foreshortening": true'),
    (BEAM % ', "foreshortening": false', BEAM % ', "foreshortening": false'),
    (BEAM % ',\n\t"rayleigh": [0,\r\n 0]\n', BEAM % ',\n\t"rayleigh": [0,\r\n 0],\n\t"foreshortening": false\n'),
    (BEAM.replace('"y": {"shape": "hermite"}', "") % "", BEAM.replace('"y": {"shape": "hermite"}', "") % ""),
])
def test_layout_and_number_texts_stay(limber, tmp_path, beam, wanted):
    text = ('\n{ "links":[{"name":"a","joint":{"type" : "fixed", "origin": {"xyz": [1e-3, 0.10, -0]}},"beam" :%s, "hub": {"mass": 0.1}}],\n'
            '"description": "a \\"quoted\\" {brace] and \\\\", "name":"r", "format":"limber-robot\\/%d"}\n\n')
    answer = upgrade(limber, tmp_path, text % (beam, 1))
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (tmp_path / "new.json").read_bytes().decode() == text % (wanted, 2)


def test_summary_names_the_beams(limber, tmp_path):
    answer = run(limber, "upgrade", ROOT / "resources/canadarm.json", "-o", "new.json", cwd=tmp_path)
    names = [link["name"] for link in json.loads((ROOT / "resources/canadarm.json").read_text())["links"] if bends(link)]
    assert answer.stdout.startswith("new.json: ") and answer.stdout.count("\n") == 1
    assert all(name in answer.stdout for name in names) and "limber-robot/2" in answer.stdout


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, first, second", [
    (robot_of(link("a"), link("b", name="a2"), link("c", name="b")), r"links\[2\]\.joint\.name", r"links\[1\]\.name"),
    (robot_of(link("a", name="b"), link("b", name="c")), r"links\[1\]\.name", r"links\[0\]\.joint"),
    (robot_of(link("a", name="lift"), link("b"), actuators=[
        {"name": "lift", "type": "line", "from": {"link": "world", "xyz": [1, 0, 0]}, "to": {"link": "b", "frame": "hinge", "xyz": [0, 0, 1]}}]),
     r"actuators\[0\]\.name", r"links\[0\]\.joint"),
])
def test_names_that_format_2_forbids(limber, tmp_path, text, first, second):
    answer = upgrade(limber, tmp_path, text)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert re.fullmatch(rf"limber: old\.json: {first} = .*\(limber-robot/2\).*{second} is the same\n", answer.stderr), answer.stderr
    assert not (tmp_path / "new.json").exists()


@pytest.mark.parametrize("file", [file for file in FILES if file.stem in REFUSED], ids=lambda file: file.stem)
def test_files_with_names_that_format_2_forbids(limber, tmp_path, file):
    answer = run(limber, "upgrade", file, "-o", tmp_path / "new.json")
    assert (answer.returncode, answer.stdout) == (1, "") and not (tmp_path / "new.json").exists()
    for place in REFUSED[file.stem]: assert place in answer.stderr
    for line in answer.stderr.splitlines(): assert line.startswith(f"limber: {file}: ") and "limber-robot/2" in line


def test_reserved_name(limber, tmp_path):
    answer = upgrade(limber, tmp_path, robot_of(link("hinge", name="turn")))
    assert answer.returncode == 1 and re.search(r'links\[0\]\.name = "hinge": .*reserved', answer.stderr)


def test_file_of_format_2_and_bad_file(limber, tmp_path):
    answer = upgrade(limber, tmp_path, robot_of(link("a")).replace("limber-robot/1", "limber-robot/2"))
    assert (answer.returncode, answer.stdout) == (1, "") and "old.json: is already limber-robot/2" in answer.stderr
    answer = upgrade(limber, tmp_path, robot_of(link("a", viscous=-1)))
    assert answer.returncode == 1 and "links[0].joint.viscous" in answer.stderr
    answer = upgrade(limber, tmp_path, robot_of(link("a"))[:-1])
    assert answer.returncode == 1 and "not JSON" in answer.stderr
    assert not (tmp_path / "new.json").exists()


@pytest.mark.parametrize("key", ["format", "links", "beam", "foreshortening"])
def test_keys_with_escapes_never_give_a_wrong_file(limber, tmp_path, key):
    text = robot_of({**link("a"), "rigid": None}).replace('"rigid": null', '"beam": ' + BEAM % ', "foreshortening": true')
    answer = upgrade(limber, tmp_path, text.replace(f'"{key}"', f'"\\u{ord(key[0]):04x}{key[1:]}"'))
    assert answer.returncode in (0, 1) and (answer.returncode == 1) == bool(answer.stderr)
    if answer.returncode == 0:
        assert json.loads((tmp_path / "new.json").read_text()) == same_meaning(json.loads(text))


def test_from_standard_input(limber, tmp_path):
    answer = run(limber, "upgrade", "-", "-o", "new.json", input=robot_of(link("a")), cwd=tmp_path)
    assert answer.returncode == 0 and json.loads((tmp_path / "new.json").read_text())["format"] == "limber-robot/2"
