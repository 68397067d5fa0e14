/* The linear quadratic regulator in discrete time: u = -F x minimizes the sum of x' Q x + u' R u over all samples.
   docs/control.md, (C10) to (C13). Matrices are row major. */
#ifndef LQR_H
#define LQR_H

#include "base/arena.h"
#include "base/status.h"

struct lqr {
    int nx, nu;

    /* filled by the caller; time is counted in samples */
    double *A, *B; /* nx x nx, nx x nu: dx/dt = A x + B u; lqr_discretize() makes it x+ = A x + B u */
    double *Q;     /* nx x nx, symmetric and positive semidefinite                              */
    double *R;     /* nu: a diagonal, positive                                                  */

    double *X; /* nx x nx: solution of the Riccati equation, by lqr_solve()                     */

    /* scratch, n x n with the larger n of both; nx */
    double *power, *G, *W, *V, *P;
    int *pivot;
};

enum status lqr_make(struct lqr *l, int nx, int nu, struct arena *arena);

/* A of m coordinates and their rates times h, d/dt (x, h xd) = (h xd, h^2 xdd), from the derivatives of all nv accelerations, by columns.
   index: the m coordinates among the nv; NULL: all.                                                               (C10, C17) */
void lqr_set_motion(struct lqr *l, int m, int nv, const int *index, double h, const double *by_q, const double *by_qd);

/* From rates to the change over one sample with constant u, exact up to rounding. */
void lqr_discretize(struct lqr *l);

/* From rates to the change over one step of the trapezoidal rule: A <- (I + A/2) (I - A/2)^-1; B is not changed.       (C17) */
enum status lqr_step_trapezoidal(struct lqr *l);

/* X and the gain F, nu x nx. STATUS_NO_RICCATI if there is no solution. */
enum status lqr_solve(struct lqr *l, double *F);

/* The dual problem, the steady-state Kalman filter: for A and B that are the transposes of A and C of x+ = A x, y = C x, covariances Q
   and R of their noise, X is that of the error before a measurement, and the transposed gain L', nu x nx, corrects x by
   L (y - C x).                                                                                                        (C20) */
enum status lqr_filter(struct lqr *l, double *transposed_gain);

#endif
