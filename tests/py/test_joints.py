"""Joints with several degrees of freedom: equal to chains of one-coordinate joints, derivatives against the judge, and the laws
of the analyses where positions and velocities differ in number. Robot files and STATEs are in test_joint_files.py."""

from types import SimpleNamespace

import numpy as np
import pytest
from coordinates import Coordinates, has_quaternion, of_joint
from judge import Robot, hamilton, rotation_vector, shorter
from program import Program
from random_robots import origin, random_state, rigid
from scipy.spatial.transform import Rotation
from test_derivatives import ARGUMENTS, OWN_SIZE, STEP, Worst, equations, peers, size
from test_reference import FILES, STATE, load

X, Y, Z = np.eye(3)
SEVERAL = [file for file in FILES if has_quaternion(load(file)["robot"])]
TREES = [file for file in SEVERAL if "loops" not in load(file)["robot"]]  # states of the others leave the loops open


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


def relative(found, expected, floor=0.0):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    return np.linalg.norm(found - expected) / max(np.linalg.norm(expected), floor, 1e-300)


# ---- random robots --------------------------------------------------------------------------------------------------------------


def body(random, flexible):
    if not flexible: return {"rigid": {**rigid(random), "tip": origin(random)}}
    shape = random.choice(["clamped-free", "craig-bampton", "pinned-pinned"])
    modes = {"y": {"shape": str(shape), "count": 2}, "z": {"shape": "hermite"}, "twist": {"shape": "craig-bampton", "count": 2}}
    return {"beam": {"length": random.uniform(0.6, 1.6), "mass_per_length": random.uniform(1, 4), "EIy": 400, "EIz": 300, "GJ": 150,
                     "EA": 1e4, "inertia_per_length": [0.02, 0.008, 0.012], "damping_ratio": 0.02, "modes": modes},
            "payload": rigid(random)}


def link(name, joint, random, flexible, **more):
    return {"name": name, "joint": {"name": f"{name}_joint", **joint, "origin": origin(random)}, **body(random, flexible), **more}


def around(joint, seed):
    """A robot with this joint in its middle, between rigid and flexible links, and a branch."""
    random = np.random.default_rng(seed)
    axis = lambda: random.standard_normal(3).tolist()
    flexible = [(seed >> k) & 1 for k in range(3)]
    links = [link("base", {"type": "revolute", "axis": axis(), "motor_inertia": 0.1}, random, flexible[0], parent="world"),
             link("arm", joint, random, flexible[1], parent="base"),
             link("hand", {"type": "revolute", "axis": axis(), "viscous": 0.1}, random, flexible[2], parent="arm"),
             link("side", {"type": "prismatic", "axis": axis()}, random, False, parent="arm")]
    return {"format": "limber-robot/2", "name": "tried", "gravity": [1.0, -2.0, -9.0], "tip": "hand", "links": links}


def two(kind, **more):
    """A joint of two coordinates."""
    return {"type": kind, "axis": [1, 2, 0.5], **({"axis2": [0, 1, -1]} if kind == "universal" else {}), **more}


# ---- one joint equals several ---------------------------------------------------------------------------------------------------

EULER = [Z, Y, X]  # R = Rz Ry Rx


class Chain:
    """The joint `arm_joint` of a robot replaced by one-coordinate joints with massless links between."""

    def __init__(self, robot, parts):
        """parts: (type, axis), the last one carries the body."""
        links = []
        for one in robot["links"]:
            if one["name"] != "arm":
                links.append(one)
                continue
            for number, (kind, axis) in enumerate(parts[:-1]):
                joint = {"name": f"part{number}", "type": kind, "axis": list(axis)}
                if number == 0: joint["origin"] = one["joint"]["origin"]
                parent = f"part{number - 1}" if number else "base"
                links.append({"name": f"part{number}", "parent": parent, "joint": joint, "rigid": {"mass": 0}})
            kind, axis = parts[-1]
            last = {"name": "arm_joint", "type": kind, "axis": list(axis)}
            links.append({**one, "parent": links[-1]["name"], "joint": last})
        self.robot, self.count = {**robot, "links": links}, len(parts)

    def replace(self, robot, values, key, of_parts):
        """values in the order of `key`, those of arm_joint replaced."""
        names = Coordinates(robot)
        mine = getattr(of_joint(next(one["joint"]["type"] for one in robot["links"] if one["name"] == "arm"), "arm_joint"), key)
        first = getattr(names, key).index(mine[0])
        return list(values[:first]) + list(of_parts) + list(values[first + len(mine):])


