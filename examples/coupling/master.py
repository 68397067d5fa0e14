"""Co-simulation of a system of FMUs with a fixed communication step h, by four methods:

at once    all FMUs step with the values of the others at the beginning of the step (Jacobi); ecos and libcosim do this
in turn    FMUs step one after another; later FMUs use the values of earlier ones at the end of the step (Gauss-Seidel)
slopes     one of these with input derivatives: an input changes at the rate of its source (extrapolation) or, if the source has already
           stepped, along a straight line to its new value (interpolation)
iterated   at once, with inputs along straight lines to the values at the end of the step, found by iteration: the FMUs are restored to the
           beginning of the step and step again until the lines agree with the outputs (rollback)

With constant inputs, drives still extrapolate a measured position by its rate within a step (docs/drives.md)."""

import numpy as np
from fmpy.fmi1 import FMICallException

from .instance import instantiate, levels, propagate


class Failed(Exception):
    """The coupled simulation failed: a step was rejected, values diverge, or the iteration does not converge."""


class Master:
    """`order`: names of the components for stepping in turn; None: at once"""

    def __init__(self, system, folder, order=None, slopes=False, tolerance=1e-6, recorded={}):
        self.instances = instantiate(system, folder, "CS", tolerance, recorded)
        if order is not None: self.instances.sort(key=lambda each: order.index(each.name))
        self.in_turn, self.slopes, self.time = order is not None, slopes, 0.0
        self.w, self.slope = np.zeros(len(system.connections)), np.zeros(len(system.connections))
        self.groups = levels(system, self.instances)
        propagate(self.groups, self.w)
        for each in self.instances: each.fmu.exitInitializationMode()
        self._read_outputs()

    def record(self):
        return np.concatenate([each.recorded.get() for each in self.instances])

    def free(self):
        for each in self.instances: each.free()

    def _read_outputs(self):
        """Reads the outputs at the end of a step"""
        for each in self.instances:
            self.w[each.out] = each.outputs.get()
            if self.slopes: self.slope[each.out] = each.outputs.get_slope()

    def _step(self, each, h, value, slope):
        each.inputs.set(value[each.into])
        if slope is not None: each.inputs.set_slope(slope[each.into])
        try: each.fmu.doStep(self.time, h)
        except FMICallException: raise Failed(f"{each.name} at {self.time:.3f} s") from None

    def step(self, h):
        value, slope = self.w.copy(), self.slope.copy() if self.slopes else None
        for each in self.instances:
            self._step(each, h, value, slope)
            if not self.in_turn: continue
            new = each.outputs.get()
            if self.slopes: slope[each.out] = (new - self.w[each.out]) / h
            else: value[each.out] = new
        self._read_outputs()
        self.time += h


class Iterated(Master):
    """With rollback: a step is repeated, at most `most` times, until outputs and inputs at its end agree to `close` times their size, which
    must be consistent with the FMUs' tolerance. `size`: largest magnitude of each connection's values; 0 is replaced by 1.

    The step is a map G from the assumed values at its end to the resulting ones; the solution of x = G(x) is sought. Fixed-point
    iteration converges only for short steps. Here differences of r = G(x) - x from earlier passes are combined to minimize r
    (interface quasi-Newton with least squares: Degroote, Bathe and Vierendeels, Computers and Structures 87, 2009)."""

    def __init__(self, *arguments, size, tolerance=1e-6, most=20, kept=24, **more):
        super().__init__(*arguments, slopes=True, tolerance=tolerance, **more)
        self.size = np.where(size > 0, size, 1)
        self.close, self.most, self.kept, self.passes, self.history = max(1e-5, 100 * tolerance), most, kept, 0, []

    def _pass(self, h, start, x, saved):
        """G(x), in units of each value's size"""
        for each, state in zip(self.instances, saved): each.fmu.setFMUstate(state)
        for each in self.instances: self._step(each, h, start, (self.size * x - start) / h)
        self._read_outputs()
        self.passes += 1
        return self.w / self.size

    def _keep(self, dx, dr):
        """Only the directions matter, not the lengths"""
        length = np.linalg.norm(dr)
        if length > 0: self.history = [(dx / length, dr / length), *self.history][:self.kept]

    def _improve(self, x, r):
        """x + r + (dX + dR) c  with c from  dR c = -r  by least squares"""
        if not self.history: return x + 0.1 * r
        dX, dR = (np.array(each).T for each in zip(*self.history))
        return x + r + (dX + dR) @ np.linalg.lstsq(dR, -r, rcond=1e-3)[0]

    def _solve(self, h, start, x, saved):
        for k in range(self.most):
            r = self._pass(h, start, x, saved) - x
            if k > 0: self._keep(x - before[0], r - before[1])
            if np.abs(r).max() <= self.close: return
            before, x = (x, r), self._improve(x, r)
        raise Failed(f"no convergence at {self.time:.3f} s: relative residual {np.abs(r).max():.1e} after {self.most} passes")

    def step(self, h):
        start, guess = self.w.copy(), self.w + h * self.slope
        saved = [each.fmu.getFMUstate() for each in self.instances]
        try: self._solve(h, start, guess / self.size, saved)
        finally:
            for each, state in zip(self.instances, saved): each.fmu.freeFMUstate(state)
        self.time += h
