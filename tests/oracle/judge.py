"""An independent implementation of the model of docs/theory.md: slow and plain, sharing nothing with the library, and analytic,
so that it accepts complex numbers and can be differentiated by complex steps.

Every frame is a 4x4 matrix along a motion q(t), known with its time derivatives; every body is a set of mass points with spin
(a rigid body: one; a beam: the points of a Gauss rule; a nodal body: its nodes). The velocities of the points when one velocity
is 1 and all others are 0 are the Jacobian, and virtual work gives the forces. A position may be a quaternion, so q has nq
numbers, qd and qdd have n. Arrays of coordinates may have any number of axes in front of the last.

All elastic terms (`full`). No stops, no `dh`, no geometric stiffness of nodal bodies, of the loops `ball` and `planar-pin`, no
backlash of couplings; of format 2 all else."""

from typing import NamedTuple

import numpy as np
from coordinates import Coordinates
from judge_bodies import Body, Points, beam, nodal, rigid
from judge_frames import (HERE, Frame, Z, add, dot, hamilton, minus, move, mul, pose, rotation_vector, shorter, spin,
                          turn, unit, unskew)

# ---- joints -------------------------------------------------------------------------------------------------------------------

POSITIONS = {"fixed": 0, "revolute": 1, "prismatic": 1, "universal": 2, "cylindrical": 2, "spherical": 4, "free": 7}
QUATERNION = {"spherical": 0, "free": 3}  # where the joint's positions have it


class Joint(NamedTuple):
    given: dict  # as the file describes it
    q: slice  # of its positions, in q
    v: slice  # of its velocities, in qd

    @property
    def type(self): return self.given["type"]

    @property
    def quaternion(self):
        """Where q has it, and the first of the three velocities that belong to it."""
        first = QUATERNION[self.type]
        return slice(self.q.start + first, self.q.stop), self.v.start + first

    def steps(self, q):
        """From the joint frame to the hinge frame O along the motion with the jet q, as Frame.follow() takes them."""
        jet = [q[0][..., self.q], *[a[..., self.v] for a in q[1:]]]
        axis = lambda key: np.array(self.given.get(key, Z), float) / np.linalg.norm(self.given.get(key, Z))
        part = lambda k, key: [a[..., k, None] * axis(key) for a in jet]
        if self.type == "revolute": return [(turn, part(0, "axis"))]
        if self.type == "prismatic": return [(move, part(0, "axis"))]
        if self.type == "universal": return [(turn, part(0, "axis")), (turn, part(1, "axis2"))]
        if self.type == "cylindrical": return [(turn, part(0, "axis")), (move, part(1, "axis"))]
        if self.type == "spherical": return [(spin, jet)]
        if self.type == "free": return [(move, [a[..., :3] for a in jet]), (spin, [a[..., 3:] for a in jet])]
        return []

    def number(self, key, absent=0.0):
        """One per velocity."""
        return np.broadcast_to(np.array(self.given.get(key, absent), float), self.v.stop - self.v.start)

    def stretch(self, q):
        """What the spring sees: q - rest, or the rotation vector; a free joint has no spring."""
        if self.type == "spherical": return rotation_vector(shorter(unit(q[..., self.q])))
        return q[..., self.q] - self.number("rest") if self.type not in QUATERNION else np.zeros(6)

    def force(self, q, qd, qdd):
        """What motor inertia, friction and spring need."""
        rate = qd[..., self.v]
        return self.number("motor_inertia") * qdd[..., self.v] + self.number("viscous") * rate \
            + self.number("coulomb") * np.tanh(rate / self.number("coulomb_velocity", 1e-3)) \
            + self.number("stiffness") * self.stretch(q)


# ---- the robot ----------------------------------------------------------------------------------------------------------------


class Carried(NamedTuple):
    """A body as it moves."""
    frame: Frame  # its F
    eta: list  # jet
    body: Body


class Site(NamedTuple):
    """A place where something attaches, or that is observed."""
    link: int | None  # None: the world
    at: str | Points  # "hinge", "tip", or a section of the body
    offset: Frame  # from there
    strain: np.ndarray | None = None  # at a station of a beam: psi', -w'', v'' and a' are strain @ eta


