"""docs/figures/concrete-pump.svg, by `limber picture`, and docs/figures/viewer.png, a page of `limber view` in Chromium."""

import json
import subprocess
import tempfile
from pathlib import Path


def screenshot(limber, root, robot, picture):
    """A mode of the robot. Needs what build/viewer.sh and build/viewer.sh browser install."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        subprocess.run([limber, "view", robot, "--modes", "-o", page], check=True, stdout=subprocess.DEVNULL)
        tasks = [{"page": str(page), "screenshot": str(picture), "width": 1100, "height": 640, "steps": [["mode", 3, 0]]}]
        answer = subprocess.run(["node", root / "tests/view/browse.mjs", root / "build/out/viewer"], input=json.dumps(tasks) + "\n",
                                check=True, capture_output=True, text=True).stdout
        assert json.loads(answer)[0]["errors"] == [], answer


def draw(limber, root):
    figures, robot = root / "docs/figures", root / "resources/concrete-pump.json"
    subprocess.run([limber, "picture", robot, "-o", figures / "concrete-pump.svg"], check=True)
    screenshot(limber, root, robot, figures / "viewer.png")
