"""The problems of bench/gains.py and bench/integration.py. Robots are those of resources/ at ff4cbf0, which today's program reads as well."""

import copy
import json
import math
import subprocess
import sys
from pathlib import Path

import arms
import builds
import numpy as np
from runs import TIP, Hosted, Simulated, stored

sys.path[:0] = [str(builds.ROOT / "examples"), str(builds.ROOT / "tests")]
import forced_motion  # noqa: E402

RESOURCES = builds.ROOT / "resources"
NO_GRAVITY = {f"gravity[{i}]": 0 for i in (1, 2, 3)}


# Positions, the coordinate that is struck, the energy of the impulse [J]
STRUCK = {"canadarm": ([0] * 9, 3, 5.0), "canadarm-spatial": ([0] * 15, 5, 5.0),
          "cibicik": ([0, 0.52] + [0] * 6 + [2.09] + [0] * 6 + [0.52], 1, 0.5), "lin-lewis": ([0] * 16, 0, 1e-3),
          "chain-7": ([0] * 7, 3, 5.0), "twisted-7": ([0] * 7, 3, 5.0)}
TORQUES = {"canadarm": {"upper_joint.tau": lambda t: 400 * (1 - math.cos(2.1 * t)),
                        "lower_joint.tau": lambda t: 200 * (1 - math.cos(3.7 * t)),
                        "wrist_joint.tau": lambda t: 100 * (1 - math.cos(5 * t))},
           "cibicik": {"slew.tau": lambda t: 20 * math.sin(t), "boom_joint.tau": lambda t: 150 + 30 * math.sin(2 * t),
                       "jib_joint.tau": lambda t: 30 * math.sin(3 * t), "hand_joint.tau": lambda t: 2 * math.sin(5 * t)}}


def resource(name):
    return json.loads((RESOURCES / f"{name}.json").read_text(encoding="utf-8"))


def table_text(names, rows):
    """A CSV with exact numbers."""
    return "\n".join([",".join(names), *(",".join(map(repr, row)) for row in rows)]) + "\n"


# ---- the Canadarm, forced ------------------------------------------------------------------------------------------------------


def forced_torques(rows):
    """The torques of the Canadarm's forced motion as a CSV with so many rows a second"""
    table = forced_motion.torques(rows)
    return table_text(table, np.column_stack(list(table.values())).tolist())


def forced_canadarm(modes=None, foreshortening=False):
    """10 s, torques in straight pieces of 0.1 s"""
    robot = resource("canadarm")
    for link in robot["links"]:
        link["beam"]["damping_ratio"] = 0
        if modes: link["beam"]["modes"]["y"] = modes
        if foreshortening: link["beam"]["foreshortening"] = True
    return Simulated(robot, 10, 0.1, forced_torques(10))


CRAIG_BAMPTON = {"shape": "craig-bampton", "count": 6}


# ---- struck arms ------------------------------------------------------------------------------------------------------------------


def struck(limber, name, until, step):
    """Free motion after an impulse on one coordinate, without damping and gravity"""
    q, coordinate, joule = STRUCK[name]
    robot = resource(name)
    for link in robot["links"]:
        if "beam" in link: link["beam"]["damping_ratio"] = 0
    answer = subprocess.run([limber, "eval", RESOURCES / f"{name}.json", "-"], input=json.dumps({"q": q}), capture_output=True, text=True, check=True)
    M = np.array(json.loads(answer.stdout)["mass_matrix"])
    qd = np.linalg.solve(M, np.eye(len(M))[coordinate])
    start = {"q": q, "qd": (qd * math.sqrt(2 * joule / (qd @ M @ qd))).tolist()}
    return Simulated(robot, until, step, start=start, settings=NO_GRAVITY)


# ---- chains --------------------------------------------------------------------------------------------------------------------


def chain(links, rows, smooth=True):
    """Two modes in each of two planes, damping ratio 0.01, no gravity, torque sin(2 pi t) on every joint, given in rows every `rows` s.
    ff4cbf0 connects the rows by straight lines; `smooth`: a program that can connects them by cubics"""
    robot = copy.deepcopy(arms.arm(links, 2, 2))
    robot["gravity"] = [0, 0, 0]
    for link in robot["links"]: link["beam"]["damping_ratio"] = 0.01
    names = ["time", *(link["joint"]["name"] + ".tau" for link in robot["links"])]
    times = [i * rows for i in range(round(2 / rows) + 1)]
    text = table_text(names, [[t] + [math.sin(2 * math.pi * t)] * links for t in times])
    return Simulated(robot, 2, 0.1, text, options=("--interpolate", "cubic") if smooth else ())


# ---- FMUs with inputs held for 1 ms ------------------------------------------------------------------------------------------


def arm_fmu(name, h, steps, every, **more):
    """One FMU; the torques TORQUES at the beginning of each step"""
    torques = TORQUES[name]
    table = np.array([[f(i * h) for f in torques.values()] for i in range(steps + 1)])
    return Hosted({"arm": ("fmu", RESOURCES / f"{name}.json", {})}, h, steps, every, table=table,
                  inputs={("arm", variable): column for column, variable in enumerate(torques)},
                  recorded=tuple(("arm", variable) for variable in TIP), **more)


def held(name, seconds):
    return arm_fmu(name, 1e-3, round(1e3 * seconds), 10)


def smooth(name, seconds):
    """The whole time in one step, torques linear over it"""
    return arm_fmu(name, float(seconds), 1, 1, slopes=True)


def dualemps(path, seconds=25.0):
    """examples/dualemps.py: a circle or a square, PD control every millisecond"""
    import dualemps as example

    robot = resource("dualemps")
    robot["tip"] = "tool"
    file = stored(json.dumps(robot), ".json")
    geometry = example.Geometry(robot)
    t = example.STEP * np.arange(round(seconds / example.STEP) + 1)
    along = lambda times: getattr(example, path)(geometry, times, seconds)
    table = np.vstack([along(t), (along(t + example.STEP / 2) - along(t - example.STEP / 2)) / example.STEP]).T
    controls = [("arm", f"slide{i + 1}.tau", f"slide{i + 1}.q", f"slide{i + 1}.qd", float(mass * example.CUT_OFF**2),
                 float(2 * mass * example.CUT_OFF), i, 2 + i) for i, mass in enumerate(geometry.mass)]
    return Hosted({"arm": ("fmu", file, {})}, example.STEP, len(t) - 1, 10, table=table, controls=controls,
                  recorded=tuple(("arm", variable) for variable in TIP))


def crane():
    """examples/crane.py at 1 ms by the method that it reports: in turn, the arm last, with slopes"""
    from coupling import system

    read = system.read(str(RESOURCES / "crane.ssd"))
    def command(source):
        name = Path(source).stem
        return ("drive", name) if name in system.DRIVES else ("fmu", RESOURCES / f"{name}.json")
    order = sorted(read.components, key=lambda name: name == "arm")
    components = {name: (*command(read.components[name].source), read.components[name].parameters) for name in order}
    return Hosted(components, 1e-3, round(1e3 * read.stop_time), 10, connections=[(each.start, each.end) for each in read.connections],
                  slopes=True, passes=len(order), recorded=tuple(("arm", variable) for variable in TIP))
