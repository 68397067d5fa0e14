#!/usr/bin/env python3
"""Rigid arms in Limber, Pinocchio and MuJoCo, side by side in one program: times of forward dynamics, inverse dynamics and derivatives.

    peers.py [--batches N] [--write-docs]

Installs both libraries into build/out/peers the first time, compiles peers_src/peers.cpp against their headers, and prints a table.
--write-docs replaces the part "Against Pinocchio and MuJoCo" of docs/performance.md. Exit code 2 if something could not be measured."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import builds
import report

FOLDER = builds.RELEASE / "peers"
PACKAGES = ("pin==4.1.0", "mujoco==4.0.0", "cmeel-eigen==3.4.1")
ROBOTS = {"chain-7": ("chain-7", 7), "twisted-7": ("twisted-7", 7), "chain-64": ("chain-7", 64), "twisted-64": ("twisted-7", 64)}
FLAGS = ("-std=c++17", "-O3", "-march=x86-64-v3", "-DNDEBUG")
# of Pinocchio's own CMake target
DEFINITIONS = ("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
               "-DBOOST_FUSION_INVOKE_MAX_ARITY=12")
FUNCTIONS = {"forward": "forward dynamics", "inverse": "inverse dynamics", "derivatives": "derivatives of the forward dynamics"}
PROCESSES = 6
SAME = 1e-9        # largest relative difference of the results
WANTED = {("forward", 7): 0.55, ("forward", 64): 0.55, ("inverse", 7): 0.6, ("inverse", 64): 0.6, ("derivatives", 7): 0.8, ("derivatives", 64): 0.8}
PAGE = builds.ROOT / "docs/performance.md"
TITLE = "## Against Pinocchio and MuJoCo\n"


class Failed(RuntimeError):
    """Something could not be installed, compiled or run; the text says what."""


def run(*command):
    answer = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if answer.returncode != 0: raise Failed(f"{command[0]}: exit code {answer.returncode}\n{(answer.stdout + answer.stderr)[-3000:]}")
    return answer.stdout


def install():
    """The folder of the installed packages."""
    stamp = FOLDER / "packages"
    if not stamp.is_file() or stamp.read_text() != " ".join(PACKAGES):
        run("python3", "-m", "venv", FOLDER)
        run(FOLDER / "bin/pip", "install", "--disable-pip-version-check", *PACKAGES)
        stamp.write_text(" ".join(PACKAGES))
    return next(FOLDER.glob("lib/python*/site-packages"))


def older(made, *sources):
    return not made.is_file() or any(made.stat().st_mtime < source.stat().st_mtime for source in sources)


def program(packages):
    """Compiles peers.cpp (about a minute) if it has changed, and links it with the library of the release build."""
    source, prefix = builds.ROOT / "bench/peers_src", packages / "cmeel.prefix"
    mujoco = next((packages / "mujoco").glob("libmujoco.so*"))
    peers, own, linked = FOLDER / "peers.o", FOLDER / "limber.o", FOLDER / "peers"
    builds.build(builds.RELEASE, targets=("limber",))
    if older(peers, source / "peers.cpp", source / "limber.h"):
        run("clang++", *FLAGS, *DEFINITIONS, "-I", source, "-isystem", prefix / "include", "-isystem", prefix / "include/eigen3",
            "-isystem", packages / "mujoco/include", "-c", source / "peers.cpp", "-o", peers)
    run("cc", "-O2", "-std=c11", "-I", builds.ROOT / "fmu_src", "-c", source / "limber.c", "-o", own)
    run("clang++", peers, own, builds.RELEASE / "liblimber.a", mujoco, prefix / "lib/libboost_serialization.so",
        f"-Wl,-rpath,{mujoco.parent}:{prefix / 'lib'}", "-ljson-c", "-llapacke", "-lsundials_cvode", "-lm", "-o", linked)
    return linked


def write_robot(name):
    """The links of an arm of resources, repeated."""
    of, links = ROBOTS[name]
    robot = json.loads((builds.ROOT / f"resources/{of}.json").read_text(encoding="utf-8"))
    first = robot["links"]
    robot["name"], robot["links"] = name.replace("-", "_"), []
    for i in range(links):
        link = json.loads(json.dumps(first[i % len(first)]))
        link["name"], link["joint"]["name"] = f"link{i + 1}", f"joint{i + 1}"
        link.pop("parent", None)
        robot["links"].append(link)
    file = FOLDER / f"{name}.json"
    file.write_text(json.dumps(robot), encoding="utf-8")
    return file


def measure(batches):
    """{(robot, function): {library: ns}}; the faster convention of Pinocchio is `pinocchio`. The best of several processes, because
    a time depends on where a process has its memory."""
    linked, found = program(install()), {}
    robots = {name: write_robot(name) for name in ROBOTS}
    for name in list(ROBOTS) * PROCESSES:
        for line in run(linked, robots[name], batches).splitlines():
            library, function, ns, difference = line.split()
            if float(difference) > SAME: raise Failed(f"{name}, {function}: the result of {library} differs from Limber's by {difference}")
            times, library = found.setdefault((name, function), {}), library.split("-")[0]
            times[library] = min(float(ns), times.get(library, float(ns)))
    return found


def table(found):
    rows = []
    for (name, function), ns in found.items():
        ratio, wanted = ns["limber"] / ns["pinocchio"], WANTED[function, ROBOTS[name][1]]
        rows.append((name, FUNCTIONS[function], *(f"{ns[library]:.0f}" if library in ns else "" for library in ("limber", "pinocchio", "mujoco")),
                     f"{ratio:.2f}", f"<= {wanted}", "met" if ratio <= wanted else "MISSED"))
    return report.table(("arm", "function", "Limber, ns", "Pinocchio, ns", "MuJoCo, ns", "Limber / Pinocchio", "wanted", ""), rows)


def section(found):
    return (f"{TITLE}\nWritten by `./run.sh peers`. One program calls the three libraries in turn at the same 32 random states; a time is the best of\n"
            "many batches in six processes. Results agree to a relative 1e-9. Arms: those of the next part, and their links repeated to 64.\n\n"
            f"- Limber: release build. Derivatives are qdd, d(qdd)/dq and d(qdd)/dqd from the state alone.\n"
            f"- Pinocchio ({PACKAGES[0]}): its headers, compiled by {builds.version('clang++')} with `{' '.join(FLAGS)}`; of its two conventions\n"
            "  of `aba` the faster; `rnea`; `computeABADerivatives`. Joints about an axis of their frame are of the type for that axis.\n"
            f"- MuJoCo ({PACKAGES[1]}): its library as distributed, `mj_forward` and `mj_inverse` without contacts and constraints, which also compute\n"
            "  what a simulation needs besides. It has no exact derivatives.\n\n" + table(found) + "\n")


def split(page):
    """The page before its section, the section or "", and the rest."""
    start = page.find(TITLE)
    if start < 0: start = page.find("## Rigid arms")
    if not page.startswith(TITLE, start): return page[:start], "", page[start:]
    end = page.find("\n## ", start) + 1
    return page[:start], page[start:end], page[end:]


def keep(page):
    """A new page with the section of the old one, which only this program writes."""
    before, _, after = split(page)
    return before + split(PAGE.read_text(encoding="utf-8"))[1] + after


def write_page(text):
    before, _, after = split(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(before + text + "\n" + after, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Limber, Pinocchio and MuJoCo on rigid arms; see bench/README.md.")
    parser.add_argument("--batches", type=int, default=150, help="batches in each process, of which the best counts")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/performance.md as well")
    options = parser.parse_args()
    try:
        found = measure(options.batches)
    except (Failed, builds.Failed) as failure:
        print(f"peers: {failure}", file=sys.stderr)
        return 2
    print(table(found))
    if options.write_docs: write_page(section(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
