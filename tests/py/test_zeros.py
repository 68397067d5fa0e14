"""`limber zeros`: closed-form zeros, zeros against the transfer function that `limber linearize` gives, and what is refused. Those of
one flexible link, published or known, are in tests/validation."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_linearize import answer, run

ROOT = Path(__file__).resolve().parents[2]
LIN_LEWIS = ROOT / "resources/lin-lewis.json"


def zeros(limber, robot, source, sink, *options, state=None):
    found = answer(limber, "zeros", robot, "--input", source, "--output", sink, *options, state=state)
    for key in "zeros", "poles": found[key] = np.array([complex(*number) for number in found[key]])
    return found


def write(folder, robot):
    file = folder / "robot.json"
    file.write_text(json.dumps(robot))
    return file


# ---- one flexible link -----------------------------------------------------------------------------------------------


def test_what_is_not_coupled_is_left_out(limber):
    """The spatial Canadarm moves in a plane as the planar one does: bending out of it and twist have no part."""
    planar, spatial = (zeros(limber, ROOT / f"resources/{name}.json", "upper_joint.tau", "tip.position[2]", "--at", "-",
                             state={"q": [0.2, *[0] * modes, 0.3, *[0] * modes, 0.4, *[0] * modes]})
                       for name, modes in (("canadarm", 2), ("canadarm-spatial", 4)))
    assert len(spatial["poles"]) == len(planar["poles"])
    assert np.allclose(spatial["zeros"], planar["zeros"], rtol=1e-8) and np.allclose(spatial["poles"], planar["poles"], rtol=1e-8)


# ---- closed form -----------------------------------------------------------------------------------------------------


def cart(sign, viscous=0.0):
    """A cart with a rod, upright (sign 1) or hanging (-1): mass 1, centre at 0.5, inertia about it 0.1, J = 0.1 + 0.25."""
    return {"format": "limber-robot/1", "name": "cart", "gravity": [0, 0, -9.81], "links": [
        {"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2}},
        {"name": "rod", "joint": {"type": "revolute", "axis": [0, 1, 0], "passive": True, "viscous": viscous},
         "rigid": {"mass": 1, "com": [0, 0, 0.5 * sign], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}}]}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("viscous", [0.0, 0.2])
def test_cart_with_rod(limber, tmp_path, sign, viscous):
    """Force to cart: J s^2 + d s -+ m g l = 0. Force to rod: the cart's double
    integrator cancels, and nothing is left."""
    robot = write(tmp_path, cart(sign, viscous))
    J, ml, mass = 0.35, 0.5, 3.0
    found = zeros(limber, robot, "cart.tau", "cart.q")
    want = np.roots([J, viscous, -sign * ml * 9.81])
    assert np.allclose(np.sort_complex(found["zeros"]), np.sort_complex(want), rtol=1e-12)
    assert found["minimum_phase"] is (sign == -1) and found["relative_degree"] == 2
    assert np.isclose(found["gain"], J / (mass * J - ml**2), rtol=1e-12)
    rod = zeros(limber, robot, "cart.tau", "rod.q")
    assert len(rod["zeros"]) == 0 and len(rod["poles"]) == 2 and rod["minimum_phase"] is True
    assert np.isclose(rod["gain"], -sign * ml / (mass * J - ml**2), rtol=1e-12)


# ---- the transfer function -------------------------------------------------------------------------------------------

PAIRS = [("canadarm", "upper_joint.tau", "upper_joint.q", False), ("canadarm", "upper_joint.tau", "tip.position[2]", False),
         ("canadarm", "lower_joint.tau", "wrist_joint.qd", False), ("canadarm", "tip.force[2]", "wrist_joint.q", True),
         ("cibicik", "boom_joint.tau", "boom.root_moment[2]", False), ("cibicik", "slew.tau", "tip.acceleration[1]", True),
         ("random-4", "tip.force[1]", "tip.velocity[3]", True), ("random-6", "tip.torque[2]", "tip.quaternion[2]", True)]


@pytest.mark.parametrize("name, source, sink, moving", PAIRS, ids=lambda value: str(value))
def test_zeros_poles_and_gain_make_the_transfer_function(limber, tmp_path, name, source, sink, moving):
    """c (s - A)^-1 b + d = gain prod (s - z) / prod (s - p) anywhere, by the matrices of linearize. Tried beside the axes where
    poles and zeros are, at their own sizes. Squares of zeros are known to rounding of the fastest one's."""
    data = json.loads((ROOT / f"tests/data/reference/{name}.json").read_text())
    robot = write(tmp_path, data["robot"])
    n = len(data["cases"][1]["q"])
    state = {"q": data["cases"][1]["q"], "qd": data["cases"][1]["qd"] if moving else [0] * n}
    found = zeros(limber, robot, source, sink, "--at", "-", state=state)
    linear = answer(limber, "linearize", robot, "--at", "-", state=state)
    A, B, C, D = (np.array(linear[key]) for key in "ABCD")
    u, y = linear["inputs"].index(source), linear["outputs"].index(sink)
    assert len(found["zeros"]) == len(found["poles"]) - found["relative_degree"]
    fastest = np.abs(np.linalg.eigvals(A)).max()
    for s in fastest * np.array([0.01, 0.1, 1.0, 3.0]) * np.exp(0.3j):
        G = C[y] @ np.linalg.solve(s * np.eye(len(A)) - A, B[:, u]) + D[y, u]
        product = found["gain"] * np.exp(np.sum(np.log(s - found["zeros"])) - np.sum(np.log(s - found["poles"])))
        assert abs(product - G) <= 1e-7 * abs(G)
    right = found["zeros"].real > 1e-6 * np.abs(found["zeros"])
    assert found["minimum_phase"] is not bool(right.any())
    assert np.all(np.diff(np.abs(found["zeros"])) >= 0)
    assert set(found["zeros"]) == set(np.conj(found["zeros"]))


