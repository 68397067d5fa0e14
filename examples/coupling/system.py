"""A system of FMUs as an SSP package (System Structure and Parameterization 1.0), created from NAME.ssd and read back.

The structure, resources/NAME.ssd, is the only place that states which FMUs there are, their connections and their parameters.
Its sources name the FMUs: resources/cylinder.fmu is created by `limber drive cylinder` if there is such a drive, others, such as
resources/crane.fmu, by `limber fmu resources/crane.json`. Parameters are inside the structure, in sets that are all named
"parameters", because ecos requires the same name; libcosim accepts any."""

import zipfile
from pathlib import Path
from typing import NamedTuple

from lxml import etree

ROOT = Path(__file__).resolve().parents[2]
DRIVES = {file.stem for file in (ROOT / "fmu_src/drive").glob("*.c")} - {"drive"}
NAMES = {each: f"http://ssp-standard.org/SSP1/SystemStructure{what}"
         for each, what in dict(ssd="Description", ssv="ParameterValues", ssc="Common").items()}
CONVERT = {"Real": float, "Integer": int, "Boolean": lambda text: text == "true"}
STRUCTURE = "SystemStructure.ssd"


class Component(NamedTuple):
    name: str
    source: str
    parameters: dict


class Connection(NamedTuple):
    """From an output to an input, each (component, variable)"""
    start: tuple
    end: tuple


class System(NamedTuple):
    name: str
    components: dict
    connections: list
    stop_time: float


def read(file):
    """The system of an .ssd file."""
    root = etree.parse(file).getroot()
    find = lambda element, path: element.iterfind(path, NAMES)
    components = {}
    for each in find(root, "ssd:System/ssd:Elements/ssd:Component"):
        parameters = {one.get("name"): CONVERT[etree.QName(one[0]).localname](one[0].get("value"))
                      for one in find(each, ".//ssv:Parameter")}
        components[each.get("name")] = Component(each.get("name"), each.get("source"), parameters)
    connections = [Connection(*((each.get(f"{side}Element"), each.get(f"{side}Connector")) for side in ("start", "end")))
                   for each in find(root, "ssd:System/ssd:Connections/ssd:Connection")]
    stop = root.find("ssd:DefaultExperiment", NAMES).get("stopTime")
    return System(root.get("name"), components, connections, float(stop))


def pack(ssd, folder, limber):
    """Makes the package FOLDER.ssp, and the same unpacked in FOLDER. FMUs are made with limber("fmu" or "drive", ...)."""
    files = {STRUCTURE: ssd}
    for source in dict.fromkeys(each.source for each in read(ssd).components.values()):
        name, files[source] = Path(source).stem, folder / source
        files[source].parent.mkdir(parents=True, exist_ok=True)
        limber(*(["drive", name] if name in DRIVES else ["fmu", ROOT / f"resources/{name}.json"]), "-o", files[source])
    package = folder.with_suffix(".ssp")
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items(): archive.write(file, name)
    return package
