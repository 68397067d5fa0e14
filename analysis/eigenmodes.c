/* If G vanishes and K is symmetric, phi and w^2 of the symmetric pencil (K, M); otherwise lambda and phi of the quadratic pencil, from
   its companion matrix. Both methods scale the coordinates by S = diag(M)^-1/2, so that meters and radians can be compared. */
#include "analysis/eigenmodes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lapack.h"
#include "math/dense.h"

static const double TWO_PI = 6.283185307179586;

enum status eigenmodes_make(int n, struct arena *arena, struct eigenmodes *modes)
{
    const size_t size = (size_t)n;
    *modes = (struct eigenmodes){.n = n};
    modes->mode = arena_allocate(arena, size, sizeof *modes->mode);
    modes->damped = arena_allocate(arena, size, sizeof *modes->damped);
    modes->column = arena_allocate(arena, size, sizeof *modes->column);
    modes->real = arena_allocate(arena, 2 * size, sizeof *modes->real);
    arena_arrays(arena, size, ARRAYS(&modes->S));
    arena_arrays(arena, size * size, ARRAYS(&modes->L, &modes->K, &modes->G, &modes->D));
    arena_arrays(arena, 4 * size * size, ARRAYS(&modes->companion, &modes->vector));
    arena_arrays(arena, 2 * size, ARRAYS(&modes->re, &modes->im));
    for (int k = 0; k < n && !arena->failed; k++)
        arena_arrays(arena, size, ARRAYS(&modes->mode[k].re, &modes->mode[k].im, &modes->mode[k].share));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- matrices by columns -------------------------------------------------------------------------------------------------- */

/* out = S X S */
static void scale(const struct eigenmodes *modes, const double *X, double *out)
{
    const size_t n = (size_t)modes->n;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) out[n * j + i] = modes->S[i] * X[n * j + i] * modes->S[j];
}

/* Frobenius norm of X - p X' */
static double norm_minus_transpose(int count, const double *X, double p)
{
    const size_t n = (size_t)count;
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            const double x = X[n * j + i] - p * X[n * i + j];
            sum += x * x;
        }
    return sqrt(sum);
}

/* X <- L^-1 X L^-T */
static void reduce(const struct eigenmodes *modes, double *X)
{
    const size_t n = (size_t)modes->n;
    for (int side = 0; side < 2; side++) {
        LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'L', 'N', 'N', modes->n, modes->n, modes->L, modes->n, X, modes->n);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < j; i++) {
                const double x = X[n * j + i];
                X[n * j + i] = X[n * i + j];
                X[n * i + j] = x;
            }
    }
}

/* x' X x */
static double quadratic(int count, const double *X, const double *x)
{
    const size_t n = (size_t)count;
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        double column = 0;
        for (size_t i = 0; i < n; i++) column += X[n * j + i] * x[i];
        sum += column * x[j];
    }
    return sum;
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------------------ */

/* S M S = L L'; a pivot at rounding level belongs to a coordinate whose motion depends on that of previous ones */
static enum status factor(const struct small_motion *motion, struct eigenmodes *modes)
{
    const size_t n = (size_t)modes->n;
    for (size_t i = 0; i < n; i++) {
        modes->singular = (int)i;
        if (!(motion->reduced.M[(n + 1) * i] > 0)) return STATUS_NOT_POSITIVE;
        modes->S[i] = 1 / sqrt(motion->reduced.M[(n + 1) * i]);
    }
    scale(modes, motion->reduced.M, modes->L);
    const int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', modes->n, modes->L, modes->n);
    if (info < 0) return lapack_status(info, STATUS_LINEAR_ALGEBRA);
    for (size_t i = 0; i < n; i++) {
        const double pivot = modes->L[(n + 1) * i];
        modes->singular = (int)i;
        if (info == (int)i + 1 || !(pivot * pivot > PIVOT_SHARE)) return STATUS_NOT_POSITIVE;
    }
    return STATUS_OK;
}

/* phi = S L^-T y */
static void set_shape(const struct eigenmodes *modes, const double *y, double *phi)
{
    memcpy(phi, y, (size_t)modes->n * sizeof *phi);
    LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'L', 'T', 'N', modes->n, 1, modes->L, modes->n, phi, modes->n);
    for (int i = 0; i < modes->n; i++) phi[i] *= modes->S[i];
}

