"""Closed robots through `limber simulate` and as FMUs: loops stay closed, energy is kept, what cannot close is told."""

import ctypes as ct
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from importer import DISCARD, ERROR, MODEL_EXCHANGE, OK, EventInfo, Instance, unzip

ROOT = Path(__file__).resolve().parents[2]
DUALEMPS, FOUR_BAR, TWO_ARMS, PARALLELOGRAM = (
    ROOT / "resources" / f"{name}.json" for name in ("dualemps", "four-bar", "two-arms", "parallelogram"))
CLOSED = [DUALEMPS, FOUR_BAR, TWO_ARMS, PARALLELOGRAM]


def read(file): return json.loads(file.read_text(encoding="utf-8"))


def run(limber, *arguments, **options):
    return subprocess.run([limber, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def coordinates(robot, names):
    """Names of q and qd in the order of a STATE."""
    order = {"q": [], "qd": []}
    for link in robot["links"]:
        joint = link["joint"].get("name", link["name"])
        for key, modal in (("q", "eta"), ("qd", "etad")):
            if link["joint"]["type"] != "fixed": order[key].append(f"{joint}.{key}")
            order[key] += [name for name in names if name.startswith(f"{link['name']}.{modal}[")]
    return order


class Run:
    """A simulation of a robot (a file, or a document that becomes one)."""

    def __init__(self, limber, folder, robot, until, step, *options):
        self.limber, self.file = limber, robot
        if isinstance(robot, dict):
            self.file = folder / "robot.json"
            self.file.write_text(json.dumps(robot))
        self.robot, csv = read(self.file), folder / "run.csv"
        self.result = run(limber, "simulate", self.file, "--until", until, "--step", step, "-o", csv, *options)
        assert self.result.returncode == 0, self.result.stderr
        self.names = csv.read_text().splitlines()[0].split(",")
        self.table = np.loadtxt(csv, delimiter=",", skiprows=1)
        self.order = coordinates(self.robot, self.names)

    def __getitem__(self, name): return self.table[:, self.names.index(name)]

    def state(self, row):
        """Prescribed joints, which are not among the columns, stay where they start."""
        start = {f"{link['joint'].get('name', link['name'])}.q": link["joint"].get("start", {}).get("position", 0)
                 for link in self.robot["links"]}
        return {key: [self[name][row] if name in self.names else start.get(name, 0) for name in names]
                for key, names in self.order.items()}

    def evaluate(self, row):
        result = run(self.limber, "eval", self.file, "-", input=json.dumps(self.state(row)))
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    def openness(self, count=25):
        """Largest gap and gap rate over rows spread over the run."""
        answers = [self.evaluate(int(row)) for row in np.linspace(0, len(self.table) - 1, count)]
        return [max(np.abs(answer[key]).max() for answer in answers) for key in ("gap", "gap_rate")]

    def drift(self): return np.abs(self["energy.total"] - self["energy.total"][0]).max()


def stays_closed(this, count=25):
    gap, rate = this.openness(count)
    print(f"\n{this.robot['name']}: gap {gap:.1e} m, rate {rate:.1e} m/s")
    return gap < 1e-10 and rate < 1e-8


# ---- the five cases ---------------------------------------------------------------------------------------------------------


def test_dualemps_pushed_by_both_sliders(limber, tmp_path):
    forces = tmp_path / "forces.csv"
    rows = [(0.01 * i, 200 * math.sin(0.1 * i), 300 * math.sin(0.07 * i)) for i in range(101)]
    forces.write_text("time,slide1.tau,slide2.tau\n" + "".join(f"{t},{a},{b}\n" for t, a, b in rows))
    this = Run(limber, tmp_path, DUALEMPS, 1, 0.01, "--inputs", forces)
    assert this.result.stderr == ""
    assert np.ptp(this["slide1.q"]) > 0.01 and np.ptp(this["blade1.eta[1]"]) > 1e-5
    assert stays_closed(this)


def test_a_four_bar_keeps_its_energy_as_the_tolerance_says(limber, tmp_path):
    """At least four-fold less drift per decade of the tolerance, and no more than 1e-4 of the exchange at 1e-6."""
    runs = {rtol: Run(limber, tmp_path, FOUR_BAR, 1, 0.01, "--rtol", rtol) for rtol in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)}
    drift = [this.drift() for this in runs.values()]
    print("\ndrift [J]:", ", ".join(f"{rtol:.0e}: {value:.1e}" for rtol, value in zip(runs, drift)))
    assert all(a > 4 * b for a, b in zip(drift, drift[1:]))
    assert drift[2] < 1e-4 * np.ptp(runs[1e-6]["energy.kinetic"])
    assert np.ptp(runs[1e-6]["crank_joint.q"]) > 2 * math.pi  # it goes round
    assert stays_closed(runs[1e-6]) and stays_closed(runs[1e-4], 10)


def test_two_arms_carry_a_bar(limber, tmp_path):
    this = Run(limber, tmp_path, TWO_ARMS, 2, 0.02)
    assert np.ptp(this["yaw1.q"]) > 0.1 and np.ptp(this["tip.position[3]"]) > 0.02
    assert this.drift() < 1e-3 * np.ptp(this["energy.kinetic"])
    assert stays_closed(this)


def test_a_leg_too_many(limber, tmp_path):
    """Pins of a planar robot in space: what follows from the others is left out and told, the rest is kept."""
    this = Run(limber, tmp_path, PARALLELOGRAM, 1, 0.01)
    line, = this.result.stderr.splitlines()
    assert "warning: loops[0] (head2): 3 of its 5, loops[1] (head3): 3 of its 5 constraints are redundant" in line
    assert this.drift() < 1e-3 * np.ptp(this["energy.kinetic"])
    assert stays_closed(this)
    # the middle leg carries, and out of the plane nothing does
    assert np.abs(this["head2.force[2]"]).max() > 1
    assert np.abs([this[f"head2.force[{k}]"] for k in (3, 4, 5)]).max() == 0


# ---- redundant constraints -----------------------------------------------------------------------------------------------


def rigid_parallelogram(extra):
    """The middle leg longer by `extra`: one equation follows from the others, and is met but for that."""
    robot = read(PARALLELOGRAM)
    for link in robot["links"]:
        if "beam" in link: link["beam"]["modes"] = {}
    robot["links"][2]["beam"]["length"] += extra
    return robot


def test_lengths_that_are_rounded_close(limber, tmp_path):
    this = Run(limber, tmp_path, rigid_parallelogram(1e-10), 2, 0.1)
    assert "loops[0] (head2): redundant constraints hold only to 1.07e-10 m" in this.result.stderr
    assert this.openness(10)[0] < 1e-9
    check = run(limber, "check", this.file, "--json")
    assert check.returncode == 0
    assert "hold only to 1.07e-10 m" in " ".join(json.loads(check.stdout)["warnings"])


def test_lengths_that_do_not_fit_are_told(limber, tmp_path):
    file = tmp_path / "open.json"
    file.write_text(json.dumps(rigid_parallelogram(1e-8)))
    result = run(limber, "check", file)
    assert result.returncode == 1 and "loops[0] (head2): cannot be closed" in result.stderr and "8e-09 m" in result.stderr


def bars(angles, prescribed=False):
    """Two bars of 0.2 m that stand 0.5 m apart, and one that joins them."""
    links = []
    for name, parent, x, L, angle in zip("abc", ("world", "a", "world"), (0, 0, 0.5), (0.2, 0.5, 0.2), angles):
        joint = {"name": f"j{name}", "type": "revolute", "start": {"position": angle, "velocity": 0 if prescribed else 1}}
        if name != "b": joint["origin"] = {"xyz": [x, 0, 0]}
        if prescribed: joint["motion"] = "prescribed"
        elif name != "a": joint["passive"] = True
        links.append({"name": name, "parent": parent, "joint": joint,
                      "rigid": {"mass": 1, "com": [L / 2, 0, 0], "inertia": [1e-4, L * L / 12, L * L / 12, 0, 0, 0],
                                "tip": {"xyz": [L, 0, 0]}}})
    pin = {"name": "end", "type": "planar-pin", "plane": [[1, 0, 0], [0, 1, 0]], "between": ["b", "c"]}
    return {"format": "limber-robot/1", "name": "bars", "gravity": [0, -9.81, 0], "links": links, "loops": [pin]}


def test_a_singular_start_is_not_left_with_an_open_loop(limber, tmp_path):
    """Stretched flat, one equation depends on the other; once it moves it does not."""
    file = tmp_path / "flat.json"
    file.write_text(json.dumps(bars([0, 0, 0])))
    result = run(limber, "simulate", file, "--until", 0.5, "--step", 0.1)
    assert result.returncode == 3
    assert "loops[0] (end): a redundant constraint that was dropped at the start is violated" in result.stderr
    # passed in motion it is no obstacle
    this = Run(limber, tmp_path, bars([0.5, -0.5, 0.5]), 2, 0.02)
    assert np.ptp(this["ja.q"]) > 2 and stays_closed(this)


def test_an_importer_that_comes_to_a_singular_position_may_try_another(pack, tmp_path):
    file = tmp_path / "bars.json"
    file.write_text(json.dumps(bars([0.5, -0.5, 0.5])))
    this = Instance(unzip(pack(file), tmp_path / "fmu"), kind=MODEL_EXCHANGE, logging=True).initialise()
    assert this.EnterContinuousTimeMode() == OK
    start, flat, rates = (ct.c_double * 6)(), (ct.c_double * 6)(), (ct.c_double * 6)()
    assert this.GetContinuousStates(start, 6) == OK
    assert this.SetContinuousStates(flat, 6) == OK and this.GetDerivatives(rates, 6) == DISCARD
    assert "loops[0] (end): a loop is singular: its constraint forces are not determined" in this.log[-1][2]
    assert this.SetContinuousStates(start, 6) == OK and this.GetDerivatives(rates, 6) == OK
    this.free()


def test_an_importer_is_told_of_a_singular_start(pack, tmp_path):
    """Model exchange: the states are the importer's; the loop is found open where they go back onto it."""
    file = tmp_path / "flat.json"
    file.write_text(json.dumps(bars([0, 0, 0])))
    this = Instance(unzip(pack(file), tmp_path / "fmu"), kind=MODEL_EXCHANGE).initialise()
    info, event, stop = EventInfo(), ct.c_int(), ct.c_int()
    assert this.NewDiscreteStates(ct.byref(info)) == OK
    assert this.EnterContinuousTimeMode() == OK
    x = (ct.c_double * 6)()
    assert this.GetContinuousStates(x, 6) == OK
    x[0], x[1], x[2] = 0.01, -0.015, 0.0125  # met in x to first order, as the equation that is kept; 0.5 mm off in y
    assert this.SetContinuousStates(x, 6) == OK
    assert this.CompletedIntegratorStep(1, ct.byref(event), ct.byref(stop)) == OK and event.value
    assert this.EnterEventMode() == OK
    assert this.NewDiscreteStates(ct.byref(info)) == ERROR
    assert "loops[0] (end): a redundant constraint that was dropped at the start is violated" in this.log[-1][2]
    this.free()


@pytest.mark.parametrize("free", [[], ["b"]], ids=["all-prescribed", "two-prescribed"])
def test_prescribed_motions_that_open_a_loop_are_told(limber, tmp_path, free):
    turn = math.pi / 2
    robot = bars([turn, -turn, turn], prescribed=True)
    for link in robot["links"]:
        if link["name"] in free: link["joint"] = {"name": "jb", "type": "revolute", "passive": True, "start": {"position": -turn}}
    file, motion = tmp_path / "robot.json", tmp_path / "motion.csv"
    file.write_text(json.dumps(robot))
    motion.write_text(f"time,ja.q,ja.qd\n0,{turn!r},0.1\n1,{turn + 0.1!r},0.1\n")
    result = run(limber, "simulate", file, "--until", 1, "--step", 0.5, "--inputs", motion)
    assert result.returncode == 3
    assert "loops[0] (end): a redundant constraint that was dropped at the start is violated" in result.stderr


# ---- the start --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", CLOSED, ids=lambda file: file.stem)
def test_a_static_start_stays_where_it_is(limber, tmp_path, file):
    """Driven joints held, the rest in equilibrium on the loops: with the driven joints prescribed nothing moves."""
    robot = read(file)
    at = Run(limber, tmp_path, robot, 0.001, 0.001, "--set", "start_static=true")
    assert max(np.abs(at[name][0]) for name in at.order["qd"]) == 0
    for link in robot["links"]:
        joint = link["joint"]
        if joint["type"] == "fixed": continue
        joint["start"] = {"position": at[f"{joint.get('name', link['name'])}.q"][0]}
        if not joint.get("passive"): joint["motion"] = "prescribed"
    this = Run(limber, tmp_path, robot, 1, 0.1, "--set", "start_static=true")
    assert stays_closed(this, 3)
    names = [name for name in this.names if name in this.order["q"]]
    moved = max(np.ptp(this[name]) for name in names)
    bent = max([np.abs(this[name]).max() for name in names if ".eta" in name])
    print(f"moved {moved:.1e}, bent {bent:.1e}")
    assert moved <= 1e-7 * bent
    assert bent > 1e-4 or robot["gravity"] == [0, 0, 0]


# ---- what closing moves ----------------------------------------------------------------------------------------------------


def bars_on_base(lever=0.0, rod=1.1, **loop):
    """A four-bar on a sprung base, as a boom's linkage on a truck: the lever's start is off by `lever`."""
    def bar(name, parent, length, start, **joint):
        return {"name": name, "parent": parent, "joint": {"name": f"{name}_joint", "type": "revolute", "axis": [0, 0, 1],
                                                          "start": {"position": start}} | joint,
                "rigid": {"mass": 1, "com": [length / 2, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0], "tip": {"xyz": [length, 0, 0]}}}
    # 0.4 m across 1.1 m at a right angle: lever and boom stand parallel
    links = [bar("base", "world", 0, 0, passive=True, stiffness=2000.0, axis=[0, 0, 1]),
             bar("boom", "base", 0.4, math.pi / 2, origin={"xyz": [1.1, 0.2, 0]}),
             bar("lever", "base", 0.4, math.pi / 2 + lever, origin={"xyz": [0, 0.2, 0]}, passive=True),
             bar("rod", "lever", rod, -math.pi / 2, passive=True)]
    pin = {"name": "pin", "type": "planar-pin", "plane": [[1, 0, 0], [0, 1, 0]], "between": ["rod", "boom"]} | loop
    return {"format": "limber-robot/2", "name": "linkage", "gravity": [0, -9.81, 0], "links": links, "loops": [pin]}


def closed_start(limber, folder, robot):
    file = folder / "robot.json"
    file.write_text(json.dumps(robot))
    result = run(limber, "check", file, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    return dict(zip((link["name"] for link in robot["links"]), found["start"]["q"])), found["notes"]


def test_a_guess_inside_a_loop_moves_nothing_outside(limber, tmp_path):
    """0.1 rad at the lever: lever and rod move, the sprung base and the driven boom do not."""
    start, notes = closed_start(limber, tmp_path, bars_on_base(0.1))
    assert start["base"] == 0 and start["boom"] == math.pi / 2
    assert start["lever"] == pytest.approx(math.pi / 2, abs=1e-12) and start["rod"] == pytest.approx(-math.pi / 2, abs=1e-12)
    assert len(notes) == 1 and "joint 'lever_joint' moves by -0.1 rad" in notes[0]
    assert closed_start(limber, tmp_path, bars_on_base())[1] == []


@pytest.mark.parametrize("format", [1, 2])
def test_a_start_far_from_closed_is_refused(limber, tmp_path, format):
    """A rod of 0.8 m in place of 1.1 m: it closes, with joints 0.85 rad off and more. Of 0.1 m it does not close at all."""
    file = tmp_path / "robot.json"
    robot = bars_on_base(rod=0.8)
    robot["format"] = f"limber-robot/{format}"
    file.write_text(json.dumps(robot))
    for command in ["check"], ["modes"], ["linearize"], ["simulate", "--until", "1", "--step", "1"], ["bench"]:
        result = run(limber, command[0], file, *command[1:])
        assert result.returncode in (1, 3) and result.stdout == "", command
        assert "loops[0] (pin): to close the loops from the start positions, joint 'rod_joint' would have to move by " in result.stderr
        assert "rad, more than 0.3 rad" in result.stderr and '"start": "approximate"' in result.stderr
    start, notes = closed_start(limber, tmp_path, bars_on_base(rod=0.8, start="approximate"))
    assert start["base"] == 0 and any("'rod_joint' moves by" in note for note in notes)
    file.write_text(json.dumps(bars_on_base(rod=0.1)))
    assert run(limber, "check", file).returncode == 1


def test_redundant_constraints_are_told_once(pack, tmp_path):
    """By the first initialization of an instance; not after a reset."""
    this = Instance(unzip(pack(PARALLELOGRAM), tmp_path / "fmu"), logging=True).initialise()
    for _ in range(3):
        assert this.step(0, 0.01) == OK and this.Reset() == OK
        this.initialise()
    assert sum("constraints are redundant" in text for _, _, text in this.log) == 1
    this.free()


def test_an_instance_logs_what_closing_moves(pack, tmp_path):
    this = Instance(unzip(pack(FOUR_BAR), tmp_path / "fmu"), logging=True).initialise()
    lines = [text for _, _, text in this.log if "from its start position to close the loops" in text]
    assert len(lines) == 2 and "joint 'coupler_joint' moves by 0.035259 rad" in lines[0] and "joint 'rocker_joint'" in lines[1]
    this.free()


# ---- as FMUs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", CLOSED, ids=lambda file: file.stem)
def test_saved_states_go_on_bit_by_bit(pack, tmp_path, file):
    """In the same instance, and in one that has never been initialised and so has chosen no equations."""
    package = unzip(pack(file), tmp_path / "fmu")
    names = sorted(name for name, causality in package.causality.items()
                   if causality == "output" and package.type[name] == "Real")
    first = Instance(package).initialise()
    for i in range(5): assert first.step(0.01 * i, 0.01) == OK, first.log
    content, state = first.serialise(), first.save()

    def go_on(instance):
        values = []
        for i in range(5, 10):
            assert instance.step(0.01 * i, 0.01) == OK, instance.log
            values.append(instance.get(*names))
        return values

    expected = go_on(first)
    assert first.SetFMUstate(state) == OK
    assert go_on(first) == expected
    other = Instance(package)
    restored, status = other.deserialise(content)
    assert status == OK and other.SetFMUstate(restored) == OK
    assert go_on(other) == expected
    for instance, saved in ((first, state), (other, restored)):
        assert instance.FreeFMUstate(ct.byref(saved)) == OK
        instance.free()
