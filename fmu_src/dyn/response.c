/* What the links outward of every frame add to the equations when the frame's angular velocity changes, or when it rotates under
   loads: right-hand sides of the elimination, one per seed. (theory.md 104 to 107) */
#include <string.h>

#include "dyn/jacobian.h"
#include "math/vec.h"

/* sum += z, a wrench at p, in column l; moved to the reference */
static void add_wrench(const double *p, const double *z, int l, double (*sum)[SIX])
{
    double at[6];
    copy6(z, at);
    add_cross3(p, z + 3, at);
    for (int i = 0; i < 6; i++) sum[i][l] += at[i];
}

/* D (alpha; a) of a frame for a unit w along axis l and zero (g; g_a)                                              (103) */
static void unit_acceleration(const struct frame_response *frame, const double *omega, int l, double *acc)
{
    double e[3] = {0};
    e[l] = 1;
    cross3(e, omega, acc);
    cross3(e, frame->v, acc + 3);
    for (int i = 3; i < 6; i++) acc[i] *= 2;
}

/* A rigid body, in closed form: n = 2 (N w) x omega + 2 h x (w x v),  f = 2 w x l,  N = tr(J)/2 1 - J,  l = m v + omega x h;
   at the reference n + p x f                                                                                       (105) */
static void rigid_seeds(const struct rigid *body, const double *omega, struct frame_response *frame)
{
    const double *J = body->J, *h = body->h, *p = frame->p, *v = frame->v;
    const double N[9] = {J[1] + J[2] - J[0], -2 * J[3], -2 * J[4], -2 * J[3],         J[0] + J[2] - J[1],
                         -2 * J[5],          -2 * J[4], -2 * J[5], J[0] + J[1] - J[2]}; /* 2 N */
    double l[3];                                                                        /* 2 l */
    cross3(omega, h, l);
    for (int i = 0; i < 3; i++) l[i] = 2 * (l[i] + body->m * v[i]);
    const double along = 2 * dot3(h, v) + dot3(p, l);
    double(*Z)[SIX] = frame->Z;
    for (int k = 0; k < 3; k++) {
        const double a = N[k], b = N[3 + k], c = N[6 + k], h2 = 2 * h[k];
        Z[0][k] = b * omega[2] - c * omega[1] - h2 * v[0] - p[k] * l[0];
        Z[1][k] = c * omega[0] - a * omega[2] - h2 * v[1] - p[k] * l[1];
        Z[2][k] = a * omega[1] - b * omega[0] - h2 * v[2] - p[k] * l[2];
        Z[k][k] += along;
    }
    Z[3][0] = Z[4][1] = Z[5][2] = 0;
    Z[3][1] = l[2], Z[3][2] = -l[1];
    Z[4][0] = -l[2], Z[4][2] = l[0];
    Z[5][0] = l[1], Z[5][1] = -l[0];
}

/* p and v relative to the reference */
static void set_relative(const struct frame *frame, const struct frame *reference, struct frame_response *r)
{
    for (int i = 0; i < 3; i++) {
        r->p[i] = frame->p[i] - reference->p[i];
        r->v[i] = frame->v[i] - reference->v[i];
    }
}

