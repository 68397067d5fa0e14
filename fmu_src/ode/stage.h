/* The equations of one implicit stage, with accelerations as unknowns. Of z = (a; lambda), with gamma, x* and v* of the method:

       V = v* + gamma a,    X = x* + gamma T(X) V,    residual(t, X, V, z) = 0                            (theory.md 73)

   T v = dx/dt is v itself except for quaternions, whose stage equation has the closed solution X = P x* (newton.h, theory.md 78).
   The Newton matrix is N = M + gamma D + gamma^2 K of struct ode or, for the residual a - f(t, X, V), the exact dense matrix
   1 - gamma B - gamma^2 A E P T. */
#ifndef ODE_STAGE_H
#define ODE_STAGE_H

#include "ode/integrator.h"
#include "ode/newton.h"

struct stage {
    const struct ode *ode;
    bool dense;
    int n_z;              /* n_v + n_lambda; lambda is unused where dense */
    struct newton newton; /* dense: A, B and the reduction    */
    double *N;            /* dense: n_v x n_v, its factors    */
    int *pivot;           /* dense                            */
    double *ydot;         /* dense: n_x + n_v                 */
    double *dx, *dv;      /* n_v                              */
    struct integrator_statistics
        count;         /* of the method too: rhs, residuals, factorizations, jacobians and work are of stages */
    bool has_factors;  /* of the last stage_factor(); cleared where they are lost      */
    enum status cause; /* of the last failure: STATUS_NO_RATES, STATUS_NEWTON_MATRIX */
};

/* Arrays from the arena; the caller checks whether it failed. */
void stage_make(struct stage *stage, const struct ode *ode, struct arena *arena);
/* dense: the exact dense matrix. Otherwise the O(n) one, if the equation has it. */
void stage_configure(struct stage *stage, bool dense);

/* ydot by the right-hand side. */
enum status stage_rhs(struct stage *stage, double t, const double *y, double *ydot);

/* ydot and z at (t, y) by the right-hand side. */
enum status stage_start(struct stage *stage, double t, const double *y, double *ydot, double *z);

/* Positions of y = (x; v) from x*: X of V. */
void stage_positions(const struct stage *stage, double gamma, const double *x_star, double *y);

/* ydot = (T(x) v; a) */
void stage_rates(const struct stage *stage, const double *y, const double *z, double *ydot);

/* The rate of the fastest mode at y [1/s]: the larger of the largest eigenvalue of M^-1 D and the square root of that of M^-1 K, by
   power iteration (theory.md 90). Overwrites the factors. INFINITY if M cannot be factored. */
double stage_fastest(struct stage *stage, double t, const double *y, double *scratch);

enum status stage_factor(struct stage *stage, double t, const double *y, double gamma);
/* The factors of an earlier stage_factor() with these arguments, computed again only if they were lost. Work is not counted, because
   it depends on whether a state was restored, and the choice of a method must not. */
enum status stage_keep_factors(struct stage *stage, double t, const double *y, double gamma);
enum status stage_residual(struct stage *stage, double t, const double *y, const double *z, double *r);
/* r = K (x1 - x0) + D (v1 - v0), of the last stage_factor(), from y0 to y1. Quaternions count as unchanged. */
void stage_stiffness(struct stage *stage, const double *y0, const double *y1, double *r);
/* r = K dx + D dv, of the last stage_factor(); dx is a tangent. n_v numbers each, r n_z */
void stage_forces(struct stage *stage, const double *dx, const double *dv, double *r);
/* r = N^-1 r */
void stage_solve(struct stage *stage, double *r);

#endif
