"""Robot files: which are accepted, which are refused with which messages, and that no file crashes the reader.

The files with errors are those of tests/data/bad.json, see tests/bad_robots.py."""

import copy
import json
import math
import random
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
from bad_robots import CASES, file_text
from coordinates import Coordinates

ROOT = Path(__file__).resolve().parents[2]
GOOD = sorted((ROOT / "tests/data/good").glob("*.json"))
ROBOTS = sorted(file for file in (ROOT / "resources").glob("*.json") if not file.name.endswith(".schema.json"))
SCHEMAS = {f"limber-robot/{n}": json.loads((ROOT / f"resources/limber-robot-{n}.schema.json").read_text(encoding="utf-8")) for n in (1, 2, 3)}
VALIDATORS = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


def validator(robot):
    """The validator of the document's format; of format 1 if the document has none."""
    name = robot.get("format") if isinstance(robot, dict) else None
    return VALIDATORS.get(name if isinstance(name, str) else None, VALIDATORS["limber-robot/1"])


def run(program, *arguments, **options):
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def check(program, file, *options, **more):
    return run(program, "check", file, *options, **more)


def strict_json(text):
    """The document; ValueError also for NaN and Infinity, which are not JSON."""
    def refuse(constant): raise ValueError(constant)
    return json.loads(text, parse_constant=refuse)


def load(file):
    """The document in a file."""
    return strict_json(file.read_text(encoding="utf-8"))


# ---- bytes -----------------------------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("command", [["check"], ["fmu", "-o", "x.fmu"], ["simulate", "--until", "1", "--step", "1"], ["modes"]], ids=lambda c: c[0])
@pytest.mark.parametrize("before, after, said", [
    (b"\xef\xbb\xbf", b"", "begins with a byte-order mark"), (b"", b"\0rest", r"line \d+, column 1: a null byte"), (b"\n\0", b"", "line 2, column 1: a null byte")])
def test_bytes_that_are_no_text(limber, tmp_path, command, before, after, said):
    """Refused by all commands alike"""
    file = tmp_path / "robot.json"
    file.write_bytes(before + (ROOT / "resources/canadarm.json").read_bytes() + after)
    answer = run(limber, command[0], file, *command[1:], cwd=tmp_path)
    assert answer.returncode == 1 and re.search(said, answer.stderr) and answer.stdout == ""


# ---- good files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", GOOD + ROBOTS, ids=lambda file: file.stem)
def test_good_file_is_accepted(limber_sanitized, file):
    answer = check(limber_sanitized, file)
    assert (answer.returncode, answer.stderr) == (0, "")
    robot = load(file)
    validator(robot).validate(robot)


@pytest.mark.parametrize("file", GOOD + ROBOTS, ids=lambda file: file.stem)
def test_json_says_what_the_robot_is(limber, file):
    """Names, parents and coordinates follow from the document by the defaults alone."""
    robot, answer = load(file), strict_json(check(limber, file, "--json").stdout)
    assert answer["name"] == robot["name"]
    assert [link["name"] for link in answer["links"]] == [link["name"] for link in robot["links"]]
    assert answer["n"] == sum(len(link["coordinates"]) for link in answer["links"])
    assert math.isclose(answer["mass"], sum(link["mass"] for link in answer["links"]), rel_tol=1e-12, abs_tol=0)
    before = "world"
    for found, link in zip(answer["links"], robot["links"]):
        joint = link["joint"]
        frame = joint.get("parent_frame")
        if frame: before = next(other["link"] for other in robot["frames"] if other["name"] == frame)
        assert found["parent"] == link.get("parent", before)
        assert found["type"] in link
        assert (found["joint"]["name"], found["joint"]["type"]) == (joint.get("name", link["name"]), joint["type"])
        assert found["coordinates"] == Coordinates({"links": [link]}).positions
        before = link["name"]


def test_only_doubtful_files_have_warnings(limber):
    expected = {
        "planar-inertia": [r"links\[0\]\.rigid\.inertia = \[0,0,0\.1,0,0,0\]: .*triangle"],
        "idle-numbers-on-fixed-joint": [r"links\[0\]\.joint\.axis .*no effect", r"links\[0\]\.joint\.viscous .*no effect"],
        "limits-and-friction": [r"links\[0\]\.joint\.limits .*without stiffness"],
        "f2-idle-axis": [r"links\[0\]\.joint\.axis .*no effect on a spherical joint"],
        "f2-nodal-no-geometric": [r"links\[1\]\.nodal: link 'shell' has no geometric stiffness: .*give geometric_stiffness"],
        "f2-frames-nodal": [r"links\[1\]\.nodal: link 'shell' has no geometric stiffness: .*give geometric_stiffness"],
        "limits-beyond": [r"links\[0\]\.joint\.limits .*starts beyond its limits, at -2"],
        "loop-ball": [r"loops\[0\] \(grip\): 1 of its 3 constraints are redundant"],
        "loop-pin": [r"loops\[0\] \(grip\): 2 of its 5 constraints are redundant"],
        "loop-pin-default-axis": [r"loops\[0\] \(grip\): 2 of its 5 constraints are redundant"],
        "loop-weld": [r"loops\[0\] \(grip\): 2 of its 6 constraints are redundant", r"first frequency .*-3\.5"],
        "loop-planar-pin": [r"first frequency .*-1\.0"],
        "modes-pinned-pinned-4": [r"first frequency .*-4\.0"],
    }
    for file in GOOD:
        warnings = strict_json(check(limber, file, "--json").stdout)["warnings"]
        assert len(warnings) == len(expected.get(file.stem, [])), (file.name, warnings)
        for pattern, warning in zip(expected.get(file.stem, []), warnings): assert re.search(pattern, warning)


