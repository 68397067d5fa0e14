"""Rules of FMI 2.0, most of which FMPy's validation does not check, for every FMU of the list in fmus.py. Each test names the rule;
tests/c/fmi_calls_test.c has the call sequence."""

import ctypes as ct
import math
import re
import subprocess
import zipfile
from pathlib import Path

import fmpy
import fmpy.validation
import pytest
from description import BASE, Description, dimensions
from fmus import COMPANIONS, CONTROLLER, GENERATED
from importer import CO_SIMULATION, DISCARD, ERROR, MODEL_EXCHANGE, OK, EventInfo, Instance, Package
from lxml import etree

ROOT = Path(__file__).resolve().parents[2]
CO_SIMULATION_ONLY = "for co-simulation alone: a controller works in samples"


@pytest.fixture
def fmu(every_fmu):
    return every_fmu


@pytest.fixture
def instance(fmu):
    """instance(kind) is a new instance, freed at the end."""
    made = []

    def of(kind=CO_SIMULATION, **options):
        if kind == MODEL_EXCHANGE and not fmu.exchanged: pytest.skip(CO_SIMULATION_ONLY)
        made.append(Instance(fmu, kind, **options))
        return made[-1]

    yield of
    for one in made:
        if one.c is not None: one.free()


def test_fmpy_finds_no_problem(fmu):
    assert fmpy.validation.validate_fmu(str(fmu.archive)) == []


# ---- the archive ----------------------------------------------------------------------------------------------------


def test_files_of_the_archive(fmu, platforms):
    """2.3: the top-level entries of the standard and no other, documentation/index.html, an icon, libraries named as the model
    identifier, for all platforms; generated code is for this system alone."""
    with zipfile.ZipFile(fmu.archive) as archive: names = archive.namelist()
    assert {name.split("/")[0] for name in names} <= {"modelDescription.xml", "model.png", "documentation", "sources", "binaries",
                                                      "resources", "terminalsAndIcons", "extra"}
    assert {"modelDescription.xml", "model.png", "documentation/index.html"} <= set(names)
    assert all(not name.startswith("/") and ".." not in name.split("/") and "\\" not in name for name in names)
    assert len(names) == len(set(names))
    assert (fmu.folder / "model.png").read_bytes().startswith(b"\x89PNG\r\n")
    identifier = fmu.description.root.find("CoSimulation").get("modelIdentifier")
    ending = {"linux64": "so", "win64": "dll"}
    libraries = [f"binaries/{each}/{identifier}.{ending[each]}" for each in platforms if each == "linux64" or fmu.name != GENERATED]
    assert [name for name in names if name.startswith("binaries/")] == libraries
    assert fmpy.supported_platforms(str(fmu.archive)) == [name.split("/")[1] for name in libraries]


def test_head_and_capabilities(fmu):
    """2.2.1, 3.3.1, 4.3.1: version and tool named, a C identifier, no tool needed, the same identifier for both interfaces; a controller
    is for co-simulation alone, and refuses the other."""
    root = fmu.description.root
    assert root.get("fmiVersion") == "2.0" and root.get("variableNamingConvention") == "structured"
    assert root.get("version") and root.get("generationTool") and root.get("modelName")
    interfaces = [root.find(name) for name in ("ModelExchange", "CoSimulation") if name != "ModelExchange" or fmu.name != CONTROLLER]
    assert fmu.exchanged == (fmu.name != CONTROLLER)
    if not fmu.exchanged: assert Instance(fmu, MODEL_EXCHANGE).c is None
    for interface in interfaces:
        assert re.fullmatch(r"[A-Za-z_]\w*", interface.get("modelIdentifier"))
        assert interface.get("needsExecutionTool", "false") == "false"
    assert len({interface.get("modelIdentifier") for interface in interfaces}) == 1
    experiment = root.find("DefaultExperiment")
    start, stop, step, tolerance = (float(experiment.get(key)) for key in ("startTime", "stopTime", "stepSize", "tolerance"))
    assert start < stop and 0 < step <= stop - start and 0 < tolerance < 1


