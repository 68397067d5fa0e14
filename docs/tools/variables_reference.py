"""docs/variables.md: the variables of an FMU, from the model description of a robot that has all of them. Those of drives inside the arm
are in docs/drives.md."""

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile

from markdown_page import table

NUMBERS = {"motor_inertia": 1, "viscous": 1, "coulomb": 1, "stiffness": 1, "rest": 0.5}
BODY = {"mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}
BEAM = {"length": 1, "mass_per_length": 1, "EIy": 1, "EIz": 1, "GJ": 1, "EA": 1, "inertia_per_length": [1, 0, 0],
        "damping_ratio": 0.01, "stiffening": "none", "added_mass_per_length": 1, "modes": {"y": {"shape": "craig-bampton", "count": 2}}}

TABLE = {"x": [0, 1], "value": [1, 1]}
MATERIAL = {"material": {"E": 1, "G": 1, "density": 1}, "length": 1, "modes": {}}
SECTIONS = [{"shape": "tube", "outer_diameter": 1, "wall": 0.1}, {"shape": "round", "diameter": 1}, {"shape": "box", "width": 1, "height": 1, "wall": 0.1}]
# (heading, names in the specimen that stand for one letter)
GROUPS = [("Joints with one position", {"Jr": "J", "Jp": "J", "Jd": "J"}), ("Prescribed joints with one position", {"Pr": "J", "Pp": "J"}),
          ("Universal and cylindrical joints", {"Ju": "J", "Jc": "J"}), ("Spherical joints", {"Js": "J"}), ("Free joints", {"Jf": "J"}),
          ("Links", {"L": "L", "tables": "L", "sections": "L", "section_0": "L", "section_1": "L", "section_2": "L"}), ("Frames", {"F": "F"}), ("Loops", {"C": "C"}), ("Couplings", {"Kr": "K", "Kp": "K"}),
          ("Line actuators", {"A": "A", "D": "A"}), ("Supplies", {"S": "S"}), ("Robot", None)]


def joint_link(name, kind, **more): return {"name": f"link_{name}", "joint": {"name": name, "type": kind, **more}, "rigid": BODY}


def specimen():
    """A robot with every kind of variable."""
    links = [{"name": "L", "parent": "world", "joint": {"name": "of_L", "type": "revolute", "passive": True}, "beam": BEAM,
              "payload": {"mass": 1}},
             {"name": "side", "parent": "world", "joint": {"type": "fixed"}, "rigid": {"mass": 1, "tip": {"xyz": [1, 0, 0]}}},
             joint_link("Jr", "revolute", **NUMBERS) | {"parent": "world"}, joint_link("Jp", "prismatic", **NUMBERS),
             joint_link("Pr", "revolute", motion="prescribed"), joint_link("Pp", "prismatic", motion="prescribed")]
    links += [{"name": f"section_{k}", "parent": "world", "joint": {"type": "fixed"}, "beam": {**MATERIAL, "section": section}}
              for k, section in enumerate(SECTIONS)]
    varying = {key: TABLE for key in ("mass_per_length", "EIy", "EIz", "GJ", "EA", "added_mass_per_length")}
    varying["inertia_per_length"] = {"x": [0, 1], "value": [[1, 1, 1]] * 2}
    table_of_sections = {"x": [0, 1], "section": SECTIONS[:1] * 2}
    links += [{"name": "tables", "parent": "world", "joint": {"type": "fixed"}, "beam": {"length": 1, "modes": {}, **varying}},
              {"name": "sections", "parent": "world", "joint": {"type": "fixed"}, "beam": {**MATERIAL, "section": table_of_sections}}]
    links += [joint_link("Jd", "revolute", drive={"type": "gear"}) | {"parent": "world"},
              joint_link("Ju", "universal", axis=[1, 0, 0], axis2=[0, 1, 0], **NUMBERS),
              joint_link("Jc", "cylindrical", **NUMBERS), joint_link("Js", "spherical", viscous=1, stiffness=1),
              joint_link("Jf", "free") | {"parent": "world"}]
    couplings = [{"name": f"K{k}", "terms": {f"J{k}.q": 1}, "stiffness": 1, "damping": 1, "backlash": 1} for k in "rp"]
    line = {"type": "line", "from": {"link": "world", "xyz": [0, -1, 0]}, "to": {"link": "L", "frame": "tip", "xyz": [0, 0, 0]}}
    lines = [{"name": "A", **line}, {"name": "D", **line, "drive": {"type": "cylinder", "supply": "S"}}]
    return {"format": "limber-robot/3", "name": "specimen", "links": links, "couplings": couplings,
            "supplies": [{"name": "S", "pressure": 2e7, "flow_limit": 1e-3}],
            "frames": [{"name": "F", "link": "L", "at": 0.5, "sensor": True, "load": True}],
            "loops": [{"name": "C", "type": "weld", "between": ["L", "side"]}],
            "actuators": lines}


def variables(limber, folder):
    """(name, causality and variability, unit, description) of all variables but the derivatives of states."""
    robot, fmu = folder / "specimen.json", folder / "specimen.fmu"
    robot.write_text(json.dumps(specimen()))
    done = subprocess.run([str(limber), "fmu", str(robot), "-o", str(fmu)], capture_output=True, text=True)
    if done.returncode != 0: raise RuntimeError(f"limber fmu: {done.stderr}")
    with zipfile.ZipFile(fmu) as archive: root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    for node in root.iter("ScalarVariable"):
        kind = node[0]
        unit = kind.get("unit") or {"Integer": "Integer", "Boolean": "Boolean"}.get(kind.tag, "")
        causality = node.get("causality") + (", tunable" if node.get("variability") == "tunable" else "")
        if not node.get("name").startswith("der("): yield node.get("name"), causality, unit, node.get("description")


def group_of(name):
    head = name.split(".")[0]
    if ".drive." in name: return None, name
    for heading, letters in GROUPS[:-1]:
        if head in letters: return heading, letters[head] + name[len(head):]
    fixed = re.sub(r"\[.*", "", head) in ("tip", "energy", "power", "solver", "gravity", "elastic_terms", "start_static")
    return (GROUPS[-1][0], name) if fixed else (None, name)


def collect(listed):
    """{heading: {(name without index, causality, description): (indices, units)}}"""
    groups = {heading: {} for heading, _ in GROUPS}
    for name, causality, unit, description in listed:
        heading, name = group_of(name)
        if heading is None: continue
        stem, index = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", name).groups()
        indices, units = groups[heading].setdefault((stem, causality, description), (set(), []))
        if index: indices.add(int(index))
        if unit not in units: units.append(unit)
    return groups


def shown(stem, indices):
    if not indices: return f"`{stem}`"
    return f"`{stem}[k]`" if re.search(r"\.eta|^C\.", stem) else f"`{stem}[1..{max(indices)}]`"


def reference(limber, folder):
    sections = []
    for heading, rows in collect(variables(limber, folder)).items():
        if not rows: continue
        lines = [[shown(stem, indices), causality, " or ".join(units), description]
                 for (stem, causality, description), (indices, units) in rows.items()]
        sections.append(f"### {heading}\n\n" + table(["variable", "causality", "unit", "meaning"], lines))
    return "\n\n".join(sections)
