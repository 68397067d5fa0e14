"""Plants faults in the C code, one at a time, and looks which tests find them: ./run.sh mutants [N]

A copy of the tree in build/out/mutants is built with the preset quick. `./test.sh quick` judges first; what survives it is judged by
all C tests and by the Python tests of its layer. Results go to build/out/mutants/results.json as they come; a run that was
interrupted continues. --again: the faults of an earlier results.json, as far as their lines still exist, then new ones; the test that
found a fault then runs first. --record: the figures go to tests/mutants/figures.json, which docs/reliability.md shows.
A fault that does not compile, or that does not change the object file, is drawn again."""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from faults import LAYERS, ROOT, Fault, draw, found_again

PLACE = ROOT / "build/out/mutants"
TREE = PLACE / "tree"
BUILD = TREE / "build/out/quick"
TIMEOUT = 60  # seconds for a suite: a fault may make it run for ever

# Python tests that see a layer besides those of `quick`
PYTHON = {
    "dyn": ["tests/py/test_reference.py", "tests/py/test_joints.py", "tests/py/test_frames*.py", "tests/py/test_derivatives.py", "tests/py/test_matrices.py"],
    "flex": ["tests/py/test_reference.py", "tests/py/test_beams.py", "tests/py/test_geometric.py", "tests/py/test_fe_beam.py"],
    "mech": ["tests/py/test_loops.py", "tests/py/test_actuators.py", "tests/py/test_closed_analyses.py", "tests/py/test_static.py"],
    "ode": ["tests/py/test_simulate.py", "tests/py/test_limits.py", "tests/fmu/test_accuracy.py", "tests/fmu/test_held_inputs.py"],
    "sim": ["tests/py/test_inputs.py", "tests/py/test_drives_inside.py", "tests/py/test_linearize.py", "tests/py/test_power.py",
            "tests/fmu/test_dependencies.py", "tests/fmu/test_planar_dependencies.py", "tests/fmu/test_arm_drives.py"],
    "fmi": ["tests/fmu/test_robustness.py", "tests/fmu/test_fmi_rules.py", "tests/fmu/test_joints_fmu.py"],
}


def shell(*words, **environment):
    return subprocess.run(list(map(str, words)), cwd=TREE, capture_output=True, text=True, env={**os.environ, **environment})


def copy_tree():
    """The tree as it is now, without what is ignored; and the set-up."""
    PLACE.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True).stdout
    TREE.mkdir(exist_ok=True)
    subprocess.run(["rsync", "-a", "--delete", "--exclude=/build/out", "--files-from=-", f"{ROOT}/", f"{TREE}/"], input=listed, text=True, check=True)
    (TREE / "build/out").mkdir(parents=True, exist_ok=True)
    for part in ("venv",):
        if not (TREE / "build/out" / part).exists(): (TREE / "build/out" / part).symlink_to(ROOT / "build/out" / part)


def build():
    return shell("cmake", "--build", BUILD, "--target", "limber_tests", "limber_cli", "limber_fmu", "servo", "cylinder", "axis", "sling", "gear", "spring", "controller")


def c_tests(quick, layer, suite=None):
    """The first suite that fails; those of the layer run first, or one suite alone."""
    for choice in [("-R", f"^{suite}$")] if suite else [("-R", f"^{layer}_"), ("-E", f"^(lib|{layer})_")]:
        answer = shell("ctest", "--preset", "quick", "-j2", "--timeout", TIMEOUT, "--stop-on-failure", *choice,
                       LIMBER_TESTS="quick" if quick else "")
        if answer.returncode != 0:
            return [line.split()[3] for line in answer.stdout.splitlines() if "Test #" in line and "Passed" not in line][:1]
    return []


def python_tests(words, skipped):
    """The tests that fail: the first one of those that are not skipped, or all if skipped is None."""
    deselected = ["-x", *(word for name in skipped for word in ("--deselect", name))] if skipped is not None else []
    answer = shell(ROOT / "build/out/venv/bin/python", "-m", "pytest", "-q", "-n2", "--dist=loadfile", *deselected, *words,
                   LIMBER=BUILD / "limber")
    return [line.split()[1] for line in answer.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]


def expand(patterns):
    return sorted({str(path.relative_to(TREE)) for pattern in patterns for path in TREE.glob(pattern)})


def quick_files():
    answer = subprocess.run(["grep", "-rl", "--include=test_*.py", "mark.quick", "tests"], cwd=TREE, capture_output=True, text=True)
    return answer.stdout.split()


def failing_without_fault(layer):
    """Python tests of a layer that this build cannot run (it has no library for Windows, no sanitized program): they judge nothing.
    Found once, with the tree as it is."""
    known = PLACE / f"failing-{layer}.json"
    if not known.is_file(): known.write_text(json.dumps(sorted(python_tests(python_files(layer), None)), indent=1))
    return json.loads(known.read_text())


def python_files(layer):
    return quick_files() if layer == "quick" else expand(PYTHON[layer])