/* A flexible link: body, hub and payload, and minus the modal forces in E                                          (106)*/
static void flexible_seeds(const struct link_model *lm, const struct link_work *w, const struct link_tangent *t,
                           const struct frame *reference, struct link_response *r)
{
    const int row = PADDED(lm->m);
    memset(r->O.Z, 0, sizeof r->O.Z);
    memset(r->E, 0, (size_t)lm->m * sizeof *r->E);
    for (int s = 0; s < lm->n_sections; s++) {
        set_relative(&w->section[s].T, reference, &r->section[s]);
        memset(r->section[s].Z, 0, sizeof r->section[s].Z);
    }
    for (int l = 0; l < 3; l++) {
        double acc[6], z[6], unit[3] = {0};
        unit[l] = 1;
        unit_acceleration(&r->O, w->O.omega, l, acc);
        rigid_mul(&w->self, acc, z);
        axpy6(1, t->Bw[l], z);
        rigid_add_spin(&w->hub, w->O.omega, unit, z);
        add_wrench(r->O.p, z, l, r->O.Z);
        for (int k = 0; k < lm->m; k++) {
            double force = t->Gw[row * l + k];
            for (int i = 0; i < 6; i++) force += t->Ft[row * i + k] * acc[i];
            r->E[k][l] = -force;
        }
        if (!lm->has_payload) continue;
        unit_acceleration(&r->section[0], w->section[0].T.omega, l, acc);
        rigid_mul(&w->load, acc, z);
        rigid_add_spin(&w->load, w->section[0].T.omega, unit, z);
        add_wrench(r->section[0].p, z, l, r->section[0].Z);
    }
}

/* Columns of the subspace and their gains, moved to the reference */
static void hinge_at_reference(const struct link_model *lm, const struct link_work *w, bool locked,
                               struct link_response *r)
{
    for (int k = 0; k < moving_velocities(lm, locked); k++) {
        struct hinge_response *c = &r->hinge[k];
        const double *h = w->h[k], *p = r->O.p;
        if (lm->joint.part[k] == TURNS) {
            copy3(h, c->S);
            cross3(p, h, c->S + 3);
        } else {
            memset(c->S, 0, 3 * sizeof *c->S);
            copy3(h, c->S + 3);
        }
        if (locked) {
            double unit[6] = {0};
            copy3(h, unit + lm->joint.part[k]);
            rigid_mul(&w->Ic, unit, c->U);
        } else {
            copy6(w->U[k], c->U);
            c->inverse_D = w->inverse_D[k];
        }
        add_cross3(p, c->U + 3, c->U);
    }
}

/* A wrench on a frame keeps its direction in the world: relative to the frame it rotates by -phi                          (107) */
static void load_seeds(const struct work *work, struct link_response *link, const struct anchor *anchor,
                       const double *wrench)
{
    if (anchor->link < 0 || wrench == NULL) return;
    struct link_response *r = &link[anchor->link];
    struct frame_response *frame = anchor->section < 0 ? &r->O : &r->section[anchor->section];
    double at[3], turned[6];
    copy3(frame->p, at);
    if (anchor->offset) add_mul3(dyn_anchor_frame(work, anchor)->R, anchor->at.p, at);
    for (int l = 0; l < 3; l++) {
        double e[3] = {0};
        e[l] = 1;
        cross3(e, wrench, turned);
        cross3(e, wrench + 3, turned + 3);
        add_wrench(at, turned, PHI + l, frame->Z);
    }
}

/* ---- elimination ------------------------------------------------------------------------------------------------- */

/* M_rf + sum X' I J: the wrench at O of locked modes per eta_ddot                                                  (36) */
static void modes_at_hinge(const struct link_model *lm, const struct link_work *w, struct link_response *r)
{
    for (int k = 0; k < lm->m; k++) {
        copy6(w->F[k], r->F[k]);
        for (int s = 0; s < lm->n_sections; s++) {
            double IJ[6];
            rigid_mul(&w->section[s].Ic, w->section[s].J[k], IJ);
            wrench_add_shifted(r->F[k], IJ, w->section[s].r);
        }
    }
}

