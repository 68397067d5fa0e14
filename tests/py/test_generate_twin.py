"""The twin of dyn, flex and mech in generated code is complete: every key of the newest robot format is without effect on the equations, or
changes the results of the library for a robot of ROBOTS, whose generated code agrees with the library to 1e-11."""

import copy
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import generated_code

ROOT = Path(__file__).resolve().parents[2]
LIMBER = os.environ["LIMBER"]
SCHEMA = json.loads(max((ROOT / "resources").glob("limber-robot-*.schema.json")).read_text())
ROBOTS = ["f3-driven", "f2-drives", "f2-one-number-joints", "f2-universal", "f2-nodal-geometric", "f2-tables", "f2-frames", "dh", "limits-and-friction",
          "loop-planar-pin", "loop-pin", "loop-weld", "material-with-G", "section-round", "section-box", "modes-clamped-mass-2", "rod-modes-linear-1",
          "f2-craig-bampton-rod"]
NO_EFFECT = {  # on the equations of motion
    *((part, "name") for part in ("robot", "link", "joint", "frame", "loop", "actuator", "coupling", "supply")),
    ("robot", "format"), ("robot", "description"), ("frame", "sensor"), ("frame", "load"),  # what an FMU has
    ("joint.start", "position"), ("joint.start", "velocity"), ("loop", "start"), ("joint", "static"), ("actuator", "static"),  # where it starts
    ("servo", "torque_start"), ("gear", "torque_start"), ("cylinder", "force_start"), ("cylinder", "pressure_start"),
    ("actuator", "type"), *((drive, "type") for drive in ("servo", "gear", "cylinder", "spring")), ("beam", "shear"),  # one choice
    ("section", "shape"), ("nodal", "modes"),  # which other keys there are, and how long
}


def resolved(schema, name):
    """A schema without $ref, and the name of its definition, or else the name given."""
    while "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        schema = SCHEMA["$defs"][name]
    return schema, name


def choices(schema):
    return schema.get("oneOf", schema.get("anyOf", []))


def fits(value, schema):
    """Whether a value is meant by this one of several schemas."""
    schema, _ = resolved(schema, "")
    if not isinstance(value, dict): return schema.get("type") != "object" and "properties" not in schema
    properties = schema.get("properties", {})
    return set(value) <= set(properties) and all(value.get(key) == sub["const"] for key, sub in properties.items() if "const" in sub)


def is_object(schema):
    """Whether it has keys itself, which are looked at in its place."""
    return "properties" in schema or bool(choices(schema)) and all(is_object(resolved(choice, "")[0]) for choice in choices(schema))


def keys(schema=SCHEMA, name="robot"):
    """{(definition, key)} of numbers, choices and the like."""
    found = set()
    for key, sub in schema.get("properties", {}).items():
        inner, called = resolved(sub, f"{name}.{key}")
        if called == f"{name}.{key}" and "properties" in inner: found |= keys(inner, called)
        elif not is_object(inner) and not is_object(resolved(inner.get("items", {}), "")[0]): found.add((name, key))
    return found


def places(value, schema=SCHEMA, name="robot"):
    """(definition, key), object, schema of the key: also of keys that are left to their default."""
    schema, name = resolved(schema, name)
    for choice in choices(schema):
        if fits(value, choice): yield from places(value, choice, name)
    for item in value if isinstance(value, list) else []: yield from places(item, schema.get("items", {}), name)
    for key, sub in schema.get("properties", {}).items() if isinstance(value, dict) else []:
        yield (name, key), value, resolved(sub, "")[0]
        if key in value: yield from places(value[key], sub, f"{name}.{key}")


def others(value, schema, names):
    """Other values of a key, of which some may be valid."""
    if isinstance(value, bool): return [not value]
    if isinstance(value, (int, float)): return [1.1 * value + 0.01, value + 1, 0.9 * value, value - 1]
    if isinstance(value, list):
        inner = [[*value[:-2], 1.1 * value[-2], value[-1]]] if len(value) > 2 and isinstance(value[-2], (int, float)) else []
        return inner + [list(items) for items in zip(*(others(item, {}, names) for item in value))]
    if isinstance(value, dict): return [dict(zip(value, items)) for items in zip(*(others(item, {}, []) for item in value.values()))]
    return [choice for choice in schema.get("enum", [schema.get("const"), *names]) if choice not in (None, value)]


def library(robot, folder):
    """All results of the library at random states, as `limber generate` writes them into the test program; None: the robot is not valid."""
    file = folder / "robot.json"
    file.write_text(json.dumps({**robot, "name": "twin"}))
    answer = subprocess.run([LIMBER, "generate", file, "-o", folder / "code", "--wrenches"], capture_output=True, text=True)
    if answer.returncode != 0: return None
    program = (folder / "code/twin_test.c").read_text()
    return re.findall(r"_expected\[.*?\};", program, re.DOTALL)


def names_in(robot):
    parts = [part["name"] for key in ("links", "frames", "supplies") for part in robot.get(key, [])]
    return [*parts, "world", "hinge", "tip"]


def changing(robot, wanted, folder):
    """Those of the wanted keys that change the results."""
    found, before = set(), library(robot, folder)
    for k, (key, _, _) in enumerate(list(places(robot))):
        if key in found or key not in wanted: continue
        changed = copy.deepcopy(robot)
        key, at, schema = list(places(changed))[k]
        value = at.get(key[1], schema.get("default"))
        for other in others(value, schema, names_in(robot)):
            at[key[1]] = other
            now = library(changed, folder)
            if now is not None and now != before:
                found.add(key)
                break
    return found


def newest(name, folder):
    """A good file in the newest format."""
    file = ROOT / f"tests/data/good/{name}.json"
    if json.loads(file.read_text())["format"] != SCHEMA["properties"]["format"]["const"]:
        file, old = folder / "newest.json", file
        subprocess.run([LIMBER, "upgrade", old, "-o", file], capture_output=True, check=True)
    return json.loads(file.read_text())


def test_every_key_changes_the_results_of_some_robot(tmp_path):
    every = keys().union(*(keys(schema, name) for name, schema in SCHEMA["$defs"].items()))
    assert NO_EFFECT <= every
    missing = every - NO_EFFECT
    for name in ROBOTS: missing -= changing(newest(name, tmp_path), missing, tmp_path)
    assert not missing, f"add a robot that these keys change to ROBOTS, or what has no effect on the equations to NO_EFFECT: {sorted(missing)}"


@pytest.mark.parametrize("name", ROBOTS)
def test_the_generated_code_agrees(name, tmp_path):
    assert library(newest(name, tmp_path), tmp_path) is not None
    problem = generated_code.build_and_run(tmp_path / "code", generated_code.compilers()[0], "-O0")
    assert problem is None, problem
