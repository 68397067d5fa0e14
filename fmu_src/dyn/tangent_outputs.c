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
        motion_shift(parent == NULL ? rest : model->link[lm->parent].body == NULL ? parent->x : parent->xT, w->d, t->x);
        for (int k = 0; k < free_velocities(lm); k++) /* those of prescribed joints are already included */
            axpy3(dqdd[lm->v + k], w->h[k], t->x + lm->joint.part[k]);
        axpy6(1, t->x, t->O.motion + 3);
        rigid_mul(&w->self, t->x, t->y);
        if (lm->body == NULL) continue;
        motion_shift(t->x, w->r, t->xT);
        for (int k = 0; k < lm->m; k++) {
            axpy6(dqdd[lm->eta_v + k], w->J[k], t->xT);
            axpy6(dqdd[lm->eta_v + k], w->F[k], t->y);
        }
        axpy6(1, t->xT, t->T.motion + 3);
        if (lm->has_payload) rigid_mul(&w->load, t->xT, t->yT);
        else memset(t->yT, 0, sizeof t->yT);
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
        if (lm->body != NULL) wrench_add_shifted(t->y, t->yT, w->r);
        axpy6(1, t->y, t->f);
        for (int k = 0; k < lm->joint.nv; k++) {
            double *force = &tangent->force[lm->v + k];
            *force += along_column(lm, w, k, t->y);
            if (lm->prescribed < 0) *force += lm->joint.motor_inertia[k] * dqdd[lm->v + k];
        }
        if (lm->parent >= 0) {
            struct link_tangent *parent = &tangent->link[lm->parent];
            wrench_add_shifted(model->link[lm->parent].body == NULL ? parent->y : parent->yT, t->y, w->d);
        }
    }
}

/* dp of O from the parent frame:  dp_C + dphi_C x d + D d,   of T:  dp_O + dphi_O x r + D r */
void dyn_tangent_position(const struct model *model, const struct work *work, struct tangent *tangent)
{
    static const struct frame_tangent still;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i], *pt = &tangent->link[lm->parent < 0 ? 0 : lm->parent];
        const struct frame_tangent *c = lm->parent < 0                         ? &still
                                        : model->link[lm->parent].body != NULL ? &pt->T
                                                                               : &pt->O;
        copy3(c->p, t->O.p);
        add_cross3(c->phi, w->d, t->O.p);
        for (int k = 0; k < lm->joint.nv; k++)
            if (lm->joint.part[k] == SLIDES) axpy3(tangent->direction.q[lm->v + k], w->h[k], t->O.p);
        if (lm->body == NULL) continue;
        for (int k = 0; k < 3; k++) t->T.p[k] = t->O.p[k] + t->dtip[3 + k];
        add_cross3(t->O.phi, w->r, t->T.p);
    }
}

/* O from the parent frame:  D v = D v_C + D omega_C x d + ..., relative to O                                         (25) */
static void hinge_velocity(const struct link_model *lm, const struct link_work *w, const struct frame *carrier,
                           const struct frame_tangent *c, const double *dq, const double *dqd, struct frame_tangent *O)
{
    copy3(c->v, O->v);
    add_cross3(c->motion, w->d, O->v);
    for (int k = 0; k < lm->joint.nv; k++) {
        double turned[3];
        if (lm->joint.part[k] == TURNS) {
            cross3(w->O.v, w->h[k], turned);
        } else {
            cross3(carrier->omega, w->h[k], turned);
            axpy3(dqd[k], w->h[k], O->v);
        }
        axpy3(dq[k], turned, O->v);
    }
}

/* v_T = v_O + u,   D u as a sum of columns */
static void tip_velocity(const struct link_model *lm, const struct link_work *w, const struct direction *d,
                         struct link_tangent *t)
{
    for (int k = 0; k < 3; k++) {
        t->T.v[k] = t->O.v[k];
        for (int i = 0; i < 3; i++) t->T.v[k] += t->O.motion[i] * t->Tw[i][9 + k];
        for (int j = 0; j < lm->m; j++)
            t->T.v[k] += d->q[lm->eta_v + j] * t->Tq[j][9 + k] + d->qd[lm->eta_v + j] * t->Tv[j][9 + k];
    }
    add_cross3(w->O.v, t->dtip, t->T.v);
}