class Moving(NamedTuple):
    """Frames of a link along a motion, and the jet of its elastic coordinates."""
    O: Frame
    F: Frame
    T: Frame
    eta: list


class Loop(NamedTuple):
    A: Site
    B: Site
    along: np.ndarray  # directions of the gap, (rows, 3)
    plane_of: int | None  # link in whose hinge frame the directions stand; None: the world


class Coupling(NamedTuple):
    """gap = positions . q - offset, at the rate velocities . qd."""
    positions: np.ndarray
    velocities: np.ndarray
    given: dict

    @property
    def rigid(self): return "stiffness" not in self.given

    def gap(self, jet):
        """Jet of the gap."""
        return [jet[0] @ self.positions - self.given.get("offset", 0), *[a @ self.velocities for a in jet[1:]]]

    def force(self, jet):
        """Of a spring, on its gap."""
        gap, rate = self.gap(jet)[:2]
        return -self.given["stiffness"] * gap - self.given.get("damping", 0) * rate


def offset(frame, at):
    """A frame moved off a frame that stays, in its axes."""
    return frame.follow(pose(at))


class Robot:
    def __init__(self, robot):
        assert robot.get("elastic_terms", "full") == "full"
        self.links, self.format = robot["links"], robot.get("format", "limber-robot/1")
        self.gravity = np.array(robot.get("gravity", [0, 0, 0]), float)
        self.names = [link["name"] for link in self.links]
        self.tip = self.names.index(robot.get("tip", self.names[-1]))
        self.origin = [pose(link["joint"].get("origin", {})) for link in self.links]
        self.tip_turn = [pose({"rpy": link.get("rigid", {}).get("tip", {}).get("rpy", [0, 0, 0])}) for link in self.links]
        self.place(self.format != "limber-robot/1")
        self.attach(robot)
        names = Coordinates(robot)
        self.couplings = {one["name"]: self.coupling(names, one) for one in robot.get("couplings", [])}
        self.rigid = {name: one for name, one in self.couplings.items() if one.rigid}
        self.closed = bool(self.loops or self.rigid)
        self.moving = [joint for joint in self.joint if joint.v.stop > joint.v.start]
        velocities = lambda joints: [k for joint in joints for k in range(joint.v.start, joint.v.stop)]
        self.driven = velocities(self.moving)  # where tau belongs
        self.prescribed = velocities(joint for joint in self.moving if joint.given.get("motion") == "prescribed")
        self.free = [k for k in range(self.n) if k not in self.prescribed]

    def place(self, foreshortening):
        """Bodies, and where their coordinates stand: link by link the joint's, then eta."""
        self.body, self.joint, self.eta_q, self.eta, self.nq, self.n = [], [], [], [], 0, 0
        for link in self.links:
            joint = link["joint"]
            assert not {"dh", "limits"} & set(joint) and "geometric_stiffness" not in link.get("nodal", {}), "not known to the judge"
            body = (beam(link["beam"], foreshortening) if "beam" in link else nodal(link["nodal"]) if "nodal" in link
                    else rigid(link["rigid"], link["rigid"].get("tip", {}).get("xyz", [0, 0, 0])))
            q, v = self.nq + POSITIONS[joint["type"]], self.n + POSITIONS[joint["type"]] - (joint["type"] in QUATERNION)
            self.body.append(body)
            self.joint.append(Joint(joint, slice(self.nq, q), slice(self.n, v)))
            self.nq, self.n = q + len(body.K), v + len(body.K)
            self.eta_q.append(slice(q, self.nq))
            self.eta.append(slice(v, self.n))

    def attach(self, robot):
        """Frames of the file, what hangs on them, loops and actuators."""
        given = robot.get("frames", [])
        self.site = {frame["name"]: self.section(frame["link"], frame.get("at", "tip"), frame) for frame in given}
        self.tip_site = Site(self.tip, "tip", pose({}))
        self.sensors, self.loads = ([frame["name"] for frame in given if frame.get(key)] for key in ("sensor", "load"))
        self.mount = [self.mounted(i, link) for i, link in enumerate(self.links)]
        self.parent = [-1 if mount.link is None else mount.link for mount in self.mount]
        self.actuators = {a["name"]: (self.end(a["from"]), self.end(a["to"])) for a in robot.get("actuators", [])}
        self.loops = {loop["name"]: self.loop(loop) for loop in robot.get("loops", [])}

    def wrenches(self, by_name):
        """Those on frames, six numbers for each frame of the file, from {name: six numbers}."""
        assert by_name.keys() <= self.site.keys()
        return np.concatenate([np.zeros(0), *[np.array(by_name.get(name, np.zeros(6)), float) for name in self.site]])

    def section(self, link, at, moved):
        """The site at `at` of a link, moved off it by xyz and rpy."""
        if link == "world": return Site(None, "hinge", pose(moved))
        i = self.names.index(link)
        if isinstance(at, str): return Site(i, at, pose(moved))
        if isinstance(at, dict): return Site(i, self.body[i].section(at["node"]), pose(moved))
        return Site(i, self.body[i].section(at), pose(moved), self.body[i].strain(at))

    def side(self, name, moved):
        """A side of a loop: a frame or a link's tip, and what moves the joined frame off it."""
        if name not in self.site: return self.section(name, "tip", moved)
        return self.site[name]._replace(offset=offset(self.site[name].offset, moved))

    def mounted(self, i, link):
        """Where the joint frame of a link is, but for its origin."""
        if "parent_frame" in link["joint"]: return self.site[link["joint"]["parent_frame"]]
        return self.section(link.get("parent", self.names[i - 1] if i else "world"), "tip", {})

    def end(self, of):
        """An end of an actuator."""
        moved = {"xyz": of.get("xyz", [0, 0, 0])}
        return self.section(of["link"], of.get("frame", "tip"), moved) if "link" in of else self.side(of["frame"], moved)

    def loop(self, of):
        assert of["type"] in ("ball", "planar-pin"), "not known to the judge"
        along = np.array(of.get("plane", np.eye(3)), float)
        plane_of = of.get("plane_of", "world")
        return Loop(*[self.side(name, at) for name, at in zip(of["between"], of.get("at", [{}, {}]))],
                    along / np.linalg.norm(along, axis=1)[:, None], None if plane_of == "world" else self.names.index(plane_of))

    def coupling(self, names, of):
        assert "backlash" not in of, "not known to the judge"
        row = lambda where: np.array([of["terms"].get(name, 0) for name in where])
        rates = dict(zip(names.velocities, names.tangent))
        return Coupling(row(names.positions), row([rates[name] for name in names.velocities]), of)

    def tangent(self, q):
        """N(q), nq x n:  q_dot = N qd.  Of a quaternion  e_dot = 1/2 e o (0, omega);  else 1."""
        N = np.zeros((self.nq, self.n))
        for joint, eta_q, eta in zip(self.joint, self.eta_q, self.eta):
            N[joint.q, joint.v] = np.eye(joint.q.stop - joint.q.start, joint.v.stop - joint.v.start)
            N[eta_q, eta] = np.eye(eta.stop - eta.start)
            if joint.type in QUATERNION:
                e, first = joint.quaternion
                N[e, first:first + 3] = np.stack([hamilton(q[e], np.append(0, axis)) / 2 for axis in np.eye(3)], -1)
        return N

    def elastic(self, i, q):
        """Jet of eta of link i."""
        return [q[0][..., self.eta_q[i]], *[a[..., self.eta[i]] for a in q[1:]]]

    def frames(self, q):
        """Frames O, F and T of every link along the motion with the jet q."""
        out = []
        for i in range(len(self.links)):
            body, eta = self.body[i], self.elastic(i, q)
            O = self.placed(out, self.mount[i], len(q)).follow(self.origin[i], *self.joint[i].steps(q))
            (r, theta), (r_tip, theta_tip) = body.hinge.one(eta), body.tip.one(eta)
            F = O.follow((turn, minus(theta)), (move, minus(r)))
            T = F.follow((move, r_tip), (turn, theta_tip), self.tip_turn[i])
            out.append(Moving(O, F, T, eta))
        return out

    def placed(self, frames, site, order=None):
        """The frame that a site is, along the motion."""
        if site.link is None:
            still = (order or len(frames[0].O.H)) - 1
            return Frame([np.eye(4)] + [np.zeros((4, 4))] * still, HERE).follow(site.offset)
        link = frames[site.link]
        if isinstance(site.at, str): return {"hinge": link.O, "tip": link.T}[site.at].follow(site.offset)
        r, theta = site.at.one(link.eta)
        return link.F.follow((move, r), (turn, theta), site.offset)

    def carried(self, i, frames, q):
        """The bodies of link i."""
        (O, F, T, eta), link = frames[i], self.links[i]
        none = [a[..., :0] for a in q]
        yield Carried(F, eta, self.body[i])
        if "hub" in link: yield Carried(O, none, rigid(link["hub"]))
        if "payload" in link: yield Carried(T, none, rigid(link["payload"]))

    # -- what is pushed ----------------------------------------------------------------------------------------------------------

    def lines(self, frames):
        """Of every actuator: direction from its first to its second point, length, rate."""
        for start, end in self.actuators.values():
            d = add(self.placed(frames, end).p, minus(self.placed(frames, start).p))
            length = np.sqrt(dot(d[0], d[0]))
            yield d[0] / length[..., None], length, dot(d[0], d[1]) / length

    def opening(self, frames, loop):
        """Jets of a loop: A minus B, and the directions of the gap as columns, world axes."""
        d = add(self.placed(frames, loop.A).p, minus(self.placed(frames, loop.B).p))
        if loop.plane_of is None: return d, [loop.along.T] + [np.zeros(loop.along.T.shape)] * (len(d) - 1)
        return d, [R @ loop.along.T for R in frames[loop.plane_of].O.R]

    def gap(self, jet):
        """Jet of the gaps of all loops, A minus B, one after the other, and of the rigid couplings, along the motion with the jet q."""
        product, frames = lambda d, along: np.einsum("...i,...ij->...j", d, along), self.frames(jet)
        parts = [mul(*self.opening(frames, loop), product) for loop in self.loops.values()]
        parts += [[a[..., None] for a in one.gap(jet)] for one in self.rigid.values()]
        return [np.concatenate(part, -1) for part in zip(*parts)]

    def coupled(self, q, qd, multiplier=None):
        """{coupling: force on its gap}: lambda of rigid ones, which come after the loops."""
        rigid = [None] * len(self.rigid) if multiplier is None else np.moveaxis(multiplier, -1, 0)[multiplier.shape[-1] - len(self.rigid):]
        return dict(zip(self.rigid, rigid)) | {name: one.force([q, qd]) for name, one in self.couplings.items() if not one.rigid}

    def pushes(self, frames, force, torque, push, multiplier, wrench):
        """(site, force on it, torque on it): at the tip, on frames, by actuators, by loops."""
        none = np.zeros(3)
        yield self.tip_site, force, torque
        for k, site in enumerate(self.site.values()):
            if wrench is not None: yield site, wrench[..., 6 * k:6 * k + 3], wrench[..., 6 * k + 3:6 * k + 6]
        for k, ((start, end), (u, _, _)) in enumerate(zip(self.actuators.values(), self.lines(frames))):
            if push is not None: yield from ((end, push[..., k, None] * u, none), (start, -push[..., k, None] * u, none))
        row = 0
        for loop in self.loops.values():
            if multiplier is not None:
                d, along = (jet[0] for jet in self.opening(frames, loop))
                f = times(along, multiplier[..., row:row + len(loop.along)])
                yield from ((loop.A, f, none), (loop.B, -f, none))
                # directions that turn with a link:  d/dq of  along . d  has  (phi x along) . d  too
                if loop.plane_of is not None: yield Site(loop.plane_of, "hinge", pose({})), 0 * f, np.cross(f, d)
            row += len(loop.along)

    # -- forces -------------------------------------------------------------------------------------------------------------

    def inertial(self, thing):
        """What the points of a body need: force f = m (a - g) on r; moment I W_dot on W = omega + theta_dot, in F; and
        omega x I W on omega alone, since d/dt delta-phi and delta-omega differ by omega x delta-phi (Hamel)."""
        x, omega, W, W_dot = motion_of(thing)
        momentum = np.einsum("pij,...pj->...pi", thing.body.inertia, W)
        return (x[0], thing.body.mass[:, None] * (x[2] - self.gravity), np.einsum("pij,...pj->...pi", thing.body.inertia, W_dot),
                np.cross(omega[..., None, :], momentum))

    def inverse(self, q, qd, qdd, force, torque, push=None, multiplier=None, wrench=None):
        """M qdd + h - Q(tip wrench, actuators, loops, wrenches on frames: six numbers for each of the file): what joints and, were
        they driven, modes must give."""
        jet, one = [q, qd, qdd], [q[..., None, :], np.eye(self.n)]
        frames, jacobian = self.frames(jet), self.frames(one)
        out = (q[..., :1] + qd[..., :1] + qdd[..., :1]) * np.zeros(self.n)
        for i, link in enumerate(self.links):
            for thing, unit in zip(self.carried(i, frames, jet), self.carried(i, jacobian, one)):
                _, f, spin, gyro = self.inertial(thing)
                x, omega, W, _ = motion_of(unit)  # (..., n, P, 3)
                out = out + np.einsum("...npi,...pi->...n", x[1], f) + np.einsum("...npi,...pi->...n", W, spin) \
                    + np.einsum("...ni,...pi->...n", omega, gyro)
            eta, etad, _ = self.elastic(i, jet)
            out[..., self.eta[i]] += eta @ self.body[i].K + etad @ self.body[i].D
        for site, f, t in self.pushes(frames, force, torque, push, multiplier, wrench):
            if site.link is None: continue
            at = self.placed(jacobian, site)
            out = out - np.einsum("...ni,...i->...n", at.p[1], f) - np.einsum("...ni,...i->...n", rate_of(at), t)
        for joint in self.moving: out[..., joint.v] += joint.force(q, qd, qdd)
        for name, f in self.coupled(q, qd, multiplier).items():
            if f is not None: out = out - f[..., None] * self.couplings[name].velocities
        return out

    def mass_matrix(self, q):
        unit = [q, np.eye(self.n)]
        frames = self.frames(unit)
        M = np.zeros((self.n, self.n))
        for i in range(len(self.links)):
            for thing in self.carried(i, frames, unit):
                x, _, W, _ = motion_of(thing)
                M = M + np.einsum("p,jpi,kpi->jk", thing.body.mass, x[1], x[1]) \
                    + np.einsum("pil,jpi,kpl->jk", thing.body.inertia, W, W)
        for joint in self.moving: M[joint.v, joint.v] += np.diag(joint.number("motor_inertia"))
        return M

    # -- answers -------------------------------------------------------------------------------------------------------------

    def energies(self, q, qd):
        """Kinetic and potential."""
        jet = [q, qd, np.zeros(self.n)]
        frames, T, V = self.frames(jet), 0.0, 0.0
        for i in range(len(self.links)):
            for thing in self.carried(i, frames, jet):
                x, _, W, _ = motion_of(thing)
                T = T + (thing.body.mass @ dot(x[1], x[1]) + np.einsum("pi,pij,pj", W, thing.body.inertia, W)) / 2
                V = V - thing.body.mass @ (x[0] @ self.gravity)
            eta = q[self.eta_q[i]]
            V = V + eta @ self.body[i].K @ eta / 2
        for joint in self.moving:
            T = T + joint.number("motor_inertia") @ qd[joint.v] ** 2 / 2
            V = V + joint.number("stiffness") @ joint.stretch(q) ** 2 / 2
        for one in self.couplings.values(): V = V + one.given.get("stiffness", 0) * one.gap([q])[0] ** 2 / 2
        return T, V

    def answered(self, q, qd, qdd, site):
        """What `eval` says of a site."""
        frames = self.frames([q, qd, qdd])
        out = {"rotation": self.placed(frames, site).R[0], **self.sensed(frames, site)}
        return {key: y for key, y in out.items() if key not in ("quaternion", "specific_force", "angular_rate")}

    def sensed(self, frames, site):
        """What a sensor at a site shows."""
        at = self.placed(frames, site)
        (p, v, a), R = at.p, at.R[0]
        inward, omega = np.swapaxes(R, -1, -2), rate_of(at)
        out = {"position": p, "quaternion": at.e, "velocity": v, "angular_velocity": omega, "acceleration": a,
               "specific_force": times(inward, a - self.gravity), "angular_rate": times(inward, omega)}
        if site.strain is not None:
            strain = frames[site.link].eta[0] @ site.strain.T
            out |= {"curvature": strain[..., :3], "elongation": strain[..., 3:]}
        return out

    def outputs(self, q, qd, qdd, force, torque, push=None, multiplier=None, wrench=None):
        """By name: what tip and sensors show, deflections, reactions, each (..., 3), quaternions (..., 4); elongations and actuators
        (..., 1)."""
        jet = [q, qd, qdd]
        frames = self.frames(jet)
        sites = {"tip": self.tip_site, **{name: self.site[name] for name in self.sensors}}
        out = {f"{name}.{key}": y for name, site in sites.items() for key, y in self.sensed(frames, site).items()}
        if self.format == "limber-robot/1": out = {name: y for name, y in out.items() if name not in ("tip.specific_force", "tip.angular_rate")}
        for name, (_, length, rate) in zip(self.actuators, self.lines(frames)):
            out |= {f"{name}.length": length[..., None], f"{name}.rate": rate[..., None]}
        for name, one in self.couplings.items():
            if not one.rigid: out |= {f"{name}.gap": one.gap([q])[0][..., None], f"{name}.force": one.force([q, qd])[..., None]}
        # wrench that link i takes from its joint: what its bodies and all outboard need, less what pushes them
        F, N = [0] * len(self.links), [0] * len(self.links)
        for site, f, t in self.pushes(frames, force, torque, push, multiplier, wrench):
            if (i := site.link) is not None: F[i], N[i] = F[i] - f, N[i] - t - np.cross(self.placed(frames, site).p[0], f)
        for i in reversed(range(len(self.links))):
            for thing in self.carried(i, frames, jet):
                x, f, spin, gyro = self.inertial(thing)
                F[i] = F[i] + f.sum(-2)
                N[i] = N[i] + np.cross(x, f).sum(-2) + times(thing.frame.R[0], (spin + gyro).sum(-2))
            if self.parent[i] >= 0:
                F[self.parent[i]], N[self.parent[i]] = F[self.parent[i]] + F[i], N[self.parent[i]] + N[i]
            O, tip = frames[i].O, frames[i].T
            inward, name = np.swapaxes(O.R[0], -1, -2), self.links[i]["name"]
            out[f"{name}.root_force"] = times(inward, F[i])
            out[f"{name}.root_moment"] = times(inward, N[i] - np.cross(O.p[0], F[i]))
            if len(self.body[i].K):
                body = self.body[i]
                out[f"{name}.deflection"] = times(inward, tip.p[0] - O.p[0]) - (body.tip.r - body.hinge.r)[0]
                out[f"{name}.rotation"] = rotation_vector(hamilton(O.e * [1, -1, -1, -1], tip.e))
        return out


def rate_of(frame):
    """Its angular velocity, world axes."""
    return unskew(frame.R[1] @ np.swapaxes(frame.R[0], -1, -2))


def times(R, v): return np.einsum("...ij,...j->...i", R, v)


def motion_of(thing):
    """Points of a body: jet of world positions; omega of its frame F, in F; W = omega + theta_dot and W_dot of each."""
    R, p = thing.frame.R, thing.frame.p
    r, theta = thing.body.points.moved(thing.eta)
    x = add(mul(R, r, lambda A, b: b @ np.swapaxes(A, -1, -2)), [a[..., None, :] for a in p])
    # R' R_dot = [omega]x,  R' R_ddot = [omega_dot]x + [omega]x^2
    omega, *omega_dot = [unskew(np.swapaxes(R[0], -1, -2) @ a) for a in R[1:]]
    W = omega[..., None, :] + theta[1]
    W_dot = omega_dot[0][..., None, :] + theta[2] if omega_dot else None
    return x, omega, W, W_dot
