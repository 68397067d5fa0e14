"""Exact derivatives: fmi2GetDirectionalDerivative and `limber linearize` against complex steps through the judge, on the reference
robots and on random robots with frames.

f(x + i h) = f(x) + i h f'(x) - h^2/2 f''(x) ...: with h = 1e-30 the imaginary part is h f' to rounding, nothing being
subtracted. Along any direction the equations of motion ID(q, qd, qdd, tip wrench) = tau go on to hold, so

    dID at fixed qdd + M dqdd = dtau        (with loops: ID less G' lambda, and G qdd + G_dot qd = 0)

is what says whether dqdd is right. It is not solved here: M has condition numbers up to 1e8, which would take as many digits from
the judge's dqdd. The FMU's qdd and dqdd are put into it, and into the judge's outputs, and what is left is compared with the
terms that were added up. Errors are relative to the largest of them among knowns of a kind (all joint angles, all modal
rates, ...), at least to what a derivative by an angle or a rate is made of: a force turns with a joint as the whole."""

import ctypes as ct
import functools
import json

import numpy as np
import pytest
from coordinates import Coordinates
from importer import MODEL_EXCHANGE, OK, Instance, unzip
from judge import Robot
from program import SEVERAL_JOINTS, Program
from random_robots import boom, closed_boom, coupled_boom, random_state
from test_reference import FILES, STATE, flat, load

STEP = 1e-30
TOLERANCE = 1e-11


@functools.cache
def judge_of(file):
    return Robot(load(file)["robot"])


def inputs_of(case):
    return [np.array(case[key], float) for key in ("q", "qd", "tip_force", "tip_torque")]


# ---- the judge is judged: the reference's numbers come from another program -------------------------------------------------


def accelerations(robot, case):
    """qdd, forces of prescribed joints, multipliers of loops."""
    q, qd, force, torque = inputs_of(case)
    M, qdd, free = robot.mass_matrix(q), np.zeros(robot.n), robot.free
    qdd[robot.prescribed] = case.get("prescribed_qdd", [])
    wrench = robot.wrenches(case.get("frame_wrench", {}))
    needed = robot.inverse(q, qd, qdd, force, torque, np.array(case.get("actuator_force", [])), wrench=wrench)
    given = np.zeros(robot.n)
    given[robot.driven] = case["tau"]
    # M qdd - G' lambda = tau - needed,  G qdd = -G_dot qd
    G, bias = np.zeros((0, robot.n)), np.zeros(0)
    if robot.closed:
        G = robot.gap([q, np.eye(robot.n)])[1].T
        bias = robot.gap([q, qd, qdd])[2]
    whole = np.block([[M[np.ix_(free, free)], -G[:, free].T], [G[:, free], np.zeros((len(G), len(G)))]])
    answer = np.linalg.solve(whole, np.concatenate([(given - needed)[free], -bias]))
    qdd[free], multiplier = answer[:len(free)], answer[len(free):]
    return qdd, (needed + M[:, free] @ qdd[free] - G.T @ multiplier)[robot.prescribed], multiplier


def answers(robot, case, sites, qdd=None):
    """What `eval` says, by the judge; with the accelerations qdd where frames have some, or its own."""
    q, qd, force, torque = inputs_of(case)
    out = {"mass_matrix": robot.mass_matrix(q), "bias": robot.inverse(q, qd, np.zeros(robot.n), np.zeros(3), np.zeros(3))}
    out["kinetic_energy"], out["potential_energy"] = robot.energies(q, qd)
    out["qdd"], drives, multiplier = accelerations(robot, case)
    if robot.prescribed: out["prescribed_tau"] = drives
    if robot.closed: out["lambda"], (out["gap"], out["gap_rate"]) = multiplier, robot.gap([q, qd])
    qdd = out["qdd"] if qdd is None else np.array(qdd)
    for prefix, site in ("tip_", robot.tip_site), *((f"{name}.", robot.site[name]) for name in sites):
        out |= {prefix + key: y for key, y in robot.answered(q, qd, qdd, site).items()}
    lines = list(robot.lines(robot.frames([q, qd])))
    out |= {f"{name}.force": y for name, y in robot.coupled(q, qd, multiplier).items()}
    if lines: out |= {f"actuator_{key}": np.array([line[k] for line in lines]) for k, key in ((1, "length"), (2, "rate"))}
    return out


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_judge_agrees_with_the_reference(file):
    robot = judge_of(file)
    for case in load(file)["cases"]:
        found = answers(robot, case, case.get("frames", {}), case["qdd"])
        expected = flat({key: value for key, value in case.items() if key not in STATE})
        assert found.keys() == expected.keys()
        for key, value in found.items():
            rounding = 1e-15 * np.linalg.norm(case["mass_matrix"]) * (1 + np.linalg.norm(case["qd"]) ** 2) if key == "bias" else 0
            assert np.linalg.norm(value - np.array(expected[key])) <= 1e-10 * np.linalg.norm(expected[key]) + rounding, key


