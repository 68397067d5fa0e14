"""How exact the integration is: co-simulation against a run at a tight tolerance, energy. tests/validation has published
motions and test_importers.py other importers."""

import ctypes as ct
import json
import math

import numpy as np
import pytest
from importer import OK, Instance
from program import Program, drift, write_csv

TIP = ["tip.position[1]", "tip.position[2]"]
JOINTS = ["upper_joint", "lower_joint", "wrist_joint"]


@pytest.fixture(scope="session")
def program(limber, tmp_path_factory): return Program(limber, tmp_path_factory.mktemp("program"))


def falls(errors, factor):
    return all(after * factor <= before for before, after in zip(errors, errors[1:]))


# ---- co-simulation --------------------------------------------------------------------------------------------------

SMOOTH = {f"{joint}.tau": lambda t, a=a, w=w: a * (1 - math.cos(w * t)) for joint, a, w in zip(JOINTS, (400, 200, 100), (2.1, 3.7, 5))}
WATCHED = [f"{joint}.q" for joint in JOINTS] + TIP + [f"{link}.deflection[2]" for link in ("upper", "lower", "wrist")]
UNTIL = 2.0


def co_simulate(package, h, rtol):
    """With steps of h; inputs follow straight lines from row to row through fmi2SetRealInputDerivatives. Columns at 0, h, ..."""
    instance, n = Instance(package).initialise(stop=UNTIL, tolerance=rtol), len(SMOOTH)
    references, orders = instance.references(list(SMOOTH)), (ct.c_int * n)(*[1] * n)
    rows = [instance.get(*WATCHED)]
    for i in range(round(UNTIL / h)):
        t = i * h
        u, v = ([f(at) for f in SMOOTH.values()] for at in (t, t + h))
        assert instance.set(dict(zip(SMOOTH, u))) == OK
        assert instance.SetRealInputDerivatives(references, n, orders, (ct.c_double * n)(*[(b - a) / h for a, b in zip(u, v)])) == OK
        assert instance.step(t, h) == OK, instance.log
        rows.append(instance.get(*WATCHED))
    instance.free()
    return np.array(rows).T


@pytest.mark.parametrize("h", [0.01, 0.1])
def test_co_simulation_is_exact(canadarm, program, root, tmp_path, h):
    """Against limber simulate at 1e-10 with the same straight pieces of torque, so that only the integration differs."""
    t = np.arange(round(UNTIL / h) + 1) * h
    inputs = write_csv(tmp_path / "torques.csv", {"time": t, **{name: [f(x) for x in t] for name, f in SMOOTH.items()}})
    table, errors = program.simulate(root / "resources/canadarm.json", UNTIL, h, 1e-10, inputs=inputs), []
    reference = np.array([table[name] for name in WATCHED])
    for rtol in 1e-5, 1e-6, 1e-7, 1e-8:
        errors.append((np.abs(co_simulate(canadarm, h, rtol) - reference).max(axis=1) / np.ptp(reference, axis=1)).max())
        print(f"co-simulation, step {1000 * h:g} ms, rtol {rtol:.0e}: {errors[-1]:.1e} of the range")
    assert errors[1] < 1e-3
    assert errors[3] < errors[1] / 4 < errors[0]


# ---- energy ---------------------------------------------------------------------------------------------------------

# [s]: dozens of periods of the slowest mode; those with fast modes take too many steps for more
FREE = {"canadarm": 10, "canadarm-spatial": 10, "chain-7": 10, "cibicik": 5, "cibicik-servo": 5, "concrete-pump": 1, "crane": 10, "dualemps": 0.5,
        "four-bar": 5, "lin-lewis": 1, "parallelogram": 2, "twisted-7": 10, "two-arms": 5}
AT_REST = {"canadarm": 9, "canadarm-spatial": 15, "lin-lewis": 16}  # coordinates: the first is struck


def without_losses(robot):
    """Without friction and damping"""
    for link in robot["links"]:
        joint = link["joint"]
        for name in ("viscous", "coulomb", "coulomb_velocity"): joint.pop(name, None)
        if "limits" in joint: joint["limits"]["damping"] = 0
        if "beam" in link: link["beam"].pop("damping_ratio", None)
    if robot["name"] == "dualemps": robot["links"][0]["joint"]["start"] = {"velocity": 0.3}
    return robot


@pytest.mark.parametrize("name", FREE)
def test_energy_drift_of_every_robot(program, root, name):
    """Below 20 times the tolerance, and falling with it, also where the automatic choice is another method at another tolerance."""
    robot, drifts = without_losses(json.loads((root / f"resources/{name}.json").read_text())), []
    start = program.struck(robot, [0] * AT_REST[name], 0, 1e-3) if name in AT_REST else None
    for rtol in 1e-4, 1e-6, 1e-8:
        drifts.append(drift(program.simulate(robot, FREE[name], 0.02, rtol, start=start)))
        print(f"{name}, free {FREE[name]} s, rtol {rtol:.0e}: drift {drifts[-1]:.1e}")
        assert drifts[-1] < 20 * rtol
    assert falls(drifts, 4 ** 2)


def test_every_robot_has_its_energy_tested(root):
    """Except those with drives inside: valves and windings take and lose energy (tests/fmu/test_systems.py has their balance)"""
    assert set(FREE) == {file.stem for file in root.glob("resources/*.json") if "schema" not in file.name and '"drive"' not in file.read_text()}


def test_rigid_arms_take_high_orders(program, root):
    """Nothing in them oscillates with little damping, so the order is not capped, however loose the tolerance."""
    robot, weightless = root / "resources/chain-7.json", {f"gravity[{i}]": 0 for i in (1, 2, 3)}
    start = program.struck(robot, [0] * 7, 3, 5.0)
    run = lambda rtol, order: program.simulate(robot, 2, 0.05, rtol, start=start, **weightless, **{"solver.method": 1, "solver.max_order": order})
    exact = run(1e-10, 5)
    chosen, capped = (max(np.abs(result[name] - exact[name]).max() for name in [*TIP, "tip.position[3]"])
                      for result in (run(1e-4, order) for order in (0, 2)))
    print(f"chain-7, free 2 s after an impulse, rtol 1e-4: tip {chosen:.1e} m, order up to 2 {capped:.1e} m")
    assert chosen < capped / 4
