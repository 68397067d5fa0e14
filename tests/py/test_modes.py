"""`limber modes`: natural frequencies against closed forms and independent eigenvalues; laws that hold for any robot. Papers and
finite elements are in tests/validation."""

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from program import SEVERAL_JOINTS, beam, robot

ROOT = Path(__file__).resolve().parents[2]
CANADARM = json.loads((ROOT / "resources/canadarm.json").read_text(encoding="utf-8"))
TWO_PI = 2 * np.pi


def write(folder, description):
    file = folder / "robot.json"
    file.write_text(json.dumps(description))
    return file


def run(limber, folder, description, *options, state=None):
    at = [] if state is None else ["--at", "-"]
    return subprocess.run([limber, "modes", write(folder, description), *at, *options], capture_output=True, text=True,
                          input=None if state is None else json.dumps(state), timeout=60)


def modes(limber, folder, description, *options, state=None):
    result = run(limber, folder, description, "--json", *options, state=state)
    assert (result.returncode, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    count = len(answer["frequency"])
    assert answer["frequency"] == sorted(answer["frequency"])
    assert all(len(answer[key]) == count for key in ("damping_ratio", "growth", "participation"))
    for shares in answer["participation"]:
        assert abs(sum(shares.values()) - 1) < 1e-12 and min(shares.values()) >= 0
    return answer


# ---- the linearised equations of motion, by differences of eval ------------------------------------------------------


def without_damping(description):
    links = []
    for link in json.loads(json.dumps(description["links"])):
        for key in ("viscous", "coulomb"): link.get("joint", {}).pop(key, None)
        for key in ("damping_ratio", "rayleigh"): link.get("beam", {}).pop(key, None)
        link.get("nodal", {}).pop("damping", None)
        links.append(link)
    return {**description, "links": links}


def bias(limber, file, state):
    """M qdd + h - (share of the tip wrench) at qdd = 0 but for prescribed joints, and M"""
    answer = subprocess.run([limber, "eval", file, "-"], input=json.dumps(state), capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    return np.array(found["inverse"]), np.array(found["mass_matrix"])


STEP = 2e-3
STENCILS = {"q": {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12},  # fourth order
            "qd": {-1: -1 / 2, 1: 1 / 2}}                           # exact for velocity terms, which are quadratic


def by_difference(limber, file, state, key, kept):
    """d(bias)/d(state[key]), columns of `kept`"""
    def at(j, k):
        moved = list(state[key])
        moved[j] += k * STEP
        return bias(limber, file, {**state, key: moved})[0][kept]
    return np.array([sum(weight * at(j, k) for k, weight in STENCILS[key].items()) / STEP for j in kept]).T


def kept_coordinates(description, free):
    """Numbers of the kept coordinates and their names; the accelerations of prescribed joints stand in qdd."""
    kept, names, prescribed, c = [], [], [], 0
    for link in description["links"]:
        joint = link.get("joint", {})
        if joint.get("type") != "fixed":
            if joint.get("motion") == "prescribed": prescribed.append(c)
            elif free or joint.get("passive"):
                kept.append(c)
                names.append(f"{joint.get('name', link['name'])}.q")
            c += 1
        count = len(link["nodal"]["stiffness"]) if "nodal" in link else sum(
            family.get("count", 2 if family["shape"] == "hermite" else 1)
            for family in link.get("beam", {}).get("modes", {}).values())
        kept += range(c, c + count)
        names += [f"{link['name']}.eta[{k + 1}]" for k in range(count)]
        c += count
    return kept, names, prescribed, c


def linearised(limber, folder, description, state, free):
    """M, G, K, D of the kept coordinates"""
    kept, names, prescribed, n = kept_coordinates(description, free)
    state = {"q": [0.0] * n, "qd": [0.0] * n, **state, "qdd": [0.0] * n}
    for number, c in enumerate(prescribed): state["qdd"][c] = state.get("prescribed_qdd", [0.0] * n)[number]
    undamped, damped = folder / "undamped.json", folder / "damped.json"
    undamped.write_text(json.dumps(without_damping(description)))
    damped.write_text(json.dumps(description))
    K, G = (by_difference(limber, undamped, state, key, kept) for key in ("q", "qd"))
    M = bias(limber, undamped, state)[1][np.ix_(kept, kept)]
    return M, G, K, by_difference(limber, damped, state, "qd", kept) - G, names


def eigenvalues(M, G, K):
    n = len(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, G)]])
    return np.linalg.eig(A)


