/* Two ways: where G vanishes and K is symmetric, phi and w^2 of the symmetric pencil (K, M); else lambda and phi of the quadratic
   one by its companion matrix. Either starts from coordinates scaled by S = diag(M)^-1/2, in which meters and radians compare. */
#include "analysis/eigenmodes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lapack.h"
#include "math/dense.h"

static const double TWO_PI = 6.283185307179586;

enum status eigenmodes_make(int n, struct eigenmodes *modes)
{
    memset(modes, 0, sizeof *modes);
    struct arena *arena = &modes->arena;
    const size_t size = (size_t)n;
    double **const square[] = {&modes->L, &modes->K, &modes->G, &modes->D};
    modes->n = n;
    modes->mode = arena_allocate(arena, size, sizeof *modes->mode);
    modes->damped = arena_allocate(arena, size, sizeof *modes->damped);
    modes->S = arena_allocate(arena, size, sizeof(double));
    for (int i = 0; i < 4; i++) *square[i] = arena_allocate(arena, size * size, sizeof(double));
    modes->companion = arena_allocate(arena, 4 * size * size, sizeof(double));
    modes->vector = arena_allocate(arena, 4 * size * size, sizeof(double));
    modes->re = arena_allocate(arena, 2 * size, sizeof(double));
    modes->im = arena_allocate(arena, 2 * size, sizeof(double));
    modes->real = arena_allocate(arena, 2 * size, sizeof *modes->real);
    for (int k = 0; k < n && !arena->failed; k++) {
        double **const vector[] = {&modes->mode[k].re, &modes->mode[k].im, &modes->mode[k].share};
        for (int i = 0; i < 3; i++) *vector[i] = arena_allocate(arena, size, sizeof(double));
    }
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

void eigenmodes_free(struct eigenmodes *modes)
{
    arena_release(&modes->arena);
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
static double norm_less_transpose(int count, const double *X, double p)
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

static void transpose(int count, double *X)
{
    const size_t n = (size_t)count;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++) {
            const double x = X[n * j + i];
            X[n * j + i] = X[n * i + j];
            X[n * i + j] = x;
        }
}

/* X <- L^-1 X L^-T */
static void reduce(const struct eigenmodes *modes, double *X)
{
    for (int side = 0; side < 2; side++) {
        LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'L', 'N', 'N', modes->n, modes->n, modes->L, modes->n, X, modes->n);
        transpose(modes->n, X);
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

/* ---- what rounding leaves ------------------------------------------------------------------------------------------------- */

/* G = 0 and K = K' but for rounding, both scaled by S */
static bool is_symmetric(const struct small_motion *motion, const struct eigenmodes *modes)
{
    const double rounding = 64 * modes->n * DBL_EPSILON,
                 rate2 = norm_less_transpose(modes->n, modes->K, 0) + motion->moment_rate;
    return norm_less_transpose(modes->n, modes->K, 1) <= rounding * rate2 &&
           norm_less_transpose(modes->n, modes->G, 0) <= rounding * sqrt(rate2);
}

/* A |lambda|^2 up to this counts as zero: 16 eps (|K| + |G|^2 + moments), Frobenius norms of the reduced matrices */
static double zero_up_to(const struct small_motion *motion, const struct eigenmodes *modes)
{
    const double K = norm_less_transpose(modes->n, modes->K, 0), G = norm_less_transpose(modes->n, modes->G, 0);
    return 16 * DBL_EPSILON * (K + G * G + motion->moment_rate);
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------------------ */

/* S M S = L L'; a pivot at rounding level belongs to a coordinate whose motion depends on that of earlier ones */
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
static void take_vector(const struct eigenmodes *modes, const double *y, double *phi)
{
    memcpy(phi, y, (size_t)modes->n * sizeof *phi);
    LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'L', 'T', 'N', modes->n, 1, modes->L, modes->n, phi, modes->n);
    for (int i = 0; i < modes->n; i++) phi[i] *= modes->S[i];
}

/* K phi = w^2 M phi. w^2 is taken as phi'K phi / phi'M phi, whose error is of second order in that of phi. */
static enum status solve_symmetric(const struct small_motion *motion, struct eigenmodes *modes, double zero)
{
    const size_t n = (size_t)modes->n;
    const int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', modes->n, modes->K, modes->n, modes->re);
    if (info != 0) return lapack_status(info, STATUS_NO_EIGENVALUES);
    for (size_t k = 0; k < n; k++) {
        struct mode *mode = &modes->mode[k];
        take_vector(modes, modes->K + n * k, mode->re);
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
    const double norm = norm_less_transpose(modes->n, modes->K, 0);
    return norm > 0 ? sqrt(norm) : 1;
}

/* [0 s; -K/s -G] of (y, y'/s), K and G reduced: s makes the blocks similar in size */
static void make_companion(struct eigenmodes *modes)
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
}

/* A growth at rounding level is set to zero. */
static double growth_of(double re, double im)
{
    return fabs(re) <= 1e-8 * hypot(re, im) ? 0 : re;
}

static int by_value(const void *a, const void *b)
{
    const double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

/* Real lambda in pairs, the least with the greatest and so on inwards: the greater one is the mode's */
static void take_real(struct eigenmodes *modes, int count, int k, double zero)
{
    const size_t N = 2 * (size_t)modes->n;
    double **real = modes->real;
    qsort(real, (size_t)count, sizeof *real, by_value);
    for (int i = count / 2; i < count; i++, k++) {
        struct mode *mode = &modes->mode[k];
        const double lambda = *real[i];
        take_vector(modes, modes->vector + N * (size_t)(real[i] - modes->re), mode->re);
        memset(mode->im, 0, (size_t)modes->n * sizeof(double));
        mode->frequency = 0;
        mode->growth = lambda * lambda <= zero ? 0 : lambda;
    }
}

/* (lambda^2 M + lambda G + K) phi = 0 */
static enum status solve_quadratic(struct eigenmodes *modes, double zero)
{
    const int N = 2 * modes->n;
    make_companion(modes);
    const int info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'V', N, modes->companion, N, modes->re, modes->im, NULL, 1,
                                   modes->vector, N);
    if (info != 0) return lapack_status(info, STATUS_NO_EIGENVALUES);
    int k = 0, n_real = 0;
    for (int j = 0; j < N; j++) {
        if (modes->im[j] == 0) modes->real[n_real++] = &modes->re[j];
        if (!(modes->im[j] > 0)) continue;
        struct mode *mode = &modes->mode[k++];
        const double *y = modes->vector + (size_t)N * (size_t)j;
        const bool still = modes->re[j] * modes->re[j] + modes->im[j] * modes->im[j] <= zero;
        take_vector(modes, y, mode->re);
        take_vector(modes, y + N, mode->im);
        mode->frequency = still ? 0 : modes->im[j] / TWO_PI;
        mode->growth = still ? 0 : growth_of(modes->re[j], modes->im[j]);
    }
    take_real(modes, n_real, k, zero);
    return STATUS_OK;
}

/* ---- what follows from phi --------------------------------------------------------------------------------------------------- */

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

enum status eigenmodes_solve(const struct small_motion *motion, struct eigenmodes *modes)
{
    modes->n = motion->r;
    if (modes->n == 0) return STATUS_OK;
    enum status status = factor(motion, modes);
    if (status != STATUS_OK) return status;
    scale(modes, motion->reduced.K, modes->K);
    scale(modes, motion->reduced.G, modes->G);
    const bool symmetric = is_symmetric(motion, modes);
    reduce(modes, modes->K);
    reduce(modes, modes->G);
    const double zero = zero_up_to(motion, modes);
    if (!isfinite(zero)) return STATUS_NOT_FINITE;
    if (symmetric) status = solve_symmetric(motion, modes, zero);
    else status = solve_quadratic(modes, zero);
    if (status != STATUS_OK) return status;
    for (int k = 0; k < modes->n; k++) describe(motion, &modes->mode[k]);
    qsort(modes->mode, (size_t)modes->n, sizeof *modes->mode, by_frequency);
    return STATUS_OK;
}

/* ---- with damping ------------------------------------------------------------------------------------------------------------ */

static int by_damped_frequency(const void *a, const void *b)
{
    const struct damped_mode *x = a, *y = b;
    if (x->frequency != y->frequency) return x->frequency > y->frequency ? 1 : -1;
    return (x->growth < y->growth) - (x->growth > y->growth);
}

/* One of each pair of lambda, chosen as without damping */
static void take_damped(struct eigenmodes *modes, double zero)
{
    int k = 0, n_real = 0;
    for (int j = 0; j < 2 * modes->n; j++) {
        const double re = modes->re[j], im = modes->im[j];
        const bool still = re * re + im * im <= zero;
        if (im == 0) modes->real[n_real++] = &modes->re[j];
        if (!(im > 0)) continue;
        modes->damped[k++] = (struct damped_mode){still ? 0 : im / TWO_PI, still ? 0 : growth_of(re, im)};
    }
    qsort(modes->real, (size_t)n_real, sizeof *modes->real, by_value);
    for (int i = n_real / 2; i < n_real; i++) {
        const double lambda = *modes->real[i];
        modes->damped[k++] = (struct damped_mode){0, lambda * lambda <= zero ? 0 : lambda};
    }
    qsort(modes->damped, (size_t)modes->n, sizeof *modes->damped, by_damped_frequency);
}

/* A double lambda = 0 comes out as the root of s times the rounding of the companion matrix, s + |G + D|. Not of its square:
   friction that nearly holds a joint leaves a slow lambda, which is not zero. */
static double damped_zero_up_to(const struct small_motion *motion, const struct eigenmodes *modes)
{
    const double s = companion_scale(modes), G = norm_less_transpose(modes->n, modes->G, 0);
    return 16 * DBL_EPSILON * (s * (s + G) + motion->moment_rate);
}

enum status eigenmodes_damp(const struct small_motion *motion, struct eigenmodes *modes)
{
    const size_t n = (size_t)modes->n;
    const int N = 2 * modes->n;
    if (n == 0) return STATUS_OK;
    scale(modes, motion->reduced.D, modes->D);
    if (norm_less_transpose(modes->n, modes->D, 0) == 0) {
        for (size_t k = 0; k < n; k++)
            modes->damped[k] = (struct damped_mode){modes->mode[k].frequency, modes->mode[k].growth};
        return STATUS_OK;
    }
    scale(modes, motion->reduced.K, modes->K);
    scale(modes, motion->reduced.G, modes->G);
    for (size_t i = 0; i < n * n; i++) modes->G[i] += modes->D[i];
    reduce(modes, modes->K);
    reduce(modes, modes->G);
    const double zero = damped_zero_up_to(motion, modes);
    if (!isfinite(zero)) return STATUS_NOT_FINITE;
    make_companion(modes);
    const int info =
        LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', N, modes->companion, N, modes->re, modes->im, NULL, 1, NULL, 1);
    if (info != 0) return lapack_status(info, STATUS_NO_EIGENVALUES);
    take_damped(modes, zero);
    return STATUS_OK;
}
