"""The examples of coupled systems judge themselves; here they are judged from outside."""

import os
import subprocess
import sys
import zipfile

import pytest


def run(root, limber, name, *words):
    return subprocess.run([sys.executable, root / f"examples/{name}.py", *words], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "LIMBER": str(limber)})


@pytest.mark.parametrize("name", ["crane", "servo"])
def test_checks_itself_and_plots(root, limber, tmp_path, name):
    result = run(root, limber, name, tmp_path, "--quick")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("  ok  ") == 2 * 6 + 1 and "FAILED" not in result.stdout
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    headers = []
    for form in (name, f"{name}-drives"):
        with zipfile.ZipFile(tmp_path / f"{form}.ssp") as package: assert "SystemStructure.ssd" in package.namelist()
        header, *rows = (tmp_path / f"{form}.csv").read_text().splitlines()
        assert "arm.tip.position[1]" in header and len(rows) == {"crane": 8001, "servo": 4001}[name]
        headers.append(sorted(header.split(",")))
    assert headers[0] == headers[1]


def test_a_folder_that_is_a_file_is_said(root, limber, tmp_path):
    (tmp_path / "file").write_text("")
    result = run(root, limber, "crane", tmp_path / "file")
    assert result.returncode == 1 and "crane.py: " in result.stderr and "Traceback" not in result.stderr
