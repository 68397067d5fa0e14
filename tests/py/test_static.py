"""`limber static`: what holds a robot still, against virtual work and the unit load method; options,
stability, and where there is no equilibrium."""

import json
import math
import subprocess

import numpy as np
import pytest
from program import ROOT, load, resource

pytestmark = pytest.mark.quick

ROBOTS = sorted(file for file in (ROOT / "resources").glob("*.json") if "schema" not in file.name)
G = 9.81


def run(limber, *arguments, state=None):
    return subprocess.run([limber, *map(str, arguments)], capture_output=True, text=True, timeout=100,
                          input=json.dumps(state) if state is not None else None)


def answer(limber, *arguments, state=None):
    result = run(limber, *arguments, *(["--at", "-"] if state is not None else []), state=state)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def static(limber, file, *options, state=None):
    return answer(limber, "static", file, "--json", *options, state=state)


def write(folder, robot, name="robot"):
    file = folder / f"{name}.json"
    file.write_text(json.dumps(robot))
    return file


def bar(name, length, parent="world", x=0.0, **joint):
    """A rigid bar of 3 kg per meter that turns about y."""
    mass = 3 * length
    return {"name": name, "parent": parent,
            "joint": {"name": f"{name}_joint", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [x, 0, 0]}, **joint},
            "rigid": {"mass": mass, "com": [length / 2, 0, 0], "inertia": [1e-3, mass * length**2 / 12, mass * length**2 / 12, 0, 0, 0],
                      "tip": {"xyz": [length, 0, 0]}}}


def robot(*links, **more):
    return {"format": "limber-robot/2", "name": "tried", "gravity": [0, 0, -G], "links": list(links), **more}


def four_bar(driven, **more):
    """Crank 0.3 m, coupler 1 m, rocker 0.7 m on a base of 0.8 m."""
    passive = {"passive": True}
    return robot(bar("crank", 0.3, start={"position": -1.3}, **({} if driven else passive)),
                 bar("coupler", 1.0, "crank", start={"position": 1.2}, **passive),
                 bar("rocker", 0.7, x=0.8, start={"position": -1.25}, **passive), tip="coupler",
                 loops=[{"name": "pin", "type": "planar-pin", "between": ["coupler", "rocker"], "plane": [[1, 0, 0], [0, 0, 1]]}], **more)


LINE = {"name": "ram", "type": "line", "from": {"link": "world", "xyz": [0.5, 0, -0.4]}, "to": {"link": "rocker", "frame": "tip", "xyz": [-0.2, 0, 0]}}


# ---- closed robots ----------------------------------------------------------------------------------------------------------------


def test_the_torque_of_a_rigid_four_bar_by_virtual_work(limber, tmp_path):
    """dV = tau dq along the motion that the loop leaves."""
    file, h = write(tmp_path, four_bar(driven=True)), 1e-4

    def at(angle):
        return static(limber, file, state={"q": {"crank_joint.q": angle}})

    def potential(angle):
        return answer_of(limber, file, at(angle)["operating_point"])["potential_energy"]

    tau = (8 * (potential(-1.3 + h) - potential(-1.3 - h)) - potential(-1.3 + 2 * h) + potential(-1.3 - 2 * h)) / (12 * h)
    found = at(-1.3)
    assert found["holding"]["crank_joint.tau"] == pytest.approx(tau, rel=1e-8) and abs(tau) > 1
    assert found["stability"] == "stable" and found["directions"] == 0 and found["residual"] < 1e-12 * found["load"]


def answer_of(limber, file, state):
    result = run(limber, "eval", file, "-", state=state)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_the_file_decides_and_options_win(limber, tmp_path):
    free = four_bar(driven=False, actuators=[LINE | {"static": "free"}])
    file = write(tmp_path, free)
    alone = static(limber, file)  # no force: where the bars balance each other
    assert alone["actuators"]["ram"] == 0 and sum(map(abs, alone["moved"].values())) > 0.1
    assert np.abs(answer_of(limber, file, alone["operating_point"])["qdd"]).max() < 1e-9
    held = static(limber, file, "--hold-actuators", "ram")
    assert held["actuators"]["ram"] != 0
    crank = static(limber, file, "--hold", "crank_joint")
    assert set(crank["holding"]) == {"crank_joint.tau"} and "crank_joint.q" not in crank["moved"]


