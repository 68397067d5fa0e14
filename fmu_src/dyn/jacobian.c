/* Columns of d(qdd)/dq and d(qdd)/dqd: the same LANES coordinates of both at once. A varied coordinate enters the elimination at its
   link: inward of it its wrench passes through the hinges, outward of it everything responds to its seeds. (theory.md 103 to 110)
   The same recursion with joints and modes locked, that is without elimination, gives the columns of d(Q - ID). */
#include "dyn/jacobian.h"

#include <string.h>

#include "dyn/tangent_lanes.h"
#include "math/vec.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

static bool is_plain(const struct link_model *lm)
{
    return lm->body == NULL && free_velocities(lm) == 1;
}

/* A run continues from link i to the next if both are plain and no other link is attached to link i */
static void find_runs(const struct model *model, struct jacobian *j)
{
    for (int i = model->n_links - 1; i >= 0; i--) {
        int children = 0;
        for (int k = i + 1; k < model->n_links; k++) children += model->link[k].parent == i;
        const bool continues = children == 1 && model->link[i + 1].parent == i && is_plain(&model->link[i + 1]);
        j->run_end[i] = !is_plain(&model->link[i]) ? -1 : continues ? j->run_end[i + 1] : i;
    }
    for (int i = 0; i < model->n_links; i++)
        j->run_start[i] = j->run_end[i] < 0                             ? -1
                          : i > 0 && j->run_end[i - 1] == j->run_end[i] ? j->run_start[i - 1]
                                                                        : i;
}

struct jacobian *jacobian_make(const struct model *model, struct arena *arena)
{
    const size_t links = (size_t)model->n_links;
    struct jacobian *j = arena_allocate(arena, 1, sizeof *j);
    if (j == NULL) return NULL;
    j->link = arena_allocate(arena, links, sizeof *j->link);
    for (int kind = 0; kind < DERIVATIVES; kind++) j->columns[kind] = arena_allocate(arena, links, sizeof **j->columns);
    j->run_start = arena_allocate(arena, links, sizeof *j->run_start);
    j->run_end = arena_allocate(arena, links, sizeof *j->run_end);
    j->plain = arena_allocate(arena, links, sizeof *j->plain);
    j->lane = arena_allocate(arena, links, sizeof *j->lane);
    j->varied = arena_allocate(arena, links, sizeof *j->varied);
    j->reached = arena_allocate(arena, links, sizeof *j->reached);
    for (int i = 0; i < model->n_links && !arena->failed; i++) {
        const size_t sections = (size_t)model->link[i].n_sections, m = (size_t)model->link[i].m;
        struct link_response *r = &j->link[i];
        r->section = arena_allocate(arena, sections, sizeof *r->section);
        r->E = arena_allocate(arena, m, sizeof *r->E);
        r->F = arena_allocate(arena, m, sizeof *r->F);
        for (int kind = 0; kind < DERIVATIVES && !arena->failed; kind++) {
            struct link_columns *c = &j->columns[kind][i];
            c->section = arena_allocate(arena, sections, sizeof *c->section);
            c->e = arena_allocate(arena, m, sizeof *c->e);
            c->change.section = arena_allocate(arena, sections, sizeof *c->change.section);
            c->change.modal = arena_allocate(arena, m, sizeof *c->change.modal);
        }
    }
    if (!arena->failed) find_runs(model, j);
    return j;
}

/* ---- what a coordinate does ---------------------------------------------------------------------------------------- */

/* (g; g_a) of D (omega, alpha, a) of a frame, at the frame                                                           (103) */
INLINE void constant_part(const struct frame_response *frame, const double *omega, const double *D, double *c)
{
    double wv[3];
    copy6(D + 3, c);
    add_cross3(omega, D, c);
    cross3(frame->v, D, wv);
    axpy3(2, wv, c + 3);
}

INLINE void store_effect(const struct frame_response *frame, const struct coordinate_effect *e, int l,
                         struct frame_change *change)
{
    double c[6]; /* at the reference */
    copy6(e->c, c);
    add_cross3(frame->p, e->c, c + 3);
    for (int i = 0; i < 6; i++) {
        change->seed[i][l] = e->seed[i];
        change->c[i][l] = c[i];
        change->z[i][l] = e->z[i];
    }
}

