/* Forces that are not unique: two cylinders side by side hold a boom in many ways. The smallest are taken, by their sum of squares. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/eigen.h"
#include "mech/statics.h"

/* Forces z of loops and lines, of length 1 in units, have no effect if |A z| is below the second; the eigenvalue of A'A, which has fewer
   digits, preselects them by the first */
static const double PERHAPS_NONE = 1e-12, NO_EFFECT = 1e-11;
/* Pivots below this fraction of the largest are rounding errors */
static const double DEPENDENT = 1e-10;

struct forces {
    int n, directions; /* multipliers and forces of lines; directions of them without effect */
    double *AA, *V, *w, *effect;
    double *Z; /* directions x h: changes of the forces of lines in them [N] */
    double *M, *a, *work;
    int *pivot[2];
};

/* Column of A = [-G' -B] of (98) in units; rows that are gaps or lengths are zero in it */
static const double *column_of(const struct statics *s, int c)
{
    return s->J + (size_t)s->N * (size_t)(s->n + c);
}

/* Moves the eigenvectors of A'A that have no effect to the front of V, except those that change no line; Z has their forces of lines */
static void find_directions(const struct statics *s, struct forces *f)
{
    for (int i = 0; i < f->n; i++)
        for (int j = 0; j < f->n; j++) f->AA[f->n * i + j] = dense_dot(s->N, column_of(s, i), column_of(s, j));
    eigen_symmetric(f->n, f->AA, f->V, f->w);
    for (int i = 0; i < f->n && f->w[i] <= PERHAPS_NONE; i++) {
        double *z = f->Z + s->h * f->directions;
        for (int j = 0; j < s->h; j++) z[j] = f->V[f->n * (s->k + j) + i] * s->x_unit[s->n + s->k + j];
        if (!(dense_dot(s->h, z, z) > 0)) continue;
        memset(f->effect, 0, (size_t)s->N * sizeof *f->effect);
        for (int c = 0; c < f->n; c++)
            for (int k = 0; k < s->N; k++) f->effect[k] += column_of(s, c)[k] * f->V[f->n * c + i];
        if (sqrt(dense_dot(s->N, f->effect, f->effect)) > NO_EFFECT) continue;
        for (int c = 0; c < f->n; c++) f->V[f->n * c + f->directions] = f->V[f->n * c + i];
        f->directions++;
    }
}

/* Z Z' a = -Z F: the least |F + Z'a| */
static void minimize_line_forces(struct mechanism *m, struct statics *s, struct forces *f)
{
    const int d = f->directions;
    for (int i = 0; i < d; i++) {
        const double *z = f->Z + s->h * i;
        f->a[i] = 0;
        for (int j = 0; j < s->h; j++) f->a[i] -= z[j] * s->F[s->force[j]];
        for (int j = 0; j < d; j++) f->M[d * j + i] = dense_dot(s->h, z, f->Z + s->h * j);
    }
    const int rank = lu_ranked_factor(d, f->M, f->pivot[0], f->pivot[1], DEPENDENT);
    lu_ranked_solve(d, rank, f->M, f->pivot[0], f->pivot[1], f->work, f->a);
    memset(s->step, 0, (size_t)s->N * sizeof *s->step);
    for (int c = 0; c < f->n; c++)
        for (int i = 0; i < d; i++) s->step[s->n + c] += f->V[f->n * c + i] * f->a[i];
    statics_move(m, s, s->step, 1);
}

enum status statics_minimize_forces(struct mechanism *m, struct statics *s)
{
    const size_t n = (size_t)(s->k + s->h);
    struct arena scratch = {0};
    struct forces f = {.n = s->k + s->h};
    s->ambiguous = 0;
    if (s->h == 0) return STATUS_OK;
    arena_arrays(&scratch, n * n, ARRAYS(&f.AA, &f.V, &f.M, &f.Z));
    arena_arrays(&scratch, n, ARRAYS(&f.w, &f.a, &f.work));
    for (int i = 0; i < 2; i++) f.pivot[i] = arena_allocate(&scratch, n, sizeof(int));
    f.effect = arena_allocate(&scratch, (size_t)s->N, sizeof(double));
    const enum status status = scratch.failed ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        statics_matrix(m, s, false);
        find_directions(s, &f);
        s->ambiguous = f.directions;
        if (f.directions > 0) minimize_line_forces(m, s, &f);
        statics_residual(m, s);
        s->residual = sqrt(dense_dot(s->n, s->r, s->r));
    }
    arena_release(&scratch);
    return status;
}
