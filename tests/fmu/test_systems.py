"""The coupled systems, resources/*.ssd: as packages, and a short run of each in every way."""

import json
import subprocess
import sys
from pathlib import Path

import fmpy
import pytest
from lxml import etree

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))
from coupling import report, study, system  # noqa: E402
from coupling.master import Failed  # noqa: E402

NAMES = ["crane", "servo", "crane-drives", "servo-drives"]
UNTIL = {"crane": 1.6, "servo": 0.6}  # [s]: the crane has lifted its load; the servos are at full speed


@pytest.fixture(scope="module")
def packages(limber, tmp_path_factory):
    """{name: (folder of the package, the package)}"""
    folder = tmp_path_factory.mktemp("systems")
    pack = lambda *words: subprocess.run([limber, *words], check=True, stdout=subprocess.DEVNULL)
    return {name: (folder / name, system.pack(HERE.parents[1] / f"resources/{name}.ssd", folder / name, pack)) for name in NAMES}


@pytest.fixture(scope="module")
def cases(packages):
    """{name: (case of a short run, the run in one piece, the example)}"""
    import crane
    import servo
    made = {}
    for name, example in (("crane", crane), ("servo", servo)):
        short = system.read(HERE.parents[1] / f"resources/{name}.ssd")._replace(stop_time=UNTIL[name])
        case = study.Case(short, packages[name][0], example.RECORDED, example.COMPARED)
        made[name] = case, study.reference(case), example
    return made


@pytest.fixture(scope="module")
def inside(cases, tmp_path_factory):
    """{name: case of a short run with drives inside the arm}"""
    made = {name: report.prepare_inside(name, tmp_path_factory.mktemp("inside"), example)[0] for name, (_, _, example) in cases.items()}
    return {name: case._replace(system=case.system._replace(stop_time=UNTIL[name])) for name, case in made.items()}


@pytest.fixture(scope="module")
def forms(cases, inside):
    """{name of the structure: (case, the run in one piece, the example)} of both forms"""
    return {**cases, **{f"{name}-drives": (inside[name], *cases[name][1:]) for name in cases}}


# ---- packages --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_structure_is_valid(root, name):
    schema = etree.XMLSchema(etree.parse(Path(fmpy.__file__).parent / "ssp/schema/SystemStructureDescription.xsd"))
    schema.assertValid(etree.parse(root / f"resources/{name}.ssd"))


@pytest.mark.parametrize("name", NAMES)
def test_solver_settings_for_omsimulator(root, name):
    """It refuses packages without: an annotation at the end of the system, in the form that OMSimulator exports."""
    names = {"ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription", "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
             "oms": "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"}
    (this,) = etree.parse(root / f"resources/{name}.ssd").getroot().findall("ssd:System", names)
    assert this[-1].tag == f"{{{names['ssd']}}}Annotations"
    (master,) = this.findall("ssd:Annotations/ssc:Annotation[@type='org.openmodelica']/oms:Annotations/oms:SimulationInformation/*", names)
    assert master.tag == f"{{{names['oms']}}}FixedStepMaster" and master.get("description") == "oms-ma"
    assert 0 < float(master.get("stepSize")) <= 1e-3
    assert float(master.get("relativeTolerance")) == float(master.get("absoluteTolerance")) == 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_structure_and_fmus_agree(packages, name):
    """Connectors, connections and parameters are what the FMUs have; every input is connected once, except the wrench on the tip and
    inputs whose start value means none: feedforward 0, supply_share 1."""
    folder, _ = packages[name]
    this = system.read(HERE.parents[1] / f"resources/{name}.ssd")
    variables = {each.name: {v.name: v for v in fmpy.read_model_description(str(folder / each.source)).modelVariables}
                 for each in this.components.values()}
    for connection in this.connections:
        for (component, variable), causality in zip(connection, ("output", "input")):
            assert variables[component][variable].causality == causality, connection
    for each in this.components.values():
        for parameter in each.parameters: assert variables[each.name][parameter].causality == "parameter", (each.name, parameter)
    ends = [each.end for each in this.connections]
    assert len(ends) == len(set(ends))
    free = {f"{component}.{v.name}" for component, of in variables.items() for v in of.values() if v.causality == "input"}
    free -= {".".join(end) for end in ends}
    assert all(one.startswith("arm.tip.") or one.endswith((".feedforward", ".supply_share")) for one in free), free


# ---- runs ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, robot, what, drives, start", [
    ("crane", "crane", "actuator_force", ("cylinder_lift", "cylinder_fold"), "force_start"),
    ("servo", "cibicik-servo", "tau", ("servo_slew", "servo_boom", "servo_jib", "servo_hand"), "torque_start")])
