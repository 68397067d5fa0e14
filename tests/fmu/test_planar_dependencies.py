"""Dependencies in the run: what is not declared never acts, at random states, inputs and parameters; of planar robots little is declared
in vain."""

import ctypes as ct
import json
from pathlib import Path

import numpy as np
import pytest
from fmus import COMPANIONS, RUN_ALL, opened
from importer import MODEL_EXCHANGE, OK, EventInfo, Instance

ROOT = Path(__file__).resolve().parents[2]
ROUNDING = 1e-9  # of the largest derivative of the vector by a move of nominal size


def started(fmu, parameters):
    """An instance in continuous-time mode."""
    one = Instance(fmu, MODEL_EXCHANGE)
    for name, value in parameters.items():
        if fmu.description.by_name[name].type == "Real": assert one.set({name: value}) == OK, one.log
        else: assert one.set_integer(name, int(value)) == OK
    one.initialise()
    assert one.NewDiscreteStates(ct.byref(EventInfo())) == OK and one.EnterContinuousTimeMode() == OK
    return one


def jacobians(fmu, random, points, parameters={}):
    """Names of unknowns and knowns, and derivatives by moves of nominal size, at random points: [point, unknown, known]. Inputs of a
    robot are forces; those of a companion are motions, which stay close to their start."""
    d = fmu.description
    unknowns, states, inputs = list(d.depends("Outputs", "Derivatives")), [v.name for v in d.states], [v.name for v in d.inputs]
    size = 1e-3 if fmu.archive.stem in COMPANIONS else 100.0
    moves = np.array([float(v.get("nominal")) for v in d.states] + [size] * len(inputs))
    one, found = started(fmu, parameters), []
    n, first = len(states), (ct.c_double * len(states))()
    one.GetContinuousStates(first, n)
    for _ in range(points):
        while True:  # until a cylinder inside the arm can be there
            x = np.array(first) + 0.4 * random.normal(size=n) * moves[:n]
            assert one.SetContinuousStates((ct.c_double * n)(*x), n) == OK
            one.set({v.name: float(v.get("start")) + size * random.normal() for v in d.inputs})
            if one.GetDerivatives((ct.c_double * n)(), n) == OK: break
        J, row = np.empty((len(unknowns), len(moves))), (ct.c_double * len(unknowns))()
        for k, name in enumerate([*states, *inputs]):
            assert one.GetDirectionalDerivative(one.references(unknowns), len(unknowns), one.references([name]), 1,
                                                (ct.c_double * 1)(moves[k]), row) == OK, one.log
            J[:, k] = row
        found.append(J)
    one.free()
    return unknowns, [*states, *inputs], np.array(found)


def shares(unknowns, J):
    """Derivatives as shares of the largest of their vector, moments of a link measured by its forces too."""
    stem = [name.split("[")[0].replace("root_moment", "root_force") for name in unknowns]
    size = np.abs(J).max(axis=(0, 2))
    size = np.array([max(s for s, other in zip(size, stem) if other == mine) for mine in stem])
    return np.abs(J).max(axis=0) / np.where(size > 0, size, 1)[:, None]


def check(fmu, random, points=2, parameters={}):
    """Asserts that nothing undeclared acts; the numbers of declared dependencies and of those that acted."""
    unknowns, knowns, J = jacobians(fmu, random, points, parameters)
    declared = fmu.description.depends("Outputs", "Derivatives")
    share = shares(unknowns, J)
    pattern = np.array([[known in declared[unknown] for known in knowns] for unknown in unknowns])
    worst = np.where(pattern, 0, share)
    i, j = np.unravel_index(worst.argmax(), worst.shape)
    assert worst[i, j] < ROUNDING, f"{unknowns[i]} depends on {knowns[j]}: {worst[i, j]:.1e}"
    return pattern.sum(), (pattern & (J != 0).any(axis=0)).sum()


# ---- every FMU --------------------------------------------------------------------------------------------------------------


def test_nothing_undeclared_acts(every_fmu):
    """A controller declares none in the run: its outputs are those of the last sample."""
    if not every_fmu.exchanged: assert not any(every_fmu.description.depends("Outputs").values())
    else: check(every_fmu, np.random.default_rng(5), points=1)