static void add_velocities(const struct model *model, const struct work *work, struct tangent *tangent)
{
    static const struct frame_tangent still;
    static const struct frame world;
    const struct direction *d = &tangent->direction;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i], *pw = &work->link[lm->parent < 0 ? 0 : lm->parent];
        struct link_tangent *t = &tangent->link[i], *pt = &tangent->link[lm->parent < 0 ? 0 : lm->parent];
        const bool on_tip = lm->parent >= 0 && model->link[lm->parent].body != NULL;
        hinge_velocity(lm, w,
                       lm->parent < 0 ? &world
                       : on_tip       ? &pw->T
                                      : &pw->O,
                       lm->parent < 0 ? &still
                       : on_tip       ? &pt->T
                                      : &pt->O,
                       d->q + lm->v, d->qd + lm->v, &t->O);
        if (lm->body != NULL) tip_velocity(lm, w, d, t);
    }
}

void dyn_tangent_motion(const struct model *model, const struct work *work, struct tangent *tangent, const double *dqdd)
{
    add_accelerations(model, work, tangent, dqdd);
    add_wrenches(model, work, tangent, dqdd);
    dyn_tangent_position(model, work, tangent);
    add_velocities(model, work, tangent);
}

/* dx = D x + dphi x x */
static void absolute(const double *D, const double *phi, const double *x, double *dx)
{
    copy3(D, dx);
    add_cross3(phi, x, dx);
}

void dyn_tangent_tip(const struct model *model, const struct work *work, const struct tangent *tangent, int link,
                     struct frame_derivative *tip)
{
    dyn_tangent_frame(model, work, tangent, link, POINT_TIP, tip);
}

void dyn_tangent_frame(const struct model *model, const struct work *work, const struct tangent *tangent, int link,
                       enum point_frame which, struct frame_derivative *tip)
{
    const struct link_model *lm = &model->link[link];
    const bool at_O = lm->body == NULL || which == POINT_HINGE;
    const struct frame *frame = at_O ? &work->link[link].O : &work->link[link].T;
    const struct frame_tangent *t = at_O ? &tangent->link[link].O : &tangent->link[link].T;
    double v[3], a[3], vD[3], aD[3];
    copy3(t->p, tip->p);
    copy3(t->phi, tip->phi);
    copy3(frame->v, v);
    copy3(frame->acc + 3, a);
    copy3(t->v, vD);
    copy3(t->motion + 6, aD);
    if (lm->body == NULL && which == POINT_TIP) { /* T is fixed in O: D r = 0 */
        double r[3], wr[3], dwr[3];
        mul3(frame->R, lm->tip.p, r);
        cross3(frame->omega, r, wr);
        cross3(t->motion, r, dwr);
        add_cross3(t->phi, r, tip->p);
        for (int i = 0; i < 3; i++) {
            v[i] += wr[i];
            vD[i] += dwr[i];
        }
        add_cross3(frame->acc, r, a);
        add_cross3(frame->omega, wr, a);
        add_cross3(t->motion + 3, r, aD);
        add_cross3(t->motion, wr, aD);
        add_cross3(frame->omega, dwr, aD);
    }
    absolute(vD, t->phi, v, tip->v);
    absolute(t->motion, t->phi, frame->omega, tip->omega);
    absolute(t->motion + 3, t->phi, frame->acc, tip->alpha);
    absolute(aD, t->phi, a, tip->a);
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
    tmul3(w->O.R, t->dtip + 3, deflection);
    if (w->JF == NULL) { /* theta = Lambda eta */
        for (int k = 0; k < lm->m; k++)
            axpy3(tangent->direction.q[lm->eta_v + k], lm->body->tip.Lambda + 3 * k, rotation);
    } else {
        double rho[3], psi[3];
        rotation_between(w->theta_d, w->theta, rho);
        tmul3(w->O.R, t->dtip, psi);
        rotation_vector_rate(rho, psi, rotation);
    }
}
