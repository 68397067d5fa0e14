"""docs/reliability.md: what was tried, how much, what was found. From docs/reliability.toml, and the figures that tests/fuzz/run.py --record
tests/mutants/run.py --record and bench/soak.py --record have written."""

import json
import re
import tomllib
from pathlib import Path

from markdown_page import table

HARNESS = {
    "robot": "a robot file; if it is valid and not large, the model, initialization, a step and all outputs",
    "state": "a STATE of four robots, and its accelerations",
    "csv": "a table of inputs, and the interpolation of its columns",
    "saved": "a serialized state with modified contents and a valid checksum, restored and continued",
    "calls": "up to 100 fmi2 calls with any arguments in any order, on four robots, both interfaces",
    "drive": "a parameter file of the six companions; initialization, a step and all values",
}

HEAD = """# Reliability

This page lists what is done to find inputs, hosts and circumstances in which Limber fails, how much of it, and what it found.
docs/tools/make.py makes the page from docs/reliability.toml and the recorded figures of `./run.sh fuzz`, `./run.sh mutants` and `./run.sh soak`."""


def has_test(root, name):
    """FILE::NAME: a function of a Python file, or a TEST of a C file that is run."""
    file, _, function = name.partition("::")
    path = root / file
    if not path.is_file(): return False
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py": return re.search(rf"^def {re.escape(function)}\(", text, re.M) is not None
    return f"TEST({function})" in text and (f"RUN({function})" in text or "\nSUITE(" in text)


LISTED_FMUS = ("FMI 2.0", "Host")  # groups whose tests run on all FMUs of the list in tests/fmu/fmus.py


def load(root):
    return tomllib.loads((root / "docs/reliability.toml").read_text(encoding="utf-8"))


def missing_tests(root):
    data = load(root)
    named = [test for rule in data["rule"] for test in [*rule["test"], *rule.get("also", [])]] + [found["test"] for found in data["found"]]
    return [f"docs/reliability.toml: there is no test {name}" for name in named if not has_test(root, name)]


def short(name): return f"`{name.removeprefix('tests/')}`"


def further(rule): return [f"{short(name)} ({rule['cases']})" for name in rule.get("also", [])]


def rules(data):
    parts = []
    for group in dict.fromkeys(rule["group"] for rule in data["rule"]):
        rows = [[rule["rule"], "<br>".join([*map(short, rule["test"]), *further(rule)])] for rule in data["rule"] if rule["group"] == group]
        parts.append(f"### {group}\n\n" + table(["rule", "tests"], rows))
    return "\n\n".join(parts)


def figures_of(file): return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def fuzzing(root):
    figures = figures_of(root / "tests/fuzz/figures.json")
    runs = figures.get("runs", {})
    rows = [[f"`{name}`", what, f"{runs[name]['executions']}", f"{runs[name]['cpu_seconds'] / 60:.0f}", f"{runs[name]['slowest_seconds']}"]
            for name, what in HARNESS.items() if name in runs]
    total = sum(run["executions"] for run in runs.values())
    reached = ", ".join(f"{layer} {share} %" for layer, share in figures.get("coverage", {}).items())
    return "\n\n".join([
        "libFuzzer with the address and undefined-behavior sanitizers; `./test.sh all` runs each harness for 60 CPU seconds, `./run.sh fuzz` for 30 CPU minutes "
        "and at least 3e5 executions. Internal steps are limited to 50 by `solver.max_steps`. An input that takes longer than 5 s counts as a failure.",
        table(["harness", "input", "executions", "CPU min", "slowest input [s]"], rows),
        f"{total} executions are recorded in all. Line coverage of the corpora: {reached}."])


def endurance(root):
    rows = []
    for robot, f in figures_of(root / "bench/soak.json").items():
        rows += [[robot, f"{f['steps']:.0e} communication steps of 1 ms of one instance", f"{f['steps_memory'] / 1e6:.1f} MB, grew by {f['steps_growth'] / 1e3:.0f} kB", ""],
                 [robot, f"{f['cycles']:.0e} cycles of instantiation, initialization, 50 steps and release", f"{f['cycles_memory'] / 1e6:.1f} MB, grew by {f['cycles_growth'] / 1e3:.0f} kB",
                  f"{f['cycles_different']} differ"],
                 [robot, f"{f['threads']} instances in threads, {f['threads_steps']} steps each", "", f"{f['threads_different']} differ from one that ran alone"]]
    return ("`./run.sh soak` (bench/soak.c) loads the library of an FMU and calls its fmi2 functions, with a controller in the loop. Memory is the resident set after the first "
            "tenth of the run, and its growth from there to the end. Results are compared bit by bit.\n\n" + table(["robot", "run", "memory", "results"], rows))


def mutants(root, data):
    runs = figures_of(root / "tests/mutants/figures.json")
    share = lambda n, run: f"{n} ({100 * n / run['faults']:.0f} %)"
    why = {(entry["file"], entry["before"]): entry["why"] for entry in data.get("survivor", [])}
    last = list(runs.values())[-1]["survivors"] if runs else []
    return "\n\n".join([
        "`./run.sh mutants` plants faults in dyn, mech, ode, flex, sim and fmi, one at a time: an operator, a constant or a sign is changed, or a statement dropped. "
        "`./test.sh quick` looks first, then all C tests and the Python tests of the layer. Faults that do not change the object file are drawn again.",
        table(["run", "faults", "found", "found by quick"], [[name, str(run["faults"]), share(run["found"], run), share(run["quick"], run)] for name, run in runs.items()]),
        "Faults of the last run that no test finds:",
        table(["place", "line", "becomes", "why no test finds it"],
              [[f"{one['file']}, {one['function']}", code(one["before"]), code(one["after"]), why.get((one["file"], one["before"]), "not examined")] for one in last])])


def code(text): return "`" + text.replace("|", "\\|") + "`"


def page(root):
    data = load(root)
    return "\n\n".join([
        HEAD, "## Fuzzing", fuzzing(root), "## Planted faults", mutants(root, data), "## Endurance", endurance(root),
        "## Found and fixed", table(["found by", "what", "test"], [[f["by"], f["what"], short(f["test"])] for f in data["found"]]),
        "## Limits", table(["limit", "value"], [[limit["what"], limit["value"]] for limit in data["limit"]]),
        "## Rules and their tests", "Every rule names the tests that check it. Those of the groups FMI 2.0 and Host run on these FMUs, "
        "which together have every feature, and in `./test.sh all` on the FMUs of all robots of resources/ and of all companions as well:",
        table(["FMU", "brings"], [[f"`{fmu['name']}`", fmu["brings"]] for fmu in data["fmu"]]),
        "The controller supports co-simulation only, so tests of model exchange skip it with that reason. Tests with other cases name them. "
        "A test fails if one of these tests does not exist or omits an FMU.",
        rules(data)]) + "\n"
