#include "controller/lqr.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math/dense.h"

enum status lqr_make(struct lqr *l, int nx, int nu, struct arena *arena)
{
    const size_t side = (size_t)(nx > nu ? nx : nu), square = side * side;
    l->nx = nx;
    l->nu = nu;
    arena_arrays(arena, square, ARRAYS(&l->A, &l->Q, &l->X, &l->power, &l->G, &l->W, &l->V, &l->P));
    l->B = arena_allocate(arena, (size_t)nx * (size_t)nu, sizeof(double));
    l->R = arena_allocate(arena, (size_t)nu, sizeof(double));
    l->pivot = arena_allocate(arena, (size_t)nx, sizeof(int));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

void lqr_set_motion(struct lqr *l, int m, int nv, const int *index, double h, const double *by_q, const double *by_qd)
{
    memset(l->A, 0, (size_t)l->nx * (size_t)l->nx * sizeof *l->A);
    for (int i = 0; i < m; i++) {
        l->A[l->nx * i + m + i] = 1;
        for (int k = 0; k < m; k++) {
            const int entry = index ? nv * index[k] + index[i] : nv * k + i;
            l->A[l->nx * (m + i) + k] = h * h * by_q[entry];
            l->A[l->nx * (m + i) + m + k] = h * by_qd[entry];
        }
    }
}

/* ---- products ------------------------------------------------------------------------------------------------------------ */

/* C = A B, rows x inner by inner x columns */
static void product(int rows, int inner, int columns, const double *A, const double *B, double *C)
{
    memset(C, 0, (size_t)rows * (size_t)columns * sizeof *C);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < inner; k++)
            for (int j = 0; j < columns; j++) C[columns * i + j] += A[inner * i + k] * B[columns * k + j];
}

static void add_identity(int n, double *A)
{
    for (int i = 0; i < n; i++) A[(n + 1) * i] += 1;
}

static void symmetrize(int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) A[n * i + j] = A[n * j + i] = (A[n * i + j] + A[n * j + i]) / 2;
}

static void copy(int n, const double *from, double *to)
{
    memcpy(to, from, (size_t)n * (size_t)n * sizeof *to);
}

/* ---- one sample ---------------------------------------------------------------------------------------------------------- */

/* Halvings after which the largest sum of a row of A is at most 1/2 */
static int halvings(int n, const double *A)
{
    double largest = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += fabs(A[n * i + j]);
        largest = fmax(largest, sum);
    }
    int exponent = 0;
    if (isfinite(largest)) (void)frexp(largest, &exponent);
    return exponent + 1 > 0 ? exponent + 1 : 0;
}

/* S(t) = integral of exp(A s) from 0 to t, exp(A t) = I + A S(t): a series for t = 2^-k, then S(2t) = S(t) + exp(A t) S(t).  (C10) */
void lqr_discretize(struct lqr *l)
{
    enum { TERMS = 14 };
    const int n = l->nx, times = halvings(n, l->A);
    const double t = ldexp(1, -times);
    double *S = l->G, *E = l->V, *next = l->W;
    memset(S, 0, (size_t)n * (size_t)n * sizeof *S);
    add_identity(n, S);
    for (int k = TERMS; k > 1; k--) { /* Horner: S = I + A t/k S */
        product(n, n, n, l->A, S, next);
        for (int i = 0; i < n * n; i++) S[i] = t / k * next[i];
        add_identity(n, S);
    }
    for (int i = 0; i < n * n; i++) S[i] *= t;
    product(n, n, n, l->A, S, E);
    add_identity(n, E);
    for (int k = 0; k < times; k++) {
        product(n, n, n, E, S, next);
        for (int i = 0; i < n * n; i++) S[i] += next[i];
        product(n, n, n, E, E, next);
        copy(n, next, E);
    }
    copy(n, E, l->A);
    product(n, n, l->nu, S, l->B, next);
    memcpy(l->B, next, (size_t)n * (size_t)l->nu * sizeof *l->B);
}

/* ---- the Riccati equation ------------------------------------------------------------------------------------------------ */

/* Y W^-1 for the factors of W', as lu_factor() sees the rows of W */
static void divide(const struct lqr *l, const double *Y, double *quotient)
{
    copy(l->nx, Y, quotient);
    for (int i = 0; i < l->nx; i++) lu_solve(l->nx, l->W, l->pivot, quotient + l->nx * i);
}

enum status lqr_step_trapezoidal(struct lqr *l)
{
    const int n = l->nx;
    for (int i = 0; i < n * n; i++) {
        l->W[i] = -l->A[i] / 2;
        l->V[i] = l->A[i] / 2;
    }
    add_identity(n, l->W), add_identity(n, l->V);
    if (lu_factor(n, l->W, l->pivot) != 0) return STATUS_LINEAR_ALGEBRA;
    divide(l, l->V, l->A);
    return STATUS_OK;
}

