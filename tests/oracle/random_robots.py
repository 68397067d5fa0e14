"""Random robots and states for tests that state laws: joints of every type, beams whose properties vary, nodal bodies, frames
with loads and sensors, children, loops and actuators on frames."""

import numpy as np
from coordinates import Coordinates
from judge import Robot


def origin(random):
    return {"xyz": random.uniform(-0.4, 0.4, 3).tolist(), "rpy": random.uniform(-1.2, 1.2, 3).tolist()}


def inertia(random, mass):
    """Of six points."""
    points = random.uniform(-0.3, 0.3, (6, 3))
    S = mass / 6 * points.T @ points
    J = np.trace(S) * np.eye(3) - S
    return [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]


def rigid(random):
    mass = random.uniform(0.5, 3)
    return {"mass": mass, "com": random.uniform(-0.3, 0.3, 3).tolist(), "inertia": inertia(random, mass)}


# ---- flexible bodies ----------------------------------------------------------------------------------------------------------


def table(random, L, low, high, size=()):
    """A number (or triple) for the whole beam, or a table of two to four stations."""
    count = random.integers(1, 5)
    if count == 1: return random.uniform(low, high, size).tolist()
    x = np.concatenate([[0], np.sort(random.uniform(0.1, 0.9, count - 2)) * L, [L]])
    return {"x": x.tolist(), "value": random.uniform(low, high, (count, *size)).tolist()}


def numbers(random, L):
    """Of a beam, each a number or a table."""
    out = {key: table(random, L, low, high) for key, low, high in [
        ("mass_per_length", 1, 4), ("EIy", 200, 500), ("EIz", 200, 500), ("GJ", 80, 200), ("EA", 5e3, 2e4)]}
    return out | {"inertia_per_length": table(random, L, 0.005, 0.02, (3,))}


DIMENSIONS = {"tube": {"outer_diameter": (0.05, 0.07), "wall": (0.003, 0.006)}, "round": {"diameter": (0.03, 0.05)},
              "rectangle": {"width": (0.02, 0.04), "height": (0.02, 0.05)},
              "box": {"width": (0.04, 0.06), "height": (0.04, 0.06), "wall": (0.002, 0.005)}}


def sections(random, L):
    """Material and a section, or a table of sections of one shape."""
    shape = random.choice(list(DIMENSIONS))
    one = lambda: {"shape": str(shape)} | {key: random.uniform(*bounds) for key, bounds in DIMENSIONS[shape].items()}
    count = random.integers(1, 4)
    x = np.concatenate([[0], np.sort(random.uniform(0.1, 0.9, max(count - 2, 0))) * L, [L]])
    section = one() if count == 1 else {"x": x.tolist(), "section": [one() for _ in x]}
    shear = {"G": 7e8} if random.integers(2) else {"poisson": 0.3}
    return {"material": {"E": 3e9, "density": 1500.0, **shear}, "section": section}


BENDING = [("clamped-free", 2), ("clamped-mass", 1), ("pinned-pinned", 2), ("hermite", 2), ("polynomial", 2), ("craig-bampton", 3)]
ALONG = [("clamped-free", 1), ("linear", 1), ("craig-bampton", 1), ("craig-bampton", 2)]


def modes(random):
    """Of two families or three."""
    def pick(choices):
        shape, count = choices[random.integers(len(choices))]
        return {"shape": shape, "count": count} | ({"tip_mass": 0.5, "tip_inertia": 0.1} if shape == "clamped-mass" else {})

    families = {"y": BENDING, "z": BENDING, "twist": ALONG, "axial": ALONG}
    left_out = random.choice(list(families), random.integers(1, 3), replace=False)
    return {family: pick(choices) for family, choices in families.items() if family not in left_out}


def varying_beam(random):
    L = random.uniform(0.6, 1.6)
    beam = {"length": L, **(numbers(random, L) if random.integers(3) else sections(random, L)), "damping_ratio": 0.02,
            "rayleigh": [0.02, 0.001], "modes": modes(random)}
    if random.integers(2): beam["added_mass_per_length"] = table(random, L, 0, 1.5)
    if random.integers(3) == 0: beam["foreshortening"] = False
    return {"beam": beam, "payload": rigid(random)}


def nodal_body(random):
    """Four nodes, two modes; the hinge node moves too."""
    matrix = lambda: random.uniform(-0.4, 0.4, (3, 2)).tolist()
    nodes = [{"position": [0.3 * k, *random.uniform(-0.05, 0.05, 2)], "mass": random.uniform(0.2, 0.6),
              "com": random.uniform(-0.04, 0.04, 3).tolist(), "inertia": inertia(random, 0.1), "translation": matrix(), "rotation": matrix()}
             for k in range(4)]
    root = random.uniform(-10, 10, (2, 2))
    K = root @ root.T + 50 * np.eye(2)
    return {"nodal": {"modes": 2, "nodes": nodes, "hinge_node": 0, "tip_node": 3, "stiffness": K.tolist(), "damping": (0.01 * K).tolist()}}


