#include "generate/equations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/matrices.h"
#include "generate/graph/derivative.h"
#include "generate/loops.h"

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static expr stiffness_symbol(struct equations *e, enum quantity what, int link, int i, int j, double value)
{
    const struct symbol symbol = {.what = what, .link = link, .i = i, .j = j, .axis = -1, .value = value};
    return value != 0 ? names_symbol(&e->names, &e->parts, &symbol) : ZERO;
}

/* k c c' of an elastic coupling */
static void add_coupling_stiffness(struct equations *e, int number)
{
    const struct coupling *coupling = &e->mechanism->robot->coupling[number];
    const struct link_model *link = e->mechanism->model->link;
    if (!coupling->elastic) return;
    const expr k = stiffness_symbol(e, Q_COUPLING_STIFFNESS, -1, number, -1, coupling->stiffness);
    for (int i = 0; i < coupling->n_terms * coupling->n_terms; i++) {
        const struct coupling_term *a = &coupling->term[i / coupling->n_terms],
                                   *b = &coupling->term[i % coupling->n_terms];
        expr *entry = &e->matrix[MATRIX_K].e[e->n * (link[a->link].v + a->k) + link[b->link].v + b->k];
        *entry = expr_add(&e->g, *entry, expr_scale(&e->g, a->factor * b->factor, k));
    }
}

/* K: strain of the modes, springs of the joints, elastic couplings */
static void make_stiffness(struct equations *e)
{
    const struct model *model = e->mechanism->model;
    expr *entry = e->matrix[MATRIX_K].e;
    memset(entry, 0, (size_t)(e->n * e->n) * sizeof *entry);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct joint_model *joint = &lm->joint;
        for (int k = 0; k < joint->nv; k++)
            entry[(e->n + 1) * (lm->v + k)] = stiffness_symbol(e, Q_SPRING, i, joint->nv > 1 ? k : -1, -1,
                                                               joint->number[joint->coordinates ? k : 0].stiffness);
        for (int k = 0; k < lm->m; k++)
            for (int l = 0; l < lm->m; l++) {
                const int row = k < l ? k : l, column = k < l ? l : k;
                const double *K = lm->body->K, value = entry_is_zero(K, lm->m, k, l) ? 0 : K[lm->m * row + column];
                entry[e->n * (lm->eta_v + k) + lm->eta_v + l] =
                    stiffness_symbol(e, Q_MODE_STIFFNESS, i, row, column, value);
            }
    }
    for (int c = 0; c < e->mechanism->robot->n_couplings; c++) add_coupling_stiffness(e, c);
}

/* M, K, J and the bias without springs, damping and friction. The first pass names the numbers; the second one has the names sorted */
static enum status make_expressions(struct equations *e)
{
    const struct matrix *J = &e->matrix[MATRIX_J];
    struct loop_parts loops;
    enum status status = STATUS_OK;
    for (int pass = 0; pass < 2 && status == STATUS_OK; pass++) {
        if (pass > 0) {
            parts_free(&e->parts);
            graph_free(&e->g);
            names_sort(&e->names);
        }
        if (!graph_make(&e->g)) return STATUS_NO_MEMORY;
        status = parts_make(&e->g, &e->bare, &e->names.namer, NULL, 0, false, &e->parts);
        if (status != STATUS_OK) return status;
        inverse_mass_matrix(&e->parts, e->matrix[MATRIX_M].e);
        make_stiffness(e);
        if (J->rows == 0) continue;
        loops_make(&e->parts, &loops);
        if (e->parts.arena.failed) return STATUS_NO_MEMORY;
        memset(J->e, 0, (size_t)(J->rows * J->columns) * sizeof *J->e);
        for (int i = 0; i < loops.n; i++) loops_add_row(&e->parts, &loops.row[i], ONE, J->e + e->n * i);
    }
    return e->names.failed || e->g.failed || e->parts.arena.failed ? STATUS_NO_MEMORY : status;
}

/* ---- rates ------------------------------------------------------------------------------------------------------- */

static bool symbol_is_rate(const struct equations *e, int symbol)
{
    return quantities[e->names.symbol[symbol].what].rank == RANK_RATE;
}