def test_exports(fmu):
    """2.1.2: every function of the standard is exported, and no other symbol."""
    lines = subprocess.run(["nm", "-D", "--defined-only", fmu.file], capture_output=True, text=True, check=True).stdout.splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines if line.split()[1] == "T"}
    header = (Path(fmpy.__file__).parent / "c-code/fmi2Functions.h").read_text()
    assert exported == {name for name in re.findall(r"^#define (fmi2\w+)\s+fmi2FullName", header, re.M)}
    assert len(exported) == 44


MEMBERS = {"_limber.joint": ["tau", "q", "qd"], "_limber.slide": ["tau", "q", "qd"], "_limber.line": ["force", "length", "rate"],
           "_limber.point": [f"{vector}[{k}]" for vector in ("force", "position", "velocity") for k in (1, 2, 3)]}


def test_terminals_file(fmu):
    """FMI 3.0, 2.4.9, to which FMI 2.0.4, 2.3 refers: the schema; no namespace; the version is that of the standard that defines the
    file, not that of the FMU; no empty attributes; lower left and upper right corner; the icon beside it."""
    tree = etree.parse(str(fmu.folder / "terminalsAndIcons/terminalsAndIcons.xml"))
    etree.XMLSchema(file=str(Path(fmpy.__file__).parent / "schema/fmi3/fmi3TerminalsAndIcons.xsd")).assertValid(tree)
    root = tree.getroot()
    assert root.tag == "fmiTerminalsAndIcons" and root.nsmap == {} and root.get("fmiVersion") == "3.0"
    assert all(text.strip() == text and text for element in root.iter() for text in element.attrib.values())
    corners = [[float(element.get(key)) for key in ("x1", "x2", "y1", "y2")] for element in root.iter("CoordinateSystem", "Icon")]
    assert len(corners) == 2 and all(x1 < x2 and y1 < y2 for x1, x2, y1, y2 in corners)
    assert all(terminal.get("description") for terminal in root.iter("Terminal"))
    assert (fmu.folder / "terminalsAndIcons/icon.png").read_bytes() == (fmu.folder / "model.png").read_bytes()


def test_terminals(fmu):
    """FMI 3.0, 2.4.9.2: names are unique; members of a plug have names, unique in it; a kind of this tool begins with _limber and has its
    members in order; variables exist, are inputs or outputs, both in each terminal, and of an arm have the name TERMINAL.MEMBER; every
    joint, line and point of an arm that takes a force and has a motion is there."""
    tree, by_name = etree.parse(str(fmu.folder / "terminalsAndIcons/terminalsAndIcons.xml")), fmu.description.by_name
    found = [terminal.get("name") for terminal in tree.iter("Terminal")]
    assert len(found) == len(set(found))
    for terminal in tree.iter("Terminal"):
        assert terminal.get("matchingRule") == "plug"
        assert [m.get("memberName") for m in terminal] == MEMBERS[terminal.get("terminalKind")]
        assert {m.get("variableKind") for m in terminal} == {"signal"}
        assert {by_name[m.get("variableName")].causality for m in terminal} == {"input", "output"}
        if fmu.name not in COMPANIONS: assert all(m.get("variableName") == f"{terminal.get('name')}.{m.get('memberName')}" for m in terminal)
    if fmu.name in COMPANIONS: assert len(found) == (fmu.name != "axis")  # which has no flange: it commands a drive
    else:
        flanges = {name.removesuffix(f".{members[0]}") for members in MEMBERS.values() for name in by_name if name.endswith(f".{members[0]}")}
        sides = {"input", "output"}
        assert set(found) == {flange for flange in flanges for members in MEMBERS.values() if all(f"{flange}.{m}" in by_name for m in members)
                              and {by_name[f"{flange}.{m}"].causality for m in members} == sides}


def terminals(folder):
    """{name: (kind, {member: variable name})}"""
    tree = etree.parse(str(folder / "terminalsAndIcons/terminalsAndIcons.xml"))
    return {t.get("name"): (t.get("terminalKind"), {m.get("memberName"): m.get("variableName") for m in t}) for t in tree.iter("Terminal")}


@pytest.mark.parametrize("robot, flange, companion", [("cibicik-servo", "slew", "servo"), ("canadarm", "upper_joint", "gear"),
                                                      ("crane", "lift", "cylinder"), ("crane", "fold", "spring"), ("crane", "tip", "sling")])
