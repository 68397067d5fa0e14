"""The program `limber` of commit ff4cbf0 and the libraries of its FMUs, built by that commit's own CMake files with today's compiler.

The commit is unpacked below build/out/baseline. Results that were measured with it are kept there too, in one file for each compiler,
set of flags and version of valgrind, so that a second run measures today's program only."""

import hashlib
import json
import os
import shlex
import subprocess
from pathlib import Path

import baseline
import builds

FOLDER = builds.RELEASE / "baseline"
TARGETS = ("limber_cli", "limber_fmu", "cylinder", "axis", "sling")


def code_flags(directory):
    """{target: flags that affect the code} of a file that each of the program and the FMU library has"""
    entries = json.loads((Path(directory) / "compile_commands.json").read_text(encoding="utf-8"))
    of = lambda targets: next(builds.flags(shlex.split(entry["command"])) for entry in entries if entry["file"].endswith("/fmu_src/dyn/inverse.c")
                              and any(f"CMakeFiles/{target}.dir/" in entry["command"] for target in targets))
    return {"limber": of(["limber"]), "limber_fmu": of(["fmu_parts", "limber_fmu"])}


def build(release=builds.RELEASE, folder=FOLDER):
    """(root, build directory) of the commit, built with the compiler and instruction set of the build `release`."""
    root = baseline.unpack(folder, f"{baseline.NAME}-program", ())
    compiler, march, headers = (builds.cached(release, name) for name in ("CMAKE_C_COMPILER", "LIMBER_MARCH", "FMI2_INCLUDE_DIR"))
    recipe = hashlib.sha256(repr((compiler, builds.version(compiler), march)).encode()).hexdigest()[:12]
    directory = root / f"build-{recipe}"
    if not (directory / "complete").is_file():
        baseline.run(["cmake", "-S", root, "-B", directory, "-G", "Ninja", f"-DCMAKE_C_COMPILER={compiler}", f"-DLIMBER_MARCH={march}",
                      f"-DFMI2_INCLUDE_DIR={headers}", "-DCMAKE_C_FLAGS=-w"])
        baseline.run(["cmake", "--build", directory, "--target", *TARGETS])
        (directory / "complete").touch()
    return root, directory


def differing_flags(release, directory):
    """Flags that one of the two builds has and the other has not; empty if they are compiled alike."""
    ours, theirs = code_flags(release), code_flags(directory)
    return sorted({flag for target in ours for flag in set(ours[target]) ^ set(theirs[target])})


class Store:
    """Figures of the commit by key, kept in a file of its build directory."""

    def __init__(self, directory):
        valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()
        self.file = Path(directory) / f"gains-{valgrind}.json"

    def read(self):
        return json.loads(self.file.read_text(encoding="utf-8")) if self.file.is_file() else {}

    def get(self, key, make):
        """The figure of the key, made by make() if it is not there."""
        figures = self.read()
        if key in figures: return figures[key]
        made = make()
        new = self.file.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({**self.read(), key: made}) + "\n", encoding="utf-8")  # read again: another run may have added some
        new.replace(self.file)
        return made
