/* The whole of d(qdd)/d(q, qd): the sweeps of tangent.c for unit directions, as many at a time as there are lanes. */
#include <math.h>
#include <string.h>

#include "dyn/tangent.h"
#include "dyn/tangent_lanes.h"
#include "math/vec.h"

/* Coordinates [first, first + LANES) are varied, one in each lane: of q, or of qd. */
struct batch {
    int first;
    bool rate;
};

/* 1 in the lane of coordinate j; zeros where it is not varied */
static lanes unit(const struct batch *batch, int j)
{
    double one[LANES] = {0};
    if (j >= batch->first && j < batch->first + LANES) one[j - batch->first] = 1;
    return load(one);
}

static bool varies(const struct batch *batch, int from, int to)
{
    return from < batch->first + LANES && batch->first < to;
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

/* hinge_tangent() of tangent.c */
static void hinge_batch(const struct link_model *lm, const struct link_work *w, const struct frame *carrier,
                        const lanes *motion, double qd, lanes dq, lanes dqd, lanes *O)
{
    double wd[3], wh[3], turned[9];
    lanes dwd[3] = {0}, dwh[3] = {0};
    memcpy(O, motion, 9 * sizeof *O);
    cross3(carrier->omega, w->d, wd);
    add_cross_right(motion, w->d, dwd);
    add_cross_right(motion + 3, w->d, O + 6);
    add_cross_right(motion, wd, O + 6);
    add_cross_left(carrier->omega, dwd, O + 6);
    if (lm->joint == JOINT_FIXED) return;

    cross3(carrier->omega, w->h, wh);
    add_cross_right(motion, w->h, dwh);
    if (lm->joint == JOINT_REVOLUTE) {
        cross3(w->O.omega, w->h, turned);
        cross3(w->O.acc, w->h, turned + 3);
        cross3(w->O.acc + 3, w->h, turned + 6);
        add_scaled(9, turned, dq, O);
        add_scaled(3, w->h, dqd, O);
        for (int i = 0; i < 3; i++) O[3 + i] += qd * dwh[i] + dqd * wh[i];
    } else {
        cross3(carrier->acc, w->h, turned);
        add_cross3(carrier->omega, wh, turned);
        for (int i = 0; i < 3; i++) O[6 + i] += dq * turned[i] + 2 * (qd * dwh[i] + dqd * wh[i]);
    }
}

/* flexible_tangent() and the payload's share */
static void flexible_batch(const struct link_model *lm, const struct link_work *w, const struct batch *batch,
                           const struct link_tangent *t, struct link_batch *b)
{
    const int m = lm->m, row = PADDED(m);
    const lanes *omega = b->O, *acc = b->O + 3;
    rigid_times(&w->self, acc, b->f);
    memset(b->T, 0, sizeof b->T);
    memcpy(b->T + 3, acc, 6 * sizeof *acc);
    add_cross_right(acc, w->r, b->T + 6);
    for (int i = 0; i < 3; i++) {
        add_scaled(6, t->Bw[i], omega[i], b->f);
        add_scaled(9, t->Tw[i], omega[i], b->T);
    }
    for (int j = 0; j < m; j++) {
        lanes sum = omega[0] * t->Gw[j] + omega[1] * t->Gw[row + j] + omega[2] * t->Gw[2 * row + j];
        for (int i = 0; i < 6; i++) sum += acc[i] * t->Ft[row * i + j];
        b->modal[j] = sum;
    }
    memset(b->lever, 0, sizeof b->lever);
    b->bends = !batch->rate && varies(batch, lm->eta, lm->eta + m);
    for (int k = 0; k < m; k++) {
        if (!varies(batch, lm->eta + k, lm->eta + k + 1)) continue;
        const lanes one = unit(batch, lm->eta + k);
        add_scaled(6, batch->rate ? t->Bv[k] : t->Bq[k], one, b->f);
        add_scaled(9, batch->rate ? t->Tv[k] : t->Tq[k], one, b->T);
        add_scaled(m, (batch->rate ? t->Gv : t->Gq) + row * k, one, b->modal);
        if (!batch->rate) add_scaled(6, w->J[k], one, b->lever);
    }
    memset(b->fT, 0, sizeof b->fT);
    if (!lm->has_payload) return;
    rigid_times(&w->load, b->T + 3, b->fT);
    for (int i = 0; i < 3; i++) add_scaled(6, t->Lw[i], b->T[i], b->fT);
}

static void stand_still(struct link_batch *b, int m)
{
    b->dq = (lanes){0};
    b->bends = false;
    memset(b->O, 0, sizeof b->O);
    memset(b->T, 0, sizeof b->T);
    memset(b->lever, 0, sizeof b->lever);
    memset(b->f, 0, sizeof b->f);
    memset(b->fT, 0, sizeof b->fT);
    memset(b->modal, 0, (size_t)m * sizeof *b->modal);
}

/* Base to tips. What is inboard of the varied coordinates stands still. */
static void outward(const struct model *model, const struct work *work, struct tangent *tangent, const struct input *in,
                    const struct batch *batch)
{
    static const lanes still[9];
    const struct frame world = {.acc = {0, 0, 0, -model->gravity[0], -model->gravity[1], -model->gravity[2]}};
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i], *parent = lm->parent < 0 ? NULL : &model->link[lm->parent];
        const struct link_work *w = &work->link[i], *pw = &work->link[parent == NULL ? 0 : lm->parent];
        struct link_batch *b = &tangent->batch[i], *pb = &tangent->batch[parent == NULL ? 0 : lm->parent];
        const int first = lm->q >= 0 ? lm->q : lm->eta;
        b->moves = (parent != NULL && pb->moves) || varies(batch, first, lm->eta + lm->m);
        if (!b->moves) {
            stand_still(b, lm->m);
            continue;
        }
        const bool on_tip = parent != NULL && parent->body != NULL;
        const struct frame *carrier = parent == NULL ? &world : on_tip ? &pw->T : &pw->O;
        const lanes zero = {0}, one = lm->q >= 0 ? unit(batch, lm->q) : zero;
        b->dq = batch->rate ? zero : one;
        hinge_batch(lm, w, carrier,
                    parent == NULL ? still
                    : on_tip       ? pb->T
                                   : pb->O,
                    lm->q >= 0 ? in->qd[lm->q] : 0, b->dq, batch->rate ? one : zero, b->O);
        if (lm->body == NULL) {
            rigid_times(&w->self, b->O + 3, b->f);
            for (int k = 0; k < 3; k++) add_scaled(6, tangent->link[i].Bw[k], b->O[k], b->f);
        } else flexible_batch(lm, w, batch, &tangent->link[i], b);
    }
}

