/* DOP853, the explicit Runge-Kutta method of order 8 of Dormand and Prince with Hairer's error estimate, and Nystroem's method for
   steps that communication points cut short. For motion whose fastest mode must be resolved anyway. (theory.md 84, 85) A
   Runge-Kutta-Nystroem pair of high order would need fewer stages, but only if forces do not depend on velocities. */
#ifndef ODE_EXPLICIT_H
#define ODE_EXPLICIT_H

#include "ode/onestep.h"

/* The ode must live as long as the integrator. */
enum status explicit_make(const struct ode *ode, struct integrator **integrator);

#endif
