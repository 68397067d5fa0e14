/* An ordinary differential equation as its owner states it to an integrator. */
#ifndef ODE_ODE_H
#define ODE_ODE_H

#include <stdbool.h>

#include "base/status.h"

/* A unit quaternion (w, x, y, z) among the positions and its angular velocity (body axes) among the velocities:
   dq/dt = 1/2 q o (0, omega). */
struct quaternion_place {
    int x, v; /* where the four numbers begin in x, the three in v */
};

/* y = (x; v): n_x positions, n_v velocities, dv/dt = f(t, x, v). A position x_i has dx_i/dt = v_j; positions and velocities that
   belong to no quaternion correspond in order, so n_x = n_v + n_quaternions. Of first order, y = v and dv/dt = f(t, v): n_x = 0.
   A callback that returns a recoverable status asks for a smaller step, a final one ends the integration. */
struct ode {
    int n_x, n_v;
    int n_quaternions;
    const struct quaternion_place *quaternion; /* n_quaternions; the owner's, as long as the integrator lives  */
    bool oscillatory;                          /* lightly damped oscillations are possible: elastic modes, springs */
    void *context;
    /* ydot, all of it */
    enum status (*rhs)(void *context, double t, const double *y, double *ydot);
    /* A = df/dx and B = df/dv, n_v x n_v, column major. A is by the tangent of x: of a quaternion the small rotation vector
       dtheta in body axes with q = q0 o exp(dtheta/2). A = NULL where n_x = 0. */
    enum status (*jacobian)(void *context, double t, const double *y, double *A, double *B);
    /* Projects y onto the constraints, which the equation itself satisfies only up to integration errors (loops, unit quaternions),
       and removes the components normal to them from an error estimate (NULL: none). NULL: no constraints. */
    enum status (*project)(void *context, double t, double *y, double *error);
};

static inline int ode_states(const struct ode *ode)
{
    return ode->n_x + ode->n_v;
}

#endif
