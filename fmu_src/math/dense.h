/* Small dense factorisations, row major, in place, no allocation. */
#ifndef MATH_DENSE_H
#define MATH_DENSE_H

/* A = L Delta L' of a symmetric positive definite n x n matrix, of which the lower triangle is read and replaced by L (unit
   diagonal not stored); inverse_d[i] = 1/Delta_i. Nonzero when A is not positive definite to rounding (NaN included). */
int ldl_factor(int n, double *A, double *inverse_d);

/* x = A^-1 x by the factors */
void ldl_solve(int n, const double *L, const double *inverse_d, double *x);

/* x = L^-1 x, and x = L^-T x */
void ldl_forward(int n, const double *L, double *x);
void ldl_backward(int n, const double *L, double *x);

/* A = U' Delta U of a symmetric positive definite n x n matrix, for larger n: the upper triangle is read and replaced by
   Delta U, row by row, with long inner loops. Nonzero as above. */
int cholesky_factor(int n, double *A, double *inverse_d);

/* x = A^-1 x by those factors */
void cholesky_solve(int n, const double *U, const double *inverse_d, double *x);

#endif