/* E = L^-1 E,   Z_O += sum Z_T + W' E; locked: L = 1, W = 0                                                        (31) */
static void eliminate_modes(const struct link_model *lm, const struct link_work *w, int seeds, bool locked,
                            struct link_response *r)
{
    const int m = lm->m, row = PADDED(m);
    for (int s = 0; s < lm->n_sections; s++) {
        const struct frame_response *T = &r->section[s];
        for (int l = 0; l < seeds; l += LANES) { /* E -= J' z_T, with z_T moved to T */
            lanes z[6], at[6];
            for (int i = 0; i < 6; i++) z[i] = load(T->Z[i] + l);
            wrench_to(T->p, z, at);
            for (int k = 0; k < m; k++) {
                lanes sum = load(r->E[k] + l);
                for (int i = 0; i < 6; i++) sum -= w->section[s].J[k][i] * at[i];
                store(r->E[k] + l, sum);
            }
        }
        for (int i = 0; i < 6; i++)
            for (int l = 0; l < seeds; l++) r->O.Z[i][l] += T->Z[i][l];
    }
    for (int l = 0; l < seeds && !locked; l++) {
        double z[6] = {0};
        for (int k = 0; k < m; k++) {
            for (int i = k + 1; i < m; i++) r->E[i][l] -= w->L[row * k + i] * r->E[k][l];
            axpy6(r->E[k][l], w->W[k], z);
        }
        add_wrench(r->O.p, z, l, r->O.Z);
    }
}

/* u = -S' Z,   Z += U u/D unless it is locked                                                                     (33) */
INLINE void eliminate_hinge(const int nv, int seeds, bool locked, struct link_response *r)
{
    for (int k = nv - 1; k >= 0; k--) {
        struct hinge_response *c = &r->hinge[k];
        for (int l = 0; l < seeds; l += LANES) {
            lanes u = {0};
            for (int i = 0; i < 6; i++) u -= c->S[i] * load(r->O.Z[i] + l);
            store(c->u + l, u);
            if (locked) continue;
            u *= c->inverse_D;
            for (int i = 0; i < 6; i++) store(r->O.Z[i] + l, load(r->O.Z[i] + l) + c->U[i] * u);
        }
    }
}

void jacobian_respond(const struct model *model, struct work *work, const struct tangent *tangent,
                      const struct input *in)
{
    NEEDS(tangent, TANGENT_STATE);
    struct jacobian *jacobian = tangent->jacobian;
    const bool loads = in->tip_wrench != NULL || in->frame_wrench != NULL || in->n_loads > 0;
    const int seeds = jacobian->seeds = loads ? 6 : 3;
    const bool locked = jacobian->locked;
    for (int i = 0; i < model->n_links; i++) {
        struct link_response *r = &jacobian->link[i];
        struct link_work *w = &work->link[i];
        set_relative(&w->O, &work->link[0].O, &r->O);
        if (model->link[i].body == NULL) {
            memset(r->O.Z, 0, sizeof r->O.Z);
            rigid_seeds(&w->self, w->O.omega, &r->O);
        } else {
            flexible_seeds(&model->link[i], w, &tangent->link[i], &work->link[0].O, r);
        }
        hinge_at_reference(&model->link[i], w, locked, r);
        if (locked) modes_at_hinge(&model->link[i], w, r);
    }
    load_seeds(work, jacobian->link, &model->tip_frame, in->tip_wrench);
    for (int i = 0; in->frame_wrench != NULL && i < model->robot->n_frames; i++)
        if (model_frame_acts(model, i)) load_seeds(work, jacobian->link, &model->frame[i], in->frame_wrench + 6 * i);
    for (int i = 0; i < in->n_loads; i++) {
        const struct anchor at = {.link = in->load[i].link, .section = in->load[i].section};
        load_seeds(work, jacobian->link, &at, in->load[i].wrench);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_response *r = &jacobian->link[i];
        if (lm->body != NULL) eliminate_modes(lm, &work->link[i], seeds, locked, r);
        WITH_COLUMNS(N, moving_velocities(lm, locked), eliminate_hinge(N, seeds, locked, r));
        if (lm->parent < 0) continue;
        struct link_response *parent = &jacobian->link[lm->parent];
        double(*sum)[SIX] = lm->mount < 0 ? parent->O.Z : parent->section[lm->mount].Z;
        for (int k = 0; k < 6; k++)
            for (int l = 0; l < seeds; l += LANES) store(sum[k] + l, load(sum[k] + l) + load(r->O.Z[k] + l));
    }
}
