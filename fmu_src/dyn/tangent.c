/* One direction: the tangent of dyn_inverse(), outward and inward, then M^-1. (theory.md 43 to 48, 67, 103) */
#include "dyn/tangent.h"

#include <string.h>

#include "dyn/jacobian.h"
#include "math/vec.h"

static void make_flexible(const struct link_model *lm, struct arena *arena, struct link_tangent *t)
{
    const struct body *body = lm->body;
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m);
    t->Bq = arena_allocate(arena, m, sizeof *t->Bq);
    t->Bv = arena_allocate(arena, m, sizeof *t->Bv);
    t->modal = arena_allocate(arena, m, sizeof(double));
    arena_arrays(arena, m * row, ARRAYS(&t->Gq, &t->Gv));
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
    tangent->solution = arena_allocate(&arena, links, sizeof *tangent->solution);
    arena_arrays(&arena, nv, ARRAYS(&tangent->force, &tangent->dqdd));
    tangent->zeros = arena_allocate(&arena, nv + 6 * links + 6, sizeof(double));
    tangent->jacobian = jacobian_make(model, &arena);
    for (int i = 0; i < model->n_links && !arena.failed; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_solution *b = &tangent->solution[i];
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

static bool any_nonzero(int n, const double *x)
{
    for (int i = 0; i < n; i++)
        if (x[i] != 0) return true;
    return false;
}

/* ---- outward: changes of frames, and of inertia forces ------------------------------------------------------------ */

/* sum += s x */
static void add_change(double s, const struct frame_tangent *x, struct frame_tangent *sum)
{
    if (s == 0) return;
    axpy3(s, x->phi, sum->phi);
    for (int i = 0; i < 9; i++) sum->motion[i] += s * x->motion[i];
    axpy3(s, x->p, sum->p);
    axpy3(s, x->v, sum->v);
}

void tangent_carry(const struct frame *from, const struct frame_tangent *t, const double *p, const double *v,
                   const double *omega, struct frame_tangent *moved)
{
    double r[3], twice[3], turn[3], g[3];
    for (int k = 0; k < 3; k++) {
        r[k] = p[k] - from->p[k];
        twice[k] = 2 * (v[k] - from->v[k]);
        turn[k] = omega[k] - from->omega[k];
    }
    *moved = *t;
    copy3(t->motion + 3, g);
    add_cross3(from->omega, t->motion, g);
    add_cross3(t->motion, turn, moved->motion + 3);
    add_cross3(g, r, moved->motion + 6);
    add_cross3(t->motion, twice, moved->motion + 6);
    add_cross3(t->motion, r, moved->v);
    add_cross3(t->phi, r, moved->p);
}

void tangent_hinge(const struct model *model, const struct work *work, const struct tangent *tangent, int i, int k,
                   bool rate, struct frame_tangent *base)
{
    const struct link_model *lm = &model->link[i];
    const struct link_work *w = &work->link[i];
    const struct frame *C = mount_frame(lm, work);
    const double *h = w->h[k];
    const bool turns = lm->joint.part[k] == TURNS;
    memset(base, 0, sizeof *base);
    hinge_change(rate ? BY_QD : BY_Q, lm, w, &tangent->link[i], C, k, base->motion);
    if (rate) {
        if (!turns) copy3(h, base->v);
    } else if (turns) {
        copy3(h, base->phi);
        cross3(w->O.v, h, base->v);
    } else {
        copy3(h, base->p);
        cross3(C->omega, h, base->v);
    }
}

void tangent_mode(const struct work *work, const struct tangent *tangent, int i, int section, int k, bool rate,
                  struct frame_tangent *base)
{
    const struct section_derivative *s = &tangent->link[i].section[section];
    const double *D = (rate ? s->Tv : s->Tq)[k], *J = work->link[i].section[section].J[k];
    memset(base, 0, sizeof *base);
    memcpy(base->motion, D, sizeof base->motion);
    copy3(D + 9, base->v);
    if (rate) return;
    copy3(J, base->phi);
    copy3(J + 3, base->p);
    add_cross3(work->link[i].O.v, J, base->v);
}

void tangent_section_out(const struct link_model *lm, const struct work *work, struct tangent *tangent, int i,
                         int section)
{
    const struct direction *d = &tangent->direction;
    const struct section_work *w = &work->link[i].section[section];
    struct section_derivative *s = &tangent->link[i].section[section];
    tangent_carry(&work->link[i].O, &tangent->link[i].O, w->T.p, w->T.v, w->T.omega, &s->T);
    memset(s->J_deta, 0, sizeof s->J_deta);
    for (int k = 0; k < lm->m; k++)
        for (int rate = 0; rate < 2; rate++) {
            const double seed = (rate ? d->qd : d->q)[lm->eta_v + k];
            struct frame_tangent unit;
            if (seed == 0) continue;
            tangent_mode(work, tangent, i, section, k, rate, &unit);
            add_change(seed, &unit, &s->T);
            if (!rate) axpy6(seed, w->J[k], s->J_deta);
        }
    for (int k = 0; k < lm->m; k++) axpy6(tangent->dqdd[lm->eta_v + k], w->J[k], s->T.motion + 3);
}

/* O from the parent frame, with the coordinates of the joint */
static void hinge_out(const struct model *model, const struct work *work, struct tangent *tangent, int i)
{
    const struct link_model *lm = &model->link[i];
    const struct link_work *w = &work->link[i];
    const struct direction *d = &tangent->direction;
    struct frame_tangent *O = &tangent->link[i].O, unit;
    memset(O, 0, sizeof *O);
    if (lm->parent >= 0) {
        const struct link_tangent *parent = &tangent->link[lm->parent];
        const struct frame_tangent *C = lm->mount < 0 ? &parent->O : &parent->section[lm->mount].T;
        tangent_carry(mount_frame(lm, work), C, w->O.p, w->O.v, w->O.omega, O);
    }
    for (int k = 0; k < lm->joint.nv; k++) {
        for (int rate = 0; rate < 2; rate++) {
            const double seed = (rate ? d->qd : d->q)[lm->v + k];
            if (seed == 0) continue;
            tangent_hinge(model, work, tangent, i, k, rate, &unit);
            add_change(seed, &unit, O);
        }
        axpy3(tangent->dqdd[lm->v + k], w->h[k], O->motion + 3 + lm->joint.part[k]);
    }
}

/* D of the wrench of body and hub, of the modal forces, of the motions of the sections and of the payload's wrench */
static void flexible_out(const struct link_model *lm, const struct work *work, struct tangent *tangent, int i)
{
    const struct direction *d = &tangent->direction;
    const struct link_work *w = &work->link[i];
    struct link_tangent *t = &tangent->link[i];
    const double *omega = t->O.motion, *acc = t->O.motion + 3;
    const int m = lm->m, row = PADDED(m);
    for (int k = 0; k < 3; k++) axpy6(omega[k], t->Bw[k], t->f);
    for (int j = 0; j < m; j++) {
        t->modal[j] = omega[0] * t->Gw[j] + omega[1] * t->Gw[row + j] + omega[2] * t->Gw[2 * row + j];
        for (int a = 0; a < 6; a++) t->modal[j] += acc[a] * t->Ft[row * a + j];
    }
    for (int k = 0; k < m; k++) {
        const double dq = d->q[lm->eta_v + k], dqd = d->qd[lm->eta_v + k];
        axpy6(dq, t->Bq[k], t->f);
        axpy6(dqd, t->Bv[k], t->f);
        axpy6(tangent->dqdd[lm->eta_v + k], w->F[k], t->f);
        for (int j = 0; j < m; j++) t->modal[j] += dq * t->Gq[row * k + j] + dqd * t->Gv[row * k + j];
    }
    for (int s = 0; s < lm->n_sections; s++) {
        tangent_section_out(lm, work, tangent, i, s);
        memset(t->section[s].df, 0, sizeof t->section[s].df);
    }
    if (!lm->has_payload) return;
    struct section_derivative *tip = &t->section[0];
    rigid_mul(&w->load, tip->T.motion + 3, tip->df);
    rigid_add_spin(&w->load, w->section[0].T.omega, tip->T.motion, tip->df);
}

/* In the direction, with the accelerations of dqdd */
static void sweep_out(const struct model *model, const struct work *work, struct tangent *tangent)
{
    const int n = model->n_links;
    const struct mass_direction *masses = &tangent->direction.masses;
    const bool other_masses = any_nonzero(n, masses->payload_mass) || any_nonzero(3 * n, masses->payload_com) ||
                              any_nonzero(6 * n, masses->payload_inertia) || any_nonzero(n, masses->added_mass);
    for (int i = 0; i < n; i++) {
        struct link_tangent *t = &tangent->link[i];
        hinge_out(model, work, tangent, i);
        const struct link_work *w = &work->link[i];
        rigid_mul(&w->self, t->O.motion + 3, t->f);
        rigid_add_spin(model->link[i].body == NULL ? &w->self : &w->hub, w->O.omega, t->O.motion, t->f);
        if (model->link[i].body != NULL) flexible_out(&model->link[i], work, tangent, i);
        if (other_masses) tangent_masses_out(model, work, tangent, i);
    }
}

void dyn_tangent_copy_prescribed(const struct model *model, const struct tangent *tangent, double *dqdd)
{
    NEEDS(tangent, TANGENT_OUTWARD);
    const struct input given = {.prescribed_qdd = tangent->direction.prescribed_qdd};
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].prescribed >= 0) dyn_copy_prescribed(&model->link[i], &given, dqdd);
}