def turning(angles, rates):
    """Of three Euler angles: quaternion of R (w first), columns E of omega = E rates in axes of O, and E_dot rates."""
    quaternion, columns = np.array([1.0, 0, 0, 0]), []
    for angle, axis in zip(angles, EULER):
        columns = [Rotation.from_rotvec(-angle * axis).apply(column) for column in columns] + [axis]
        quaternion = hamilton(quaternion, np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis]))
    E = np.array(columns).T
    # column k turns as seen from O:  d/dt e_k = -(angular velocity of what comes after k) x e_k
    after = [E[:, k + 1:] @ rates[k + 1:] for k in range(3)]
    bias = sum(-np.cross(after[k], E[:, k]) * rates[k] for k in range(3))
    return quaternion, E, bias


def same_accelerations(program, robot, chain, state, of_chain, map_qdd):
    """Both algorithms; the tip's acceleration, and qdd with that of the chain's parts mapped."""
    for algorithm in "recursive", "composite":
        one = program.json("eval", robot, "-", "--algorithm", algorithm, state=state)
        other = program.json("eval", chain.robot, "-", "--algorithm", algorithm, state=of_chain)
        for key in "tip_position", "tip_rotation", "tip_velocity", "tip_angular_velocity", "kinetic_energy", "potential_energy":
            assert relative(one[key], other[key]) <= 1e-12, key
        for key in "tip_acceleration",:
            assert relative(one[key], other[key]) <= 1e-9, key
        assert relative(one["qdd"], map_qdd(np.array(other["qdd"]))) <= 1e-9


def compare(program, kind, parts, seed):
    """A joint with quaternion against prismatics, then Euler angles."""
    robot = around({"type": kind}, seed)
    chain, moves = Chain(robot, parts), len(parts) - 3
    random = np.random.default_rng(seed)
    state, angles, rates = random_state(robot, random), random.uniform([-3, -1.2, -3], [3, 1.2, 3]), random.uniform(-2, 2, 3)
    e, E, bias = turning(angles, rates)
    judge = Robot(robot)
    joint = judge.joint[1]
    where, first = joint.quaternion
    q, qd, tau = map(np.array, (state["q"], state["qd"], state["tau"]))
    q[where], qd[first:first + 3] = e, E @ rates
    state |= {"q": q.tolist(), "qd": qd.tolist()}
    torque = tau[judge.driven.index(first):][:3]
    of_chain = {**state,
                "q": chain.replace(robot, q, "positions", [*q[joint.q][:moves], *angles]),
                "qd": chain.replace(robot, qd, "velocities", [*qd[joint.v][:moves], *rates]),
                "tau": chain.replace(robot, tau, "forces", [*tau[judge.driven.index(joint.v.start):][:moves], *(E.T @ torque)])}

    def map_qdd(qdd):
        qdd[first:first + 3] = E @ qdd[first:first + 3] + bias
        return qdd

    same_accelerations(program, robot, chain, state, of_chain, map_qdd)


@pytest.mark.parametrize("seed", range(8))
def test_spherical_is_three_revolutes(program, seed):
    compare(program, "spherical", [("revolute", axis) for axis in EULER], seed)


@pytest.mark.parametrize("seed", range(8))
def test_free_is_three_prismatics_and_three_revolutes(program, seed):
    compare(program, "free", [("prismatic", axis) for axis in (X, Y, Z)] + [("revolute", axis) for axis in EULER], seed)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["universal", "cylindrical"])
