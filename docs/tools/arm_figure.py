"""docs/figures/canadarm.svg: the Canadarm driven by the torques of the rigid arm, in poses and over time."""

import subprocess
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROBOT = "resources/canadarm.json"
LINKS = {"upper": 6.0, "lower": 7.0, "wrist": 2.0}
COLORS = ["#1b6ca8", "#d1602e", "#3a8c5c"]
PROFILE = ["--profile", "cycloid", "--rate", ".075,.05,.1", "--period", "10,5,5"]
UNTIL, MAGNIFIED = 10.0, 8


def simulate(limber, root):
    """{variable: values over time}: `limber inverse --rigid`, then `limber simulate` with its torques."""
    with tempfile.TemporaryDirectory() as folder:
        torques, result = Path(folder) / "torques.csv", Path(folder) / "result.csv"
        for words in (["inverse", ROBOT, *PROFILE, "--until", UNTIL, "--step", 0.001, "--rigid", "-o", torques],
                      ["simulate", ROBOT, "--inputs", torques, "--until", UNTIL, "--step", 0.01, "-o", result]):
            subprocess.run([str(limber), *map(str, words)], cwd=root, check=True)
        with open(result, encoding="utf-8") as text: names = text.readline().strip().split(",")
        return dict(zip(names, np.loadtxt(result, delimiter=",", skiprows=1, unpack=True)))


def center_lines(result, row):
    """The three links at a row, deflections magnified: the cubic with the deflection and rotation of the tip."""
    origin, angle, s = np.zeros(2), 0.0, np.linspace(0, 1, 40)
    for name, length in LINKS.items():
        angle += result[f"{name}_joint.q"][row]
        deflection, rotation = MAGNIFIED * result[f"{name}.deflection[2]"][row], MAGNIFIED * result[f"{name}.rotation[3]"][row]
        local = np.array([length * s, (3 * s**2 - 2 * s**3) * deflection + length * (s**3 - s**2) * rotation])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        line = origin[:, None] + turn @ local
        yield line
        origin, angle = line[:, -1], angle + rotation


def draw_poses(axis, result):
    rows = np.linspace(0, len(result["time"]) - 1, 5).astype(int)
    for number, row in enumerate(rows):
        last = number == len(rows) - 1
        for color, line in zip(COLORS, center_lines(result, row)):
            axis.plot(*line, color=color, linewidth=3.5 if last else 1.8, alpha=1 if last else 0.25 + 0.1 * number,
                      solid_capstyle="round")
            axis.plot(*line[:, 0], "o", color="#333333", markersize=5 if last else 3, alpha=1 if last else 0.4)
        axis.annotate(f"{result['time'][row]:g} s", line[:, -1], (6, 4), textcoords="offset points", fontsize=8, color="#555555")
    axis.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title=f"poses, deflections {MAGNIFIED} times magnified")


def draw_deflections(axis, result):
    for name, color in zip(LINKS, COLORS):
        axis.plot(result["time"], 1e3 * result[f"{name}.deflection[2]"], color=color, linewidth=1.3, label=f"{name}.deflection[2]")
    axis.set(xlabel="time [s]", ylabel="tip deflection [mm]", xlim=(0, UNTIL), title="deflection of each link")
    axis.legend(frameon=False, fontsize=9)


def draw(limber, root):
    result = simulate(limber, root)
    plt.rcParams.update({"svg.hashsalt": "limber", "svg.fonttype": "none", "font.size": 10, "axes.spines.top": False,
                         "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25})
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    draw_poses(axes[0], result)
    draw_deflections(axes[1], result)
    figure.savefig(root / "docs/figures/canadarm.svg", metadata={"Date": None})
    plt.close(figure)
