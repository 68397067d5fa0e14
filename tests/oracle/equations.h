/* Small differential equations for tests of integrators, and single steps of one-step methods. */
#ifndef ORACLE_EQUATIONS_H
#define ORACLE_EQUATIONS_H

#include "ode/onestep.h"

/* x'' = -sin x - 0.1 v + 0.3 cos t: nonlinear, damped, forced. n_x = n_v = 1 */
extern const struct ode forced_pendulum;

/* x'' = -sin x */
extern const struct ode pendulum;
double pendulum_energy(const double y[2]);

/* A spinning top in body axes: J omega' = J omega x omega + s x R(q)' e_z, J = diag(1, 2, 2.5). n_x = 4, n_v = 3.
   The matrix that it offers for Newton iterations leaves out the torque. */
extern const struct ode top;
double top_energy(const double y[7]);

/* v' = lambda v of a complex lambda: n_x = 0, n_v = 2 */
struct ode test_equation(const double lambda[2]);

/* Two masses with springs, dampers and a cubic spring, tied together by a multiplier in residual form: M a + D v + K
   x + beta x^3 = G' mu, x1 = x2. K and D without the cubic spring are offered for Newton iterations. */
struct tied {
    double M[2], D[2], K[2], beta;
    double N[9]; /* by factor() */
    int pivot[3];
};
struct ode tied_masses(struct tied *tied);

/* One step of h from (t, y) by the method, with iterations that are exact up to rounding; the result is in s->y1. */
enum status single_step(struct one_step *s, double t, const double *y, double h);

/* y at t0 + steps h, by single steps. */
enum status several_steps(struct one_step *s, double t0, double *y, double h, int steps);

/* The global order of convergence at this end: the slope of log(error) over log(h) between `steps` and 2 steps, the
   exact solution being that of 16 times as many steps. */
double measured_order(struct one_step *s, double end, const double *y0, int steps);

#endif
