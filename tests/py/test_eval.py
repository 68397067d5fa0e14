"""`limber eval` as a command: what it accepts, what it refuses and with which words, and that its numbers belong together."""

import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[2]
CANADARM = ROOT / "resources/canadarm.json"
PASSIVE = {"format": "limber-robot/1", "name": "cart", "gravity": [0, 0, -9.81], "links": [
    {"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2}},
    {"name": "rod", "joint": {"type": "revolute", "axis": [0, 1, 0], "passive": True},
     "rigid": {"mass": 1, "com": [0, 0, 0.5], "inertia": [0.1, 0.1, 0, 0, 0, 0]}},
    {"name": "driven", "joint": {"type": "revolute", "axis": [0, 1, 0], "motion": "prescribed"},
     "rigid": {"mass": 1, "com": [0, 0.1, 0.5], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}}]}


def evaluate(limber, robot, state, *options):
    text = state if isinstance(state, str) else json.dumps(state)
    return subprocess.run([limber, "eval", robot, "-", *options], input=text, capture_output=True, text=True, timeout=60)


def answer(limber, robot, state, *options):
    run = evaluate(limber, robot, state, *options)
    assert (run.returncode, run.stderr) == (0, "")
    return json.loads(run.stdout)


@pytest.fixture
def cart(tmp_path):
    """Three joints: free, passive, prescribed."""
    file = tmp_path / "cart.json"
    file.write_text(json.dumps(PASSIVE))
    return file


@pytest.fixture(scope="module")
def state(limber):
    """A state of the Canadarm with every input."""
    n = len(answer(limber, CANADARM, {})["qdd"])
    random = np.random.default_rng(1)
    return {"q": list(0.1 * random.standard_normal(n)), "qd": list(0.1 * random.standard_normal(n)),
            "qdd": list(random.standard_normal(n)), "tip_force": [1.0, -2.0, 3.0], "tip_torque": [0.5, 0.25, -1.0]}


# ---- numbers that belong together ------------------------------------------------------------------------------------


def test_absent_members_are_zeros(limber):
    n = len(answer(limber, CANADARM, {})["qdd"])
    zeros = {"q": [0] * n, "qd": [0.0] * n, "tau": [0] * 3, "tip_force": [0, 0, 0], "tip_torque": [0, 0, 0],
             "prescribed_qdd": [], "actuator_force": []}
    assert answer(limber, CANADARM, {}) == answer(limber, CANADARM, zeros)


def test_numbers_read_back_exactly(limber, state):
    """17 digits: every number printed is the shortest or a longer form of one double, so printing it again changes nothing,
    and the state that was read is the one that was given."""
    text = evaluate(limber, CANADARM, state).stdout
    numbers = []
    json.loads(text, parse_float=lambda number: numbers.append(number) or float(number))
    assert len(numbers) > 100
    assert any(len(number.lstrip("-").replace(".", "")) >= 16 for number in numbers)
    near = {**state, "q": [math.nextafter(x, 1) for x in state["q"]]}
    assert evaluate(limber, CANADARM, near).stdout != text
    assert evaluate(limber, CANADARM, state).stdout == text


@pytest.mark.parametrize("terms", ["full", "linear", "ruthless"])
def test_elastic_terms_are_chosen(limber, state, terms):
    found = answer(limber, CANADARM, state, "--elastic-terms", terms)
    full = answer(limber, CANADARM, state)
    assert (found["mass_matrix"] == full["mass_matrix"]) == (terms == "full")
    assert found["tip_position"] == full["tip_position"]  # frames stay exact


def test_state_from_a_file(limber, tmp_path, state):
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state))
    run = subprocess.run([limber, "eval", CANADARM, file], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stdout == evaluate(limber, CANADARM, state, "--json").stdout


# ---- what is refused -------------------------------------------------------------------------------------------------

BAD_STATES = [
    pytest.param({"qddd": [1, 2, 3]}, "qddd", id="unknown-key"),
    pytest.param({"q": [1, 2]}, "q", id="too-short"),
    pytest.param({"q": [1, 2, 3, 4]}, "q", id="too-long"),
    pytest.param({"qd": 1}, "qd", id="number"),
    pytest.param({"qd": [1, "2", 3]}, "qd[1]", id="string"),
    pytest.param({"qd": [1, None, 3]}, "qd[1]", id="null"),
    pytest.param({"qd": [1, True, 3]}, "qd[1]", id="boolean"),
    pytest.param('{"tip_force": [0, NaN, 0]}', "tip_force[1]", id="nan"),
    pytest.param('{"tip_torque": [0, 0, -Infinity]}', "tip_torque[2]", id="infinite"),
    pytest.param('{"q": [1e999, 0, 0]}', "q[0]", id="overflow"),
    pytest.param({"tau": [1, 1, 0]}, "tau[1]", id="torque-on-passive"),
    pytest.param({"tau": [1, 0, 1]}, "tau[2]", id="torque-on-prescribed"),
    pytest.param({"tau": [1]}, "tau", id="tau-too-short"),
    pytest.param({"prescribed_qdd": []}, "prescribed_qdd", id="prescribed-too-short"),
    pytest.param({"actuator_force": [1]}, "actuator_force", id="no-actuator"),
    pytest.param({"qdd": [1]}, "qdd", id="qdd-too-short"),
    pytest.param({"tip_force": [1, 2, 3, 4]}, "tip_force", id="four-forces"),
    pytest.param([1, 2, 3], "object", id="array"),
    pytest.param("null", "object", id="null-document"),
    pytest.param("", "", id="empty"),
    pytest.param('{"q": [1, 2, 3]', "", id="cut-off"),
    pytest.param('{"q": [1, 2, 3]} x', "", id="trailing"),
    pytest.param('{"q": [1, 2 3]}', "", id="malformed"),
]


@pytest.mark.parametrize("bad, named", BAD_STATES)
def test_bad_state_is_refused(limber_sanitized, cart, bad, named):
    run = evaluate(limber_sanitized, cart, bad)
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr and named in run.stderr
    assert "Sanitizer" not in run.stderr


def test_all_problems_of_a_state_are_told(limber, cart):
    run = evaluate(limber, cart, {"q": [1], "qd": [1], "nonsense": 1})
    assert run.returncode == 1 and all(word in run.stderr for word in ["q = [1]", "qd = [1]", "nonsense = 1"])
