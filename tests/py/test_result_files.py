"""Result files: never a file that the command reads, never half a file, never a file left over."""

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import time

import pytest

from program import load, resource as robot_file

# commands with every option that names a file to write; {x}: the robot file, {d}: the folder, {s}: a STATE
PLAIN = [
    ["check", "{x}", "-o"], ["eval", "{x}", "{s}", "-o"], ["matrices", "{x}", "{s}", "-o"], ["static", "{x}", "-o"],
    ["simulate", "{x}", "--until", "0.01", "--step", "0.01", "-o"], ["modes", "{x}", "-o"],
    ["modes", "{x}", "--sweep", "lower_joint=0:1:3", "--plot"], ["linearize", "{x}", "-o"], ["linearize", "{x}", "--python"],
    ["linearize", "{x}", "--matlab"], ["zeros", "{x}", "--input", "lower_joint.tau", "--output", "lower_joint.q", "-o"],
    ["inverse", "{x}", "--profile", "cycloid", "--rate", "1,1,1", "--period", "1,1,1", "--until", "0.02", "--step", "0.01", "-o"],
    ["inverse", "{x}", "--profile", "cycloid", "--rate", "1,1,1", "--period", "1,1,1", "--until", "0.02", "--step", "0.01",
     "--elastic"],
    ["fmu", "{x}", "-o"], ["upgrade", "{x}", "-o"], ["bench", "{x}", "-o"], ["drive", "controller", "{x}", "-o"],
    ["equations", "{x}", "-o"], ["view", "{x}", "-o"], ["report", "{x}", "-o"],
]
NAMED = [["picture", "{x}", "-o"], ["fmu", "{x}", "--generated", "-o"]]  # .svg or .png; takes a compiler
QUICK = [command for command in PLAIN if command[0] != "bench"]


def name_of(command): return " ".join(word for word in command if "{" not in word and word[0].isalpha() or word == command[-1])


def fill(command, tmp_path):
    names = {"x": tmp_path / "x.json", "s": tmp_path / "s.json", "d": tmp_path}
    return [part.format(**names) for part in command]


@pytest.fixture
def folder(request, limber, tmp_path):
    command = getattr(request.node, "callspec", None) and request.node.callspec.params.get("command")
    if command and command[0] == "view" and not (limber.parent / "viewer.js").is_file(): pytest.skip("viewer.js was not built")
    (tmp_path / "s.json").write_text("{}")
    shutil.copy(robot_file("canadarm"), tmp_path / "x.json")
    return tmp_path


def run(limber, *arguments, **more):
    return subprocess.run([limber, *map(str, arguments)], capture_output=True, text=True, timeout=60, **more)


@pytest.mark.parametrize("way", ["same name", "another name", "symbolic link", "hard link"])
@pytest.mark.parametrize("command", PLAIN + NAMED, ids=name_of)
def test_what_is_read_is_not_written(limber, folder, command, way):
    file, text = folder / "x.json", (folder / "x.json").read_bytes()
    written = folder / "y.json"
    if way == "same name": written = file
    elif way == "another name": written = folder / "." / ".." / folder.name / "x.json"
    elif way == "symbolic link": written.symlink_to(file)
    else: os.link(file, written)
    before = sorted(folder.iterdir())
    result = run(limber, *fill(command, folder), written)
    assert result.returncode == 2 and "the same file as" in result.stderr
    assert file.read_bytes() == text and sorted(folder.iterdir()) == before


@pytest.mark.parametrize("read", ["robot", "state"])
def test_nor_by_the_name_that_view_chooses(limber, tmp_path, read):
    """It writes ROBOT.html where no name is given."""
    if not (limber.parent / "viewer.js").is_file(): pytest.skip("viewer.js was not built")
    robot, state = (tmp_path / "x.html", tmp_path / "s.json") if read == "robot" else (tmp_path / "x.json", tmp_path / "x.html")
    shutil.copy(robot_file("canadarm"), robot)
    state.write_text("{}")
    result = run(limber, "view", robot, "--at", state, cwd=tmp_path)
    assert result.returncode == 2 and "name a file with -o" in result.stderr
    assert robot.read_bytes() == robot_file("canadarm").read_bytes() and state.read_text() == "{}" and len(list(tmp_path.iterdir())) == 2


def test_nor_a_state_from_standard_input(limber, folder):
    with open(folder / "s.json") as state:
        result = run(limber, "eval", folder / "x.json", "-", "-o", folder / "s.json", stdin=state)
    assert result.returncode == 2 and (folder / "s.json").read_text() == "{}"


def test_nor_two_results_under_one_name(limber, folder):
    result = run(limber, "linearize", folder / "x.json", "--python", folder / "out", "-o", folder / "out")
    assert result.returncode == 2 and not (folder / "out").exists()


@pytest.mark.parametrize("command", [["fmu", "{x}"], ["drive", "servo"]], ids=lambda c: c[0])
def test_nor_the_library_that_is_packed(limber, folder, command):
    library = folder / "library.so"
    shutil.copy(limber.parent / ("limber_fmu.so" if command[0] == "fmu" else "servo.so"), library)
    before = library.read_bytes()
    variable = "LIMBER_FMU_LIBRARY" if command[0] == "fmu" else "LIMBER_DRIVE_LIBRARY"
    result = run(limber, *fill(command, folder), "-o", library, env={**os.environ, variable: str(library)})
    assert result.returncode == 1 and "the same file as" in result.stderr and library.read_bytes() == before


