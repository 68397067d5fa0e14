"""The package as a whole, for every robot and drive: valid for FMPy, and a library that shows and needs nothing it should not."""

import subprocess
from pathlib import Path

import fmpy
import fmpy.validation
import numpy as np
import pytest

ROBOTS = sorted(file.name for file in (Path(__file__).resolve().parents[2] / "resources").glob("*.json")
                if not file.name.endswith(".schema.json"))


def check(file, platforms):
    assert fmpy.validation.validate_fmu(str(file)) == []
    assert fmpy.supported_platforms(str(file)) == platforms


@pytest.mark.parametrize("robot", ROBOTS)
def test_valid_for_fmpy(pack, root, platforms, robot):
    check(pack(root / "resources" / robot), platforms)


@pytest.mark.parametrize("name", ["servo", "cylinder", "gear", "spring", "axis", "sling"])
def test_drive_valid_for_fmpy(drive, platforms, name):
    check(drive(name), platforms)


def test_only_fmi_functions_leave_the_library(fmu):
    table = subprocess.run(["nm", "-D", "--defined-only", fmu.file], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in table.splitlines()}
    header = Path(fmpy.__file__).parent / "c-code/fmi2Functions.h"
    wanted = {line.split()[1] for line in header.read_text().splitlines()
              if line.startswith("#define fmi2") and line.split()[1] == line.split("(")[-1].rstrip(") ")}
    assert len(wanted) == 44
    assert names == wanted


def test_needs_only_libc_and_libm(fmu):
    table = subprocess.run(["objdump", "-p", fmu.file], check=True, capture_output=True, text=True).stdout
    needed = {line.split()[1] for line in table.splitlines() if line.strip().startswith("NEEDED")}
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    assert not any(word in table for word in ("SONAME", "RPATH", "RUNPATH"))
    versions = {tuple(map(int, word.removeprefix("GLIBC_").split("."))) for word in table.split() if word.startswith("GLIBC_2")}
    assert max(versions) <= (2, 17)  # as docs/importing.md says


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_simulates_in_fmpy(canadarm_fmu, kind):
    result = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type=kind, stop_time=1.0, output_interval=0.01, relative_tolerance=1e-6,
                               start_values={"upper_joint.qd_start": 0.1}, output=["tip.position[1]", "tip.position[2]"])
    assert np.isfinite(result["tip.position[1]"]).all() and abs(result["tip.position[2]"][-1]) > 0.1


def test_co_simulation_agrees_with_model_exchange(canadarm_fmu):
    options = dict(stop_time=1.0, output_interval=0.01, relative_tolerance=1e-7, start_values={"upper_joint.qd_start": 0.1},
                   output=["tip.position[1]", "tip.position[2]", "upper_joint.q"])
    cs = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type="CoSimulation", **options)
    me = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type="ModelExchange", **options)
    for name in options["output"]:
        span = np.ptp(cs[name])
        assert np.abs(cs[name] - np.interp(cs["time"], me["time"], me[name])).max() < 1e-3 * span
