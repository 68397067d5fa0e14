"""An arm and all that it needs, coupled: nothing comes from outside."""

import ctypes as ct

import numpy as np
import pytest

from importer import OK, Instance, unzip

WEIGHT = 300 * 9.81
LINES = ("lift", "fold")
HOOK = [(f"tip.{what}[{k}]", f"hook.{what}[{k}]") for what in ("position", "velocity") for k in (1, 2, 3)]
PULL = [(f"force[{k}]", f"tip.force[{k}]") for k in (1, 2, 3)]


def couple(source, sink, pairs):
    for out, into in pairs: assert sink.set({into: source.get(out)}) == OK


def prepared(package):
    """Elastic links at rest, joints held."""
    crane = Instance(package)
    assert crane.SetBoolean(crane.references(["start_static"]), 1, (ct.c_int * 1)(1)) == OK
    return crane


def holding(package):
    """Forces of the two cylinders that hold the crane at its start without the load, and their lengths there."""

    def answer(forces):
        crane = prepared(package)
        assert crane.set({f"{line}.force": float(f) for line, f in zip(LINES, forces)}) == OK
        crane.initialise()
        accelerations, lengths = crane.get("boom_joint.qdd", "jib_joint.qdd"), crane.get("lift.length", "fold.length")
        crane.free()
        return np.array(accelerations), lengths
    forces, (at, lengths) = np.zeros(2), answer(np.zeros(2))
    slope = np.array([answer(f)[0] - at for f in 1e3 * np.eye(2)]).T / 1e3
    for _ in range(3): forces = forces - np.linalg.solve(slope, answer(forces)[0])
    assert np.abs(answer(forces)[0]).max() < 1e-6
    return [float(f) for f in forces], lengths


def test_crane_lifts_a_load_from_the_ground(pack, drive, root, tmp_path):
    """Axes command the valves, cylinders move the crane, a load lies on the ground and is lifted. Drives first, 0.5 ms, 1.5 s."""
    h, steps = 5e-4, 3000
    package = unzip(pack(root / "resources/crane.json"), tmp_path / "crane")
    forces, lengths = holding(package)
    move = {"move[1].time": 0.05, "move[1].duration": 1.2, "move[1].distance": 0.12}
    made = lambda name, **settings: Instance(unzip(drive(name, **settings), tmp_path / f"{name}{len(list(tmp_path.iterdir()))}"))
    axes = [made("axis", start=length, **(move if line == "lift" else {})) for line, length in zip(LINES, lengths)]
    cylinders = [made("cylinder", length_closed=closed, force_start=f) for closed, f in zip((1.4, 0.6), forces)]
    sling, crane = made("sling", **{"gravity[2]": -9.81, "gravity[3]": 0.0}), prepared(package)
    everything = [*axes, *cylinders, sling, crane]

    def motion():
        for line, axis, cylinder in zip(LINES, axes, cylinders):
            couple(crane, axis, [(f"{line}.length", "position"), (f"{line}.rate", "rate")])
            couple(crane, cylinder, [(f"{line}.length", "length"), (f"{line}.rate", "rate")])
            couple(axis, cylinder, [("command", "command")])
        couple(crane, sling, HOOK)

    def force():
        for line, cylinder in zip(LINES, cylinders): couple(cylinder, crane, [("force", f"{line}.force")])
        couple(sling, crane, PULL)

    for one in everything: assert one.SetupExperiment(0, 0.0, 0.0, 0, 0.0) == OK and one.EnterInitializationMode() == OK
    motion()
    force()
    for one in everything: assert one.ExitInitializationMode() == OK
    assert crane.get("boom_joint.qdd", "jib_joint.qdd") == pytest.approx([0, 0], abs=1e-6)
    assert sling.get("tension", "ground_force") == pytest.approx([0, WEIGHT], rel=1e-9)
    rows = []
    for i in range(steps):
        for one in everything[:-1]: assert one.step(i * h, h) == OK, one.log
        force()
        assert crane.step(i * h, h) == OK, crane.log
        motion()
        rows.append([*sling.get("tension", "ground_force", "position[2]", "velocity[2]", "force[2]"), crane.get("lift.length"),
                     axes[0].get("reference")])
    tension, ground, height, velocity, pull, length, reference = np.array(rows).T
    lifted = int(np.argmax(ground == 0))
    assert tension[0] == 0 and 0 < lifted < steps and tension[lifted] > WEIGHT  # it is lifted by more than its weight
    assert height[-1] > 0.3 and ground[-1] == 0
    impulse = np.cumsum(ground - pull - WEIGHT) * h  # on the load: its momentum, but for the length of a step
    assert np.abs(impulse - 300 * velocity).max() < 0.01 * 300 * velocity.max()
    lag = 0.2 * (1 / 0.2 - 3.6) / 15  # at 0.2 m/s, where full opening gives the loaded cylinder as much per second: r' (1/v - kd)/kp
    assert reference[-1] == pytest.approx(lengths[0] + 0.12) and np.abs(length - reference).max() < 1.5 * lag
    for one in everything: one.free()
