#include "math/dense.h"

#include <stddef.h>

/* a pivot below this share of its diagonal element is rounding */
static const double PIVOT_SHARE = 4e-15;

int ldl_factor(int n, double *A, double *inverse_d)
{
    /* row by row: l_ij Delta_j = a_ij - sum_k l_ik Delta_k l_jk,  Delta_i = a_ii - sum_k l_ik^2 Delta_k */
    for (int i = 0; i < n; i++) {
        double *Ai = A + n * i;
        for (int j = 0; j < i; j++) {
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
        if (!(d > PIVOT_SHARE * Ai[i])) return i + 1;
        inverse_d[i] = 1 / d;
    }
    return 0;
}

void ldl_forward(int n, const double *L, double *x)
{
    for (int i = 1; i < n; i++) {
        const double *Li = L + n * i;
        double sum = x[i];
        for (int j = 0; j < i; j++) sum -= Li[j] * x[j];
        x[i] = sum;
    }
}

void ldl_backward(int n, const double *L, double *x)
{
    for (int i = n - 1; i > 0; i--) {
        const double *Li = L + n * i;
        for (int j = 0; j < i; j++) x[j] -= Li[j] * x[i];
    }
}

void ldl_solve(int n, const double *L, const double *inverse_d, double *x)
{
    ldl_forward(n, L, x);
    for (int i = 0; i < n; i++) x[i] *= inverse_d[i];
    ldl_backward(n, L, x);
}

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
