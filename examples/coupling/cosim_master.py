"""python cosim_master.py JOB: runs an SSP package in libcosim, a co-simulation master, through libcosimpy. The job file states what to
run and where to write the result."""

import json
import sys
from pathlib import Path

import numpy as np
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver

job = json.loads(Path(sys.argv[1]).read_text())
log_output_level(CosimLogLevel.FATAL)
execution = CosimExecution.from_ssp_file(job["package"], round(job["step"] * 1e9))
observer = CosimObserver.create_last_value()
if not execution.add_observer(observer): sys.exit("the observer could not be added")
number = {each.name.decode(): each.index for each in execution.slave_infos()}


def references(component, names):
    of = {each.name.decode(): each.reference for each in execution.slave_variables(number[component])}
    return number[component], [of[name] for name in names]


wanted = [references(*each) for each in job["recorded"].items()]
record = lambda: [value for of, names in wanted for value in observer.last_real_values(of, names)]
rows = []
for k in range(job["steps"]):
    if not execution.step(): sys.exit(f"the step failed from {k * job['step']:.4g} s")
    if k == 0: rows.append(record())  # no values before the first step: this row is never compared
    rows.append(record())
np.save(job["result"], rows)
