"""show.py LIMBER ROBOT: evaluates one state of a robot and prints a short summary."""

import json
import subprocess
import sys


def evaluate(limber, robot, state):
    result = subprocess.run([limber, "eval", robot, "-"], input=json.dumps(state), text=True, capture_output=True)
    sys.stderr.write(result.stderr)
    if result.returncode != 0:
        sys.exit(result.returncode)
    return json.loads(result.stdout)


def main():
    limber, robot_file = sys.argv[1:]
    with open(robot_file, encoding="utf-8") as file:
        robot = json.load(file)
    joints = [link.get("joint", {}) for link in robot["links"]]
    moving = [joint for joint in joints if joint.get("type") != "fixed"]
    driven = [not (joint.get("passive") or joint.get("prescribed")) for joint in moving]
    result = evaluate(limber, robot_file, {"tau": [10.0 if is_driven else 0.0 for is_driven in driven]})

    row = lambda numbers: "  ".join(f"{number: .5g}" for number in numbers)
    mass = result["mass_matrix"]
    print(f"qdd               {row(result['qdd'])}")
    print(f"mass matrix       {len(mass)} x {len(mass)}, diagonal {row(mass[i][i] for i in range(len(mass)))}")
    print(f"kinetic energy    {result['kinetic_energy']: .6g} J")
    print(f"potential energy  {result['potential_energy']: .6g} J")
    print(f"tip position      {row(result['tip_position'])} m")
    print(f"tip acceleration  {row(result['tip_acceleration'])} m/s^2")


main()
