"""Beams whose properties vary along x: frequencies against finite elements, integrals, parameters of the FMU against files that have
these numbers, and masses that change while the robot moves."""

import copy
import json
import subprocess

import fe_beam
import fmpy
import fmpy.fmi2
import numpy as np
import pytest
from program import Program

STEEL = {"E": 2.1e11, "G": 8e10, "density": 7850}


def box(height, width=0.2, wall=0.01): return {"shape": "box", "width": width, "height": height, "wall": wall}


def link(name, beam, kind="fixed", **more): return {"name": name, "joint": {"type": kind, **more.pop("joint", {})}, "beam": beam, **more}


def robot(*links, **more): return {"format": "limber-robot/2", "name": "boom", "links": list(links), **more}


def craig_bampton(**count): return {family: {"shape": "craig-bampton", "count": n} for family, n in count.items()}


def taper(root, tip, length, modes):
    """A box whose depth varies linearly."""
    return {"length": length, "modes": modes, "material": STEEL, "foreshortening": False,
            "section": {"x": [0, length], "section": [box(root), box(tip)]}}


@pytest.fixture
def program(limber, tmp_path): return Program(limber, tmp_path)


def frequencies(program, given, state=None):
    """Of all modes, joints locked [Hz], ascending."""
    at = [] if state is None else ["--at", "-"]
    return np.array(program.json("modes", given, "--json", *at, state=state)["frequency"])


# ---- frequencies ---------------------------------------------------------------------------------------------------------


def test_a_taper_has_the_frequencies_of_finite_elements(program):
    """First to 1e-5 and third to 3e-4 with 8 shapes, all three to 1e-5 with 24; never below"""
    exact = fe_beam.frequencies(taper(0.4, 0.2, 8, {}), "z")
    few, many = (frequencies(program, robot(link("boom", taper(0.4, 0.2, 8, craig_bampton(z=count)))))[:3] / exact - 1 for count in (8, 24))
    print(f"taper 2:1 in depth: 8 shapes {few}, 24 shapes {many}")
    assert few.min() > -1e-8 and few[0] < 1e-5 and few[2] < 3e-4
    assert many.min() > -1e-8 and many.max() < 1e-5


def three(a, b, c): return {"x": [0, 0.7, 2], "value": [a, b, c]}


VARYING = {"length": 2, "mass_per_length": three(5, 3, 1), "EIy": three(9e4, 4e4, 3e4), "EIz": three(2e4, 3e4, 1e4),
           "GJ": three(1e4, 8e3, 3e3), "EA": three(1e8, 7e7, 6e7), "added_mass_per_length": three(1, 0, 2),
           "inertia_per_length": {"x": [0, 2], "value": [[0.02, 0.01, 0.01], [0.01, 0.02, 0.01]]}, "foreshortening": False}


@pytest.mark.parametrize("family", ["y", "z", "twist", "axial"])
def test_tables_have_the_frequencies_of_finite_elements(program, family):
    """With added mass, rotary inertia, a body at the tip and kinks, at which shapes converge slowly"""
    tip = {"mass": 2, "inertia": [0.1, 0.02, 0.02, 0, 0, 0]}
    exact = fe_beam.frequencies({**VARYING, "modes": {}}, family, tip)
    found = frequencies(program, robot(link("rod", {**VARYING, "modes": craig_bampton(**{family: 30})}, payload=tip)))[:3]
    print(f"tables, {family}: {found / exact - 1}")
    assert np.abs(found / exact - 1).max() < 1e-4


# ---- integrals -----------------------------------------------------------------------------------------------------------


def dense(program, given, **state):
    answer = program.json("eval", given, "-", state=state)
    return np.array(answer["mass_matrix"]), np.array(answer["bias"])


@pytest.mark.parametrize("ratio", [2, 30])
@pytest.mark.parametrize("shape", ["box", "rectangle", "tube", "round"])
def test_strong_tapers_are_integrated_exactly(program, shape, ratio):
    """Stiffness and mass against a midpoint rule extrapolated on many panels: 1e-12; twist of boxes is not a polynomial"""
    of = {"box": box(0.3, 0.4, 0.01), "rectangle": {"shape": shape, "width": 0.4, "height": 0.1},
          "tube": {"shape": shape, "outer_diameter": 0.3, "wall": 0.02}, "round": {"shape": shape, "diameter": 0.3}}[shape]
    small = {key: value if key == "shape" else value / ratio for key, value in of.items()}
    if shape == "rectangle": small["height"] = of["height"]
    L = 2.0
    beam = {"length": L, "material": STEEL, "section": {"x": [0, L], "section": [of, small]}, "modes": craig_bampton(twist=2)}
    from judge_bodies import gauss, properties
    points, weights = np.concatenate([np.stack(gauss(a * L, (a + 1 / 400) * L, 10)) for a in np.arange(400) / 400], -1)
    at = properties(beam, points)
    d = np.stack([np.full_like(points, 1 / L), np.pi / L * np.cos(np.pi * points / L)])
    phi = np.stack([points / L, np.sin(np.pi * points / L)])
    M = (phi * weights * at.J[..., 0]) @ phi.T
    K = (d * weights * at.GJ) @ d.T
    found, _ = dense(program, robot(link("boom", beam)))
    assert np.linalg.norm(found - M) <= 1e-12 * np.linalg.norm(M)
    eta = np.array([0.01, 0.02])
    _, bias = dense(program, robot(link("boom", beam)), q=list(eta))
    assert np.linalg.norm(bias - K @ eta) <= 1e-12 * np.linalg.norm(K @ eta)
    assert abs(program.json("check", robot(link("boom", {**beam, "modes": {}})), "--json")["mass"] / (weights @ at.rhoA) - 1) < 1e-12


