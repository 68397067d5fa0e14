/* The linear system of the five stages of Gauss collocation, with accelerations as unknowns (theory.md 80 to 82):

       (1 x M + h A x D + h^2 A^2 x K) d = r

   A = sum_k right_k lambda_k left_k' has one real eigenvalue and two complex pairs, so that with d_k = left_k' d,
   r_k = left_k' r the system decouples into one real and two complex systems of the size of a stage,

       P(lambda_k) d_k = r_k,    P(lambda) = M + h lambda D + h^2 lambda^2 K = N + h (lambda - g) D + h^2 (lambda^2 - g^2) K.

   Only the real matrix N = P(g) is factored, once for all three; g is the geometric mean of |lambda_k|. N^-1 P has
   its spectrum on the chord from 1 (slow modes) to (lambda/g)^2 (modes far faster than the step), with damping
   between this chord and the arc through lambda/g. 0 is outside, and an iteration that minimizes the residual over
   the Krylov space (GCR: Eisenstat, Elman, Schultz, SIAM J. Numer. Anal. 20, 1983) converges for every frequency and
   damping. It needs products with K and D, which are cheap, none with M, and no evaluation of the equation. */
#ifndef ODE_GAUSS_SOLVER_H
#define ODE_GAUSS_SOLVER_H

#include "base/arena.h"
#include "ode/stage.h"

/* stages; eigenvalues, counting each pair once; most directions of the iteration */
enum { GAUSS_STAGES = 5, GAUSS_GROUPS = 3, GAUSS_DIRECTIONS = 12 };

/* N = P(g) is M + gamma D + gamma^2 K with gamma = GAUSS_G h */
#define GAUSS_G 0.12702337351164256

/* A complex vector is its n_z real parts, then its n_z imaginary parts. */
struct gauss_solver {
    struct stage *stage;
    int n_v, n_z;
    const double *square;        /* n_v: squared weights of accelerations in the norm, set by the owner     */
    double *p[GAUSS_DIRECTIONS]; /* directions, 2 n_z each                                                  */
    double *q[GAUSS_DIRECTIONS]; /* N^-1 P p, orthonormal                                                   */
    double *rho;                 /* N^-1 (r - P x), 2 n_z                                                   */
    double *x[GAUSS_GROUPS];     /* solutions, 2 n_z each                                                   */
    double *dx, *dv;             /* n_v                                                                     */
};

/* When the iteration of a group ends: when the norm of h N^-1 (r - P d) is at most `absolute`, or `relative` times its first value,
   or after `most` directions; always after `most` directions if `exactly`. */
struct gauss_effort {
    double absolute, relative;
    int most;
    bool exactly;
};

/* Arrays from the arena; the caller checks whether it failed. */
void gauss_solver_make(struct gauss_solver *solver, struct stage *stage, const double *square, struct arena *arena);

/* r (GAUSS_STAGES x n_z) is overwritten by d, with the factors of stage_factor() for gamma = GAUSS_G h. */
void gauss_solve(struct gauss_solver *solver, double h, const struct gauss_effort *effort, double *r);

/* The weighted RMS norm of h a. */
double gauss_norm(const struct gauss_solver *solver, double h, const double *a);

#endif
