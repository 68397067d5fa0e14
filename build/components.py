"""What Limber contains of others: the texts of their licenses, and a bill of materials.

usage: components.py OUT [--version V] [--platforms linux,windows,page]    licenses/*.txt, licenses.c and limber.cdx.json in OUT
       components.py --comment                                             the licenses of the viewer's page, as a comment of JavaScript

The texts come from the packages that the code comes from: /usr/share/doc/PACKAGE/copyright on Debian, with the common licenses that it
refers to. tests/py/test_licenses.py compares COMPONENTS with what the linkers took."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MODULES = ROOT / "build/out/viewer/node_modules"
DOC, COMMON = Path("/usr/share/doc"), Path("/usr/share/common-licenses")


class Component(NamedTuple):
    name: str
    role: str          # what it does in an FMU
    license: str       # SPDX expression
    file: str          # licenses/FILE.txt
    package: str       # of Debian, or "npm:NAME"; "": Limber itself
    places: str        # what contains it: linux and windows (FMU libraries), program, page (of the viewer)
    archives: str = "" # as the linker names them (a regular expression)
    common: tuple = () # licenses of COMMON that its text refers to


GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
LIBGCC = max((path.name for path in DOC.glob("libgcc-*-dev")), key=lambda name: [int(n) for n in re.findall(r"\d+", name)], default="libgcc-12-dev")
COMPONENTS = [
    Component("Limber", "equations of motion, FMI functions", "BSD-3-Clause", "limber", "", "linux windows program page"),
    Component("SUNDIALS (CVODE)", "integration", "BSD-3-Clause", "sundials", "libsundials-dev", "linux windows program", r"libsundials_\w+\.a"),
    Component("json-c", "reading the robot file", "MIT", "json-c", "libjson-c-dev", "linux windows program page", r"libjson-c\.a"),
    Component("mingw-w64", "run-time support for C programs on Windows", "ZPL-2.1", "mingw-w64", "mingw-w64-x86-64-dev", "windows",
              r"lib(mingw32|mingwex|msvcrt|kernel32|moldname|m)\.a|dllcrt2\.o"),
    Component("libgcc", "run-time support of the compiler", GCC, "libgcc", LIBGCC, "linux windows program", r"libgcc(_eh)?\.a|crt(begin|end)S?\.o", ("GPL-3",)),
    Component("three.js", "the scene in this documentation", "MIT", "three", "npm:three", "page"),
    Component("wasi-libc", "run-time support of the scene", "MIT AND Apache-2.0", "wasi-libc", "wasi-libc", "page", r"libc\.a|crt1-reactor\.o",
              ("CC0-1.0", "Apache-2.0")),
    Component("compiler-rt", "run-time support of the scene's compiler", "Apache-2.0 WITH LLVM-exception", "compiler-rt",
              "libclang-rt-14-dev-wasm32", "page", r"libclang_rt\.builtins-wasm32\.a", ("Apache-2.0",)),
]
DYNAMIC = [("libzip", "BSD-3-Clause", "libzip-dev"), ("libpng", "libpng-2.0", "libpng-dev"), ("zlib", "Zlib", "zlib1g-dev"),
           ("LAPACKE", "BSD-3-Clause", "liblapacke-dev")]  # loaded by the program and the library; not part of what is shipped


def version_of(package):
    if package.startswith("npm:"): return json.loads((MODULES / package[4:] / "package.json").read_text())["version"]
    found = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
    return found.stdout if found.returncode == 0 else ""


def text_of(component):
    package = component.package
    if not package: return (ROOT / "LICENSE").read_text(encoding="utf-8")
    file = MODULES / package[4:] / "LICENSE" if package.startswith("npm:") else DOC / package / "copyright"
    if not file.is_file(): sys.exit(f"{file} is missing: it is the license of {component.name}, which is linked in. Install {package}, or put the text there.")
    parts = [(file.name, file), *((name, COMMON / name) for name in component.common)]
    texts = [path.read_text(encoding="utf-8") for _, path in parts]
    return texts[0] + "".join(f"\n{'-' * 100}\n{name}\n{'-' * 100}\n\n{text}" for (name, _), text in zip(parts[1:], texts[1:]))


def contained(places):
    return [component for component in COMPONENTS if set(component.places.split()) & set(places)]


def c_source(components):
    """struct license licenses[] of modelDescription/licenses.h"""
    lines, rows = ['#include "licenses.h"\n'], []
    for i, component in enumerate(components):
        data = text_of(component).encode()
        numbers = ",".join(map(str, data))
        lines.append(f"static const unsigned char text_{i}[] = {{\n" + "\n".join(re.findall(r".{1,110}(?:,|$)", numbers)).rstrip(",") + "};\n")
        strings = ", ".join(json.dumps(word) for word in (component.name, component.role, component.license, f"{component.file}.txt"))
        rows.append(f"    {{{strings}, text_{i}, sizeof text_{i}, {'true' if component.places == 'page' else 'false'}}},\n")
    named = {}
    for component in components: named.setdefault(component.license, []).append(component.name)
    summary = "; ".join(f"{license}: {', '.join(names)}" for license, names in named.items())
    return "".join(["\n".join(lines), "\nconst struct license licenses[] = {\n", *rows, "};\n",
                    "const int license_count = sizeof licenses / sizeof licenses[0];\n",
                    f"const char license_summary[] = {json.dumps(summary + '. Texts: documentation/licenses')};\n"])


def bill_of_materials(components, version):
    """CycloneDX 1.6"""
    def library(name, license, package, scope):
        system = f"pkg:npm/{package[4:]}" if package.startswith("npm:") else f"pkg:deb/debian/{package}"
        return {"type": "library", "bom-ref": package, "name": name, "version": version_of(package), "scope": scope,
                "licenses": [{"expression": license}], "purl": f"{system}@{version_of(package)}"}

    parts = [library(c.name, c.license, c.package, "required") for c in components if c.package]
    parts += [library(name, license, package, "optional") for name, license, package in DYNAMIC if version_of(package)]
    whole = {"type": "application", "bom-ref": "limber", "name": "limber", "version": version, "licenses": [{"expression": "BSD-3-Clause"}]}
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": whole}, "components": parts,
            "dependencies": [{"ref": "limber", "dependsOn": [part["bom-ref"] for part in parts]}]}


def write(path, text):
    """Only if it changes: what depends on it is not made again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text: path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--platforms", default="linux", help="linux, windows, page: what is built")
    parser.add_argument("--comment", action="store_true")
    options = parser.parse_args()
    if options.comment:
        texts = [f"{c.name} ({c.license})\n\n{text_of(c)}" for c in contained(["page"])]
        print("/*! Licenses of the software in this page\n\n" + "\n\n".join(texts).replace("*/", "* /").replace("</", "< /") + "\n*/")
        return
    components = contained(["program", *options.platforms.split(",")])
    for old in (options.out / "licenses").glob("*.txt"):
        if old.stem not in {component.file for component in components}: old.unlink()
    for component in components: write(options.out / f"licenses/{component.file}.txt", text_of(component))
    write(options.out / "licenses.c", c_source(components))
    write(options.out / "limber.cdx.json", json.dumps(bill_of_materials(components, options.version), indent=1) + "\n")


if __name__ == "__main__": main()
