"""What `limber check` says of values that are valid and very probably a mistake: the number, what is usual, and nothing on the other side
of each bound. Warnings change neither the result nor the exit code."""

import copy
import json
import math
import subprocess

import numpy as np
import pytest

STEEL = {"E": 2.1e11, "poisson": 0.3, "density": 7850}
BEAM = {"length": 2, "material": STEEL, "section": {"shape": "rectangle", "width": 0.05, "height": 0.05},
        "modes": {"y": {"shape": "craig-bampton", "count": 6}}}


def robot(changes=None, joint=None, gravity=(0, 0, 0), **link):
    """One link: the steel beam with changes, or the body in `link`."""
    body = {} if {"rigid", "nodal", "beam"} & set(link) else {"beam": {**BEAM, **(changes or {})}}
    return {"format": "limber-robot/2", "name": "arm", "gravity": list(gravity),
            "links": [{"name": "boom", "joint": {"type": "revolute", **(joint or {})}, **body, **link}]}


def check(limber, tmp_path, document):
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(document))
    done = subprocess.run([limber, "check", file, "--json"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def warnings(limber, tmp_path, document):
    return check(limber, tmp_path, document)["warnings"]


def rigid(mass, inertia, **more):
    return {"mass": mass, "inertia": [*inertia, 0, 0, 0], **more}


def ellipsoid(density, axes):
    """Mass properties of a solid ellipsoid with these semi-axes."""
    a, b, c = axes
    mass = density * 4 / 3 * math.pi * a * b * c
    return rigid(mass, [mass / 5 * (b * b + c * c), mass / 5 * (a * a + c * c), mass / 5 * (a * a + b * b)])


def material(**numbers):
    return robot({"material": {**STEEL, **numbers}})


def uniform(f1, **more):
    """A robot whose clamped beam has the first frequency f1, up to the error of its modes."""
    EI = (2 * math.pi * f1 / 3.516015) ** 2  # of 1 m and 1 kg/m
    return robot(beam={"length": 1, "mass_per_length": 1, "EIz": EI,
                       "modes": {"y": {"shape": "clamped-free", "count": 2}}}, **more)


# name: (a robot with the slip, words of the warning, the same just within what is usual)
SLIPS = {
    "E too small": (material(E=9.9e7), ["links[0].beam.material.E = 9.9e+07", "1e+08 and 1e+12 Pa"], material(E=1.01e8)),
    "E too large": (material(E=1.1e12), ["material.E = 1.1e+12"], material(E=9.9e11)),
    "too light": (material(density=7.85), ["material.density = 7.85", "100 and 30000 kg/m^3"], material(density=101)),
    "too dense": (material(density=31000), ["material.density = 31000"], material(density=29000)),
    "dense body": (robot(rigid=ellipsoid(3.1e4, [0.1, 0.2, 0.3])), ["links[0].rigid.inertia", "3.1e+04 kg/m^3", "30000"],
                   robot(rigid=ellipsoid(2.9e4, [0.1, 0.2, 0.3]))),
    "dense payload": (robot(payload=ellipsoid(3.2e4, [0.1, 0.1, 0.1])), ["links[0].payload.inertia", "3.2e+04"],
                      robot(payload=ellipsoid(2.9e4, [0.1, 0.1, 0.1]))),
    "dense hub": (robot(hub=ellipsoid(3.3e4, [0.1, 0.1, 0.1])), ["links[0].hub.inertia", "3.3e+04"], robot()),
    "degrees": (robot(joint={"start": {"position": 90}}), ["links[0].joint.start.position = 90", "4 pi = 12.57", "degrees"],
                robot(joint={"start": {"position": -12.5}})),
    "limit": (robot(joint={"limits": {"lower": -180, "upper": 3, "stiffness": 1e5}}), ["links[0].joint.limits.lower = -180"],
              robot(joint={"limits": {"lower": -12.5, "stiffness": 1e5}})),
    "second limit": (robot(joint={"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0],
                                  "limits": [None, {"lower": -3, "upper": 180, "stiffness": 1e5}]}),
                     ["links[0].joint.limits[1].upper = 180"], robot()),
    "second angle": (robot(joint={"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0], "start": {"position": [0, 45]}}),
                     ["links[0].joint.start.position[1] = 45"],
                     robot(joint={"type": "cylindrical", "start": {"position": [0, 45]}})),
    "slow": (uniform(0.0095), ["links[0] (boom)", "first frequency", "0.0095 Hz", "0.01 and 100000 Hz"], uniform(0.0105)),
    "fast": (uniform(1.05e5), ["1.05e+05 Hz"], uniform(0.95e5)),
    "long": (robot({"length": 1001, "section": {"shape": "rectangle", "width": 50, "height": 50}}),
             ["links[0] (boom): 1001 m", "1000 m"],
             robot({"length": 999, "section": {"shape": "rectangle", "width": 50, "height": 50}})),
    "long rigid": (robot(rigid=rigid(1, [1, 1, 1], tip={"xyz": [0, 1500, 0]})), ["1500 m"],
                   robot(rigid=rigid(1, [1, 1, 1], tip={"xyz": [0, 900, 0]}))),
    "gravity in mm": (robot(gravity=(0, 0, -9810)), ["gravity: its size is 9810", "0.1 and 30"], robot(gravity=(0, 0, -29))),
    "gravity in g": (robot(gravity=(0, 0, -0.05)), ["gravity: its size is 0.05"], robot(gravity=(0, -0.11, 0))),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_named_with_its_number(limber, tmp_path, name):
    slip, words, usual = SLIPS[name]
    found = warnings(limber, tmp_path, slip)
    matching = [text for text in found if all(word in text for word in words)]
    assert len(matching) == 1, found
    assert matching[0].startswith(str(tmp_path))
    assert not [text for text in warnings(limber, tmp_path, usual) if all(word in text for word in words[:1])]


def test_usual_robots_have_no_warnings(limber, tmp_path):
    for document in [robot(gravity=(0, -9.81, 0)), uniform(3, gravity=(0, -9.81, 0)), material(E=7e10, density=2700),
                     robot(joint={"type": "prismatic", "axis": [0, 0, 1], "start": {"position": 90}}),
                     robot(joint={"type": "revolute", "limits": {"lower": -3, "stiffness": 1e6}})]:
        assert warnings(limber, tmp_path, document) == []


@pytest.mark.parametrize("inertia", [[0, 0, 0], [0, 1e-9, 1e-9], [1e-9, 1e-9, 3e-9], [1e-9, 2e-9, 3e-9]],
                         ids=["point", "rod", "no body", "plate"])
def test_no_ellipsoid_no_density(limber, tmp_path, inertia):
    """A zero inertia, one that breaks the triangle inequality, and a flat body leave no ellipsoid with a volume."""
    assert not [text for text in warnings(limber, tmp_path, robot(rigid=rigid(5, inertia))) if "solid ellipsoid" in text]


def test_principal_inertias_count(limber, tmp_path):
    """The density does not change when the axes of the inertia are turned."""
    body = ellipsoid(4e4, [0.1, 0.2, 0.3])
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    J = turn @ np.diag(body["inertia"][:3]) @ turn.T
    turned = {**body, "inertia": [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]}
    first, second = (warnings(limber, tmp_path, robot(rigid=part)) for part in (body, turned))
    assert first == second and "4e+04 kg/m^3" in first[0]


# ---- static deflection ------------------------------------------------------------------------------------------------------


def sagging(share, foreshortening=False, tip_mass=0.0, g=9.81):
    """A horizontal cantilever of 1 m whose tip sinks by this share of its length under its own weight and a tip mass."""
    EI = (1 / 8 + tip_mass / 3) * g / share
    beam = {"length": 1, "mass_per_length": 1, "EIz": EI, "foreshortening": foreshortening,
            "modes": {"y": {"shape": "polynomial", "count": 3}}}
    more = {"payload": {"mass": tip_mass}} if tip_mass > 0 else {}
    return robot(gravity=(0, -g, 0), beam=beam, **more)


@pytest.mark.parametrize("tip_mass", [0, 2.0])
@pytest.mark.parametrize("foreshortening, usual", [(False, 0.1), (True, 0.25)])
def test_static_deflection_in_closed_form(limber, tmp_path, tip_mass, foreshortening, usual):
    """w L^4 / 8 EI + m g L^3 / 3 EI: reported above the bound with that number, not below."""
    over = warnings(limber, tmp_path, sagging(1.02 * usual, foreshortening, tip_mass))
    number = f"{1.02 * usual:.3g} m"
    assert any(number in text and f"usual is below {usual:g}" in text for text in over), over
    assert not any("gravity bends" in text for text in warnings(limber, tmp_path, sagging(0.98 * usual, foreshortening, tip_mass)))


def test_what_a_link_carries_counts(limber, tmp_path):
    """A boom bends under the links that it carries; the same boom pointing upward does not bend."""
    document = sagging(0.06)
    load = {"name": "load", "joint": {"type": "revolute"}, "rigid": rigid(1, [0.1, 0.1, 0.1])}
    document["links"].append(load)
    assert any("links[0] (boom): gravity bends it by" in text for text in warnings(limber, tmp_path, document))
    document["links"][0]["joint"]["start"] = {"position": math.pi / 2}
    assert not any("gravity bends" in text for text in warnings(limber, tmp_path, document))


def test_a_simply_supported_beam_bends_between_its_ends(limber, tmp_path):
    """Pinned at both ends, relative to the hinge: whatever the frame, a soft beam is reported."""
    document = sagging(0.5)
    document["links"][0]["beam"]["modes"]["y"] = {"shape": "pinned-pinned", "count": 3}
    assert any("gravity bends" in text for text in warnings(limber, tmp_path, document))


def test_a_nodal_body_sags(limber, tmp_path):
    nodes = [{"position": [x, 0, 0], "mass": 1, "translation": [[0], [x * x], [0]], "rotation": [[0], [0], [2 * x]]}
             for x in (0, 0.5, 1)]
    nodal = {"modes": 1, "nodes": nodes, "hinge_node": 0, "tip_node": 2, "stiffness": [[50]]}
    found = warnings(limber, tmp_path, robot(nodal=nodal, gravity=(0, -9.81, 0)))
    assert any(f"{9.81 * 1.25 / 50:.3g} m" in text for text in found), found


# ---- modes --------------------------------------------------------------------------------------------------------------------


def test_a_wide_range_of_frequencies(limber, tmp_path):
    """EIy given in N.mm^2: a thousand times the frequency; together with higher modes more than 1e4."""
    beam = {"length": 1, "mass_per_length": 1, "EIy": 1e8, "EIz": 100,
            "modes": {"y": {"shape": "clamped-free", "count": 3}, "z": {"shape": "clamped-free", "count": 3}}}
    found = [text for text in warnings(limber, tmp_path, robot(beam=beam)) if "modal coordinates reach" in text]
    assert len(found) == 1 and "links[0] (boom)" in found[0] and "1.8e+04" in found[0], found
    beam["EIy"] = 1e6
    assert not any("modal coordinates" in text for text in warnings(limber, tmp_path, robot(beam=beam)))


def frequency(limber, tmp_path, document):
    file = tmp_path / "modes.json"
    file.write_text(json.dumps(document))
    done = subprocess.run([limber, "modes", file, "--json"], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)["frequency"][0]


def with_payload(count, shape="clamped-free"):
    document = uniform(3, payload={"mass": 5})
    document["links"][0]["beam"]["modes"]["y"] = {"shape": shape, "count": count}
    return document


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_the_hint_is_what_modes_says(limber, tmp_path, count):
    """A heavy payload on clamped-free shapes: said exactly where `modes` with twice the count differs by more than 1 %."""
    f, doubled = (frequency(limber, tmp_path, with_payload(n)) for n in (count, 2 * count))
    said = [text for text in warnings(limber, tmp_path, with_payload(count)) if "first frequency with joints locked" in text]
    assert bool(said) == (abs(doubled / f - 1) > 0.01)
    if said: assert f"{f:.4g} Hz" in said[0] and f"{doubled:.4g} Hz" in said[0]


def test_robust_shapes_need_no_hint(limber, tmp_path):
    for document in (with_payload(2, "craig-bampton"), with_payload(2, "hermite")):
        assert not any("first frequency" in text for text in warnings(limber, tmp_path, document))


def many_links(count):
    """A chain with 25 coordinates a link, joint included."""
    document = with_payload(24)
    document["links"] = [{**copy.deepcopy(document["links"][0]), "name": f"link{i}"} for i in range(count)]
    return document


def test_large_robots_are_skipped_and_that_is_said(limber, tmp_path):
    found = [text for text in warnings(limber, tmp_path, many_links(7)) if "skipped" in text]
    assert len(found) == 1 and "175 coordinates" in found[0] and "150" in found[0]
    assert not any("skipped" in text for text in warnings(limber, tmp_path, many_links(2)))


def test_counts_above_25_stay(limber, tmp_path):
    assert not any("first frequency" in text for text in warnings(limber, tmp_path, with_payload(26)))


def test_the_table_has_the_warnings_too(limber, tmp_path):
    (tmp_path / "robot.json").write_text(json.dumps(material(E=210)))
    done = subprocess.run([limber, "check", tmp_path / "robot.json"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "") and "warning: " in done.stdout and "E = 210" in done.stdout