def test_two_coordinates_are_two_joints(program, kind, seed):
    random = np.random.default_rng(seed)
    axis, axis2 = random.standard_normal((2, 3))
    joint = {"type": kind, "axis": axis.tolist(), "viscous": [0.3, 0.2], "stiffness": 2.0, "rest": [0.1, -0.2], "coulomb": [0.1, 0.3],
             "coulomb_velocity": [0.2, 0.1], "motor_inertia": [0.2, 0.3]} | ({"axis2": axis2.tolist()} if kind == "universal" else {})
    robot = around(joint, seed)
    chain = Chain(robot, [("revolute", axis), ("revolute", axis2) if kind == "universal" else ("prismatic", axis)])
    parts = [one for one in chain.robot["links"] if one["joint"]["name"] in ("part0", "arm_joint")]
    for k, part in enumerate(parts):
        for key in "viscous", "coulomb", "coulomb_velocity", "motor_inertia", "rest": part["joint"][key] = joint[key][k]
        part["joint"]["stiffness"] = joint["stiffness"]
    state = random_state(robot, random)
    same_accelerations(program, robot, chain, state, state, lambda qdd: qdd)


@pytest.mark.parametrize("kind", ["universal", "cylindrical"])
def test_prescribed_coordinates_are_two_joints(program, kind):
    random = np.random.default_rng(3)
    robot = around(two(kind, motion="prescribed"), 7)
    chain = Chain(robot, [("revolute", [1, 2, 0.5]), ("revolute", [0, 1, -1]) if kind == "universal" else ("prismatic", [1, 2, 0.5])])
    for one in chain.robot["links"]:
        if one["joint"]["name"] in ("part0", "arm_joint"): one["joint"]["motion"] = "prescribed"
    state = random_state(robot, random)
    same_accelerations(program, robot, chain, state, state, lambda qdd: qdd)
    found, expected = (program.json("eval", one, "-", state=state)["prescribed_tau"] for one in (robot, chain.robot))
    assert len(found) == 2 and relative(found, expected) <= 1e-9


# ---- derivatives against the judge -----------------------------------------------------------------------------------------------


def seeds(robot, names, q, known):
    """{argument of the judge: one row per known}; a direction of q is in its tangent."""
    force = {name: ("tau", k) for name, k in zip(names.forces, robot.driven)}
    tip = {f"tip.{key}[{k + 1}]": (key, k) for key in ("force", "torque") for k in range(3)}
    rate = {name: ("qd", k) for k, name in enumerate(names.velocities)}
    given = {name: ("qdd", k) for k, name in enumerate(names.accelerations)}
    push = {f"{name}.force": ("push", k) for k, name in enumerate(robot.actuators)}
    load = {f"{name}.{key}[{k + 1}]": ("wrench", 6 * i + first + k)
            for i, name in enumerate(robot.site) for key, first in (("force", 0), ("torque", 3)) for k in range(3)}
    place = {**force, **tip, **rate, **given, **push, **load}
    sizes = {"q": robot.nq, "qd": robot.n, "qdd": robot.n, "force": 3, "torque": 3, "tau": robot.n, "push": len(push),
             "multiplier": sum(len(loop.along) for loop in robot.loops.values()), "wrench": 6 * len(robot.site)}
    seed, N = {key: np.zeros((len(known), count)) for key, count in sizes.items()}, robot.tangent(q)
    for row, name in enumerate(known):
        if name in names.tangent: seed["q"][row] = N[:, names.tangent.index(name)]
        else: seed[place[name][0]][row, place[name][1]] = 1
    return seed


def kinds_of(known):
    """As test_derivatives names them."""
    return np.array([{"dtheta": "quaternion"}.get(kind, kind) for kind in (name.split(".")[1].split("[")[0] for name in known)])


