#include "mech/constraints.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/dense.h"
#include "math/vec.h"
#include "mech/loop.h"
#include "mech/mechanism.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

static bool share_joints(const struct model *model, const struct constraint *a, const struct constraint *b)
{
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].joint.nv > 0 && constraint_has_joint(model, a, i) && constraint_has_joint(model, b, i))
            return true;
    return false;
}

/* The number of a group is that of its first constraint */
static void group_constraints(const struct model *model, struct constraints *all)
{
    struct constraint *c = all->constraint;
    for (int i = 0; i < all->count; i++) {
        c[i].group = i;
        for (int j = 0; j < i; j++) {
            const int joined = c[i].group < c[j].group ? c[i].group : c[j].group;
            const int left = c[i].group < c[j].group ? c[j].group : c[i].group;
            if (joined == left || !share_joints(model, &c[i], &c[j])) continue;
            for (int k = 0; k <= i; k++)
                if (c[k].group == left) c[k].group = joined;
        }
    }
}

static void add_constraint(struct constraints *all, const struct constraint_kind *kind, int part, const char *name,
                           int count)
{
    all->constraint[all->count++] = (struct constraint){
        .kind = kind, .part = part, .name = name, .first = all->n_rows, .count = count, .load = kind->n_loads * part};
    all->n_rows += count;
}

/* A new kind of constraint is added here, for each part of the robot that is one */
static void list_constraints(const struct robot *robot, struct constraints *all)
{
    for (int i = 0; i < robot->n_loops; i++) {
        const struct loop *loop = &robot->loop[i];
        const int count = loop_make(robot, loop, all->loop[i].equation);
        all->turning = all->turning || all->loop[i].equation[0].turns;
        add_constraint(all, &loop_constraint, i, loop->name, count);
        all->constraint[i].approximate = loop->approximate;
    }
    for (int i = 0; i < robot->n_couplings; i++)
        if (!robot->coupling[i].elastic) add_constraint(all, &coupling_constraint, i, robot->coupling[i].name, 1);
}

struct constraints *constraints_make(const struct model *model, struct arena *arena)
{
    const struct robot *robot = model->robot;
    const size_t n = (size_t)model->nv, n_loops = (size_t)robot->n_loops;
    struct constraints *all = arena_allocate(arena, 1, sizeof *all);
    if (arena->failed) return NULL;
    all->constraint = arena_allocate(arena, n_loops + (size_t)robot->n_couplings, sizeof *all->constraint);
    all->loop = arena_allocate(arena, n_loops, sizeof *all->loop);
    if (arena->failed) return NULL;
    list_constraints(robot, all);
    const size_t rows = (size_t)all->n_rows;
    arena_arrays(arena, rows,
                 ARRAYS(&all->gap, &all->rate, &all->size, &all->lambda, &all->inverse_d, &all->rhs, &all->dlambda));
    all->of_row = arena_allocate(arena, rows, sizeof *all->of_row);
    all->active = arena_allocate(arena, rows, sizeof *all->active);
    all->span = arena_allocate(arena, rows, sizeof *all->span);
    all->S = arena_allocate(arena, rows * rows, sizeof(double));
    all->direction = arena_allocate(arena, n, sizeof(double));
    arena_arrays(arena, rows * n, ARRAYS(&all->G, &all->X, &all->gap_by[BY_Q], &all->gap_by[BY_QD]));
    if (arena->failed) return NULL;
    for (int i = 0; i < all->count; i++)
        for (int k = 0; k < all->constraint[i].count; k++)
            all->of_row[all->constraint[i].first + k] = &all->constraint[i];
    for (int i = 0; i < all->n_rows; i++) all->active[i] = i, all->size[i] = 1;
    all->n_active = all->n_rows;
    group_constraints(model, all);
    return all;
}

const char *constraint_label(const struct constraint *c, char text[MOST_LABEL])
{
    snprintf(text, MOST_LABEL, "%s[%d] (%s)", c->kind->part, c->part, c->name);
    return text;
}