@pytest.mark.parametrize("force", [1e160, 1e300])
@pytest.mark.parametrize("actuators", [[], [LINE]], ids=["driven", "on a line"])
def test_a_load_that_overflows_is_refused(limber, tmp_path, actuators, force):
    file = write(tmp_path, four_bar(driven=not actuators, **({"actuators": actuators} if actuators else {})))
    for command in (["static", file], ["linearize", file, "--static"]):
        done = run(limber, *command, "--at", "-", state={"tip_force": [0, 0, force]})
        assert done.returncode == 3 and "too large" in done.stderr


# ---- bending ------------------------------------------------------------------------------------------------------------------------


def sag(L, EI, rhoA, tip_mass):
    """Deflection of the end of a clamped beam by the unit load method:  int M (L - x)/EI dx;  EI and rhoA are functions of x."""
    x = np.linspace(0, L, 4001)
    moment = np.array([np.trapezoid(rhoA(x[i:]) * G * (x[i:] - x[i]), x[i:]) for i in range(len(x))]) + tip_mass * G * (L - x)
    return np.trapezoid(moment * (L - x) / EI(x), x)


@pytest.mark.parametrize("tapered", [False, True])
def test_sag_of_a_straight_boom(limber, tmp_path, tapered):
    """Small enough that lengths along the boom do not change the lever arms at 1e-4."""
    L, tip_mass = 6.0, 12.0
    xs = np.linspace(0, L, 4)
    EI, rhoA = np.array([4.0, 3.0, 1.5, 1.0]) * 4e5, np.array([3.0, 2.5, 2.0, 1.5]) * 4
    if not tapered: EI, rhoA = EI[:1].repeat(4), rhoA[:1].repeat(4)
    table = lambda values: {"x": xs.tolist(), "value": values.tolist()} if tapered else values[0]
    beam = {"length": L, "mass_per_length": table(rhoA), "EIy": table(EI), "EIz": table(EI), "foreshortening": True,
            "modes": {"z": {"shape": "craig-bampton", "count": 8}}}
    file = write(tmp_path, robot({"name": "boom", "joint": {"name": "lift", "type": "revolute", "axis": [0, 1, 0]}, "beam": beam,
                                  "payload": {"mass": tip_mass}}))
    expected = sag(L, lambda x: np.interp(x, xs, EI), lambda x: np.interp(x, xs, rhoA), tip_mass)
    found = static(limber, file)
    print(f"sag {expected:.6g} m, off by {found['deflections']['boom'][2] / -expected - 1:.1e}")
    assert found["deflections"]["boom"][2] == pytest.approx(-expected, rel=1e-4)
    assert found["tip"][2] == pytest.approx(-expected, rel=1e-4)


@pytest.mark.parametrize("file", ROBOTS, ids=lambda file: file.stem)
def test_nothing_moves_there(limber, file):
    found = static(limber, file)
    assert found["residual"] <= 1e-9 * found["load"]
    told = answer_of(limber, file, found["operating_point"])
    force = np.array(told["mass_matrix"]) @ np.array(told["qdd"])
    assert np.abs(force).max() <= 1e-8 * max(1, np.abs(told["bias"]).max())


# ---- stability and joints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start, axis, stability", [(1.3, [0, 1, 0], "stable"), (-1.3, [0, 1, 0], "unstable"), (0.3, [0, 0, 1], "indifferent")])
def test_stability_of_a_rod(limber, tmp_path, start, axis, stability):
    file = write(tmp_path, robot(bar("rod", 1.0, passive=True, axis=axis, start={"position": start})))
    found = static(limber, file)
    assert found["stability"] == stability and found["directions"] == 1
    assert found["positions"]["rod_joint.q"] == pytest.approx({"stable": np.pi / 2, "unstable": -np.pi / 2, "indifferent": 0.3}[stability])