@pytest.mark.parametrize("least", [1e-12, 1e-300])
def test_a_cone_may_end_in_a_point(program, least):
    """Mass of the solid cone, rigid and with modes"""
    sections = [{"shape": "round", "diameter": diameter} for diameter in (0.3, least)]
    beam = {"length": 2.0, "material": STEEL, "section": {"x": [0, 2.0], "section": sections}}
    for modes in {}, craig_bampton(y=3, twist=1):
        M, _ = dense(program, robot(link("boom", {**beam, "modes": modes}, "free")))
        assert M[0][0] == pytest.approx(STEEL["density"] * np.pi / 4 * (0.3**2 + 0.3 * least) * 2.0 / 3, rel=1e-12)


# ---- parameters ----------------------------------------------------------------------------------------------------------

BOX = {"length": 2, "modes": craig_bampton(z=3, twist=2), "material": STEEL, "section": box(0.1, 0.08, 0.005), "damping_ratio": 0.01}
TABLES = {**VARYING, "modes": craig_bampton(y=2, z=2, twist=2, axial=1)}
SECTIONS = taper(0.1, 0.05, 2, craig_bampton(z=3))
LOAD = {"mass": 3, "com": [0.1, 0, 0.2], "inertia": [0.3, 0.3, 0.2, 0, 0, 0]}


def scaled(table, factor): return {**table, "value": (factor * np.array(table["value"])).tolist()}


def larger(section, factor): return {key: value if key == "shape" else factor * value for key, value in section.items()}


CHANGES = [  # beam of the file, parameter, value, the same in the file
    (BOX, "E", 1e11, {"material": {**STEEL, "E": 1e11}}), (BOX, "G", 5e10, {"material": {**STEEL, "G": 5e10}}),
    (BOX, "density", 3000, {"material": {**STEEL, "density": 3000}}), (BOX, "section.wall", 0.01, {"section": box(0.1, 0.08, 0.01)}),
    (BOX, "section.width", 0.09, {"section": box(0.1, 0.09, 0.005)}), (BOX, "section.height", 0.09, {"section": box(0.09, 0.08, 0.005)}),
    ({**BOX, "section": {"shape": "round", "diameter": 0.05}}, "section.diameter", 0.06, {"section": {"shape": "round", "diameter": 0.06}}),
    (SECTIONS, "section.scale", 0.5, {"section": {"x": [0, 2], "section": [larger(box(0.1, wall=0.01), 0.5), larger(box(0.05, wall=0.01), 0.5)]}}),
    *((TABLES, f"{key}_scale", 2.5, {key: scaled(TABLES[key], 2.5)}) for key in ("mass_per_length", "EIy", "EIz", "GJ", "EA", "inertia_per_length")),
    (TABLES, "added_mass_scale", 0.25, {"added_mass_per_length": scaled(TABLES["added_mass_per_length"], 0.25)}),
    ({**BOX, "added_mass_per_length": 2}, "added_mass_per_length", 7, {"added_mass_per_length": 7}),
    ({**TABLES, "foreshortening": True}, "added_mass_scale", 3, {"added_mass_per_length": scaled(TABLES["added_mass_per_length"], 3)}),
    ({**TABLES, "modes": {}}, "added_mass_scale", 3, {"added_mass_per_length": scaled(TABLES["added_mass_per_length"], 3)}),
    (TABLES, "length", 2.5, {"length": 2.5, **{key: {**value, "x": (1.25 * np.array(value["x"])).tolist()}
                                              for key, value in TABLES.items() if isinstance(value, dict) and "x" in value}}),
    (BOX, "payload.com[2]", 0.3, {"payload": {**LOAD, "com": [0.1, 0.3, 0.2]}}),
    (BOX, "payload.inertia[4]", 0.1, {"payload": {**LOAD, "inertia": [0.3, 0.3, 0.2, 0.1, 0, 0]}}),
    (BOX, "viscous", 2, {"joint": {"viscous": 2}}), (BOX, "coulomb", 1, {"joint": {"coulomb": 1}}), (BOX, "stiffness", 50, {"joint": {"stiffness": 50}}),
    (BOX, "motor_inertia", 9, {"joint": {"motor_inertia": 9}}),
]
OUTPUTS = ["boom.q", "boom.qd", "boom.qdd", "tip.position[1]", "tip.position[3]", "boom.root_moment[2]", "energy.total"]


