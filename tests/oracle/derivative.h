/* Numerical derivatives along a flow q(t) = q + qd t + qdd t^2/2, which at t = 0 are exact functions of q, qd and qdd. Of a
   quaternion q o exp(x/2) with that x: its angular velocity is qd + qdd t up to t^2 (qd x qdd)/4, so first derivatives of
   positions and velocities, and second ones of positions, are right at t = 0. */
#ifndef ORACLE_DERIVATIVE_H
#define ORACLE_DERIVATIVE_H

#include "oracle/specimen.h"

/* Fills y with what is to be differentiated, at the specimen's present state. */
typedef void flow_function(struct specimen *specimen, void *context, double *y);

/* First and second derivative at t = 0 of `count` values, by central differences of eighth order with step h: errors
   h^8/630 y(9) and h^8/3150 y(10), and eps y/h, eps y/h^2 of rounding. NULL: not wanted. The state is left as it was. */
void flow_derivative(struct specimen *specimen, const double *qdd, double h, flow_function *function, void *context,
                     int count, double *first, double *second);

/* A flow_function: kinetic, elastic and gravity energy together */
void flow_energy(struct specimen *specimen, void *unused, double *energy);

/* A step that balances the two for speeds and accelerations as large as these. */
double flow_step(int n, const double *qdd);

#endif