/* Velocity k of a joint                                                                                            (108) */
INLINE void hinge_effect(const int kind, const bool locked, const struct link_model *lm, const struct link_work *w,
                         const struct link_tangent *t, const struct frame *C, const struct link_response *r, int seeds,
                         int k, struct coordinate_effect *e)
{
    double D[9];
    const bool turns = lm->joint.part[k] == TURNS;
    hinge_change(kind, lm, w, t, C, k, D);
    constant_part(&r->O, w->O.omega, D, e->c);
    copy3(D, e->seed + W);
    if (kind == BY_Q && turns) copy3(w->h[k], e->seed + PHI);
    else memset(e->seed + PHI, 0, 3 * sizeof *e->seed);
    if (lm->parent < 0) {
        memset(e->z, 0, sizeof e->z);
        return;
    }
    if (locked) rigid_mul(&w->Ic, e->c, e->z);
    else inertia_mul(&w->P, e->c, e->z);
    response_wrench(&r->O, seeds, e->seed, e->z);
    if (kind == BY_Q) add_joint_wrench(turns, w->h[k], r->O.p, w->f, e->z);
}

/* Effects of the joints of all plain links, computed once for all batches */
INLINE void plain_effects(const int seeds, const bool locked, const struct model *model, const struct work *work,
                          const struct tangent *tangent, struct jacobian *jacobian)
{
    for (int i = 0; i < model->n_links; i++) {
        if (jacobian->run_start[i] < 0) continue;
        const struct link_model *lm = &model->link[i];
        const struct link_response *r = &jacobian->link[i];
        const struct link_tangent *t = &tangent->link[i];
        const struct frame *C = mount_frame(lm, work);
        for (int kind = 0; kind < DERIVATIVES; kind++) {
            struct coordinate_effect e;
            hinge_effect(kind, locked, lm, &work->link[i], t, C, r, seeds, 0, &e);
            add_cross3(r->O.p, e.c, e.c + 3);
            e.force = kind == BY_Q ? -t->Kq[0][0] : -t->Kv[0][0];
            jacobian->plain[i][kind] = e;
        }
    }
}

/* Elastic coordinate k: its columns of dyn_tangent_state(); the wrenches at the sections rotate and move with them   (110) */
INLINE void vary_mode(const struct link_model *lm, const struct link_work *w, const struct link_tangent *t,
                      const struct link_response *r, const struct jacobian *jacobian, int k, int kind, int l,
                      struct link_change *change)
{
    const int row = PADDED(lm->m);
    const bool by_q = kind == BY_Q;
    double b[6];
    copy6(by_q ? t->Bq[k] : t->Bv[k], b);
    for (int s = 0; s < lm->n_sections; s++) {
        const struct section_work *sw = &w->section[s];
        const struct frame_response *frame = &r->section[s];
        const double *D = by_q ? t->section[s].Tq[k] : t->section[s].Tv[k], *turn = sw->J[k];
        struct coordinate_effect e = {.seed = {D[0], D[1], D[2]}};
        constant_part(frame, sw->T.omega, D, e.c);
        if (by_q) copy3(turn, e.seed + PHI);
        if (jacobian->locked) rigid_mul(&sw->Ic, e.c, e.z);
        else inertia_mul(&sw->P, e.c, e.z);
        response_wrench(frame, jacobian->seeds, e.seed, e.z);
        if (by_q) {
            add_joint_wrench(true, turn, frame->p, sw->f, e.z);
            add_cross3(turn + 3, sw->f + 3, b);
        }
        store_effect(frame, &e, l, &change->section[s]);
    }
    add_cross3(r->O.p, b + 3, b);
    for (int i = 0; i < 6; i++) change->b[i][l] = b[i];
    for (int j = 0; j < lm->m; j++) change->modal[j][l] = -(by_q ? t->Gq : t->Gv)[row * k + j];
}

