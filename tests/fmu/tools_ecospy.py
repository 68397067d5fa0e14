"""python tools_ecospy.py JOB: the run of the job file in ecospy, a co-simulation master."""

import ctypes
import sys
from pathlib import Path

ctypes.CDLL(str(Path(sys.prefix) / "lib/libtbb.so.12"), mode=ctypes.RTLD_GLOBAL)  # ecospy needs it and does not bring it

from ecospy import EcosLib, EcosSimulation, EcosSimulationStructure  # noqa: E402

from tools_job import Job  # noqa: E402

job = Job(sys.argv[1])
EcosLib.set_log_level("warn")
with EcosSimulationStructure() as structure:
    structure.add_model("arm", job.fmu)
    structure.add_parameter_set("job", {f"arm::{name}": value for name, value in job.parameters.items()})
    with EcosSimulation(structure=structure, step_size=job.step) as simulation:
        if not simulation.init(parameter_set="job"): sys.exit(EcosLib.get_last_error())

        def step(torques):
            for name, value in torques.items(): simulation.set_real(f"arm::{name}", value)
            before = simulation.get_time()
            simulation.step()
            if abs(simulation.get_time() - before - job.step) > 1e-9: sys.exit(EcosLib.get_last_error())

        job.run(step, lambda name: simulation.get_real(f"arm::{name}"))
        simulation.terminate()
