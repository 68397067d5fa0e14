"""limber upgrade: a file becomes one of a newer format with the same meaning, and nothing else of its text changes."""

import json
import math
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = {to: json.loads((ROOT / f"resources/limber-robot-{to}.schema.json").read_text(encoding="utf-8")) for to in (2, 3)}
ROBOTS = sorted(file for file in (ROOT / "resources").glob("*.json") if not file.name.endswith(".schema.json"))
def format_of(file): return int(json.loads(file.read_text(encoding="utf-8"))["format"][-1])


OLDER = {to: [file for file in ROBOTS + sorted((ROOT / "tests/data/good").glob("*.json")) if format_of(file) < to] for to in (2, 3)}
FILES = OLDER[2]
REFUSED = {"joints-named-like-links": ["links[1].name", "links[0].joint", "links[1].joint.name", "links[0].name"]}
KEPT = [pytest.param(file, to, id=f"{file.stem}-{to}") for to in (2, 3) for file in OLDER[to] if file.stem not in REFUSED]
NAMES = ["old.json", "-o", "new.json"]
TO = {2: ["--to", "2"], 3: []}


def run(program, *arguments, **options):
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def upgrade(limber, folder, text, *options):
    (folder / "old.json").write_bytes(text.encode())
    return run(limber, "upgrade", *NAMES, *options, cwd=folder)


def bends(link):
    modes = link.get("beam", {}).get("modes", {})
    return "y" in modes or "z" in modes


def same_meaning(robot, to=2):
    """The document in a newer format."""
    def beam(link):
        old = dict(link["beam"])
        if bends(link): old = {"foreshortening": robot["format"] == "limber-robot/2", **old}
        if to == 3:
            if "foreshortening" in old: old["stiffening"] = "axial" if old.pop("foreshortening") else "none"
            if bends(link) and "material" in old: old["shear"] = False
        return old

    links = [{**link, "beam": beam(link)} if "beam" in link else link for link in robot["links"]]
    return {**robot, "format": f"limber-robot/{to}", "links": links}


def robot_of(*links, **more):
    body = {"rigid": {"mass": 1}}
    return json.dumps({"format": "limber-robot/1", "name": "r", "links": [{**body, **link} for link in links], **more})


def link(name, /, **joint):
    return {"name": name, "joint": {"type": "revolute", **joint}}


# ---- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file, to", KEPT)
def test_upgraded_file_has_the_same_meaning(limber, tmp_path, file, to):
    new = tmp_path / "new.json"
    answer = run(limber, "upgrade", file, "-o", new, "--json", *TO[to])
    assert (answer.returncode, answer.stderr) == (0, "")
    robot, upgraded = json.loads(file.read_text(encoding="utf-8")), json.loads(new.read_text(encoding="utf-8"))
    assert upgraded == same_meaning(robot, to)
    assert list(upgraded) == list(robot)
    jsonschema.Draft202012Validator(SCHEMAS[to]).validate(upgraded)
    said = [link["name"] for link in robot["links"] if bends(link) and (to == 3 or "foreshortening" not in link["beam"])]
    key = "stiffening" if to == 3 else "foreshortening_false"
    assert json.loads(answer.stdout) == {"file": str(new), "name": robot["name"], "format": f"limber-robot/{to}", key: said}


@pytest.mark.parametrize("file, to", [case for case in KEPT if case.values[0] in ROBOTS])
def test_eval_agrees_bit_for_bit(limber, tmp_path, file, to):
    new = tmp_path / "new.json"
    assert run(limber, "upgrade", file, "-o", new, *TO[to]).returncode == 0
    n = len(json.loads(run(limber, "eval", file, "-", input="{}").stdout)["qdd"])
    state = {"qd": [0.1 * math.cos(k) for k in range(n)], "tip_force": [1, -2, 3]}
    if '"cylinder"' not in file.read_text(encoding="utf-8"): state["q"] = [0.01 * math.sin(k + 1) for k in range(n)]  # within any stroke
    state = json.dumps(state)
    old_answer, new_answer = (run(limber, "eval", robot, "-", input=state) for robot in (file, new))
    assert old_answer.returncode == 0, old_answer.stderr
    assert new_answer.stdout == old_answer.stdout


@pytest.mark.parametrize("file, to", KEPT)
def test_nothing_else_of_the_text_changes(limber, tmp_path, file, to):
    new = tmp_path / "new.json"
    run(limber, "upgrade", file, "-o", new, *TO[to])
    said = r',\s*"(foreshortening|stiffening|shear)": ("\w+"|\w+)'
    texts = [re.sub("limber-robot/[123]", "", each.read_bytes().decode()) for each in (file, new)]
    assert re.sub(said, "", texts[1]) == re.sub(said, "", texts[0])


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
    for to in (2, 3):
        answer = upgrade(limber, tmp_path, text % (beam, 1), *TO[to])
        assert (answer.returncode, answer.stderr) == (0, "")
        if to == 3: wanted = wanted.replace('"foreshortening": false', '"stiffening": "none"').replace('"foreshortening": true', '"stiffening": "axial"')
        assert (tmp_path / "new.json").read_bytes().decode() == text % (wanted, to)


def test_summary_names_the_beams(limber, tmp_path):
    answer = run(limber, "upgrade", ROOT / "resources/canadarm.json", "-o", "new.json", cwd=tmp_path)
    names = [link["name"] for link in json.loads((ROOT / "resources/canadarm.json").read_text())["links"] if bends(link)]
    assert answer.stdout.startswith("new.json: ") and answer.stdout.count("\n") == 1
    assert all(name in answer.stdout for name in names) and "limber-robot/3" in answer.stdout


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


@pytest.mark.parametrize("old, to", [(2, 2), (3, 2), (3, 3)])
def test_file_that_is_new_already(limber, tmp_path, old, to):
    answer = upgrade(limber, tmp_path, robot_of(link("a")).replace("limber-robot/1", f"limber-robot/{old}"), *TO[to])
    assert (answer.returncode, answer.stdout) == (1, "") and f"old.json: is already limber-robot/{old}" in answer.stderr


def test_bad_file(limber, tmp_path):
    answer = upgrade(limber, tmp_path, robot_of(link("a", viscous=-1)))
    assert answer.returncode == 1 and "links[0].joint.viscous" in answer.stderr
    answer = upgrade(limber, tmp_path, robot_of(link("a"))[:-1])
    assert answer.returncode == 1 and "not JSON" in answer.stderr
    assert not (tmp_path / "new.json").exists()


@pytest.mark.parametrize("key", ["format", "links", "beam", "foreshortening"])
def test_keys_with_escapes_never_give_a_wrong_file(limber, tmp_path, key):
    text = robot_of({**link("a"), "rigid": None}).replace('"rigid": null', '"beam": ' + BEAM % ', "foreshortening": true')
    for to in (2, 3):
        answer = upgrade(limber, tmp_path, text.replace(f'"{key}"', f'"\\u{ord(key[0]):04x}{key[1:]}"'), *TO[to])
        assert answer.returncode in (0, 1) and (answer.returncode == 1) == bool(answer.stderr)
        if answer.returncode == 0: assert json.loads((tmp_path / "new.json").read_text()) == same_meaning(json.loads(text), to)


def test_from_standard_input(limber, tmp_path):
    answer = run(limber, "upgrade", "-", "-o", "new.json", input=robot_of(link("a")), cwd=tmp_path)
    assert answer.returncode == 0 and json.loads((tmp_path / "new.json").read_text())["format"] == "limber-robot/3"
