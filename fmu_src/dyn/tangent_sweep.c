/* The tangent of dyn_inverse(), outward and inward, in as many directions as there are lanes. A single direction is a batch whose
   other lanes are zero. (theory.md 43 to 48, 67) */
#include <string.h>

#include "dyn/tangent.h"
#include "dyn/tangent_lanes.h"
#include "math/vec.h"

static bool overlap(int from, int to, int first, int last)
{
    return first < to && from < last;
}

static bool varies(const struct batch *batch, int first, int last)
{
    return overlap(batch->q_from, batch->q_to, first, last) || overlap(batch->v_from, batch->v_to, first, last);
}

/* w = inertia of a rigid body times x */
INLINE void rigid_times(const struct rigid *body, const lanes *x, lanes *w)
{
    const double *J = body->J;
    w[0] = J[0] * x[0] + J[3] * x[1] + J[4] * x[2];
    w[1] = J[3] * x[0] + J[1] * x[1] + J[5] * x[2];
    w[2] = J[4] * x[0] + J[5] * x[1] + J[2] * x[2];
    for (int i = 3; i < 6; i++) w[i] = body->m * x[i];
    add_cross_left(body->h, x + 3, w);
    add_cross_right(x, body->h, w + 3);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

/* The seeds of a joint. */
struct joint_seed {
    const lanes *dq, *dqd, *dqdd; /* dqdd: NULL: zero */
};

/* A rotational column: O rotates by h dq relative to C, so D x relative to O is reduced by h dq x x */
INLINE void rotational_column(const struct link_work *w, const double *h, const double *wh, const lanes *dwh, double qd,
                              lanes dq, lanes dqd, lanes *O)
{
    double turned[9];
    cross3(w->O.omega, h, turned);
    cross3(w->O.acc, h, turned + 3);
    cross3(w->O.acc + 3, h, turned + 6);
    add_scaled(9, turned, dq, O);
    add_scaled(3, h, dqd, O);
    for (int i = 0; i < 3; i++) O[3 + i] += qd * dwh[i] + dqd * wh[i];
}

/* A translational column: D d = h dq */
INLINE void translational_column(const struct frame *C, const double *h, const double *wh, const lanes *dwh, double qd,
                                 lanes dq, lanes dqd, lanes *O)
{
    double turned[3];
    cross3(C->acc, h, turned);
    add_cross3(C->omega, wh, turned);
    for (int i = 0; i < 3; i++) O[6 + i] += dq * turned[i] + 2 * (qd * dwh[i] + dqd * wh[i]);
}

/* D of O from D of the parent frame C: (25), (26) with d and h constant in C, then relative to O */
INLINE void hinge_out(const int nv, const struct link_model *lm, const struct link_work *w,
                      const struct link_tangent *t, const struct frame *C, const lanes *motion, const double *qd,
                      const struct joint_seed *seed, lanes *O)
{
    double wd[3];
    lanes dwd[3] = {0};
    memcpy(O, motion, 9 * sizeof *O);
    cross3(C->omega, w->d, wd);
    add_cross_right(motion, w->d, dwd);
    add_cross_right(motion + 3, w->d, O + 6);
    add_cross_right(motion, wd, O + 6);
    add_cross_left(C->omega, dwd, O + 6);
    for (int k = 0; k < nv; k++) {
        const double *h = w->h[k];
        double wh[3];
        lanes dwh[3] = {0};
        cross3(C->omega, h, wh);
        add_cross_right(motion, h, dwh);
        if (lm->joint.part[k] == TURNS) rotational_column(w, h, wh, dwh, qd[k], seed->dq[k], seed->dqd[k], O);
        else translational_column(C, h, wh, dwh, qd[k], seed->dq[k], seed->dqd[k], O);
        if (seed->dqdd != NULL) add_scaled(3, h, seed->dqdd[k], O + 3 + lm->joint.part[k]);
    }
    if (nv > 1 &&
        lm->joint.several_turns) { /* the columns depend on positions: the change of H qd and of H qdd + zeta  (67) */
        const struct subspace_change *subspace = &t->subspace;
        lanes dH_qd[3] = {0}; /* (D H) qd */
        for (int j = 0; j < nv; j++) {
            add_scaled(3, subspace->velocity[j], seed->dq[j], dH_qd);
            add_scaled(3, subspace->acceleration[j], seed->dq[j], O + 3);
            add_scaled(3, subspace->rate[j], seed->dqd[j], O + 3);
        }
        for (int i = 0; i < 3; i++) O[i] += dH_qd[i];
        add_cross_left(C->omega, dH_qd, O + 3);
    }
}

/* Terms of the link's own eta and eta_dot */
static void add_modes(const struct link_model *lm, const struct link_work *w, const struct link_tangent *t,
                      const struct batch *batch, struct link_batch *b)
{
    const int m = lm->m, row = PADDED(m);
    for (int k = 0; k < m; k++) {
        const int v = lm->eta_v + k;
        if (v >= batch->q_from && v < batch->q_to) {
            const lanes dq = batch->q[v];
            add_scaled(6, t->Bq[k], dq, b->f);
            add_scaled(m, t->Gq + row * k, dq, b->modal);
            int s = 0;
            do { /* every flexible link has a tip */
                add_scaled(9, t->section[s].Tq[k], dq, b->section[s].T);
                add_scaled(6, w->section[s].J[k], dq, b->section[s].J_deta);
            } while (++s < lm->n_sections);
        }
        if (v >= batch->v_from && v < batch->v_to) {
            const lanes dqd = batch->qd[v];
            add_scaled(6, t->Bv[k], dqd, b->f);
            add_scaled(m, t->Gv + row * k, dqd, b->modal);
            int s = 0;
            do add_scaled(9, t->section[s].Tv[k], dqd, b->section[s].T);
            while (++s < lm->n_sections);
        }
    }
}

/* D of the motion of a section as the motion of O changes */
INLINE void section_out(const struct section_work *w, const struct section_derivative *t, const lanes *O,
                        struct section_batch *b)
{
    const lanes *omega = O, *acc = O + 3;
    memset(b->T, 0, 3 * sizeof *b->T);
    memcpy(b->T + 3, acc, 6 * sizeof *acc);
    add_cross_right(acc, w->r, b->T + 6);
    for (int i = 0; i < 3; i++) add_scaled(9, t->Tw[i], omega[i], b->T);
    memset(b->J_deta, 0, sizeof b->J_deta);
    memset(b->f, 0, sizeof b->f);
}

/* D of the wrench of body and hub, of the modal forces, of the motions of the sections and of the payload's wrench */
static void flexible_out(const struct link_model *lm, const struct link_work *w, const struct batch *batch,
                         const struct link_tangent *t, struct link_batch *b)
{
    const int m = lm->m, row = PADDED(m);
    const lanes *omega = b->O, *acc = b->O + 3;
    rigid_times(&w->self, acc, b->f);
    for (int i = 0; i < 3; i++) add_scaled(6, t->Bw[i], omega[i], b->f);
    for (int j = 0; j < m; j++) {
        lanes sum = omega[0] * t->Gw[j] + omega[1] * t->Gw[row + j] + omega[2] * t->Gw[2 * row + j];
        for (int i = 0; i < 6; i++) sum += acc[i] * t->Ft[row * i + j];
        b->modal[j] = sum;
    }
    b->bends = overlap(batch->q_from, batch->q_to, lm->eta_v, lm->eta_v + m);
    section_out(&w->section[0], &t->section[0], b->O, &b->section[0]);
    for (int s = 1; s < lm->n_sections; s++) section_out(&w->section[s], &t->section[s], b->O, &b->section[s]);
    if (varies(batch, lm->eta_v, lm->eta_v + m)) add_modes(lm, w, t, batch, b);
    if (!lm->has_payload) return;
    struct section_batch *tip = &b->section[0];
    rigid_times(&w->load, tip->T + 3, tip->f);
    for (int i = 0; i < 3; i++) add_scaled(6, t->Lw[i], tip->T[i], tip->f);
}

static void link_out(const struct model *model, const struct work *work, struct tangent *tangent,
                     const struct input *in, const struct batch *batch, int i)
{
    static const lanes at_rest[9];
    const struct frame world = {.acc = {0, 0, 0, -model->gravity[0], -model->gravity[1], -model->gravity[2]}};
    const struct link_model *lm = &model->link[i];
    const struct link_work *w = &work->link[i];
    const struct link_tangent *t = &tangent->link[i];
    struct link_batch *b = &tangent->batch[i];
    const struct frame *C = mount_frame(lm, work, &world);
    const struct link_batch *parent = lm->parent < 0 ? NULL : &tangent->batch[lm->parent];
    const lanes *motion = parent == NULL ? at_rest : lm->mount < 0 ? parent->O : parent->section[lm->mount].T;
    const bool given = lm->prescribed >= 0 && batch->prescribed_qdd != NULL;
    const struct joint_seed seed = {batch->q + lm->v, batch->qd + lm->v,
                                    given ? batch->prescribed_qdd + lm->prescribed : NULL};
    WITH_COLUMNS(N, lm->joint.nv, hinge_out(N, lm, w, t, C, motion, in->qd + lm->v, &seed, b->O));
    if (lm->body != NULL) {
        flexible_out(lm, w, batch, t, b);
    } else {
        rigid_times(&w->self, b->O + 3, b->f);
        for (int k = 0; k < 3; k++) add_scaled(6, t->Bw[k], b->O[k], b->f);
    }
    if (batch->masses != NULL) tangent_masses_out(model, work, tangent, batch->masses, i);
}

/* Links inward of the varied coordinates do not move */
void tangent_sweep_out(const struct model *model, const struct work *work, struct tangent *tangent,
                       const struct input *in, const struct batch *batch)
{
    const bool others = batch->prescribed_qdd != NULL || batch->masses != NULL;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_batch *b = &tangent->batch[i];
        b->moves =
            others || (lm->parent >= 0 && tangent->batch[lm->parent].moves) || varies(batch, lm->v, lm->eta_v + lm->m);
        if (b->moves) {
            link_out(model, work, tangent, in, batch, i);
            continue;
        }
        b->bends = false;
        memset(b->O, 0, sizeof b->O);
        memset(b->f, 0, sizeof b->f);
        memset(b->modal, 0, (size_t)lm->m * sizeof *b->modal);
        for (int s = 0; s < lm->n_sections; s++) {
            memset(b->section[s].T, 0, sizeof b->section[s].T);
            memset(b->section[s].J_deta, 0, sizeof b->section[s].J_deta);
            memset(b->section[s].f, 0, sizeof b->section[s].f);
        }
    }
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

void tangent_sweep_rotation(const struct model *model, const struct work *work, const struct tangent *tangent,
                            const struct batch *batch, int link, int section, lanes *phi)
{
    memset(phi, 0, 3 * sizeof *phi);
    for (int i = link; i >= 0; section = model->link[i].mount, i = model->link[i].parent) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < lm->joint.nv; k++)
            if (lm->joint.part[k] == TURNS) add_scaled(3, work->link[i].h[k], batch->q[lm->v + k], phi);
        for (int k = 0; section >= 0 && k < 3; k++) phi[k] += tangent->batch[i].section[section].J_deta[k];
    }
}

