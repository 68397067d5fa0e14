#include "analysis/second_order.h"

#include <math.h>
#include <string.h>

#include "analysis/invariant_zeros.h"
#include "analysis/lapack.h"
#include "analysis/norm.h"

/* Entries of A below this fraction of W^2, and of V of W, are rounding and couple nothing */
static const double COUPLING_FRACTION = 1e-14;

/* x <- x L'^-1 */
static void divide_row(int n, const double *L, double *x)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= L[n * i + j] * x[j];
        x[i] /= L[n * i + i];
    }
}

/* X <- L' X, `count` columns */
static void multiply(int n, const double *L, int count, double *X)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < count; j++) {
            double sum = 0;
            for (int k = i; k < n; k++) sum += L[n * k + i] * X[count * k + j];
            X[count * i + j] = sum;
        }
}

/* L of M = L L', M being the mass matrix of the positions among the states: without prescribed joints, and N'MN of a closed robot in
   minimal coordinates */
static enum status factor_mass(const struct linear *linear, struct arena *arena, struct second_order *s)
{
    const struct mechanism *m = linear->point->mechanism;
    const int n = s->n, N = m->model->nv;
    const double *M = m->work->M, *basis = linear->basis;
    double *MN;
    dyn_configuration(m->model, m->work, linear->point->state.at.q);
    dyn_mass_matrix(m->model, m->work);
    for (int i = 0; i < n && basis == NULL; i++)
        for (int j = 0; j < n; j++) s->L[n * i + j] = M[N * linear->coordinate[i] + linear->coordinate[j]];
    if (basis != NULL) {
        arena_arrays(arena, (size_t)N * (size_t)n, ARRAYS(&MN));
        if (arena->failed) return STATUS_NO_MEMORY;
        for (int k = 0; k < N; k++)
            for (int l = 0; l < N; l++)
                for (int j = 0; j < n; j++) MN[n * k + j] += M[N * k + l] * basis[n * l + j];
        for (int k = 0; k < N; k++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) s->L[n * i + j] += basis[n * k + i] * MN[n * k + j];
    }
    if (n == 0) return STATUS_OK;
    return lapack_status(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, s->L, n), STATUS_NOT_POSITIVE);
}

/* dx/dt = T x + v, where T is zero but for quaternions (linear.h), so a row c x + e v is (c - e T) x + e dx/dt */
static void subtract_rotation(const struct linear *linear, int n, const double *e, double *c)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) c[j] -= e[k] * linear->A[2 * n * k + j];
}

/* Row of C in these coordinates, split into positions and rates */
static void get_output(const struct linear *linear, const struct second_order *s, int y, double *c, double *e)
{
    const double *row = linear->C + (size_t)linear->n_states * (size_t)y;
    memcpy(c, row, (size_t)s->n * sizeof *c);
    memcpy(e, row + s->n, (size_t)s->n * sizeof *e);
    subtract_rotation(linear, s->n, e, c);
    divide_row(s->n, s->L, c);
    divide_row(s->n, s->L, e);
}

static void get_input(const struct linear *linear, const struct second_order *s, int u, double *b)
{
    for (int i = 0; i < s->n; i++) b[i] = linear->B[(size_t)linear->n_inputs * (size_t)(s->n + i) + (size_t)u];
    multiply(s->n, s->L, 1, b);
}

/* Whether two variables are components of one vector (tip.position[1..3]), and so have the same rounding error */
static bool same_vector(const struct signal *a, const struct signal *b)
{
    const size_t stem = strcspn(a->name, "[");
    return stem == strcspn(b->name, "[") && memcmp(a->name, b->name, stem) == 0;
}

/* Sizes of b, c, d: the largest among the components of their vectors. Numbers that are small relative to them are rounding. */
static void measure(const struct linear *linear, int u, int y, struct second_order *s)
{
    const int n = s->n;
    for (int j = 0; j < linear->n_inputs; j++) {
        if (!same_vector(&linear->u[j], &linear->u[u])) continue;
        get_input(linear, s, j, s->b);
        s->size_b = fmax(s->size_b, euclidean_norm(n, s->b));
    }
    for (int i = 0; i < linear->n_outputs; i++) {
        if (!same_vector(&linear->y[i], &linear->y[y])) continue;
        get_output(linear, s, i, s->c, s->e);
        s->size_c = fmax(s->size_c, euclidean_norm(n, s->c) + s->fastest * euclidean_norm(n, s->e));
        for (int j = 0; j < linear->n_inputs; j++)
            if (same_vector(&linear->u[j], &linear->u[u]))
                s->size_d = fmax(s->size_d, fabs(linear->D[linear->n_inputs * i + j]));
    }
    s->size_d = fmax(s->size_d, s->size_c * s->size_b / (s->fastest * s->fastest));
}

