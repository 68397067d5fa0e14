"""The finite-element beam that other tests compare with, against closed forms."""

import numpy as np
import pytest
from fe_beam import frequencies
from scipy.optimize import brentq
from scipy.special import iv, jv, kv, yv

UNIFORM = {"length": 1.3, "mass_per_length": 2.1, "EIy": 70.0, "EIz": 90.0, "GJ": 40.0, "EA": 5e3}


def roots(function, grid, count):
    signs = np.sign([function(x) for x in grid])
    ends = np.flatnonzero(signs[1:] != signs[:-1])[:count]
    return np.array([brentq(function, grid[i], grid[i + 1], xtol=1e-14) for i in ends])


@pytest.mark.parametrize("ratio", [0, 0.1, 1, 10])
def test_cantilever_with_a_mass(ratio):
    """1 + cosh b cos b + mu b (cos b sinh b - sin b cosh b) = 0, divided by cosh b."""
    equation = lambda b: 1 / np.cosh(b) + np.cos(b) + ratio * b * (np.cos(b) * np.tanh(b) - np.sin(b))
    b = roots(equation, np.arange(0.3, 12, 0.05), 3)
    L, rhoA = UNIFORM["length"], UNIFORM["mass_per_length"]
    for family, EI in ("y", UNIFORM["EIz"]), ("z", UNIFORM["EIy"]):
        exact = (b / L) ** 2 * np.sqrt(EI / rhoA) / (2 * np.pi)
        found = frequencies(UNIFORM, family, {"mass": ratio * rhoA * L})
        assert np.all(np.abs(found / exact - 1) <= 1e-8), found / exact - 1


@pytest.mark.parametrize("ratio", [0, 0.5, 5])
def test_bars_with_a_body(ratio):
    """b tan b = 1/mu, of twist and of axial."""
    beam = UNIFORM | {"inertia_per_length": [0.02, 0, 0]}
    b = roots(lambda b: ratio * b * np.sin(b) - np.cos(b), np.arange(0.05, 12, 0.05), 3)
    L = beam["length"]
    for family, stiffness, inertia in ("twist", beam["GJ"], 0.02), ("axial", beam["EA"], beam["mass_per_length"]):
        tip = {"mass": ratio * inertia * L} if family == "axial" else {"inertia": [ratio * inertia * L, 0, 0, 0, 0, 0]}
        exact = b / L * np.sqrt(stiffness / inertia) / (2 * np.pi)
        found = frequencies(beam, family, tip)
        assert np.all(np.abs(found / exact - 1) <= 1e-8), found / exact - 1


def wedge(X0, X1):
    """k of the cantilever clamped at X0 with its free end at X1 < X0, X the distance from the edge that its sides meet in: mass per
    length m X, stiffness e X^3,  (X^3 v'')'' = k^4 X v,  k^4 = w^2 m/e.  v = X^-1/2 Z_1(2 k sqrt X), Z one of J, Y, I, K."""
    Z, up, down = (jv, yv, iv, kv), np.array([-1, -1, 1, -1]), np.array([1, 1, 1, -1])

    def conditions(k):
        row = lambda n, X: np.array([z(n, 2 * k * np.sqrt(X)) for z in Z])
        # v, v' ~ k Z_2, v'' ~ k^2 Z_3, (X^3 v'')' ~ k^3 X Z_2; each row scaled by itself
        rows = np.array([row(1, X0), up * row(2, X0), row(3, X1), down * row(2, X1)])
        scale = np.array([1, 1, np.exp(-2 * k * np.sqrt(X0)), np.exp(2 * k * np.sqrt(X1))])
        return np.linalg.det(rows * scale)

    return conditions


@pytest.mark.parametrize("taper", [2.0, 5.0])
def test_tapered_depth(taper):
    """A rectangle whose depth falls linearly to 1/taper, by Bessel functions."""
    L, E, rho, width, depth = 1.7, 2e9, 1500.0, 0.03, 0.08
    section = lambda height: {"shape": "rectangle", "width": width, "height": height}
    beam = {"length": L, "material": {"E": E, "G": 1e9, "density": rho},
            "section": {"x": [0, L], "section": [section(depth), section(depth / taper)]}}
    X0 = L * taper / (taper - 1)
    slope = depth / X0
    m, e = rho * width * slope, E * width * slope**3 / 12
    k = roots(wedge(X0, X0 - L), np.arange(0.5, 12, 0.02), 3)
    exact = k**2 * np.sqrt(e / m) / (2 * np.pi)
    found = frequencies(beam, "z", rotary=0)
    assert np.all(np.abs(found / exact - 1) <= 1e-8), found / exact - 1
    heavy = frequencies(beam, "z")
    assert np.all(heavy < found) and np.all(heavy > found * (1 - 0.05))


def test_kinks():
    """Two stations of a table, none of which is a node of an equal mesh; more stations on the same lines change nothing."""
    x, value = [0, 0.37, 0.911, 1.3], [60.0, 90.0, 25.0, 40.0]
    finer = [0, 0.1, 0.37, 0.5, 0.911, 1.2, 1.3]
    tables = [{"x": stations, "value": np.interp(stations, x, value).tolist()} for stations in (x, finer)]
    mass = {"x": [0, 0.6, 1.3], "value": [3.0, 1.0, 2.0]}
    found = [frequencies(UNIFORM | {"EIz": EI, "mass_per_length": mass, "added_mass_per_length": 0.5}, "y", {"mass": 0.3, "com": [0.1, 0, 0]})
             for EI in tables]
    assert np.all(np.abs(found[0] / found[1] - 1) <= 1e-8)