def test_nor_the_robot_among_the_generated_files(limber, folder):
    robot = folder / "CMakeLists.txt"
    shutil.copy(folder / "x.json", robot)
    result = run(limber, "generate", robot, "-o", folder)
    assert result.returncode == 1 and "is the robot file" in result.stderr
    assert robot.read_bytes() == (folder / "x.json").read_bytes()
    assert sorted(file.name for file in folder.iterdir()) == ["CMakeLists.txt", "s.json", "x.json"]


@pytest.mark.parametrize("command", QUICK + [["drive", "servo", "-o"]], ids=name_of)
def test_a_link_is_followed(limber, folder, command):
    """The file behind a symbolic link is replaced, and the link stays."""
    if command[0] == "upgrade": (folder / "x.json").write_text(json.dumps({**load("canadarm"), "format": "limber-robot/1"}))
    target, link = folder / "target", folder / "link"
    target.write_text("old")
    link.symlink_to(target)
    result = run(limber, *fill(command, folder), link)
    assert result.returncode == 0, result.stderr
    assert link.is_symlink() and target.read_bytes() != b"old" and target.stat().st_size > 100


def limited(bytes_):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))


@pytest.mark.parametrize("command", QUICK + [["drive", "servo", "-o"]], ids=name_of)
@pytest.mark.parametrize("old", [None, "old"], ids=["new file", "old file"])
def test_no_half_file_under_its_name(limber, folder, command, old):
    """Writing fails after 100 bytes, as on a full disk: what was there stays."""
    out = folder / "out"
    if old is not None: out.write_text(old)
    before = sorted(folder.iterdir())
    result = run(limber, *fill(command, folder), out, preexec_fn=limited(100))
    assert result.returncode == 1 and "could not be written: File too large" in result.stderr
    assert sorted(folder.iterdir()) == before and (old is None or out.read_text() == old)


def test_no_half_set_of_generated_files(limber, folder):
    sizes = []
    assert run(limber, "generate", robot_file("chain-7"), "-o", folder / "code").returncode == 0
    names = sorted(file.name for file in (folder / "code").iterdir())
    for file in (folder / "code").iterdir():
        sizes.append(file.stat().st_size)
        file.write_text("old")
    result = run(limber, "generate", robot_file("chain-7"), "-o", folder / "code", preexec_fn=limited(max(sizes) - 1))
    assert result.returncode == 1 and "could not be written" in result.stderr
    assert sorted(file.name for file in (folder / "code").iterdir()) == names
    assert all(file.read_text() == "old" for file in (folder / "code").iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_an_interruption_leaves_nothing(limber, folder, number):
    before = sorted(folder.iterdir())
    command = ["simulate", folder / "x.json", "--until", "1e5", "--step", "1e-3", "-o", folder / "out.csv"]
    # in the background of a shell or under nohup these signals are ignored, which the program respects
    process = subprocess.Popen([limber, *map(str, command)], stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    try:
        deadline = time.monotonic() + 30
        while not list(folder.glob("*.part")) and time.monotonic() < deadline: time.sleep(0.01)
        assert list(folder.glob("*.part"))
        process.send_signal(number)
        assert process.wait(30) == -number
    finally:
        process.kill()
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_an_interruption_of_the_compiler_leaves_nothing(limber, folder, number):
    """--generated: sources and library are in a temporary folder while the compiler runs, which here takes its time."""
    compiler, temporary = folder / "cc", folder / "tmp"
    compiler.write_text("#!/bin/sh\nexec sleep 20\n")
    compiler.chmod(0o755)
    temporary.mkdir()
    before = sorted(folder.iterdir())
    process = subprocess.Popen([limber, "fmu", folder / "x.json", "--generated", "-o", folder / "x.fmu"], stderr=subprocess.DEVNULL,
                               env={**os.environ, "CC": str(compiler), "TMPDIR": str(temporary)}, start_new_session=True,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    try:
        deadline = time.monotonic() + 30
        while len(list(temporary.glob("*/*.c"))) < 3 and time.monotonic() < deadline: time.sleep(0.01)
        time.sleep(0.2)
        assert list(temporary.glob("*/*.c"))
        process.send_signal(number)
        assert process.wait(30) == -number
    finally:
        with contextlib.suppress(ProcessLookupError): os.killpg(process.pid, signal.SIGKILL)
    assert sorted(folder.iterdir()) == before and list(temporary.iterdir()) == []


def test_a_closed_pipe_leaves_nothing(limber, folder):
    """Standard output ends early while a second table is open."""
    command = ["inverse", folder / "x.json", "--profile", "cycloid", "--rate", "1,1,1", "--period", "1,1,1", "--until", "5",
               "--step", "1e-3", "--elastic", folder / "elastic.csv"]
    process = subprocess.Popen([limber, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == -signal.SIGPIPE
    assert sorted(file.name for file in folder.iterdir()) == ["s.json", "x.json"]


@pytest.mark.parametrize("command", [["check", "{x}", "-o"], ["linearize", "{x}", "--python"]], ids=name_of)
def test_a_full_device_is_reported(limber, folder, command):
    result = run(limber, *fill(command, folder), "/dev/full")
    assert result.returncode == 1 and "could not be written: No space left on device" in result.stderr
