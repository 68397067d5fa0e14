"""Memory that runs out in the program: each allocation of each command fails once (tests/host/preload/faults.c). The command then ends with
an exit code, and says that it is out of memory; or it does without, and gives the same result to the bit. No result under its name that is
not complete, no crash, no leak.

Every 5th allocation is tried, from one that depends on the command; LIMBER_FAULTS_EVERY=1 tries all of them."""

import json
import os
import re
import shutil
import subprocess
import zlib
from collections import namedtuple

import pytest

from program import resource

EVERY = int(os.environ.get("LIMBER_FAULTS_EVERY", "5"))
Run = namedtuple("Run", "failed allocations blocks code files messages")

BEAM = {"length": 2, "material": {"E": 7e10, "poisson": 0.33, "density": 2700}, "damping_ratio": 0.01,
        "section": {"shape": "tube", "outer_diameter": 0.05, "wall": 0.002}, "modes": {"y": {"shape": "craig-bampton", "count": 2}}}
BODY = {"mass": 1, "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "tip": {"xyz": [0.2, 0, 0]}}
BOOM = {"name": "boom", "joint": {"name": "shoulder", "type": "revolute"}, "beam": BEAM, "payload": {"mass": 2}}
FOREARM = {"name": "forearm", "joint": {"name": "elbow", "type": "revolute"}, "rigid": BODY}
HAND = {"name": "hand", "joint": {"name": "wrist", "type": "revolute"}, "rigid": BODY}


def robot(*links, **more): return {"format": "limber-robot/2", "name": "small", "gravity": [0, -9.81, 0], "links": list(links), **more}


ROBOTS = {"beam": robot(BOOM), "arm": robot(BOOM, FOREARM, frames=[{"name": "hook", "link": "forearm"}]), "rigid": robot(FOREARM, HAND),
          "old": {**robot(BOOM), "format": "limber-robot/1"}}
# {beam}, {arm}, ...: robot files; {state}, {inputs}, {result}: files for them; results are written to the current folder
COMMANDS = {
    "fmu": "fmu {beam} -o x.fmu --json", "generated": "fmu {rigid} --generated -o x.fmu", "servo": "drive servo --set rate_limit=10 -o x.fmu",
    "controller": "drive controller {beam} --set correction_bandwidth=20 -o x.fmu", "check": "check {arm} --json -o x.json",
    "check text": "check {arm} -o x.txt", "eval": "eval {arm} {state} -o x.json", "matrices": "matrices {arm} {state} -o x.json",
    "simulate": "simulate {arm} --until 0.02 --step 0.01 --inputs {inputs} --set gravity[2]=-5 --stats -o x.csv",
    "modes": "modes {arm} --json -o x.json", "sweep": "modes {arm} --sweep shoulder=0:1:3 --plot x.svg -o x.txt",
    "linearize": "linearize {arm} --python x.py --matlab x.m -o x.json", "static": "static {arm} --json -o x.json",
    "zeros": "zeros {arm} --input shoulder.tau --output shoulder.q -o x.json",
    "inverse": "inverse {arm} --profile cycloid --rate 1,1 --period 1,1 --until 0.02 --step 0.01 --elastic x.csv -o y.csv",
    "upgrade": "upgrade {old} -o x.json --json", "view": "view {arm} --result {result} --modes -o x.html", "picture": "picture {arm} -o x.svg",
    "report": "report {arm} -o x.html", "equations": "equations {rigid} -o x.txt", "latex": "equations {rigid} --format latex -o x.tex",
    "loop": "fmu {four_bar} --generated -o x.fmu", "drives": "report {crane} -o x.html",
    "sympy": "equations {beam} --format sympy -o x.py", "generate": "generate {rigid} -o .",
}


@pytest.fixture(scope="module")
def program(limber, tmp_path_factory):
    """The program with libraries of a few bytes beside it: packing them is not what takes time."""
    folder = tmp_path_factory.mktemp("program")
    shutil.copy(limber, folder)
    for name in ("limber_fmu", "servo", "controller"):
        (folder / f"{name}.so").write_bytes(b"\x7fELF")
        (folder / f"{name}.dll").write_bytes(b"MZ")
    (folder / "limber_fmu.o").write_bytes(b"")
    (folder / "viewer.js").write_text("0;")
    (folder / "cc").write_text("#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\nprintf '\\177ELF' >\"$2\"\n")
    (folder / "cc").chmod(0o755)
    return folder / "limber"


@pytest.fixture(scope="module")
def files(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    names = {name: folder / f"{name}.json" for name in (*ROBOTS, "state")} | {name: folder / f"{name}.csv" for name in ("inputs", "result")}
    names |= {"four_bar": resource("four-bar"), "crane": resource("crane-drives")}
    for name, description in ROBOTS.items(): names[name].write_text(json.dumps(description))
    names["state"].write_text(json.dumps({"q": {"shoulder.q": 0.3}}))
    names["inputs"].write_text("time,shoulder.tau\n0,1\n1,2\n")
    subprocess.run([program, "simulate", names["arm"], "--until", "0.1", "--step", "0.05", "-o", names["result"]], check=True)
    return names


def runs(limber, program, words, folder, first, every):
    """The program with all the memory that it wants, and then without one block of it, again and again."""
    (folder / "run").mkdir()
    (folder / "tmp").mkdir()
    environment = {**os.environ, "LD_PRELOAD": str(limber.parent / "tests/preload_faults.so"), "FAULTS_REPORT": str(folder / "report"),
                   "FAULTS_FOLDER": str(folder / "run"), "FAULTS_FIRST": str(first), "FAULTS_EVERY": str(every),
                   "TMPDIR": str(folder / "tmp"), "CC": str(program.parent / "cc")}
    subprocess.run([program, *words], env=environment, cwd=folder / "run", check=True, stdin=subprocess.DEVNULL)
    lines = (folder / "report").read_text(errors="replace").splitlines()
    return [Run(*map(int, fields[:4]), set(fields[4].split(",")) - {""}, fields[5]) for fields in (line.split("\t") for line in lines)]


def judge(run, normal):
    """What is wrong with a run; None: nothing."""
    named = {file for file in run.files if not file.startswith("stdout:")}
    if run.code < 0: return f"signal {-run.code}"
    if run.code == 0 and run.files != normal.files: return "another result"
    if not named <= normal.files: return f"a result that is not complete: {named - normal.files}"
    if run.code > 0 and not re.search("out of memory|Cannot allocate memory", run.messages): return "no message"
    # the end of the process returns what a command that was broken off had; libzip loses a block of 56 bytes
    allowed = 1 if "cannot be packed" in run.messages else 1e9 if "not finished" in run.messages else 0
    return f"{run.blocks} blocks lost" if run.blocks < 0 or run.blocks > allowed else None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_allocation_of_a_command_fails_once(limber, program, files, tmp_path, name):
    words = [word.format(**files) for word in COMMANDS[name].split()]
    normal, *others = runs(limber, program, words, tmp_path, 1 + zlib.crc32(name.encode()) % EVERY, EVERY)
    assert normal.code == 0 and normal.blocks == 0 and normal.allocations > 100 and len(others) >= normal.allocations // EVERY, normal
    wrong = [(run.failed, problem, run.messages) for run in others if (problem := judge(run, normal)) is not None]
    assert wrong == []
    assert list((tmp_path / "tmp").iterdir()) == [] and list((tmp_path / "run").iterdir()) == []
    print(f"{name}: {normal.allocations} allocations, {sum(run.code > 0 for run in others)} of {len(others)} failures were reported")
