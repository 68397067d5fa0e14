"""FMUs with generated code (limber fmu --generated): the same variables, the same results, and the library's wherever the code does not
apply."""

import json
import os
import subprocess

import pytest
from conftest import PAYLOAD_ARM
from fmus import ROBOTS, RUN_ALL, TEST_ROBOTS
from importer import OK, Instance, unzip

STEPS, STEP = 40, 0.005


@pytest.fixture
def generated(pack, tmp_path_factory):
    """generated(robot file, options): the FMU with generated code, unzipped."""
    return lambda robot, *options: unzip(pack(robot, "--generated", *options), tmp_path_factory.mktemp("generated"))


def forces(package):
    """Inputs that push: of all kinds, none of them zero."""
    pushed = [name for name in package.inputs if name.split("[")[0].split(".")[-1] in ("tau", "force", "torque", "command")]
    return {name: (-1) ** i * (1.0 + 0.3 * (i % 4)) for i, name in enumerate(pushed)}


def run(package, parameters=(), midway=()):
    """All outputs by column after each step; the messages."""
    instance = Instance(package, logging=True)
    assert instance.set({**forces(package), **dict(parameters)}) == OK
    instance.initialise()
    rows = []
    for i in range(STEPS):
        if i == STEPS // 2 and midway: assert instance.set(dict(midway)) == OK
        assert instance.step(i * STEP, STEP) == OK, instance.log
        rows.append(instance.get(*package.outputs))
    texts = [text for _, _, text in instance.log]
    instance.free()
    return dict(zip(package.outputs, zip(*rows))), texts


def error(a, b):
    """The largest difference of a variable, as a part of what is allowed: 1e-9 of the variable's own range, and rounding errors: 1e-10 of
    its largest value (moments that hold a constant torque have no range), 2e-15 (deflections are differences of positions in meters)."""
    worst = 0
    for name, column in a.items():
        allowed = 1e-9 * (max(column) - min(column)) + 1e-10 * max(map(abs, column)) + 2e-15
        worst = max(worst, max(abs(x - y) for x, y in zip(column, b[name])) / allowed)
    return worst


def loaded_frames(folder):
    """An arm with wrenches on a frame at a station of a beam and on one on a rigid link, and couplings of its joints."""
    robot = {"format": "limber-robot/3", "name": "loaded", "gravity": [0, 0, -9.81], "links": [
        {"name": "boom", "joint": {"name": "slew", "type": "revolute", "axis": [0, 0, 1], "viscous": 2},
         "beam": {"length": 2, "mass_per_length": 3, "EIy": 9000, "EIz": 7000, "damping_ratio": 0.01, "stiffening": "none",
                  "modes": {"y": {"shape": "clamped-free", "count": 2}, "z": {"shape": "clamped-free", "count": 1}}}},
        {"name": "jib", "joint": {"name": "luff", "type": "revolute", "axis": [0, 1, 0]},
         "rigid": {"mass": 2, "com": [0.4, 0, 0.1], "inertia": [0.1, 0.2, 0.2, 0, 0, 0], "tip": {"xyz": [1, 0, 0]}},
         "payload": {"mass": 1.5, "com": [0.1, 0, 0]}},
        {"name": "hand", "joint": {"name": "roll", "type": "revolute", "axis": [1, 0, 0]},
         "rigid": {"mass": 1, "com": [0.1, 0.1, 0], "inertia": [0.1, 0.2, 0.2, 0, 0, 0]}}],
        "couplings": [{"name": "gear", "terms": {"slew.q": 1, "roll.q": -0.5}},
                      {"name": "belt", "terms": {"slew.q": 1, "luff.q": 2}, "stiffness": 200, "damping": 3, "backlash": 0.01}],
        "frames": [{"name": "midspan", "link": "boom", "at": 1.1, "load": True},
                   {"name": "bracket", "link": "jib", "at": "hinge", "xyz": [0.5, 0.1, 0], "load": True}]}
    file = folder / "loaded.json"
    file.write_text(json.dumps(robot))
    return file


# Both integrate with the same steps, and the functions differ by rounding
@pytest.mark.parametrize("name", ["canadarm", "dualemps", "crane-drives", "free", "loaded and coupled",
                                  *(["cibicik", "crane", "cibicik-servo-drives"] if RUN_ALL else [])])