@pytest.mark.parametrize("away, stability", [(0.01, "stable"), (0.1, "unstable")])
def test_the_crane_on_constant_forces(limber, away, stability):
    """The forces that hold it have two equilibria beside each other; small motions about the second grow."""
    point = static(limber, resource("crane"))["operating_point"]
    start = point | {"q": [point["q"][0] + away, *point["q"][1:]]}
    found = static(limber, resource("crane"), "--free-actuators", "lift,fold", state=start)
    assert found["stability"] == stability and found["operating_point"]["actuator_force"] == point["actuator_force"]
    growth = answer(limber, "modes", resource("crane"), "--json", state=found["operating_point"])["growth"]
    assert (max(growth) > 0) == (stability == "unstable")
    if stability == "stable": assert np.abs(np.subtract(found["operating_point"]["q"], point["q"])).max() < 1e-9


def test_lengths_are_kept(limber, tmp_path):
    """A cylinder on a bending boom: the joint follows, the length stays."""
    crane = load("crane")
    crane["format"] = "limber-robot/2"
    crane["actuators"][0]["to"] = {"link": "boom", "frame": "tip", "xyz": [-1.2, 0.0, 0]}
    crane["links"][0]["beam"]["material"]["E"] = 4e10
    file = write(tmp_path, crane)
    start = answer_of(limber, file, {})["actuator_length"]
    kept, balanced = static(limber, file, "--hold-actuators", "lift,fold"), static(limber, file)
    assert list(kept["actuator_lengths"].values()) == pytest.approx(start, abs=1e-12)
    assert abs(kept["moved"]["boom_joint.q"]) > 1e-4 and balanced["moved"] == {}


