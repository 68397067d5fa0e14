"""`limber linearize`: A, B, C, D against differences of `limber eval` and of the simulation's outputs, the static operating point,
the files for python-control and MATLAB, and what is refused."""

import csv
import functools
import importlib.util
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from coordinates import has_quaternion

ROOT = Path(__file__).resolve().parents[2]
CANADARM = ROOT / "resources/canadarm.json"
CIBICIK = ROOT / "resources/cibicik.json"
STATE = ["q", "qd", "tau", "tip_force", "tip_torque", "prescribed_qdd", "actuator_force"]
CART = {"format": "limber-robot/1", "name": "cart", "gravity": [0, 0, -9.81], "links": [
    {"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2}},
    {"name": "rod", "joint": {"type": "revolute", "axis": [0, 1, 0], "passive": True},
     "rigid": {"mass": 1, "com": [0, 0, 0.5], "inertia": [0.1, 0.1, 0, 0, 0, 0]}}]}

WEIGHT = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central differences of eighth order


@functools.cache
def load(file):
    return json.loads(file.read_text(encoding="utf-8"))


def references():
    quick = {"random-5", "crane-50", "prescribed-30", "nodal-20"}
    return [pytest.param(file, id=file.stem, marks=[pytest.mark.quick] * (file.stem in quick)) for file in sorted((ROOT / "tests/data/reference").glob("*.json"))
            if not load(file)["robot"].get("loops")  # those are in test_closed_analyses.py
            and not has_quaternion(load(file)["robot"])]  # those are in test_joints.py


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


# ---- derivatives -----------------------------------------------------------------------------------------------------


class Places:
    """Where a STATE has the value of an FMU variable."""

    def __init__(self, limber, file, robot):
        coordinates = answer(limber, "matrices", file, "-", state={})["coordinates"]
        joints = [link["joint"] | {"name": link["joint"].get("name", link["name"])} for link in robot["links"]]
        moving = [joint for joint in joints if joint["type"] != "fixed"]
        prescribed = [joint["name"] for joint in moving if joint.get("motion") == "prescribed"]
        self.place = {}
        for i, name in enumerate(coordinates):
            owner, rest = name.split(".")
            self.place[name] = ("q", i)
            self.place[f"{owner}.{rest.replace('eta', 'etad') if 'eta' in rest else 'qd'}"] = ("qd", i)
        for i, joint in enumerate(moving): self.place[f"{joint['name']}.tau"] = ("tau", i)
        for i, name in enumerate(prescribed): self.place[f"{name}.qdd"] = ("prescribed_qdd", i)
        for k in range(3):
            self.place[f"tip.force[{k + 1}]"] = ("tip_force", k)
            self.place[f"tip.torque[{k + 1}]"] = ("tip_torque", k)
        actuators = [actuator["name"] for actuator in robot.get("actuators", [])]
        for i, name in enumerate(actuators): self.place[f"{name}.force"] = ("actuator_force", i)
        # what eval tells of an output
        self.told = {f"{name.split('.')[0]}.qdd": ("qdd", i) for i, name in enumerate(coordinates) if name.endswith(".q")}
        self.told |= {f"{name}.tau": ("prescribed_tau", i) for i, name in enumerate(prescribed)}
        for key in "length", "rate": self.told |= {f"{name}.{key}": (f"actuator_{key}", i) for i, name in enumerate(actuators)}
        for key in ["position", "velocity", "angular_velocity", "acceleration"]:
            self.told |= {f"tip.{key}[{k + 1}]": (f"tip_{key}", k) for k in range(3)}

    def moved(self, state, names, steps):
        state = {key: list(values) for key, values in state.items()}
        for name, step in zip(names, steps):
            key, i = self.place[name]
            state[key][i] += step
        return state


def complete(state, robot):
    moving = [link["joint"] for link in robot["links"] if link["joint"]["type"] != "fixed"]
    sizes = {"tau": len(moving), "tip_force": 3, "tip_torque": 3,
             "prescribed_qdd": sum(joint.get("motion") == "prescribed" for joint in moving),
             "actuator_force": len(robot.get("actuators", []))}
    return {key: state.get(key, [0.0] * sizes.get(key, 0)) for key in STATE}


def direction(random, names):
    """Some of every state and input; modes less than joints, as they are small."""
    size = np.array([0.05 if ".eta" in name else 1.0 for name in names])
    return size * random.uniform(-1, 1, len(names))


def relative(names, got, want, value):
    """|got - want| by the size of value and slope of all components of a vector, and of force and moment together: they share
    their rounding."""
    vector = [re.sub(r"(_force|_moment)?\[\d\]$", "", name) for name in names]
    size = {key: 1 + sum(np.linalg.norm([x for x, own in zip(values, vector) if own == key]) for values in (want, value))
            for key in set(vector)}
    return np.array([abs(a - b) / size[key] for a, b, key in zip(got, want, vector)])


def derivative(function, h):
    return sum(weight * (function(k * h) - function(-k * h)) for k, weight in WEIGHT.items()) / h


@pytest.mark.parametrize("file", references())
def test_agrees_with_differences_of_eval(limber, tmp_path, file):
    """In a direction that varies all states and inputs at once. Differences of eighth order: rounding of accelerations, eps root
    cond(M) or about 1e-12 of them, over h."""
    robot, case = load(file)["robot"], load(file)["cases"][-1]
    path = write(tmp_path, robot)
    state = complete(case, robot)
    places = Places(limber, path, robot)
    found = answer(limber, "linearize", path, "--at", "-", state=state)
    A, B, C, D = matrices(found)
    told = [i for i, name in enumerate(found["outputs"]) if name in places.told]
    assert len(told) >= 12
    n = len(found["states"]) // 2
    free = [places.place[name][1] for name in found["states"][:n]]
    varied = found["states"] + found["inputs"]
    along = direction(np.random.default_rng(5), varied)

    def evaluate(t):
        point = answer(limber, "eval", path, "-", state=places.moved(state, varied, t * along))
        return np.concatenate([np.array(point["qdd"])[free],
                               [point[key][k] for key, k in (places.told[found["outputs"][i]] for i in told)]])

    value, names = evaluate(0), ["qdd[0]"] * n + [found["outputs"][i] for i in told]
    got = np.concatenate([(np.hstack([A, B]) @ along)[n:], (np.hstack([C, D]) @ along)[told]])
    tried = [derivative(evaluate, h) for h in (2e-3, 5e-4)]  # the better: some robots whirl, some are known less well
    error = min(relative(names, got, want, value).max() for want in tried)
    assert error <= 5e-9
    assert np.array_equal((np.hstack([A, B]) @ along)[:n], along[n:2 * n])  # d(q)/dt = qd


def simulated_outputs(limber, path, state, names, places, folder):
    """All outputs at a state: the first row of a simulation. Held: prescribed motions then begin with the rates of their row."""
    inputs = folder / "inputs.csv"
    with open(inputs, "w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["time", *names])
        table.writerow([0.0, *(repr(float(state[places.place[name][0]][places.place[name][1]])) for name in names)])
    done = run(limber, "simulate", path, "--until", "1e-9", "--step", "1e-9", "--at", "-", "--inputs", inputs, "--hold",
               state=state)
    assert done.returncode == 0
    assert all("valid for small" in line for line in done.stderr.splitlines())  # random states may bend links far
    first = next(csv.DictReader(io.StringIO(done.stdout)))
    return {name: float(value) for name, value in first.items()}


@pytest.mark.parametrize("name", ["canadarm-spatial", "prescribed-30", "nodal-20"])
def test_every_output_agrees_with_differences_of_the_simulation(limber, tmp_path, name):
    file = ROOT / f"tests/data/reference/{name}.json"
    robot, case = load(file)["robot"], load(file)["cases"][1]
    path = write(tmp_path, robot)
    state = complete(case, robot)
    places = Places(limber, path, robot)
    found = answer(limber, "linearize", path, "--at", "-", state=state)
    names = found["states"] + found["inputs"]
    _, _, C, D = matrices(found)
    along = direction(np.random.default_rng(6), names)

    def outputs(t):
        values = simulated_outputs(limber, path, places.moved(state, names, t * along), found["inputs"], places, tmp_path)
        return np.array([values[output] for output in found["outputs"]])

    error = relative(found["outputs"], np.hstack([C, D]) @ along, derivative(outputs, 1e-3), outputs(0))
    assert error.max() <= 5e-9, found["outputs"][int(np.argmax(error))]


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


def test_start_is_the_default(limber, tmp_path):
    robot = json.loads(CANADARM.read_text())
    robot["links"][0]["joint"]["start"] = {"position": 0.3, "velocity": 0.1}
    path = write(tmp_path, robot)
    at = {"q": [0.3] + [0] * 8, "qd": [0.1] + [0] * 8}
    assert answer(limber, "linearize", path) == answer(limber, "linearize", path, "--at", "-", state=at)
    assert answer(limber, "linearize", path)["operating_point"]["q"][0] == 0.3


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


def test_static_point_does_not_depend_on_where_the_modes_start(limber):
    start = {"q": [0.2, 0.5] + [0.0] * 6 + [1.0] + [0] * 6 + [0.3]}
    other = {"q": [0.2, 0.5] + [0.02] * 6 + [1.0] + [-0.01] * 6 + [0.3]}
    a, b = (answer(limber, "linearize", CIBICIK, "--static", "--at", "-", state=s)["operating_point"] for s in (start, other))
    assert np.allclose(a["q"], b["q"], rtol=0, atol=1e-8) and np.allclose(a["tau"], b["tau"], rtol=1e-7)


def test_static_point_is_that_of_itself(limber, tmp_path):
    """Where the search begins at the equilibrium nothing is left to do: rounding of the forces is no reason to refuse it."""
    for name in "cibicik", "nodal-20", "random-1":
        path = write(tmp_path, load(ROOT / f"tests/data/reference/{name}.json")["robot"])
        point = answer(limber, "linearize", path, "--static")["operating_point"]
        again = answer(limber, "linearize", path, "--static", "--at", "-", state=point)["operating_point"]
        assert again == point, name


def test_static_under_a_torque_on_the_tip(limber, tmp_path):
    """Such a torque has no potential, so the search is no minimisation."""
    def link(name, axis):
        return {"name": name, "joint": {"name": f"{name}_joint", "type": "revolute", "axis": axis},
                "beam": {"length": 1.3, "mass_per_length": 1.1, "EIz": 40, "EIy": 55, "GJ": 30, "foreshortening": True, "inertia_per_length": [1e-3, 5e-4, 6e-4],
                         "modes": {"y": {"shape": "craig-bampton", "count": 3}, "z": {"shape": "craig-bampton", "count": 3}, "twist": {"shape": "linear"}}}}
    path = write(tmp_path, {"format": "limber-robot/1", "name": "twisted", "gravity": [0, 0, -9.81],
                            "links": [link("first", [0, 0, 1]), link("second", [0, 1, 0])]})
    q = [0.2] + 7 * [0] + [-0.5] + 7 * [0]
    point = answer(limber, "linearize", path, "--static", "--at", "-", state={"q": q, "tip_torque": [12, -6, 20]})["operating_point"]
    assert np.abs(point["qdd"]).max() < 1e-3 and np.abs(point["q"]).max() > 0.2


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


def test_passive_joints_settle(limber, tmp_path):
    path = write(tmp_path, CART)
    for angle, rests in ((0.0, 0), (np.pi, np.pi), (3.141593, np.pi), (2.9, np.pi)):  # upright, hanging, hanging to seven digits, nearby
        point = answer(limber, "linearize", path, "--static", "--at", "-", state={"q": [0, angle]})["operating_point"]
        assert point["q"] == pytest.approx([0, rests], abs=1e-9) and np.abs(point["qdd"]).max() < 1e-9
    held = run(limber, "linearize", path, "--static", "--hold", "rod", "--at", "-", state={"q": [0, 0.5]})
    assert held.returncode == 0 and "passive joint 'rod' is held" in held.stderr


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


@pytest.mark.parametrize("arguments", [
    [], ["a", "b"], ["a", "--at"], ["a", "--python"], ["a", "--matlab"], ["a", "--nonsense"], ["a", "-o"], ["--static"], ["a", "-"]],
    ids=lambda arguments: " ".join(arguments) or "nothing")
def test_wrong_usage(limber_sanitized, arguments):
    done = subprocess.run([limber_sanitized, "linearize", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stdout == "" and "limber linearize --help" in done.stderr


@pytest.mark.quick
@pytest.mark.parametrize("state, named", [({"qddd": [1]}, "qddd"), ({"q": [1, 2]}, "q"), ({"tau": [1, 1, "x"]}, "tau[2]"), ([], "object")])
def test_bad_state_is_refused(limber_sanitized, state, named):
    done = run(limber_sanitized, "linearize", CANADARM, "--at", "-", state=state)
    assert done.returncode == 1 and done.stdout == "" and named in done.stderr and "Sanitizer" not in done.stderr


def test_files_that_are_missing_or_cannot_be_written(limber_sanitized, tmp_path):
    nowhere = tmp_path / "none" / "file"
    for options in [nowhere], [CANADARM, "--at", nowhere], [CANADARM, "--python", nowhere], [CANADARM, "--matlab", nowhere]:
        done = run(limber_sanitized, "linearize", *options)
        assert done.returncode == 1 and str(nowhere) in done.stderr


def test_what_cannot_be_computed(limber_sanitized, tmp_path):
    loose = {"format": "limber-robot/1", "name": "loose", "links": [
        {"name": "ghost", "joint": {"type": "revolute"}, "rigid": {"mass": 0}}]}
    done = run(limber_sanitized, "linearize", write(tmp_path, loose))
    assert done.returncode == 3 and done.stdout == "" and "'ghost'" in done.stderr
    huge = {**loose, "links": [{"name": "heavy", "joint": {"type": "prismatic", "stiffness": 1e300}, "rigid": {"mass": 1e-300}}]}
    done = run(limber_sanitized, "linearize", write(tmp_path, huge))
    assert done.returncode == 3 and done.stdout == "" and "not finite" in done.stderr


def test_help(limber):
    done = subprocess.run([limber, "linearize", "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""
    assert all(word in done.stdout for word in ("--at", "--static", "--python", "--matlab", "operating_point"))