def test_a_drive_plugs_into_the_arm(pack, drive, tmp_path, robot, flange, companion):
    """A terminal of the companion and one of the arm have the same kind and members, inputs on one side and outputs on the other."""
    files = {"arm": pack(ROOT / f"resources/{robot}.json"), "drive": drive(companion)}
    for side, file in files.items():
        with zipfile.ZipFile(file) as archive: archive.extractall(tmp_path / side)
    kind, arm = terminals(tmp_path / "arm")[flange]
    ((other_kind, other),) = terminals(tmp_path / "drive").values()
    assert kind == other_kind and set(arm) == set(other)
    causality = {side: Description(tmp_path / side / "modelDescription.xml").by_name for side in files}
    for member in arm:
        sides = [causality["arm"][arm[member]], causality["drive"][other[member]]]
        assert {v.causality for v in sides} == {"input", "output"} and len({v.get("unit") for v in sides}) == 1, member


# ---- variables --------------------------------------------------------------------------------------------------------


def test_names(fmu):
    """2.2.9: unique, structured (identifiers with dots and indices, der() of a state), array elements complete from 1; a description."""
    identifier = r"[A-Za-z_]\w*(?:\[\d+(?:,\d+)*\])?"
    structured = re.compile(rf"{identifier}(?:\.{identifier})*")
    d = fmu.description
    assert len(d.by_name) == len(d.list)
    arrays = {}
    for v in d.list:
        inner = re.fullmatch(r"der\((.*)\)", v.name)
        assert structured.fullmatch(inner[1] if inner else v.name), v.name
        if inner: assert v.get("derivative") and d.list[int(v.get("derivative")) - 1].name == inner[1]
        assert v.description and "\n" not in v.description, v.name
        index = re.fullmatch(r"(.*)\[(\d+)\]", v.name)
        if index: arrays.setdefault(index[1], []).append(int(index[2]))
    for name, indices in arrays.items(): assert sorted(indices) == list(range(1, len(indices) + 1)), name


# (causality, variability) -> initial allowed, the first is the default
ALLOWED = {("parameter", "fixed"): ["exact"], ("parameter", "tunable"): ["exact"], ("input", "continuous"): [None],
           ("output", "continuous"): ["calculated", "exact", "approx"], ("output", "discrete"): ["calculated", "exact", "approx"],
           ("local", "continuous"): ["calculated", "exact", "approx"]}


def test_causality_variability_initial_start(fmu):
    """2.2.7: the table of combinations; a start value exactly where it is exact, approx or an input; within min and max; Real alone is
    continuous; no enumerations."""
    for v in fmu.description.list:
        assert v.type in ("Real", "Integer", "Boolean"), v.name
        allowed = ALLOWED[v.causality, v.variability]
        assert v.initial in allowed, v.name
        assert (v.get("start") is not None) == (v.causality == "input" or v.initial in ("exact", "approx")), v.name
        assert v.variability != "continuous" or v.type == "Real", v.name
        low, high = float(v.get("min") or "-inf"), float(v.get("max") or "inf")
        assert low <= high
        if v.get("start") is not None and v.type != "Boolean": assert low <= float(v.get("start")) <= high, v.name
        if v.get("nominal") is not None: assert float(v.get("nominal")) > 0 and math.isfinite(float(v.get("nominal")))


def test_alias_sets(fmu):
    """2.2.7: variables with one value reference have one type, unit and variability, and at most one of them can be set or has a start."""
    sets = {}
    for v in fmu.description.list: sets.setdefault((v.type, v.reference), []).append(v)
    for alias in sets.values():
        assert len({(v.get("unit"), v.variability) for v in alias}) == 1
        assert sum(v.get("start") is not None for v in alias) <= 1
        assert sum(v.causality in ("input", "parameter") for v in alias) == 0 or len(alias) == 1
    assert sorted(reference for _, reference in sets) == list(range(len(sets)))