def test_a_floating_base_is_held_and_its_wrench_printed(limber, tmp_path):
    body = {"mass": 5.0, "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    file = write(tmp_path, robot({"name": "base", "joint": {"name": "float", "type": "free", "passive": True}, "rigid": body}))
    found = static(limber, file)
    assert found["moved"] == {} and [found["holding"][f"float.force[{k}]"] for k in (1, 2, 3)] == pytest.approx([0, 0, 5 * G])
    assert found["holding"]["float.torque[2]"] == pytest.approx(-0.1 * 5 * G)


def lever(parent="world", **more):
    """A passive bar that a line actuator balances."""
    return robot(bar("boom", 1.0, parent, passive=True),
                 actuators=[{"name": "ram", "type": "line", "from": {"link": parent, "xyz": [0.2, 0, -0.5], **({} if parent == "world" else {"frame": "hinge"})},
                             "to": {"link": "boom", "frame": "hinge", "xyz": [0.5, 0, 0]}}], **more)


@pytest.mark.parametrize("force", [1e-13, 1.0, 1e5])
def test_a_weightless_lever_needs_no_force(limber, tmp_path, force):
    """The force that holds is an answer: it does not depend on the one that the STATE gives."""
    found = static(limber, write(tmp_path, {**lever(), "gravity": [0, 0, 0]}), state={"actuator_force": [force]})
    assert found["actuators"]["ram"] == 0 and found["residual"] == 0


def test_two_cylinders_side_by_side_share_the_load(limber, tmp_path):
    """Their forces are not unique: the smallest, half each, and a warning."""
    twin = lever()
    twin["actuators"].append({**twin["actuators"][0], "name": "ram2"})
    done = run(limber, "static", write(tmp_path, twin), "--json")
    forces = json.loads(done.stdout)["actuators"]
    alone = static(limber, write(tmp_path, lever()))["actuators"]["ram"]
    assert done.returncode == 0 and "not unique" in done.stderr
    assert list(forces.values()) == pytest.approx([alone / 2, alone / 2], rel=1e-12)


def test_lines_whose_lengths_nothing_changes_have_no_force(limber):
    """With the joints held the cylinders of the crane, on hinge and tip frames of links, cannot change their lengths."""
    held, free = (static(limber, resource("crane"), "--hold", "boom_joint,jib_joint", *more) for more in ([], ["--free-actuators", "lift,fold"]))
    assert held["actuators"] == {"lift": 0, "fold": 0} and held["stability"] == "stable"
    assert held["holding"] == pytest.approx(free["holding"], rel=1e-12)


def test_links_that_bend_too_far_are_said(limber, tmp_path):
    beam = {"length": 6, "mass_per_length": 10, "EIy": 2e3, "EIz": 2e3, "modes": {"z": {"shape": "clamped-free", "count": 3}}}
    file = write(tmp_path, robot({"name": "boom", "joint": {"name": "lift", "type": "revolute", "axis": [0, 1, 0]}, "beam": beam}))
    for command in (["static", file], ["linearize", file, "--static"],
                    ["simulate", file, "--until", 0.001, "--step", 0.001, "--set", "start_static=true"]):
        done = run(limber, *command)
        assert done.returncode == 0 and "in the static equilibrium: link 'boom' bends by" in done.stderr


def test_of_a_lever_on_a_floating_base_only_the_base_is_unsupported(limber, tmp_path):
    base = {"name": "base", "parent": "world", "joint": {"name": "float", "type": "free", "passive": True},
            "rigid": {"mass": 50.0, "com": [0.1, 0, 0], "inertia": [9.0, 9.0, 9.0, 0, 0, 0]}}
    arm = lever("base")
    done = run(limber, "static", write(tmp_path, {**arm, "links": [base, *arm["links"]]}))
    warnings = [line for line in done.stderr.splitlines() if "which no drive provides" in line]
    assert done.returncode == 0 and all("'float'" in line for line in warnings)
    assert any("float.force[3] = 519.93 N" in line for line in warnings), warnings


def test_no_equilibrium(limber, tmp_path):
    """Nothing holds a passive slider against its weight."""
    slider = bar("mass", 0.2)
    slider["joint"] = {"name": "fall", "type": "prismatic", "axis": [0, 0, 1], "passive": True}
    done = run(limber, "static", write(tmp_path, robot(slider)))
    assert done.returncode == 3 and "no static equilibrium" in done.stderr and "'fall'" in done.stderr


# ---- options ------------------------------------------------------------------------------------------------------------------------


def test_the_same_options_for_linearize_modes_and_zeros(limber, tmp_path):
    """A hanging rod on a cart: freed, the point is where it hangs, and the frequency that of a pendulum."""
    file = write(tmp_path, robot(bar("rod", 1.0, passive=True, start={"position": 1.0})))
    for free in [], ["--free", "rod_joint"]:  # it settles in any case; far from the start it is said unless asked for
        done = run(limber, "linearize", file, "--static", *free)
        assert json.loads(done.stdout)["operating_point"]["q"] == pytest.approx([np.pi / 2])
        assert ("0.571 rad away from the start of joint 'rod_joint'" in done.stderr) == (free == [])
    modes = answer(limber, "modes", file, "--json", "--static", "--free", "rod_joint")
    assert modes["frequency"][0] == pytest.approx(math.sqrt(1.5 * G) / (2 * math.pi), rel=1e-9)


@pytest.mark.parametrize("line, text", [
    ("static ROBOT --hold lift", "'lift': the robot has no joint that moves"), ("static ROBOT --free boom_joint,x", "'x'"),
    ("static ROBOT --hold-actuators boom_joint", "'boom_joint': the robot has no actuator"), ("static ROBOT --hold boom_joint,", "a name is missing"),
    ("static ROBOT --hold boom_joint --free jib_joint,boom_joint", "'boom_joint': it is in --free too"),
    ("modes ROBOT --static --hold-actuators fold --free-actuators fold", "it is in --free-actuators too"),
    ("static ROBOT --set nothing=1", "no such parameter")])
def test_names_that_do_not_fit(limber, line, text):
    done = run(limber, *(resource("crane") if word == "ROBOT" else word for word in line.split()))
    assert done.returncode == 1 and text in done.stderr, done.stderr


def test_a_prescribed_joint_is_not_freed(limber, tmp_path):
    done = run(limber, "static", write(tmp_path, robot(bar("arm", 1.0, motion="prescribed"))), "--free", "arm_joint")
    assert done.returncode == 1 and "'arm_joint': a prescribed joint keeps its position" in done.stderr


def test_parameters(limber):
    light, heavy = (static(limber, resource("crane"), "--set", f"jib.payload.mass={mass}")["actuators"]["lift"] for mass in (1, 300))
    assert heavy > light + 1000
