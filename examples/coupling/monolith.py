"""Monolithic simulation of a system of FMUs, the reference for co-simulation: all FMUs in model exchange, with their states in one vector,
x' = f(t, x). There are no communication steps: outputs act on the other FMUs at the same instant."""

import ctypes

import numpy as np
import scipy.integrate

from .instance import instantiate, levels, propagate

NUMBERS = ctypes.POINTER(ctypes.c_double)


class Part:
    """An FMU's part of the states and their derivatives: a slice of both vectors, which the FMU reads and writes."""

    def __init__(self, instance, x, dx):
        self.fmu, self.me, self.n = instance.fmu, instance.fmu.component, instance.n_states
        self.x, self.dx = x.ctypes.data_as(NUMBERS), dx.ctypes.data_as(NUMBERS)
        self.fmu.exitInitializationMode()
        self.fmu.newDiscreteStates()
        self.fmu.enterContinuousTimeMode()
        self.fmu.fmi2GetContinuousStates(self.me, self.x, self.n)
        nominal = (ctypes.c_double * self.n)()
        self.fmu.fmi2GetNominalsOfContinuousStates(self.me, nominal, self.n)
        self.nominal = np.array(nominal)

    def put(self, t):
        self.fmu.fmi2SetTime(self.me, t)
        self.fmu.fmi2SetContinuousStates(self.me, self.x, self.n)

    def get(self):
        self.fmu.fmi2GetDerivatives(self.me, self.dx, self.n)


class Monolith:
    """`recorded`: {component: names of variables}"""

    def __init__(self, system, folder, recorded={}):
        self.instances = instantiate(system, folder, "ME", None, recorded)
        self.w = np.zeros(len(system.connections))
        self.groups = levels(system, self.instances)
        propagate(self.groups, self.w)
        ends = np.cumsum([0, *(each.n_states for each in self.instances)])
        self.x, self.dx, self.evaluations = np.zeros(ends[-1]), np.zeros(ends[-1]), 0
        self.parts = [Part(each, self.x[a:b], self.dx[a:b]) for each, a, b in zip(self.instances, ends, ends[1:])]

    def put(self, t, x):
        self.x[:] = x
        for part in self.parts: part.put(t)
        propagate(self.groups, self.w)

    def f(self, t, x):
        self.put(t, x)
        for part in self.parts: part.get()
        self.evaluations += 1
        return self.dx.copy()

    def run(self, times, tolerance, progress=lambda t: None):
        """Rows of the recorded variables at the times; `largest` is then the largest magnitude in each connection. Steps of at most
        20 ms: moves begin at rest, and longer steps might miss one."""

        def f(t, x):
            if self.evaluations % 1000 == 0: progress(t)
            return self.f(t, x)

        nominal = np.concatenate([part.nominal for part in self.parts])
        done = scipy.integrate.solve_ivp(f, (times[0], times[-1]), self.x.copy(), "LSODA", times, rtol=tolerance,
                                         atol=tolerance * nominal, max_step=0.02)
        if not done.success: raise SystemExit(f"the reference failed: {done.message}")
        rows, self.largest = [], np.abs(self.w)
        for t, x in zip(times, done.y.T):
            self.put(t, x)
            self.largest = np.maximum(self.largest, np.abs(self.w))
            rows.append(np.concatenate([each.recorded.get() for each in self.instances]))
        return np.array(rows)

    def free(self):
        for each in self.instances: each.free()
