"""Large and odd input: within its limits it ends in bounded time, outside it is refused with the reason."""

import json
import os
import pty
import resource
import subprocess
import zipfile
from xml.etree import ElementTree

import pytest

from program import resource as robot_file

SECONDS = 60  # far above what any of these takes, far below what the defects took


def run(limber, *arguments, **more):
    return subprocess.run([limber, *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS, **more)


def write(tmp_path, description):
    file = tmp_path / "robot.json"
    file.write_text(description if isinstance(description, str) else json.dumps(description))
    return file


def rigid(count, type_="revolute"):
    body = {"mass": 1, "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "tip": {"xyz": [0.2, 0, 0]}}
    return {"format": "limber-robot/2", "name": "chain",
            "links": [{"name": f"l{i}", "joint": {"name": f"j{i}", "type": type_}, "rigid": body} for i in range(count)]}


def flexible(count, **modes):
    families = {family: {"shape": "craig-bampton", "count": n} for family, n in modes.items()}
    body = {"length": 1, "mass_per_length": 1, "EIy": 1e4, "EIz": 1e4, "modes": families}
    return {"format": "limber-robot/2", "name": "chain",
            "links": [{"name": f"l{i}", "joint": {"name": f"j{i}", "type": "revolute"}, "beam": body} for i in range(count)]}


LARGE = {"100 links with 10 modes": flexible(100, y=5, z=5), "500 rigid links": rigid(500),
         "50 + 50 modes with foreshortening": flexible(1, y=50, z=50), "6 links with 24 modes": flexible(6, y=12, z=12)}


@pytest.mark.parametrize("name", LARGE)
def test_check_of_a_large_robot_ends(limber, tmp_path, name):
    """Within 10 CPU seconds: it took 60 with 50 + 50 modes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = run(limber, "check", write(tmp_path, LARGE[name]))
    assert result.returncode == 0 and "coordinates" in result.stdout
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 10


def test_fmu_of_many_links_ends(limber, tmp_path):
    """1000 links within 30 CPU seconds, of which it needs about 10; the lists of dependencies, 400 MB, grow with the square of the number
    of links. It took more than that when every pair of links was found by walking the tree."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = run(limber, "fmu", write(tmp_path, rigid(1000)), "-o", tmp_path / "chain.fmu")
    (tmp_path / "chain.fmu").unlink()  # 100 MB
    assert result.returncode == 0, result.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 30


@pytest.mark.parametrize("command, shown", [(["check"], "modes of links: 10 of 100"), (["fmu", "-o", "x.fmu"], "model description: ")],
                         ids=["check", "fmu"])
def test_long_commands_show_their_progress(limber, tmp_path, command, shown):
    """On a terminal, and nowhere else."""
    file = write(tmp_path, flexible(100, y=2))
    screen, terminal = pty.openpty()
    process = subprocess.Popen([limber, command[0], file, *command[1:]], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    text = b""
    try:
        while part := os.read(screen, 4096): text += part
    except OSError: pass  # the terminal is closed
    os.close(screen)
    assert process.wait(SECONDS) == 0 and shown in text.decode()
    assert run(limber, command[0], file, *command[1:], cwd=tmp_path).stderr == ""


SIMULATE = ["simulate", "--until", "1", "--step", "1", "-o", "x.csv"]
READERS = [["check"], ["eval", "-"], SIMULATE, ["modes"], ["linearize"], ["static"], ["matrices", "-"], ["equations"], ["generate", "-o", "code"],
           ["picture", "-o", "x.svg"], ["report", "-o", "x.html"],
           ["inverse", "--profile", "cycloid", "--rate", "1", "--period", "1", "--until", "1", "--step", "1"],
           ["zeros", "--input", "tip.force[1]", "--output", "tip.position[1]"]]
# 20 000 fixed links have nothing to drive, and no input acts on anything
NOTHING = {"inverse": (1, "nothing drives this robot"), "zeros": (3, "does not act on")}


@pytest.mark.parametrize("command", [*(command for command in READERS if command[0] != "inverse"), ["fmu", "-o", "x.fmu"],
                                     ["drive controller", "-o", "x.fmu"]], ids=lambda command: command[0])
def test_too_many_coordinates_are_refused_by_all(limber, tmp_path, command):
    file = write(tmp_path, rigid(20001))
    result = run(limber, *command[0].split(), file, *command[1:], input="{}", cwd=tmp_path)
    assert result.returncode == 1 and "20001 coordinates; at most 20000 are supported" in result.stderr


def small_stack(): resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_many_links_need_no_stack(limber, tmp_path, command):
    """20 000 fixed links with a stack of 1 MB. generate had not ended after 60 s, static took 39 s."""
    file = write(tmp_path, rigid(20000, "fixed"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = run(limber, command[0], file, *command[1:], input="{}", cwd=tmp_path, preexec_fn=small_stack)
    code, text = NOTHING.get(command[0], (0, ""))
    assert result.returncode == code and text in result.stderr, (result.returncode, result.stderr)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 15


def test_a_page_of_many_links_needs_no_stack(limber, tmp_path):
    if not (limber.parent / "viewer.js").is_file(): pytest.skip("viewer.js was not built")
    test_many_links_need_no_stack(limber, tmp_path, ["view", "-o", "x.html"])


def test_a_name_fits_the_name_of_a_file(limber, tmp_path):
    robot = {**rigid(1), "name": "n" * 200}
    assert run(limber, "fmu", write(tmp_path, robot), "-o", tmp_path / "x.fmu").returncode == 0
    with zipfile.ZipFile(tmp_path / "x.fmu") as fmu: assert f"binaries/linux64/{'n' * 200}.so" in fmu.namelist()
    result = run(limber, "fmu", write(tmp_path, {**robot, "name": "n" * 2000}), "-o", tmp_path / "y.fmu")
    assert result.returncode == 1 and "robot name must have at most 200 letters, this one has 2000" in result.stderr
    assert not (tmp_path / "y.fmu").exists()


@pytest.mark.parametrize("bad", ["\x01", "\x1b[31m", "\x7f\x08", "\ufffe", "\uffff"])
def test_a_description_is_text(limber, tmp_path, bad):
    result = run(limber, "fmu", write(tmp_path, {**rigid(1), "description": f"a{bad}b"}), "-o", tmp_path / "x.fmu")
    assert result.returncode == 1 and "description must not contain control characters" in result.stderr


@pytest.mark.parametrize("bad", [b"\xed\xa0\x80", b"\xc0\x80", b"\xc0\xbc", b"\xe0\x80\xbc", b"\xf4\x90\x80\x80", b"\xf0\x80\x80\xbc", b"\xf5\x80\x80\x80"],
                         ids=lambda bad: bad.hex())
def test_a_description_is_utf_8(limber, tmp_path, bad):
    """Surrogates, longer forms than needed, numbers above U+10FFFF: no importer could read the FMU."""
    (tmp_path / "robot.json").write_bytes(json.dumps({**rigid(1), "description": "a@b"}).encode().replace(b"@", bad))
    result = run(limber, "fmu", tmp_path / "robot.json", "-o", tmp_path / "x.fmu", errors="replace")
    assert result.returncode == 1 and not (tmp_path / "x.fmu").exists()
    assert "UTF-8" in result.stderr


@pytest.mark.parametrize("good", ["a\tb\nc\r\nd", "\"<&>' ]]>", "\x7f\u0085\u2028 \U0001f916", "\u07ff\u0800\ud7ff\ue000\ufffd\U00010000\U0010ffff"])
def test_and_any_text_is_one(limber, tmp_path, good):
    assert run(limber, "fmu", write(tmp_path, {**rigid(1), "description": good}), "-o", tmp_path / "x.fmu").returncode == 0
    with zipfile.ZipFile(tmp_path / "x.fmu") as fmu: root = ElementTree.fromstring(fmu.read("modelDescription.xml"))
    assert root.get("description") == good


def test_repeated_keys_are_counted_in_linear_time(limber, tmp_path):
    """1e5 of them took 39 s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = run(limber, "check", write(tmp_path, "{" + ",\n".join(['"a": 1'] * 100000) + "}"))
    assert result.returncode == 1 and 'line 100000, column 4: the key "a" occurs twice' in result.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 5


def test_a_pipe_without_a_writer_is_no_robot(limber, tmp_path):
    os.mkfifo(tmp_path / "robot.json")
    result = run(limber, "check", tmp_path / "robot.json")
    assert result.returncode == 1 and "cannot be read: Connection timed out" in result.stderr


def test_but_one_with_data_is(limber, tmp_path):
    reader, writer = os.pipe()
    os.write(writer, robot_file("canadarm").read_bytes())
    os.close(writer)
    result = run(limber, "check", f"/dev/fd/{reader}", pass_fds=[reader])
    os.close(reader)
    assert result.returncode == 0 and result.stdout.startswith("canadarm")


@pytest.mark.parametrize("tolerance", ["1e-300", "1e-16"])
def test_a_tolerance_beyond_double_precision_is_named(limber, tmp_path, tolerance):
    run_it = ["simulate", robot_file("canadarm"), "--until", "1", "--step", "0.1"]
    result = run(limber, *run_it, "--rtol", tolerance)
    assert result.returncode == 2 and "--rtol takes a number from 1e-15 to less than 1" in result.stderr
    result = run(limber, *run_it, "--set", f"solver.relative_tolerance={tolerance}")
    assert result.returncode == 1 and "solver.relative_tolerance" in result.stderr and "from 1e-15" in result.stderr


TWO_LINKS = {**rigid(2), "gravity": [0, -9.81, 0]}
VIOLENT = {"tau = 1e6, h = 1 s": (1, [], "time,j0.tau,j1.tau\n0,1e6,1e6\n"),
           "gravity 1e12, h = 1 s": (1, ["--set", "gravity[2]=-1e12"], None), "h = 1e6 s": (1e6, [], None)}


@pytest.mark.parametrize("method", ["auto", "cvode", "esdirk", "explicit", "symmetric"])
@pytest.mark.parametrize("name", VIOLENT)
def test_a_step_is_bounded(limber, tmp_path, name, method):
    """One communication step, two rigid links: it ends, at its end or with the reason, in at most solver.max_steps internal steps."""
    step, settings, inputs = VIOLENT[name]
    if inputs is not None:
        (tmp_path / "inputs.csv").write_text(inputs)
        settings = [*settings, "--inputs", tmp_path / "inputs.csv"]
    result = run(limber, "simulate", write(tmp_path, TWO_LINKS), "--until", step, "--step", step, "--method", method, "--stats",
                 "--set", "solver.max_steps=20000", *settings)
    statistics = json.loads(result.stderr.splitlines()[-1])
    assert statistics["steps"] <= 20000
    assert result.returncode == 0 or (result.returncode == 3 and "at t = " in result.stderr), result.stderr


@pytest.mark.parametrize("name", ["canadarm", "four-bar", "crane", "dualemps"])
@pytest.mark.parametrize("load", ["gravity", "tip"])
def test_a_static_start_under_loads_that_overflow(limber, tmp_path, name, load):
    """It ended the process with gravity[2] = -1e152, and with tip.force[2] = 1e160."""
    (tmp_path / "inputs.csv").write_text("time,tip.force[2]\n0,1e160\n")
    loads = ["--set", "gravity[2]=-1e152"] if load == "gravity" else ["--inputs", tmp_path / "inputs.csv"]
    result = run(limber, "simulate", robot_file(name), "--until", 0.01, "--step", 0.01, "--set", "start_static=true", *loads)
    assert result.returncode == 3 and ("loads are too large" in result.stderr or "no static equilibrium" in result.stderr)


def test_without_a_limit_too(limber, tmp_path):
    """solver.max_steps = 0: the motion is too fast sooner than it is endless."""
    (tmp_path / "inputs.csv").write_text(VIOLENT["tau = 1e6, h = 1 s"][2])
    result = run(limber, "simulate", write(tmp_path, TWO_LINKS), "--until", 1, "--step", 1, "--inputs", tmp_path / "inputs.csv")
    assert result.returncode in (0, 3)


def test_frames_and_actuators_without_links(limber, tmp_path):
    """Found by fuzzing: an actuator at a frame, and no links at all, ended the program."""
    robot = {"format": "limber-robot/2", "name": "none", "frames": [{"name": "f", "link": "arm"}, {"name": "g", "link": "arm"}],
             "actuators": [{"name": "a", "type": "line", "from": {"frame": "f"}, "to": {"frame": "g"}}]}
    result = run(limber, "check", write(tmp_path, robot))
    assert result.returncode == 1 and "links: missing" in result.stderr
