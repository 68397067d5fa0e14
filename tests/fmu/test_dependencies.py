"""Dependencies that the FMU declares, against what the library does: nothing undeclared acts, in the run and at the start."""

import ctypes as ct
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from fmus import COMPANIONS, LISTED, opened
from importer import CO_SIMULATION, OK, Instance
from scipy.sparse.csgraph import connected_components
from test_fmi_rules import set_value

ROOT = Path(__file__).resolve().parents[2]
STARTS = ["f2-static", "prescribed"]  # robots of the tests with a start of their own


# ---- the start --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session", params=[*LISTED, *STARTS])
def fmu(request, listed, tmp_path_factory):
    return opened(listed(request.param), tmp_path_factory.mktemp("dependencies"))


def at_start(instance, names, static, changes):
    """Values in initialization mode, with these parameters and inputs; None where there is no such start."""
    assert instance.Reset() == OK
    if static: instance.SetBoolean(instance.references(["start_static"]), 1, (ct.c_int * 1)(1))
    instance.SetupExperiment(0, 0.0, 0.0, 0, 0.0)
    for v, value in changes.items(): set_value(instance, v, value)
    instance.EnterInitializationMode()
    values = (ct.c_double * len(names))()
    return np.array(values) if instance.GetReal(instance.references(names), len(names), values) == OK else None


def changed(v):
    """Another legal value of a known."""
    if v.type == "Boolean": return float(v.get("start") != "true")
    start, low, high = float(v.get("start")), float(v.get("min") or "-inf"), float(v.get("max") or "inf")
    if v.type == "Integer": return start + 1 if start < high else start - 1
    moved = start * 1.01 + (0.01 if start == 0 else 0)
    return moved if low <= moved <= high else start * 0.99


@pytest.mark.parametrize("static", [False, True])
def test_the_start_depends_on_nothing_undeclared(fmu, static):
    """Every parameter and input changed in turn, for a start as given and a static one: what does not declare it as an initial
    dependency keeps its value, to rounding of an equilibrium or of closed loops."""
    d = fmu.description
    if static and "start_static" not in d.by_name: pytest.skip("no static start: a companion or a controller")
    declared = d.depends("InitialUnknowns")
    names, instance = list(declared), Instance(fmu, CO_SIMULATION)
    before = at_start(instance, names, static, {})
    assert before is not None, instance.log
    scale = np.maximum(np.abs(before), max(np.abs(before).max() * 1e-4, 1e-6))
    alive = dict.fromkeys(names, 0)
    knowns = [*d.inputs, *(v for v in d.parameters if v.name != "start_static")]
    for v in knowns[::max(1, round(len(knowns) / 100))]:  # a sample of those of large robots
        after = at_start(instance, names, static, {v: changed(v)})
        if after is None: continue
        for name, change in zip(names, np.abs(after - before) / scale):
            if v.name in declared[name]: alive[name] += change != 0
            else: assert change < 1e-9, f"{name} changes with {v.name} by {change} of it"
    instance.free()
    print(f"{sum(alive.values())} of {sum(map(len, declared.values()))} initial dependencies act here")


# ---- the crane as a system ----------------------------------------------------------------------------------------------


SSD = "{http://ssp-standard.org/SSP1/SystemStructureDescription}"


def loops(edges):
    """Strongly connected components with more than one member."""
    nodes = sorted({*edges, *(end for ends in edges.values() for end in ends)})
    graph = [[end in edges.get(node, ()) for end in nodes] for node in nodes]
    _, label = connected_components(np.array(graph), connection="strong")
    parts = [frozenset(node for node, own in zip(nodes, label) if own == part) for part in set(label)]
    return {part for part in parts if len(part) > 1}


@pytest.mark.parametrize("system, part", [("crane", "InitialUnknowns"), ("crane", "Outputs"), ("servo", "InitialUnknowns"),
                                          ("servo", "Outputs")])
def test_no_false_algebraic_loops(pack, drive, tmp_path, system, part):
    """The graph of connections and declared dependencies, as OMSimulator sorts it. In the run there is no loop. At the start the arm in
    its static equilibrium bends under the force of the sling, which depends on where the tip is: a loop of these two alone, and only
    of position and force."""
    tree = ET.parse(ROOT / f"resources/{system}.ssd").getroot()
    edges, packages = {}, {}
    for component in tree.iter(f"{SSD}Component"):
        name, source = component.get("name"), Path(component.get("source")).stem
        if source not in packages:
            file = drive(source) if source in COMPANIONS else pack(ROOT / f"resources/{source}.json")
            packages[source] = opened(file, tmp_path / source).description
        for unknown, knowns in packages[source].depends(part).items():
            for known in knowns & {v.name for v in packages[source].inputs}: edges.setdefault((name, known), set()).add((name, unknown))
    for c in tree.iter(f"{SSD}Connection"):
        edges.setdefault((c.get("startElement"), c.get("startConnector")), set()).add((c.get("endElement"), c.get("endConnector")))
    assert len(edges) > 20
    found = loops(edges)
    true = {("arm", f"tip.{kind}[{k}]") for kind in ("position", "force") for k in (1, 2, 3)} | {
        ("sling", f"{kind}[{k}]") for kind in ("hook.position", "force", "position") for k in (1, 2, 3)}
    if (system, part) == ("crane", "InitialUnknowns"): assert len(found) <= 1 and all(loop <= true for loop in found), found
    else: assert not found