# ---- the FMU: values and derivatives in a state of the reference ------------------------------------------------------------


class Names:
    """Names of a robot's variables, knowns as {name: (argument of the judge, entry)}."""

    def __init__(self, description, robot):
        self.robot, names = robot, Coordinates(description)
        self.known = {}
        for key, of_key in ("q", names.positions), ("qd", names.velocities):
            self.known |= {name: (key, k) for k, name in enumerate(of_key)}
        self.known |= {names.accelerations[k]: ("qdd", k) for k in robot.prescribed}
        self.known |= {name: ("tau", robot.driven[names.forces.index(name)]) for name in names.inputs}
        self.tangent, self.velocity, self.acceleration = names.tangent, names.velocities, names.accelerations
        for k in range(3): self.known |= {f"tip.force[{k + 1}]": ("force", k), f"tip.torque[{k + 1}]": ("torque", k)}
        for k, name in enumerate(robot.actuators): self.known[f"{name}.force"] = ("push", k)
        for i, name in enumerate(robot.site):
            if name not in robot.loads: continue
            self.known |= {f"{name}.{key}[{k + 1}]": ("wrench", 6 * i + 3 * (key == "torque") + k) for key in ("force", "torque") for k in range(3)}
        self.multiplier = [f"{name}.force[{k + 1}]" for name, loop in robot.loops.items() for k in range(len(loop.along))]
        self.multiplier += [f"{name}.force" for name in robot.rigid]
        self.drive = [names.forces[robot.driven.index(k)] for k in robot.prescribed]

    @property
    def kinds(self): return np.array([name.split(".")[1].split("[")[0] for name in self.known])

    def arguments(self, case):
        """Of the judge in a state, without accelerations and multipliers."""
        q, qd, force, torque = inputs_of(case)
        at = {"q": q, "qd": qd, "qdd": np.zeros(self.robot.n), "force": force, "torque": torque, "tau": np.zeros(self.robot.n),
              "push": np.array(case.get("actuator_force", [])), "wrench": self.robot.wrenches(case.get("frame_wrench", {}))}
        assert case.get("frame_wrench", {}).keys() <= set(self.robot.loads)
        at["tau"][self.robot.driven] = case["tau"]
        at["qdd"][self.robot.prescribed] = case.get("prescribed_qdd", [])
        return at

    def seed(self, at):
        """A direction of each argument for every known."""
        seed = {key: np.zeros((len(self.known), len(value))) for key, value in at.items()}
        for row, (key, k) in enumerate(self.known.values()): seed[key][row, k] = 1
        return seed


class Subject(Names):
    """A model-exchange instance."""

    def __init__(self, description, robot, package):
        super().__init__(description, robot)
        self.instance = Instance(package, MODEL_EXCHANGE).initialise()

    def go(self, case):
        """Sets states and inputs; the judge's arguments there, accelerations and multipliers being the FMU's."""
        at = self.arguments(case)
        assert self.instance.set({name: at[key][k] for name, (key, k) in self.known.items()}) == OK, self.instance.log
        at["qdd"][self.robot.free] = self.values([self.acceleration[k] for k in self.robot.free])
        at["multiplier"] = self.values(self.multiplier)
        return at

    def values(self, names):
        return np.atleast_1d(self.instance.get(*names))

    def slopes(self, names):
        """(knowns, names)"""
        unknown, one, out = self.instance.references(names), (ct.c_double * 1)(1.0), (ct.c_double * len(names))()
        rows = []
        for known in self.known:
            status = self.instance.GetDirectionalDerivative(unknown, len(names), self.instance.references([known]), 1, one, out)
            assert status == OK, self.instance.log
            rows.append(list(out))
        return np.array(rows)


