/* d(qdd) = -M^-1 d(inverse dynamics) at constant qdd: the inverse dynamics has fewer expressions to differentiate than the forward
   dynamics, and the factors of M are known. */
#include <string.h>

#include "generate/elements.h"
#include "generate/graph/derivative.h"
#include "generate/loops.h"

/* Derivatives of the inputs with respect to velocity x, or to positions in direction x */
static void set_direction(struct robot_parts *parts, bool by_velocity, int x, expr *change)
{
    struct graph *g = parts->g;
    if (by_velocity) {
        change[parts->qd[x] / 2] = ONE;
        return;
    }
    for (int i = 0; i < parts->n; i++) {
        const struct link_model *lm = parts->part[i].lm;
        const int k = x - lm->v, quaternion = lm->joint.nq - 4, omega = lm->joint.nv - 3;
        if (k < 0 || x >= lm->eta_v + lm->m) continue;
        const expr *q = parts->q + lm->q;
        if (x >= lm->eta_v) change[parts->q[lm->eta_q + x - lm->eta_v] / 2] = ONE;
        else if (lm->joint.coordinates || k < omega) change[q[k] / 2] = ONE;
        else { /* dq = 1/2 q o (0, e) */ const int a = k - omega, b = (a + 1) % 3, c = (a + 2) % 3;
            const expr *o = q + quaternion, *v = o + 1;
            change[o[0] / 2] = expr_scale(g, -0.5, v[a]);
            change[v[a] / 2] = expr_scale(g, 0.5, o[0]);
            change[v[b] / 2] = expr_scale(g, 0.5, v[c]);
            change[v[c] / 2] = expr_scale(g, -0.5, v[b]);
        }
    }
}

/* The forces of drives change with what they measure: dF_i = sum over j of dF_i/dx_j dx_j + dF_i/dx_j' dx_j', where the drives i and j
   are the same or share a supply. */
static void set_efforts(struct robot_parts *parts, const expr *motion, expr *change)
{
    struct graph *g = parts->g;
    const struct robot *robot = parts->model->robot;
    const int n = robot->n_drives;
    for (int i = 0; i < n; i++) {
        const struct robot_drive *rd = &robot->drive[i];
        const expr F = rd->line >= 0 ? parts->line[rd->line] : parts->tau[parts->model->link[rd->link].tau];
        expr sum = ZERO;
        for (int j = 0; j < 2 * n; j++) {
            const bool acts = j / 2 == i || (rd->supply >= 0 && rd->supply == robot->drive[j / 2].supply);
            const expr slope = acts ? expr_input(g, parts->first[ARG_SLOPES] + 2 * n * i + j) : ZERO;
            sum = expr_add_product(g, sum, slope, mapped(change, motion[j]));
        }
        change[F / 2] = sum;
    }
}

/* Residual of the equations of motion and accelerations of the gaps, at accelerations and multipliers that are inputs; these become
   those of the forward dynamics after differentiation. */
struct differentiated {
    int n;                          /* nodes that are differentiated                   */
    expr *change, *Q, *force, *gap; /* n, nv, nv, active constraints                   */
    expr *gap_change, *multipliers; /* active constraints                              */
    expr *motion;                   /* position and rate of what each drive moves      */
    struct substitution qdd;
};

/* The derivative of an expression at the accelerations and multipliers of the forward dynamics */
static expr substituted_change(const struct differentiated *d, expr e)
{
    return mapped(d->qdd.image, mapped(d->change, e));
}

/* One column: M dqdd - G' dlambda = -df,  G dqdd = -dgap */
static bool make_column(struct robot_parts *parts, const struct loop_parts *loops, struct differentiated *d,
                        struct residual *r, bool by_velocity, int x, expr *column)
{
    memset(d->change, 0, (size_t)d->n * sizeof *d->change);
    set_direction(parts, by_velocity, x, d->change);
    expr_differentiate(parts->g, d->n, d->change);
    set_efforts(parts, d->motion, d->change);
    if (parts->model->robot->n_drives > 0) expr_differentiate(parts->g, d->n, d->change);
    if (!expr_substitute(parts->g, &d->qdd)) return false;
    for (int k = 0; k < parts->model->nv; k++) d->Q[k] = negative(substituted_change(d, d->force[k]));
    for (int k = 0; k < loops->n; k++) d->gap_change[k] = substituted_change(d, d->gap[k]);
    for (int i = 0; i < parts->n; i++) memset(r->z[i], 0, (1 + (size_t)parts->part[i].n_sections) * sizeof *r->z[i]);
    parts_gather(parts, r, d->Q);
    loops_close(parts, loops, d->gap_change, r, d->multipliers);
    parts_spread(parts, r, column);
    for (int i = 0; i < parts->n; i++) {
        const struct link_model *lm = parts->part[i].lm;
        for (int k = 0; lm->prescribed >= 0 && k < lm->joint.nv; k++) column[lm->v + k] = ZERO;
    }
    return true;
}

/* Forward dynamics, and a column for each position and velocity */
static void make_columns(struct robot_parts *parts, struct differentiated *d, expr *qdd)
{
    const int n = parts->model->nv;
    struct graph *g = parts->g;
    struct residual r;
    struct loop_parts loops;
    /* inputs from ARG_QDD on: accelerations, then others that stay, then multipliers */
    const int first = parts->first[ARG_QDD], stay = parts->first[ARG_LAMBDA] - first,
              count = stay + parts->mechanism->constraints->n_active;
    d->n = g->n;
    d->change = arena_allocate(&parts->arena, (size_t)g->n, sizeof *d->change);
    expr *by = arena_allocate(&parts->arena, (size_t)count, sizeof *by);
    residual_make(parts, &r);
    if (parts->arena.failed) return;
    forward_solution(parts, &loops, qdd, by + stay);
    for (int i = 0; i < stay; i++) by[i] = i < n ? qdd[i] : expr_input(g, first + i);
    d->qdd = (struct substitution){.first = first, .count = count, .by = by};
    for (int x = 0; !parts->arena.failed && x < 2 * n; x++)
        if (!make_column(parts, &loops, d, &r, x >= n, x % n, qdd + n + n * x)) parts->arena.failed = true;
    expr_substitution_free(&d->qdd);
}

void forward_jacobian(struct robot_parts *parts, expr *qdd)
{
    const size_t n = (size_t)parts->model->nv, rows = (size_t)parts->mechanism->constraints->n_active,
                 drives = (size_t)parts->model->robot->n_drives;
    struct arena *arena = &parts->arena;
    struct robot_parts moving;
    struct differentiated d = {.Q = arena_allocate(arena, n, sizeof(expr)),
                               .force = arena_allocate(arena, n + rows, sizeof(expr)),
                               .gap_change = arena_allocate(arena, rows, sizeof(expr)),
                               .multipliers = arena_allocate(arena, rows, sizeof(expr)),
                               .motion = arena_allocate(arena, 2 * drives, sizeof(expr))};
    if (parts_make(parts->g, parts->mechanism, NULL, parts->kept, parts->n_kept, parts->tip_wrench != NULL, &moving) !=
        STATUS_OK)
        arena->failed = true;
    if (!arena->failed) motion_residual(&moving, d.force);
    arena->failed = arena->failed || moving.arena.failed;
    if (!arena->failed) {
        d.gap = d.force + n;
        elements_measure_drives(&moving, d.motion);
        make_columns(parts, &d, qdd);
    }
    parts_free(&moving);
}