/* Derivatives of all nodes with respect to rate j. slope: the derivatives of rates that are symbols; NULL: these are constant */
static void differentiate_by_rate(struct equations *e, int j, const expr *slope, int nodes, expr *change)
{
    memset(change, 0, (size_t)nodes * sizeof *change);
    change[e->parts.qd[j] / 2] = ONE;
    for (int k = 0; slope != NULL && k < e->names.n; k++)
        if (slope[e->n * k + j] != ZERO)
            change[expr_input(&e->g, e->parts.first[ARGUMENTS] + k) / 2] = slope[e->n * k + j];
    expr_differentiate(&e->g, nodes, change);
}

/* d symbol/d qd_j of all symbols that are rates, n_symbols x n; NULL: out of memory */
static expr *slopes_of_rates(struct equations *e)
{
    const int nodes = e->g.n;
    expr *slope = arena_allocate(&e->arena, (size_t)(e->names.n * e->n), sizeof *slope);
    expr *change = arena_allocate(&e->arena, (size_t)nodes, sizeof *change);
    if (e->arena.failed) return NULL;
    for (int j = 0; j < e->n; j++) {
        differentiate_by_rate(e, j, NULL, nodes, change);
        for (int k = 0; k < e->names.n; k++)
            if (symbol_is_rate(e, k)) slope[e->n * k + j] = mapped(change, e->names.symbol[k].definition);
    }
    return e->g.failed ? NULL : slope;
}

/* ---- velocity terms and gravity --------------------------------------------------------------------------------- */

/* C += 1/2 M A,  A x = omega x x for the angular velocity of a quaternion: M_dot - 2 C is skew for it too */
static void add_frame_turn(struct equations *e)
{
    struct graph *g = &e->g;
    for (int i = 0; i < e->mechanism->model->n_links; i++) {
        const int omega = joint_omega(&e->mechanism->robot->link[i].joint), v = e->mechanism->model->link[i].v + omega;
        for (int row = 0; omega >= 0 && row < e->n; row++) {
            const int at = e->n * row + v;
            const struct vector turned = cross(g, e->matrix[MATRIX_M].e + at, e->parts.qd + v);
            add_scaled(g, 3, expr_number(g, 0.5), turned.e, e->matrix[MATRIX_C].e + at);
        }
    }
}

/* C = 1/2 d bias/d qd, and G, the bias where all rates are 0 */
static enum status derive_velocity_terms(struct equations *e)
{
    const int first = e->parts.first[ARG_QD], count = e->parts.first[ARGUMENTS] + e->names.n - first;
    const expr *slope = slopes_of_rates(e);
    const int nodes = e->g.n;
    expr *change = arena_allocate(&e->arena, (size_t)nodes, sizeof *change);
    expr *by = arena_allocate(&e->arena, (size_t)count, sizeof *by);
    if (slope == NULL || e->arena.failed) return STATUS_NO_MEMORY;
    for (int j = 0; j < e->n; j++) {
        differentiate_by_rate(e, j, slope, nodes, change);
        for (int i = 0; i < e->n; i++)
            e->matrix[MATRIX_C].e[e->n * i + j] = expr_scale(&e->g, 0.5, mapped(change, e->bias[i]));
    }
    add_frame_turn(e);
    for (int i = e->n; i < count; i++) {
        const int k = first + i - e->parts.first[ARGUMENTS];
        if (k < 0 || !symbol_is_rate(e, k)) by[i] = expr_input(&e->g, first + i);
    }
    struct substitution standing = {.first = first, .count = count, .by = by};
    const bool done = expr_substitute(&e->g, &standing);
    for (int i = 0; done && i < e->n; i++) e->matrix[MATRIX_G].e[i] = mapped(standing.image, e->bias[i]);
    expr_substitution_free(&standing);
    return done && !e->g.failed ? STATUS_OK : STATUS_NO_MEMORY;
}

/* ---- entries multiplied out -------------------------------------------------------------------------------------- */

/* Terms with the rate of an angle may cancel with terms in the elastic coordinates: if that saves two terms or more, the rate is
   replaced by its definition */
static struct sum without_rates(struct equations *e, struct sum sum)
{
    for (int k = 0; k < e->names.n; k++) {
        if (!symbol_is_rate(e, k)) continue;
        struct sum by = fourier_sum(&e->fourier, e->names.symbol[k].definition),
                   other = fourier_replaced(&e->fourier, &sum, e->parts.first[ARGUMENTS] + k, &by);
        const bool shorter = other.n < sum.n - 1;
        free(by.term);
        free(shorter ? sum.term : other.term);
        if (shorter) sum = other;
    }
    return sum;
}

