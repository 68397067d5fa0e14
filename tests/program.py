"""The program `limber` as tests and pages call it, and robots that several of them use."""

import csv
import json
import math
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def resource(name):
    return ROOT / f"resources/{name}.json"


def load(name):
    """The description in a robot file of resources/."""
    return json.loads(resource(name).read_text(encoding="utf-8"))


def robot(*links, **more):
    return {"format": "limber-robot/1", "name": "tried", "links": list(links), **more}


def beam(family="y", shape="craig-bampton", count=6, **more):
    """One clamped beam of unit length, density and stiffness: frequencies in rad/s are the dimensionless ones."""
    extra = {key: more.pop(key) for key in ("tip_mass", "tip_inertia") if key in more}
    link = {key: more.pop(key) for key in ("joint", "payload", "hub") if key in more}
    body = {"length": 1, "mass_per_length": 1, "EIy": 1, "EIz": 1,
            "modes": {family: {"shape": shape, "count": count, **extra}}, **more}
    return robot({"name": "arm", "joint": {"name": "hinge", "type": "revolute", **link.pop("joint", {})}, "beam": body, **link})


_SKEW = {"xyz": [0.1, -0.2, 0.3], "rpy": [0.4, 0.5, -0.6]}
_BODY = {"mass": 2, "com": [0.1, 0.2, -0.1], "inertia": [0.3, 0.25, 0.2, 0.01, 0.02, -0.015],
        "tip": {"xyz": [0.3, 0.1, 0.2], "rpy": [0.2, -0.3, 0.5]}}
_BEAM = {"length": 1.2, "mass_per_length": 2, "EIy": 300, "EIz": 400, "GJ": 120, "inertia_per_length": [0.01, 0.005, 0.005],
        "damping_ratio": 0.02, "modes": {"y": {"shape": "hermite"}, "z": {"shape": "clamped-free", "count": 1},
                                         "twist": {"shape": "craig-bampton", "count": 1}}}
# every joint of several degrees of freedom, driven, passive and prescribed; skew axes, so that nothing vanishes by accident
SEVERAL_JOINTS = {"format": "limber-robot/2", "name": "several", "gravity": [1, -2, -9.81], "tip": "hand", "links": [
    {"name": "base", "rigid": _BODY, "joint": {"name": "float", "type": "free", "origin": _SKEW, "start": {
        "position": [0.1, 0.2, 0.3, 0.5, 0.5, -0.5, 0.5], "velocity": [0.1, -0.1, 0.2, 0.3, -0.4, 0.5]}}},
    {"name": "arm", "parent": "base", "beam": _BEAM, "payload": {"mass": 0.5, "com": [0.1, 0, 0.1]}, "joint": {
        "name": "cross", "type": "universal", "axis": [1, 2, 3], "axis2": [1, -1, 1], "origin": _SKEW, "viscous": [0.5, 0.25],
        "motor_inertia": 0.1, "stiffness": 3, "rest": [0.1, -0.1], "start": {"position": [0.2, -0.3], "velocity": [0.4, 0.5]}}},
    {"name": "rod", "parent": "arm", "rigid": _BODY, "joint": {
        "name": "piston", "type": "cylindrical", "axis": [1, 1, 0.5], "origin": _SKEW, "passive": True, "viscous": 0.2}},
    {"name": "hand", "parent": "rod", "beam": _BEAM, "joint": {
        "name": "ball", "type": "spherical", "origin": _SKEW, "viscous": 0.1, "stiffness": 2,
        "start": {"position": [0.8, 0, 0.6, 0], "velocity": [1, -2, 0.5]}}},
    {"name": "side", "parent": "base", "rigid": _BODY, "joint": {"name": "loose", "type": "spherical", "origin": _SKEW, "passive": True}},
    {"name": "wheel", "parent": "base", "rigid": _BODY, "joint": {
        "name": "driven", "type": "universal", "axis": [0, 1, 2], "axis2": [3, 0, 1], "origin": _SKEW, "motion": "prescribed",
        "start": {"position": [0.5, 0.6], "velocity": [0.25, 0.125]}}}]}


def columns(text):
    """{name: values} of a CSV."""
    rows = list(csv.reader(text.splitlines()))
    return dict(zip(rows[0], np.array(rows[1:], float).T))


def read_csv(file):
    return columns(Path(file).read_text(encoding="utf-8"))


def write_csv(file, table):
    rows = zip(*table.values())
    file.write_text("\n".join([",".join(table), *(",".join(repr(float(x)) for x in row) for row in rows)]) + "\n")
    return file


class Program:
    """One build of the program, and a folder for what it reads and writes. A robot is a file or a description."""

    def __init__(self, file, folder):
        self.file, self.folder, self.count = file, Path(folder), 0

    def new(self, suffix):
        """A file that is not there yet."""
        self.count += 1
        return self.folder / f"{self.count}{suffix}"

    def robot(self, given):
        if isinstance(given, Path): return given
        file = self.new(".json")
        file.write_text(json.dumps(given))
        return file

    def run(self, command, given, *options, state=None):
        words = [self.file, command, self.robot(given), *options]
        done = subprocess.run(list(map(str, words)), input=None if state is None else json.dumps(state), capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, f"limber {command}: {done.stderr}"
        return done.stdout

    def json(self, command, given, *options, state=None):
        return json.loads(self.run(command, given, *options, state=state))

    def simulate(self, given, until, step, rtol, inputs=None, start=None, **settings):
        """{variable: values over time}"""
        options = ["--until", until, "--step", step, "--rtol", rtol]
        options += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        if inputs: options += ["--inputs", inputs]
        if start: options += ["--at", "-"]
        return columns(self.run("simulate", given, *options, state=start))

    def struck(self, given, q, coordinate, energy):
        """The state right after an impulse on a coordinate, qd = M^-1 e p."""
        M = np.array(self.json("eval", given, "-", state={"q": q})["mass_matrix"])
        qd = np.linalg.solve(M, np.eye(len(M))[coordinate])
        return {"q": q, "qd": (qd * math.sqrt(2 * energy / (qd @ M @ qd))).tolist()}


def drift(result, work=0.0):
    """The largest error of the energy, as a share of the largest kinetic energy."""
    return np.abs(result["energy.total"] - result["energy.total"][0] - work).max() / result["energy.kinetic"].max()


def work_of_joints(result):
    """Integral of power.joints by Simpson's rule, at every second row."""
    power, h = result["power.joints"], result["time"][1] - result["time"][0]
    return np.concatenate([[0], np.cumsum(power[:-2:2] + 4 * power[1:-1:2] + power[2::2]) * h / 3])
