"""The coordinates of a robot by the names of their FMU variables, from the robot file alone.

Positions and velocities differ in number where a position is a quaternion. A direction of the positions (the tangent) has one
number per velocity; that of a quaternion is a small rotation vector in axes of the hinge frame, `J.dtheta[1..3]`."""

from typing import NamedTuple


def numbered(name, count):
    return [f"{name}[{k}]" for k in range(1, count + 1)]


class Names(NamedTuple):
    """Of one joint or of a whole robot; positions may be more than the others."""
    positions: list
    tangent: list
    velocities: list
    accelerations: list
    forces: list


def of_joint(kind, name):
    """Names of a joint's variables by its type."""
    scalars = lambda count: Names(*(numbered(f"{name}.{key}", count) for key in ("q", "q", "qd", "qdd", "tau")))
    turns = Names(numbered(f"{name}.quaternion", 4),
                  *(numbered(f"{name}.{key}", 3) for key in ("dtheta", "omega", "alpha", "torque")))
    moves = Names(*(numbered(f"{name}.{key}", 3) for key in ("position", "position", "velocity", "acceleration", "force")))
    if kind == "fixed": return Names([], [], [], [], [])
    if kind in ("revolute", "prismatic"): return Names(*([f"{name}.{key}"] for key in ("q", "q", "qd", "qdd", "tau")))
    if kind in ("universal", "cylindrical"): return scalars(2)
    if kind == "spherical": return turns
    assert kind == "free", kind
    return Names(*(a + b for a, b in zip(moves, turns)))


def modes_of(link):
    """How many elastic coordinates a link has."""
    if "nodal" in link: return link["nodal"]["modes"]
    families = link.get("beam", {}).get("modes", {})
    return sum(int(modes.get("count", 2 if modes["shape"] == "hermite" else 1)) for modes in families.values())


class Coordinates:
    """Names of all coordinates of a robot, joint by joint and as a whole, in the order of q and qd."""

    def __init__(self, robot):
        self.joints = []  # (description of the joint, its names), fixed ones left out
        whole = Names([], [], [], [], [])
        for link in robot["links"]:
            joint = link["joint"]
            names = of_joint(joint["type"], joint.get("name", link["name"]))
            if names.velocities: self.joints.append((joint, names))
            elastic = Names(*(numbered(f"{link['name']}.{key}", modes_of(link)) for key in ("eta", "eta", "etad", "etadd")), [])
            for mine, of_hinge, of_body in zip(whole, names, elastic): mine.extend(of_hinge + of_body)
        self.positions, self.tangent, self.velocities, self.accelerations, self.forces = whole
        prescribed = [names for joint, names in self.joints if joint.get("motion") == "prescribed"]
        self.prescribed = [name for names in prescribed for name in names.accelerations]
        held = {name for names in prescribed for name in names.positions + names.velocities + names.forces}
        passive = {name for joint, names in self.joints if joint.get("passive") for name in names.forces}
        self.position_states = [name for name in self.positions if name not in held]
        self.velocity_states = [name for name in self.velocities if name not in held]
        self.inputs = [name for name in self.forces if name not in held | passive]