class Linearized(Names):
    """A, B, C, D of `limber linearize`. The quaternion of the operating point stays where it is: directions of q are in its tangent."""

    def __init__(self, program, description):
        super().__init__(description, Robot(description))
        self.program, self.description = program, description

    def go(self, case):
        """Linearizes in a state; the arguments of the judge there, accelerations and multipliers being those of `eval`."""
        at, state = self.arguments(case), {key: case[key] for key in STATE if key in case}
        found, told = (self.program.json(*words, state=state) for words in (("linearize", self.description, "--at", "-"), ("eval", self.description, "-")))
        self.outputs, at["qdd"], at["multiplier"] = found["outputs"], np.array(told["qdd"]), np.array(told.get("lambda", []))
        for joint in self.robot.moving:  # used as unit quaternions
            if joint.type in ("spherical", "free"): at["q"][joint.quaternion[0]] /= np.linalg.norm(at["q"][joint.quaternion[0]])
        matrix = lambda key, rows, columns: np.array(found[key], float).reshape(len(found[rows]), len(found[columns]))
        of_states = np.hstack([matrix("A", "states", "states"), matrix("B", "states", "inputs")])
        of_outputs = np.hstack([matrix("C", "outputs", "states"), matrix("D", "outputs", "inputs")])
        free = [self.acceleration[k] for k in self.robot.free]
        self.kinematics, of_rates = np.split(of_states, 2)
        self.slope = dict(zip(found["outputs"], of_outputs)) | dict(zip(free, of_rates))
        places = self.known | {name: ("tangent", k) for k, name in enumerate(self.tangent)}
        self.known = {name: places[name] for name in found["states"] + found["inputs"]}
        assert found["states"] == [names[k] for names in (self.tangent, self.velocity) for k in self.robot.free]
        return at

    def seed(self, at):
        seed = super().seed(at | {"tangent": np.zeros(self.robot.n)})
        seed["q"] += seed.pop("tangent") @ self.robot.tangent(at["q"]).T
        return seed

    def values(self, names): return None

    def slopes(self, names): return np.array([self.slope[name] for name in names]).reshape(len(names), len(self.known)).T


def started(file):
    """The robot of a reference file, which has no start positions, with some that its loops accept."""
    robot = load(file)["robot"]
    near = {"ball-40": {"j0": -1.447, "j1": -1.45, "k0": -0.907, "k1": 6.978}}.get(file.stem, {})
    for link in robot["links"]:
        if link["joint"].get("name") in near: link["joint"]["start"] = {"position": near[link["joint"]["name"]]}
    if robot["format"] != "limber-robot/1":
        for loop in robot.get("loops", []): loop["start"] = "approximate"
    return robot


@pytest.fixture(scope="session")
def subject(pack, tmp_path_factory):
    """subject(reference file) is its FMU, started."""
    folder, made = tmp_path_factory.mktemp("reference"), {}

    def of(file):
        if file not in made:
            robot = folder / f"reference-{file.name}"
            robot.write_text(json.dumps(started(file)))
            made[file] = Subject(load(file)["robot"], judge_of(file), unzip(pack(robot), folder / file.stem))
        return made[file]

    yield of
    for subject in made.values(): subject.instance.free()


# ---- complex steps ------------------------------------------------------------------------------------------------------------

ARGUMENTS = ("q", "qd", "qdd", "force", "torque", "push", "multiplier", "wrench")


def along(function, at, seed):
    """Derivative of a function of the judge in each direction; those that leave q alone share one Jacobian."""
    moved = [at[key] + 1j * STEP * seed[key] for key in ARGUMENTS]
    turns = seed["q"].any(axis=1)
    out = np.empty(seed["qdd"].shape)
    out[turns] = function(*[x[turns] for x in moved]).imag / STEP
    out[~turns] = function(at["q"] + 0j, *[x[~turns] for x in moved[1:]]).imag / STEP
    return out


class Worst(dict):
    """The largest error of each sort."""

    def __str__(self): return ", ".join(f"{sort} {error:.0e}" for sort, error in sorted(self.items()))

    def add(self, sort, error, scale):
        error, scale = np.broadcast_arrays(np.abs(error), scale)
        relative = np.where(error == 0, 0, error / np.where(scale == 0, np.finfo(float).tiny, scale))
        assert np.isfinite(relative).all(), sort
        self[sort] = max(self.get(sort, 0.0), relative.max(initial=0))


