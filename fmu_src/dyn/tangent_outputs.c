/* Derivatives of outputs in a direction: frames, reactions, deflections. After dyn_tangent(), whose motions do not include dqdd. */
#include <string.h>

#include "dyn/tangent.h"
#include "math/vec.h"

/* Base to tips: terms of dqdd in accelerations, x, and in inertia forces, y */
static void add_accelerations(const struct model *model, const struct work *work, struct tangent *tangent,
                              const double *dqdd)
{
    static const double rest[6];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i];
        const struct link_tangent *parent = lm->parent < 0 ? NULL : &tangent->link[lm->parent];
        const double *x = parent == NULL ? rest : lm->mount < 0 ? parent->x : parent->section[lm->mount].x;
        motion_shift(x, w->d, t->x);
        for (int k = 0; k < free_velocities(lm); k++) /* those of prescribed joints are already included */
            axpy3(dqdd[lm->v + k], w->h[k], t->x + lm->joint.part[k]);
        axpy6(1, t->x, t->O.motion + 3);
        rigid_mul(&w->self, t->x, t->y);
        for (int k = 0; k < lm->m; k++) axpy6(dqdd[lm->eta_v + k], w->F[k], t->y);
        for (int j = 0; j < lm->n_sections; j++) { /* x_T = X x + J deta_ddot */
            struct section_derivative *s = &t->section[j];
            motion_shift(t->x, w->section[j].r, s->x);
            for (int k = 0; k < lm->m; k++) axpy6(dqdd[lm->eta_v + k], w->section[j].J[k], s->x);
            axpy6(1, s->x, s->T.motion + 3);
            memset(s->y, 0, sizeof s->y);
        }
        if (lm->has_payload) rigid_mul(&w->load, t->section[0].x, t->section[0].y);
    }
}

/* Tips to base: hinge wrenches, and the forces of all joints */
static void add_wrenches(const struct model *model, const struct work *work, struct tangent *tangent,
                         const double *dqdd)
{
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i];
        for (int s = 0; s < lm->n_sections; s++) wrench_add_shifted(t->y, t->section[s].y, w->section[s].r);
        axpy6(1, t->y, t->f);
        for (int k = 0; k < lm->joint.nv; k++) {
            double *force = &tangent->force[lm->v + k];
            *force += along_column(lm, w, k, t->y);
            if (lm->prescribed < 0) *force += lm->joint.motor_inertia[k] * dqdd[lm->v + k];
        }
        if (lm->parent >= 0) {
            struct link_tangent *parent = &tangent->link[lm->parent];
            wrench_add_shifted(lm->mount < 0 ? parent->y : parent->section[lm->mount].y, t->y, w->d);
        }
    }
}

/* The change of the parent frame */
static const struct frame_tangent *mount_change(const struct link_model *lm, const struct tangent *tangent)
{
    static const struct frame_tangent at_rest;
    if (lm->parent < 0) return &at_rest;
    const struct link_tangent *parent = &tangent->link[lm->parent];
    return lm->mount < 0 ? &parent->O : &parent->section[lm->mount].T;
}

/* dp of T:  dp_O + dphi_O x r + D r */
static void section_dp(const struct section_work *w, const struct frame_tangent *O, struct section_derivative *s)
{
    for (int k = 0; k < 3; k++) s->T.p[k] = O->p[k] + s->J_deta[3 + k];
    add_cross3(O->phi, w->r, s->T.p);
}

/* dp of O from the parent frame C:  dp_C + dphi_C x d + D d */
void dyn_tangent_position(const struct model *model, const struct work *work, struct tangent *tangent)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i];
        const struct frame_tangent *c = mount_change(lm, tangent);
        copy3(c->p, t->O.p);
        add_cross3(c->phi, w->d, t->O.p);
        for (int k = 0; k < lm->joint.nv; k++)
            if (lm->joint.part[k] == SLIDES) axpy3(tangent->direction.q[lm->v + k], w->h[k], t->O.p);
        for (int s = 0; s < lm->n_sections; s++) section_dp(&w->section[s], &t->O, &t->section[s]);
    }
}

/* v_T = v_O + u,   D u as a sum of columns */
static void section_velocity(const struct link_model *lm, const struct link_work *w, const struct direction *d,
                             const struct frame_tangent *O, struct section_derivative *s)
{
    for (int k = 0; k < 3; k++) {
        s->T.v[k] = O->v[k];
        for (int i = 0; i < 3; i++) s->T.v[k] += O->motion[i] * s->Tw[i][9 + k];
        for (int j = 0; j < lm->m; j++)
            s->T.v[k] += d->q[lm->eta_v + j] * s->Tq[j][9 + k] + d->qd[lm->eta_v + j] * s->Tv[j][9 + k];
    }
    add_cross3(w->O.v, s->J_deta, s->T.v);
}

