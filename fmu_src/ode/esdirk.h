/* ESDIRK: diagonally implicit Runge-Kutta methods with an explicit first stage, L-stable and stiffly accurate (the last stage is the
   result). A pair of order 5(4), and one of order 3(2) for steps that communication points cut short anyway. (theory.md 73 to 79)
   (Kennedy and Carpenter, Diagonally implicit Runge-Kutta methods for stiff ODEs, Appl. Numer. Math. 146, 2019) */
#ifndef ODE_ESDIRK_H
#define ODE_ESDIRK_H

#include "ode/onestep.h"

/* The ode must live as long as the integrator. */
enum status esdirk_make(const struct ode *ode, struct integrator **integrator);

#endif
