"""`limber inverse` of robots that line actuators move: forces for a motion of the passive joints, judged by simulating them and by
virtual work."""

import subprocess

import numpy as np
import pytest
from program import Program, load, read_csv, resource, write_csv

CRANE = resource("crane")
JOINTS = ("boom_joint", "jib_joint")
PROFILE = ["--profile", "cycloid", "--rate", "0.2,-0.3", "--period", "1,1"]  # 1 s from rest to rest
RATE = dict(zip(JOINTS, (0.2, -0.3)))


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


def position(joint, t):
    return {"boom_joint": 0.5, "jib_joint": -1.2}[joint] + RATE[joint] * (t - np.sin(np.pi * t) / np.pi)


def forces(program, robot, *options):
    """The file of the answer."""
    file = program.new(".csv")
    file.write_text(program.run("inverse", robot, *options))
    return file


def slewing(robot):
    """The crane on a column that a drive turns."""
    column = {"name": "column", "parent": "world", "joint": {"name": "slew", "type": "revolute", "axis": [0, 1, 0]},
              "rigid": {"mass": 300, "inertia": [40, 40, 40, 0, 0, 0]}}
    robot["links"].insert(0, column)
    robot["links"][1]["parent"] = "column"
    robot["actuators"][0]["from"] |= {"link": "column", "frame": "hinge"}
    for link in robot["links"][1:]: link["beam"]["modes"]["z"] = {"shape": "craig-bampton", "count": 2}
    return robot


def test_forces_move_the_crane_as_asked_for(program):
    """Chords between rows are all that the simulation lacks: its error falls with the square of their distance."""
    error = []
    for step in 0.004, 0.002:
        elastic = program.new(".csv")
        file = forces(program, CRANE, *PROFILE, "--until", 1, "--step", step, "--elastic", elastic)
        assert list(read_csv(file)) == ["time", "lift.force", "fold.force"]
        this, bent = program.simulate(CRANE, 1, step, 1e-8, inputs=file, start_static="true"), read_csv(elastic)
        error.append(max(np.abs(this[f"{joint}.q"] - position(joint, this["time"])).max() for joint in JOINTS))
        assert np.abs(this["tip.position[1]"] - bent["tip.position[1]"]).max() < 1e-5
        assert np.abs(this["power.actuators"] - bent["power.actuators"]).max() < 1e-3 * np.abs(bent["power.actuators"]).max()
        assert max(np.abs(bent[f"{joint}.tau"]).max() for joint in JOINTS) < 1e-8  # nothing is left to drives
    print("\nerrors [rad]", error)
    assert error[0] < 5e-6 and 3 < error[0] / error[1] < 5


def test_drives_and_actuators_together(program):
    robot = slewing(load("crane"))
    options = ["--profile", "cycloid", "--rate", "0.4,0.2,-0.3", "--period", "1,1,1", "--until", 1, "--step", 0.002]
    file = forces(program, robot, *options)
    assert list(read_csv(file)) == ["time", "slew.tau", "lift.force", "fold.force"]
    this = program.simulate(robot, 1, 0.002, 1e-8, inputs=file, start_static="true")
    assert np.abs(this["slew.q"] - 0.4 * (this["time"] - np.sin(np.pi * this["time"]) / np.pi)).max() < 1e-5
    for joint in JOINTS: assert np.abs(this[f"{joint}.q"] - position(joint, this["time"])).max() < 1e-5


def test_rigid_forces_do_the_work_of_joint_torques(program):
    """tau = (dl/dq)' F, tau of the same crane with drives in its joints; dl/dq by neighbouring positions."""
    driven = load("crane")
    for link in driven["links"]: del link["joint"]["passive"]
    options = [*PROFILE, "--until", 1, "--step", 0.25, "--rigid"]
    F, tau = read_csv(forces(program, CRANE, *options)), read_csv(forces(program, driven, *options))
    length = lambda a, b: np.array(program.json("eval", CRANE, "-", state={"q": [a, 0, 0, 0, b, 0, 0, 0]})["actuator_length"])
    h = 1e-3
    for row, t in enumerate(F["time"]):
        a, b = (position(joint, t) for joint in JOINTS)
        around = lambda turn: (8 * (turn(h) - turn(-h)) - turn(2 * h) + turn(-2 * h)) / (12 * h)
        gradient = np.array([around(lambda x: length(a + x, b)), around(lambda x: length(a, b + x))])
        torque = gradient @ [F["lift.force"][row], F["fold.force"][row]]
        expected = np.array([tau[f"{joint}.tau"][row] for joint in JOINTS])
        assert np.abs(torque - expected).max() < 1e-9 * np.abs(expected).max()


# ---- what is refused ---------------------------------------------------------------------------------------------------------------


def refusal(limber, program, robot, *options):
    words = [limber, "inverse", program.robot(robot), *options]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def one_for_two():
    """A single line from the ground past both joints."""
    line = load("crane")["actuators"][1]
    return load("crane") | {"actuators": [line | {"from": {"link": "world", "xyz": [1, 0, 0]}}]}


@pytest.mark.parametrize("rigid", [[], ["--rigid"]], ids=["flexible", "rigid"])
@pytest.mark.parametrize("robot, words", [(load("crane") | {"actuators": []}, "nothing drives this robot"),
                                          (one_for_two(), "as many as passive joints")], ids=["none", "too few"])
def test_robots_whose_forces_do_not_follow(limber, program, robot, words, rigid):
    assert words in refusal(limber, program, robot, *PROFILE, "--until", 1, "--step", 0.1, *rigid)


def test_a_joint_between_no_points_swings(program):
    """The lift alone: the jib hangs and is integrated, the boom goes as asked for."""
    robot = load("crane") | {"actuators": load("crane")["actuators"][:1]}
    robot["links"][1]["joint"] |= {"start": {"position": -2.08}}  # about where it hangs
    file = forces(program, robot, "--profile", "cycloid", "--rate", 0.2, "--period", 1, "--until", 1, "--step", 0.002)
    this = program.simulate(robot, 1, 0.002, 1e-8, inputs=file, start_static="true")
    assert list(read_csv(file)) == ["time", "lift.force"] and np.ptp(this["jib_joint.q"]) > 0.02
    assert np.abs(this["boom_joint.q"] - position("boom_joint", this["time"])).max() < 1e-5


def test_closed_robots_need_a_drive(limber, program):
    robot = load("four-bar")
    for link in robot["links"]: link["joint"]["passive"] = True
    robot["actuators"] = [{"name": "push", "type": "line", "from": {"link": "world", "xyz": [0.1, -0.3, 0.05]},
                           "to": {"link": robot["links"][0]["name"], "frame": "hinge", "xyz": [0.1, 0.01, 0]}}]
    assert "open robots alone" in refusal(limber, program, robot, *PROFILE, "--until", 1, "--step", 0.1)


@pytest.mark.parametrize("options", [[], ["--start", "zero"], ["--rigid"]], ids=["static", "zero", "rigid"])
def test_a_line_through_the_joint_has_no_lever(limber, program, options):
    robot = load("crane")
    robot["actuators"][0]["to"]["xyz"] = [0, 0, 0]
    words = [limber, "inverse", program.robot(robot), *PROFILE, "--until", "1", "--step", "0.1", *options]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "lever arm is zero" in done.stderr


def test_columns_that_are_missing_are_named(limber, program):
    motion = write_csv(program.new(".csv"), {"time": [0.0, 1.0], "boom_joint.q": [0.5, 0.5]})
    message = refusal(limber, program, CRANE, "--trajectory", motion)
    assert "jib_joint.qdd is missing" in message and "with a drive or moved by lines" in message
