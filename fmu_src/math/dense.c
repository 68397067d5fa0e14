#include "math/dense.h"

#include <stddef.h>

int cholesky_factor(int n, double *A, double *inverse_d)
{
    for (int k = 0; k < n; k++) {
        const double *restrict Ak = A + (size_t)n * (size_t)k;
        const double d = Ak[k];
        if (!(d > 0)) return k + 1;
        inverse_d[k] = 1 / d;
        /* A_ij -= u_ki Delta_k u_kj, the rows below */
        for (int i = k + 1; i < n; i++) {
            double *restrict Ai = A + (size_t)n * (size_t)i;
            const double u = Ak[i] * inverse_d[k];
            for (int j = i; j < n; j++) Ai[j] -= u * Ak[j];
        }
    }
    return 0;
}

void cholesky_solve(int n, const double *U, const double *inverse_d, double *x)
{
    for (int k = 0; k < n; k++) {
        const double *Uk = U + (size_t)n * (size_t)k;
        x[k] *= inverse_d[k];
        for (int j = k + 1; j < n; j++) x[j] -= Uk[j] * x[k];
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *Uk = U + (size_t)n * (size_t)k;
        double sum = 0;
        for (int j = k + 1; j < n; j++) sum += Uk[j] * x[j];
        x[k] -= sum * inverse_d[k];
    }
}
