"""The library for Windows, loaded under wine by an importer of our own (tests/windows/importer.c), against the one for Linux.
Skipped with the reason where build/windows.sh could not have mingw-w64 or wine."""

import ctypes as ct
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

import fmpy
import numpy as np
import pytest

from importer import MODEL_EXCHANGE, OK, Instance, unzip

STEP, STEPS, TOLERANCE = 0.01, 300, 1e-8
TORQUES = ["upper_joint.tau", "lower_joint.tau", "wrist_joint.tau"]
OUTPUTS = ["upper_joint.q", "lower_joint.q", "wrist_joint.q", "upper_joint.qd", "tip.position[1]", "tip.position[2]",
           "upper.deflection[2]", "lower.deflection[2]", "energy.total"]


def missing(root, name):
    """Why something of build/windows.sh is not there; None where it is."""
    why = root / f"build/out/windows/{name}.missing"
    if why.is_file(): return " ".join(why.read_text().split("\n")[1:])
    ready = root / f"build/out/windows/{name}.ready"
    return None if ready.is_file() and ready.read_text().strip() else "build/windows.sh was not run"


@pytest.fixture(scope="session")
def dll(canadarm, root):
    """The Canadarm's library for Windows."""
    if why := missing(root, "libraries"): pytest.skip(f"no library for Windows: {why}")
    return canadarm.folder / "binaries/win64" / f"{canadarm.file.stem}.dll"


@pytest.fixture(scope="session")
def wine(root):
    """wine(words...) gives what the importer answers, or its complaint where it fails."""
    if why := missing(root, "libraries"): pytest.skip(f"no importer for Windows: {why}")
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


def drive(path):
    """The path as Windows sees it; wine shows the root as Z:."""
    return f"Z:{path}"


def uri(path):
    return f"file:///{quote(drive(path), safe='/:')}"


def table(answer):
    assert answer.returncode == 0, answer.stderr
    return [np.array(line.split(","), float) for line in answer.stdout.splitlines()]


def torques():
    """Smooth, from rest to rest; one row a step."""
    t = (np.arange(STEPS) + 0.5) / STEPS
    return np.outer(np.sin(2 * np.pi * t) * np.sin(np.pi * t) ** 2, [300.0, 120.0, 10.0]).tolist()


# ---- the file ----------------------------------------------------------------------------------------------------------


def headers(file):
    return subprocess.run(["x86_64-w64-mingw32-objdump", "-p", file], check=True, capture_output=True, text=True).stdout


def test_only_fmi_functions_leave_the_library(dll, canadarm):
    names = headers(dll).split("[Ordinal/Name Pointer] Table")[1].split("\n\n")[0].splitlines()[1:]
    linux = subprocess.run(["nm", "-D", "--defined-only", canadarm.file], check=True, capture_output=True, text=True).stdout
    assert {line.split()[-1] for line in names} == {line.split()[-1].split("@")[0] for line in linux.splitlines()}
    assert len(names) == 44


def test_needs_only_what_every_windows_has(dll):
    needed = {line.split()[-1] for line in headers(dll).splitlines() if "DLL Name:" in line}
    assert needed <= {"KERNEL32.dll", "ADVAPI32.dll", "msvcrt.dll"}
    assert "setlocale" not in headers(dll), "the locale belongs to the process"


def test_both_platforms(canadarm_fmu, dll):
    assert fmpy.supported_platforms(str(canadarm_fmu)) == ["linux64", "win64"]


# ---- the numbers -------------------------------------------------------------------------------------------------------


def linux_run(package):
    """What the importer does in `simulate`."""
    instance = Instance(package).initialise(tolerance=TOLERANCE)
    rows = []
    for k, values in enumerate(torques()):
        if k == STEPS // 2: state = instance.save()
        assert instance.set(dict(zip(TORQUES, values))) == OK
        assert instance.step(k * STEP, STEP) == OK
        rows.append(instance.get(*OUTPUTS))
    instance.FreeFMUstate(ct.byref(state))
    instance.free()
    return np.array(rows)


