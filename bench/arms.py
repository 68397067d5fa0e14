"""Generated robots: chains of equal clamped-free beams with alternating joint axes, so that they move in space."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/out/bench/robots"
AXES = ([0, 0, 1], [0, 1, 0])


def arm(links, y, z):
    """A chain of `links` beams, each with y bending modes along y and z along z."""
    def modes(count):
        return {"shape": "clamped-free", "count": count}

    def link(i):
        bending = {plane: modes(count) for plane, count in (("y", y), ("z", z)) if count}
        return {"name": f"link{i + 1}",
                "joint": {"name": f"joint{i + 1}", "type": "revolute", "axis": AXES[i % len(AXES)]},
                "beam": {"length": 1.0, "mass_per_length": 2.0, "EIz": 500.0, "EIy": 500.0, "modes": bending}}

    return {"format": "limber-robot/1", "name": name(links, y, z), "gravity": [0, 0, -9.81],
            "links": [link(i) for i in range(links)]}


def name(links, y, z):
    return f"arm_{links}_{y}_{z}"


def write(links, y, z, folder=FOLDER):
    """Writes the robot file of an arm; returns its path."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{name(links, y, z)}.json"
    path.write_text(json.dumps(arm(links, y, z), indent=1) + "\n", encoding="utf-8")
    return path


def file(robot):
    """The path of a robot file; for arm:LINKS:Y:Z, a generated one."""
    numbers = re.fullmatch(r"arm:(\d+):(\d+):(\d+)", str(robot))
    return write(*map(int, numbers.groups())) if numbers else Path(robot)