void dyn_tangent_outward(const struct model *model, const struct work *work, struct tangent *tangent,
                         const struct direction *direction)
{
    NEEDS(tangent, TANGENT_STATE);
    const struct mass_direction *given = &direction->masses;
    const struct mass_direction masses = {.payload_mass = or_zeros(given->payload_mass, tangent),
                                          .payload_com = or_zeros(given->payload_com, tangent),
                                          .payload_inertia = or_zeros(given->payload_inertia, tangent),
                                          .added_mass = or_zeros(given->added_mass, tangent)};
    tangent->direction = (struct direction){.q = or_zeros(direction->q, tangent),
                                            .qd = or_zeros(direction->qd, tangent),
                                            .tau = or_zeros(direction->tau, tangent),
                                            .tip_wrench = or_zeros(direction->tip_wrench, tangent),
                                            .frame_wrench = direction->frame_wrench,
                                            .prescribed_qdd = or_zeros(direction->prescribed_qdd, tangent),
                                            .joint_force = or_zeros(direction->joint_force, tangent),
                                            .masses = masses};
    tangent->done = TANGENT_STATE | TANGENT_OUTWARD;
    memset(tangent->dqdd, 0, (size_t)model->nv * sizeof(double));
    dyn_tangent_copy_prescribed(model, tangent, tangent->dqdd);
    sweep_out(model, work, tangent);
}