def test_units(fmu):
    """2.2.2: every unit is defined once and used, its exponents are those of its name, which has at most one division; display units
    belong to it; rates have the dimension of the state per second."""
    d = fmu.description
    defined = {node.get("name"): node for node in d.root.iterfind("UnitDefinitions/Unit")}
    assert len(defined) == len(d.root.findall("UnitDefinitions/Unit"))
    assert set(defined) == {v.get("unit") for v in d.list if v.get("unit")}
    for name, node in defined.items():
        base = node.find("BaseUnit")
        assert {key: int(base.get(key, 0)) for key in BASE} == dimensions(name), name
        for shown in node.iterfind("DisplayUnit"): assert float(shown.get("factor")) > 0
    for v in d.list:
        if v.get("displayUnit"): assert v.get("displayUnit") in {u.get("name") for u in defined[v.get("unit")].iterfind("DisplayUnit")}
    for rate, state in zip(d.derivatives, d.states):
        if state.get("unit"):
            wanted = dimensions(state.get("unit"))
            wanted["s"] -= 1
            assert dimensions(rate.get("unit")) == wanted, rate.name


# ---- structure --------------------------------------------------------------------------------------------------------


def test_states_and_derivatives(fmu):
    """2.2.7: `derivative` stands on Real continuous variables alone and names a state, once each; the list of derivatives is complete;
    `reinit` stands on states alone; states have a nominal value."""
    d = fmu.description
    assert [v.name for v in d.list if v.get("derivative")] == sorted((v.name for v in d.derivatives), key=[v.name for v in d.list].index)
    assert len({v.name for v in d.states}) == len(d.states)
    for v in [*d.states, *d.derivatives]: assert v.type == "Real" and v.variability == "continuous"
    for v in d.states: assert v.causality in ("local", "output") and v.initial == "calculated" and v.get("nominal")
    for v in d.list:
        if v.get("reinit"): assert v in d.states


def test_structure_is_complete(fmu):
    """2.2.8: all outputs in ascending order; initial unknowns are exactly the outputs, states and derivatives that are calculated;
    dependencies ascend and are knowns: inputs and states, in the initialization inputs and what is exact."""
    d = fmu.description
    assert d.indices("Outputs") == [i for i, v in enumerate(d.list) if v.causality == "output"]
    of = {v.name for v in [*d.states, *d.derivatives]}
    assert d.indices("InitialUnknowns") == [i for i, v in enumerate(d.list)
                                            if v.initial == "calculated" and (v.causality == "output" or v.name in of)]
    knowns = {v.name for v in [*d.inputs, *d.states]}
    exact = {v.name for v in d.list if v.causality == "input" or v.initial == "exact"}
    for part, allowed in ("Outputs", knowns), ("Derivatives", knowns), ("InitialUnknowns", exact):
        for u in d.unknowns(part):
            indices = [int(k) for k in u.get("dependencies").split()]
            assert indices == sorted(set(indices)) and {d.list[k - 1].name for k in indices} <= allowed


# ---- the library does what the description says -------------------------------------------------------------------------


def test_guid(instance):
    """2.1.5: the library refuses another guid."""
    assert instance().c is not None
    other = instance(guid="{00000000-0000-0000-0000-000000000000}")
    assert other.c is None and any("guid" in text for _, _, text in other.log)


def set_value(one, v, value):
    many, convert = {"Real": (one.SetReal, ct.c_double), "Integer": (one.SetInteger, ct.c_int), "Boolean": (one.SetBoolean, ct.c_int)}[v.type]
    return many(one.references([v.name]), 1, (convert * 1)(value if v.type == "Real" else int(value)))


