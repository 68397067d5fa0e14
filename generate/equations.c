#include "generate/equations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/matrices.h"
#include "generate/graph/derivative.h"
#include "generate/graph/substitution.h"
#include "generate/loops.h"

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* M, and the bias without springs, damping and friction */
static enum status make_dynamics(struct equations *e)
{
    const size_t n = (size_t)e->n;
    expr *both = arena_allocate(&e->arena, n * n + n, sizeof *both);
    if (both == NULL) return STATUS_NO_MEMORY;
    inverse_mass_matrix(&e->parts, both);
    e->M = both;
    e->bias = both + n * n;
    return e->g.failed || e->parts.arena.failed || e->names.failed ? STATUS_NO_MEMORY : STATUS_OK;
}

static expr stiffness_symbol(struct equations *e, enum quantity what, int link, int i, int j, double value)
{
    const struct symbol symbol = {.what = what, .link = link, .i = i, .j = j, .axis = -1, .value = value};
    return value != 0 ? names_symbol(&e->names, &e->parts, &symbol) : ZERO;
}

/* K: strain of the modes and springs of the joints */
static void make_stiffness(struct equations *e)
{
    const struct model *model = e->mechanism->model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct joint_model *joint = &lm->joint;
        for (int k = 0; k < joint->nv; k++)
            e->K[(e->n + 1) * (lm->v + k)] = stiffness_symbol(e, Q_SPRING, i, joint->nv > 1 ? k : -1, -1,
                                                              joint->number[joint->coordinates ? k : 0].stiffness);
        for (int k = 0; k < lm->m; k++)
            for (int l = 0; l < lm->m; l++) {
                const double *K = lm->body->K, value = K[lm->m * k + l];
                const double size = sqrt(fabs(K[(lm->m + 1) * k] * K[(lm->m + 1) * l]));
                e->K[e->n * (lm->eta_v + k) + lm->eta_v + l] =
                    stiffness_symbol(e, Q_MODE_STIFFNESS, i, k < l ? k : l, k < l ? l : k,
                                     fabs(value) > 1e-13 * size ? K[lm->m * (k < l ? k : l) + (k < l ? l : k)] : 0);
            }
    }
}

/* J: generalized forces of unit multipliers */
static enum status make_constraints(struct equations *e)
{
    struct loop_parts loops;
    const enum status status = loops_make(&e->parts, &loops);
    if (status != STATUS_OK) return status;
    memset(e->J, 0, (size_t)(e->n_rows * e->n) * sizeof *e->J);
    for (int i = 0; i < loops.n; i++)
        for (int s = 0; s < loops.row[i].n_sides; s++) {
            const struct site_part *site = &loops.row[i].side[s];
            inverse_project_wrench(&e->parts, site->part, site->section, loops.row[i].wrench[s], e->J + e->n * i);
        }
    return STATUS_OK;
}

/* ---- rates ------------------------------------------------------------------------------------------------------- */

/* d symbol/d qd_j of all rates that are defined by others, n_symbols x n; NULL: out of memory */
static expr *slopes_of_rates(struct equations *e)
{
    struct graph *g = &e->g;
    const int nodes = g->n, n = e->n;
    expr *slope = arena_allocate(&e->arena, (size_t)(e->names.n * n), sizeof *slope);
    bool *given = arena_allocate(&e->arena, (size_t)nodes, sizeof *given);
    expr *change = arena_allocate(&e->arena, (size_t)nodes, sizeof *change);
    if (e->arena.failed) return NULL;
    for (int i = 0; i < nodes; i++) given[i] = expr_operand_count(g->node[i].operation) == 0;
    for (int j = 0; j < n; j++) {
        memset(change, 0, (size_t)nodes * sizeof *change);
        change[e->parts.qd[j] / 2] = ONE;
        expr_differentiate(g, nodes, given, change);
        for (int k = 0; k < e->names.n; k++)
            if (names_quantity_is_rate(e->names.symbol[k].what))
                slope[n * k + j] = change_of(change, e->names.symbol[k].definition);
    }
    return g->failed ? NULL : slope;
}

/* ---- entries multiplied out -------------------------------------------------------------------------------------- */

static void free_sums(struct sum *sum, int n)
{
    for (int i = 0; sum != NULL && i < n; i++) free(sum[i].term);
}

/* Rates of angles and of their elastic coordinates may cancel: where that saves two terms or more, they are replaced by their definitions */
static struct sum without_rates(struct equations *e, struct sum sum)
{
    for (int k = 0; k < e->names.n; k++) {
        if (!names_quantity_is_rate(e->names.symbol[k].what)) continue;
        struct sum by = fourier_sum(&e->fourier, e->names.symbol[k].definition),
                   other = fourier_replaced(&e->fourier, &sum, e->parts.first[ARGUMENTS] + k, &by);
        const bool shorter = other.n < sum.n - 1;
        free(by.term);
        free(shorter ? sum.term : other.term);
        if (shorter) sum = other;
    }
    return sum;
}