/* Turn of a link's frame: the sum of those inboard */
static void turn_of(const struct model *model, const struct work *work, const struct tangent *tangent, int link,
                    bool on_tip, lanes *phi)
{
    memset(phi, 0, 3 * sizeof *phi);
    for (int i = link; i >= 0; i = model->link[i].parent) {
        const bool bent = model->link[i].body != NULL && (on_tip || i != link);
        if (model->link[i].joint == JOINT_REVOLUTE) add_scaled(3, work->link[i].h, tangent->batch[i].dq, phi);
        for (int k = 0; bent && k < 3; k++) phi[k] += tangent->batch[i].lever[k];
    }
}

/* A wrench turns against the frame it acts on:  -D = dphi x wrench */
static void turn_load(const struct model *model, const struct work *work, struct tangent *tangent, int link,
                      enum point_frame frame, const double *wrench)
{
    const struct link_model *lm = &model->link[link];
    const bool on_tip = frame == POINT_TIP;
    struct link_batch *b = &tangent->batch[link];
    lanes phi[3], D[6] = {0};
    turn_of(model, work, tangent, link, on_tip, phi);
    add_cross_right(phi, wrench, D);
    add_cross_right(phi, wrench + 3, D + 3);
    lanes *f = on_tip && lm->body != NULL ? b->fT : b->f;
    for (int i = 0; i < 6; i++) f[i] += D[i];
    if (on_tip && lm->body == NULL) {
        double r[3];
        mul3(work->link[link].O.R, lm->tip.p, r);
        add_cross_left(r, D + 3, f);
    }
}

/* dyn_tangent_tip() at accelerations that are held: phi, and dx = D x + phi x x of omega, alpha, a */
static void tip_batch(const struct model *model, const struct work *work, const struct tangent *tangent, int link,
                      lanes *phi, lanes *d)
{
    const struct link_model *lm = &model->link[link];
    const struct link_batch *b = &tangent->batch[link];
    const struct frame *frame = lm->body == NULL ? &work->link[link].O : &work->link[link].T;
    double a[3];
    copy3(frame->acc + 3, a);
    memcpy(d, lm->body == NULL ? b->O : b->T, 9 * sizeof *d);
    turn_of(model, work, tangent, link, true, phi);
    if (lm->body == NULL) { /* T is fixed in O: D r = 0 */
        double r[3], wr[3];
        lanes dwr[3] = {0};
        mul3(frame->R, lm->tip.p, r);
        cross3(frame->omega, r, wr);
        add_cross_right(d, r, dwr);
        add_cross3(frame->acc, r, a);
        add_cross3(frame->omega, wr, a);
        add_cross_right(d + 3, r, d + 6);
        add_cross_right(d, wr, d + 6);
        add_cross_left(frame->omega, dwr, d + 6);
    }
    add_cross_right(phi, frame->omega, d);
    add_cross_right(phi, frame->acc, d + 3);
    add_cross_right(phi, a, d + 6);
}

