/* Whether an equilibrium is stable, and how it changes with the forces on it. (theory.md 100) */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/eigen.h"
#include "mech/statics.h"

/* A stiffness below this fraction of the load is a rounding error */
static const double FLAT = 1e-9;
/* Rows of loops and lines are independent down to this fraction of the largest */
static const double DEPENDENT = 1e-11;

/* ---- stability ------------------------------------------------------------------------------------------------------------- */

/* Subtracts from x its parts along rows of Q, orthonormal, twice; returns the length that is left */
static double orthogonalize(int n, int rows, const double *Q, double *x)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < rows; i++) {
            const double along = dense_dot(n, Q + n * i, x);
            for (int j = 0; j < n; j++) x[j] -= along * Q[n * i + j];
        }
    return sqrt(dense_dot(n, x, x));
}

/* Orthonormal rows: first those of loops and kept lines, of J in units, then the directions that they leave free. Returns the number of
   the former. */
static int find_directions(const struct statics *s, double *Q)
{
    const int n = s->n;
    int rows = 0, constrained = 0;
    for (int c = 0; c < s->k + s->h + n; c++) {
        double *x = Q + n * rows;
        const bool constraint = c < s->k + s->h;
        if (rows == n) break;
        if (constraint && c >= s->k && s->row_of[c - s->k] >= 0) continue;
        for (int j = 0; j < n; j++) x[j] = constraint ? s->J[s->N * j + n + c] : c - s->k - s->h == j;
        const double length = orthogonalize(n, rows, Q, x);
        if (!(length > (constraint ? DEPENDENT : 1e-6))) continue;
        for (int j = 0; j < n; j++) x[j] /= length;
        constrained += constraint;
        rows++;
    }
    return constrained;
}

/* Eigenvalues of Z' (K + K')/2 Z, Z the directions that are free. In units of the coordinates K has a diagonal of 1 or less: a value
   below FLAT is a rounding error                                                                                       (100) */
static enum status count_directions(const struct statics *s, struct arena *scratch, struct stability *stability)
{
    const size_t n = (size_t)s->n;
    double *Q = arena_allocate(scratch, n * (n + 1), sizeof *Q), *KZ = arena_allocate(scratch, n, sizeof *KZ),
           *reduced = arena_allocate(scratch, n * n, sizeof *reduced), *V = arena_allocate(scratch, n * n, sizeof *V),
           *w = arena_allocate(scratch, n, sizeof *w);
    if (scratch->failed) return STATUS_NO_MEMORY;
    const int constrained = find_directions(s, Q), r = s->n - constrained;
    const double *Z = Q + s->n * constrained; /* as rows */
    for (int a = 0; a < r; a++) {
        for (int i = 0; i < s->n; i++) {
            KZ[i] = 0;
            for (int j = 0; j < s->n; j++) KZ[i] += 0.5 * (s->J[s->N * j + i] + s->J[s->N * i + j]) * Z[s->n * a + j];
        }
        for (int b = 0; b < r; b++) reduced[r * a + b] = dense_dot(s->n, Z + s->n * b, KZ);
    }
    eigen_symmetric(r, reduced, V, w);
    stability->directions = r;
    for (int i = 0; i < r; i++) {
        stability->unstable += w[i] < -FLAT;
        stability->indifferent += fabs(w[i]) <= FLAT;
    }
    return STATUS_OK;
}

enum status statics_stability(struct mechanism *m, struct statics *s, struct stability *stability)
{
    struct arena scratch = {0};
    *stability = (struct stability){0};
    if (s->n == 0) return STATUS_OK;
    enum status status = statics_linearize(m, s);
    if (status != STATUS_OK) return status;
    statics_matrix(m, s, false);
    status = count_directions(s, &scratch, stability);
    arena_release(&scratch);
    memcpy(s->holding, s->f, (size_t)m->model->nv * sizeof *s->holding);
    return status;
}

/* ---- changes ---------------------------------------------------------------------------------------------------------------- */

enum status statics_differentiate(struct mechanism *m, struct statics *s)
{
    const enum status status = statics_linearize(m, s);
    if (status != STATUS_OK) return status;
    statics_matrix(m, s, false);
    memcpy(s->holding, s->f, (size_t)m->model->nv * sizeof *s->holding);
    s->rank = lu_ranked_factor(s->N, s->J, s->pivot[0], s->pivot[1], 1e-12);
    return s->rank == s->N ? STATUS_OK : STATUS_NO_DERIVATIVE;
}

void statics_change(const struct mechanism *m, struct statics *s, const double *force, const double *gap,
                    const double *length, double *dx, double *dlambda, double *dF)
{
    for (int i = 0; i < s->n; i++) s->step[i] = force != NULL ? -force[s->coordinate[i]] : 0;
    for (int k = 0; k < s->k; k++) s->step[s->n + k] = gap != NULL ? -gap[m->constraints->active[k]] : 0;
    for (int j = 0; j < s->h; j++) {
        const double *change = s->row_of[j] >= 0 ? force : length;
        s->step[s->n + s->k + j] = change != NULL ? -change[s->row_of[j] >= 0 ? s->row_of[j] : s->force[j]] : 0;
    }
    for (int i = 0; i < s->N; i++) s->step[i] *= s->r_unit[i];
    lu_ranked_solve(s->N, s->rank, s->J, s->pivot[0], s->pivot[1], s->scratch, s->step);
    for (int i = 0; i < s->n; i++) dx[s->coordinate[i]] = s->step[i] * s->x_unit[i];
    for (int k = 0; k < s->k; k++) dlambda[m->constraints->active[k]] = s->step[s->n + k] * s->x_unit[s->n + k];
    for (int j = 0; j < s->h; j++) dF[s->force[j]] = s->step[s->n + s->k + j] * s->x_unit[s->n + s->k + j];
}