def test_static_point(limber):
    """The zeros belong to the equilibrium, the one that linearize finds."""
    robot = ROOT / "resources/cibicik.json"
    found = zeros(limber, robot, "boom_joint.tau", "boom_joint.q", "--static")
    point = answer(limber, "linearize", robot, "--static")["operating_point"]
    assert found["operating_point"] == point
    again = zeros(limber, robot, "boom_joint.tau", "boom_joint.q", "--at", "-", state=point)
    assert np.array_equal(again["zeros"], found["zeros"])


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_nothing_passes(limber_sanitized):
    """The tip of a straight arm does not move along it, whichever way the arm points: 1e-17 is not a transfer function."""
    for angle, sink in (0.0, "tip.position[1]"), (np.pi / 2, "tip.position[2]"), (0.7, "tip.position[3]"), (0.3, "tip.velocity[3]"):
        state = {"q": [angle] + [0] * 15}
        done = run(limber_sanitized, "zeros", LIN_LEWIS, "--input", "hinge.tau", "--output", sink, "--at", "-", state=state)
        assert done.returncode == 3 and done.stdout == "", (angle, sink)
        assert "identically zero" in done.stderr and sink in done.stderr and "hinge.tau" in done.stderr


def test_unknown_names(limber_sanitized):
    done = run(limber_sanitized, "zeros", LIN_LEWIS, "--input", "hinge.tua", "--output", "tip.positon[2]")
    assert done.returncode == 1 and done.stdout == ""
    assert "'hinge.tua', did you mean 'hinge.tau'?" in done.stderr
    assert "'tip.positon[2]', did you mean 'tip.position[2]'?" in done.stderr
    done = run(limber_sanitized, "zeros", LIN_LEWIS, "--input", "hinge.q", "--output", "hinge.tau")  # the wrong way round
    assert done.returncode == 1 and "no input 'hinge.q'" in done.stderr and "no output 'hinge.tau'" in done.stderr
    done = run(limber_sanitized, "zeros", LIN_LEWIS, "--input", "nonsense", "--output", "energy.total")
    assert done.returncode == 1 and "limber linearize" in done.stderr and "no output 'energy.total'" in done.stderr


def test_robots_without_states(limber_sanitized):
    done = run(limber_sanitized, "zeros", ROOT / "tests/data/good/smallest.json", "--input", "tip.force[1]",
               "--output", "block.root_force[1]")
    assert done.returncode == 0 and json.loads(done.stdout)["zeros"] == [] and json.loads(done.stdout)["gain"] == -1
    done = run(limber_sanitized, "zeros", ROOT / "tests/data/good/smallest.json", "--input", "tip.force[1]",
               "--output", "tip.position[1]")
    assert done.returncode == 3 and "identically zero" in done.stderr
