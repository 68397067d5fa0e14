"""A running FMU of a system, with its connected variables as vectors.

A system's connections are numbered, and their values form one vector w. For an instance, `out` are the connections that begin
at it, `into` those that end at it: w[out] is read from its outputs, w[into] written to its inputs."""

import shutil
from ctypes import POINTER, c_double, c_int, c_uint

import fmpy
import fmpy.fmi2
import numpy as np


class Port:
    """Some real variables of an FMU, read and written together."""

    def __init__(self, fmu, references):
        self.fmu, self.n = fmu, len(references)
        self.references, self.first = (c_uint * self.n)(*references), (c_int * self.n)(*[1] * self.n)
        self.value = np.zeros(self.n)
        self.pointer = self.value.ctypes.data_as(POINTER(c_double))

    def get(self):
        if self.n > 0: self.fmu.fmi2GetReal(self.fmu.component, self.references, self.n, self.pointer)
        return self.value

    def set(self, value):
        self.value[:] = value
        if self.n > 0: self.fmu.fmi2SetReal(self.fmu.component, self.references, self.n, self.pointer)

    def get_slope(self):
        if self.n > 0: self.fmu.fmi2GetRealOutputDerivatives(self.fmu.component, self.references, self.n, self.first, self.pointer)
        return self.value

    def set_slope(self, value):
        self.value[:] = value
        if self.n > 0: self.fmu.fmi2SetRealInputDerivatives(self.fmu.component, self.references, self.n, self.first, self.pointer)


class Instance:
    """`tolerance`: of the FMU's integrator; unused in model exchange."""

    def __init__(self, system, component, folder, kind, tolerance=1e-6, recorded=()):
        fmu = folder / component.source
        self.name, self.folder = component.name, fmpy.extract(str(fmu))
        description = fmpy.read_model_description(self.folder)
        self.variables = {variable.name: variable for variable in description.modelVariables}
        make, which = {"CS": (fmpy.fmi2.FMU2Slave, description.coSimulation), "ME": (fmpy.fmi2.FMU2Model, description.modelExchange)}[kind]
        self.fmu = make(guid=description.guid, unzipDirectory=self.folder, modelIdentifier=which.modelIdentifier,
                        instanceName=component.name)
        self.fmu.instantiate()
        self.n_states = description.numberOfContinuousStates
        self.out = np.array([i for i, each in enumerate(system.connections) if each.start[0] == self.name], int)
        self.into = np.array([i for i, each in enumerate(system.connections) if each.end[0] == self.name], int)
        self.outputs = self.port(system.connections[i].start[1] for i in self.out)
        self.inputs = self.port(system.connections[i].end[1] for i in self.into)
        self.recorded = self.port(recorded)
        self.feedthrough = self._feedthrough(system, description)
        self._set_parameters(component.parameters)
        self.fmu.setupExperiment(startTime=0.0, tolerance=tolerance)
        self.fmu.enterInitializationMode()

    def port(self, names):
        return Port(self.fmu, [self.variables[name].valueReference for name in names])

    def _feedthrough(self, system, description):
        """For each connection that begins here, the connections into this FMU that it depends on directly."""
        depends = {each.variable.name: {other.name for other in each.dependencies} for each in description.outputs}
        end = lambda i: system.connections[i].end[1]
        return {i: [j for j in self.into if end(j) in depends[system.connections[i].start[1]]] for i in self.out}

    def _set_parameters(self, parameters):
        for name, value in parameters.items():
            variable = self.variables[name]
            setter = {"Real": self.fmu.setReal, "Boolean": self.fmu.setBoolean}.get(variable.type, self.fmu.setInteger)
            setter([variable.valueReference], [value])

    def free(self):
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


def instantiate(system, folder, kind, tolerance=1e-6, recorded={}):
    """All instances, in initialization mode. `recorded`: {component: names of variables}"""
    return [Instance(system, each, folder, kind, tolerance, recorded.get(each.name, ())) for each in system.components.values()]


def levels(system, instances):
    """[(port, connections, instances that they end at), ...] in an order in which reading each port and writing the inputs connected
    to it makes w consistent: first outputs that do not depend on connected inputs, then those that depend on these, and so on."""
    feedthrough = {i: before for each in instances for i, before in each.feedthrough.items()}
    depth, order = {}, []
    while len(depth) < len(system.connections):
        ready = [i for i in feedthrough if i not in depth and all(j in depth for j in feedthrough[i])]
        if not ready: raise SystemExit(f"{system.name}: algebraic loop: {[system.connections[i] for i in feedthrough if i not in depth]}")
        depth.update(dict.fromkeys(ready, len(order)))
        order.append(ready)
    groups = []
    for ready in order:
        for each in instances:
            mine = np.array([i for i in ready if i in each.out], int)
            fed = [other for other in instances if np.isin(other.into, mine).any()]
            if len(mine) > 0: groups.append((each.port(system.connections[i].start[1] for i in mine), mine, fed))
    return groups


def propagate(groups, w):
    """Passes all connected outputs to their inputs at one instant"""
    for port, mine, fed in groups:
        w[mine] = port.get()
        for other in fed: other.inputs.set(w[other.into])