def linear(program, robot, state):
    found = program.json("linearize", robot, "--at", "-", state=state)
    A, B, C, D = (np.array(found[key], float).reshape(len(found[rows]), len(found[columns]))
                  for key, rows, columns in [("A", "states", "states"), ("B", "states", "inputs"),
                                             ("C", "outputs", "states"), ("D", "outputs", "inputs")])
    return found, np.hstack([A, B]), np.hstack([C, D])


def check_outputs(robot, names, at, seed, slope_of, kinds, worst):
    """Derivatives of all vectors that the judge knows; a quaternion may have either sign. A reaction is the sum of the inertia wrenches
    outboard and may cancel, as that of a free joint does: rounding is that of the largest reaction of the robot."""
    length = max(np.abs(frame.p[0]).max() for link in robot.frames([at["q"]]) for frame in link[:3])
    value = robot.outputs(*[at[key] for key in ARGUMENTS])
    moved = robot.outputs(*[at[key] + 1j * STEP * seed[key] for key in ARGUMENTS])
    slope = {name: np.broadcast_to(y.imag / STEP, (len(seed["q"]),) + value[name].shape) for name, y in moved.items()}
    for name in value:
        sort = name.split(".")[1]
        scalars = [name] if len(value[name]) == 1 else [f"{name}[{k + 1}]" for k in range(len(value[name]))]
        found = np.array([slope_of[scalar] for scalar in scalars]).T
        signs = (1, -1) if sort == "quaternion" else (1,)
        error = min((found - sign * slope[name] for sign in signs), key=np.linalg.norm)
        own = OWN_SIZE | {"position": length, "deflection": length}
        whole = max(size(key, value, length) for key in peers(robot, name, value)) + own.get(sort, 0)
        for kind in set(kinds):
            rows = kinds == kind
            moved = {key: y[rows] for key, y in slope.items()}
            others = [key for key in moved if "root" in name and key.endswith(name.split(".")[1])] or peers(robot, name, value)
            worst.add(sort, error[rows], max(size(key, moved, length) for key in others) + whole)


def normalized(names, q):
    """Positions with unit quaternions, as the program uses them."""
    q = np.array(q, float)
    for k, name in enumerate(names.positions):
        if name.endswith("quaternion[1]"): q[k:k + 4] /= np.linalg.norm(q[k:k + 4])
    return q


def check_linearization(program, description, case, worst):
    robot, names = Robot(description), Coordinates(description)
    state = {key: case[key] for key in STATE if key in case}
    found, dynamics, outputs = linear(program, description, state)
    known = found["states"] + found["inputs"]
    held = set(names.prescribed)
    moving = [k for k, name in enumerate(names.accelerations) if name not in held]
    m = len(moving)
    assert found["states"] == [names.tangent[k] for k in moving] + [names.velocities[k] for k in moving]
    q, qd = normalized(names, case["q"]), np.array(case["qd"])
    answer = program.json("eval", description, "-", state=state)
    force, torque = (np.array(case[key]) for key in ("tip_force", "tip_torque"))
    at = {"q": q, "qd": qd, "qdd": np.array(answer["qdd"]), "force": force, "torque": torque, "tau": np.zeros(robot.n),
          "push": np.array(case.get("actuator_force", np.zeros(len(robot.actuators)))), "multiplier": np.array(answer.get("lambda", [])),
          "wrench": robot.wrenches(case.get("frame_wrench", {}))}
    at["tau"][robot.driven] = case["tau"]
    seed, kinds = seeds(robot, names, q, known), kinds_of(known)
    seed["qdd"][:, moving] = dynamics[m:].T
    slope_of = dict(zip(found["outputs"], outputs))
    multipliers = [f"{name}.force[{k + 1}]" for name, loop in robot.loops.items() for k in range(len(loop.along))]
    for k, name in enumerate(multipliers): seed["multiplier"][:, k] = slope_of[name]
    for k in robot.prescribed: seed["tau"][:, k] = slope_of[names.forces[robot.driven.index(k)]]
    equations(SimpleNamespace(robot=robot, kinds=kinds), at, seed, worst)
    check_outputs(robot, names, at, seed, slope_of, kinds, worst)
    # outputs of the joints themselves
    directions = np.array(seed["q"]), np.array(seed["qd"]), np.array(seed["qdd"])
    for of, slopes in zip((names.positions, names.velocities, names.accelerations), directions):
        for k, name in enumerate(of):
            if name in slope_of: worst.add("joints", slope_of[name] - slopes[:, k], 1 + np.abs(slopes[:, k]).max())
    return found, dynamics[:m]