/* All matrices, from their expressions, unless a sum gets more than `most_terms` terms; the bias is one of these sums */
static enum status expand_entries(struct equations *e, int most_terms)
{
    struct fourier *f = &e->fourier;
    const int given = e->n_entries + e->n;
    expr *output = arena_allocate(&e->arena, (size_t)(given + e->names.n), sizeof *output);
    if (output == NULL) return STATUS_NO_MEMORY;
    memcpy(output, e->entries, (size_t)given * sizeof *output);
    for (int k = 0; k < e->names.n; k++) output[given + k] = e->names.symbol[k].definition;
    fourier_make(&e->g, given + e->names.n, output, most_terms, f);
    for (int i = 0; f->status == FOURIER_OK && i < e->n_entries; i++) e->sums[i] = fourier_sum(f, e->entries[i]);
    for (int i = 0; f->status == FOURIER_OK && i < e->n * e->n; i++)
        e->matrix[MATRIX_C].sum[i] = without_rates(e, e->matrix[MATRIX_C].sum[i]);
    e->expanded = f->status == FOURIER_OK;
    return f->status == FOURIER_NO_MEMORY ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* In memory M is the last matrix, followed by the bias */
static enum status make_matrices(struct equations *e)
{
    const int n = e->n, n_tau = e->mechanism->model->n_tau, n_rows = e->mechanism->constraints->n_active;
    const struct matrix matrix[MATRICES] = {
        {.name = "M", .what = "mass matrix, symmetric", .rows = n, .columns = n, .symmetric = true},
        {.name = "C", .what = "Coriolis matrix (Christoffel symbols)", .rows = n, .columns = n},
        {.name = "K", .what = "stiffness matrix, symmetric", .rows = n, .columns = n, .symmetric = true},
        {.name = "G", .what = "gravity", .rows = n, .columns = 1, .vector = true},
        {.name = "B", .what = "input matrix", .rows = n, .columns = n_tau},
        {.name = "J", .what = "constraint Jacobian: J qd = 0", .rows = n_rows, .columns = n}};
    e->n_entries = n * (3 * n + 1 + n_tau + n_rows);
    e->entries = arena_allocate(&e->arena, (size_t)(e->n_entries + n), sizeof *e->entries);
    e->sums = arena_allocate(&e->arena, (size_t)e->n_entries, sizeof *e->sums);
    const char **texts = arena_allocate(&e->arena, (size_t)e->n_entries, sizeof *texts);
    double *input = arena_allocate(&e->arena, (size_t)(n * n_tau), sizeof *input);
    if (e->arena.failed) return STATUS_NO_MEMORY;
    for (int k = 1, first = 0; k <= MATRICES; k++) {
        struct matrix *to = &e->matrix[k % MATRICES];
        *to = matrix[k % MATRICES];
        to->e = e->entries + first;
        to->sum = e->sums + first;
        to->entry = texts + first;
        first += to->rows * to->columns;
    }
    e->bias = e->entries + e->n_entries;
    dyn_input_matrix(e->mechanism->model, input);
    for (int i = 0; i < n * n_tau; i++) e->matrix[MATRIX_B].e[i] = input[i] != 0 ? ONE : ZERO;
    return STATUS_OK;
}

enum status equations_make(const struct mechanism *mechanism, int most_terms, struct equations *e)
{
    struct report silent = {0}; /* problems of the robot were reported when its own model was made */
    *e = (struct equations){.mechanism = mechanism, .bare = *mechanism, .n = mechanism->model->nv};
    names_make(&e->names);
    e->bare.model = NULL;
    enum status status = model_make_bare(mechanism->robot, &e->bare.model, &silent);
    if (status == STATUS_OK) status = make_matrices(e);
    if (status == STATUS_OK) status = make_expressions(e);
    if (status == STATUS_OK) status = derive_velocity_terms(e);
    if (status == STATUS_OK && most_terms > 0) status = expand_entries(e, most_terms);
    return status;
}

void equations_free(struct equations *e)
{
    for (int i = 0; e->sums != NULL && i < e->n_entries; i++) free(e->sums[i].term);
    fourier_free(&e->fourier);
    parts_free(&e->parts);
    names_free(&e->names);
    graph_free(&e->g);
    model_free(e->bare.model);
    arena_release(&e->arena);
}