/* K phi = w^2 M phi, with w^2 = phi'K phi / phi'M phi, whose error is of second order in that of phi */
static enum status solve_symmetric(const struct small_motion *motion, struct eigenmodes *modes, double zero)
{
    const size_t n = (size_t)modes->n;
    const int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', modes->n, modes->K, modes->n, modes->re);
    if (info != 0) return lapack_status(info, STATUS_NO_EIGENVALUES);
    for (size_t k = 0; k < n; k++) {
        struct mode *mode = &modes->mode[k];
        set_shape(modes, modes->K + n * k, mode->re);
        memset(mode->im, 0, n * sizeof(double));
        double w2 = quadratic(modes->n, motion->reduced.K, mode->re) / quadratic(modes->n, motion->reduced.M, mode->re);
        if (fabs(w2) <= zero) w2 = 0;
        mode->frequency = w2 > 0 ? sqrt(w2) / TWO_PI : 0;
        mode->growth = w2 < 0 ? sqrt(-w2) : 0;
    }
    return STATUS_OK;
}

/* s = sqrt|K|, K reduced */
static double companion_scale(const struct eigenmodes *modes)
{
    const double norm = norm_minus_transpose(modes->n, modes->K, 0);
    return norm > 0 ? sqrt(norm) : 1;
}

static int by_value(const void *a, const void *b)
{
    const double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

/* (lambda^2 M + lambda G + K) phi = 0 by the companion matrix [0 s; -K/s -G] of (y, y'/s), K and G reduced: s makes the blocks
   similar in size. Of each pair of lambda one becomes a mode, in `damped` and `column`: of a conjugate pair that with Im lambda > 0; of
   real lambda, paired from the least with the greatest inwards, the greater one. |lambda|^2 up to `zero` counts as zero, and so does
   a growth at rounding level. */
static enum status solve_quadratic(struct eigenmodes *modes, bool vectors, double zero)
{
    const size_t n = (size_t)modes->n, N = 2 * n;
    const double s = companion_scale(modes);
    memset(modes->companion, 0, N * N * sizeof(double));
    for (size_t j = 0; j < n; j++) {
        modes->companion[N * (n + j) + j] = s;
        for (size_t i = 0; i < n; i++) {
            modes->companion[N * j + n + i] = -modes->K[n * j + i] / s;
            modes->companion[N * (n + j) + n + i] = -modes->G[n * j + i];
        }
    }
    const int info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', vectors ? 'V' : 'N', (int)N, modes->companion, (int)N,
                                   modes->re, modes->im, NULL, 1, modes->vector, (int)N);
    if (info != 0) return lapack_status(info, STATUS_NO_EIGENVALUES);

    size_t k = 0, n_real = 0;
    for (size_t j = 0; j < N; j++) {
        const double re = modes->re[j], im = modes->im[j];
        if (im == 0) modes->real[n_real++] = &modes->re[j];
        if (!(im > 0)) continue;
        const bool at_rest = re * re + im * im <= zero, oscillates = fabs(re) <= 1e-8 * hypot(re, im);
        modes->column[k] = j;
        modes->damped[k++] =
            (struct mode){.frequency = at_rest ? 0 : im / TWO_PI, .growth = at_rest || oscillates ? 0 : re};
    }
    qsort(modes->real, n_real, sizeof *modes->real, by_value);
    for (size_t i = n_real / 2; i < n_real; i++) {
        const double lambda = *modes->real[i];
        modes->column[k] = (size_t)(modes->real[i] - modes->re);
        modes->damped[k++] = (struct mode){.growth = lambda * lambda <= zero ? 0 : lambda};
    }
    return STATUS_OK;
}

/* ---- results from phi -------------------------------------------------------------------------------------------------------- */

/* phi = N y of a mode */
static double component(const struct small_motion *motion, const double *y, int i)
{
    if (motion->N == NULL) return y[i];
    double sum = 0;
    for (int c = 0; c < motion->r; c++) sum += motion->N[motion->r * i + c] * y[c];
    return sum;
}

static void describe(const struct small_motion *motion, struct mode *mode)
{
    const int n = motion->n, r = motion->r;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double re = component(motion, mode->re, i), im = component(motion, mode->im, i);
        mode->share[i] = motion->M[(n + 1) * i] * (re * re + im * im);
        sum += mode->share[i];
    }
    for (int i = 0; i < n; i++) mode->share[i] /= sum;

    /* phi^H D phi / (2 w phi^H M phi) */
    const double w = TWO_PI * mode->frequency;
    const double D = quadratic(r, motion->reduced.D, mode->re) + quadratic(r, motion->reduced.D, mode->im);
    const double M = quadratic(r, motion->reduced.M, mode->re) + quadratic(r, motion->reduced.M, mode->im);
    mode->damping_ratio = w > 0 ? D / (2 * w * M) : 0;
}