/* Those of the loads, for `count` columns */
static void put_tips(const struct model *model, const struct work *work, const struct tangent *tangent,
                     const struct input *in, int count, struct frame_derivative *tips)
{
    for (int i = 0; i < in->n_loads; i++) {
        lanes phi[3], d[9];
        if (in->load[i].link < 0 || in->load[i].frame != POINT_TIP) continue;
        tip_batch(model, work, tangent, in->load[i].link, phi, d);
        for (int k = 0; k < 3; k++) {
            double lane[4][LANES];
            store(lane[0], phi[k]);
            for (int x = 0; x < 3; x++) store(lane[1 + x], d[3 * x + k]);
            for (int l = 0; l < count; l++) {
                struct frame_derivative *tip = &tips[(size_t)in->n_loads * (size_t)l + (size_t)i];
                tip->phi[k] = lane[0][l];
                tip->omega[k] = lane[1][l];
                tip->alpha[k] = lane[2][l];
                tip->a[k] = lane[3][l];
            }
        }
    }
}

static void tip_to_hinge(const struct link_model *lm, const struct link_work *w, struct link_batch *b)
{
    const int row = PADDED(lm->m);
    if (b->bends) {
        add_cross_right(b->lever, w->fT, b->fT);
        add_cross_right(b->lever, w->fT + 3, b->fT + 3);
        add_cross_right(b->lever + 3, w->fT + 3, b->f);
    }
    for (int j = 0; j < lm->m; j++)
        for (int i = 0; i < 6; i++) b->modal[j] += b->fT[i] * w->Jt[row * i + j];
    for (int i = 0; i < 6; i++) b->f[i] += b->fT[i];
    add_cross_left(w->r, b->fT + 3, b->f);
}

static void hand_to_parent(const struct link_model *lm, const struct link_work *w, const struct link_batch *b,
                           lanes *sum)
{
    double turned[6] = {0};
    for (int i = 0; i < 6; i++) sum[i] += b->f[i];
    if (lm->joint == JOINT_REVOLUTE) {
        cross3(w->h, w->f, turned);
        cross3(w->h, w->f + 3, turned + 3);
        add_cross3(w->d, turned + 3, turned);
    } else if (lm->joint == JOINT_PRISMATIC) cross3(w->h, w->f + 3, turned);
    add_scaled(6, turned, b->dq, sum);
    add_cross_left(w->d, b->f + 3, sum);
}

/* Tips to base: minus the change of the generalised forces of dyn_inverse(), into `count` columns */
static void inward(const struct model *model, const struct work *work, struct tangent *tangent, const struct input *in,
                   const struct batch *batch, int count, double *columns)
{
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_batch *b = &tangent->batch[i];
        if (lm->body != NULL) tip_to_hinge(lm, w, b);
        for (int k = 0; k < lm->m; k++) put(-b->modal[k], count, model->n, lm->eta + k, columns);
        if (lm->q >= 0) {
            const lanes *f = lm->joint == JOINT_REVOLUTE ? b->f : b->f + 3;
            const double dq = batch->rate ? 0 : 1;
            const double own = joint_force_tangent(lm, in->q[lm->q], in->qd[lm->q], dq, 1 - dq);
            put(own * unit(batch, lm->q) - (w->h[0] * f[0] + w->h[1] * f[1] + w->h[2] * f[2]), count, model->n, lm->q,
                columns);
        }
        if (lm->parent >= 0) {
            struct link_batch *parent = &tangent->batch[lm->parent];
            hand_to_parent(lm, w, b, model->link[lm->parent].body == NULL ? parent->f : parent->fT);
        }
    }
}

void dyn_force_jacobian_tips(const struct model *model, const struct work *work, struct tangent *tangent,
                             const struct input *in, double *by_q, double *by_qd, struct frame_derivative *tips_by_q,
                             struct frame_derivative *tips_by_qd)
{
    const int n = model->n;
    for (int rate = 0; rate <= 1; rate++)
        for (int first = 0; first < n; first += LANES) {
            const struct batch batch = {first, rate};
            const int count = n - first < LANES ? n - first : LANES;
            struct frame_derivative *tips = rate ? tips_by_qd : tips_by_q;
            outward(model, work, tangent, in, &batch);
            if (tips != NULL) put_tips(model, work, tangent, in, count, tips + (size_t)in->n_loads * (size_t)first);
            if (!rate && in->tip_wrench != NULL) turn_load(model, work, tangent, model->tip, POINT_TIP, in->tip_wrench);
            for (int i = 0; !rate && i < in->n_loads; i++)
                if (in->load[i].link >= 0)
                    turn_load(model, work, tangent, in->load[i].link, in->load[i].frame, in->load[i].wrench);
            inward(model, work, tangent, in, &batch, count, (rate ? by_qd : by_q) + (size_t)n * (size_t)first);
        }
}

void dyn_force_jacobian(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct input *in, double *by_q, double *by_qd)
{
    dyn_force_jacobian_tips(model, work, tangent, in, by_q, by_qd, NULL, NULL);
}

void dyn_tangent_jacobian(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                          double *by_q, double *by_qd)
{
    dyn_force_jacobian(model, work, tangent, in, by_q, by_qd);
    dyn_solve_columns(model, work, tangent, model->n, by_q);
    dyn_solve_columns(model, work, tangent, model->n, by_qd);
}