# ---- planar robots of resources/ --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot, spare", [("canadarm", 0.01), ("dualemps", 0.15), ("four-bar", 0.25), ("lin-lewis", 0.15)])
def test_planar_robots_declare_little_in_vain(pack, tmp_path, robot, spare):
    """Before the plane was used, a third of the Canadarm's dependencies and nearly half of the DualEMPS' were always zero."""
    fmu = opened(pack(ROOT / f"resources/{robot}.json"), tmp_path)
    declared, acting = check(fmu, np.random.default_rng(3), points=4, parameters={"gravity[1]": 1.0, "gravity[2]": 2.0, "gravity[3]": 3.0})
    print(f"{robot}: {declared} declared, {acting} act")
    assert declared - acting <= spare * declared


# ---- random robots --------------------------------------------------------------------------------------------------------


def point(random, n, depth):
    return {"xyz": [float((depth if k == n else 0.3) * random.normal()) for k in range(3)]}


def place(random, n, depth):
    """A frame turned about axis n."""
    return {**point(random, n, depth), "rpy": [float(random.uniform(-1.5, 1.5)) if k == n else 0.0 for k in range(3)]}


def mass(random, n, depth):
    """A rigid body whose center is off the plane, with products of inertia, unless depth is 0."""
    A = random.normal(size=(3, 3))
    if depth == 0: A[n, :], A[:, n] = 0, 0
    I = A @ A.T + 3 * np.eye(3)
    com = random.normal(size=3) * 0.1
    com[n] *= depth
    return {"mass": float(random.uniform(1, 3)), "com": com.tolist(), "inertia": [float(I[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]}


def robot(random, n, depth):
    """A tree that moves normal to axis n, with beams, rigid links, payload, frames, an actuator."""
    axis = [0.0] * 3
    axis[n] = float(random.choice([-1.0, 1.0]))
    links = []
    for i in range(int(random.integers(2, 5))):
        slides = random.random() < 0.3
        direction = random.normal(size=3)
        direction[n] = 0
        joint = {"name": f"j{i}", "type": "prismatic" if slides else "revolute", "origin": place(random, n, depth),
                 "axis": (direction / np.linalg.norm(direction)).tolist() if slides else axis}
        if random.random() < 0.3: joint["passive"] = True
        if random.random() < 0.5: joint["viscous"] = 0.3
        link = {"name": f"l{i}", "parent": "world" if i == 0 else f"l{int(random.integers(0, i))}", "joint": joint}
        if n > 0 and random.random() < 0.6:
            link["beam"] = {"length": 1.1, "mass_per_length": 2.0, ("EIz" if n == 2 else "EIy"): 400.0, "EA": 1e5, "damping_ratio": 0.01,
                            "modes": {("y" if n == 2 else "z"): {"shape": "clamped-free", "count": int(random.integers(1, 3))}}}
        else: link["rigid"] = {**mass(random, n, depth), "tip": place(random, n, depth)}
        if depth and random.random() < 0.5: link["payload"] = mass(random, n, depth)
        links.append(link)
    frames = [{"name": "spot", "link": links[-1]["name"], "sensor": True, "load": True, **place(random, n, depth)}]
    made = {"format": "limber-robot/2", "name": "random", "gravity": random.normal(size=3).tolist(), "links": links, "frames": frames,
            "elastic_terms": str(random.choice(["full", "linear", "ruthless"]))}
    if random.random() < 0.5:
        made["actuators"] = [{"name": "line", "type": "line", "from": {"link": "world", **point(random, n, depth)},
                              "to": {"link": links[0]["name"], "frame": "hinge", **point(random, n, depth)}}]
    return made


@pytest.mark.parametrize("seed", range(0, 18, 1 if RUN_ALL else 2))
def test_random_robots(pack, tmp_path, seed):
    random = np.random.default_rng(seed)
    n, depth, planar = seed % 3, (seed // 3) % 2, seed < 12
    made = robot(random, n, depth)
    if not planar:
        joint = made["links"][int(random.integers(len(made["links"])))]["joint"]
        joint["axis"] = (np.array(joint["axis"]) + 0.3 * random.normal(size=3)).tolist()
    file = tmp_path / f"random{seed}.json"
    file.write_text(json.dumps(made))
    fmu = opened(pack(file), tmp_path / "fmu")
    d = fmu.description
    other = {v.name: float(v.get("start")) * random.uniform(0.7, 1.4) + (random.normal() if v.get("min") is None else 0)
             for v in d.parameters if v.type == "Real" and not v.name.startswith("solver.") and "inertia[" not in v.name}
    other = {name: value for name, value in other.items() if "_start" not in name}
    for parameters in {}, other: check(fmu, random, parameters=parameters)
    if planar: assert d.depends("Outputs")[f"tip.position[{n + 1}]"] == set(), "not recognized as planar"