def test_variables_are_the_same_and_results_agree(name, generated, pack, root, tmp_path):
    robot = {"free": TEST_ROBOTS / "f2-free.json", "loaded and coupled": loaded_frames(tmp_path), **ROBOTS}[name]
    fmu, package = pack(robot), generated(robot)
    library = unzip(fmu, tmp_path / "library")
    assert (package.folder / "modelDescription.xml").read_text() == (library.folder / "modelDescription.xml").read_text()
    (expected, _), (found, texts) = run(library), run(package)
    assert any("steps use generated code" in text for text in texts)
    assert 0 < error(expected, found) <= 1  # more than 0: it is other code


def payload_arm(folder):
    file = folder / "payload_arm.json"
    file.write_text(PAYLOAD_ARM)
    return file


# The arm falls; what is set before the start and what is set between steps
@pytest.mark.parametrize("parameters, midway, kept", [({"lower.payload.mass": 0.9}, {}, True), ({}, {"lower.payload.mass": 1.1}, True),
                                                      ({}, {"lower.payload.mass": 1.1}, False), ({"upper.EIz": 400.0}, {}, True),
                                                      ({"gravity[2]": -3.7}, {}, True), ({"gravity[2]": -3.7}, {}, False)])
def test_parameters_act(parameters, midway, kept, generated, arm, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    package = generated(payload_arm(folder), *(["--keep", "payload.mass", "--keep", "gravity"] if kept else []))
    (expected, _), (found, texts) = run(arm, parameters, midway), run(package, parameters, midway)
    assert error(expected, found) <= 1
    left = [text for text in texts if "the library computes instead" in text]
    changed = next(iter({**parameters, **midway}))
    assert len(left) == (0 if kept and changed != "upper.EIz" else 1) and all(changed in text for text in left)


def test_code_of_another_file_is_left_aside(generated, limber, tmp_path):
    """robot.json and guid were replaced, the library was not."""
    package = generated(payload_arm(tmp_path))
    robot = package.resources / "robot.json"
    robot.write_text(robot.read_text().replace('"EIz": 500.0', '"EIz": 300.0'))
    subprocess.run([limber, "fmu", robot, "-o", tmp_path / "other.fmu"], check=True, capture_output=True)
    other = unzip(tmp_path / "other.fmu", tmp_path / "other")
    package.guid = other.guid
    (expected, _), (found, texts) = run(other), run(package)
    assert any("of another robot file" in text for text in texts) and found == expected


def test_unknown_parameters_are_refused(limber, tmp_path):
    for option, code, says in (["--generated", "--keep", "upper.payload.mass"], 1, "upper.payload.mass"), (["--keep", "gravity"], 2, "--generated"):
        result = subprocess.run([limber, "fmu", payload_arm(tmp_path), "-o", tmp_path / "a.fmu", *option], capture_output=True, text=True)
        assert result.returncode == code and says in result.stderr and not (tmp_path / "a.fmu").exists()


@pytest.mark.parametrize("compiler, says", [("no-such-compiler", "install gcc or clang"), ("false", "failed")])
def test_without_a_compiler_the_message_says_what_to_install(compiler, says, limber, root, tmp_path):
    result = subprocess.run([limber, "fmu", root / "resources/canadarm.json", "-o", tmp_path / "a.fmu", "--generated"],
                            capture_output=True, text=True, env={**os.environ, "CC": compiler, "TMPDIR": str(tmp_path)})
    assert result.returncode == 1 and compiler in result.stderr and says in result.stderr and "gcc" in result.stderr
    assert list(tmp_path.iterdir()) == []  # no FMU, and the temporary folder is gone


def test_the_compiler_has_spaces_or_many_options(limber, root, tmp_path):
    for variables in {"CC": "  "}, {"CC": "cc -g0", "CFLAGS": "-g0 " * 100}:
        done = subprocess.run([limber, "fmu", root / "resources/canadarm.json", "-o", tmp_path / "a.fmu", "--generated"], capture_output=True,
                              text=True, env={**os.environ, **variables})
        assert done.returncode == 0 and "for Linux only: generated code" in done.stdout, done.stderr
    result = subprocess.run([limber, "fmu", root / "resources/canadarm.json", "-o", tmp_path / "b.fmu", "--generated"],
                            capture_output=True, text=True, env={**os.environ, "CFLAGS": "-g0 " * 1000})
    assert result.returncode == 1 and "CFLAGS" in result.stderr and not (tmp_path / "b.fmu").exists()
