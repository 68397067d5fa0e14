/* Orthogonal reduction of the system pencil [A - s, b; c, d] to one with d != 0, which has no infinite zeros (Emami-Naeini and
   Van Dooren 1982, for one input and one output), then the eigenvalues of the remaining pencil. */
#include "analysis/invariant_zeros.h"

#include <math.h>
#include <string.h>

#include "analysis/lapack.h"
#include "analysis/norm.h"

/* Reflection H = 1 - 2 v v' with x H = (0 ... 0, beta); v = 0 if x already has this form. Returns beta. */
static double reflection(int n, const double *x, double *v)
{
    double rest = 0, square = 0;
    for (int i = 0; i < n - 1; i++) rest += x[i] * x[i];
    memset(v, 0, (size_t)n * sizeof *v);
    if (rest == 0) return x[n - 1];
    const double length = sqrt(rest + x[n - 1] * x[n - 1]), beta = x[n - 1] > 0 ? -length : length;
    memcpy(v, x, (size_t)n * sizeof *v);
    v[n - 1] -= beta;
    for (int i = 0; i < n; i++) square += v[i] * v[i];
    for (int i = 0; i < n; i++) v[i] /= sqrt(square);
    return beta;
}

/* row <- row H */
static void reflect(int n, const double *v, double *row)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i] * row[i];
    for (int i = 0; i < n; i++) row[i] -= 2 * sum * v[i];
}

/* With b = (0 ... 0, beta) and d = 0 the last state is a multiple of 1/s of the input: it replaces the input, which removes one
   infinite zero. This is repeated until d != 0; gain is the product of the betas and the last d. */
static enum status remove_infinite(struct siso *s, int stride, double *v, double *sums, double *gain)
{
    double size_b = s->size_b;
    for (*gain = 1; s->d == 0; s->n--) {
        const int n = s->n;
        if (n <= 0 || euclidean_norm(n, s->b) <= COEFFICIENT_FRACTION * size_b) return STATUS_ZERO_TRANSFER;
        *gain *= reflection(n, s->b, v);
        for (int i = 0; i < n; i++) reflect(n, v, s->A + stride * i);
        memset(sums, 0, (size_t)n * sizeof *sums); /* A <- H A */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) sums[j] += v[i] * s->A[stride * i + j];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) s->A[stride * i + j] -= 2 * v[i] * sums[j];
        reflect(n, v, s->c);
        for (int i = 0; i < n - 1; i++) s->b[i] = s->A[stride * i + n - 1];
        s->d = fabs(s->c[n - 1]) > COEFFICIENT_FRACTION * s->size_c ? s->c[n - 1] : 0;
        size_b = s->size_A;
    }
    *gain *= s->d;
    return STATUS_OK;
}

/* Complex numbers come in pairs, which become exact conjugates */
static void pair(int n, const double *re, const double *im, const double *under, struct complex_number *z)
{
    for (int i = 0; i < n; i++) {
        const double w = under != NULL ? under[i] : 1;
        z[i] = (struct complex_number){re[i] / w, im[i] / w};
        if (im[i] < 0 && i > 0) z[i] = (struct complex_number){z[i - 1].re, -z[i - 1].im};
    }
}

enum status invariant_zeros(struct siso *s, struct arena *arena, struct complex_number *zero, int *count, double *gain)
{
    const int order = s->n;
    double *v, *row, *F, *E, *re, *im, *under;
    arena_arrays(arena, (size_t)order * (size_t)order, ARRAYS(&F, &E));
    arena_arrays(arena, (size_t)order + 1, ARRAYS(&v, &row, &re, &im, &under));
    if (arena->failed) return STATUS_NO_MEMORY;
    const enum status status = remove_infinite(s, order, v, row, gain);
    if (status != STATUS_OK) return status;
    const int n = *count = s->n;
    if (n == 0) return STATUS_OK;

    /* (c, d) H = (0, delta): the first n columns of [A, b] H - s [1, 0] H are those that the output does not see */
    memcpy(row, s->c, (size_t)n * sizeof *row);
    row[n] = s->d;
    reflection(n + 1, row, v);
    for (int i = 0; i < n; i++) {
        memcpy(row, s->A + order * i, (size_t)n * sizeof *row);
        row[n] = s->b[i];
        reflect(n + 1, v, row);
        memcpy(F + n * i, row, (size_t)n * sizeof *row);
        for (int j = 0; j < n; j++) E[n * i + j] = (i == j) - 2 * v[i] * v[j];
    }
    const int info = LAPACKE_dggev(LAPACK_ROW_MAJOR, 'N', 'N', n, F, n, E, n, re, im, under, NULL, 1, NULL, 1);
    if (info != 0) return lapack_status(info, STATUS_NO_EIGENVALUES);
    pair(n, re, im, under, zero);
    return STATUS_OK;
}

enum status zeros_eigenvalues(int n, const double *A, struct arena *arena, struct complex_number *pole)
{
    double *copy, *re, *im;
    if (n == 0) return STATUS_OK;
    arena_arrays(arena, (size_t)n * (size_t)n, ARRAYS(&copy));
    arena_arrays(arena, (size_t)n, ARRAYS(&re, &im));
    if (arena->failed) return STATUS_NO_MEMORY;
    memcpy(copy, A, (size_t)n * (size_t)n * sizeof *A);
    const int info = LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, copy, n, re, im, NULL, 1, NULL, 1);
    if (info != 0) return lapack_status(info, STATUS_NO_EIGENVALUES);
    pair(n, re, im, NULL, pole);
    return STATUS_OK;
}