/* The coordinates [first, end) that are of link i */
static void vary_link(const struct model *model, const struct work *work, const struct tangent *tangent, int i,
                      int first, int end)
{
    const struct link_model *lm = &model->link[i];
    const struct jacobian *jacobian = tangent->jacobian;
    const struct link_response *r = &jacobian->link[i];
    const struct link_work *w = &work->link[i];
    const struct link_tangent *t = &tangent->link[i];
    const struct frame *C = mount_frame(lm, work);
    struct link_change *const change[DERIVATIVES] = {&jacobian->columns[BY_Q][i].change,
                                                     &jacobian->columns[BY_QD][i].change};
    for (int kind = 0; kind < DERIVATIVES; kind++) {
        memset(&change[kind]->O, 0, sizeof change[kind]->O);
        memset(change[kind]->force, 0, (size_t)lm->joint.nv * sizeof *change[kind]->force);
        if (lm->body == NULL) continue;
        memset(change[kind]->b, 0, sizeof change[kind]->b);
        memset(change[kind]->modal, 0, (size_t)lm->m * sizeof *change[kind]->modal);
        memset(change[kind]->section, 0, (size_t)lm->n_sections * sizeof *change[kind]->section);
    }
    for (int v = first; v < end; v++) {
        const int k = v - lm->v, l = v - first, mode = v - lm->eta_v;
        if (k >= 0 && k < lm->joint.nv) {
            struct coordinate_effect by_q, by_qd;
            hinge_effect(BY_Q, jacobian->locked, lm, w, t, C, r, jacobian->seeds, k, &by_q);
            hinge_effect(BY_QD, jacobian->locked, lm, w, t, C, r, jacobian->seeds, k, &by_qd);
            store_effect(&r->O, &by_q, l, &change[BY_Q]->O);
            store_effect(&r->O, &by_qd, l, &change[BY_QD]->O);
            for (int j = 0; j < lm->joint.nv; j++) {
                change[BY_Q]->force[j][l] = -t->Kq[j][k];
                change[BY_QD]->force[j][l] = -t->Kv[j][k];
            }
        }
        for (int kind = 0; mode >= 0 && mode < lm->m && kind < DERIVATIVES; kind++)
            vary_mode(lm, w, t, r, jacobian, mode, kind, l, change[kind]);
    }
}

/* ---- inward ------------------------------------------------------------------------------------------------------ */

/* e = L^-1 (modal forces - sum J' z_T),   z += sum z_T + W' e; locked: L = 1, W = 0 */
INLINE void gather_modes(const int m, const bool locked, const struct link_model *lm, const struct link_work *w,
                         const struct link_response *r, struct link_columns *c)
{
    const int row = PADDED(m);
    for (int s = 0; s < lm->n_sections; s++) {
        const double *Jt = w->section[s].Jt;
        const lanes *z = c->section[s].z;
        lanes at[6];
        wrench_to(r->section[s].p, z, at);
        for (int k = 0; k < m; k++)
            for (int i = 0; i < 6; i++) c->e[k] -= at[i] * Jt[row * i + k];
        for (int i = 0; i < 6; i++) c->O.z[i] += z[i];
    }
    if (locked) return;
    for (int k = 0; k < m - 1; k++)
        for (int i = k + 1; i < m; i++) c->e[i] -= w->L[row * k + i] * c->e[k];
    lanes sum[6] = {0};
    for (int k = 0; k < m; k++) add_scaled(6, w->W[k], c->e[k], sum);
    add_cross_left(r->O.p, sum + 3, sum);
    for (int i = 0; i < 6; i++) c->O.z[i] += sum[i];
}

/* u = force - S' z,   z += U u/D unless it is locked, plus the wrench of the varied hinge itself */
INLINE void gather_hinge(const int nv, const bool locked, const struct link_response *r, bool varied,
                         struct link_columns *c, lanes *z)
{
    for (int k = nv - 1; k >= 0; k--) {
        const struct hinge_response *h = &r->hinge[k];
        const double *S = h->S;
        lanes u = -(S[0] * z[0] + S[1] * z[1] + S[2] * z[2]) - (S[3] * z[3] + S[4] * z[4] + S[5] * z[5]);
        if (varied) u += load(c->change.force[k]);
        c->u[k] += u;
        if (!locked) add_scaled(6, h->U, h->inverse_D * c->u[k], z);
    }
    for (int i = 0; varied && i < 6; i++) z[i] += load(c->change.O.z[i]);
}