/* O from the parent frame C:  D v = D v_C + D omega_C x d + ..., relative to O                                         (25) */
void dyn_tangent_velocity(const struct model *model, const struct work *work, struct tangent *tangent)
{
    static const struct frame world;
    const struct direction *d = &tangent->direction;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        const struct frame *C = mount_frame(lm, work, &world);
        const struct frame_tangent *dC = mount_change(lm, tangent);
        struct link_tangent *t = &tangent->link[i];
        copy3(dC->v, t->O.v);
        add_cross3(dC->motion, w->d, t->O.v);
        for (int k = 0; k < lm->joint.nv; k++) {
            const double *h = w->h[k];
            double turned[3];
            if (lm->joint.part[k] == TURNS) {
                cross3(w->O.v, h, turned);
            } else {
                cross3(C->omega, h, turned);
                axpy3(d->qd[lm->v + k], h, t->O.v);
            }
            axpy3(d->q[lm->v + k], turned, t->O.v);
        }
        for (int s = 0; s < lm->n_sections; s++) section_velocity(lm, w, d, &t->O, &t->section[s]);
    }
}

void dyn_tangent_motion(const struct model *model, const struct work *work, struct tangent *tangent, const double *dqdd)
{
    add_accelerations(model, work, tangent, dqdd);
    add_wrenches(model, work, tangent, dqdd);
    dyn_tangent_position(model, work, tangent);
    dyn_tangent_velocity(model, work, tangent);
}

/* D of the motion of a section as a sum of columns, with the accelerations of dqdd, which D of the motion of O includes */
void dyn_tangent_observe(const struct model *model, const struct work *work, struct tangent *tangent,
                         const double *dqdd)
{
    const struct direction *d = &tangent->direction;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i];
        for (int j = lm->n_sections; j < lm->n_all_sections; j++) {
            const struct section_work *sw = &w->section[j];
            struct section_derivative *s = &t->section[j];
            double *motion = s->T.motion;
            memset(s->J_deta, 0, sizeof s->J_deta);
            memset(motion, 0, 3 * sizeof *motion);
            motion_shift(t->O.motion + 3, sw->r, motion + 3);
            for (int x = 0; x < 9; x++)
                for (int k = 0; k < 3; k++) motion[x] += t->O.motion[k] * s->Tw[k][x];
            for (int k = 0; k < lm->m; k++) {
                const double q = d->q[lm->eta_v + k], qd = d->qd[lm->eta_v + k];
                axpy6(q, sw->J[k], s->J_deta);
                axpy6(dqdd[lm->eta_v + k], sw->J[k], motion + 3);
                for (int x = 0; x < 9; x++) motion[x] += q * s->Tq[k][x] + qd * s->Tv[k][x];
            }
            for (int k = 0; k < 3; k++) s->T.phi[k] = t->O.phi[k] + s->J_deta[k];
            section_dp(sw, &t->O, s);
            section_velocity(lm, w, d, &t->O, s);
        }
    }
}

/* dx = D x + dphi x x */
static void absolute_change(const double *D, const double *phi, const double *x, double *dx)
{
    copy3(D, dx);
    add_cross3(phi, x, dx);
}

/* dr = phi x r,  dp + dr,  dv + domega x r + omega x dr,  ... */
void frame_move_change(const double r[3], const double omega[3], const double alpha[3], struct frame_derivative *d)
{
    double dr[3], wr[3], dwr[3];
    cross3(d->phi, r, dr);
    cross3(omega, r, wr);
    cross3(d->omega, r, dwr);
    add_cross3(omega, dr, dwr);
    axpy3(1, dr, d->p);
    axpy3(1, dwr, d->v);
    add_cross3(d->alpha, r, d->a);
    add_cross3(alpha, dr, d->a);
    add_cross3(d->omega, wr, d->a);
    add_cross3(omega, dwr, d->a);
}

/* A section as a mode of its link varies, in the frame of its T */
static void mode_base(const struct work *work, const struct tangent *tangent, int section, struct frame_tangent *base)
{
    const struct coordinate *c = tangent->coordinate;
    const struct link_work *w = &work->link[c->link];
    const struct section_derivative *s = &tangent->link[c->link].section[section];
    const double *D = (c->kind == BY_Q ? s->Tq : s->Tv)[c->mode], *J = w->section[section].J[c->mode];
    memset(base, 0, sizeof *base);
    memcpy(base->motion, D, sizeof base->motion);
    copy3(D + 9, base->v);
    if (c->kind == BY_QD) return;
    copy3(J, base->phi);
    copy3(J + 3, base->p);
    add_cross3(w->O.v, J, base->v);
}

