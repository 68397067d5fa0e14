"""The libraries for Windows, loaded under wine by an importer of our own (tests/windows/importer.c), against those for Linux.
Skipped with the reason where build/windows.sh could not have mingw-w64 or wine."""

import ctypes as ct
import os
import shutil
import subprocess
import tempfile
from urllib.parse import quote

import numpy as np
import pytest
from fmus import ROBOTS, RUN_ALL
from importer import MODEL_EXCHANGE, OK, Instance, unzip

STEPS, TOLERANCE = 300, 1e-8


def missing(root, name):
    """Why something of build/windows.sh is not there; None where it is."""
    why = root / f"build/out/windows/{name}.missing"
    if why.is_file(): return " ".join(why.read_text().split("\n")[1:])
    ready = root / f"build/out/windows/{name}.ready"
    return None if ready.is_file() and ready.read_text().strip() else "build/windows.sh was not run"


@pytest.fixture(scope="session")
def built(root):
    """FMUs carry a library for Windows."""
    if why := missing(root, "libraries"): pytest.skip(f"no library for Windows: {why}")


@pytest.fixture(scope="session")
def wine(root, built):
    """wine(lines...) gives what the importer answers, or its complaint where it fails."""
    subprocess.run([root / "build/windows.sh", "wine"], check=True, stdout=subprocess.DEVNULL)
    if why := missing(root, "wine"): pytest.skip(f"no wine: {why}")
    environment = {**os.environ, "WINEPREFIX": str(root / "build/out/windows/wine"), "WINEDEBUG": "-all", "LC_ALL": "C.UTF-8"}

    def run(*lines):
        text = "\n".join(" ".join(map(exact, line)) if isinstance(line, (list, tuple)) else str(line) for line in lines)
        with tempfile.TemporaryFile("w+", encoding="utf-8") as out, tempfile.TemporaryFile("w+", encoding="utf-8") as err:
            # files, not pipes: wine's server holds them open for some seconds more
            done = subprocess.run(["/usr/lib/wine/wine64", root / "build/out/windows/build/importer.exe"], input=text + "\n",
                                  stdout=out, stderr=err, encoding="utf-8", timeout=120, env=environment)
            for stream in out, err: stream.seek(0)
            return subprocess.CompletedProcess(done.args, done.returncode, out.read(), err.read())

    return run


def exact(value):
    return repr(float(value)) if isinstance(value, float) else str(value)


def seen(path):
    """The path as Windows sees it; wine shows the root as Z:."""
    return f"Z:{path}"


def uri(path):
    return f"file:///{quote(seen(path), safe='/:')}"


def table(answer):
    assert answer.returncode == 0, answer.stderr
    return [np.array(line.split(","), float) for line in answer.stdout.splitlines()]


# ---- the file ----------------------------------------------------------------------------------------------------------


def headers(file):
    return subprocess.run(["x86_64-w64-mingw32-objdump", "-p", file], check=True, capture_output=True, text=True).stdout


def test_only_fmi_functions_leave_the_library(built, fmu):
    names = headers(fmu.dll).split("[Ordinal/Name Pointer] Table")[1].split("\n\n")[0].splitlines()[1:]
    linux = subprocess.run(["nm", "-D", "--defined-only", fmu.file], check=True, capture_output=True, text=True).stdout
    assert {line.split()[-1] for line in names} == {line.split()[-1].split("@")[0] for line in linux.splitlines()}
    assert len(names) == 44


def test_needs_only_what_every_windows_has(built, fmu):
    needed = {line.split()[-1] for line in headers(fmu.dll).splitlines() if "DLL Name:" in line}
    assert needed <= {"KERNEL32.dll", "ADVAPI32.dll", "msvcrt.dll"}
    assert "setlocale" not in headers(fmu.dll), "the locale belongs to the process"


# ---- the numbers -------------------------------------------------------------------------------------------------------