def test_co_simulation(wine, canadarm, dll):
    """The same torques: the same motion to 1e-9. And a state that was saved, serialised and put into
    another instance goes on bit for bit as the original did."""
    references = [[canadarm.reference[name] for name in names] for names in (TORQUES, OUTPUTS)]
    rows = table(wine(drive(dll), uri(canadarm.resources), canadarm.guid, "simulate",
                      [len(TORQUES), len(OUTPUTS), STEPS, STEP, TOLERANCE], *references, *torques()))
    assert len(rows) == STEPS + STEPS // 2
    original, again = np.array(rows[:STEPS]), np.array(rows[STEPS:])
    assert (again == original[STEPS // 2:]).all()
    linux = linux_run(canadarm)
    error = np.abs(original - linux).max(axis=0) / np.abs(linux).max(axis=0)
    print("Windows against Linux, relative:", dict(zip(OUTPUTS, error)))
    assert error.max() < 1e-9


ROBOTS = sorted(file.name for file in (Path(__file__).resolve().parents[2] / "resources").glob("*.json")
                if not file.name.endswith(".schema.json"))


def doubles(values):
    return (ct.c_double * len(values))(*values)


@pytest.mark.parametrize("robot", ROBOTS)
def test_model_exchange(wine, dll, pack, root, tmp_path, robot):
    """Derivatives and a directional derivative at one state near the start, to 1e-9 of the largest."""
    package = unzip(pack(root / "resources" / robot), tmp_path)
    random = np.random.default_rng(3)
    n, inputs = len(package.states), package.named(r".*\.(tau|force)")
    inputs = [name for name in inputs if package.causality[name] == "input"]
    unknown = [f"der({name})" for name in package.states] + package.named(r"tip\.(position|velocity|acceleration)\[.\]")
    values, seeds = random.uniform(-1, 1, len(inputs)), random.uniform(-1, 1, n)

    instance = Instance(package, MODEL_EXCHANGE).initialise()
    x, expected, expected_changes = (doubles([0] * count) for count in (n, n, len(unknown)))
    assert instance.EnterContinuousTimeMode() == OK
    assert instance.GetContinuousStates(x, n) == OK
    x = doubles(np.array(x) + 1e-3 * random.uniform(-1, 1, n))
    assert instance.SetContinuousStates(x, n) == OK
    assert instance.set(dict(zip(inputs, values))) == OK
    assert instance.GetDerivatives(expected, n) == OK
    assert instance.GetDirectionalDerivative(instance.references(unknown), len(unknown), instance.references(package.states), n,
                                             doubles(seeds), expected_changes) == OK
    instance.free()

    references = lambda names: [package.reference[name] for name in names]
    derivatives, changes = table(wine(
        drive(tmp_path / "binaries/win64" / f"{package.file.stem}.dll"), uri(package.resources), package.guid, "evaluate",
        [n], list(x), [len(inputs)], references(inputs), values.tolist(), [len(unknown)], references(unknown),
        [n], references(package.states), seeds.tolist()))
    for ours, theirs in (derivatives, expected), (changes, expected_changes):
        theirs = np.array(theirs)
        error = np.abs(ours - theirs).max() / np.abs(theirs).max()
        print(robot, "Windows against Linux, relative:", error)
        assert error < 1e-9


# ---- what importers do on Windows ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd_folder(canadarm, tmp_path_factory):
    """The resources in a folder with blanks and letters that no code page has together."""
    folder = tmp_path_factory.mktemp("odd") / "a b ä λ 手"
    shutil.copytree(canadarm.resources, folder)
    return folder


@pytest.mark.parametrize("spelling", [
    lambda path: uri(path), lambda path: uri(path) + "/", lambda path: "file:///" + quote(drive(path), safe="/"),
    lambda path: "file:/" + quote(drive(path), safe="/:"), lambda path: "file://" + drive(path), lambda path: drive(path),
    lambda path: drive(path).replace("/", "\\"), lambda path: drive(path).replace("/", "\\") + "\\",
    lambda path: "file:///" + drive(path).replace("/", "\\"), lambda path: "file:" + drive(path),
    lambda path: "file:////" + drive(path), lambda path: f"file://localhost/{drive(path)}",
    lambda path: f"file:////./{drive(path)}", lambda path: f"file://./{drive(path)}",  # to Windows it looks like a server
], ids=["as it should be", "slash behind", "coded colon", "one slash", "two slashes", "plain", "backslashes", "backslash behind",
        "backslashes in a location", "no slash", "four slashes", "local host", "server by four slashes",
        "server"])
def test_locations(wine, canadarm, dll, odd_folder, spelling):
    answer = wine(drive(dll), spelling(odd_folder), canadarm.guid, "simulate", [0, 1, 0, 1, 0], [0])
    assert (answer.returncode, answer.stderr) == (0, "")


def test_refusal_is_logged(wine, canadarm, dll):
    answer = wine(drive(dll), "file:///Z:/no/such/folder", canadarm.guid, "simulate", [0, 1, 0, 1, 0], [0])
    assert answer.returncode == 1 and "Z:/no/such/folder/robot.json" in answer.stderr


def test_threads_and_a_decimal_comma(wine, canadarm, dll):
    """Many threads read the robot file at the same time, where numbers are written with a comma; that stays so."""
    answer = wine(drive(dll), uri(canadarm.resources), canadarm.guid, "threads", [4])
    assert (answer.returncode, answer.stdout.strip(), answer.stderr) == (0, ",", "")
