"""The power balance as an importer sees it, with all that takes power from the motion:
d(energy.total)/dt = power.joints + power.actuators + power of the tip wrench - power.losses."""

import json
import zlib

import numpy as np
import pytest
from importer import MODEL_EXCHANGE, OK, Instance, unzip
from program import ROOT, load

NAMES = sorted(file.stem for file in (ROOT / "resources").glob("*.json") if "schema" not in file.stem)
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # differences of eighth order, as in test_derivatives.py


def lossy(name, prescribed):
    """Friction in every joint, damping in every beam, a first joint pressed against its stop; prescribed: the last joint."""
    robot = load(name)
    joints = [link["joint"] for link in robot["links"] if link["joint"].get("type") != "fixed"]
    for joint in joints: joint |= {"viscous": 0.7, "coulomb": 0.4, "coulomb_velocity": 0.3}
    for link in robot["links"]:
        if "beam" in link: link["beam"] = {"damping_ratio": 0.02} | link["beam"]
    at = joints[0].get("start", {}).get("position", 0)
    joints[0]["limits"] = {"lower": at - 2, "upper": at - 0.05, "stiffness": 30, "damping": 4, "depth": 0.2}
    if prescribed: joints[-1]["motion"] = "prescribed"
    return robot


class Subject:
    """An instance in a random state, loops closed, under random inputs, and which way it goes from there."""

    def __init__(self, package, name):
        random = np.random.default_rng(zlib.crc32(name.encode()))
        self.instance = Instance(package, MODEL_EXCHANGE)
        eta = package.named(r".*\.eta(d?)_start\[\d+\]")
        rate = package.named(r".*\.qd_start")
        start = dict(zip(rate, 0.3 + 0.5 * random.random(len(rate)))) | dict(zip(eta, 1e-3 * random.standard_normal(len(eta))))
        assert self.instance.set(start) == OK
        self.instance.initialise()
        given = [n for n in package.inputs if not n.endswith(".q")]  # the position of a prescribed joint stays
        assert self.instance.set(dict(zip(given, 10 * random.standard_normal(len(given))))) == OK
        self.moved = [n.removesuffix(".qdd") for n in package.inputs if n.endswith(".qdd")]
        if self.moved: assert self.instance.set({f"{n}.qd": 0.6 for n in self.moved}) == OK
        states = [n for n in package.states if ".drive." not in n]  # the arm's own: its energy does not depend on the others
        names = states + [f"{n}.{k}" for n in self.moved for k in ("q", "qd")]
        rates = [f"der({n})" for n in states] + [f"{n}.{k}" for n in self.moved for k in ("qd", "qdd")]
        self.names, self.x, self.rate = names, np.array(self.instance.get(*names)), np.array(self.instance.get(*rates))

    def along(self, direction):
        assert self.instance.set(dict(zip(self.names, self.x + direction))) == OK
        return self.instance.get("energy.total")

    def slope(self, direction, h):
        return sum(w * (self.along(k * h * direction) - self.along(-k * h * direction)) for k, w in enumerate(WEIGHTS, 1)) / h

    def energy_rate(self):
        """By the positions' change and by that of the rates, in which the energy is a parabola: any step is exact."""
        position = np.array([name.endswith(".q") or ".eta[" in name for name in self.names])
        steps = 4e-3 / np.abs(self.rate[position]).max(), np.abs(self.x[~position]).max() / np.abs(self.rate[~position]).max()
        found = [self.slope(np.where(moved, self.rate, 0), h) for moved, h in zip((position, ~position), steps)]
        self.along(0 * self.x)
        return np.array(found)

    def powers(self):
        """Joints, actuators, tip, less losses."""
        get = lambda name: np.array(self.instance.get(*(f"tip.{name}[{k}]" for k in (1, 2, 3))))
        tip = get("force") @ get("velocity") + get("torque") @ get("angular_velocity")
        return np.array([*self.instance.get("power.joints", "power.actuators"), tip, -self.instance.get("power.losses")])


def may_prescribe(name):
    """Not where the last joint follows from the others, is passive, or has its drive inside."""
    robot = load(name)
    last = robot["links"][-1]["joint"]
    return "loops" not in robot and not last.get("passive") and "drive" not in last


CASES = [(name, False) for name in NAMES] + [(name, True) for name in NAMES if may_prescribe(name)]


@pytest.mark.parametrize("name, prescribed", CASES, ids=lambda x: x if isinstance(x, str) else ("driven", "prescribed")[x])
def test_energy_changes_by_the_powers_less_the_losses(pack, tmp_path, name, prescribed):
    file = tmp_path / f"{name}.json"
    file.write_text(json.dumps(lossy(name, prescribed)))
    this = Subject(unzip(pack(file), tmp_path / "fmu"), name)
    power, rate = this.powers(), this.energy_rate()
    size = np.abs(power).sum() + np.abs(rate).sum()
    error = abs(rate.sum() - power.sum()) / size
    print(f"\n{name}: d(energy)/dt {rate.sum():.6g} W, losses {-power[3]:.3g} W, unbalanced {error:.1e}")
    assert power[3] < -1e-5 * size and error < 1e-9
    this.instance.free()