/* -D = dphi x wrench - dwrench */
void tangent_sweep_load(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct batch *batch, const struct anchor *anchor, const double *wrench,
                        const double *dwrench)
{
    lanes phi[3], D[6] = {0};
    if (anchor->link < 0 || (wrench == NULL && dwrench == NULL)) return;
    struct link_batch *b = &tangent->batch[anchor->link];
    if (wrench != NULL) {
        tangent_sweep_rotation(model, work, tangent, batch, anchor->link, anchor->section, phi);
        add_cross_right(phi, wrench, D);
        add_cross_right(phi, wrench + 3, D + 3);
    }
    if (dwrench != NULL) add_scaled(6, dwrench, first_lane(-1), D);
    lanes *f = anchor->section < 0 ? b->f : b->section[anchor->section].f;
    for (int i = 0; i < 6; i++) f[i] += D[i];
    if (anchor->offset) { /* at r, which is constant in the frame */
        double r[3];
        mul3(dyn_anchor_frame(work, anchor)->R, anchor->at.p, r);
        add_cross_left(r, D + 3, f);
    }
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* modal += J' f_T,   f += X' f_T + D r x f_T, with f_T relative to O                                  (34, 35 differentiated) */
INLINE void section_to_hinge(int m, const struct section_work *w, struct section_batch *s, struct link_batch *b)
{
    const int row = PADDED(m);
    if (b->bends) {
        add_cross_right(s->J_deta, w->f, s->f);
        add_cross_right(s->J_deta, w->f + 3, s->f + 3);
        add_cross_right(s->J_deta + 3, w->f + 3, b->f);
    }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < 6; i++) b->modal[j] += s->f[i] * w->Jt[row * i + j];
    for (int i = 0; i < 6; i++) b->f[i] += s->f[i];
    add_cross_left(w->r, s->f + 3, b->f);
}

