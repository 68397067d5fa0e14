/* Directions and Jacobians: the sweeps of tangent_sweep.c, then M^-1. (theory.md 43 to 48) */
#include "dyn/tangent.h"

#include <string.h>

#include "dyn/jacobian.h"
#include "dyn/tangent_lanes.h"
#include "math/vec.h"

static void make_flexible(const struct link_model *lm, struct arena *arena, struct link_tangent *t)
{
    const struct body *body = lm->body;
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m);
    t->Bq = arena_allocate(arena, m, sizeof *t->Bq);
    t->Bv = arena_allocate(arena, m, sizeof *t->Bv);
    t->Gq = arena_allocate(arena, m * row, sizeof(double));
    t->Gv = arena_allocate(arena, m * row, sizeof(double));
    t->Gw = arena_allocate(arena, 3 * row, sizeof(double));
    t->Ft = arena_allocate(arena, 6 * row, sizeof(double));
    body_tangent_make(body, arena, &t->body);
    section_tangent_make(body->m, arena, &t->hinge);
    t->section = arena_allocate(arena, (size_t)lm->n_all_sections, sizeof *t->section);
    for (int s = 0; !arena->failed && s < lm->n_all_sections; s++) {
        struct section_derivative *section = &t->section[s];
        section->Tq = arena_allocate(arena, m, sizeof *section->Tq);
        section->Tv = arena_allocate(arena, m, sizeof *section->Tv);
        section_tangent_make(body->m, arena, &section->shape);
    }
    if (body->added != NULL) tangent_added_make(body, arena, &t->added);
}

enum status tangent_make(const struct model *model, struct tangent **made)
{
    struct arena arena = {0};
    *made = NULL;
    const size_t links = (size_t)model->n_links, nv = (size_t)model->nv;
    struct tangent *tangent = arena_allocate(&arena, 1, sizeof *tangent);
    if (tangent == NULL) return STATUS_NO_MEMORY;
    tangent->link = arena_allocate(&arena, links, sizeof *tangent->link);
    tangent->batch = arena_allocate(&arena, links, sizeof *tangent->batch);
    tangent->seed_q = arena_allocate(&arena, nv, sizeof(lanes));
    tangent->seed_qd = arena_allocate(&arena, nv, sizeof(lanes));
    tangent->seed_qdd = arena_allocate(&arena, (size_t)model->n_prescribed, sizeof(lanes));
    tangent->force = arena_allocate(&arena, nv, sizeof(double));
    tangent->zeros = arena_allocate(&arena, nv + 6 * links + 6, sizeof(double));
    tangent->jacobian = jacobian_make(model, &arena);
    for (int i = 0; i < model->n_links && !arena.failed; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_batch *b = &tangent->batch[i];
        b->modal = arena_allocate(&arena, (size_t)lm->m, sizeof *b->modal);
        b->e = arena_allocate(&arena, (size_t)lm->m, sizeof *b->e);
        b->section = arena_allocate(&arena, (size_t)lm->n_sections, sizeof *b->section);
        if (lm->body != NULL) make_flexible(lm, &arena, &tangent->link[i]);
    }
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    tangent->arena = arena;
    *made = tangent;
    return STATUS_OK;
}

void tangent_free(struct tangent *tangent)
{
    if (tangent == NULL) return;
    struct arena arena = tangent->arena; /* the struct is allocated in it */
    arena_release(&arena);
}

/* ---- one direction ----------------------------------------------------------------------------------------------- */

static const double *or_zeros(const double *x, const struct tangent *tangent)
{
    return x != NULL ? x : tangent->zeros;
}

/* [from, to): range in which x is not zero */
static void range_of(int n, const double *x, int *from, int *to)
{
    *from = 0;
    *to = n;
    while (*from < *to && x[*from] == 0) ++*from;
    while (*to > *from && x[*to - 1] == 0) --*to;
}

static bool any_nonzero(int n, const double *x)
{
    int from, to;
    range_of(n, x, &from, &to);
    return from < to;
}

/* The current direction as a batch of one */
static struct batch batch_of(const struct model *model, struct tangent *tangent)
{
    const struct direction *d = &tangent->direction;
    struct batch batch = {.q = tangent->seed_q, .qd = tangent->seed_qd};
    range_of(model->nv, d->q, &batch.q_from, &batch.q_to);
    range_of(model->nv, d->qd, &batch.v_from, &batch.v_to);
    for (int j = 0; j < model->nv; j++) {
        batch.q[j] = first_lane(d->q[j]);
        batch.qd[j] = first_lane(d->qd[j]);
    }
    if (any_nonzero(model->n_prescribed, d->prescribed_qdd)) {
        batch.prescribed_qdd = tangent->seed_qdd;
        for (int j = 0; j < model->n_prescribed; j++) batch.prescribed_qdd[j] = first_lane(d->prescribed_qdd[j]);
    }
    const int n = model->n_links;
    const struct mass_direction *masses = &d->masses;
    if (any_nonzero(n, masses->payload_mass) || any_nonzero(3 * n, masses->payload_com) ||
        any_nonzero(6 * n, masses->payload_inertia) || any_nonzero(n, masses->added_mass))
        batch.masses = masses;
    return batch;
}