@pytest.mark.parametrize("file", TREES, ids=lambda file: file.stem)
def test_derivatives_are_exact(program, file):
    description, worst = load(file)["robot"], Worst()
    for case in load(file)["cases"]: check_linearization(program, description, case, worst)
    print(f"\n{file.stem}:", worst)
    assert max(worst.values()) <= 1e-10, str(worst)


@pytest.mark.parametrize("kind", ["universal", "cylindrical"])
def test_derivatives_of_prescribed_joints_are_exact(program, kind):
    robot, worst = around(two(kind, motion="prescribed"), 7), Worst()
    check_linearization(program, robot, random_state(robot, np.random.default_rng(4)), worst)
    assert max(worst.values()) <= 1e-10, str(worst)


@pytest.mark.parametrize("file", TREES, ids=lambda file: file.stem)
def test_rates_of_the_tangent(program, file):
    """The quaternion of the operating point stays where it is: of  q = q0 o exp(dtheta/2), q_dot = 1/2 q o (0, omega)  the rate is
    dtheta_dot = omega + 1/2 dtheta x omega + ...; every other position changes by its velocity."""
    description, case = load(file)["robot"], load(file)["cases"][-1]
    names = Coordinates(description)
    found, kinematics = check_linearization(program, description, case, Worst())
    n = len(kinematics)
    expected = np.zeros(kinematics.shape)
    expected[:, n:2 * n] = np.eye(n)
    for joint in Robot(description).moving:
        if joint.type not in ("spherical", "free"): continue
        k = joint.quaternion[1]
        x, y, z = np.array(case["qd"])[k:k + 3]
        expected[k:k + 3, k:k + 3] = -0.5 * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    assert found["states"][:n] == names.tangent
    assert np.abs(kinematics - expected).max() <= 1e-12


# ---- matrices, modes, static start -------------------------------------------------------------------------------------------------


def stretches(robot, q):
    """What the springs see: eta, q - rest, the rotation vector of a spherical joint, nothing of a free one."""
    out = np.zeros(robot.n)
    for joint, eta, eta_q in zip(robot.joint, robot.eta, robot.eta_q): out[joint.v], out[eta] = joint.stretch(q), q[eta_q]
    return out


@pytest.mark.parametrize("file", SEVERAL, ids=lambda file: file.stem)
def test_the_matrices_add_up(program, file):
    """Half the sum of the bias at qd and -qd is C qd + G + K stretch, at rest G + K stretch; C works as M_dot / 2 does:
    the kinetic energy changes by nothing but forces, qd' (M_dot - 2 C) qd = 0."""
    robot, case = load(file)["robot"], load(file)["cases"][-1]
    judge, q, qd = Robot(robot), np.array(case["q"]), np.array(case["qd"])
    found = program.json("matrices", robot, "-", state={"q": case["q"], "qd": case["qd"]})
    assert found["coordinates"] == Coordinates(robot).tangent
    M, C, K, G, B = (np.array(found[key]) for key in "MCKGB")
    ahead, back, still = (program.json("eval", robot, "-", state={"q": case["q"], "qd": (sign * qd).tolist()}) for sign in (1, -1, 0))
    assert np.array_equal(M, ahead["mass_matrix"])
    stretch = stretches(judge, q)
    total = np.linalg.norm(np.abs(K) @ np.abs(stretch) + np.abs(G) + np.abs(C) @ np.abs(qd) + np.abs(ahead["bias"]))
    assert np.linalg.norm(G + K @ stretch - still["bias"]) <= 1e-12 * total
    both = (np.array(ahead["bias"]) + back["bias"]) / 2
    assert np.linalg.norm(C @ qd + G + K @ stretch - both) <= 1e-12 * total
    assert np.array_equal(B, np.eye(judge.n)[:, judge.driven])
    M_dot = judge.mass_matrix(q + 1j * STEP * judge.tangent(q) @ qd).imag / STEP
    assert abs(qd @ (M_dot - 2 * C) @ qd) <= 1e-12 * np.abs(qd) @ (np.abs(M_dot) + np.abs(C)) @ np.abs(qd)
    size_of_K = {link["joint"]["name"]: link["joint"].get("stiffness", 0) for link in robot["links"]}
    for joint in judge.moving:
        if joint.type == "spherical": assert np.allclose(K[joint.v, joint.v], size_of_K[joint.given["name"]] * np.eye(3), rtol=1e-14)