INLINE void add_to_parent(const struct link_model *lm, const lanes *z, struct link_columns *columns)
{
    if (lm->parent < 0) return;
    struct link_columns *parent = &columns[lm->parent];
    lanes *sum = lm->mount < 0 ? parent->O.z : parent->section[lm->mount].z;
    for (int k = 0; k < 6; k++) sum[k] += z[k];
}

INLINE void gather_link(const bool locked, const bool loaded, const struct link_model *lm, struct link_work *w,
                        struct jacobian *jacobian, int i)
{
    const bool varied = jacobian->varied[i];
    for (int kind = 0; kind < DERIVATIVES; kind++) {
        struct link_columns *c = &jacobian->columns[kind][i];
        if (!loaded) {
            memset(c->u, 0, (size_t)lm->joint.nv * sizeof *c->u);
            memset(c->e, 0, (size_t)lm->m * sizeof *c->e);
        }
        if (lm->body != NULL && varied) {
            for (int s = 0; s < lm->n_sections; s++)
                for (int k = 0; k < 6; k++) c->section[s].z[k] += load(c->change.section[s].z[k]);
            for (int k = 0; k < 6; k++) c->O.z[k] += load(c->change.b[k]);
            for (int k = 0; k < lm->m; k++) c->e[k] += load(c->change.modal[k]);
        }
        if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, gather_modes(M, locked, lm, w, &jacobian->link[i], c))
        WITH_COLUMNS(N, moving_velocities(lm, locked), gather_hinge(N, locked, &jacobian->link[i], varied, c, c->O.z));
        add_to_parent(lm, c->O.z, jacobian->columns[kind]);
    }
}

/* 1 in one lane, 0 in the others */
INLINE lanes unit_lane(int l)
{
    static const double units[2 * LANES - 1] = {[LANES - 1] = 1};
    return load(units + LANES - 1 - l);
}

/* gather_hinge() of a plain link */
INLINE void gather_plain(const bool locked, const bool loaded, const struct hinge_response *h, bool varied,
                         const struct coordinate_effect *effect, int lane, lanes *residual, lanes *z)
{
    const double *S = h->S;
    lanes u = -(S[0] * z[0] + S[1] * z[1] + S[2] * z[2]) - (S[3] * z[3] + S[4] * z[4] + S[5] * z[5]);
    if (loaded) u += *residual;
    if (varied) {
        const lanes unit = unit_lane(lane);
        u += effect->force * unit;
        add_scaled(6, effect->z, unit, z);
    }
    *residual = u;
    if (!locked) add_scaled(6, h->U, h->inverse_D * u, z);
}

/* Links [start, i] of a run, both kinds in turn, so that the wrenches stay in registers and neither waits for the other */
INLINE void gather_run(const bool locked, const bool loaded, const struct link_model *first, struct jacobian *jacobian,
                       int start, int i)
{
    struct link_columns *q = jacobian->columns[BY_Q], *qd = jacobian->columns[BY_QD];
    lanes z_q[6], z_qd[6];
    for (int k = 0; k < 6; k++) {
        z_q[k] = q[i].O.z[k];
        z_qd[k] = qd[i].O.z[k];
    }
    for (; i >= start; i--) {
        const bool varied = jacobian->varied[i];
        jacobian->reached[i] = true;
        const struct hinge_response *h = jacobian->link[i].hinge;
        const struct coordinate_effect *effect = jacobian->plain[i];
        gather_plain(locked, loaded, h, varied, &effect[BY_Q], jacobian->lane[i], &q[i].u[0], z_q);
        gather_plain(locked, loaded, h, varied, &effect[BY_QD], jacobian->lane[i], &qd[i].u[0], z_qd);
    }
    add_to_parent(first, z_q, q);
    add_to_parent(first, z_qd, qd);
}