static void clear_small(int n, double *x, double size)
{
    if (euclidean_norm(n, x) <= COEFFICIENT_FRACTION * size) memset(x, 0, (size_t)n * sizeof *x);
}

static enum status compute_matrices(const struct linear *linear, struct arena *arena, struct second_order *s)
{
    const int n = s->n = linear->n_states / 2;
    arena_arrays(arena, (size_t)n * (size_t)n, ARRAYS(&s->A, &s->V, &s->L));
    arena_arrays(arena, (size_t)n, ARRAYS(&s->b, &s->c, &s->e));
    const enum status status = arena->failed ? STATUS_NO_MEMORY : factor_mass(linear, arena, s);
    if (status != STATUS_OK) return status;
    for (int i = 0; i < n; i++) {
        const double *row = linear->A + 2 * (size_t)n * (size_t)(n + i);
        memcpy(s->A + n * i, row, (size_t)n * sizeof(double));
        memcpy(s->V + n * i, row + n, (size_t)n * sizeof(double));
        subtract_rotation(linear, n, s->V + n * i, s->A + n * i);
        for (int j = 0; j < n; j++) s->V[n * i + j] += linear->A[2 * n * i + j];
        divide_row(n, s->L, s->A + n * i);
        divide_row(n, s->L, s->V + n * i);
    }
    multiply(n, s->L, n, s->A);
    multiply(n, s->L, n, s->V);
    s->fastest = fmax(sqrt(euclidean_norm(n * n, s->A)), euclidean_norm(n * n, s->V));
    if (s->fastest == 0) s->fastest = 1; /* only integrators: any unit of time is suitable */
    return STATUS_OK;
}

/* ---- coupled coordinates -------------------------------------------------------------------------------------------------- */

static bool coupled(const struct second_order *s, int i, int j)
{
    const int ij = s->n * i + j, ji = s->n * j + i;
    const double W = s->fastest;
    return fmax(fabs(s->A[ij]), fabs(s->A[ji])) > COUPLING_FRACTION * W * W ||
           fmax(fabs(s->V[ij]), fabs(s->V[ji])) > COUPLING_FRACTION * W;
}

/* The group i + 1: all coordinates that a chain of couplings connects with i. Whether the input excites it and the output shows it. */
static bool find_group(const struct second_order *s, int i, int *group_of)
{
    const int group = i + 1;
    bool more = true, input = false, output = false;
    group_of[i] = group;
    while (more) {
        more = false;
        for (int a = 0; a < s->n; a++)
            for (int b = 0; b < s->n; b++)
                if (group_of[a] == group && group_of[b] == 0 && coupled(s, a, b)) {
                    group_of[b] = group;
                    more = true;
                }
    }
    for (int k = 0; k < s->n; k++) {
        if (group_of[k] != group) continue;
        input = input || fabs(s->b[k]) > COEFFICIENT_FRACTION * s->size_b;
        output = output || fabs(s->c[k]) + s->fastest * fabs(s->e[k]) > COEFFICIENT_FRACTION * s->size_c;
    }
    return input && output;
}

/* Keeps the coordinates of groups that the input excites and the output shows */
static enum status remove_uncoupled(struct arena *arena, struct second_order *s)
{
    const size_t count = (size_t)s->n;
    int *group_of = arena_allocate(arena, count, sizeof *group_of), *keep = arena_allocate(arena, count, sizeof *keep);
    bool *passes = arena_allocate(arena, count + 1, sizeof *passes); /* by group */
    int n = 0;
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < s->n; i++)
        if (group_of[i] == 0) passes[i + 1] = find_group(s, i, group_of);
    for (int i = 0; i < s->n; i++)
        if (passes[group_of[i]]) keep[n++] = i;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            s->A[n * i + j] = s->A[s->n * keep[i] + keep[j]];
            s->V[n * i + j] = s->V[s->n * keep[i] + keep[j]];
        }
        s->b[i] = s->b[keep[i]];
        s->c[i] = s->c[keep[i]];
        s->e[i] = s->e[keep[i]];
    }
    s->n = n;
    return STATUS_OK;
}

enum status second_order_make(const struct linear *linear, int u, int y, struct arena *arena, struct second_order *s)
{
    memset(s, 0, sizeof *s);
    const enum status status = compute_matrices(linear, arena, s);
    if (status != STATUS_OK) return status;
    const int n = s->n;
    measure(linear, u, y, s);
    get_input(linear, s, u, s->b);
    get_output(linear, s, y, s->c, s->e);
    s->d = linear->D[(size_t)linear->n_inputs * (size_t)y + (size_t)u];
    clear_small(n, s->b, s->size_b);
    clear_small(n, s->c, s->size_c);
    clear_small(n, s->e, s->size_c / s->fastest);
    clear_small(1, &s->d, s->size_d);
    return remove_uncoupled(arena, s);
}