def turning(beam, terms="full", joint=None, payload=LOAD):
    joint = {"axis": [0, 1, 0.2], "start": {"velocity": 1}, **(joint or {})}
    return robot(link("boom", beam, "revolute", joint=joint, payload=payload), gravity=[0, 0, -9.81], elastic_terms=terms)


@pytest.mark.parametrize("beam, name, value, change", CHANGES, ids=[f"{i}-{change[1]}" for i, change in enumerate(CHANGES)])
def test_a_parameter_gives_the_robot_whose_file_has_it(program, beam, name, value, change):
    """At the start to rounding (bit for bit, but for a sum of added mass); after some steps to what the integrator leaves"""
    change = dict(change)
    more = {key: change.pop(key) for key in ("joint", "payload") if key in change}
    runs = [program.simulate(turning(beam), 0.05, 0.05, 1e-9, **{f"boom.{name}": value}), program.simulate(turning({**beam, **change}, **more), 0.05, 0.05, 1e-9)]
    plain = program.simulate(turning(beam), 0.05, 0.05, 1e-9)
    for key in OUTPUTS:
        first, second = (run[key] for run in runs)
        size = np.abs(second).max()
        assert abs(first[0] - second[0]) <= 2e-13 * max(abs(second[0]), size) and np.abs(first - second).max() <= 1e-6 * size, key
    assert any(abs(plain[key][-1] - runs[0][key][-1]) > 1e-6 * abs(plain[key][-1]) for key in OUTPUTS)


@pytest.mark.parametrize("name, value, said", [
    ("E", 0, "boom.E = 0 Pa: must be positive"), ("density", -1, "boom.density = -1 kg/m3: must be positive"),
    ("section.wall", 0.05, "boom.section.wall = 0.05: must be less than half of the outer dimension 0.08 [m]"),
    ("section.height", 0, "boom.section.height = 0 m: must be positive"), ("payload.inertia[1]", -1, "boom.payload.inertia[1] = -1 kg.m2: must not be negative"),
    ("payload.inertia[4]", 1, "boom.payload.inertia = 0.3, 0.3, 0.2, 1, 0, 0: must be positive semidefinite [kg.m2]"),
    ("added_mass_per_length", -1, "boom.added_mass_per_length = -1 kg/m: must not be negative")])
def test_values_that_make_no_sense_are_refused(limber, program, name, value, said):
    file = program.robot(turning({**BOX, "added_mass_per_length": 1}))
    answer = subprocess.run([limber, "simulate", file, "--until", "1", "--step", "1", "--set", f"boom.{name}={value}"], capture_output=True, text=True)
    assert answer.returncode != 0 and said in answer.stderr


# ---- masses that change --------------------------------------------------------------------------------------------------


class Slave:
    """The FMU of a robot, after initialization with these parameters."""

    def __init__(self, program, given, **parameters):
        fmu, folder = program.new(".fmu"), program.new("")
        subprocess.run([program.file, "fmu", program.robot(given), "-o", fmu], check=True, capture_output=True)
        fmpy.extract(str(fmu), str(folder))
        d = fmpy.read_model_description(str(fmu))
        self.reference = {v.name: v.valueReference for v in d.modelVariables}
        self.fmu = fmpy.fmi2.FMU2Slave(guid=d.guid, unzipDirectory=str(folder), modelIdentifier=d.coSimulation.modelIdentifier, instanceName="x")
        self.fmu.instantiate()
        self.fmu.setupExperiment(tolerance=1e-9, startTime=0)
        for name, value in parameters.items(): self.set(name, value)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def set(self, name, value): self.fmu.setReal([self.reference[name]], [value])

    def get(self, *names): return np.array(self.fmu.getReal([self.reference[name] for name in names]))

    def step(self, t, h): self.fmu.doStep(t, h)

    def end(self):
        self.fmu.terminate()
        self.fmu.freeInstance()


@pytest.mark.parametrize("terms", ["full", "linear", "ruthless"])
@pytest.mark.parametrize("modes", [craig_bampton(y=2, z=3), {"z": {"shape": "clamped-free", "count": 8}}, {"z": {"shape": "pinned-pinned", "count": 2}}, {}],
                         ids=["craig-bampton", "many", "pinned", "rigid"])