bool constraint_has_joint(const struct model *model, const struct constraint *c, int link)
{
    bool bends;
    return c->kind->moved_by(model, c->part, link, &bends);
}

/* ---- at a state -------------------------------------------------------------------------------------------------- */

void constraints_frames(struct mechanism *m, bool solved)
{
    const struct constraints *all = m->constraints;
    m->work->done |= MECH_FRAMES;
    for (int i = 0; i < all->count; i++)
        if (all->constraint[i].kind->place != NULL) all->constraint[i].kind->place(m, &all->constraint[i], solved);
}

void constraints_gap(struct mechanism *m, const struct input *in)
{
    const struct constraints *all = m->constraints;
    constraints_frames(m, false);
    for (int i = 0; i < all->count; i++) all->constraint[i].kind->measure_gap(m, &all->constraint[i], in);
}

double constraints_largest_gap(const struct constraints *all)
{
    double largest = 0;
    for (int k = 0; k < all->n_active; k++)
        largest = fmax(largest, fabs(all->gap[all->active[k]]) / all->size[all->active[k]]);
    return largest;
}

/* Adds the generalized forces of a wrench, number s of a constraint, swept to the base                               (52) */
static void add_wrench(const struct mechanism *m, const struct constraint *c, int s, const double *wrench, double *G)
{
    struct load load = m->load[c->load + s];
    copy6(wrench, load.wrench);
    dyn_frame_force(m->model, m->work, &load, G);
}

void constraints_row(struct mechanism *m, int k)
{
    const struct constraints *all = m->constraints;
    const struct constraint *c = all->of_row[all->active[k]];
    NEEDS(m->work, MECH_FRAMES);
    double on[LOOP_SITES][6] = {{0}}, *G = all->G + (size_t)m->model->nv * (size_t)k;
    memset(G, 0, (size_t)m->model->nv * sizeof *G);
    c->kind->add_multiplier(m, c, all->active[k] - c->first, 1, on, G);
    for (int s = 0; s < c->kind->n_loads; s++) add_wrench(m, c, s, on[s], G);
    all->span[k] = dense_span(m->model->nv, G);
}

void constraints_mobility(struct mechanism *m, enum mobility by)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv;
    const int k = loops->n_active;
    for (int i = 0; i < k; i++) constraints_row(m, i);
    memcpy(loops->X, loops->G, n * (size_t)k * sizeof(double));
    if (by == BY_ARTICULATED_FACTORS) dyn_solve_columns(model, m->work, m->tangent, k, loops->X);
    for (int i = 0; by == BY_DENSE_FACTORS && i < k; i++) dyn_solve_composite(model, m->work, loops->X + n * (size_t)i);
    for (int i = 0; i < k; i++)
        for (int j = i; j < k; j++)
            loops->S[k * i + j] = span_dot(loops->span[i], loops->G + n * (size_t)i, loops->X + n * (size_t)j);
}

enum status constraints_factor(struct mechanism *m)
{
    struct constraints *loops = m->constraints;
    const int failed = cholesky_factor(loops->n_active, loops->S, loops->inverse_d);
    if (failed == 0) return STATUS_OK;
    loops->failed = (int)(loops->of_row[loops->active[failed - 1]] - loops->constraint);
    return STATUS_SINGULAR_LOOP;
}

void constraints_respond(struct mechanism *m, double *x)
{
    const struct constraints *loops = m->constraints;
    const int n = m->model->nv;
    cholesky_solve(loops->n_active, loops->S, loops->inverse_d, loops->rhs);
    for (int k = 0; k < loops->n_active; k++) dense_add(n, loops->rhs[k], loops->X + (size_t)n * (size_t)k, x);
}

