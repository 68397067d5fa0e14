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
   belong to no quaternion correspond in order. The last of v may be states w of first order (of drives), n_w numbers that are the rates
   of no position: n_x + n_w = n_v + n_quaternions. An equation of first order has n_x = 0, y = v = w. "Accelerations" a = dv/dt include dw/dt.
   A callback that returns a recoverable status asks for a smaller step, a final one ends the integration. */
struct ode {
    int n_x, n_v;
    int n_quaternions;
    const struct quaternion_place *quaternion; /* n_quaternions; owned by the caller, outlives the integrator     */
    bool oscillatory;                          /* lightly damped oscillations are possible: elastic modes, springs */
    bool driven;                               /* inputs jump before or change during the present advance         */
    void *context;
    /* ydot = (dx/dt; dv/dt) */
    enum status (*rhs)(void *context, double t, const double *y, double *ydot);
    /* A = df/dx and B = df/dv, n_v x n_v, column major. A is by the tangent of x: of a quaternion the small rotation vector
       dtheta in body axes with q = q0 o exp(dtheta/2); its columns of w are zero. A = NULL where n_x = 0. */
    enum status (*jacobian)(void *context, double t, const double *y, double *A, double *B);
    /* For an O(n) Newton iteration in accelerations (theory.md 73 to 75): all of the next four functions. residual = NULL: the
       dense matrix of `jacobian` is used. z = (a; lambda) has n_v accelerations and n_lambda multipliers of constraints.
       r = (M a + h - Q - G' lambda; G a + G_dot v), n_v + n_lambda numbers; zero where a = f(t, x, v). Of w: dw/dt - f, so M is 1. */
    int n_lambda;
    enum status (*residual)(void *context, double t, const double *y, const double *z, double *r);
    /* Factors N = M + gamma D + gamma^2 K at y, D = -d(M f)/dv, K = -d(M f)/dx; with constraints [N -G'; G 0]. The factors stay valid until the next call. */
    enum status (*factor)(void *context, double t, const double *y, double gamma);
    /* N depends on y and gamma alone, not on t or inputs: integrators may keep its factors for later steps */
    bool matrix_of_state;
    /* r = N^-1 r */
    void (*solve)(void *context, double *r);
    /* r = (K dx + D dv; 0) with the slopes of the last factor(), dx a tangent of n_v numbers */
    void (*stiffness)(void *context, const double *dx, const double *dv, double *r);
    /* The multipliers of the last rhs(). NULL where n_lambda = 0. */
    void (*multipliers)(void *context, double *lambda);

    /* Functions g of t and y that change sign where rhs has a kink or a jump (contact with a stop). Steps end at such points. */
    int n_switches; /* may fall, before the integrator is configured, below that of its making */
    void (*switches)(void *context, double t, const double *y, double *g);
    /* The longest step from y that still resolves forces that change rapidly with y (dry friction) [s]. NULL: no limit. */
    double (*longest_step)(void *context, const double *y, const double *ydot);

    /* Projects y onto the constraints, which the equation itself satisfies only up to integration errors (loops, unit quaternions),
       and removes the components normal to them from an error estimate (NULL: none). `fixed`: with work that does not depend on the
       data. NULL: no constraints. */
    enum status (*project)(void *context, double t, bool fixed, double *y, double *error);

    /* Called with the end of every internal step. NULL: not needed. */
    void (*accepted)(void *context, double t, const double *y);
};

static inline int ode_states(const struct ode *ode)
{
    return ode->n_x + ode->n_v;
}

/* dx/dt of y = (x; v), n_x numbers. */
void ode_position_rates(const struct ode *ode, const double *y, double *rate);

#endif