static int by_frequency(const void *a, const void *b)
{
    const struct mode *x = a, *y = b;
    if (x->frequency != y->frequency) return x->frequency > y->frequency ? 1 : -1;
    return (x->growth < y->growth) - (x->growth > y->growth);
}

void eigenmodes_sort(struct mode *mode, int n)
{
    qsort(mode, (size_t)n, sizeof *mode, by_frequency);
}

/* Modes of the quadratic pencil with their shapes */
static enum status solve_unsymmetric(struct eigenmodes *modes, double zero)
{
    const size_t n = (size_t)modes->n;
    const enum status status = solve_quadratic(modes, true, zero);
    for (size_t k = 0; k < n && status == STATUS_OK; k++) {
        struct mode *mode = &modes->mode[k];
        const double *y = modes->vector + 2 * n * modes->column[k];
        mode->frequency = modes->damped[k].frequency;
        mode->growth = modes->damped[k].growth;
        set_shape(modes, y, mode->re);
        memset(mode->im, 0, n * sizeof(double));
        if (modes->im[modes->column[k]] > 0) set_shape(modes, y + 2 * n, mode->im);
    }
    return status;
}

enum status eigenmodes_solve(const struct small_motion *motion, struct eigenmodes *modes)
{
    modes->n = motion->r;
    if (modes->n == 0) return STATUS_OK;
    enum status status = factor(motion, modes);
    if (status != STATUS_OK) return status;
    scale(modes, motion->reduced.K, modes->K);
    scale(modes, motion->reduced.G, modes->G);

    /* G = 0 and K = K' but for rounding, both scaled by S */
    double K = norm_minus_transpose(modes->n, modes->K, 0), G = norm_minus_transpose(modes->n, modes->G, 0);
    const double rounding = 64 * modes->n * DBL_EPSILON;
    const bool symmetric = norm_minus_transpose(modes->n, modes->K, 1) <= rounding * (K + motion->moment_rate) &&
                           G <= rounding * sqrt(K + motion->moment_rate);

    /* a |lambda|^2 of up to 16 eps (|K| + |G|^2 + moments) counts as zero, with Frobenius norms of the reduced matrices */
    reduce(modes, modes->K);
    reduce(modes, modes->G);
    K = norm_minus_transpose(modes->n, modes->K, 0), G = norm_minus_transpose(modes->n, modes->G, 0);
    const double zero = 16 * DBL_EPSILON * (K + G * G + motion->moment_rate);
    if (!isfinite(zero)) return STATUS_NOT_FINITE;
    status = symmetric ? solve_symmetric(motion, modes, zero) : solve_unsymmetric(modes, zero);
    if (status != STATUS_OK) return status;
    for (int k = 0; k < modes->n; k++) describe(motion, &modes->mode[k]);
    eigenmodes_sort(modes->mode, modes->n);
    return STATUS_OK;
}

/* ---- with damping ------------------------------------------------------------------------------------------------------------ */

enum status eigenmodes_damp(const struct small_motion *motion, struct eigenmodes *modes)
{
    const size_t n = (size_t)modes->n;
    if (n == 0) return STATUS_OK;
    scale(modes, motion->reduced.D, modes->D);
    if (norm_minus_transpose(modes->n, modes->D, 0) == 0) {
        memcpy(modes->damped, modes->mode, n * sizeof *modes->mode);
        return STATUS_OK;
    }
    scale(modes, motion->reduced.K, modes->K);
    scale(modes, motion->reduced.G, modes->G);
    for (size_t i = 0; i < n * n; i++) modes->G[i] += modes->D[i];
    reduce(modes, modes->K);
    reduce(modes, modes->G);

    /* A double lambda = 0 is computed as the root of s times the rounding of the companion matrix, s + |G + D|; not of its square:
       friction that nearly holds a joint leaves a small lambda that is not zero. */
    const double s = companion_scale(modes), G = norm_minus_transpose(modes->n, modes->G, 0);
    const double zero = 16 * DBL_EPSILON * (s * (s + G) + motion->moment_rate);
    if (!isfinite(zero)) return STATUS_NOT_FINITE;
    const enum status status = solve_quadratic(modes, false, zero);
    if (status == STATUS_OK) eigenmodes_sort(modes->damped, modes->n);
    return status;
}
