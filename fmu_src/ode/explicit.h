/* DOP853, the explicit Runge-Kutta pair of order 8 of Dormand and Prince with Hairer's error estimate: for motion
   whose fastest mode must be followed anyway. A Runge-Kutta-Nystroem pair would need fewer stages, but only for
   forces that do not depend on velocities. */
#ifndef ODE_EXPLICIT_H
#define ODE_EXPLICIT_H

#include "ode/onestep.h"

/* The ode must live as long as the integrator. */
enum status explicit_make(const struct ode *ode, struct integrator **integrator);

#endif
