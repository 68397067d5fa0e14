/* Small dense factorisations, row major, in place, no allocation. */
#ifndef MATH_DENSE_H
#define MATH_DENSE_H

/* Runs `statement` with the count M a constant where it is small, so that the compiler unrolls the loops in it. */
#define WITH_CONSTANT_COUNT(M, count, statement)                                                                        \
    switch (count) {                                                                                                    \
    case 1: { enum { M = 1 }; statement; break; }                                                                       \
    case 2: { enum { M = 2 }; statement; break; }                                                                       \
    case 3: { enum { M = 3 }; statement; break; }                                                                       \
    case 4: { enum { M = 4 }; statement; break; }                                                                       \
    case 5: { enum { M = 5 }; statement; break; }                                                                       \
    case 6: { enum { M = 6 }; statement; break; }                                                                       \
    default: { const int M = (count); statement; break; }                                                               \
    }
#define INLINE static inline __attribute__((always_inline))

/* A = L Delta L' of a symmetric positive definite n x n matrix, of which the lower triangle is read and replaced by L (unit
   diagonal not stored); inverse_d[i] = 1/Delta_i. Nonzero when A is not positive definite to rounding (NaN included). */
INLINE int ldl_factor(int n, double *restrict A, double *restrict inverse_d)
{
    /* row by row: l_ij Delta_j = a_ij - sum_k l_ik Delta_k l_jk,  Delta_i = a_ii - sum_k l_ik^2 Delta_k */
    const double pivot_share = 4e-15; /* a pivot below this share of its diagonal element is rounding */
    for (int i = 0; i < n; i++) {
        double *Ai = A + n * i;
        for (int j = 1; j < i; j++) {
            const double *Aj = A + n * j;
            double sum = Ai[j];
            for (int k = 0; k < j; k++) sum -= Ai[k] * Aj[k]; /* row i still holds l_ik Delta_k */
            Ai[j] = sum;
        }
        double d = Ai[i];
        for (int k = 0; k < i; k++) {
            const double l = Ai[k] * inverse_d[k];
            d -= Ai[k] * l;
            Ai[k] = l;
        }
        if (!(d > pivot_share * Ai[i])) return i + 1;
        inverse_d[i] = 1 / d;
    }
    return 0;
}

/* x = L^-1 x */
INLINE void ldl_forward(int n, const double *restrict L, double *restrict x)
{
    for (int i = 1; i < n; i++) {
        double sum = x[i];
        for (int j = 0; j < i; j++) sum -= L[n * i + j] * x[j];
        x[i] = sum;
    }
}

/* x = L^-T x */
INLINE void ldl_backward(int n, const double *restrict L, double *restrict x)
{
    for (int i = n - 1; i > 0; i--)
        for (int j = 0; j < i; j++) x[j] -= L[n * i + j] * x[i];
}

/* A = U' Delta U of a symmetric positive definite n x n matrix, for larger n: the upper triangle is read and replaced by
   Delta U, row by row, with long inner loops. Nonzero as above. */
int cholesky_factor(int n, double *A, double *inverse_d);

/* x = A^-1 x by those factors */
void cholesky_solve(int n, const double *U, const double *inverse_d, double *x);

#endif
