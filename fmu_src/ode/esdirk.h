/* ESDIRK: diagonally implicit Runge-Kutta methods with an explicit first stage, L-stable, the last stage being the result. Pairs of
   order 5(4), and of order 3(2) for steps that the communication points cut short anyway.
   (Kennedy and Carpenter, Diagonally implicit Runge-Kutta methods for stiff ODEs, Appl. Numer. Math. 146, 2019) */
#ifndef ODE_ESDIRK_H
#define ODE_ESDIRK_H

#include "ode/onestep.h"

/* The ode must live as long as the integrator. */
enum status esdirk_make(const struct ode *ode, struct integrator **integrator);

#endif