/* Only links that are varied, or inward of one, have residuals, unless the columns are loaded */
INLINE void gather(const bool locked, const bool loaded, const struct model *model, struct work *work,
                   struct jacobian *jacobian, int last)
{
    for (int i = 0; i <= last; i++) {
        jacobian->reached[i] = loaded || jacobian->varied[i];
        if (i < last && i < jacobian->run_end[i]) continue; /* gather_run() does not read it */
        for (int kind = 0; kind < DERIVATIVES; kind++) {
            struct link_columns *c = &jacobian->columns[kind][i];
            memset(c->O.z, 0, sizeof c->O.z);
            for (int s = 0; s < model->link[i].n_sections; s++) memset(c->section[s].z, 0, sizeof c->section[s].z);
        }
    }
    for (int i = last; i >= 0; i--) {
        const int start = jacobian->run_start[i];
        if (!jacobian->reached[i]) continue;
        if (start >= 0) {
            gather_run(locked, loaded, &model->link[start], jacobian, start, i);
            i = start;
        } else {
            gather_link(locked, loaded, &model->link[i], &work->link[i], jacobian, i);
        }
        if (model->link[i].parent >= 0) jacobian->reached[model->link[i].parent] = true;
    }
}

/* ---- outward ----------------------------------------------------------------------------------------------------- */

/* LANES results of a row, one in every column */
struct rows {
    int n;     /* of a column     */
    int count; /* columns to fill */
    double *columns[DERIVATIVES];
};

INLINE void store_row(const struct rows *rows, int kind, int i, lanes value)
{
    if (rows->count == LANES) store_columns(value, LANES, rows->n, i, rows->columns[kind]);
    else store_columns(value, rows->count, rows->n, i, rows->columns[kind]);
}

/* qdd = (u + u_s' s - U' x)/D,   x += S qdd; locked: only the numerator */
INLINE lanes spread_column(const int seeds, const bool locked, const struct hinge_response *h, const lanes *s,
                           bool reached, lanes residual, lanes *x)
{
    const double *U = h->U, *u = h->u;
    lanes a = u[0] * s[0] + u[1] * s[1] + u[2] * s[2];
    if (seeds > PHI) a += u[3] * s[3] + u[4] * s[4] + u[5] * s[5];
    if (reached) a += residual;
    a -= (U[0] * x[0] + U[1] * x[1] + U[2] * x[2]) + (U[3] * x[3] + U[4] * x[4] + U[5] * x[5]);
    if (locked) return a;
    a *= h->inverse_D;
    add_scaled(6, h->S, a, x);
    return a;
}

/* eta_ddot = L^-T (Delta^-1 e - W x), x at O */
INLINE void spread_modes(const int m, const struct link_work *w, const lanes *x, lanes *e)
{
    const int row = PADDED(m);
    for (int k = 0; k < m; k++) e[k] = w->inverse_d[k] * e[k] - dot_lanes(6, w->W[k], x);
    for (int k = m - 2; k >= 0; k--)
        for (int i = k + 1; i < m; i++) e[k] -= w->L[row * k + i] * e[i];
}

INLINE void spread_flexible(const bool locked, const struct link_model *lm, struct link_work *w,
                            const struct link_response *r, const struct jacobian *jacobian, bool varied, bool reached,
                            struct link_columns *c)
{
    lanes x[6];
    memcpy(x, c->O.x, sizeof x);
    add_cross_right(c->O.x, r->O.p, x + 3);
    if (!reached) memset(c->e, 0, (size_t)lm->m * sizeof *c->e);
    for (int k = 0; k < lm->m; k++) c->e[k] += dot_lanes(jacobian->seeds, r->E[k], c->O.seed);
    if (!locked) WITH_CONSTANT_COUNT(M, lm->m, spread_modes(M, w, x, c->e))
    for (int k = 0; locked && k < lm->m; k++) c->e[k] -= dot_lanes(6, r->F[k], x);
    for (int s = 0; s < lm->n_sections; s++) { /* x_T = x + J eta_ddot, with J moved to the reference */
        const struct frame_change *change = &c->change.section[s];
        struct frame_columns *T = &c->section[s];
        lanes sum[6] = {0};
        for (int k = 0; !locked && k < lm->m; k++) add_scaled(6, w->section[s].J[k], c->e[k], sum);
        add_cross_left(r->section[s].p, sum, sum + 3);
        for (int i = 0; i < 6; i++) {
            T->x[i] = c->O.x[i] + sum[i];
            T->seed[i] = c->O.seed[i];
            if (!varied) continue;
            T->x[i] += load(change->c[i]);
            T->seed[i] += load(change->seed[i]);
        }
    }
}