/* 1/2 d bias/d qd_j, through the rates of angles too */
static struct sum expanded_slope(struct equations *e, const struct sum *bias, const expr *slope, int j)
{
    struct fourier *f = &e->fourier;
    struct sum sum = fourier_derivative(f, bias, e->parts.first[ARG_QD] + j, 0.5);
    for (int k = 0; k < e->names.n; k++) {
        if (slope[e->n * k + j] == ZERO) continue;
        struct sum by_rate = fourier_derivative(f, bias, e->parts.first[ARGUMENTS] + k, 0.5),
                   factor = fourier_sum(f, slope[e->n * k + j]);
        fourier_add_product(f, &by_rate, &factor, &sum);
        free(by_rate.term);
        free(factor.term);
    }
    return without_rates(e, sum);
}

/* C_ij = 1/2 d bias_i/d qd_j (Lin and Lewis 26), G = bias where no rate is a factor */
static void expand_velocity_terms(struct equations *e, const expr *slope)
{
    const int qd = e->parts.first[ARG_QD], first = e->parts.first[ARGUMENTS];
    for (int i = 0; i < e->n; i++) {
        struct sum bias = fourier_sum(&e->fourier, e->bias[i]);
        for (int j = 0; j < e->n; j++) e->sum_C[e->n * i + j] = expanded_slope(e, &bias, slope, j);
        fourier_drop(&bias, qd, qd + e->n);
        for (int k = 0; k < e->names.n; k++)
            if (names_quantity_is_rate(e->names.symbol[k].what)) fourier_drop(&bias, first + k, first + k + 1);
        e->sum_G[i] = bias;
    }
}

static expr *appended(expr *to, const expr *from, size_t count)
{
    memcpy(to, from, count * sizeof *to);
    return to + count;
}