def equations(subject, at, seed, worst):
    """dID at fixed qdd + M dqdd - G' dlambda - dtau, row by row; rows of prescribed joints tell their drives' derivatives. And
    with loops the acceleration of their gaps, which is zero."""
    robot = subject.robot
    M, G = robot.mass_matrix(at["q"]), np.zeros((0, robot.n))
    if robot.closed: G = robot.gap([at["q"], np.eye(robot.n)])[1].T
    free = robot.free
    mobility = G[:, free] @ np.linalg.solve(M[np.ix_(free, free)], G[:, free].T)  # the open tree accelerates as much the other way
    whole = along(robot.inverse, at, seed)
    held = whole - seed["qdd"] @ M + seed["multiplier"] @ G
    terms = np.abs(held) + np.abs(seed["qdd"]) @ np.abs(M) + np.abs(seed["multiplier"]) @ np.abs(G) + np.abs(seed["tau"])
    bias = robot.inverse(*[0 * at[key] if key == "qdd" else at[key] for key in ARGUMENTS])
    force, momentum = np.abs(M) @ np.abs(at["qdd"]) + np.abs(bias), np.abs(M) @ np.abs(at["qd"])
    turned = {**dict.fromkeys(("q", "eta", "position", "quaternion", "dtheta"), force),
              **dict.fromkeys(("qd", "etad", "velocity", "omega"), momentum)}
    for kind in set(subject.kinds):
        rows = subject.kinds == kind
        worst.add("equations", (whole - seed["tau"])[rows], terms[rows].max(axis=0) + turned.get(kind, 0))
        if robot.closed:
            moved = [(at[key] + 1j * STEP * seed[key])[rows] for key in ARGUMENTS[:3]]
            opening = robot.gap(moved)[2].imag / STEP
            moved_by_tree = np.abs(seed["multiplier"][rows]) @ np.abs(mobility)
            worst.add("loops", opening, np.max((np.abs(seed["qdd"][rows]) + np.abs(at["qdd"])) @ np.abs(G).T + moved_by_tree))


def size(name, y, length):
    """Largest entry of a vector; a moment is as large as its force makes it at the robot's length."""
    largest = np.abs(y[name]).max()
    return largest + length * np.abs(y[name.replace("moment", "force")]).max() if "root_moment" in name else largest


def peers(robot, name, y):
    """Vectors whose rounding this one shares: what a sensor shows may vanish, as the angular velocity of a slider does, where others on
    the same robot do not."""
    owner, sort = name.split(".")
    return [key for key in y if key.split(".")[1] == sort] if owner in ["tip", *robot.sensors] else [name]


OWN_SIZE = {"quaternion": 1, "rotation": 1, "curvature": 1, "elongation": 1}  # where a value may vanish


def outputs(subject, at, seed, worst):
    """Values and derivatives of all outputs but accelerations and drives, vector by vector. A reaction is the sum of the inertia wrenches
    outboard and may cancel, as that of a free joint does: rounding of its slopes is that of the largest reaction of the robot."""
    robot = subject.robot
    length = max(np.abs(frame.p[0]).max() for link in robot.frames([at["q"]]) for frame in link[:3])
    value = robot.outputs(*[at[key] for key in ARGUMENTS])
    moved = robot.outputs(*[at[key] + 1j * STEP * seed[key] for key in ARGUMENTS])
    slope = {name: np.broadcast_to(y.imag / STEP, (len(seed["q"]),) + value[name].shape) for name, y in moved.items()}
    for name in value:
        sort, scalars = name.split(".")[1], [f"{name}[{k + 1}]" for k in range(len(value[name]))]
        if len(scalars) == 1: scalars = [name]
        found, slopes, sign = subject.values(scalars), subject.slopes(scalars), 1
        if sort == "quaternion":  # either sign is the same rotation
            apart = lambda sign: np.linalg.norm(slopes - sign * slope[name] if found is None else found - sign * value[name])
            sign = min(1, -1, key=apart)
        own = OWN_SIZE | {"position": length, "deflection": length}
        whole = max(size(key, value, length) for key in peers(robot, name, value)) + own.get(sort, 0)
        if found is not None: worst.add(sort, found - sign * value[name], whole)
        error = slopes - sign * slope[name]
        for kind in set(subject.kinds):
            rows = subject.kinds == kind
            moved = {key: y[rows] for key, y in slope.items()}
            others = [key for key in moved if "root" in name and key.endswith(sort)] or peers(robot, name, value)
            worst.add(sort, error[rows], max(size(key, moved, length) for key in others) + whole)


