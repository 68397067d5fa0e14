"""`limber picture`: perspective drawings as SVG and PNG."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = sorted(file for file in (ROOT / "resources").glob("*.json") if not file.name.endswith(".schema.json"))
SVG = "{http://www.w3.org/2000/svg}"
FONT_SIZE, WIDE = 13, 0.62  # of view/scene/drawing.c: pixels, and width of a character as a part of it


def draw(limber, robot, file, *options, state=None):
    return subprocess.run([limber, "picture", robot, "-o", file, *options], capture_output=True, text=True, timeout=60,
                          input=None if state is None else json.dumps(state))


def names(file):
    """(text, x, y, width) of the names in a picture, x and y of the middle of the baseline."""
    return [(text.text, float(text.get("x")), float(text.get("y")), WIDE * FONT_SIZE * len(text.text))
            for text in ElementTree.parse(file).iter(f"{SVG}text") if text.get("class", "").startswith("name")]


def faces(file):
    """Corners of all shaded faces."""
    paths = [path.get("d") for path in ElementTree.parse(file).iter(f"{SVG}path") if path.get("style")]
    return np.array([float(number) for path in paths for number in re.findall(r"-?[\d.]+", path)]).reshape(-1, 2)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda file: file.stem)
def test_every_robot(limber, tmp_path, robot):
    """Well-formed, inside its frame, names that do not overlap; the first links are named."""
    answer = draw(limber, robot, tmp_path / "picture.svg")
    assert answer.returncode == 0, answer.stderr
    corners, shown = faces(tmp_path / "picture.svg"), names(tmp_path / "picture.svg")
    assert len(corners) > 40 and corners.min() >= 0 and (corners.max(axis=0) <= [900, 560]).all()
    for i, (text, x, y, width) in enumerate(shown):
        assert 0 <= x - width / 2 and x + width / 2 <= 900 and FONT_SIZE <= y + 4 <= 560, text
        for other, x2, y2, width2 in shown[:i]:
            assert abs(x - x2) >= (width + width2) / 2 or abs(y - y2) >= FONT_SIZE, (text, other)
    links = [link["name"] for link in json.loads(robot.read_text())["links"]]
    assert "tip" in {text for text, *_ in shown} and {text for text, *_ in shown} & set(links)


def test_names_keep_clear(limber, tmp_path):
    """Where there is room, no name is over a body: the wide beams of the crane."""
    draw(limber, ROOT / "resources/crane.json", tmp_path / "picture.svg")
    paths = [path.get("d") for path in ElementTree.parse(tmp_path / "picture.svg").iter(f"{SVG}path") if path.get("style")]
    polygons = [np.array(re.findall(r"-?[\d.]+", path), dtype=float).reshape(-1, 2) for path in paths]

    def is_drawn(point):
        for corners in polygons:
            edges, to = np.roll(corners, -1, axis=0) - corners, point - corners
            side = edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0]
            if (side >= 0).all() or (side <= 0).all(): return True
        return False

    shown = names(tmp_path / "picture.svg")
    assert len(shown) == 7
    for text, x, y, width in shown:
        for part in (-0.4, 0, 0.4): assert not is_drawn(np.array([x + part * width, y - 4])), text


def test_png(limber, tmp_path):
    if not shutil.which("rsvg-convert"): pytest.skip("rsvg-convert is not installed")
    answer = draw(limber, ROOT / "resources/crane.json", tmp_path / "picture.png", "--size", "400x300")
    assert answer.returncode == 0, answer.stderr
    picture = np.asarray(Image.open(tmp_path / "picture.png").convert("RGB"), dtype=int)
    assert picture.shape == (600, 800, 3) and (np.abs(picture - 255).sum(axis=2) > 60).mean() > 0.02


def test_png_without_its_program(limber, tmp_path):
    """The message names what is missing, and no file is left."""
    answer = subprocess.run([limber, "picture", ROOT / "resources/crane.json", "-o", tmp_path / "picture.png"], capture_output=True, text=True,
                            env={"PATH": str(tmp_path)})
    assert answer.returncode == 3 and "rsvg-convert" in answer.stderr and list(tmp_path.iterdir()) == []


def test_state(limber, tmp_path):
    """A STATE moves the robot: the Canadarm folded is not as wide as stretched, in its own scale."""
    robot = ROOT / "resources/canadarm.json"
    for name, q in (("stretched", 0), ("folded", 2.5)):
        answer = draw(limber, robot, tmp_path / f"{name}.svg", "--at", "-", "--no-names", state={"q": {"lower_joint.q": q}})
        assert answer.returncode == 0, answer.stderr
    shape = {name: np.ptp(faces(tmp_path / f"{name}.svg"), axis=0) for name in ("stretched", "folded")}
    assert shape["folded"][1] / shape["folded"][0] > 1.5 * shape["stretched"][1] / shape["stretched"][0]
    assert names(tmp_path / "folded.svg") == []


def test_sanitized(limber_sanitized, tmp_path):
    for robot in ROBOTS:
        answer = draw(limber_sanitized, robot, tmp_path / "picture.svg")
        assert (answer.returncode, answer.stderr) == (0, ""), robot.name