def one_of_each_pair(values):
    """(frequency, growth), as many as coordinates; of real eigenvalues the greater half"""
    real = sorted(v.real for v in values if v.imag == 0)
    pairs = [(v.imag / TWO_PI, v.real) for v in values if v.imag > 0] + [(0.0, r) for r in real[len(real) // 2:]]
    return sorted(pairs, key=lambda pair: (pair[0], -pair[1]))


@pytest.mark.parametrize("name, joints, moving", [
    pytest.param("canadarm", "free", True, marks=pytest.mark.quick), ("nodal-20", "locked", True), ("prescribed-30", "free", True), ("random-4", "free", False),
])
def test_agrees_with_differences_of_eval(limber, tmp_path, name, joints, moving):
    """At rest, under gravity: the symmetric problem. Moving, with tip wrench and prescribed accelerations: the quadratic one."""
    data = json.loads((ROOT / f"tests/data/reference/{name}.json").read_text(encoding="utf-8"))
    keys = ("q", "qd", "tip_force", "tip_torque", "prescribed_qdd") if moving else ("q",)
    state = {key: data["cases"][-1][key] for key in keys if key in data["cases"][-1]}
    M, G, K, D, names = linearised(limber, tmp_path, data["robot"], state, joints == "free")
    found = modes(limber, tmp_path, data["robot"], "--joints", joints, state=state)
    assert list(found["participation"][0]) == names
    values, vectors = eigenvalues(M, G, K)
    size = np.abs(values).max()
    # differences are good to 1e-8 of the largest; near zero, where eigenvalues meet, the square is
    for frequency, growth, expected in zip(found["frequency"], found["growth"], one_of_each_pair(values)):
        z, e = complex(growth, TWO_PI * frequency), complex(expected[1], TWO_PI * expected[0])
        assert abs(z - e) <= 1e-8 * size or abs(z * z - e * e) <= 1e-10 * size**2, (z, e)
    check_vectors(found, M, D, values, vectors[:len(M)], names)


def check_vectors(found, M, D, values, vectors, names):
    """damping_ratio and participation of modes that stand alone"""
    checked = 0
    for k, f in enumerate(found["frequency"]):
        value = complex(found["growth"][k], TWO_PI * f)
        near = np.argsort(np.abs(values - value))
        if f == 0 or abs(values[near[1]] - value) < 1e-2 * abs(value): continue
        phi = vectors[:, near[0]]
        power, mass = (phi.conj() @ D @ phi).real, (phi.conj() @ M @ phi).real
        assert found["damping_ratio"][k] == pytest.approx(power / (2 * TWO_PI * f * mass), rel=1e-4, abs=1e-7)
        shares = np.abs(phi) ** 2 * np.diag(M)
        np.testing.assert_allclose([found["participation"][k][name] for name in names], shares / shares.sum(), atol=1e-4)
        checked += 1
    assert checked >= 2


# ---- damping ---------------------------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("viscous, coulomb", [(0.02, 0.0), (40.0, 0.0), (0.0, 0.5)])
def test_damped_frequencies_are_those_of_linearize(limber, tmp_path, viscous, coulomb):
    """Two links, only the hinges damped, weakly to sticking: eigenvalues of A at an equilibrium, one of each pair."""
    def link(name): return {"name": name, "joint": {"name": f"{name}_hinge", "type": "revolute", "viscous": viscous, "coulomb": coulomb},
                            "beam": {"length": 1, "mass_per_length": 1, "EIz": 40, "modes": {"y": {"shape": "craig-bampton", "count": 2}}}}
    description = robot(link("upper"), link("lower"), gravity=[9.81, 0, 0])
    found = modes(limber, tmp_path, description, "--joints", "free")
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(description))
    answer = subprocess.run([limber, "linearize", file], capture_output=True, text=True, timeout=60)
    expected = one_of_each_pair(np.linalg.eigvals(np.array(json.loads(answer.stdout)["A"])))
    size = abs(max(np.array(found["damped_growth"]) + TWO_PI * 1j * np.array(found["damped_frequency"]), key=abs))
    for frequency, growth, (f, g) in zip(found["damped_frequency"], found["damped_growth"], expected, strict=True):
        z, e = complex(growth, TWO_PI * frequency), complex(g, TWO_PI * f)
        assert abs(z - e) <= 1e-9 * max(size, abs(z)), (z, e)
    assert max(abs(np.array(found["damped_frequency"]) / found["frequency"] - 1)) > 1e-7


# ---- gravity and zeros -----------------------------------------------------------------------------------------------


def rod(**more):
    return {"name": "rod", "joint": {"type": "revolute", "axis": [0, 1, 0], "viscous": 0.1, **more},
            "rigid": {"mass": 2, "com": [0, 0, 0.5], "inertia": [0.1, 0.1, 0, 0, 0, 0]}}


def test_pendulum_both_ways_up(limber, tmp_path):
    """w^2 = m g l / I: hanging it swings, upright it falls."""
    w = np.sqrt(2 * 9.81 * 0.5 / (0.1 + 2 * 0.25))
    pendulum = robot(rod(), gravity=[0, 0, -9.81])
    hanging = modes(limber, tmp_path, pendulum, "--joints", "free", state={"q": [np.pi]})
    assert hanging["frequency"] == pytest.approx([w / TWO_PI], rel=1e-12) and hanging["growth"] == [0]
    assert hanging["damping_ratio"] == pytest.approx([0.1 / (2 * w * 0.6)], rel=1e-12)
    upright = modes(limber, tmp_path, pendulum, "--joints", "free")
    assert upright["growth"] == pytest.approx([w], rel=1e-12)
    assert upright["frequency"] == [0] and upright["damping_ratio"] == [0]
    assert "grows as exp(4.0435 t)" in run(limber, tmp_path, pendulum, "--joints", "free").stdout


@pytest.mark.parametrize("axis", [[0, 0, 1], [1, 2, 3]])
def test_an_axis_along_gravity_has_no_frequency(limber, tmp_path, axis):
    """Weight makes moments at the hinge, none about its axis: what rounding leaves of them is no frequency."""
    unit = np.array(axis) / np.linalg.norm(axis)
    links = [{"name": name, "joint": {"type": "revolute", "axis": axis, "origin": {"xyz": [0.3, 0.1, 0]}},
              "rigid": {"mass": 2, "com": [0.3, -0.2, 0.7], "inertia": [0.1, 0.2, 0.15, 0, 0, 0]}} for name in "abc"]
    found = modes(limber, tmp_path, robot(*links, gravity=list(-9.81 * unit)), "--joints", "free",
                  state={"q": [0.3, -0.7, 1.1]})
    assert found["frequency"] == [0, 0, 0] and found["growth"] == [0, 0, 0]


# ---- which joints move -----------------------------------------------------------------------------------------------


# ---- rates -----------------------------------------------------------------------------------------------------------

GYROSCOPIC = beam(EA=50, foreshortening=True, inertia_per_length=[0.01, 0.005, 0.005])
GYROSCOPIC["links"][0]["beam"]["modes"] = {"y": {"shape": "clamped-free", "count": 2}, "axial": {"shape": "clamped-free", "count": 2}}


@pytest.mark.parametrize("speed", [0, 0.5, 3, 8])
def test_a_beam_that_turns(limber, tmp_path, speed):
    """Coriolis forces couple bending and stretch: no mode grows. With the joint free, lambda = 0 is a double eigenvalue that rounding would split."""
    state = {"qd": [speed] + [0] * 4}
    assert modes(limber, tmp_path, GYROSCOPIC, state=state)["growth"] == [0] * 4
    found = modes(limber, tmp_path, GYROSCOPIC, "--joints", "free", state=state)
    assert found["frequency"][0] == 0 and found["growth"] == [0] * 5 and np.all(np.array(found["frequency"][1:]) > 0.1)
    assert found["participation"][0]["hinge.q"] > 1 - 1e-6


def test_a_soft_beam_that_turns_fast_gives_way(limber, tmp_path):
    """Without foreshortening the in-plane stiffness falls with the rate: w^2 = 3.516^2 - W^2, below zero it grows."""
    for speed in (1, 3, 5):
        found = modes(limber, tmp_path, beam(shape="clamped-free", count=1), state={"qd": [speed, 0]})
        square = 3.5160152685**2 - speed**2
        assert found["frequency"][0] == pytest.approx(np.sqrt(max(square, 0)) / TWO_PI, rel=1e-9)
        assert found["growth"][0] == pytest.approx(np.sqrt(max(-square, 0)), rel=1e-9)


def three_joints(**last):
    return robot({"name": "cart", "joint": {"type": "prismatic", "axis": [1, 0, 0], "stiffness": 40}, "rigid": {"mass": 2}},
                 {**rod(passive=True), "name": "swing"}, {**rod(**last), "name": "end"}, gravity=[0, 0, 9.81])


def test_passive_joints_move_and_prescribed_ones_never(limber, tmp_path):
    names = lambda description, *options: list(modes(limber, tmp_path, description, *options)["participation"][0])
    assert names(three_joints()) == names(three_joints(), "--joints", "locked") == ["swing.q"]
    assert names(three_joints(), "--joints", "free") == ["cart.q", "swing.q", "end.q"]
    assert names(three_joints(motion="prescribed"), "--joints", "free") == ["cart.q", "swing.q"]


@pytest.mark.quick
def test_the_acceleration_of_a_prescribed_joint_acts_like_gravity(limber, tmp_path):
    """A cart that is driven up with a: the pendulum on it swings as under g + a."""
    lift = {"name": "lift", "joint": {"type": "prismatic", "motion": "prescribed"}, "rigid": {"mass": 1}}
    driven = modes(limber, tmp_path, robot(lift, rod(passive=True), gravity=[0, 0, -9.81]),
                   state={"q": [0, np.pi], "prescribed_qdd": [5]})
    heavy = modes(limber, tmp_path, robot(lift, rod(passive=True), gravity=[0, 0, -14.81]), state={"q": [0, np.pi]})
    assert driven["frequency"] == pytest.approx(heavy["frequency"], rel=1e-12)


@pytest.mark.parametrize("options", [[], ["--joints", "locked"]])
def test_a_robot_in_which_nothing_can_move(limber, tmp_path, options):
    rigid = robot(rod())
    empty = {key: [] for key in ("frequency", "damping_ratio", "growth", "participation", "damped_frequency", "damped_growth")}
    assert modes(limber, tmp_path, rigid, *options) == empty
    assert "nothing is left that can move" in run(limber, tmp_path, rigid, *options).stdout
    assert run(limber, tmp_path, rigid, *options, "--sweep", "rod=0:1:2").stdout == "rod.q\n0\n1\n"
    drawn = tmp_path / "empty.svg"
    assert run(limber, tmp_path, rigid, *options, "--sweep", "rod=0:1:2", "--plot", drawn).returncode == 0
    ElementTree.parse(drawn)


# ---- output ----------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_table(limber, tmp_path):
    result = run(limber, tmp_path, CANADARM)
    assert (result.returncode, result.stderr) == (0, "")
    head, _, columns, first, *rest = result.stdout.splitlines()
    assert head == "canadarm, joints locked: 6 modes" and len(rest) == 5
    assert columns.split() == ["mode", "frequency", "[Hz]", "damping", "ratio", "moves", "most"]
    number, frequency, ratio, *moves = first.split()
    assert (number, ratio) == ("1", "0") and moves[0] == "upper.eta[1]"
    assert float(frequency) == pytest.approx(modes(limber, tmp_path, CANADARM)["frequency"][0], rel=1e-6)


def test_count(limber, tmp_path):
    every, few = modes(limber, tmp_path, CANADARM), modes(limber, tmp_path, CANADARM, "--count", "2")
    assert few == {key: value[:2] for key, value in every.items()}
    assert modes(limber, tmp_path, CANADARM, "--count", "100") == every
    assert len(run(limber, tmp_path, CANADARM, "--count", "2").stdout.splitlines()) == 5


def test_sweep(limber, tmp_path):
    """Each row is what the pose alone gives; the joint need not be kept, the rest of the state stays."""
    state = {"q": [0, 0, 0, 0.4, 0, 0, -0.2, 0, 0]}
    result = run(limber, tmp_path, CANADARM, "--sweep", "lower_joint=-1:1.5:6", state=state)
    assert (result.returncode, result.stderr) == (0, "")
    head, *rows = result.stdout.splitlines()
    assert head == "lower_joint.q,f1,f2,f3,f4,f5,f6"
    table = np.array([[float(x) for x in row.split(",")] for row in rows])
    np.testing.assert_allclose(table[:, 0], np.linspace(-1, 1.5, 6), rtol=0, atol=1e-15)
    found = json.loads(run(limber, tmp_path, CANADARM, "--sweep", "lower_joint=-1:1.5:6", "--json", state=state).stdout)
    assert found["joint"] == "lower_joint" and np.array_equal(found["position"], table[:, 0])
    assert np.array_equal(found["frequency"], table[:, 1:])
    assert np.array_equal(found["growth"], 0 * table[:, 1:]) and np.array_equal(found["damping_ratio"], 0 * table[:, 1:])
    for row in table:
        state["q"][3] = row[0]
        assert modes(limber, tmp_path, CANADARM, state=state)["frequency"] == list(row[1:])


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("options, curves", [([], 6), (["--count", "2"], 2), (["--joints", "free"], 6),
                                             (["--joints", "free", "--count", "9"], 9)])
def test_plot(limber, tmp_path, options, curves):
    """One line a mode inside the axes; two heights tell the frequencies by the ticks, linear or logarithmic."""
    drawn = tmp_path / "map.svg"
    result = run(limber, tmp_path, CANADARM, "--sweep", "lower_joint=0:2:11", "--plot", drawn, *options)
    assert (result.returncode, result.stderr) == (0, "")
    table = np.array([[float(x) for x in row.split(",")] for row in result.stdout.splitlines()[1:]])
    lines = [np.array([[float(x) for x in point.split(",")] for point in line.get("points").split()])
             for line in ElementTree.parse(drawn).iter(SVG + "polyline")]
    texts = [(float(text.get("y")), text.text) for text in ElementTree.parse(drawn).iter(SVG + "text")
             if text.get("text-anchor") == "end"]
    assert [text.text for text in ElementTree.parse(drawn).iter(SVG + "text")].count("lower_joint.q [rad]") == 1
    values = np.array([float(text) for _, text in texts])
    heights = np.array([y - 4 for y, _ in texts])
    logarithmic = values.min() > 0
    scale = np.log if logarithmic else np.asarray
    slope, offset = np.polyfit(scale(values), heights, 1)
    assert np.abs(slope * scale(values) + offset - heights).max() < 0.1 and len(values) >= 4
    drawable = [k for k in range(curves) if not logarithmic or table[:, 1 + k].min() > 0]
    assert len(lines) == len(drawable) >= 2
    for k, line in zip(drawable, lines):
        np.testing.assert_allclose(line[:, 1], slope * scale(table[:, 1 + k]) + offset, rtol=0, atol=0.2)
        assert line[:, 1].max() <= heights.max() + 0.1 and line[:, 1].min() >= heights.min() - 0.1


def test_plot_of_one_pose_and_backwards(limber, tmp_path):
    for sweep, tag, count in (("lower_joint=0.5:0.5:1", "circle", 6), ("lower_joint=2:-1:5", "polyline", 6)):
        drawn = tmp_path / "map.svg"
        assert run(limber, tmp_path, CANADARM, "--sweep", sweep, "--plot", drawn).returncode == 0
        assert len(list(ElementTree.parse(drawn).iter(SVG + tag))) == count


# ---- refused ---------------------------------------------------------------------------------------------------------


def test_wrong_input(limber_sanitized, tmp_path):
    result = run(limber_sanitized, tmp_path, CANADARM, state={"q": [1]})
    assert result.returncode == 1 and "q" in result.stderr
    result = run(limber_sanitized, tmp_path, CANADARM, "--sweep", "elbow=0:1:3")
    assert result.returncode == 1 and "no joint 'elbow'" in result.stderr
    for joint in "ball", "cross", "cross[3]":
        result = run(limber_sanitized, tmp_path, SEVERAL_JOINTS, "--sweep", f"{joint}=0:1:3")
        assert result.returncode == 1 and f"no joint '{joint}' with a coordinate; JOINT is" in result.stderr
    result = run(limber_sanitized, tmp_path, SEVERAL_JOINTS, "--sweep", "cross[2]=0:1:3")
    assert result.returncode == 0 and result.stdout.startswith("cross.q[2],f1")
    result = run(limber_sanitized, tmp_path, CANADARM, "--sweep", "lower_joint=0:1:3", "--plot", tmp_path / "no" / "map.svg")
    assert result.returncode == 1 and "map.svg: cannot be written" in result.stderr and result.stdout == ""


def test_what_cannot_be_computed(limber_sanitized, tmp_path):
    """A joint that nothing resists is named, unless it is locked; numbers that overflow are told."""
    point = robot({"name": "a", "joint": {"type": "revolute"}, "rigid": {"mass": 1, "com": [0, 0, 0.3]}},
                  {"name": "b", "joint": {"type": "revolute", "axis": [1, 0, 0]}, "rigid": {"mass": 0}})
    result = run(limber_sanitized, tmp_path, point, "--joints", "free")
    assert result.returncode == 3 and result.stdout == "" and "'a.q'" in result.stderr
    assert run(limber_sanitized, tmp_path, point).returncode == 0
    twice = robot({"name": "a", "joint": {"type": "revolute", "axis": [0.1, 0.2, 0.3]}, "rigid": {"mass": 0}},
                  {"name": "b", "joint": {"type": "revolute", "axis": [0.1, 0.2, 0.3]},
                   "rigid": {"mass": 1, "com": [1, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}})
    result = run(limber_sanitized, tmp_path, twice, "--joints", "free", "--sweep", "a=0:1:3")
    assert result.returncode == 3 and result.stdout == "" and "'b.q'" in result.stderr and "at a.q = 0" in result.stderr
    for light, stiff in ((1e-300, 1e308), (1e-200, 1e200)):
        result = run(limber_sanitized, tmp_path, beam(shape="clamped-free", count=2, mass_per_length=light, EIz=stiff))
        assert result.returncode == 3 and result.stdout == "" and "finite" in result.stderr