/* A frame outward of a varied coordinate moves with its base as one body: with g = D alpha - D omega x omega of the base
   D alpha = g + D omega x omega,   D a += g x r + 2 D omega x (v - v_base),   D v += D omega x r,   dp += phi x r     (103) */
static void coordinate_change(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                              const struct frame *frame, struct frame_tangent *t)
{
    const struct coordinate *c = tangent->coordinate;
    int i = anchor->link, section = anchor->section;
    for (; i > c->link; i = c->model->link[i].parent) section = c->model->link[i].mount;
    memset(t, 0, sizeof *t);
    if (i != c->link || (c->mode >= 0 && section < 0)) return;
    const struct anchor at = {.link = i, .section = c->mode < 0 ? -1 : section};
    const struct frame *base = dyn_anchor_frame(work, &at);
    double r[3], v[3], omega[3], g[3];
    if (c->mode < 0) *t = c->base;
    else mode_base(work, tangent, section, t);
    for (int k = 0; k < 3; k++) {
        r[k] = frame->p[k] - base->p[k];
        v[k] = 2 * (frame->v[k] - base->v[k]);
        omega[k] = frame->omega[k] - base->omega[k];
    }
    copy3(t->motion + 3, g);
    add_cross3(base->omega, t->motion, g);
    add_cross3(t->motion, omega, t->motion + 3);
    add_cross3(g, r, t->motion + 6);
    add_cross3(t->motion, v, t->motion + 6);
    add_cross3(t->motion, r, t->v);
    add_cross3(t->phi, r, t->p);
}

void dyn_tangent_frame(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                       struct frame_derivative *change)
{
    const struct link_tangent *lt = &tangent->link[anchor->link];
    const struct frame *frame = dyn_anchor_frame(work, anchor);
    struct frame_tangent carried;
    const struct frame_tangent *t = anchor->section < 0 ? &lt->O : &lt->section[anchor->section].T;
    if (tangent->coordinate != NULL) {
        coordinate_change(work, tangent, anchor, frame, &carried);
        t = &carried;
    }
    copy3(t->p, change->p);
    copy3(t->phi, change->phi);
    absolute_change(t->v, t->phi, frame->v, change->v);
    absolute_change(t->motion, t->phi, frame->omega, change->omega);
    absolute_change(t->motion + 3, t->phi, frame->acc, change->alpha);
    absolute_change(t->motion + 6, t->phi, frame->acc + 3, change->a);
    if (anchor->offset) {
        double r[3];
        mul3(frame->R, anchor->at.p, r);
        frame_move_change(r, frame->omega, frame->acc, change);
    }
}

void tangent_in_own_axes(const double R[9], const double phi[3], const double x[3], const double dx[3],
                         double change[3])
{
    double relative[3], turned[3];
    cross3(phi, x, turned);
    copy3(dx, relative);
    axpy3(-1, turned, relative);
    tmul3(R, relative, change);
}

void dyn_tangent_reaction(const struct work *work, const struct tangent *tangent, int link, double wrench[6])
{
    tmul3(work->link[link].O.R, tangent->link[link].f, wrench);
    tmul3(work->link[link].O.R, tangent->link[link].f + 3, wrench + 3);
}

void dyn_tangent_deflection(const struct model *model, const struct work *work, const struct tangent *tangent, int link,
                            double deflection[3], double rotation[3])
{
    const struct link_model *lm = &model->link[link];
    const struct link_work *w = &work->link[link];
    const struct link_tangent *t = &tangent->link[link];
    memset(deflection, 0, 3 * sizeof *deflection);
    memset(rotation, 0, 3 * sizeof *rotation);
    if (lm->body == NULL) return;
    const double *J_deta = t->section[0].J_deta;
    tmul3(w->O.R, J_deta + 3, deflection);
    if (w->JF == NULL) { /* theta = Lambda eta */
        for (int k = 0; k < lm->m; k++)
            axpy3(tangent->direction.q[lm->eta_v + k], lm->body->tip.Lambda + 3 * k, rotation);
    } else {
        double rho[3], psi[3];
        rotation_between(w->theta_d, w->section[0].theta, rho);
        tmul3(w->O.R, J_deta, psi);
        rotation_vector_rate(rho, psi, rotation);
    }
}