/* Minus the change of (h' f minus the forces of friction, springs and stops): h' D f + (D h)' f - ... */
INLINE void hinge_in(const int nv, const struct link_model *lm, const struct link_work *w, const struct link_tangent *t,
                     const struct batch *batch, int n, int count, const struct link_batch *b, double *columns)
{
    const bool by_q = overlap(batch->q_from, batch->q_to, lm->v, lm->v + nv);
    const bool by_qd = overlap(batch->v_from, batch->v_to, lm->v, lm->v + nv);
    const bool given = lm->prescribed >= 0 && batch->prescribed_qdd != NULL;
    for (int k = 0; k < nv; k++) {
        lanes force = -dot_lanes(3, w->h[k], b->f + lm->joint.part[k]);
        for (int j = 0; by_q && j < nv; j++) force -= t->Kq[k][j] * batch->q[lm->v + j];
        for (int j = 0; by_qd && j < nv; j++) force -= t->Kv[k][j] * batch->qd[lm->v + j];
        if (given) force -= lm->joint.motor_inertia[k] * batch->prescribed_qdd[lm->prescribed + k];
        store_columns(force, count, n, lm->v + k, columns);
    }
}

/* Adds f to that of the parent frame: relative to it, n += d x f, and D d x f for translational columns */
INLINE void add_to_parent(const int nv, const struct link_model *lm, const struct link_work *w,
                          const struct batch *batch, const struct link_batch *b, lanes *sum)
{
    for (int i = 0; i < 6; i++) sum[i] += b->f[i];
    add_cross_left(w->d, b->f + 3, sum);
    if (!overlap(batch->q_from, batch->q_to, lm->v, lm->v + nv)) return;
    for (int k = 0; k < nv; k++) {
        double turned[6] = {0};
        if (lm->joint.part[k] == TURNS) {
            cross3(w->h[k], w->f, turned);
            cross3(w->h[k], w->f + 3, turned + 3);
            add_cross3(w->d, turned + 3, turned);
        } else {
            cross3(w->h[k], w->f + 3, turned);
        }
        add_scaled(6, turned, batch->q[lm->v + k], sum);
    }
}

void tangent_sweep_in(const struct model *model, const struct work *work, struct tangent *tangent,
                      const struct batch *batch, int count, double *columns)
{
    const int n = model->nv;
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        const struct link_tangent *t = &tangent->link[i];
        struct link_batch *b = &tangent->batch[i];
        if (lm->body != NULL) section_to_hinge(lm->m, &w->section[0], &b->section[0], b);
        for (int s = 1; s < lm->n_sections; s++) section_to_hinge(lm->m, &w->section[s], &b->section[s], b);
        for (int k = 0; k < lm->m; k++) store_columns(-b->modal[k], count, n, lm->eta_v + k, columns);
        WITH_COLUMNS(N, lm->joint.nv, hinge_in(N, lm, w, t, batch, n, count, b, columns));
        if (lm->parent < 0) continue;
        struct link_batch *parent = &tangent->batch[lm->parent];
        lanes *sum = lm->mount < 0 ? parent->f : parent->section[lm->mount].f;
        WITH_COLUMNS(N, lm->joint.nv, add_to_parent(N, lm, w, batch, b, sum));
    }
}
