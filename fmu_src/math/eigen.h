/* Eigenvalues of small dense symmetric matrices, row major, by Jacobi rotations. */
#ifndef MATH_EIGEN_H
#define MATH_EIGEN_H

/* A V = V diag(w), w ascending, V orthogonal: column i belongs to w[i]. A is overwritten; V is n x n. */
void eigen_symmetric(int n, double *A, double *V, double *w);

/* K V = M V diag(w2), V' M V = I, w2 ascending. K and M symmetric, M positive definite; `work` holds 2 n^2 numbers.
   Nonzero if M is not positive definite to working precision. */
int eigen_generalized(int n, const double *K, const double *M, double *work, double *V, double *w2);

#endif