def test_drives_start_with_what_holds_the_arm(limber, root, name, robot, what, drives, start):
    """As `limber linearize --static` finds it"""
    answer = subprocess.run([limber, "linearize", root / f"resources/{robot}.json", "--static"], check=True, capture_output=True)
    found = json.loads(answer.stdout)["operating_point"][what]
    components = system.read(root / f"resources/{name}.ssd").components
    assert [components[drive].parameters[start] for drive in drives] == pytest.approx(found, abs=0.01)


@pytest.mark.parametrize("name, way, h, tip", [
    ("crane", "at once", 1e-3, 1.0), ("crane", "at once, slopes", 1e-3, 0.2), ("crane", "in turn", 1e-3, 3.0),
    ("crane", "in turn, slopes", 2e-3, 0.3), ("crane", "iterated", 10e-3, 1.5), ("crane", "iterated, tight", 2e-3, 0.1),
    ("servo", "at once", 1e-3, 3.0), ("servo", "in turn, slopes", 2e-3, 0.03), ("crane-drives", "at once", 5e-3, 10),
    ("crane-drives", "in turn, slopes", 10e-3, 8), ("servo-drives", "at once", 20e-3, 40), ("servo-drives", "in turn, slopes", 50e-3, 3)])
def test_ways_of_coupling(forms, name, way, h, tip):
    """The tip against the system in one piece [mm]. With drives inside the steps may be so long that drives as FMUs fail or are much less
    accurate."""
    case, right, _ = forms[name]
    errors = study.errors(case, study.cosimulate(case, way, h, right), right)
    print(errors)
    assert errors["tip"] < tip


@pytest.mark.parametrize("name, effort, start", [("crane", "force", "force_start"), ("servo", "tau", "torque_start")])
def test_both_forms_are_one_system(cases, inside, name, effort, start):
    """In one piece: every variable that moves, to 1e-7 of its range, with a tolerance that makes the error of integration smaller. The drives as FMUs start with the holding forces of
    the other form: those in the .ssd are rounded."""
    run, case = study.reference(inside[name], 1e-11), cases[name][0]
    components = {component: each._replace(parameters={**each.parameters, start: run[f"{component}.{effort}"][0]} if start in each.parameters
                                           else each.parameters) for component, each in case.system.components.items()}
    right = study.reference(case._replace(system=case.system._replace(components=components)), 1e-11)
    assert set(run) == set(right)
    moving = [one for one in right if one not in ("time", "largest") and right[one].max() - right[one].min() > 1e-12]
    error = {one: abs(run[one] - right[one]).max() / (right[one].max() - right[one].min()) for one in moving}
    worst = max(error, key=error.get)
    print(worst, error[worst])
    assert len(moving) > 0.8 * len(right) and error[worst] < 1e-7, (worst, error[worst])


def test_the_error_falls_with_the_step(cases):
    """Of first order with held inputs, of second with slopes"""
    case, right, _ = cases["servo"]
    error = lambda way, h: study.errors(case, study.cosimulate(case, way, h, right), right)["torque of the slewing drive"]
    assert error("at once", 2e-3) / error("at once", 1e-3) == pytest.approx(2, rel=0.2)
    assert error("in turn, slopes", 2e-3) / error("in turn, slopes", 1e-3) == pytest.approx(4, rel=0.3)
    assert error("iterated, tight", 10e-3) / error("iterated, tight", 5e-3) == pytest.approx(4, rel=0.3)


@pytest.mark.parametrize("way, h", [("at once", 2e-3), ("in turn, slopes", 5e-3)])
def test_too_long_a_step_fails(cases, way, h):
    """As docs/coupling.md says: and it is noticed"""
    case, right, _ = cases["crane"]
    with pytest.raises(Failed): study.cosimulate(case, way, h, right)


@pytest.mark.parametrize("form", NAMES)
def test_work_is_energy_and_losses(forms, form):
    case, right, example = forms[form]
    run = study.cosimulate(case, study.BEST, 1e-3, right, every=1e-3)
    work, stored, lost = example.balance(run)
    gave, took = example.coupling_work(run)
    assert work > 10 and lost > 0.1 * work and abs(gave) > 1  # [J]
    assert abs(work - stored - lost) < 1e-3 * work and abs(gave - took) < 1e-3 * abs(gave)


@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("tool", study.TOOLS)
def test_packages_in_other_masters(forms, packages, root, form, tool):
    """The package as it is, against our master that couples at once as well"""
    subprocess.run([root / "build/setup.sh", "masters"], check=True, stdout=subprocess.DEVNULL)
    if why := study.missing_tools(): pytest.skip(f"could not be installed: {why}")
    case, right, _ = forms[form]
    ours, theirs = study.cosimulate(case, "at once", 1e-3, right), study.run_tool(case, packages[form][1], tool)
    print(report.disagreement(case, theirs, ours))
    assert report.disagreement(case, theirs, ours) < report.AGREES[tool]
