"""What the library of an FMU needs, and short runs in FMPy of both interfaces. test_fmi_rules.py has the rules of the package."""

import subprocess

import fmpy
import numpy as np
import pytest


def test_needs_only_libc_and_libm(every_fmu):
    table = subprocess.run(["objdump", "-p", every_fmu.file], check=True, capture_output=True, text=True).stdout
    needed = {line.split()[1] for line in table.splitlines() if line.strip().startswith("NEEDED")}
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    assert not any(word in table for word in ("SONAME", "RPATH", "RUNPATH"))


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_simulates_in_fmpy(canadarm_fmu, kind):
    result = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type=kind, stop_time=1.0, output_interval=0.01, relative_tolerance=1e-6,
                               start_values={"upper_joint.qd_start": 0.1}, output=["tip.position[1]", "tip.position[2]"])
    assert np.isfinite(result["tip.position[1]"]).all() and abs(result["tip.position[2]"][-1]) > 0.1


@pytest.mark.quick
def test_co_simulation_agrees_with_model_exchange(canadarm_fmu):
    options = dict(stop_time=1.0, output_interval=0.01, relative_tolerance=1e-7, start_values={"upper_joint.qd_start": 0.1},
                   output=["tip.position[1]", "tip.position[2]", "upper_joint.q"])
    cs = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type="CoSimulation", **options)
    me = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type="ModelExchange", **options)
    for name in options["output"]:
        span = np.ptp(cs[name])
        assert np.abs(cs[name] - np.interp(cs["time"], me["time"], me[name])).max() < 1e-3 * span
