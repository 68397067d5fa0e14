/* The methods of integration, each an integrator of its own; automatic.h chooses among them. The ode must live as long as the integrator. */
#ifndef ODE_METHODS_H
#define ODE_METHODS_H

#include "ode/onestep.h"

/* CVODE: BDF of variable order and step size with a Newton iteration, for stiff equations. Only cvode.c includes SUNDIALS. */
enum status cvode_make(const struct ode *ode, struct integrator **integrator);

/* ESDIRK: diagonally implicit Runge-Kutta methods with an explicit first stage, L-stable and stiffly accurate (the last stage is the
   result). A pair of order 5(4), and one of order 3(2) for steps that communication points cut short anyway. (theory.md 73 to 79)
   (Kennedy and Carpenter, Diagonally implicit Runge-Kutta methods for stiff ODEs, Appl. Numer. Math. 146, 2019) */
enum status esdirk_make(const struct ode *ode, struct integrator **integrator);

/* DOP853, the explicit Runge-Kutta method of order 8 of Dormand and Prince with Hairer's error estimate, and Nystroem's method for
   steps that communication points cut short. For motion whose fastest mode must be resolved anyway. (theory.md 84, 85) A
   Runge-Kutta-Nystroem pair of high order would need fewer stages, but only if forces do not depend on velocities. */
enum status explicit_make(const struct ode *ode, struct integrator **integrator);

/* Gauss collocation with five stages, of order 10: symmetric, symplectic, A-stable, without numerical damping. For
   energy over long times. Theory.md 80 to 83. (Hairer, Lubich, Wanner, Geometric Numerical Integration, II.1 and VIII.6) */
enum status gauss_make(const struct ode *ode, struct integrator **integrator);

#endif
