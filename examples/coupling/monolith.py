"""A system of FMUs integrated in one piece: all of them in model exchange, their states one vector, x' = f(t, x). No communication
steps: what one FMU puts out acts on the others at the same instant. The reference for co-simulation."""

import ctypes

import numpy as np
import scipy.integrate

from .instance import instantiate, levels, settle


class Monolith:
    def __init__(self, system, folder, recorded={}):
        self.system = system
        self.instances = instantiate(system, folder, "ME", None, recorded)
        self.w = np.zeros(len(system.connections))
        self.groups = levels(system, self.instances)
        settle(self.groups, self.w)
        ends = np.cumsum([each.n_states for each in self.instances])
        self.x, self.dx, self.nominal = np.zeros(ends[-1]), np.zeros(ends[-1]), np.zeros(ends[-1])
        self.slices = [slice(end - each.n_states, end) for end, each in zip(ends, self.instances)]
        for each, where in zip(self.instances, self.slices):
            each.fmu.exitInitializationMode()
            each.fmu.newDiscreteStates()
            each.fmu.enterContinuousTimeMode()
            each.fmu.getContinuousStates(self._of(self.x, where), each.n_states)
            each.fmu.getNominalsOfContinuousStates(self._of(self.nominal, where), each.n_states)

    @staticmethod
    def _of(vector, where):
        return vector[where].ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    def put(self, t, x):
        self.x[:] = x
        for each, where in zip(self.instances, self.slices):
            each.fmu.fmi2SetTime(each.fmu.component, t)
            each.fmu.fmi2SetContinuousStates(each.fmu.component, self._of(self.x, where), each.n_states)
        settle(self.groups, self.w)

    def f(self, t, x):
        self.put(t, x)
        for each, where in zip(self.instances, self.slices):
            each.fmu.fmi2GetDerivatives(each.fmu.component, self._of(self.dx, where), each.n_states)
        return self.dx.copy()

    def run(self, times, tolerance=1e-10, method="DOP853", progress=lambda t: None):
        """Rows of all recorded variables, by instance, at the times."""
        solver = scipy.integrate.solve_ivp
        def rhs(t, x):
            progress(t)
            return self.f(t, x)
        done = solver(rhs, (times[0], times[-1]), self.x.copy(), method, times, rtol=tolerance, atol=tolerance * self.nominal, max_step=0.01)
        if not done.success: raise SystemExit(f"the reference: {done.message}")
        rows = []
        for t, x in zip(times, done.y.T):
            self.put(t, x)
            rows.append(np.concatenate([each.recorded.get() for each in self.instances]))
        self.evaluations = done.nfev
        return np.array(rows)