void constraints_set_loads(struct mechanism *m)
{
    const struct constraints *all = m->constraints;
    NEEDS(m->work, MECH_FRAMES);
    if (m->multiplier_force != NULL) memset(m->multiplier_force, 0, (size_t)m->model->nv * sizeof(double));
    for (int i = 0; i < all->count; i++) {
        const struct constraint *c = &all->constraint[i];
        double on[LOOP_SITES][6] = {{0}};
        for (int k = 0; k < c->count; k++)
            c->kind->add_multiplier(m, c, k, all->lambda[c->first + k], on, m->multiplier_force);
        for (int s = 0; s < c->kind->n_loads; s++) copy6(on[s], m->load[c->load + s].wrench);
    }
}

void constraints_accelerations(struct mechanism *m, const double *qdd)
{
    struct constraints *all = m->constraints;
    for (int k = 0; k < all->n_active; k++) {
        const struct constraint *c = all->of_row[all->active[k]];
        all->rhs[k] = c->kind->acceleration(m, c, all->active[k] - c->first, qdd);
    }
}

/* lambda = -S^-1 (acceleration of the gap of the open tree),   qdd += X lambda                                         (54) */
void constraints_close_accelerations(struct mechanism *m, double *qdd)
{
    struct constraints *all = m->constraints;
    constraints_accelerations(m, qdd);
    for (int k = 0; k < all->n_active; k++) all->rhs[k] = -all->rhs[k];
    constraints_respond(m, qdd);
    constraints_scatter(all, all->rhs, all->lambda);
    constraints_set_loads(m);
}

void constraints_rows(struct mechanism *m, const struct input *in)
{
    constraints_gap(m, in);
    for (int k = 0; k < m->constraints->n_active; k++) constraints_row(m, k);
}

/* ---- independent constraints ------------------------------------------------------------------------------------- */

/* A constraint is redundant if less than this fraction of it, or of the largest of its sort, is independent of the others */
static const double DEPENDENT = 1e-10;

/* |G|^2 over the coordinates that are free to move */
static double free_square(const struct mechanism *m, const double *G)
{
    const struct model *model = m->model;
    double sum = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        sum += dense_dot(free_velocities(lm), G + lm->v, G + lm->v);
        sum += dense_dot(lm->m, G + lm->eta_v, G + lm->eta_v);
    }
    return sum;
}

enum row_sort constraints_row_sort(const struct constraints *all, int row)
{
    const struct constraint *c = all->of_row[row];
    return c->kind->sort != NULL ? c->kind->sort(all, c, row - c->first) : ROW_JOINTS;
}

/* The square of the size that a row would have if its sides moved independently: |G_A|^2 + |G_B|^2, and that of a plane that turns. Where
   sides move together, or along a direction in which nothing moves, the row contains only rounding errors. */
static double row_size(const struct mechanism *m, int row)
{
    const struct constraint *c = m->constraints->of_row[row];
    const int nv = m->model->nv;
    double on[LOOP_SITES][6] = {{0}}, *G = m->constraints->direction;
    memset(G, 0, (size_t)nv * sizeof *G);
    c->kind->add_multiplier(m, c, row - c->first, 1, on, G);
    double sum = 0;
    for (int s = 0; s < c->kind->n_loads; s++) {
        memset(G, 0, (size_t)nv * sizeof *G);
        add_wrench(m, c, s, on[s], G);
        sum += free_square(m, G);
    }
    return sum;
}

/* |row|^2 of all rows as fractions of the largest size of their sort. Lever arms below 1e-10 m never count. A row of joint coordinates has
   no rounding errors: it is redundant by itself where all of them are prescribed. */
static void measure_rows(struct mechanism *m, double *fraction)
{
    const struct constraints *all = m->constraints;
    double largest[ROW_SORTS] = {1e-10, 1e-10, 1e-10};
    for (int row = 0; row < all->n_rows; row++) {
        double *most = &largest[constraints_row_sort(all, row)];
        *most = fmax(*most, row_size(m, row));
    }
    for (int row = 0; row < all->n_rows; row++) {
        const enum row_sort sort = constraints_row_sort(all, row);
        const double square = free_square(m, all->G + (size_t)m->model->nv * (size_t)row);
        fraction[row] = sort == ROW_JOINTS ? square > 0 : square / largest[sort];
    }
}

