"""`limber report`: tables and plots against the commands that print the same numbers."""

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = sorted(file for file in (ROOT / "resources").glob("*.json") if not file.name.endswith(".schema.json"))
EMPTY = {"meta", "br", "img", "link"}


class Page(HTMLParser):
    """Tables as lists of rows, headings, paragraphs, polylines of plots; checks that elements are closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tables, self.headings, self.paragraphs, self.curves = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in EMPTY: self.open.append(tag)
        if tag == "table": self.tables.append([])
        if tag == "tr": self.tables[-1].append([])
        if tag in ("td", "th"): self.tables[-1][-1].append("")
        if tag in ("h2", "h3"): self.headings.append("")
        if tag == "p": self.paragraphs.append("")
        if tag == "polyline": self.curves.append(dict(attributes)["points"])

    def handle_startendtag(self, tag, attributes):
        if tag == "polyline": self.curves.append(dict(attributes)["points"])

    def handle_endtag(self, tag): assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open): self.tables[-1][-1][-1] += data
        elif "h2" in self.open or "h3" in self.open: self.headings[-1] += data
        elif "p" in self.open: self.paragraphs[-1] += data


def report(limber, robot, folder, *options, check=True):
    file = folder / "report.html"
    answer = subprocess.run([limber, "report", robot, "-o", file, *options], capture_output=True, text=True, timeout=120)
    if not check: return answer
    assert answer.returncode == 0, answer.stderr
    text = file.read_text()
    assert not re.search(r'(src|href)="(?!data:|#)', text), "not self-contained"
    page = Page(text)
    assert page.open == []
    return page


def table(page, first):
    """Rows of the table whose first heading this is."""
    return next(rows[1:] for rows in page.tables if rows[0][0] == first)


def run(limber, *words):
    result = subprocess.run([limber, *words], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda file: file.stem)
def test_every_robot(limber, tmp_path, robot):
    page = report(limber, robot, tmp_path)
    assert {"Joints", "Links", "Natural modes", "Static equilibrium", "Linear model"} <= set(page.headings)
    assert len(table(page, "pole")) > 0 and any("inf" in cell or "nan" in cell for row in sum(page.tables, []) for cell in row) is False


def test_numbers(limber, tmp_path):
    """Frequencies, holding torques and poles are those of modes, static and linearize."""
    robot = ROOT / "resources/cibicik.json"
    page = report(limber, robot, tmp_path)
    modes, static = run(limber, "modes", robot, "--json"), run(limber, "static", robot, "--json")
    shown = [float(row[1]) for row in table(page, "mode")]
    assert np.allclose(shown, modes["frequency"][:len(shown)], rtol=1e-5)
    held = {row[0]: float(row[1]) for row in table(page, "held by")}
    assert held == pytest.approx(static["holding"], rel=1e-5, abs=1e-9)
    state = tmp_path / "state.json"
    state.write_text(json.dumps(static["operating_point"]))
    poles = np.linalg.eigvals(np.array(run(limber, "linearize", robot, "--at", state)["A"]))
    wanted = sorted(abs(pole.imag) / (2 * np.pi) for pole in poles if pole.imag > 1e-6)
    listed = sorted(float(row[2]) for row in table(page, "pole") if float(row[2]) > 0)
    assert np.allclose(listed, wanted, rtol=1e-4)


def test_bode(limber, tmp_path):
    """The curve of the magnitude is |C (i w - A)^-1 B + D|, point by point to a pixel."""
    robot = ROOT / "resources/lin-lewis.json"
    page = report(limber, robot, tmp_path, "--bode", "hinge.tau:tip.velocity[2]", "--sweep", "hinge=-1:1:5")
    linear = run(limber, "linearize", robot, "--static")
    A, B, C, D = (np.array(linear[key]) for key in "ABCD")
    u, y = linear["inputs"].index("hinge.tau"), linear["outputs"].index("tip.velocity[2]")
    curves = [np.array([[float(x) for x in point.split(",")] for point in curve.split()]) for curve in page.curves]
    magnitude, phase = curves[-2], curves[-1]
    assert len(magnitude) == len(phase) == 600
    left, right = magnitude[0, 0], magnitude[-1, 0]
    response = lambda f: abs(C[y] @ np.linalg.solve(2j * np.pi * f * np.eye(len(A)) - A, B[:, u]) + D[y, u])
    fits = []  # both axes are logarithmic, and x is over whole decades
    for low in 10.0 ** np.arange(-3, 2):
        for high in 10.0 ** np.arange(2, 5):
            f = low * (high / low) ** ((magnitude[::50, 0] - left) / (right - left))
            value = np.log([response(x) for x in f])
            scale = np.polyfit(value, magnitude[::50, 1], 1)
            if np.abs(np.polyval(scale, value) - magnitude[::50, 1]).max() < 1: fits.append((low, high))
    assert len(fits) == 1, fits


def test_reasons(limber, tmp_path):
    """Wrong names are errors; what cannot be computed is a sentence with the reason."""
    robot = ROOT / "resources/canadarm.json"
    for options, code, message in ((["--bode", "elbow.tau:tip.position[1]"], 1, "elbow.tau"), (["--sweep", "elbow=0:1:3"], 1, "no joint 'elbow'")):
        answer = report(limber, robot, tmp_path, *options, check=False)
        assert answer.returncode == code and message in answer.stderr, options
    assert not (tmp_path / "report.html").exists()
    page = report(limber, ROOT / "resources/two-arms.json", tmp_path)
    assert any("not available" in text and "loops[0]" in text for text in page.paragraphs)


def test_sanitized(limber_sanitized, tmp_path):
    for name in ("canadarm", "crane-drives", "parallelogram"):
        report(limber_sanitized, ROOT / f"resources/{name}.json", tmp_path)