def objects(fault):
    """What is compiled from the file (all objects, for a header)."""
    pattern = f"**/{fault.file}.o" if fault.file.endswith(".c") else "CMakeFiles/fmu_base.dir/**/*.o"
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(BUILD.glob(pattern)))).hexdigest()


def planted(fault):
    """The text of the file with the fault."""
    lines = (TREE / fault.file).read_text(encoding="utf-8").split("\n")
    assert lines[fault.line - 1] == fault.before
    lines[fault.line - 1] = fault.after
    return "\n".join(lines)


def by_hint(hint):
    """The test of `quick` that found the fault earlier, if it does so again."""
    if hint.endswith("_test"): return c_tests(True, "", hint)
    if (TREE / hint.split("::")[0]).is_file(): return python_tests(["-m", "quick", hint], [])
    return []


def judge(fault, hint=""):
    """None: no fault of the program (it does not compile, or compiles to the same); else who found it."""
    path, layer, started = TREE / fault.file, fault.file.split("/")[1], time.time()
    original, faulty, same = path.read_text(encoding="utf-8"), planted(fault), objects(fault)

    def with_fault(text=faulty):
        path.write_text(text, encoding="utf-8")
        return build().returncode == 0

    def by_python(name, *words):
        if not python_files(name): return []
        if not (PLACE / f"failing-{name}.json").is_file():
            with_fault(original)
            failing_without_fault(name)
            with_fault()
        return python_tests([*words, *python_files(name)], failing_without_fault(name))

    try:
        if not with_fault() or objects(fault) == same: return None
        result = {**fault._asdict(), "by": "", "test": ""}
        for by, tests in (("quick", lambda: by_hint(hint) if hint else []), ("quick", lambda: c_tests(True, layer)), ("quick", lambda: by_python("quick", "-m", "quick")),
                          ("C tests", lambda: c_tests(False, layer)), ("Python tests", lambda: by_python(layer))):
            if failed := tests():
                result.update(by=by, test=failed[0])
                break
        return {**result, "seconds": round(time.time() - started)}
    finally:
        path.write_text(original, encoding="utf-8")


def summary(results):
    n, quick = len(results), sum(result["by"] == "quick" for result in results)
    killed = sum(bool(result["by"]) for result in results)
    return f"{n} faults: {killed} found ({100 * killed / max(n, 1):.0f} %), {quick} of them by quick ({100 * quick / max(n, 1):.0f} %)"


def faults_to_plant(again, seed):
    if again:
        old = [Fault(**{key: row[key] for key in Fault._fields}) for row in json.loads(Path(again).read_text())]
        yield from filter(None, (found_again(TREE, fault) for fault in old))
    yield from draw(TREE, seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", nargs="?", type=int, default=60, help="number of faults (60)")
    parser.add_argument("--seed", type=int, default=27)
    parser.add_argument("--again", metavar="FILE", help="results.json of an earlier run")
    parser.add_argument("--anew", action="store_true", help="discard an interrupted run")
    parser.add_argument("--record", metavar="NAME", help="name of the run in tests/mutants/figures.json")
    options = parser.parse_args()
    store = PLACE / "results.json"
    if options.anew or not store.is_file():
        copy_tree()
        for file in (store, *PLACE.glob("failing-*.json")): file.unlink(missing_ok=True)
    if shell("cmake", "--preset", "quick", "-DLIMBER_WERROR=OFF").returncode != 0 or (answer := build()).returncode != 0:
        sys.exit("the tree does not build: run ./test.sh quick")
    if failed := c_tests(True, "dyn"): sys.exit(f"{failed[0]} fails without a fault")
    results, rejected = (json.loads(store.read_text()), set()) if store.is_file() else ([], set())
    done = {(row["file"], row["before"]) for row in results}
    known = {(row["file"].split("/")[1], row["before"].strip()): row["test"] for row in json.loads(Path(options.again).read_text())
             if row["by"] == "quick"} if options.again else {}
    for fault in faults_to_plant(options.again, options.seed):
        if len(results) >= options.n: break
        if (fault.file, fault.before) in done | rejected: continue
        result = judge(fault, known.get((fault.file.split("/")[1], fault.before.strip()), ""))
        if result is None:
            rejected.add((fault.file, fault.before))
            continue
        results.append(result)
        done.add((fault.file, fault.before))
        store.write_text(json.dumps(results, indent=1))
        print(f"{len(results):3} {fault.file}:{fault.line} {fault.kind}: {fault.before.strip()}  ->  {fault.after.strip()}\n"
              f"    {'found by ' + result['by'] + ', ' + result['test'] if result['by'] else 'SURVIVED'}, {result['seconds']} s", flush=True)
    build()
    print(summary(results))
    if options.record:
        figures = ROOT / "tests/mutants/figures.json"
        kept = json.loads(figures.read_text()) if figures.is_file() else {}
        kept[options.record] = {"faults": len(results), "found": sum(bool(row["by"]) for row in results),
                                "quick": sum(row["by"] == "quick" for row in results),
                                "survivors": [{key: row[key].strip() for key in ("file", "function", "before", "after")} for row in results if not row["by"]]}
        figures.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__": main()