static void clear_seeds(const struct model *model, struct tangent *tangent)
{
    memset(tangent->seed_q, 0, (size_t)model->nv * sizeof *tangent->seed_q);
    memset(tangent->seed_qd, 0, (size_t)model->nv * sizeof *tangent->seed_qd);
}

static void store_lane(int count, const lanes *from, double *to)
{
    for (int i = 0; i < count; i++) to[i] = lane_of(from[i]);
}

void dyn_tangent_outward(const struct model *model, const struct work *work, struct tangent *tangent,
                         const struct input *in, const struct direction *direction)
{
    static const double none[3];
    const struct mass_direction *masses = &direction->masses;
    tangent->direction = (struct direction){.q = or_zeros(direction->q, tangent),
                                            .qd = or_zeros(direction->qd, tangent),
                                            .tau = or_zeros(direction->tau, tangent),
                                            .tip_wrench = or_zeros(direction->tip_wrench, tangent),
                                            .frame_wrench = direction->frame_wrench,
                                            .prescribed_qdd = or_zeros(direction->prescribed_qdd, tangent),
                                            .joint_force = or_zeros(direction->joint_force, tangent),
                                            .masses = {.payload_mass = or_zeros(masses->payload_mass, tangent),
                                                       .payload_com = or_zeros(masses->payload_com, tangent),
                                                       .payload_inertia = or_zeros(masses->payload_inertia, tangent),
                                                       .added_mass = or_zeros(masses->added_mass, tangent)}};
    const struct batch batch = batch_of(model, tangent);
    tangent->coordinate = NULL;
    tangent_sweep_out(model, work, tangent, in, &batch);
    for (int i = 0; i < model->n_links; i++) { /* small rotations and motions of all frames */
        const struct link_model *lm = &model->link[i];
        const struct link_batch *b = &tangent->batch[i];
        struct link_tangent *t = &tangent->link[i];
        copy3(lm->parent < 0 ? none : dyn_tangent_rotation(tangent, lm->parent, lm->mount), t->O.phi);
        for (int k = 0; k < lm->joint.nv; k++)
            if (lm->joint.part[k] == TURNS) axpy3(tangent->direction.q[lm->v + k], work->link[i].h[k], t->O.phi);
        store_lane(9, b->O, t->O.motion);
        for (int j = 0; j < lm->n_sections; j++) {
            struct section_derivative *s = &t->section[j];
            store_lane(9, b->section[j].T, s->T.motion);
            store_lane(6, b->section[j].J_deta, s->J_deta);
            for (int k = 0; k < 3; k++) s->T.phi[k] = t->O.phi[k] + s->J_deta[k];
        }
    }
    clear_seeds(model, tangent);
}

const double *dyn_tangent_rotation(const struct tangent *tangent, int link, int section)
{
    const struct link_tangent *t = &tangent->link[link];
    return section < 0 ? t->O.phi : t->section[section].T.phi;
}

/* All wrenches rotate relative to their links, and change by those of the direction and of the loads (NULL: zero) */
static void sweep_wrenches(const struct model *model, const struct work *work, struct tangent *tangent,
                           const struct input *in, const struct batch *batch, const struct direction *d,
                           const double (*load)[6])
{
    const double *frame_wrench = d->frame_wrench;
    tangent_sweep_load(model, work, tangent, batch, &model->tip_frame, in->tip_wrench, d->tip_wrench);
    for (int i = 0; i < model->robot->n_frames; i++)
        if (model_frame_acts(model, i))
            tangent_sweep_load(model, work, tangent, batch, &model->frame[i],
                               in->frame_wrench == NULL ? NULL : in->frame_wrench + 6 * i,
                               frame_wrench == NULL ? NULL : frame_wrench + 6 * i);
    for (int i = 0; i < in->n_loads; i++) {
        const struct anchor at = {.link = in->load[i].link, .section = in->load[i].section};
        tangent_sweep_load(model, work, tangent, batch, &at, in->load[i].wrench, load != NULL ? load[i] : NULL);
    }
}

void dyn_tangent_inward(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                        const double (*load)[6], double *dqdd)
{
    const struct batch batch = batch_of(model, tangent);
    const struct direction *d = &tangent->direction;
    sweep_wrenches(model, work, tangent, in, &batch, d, load);
    tangent_sweep_in(model, work, tangent, &batch, 1, dqdd);
    clear_seeds(model, tangent);

    /* dqdd = M^-1 (dQ - d ID) */
    for (int i = 0; i < model->nv; i++) {
        dqdd[i] += d->joint_force[i];
        tangent->force[i] = -dqdd[i];
    }
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        store_lane(6, tangent->batch[i].f, tangent->link[i].f);
        for (int k = 0; !lm->passive && k < free_velocities(lm); k++) dqdd[lm->v + k] += d->tau[lm->tau + k];
    }
    dyn_solve_columns(model, work, tangent, 1, dqdd);
    const struct input given = {.prescribed_qdd = d->prescribed_qdd};
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].prescribed >= 0) dyn_copy_prescribed(&model->link[i], &given, dqdd);
}

void dyn_tangent(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                 const struct direction *direction, double *dqdd)
{
    dyn_tangent_outward(model, work, tangent, in, direction);
    dyn_tangent_inward(model, work, tangent, in, NULL, dqdd);
}
