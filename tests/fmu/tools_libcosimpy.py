"""python tools_libcosimpy.py JOB: the run of the job file in libcosim, a co-simulation master, through libcosimpy."""

import sys

from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimManipulator import CosimManipulator
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

from tools_job import Job


def done(fine, what):
    if not fine: sys.exit(f"libcosim refused: {what}")


job = Job(sys.argv[1])
log_output_level(CosimLogLevel.WARNING)
execution = CosimExecution.from_step_size(round(job.step * 1e9))
arm = execution.add_local_slave(CosimLocalSlave(job.fmu, "arm"))
done(arm >= 0, "the FMU")
reference = {variable.name.decode(): variable.reference for variable in execution.slave_variables(arm)}
for name, value in job.parameters.items(): done(execution.real_initial_value(arm, reference[name], value), name)
observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
done(execution.add_observer(observer), "the observer")
done(execution.add_manipulator(manipulator), "the manipulator")


def step(torques):
    done(manipulator.slave_real_values(arm, [reference[name] for name in torques], list(torques.values())), "the torques")
    done(execution.step(), "the step")


job.run(step, lambda name: observer.last_real_values(arm, [reference[name]])[0])
