"""The scripts of the set-up: one command at a time writes build/out; what is installed is locked with checksums."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def command(tmp_path):
    """Starts a script that takes the lock of a checkout, as run.sh and test.sh do."""
    (tmp_path / "build").mkdir()
    shutil.copy(ROOT / "build/common.sh", tmp_path / "build")
    environment = {key: value for key, value in os.environ.items() if key != "LIMBER_LOCK"}

    def start(name, body, run=True):
        script = tmp_path / name
        script.write_text(f'#!/usr/bin/env bash\nset -euo pipefail\n. "$(dirname "$0")/build/common.sh"\nlock_out\n{body}\n')
        script.chmod(0o755)
        return run and subprocess.Popen([script], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    return start


def test_commands_wait_for_each_other(command, tmp_path):
    first = command("first.sh", "echo begun; sleep 1")
    assert first.stdout.readline() == "begun\n"
    second = command("second.sh", "true")
    assert re.fullmatch(r"== waiting: .*first\.sh \(process \d+\) writes build/out\n", second.communicate()[0])
    assert first.wait() == second.returncode == 0


def test_the_lock_is_passed_on_and_ends_with_its_owner(command):
    command("inner.sh", "echo inner", run=False)
    nested = command("outer.sh", '"$(dirname "$0")/inner.sh"; echo begun; sleep 60')
    assert [nested.stdout.readline() for _ in range(2)] == ["inner\n", "begun\n"]
    os.killpg(nested.pid, signal.SIGKILL)
    started = time.monotonic()
    assert command("next.sh", "true").wait() == 0 and time.monotonic() - started < 10


def test_every_script_that_writes_takes_it():
    scripts = [ROOT / name for name in ("run.sh", "test.sh", "build/setup.sh", "build/windows.sh", "build/viewer.sh", "build/sundials7.sh", "build/lock.sh")]
    for script in scripts: assert re.search(r"\block_out\b", script.read_text()), script.name


def test_what_is_installed_has_checksums():
    for name in ("requirements", "requirements-tools", "requirements-exudyn"):
        locked = (ROOT / f"build/{name}.txt").read_text()
        for line in (ROOT / f"build/{name}.in").read_text().splitlines():
            if not line.strip() or line.startswith("#"): continue
            wanted = re.sub(r"\[.*\]", "", line).lower().replace("_", "-")
            assert re.search(rf"^{re.escape(wanted)}(==| \\)", locked, re.MULTILINE), f"build/{name}.txt lacks {line}: build/lock.sh"
        entries = re.findall(r"^(\S+==\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})*)", locked, re.MULTILINE)
        assert entries and all(hashes for _, hashes in entries)
    packages = json.loads((ROOT / "view/page/package-lock.json").read_text())["packages"]
    assert all("integrity" in package for name, package in packages.items() if name) and "three" in packages[""]["dependencies"]
