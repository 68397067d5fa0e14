#include "math/dense.h"

#include <math.h>
#include <stddef.h>

enum { PANEL = 4 };

/* Rows k0 .. k0+width-1 of Delta U, over all columns to the right; the rows above have already been applied */
static int factor_panel(int n, int k0, int width, double *restrict A, double *restrict inverse_d)
{
    for (int k = k0; k < k0 + width; k++) {
        const double *Ak = A + (size_t)n * (size_t)k;
        if (!(Ak[k] > PIVOT_SHARE * inverse_d[k])) return k + 1; /* inverse_d still holds the diagonal of A */
        inverse_d[k] = 1 / Ak[k];
        for (int i = k + 1; i < k0 + width; i++) {
            double *Ai = A + (size_t)n * (size_t)i;
            const double u = Ak[i] * inverse_d[k];
            for (int j = i; j < n; j++) Ai[j] -= u * Ak[j];
        }
    }
    return 0;
}

int cholesky_factor(int n, double *A, double *inverse_d)
{
    for (int k = 0; k < n; k++) inverse_d[k] = A[(size_t)(n + 1) * (size_t)k];
    for (int k = 0; k < n; k += PANEL) {
        const int failed = factor_panel(n, k, n - k < PANEL ? n - k : PANEL, A, inverse_d);
        if (failed != 0 || k + PANEL >= n) return failed;

        /* A_ij -= sum over the panel of u_ki Delta_k u_kj: four rows at a time, so that row i is read and written once */
        const double *restrict U0 = A + (size_t)n * (size_t)k, *restrict U1 = U0 + n, *restrict U2 = U1 + n,
                               *restrict U3 = U2 + n;
        for (int i = k + PANEL; i < n; i++) {
            double *restrict Ai = A + (size_t)n * (size_t)i;
            const double u0 = U0[i] * inverse_d[k], u1 = U1[i] * inverse_d[k + 1];
            const double u2 = U2[i] * inverse_d[k + 2], u3 = U3[i] * inverse_d[k + 3];
            for (int j = i; j < n; j++) Ai[j] -= u0 * U0[j] + u1 * U1[j] + u2 * U2[j] + u3 * U3[j];
        }
    }
    return 0;
}

void cholesky_solve(int n, const double *U, const double *inverse_d, double *x)
{
    for (int k = 0; k < n; k++) {
        const double *restrict Uk = U + (size_t)n * (size_t)k, y = x[k] *= inverse_d[k];
        double *restrict below = x;
        for (int j = k + 1; j < n; j++) below[j] -= Uk[j] * y;
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *Uk = U + (size_t)n * (size_t)k;
        double sum[PANEL] = {0}; /* four sums: no addition depends on the previous one */
        int j = k + 1;
        for (; j + PANEL <= n; j += PANEL)
            for (int p = 0; p < PANEL; p++) sum[p] += Uk[j + p] * x[j + p];
        for (; j < n; j++) sum[0] += Uk[j] * x[j];
        x[k] -= ((sum[0] + sum[1]) + (sum[2] + sum[3])) * inverse_d[k];
    }
}

/* Exchanges n elements of x and y, every stride-th */
static void exchange(int n, double *x, double *y, int stride)
{
    for (int k = 0; x != y && k < n; k++) {
        const double saved = x[stride * k];
        x[stride * k] = y[stride * k];
        y[stride * k] = saved;
    }
}

int dense_invert(int n, double *A, double *inverse)
{
    double largest = 0;
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(A[i]));
    for (int i = 0; i < n * n; i++) inverse[i] = i % (n + 1) == 0;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[n * i + k]) > fabs(A[n * pivot + k])) pivot = i;
        if (!(fabs(A[n * pivot + k]) > 1e-12 * largest)) return 1;
        exchange(n, A + n * k, A + n * pivot, 1);
        exchange(n, inverse + n * k, inverse + n * pivot, 1);
        for (int i = 0; i < n; i++) {
            const double factor = A[n * i + k] / A[n * k + k];
            for (int j = 0; j < n && i != k; j++) {
                A[n * i + j] -= factor * A[n * k + j];
                inverse[n * i + j] -= factor * inverse[n * k + j];
            }
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) inverse[n * i + j] /= A[(n + 1) * i];
    return 0;
}

