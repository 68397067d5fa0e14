"""The finite-element beam that other tests compare with, against closed forms."""

import numpy as np
import pytest
from fe_beam import frequencies
from scipy.optimize import brentq

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


def test_kinks():
    """Two stations of a table, none of which is a node of an equal mesh; more stations on the same lines change nothing."""
    x, value = [0, 0.37, 0.911, 1.3], [60.0, 90.0, 25.0, 40.0]
    finer = [0, 0.1, 0.37, 0.5, 0.911, 1.2, 1.3]
    tables = [{"x": stations, "value": np.interp(stations, x, value).tolist()} for stations in (x, finer)]
    mass = {"x": [0, 0.6, 1.3], "value": [3.0, 1.0, 2.0]}
    found = [frequencies(UNIFORM | {"EIz": EI, "mass_per_length": mass, "added_mass_per_length": 0.5}, "y", {"mass": 0.3, "com": [0.1, 0, 0]})
             for EI in tables]
    assert np.all(np.abs(found[0] / found[1] - 1) <= 1e-8)