/* Cholesky factorization with complete pivoting of S, scaled to a unit diagonal; rows are selected as long as a pivot remains. S is
   symmetric and full, dlambda holds the relative sizes of its rows. The selected rows are in the order of the file. */
static void choose_rows(struct mechanism *m)
{
    struct constraints *loops = m->constraints;
    enum { TAKEN = -1 };
    const int k = loops->n_rows;
    double *S = loops->S, *rest = loops->rhs;
    const double *fraction = loops->dlambda;
    for (int i = 0; i < k; i++) loops->inverse_d[i] = fraction[i] > DEPENDENT ? 1 / sqrt(S[k * i + i]) : 0;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) S[k * i + j] *= loops->inverse_d[i] * loops->inverse_d[j];
    for (int i = 0; i < k; i++) rest[i] = loops->inverse_d[i] > 0 ? 1 : 0;
    for (int step = 0; step < k; step++) {
        int p = 0;
        for (int i = 1; i < k; i++)
            if (rest[i] > rest[p]) p = i;
        if (!(rest[p] > DEPENDENT)) break;
        rest[p] = TAKEN;
        for (int i = 0; i < k; i++) {
            const double factor = S[k * i + p] / S[k * p + p];
            if (rest[i] == TAKEN) continue;
            for (int j = 0; j < k; j++)
                if (rest[j] != TAKEN) S[k * i + j] -= factor * S[k * p + j];
            rest[i] = fmax(S[k * i + i], 0);
        }
    }
    loops->n_active = 0;
    for (int i = 0; i < k; i++)
        if (rest[i] == TAKEN) loops->active[loops->n_active++] = i;
}

static void report_redundant(struct mechanism *m, struct report *report)
{
    const struct constraints *loops = m->constraints;
    char text[1024] = "", label[MOST_LABEL];
    int listed = 0, more = 0;
    for (int i = 0, k = 0; i < loops->count; i++) {
        const struct constraint *c = &loops->constraint[i];
        const int count = c->count, before = k;
        while (k < loops->n_active && loops->active[k] < c->first + count) k++;
        if (k - before == count) continue;
        const size_t length = strlen(text), left = sizeof text - length;
        const int needed = snprintf(text + length, left, "%s%s: %d of its %d", listed > 0 ? ", " : "",
                                    constraint_label(c, label), count - (k - before), count);
        if (needed >= 0 && (size_t)needed < left) listed++;
        else text[length] = '\0', more++;
    }
    if (listed + more == 0) return;
    const size_t length = strlen(text);
    if (more > 0) snprintf(text + length, sizeof text - length, " and %d more", more);
    report_add(report, REPORT_WARNING,
               "%s constraints are redundant (implied by the others or always satisfied); they are dropped, and their "
               "forces are zero",
               text);
}

enum status constraints_choose(struct mechanism *m, const double *q, struct report *report)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const int k = loops->n_rows;
    if (k == 0) return STATUS_OK;
    loops->n_active = k;
    for (int i = 0; i < k; i++) loops->active[i] = i;
    dyn_configuration(model, m->work, q);
    const enum status status = dyn_articulate(model, m->work);
    if (status != STATUS_OK) return status;
    dyn_position(model, m->work);
    constraints_frames(m, false);
    constraints_mobility(m, BY_ARTICULATED_FACTORS);
    for (int i = 1; i < k; i++)
        for (int j = 0; j < i; j++) loops->S[k * i + j] = loops->S[k * j + i];
    measure_rows(m, loops->dlambda);
    choose_rows(m);
    report_redundant(m, report);
    return STATUS_OK;
}
