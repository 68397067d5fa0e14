"""Geometric stiffness of nodal bodies: the nodal twin of a beam, made by the judge from the beam's own integrals."""

import judge
import numpy as np
import pytest
from program import Program

SHAPES = {"y": {"shape": "clamped-free", "count": 4}, "z": {"shape": "craig-bampton", "count": 4}}
BEAM = {"length": 1.5, "mass_per_length": 2, "EIy": 30, "EIz": 20, "modes": SHAPES}


def arm(body, **more):
    """Turns about the vertical: y bends in the plane of rotation, z out of it."""
    joint = {"name": "hinge", "type": "revolute", "axis": [0, 0, 1]}
    return {"format": "limber-robot/2", "name": "spun", "links": [{"name": "arm", "joint": joint | more.pop("joint", {}), **body}], **more}


def twin(of, geometric=True):
    """Nodes at the points of a Gauss rule; foreshortening moves them by -1/2 eta' G eta along x."""
    body = judge.beam(of, True)
    ends = [(part.r[0], 0, np.zeros((3, 3)), part.Phi[0], part.Lambda[0]) for part in (body.hinge, body.tip)]
    points = body.points
    nodes = [{"position": r.tolist(), "mass": m, "inertia": [I[0, 0], I[1, 1], I[2, 2], 0, 0, 0], "translation": Phi.tolist(),
              "rotation": Lambda.tolist()}
             for r, m, I, Phi, Lambda in [*zip(points.r, body.mass, body.inertia, points.Phi, points.Lambda), *ends]]
    out = {"modes": len(body.K), "nodes": nodes, "hinge_node": len(body.mass), "tip_node": len(body.mass) + 1,
           "stiffness": body.K.tolist(), "damping": body.D.tolist()}
    if geometric:
        zero = np.zeros_like(body.K)
        S, B = (np.einsum("p,pkl->kl", weight, points.G) for weight in (body.mass, body.mass * points.r[:, 0]))
        out["geometric_stiffness"] = {"acceleration": np.stack([-S, zero, zero]).tolist(),
                                      "rates": np.stack([-2 * B, *[zero] * 5]).tolist()}
    return out


@pytest.fixture
def program(limber, tmp_path): return Program(limber, tmp_path)


@pytest.mark.parametrize("speed", [0, 3, 30])
def test_spinning_twin_has_the_frequencies_of_the_beam(program, speed):
    """At eta = 0 the linear equations follow from the Lagrangian to second order, which both have."""
    def hertz(body):
        return np.array(program.json("modes", arm(body), "--json", "--at", "-", state={"qd": [speed] + [0] * 8})["frequency"])

    beam, nodal = hertz({"beam": BEAM}), hertz({"nodal": twin(BEAM)})
    print(f"\nspeed {speed}: first {beam[0]:.6g} Hz, twin off by {np.abs(nodal / beam - 1).max():.1e}")
    assert np.allclose(nodal, beam, rtol=1e-9, atol=0)
    if speed == 30: assert hertz({"nodal": twin(BEAM, geometric=False)})[0] < 0.5 * beam[0]


def test_mass_matrix_stays_positive_definite(program):
    """The hinge has no inertia of its own, and the modes nearly span its motion: dropping terms of third and fourth order makes the
    mass matrix indefinite at slopes of a few degrees. Here they reach a radian."""
    random, robot = np.random.default_rng(3), program.robot(arm({"nodal": twin(BEAM)}))
    for _ in range(10):
        state = {"q": random.uniform(-0.04, 0.04, 9).tolist()}
        M = np.array(program.json("eval", robot, "-", state=state)["mass_matrix"])
        assert np.linalg.eigvalsh(M)[0] > 0


def test_check_says_that_a_body_has_none(program):
    def warnings(body): return program.json("check", arm(body), "--json")["warnings"]
    [message] = warnings({"nodal": twin(BEAM, geometric=False)})
    assert "links[0].nodal: link 'arm' has no geometric stiffness" in message
    assert warnings({"nodal": twin(BEAM)}) == warnings({"beam": BEAM}) == []
