/* Gauss collocation with five stages, of order 10: symmetric, symplectic, A-stable, without numerical damping. For
   energy over long times. Theory.md 80 to 83. (Hairer, Lubich, Wanner, Geometric Numerical Integration, II.1 and VIII.6) */
#ifndef ODE_GAUSS_H
#define ODE_GAUSS_H

#include "ode/onestep.h"

/* The ode must live as long as the integrator. */
enum status gauss_make(const struct ode *ode, struct integrator **integrator);

#endif
