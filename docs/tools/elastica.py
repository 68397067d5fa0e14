"""A cantilever that bends far, cut into pieces: the table of docs/robot-file.md, against the exact elastica."""

import json
import subprocess

import numpy as np
from markdown_page import table
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

LOAD = 2.0  # P L^2 / EI, with L = EI = 1


def cut_cantilever(pieces):
    """The beam, held by a revolute joint that does not move, in equal pieces joined by fixed joints."""
    beam = {"length": 1 / pieces, "mass_per_length": 1, "EIz": 1, "modes": {"y": {"shape": "hermite"}}, "foreshortening": True}
    return {"format": "limber-robot/1", "name": "cantilever",
            "links": [{"name": f"piece{k}", "joint": {"type": "fixed" if k else "revolute"}, "beam": beam} for k in range(pieces)]}


def tip_deflection(limber, folder, pieces):
    robot = folder / f"cantilever{pieces}.json"
    robot.write_text(json.dumps(cut_cantilever(pieces)))

    def run(*words, state):
        done = subprocess.run([str(limber), *map(str, words)], input=json.dumps(state), capture_output=True, text=True)
        if done.returncode != 0: raise RuntimeError(f"limber {words[0]}: {done.stderr}")
        return json.loads(done.stdout)

    point = run("linearize", robot, "--static", "--at", "-", state={"tip_force": [0, LOAD, 0]})["operating_point"]
    return run("eval", robot, "-", state={"q": point["q"]})["tip_position"][1]


def elastica():
    """Tip deflection of theta'' = -LOAD cos(theta), theta(0) = 0, theta'(1) = 0, by shooting."""
    def shoot(curvature):
        rates = lambda s, y: [y[1], -LOAD * np.cos(y[0]), np.sin(y[0])]  # theta, theta', deflection
        return solve_ivp(rates, (0, 1), [0, curvature, 0], rtol=1e-10, atol=1e-12).y[:, -1]

    return shoot(brentq(lambda curvature: shoot(curvature)[1], 0, LOAD))[2]


def reference(limber, folder, pieces=(1, 2, 4, 8)):
    exact = elastica()
    rows = []
    for count in pieces:
        deflection = tip_deflection(limber, folder, count)
        rows.append([count, f"{deflection:.4f}", f"{100 * (deflection / exact - 1):.2g} %"])
    return table(["pieces", "tip deflection [m]", "error"], [*rows, ["exact", f"{exact:.4f}", ""]])
