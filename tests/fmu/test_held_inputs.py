"""An importer that sets inputs at communication points, against `limber simulate --hold`."""

import subprocess

import numpy as np
import pytest

from importer import OK, Instance, unzip
from program import columns, write_csv

CANADARM = "resources/canadarm.json"
SLIDER_CRANK = "tests/data/slider-crank.json"


def torques(t):
    return {f"{joint}_joint.tau": a * np.sin(w * t) for joint, a, w in (("upper", 40, 2), ("lower", 20, 3), ("wrist", 10, 5))}


def crank(t):
    return {"motor.q": 20 * t**3 / 6e-3, "motor.qd": 20 * t**2 / 2e-3, "motor.qdd": 20 * t / 1e-3}


@pytest.mark.parametrize("robot, inputs, until, h, watched", [
    pytest.param(CANADARM, torques, 1.0, 0.02, ["upper_joint.q", "wrist_joint.qdd", "lower.deflection[2]", "tip.position[2]"],
                 marks=pytest.mark.quick),
    (SLIDER_CRANK, crank, 0.002, 1e-4, ["tip.position[1]", "crank_pin.qd", "motor.tau", "coupler.deflection[2]"])],
    ids=["canadarm", "slider_crank"])
def test_held_rows_are_communication_points(limber, pack, root, tmp_path, robot, inputs, until, h, watched):
    """The same integration: the result differs by rounding of times alone."""
    t = np.arange(round(until / h) + 1) * h
    rows = inputs(t)
    file = write_csv(tmp_path / "inputs.csv", {"time": t, **rows})
    words = [limber, "simulate", root / robot, "--inputs", file, "--until", until, "--step", h, "--hold"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    told = columns(done.stdout)
    instance = Instance(unzip(pack(root / robot), tmp_path / "fmu")).initialise()
    for i in range(len(t) - 1):
        assert instance.set({name: x[i] for name, x in rows.items()}) == OK and instance.step(t[i], h) == OK
        for name, value in zip(watched, instance.get(*watched)):
            assert value == pytest.approx(told[name][i + 1], abs=1e-6 * np.abs(told[name]).max())
    instance.free()
