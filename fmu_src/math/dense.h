/* Small dense factorizations, row major, in place, no allocation. */
#ifndef MATH_DENSE_H
#define MATH_DENSE_H

#include "math/lanes.h"

/* A = U' Delta U of a symmetric positive definite n x n matrix: the upper triangle is read and replaced by Delta U;
   inverse_d[i] = 1/Delta_i. Nonzero if A is not positive definite (NaN included). */
int cholesky_factor(int n, double *A, double *inverse_d);

/* x = A^-1 x with these factors */
void cholesky_solve(int n, const double *U, const double *inverse_d, double *x);

/* P A = L U of any n x n matrix, column major, with row exchanges: A is overwritten by L (unit lower triangle) and U. Nonzero if A is
   singular (NaN included). */
int lu_factor(int n, double *A, int *pivot);

/* x = A^-1 x with these factors */
void lu_solve(int n, const double *LU, const int *pivot, double *x);

/* P A Q = L U with complete pivoting, column major, for matrices that may be singular; row and column have n elements. Returns the
   rank: pivots below `least` times the first are rounding. */
int lu_ranked_factor(int n, double *A, int *row, int *column, double least);

/* x with A x = b as far as the independent equations determine it; the other unknowns are 0. b is overwritten by x. `work` has n
   elements. */
void lu_ranked_solve(int n, int rank, const double *LU, const int *row, const int *column, double *work, double *b);

/* inverse = A^-1 of any n x n matrix, by elimination with row exchanges; A is overwritten. Nonzero if A is singular (NaN
   included). */
int dense_invert(int n, double *A, double *inverse);

static inline double dense_dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* y += a x */
void dense_add(int n, double a, const double *restrict x, double *restrict y);

/* Where the elements of a vector are that are not zero: from, ..., to - 1. */
struct span {
    int from, to;
};
struct span dense_span(int n, const double *x);

/* x'y and y += a x for an x of that span */
static inline double span_dot(struct span span, const double *x, const double *y)
{
    return dense_dot(span.to - span.from, x + span.from, y + span.from);
}
static inline void span_add(struct span span, double a, const double *x, double *y)
{
    dense_add(span.to - span.from, a, x + span.from, y + span.from);
}

/* A pivot below this fraction of its diagonal element is rounding error. */
#define PIVOT_SHARE 4e-15

/* x = U^-T x and x = U^-1 x for a unit upper triangle in rows of `stride`: the short solves inside the recursions. */
INLINE void unit_forward(const int n, const int stride, const double *restrict U, double *restrict x)
{
    for (int k = 0; k < n - 1; k++)
        for (int i = k + 1; i < n; i++) x[i] -= U[stride * k + i] * x[k];
}

INLINE void unit_backward(const int n, const int stride, const double *restrict U, double *restrict x)
{
    for (int k = n - 2; k >= 0; k--) {
        double sum = x[k];
        for (int i = k + 1; i < n; i++) sum -= U[stride * k + i] * x[i];
        x[k] = sum;
    }
}

#endif