def check_tangents(this, case, worst):
    """All derivatives in a state."""
    at = this.go(case)
    seed = this.seed(at)
    seed["qdd"][:, this.robot.free] = this.slopes([this.acceleration[k] for k in this.robot.free])
    seed["tau"][:, this.robot.prescribed] = this.slopes(this.drive)
    seed["multiplier"][:] = this.slopes(this.multiplier)
    equations(this, at, seed, worst)
    outputs(this, at, seed, worst)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_tangents_are_exact(subject, file):
    this, worst = subject(file), Worst()
    for case in load(file)["cases"]: check_tangents(this, case, worst)
    print(f"\n{file.stem}:", worst)
    assert max(worst.values()) <= (1e-10 if file.stem.startswith(("f2-", "f3-")) else TOLERANCE), str(worst)


# ---- random robots with frames; linearize -------------------------------------------------------------------------------------

SEEDS = range(8)


def opened(seed):
    robot = boom(seed)
    return robot, random_state(robot, np.random.default_rng([17, seed]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [opened, closed_boom, coupled_boom], ids=["open", "closed", "coupled"])
def test_tangents_of_random_robots_are_exact(pack, tmp_path, make, seed):
    robot, state = make(seed)
    file, worst = tmp_path / f"boom{seed}.json", Worst()
    file.write_text(json.dumps(robot))
    this = Subject(robot, Robot(robot), unzip(pack(file), tmp_path / "fmu"))
    check_tangents(this, state, worst)
    this.instance.free()
    print(f"\n{seed}:", worst)
    assert max(worst.values()) <= 1e-10, str(worst)


def rates_of_the_tangent(robot, case):
    """Of  q = q0 o exp(dtheta/2), q_dot = 1/2 q o (0, omega)  the rate is  dtheta_dot = omega + 1/2 dtheta x omega + ...; every other
    position changes by its velocity."""
    states = np.zeros((robot.n, robot.n))
    for joint in robot.moving:
        if joint.type not in ("spherical", "free"): continue
        k = joint.quaternion[1]
        x, y, z = case["qd"][k:k + 3]
        states[k:k + 3, k:k + 3] = -0.5 * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.hstack([states[np.ix_(robot.free, robot.free)], np.eye(len(robot.free))])


TREES = [file for file in FILES if not judge_of(file).closed]  # states of the others leave the loops open
QUICK = ["random-5", "crane-50", "prescribed-30", "nodal-20", "f2-taper"]
LINEARIZED = [*(pytest.param(lambda file=file: (load(file)["robot"], load(file)["cases"][-1]), id=file.stem,
                             marks=[pytest.mark.quick] * (file.stem in QUICK)) for file in TREES),
              *(pytest.param(lambda make=make, seed=seed: make(seed), id=f"{name}-{seed}", marks=[pytest.mark.quick] * (seed < 1))
                for name, make in (("open", opened), ("closed", closed_boom), ("coupled", coupled_boom)) for seed in SEEDS),
              pytest.param(lambda: (SEVERAL_JOINTS, random_state(SEVERAL_JOINTS, np.random.default_rng(4))), id="several-joints")]


@pytest.mark.parametrize("given", LINEARIZED)
def test_linearization_is_exact(limber, tmp_path, given):
    robot, case = given()
    this, worst = Linearized(Program(limber, tmp_path), robot), Worst()
    check_tangents(this, case, worst)
    expected = rates_of_the_tangent(this.robot, case)
    worst.add("kinematics", this.kinematics[:, :expected.shape[1]] - expected, 1)
    assert not this.kinematics[:, expected.shape[1]:].any()
    for name in this.robot.site:
        for listed, wanted in (this.outputs, this.robot.sensors), (this.known, this.robot.loads):
            assert any(variable.startswith(f"{name}.") for variable in listed) == (name in wanted)
    print("\n", worst)
    assert max(worst.values()) <= 1e-10, str(worst)
