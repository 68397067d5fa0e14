"""`limber linearize`: names, the static operating point, the files for python-control and MATLAB, and what is refused. The matrices are
in test_derivatives.py."""

import functools
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
CANADARM = ROOT / "resources/canadarm.json"
CIBICIK = ROOT / "resources/cibicik.json"
CART = {"format": "limber-robot/1", "name": "cart", "gravity": [0, 0, -9.81], "links": [
    {"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2}},
    {"name": "rod", "joint": {"type": "revolute", "axis": [0, 1, 0], "passive": True},
     "rigid": {"mass": 1, "com": [0, 0, 0.5], "inertia": [0.1, 0.1, 0, 0, 0, 0]}}]}


@functools.cache
def load(file):
    return json.loads(file.read_text(encoding="utf-8"))


def run(limber, command, robot, *options, state=None):
    return subprocess.run([limber, command, robot, *options], input=None if state is None else json.dumps(state),
                          capture_output=True, text=True, timeout=60)


def answer(limber, command, robot, *options, state=None):
    done = run(limber, command, robot, *options, state=state)
    said = [line for line in done.stderr.splitlines() if "in the static equilibrium:" not in line]  # links that bend far
    assert (done.returncode, said) == (0, [])
    return json.loads(done.stdout)


def write(folder, robot):
    file = folder / "robot.json"
    file.write_text(json.dumps(robot))
    return file


def matrices(found):
    return [np.array(found[key], dtype=float).reshape(len(found[rows]), len(found[columns]))
            for key, rows, columns in [("A", "states", "states"), ("B", "states", "inputs"),
                                       ("C", "outputs", "states"), ("D", "outputs", "inputs")]]


def test_names_are_those_of_the_fmu(limber):
    found = answer(limber, "linearize", CANADARM)
    assert found["states"][:4] == ["upper_joint.q", "upper.eta[1]", "upper.eta[2]", "lower_joint.q"]
    assert len(found["states"]) == 18 and found["states"][9] == "upper_joint.qd" and found["states"][17] == "wrist.etad[2]"
    assert found["inputs"] == [*(f"{joint}_joint.tau" for joint in ("upper", "lower", "wrist")),
                               *(f"tip.{kind}[{k}]" for kind in ("force", "torque") for k in (1, 2, 3))]
    header = run(limber, "simulate", CANADARM, "--until", "1e-9", "--step", "1e-9").stdout.splitlines()[0].split(",")
    assert found["outputs"] == header[1:1 + len(found["outputs"])] and found["outputs"][-1] == "wrist.root_moment[3]"
    assert not any(name.startswith(("energy", "power")) for name in found["outputs"])
    A, B, C, D = matrices(found)
    assert A.shape == (18, 18) and B.shape == (18, 9) and C.shape == (61, 18) and D.shape == (61, 9)


def test_operating_point_is_a_state(limber):
    random = np.random.default_rng(2)
    state = {"q": list(0.1 * random.standard_normal(9)), "qd": list(0.1 * random.standard_normal(9)),
             "tau": [1.0, 2.0, -3.0], "tip_force": [1.0, 2.0, 3.0], "tip_torque": [-1.0, 0.5, 0.25]}
    found = answer(limber, "linearize", CANADARM, "--at", "-", state=state)
    point = found["operating_point"]
    assert {key: point[key] for key in state} == state
    assert answer(limber, "linearize", CANADARM, "--at", "-", state=point) == found
    told = answer(limber, "eval", CANADARM, "-", state=point)
    assert told["qdd"] == point["qdd"]
    drives = np.array(told["inverse"])[[0, 3, 6]]
    assert np.allclose(drives, state["tau"], rtol=0, atol=1e-9 * np.linalg.norm(told["bias"]))


# ---- the static operating point --------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("tip_force", [[0, 0, 0], [30.0, -20.0, 50.0]])
def test_static_point_is_an_equilibrium(limber, tip_force):
    """Rates zero, and nothing accelerates: M qdd is rounding of the forces, 1e-8 being what the equilibrium is found to."""
    n = len(answer(limber, "matrices", CIBICIK, "-", state={})["coordinates"])
    state = {"q": [0.2, 0.5] + [0.01] * 6 + [1.0] + [0] * 6 + [0.3], "qd": [0.1] * n, "tau": [5.0] * 4, "tip_force": tip_force}
    assert len(state["q"]) == n
    point = answer(limber, "linearize", CIBICIK, "--static", "--at", "-", state=state)["operating_point"]
    joints = [0, 1, 8, 15]
    assert [point["q"][i] for i in joints] == [state["q"][i] for i in joints]
    assert point["qd"] == [0] * n and point["tip_force"] == tip_force and all(tau != 5 for tau in point["tau"])
    told = answer(limber, "eval", CIBICIK, "-", state=point)
    force = np.array(told["mass_matrix"]) @ np.array(told["qdd"])
    weight = np.array(answer(limber, "matrices", CIBICIK, "-", state=point)["G"])
    assert np.linalg.norm(force) <= 1e-8 * np.linalg.norm(weight)
    assert np.abs(point["q"][2:8]).max() > 1e-4  # it bends
    moved = {"q": [q if i in joints else 0 for i, q in enumerate(point["q"])], "tau": point["tau"], "tip_force": tip_force}
    straight = answer(limber, "eval", CIBICIK, "-", state=moved)
    assert np.linalg.norm(np.array(straight["mass_matrix"]) @ np.array(straight["qdd"])) > 1e-3 * np.linalg.norm(weight)


def test_static_point_is_that_of_itself(limber, tmp_path):
    """Where the search begins at the equilibrium nothing is left to do: rounding of the forces is no reason to refuse it."""
    for name in "cibicik", "nodal-20", "random-1":
        path = write(tmp_path, load(ROOT / f"tests/data/reference/{name}.json")["robot"])
        point = answer(limber, "linearize", path, "--static")["operating_point"]
        again = answer(limber, "linearize", path, "--static", "--at", "-", state=point)["operating_point"]
        assert again == point, name


def test_static_holds_prescribed_joints(limber, tmp_path):
    robot = {**CART, "links": [CART["links"][0], {**CART["links"][1], "joint": {"type": "revolute", "axis": [0, 1, 0],
                                                                                "motion": "prescribed"}}]}
    state = {"q": [0, 0.7], "qd": [0.1, 2.0], "prescribed_qdd": [3.0]}
    path = write(tmp_path, robot)
    found = answer(limber, "linearize", path, "--static", "--at", "-", state=state)
    point = found["operating_point"]
    assert point["q"] == [0, 0.7] and point["qd"] == [0, 0] and point["prescribed_qdd"] == [0] and point["qdd"] == [0, 0]
    assert found["states"] == ["cart.q", "cart.qd"] and {"rod.q", "rod.qd", "rod.qdd"} <= set(found["inputs"])
    assert "rod.tau" in found["outputs"]
    _, _, _, D = matrices(found)  # the drive: m l g sin q, upside down, and its slope
    slope = D[found["outputs"].index("rod.tau"), found["inputs"].index("rod.q")]
    assert np.isclose(slope, -1 * 0.5 * 9.81 * np.cos(0.7), rtol=1e-12)


# ---- python-control and MATLAB ---------------------------------------------------------------------------------------

CONTROL = """
class System: pass
def ss(A, B, C, D, states, inputs, outputs, name):
    if any("." in signal for signal in inputs + outputs): raise ValueError("python-control takes no dots in names of signals")
    system = System()
    system.__dict__.update(A=A, B=B, C=C, D=D, states=states, inputs=inputs, outputs=outputs, name=name)
    return system
"""


def imported(folder, module, monkeypatch):
    """The module, with a stand-in for python-control that keeps what control.ss was given and has its rules for names."""
    stand_in = importlib.util.module_from_spec(importlib.util.spec_from_loader("control", loader=None))
    exec(CONTROL, stand_in.__dict__)
    monkeypatch.setitem(sys.modules, "control", stand_in)
    spec = importlib.util.spec_from_file_location(module, folder / f"{module}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize("robot", ["resources/cibicik.json", "tests/data/good/smallest.json"])
def test_python_module(limber, tmp_path, monkeypatch, robot):
    found = answer(limber, "linearize", ROOT / robot, "--python", tmp_path / "arm.py")
    system = imported(tmp_path, "arm", monkeypatch).system
    for got, want in zip([system.A, system.B, system.C, system.D], matrices(found)):
        assert got.shape == want.shape and np.array_equal(got, want)
    for key in "states", "inputs", "outputs":
        assert [name.replace("/", ".") for name in getattr(system, key)] == found[key]
    assert system.name == json.loads((ROOT / robot).read_text())["name"]


def matlab_matrix(text, name):
    body, rows, columns = re.search(rf"^{name} = reshape\(\[(.*?)\], (\d+), (\d+)\);$", text, re.M | re.S).groups()
    lines = [line.strip() for line in body.strip().split(";") if line.strip()]
    return np.array([[float(x) for x in line.split(",")] for line in lines]).reshape(int(rows), int(columns))


def matlab_list(text, name):
    return re.findall(r"'([^']*)'", re.search(rf"^sys\.{name} = \{{(.*)\}};$", text, re.M).group(1))


def test_matlab_script(limber, tmp_path):
    found = answer(limber, "linearize", CIBICIK, "--matlab", tmp_path / "arm.m")
    text = (tmp_path / "arm.m").read_text()
    for name, want in zip("ABCD", matrices(found)): assert np.array_equal(matlab_matrix(text, name), want)
    for key, name in ("states", "State"), ("inputs", "Input"), ("outputs", "Output"):
        assert matlab_list(text, f"{name}Name") == found[key] and len(matlab_list(text, f"{name}Unit")) == len(found[key])
    assert matlab_list(text, "InputUnit")[0] == "N.m" and matlab_list(text, "StateUnit")[:3] == ["rad", "rad", "m"]
    assert "sys = ss(A, B, C, D);" in text.splitlines()


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_what_cannot_be_computed(limber_sanitized, tmp_path):
    loose = {"format": "limber-robot/1", "name": "loose", "links": [
        {"name": "ghost", "joint": {"type": "revolute"}, "rigid": {"mass": 0}}]}
    done = run(limber_sanitized, "linearize", write(tmp_path, loose))
    assert done.returncode == 3 and done.stdout == "" and "'ghost'" in done.stderr
    huge = {**loose, "links": [{"name": "heavy", "joint": {"type": "prismatic", "stiffness": 1e300}, "rigid": {"mass": 1e-300}}]}
    done = run(limber_sanitized, "linearize", write(tmp_path, huge))
    assert done.returncode == 3 and done.stdout == "" and "not finite" in done.stderr