JOINTS = ["upper_joint", "lower_joint", "wrist_joint"]
SWINGS = {  # the step, and the largest change of inputs: out and back, and then the other way
    "canadarm": (0.01, {f"{joint}.tau": torque for joint, torque in zip(JOINTS, (300, 120, 10))}),
    "servo": (1e-3, {"reference": 0.2, "q": 0.15, "qd": 1.0}), "cylinder": (1e-3, {"command": 0.6, "length": 0.02, "rate": 0.4}),
    "axis": (1e-3, {"position": 0.2, "rate": 0.6}),
    "sling": (1e-3, {"hook.position[1]": 0.02, "hook.position[3]": 0.1, "hook.velocity[1]": 0.1, "hook.velocity[3]": 0.6})}


def course(package, name):
    """The step, and {input: values, one a step}."""
    t = (np.arange(STEPS) + 0.5) / STEPS
    instance, (h, sizes) = Instance(package), SWINGS[name]
    inputs = {each: instance.get(each) + size * np.sin(2 * np.pi * t) * np.sin(np.pi * t) ** 2 for each, size in sizes.items()}
    instance.free()
    return h, inputs


CANADARM = [*(f"{joint}.q" for joint in JOINTS), "upper_joint.qd", "tip.position[1]", "tip.position[2]",
            "upper.deflection[2]", "lower.deflection[2]", "energy.total"]


def linux_run(package, h, inputs, outputs):
    """What the importer does in `simulate`."""
    instance = Instance(package).initialise(tolerance=TOLERANCE)
    rows = []
    for k, values in enumerate(zip(*inputs.values())):
        if k == STEPS // 2: state = instance.save()
        assert instance.set(dict(zip(inputs, values))) == OK
        assert instance.step(k * h, h) == OK
        rows.append(instance.get(*outputs))
    instance.FreeFMUstate(ct.byref(state))
    instance.free()
    return np.array(rows)