# ---- robots with frames -------------------------------------------------------------------------------------------------------


def joint(random, name):
    """Of a random type."""
    kind = str(random.choice(["revolute", "prismatic", "universal", "cylindrical", "spherical"]))
    out = {"name": f"{name}_joint", "type": kind, "origin": origin(random), "viscous": 0.2}
    if kind != "spherical": out |= {"axis": random.standard_normal(3).tolist(), "motor_inertia": 0.1}
    if kind == "universal": out["axis2"] = random.standard_normal(3).tolist()
    return out | ({"stiffness": 2.0} if random.integers(2) else {})


def frame(random, name, link):
    """Somewhere on a link, on its section or beside it."""
    places = ["hinge", "tip"]
    if "beam" in link: places = [*places, *[random.uniform(0, 1) * link["beam"]["length"] for _ in range(3)], 0, link["beam"]["length"]]
    if "nodal" in link: places = [*places, {"node": 1}, {"node": 2}, {"node": 0}]
    out = {"name": name, "link": link["name"], "at": places[random.integers(len(places))]}
    if random.integers(3): out["xyz"] = random.uniform(-0.2, 0.2, 3).tolist()
    if random.integers(3): out["rpy"] = random.uniform(-1, 1, 3).tolist()
    return out | {"sensor": bool(random.integers(4)), "load": bool(random.integers(4))}


def end(random, frames, link):
    """An end of an actuator."""
    xyz = {"xyz": random.uniform(-0.3, 0.3, 3).tolist()}
    mine = [one["name"] for one in frames if one["link"] == link]
    kind = random.integers(3)
    if kind == 0: return {"link": link, "frame": str(random.choice(["hinge", "tip"])), **xyz}
    return {"frame": mine[random.integers(len(mine))], **(xyz if kind == 1 else {})}


def boom(seed):
    """A tree: base, arm, hand one after the other, and side, which hangs on the base or the arm. Two frames on each; joints are
    mounted on tips or on frames; two actuators."""
    random = np.random.default_rng([14, seed])
    links, frames = [], []
    for name, parents in ("base", []), ("arm", ["base"]), ("hand", ["arm"]), ("side", ["base", "arm"]):
        kind = random.integers(6)
        body = nodal_body(random) if kind == 0 else {"rigid": {**rigid(random), "tip": origin(random)}} if kind == 1 else varying_beam(random)
        link = {"name": name, "joint": joint(random, name), **body} | ({"hub": rigid(random)} if random.integers(2) else {})
        places = [one["name"] for one in frames if one["link"] in parents]
        if not parents: link["parent"] = "world"
        elif random.integers(4) == 0: link["parent"] = parents[-1]
        else: link["joint"]["parent_frame"] = places[random.integers(len(places))]
        links.append(link)
        frames += [frame(random, f"{name}_{k}", link) for k in range(2)]
    lines = [({"link": "world", "xyz": [2.0, 1.0, -1.0]}, end(random, frames, "arm")), (end(random, frames, "side"), end(random, frames, "hand"))]
    return {"format": "limber-robot/2", "name": "boom", "gravity": [1.0, -2.0, -9.0], "tip": str(random.choice(["hand", "side"])),
            "links": links, "frames": frames,
            "actuators": [{"name": f"line{k}", "type": "line", "from": a, "to": b} for k, (a, b) in enumerate(lines)]}


def closed_boom(seed):
    """A joined boom and its state; another one where the velocities in the loop are no more than its equations, which locks them."""
    robot, state = joined(seed)
    judge = Robot(robot)
    G = judge.gap([np.array(state["q"]), np.eye(judge.n)])[1].T
    return (robot, state) if (np.abs(G).max(axis=0) > 1e-9).sum() > len(G) else closed_boom(seed + 1000)


def coupled_boom(seed):
    """A boom whose coordinates are coupled, by a rigid coupling that a random state obeys and by an elastic one; every second has a loop
    too. And that state, which is the start."""
    random, (robot, state) = np.random.default_rng([18, seed]), joined(seed) if seed % 2 else started(seed)
    names = Coordinates(robot)
    coupled = [name for name in names.positions if name.split(".")[1].startswith("q")]
    coupled = [name for name in coupled if "quaternion" not in name]
    if len(coupled) < 3: return coupled_boom(seed + 1000)
    terms = lambda count: {str(name): random.uniform(0.5, 2) for name in random.choice(coupled, count, replace=False)}
    robot["couplings"] = [{"name": "rack", "terms": terms(3)},
                          {"name": "belt", "terms": terms(2), "stiffness": 80.0, "damping": 3.0, "offset": 0.1}]
    robot["format"] = "limber-robot/3"
    for link in robot["links"]: in_format_3(link.get("beam", {}))
    rack, at = robot["couplings"][0], dict(zip(names.positions, state["q"]))
    rack["offset"] = sum(factor * at[name] for name, factor in rack["terms"].items())
    judge = Robot(robot)
    G = judge.gap([np.array(state["q"]), np.eye(judge.n)])[1].T
    if (np.abs(G).max(axis=0) > 1e-9).sum() <= len(G): return coupled_boom(seed + 1000)
    return robot, closing_rates(robot, state)