/* ---- inward: changes of wrenches and generalized forces ------------------------------------------------------------ */

/* A wrench (world axes; NULL: zero) rotates relative to the frame it acts on, and changes by dwrench (NULL: zero):
   -D = dphi x wrench - dwrench */
static void add_load(const struct work *work, struct tangent *tangent, const struct anchor *anchor,
                     const double *wrench, const double *dwrench)
{
    double D[6] = {0}, r[3] = {0};
    if (anchor->link < 0 || (wrench == NULL && dwrench == NULL)) return;
    struct link_tangent *t = &tangent->link[anchor->link];
    struct section_derivative *s = anchor->section < 0 ? NULL : &t->section[anchor->section];
    const double *phi = s == NULL ? t->O.phi : s->T.phi;
    for (int i = 0; wrench != NULL && i < 6; i += 3) cross3(phi, wrench + i, D + i);
    if (dwrench != NULL) axpy6(-1, dwrench, D);
    if (anchor->offset) mul3(dyn_anchor_frame(work, anchor)->R, anchor->at.p, r); /* constant in the frame */
    wrench_add_shifted(s == NULL ? t->f : s->df, D, r);
}

/* All wrenches rotate relative to their links, and change by those of the direction and of the loads (NULL: zero) */
static void add_loads(const struct model *model, const struct work *work, struct tangent *tangent,
                      const struct input *in, const double (*load)[6])
{
    const struct direction *d = &tangent->direction;
    add_load(work, tangent, &model->tip_frame, in->tip_wrench, d->tip_wrench);
    for (int i = 0; i < model->robot->n_frames; i++)
        if (model_frame_acts(model, i))
            add_load(work, tangent, &model->frame[i], in->frame_wrench == NULL ? NULL : in->frame_wrench + 6 * i,
                     d->frame_wrench == NULL ? NULL : d->frame_wrench + 6 * i);
    for (int i = 0; i < in->n_loads; i++) {
        const struct anchor at = {.link = in->load[i].link, .section = in->load[i].section};
        add_load(work, tangent, &at, in->load[i].wrench, load != NULL ? load[i] : NULL);
    }
}