@pytest.mark.parametrize("name", SWINGS)
def test_co_simulation(request, wine, name):
    """The same inputs: the same motion to 1e-9. And a state that was saved, serialised and put into another instance goes on bit
    for bit as the original did."""
    package = request.getfixturevalue(name)
    h, inputs = course(package, name)
    outputs = CANADARM if name == "canadarm" else package.outputs + package.states
    references = [[package.reference[variable] for variable in variables] for variables in (inputs, outputs)]
    rows = table(wine(seen(package.dll), uri(package.resources), package.guid, "simulate",
                      [len(inputs), len(outputs), STEPS, h, TOLERANCE], *references, *np.array(list(inputs.values())).T.tolist()))
    assert len(rows) == STEPS + STEPS // 2
    original, again = np.array(rows[:STEPS]), np.array(rows[STEPS:])
    assert (again == original[STEPS // 2:]).all()
    linux = linux_run(package, h, inputs, outputs)
    error = np.abs(original - linux).max(axis=0) / np.maximum(np.abs(linux).max(axis=0), 1e-12)
    print("Windows against Linux, relative:", dict(zip(outputs, error)))
    assert error.max() < 1e-9


def doubles(values):
    return (ct.c_double * len(values))(*values)


def compare_evaluations(wine, package, inputs, outputs):
    """Derivatives and a directional derivative at one state near the start, to 1e-9 of the largest."""
    random = np.random.default_rng(3)
    n, unknown = len(package.states), [f"der({name})" for name in package.states] + outputs
    seeds = random.uniform(-1, 1, n)

    instance = Instance(package, MODEL_EXCHANGE).initialise()
    x, nominal, expected, expected_changes = (doubles([0] * count) for count in (n, n, n, len(unknown)))
    assert instance.EnterContinuousTimeMode() == OK
    assert instance.GetContinuousStates(x, n) == OK and instance.GetNominalsOfContinuousStates(nominal, n) == OK
    x = doubles(np.array(x) + 1e-3 * np.array(nominal) * random.uniform(-1, 1, n))
    values = [instance.get(name) + random.uniform(-0.3, 0.3) for name in inputs]
    assert instance.SetContinuousStates(x, n) == OK
    assert instance.set(dict(zip(inputs, values))) == OK
    assert instance.GetDerivatives(expected, n) == OK
    assert instance.GetDirectionalDerivative(instance.references(unknown), len(unknown), instance.references(package.states), n,
                                             doubles(seeds), expected_changes) == OK
    instance.free()

    references = lambda names: [package.reference[name] for name in names]
    derivatives, changes = table(wine(
        seen(package.dll), uri(package.resources), package.guid, "evaluate", [n], list(x), [len(inputs)], references(inputs), values,
        [len(unknown)], references(unknown), [n], references(package.states), seeds.tolist()))
    for ours, theirs in (derivatives, expected), (changes, expected_changes):
        theirs = np.array(theirs)
        error = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-12)
        print(package.file.stem, "Windows against Linux, relative:", error)
        assert error < 1e-9


@pytest.mark.parametrize("robot", [name for name in ROBOTS if RUN_ALL or name in ("cibicik", "crane-drives", "two-arms")])
def test_model_exchange(wine, pack, tmp_path, robot):
    package = unzip(pack(ROBOTS[robot]), tmp_path)
    forces = [name for name in package.named(r".*\.(tau|force)") if package.causality[name] == "input"]
    compare_evaluations(wine, package, forces, package.named(r"tip\.(position|velocity|acceleration)\[.\]"))


def test_model_exchange_of_all_inputs(wine, exchanged_fmu):
    compare_evaluations(wine, exchanged_fmu, exchanged_fmu.inputs, exchanged_fmu.outputs)


# ---- what importers do on Windows ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd_folder(canadarm, tmp_path_factory):
    """The resources in a folder with blanks and letters that no code page has together."""
    folder = tmp_path_factory.mktemp("odd") / "a b ä λ 手"
    shutil.copytree(canadarm.resources, folder)
    return folder


@pytest.mark.parametrize("spelling", [
    lambda path: uri(path), lambda path: uri(path) + "/", lambda path: "file:///" + quote(seen(path), safe="/"),
    lambda path: "file:/" + quote(seen(path), safe="/:"), lambda path: "file://" + seen(path), lambda path: seen(path),
    lambda path: seen(path).replace("/", "\\"), lambda path: seen(path).replace("/", "\\") + "\\",
    lambda path: "file:///" + seen(path).replace("/", "\\"), lambda path: "file:" + seen(path),
    lambda path: "file:////" + seen(path), lambda path: f"file://localhost/{seen(path)}",
    lambda path: f"file:////./{seen(path)}", lambda path: f"file://./{seen(path)}",  # to Windows it looks like a server
], ids=["as it should be", "slash behind", "coded colon", "one slash", "two slashes", "plain", "backslashes", "backslash behind",
        "backslashes in a location", "no slash", "four slashes", "local host", "server by four slashes",
        "server"])
def test_locations(wine, canadarm, odd_folder, spelling):
    answer = wine(seen(canadarm.dll), spelling(odd_folder), canadarm.guid, "simulate", [0, 1, 0, 1, 0], [0])
    assert (answer.returncode, answer.stderr) == (0, "")


def test_refusal_is_logged(wine, fmu):
    answer = wine(seen(fmu.dll), "file:///Z:/no/such/folder", fmu.guid, "simulate", [0, 1, 0, 1, 0], [0])
    file, = fmu.resources.iterdir()
    assert answer.returncode == 1 and f"Z:/no/such/folder/{file.name}" in answer.stderr


def test_threads_and_a_decimal_comma(wine, fmu):
    """Many threads read the robot's or drive's file at the same time, where numbers are written with a comma; that stays so."""
    answer = wine(seen(fmu.dll), uri(fmu.resources), fmu.guid, "threads", [4])
    assert (answer.returncode, answer.stdout.strip(), answer.stderr) == (0, ",", "")