@pytest.mark.parametrize("foreshortening", [False, True])
def test_a_pipe_fills_while_the_boom_moves(program, terms, modes, foreshortening):
    """Velocities stay, the mass jumps: from there on it moves as the robot whose file has this mass"""
    if foreshortening and not modes: pytest.skip("a rigid beam does not shorten")
    table = {"x": [0, 0.5, 2], "value": [1, 0, 4]}
    beam = {"length": 2, "mass_per_length": 3, "EIy": 500, "EIz": 500, "modes": modes, "added_mass_per_length": table, "damping_ratio": 0.02,
            "foreshortening": foreshortening}
    empty = Slave(program, turning(scale_added(beam, 0.5), terms))
    empty.step(0, 0.2)
    n = sum(family["count"] for family in modes.values())
    states = ["boom.q", "boom.qd", *(f"boom.{key}[{k}]" for key in ("eta", "etad") for k in range(1, n + 1))]
    accelerations = ["boom.qdd", *(f"boom.etadd[{k}]" for k in range(1, n + 1)), "boom.root_moment[2]", "energy.kinetic", "energy.total"]
    before, light = empty.get(*states), empty.get(*accelerations)
    empty.set("boom.added_mass_scale", 4)
    assert np.array_equal(empty.get(*states), before)
    starts = ["boom.q_start", "boom.qd_start", *(f"boom.{key}_start[{k}]" for key in ("eta", "etad") for k in range(1, n + 1))]
    full = Slave(program, turning(scale_added(scale_added(beam, 0.5), 4), terms), **dict(zip(starts, before)))
    found, expected = empty.get(*accelerations), full.get(*accelerations)
    assert np.linalg.norm(found - light) > 1e-3 * np.linalg.norm(light)
    assert np.linalg.norm(found - expected) <= 1e-10 * np.linalg.norm(expected)
    empty.step(0.2, 0.1)
    full.step(0, 0.1)
    scale = np.abs(full.get(*states)).max()
    assert np.abs(empty.get(*states) - full.get(*states)).max() <= 1e-5 * scale
    for slave in empty, full: slave.end()


def scale_added(beam, factor):
    beam = copy.deepcopy(beam)
    beam["added_mass_per_length"] = scaled(beam["added_mass_per_length"], factor)
    return beam


@pytest.mark.parametrize("terms", ["full", "linear", "ruthless"])
@pytest.mark.parametrize("modes", [craig_bampton(y=2, z=3), {"z": {"shape": "pinned-pinned", "count": 2}}, {}], ids=["craig-bampton", "pinned", "rigid"])
def test_derivatives_with_respect_to_masses(program, terms, modes):
    """Reactions and accelerations along a change of each mass, against central differences"""
    beam = {"length": 2, "mass_per_length": 3, "EIy": 500, "EIz": 500, "modes": modes, "added_mass_per_length": 2, "inertia_per_length": [0.1, 0.1, 0.1]}
    inner = link("inner", {**beam, "added_mass_per_length": {"x": [0, 0.5, 2], "value": [1, 0, 4]}}, "universal",
                 joint={"axis": [0, 0, 1], "axis2": [0, 1, 0.3], "start": {"velocity": [1, 2]}})
    robot_ = turning(beam, terms)
    robot_["links"].insert(0, inner)
    slave = Slave(program, robot_)
    slave.step(0, 0.1)
    n = sum(family["count"] for family in modes.values())
    unknown = ["inner.qdd[1]", "inner.qdd[2]", "boom.qdd", *(f"boom.root_moment[{k}]" for k in (1, 2, 3)), *(f"inner.root_force[{k}]" for k in (1, 2, 3)),
               *(f"boom.etadd[{k}]" for k in range(1, n + 1)), "tip.acceleration[1]"]
    references = [slave.reference[name] for name in unknown]
    for name, h in [("inner.added_mass_scale", 1e-3), ("boom.added_mass_per_length", 1e-3), ("boom.payload.mass", 1e-3), ("boom.payload.com[1]", 1e-4),
                    ("boom.payload.com[3]", 1e-4), ("boom.payload.inertia[2]", 1e-3), ("boom.payload.inertia[5]", 1e-3)]:
        found = np.array(slave.fmu.getDirectionalDerivative(references, [slave.reference[name]], [1.0]))
        value, sides = slave.get(name)[0], []
        for sign in 1, -1:
            slave.set(name, value + sign * h)
            sides.append(slave.get(*unknown))
        slave.set(name, value)
        expected = (sides[0] - sides[1]) / (2 * h)
        assert np.linalg.norm(found - expected) <= 1e-5 * np.linalg.norm(expected), name
    slave.end()