/* ---- LU with row exchanges, column major ---------------------------------------------------------------------------- */

static int largest_below(int n, const double *column, int from)
{
    int best = from;
    for (int i = from + 1; i < n; i++)
        if (fabs(column[i]) > fabs(column[best])) best = i;
    return best;
}

int lu_factor(int n, double *A, int *pivot)
{
    for (int k = 0; k < n; k++) {
        double *column = A + n * k;
        pivot[k] = largest_below(n, column, k);
        exchange(n, A + k, A + pivot[k], n);
        if (!(fabs(column[k]) > 0) || !isfinite(column[k])) return k + 1;
        for (int i = k + 1; i < n; i++) column[i] /= column[k];
        for (int j = k + 1; j < n; j++)
            for (int i = k + 1; i < n; i++) A[n * j + i] -= column[i] * A[n * j + k];
    }
    return 0;
}

void lu_solve(int n, const double *LU, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++)
        exchange(1, x + k, x + pivot[k], 1); /* the rows of L were exchanged too: all of x first */
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) x[i] -= LU[n * k + i] * x[k];
    for (int k = n - 1; k >= 0; k--) {
        x[k] /= LU[n * k + k];
        for (int i = 0; i < k; i++) x[i] -= LU[n * k + i] * x[k];
    }
}

/* ---- LU with complete pivoting, column major ------------------------------------------------------------------------ */

int lu_ranked_factor(int n, double *A, int *row, int *column, double least)
{
    double first = 0;
    for (int k = 0; k < n; k++) {
        row[k] = column[k] = k;
        for (int j = k; j < n; j++) {
            const int i = largest_below(n, A + n * j, k);
            if (fabs(A[n * j + i]) > fabs(A[n * column[k] + row[k]])) row[k] = i, column[k] = j;
        }
        exchange(n, A + k, A + row[k], n);
        exchange(n, A + n * k, A + n * column[k], 1);
        double *pivot = A + n * k;
        if (k == 0) first = fabs(pivot[0]);
        if (!(fabs(pivot[k]) > least * first) || !isfinite(pivot[k])) return k;
        for (int i = k + 1; i < n; i++) pivot[i] /= pivot[k];
        for (int j = k + 1; j < n; j++) {
            const double factor = A[n * j + k];
            for (int i = k + 1; i < n; i++) A[n * j + i] -= pivot[i] * factor;
        }
    }
    return n;
}

void lu_ranked_solve(int n, int rank, const double *LU, const int *row, const int *column, double *work, double *b)
{
    for (int i = 0; i < n; i++) work[i] = b[i];
    for (int k = 0; k < rank; k++) exchange(1, work + k, work + row[k], 1);
    for (int k = 0; k < rank; k++)
        for (int i = k + 1; i < rank; i++) work[i] -= LU[n * k + i] * work[k];
    for (int i = rank; i < n; i++) work[i] = 0;
    for (int k = rank - 1; k >= 0; k--) {
        work[k] /= LU[n * k + k];
        for (int i = 0; i < k; i++) work[i] -= LU[n * k + i] * work[k];
    }
    for (int k = rank - 1; k >= 0; k--) exchange(1, work + k, work + column[k], 1);
    for (int i = 0; i < n; i++) b[i] = work[i];
}

/* ---- vectors ------------------------------------------------------------------------------------------------------- */

void dense_add(int n, double a, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

struct span dense_span(int n, const double *x)
{
    struct span span = {0, n};
    while (span.to > 0 && x[span.to - 1] == 0) span.to--;
    while (span.from < span.to && x[span.from] == 0) span.from++;
    return span;
}