def start_of(v):
    text = v.get("start")
    return None if text is None else text == "true" if v.type == "Boolean" else float(text) if v.type == "Real" else int(text)


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE])
def test_what_can_be_set_when(fmu, instance, kind):
    """2.2.7: parameters and inputs before the start; then inputs and tunable parameters (model exchange: these in event mode); what is
    calculated never, but states of model exchange, which importers set by name (CasADi does)."""
    one, d = instance(kind), fmu.description
    states = {v.name for v in d.states}
    refusals = lambda stage: {v.name for v in d.list if not v.name.startswith("der(") and
                              set_value(one, v, start_of(v) if start_of(v) is not None else 0) != OK} ^ computed - (states & stage)
    computed = {v.name for v in d.list if v.causality in ("output", "local") and not v.name.startswith("der(")}
    fixed = {v.name for v in d.list if v.variability == "fixed"}
    tunable = {v.name for v in d.list if v.variability == "tunable"}
    assert refusals(set()) == set()
    assert one.SetupExperiment(0, 0.0, 0.0, 0, 0.0) == OK and one.EnterInitializationMode() == OK
    assert refusals(states if kind == MODEL_EXCHANGE else set()) == set()
    if kind == MODEL_EXCHANGE: set_value(one, d.parameters[0], start_of(d.parameters[0]))  # the states start anew
    one.set({v.name: start_of(v) for v in d.inputs})
    assert one.ExitInitializationMode() == OK, one.log
    if kind == CO_SIMULATION: assert refusals(set()) == fixed
    else:
        one.NewDiscreteStates(ct.byref(EventInfo()))
        assert one.EnterContinuousTimeMode() == OK
        assert refusals(states) == fixed | tunable
    assert one.Terminate() == OK
    assert refusals(set()) - computed == {v.name for v in d.list if v.causality in ("input", "parameter")}


def test_values_at_the_start(fmu, instance):
    """2.2.7: inputs and parameters have their start values, and the same ones after fmi2Reset."""
    one, d = instance(), fmu.description
    reals = [v for v in [*d.inputs, *d.parameters] if v.type == "Real"]
    for _ in range(2):
        one.initialise()
        assert one.get(*(v.name for v in reals)) == [start_of(v) for v in reals]
        one.set({v.name: start_of(v) + 1e-3 for v in d.inputs})
        assert one.Reset() == OK


def test_range(fmu, instance):
    """2.2.7: what is outside min and max is refused, by name."""
    numbers = [v for v in fmu.description.parameters if v.type != "Boolean"]
    for bound, away in ("min", -1), ("max", 1):
        one, outside = instance(), [v for v in numbers if v.get(bound) is not None]
        for v in outside: set_value(one, v, math.nextafter(float(v.get(bound)), away * math.inf) if v.type == "Real" else int(v.get(bound)) + away)
        one.SetupExperiment(0, 0.0, 0.0, 0, 0.0)
        one.EnterInitializationMode()
        assert one.ExitInitializationMode() == ERROR
        said = {text.split(" = ")[0].split(": ")[-1] for status, _, text in one.log if status == ERROR}
        assert {v.name for v in outside} <= said


# Parameters whose range depends on others: min and max cannot say it
TOGETHER = {"wall": "less than half of the outer dimension", "delay": "at most 16 sample times"}


def test_no_range_is_missing(fmu, instance):
    """2.2.7: what is within min and max, or anywhere where there are none, is not refused for its own value: messages on that begin with
    NAME = VALUE. One parameter of each sort is tried, at its bounds and far away."""
    sorts = {re.sub(r".*\.", "", v.name): v for v in fmu.description.parameters if v.type != "Boolean"}
    one = instance()
    for sort, v in sorts.items():
        for bound, away in ("min", -1), ("max", 1):
            value = float(v.get(bound) or start_of(v) + away * 10 * (1 + abs(start_of(v))))
            one.log.clear()
            assert one.Reset() == OK
            set_value(one, v, value)
            one.SetupExperiment(0, 0.0, 0.0, 0, 0.0)
            one.EnterInitializationMode()
            one.ExitInitializationMode()
            said = [text for _, _, text in one.log if f"{v.name} = " in text]
            assert not said or (sort in TOGETHER and TOGETHER[sort] in said[0]), said


def test_integers(fmu):
    """2.2.7: a parameter that chooses among few things is an Integer with min and max, and its description has all of them; elastic_terms
    of everything that has an arm inside."""
    integers = {v.name: v for v in fmu.description.list if v.type == "Integer"}
    assert ("elastic_terms" in integers) == (fmu.name not in COMPANIONS)
    for v in integers.values():
        low, high = v.get("min"), v.get("max")
        assert low is not None and v.causality == "parameter"
        if high is None: assert v.name == "solver.max_steps"  # it counts
        elif v.name != "solver.max_order":  # an order
            assert all(re.search(rf"\b{k} [a-zA-Z]", v.description) for k in range(int(low), int(high) + 1)), v.description