@pytest.mark.parametrize("kind", ["universal", "cylindrical"])
@pytest.mark.parametrize("seed", range(4))
def test_coriolis_matrix_is_skew(program, kind, seed):
    """M_dot - 2 C of joints whose velocities are rates of positions."""
    random = np.random.default_rng(seed)
    robot = around(two(kind), seed)
    state = random_state(robot, random)
    judge, q, qd = Robot(robot), np.array(state["q"]), np.array(state["qd"])
    C = np.array(program.json("matrices", robot, "-", state={"q": state["q"], "qd": state["qd"]})["C"])
    M_dot = judge.mass_matrix(q + 1j * STEP * qd).imag / STEP
    S = M_dot - 2 * C
    assert np.abs(S + S.T).max() <= 1e-12 * (np.abs(M_dot).max() + np.abs(C).max())


def frequencies(program, robot, state, *options):
    return np.array(program.json("modes", robot, "--json", "--at", "-", *options, state=state)["frequency"]) * 2 * np.pi


def alone(joint, **more):
    return {"format": "limber-robot/2", "name": "alone", "links": [{"name": "body", "joint": {"name": "j", **joint}, **more}]}


BODY = {"mass": 2.0, "com": [0, 0, 0], "inertia": [0.3, 0.25, 0.2, 0, 0, 0]}


def test_frequencies_of_a_spherical_spring(program):
    robot = alone({"type": "spherical", "stiffness": 5.0, "passive": True}, rigid=BODY)
    assert np.allclose(frequencies(program, robot, {}), np.sqrt(5 / np.array([0.3, 0.25, 0.2])), rtol=1e-12)


@pytest.mark.parametrize("attitude", [[1, 0, 0, 0], [0.5, 0.5, -0.5, 0.5], [0, 1, 0, 0]])
def test_frequencies_of_a_spherical_pendulum(program, attitude):
    """m g l over the inertia about the hinge, in two planes; turning about the vertical takes no work. However the frames lie:
    at rest the hinge frame is turned by `attitude` against the joint frame, which is turned back."""
    x, y, z = np.array(attitude[1:]) * -1
    roll, pitch, yaw = Rotation.from_quat([x, y, z, attitude[0]]).as_euler("ZYX")[::-1]
    joint = {"type": "spherical", "origin": {"rpy": [roll, pitch, yaw]}}
    robot = alone(joint, rigid={**BODY, "com": [0, 0, -0.4]}) | {"gravity": [0, 0, -9.81]}
    found = frequencies(program, robot, {"q": attitude}, "--joints", "free")
    assert np.allclose(found, [0, *np.sqrt(2 * 9.81 * 0.4 / (np.array([0.3, 0.25]) + 2 * 0.16))], rtol=1e-10, atol=1e-7)


