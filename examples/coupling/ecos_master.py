"""python ecos_master.py JOB: runs an SSP package in ecos, a co-simulation master, through ecospy. The job file states what to run
and where to write the result."""

import ctypes
import json
import sys
from pathlib import Path

import numpy as np

ctypes.CDLL(str(Path(sys.prefix) / "lib/libtbb.so.12"), mode=ctypes.RTLD_GLOBAL)  # ecospy needs it but does not include it

from ecospy import EcosLib, EcosSimulation  # noqa: E402

job = json.loads(Path(sys.argv[1]).read_text())
EcosLib.set_log_level("off")
names = [f"{component}::{name}" for component, names in job["recorded"].items() for name in names]
with EcosSimulation(ssp_path=job["package"], step_size=job["step"]) as simulation:
    if not simulation.init(parameter_set="parameters"): sys.exit(EcosLib.get_last_error())
    rows = [[simulation.get_real(name) for name in names]]
    for k in range(job["steps"]):
        simulation.step()
        if abs(simulation.get_time() - (k + 1) * job["step"]) > 1e-9: sys.exit(f"the step failed from {simulation.get_time():.4g} s")
        rows.append([simulation.get_real(name) for name in names])
    simulation.terminate()
np.save(job["result"], rows)
