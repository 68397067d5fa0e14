"""The packed FMU: what is in the file, and that modelDescription.xml says what the specification's table says.

The table is written down here a second time, from the robot file alone; the program has its own."""

import html.parser
import json
import os
import re
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from coordinates import Coordinates
from fmpy.fmi2 import FMU2Model
from program import SEVERAL_JOINTS

ROOT = Path(__file__).resolve().parents[2]
CANADARM = ROOT / "resources/canadarm.json"
ROBOTS = sorted(file for file in (ROOT / "resources").glob("*.json") if not file.name.endswith(".schema.json"))
GOOD = sorted((ROOT / "tests/data/good").glob("*.json"))

# Two trees on the world, every kind of joint; a beam with all families, skew axes so that nothing vanishes by accident.
SKEW = {"xyz": [0.1, -0.2, 0.3], "rpy": [0.4, 0.5, -0.6]}
BODY = {"mass": 2, "com": [0.1, 0.2, -0.1], "inertia": [0.3, 0.25, 0.2, 0.01, 0.02, -0.015],
        "tip": {"xyz": [0.3, 0.1, 0.2], "rpy": [0.2, -0.3, 0.5]}}
MADE_UP = {
    "format": "limber-robot/1", "name": "made_up", "description": "<b>\"quoted\" & 'escaped'</b> ünïcode",
    "gravity": [1, -2, -9.81], "tip": "slider", "links": [
        {"name": "base", "parent": "world", "rigid": BODY,
         "joint": {"name": "turn", "type": "revolute", "axis": [1, 2, 3], "motion": "prescribed", "origin": SKEW,
                   "start": {"position": 0.5, "velocity": 0.25}}},
        {"name": "arm", "parent": "base", "joint": {"type": "revolute", "axis": [1, -1, 1], "origin": SKEW, "viscous": 0.5,
                                                    "coulomb": 0, "motor_inertia": 0.1, "stiffness": 3, "rest": 0.1},
         "beam": {"length": 1.5, "mass_per_length": 2, "EIy": 300, "EIz": 400, "GJ": 120, "EA": 2e5, "damping_ratio": 0.01,
                  "inertia_per_length": [0.01, 0.005, 0.005], "foreshortening": True,
                  "modes": {"y": {"shape": "clamped-free", "count": 2}, "z": {"shape": "clamped-free", "count": 1},
                            "twist": {"shape": "clamped-free", "count": 1}, "axial": {"shape": "clamped-free", "count": 1}}}},
        {"name": "slider", "parent": "arm", "rigid": BODY, "payload": {"mass": 1.25, "com": [0.1, 0, 0.1]},
         "joint": {"name": "slide", "type": "prismatic", "axis": [1, 1, 0], "origin": SKEW, "start": {"position": 0.2}}},
        {"name": "side", "parent": "base", "rigid": BODY,
         "joint": {"type": "revolute", "axis": [0, 1, 1], "origin": SKEW, "passive": True, "viscous": 0.1}},
        {"name": "other", "parent": "world", "rigid": BODY,
         "joint": {"type": "revolute", "axis": [1, 0, 2], "origin": SKEW, "viscous": 0.1}},
        {"name": "plate", "parent": "other", "rigid": BODY, "joint": {"type": "fixed", "origin": SKEW}}]}


def run(limber, *arguments, **environment):
    return subprocess.run([str(limber), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})


def libraries_of(limber, name="limber_fmu", kind="FMU"):
    """{folder and ending: library}; the one for Windows only where it was built."""
    beside = lambda file, variable: Path(os.environ.get(variable) or Path(limber).resolve().parent / file)
    libraries = {("linux64", "so"): beside(f"{name}.so", f"LIMBER_{kind}_LIBRARY"),
                 ("win64", "dll"): beside(f"{name}.dll", f"LIMBER_{kind}_DLL")}
    return {place: file for place, file in libraries.items() if place[0] == "linux64" or file.is_file()}


def needs_loops(file):
    robot = json.loads(file.read_text(encoding="utf-8"))
    return any(key in robot for key in ("loops", "actuators"))


class Packed:
    """An FMU made of a robot file, and what `limber check` knows of the robot."""

    def __init__(self, limber, file, folder):
        self.file, self.fmu = file, folder / f"{file.stem}.fmu"
        self.robot = json.loads(file.read_text(encoding="utf-8"))
        made = run(limber, "fmu", file, "-o", self.fmu)
        assert (made.returncode, made.stderr) == (0, "")
        self.checked = json.loads(run(limber, "check", file, "--json").stdout)
        self.description = fmpy.read_model_description(str(self.fmu), validate=True, validate_model_structure=True)
        self.variables = self.description.modelVariables
        self.by_name = {v.name: v for v in self.variables}
        self.companions = {}
        for name in {drive["type"] for _, drive in drives_of(self.robot)}:
            assert run(limber, "drive", name, "-o", folder / f"{name}.fmu").returncode == 0
            self.companions[name] = fmpy.read_model_description(str(folder / f"{name}.fmu"), validate=False)

    def read(self, name):
        with zipfile.ZipFile(self.fmu) as archive: return archive.read(name)

    def declared(self):
        """Names of the dependencies of every output and derivative."""
        unknowns = self.description.outputs + self.description.derivatives
        return {u.variable.name: {d.name for d in u.dependencies} for u in unknowns}