static enum status expand(struct equations *e, int most_terms)
{
    const size_t n = (size_t)e->n, rows = n * (size_t)e->n_rows, symbols = (size_t)e->names.n, slopes = n * symbols;
    struct fourier *f = &e->fourier;
    const expr *slope = slopes_of_rates(e);
    expr *output = arena_allocate(&e->arena, 2 * n * n + n + rows + slopes + symbols, sizeof *output), *next = output;
    e->sum_M = arena_allocate(&e->arena, n * n, sizeof *e->sum_M);
    e->sum_C = arena_allocate(&e->arena, n * n, sizeof *e->sum_C);
    e->sum_K = arena_allocate(&e->arena, n * n, sizeof *e->sum_K);
    e->sum_G = arena_allocate(&e->arena, n, sizeof *e->sum_G);
    e->sum_J = arena_allocate(&e->arena, rows, sizeof *e->sum_J);
    if (slope == NULL || e->arena.failed) return STATUS_NO_MEMORY;
    next = appended(next, e->M, n * n);
    next = appended(next, e->bias, n);
    next = appended(next, e->K, n * n);
    next = appended(next, e->J, rows);
    next = appended(next, slope, slopes);
    for (size_t k = 0; k < symbols; k++) *next++ = e->names.symbol[k].definition;
    if (fourier_make(&e->g, (int)(next - output), output, most_terms, f) == FOURIER_OK) {
        for (size_t i = 0; i < rows; i++) e->sum_J[i] = fourier_sum(f, e->J[i]);
        for (size_t i = 0; i < n * n; i++) {
            e->sum_M[i] = fourier_sum(f, e->M[i]);
            e->sum_K[i] = fourier_sum(f, e->K[i]);
        }
        expand_velocity_terms(e, slope);
    }
    e->expanded = f->status == FOURIER_OK;
    return f->status == FOURIER_NO_MEMORY ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- entries with intermediate variables ------------------------------------------------------------------------- */

/* C += 1/2 M A,  A x = omega x x for the angular velocity of a quaternion: M_dot - 2 C is skew for it too */
static void add_frame_turn(struct equations *e)
{
    struct graph *g = &e->g;
    for (int i = 0; i < e->mechanism->model->n_links; i++) {
        const int omega = joint_omega(&e->mechanism->robot->link[i].joint), v = e->mechanism->model->link[i].v + omega;
        for (int row = 0; omega >= 0 && row < e->n; row++) {
            const struct vector turned = cross(g, e->M + e->n * row + v, e->parts.qd + v);
            for (int k = 0; k < 3; k++) {
                expr *C = &e->C[e->n * row + v + k];
                *C = expr_add(g, *C, expr_scale(g, 0.5, turned.e[k]));
            }
        }
    }
}

/* G: the bias where all rates are 0 */
static enum status derive_gravity(struct equations *e)
{
    const int first = e->parts.first[ARG_QD], count = e->parts.first[ARGUMENTS] + e->names.n - first;
    expr *by = arena_allocate(&e->arena, (size_t)count, sizeof *by);
    for (int i = e->n; by != NULL && i < count; i++) {
        const int k = first + i - e->parts.first[ARGUMENTS];
        if (k < 0 || !names_quantity_is_rate(e->names.symbol[k].what)) by[i] = expr_input(&e->g, first + i);
    }
    struct substitution standing = {.first = first, .count = count, .by = by};
    const bool done = by != NULL && expr_substitute(&e->g, &standing);
    for (int i = 0; done && i < e->n; i++) e->G[i] = image_of(&standing, e->bias[i]);
    substitution_free(&standing);
    return done && !e->g.failed ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status derive_velocity_terms(struct equations *e)
{
    struct graph *g = &e->g;
    const expr *slope = slopes_of_rates(e);
    const int nodes = g->n, n = e->n;
    e->C = arena_allocate(&e->arena, (size_t)(n * n), sizeof *e->C);
    e->G = arena_allocate(&e->arena, (size_t)n, sizeof *e->G);
    bool *given = arena_allocate(&e->arena, (size_t)nodes, sizeof *given);
    expr *change = arena_allocate(&e->arena, (size_t)nodes, sizeof *change);
    if (slope == NULL || e->arena.failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < nodes; i++) given[i] = expr_operand_count(g->node[i].operation) == 0;
    for (int j = 0; j < n; j++) {
        memset(change, 0, (size_t)nodes * sizeof *change);
        change[e->parts.qd[j] / 2] = ONE;
        for (int k = 0; k < e->names.n; k++)
            if (slope[n * k + j] != ZERO) change[expr_input(g, e->parts.first[ARGUMENTS] + k) / 2] = slope[n * k + j];
        expr_differentiate(g, nodes, given, change);
        for (int i = 0; i < n; i++) e->C[n * i + j] = expr_scale(g, 0.5, change_of(change, e->bias[i]));
    }
    add_frame_turn(e);
    return derive_gravity(e);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Parts, M, bias and K. The first time names the numbers, then the names are sorted */
static enum status make_expressions(struct equations *e)
{
    enum status status = STATUS_OK;
    for (int pass = 0; pass < 2 && status == STATUS_OK; pass++) {
        if (pass > 0) {
            parts_free(&e->parts);
            graph_free(&e->g);
            names_sort(&e->names);
        }
        if (!graph_make(&e->g)) return STATUS_NO_MEMORY;
        status = parts_make_named(&e->g, &e->bare, &e->names.namer, &e->parts);
        if (status == STATUS_OK) status = make_dynamics(e);
        if (status == STATUS_OK) make_stiffness(e);
        if (status == STATUS_OK && e->n_rows > 0) status = make_constraints(e);
    }
    return e->names.failed || e->g.failed ? STATUS_NO_MEMORY : status;
}

enum status equations_make(const struct mechanism *mechanism, int most_terms, struct equations *e)
{
    const size_t n = (size_t)mechanism->model->nv;
    struct report silent = {0}; /* problems of the robot were reported when its own model was made */
    *e = (struct equations){.mechanism = mechanism, .bare = *mechanism, .n = (int)n, .n_tau = mechanism->model->n_tau};
    names_make(&e->names);
    e->bare.model = NULL;
    enum status status = model_make_bare(mechanism->robot, &e->bare.model, &silent);
    e->n_rows = mechanism->constraints->n_active;
    e->J = arena_allocate(&e->arena, n * (size_t)e->n_rows, sizeof *e->J);
    e->K = arena_allocate(&e->arena, n * n, sizeof *e->K);
    e->B = arena_allocate(&e->arena, n * (size_t)e->n_tau, sizeof *e->B);
    if (status == STATUS_OK && e->arena.failed) status = STATUS_NO_MEMORY;
    if (status == STATUS_OK) status = make_expressions(e);
    if (status != STATUS_OK) return status;
    dyn_input_matrix(mechanism->model, e->B);
    if (most_terms > 0) status = expand(e, most_terms);
    if (status == STATUS_OK && !e->expanded) status = derive_velocity_terms(e);
    return status;
}

void equations_free(struct equations *e)
{
    free_sums(e->sum_M, e->n * e->n);
    free_sums(e->sum_C, e->n * e->n);
    free_sums(e->sum_K, e->n * e->n);
    free_sums(e->sum_G, e->n);
    free_sums(e->sum_J, e->n_rows * e->n);
    fourier_free(&e->fourier);
    parts_free(&e->parts);
    names_free(&e->names);
    graph_free(&e->g);
    model_free(e->bare.model);
    arena_release(&e->arena);
}