# ---- bad files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.quick] * (k % 3 == 0)) for k, name in enumerate(sorted(CASES))])
def test_bad_file_is_refused_with_the_reason(limber_sanitized, tmp_path, name):
    """Each error gives one message that starts with file and path; nothing else is reported."""
    file, expected = f"{name}.json", CASES[name]["errors"]
    (tmp_path / file).write_text(file_text(CASES[name]), encoding="utf-8")
    answer = check(limber_sanitized, file, "--json", cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (1, ""), answer.stderr
    messages = answer.stderr.splitlines()
    assert len(messages) == len(expected), answer.stderr
    for path, pattern in expected.items():
        start = re.escape(f"{file}: {path}") + (r"( = .*)?: " if path else "")
        assert sum(bool(re.match(start, message) and re.search(pattern, message)) for message in messages) == 1, (path, messages)


@pytest.mark.parametrize("name", sorted(CASES))
def test_schema_refuses_what_a_schema_can(name):
    try:
        robot = strict_json(file_text(CASES[name]))
        refused = not validator(robot).is_valid(robot)
    except ValueError:  # there is no document to validate
        refused = False
    assert refused != ("beyond_schema" in CASES[name])


def properties(schema):
    """(name, schema) of every key that a document may have."""
    for part in [schema, *schema["$defs"].values()]:
        todo = [part]
        while todo:
            for name, value in todo.pop().get("properties", {}).items():
                yield name, value
                todo.append(value)


def test_schema_describes_every_key():
    """Title, description, unit at its end where there are numbers: the reference of the format is made from them."""
    schema = SCHEMAS["limber-robot/3"]
    jsonschema.Draft202012Validator.check_schema(schema)
    counts = {"count", "modes", "hinge_node", "tip_node"}
    for name, value in properties(schema):
        assert value.get("title") or "$ref" in value, name
        target = schema["$defs"][value["$ref"].split("/")[-1]] if "$ref" in value else value
        description = value.get("description", target.get("description", ""))
        assert description and description[0] != " ", name
        text = json.dumps({key: item for key, item in target.items() if key != "properties"})
        if '"number"' in text and name not in counts and target.get("type") != "object" and "#/$defs" not in text:
            assert re.search(r"\[[^\[\]]+\]$", description), (name, description)


def test_missing_file_is_an_input_problem(limber, tmp_path):
    for file in (tmp_path, tmp_path / "none.json"):
        answer = check(limber, file)
        assert answer.returncode == 1 and answer.stderr.startswith(f"{file}: cannot be read: ")


# ---- any file --------------------------------------------------------------------------------------------------------


def places(document, path=()):
    """Paths of all members and items."""
    items = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in items:
        yield path + (key,)
        yield from places(value, path + (key,))


ODD_VALUES = [None, True, -1, 0, 1, 51, 2.5, 1e308, -1e-308, 10**40, "", "world", "arm", "a" * 5000, [], {}, [[]], [1, 2, 3],
              {"shape": "hermite"}, [None] * 7, float("inf"), float("nan")]


def mutate(chance, robot):
    """The text of a robot with a few random faults."""
    robot = copy.deepcopy(robot)
    for _ in range(chance.randint(1, 4)):
        *way, last = chance.choice(list(places(robot)) or [("links",)])
        owner = robot
        for key in way: owner = owner[key]
        action = chance.randrange(4)
        if action == 0: del owner[last]
        elif action == 1: owner[last] = copy.deepcopy(chance.choice(ODD_VALUES))
        elif action == 2 and isinstance(owner, dict): owner[chance.choice("abxyz_") * 3] = owner.pop(last)
        elif isinstance(owner, list): owner.append(copy.deepcopy(owner[last]))
    text = json.dumps(robot)
    if chance.random() < 0.2: text = text[:chance.randrange(len(text))]
    elif chance.random() < 0.2:
        where = chance.randrange(len(text))
        text = text[:where] + chance.choice('{}[]",:x\\0-e\0\x01\u00e4') + text[where + 1:]
    return text


@pytest.mark.parametrize("seed", range(20))
def test_no_file_crashes_the_reader(limber_sanitized, tmp_path, seed):
    chance = random.Random(seed)
    for _ in range(20):
        file = tmp_path / "robot.json"
        file.write_text(mutate(chance, load(chance.choice(GOOD))), encoding="utf-8")
        answer = run(limber_sanitized, "check", file, "--json")
        assert answer.returncode in (0, 1), (file.read_text(), answer.stderr)
        assert (answer.returncode == 1) == bool(answer.stderr), answer.stderr
        for message in answer.stderr.splitlines(): assert message.startswith(f"{file}: "), message
        if answer.returncode == 0: strict_json(answer.stdout)


# ---- the command line ------------------------------------------------------------------------------------------------


def test_usage(limber):
    assert run(limber, "--help").returncode == 0
    for command in re.findall(r"^  (\w+) ", run(limber, "--help").stdout, re.MULTILINE):
        help_text = run(limber, command, "--help")
        assert help_text.returncode == 0 and help_text.stdout.startswith(f"usage: limber {command} ")
    assert run(limber).returncode == 2
    slip = run(limber, "chek")
    assert slip.returncode == 2 and 'did you mean "check"?' in slip.stderr
    assert run(limber, "check").returncode == 2
    assert run(limber, "check", "a.json", "b.json").returncode == 2
    assert run(limber, "check", "--yaml", "a.json").returncode == 2