static const struct frame_columns *parent_columns(const struct link_model *lm, const struct link_columns *columns)
{
    static const struct frame_columns at_rest;
    if (lm->parent < 0) return &at_rest;
    const struct link_columns *parent = &columns[lm->parent];
    return lm->mount < 0 ? &parent->O : &parent->section[lm->mount];
}

INLINE void spread_link(const bool locked, const struct link_model *lm, struct link_work *w, struct jacobian *jacobian,
                        int i, bool varied, bool reached, const struct rows *rows)
{
    const struct link_response *r = &jacobian->link[i];
    const int moving = moving_velocities(lm, locked);
    const lanes zero = {0};
    for (int kind = 0; kind < DERIVATIVES; kind++) {
        struct link_columns *c = &jacobian->columns[kind][i];
        c->O = *parent_columns(lm, jacobian->columns[kind]);
        for (int k = 0; varied && k < 6; k++) {
            c->O.x[k] += load(c->change.O.c[k]);
            c->O.seed[k] += load(c->change.O.seed[k]);
        }
        for (int k = 0; k < moving; k++)
            store_row(rows, kind, lm->v + k,
                      spread_column(6, locked, &r->hinge[k], c->O.seed, reached, c->u[k], c->O.x));
        for (int k = moving; k < lm->joint.nv; k++) store_row(rows, kind, lm->v + k, zero);
        if (lm->body != NULL) spread_flexible(locked, lm, w, r, jacobian, varied, reached, c);
        for (int k = 0; k < lm->m; k++) store_row(rows, kind, lm->eta_v + k, c->e[k]);
    }
}

INLINE void load_frame(const int seeds, const struct frame_columns *from, lanes *x, lanes *seed)
{
    for (int k = 0; k < 6; k++) x[k] = from->x[k];
    for (int k = 0; k < seeds; k++) seed[k] = from->seed[k];
}

INLINE void store_frame(const int seeds, const lanes *x, const lanes *seed, struct frame_columns *to)
{
    for (int k = 0; k < 6; k++) to->x[k] = x[k];
    for (int k = 0; k < seeds; k++) to->seed[k] = seed[k];
}

/* Links [i, end] of a run, both kinds in turn */
INLINE void spread_run(const int seeds, const bool locked, const int count, const struct model *model,
                       struct jacobian *jacobian, int i, int end, int last, const struct rows *rows)
{
    struct link_columns *q = jacobian->columns[BY_Q], *qd = jacobian->columns[BY_QD];
    lanes x_q[6], x_qd[6], seed_q[6], seed_qd[6];
    load_frame(seeds, parent_columns(&model->link[i], q), x_q, seed_q);
    load_frame(seeds, parent_columns(&model->link[i], qd), x_qd, seed_qd);
    for (; i <= end; i++) {
        const bool varied = i <= last && jacobian->varied[i], reached = i <= last && jacobian->reached[i];
        const struct hinge_response *h = jacobian->link[i].hinge;
        if (varied) {
            const struct coordinate_effect *effect = jacobian->plain[i];
            const lanes unit = unit_lane(jacobian->lane[i]);
            add_scaled(6, effect[BY_Q].c, unit, x_q);
            add_scaled(seeds, effect[BY_Q].seed, unit, seed_q);
            add_scaled(6, effect[BY_QD].c, unit, x_qd);
            add_scaled(seeds, effect[BY_QD].seed, unit, seed_qd);
        }
        const lanes by_q = spread_column(seeds, locked, h, seed_q, reached, q[i].u[0], x_q);
        const lanes by_qd = spread_column(seeds, locked, h, seed_qd, reached, qd[i].u[0], x_qd);
        store_columns(by_q, count, rows->n, model->link[i].v, rows->columns[BY_Q]);
        store_columns(by_qd, count, rows->n, model->link[i].v, rows->columns[BY_QD]);
    }
    store_frame(seeds, x_q, seed_q, &q[end].O);
    store_frame(seeds, x_qd, seed_qd, &qd[end].O);
}

