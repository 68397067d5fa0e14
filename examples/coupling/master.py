"""Co-simulation of a system of FMUs with a fixed communication step h, in four ways:

at once    all FMUs step with what the others had at the beginning of the step (Jacobi); ecos and libcosim do this
in turn    one after the other; those later in the order take what the earlier ones have at the end of the step (Gauss-Seidel)
slopes     either, with slopes: an input goes on as its source did (extrapolation), or, where the source has stepped already, on a
           straight line to its new value (interpolation)
iterated   at once with straight lines to the values at the end of the step, which are not known yet: FMUs are put back to the beginning by
           their saved state and step again until the lines meet what comes out (rollback)

Held inputs: within a step our drives let a driven position go on by its rate all the same (docs/drives.md)."""

import numpy as np
from fmpy.fmi1 import FMICallException

from .instance import instantiate, levels, settle


class Failed(Exception):
    """The coupling does not go on: a step was refused, values run away, passes do not agree."""


class Master:
    """`order`: names of the components in turn; None: at once"""

    def __init__(self, system, folder, order=None, slopes=False, tolerance=1e-6, recorded={}):
        self.instances = instantiate(system, folder, "CS", tolerance, recorded)
        if order is not None: self.instances.sort(key=lambda each: order.index(each.name))
        self.in_turn, self.slopes, self.time = order is not None, slopes, 0.0
        self.w, self.slope = np.zeros(len(system.connections)), np.zeros(len(system.connections))
        self.groups = levels(system, self.instances)
        settle(self.groups, self.w)
        for each in self.instances: each.fmu.exitInitializationMode()
        self._look()

    def record(self):
        return np.concatenate([each.recorded.get() for each in self.instances])

    def free(self):
        for each in self.instances: each.free()

    def _look(self):
        """What comes out at the end of a step"""
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
        self._look()
        self.time += h


class Iterated(Master):
    """With rollback: a step is repeated, `most` times at most, until what comes out meets what went in within `close` of its size, which
    is no closer than the FMUs' tolerance allows. `size`: how large the values of each connection become; those that stay 0 are left
    alone.

    The step is a map G of the values at its end that the FMUs are given to those that they give; x = G(x) is wanted. Feeding G(x) back
    converges only for short steps. Here differences of r = G(x) - x of earlier passes are combined so that r vanishes as well as it
    can (interface quasi-Newton with least squares: Degroote, Bathe and Vierendeels, Computers and Structures 87, 2009)."""

    def __init__(self, *arguments, size, tolerance=1e-6, most=20, remembered=24, **more):
        super().__init__(*arguments, slopes=True, tolerance=tolerance, **more)
        self.size = np.where(size > 0, size, 1)
        self.close, self.most, self.remembered, self.passes, self.history = max(1e-5, 100 * tolerance), most, remembered, 0, []

    def _pass(self, h, start, x, saved):
        """G(x), in units of each value's size"""
        for each, state in zip(self.instances, saved): each.fmu.setFMUstate(state)
        for each in self.instances: self._step(each, h, start, (self.size * x - start) / h)
        self._look()
        self.passes += 1
        return self.w / self.size

    def _remember(self, dx, dr):
        """Directions count, not lengths"""
        length = np.linalg.norm(dr)
        if length > 0: self.history = [(dx / length, dr / length), *self.history][:self.remembered]

    def _better(self, x, r):
        """x + r + (dX + dR) c  with c from  dR c = -r  in the sense of least squares"""
        if not self.history: return x + 0.1 * r
        dX, dR = (np.array(each).T for each in zip(*self.history))
        return x + r + (dX + dR) @ np.linalg.lstsq(dR, -r, rcond=1e-3)[0]

    def _solve(self, h, start, x, saved):
        for turn in range(self.most):
            r = self._pass(h, start, x, saved) - x
            if turn > 0: self._remember(x - before[0], r - before[1])
            if np.abs(r).max() <= self.close: return
            before, x = (x, r), self._better(x, r)
        raise Failed(f"no agreement at {self.time:.3f} s: {np.abs(r).max():.1e} of the size after {self.most} passes")

    def step(self, h):
        start, guess = self.w.copy(), self.w + h * self.slope
        saved = [each.fmu.getFMUstate() for each in self.instances]
        try: self._solve(h, start, guess / self.size, saved)
        finally:
            for each, state in zip(self.instances, saved): each.fmu.freeFMUstate(state)
        self.time += h