def floating(joint):
    beam = {"length": 2.0, "mass_per_length": 1.5, "EIy": 40, "EIz": 60, "GJ": 30, "inertia_per_length": [0.01, 0.005, 0.005],
            "modes": {"y": {"shape": "craig-bampton", "count": 3}, "z": {"shape": "hermite"},
                      "twist": {"shape": "craig-bampton", "count": 2}}}
    body = {"mass": 5, "com": [0.1, 0, 0.05], "inertia": [0.4, 0.5, 0.6, 0.02, 0.01, 0.03], "tip": {"xyz": [0.2, 0.1, 0]}}
    return {"format": "limber-robot/2", "name": "floating", "links": [
        {"name": "base", "joint": {"name": "float", **joint}, "rigid": body},
        {"name": "boom", "joint": {"type": "revolute", "axis": [0, 1, 0.3]}, "beam": beam, "payload": {"mass": 1}}]}


def test_modes_of_a_floating_arm(program):
    """Six zeros, and the frequencies that three prismatics and three revolutes give, in any attitude."""
    robot = floating({"type": "free"})
    slides, turns = ([{"name": f"{name}{k}", "joint": {"type": kind, "axis": axis.tolist()}, "rigid": {"mass": 0}}
                      for k, axis in enumerate(axes)] for name, kind, axes in (("x", "prismatic", (X, Y, Z)), ("r", "revolute", EULER)))
    last = {**robot["links"][0], "joint": {"name": "float", **turns[-1]["joint"]}}
    chain = {**robot, "links": slides + turns[:-1] + [last, robot["links"][1]]}
    eta = [0.0] * 7
    angles = [0.4, -0.3, 0.8]
    e = turning(np.array(angles), np.zeros(3))[0]
    one = frequencies(program, robot, {"q": [1, 2, 3, *e, 0.7, *eta]}, "--joints", "free")
    other = frequencies(program, chain, {"q": [1, 2, 3, *angles, 0.7, *eta]}, "--joints", "free")
    assert np.all(one[:7] <= 1e-5 * one[-1]) and np.allclose(one[7:], other[7:], rtol=1e-9) and len(one) == 14
    locked = frequencies(program, robot, {"q": [1, 2, 3, *e, 0.7, *eta]}, "--joints", "locked")
    assert len(locked) == 7 and locked[0] > 0.1


@pytest.mark.parametrize("kind", ["universal", "cylindrical", "spherical", "free"])
def test_static_start(program, kind):
    """Driven joints are held where they start; nothing elastic is pushed."""
    robot = around(two(kind) if kind in ("universal", "cylindrical") else {"type": kind}, 7)
    names = Coordinates(robot)
    first = {name: values[0] for name, values in program.simulate(robot, 1e-6, 1e-6, 1e-6, start_static="true").items()}
    state = {"q": [first[name] for name in names.positions], "qd": [0.0] * len(names.velocities), "qdd": [0.0] * len(names.velocities)}
    answer = program.json("eval", robot, "-", state=state)
    elastic = [k for k, name in enumerate(names.velocities) if ".etad[" in name]
    assert len(elastic) > 10 and max(abs(first[name]) for name in names.positions if ".eta[" in name) > 1e-4
    assert np.abs(np.array(answer["inverse"])[elastic]).max() <= 1e-6 * np.abs(answer["bias"]).max()
    if kind in ("spherical", "free"): assert [first[f"arm_joint.quaternion[{k}]"] for k in (1, 2, 3, 4)] == [1, 0, 0, 0]


def test_the_spring_of_a_spherical_joint(program):
    """Torque -k theta, |theta| <= pi, the same for both signs of the quaternion, also beyond a half turn."""
    robot = alone({"type": "spherical", "stiffness": 5.0}, rigid=BODY)
    for angle in 1e-9, 0.1, 3.0, np.pi - 1e-6, np.pi + 1e-6, 5.0, 2 * np.pi - 1e-9:
        e = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array([2, -1, 2]) / 3)])
        theta = rotation_vector(shorter(e))
        assert np.linalg.norm(theta) <= np.pi + 1e-12
        for sign in 1, -1:
            found = program.json("eval", robot, "-", state={"q": (sign * e).tolist()})
            assert relative(found["bias"], 5 * theta) <= 1e-9 and abs(found["potential_energy"] - 2.5 * theta @ theta) <= 1e-12 * 25