def test_states_in_order(fmu, instance):
    """3.2: states, nominal values and derivatives have the order and the number of the description."""
    d, one = fmu.description, instance(MODEL_EXCHANGE).initialise()
    n = len(d.states)
    x, other = (ct.c_double * n)(), (ct.c_double * (n + 1))()
    assert one.GetContinuousStates(other, n + 1) == ERROR and one.GetContinuousStates(x, n) == OK
    names = [v.name for v in d.states]
    if n: assert [one.get(name) for name in names] == list(x)
    assert one.GetNominalsOfContinuousStates(x, n) == OK and list(x) == pytest.approx([float(v.get("nominal")) for v in d.states], rel=1e-12)
    assert one.GetDerivatives(x, n) == OK and [one.get(v.name) for v in d.derivatives] == list(x)
    assert one.GetEventIndicators(None, int(d.root.get("numberOfEventIndicators", 0))) == OK


def test_capabilities_are_real(fmu, instance):
    """4.3.1, 2.1.8: derivatives of outputs and inputs up to the declared order, saved states, no pending steps."""
    d, one = fmu.description, instance().initialise()
    order = int(d.root.find("CoSimulation").get("maxOutputDerivativeOrder"))
    outputs = [v.name for v in d.list if v.causality == "output"][:1]
    value = (ct.c_double * 1)()
    assert one.step(0, 1e-4) == OK, one.log
    for k, wanted in (order, OK), (order + 1, ERROR):
        assert one.GetRealOutputDerivatives(one.references(outputs), 1, (ct.c_int * 1)(k), value) == wanted
    if d.inputs: assert one.SetRealInputDerivatives(one.references([d.inputs[0].name]), 1, (ct.c_int * 1)(1), value) == OK
    content = one.serialise()
    state, status = one.deserialise(content)
    assert status == OK and one.SetFMUstate(state) == OK and one.serialise() == content
    assert one.FreeFMUstate(ct.byref(state)) == OK and one.CancelStep() == ERROR


def test_log_categories(fmu, instance):
    """2.1.5, 2.2.4: messages have categories of the list; an unknown one is a warning, and the others of the call still count."""
    one = instance(logging=True)
    categories = (ct.c_char_p * 2)(b"gossip", fmu.categories[0].encode())
    assert one.SetDebugLogging(1, 2, categories) == 1
    one.initialise()
    one.step(0, 1e-4)
    one.step(5, 1)
    assert one.log and {category for _, category, _ in one.log} <= set(fmu.categories)


# ---- events -----------------------------------------------------------------------------------------------------------


def test_new_discrete_states(fmu, instance):
    """3.2.2: values of states that an event changes are declared with reinit="true" and reported; with a status that is not OK nothing
    is reported and nothing has changed."""
    d, one = fmu.description, instance(MODEL_EXCHANGE).initialise()
    n, info = len(d.states), EventInfo()
    before, after = (ct.c_double * n)(), (ct.c_double * n)()
    assert one.NewDiscreteStates(ct.byref(info)) == OK
    assert (info.new_states, info.terminate, info.nominals, info.next_defined) == (0, 0, 0, 0)
    one.GetContinuousStates(before, n)
    reinit = [v.get("reinit") == "true" for v in d.states]
    changed = [False] * n
    for size in (1e-3, 1e-2, 0.3, 3.0, 30.0):
        shifted = (ct.c_double * n)(*[before[i] + size * (-1) ** i * float(v.get("nominal")) for i, v in enumerate(d.states)])
        one.EnterContinuousTimeMode()
        assert one.SetContinuousStates(shifted, n) == OK and one.EnterEventMode() == OK
        status = one.NewDiscreteStates(ct.byref(info))
        one.GetContinuousStates(after, n)
        moved = [a != b for a, b in zip(shifted, after)]
        assert status != DISCARD and bool(info.values) == any(moved)
        assert status == OK or not info.values
        changed = [a or b for a, b in zip(changed, moved)]
    assert all(r or not c for r, c in zip(reinit, changed)), "a state changed that is not declared"
    assert any(changed) == any(reinit)
