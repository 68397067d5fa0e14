"""The licenses that FMUs, pages and installations contain are those of all that the linkers took, and the bill of materials says the same."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
ROOT = Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "build"))
from components import COMPONENTS, contained  # noqa: E402

OWN = re.compile(r"(fmu_\w+|lib(limber\w*|fmu_\w+))\.a")
SYSTEM = re.compile(r"lib(c|m|pthread|dl)(_nonshared)?\.(a|so[.\d]*)|ld-linux.*|crt[1in]\.o|Scrt1\.o")  # of the C library, which is not part of it
MAPS = {"linux": "*.map", "windows": "windows/build/*.map", "program": "limber.map", "page": "viewer/build/kernel.map"}


def linked(text):
    """Archives of which a linker took a member, and startup objects: from its map."""
    if text.startswith("Archive member"):
        taken = re.split(r"^(?:Discarded input sections|Allocating common symbols|There are no discarded|Memory Configuration)", text, flags=re.MULTILINE)[0]
        found = re.findall(r"^(\S+\.a)\(", taken, re.MULTILINE) + re.findall(r"^LOAD (\S+\.o)$", text, re.MULTILINE)
    else: found = re.findall(r"(\S+\.a)\(|(?<=\s)(\S+crt1\S*\.o):", text)
    names = {re.sub(r".*/", "", "".join(one)) for one in found}
    return {name for name in names if not OWN.fullmatch(name) and not name.endswith(".c.o") and not re.fullmatch(r"\w+_(base|avx2)\.o", name)}


@pytest.mark.parametrize("place", MAPS)
def test_what_is_linked_in_has_its_license(limber, place):
    maps = [file for file in sorted(limber.parent.glob(MAPS[place])) if place != "linux" or file.name != "limber.map"]
    if not maps and place in ("windows", "page"): pytest.skip(f"nothing was built for {place}")
    assert maps, f"no map of a linker beside {limber}"
    known = [component for component in contained([place]) if component.archives]
    used = set()
    for file in maps:
        for name in linked(file.read_text(errors="replace")):
            if place != "page" and SYSTEM.fullmatch(name): continue
            owners = [component for component in known if re.fullmatch(component.archives, name)]
            assert owners, f"{file.name}: {name} belongs to no component of build/components.py in {place}"
            used |= {component.name for component in owners}
    assert used == {component.name for component in known}, "components that nothing contains"


def test_texts_are_complete(limber):
    words = {"limber": "Limber authors", "sundials": "Lawrence Livermore National Security", "json-c": "Permission is hereby granted",
             "mingw-w64": "mingw-w64 project", "libgcc": "GCC RUNTIME LIBRARY EXCEPTION", "three": "three.js authors", "wasi-libc": "Rich Felker",
             "compiler-rt": "LLVM Exceptions"}
    texts = {file.stem: file.read_text(encoding="utf-8") for file in (limber.parent / "licenses").glob("*.txt")}
    assert {component.file for component in contained(["linux", "program"])} <= texts.keys() <= words.keys()
    for name, text in texts.items(): assert words[name].lower() in " ".join(text.split()).lower(), name
    assert "GNU GENERAL PUBLIC LICENSE" in texts["libgcc"], "a license that the text refers to"


def test_fmus_and_pages_contain_them(limber, tmp_path):
    robot = ROOT / "resources/cibicik.json"
    subprocess.run([limber, "fmu", robot, "-o", tmp_path / "x.fmu"], check=True)
    viewer = limber.parent / "viewer.js"
    with zipfile.ZipFile(tmp_path / "x.fmu") as fmu:
        inside = {name.split("/")[-1]: fmu.read(name) for name in fmu.namelist() if name.startswith("documentation/licenses/")}
        description = fmu.read("modelDescription.xml").decode()
    files = {file.name: file.read_bytes() for file in (limber.parent / "licenses").glob("*.txt")}
    assert inside == {name: text for name, text in files.items() if viewer.exists() or {c.file + ".txt": c for c in COMPONENTS}[name].places != "page"}
    license = re.search(r' license="([^"]*)"', description)[1]
    for component in contained(["linux"]): assert component.license in license and component.name in license
    if not viewer.exists(): pytest.skip("viewer.js was not built")
    subprocess.run([limber, "view", robot, "-o", tmp_path / "x.html"], check=True)
    page = " ".join((tmp_path / "x.html").read_text(encoding="utf-8").split())
    for component in contained(["page"]): assert " ".join(files[f"{component.file}.txt"].decode().replace("*/", "* /").split()) in page, component.name


def test_bill_of_materials(limber):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
    text = (limber.parent / "limber.cdx.json").read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    required = {part["name"] for part in bill["components"] if part["scope"] == "required"}
    files = {file.stem for file in (limber.parent / "licenses").glob("*.txt")}
    assert required == {component.name for component in COMPONENTS if component.file in files and component.package}
    assert all(part["version"] and part["purl"] for part in bill["components"])