/* X <- X + A' T, which is symmetric. Returns the largest relative growth of a diagonal element: A' T is positive semidefinite, so this
   bounds the growth of all elements. NaN if X is not finite. */
static double add_cost(struct lqr *l, const double *A, const double *T)
{
    const int n = l->nx;
    double *X = l->X, *diagonal = l->P, largest = 0;
    for (int i = 0; i < n; i++) diagonal[i] = X[(n + 1) * i];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) X[n * i + j] += A[n * k + i] * T[n * k + j];
    symmetrize(n, X);
    for (int i = 0; i < n; i++) {
        const double now = X[(n + 1) * i], change = fabs(now - diagonal[i]);
        if (!isfinite(now)) return NAN;
        if (change > 0) largest = fmax(largest, change / now);
    }
    return largest;
}

/* A <- A W^-1 A,  G <- G + A W^-1 G A',  X <- X + A' X W^-1 A  with  W = I + G X. Returns the growth of X, NaN if W is singular.
                                                                                                                        (C12) */
static double double_once(struct lqr *l)
{
    const int n = l->nx;
    double *A = l->power;
    product(n, n, n, l->G, l->X, l->W);
    add_identity(n, l->W);
    if (lu_factor(n, l->W, l->pivot) != 0) return NAN;
    divide(l, A, l->V);
    divide(l, l->X, l->P);
    double *T = l->W; /* the factors are no longer needed */
    product(n, n, n, l->P, A, T);
    const double grown = add_cost(l, A, T);
    product(n, n, n, l->V, l->G, T);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) l->G[n * i + j] += dense_dot(n, T + n * i, A + n * j);
    symmetrize(n, l->G);
    product(n, n, n, l->V, A, T);
    copy(n, T, A);
    return grown;
}

/* F = (R + B' X B)^-1 B' X A                                                                                           (C13),
   for a filter (R + B' X B)^-1 B' X                                                                                    (C20) */
static bool gain(struct lqr *l, bool filter, double *F)
{
    const int n = l->nx, m = l->nu;
    double *BX = l->V, *S = l->W, *inverse = l->G, *BXA = l->P;
    memset(BX, 0, (size_t)m * (size_t)n * sizeof *BX);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) BX[n * i + j] += l->B[m * k + i] * l->X[n * k + j];
    product(m, n, m, BX, l->B, S);
    for (int i = 0; i < m; i++) S[(m + 1) * i] += l->R[i];
    if (dense_invert(m, S, inverse) != 0) return false;
    product(m, n, n, BX, l->A, BXA);
    product(m, m, n, inverse, filter ? BX : BXA, F);
    return true;
}

/* Each doubling looks twice as many samples ahead. Convergence is quadratic: after a growth of ENOUGH the next one is rounding error. */
enum { MOST_DOUBLINGS = 60 };
static const double ENOUGH = 1e-11;

/* The cost of this feedback, X = C' X C + Q + F' R F with C = A - B F, by doubling: one Newton step for the Riccati equation, which
   removes rounding errors (Hewer 1971). Fails if the feedback does not stabilize. */
static bool refine(struct lqr *l, const double *F)
{
    const int n = l->nx, m = l->nu;
    double *C = l->power, *T = l->W, grown = INFINITY;
    product(n, m, n, l->B, F, T);
    for (int i = 0; i < n * n; i++) C[i] = l->A[i] - T[i];
    copy(n, l->Q, l->X);
    for (int k = 0; k < m; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) l->X[n * i + j] += l->R[k] * F[n * k + i] * F[n * k + j];
    for (int k = 0; k < MOST_DOUBLINGS && grown > ENOUGH; k++) {
        product(n, n, n, l->X, C, T);
        grown = add_cost(l, C, T);
        product(n, n, n, C, C, T);
        copy(n, T, C);
    }
    return grown <= ENOUGH;
}

enum status lqr_solve(struct lqr *l, double *F)
{
    const int n = l->nx, m = l->nu;
    double grown = INFINITY;

    /* the doubling starts with A, Q and G = B R^-1 B' */
    copy(n, l->A, l->power);
    copy(n, l->Q, l->X);
    memset(l->G, 0, (size_t)n * (size_t)n * sizeof *l->G);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++) l->G[n * i + j] += l->B[m * i + k] * l->B[m * j + k] / l->R[k];
    for (int k = 0; k < MOST_DOUBLINGS && grown > ENOUGH; k++) grown = double_once(l);
    const bool solved = grown <= ENOUGH && gain(l, false, F) && refine(l, F) && gain(l, false, F);
    return solved ? STATUS_OK : STATUS_NO_RICCATI;
}

enum status lqr_filter(struct lqr *l, double *transposed_gain)
{
    const enum status status = lqr_solve(l, transposed_gain);
    if (status != STATUS_OK) return status;
    return gain(l, true, transposed_gain) ? STATUS_OK : STATUS_NO_RICCATI;
}
