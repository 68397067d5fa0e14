/* The Newton system (1 - gamma J) d = r of a struct ode, reduced exactly to one of size n_v. With d = (dx; dv), r = (a; b),
   dx/dt = T v, Omega the change of dx/dt with x at fixed v, E the tangent of dx, A and B of struct ode:

       [1 - gamma Omega    -gamma T  ] [dx]   [a]
       [  -gamma A E     1 - gamma B ] [dv] = [b]

       (1 - gamma B - gamma^2 A E P T) dv = b + gamma A E P a,    P = (1 - gamma Omega)^-1           (theory.md 49)
       dx = P (a + gamma T dv)

   Of an ordinary position T, E and P are 1. Of a quaternion q with angular velocity omega, Omega^2 = -|omega|^2/4, so that
       T w = 1/2 q o (0, w),   Omega p = 1/2 p o (0, omega),   E p = 2 vec(conj(q) o p)/|q|^2,
       P = (1 + gamma Omega)/D,   E P T w = (w + gamma/2 w x omega)/D,   D = 1 + gamma^2 |omega|^2/4.
   For any implicit method whose stage equation has this form. */
#ifndef ODE_NEWTON_H
#define ODE_NEWTON_H

#include "base/arena.h"
#include "ode/ode.h"

/* A quaternion at the state where the matrix was computed. */
struct quaternion_point {
    double q[4], omega[3];
    double D;      /* 1 + gamma^2 |omega|^2/4 */
    double square; /* |q|^2                   */
};

struct newton {
    int n_x, n_v, n_quaternions;
    const struct quaternion_place *quaternion; /* n_quaternions                                                     */
    struct quaternion_point *point;            /* n_quaternions, by newton_matrix()                                 */
    int *position;                             /* n_v: the position with this velocity; -1: a quaternion, or none   */
    double *A, *B;                             /* n_v x n_v, column major, by the owner; A = NULL where n_x = 0     */
    double *dx;                                /* n_v: scratch                                                      */
    double gamma;                              /* by newton_matrix()                                                */
};

/* Arrays from the arena; the caller checks whether it failed. */
void newton_make(struct newton *newton, const struct ode *ode, struct arena *arena);

/* Sets the point of the matrix: gamma and the quaternions of y. newton_matrix() calls it. */
void newton_at(struct newton *newton, double gamma, const double *y);

/* N = 1 - gamma B - gamma^2 A E P T at y, column major */
void newton_matrix(struct newton *newton, double gamma, const double *y, double *N);

/* dx = E P a of r = (a; b), n_v numbers */
void newton_tangent(const struct newton *newton, const double *r, double *dx);

/* c = b + gamma A E P a, the right-hand side of N dv = c, of r = (a; b) */
void newton_reduce(const struct newton *newton, const double *r, double *c);

/* d = (P (a + gamma T dv); dv) */
void newton_expand(const struct newton *newton, const double *r, const double *dv, double *d);

/* D = 1 + gamma^2 |omega|^2/4 and P p = (p + gamma/2 p o (0, omega))/D of one quaternion */
double newton_D(const double omega[3], double gamma);
void newton_P(const double omega[3], double gamma, double D, const double p[4], double Pp[4]);

#endif