def started(seed):
    """A boom that starts in a random state, and that state."""
    robot = boom(seed)
    state = random_state(robot, np.random.default_rng([19, seed]))
    start_at(robot, state)
    return robot, state


def start_at(robot, state):
    for link, joint in zip(robot["links"], Robot(robot).joint):
        position = state["q"][joint.q]
        link["joint"]["start"] = {"position": position if len(position) > 1 else position[0]}


def in_format_3(beam):
    """A beam of format 2 says what it had by default."""
    if not {"y", "z"} & beam.get("modes", {}).keys(): return
    beam["stiffening"] = "axial" if beam.pop("foreshortening", True) else "none"
    if "section" in beam: beam["shear"] = False


def joined(seed):
    """A boom whose hand and side are joined in a random state, and that state: B's point is placed where A's is. Of a planar pin any
    distance along the plane's normal is left. Joints start there."""
    robot, random = boom(seed), np.random.default_rng([15, seed])
    state = random_state(robot, random)
    flat = bool(seed % 2)
    A, B = (str(random.choice([name, f"{name}_0", f"{name}_1"])) for name in ("hand", "side"))
    loop = {"name": "grip", "type": "planar-pin" if flat else "ball", "between": [A, B], "at": [{"xyz": random.uniform(-0.2, 0.2, 3).tolist()}, {}]}
    if flat:
        plane = random.standard_normal((2, 3))
        loop |= {"plane": plane.tolist()} | ({"plane_of": str(random.choice(["base", "arm", "side"]))} if seed % 4 == 1 else {})
    judge, q = Robot({**robot, "loops": [loop]}), np.array(state["q"])
    frames, (made,) = judge.frames([q]), judge.loops.values()
    b, gap = judge.placed(frames, made.B), judge.opening(frames, made)[0][0]
    if flat:
        axes = made.along if made.plane_of is None else made.along @ frames[made.plane_of].O.R[0].T
        gap = gap + 0.3 * np.cross(*axes)
    loop["at"][1] = {"xyz": (b.R[0].T @ gap).tolist()}
    loop["start"] = "approximate"  # links are straight at the start
    robot["loops"] = [loop]
    start_at(robot, state)
    return robot, closing_rates(robot, state)


def closing_rates(robot, state):
    """The state with rates that keep the loops closed: qd less its part along G'."""
    judge, q, qd = Robot(robot), np.array(state["q"]), np.array(state["qd"])
    gap, G = judge.gap([q])[0], judge.gap([q, np.eye(judge.n)])[1].T
    assert np.abs(gap).max() < 1e-13
    return {**state, "qd": (qd - np.linalg.pinv(G) @ (G @ qd)).tolist()}


# ---- states -------------------------------------------------------------------------------------------------------------------


def random_state(robot, random):
    """Quaternions of any attitude, small elastic deflections, every force."""
    names = Coordinates(robot)
    small = lambda name, of: of * (0.03 if ".eta" in name else 1)
    q = np.array([small(name, random.uniform(-1, 1)) for name in names.positions])
    qd = np.array([small(name, random.uniform(-2, 2)) for name in names.velocities])
    for joint in Robot(robot).moving:
        if joint.type in ("spherical", "free"): q[joint.quaternion[0]] /= np.linalg.norm(q[joint.quaternion[0]])
    tau = [random.uniform(-10, 10) if name in names.inputs else 0.0 for name in names.forces]
    state = {"q": q.tolist(), "qd": qd.tolist(), "tau": tau, "tip_force": random.uniform(-5, 5, 3).tolist(),
             "tip_torque": random.uniform(-2, 2, 3).tolist()}
    if names.prescribed: state["prescribed_qdd"] = random.uniform(-3, 3, len(names.prescribed)).tolist()
    if "actuators" in robot: state["actuator_force"] = random.uniform(-20, 20, len(robot["actuators"])).tolist()
    loaded = [frame["name"] for frame in robot.get("frames", []) if frame.get("load")]
    if loaded: state["frame_wrench"] = {name: random.uniform(-5, 5, 6).tolist() for name in loaded}
    return state