@pytest.fixture(scope="module")
def made_up_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "made_up.json"
    file.write_text(json.dumps(MADE_UP), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def several_file(tmp_path_factory):
    """Joints with several degrees of freedom."""
    file = tmp_path_factory.mktemp("robot") / "several.json"
    file.write_text(json.dumps(SEVERAL_JOINTS), encoding="utf-8")
    return file


@pytest.fixture(scope="module", params=["made_up", "several"] + ROBOTS + GOOD, ids=lambda file: getattr(file, "stem", file))
def packed(request, limber, tmp_path_factory):
    file = request.getfixturevalue(f"{request.param}_file") if isinstance(request.param, str) else request.param
    return Packed(limber, file, tmp_path_factory.mktemp("fmu"))


@pytest.fixture(scope="module")
def made_up(limber, made_up_file, tmp_path_factory):
    return Packed(limber, made_up_file, tmp_path_factory.mktemp("fmu"))


# ---- the table of the specification -------------------------------------------------------------------------------------

ANGULAR = {"q": "rad", "qd": "rad/s", "qdd": "rad/s2", "tau": "N.m", "viscous": "N.m.s/rad", "coulomb": "N.m",
           "motor_inertia": "kg.m2", "stiffness": "N.m/rad", "rest": "rad"}
LINEAR = {"q": "m", "qd": "m/s", "qdd": "m/s2", "tau": "N", "viscous": "N.s/m", "coulomb": "N", "motor_inertia": "kg",
          "stiffness": "N/m", "rest": "m"}
JOINT_NUMBERS = ["viscous", "coulomb", "motor_inertia", "stiffness", "rest"]
SEVERAL = {"position": ("m", 3), "velocity": ("m/s", 3), "acceleration": ("m/s2", 3), "force": ("N", 3), "quaternion": ("1", 4),
           "omega": ("rad/s", 3), "alpha": ("rad/s2", 3), "torque": ("N.m", 3)}  # of joints with a quaternion
BEAM_NUMBERS = {"length": "m", "mass_per_length": "kg/m", "EIy": "N.m2", "EIz": "N.m2", "GJ": "N.m2", "EA": "N",
                "damping_ratio": "1"}
ETA = {"m", "rad", "1"}


def coordinate_rows(joint, name, units, starts, number):
    """Of one coordinate; name("q") is its variable, number(key) that number of the joint."""
    prescribed = joint.get("motion") == "prescribed"
    for key in "q", "qd", "qdd":
        yield name(key), "input" if prescribed else "output", {units[key]}, starts.get(key, 0) if prescribed else None
    if prescribed: yield name("tau"), "output", {units["tau"]}, None
    elif "drive" in joint: yield name("tau"), "output", {units["tau"]}, None
    elif not joint.get("passive"): yield name("tau"), "input", {units["tau"]}, 0
    for key in () if prescribed else ("q", "qd"): yield name(f"{key}_start"), "parameter", {units[key]}, starts[key]
    for key in JOINT_NUMBERS: yield name(key), "parameter", {units[key]}, number(key)


def quaternion_rows(joint):
    """Of a spherical or free joint."""
    name, start, moves = joint["name"], joint.get("start", {}), joint["type"] == "free"
    position = start.get("position", [0] * 3 * moves + [1, 0, 0, 0])
    velocity = start.get("velocity", [0] * (3 + 3 * moves))
    position[-4:] = [x / sum(y * y for y in position[-4:]) ** 0.5 for x in position[-4:]]  # read as a unit quaternion
    starts = {"quaternion": position[-4:], "omega": velocity[-3:], "position": position[:3], "velocity": velocity[:3]}
    for key in ["position", "velocity", "acceleration", "force"] * moves + ["quaternion", "omega", "alpha", "torque"]:
        unit, count = SEVERAL[key]
        force = key in ("force", "torque")
        for k in range(count):
            if not (force and joint.get("passive")):
                yield f"{name}.{key}[{k + 1}]", "input" if force else "output", {unit}, 0 if force else None
            if key in starts: yield f"{name}.{key}_start[{k + 1}]", "parameter", {unit}, starts[key][k]
    if not moves:
        for key in "viscous", "stiffness": yield f"{name}.{key}", "parameter", {ANGULAR[key]}, joint.get(key, 0)


def joint_rows(joint):
    """(name, causality, units, start) of a joint that moves, as the file describes it, with its name."""
    start, units = joint.get("start", {}), {"revolute": [ANGULAR], "prismatic": [LINEAR], "universal": [ANGULAR] * 2,
                                            "cylindrical": [ANGULAR, LINEAR]}.get(joint["type"])
    if units is None: yield from quaternion_rows(joint)
    elif len(units) == 1:
        starts = {"q": start.get("position", 0), "qd": start.get("velocity", 0)}
        yield from coordinate_rows(joint, lambda key: f"{joint['name']}.{key}", units[0], starts, lambda key: joint.get(key, 0))
    else:
        for k in range(2):
            of_both = lambda value: value[k] if isinstance(value, list) else value
            starts = {"q": start.get("position", [0, 0])[k], "qd": start.get("velocity", [0, 0])[k]}
            yield from coordinate_rows(joint, lambda key: f"{joint['name']}.{key}[{k + 1}]", units[k], starts,
                                       lambda key: of_both(joint.get(key, 0)))


def beam_rows(name, beam):
    """Numbers as they are in the file; of a table its scale."""
    for key, unit in BEAM_NUMBERS.items():
        if isinstance(beam.get(key), dict): yield f"{name}.{key}_scale", "parameter", {"1"}, 1
        elif key in beam: yield f"{name}.{key}", "parameter", {unit}, beam[key]
    if isinstance(beam.get("inertia_per_length"), dict): yield f"{name}.inertia_per_length_scale", "parameter", {"1"}, 1
    added = beam.get("added_mass_per_length")
    if isinstance(added, dict): yield f"{name}.added_mass_scale", "tunable", {"1"}, 1
    elif added is not None: yield f"{name}.added_mass_per_length", "tunable", {"kg/m"}, added
    if "material" not in beam: return
    material, section = beam["material"], beam["section"]
    shear = material["G"] if "G" in material else material["E"] / (2 * (1 + material["poisson"]))
    for key, unit, value in ("E", "Pa", material["E"]), ("G", "Pa", shear), ("density", "kg/m3", material["density"]):
        yield f"{name}.{key}", "parameter", {unit}, value
    if "x" in section: yield f"{name}.section.scale", "parameter", {"1"}, 1
    else:
        for key in section.keys() - {"shape"}: yield f"{name}.section.{key}", "parameter", {"m"}, section[key]


def link_rows(link, given):
    name = link["name"]
    modes = sum(".eta[" in coordinate for coordinate in link["coordinates"])
    per_second = lambda n: {unit + ["", "/s", "/s2"][n] for unit in ETA}
    for k in range(1, 4):
        yield f"{name}.root_force[{k}]", "output", {"N"}, None
        yield f"{name}.root_moment[{k}]", "output", {"N.m"}, None
        if modes:
            yield f"{name}.deflection[{k}]", "output", {"m"}, None
            yield f"{name}.rotation[{k}]", "output", {"rad"}, None
    for k in range(1, modes + 1):
        for n, key in enumerate(("eta", "etad", "etadd")): yield f"{name}.{key}[{k}]", "local", per_second(n), None
        for n, key in enumerate(("eta", "etad")): yield f"{name}.{key}_start[{k}]", "parameter", per_second(n), 0
    yield from beam_rows(name, given.get("beam", {}))
    if "payload" in given:
        yield f"{name}.payload.mass", "tunable", {"kg"}, given["payload"]["mass"]
        for key, unit, count in ("com", "m", 3), ("inertia", "kg.m2", 6):
            for k in range(count): yield f"{name}.payload.{key}[{k + 1}]", "tunable", {unit}, given["payload"].get(key, [0] * count)[k]


LOOP_UNITS = {"ball": ["N"] * 3, "planar-pin": ["N"] * 2, "pin": ["N"] * 3 + ["N.m"] * 2, "weld": ["N"] * 3 + ["N.m"] * 3}


def loop_rows(loop):
    for k, unit in enumerate(LOOP_UNITS[loop["type"]], 1): yield f"{loop['name']}.force[{k}]", "output", {unit}, None


def is_closed(robot): return "loops" in robot or any("stiffness" not in one for one in robot.get("couplings", []))


def coupling_rows(robot):
    """A gap is an angle if all of its coordinates turn."""
    types = {link["joint"].get("name", link["name"]): link["joint"]["type"] for link in robot["links"]}
    for one in robot.get("couplings", []):
        turning = [types[term.split(".")[0]] in ("revolute", "universal") or (types[term.split(".")[0]], term[-3:]) == ("cylindrical", "[1]") for term in one["terms"]]
        force, gap = ("N.m", "rad") if all(turning) else ("N", "m")
        rows = [("force", "output", force, None), ("offset", "parameter", gap, one.get("offset", 0))]
        if "stiffness" in one:
            rows += [("gap", "output", gap, None), ("backlash", "parameter", gap, one.get("backlash", 0)), ("stiffness", "parameter", f"{force}/{gap}", one["stiffness"]),
                     ("damping", "parameter", f"{force}.s/{gap}", one.get("damping", 0))]
        for key, causality, unit, start in rows: yield f"{one['name']}.{key}", causality, {unit}, start


LOAD = [("force", "input", "N", 3), ("torque", "input", "N.m", 3)]
SENSOR = [("position", "output", "m", 3), ("quaternion", "output", "1", 4), ("velocity", "output", "m/s", 3),
          ("angular_velocity", "output", "rad/s", 3), ("acceleration", "output", "m/s2", 3)]
INERTIAL_SENSOR = [("specific_force", "output", "m/s2", 3), ("angular_rate", "output", "rad/s", 3)]


def frame_rows(robot):
    """The tip and the frames; an inertial sensor on the tip is new in format 2."""
    tip = {"name": "tip", "sensor": True, "load": True, "at": "tip"}
    for frame in [tip, *robot.get("frames", [])]:
        quantities = LOAD * frame.get("load", False) + SENSOR * frame.get("sensor", False)
        if frame.get("sensor") and robot["format"] != "limber-robot/1": quantities += INERTIAL_SENSOR
        if frame.get("sensor") and isinstance(frame.get("at"), (int, float)):
            quantities += [("curvature", "output", "1/m", 3)]
            yield f"{frame['name']}.elongation", "output", {"1"}, None
        for name, causality, unit, count in quantities:
            for k in range(1, count + 1): yield f"{frame['name']}.{name}[{k}]", causality, {unit}, 0 if causality == "input" else None


def robot_rows(robot):
    yield from frame_rows(robot)
    for key in "kinetic", "elastic", "gravity", "total": yield f"energy.{key}", "local", {"J"}, None
    for key in "joints", "actuators", "losses": yield f"power.{key}", "local", {"W"}, None
    for k in range(3): yield f"gravity[{k + 1}]", "parameter", {"m/s2"}, robot.get("gravity", [0, 0, 0])[k]
    yield "elastic_terms", "parameter", {None}, {"full": 1, "linear": 2, "ruthless": 3}[robot.get("elastic_terms", "full")]
    yield "start_static", "parameter", {None}, "false"
    yield "solver.relative_tolerance", "parameter", {"1"}, 0
    yield "solver.max_step", "parameter", {"s"}, 0
    yield "solver.max_order", "parameter", {None}, 0
    yield "solver.method", "parameter", {None}, 0
    yield "solver.fixed_step", "parameter", {"s"}, 0
    yield "solver.max_steps", "parameter", {None}, 0
    yield "solver.dense_jacobian", "parameter", {None}, "false"


ARMS_OWN = {"q", "qd", "length", "rate", "supply_share"}  # values of drives that the arm has


def drives_of(robot):
    """(name of its owner, drive) in the order of the file."""
    owners = [{"name": link["name"], **link["joint"]} for link in robot["links"]] + robot.get("actuators", [])
    return [(owner["name"], owner["drive"]) for owner in owners if "drive" in owner]


def drive_rows(packed):
    """Of drives inside the arm: the variables of the companion behind the name of the owner, with the numbers of the file."""
    for owner, drive in drives_of(packed.robot):
        hidden = ARMS_OWN | ({"supply_pressure"} if "supply" in drive else set())
        for v in packed.companions[drive["type"]].modelVariables:
            if v.name in hidden or v.name.startswith(("der(", "solver.")): continue
            start = None if v.causality in ("output", "local") else drive.get(v.name, float(v.start))
            yield f"{owner}.drive.{v.name}", v.causality, {v.unit}, start
    for supply in packed.robot.get("supplies", []):
        yield f"{supply['name']}.demand", "output", {"m3/s"}, None
        yield f"{supply['name']}.share", "output", {"1"}, None
        yield f"{supply['name']}.pressure", "parameter", {"Pa"}, supply["pressure"]
        yield f"{supply['name']}.flow_limit", "parameter", {"m3/s"}, supply["flow_limit"]


def drive_states(packed):
    return [f"{owner}.drive.{u.variable.derivative.name}" for owner, drive in drives_of(packed.robot)
            for u in packed.companions[drive["type"]].derivatives]


def table(packed):
    rows = list(robot_rows(packed.robot)) + list(drive_rows(packed))
    for link, given in zip(packed.checked["links"], packed.robot["links"]):
        if link["joint"]["type"] != "fixed": rows += joint_rows({"name": link["name"], **given["joint"]})
        rows += link_rows(link, given)
    for loop in packed.robot.get("loops", []): rows += loop_rows(loop)
    rows += coupling_rows(packed.robot)
    for actuator in packed.robot.get("actuators", []):
        force = ("output", {"N"}, None) if "drive" in actuator else ("input", {"N"}, 0)
        rows += [(f"{actuator['name']}.force", *force), (f"{actuator['name']}.length", "output", {"m"}, None),
                 (f"{actuator['name']}.rate", "output", {"m/s"}, None)]
    return rows


def state_names(packed):
    """Positions in the order of the coordinates, then velocities, then states of drives; prescribed joints left out."""
    names = Coordinates(packed.robot)
    return names.position_states, names.velocity_states + drive_states(packed)


def test_every_row_of_the_table_and_no_other(packed):
    rows = table(packed)
    positions, rates = state_names(packed)
    derivatives = {f"der({name})" for name in positions + rates}
    assert {row[0] for row in rows} | derivatives == set(packed.by_name)
    assert len(rows) + len(derivatives) == len(packed.variables)
    for name, causality, units, start in rows:
        v = packed.by_name[name]
        tunable = causality == "tunable"
        assert v.causality == ("parameter" if tunable else causality), name
        assert v.unit in units, name
        assert v.description, name
        parameter = v.causality == "parameter"
        assert v.variability == ("tunable" if tunable else "fixed" if parameter else "continuous"), name
        assert v.initial == ("exact" if parameter or v.causality == "input" else "calculated"), name
        if start is None or isinstance(start, str): assert v.start == start, name
        elif "quaternion" in name: assert abs(float(v.start) - start) <= 2e-16, name  # normalized
        else: assert float(v.start) == start, name  # every digit


def test_types(packed):
    names = ["elastic_terms", "start_static", "solver.dense_jacobian", "solver.max_order", "solver.method", "solver.max_steps"]
    of = {name: packed.by_name[name] for name in names}
    assert [v.type for v in of.values()] == ["Integer", "Boolean", "Boolean", "Integer", "Integer", "Integer"]
    terms = of["elastic_terms"]  # an Integer: INTO-CPS maestro refuses enumerations
    assert (terms.min, terms.max) == ("1", "3") and all(word in terms.description for word in ("full", "linear", "ruthless"))
    assert all(v.type == "Real" for v in packed.variables if v.name not in of)


def test_states_derivatives_and_aliases(packed):
    positions, rates = state_names(packed)
    states = positions + rates
    found = [u.variable for u in packed.description.derivatives]
    assert [v.name for v in found] == [f"der({name})" for name in states]
    assert [v.derivative.name for v in found] == states
    assert [v.name for v in packed.variables if v.derivative is not None] == [v.name for v in found]
    names = Coordinates(packed.robot)
    rate = dict(zip(names.tangent + names.velocities, names.velocities + names.accelerations))
    of_drives = drive_states(packed)  # no other variable is the rate of a quaternion or of a state of a drive
    own = [v for v, name in zip(found, states) if ".quaternion[" in name or name in of_drives]
    for v, name in zip(found, states):
        rates_of = {"1/s": "1/s2", "1": "1/s", "Pa": "Pa/s", "A": "A/s", "V": "V/s", "N.m": "N.m/s", "rad": "rad/s", "rad/s": "rad/s2"}
        if v in own: assert (v.unit, v.causality) == (rates_of[packed.by_name[name].unit], "local")
        else:
            alias = packed.by_name[rate[name]]
            assert (v.valueReference, v.unit, v.causality) == (alias.valueReference, alias.unit, "local")
    for name in states: assert float(packed.by_name[name].nominal) > 0
    references = [v.valueReference for v in packed.variables if v.derivative is None or v in own]
    assert sorted(references) == list(range(len(references)))


def test_display_units(packed):
    """Degrees and millimetres."""
    display = {"rad": ("deg", 180 / np.pi), "rad/s": ("deg/s", 180 / np.pi), "m": ("mm", 1000)}
    for unit in packed.description.unitDefinitions:
        if unit.name in display: assert [(d.name, float(d.factor)) for d in unit.displayUnits] == [display[unit.name]]
    for v in packed.variables:
        if re.search(r"\.q(_start)?(\[\d\])?$", v.name): assert v.displayUnit == ("deg" if v.unit == "rad" else None)
        if ".deflection[" in v.name: assert v.displayUnit == "mm"


def test_head_of_the_description(packed):
    d = packed.description
    name = packed.robot["name"]
    assert (d.fmiVersion, d.modelName, d.variableNamingConvention) == ("2.0", name, "structured")
    assert d.generationTool.startswith("Limber ") and d.generationDateAndTime is None
    assert (d.description or "") == packed.robot.get("description", "")
    for interface in d.coSimulation, d.modelExchange: assert interface.modelIdentifier == name and interface.providesDirectionalDerivative
    frames = {"tip", *(frame["name"] for frame in packed.robot.get("frames", []))}
    quaternions = any(v.name.endswith(".quaternion[1]") and v.derivative is None and v.name.split(".")[0] not in frames
                      for v in packed.variables)
    drifts = is_closed(packed.robot) or quaternions  # loops may open, quaternions lose their norm
    assert d.modelExchange.needsCompletedIntegratorStep == drifts
    assert [c.name for c in d.logCategories] == ["logStatusError", "logStatusWarning", "logStatusDiscard", "solver", "logAll"]
    stop, step = float(d.defaultExperiment.stopTime), float(d.defaultExperiment.stepSize)
    assert (float(d.defaultExperiment.startTime), float(d.defaultExperiment.tolerance)) == (0, 1e-6)
    lowest = min([f for link in packed.checked["links"] for f in link["frequencies"] or [] if f > 0], default=1)
    assert 1 <= stop <= 100 and step == pytest.approx(stop / 1000)
    assert stop == 100 or stop * lowest >= 9.99, "not even ten periods of the slowest link"


# ---- dependencies ------------------------------------------------------------------------------------------------------


def test_inputs_act_on_accelerations_and_reactions_alone(packed):
    """But a prescribed motion acts on positions and velocities as well."""
    forces = {row[0] for row in frame_rows(packed.robot) if row[1] == "input"}
    forces |= set(Coordinates(packed.robot).inputs)
    reactions = {row[0] for loop in packed.robot.get("loops", []) for row in loop_rows(loop)}
    reactions |= {f"{one['name']}.force" for one in packed.robot.get("couplings", []) if "stiffness" not in one}
    for name, known in packed.declared().items():
        kinematic = name not in reactions and not any(part in name for part in ("qdd", "etadd", "alpha", "der(", "acceleration",
                                                                                "root_", ".tau", "specific_force"))
        if kinematic: assert not known & forces, name
        assert known <= {v.name for v in packed.variables if v.causality == "input"} | set(sum(state_names(packed), []))


def test_made_up_dependencies(made_up):
    declared = made_up.declared()
    eta, etad = {f"arm.eta[{k}]" for k in range(1, 6)}, {f"arm.etad[{k}]" for k in range(1, 6)}
    position = {"turn.q", "arm.q", "slide.q"} | eta
    velocity = position | {"turn.qd", "arm.qd", "slide.qd"} | etad
    wrench = {f"tip.{kind}[{k}]" for kind in ("force", "torque") for k in (1, 2, 3)}
    prescribed = {"turn.q", "turn.qd", "turn.qdd"}
    arm = velocity | prescribed | wrench | {"arm.tau", "slide.tau"}
    for k in "123":
        assert declared[f"tip.position[{k}]"] == position
        assert declared[f"tip.velocity[{k}]"] == velocity
        assert declared[f"tip.angular_velocity[{k}]"] == velocity - {"slide.q", "slide.qd", "arm.eta[5]", "arm.etad[5]"}
        assert declared[f"tip.acceleration[{k}]"] == arm
        assert declared[f"slider.root_force[{k}]"] == declared[f"arm.root_moment[{k}]"] == arm
        assert declared[f"side.root_force[{k}]"] == {"side.q", "side.qd"} | prescribed
        assert declared[f"base.root_moment[{k}]"] == arm | {"side.q", "side.qd"}
        assert declared[f"plate.root_moment[{k}]"] == {"other.q", "other.qd", "other.tau"}
    assert declared["tip.quaternion[1]"] == position - {"slide.q", "arm.eta[5]"}  # what slides or stretches does not turn
    assert declared["turn.tau"] == arm | {"side.q", "side.qd"}
    assert declared["der(arm.q)"] == {"arm.qd"} and declared["arm.q"] == {"arm.q"}
    assert declared["der(arm.etad[2])"] == declared["slide.qdd"] == arm
    assert declared["der(side.qd)"] == {"side.q", "side.qd"} | prescribed
    assert declared["der(other.qd)"] == {"other.q", "other.qd", "other.tau"}
    assert declared["arm.deflection[1]"] == {"arm.eta[1]", "arm.eta[2]", "arm.eta[3]", "arm.eta[5]"}  # foreshortening, axial
    assert declared["arm.deflection[2]"] == declared["arm.rotation[3]"] == {"arm.eta[1]", "arm.eta[2]"}
    assert declared["arm.deflection[3]"] == declared["arm.rotation[2]"] == {"arm.eta[3]"}
    assert declared["arm.rotation[1]"] == {"arm.eta[4]"}


class Instance:
    """A model-exchange instance whose states and inputs can be set."""

    def __init__(self, packed, folder):
        fmpy.extract(str(packed.fmu), str(folder))
        d = packed.description
        self.fmu = FMU2Model(guid=d.guid, unzipDirectory=str(folder), instanceName="judge",
                             modelIdentifier=d.modelExchange.modelIdentifier)
        self.fmu.instantiate()
        self.fmu.setupExperiment(startTime=0)
        self.fmu.enterInitializationMode()
        gravity = [v.valueReference for v in packed.variables if v.name.startswith("gravity[")]
        self.fmu.setReal(gravity, [1.5, -2.5, -9])
        try: self.fmu.exitInitializationMode()
        except fmpy.fmi1.FMICallException:
            if packed.file not in GOOD or not packed.robot.get("loops"): raise
            pytest.skip("a file to be read, whose loops cannot be closed")
        self.fmu.enterContinuousTimeMode()
        unknowns = d.outputs + d.derivatives
        self.unknown = {u.variable.name: u.variable.valueReference for u in unknowns}
        states = {u.variable.derivative.name: u.variable.derivative for u in d.derivatives}
        inputs = {v.name: v for v in packed.variables if v.causality == "input"}
        self.states, self.inputs = list(states), list(inputs)
        self.input_reference = [v.valueReference for v in inputs.values()]
        self.scale = {name: min(1, float(v.nominal or 1)) for name, v in {**states, **inputs}.items()}
        self.start = dict.fromkeys(self.scale, 0)
        if not drives_of(packed.robot): return
        # a cylinder works within its stroke alone: near the start, by hundredths
        x = np.zeros(len(states))
        self.fmu.getContinuousStates(x.ctypes.data_as(fmpy.fmi2.POINTER(fmpy.fmi2.c_double)), len(x))
        self.start.update(zip(states, x))
        self.scale = {name: 0.01 * float(v.nominal or 1) for name, v in {**states, **inputs}.items()}

    def outputs(self, values):
        x = np.array([values[name] for name in self.states])
        if len(x): self.fmu.setContinuousStates(x.ctypes.data_as(fmpy.fmi2.POINTER(fmpy.fmi2.c_double)), len(x))
        self.fmu.setReal(self.input_reference, [values[name] for name in self.inputs])
        return np.array(self.fmu.getReal(list(self.unknown.values())))

    def close(self):
        self.fmu.terminate()
        self.fmu.freeInstance()


def observed(packed, folder):
    """Which known moves which unknown, at some random points: {(unknown, known)}."""
    instance = Instance(packed, folder)
    random = np.random.default_rng(5)
    names = list(instance.unknown)
    found = set()
    for _ in range(3):
        at = {name: instance.start[name] + instance.scale[name] * random.uniform(0.3, 1) * random.choice([-1, 1])
              for name in instance.states + instance.inputs}
        before = instance.outputs(at)
        for known in at:
            after = instance.outputs({**at, known: at[known] + 0.1 * instance.scale[known]})
            moved = np.abs(after - before) > 1e-11 * (1 + np.abs(before))  # more than rounding
            found |= {(names[i], known) for i in np.flatnonzero(moved)}
    instance.close()
    return found


def test_no_dependency_is_missing(packed, tmp_path):
    """A missing one is a silent zero in a Jacobian: outputs that are not declared to depend must not change."""
    declared = {(unknown, known) for unknown, dependencies in packed.declared().items() for known in dependencies}
    assert observed(packed, tmp_path) - declared == set()


def test_no_dependency_is_invented(made_up, tmp_path):
    """In a robot with skew axes everything that is declared is seen."""
    declared = {(unknown, known) for unknown, dependencies in made_up.declared().items() for known in dependencies}
    assert declared - observed(made_up, tmp_path) == set()


def test_dependencies_of_lines(limber, tmp_path):
    """Length and rate depend on what lies between the two points, on nothing that carries both; all of that is seen."""
    point = lambda link, frame: {"link": link, "xyz": [0.3, -0.4, 0.5]} | ({"frame": frame} if link != "world" else {})
    ends = {"one": (("world", None), ("arm", "hinge")), "two": (("arm", "hinge"), ("arm", "tip")), "three": (("arm", "tip"), ("side", "tip")),
            "four": (("arm", "tip"), ("slider", "hinge")), "five": (("slider", "tip"), ("plate", "hinge"))}
    file = tmp_path / "lines.json"
    file.write_text(json.dumps(MADE_UP | {"name": "lines", "actuators": [
        {"name": name, "type": "line", "from": point(*start), "to": point(*end)} for name, (start, end) in ends.items()]}))
    lines = Packed(limber, file, tmp_path)
    eta = {f"arm.eta[{k}]" for k in range(1, 6)}
    between = {"one": {"turn.q", "arm.q"}, "two": eta, "three": {"arm.q", "side.q"} | eta, "four": {"slide.q"},
               "five": {"turn.q", "arm.q", "slide.q", "other.q"} | eta}
    declared, seen = lines.declared(), observed(lines, tmp_path)
    for name, q in between.items():
        rates = {known.replace(".q", ".qd").replace(".eta[", ".etad[") for known in q}
        assert declared[f"{name}.length"] == q and declared[f"{name}.rate"] == q | rates
        for output in f"{name}.length", f"{name}.rate": assert {known for unknown, known in seen if unknown == output} == declared[output]


def test_lines_couple_what_they_join_alone(limber, tmp_path):
    """A line from the arm to its own base leaves the other tree on the world alone; one to a plate of that tree does not."""
    point = lambda link: {"link": link, "xyz": [0.3, -0.4, 0.5], "frame": "tip"}
    other = {"other.q", "other.qd", "other.tau"}
    for end in "base", "plate":
        robot = MADE_UP | {"name": end, "actuators": [{"name": "line", "type": "line", "from": point("slider"), "to": point(end)}]}
        file = tmp_path / f"{end}.json"
        file.write_text(json.dumps(robot))
        packed = Packed(limber, file, tmp_path)
        declared = packed.declared()
        assert {(unknown, known) for unknown, known in observed(packed, tmp_path)
                if known not in declared[unknown]} == set()
        assert (declared["other.qdd"] - {"turn.q", "turn.qd", "turn.qdd"} == other) == (end == "base")
        assert {"line.force", "arm.tau"} <= declared["arm.qdd"] and ("line.force" in declared["other.qdd"]) == (end == "plate")


def test_dependencies_hold_for_any_length(limber, tmp_path):
    """The length of a beam is a parameter. A shape that is zero half-way is not zero there when the beam gets longer: dependencies of frames at
    different stations are the same."""
    family = {"shape": "craig-bampton", "count": 5}
    beam = {"length": 2, "mass_per_length": 2, "EIy": 1e3, "EIz": 1e3, "GJ": 1e3, "EA": 1e6, "inertia_per_length": [0.1, 0.1, 0.1],
            "modes": dict.fromkeys(["y", "z", "twist", "axial"], family)}
    file = tmp_path / "lengths.json"
    for shortening in True, False:
        file.write_text(json.dumps({
            "format": "limber-robot/2", "name": "lengths",
            "links": [{"name": "arm", "joint": {"name": "turn", "type": "revolute"}, "beam": beam | {"foreshortening": shortening}}],
            "frames": [{"name": name, "link": "arm", "at": x, "sensor": True} for name, x in (("half", 1), ("other", 0.7391))]}))
        declared = Packed(limber, file, tmp_path).declared()
        eta = lambda first: {f"arm.eta[{k}]" for k in range(first, first + 5)}
        for output in declared:
            if output.startswith("half."): assert declared[output] == declared[output.replace("half.", "other.")], output
        assert [declared[f"half.curvature[{k}]"] for k in (3, 2, 1)] + [declared["half.elongation"]] == [eta(1), eta(6), eta(11), eta(16)]
        assert declared["half.quaternion[1]"] == {"turn.q"} | eta(1) | eta(6) | eta(11)
        assert declared["half.position[1]"] == {"turn.q"} | eta(1) | eta(6) | eta(16)


# ---- the rest of the file ------------------------------------------------------------------------------------------------


def test_content(packed, limber):
    name = packed.robot["name"]
    libraries = {f"binaries/{folder}/{name}.{ending}": file for (folder, ending), file in libraries_of(limber).items()}
    with zipfile.ZipFile(packed.fmu) as archive:
        assert archive.testzip() is None
        scene = ["documentation/viewer.js"] if (limber.parent / "viewer.js").exists() else []
        assert {i.filename for i in archive.infolist()} == {
            *scene, "modelDescription.xml", "model.png", "terminalsAndIcons/icon.png", "terminalsAndIcons/terminalsAndIcons.xml",
            "resources/robot.json", *libraries, "documentation/index.html",
            *(f"documentation/licenses/{file.name}" for file in (limber.parent / "licenses").iterdir())}
        for info in archive.infolist():
            assert stat.S_ISREG(info.external_attr >> 16), info.filename
            assert info.compress_type == zipfile.ZIP_DEFLATED and info.date_time == (1980, 1, 1, 0, 0, 0)
    assert packed.read("resources/robot.json") == packed.file.read_bytes()
    for inside, file in libraries.items(): assert packed.read(inside) == file.read_bytes()


def test_icon(packed, tmp_path):
    from PIL import Image
    (tmp_path / "model.png").write_bytes(packed.read("model.png"))
    with Image.open(tmp_path / "model.png") as image:
        assert image.size == (100, 100)
        point = json.loads(packed.read("resources/robot.json"))["name"] == "smallest"  # one block without extent: a dot
        assert len(image.convert("RGB").getcolors(10000)) > (2 if point else 5), "an empty picture"


class Page(html.parser.HTMLParser):
    """Checks that every element is closed in order, and gathers text and links."""
    VOID = {"meta"}

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.links, self.seen = [], "", [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.links += [value for key, value in attributes if key in ("href", "src")]
        if tag not in self.VOID: self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)
        assert tag in self.VOID or "svg" in self.open, f"<{tag}/> is no HTML"

    def handle_endtag(self, tag): assert self.open.pop() == tag

    def handle_data(self, data): self.text += data + "\n"


def test_page(packed):
    page = Page(packed.read("documentation/index.html").decode("utf-8"))
    assert page.open == []
    assert {"svg", "table", "path", "text"} <= page.seen
    words = set(page.text.splitlines())
    for link in packed.checked["links"]: assert {link["name"], link["joint"]["name"]} <= words
    assert {v.name for v in packed.variables} <= words
    assert packed.robot.get("description", "") in page.text
    with zipfile.ZipFile(packed.fmu) as archive: files = set(archive.namelist())
    assert {f"documentation/{link}" for link in page.links} <= files, "not self-contained"


def test_same_robot_same_bytes(limber, made_up, tmp_path):
    again = tmp_path / "again.fmu"
    assert run(limber, "fmu", made_up.file, "-o", again, TZ="Pacific/Auckland").returncode == 0
    assert again.read_bytes() == made_up.fmu.read_bytes()


def test_guid_is_of_the_robot(limber, made_up, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(made_up.file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert Packed(limber, other, tmp_path).description.guid != made_up.description.guid


# ---- the command -----------------------------------------------------------------------------------------------------------


def test_json_summary(limber, made_up, tmp_path):
    answer = run(limber, "fmu", made_up.file, "-o", tmp_path / "x.fmu", "--json")
    assert answer.returncode == 0
    summary = json.loads(answer.stdout)
    count = lambda causality: sum(v.causality == causality for v in made_up.variables)
    assert summary == {"file": str(tmp_path / "x.fmu"), "name": "made_up", "guid": made_up.description.guid,
                       "inputs": count("input"), "outputs": count("output"), "parameters": count("parameter"),
                       "states": len(made_up.description.derivatives),
                       "platforms": [folder for folder, _ in libraries_of(limber)]}


@pytest.mark.parametrize("arguments, code, word", [
    ([], 2, "limber: fmu: expected ROBOT; see `limber fmu --help`"), (["ROBOT"], 2, "-o"), (["ROBOT", "-o"], 2, "-o"), (["ROBOT", "-o", "x.fmu", "--fast"], 2, "--fast"),
    (["ROBOT", "ROBOT", "-o", "x.fmu"], 2, "too many arguments"), (["missing.json", "-o", "x.fmu"], 1, "limber: fmu: missing.json: "),
    (["BAD", "-o", "x.fmu"], 1, "links"), (["ROBOT", "-o", "no/such/folder/x.fmu"], 1, "x.fmu"),
    (["ROBOT", "-o", "."], 1, "regular"), (["ROBOT", "-o", "/dev/null"], 1, "regular"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_wrong_usage(limber, made_up_file, tmp_path, arguments, code, word):
    bad = tmp_path / "bad.json"
    bad.write_text('{"format": "limber-robot/1", "name": "bad", "links": []}')
    places = {"ROBOT": made_up_file, "BAD": bad}
    answer = subprocess.run([str(limber), "fmu", *(str(places.get(word, word)) for word in arguments)], cwd=tmp_path,
                            capture_output=True, text=True, timeout=60)
    assert answer.returncode == code and word in answer.stderr
    assert os.listdir(tmp_path) == ["bad.json"], "something was left behind"


@pytest.fixture(params=["fmu", "servo", "cylinder", "gear", "spring", "axis", "sling", "controller"])
def packing(request, limber, made_up_file):
    """An FMU to pack: arguments, libraries, and what the environment variables for them begin with."""
    if request.param == "fmu": return ["fmu", made_up_file], libraries_of(limber), "LIMBER_FMU"
    robot = [CANADARM] if request.param == "controller" else []
    return ["drive", request.param, *robot], libraries_of(limber, request.param, "DRIVE"), "LIMBER_DRIVE"


@pytest.mark.parametrize("variable", ["LIBRARY", "DLL"])
@pytest.mark.parametrize("library", ["missing", "bad"])
def test_library_that_is_none(limber, packing, tmp_path, library, variable):
    arguments, _, prefix = packing
    (tmp_path / "bad").write_text("not a library")
    out = tmp_path / "x.fmu"
    out.write_text("precious")
    answer = run(limber, *arguments, "-o", out, **{f"{prefix}_{variable}": str(tmp_path / library)})
    assert answer.returncode == 1 and library in answer.stderr and f"{prefix}_{variable}" in answer.stderr
    assert out.read_text() == "precious"


def test_library_of_the_other_system(limber, packing, tmp_path):
    arguments, libraries, prefix = packing
    answer = run(limber, *arguments, "-o", tmp_path / "x.fmu", **{f"{prefix}_DLL": str(libraries["linux64", "so"])})
    assert answer.returncode == 1 and "not a shared library for Windows" in answer.stderr


def test_libraries_are_packed(limber, packing, tmp_path):
    """Those that were built, or those that are named."""
    arguments, libraries, prefix = packing
    other = tmp_path / "other.dll"
    other.write_bytes(b"MZ and so on")
    for named, environment in (libraries, {}), ({**libraries, ("win64", "dll"): other}, {f"{prefix}_DLL": str(other)}):
        answer = run(limber, *arguments, "-o", tmp_path / "x.fmu", "--json", **environment)
        assert (answer.returncode, answer.stderr) == (0, "")
        summary = json.loads(answer.stdout)
        assert summary["platforms"] == [folder for folder, _ in named]
        with zipfile.ZipFile(tmp_path / "x.fmu") as archive:
            inside = {name: archive.read(name) for name in archive.namelist() if name.startswith("binaries/")}
        assert inside == {f"binaries/{folder}/{summary['name']}.{ending}": file.read_bytes()
                          for (folder, ending), file in named.items()}


def test_without_a_library_for_windows(limber, packing, tmp_path):
    """Where it was not built the FMU is for Linux only, and the command says so."""
    arguments, libraries, _ = packing
    library = libraries["linux64", "so"]
    shutil.copy2(limber, tmp_path / "limber")
    shutil.copy2(library, tmp_path / library.name)
    answer = run(tmp_path / "limber", *arguments, "-o", tmp_path / "x.fmu")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert f"Linux only: {library.stem}.dll was not built" in answer.stdout
    assert fmpy.supported_platforms(str(tmp_path / "x.fmu")) == ["linux64"]


def test_sanitized(limber_sanitized, limber, made_up_file, tmp_path):
    """Memory is respected: the sanitizers would end the program."""
    library = str(libraries_of(limber)["linux64", "so"])
    for file in [made_up_file] + [file for file in ROBOTS if not needs_loops(file)]:
        answer = run(limber_sanitized, "fmu", file, "-o", tmp_path / "x.fmu", LIMBER_FMU_LIBRARY=library)
        assert (answer.returncode, answer.stderr) == (0, "")
