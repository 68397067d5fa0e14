"""`limber view`: the page in a real browser. Positions in the scene against `limber eval`, results against their CSV, loops that stay
closed while sliders move."""

import csv
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
VIEWER = ROOT / "build/out/viewer"
ROBOTS = sorted(file for file in (ROOT / "resources").glob("*.json") if not file.name.endswith(".schema.json"))
MOST_BYTES = 2_000_000  # of a page with a result of ten seconds


def why_missing(*names):
    """Why the page cannot be built, or not be opened, here; None where it can."""
    for name in names:
        ready, missing = VIEWER / f"{name}.ready", VIEWER / f"{name}.missing"
        if not (ready.is_file() and ready.read_text().strip()):
            return " ".join(missing.read_text().split("\n")[1:]) if missing.is_file() else f"no {ready}"
    return None


@pytest.fixture(scope="module")
def page_script():
    if why := why_missing("libraries"): pytest.skip(f"the page cannot be built: {why}")


@pytest.fixture(scope="module")
def browse(page_script):
    """A function that opens pages and returns what they show."""
    subprocess.run([ROOT / "build/viewer.sh", "browser"], check=True, capture_output=True)
    if why := why_missing("browser"): pytest.skip(f"no browser: {why}")
    program = subprocess.Popen(["node", ROOT / "tests/view/browse.mjs", VIEWER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(*tasks):
        program.stdin.write(json.dumps([{**task, "page": str(task["page"])} for task in tasks]) + "\n")
        program.stdin.flush()
        answers = json.loads(program.stdout.readline())
        for answer in answers: assert (answer["errors"], answer["requests"]) == ([], [])
        return [answer["results"] for answer in answers]

    yield run
    program.stdin.close()
    program.wait(timeout=30)


def view(limber, robot, page, *options, check=True, state=None):
    result = subprocess.run([limber, "view", robot, "-o", page, *options], capture_output=True, text=True, timeout=60,
                            input=None if state is None else json.dumps(state))
    if check: assert result.returncode == 0, result.stderr
    return result


def evaluate(limber, robot, state):
    result = subprocess.run([limber, "eval", robot, "-"], capture_output=True, text=True, input=json.dumps(state), timeout=60)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def with_hinges(limber, robot, folder):
    """The robot with a frame at every hinge, so that eval reports where the joints are."""
    new = folder / f"{robot.stem}-2.json"
    if json.loads(robot.read_text())["format"] == "limber-robot/1":
        subprocess.run([limber, "upgrade", robot, "-o", new], check=True, capture_output=True)
    else: new.write_text(robot.read_text())
    description = json.loads(new.read_text())
    links = description["links"]
    description["frames"] = [*description.get("frames", []), *(
        {"name": f"hinge_of_{i}", "link": link["name"], "at": "hinge", "sensor": True} for i, link in enumerate(links))]
    new.write_text(json.dumps(description))
    return new, [link["joint"].get("name", link["name"]) for link in links]


def project(shown, point):
    """Of a point of the world, with the camera of the page."""
    inverse, projection = (np.array(shown[key]).reshape(4, 4).T for key in ("inverse", "projection"))
    clip = projection @ inverse @ [*point, 1]
    return clip[:3] / clip[3]


def pixels(file):
    return np.asarray(Image.open(file).convert("RGB"), dtype=int)


def test_every_robot(limber, browse, tmp_path):
    """No console error, no request (checked by browse), joints and tip where eval has them, something to see."""
    tasks = []
    for robot in ROBOTS:
        view(limber, robot, tmp_path / f"{robot.stem}.html")
        tasks.append({"page": tmp_path / f"{robot.stem}.html", "screenshot": str(tmp_path / f"{robot.stem}.png"), "steps": [["places"]]})
    for robot, (shown,) in zip(ROBOTS, browse(*tasks)):
        closed = json.loads(subprocess.run([limber, "check", robot, "--json"], capture_output=True, text=True).stdout).get("start", {})
        state = {"q": closed["q"]} if "q" in closed else {}
        extended, joints = with_hinges(limber, robot, tmp_path)
        wanted = evaluate(limber, extended, state)
        expected = {"tip": wanted["tip_position"]}
        for i, joint in enumerate(joints): expected[f"joint {joint}"] = wanted["frames"][f"hinge_of_{i}"]["position"]
        for name, position in expected.items():
            assert np.allclose(shown["places"][name], position, rtol=0, atol=1e-6), (robot.name, name)
            assert np.allclose(shown["projected"][name], project(shown, position), rtol=0, atol=1e-6), (robot.name, name)
        scene = pixels(tmp_path / f"{robot.stem}.png")[:, :490]
        drawn = np.abs(scene - scene[2, 2]).sum(axis=2) > 60
        assert drawn.mean() > 0.005, f"{robot.name}: the scene is empty"


def test_a_bent_pose(limber, browse, tmp_path):
    """--at: the elastic coordinates of a STATE reach the scene."""
    robot, state = ROOT / "resources/canadarm-spatial.json", {"q": {"upper_joint.q": 0.4, "lower_joint.q": -0.7, "upper.eta[1]": 0.3, "lower.eta[2]": -0.02}}
    view(limber, robot, tmp_path / "page.html", "--at", "-", state=state)
    [[shown]] = browse({"page": tmp_path / "page.html", "steps": [["places"]]})
    assert np.allclose(shown["places"]["tip"], evaluate(limber, robot, state)["tip_position"], rtol=0, atol=1e-9)


def test_space_presses_what_is_focused(limber, browse, result, tmp_path):
    """By keyboard alone: space plays, but on a button or a heading it does what it does there."""
    view(limber, ROOT / "resources/canadarm.json", tmp_path / "page.html", "--result", result)
    [[on_heading, on_scene]] = browse({"page": tmp_path / "page.html", "steps": [["space", ".panel summary"], ["space", ".scene canvas"]]})
    assert (on_heading, on_scene) == (False, True)


@pytest.fixture(scope="module")
def result(limber, tmp_path_factory):
    """Ten seconds of the Canadarm, bent at the start."""
    folder = tmp_path_factory.mktemp("result")
    state, file = folder / "state.json", folder / "result.csv"
    state.write_text(json.dumps({"q": {"upper_joint.q": 0.2, "lower.eta[1]": 0.1}, "qd": {"upper_joint.qd": 0.05}}))
    subprocess.run([limber, "simulate", ROOT / "resources/canadarm.json", "--until", "10", "--step", "0.01", "--at", state, "-o", file], check=True)
    return file


def test_sliders_and_results(limber, browse, result, tmp_path):
    """A slider moves the robot from where the result has it; moving the time shows the result again."""
    view(limber, ROOT / "resources/canadarm.json", tmp_path / "page.html", "--result", result)
    [[_, at_five, moved, _, again]] = browse({"page": tmp_path / "page.html", "steps": [
        ["seek", 5], ["places"], ["slide", "wrist_joint.q", 0.5], ["seek", 5], ["places"]]})
    row = rows_of(result)[500]
    assert moved["q"]["wrist_joint.q"] == pytest.approx(0.5, abs=1e-12) and moved["q"]["upper_joint.q"] == pytest.approx(float(row["upper_joint.q"]), abs=1e-9)
    assert np.allclose(again["places"]["tip"], at_five["places"]["tip"], rtol=0, atol=1e-12)


def rows_of(file):
    with file.open() as stream: return list(csv.DictReader(stream))


def test_result(limber, browse, result, tmp_path):
    """At the time of a row the tip is where the CSV has it; playing and keys move the time; the page is small."""
    page, rows = tmp_path / "page.html", rows_of(result)
    view(limber, ROOT / "resources/canadarm.json", page, "--result", result, "--result", result)
    assert page.stat().st_size < MOST_BYTES
    chosen = [rows[i] for i in (0, 137, 512, 999, 1000)]
    steps = [step for row in chosen for step in (["seek", float(row["time"])], ["places"])]
    [answers] = browse({"page": page, "steps": [*steps, ["seek", 0], ["play", 0.7], ["places"], ["press", "End"], ["press", "ArrowLeft"]]})
    for row, shown in zip(chosen, answers[1:10:2]):
        assert np.allclose(shown["places"]["tip"], [float(row[f"tip.position[{k}]"]) for k in (1, 2, 3)], rtol=0, atol=1e-6)
    played, end, back = answers[11], answers[13], answers[14]
    assert 0.2 < played < 9.9 and end == pytest.approx(10) and back == pytest.approx(9.99)
    before = max((row for row in rows if float(row["time"]) <= played), key=lambda row: float(row["time"]))
    assert np.allclose(answers[12]["places"]["tip"], [float(before[f"tip.position[{k}]"]) for k in (1, 2, 3)], rtol=0, atol=0.02)


def test_sliders_keep_loops_closed(limber, browse, tmp_path):
    """Every slider of robots with loops, over its whole range: gaps stay below 1e-9, or the slider stops."""
    names = ["parallelogram", "four-bar", "two-arms", "dualemps"]
    for name in names: view(limber, ROOT / f"resources/{name}.json", tmp_path / f"{name}.html")
    shown = browse(*({"page": tmp_path / f"{name}.html", "steps": [["sliders"]]} for name in names))
    tasks = [{"page": tmp_path / f"{name}.html", "steps": [["slide", slider["name"], slider["min"] + part * (slider["max"] - slider["min"])]
              for slider in sliders for part in (0.55, 0.3, 0.62)]} for name, [sliders] in zip(names, shown)]
    moved = 0
    for name, answers in zip(names, browse(*tasks)):
        for answer in answers:
            assert answer["gap"] < 1e-9 and max(answer["loops"]) < 1e-9, name
            moved += answer["free"]
    assert moved >= 20


def test_loops_move_together(limber, browse, tmp_path):
    """The legs of a parallelogram stay parallel while one is turned, and its platform keeps its direction."""
    view(limber, ROOT / "resources/parallelogram.json", tmp_path / "page.html")
    [[moved]] = browse({"page": tmp_path / "page.html", "steps": [["slide", "foot1.q", -0.9]]})
    q = moved["q"]
    assert moved["free"] and [q["foot1.q"], q["foot2.q"], q["foot3.q"], q["head1.q"]] == pytest.approx([-0.9, -0.9, -0.9, 0.9], abs=1e-9)


def test_modes(limber, browse, tmp_path):
    """The list is that of `limber modes`; a mode moves the robot along its shape."""
    for name in ("crane-drives", "parallelogram"):
        robot = ROOT / f"resources/{name}.json"
        view(limber, robot, tmp_path / f"{name}.html", "--modes")
    first = {"page": tmp_path / "crane-drives.html", "steps": [["modes"], ["mode", 0, 0], ["places"], ["mode", 0, np.pi], ["places"]]}
    answers = browse(first, {"page": tmp_path / "parallelogram.html", "steps": [["modes"], ["mode", 1, 0], ["places"]]})
    for name, [modes, *_] in zip(("crane-drives", "parallelogram"), answers):
        wanted = json.loads(subprocess.run([limber, "modes", ROOT / f"resources/{name}.json", "--json"], capture_output=True, text=True).stdout)
        for key in ("frequency", "damping_ratio"):
            assert np.allclose([mode[key] for mode in modes], wanted[key][:len(modes)], rtol=1e-6, atol=1e-9)
    one, other = answers[0][2]["places"]["tip"], answers[0][4]["places"]["tip"]
    assert np.linalg.norm(np.subtract(one, other)) > 0.02


@pytest.mark.parametrize("name", ["parallelogram", "four-bar"])
def test_modes_keep_loops_closed(limber, browse, tmp_path, name):
    """Where more legs than needed bend, joints alone cannot close the loops; a mode with a turning joint must not turn it over."""
    view(limber, ROOT / f"resources/{name}.json", tmp_path / "page.html", "--modes")
    steps = [step for mode in range(3) for phase in (0, 2, np.pi) for step in (["mode", mode, phase], ["places"])]
    [[start, *answers]] = browse({"page": tmp_path / "page.html", "steps": [["places"], *steps]})
    size = max(np.linalg.norm(np.subtract(a, b)) for a in start["places"].values() for b in start["places"].values())
    for gap, shown in zip(answers[::2], answers[1::2]):
        assert gap < 1e-9
        moved = [np.linalg.norm(np.subtract(shown["places"][joint], start["places"][joint])) for joint in start["places"]]
        assert max(moved) < 0.25 * size


def test_the_first_mode_moves(limber, browse, tmp_path):
    """Drives have modes that do not oscillate; the page starts with one that does."""
    view(limber, ROOT / "resources/crane-drives.json", tmp_path / "page.html", "--modes")
    [[modes, shown]] = browse({"page": tmp_path / "page.html", "steps": [["modes"], ["shown_mode"]]})
    assert modes[0]["frequency"] == 0 and modes[shown]["frequency"] > 0


def test_everything_fits(limber, browse, tmp_path):
    """At the start all sections, payloads and cylinders are inside the picture: also of thick links, and of a payload far from the tip."""
    thick = json.loads((ROOT / "tests/data/good/section-tube.json").read_text())
    for link in thick["links"]:
        if "beam" in link: link["beam"]["section"] = {"shape": "tube", "outer_diameter": 2 * link["beam"]["length"], "wall": 0.1}
    (tmp_path / "thick.json").write_text(json.dumps(thick))
    robots = [tmp_path / "thick.json", *(ROOT / f"tests/data/good/{name}.json" for name in ("spinning-tip-mass", "actuators", "smallest"))]
    for robot in robots: view(limber, robot, tmp_path / f"{robot.stem}.html")
    for robot, [extent] in zip(robots, browse(*({"page": tmp_path / f"{robot.stem}.html", "steps": [["extent"]]} for robot in robots))):
        assert np.abs(extent).max() < 1, robot.stem


def test_labels_and_links(limber, browse, tmp_path):
    """Labels do not overlap; a link can be hidden; the pointer shows names; dark pages are dark."""
    view(limber, ROOT / "resources/concrete-pump.json", tmp_path / "page.html")
    [answers] = browse({"page": tmp_path / "page.html", "dark": True, "screenshot": str(tmp_path / "dark.png"),
                        "steps": [["show", "names", True], ["labels"], ["hide", 3], ["hover", "section4"], ["hover", "slew"]]})
    labels, hidden, link, joint = answers[1:]
    assert link.startswith("section4") and "beam" in link and joint.startswith("slew") and "revolute, driven" in joint
    assert len(labels) > 12 and hidden.count(False) == 1
    for i, a in enumerate(labels):
        for b in labels[:i]:
            apart = a["x"] >= b["x"] + b["width"] or b["x"] >= a["x"] + a["width"] or a["y"] >= b["y"] + b["height"] or b["y"] >= a["y"] + a["height"]
            assert apart, (a, b)
    assert pixels(tmp_path / "dark.png")[2, 2].mean() < 60


@pytest.mark.parametrize("name, slider, to", [("f2-free", "float.position[2]", 0.3), ("f2-free", "float y", 0.4), ("f2-spherical", None, 0.3), ("prescribed", "turn.q", 0.3)])
def test_other_bases(limber, browse, tmp_path, name, slider, to):
    """A floating base, a quaternion, a prescribed base: sliders move them, and the tip is where eval has it for these positions."""
    robot = ROOT / f"tests/data/good/{name}.json"
    view(limber, robot, tmp_path / "page.html")
    if slider is None:
        [[sliders]] = browse({"page": tmp_path / "page.html", "steps": [["sliders"]]})
        slider = sliders[0]["name"]
    [[before, moved, after]] = browse({"page": tmp_path / "page.html", "steps": [["places"], ["slide", slider, to], ["places"]]})
    assert not np.allclose(before["places"]["tip"], after["places"]["tip"], atol=1e-3)
    assert np.allclose(after["places"]["tip"], evaluate(limber, robot, {"q": moved["q"]})["tip_position"], rtol=0, atol=1e-9)
    if slider in moved["q"]: assert moved["q"][slider] == pytest.approx(to, abs=1e-12)


def test_documentation_of_an_fmu(limber, browse, tmp_path):
    """The page inside an FMU has the scene, with sliders; it loads nothing but viewer.js beside it, and adds at most 1.2 MB."""
    fmu = tmp_path / "robot.fmu"
    subprocess.run([limber, "fmu", ROOT / "resources/parallelogram.json", "-o", fmu], check=True, capture_output=True)
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(tmp_path, [name for name in archive.namelist() if name.startswith("documentation/")])
        assert sum(info.compress_size for info in archive.infolist() if info.filename.startswith("documentation/")) < 1_200_000
    [[before, moved, after]] = browse({"page": tmp_path / "documentation/index.html", "beside": ["viewer.js"],
                                       "steps": [["places"], ["slide", "foot1.q", -0.9], ["places"]]})
    assert moved["gap"] < 1e-9 and not np.allclose(before["places"]["tip"], after["places"]["tip"], atol=0.1)


# ---- messages; no browser needed ----------------------------------------------------------------------------------------------


def test_missing_columns(limber, page_script, result, tmp_path):
    rows, bad = rows_of(result), tmp_path / "bad.csv"
    names = [{"lower_joint.q": "lower.q"}.get(name, name) for name in rows[0] if name != "wrist_joint.q"]
    bad.write_text(",".join(names) + "\n" + ",".join("0" for _ in names) + "\n")
    answer = view(limber, ROOT / "resources/canadarm.json", tmp_path / "page.html", "--result", bad, check=False)
    assert answer.returncode == 1 and "lower_joint.q, wrist_joint.q" in answer.stderr and not (tmp_path / "page.html").exists()


def test_importers_csv(limber, page_script, result, tmp_path):
    """Quoted names, and two rows with the same time at an event, as importers write them; other separators get a message that says so."""
    lines, file = result.read_text().splitlines(), tmp_path / "event.csv"
    file.write_text("\n".join([",".join(f'"{name}"' for name in lines[0].split(",")), *lines[1:50], lines[49], *lines[50:]]))
    view(limber, ROOT / "resources/canadarm.json", tmp_path / "page.html", "--result", file)
    file.write_text(result.read_text().replace(",", ";"))
    answer = view(limber, ROOT / "resources/canadarm.json", tmp_path / "page.html", "--result", file, check=False)
    assert answer.returncode == 1 and "columns are separated by commas" in answer.stderr and len(answer.stderr) < 250


def test_undeformed_result(limber, page_script, tmp_path):
    """Without elastic coordinates the result is drawn, with a warning."""
    bad = tmp_path / "joints.csv"
    bad.write_text("time,upper_joint.q,lower_joint.q,wrist_joint.q\n0,0,0,0\n1,0.1,0.2,0.3\n")
    answer = view(limber, ROOT / "resources/canadarm.json", tmp_path / "page.html", "--result", bad)
    assert "6 columns of elastic coordinates (such as upper.eta[1]) are missing" in answer.stderr


def test_prescribed_result(limber, page_script, tmp_path):
    """A prescribed position is an input: it comes from --inputs, and the message says so."""
    robot, result, inputs = ROOT / "tests/data/good/prescribed.json", tmp_path / "result.csv", tmp_path / "inputs.csv"
    inputs.write_text("time,turn.q,turn.qd,turn.qdd\n0,0,0.1,0\n1,0.1,0.1,0\n")
    subprocess.run([limber, "simulate", robot, "--until", "1", "--step", "0.1", "--inputs", inputs, "-o", result], check=True)
    answer = view(limber, robot, tmp_path / "page.html", "--result", result, check=False)
    assert answer.returncode == 1 and "turn.q is prescribed" in answer.stderr and "--inputs" in answer.stderr
    view(limber, robot, tmp_path / "page.html", "--result", result, "--inputs", inputs)


def test_without_its_script(limber, tmp_path):
    """Where viewer.js was not built the message says how to get it."""
    alone = shutil.copy(limber, tmp_path / "limber")
    answer = view(alone, ROOT / "resources/crane.json", tmp_path / "page.html", check=False)
    assert answer.returncode == 3 and "viewer.js was not built" in answer.stderr and "build/viewer.sh" in answer.stderr


def test_sanitized(limber_sanitized, result, tmp_path):
    if not (limber_sanitized.parent / "viewer.js").exists(): pytest.skip("the page was not built")
    for name, options in (("canadarm", ["--result", result]), ("crane-drives", ["--modes"]), ("parallelogram", ["--modes", "--joints", "free"])):
        answer = view(limber_sanitized, ROOT / f"resources/{name}.json", tmp_path / "page.html", *options, check=False)
        assert (answer.returncode, answer.stderr) == (0, ""), name
