"""What a tool in a process of its own is to do: a job file (JSON) with the FMU, parameters, torques, outputs and the result's path."""

import csv
import json


class Job:
    def __init__(self, file):
        with open(file) as stream: job = json.load(stream)
        self.fmu, self.result, self.step = job["fmu"], job["result"], job["step"]
        self.parameters, self.outputs = job["parameters"], job["outputs"]
        self.torques = job["torques"]  # for each step {input: value}
        self.tolerance = job["tolerance"]
        self.points, self.spread, self.torque = job.get("points", 0), job.get("spread", 1.0), job.get("torque", 1.0)  # of derivatives

    def run(self, step, get):
        """step(torques) makes one step with them held, get(name) reads an output; the outputs after each step are written."""
        with open(self.result, "w", newline="") as stream:
            table = csv.writer(stream)
            table.writerow(["time", *self.outputs])
            for i, torques in enumerate(self.torques):
                step(torques)
                table.writerow([(i + 1) * self.step, *(repr(get(name)) for name in self.outputs)])