/* modal += J' f_T,   f += X' f_T + D r x f_T, with f_T relative to O                                  (34, 35 differentiated) */
static void section_in(int m, const struct section_work *w, struct section_derivative *s, struct link_tangent *t)
{
    const double *psi = s->J_deta, *dr = s->J_deta + 3;
    for (int i = 0; i < 6; i += 3) add_cross3(psi, w->f + i, s->df + i);
    for (int j = 0; j < m; j++) t->modal[j] += dot6(w->J[j], s->df);
    add_cross3(dr, w->f + 3, t->f);
    wrench_add_shifted(t->f, s->df, w->r);
}

/* The change of h' f minus the forces of friction, springs and stops, h' D f + (D h)' f - ..., in force; and f added to that of the
   parent frame: relative to it, with D d x f for translational columns */
static void hinge_in(const struct link_model *lm, const struct work *work, struct tangent *tangent, int i,
                     double *force)
{
    const struct direction *d = &tangent->direction;
    const struct link_work *w = &work->link[i];
    struct link_tangent *t = &tangent->link[i];
    for (int k = 0; k < lm->joint.nv; k++) {
        force[lm->v + k] = along_column(lm, w, k, t->f);
        for (int j = 0; j < lm->joint.nv; j++)
            force[lm->v + k] += t->Kq[k][j] * d->q[lm->v + j] + t->Kv[k][j] * d->qd[lm->v + j];
        force[lm->v + k] += lm->joint.motor_inertia[k] * tangent->dqdd[lm->v + k];
    }
    if (lm->parent < 0) return;
    struct link_tangent *parent = &tangent->link[lm->parent];
    double *sum = lm->mount < 0 ? parent->f : parent->section[lm->mount].df;
    wrench_add_shifted(sum, t->f, w->d);
    for (int k = 0; k < lm->joint.nv; k++) {
        double turned[6] = {0};
        add_joint_wrench(lm->joint.part[k] == TURNS, w->h[k], w->d, w->f, turned);
        axpy6(d->q[lm->v + k], turned, sum);
    }
}

void dyn_tangent_inward(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct input *in, const double (*load)[6])
{
    NEEDS(tangent, TANGENT_OUTWARD);
    tangent->done |= TANGENT_INWARD;
    add_loads(model, work, tangent, in, load);
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_tangent *t = &tangent->link[i];
        for (int s = 0; s < lm->n_sections; s++) section_in(lm->m, &work->link[i].section[s], &t->section[s], t);
        for (int k = 0; k < lm->m; k++) tangent->force[lm->eta_v + k] = t->modal[k];
        hinge_in(lm, work, tangent, i, tangent->force);
    }
    for (int i = 0; i < model->nv; i++) tangent->force[i] -= tangent->direction.joint_force[i];
}

void dyn_tangent_solve(const struct model *model, struct work *work, struct tangent *tangent, double *dqdd)
{
    NEEDS(tangent, TANGENT_INWARD);
    for (int i = 0; i < model->nv; i++) dqdd[i] = -tangent->force[i];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < free_velocities(lm); k++)
            dqdd[lm->v + k] += tangent->direction.tau[lm->tau + k];
    }
    dyn_solve_columns(model, work, tangent, 1, dqdd);
}

void dyn_tangent_motion(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct input *in, const double (*load)[6], double *dqdd)
{
    dyn_tangent_copy_prescribed(model, tangent, dqdd);
    memcpy(tangent->dqdd, dqdd, (size_t)model->nv * sizeof *dqdd);
    sweep_out(model, work, tangent);
    dyn_tangent_inward(model, work, tangent, in, load);
    tangent->done |= TANGENT_MOTION;
}
