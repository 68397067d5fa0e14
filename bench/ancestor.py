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
AVX2 = ("-mavx2", "-mfma")


def code_flags(directory, fmu):
    """{target: flags that affect the code} of a file that each of the program and the FMU library (target `fmu`) has"""
    entries = json.loads((Path(directory) / "compile_commands.json").read_text(encoding="utf-8"))
    of = lambda target: next(builds.flags(shlex.split(entry["command"])) for entry in entries if entry["file"].endswith("/fmu_src/dyn/inverse.c")
                             and f"CMakeFiles/{target}.dir/" in entry["command"])
    program = of("limber")
    if "-march=x86-64-v3" in program: program = [flag for flag in program if flag not in AVX2]  # contained in it
    return {"limber": program, "limber_fmu": of(fmu)}


def build(release=builds.RELEASE, folder=FOLDER):
    """(root, build directory) of the commit, built with the compiler and instruction sets of the build `release`. Its FMUs had code for
    any x86-64 only: they are compiled for the instructions that today's FMUs use on this machine."""
    root = baseline.unpack(folder, f"{baseline.NAME}-program", ())
    compiler, march, headers = (builds.cached(release, name) for name in ("CMAKE_C_COMPILER", "LIMBER_MARCH", "FMI2_INCLUDE_DIR"))
    more = AVX2 if builds.fmu_target(release) == "fmu_avx2" else ()
    recipe = hashlib.sha256(repr((compiler, builds.version(compiler), march, more)).encode()).hexdigest()[:12]
    directory = root / f"build-{recipe}"
    if not (directory / "complete").is_file():
        baseline.run(["cmake", "-S", root, "-B", directory, "-G", "Ninja", f"-DCMAKE_C_COMPILER={compiler}", f"-DLIMBER_MARCH={march}",
                      f"-DFMI2_INCLUDE_DIR={headers}", f"-DCMAKE_C_FLAGS={' '.join(['-w', *more])}"])
        baseline.run(["cmake", "--build", directory, "--target", *TARGETS])
        (directory / "complete").touch()
    return root, directory


def differing_flags(release, directory):
    """Flags that one of the two builds has and the other has not; empty if they are compiled alike."""
    ours, theirs = code_flags(release, builds.fmu_target(release)), code_flags(directory, "limber_fmu")
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