INLINE void spread(const bool locked, const struct model *model, struct work *work, struct jacobian *jacobian, int last,
                   const struct rows *rows)
{
    for (int i = 0; i < model->n_links; i++) {
        const int end = jacobian->run_end[i];
        if (end >= 0) {
            if (rows->count == LANES)
                WITH_SEEDS(N, jacobian->seeds, spread_run(N, locked, LANES, model, jacobian, i, end, last, rows));
            else spread_run(6, locked, rows->count, model, jacobian, i, end, last, rows);
            i = end;
        } else {
            const bool varied = i <= last && jacobian->varied[i], reached = i <= last && jacobian->reached[i];
            spread_link(locked, &model->link[i], &work->link[i], jacobian, i, varied, reached, rows);
        }
    }
}

/* ---- all columns ------------------------------------------------------------------------------------------------- */

/* The forces in the columns of a batch become the residuals of all links */
static void load_forces(const struct model *model, struct jacobian *jacobian, const struct rows *rows)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int kind = 0; kind < DERIVATIVES; kind++) {
            struct link_columns *c = &jacobian->columns[kind][i];
            const double *from = rows->columns[kind];
            for (int k = 0; k < lm->joint.nv; k++) c->u[k] = load_columns(rows->count, rows->n, lm->v + k, from);
            for (int k = 0; k < lm->m; k++) c->e[k] = load_columns(rows->count, rows->n, lm->eta_v + k, from);
        }
    }
}

/* Full batches store faster: if the last link is plain, the last batch repeats some coordinates of the one before. Elastic coordinates
   cost more than that. */
INLINE void all_columns(const bool locked, const bool loaded, const struct model *model, struct work *work,
                        struct tangent *tangent, const struct input *in, double *by_q, double *by_qd)
{
    const int n = model->nv;
    struct jacobian *jacobian = tangent->jacobian;
    const bool fill = !loaded && n >= LANES && jacobian->run_end[model->n_links - 1] >= 0;
    jacobian->locked = locked;
    jacobian_respond(model, work, tangent, in);
    WITH_SEEDS(N, jacobian->seeds, plain_effects(N, locked, model, work, tangent, jacobian));
    for (int at = 0; at < n; at += LANES) {
        const int first = fill && at + LANES > n ? n - LANES : at;
        const size_t offset = (size_t)n * (size_t)first;
        const struct rows rows = {
            .n = n, .count = n - first < LANES ? n - first : LANES, .columns = {by_q + offset, by_qd + offset}};
        int last = loaded ? model->n_links - 1 : 0;
        for (int i = 0; i < model->n_links; i++) {
            const struct link_model *lm = &model->link[i];
            jacobian->varied[i] = lm->v < first + rows.count && first < lm->eta_v + lm->m;
            if (!jacobian->varied[i]) continue;
            if (!loaded) last = i;
            if (jacobian->run_start[i] >= 0) jacobian->lane[i] = lm->v - first;
            else vary_link(model, work, tangent, i, first, first + rows.count);
        }
        if (loaded) load_forces(model, jacobian, &rows);
        gather(locked, loaded, model, work, jacobian, last);
        spread(locked, model, work, jacobian, last, &rows);
    }
}

void dyn_jacobian(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                  bool loaded, double *by_q, double *by_qd)
{
    if (loaded) all_columns(false, true, model, work, tangent, in, by_q, by_qd);
    else all_columns(false, false, model, work, tangent, in, by_q, by_qd);
}

void dyn_force_jacobian(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                        bool loaded, double *by_q, double *by_qd)
{
    const size_t size = (size_t)model->nv * (size_t)model->nv * sizeof(double);
    if (!loaded) memset(by_q, 0, size), memset(by_qd, 0, size);
    dyn_composite_inertias(model, work);
    all_columns(true, true, model, work, tangent, in, by_q, by_qd);
}
