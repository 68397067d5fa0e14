/* One direction: the tangent of dyn_inverse() out and back, then M^-1. (theory.md 43 to 48) */
#include "dyn/tangent.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

static enum status make_flexible(const struct body *body, struct arena *arena, struct link_tangent *t)
{
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m);
    t->Bq = arena_take(arena, m, sizeof *t->Bq);
    t->Bv = arena_take(arena, m, sizeof *t->Bv);
    t->Tq = arena_take(arena, m, sizeof *t->Tq);
    t->Tv = arena_take(arena, m, sizeof *t->Tv);
    t->Gq = arena_take(arena, m * row, sizeof(double));
    t->Gv = arena_take(arena, m * row, sizeof(double));
    t->Gw = arena_take(arena, 3 * row, sizeof(double));
    t->Ft = arena_take(arena, 6 * row, sizeof(double));
    t->modal = arena_take(arena, row, sizeof(double));
    body_tangent_make(body, arena, &t->body);
    section_tangent_make(body->m, arena, &t->tip);
    section_tangent_make(body->m, arena, &t->hinge);
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* A payload of unit mass and no inertia of its own at com, in T; of a rigid link in O */
static struct rigid unit_payload(const struct link *link, const struct link_model *lm)
{
    double c[3];
    copy3(link->payload.com, c);
    if (lm->body == NULL) {
        copy3(lm->tip.p, c);
        add_mul3(lm->tip.R, link->payload.com, c);
    }
    struct rigid unit = {.m = 1};
    rigid_shift(&unit, c);
    return unit;
}

enum status tangent_make(const struct model *model, struct tangent **made)
{
    struct arena arena = {0};
    *made = NULL;
    const size_t links = (size_t)model->n_links, n = (size_t)model->n;
    struct tangent *tangent = arena_take(&arena, 1, sizeof *tangent);
    struct link_tangent *link = arena_take(&arena, links, sizeof *link);
    double *force = arena_take(&arena, n, sizeof *force), *zeros = arena_take(&arena, n + links + 6, sizeof *zeros);
    struct link_batch *batch = arena_take(&arena, links, sizeof *batch);
    for (int i = 0; i < model->n_links && !arena.failed; i++) {
        batch[i].modal = arena_take(&arena, (size_t)model->link[i].m, sizeof *batch[i].modal);
        batch[i].e = arena_take(&arena, (size_t)model->link[i].m, sizeof *batch[i].e);
        link[i].per_mass = unit_payload(&model->robot->link[i], &model->link[i]);
        if (model->link[i].body != NULL) make_flexible(model->link[i].body, &arena, &link[i]);
    }
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    *tangent = (struct tangent){.link = link, .force = force, .zeros = zeros, .batch = batch, .arena = arena};
    *made = tangent;
    return STATUS_OK;
}

void tangent_free(struct tangent *tangent)
{
    if (tangent == NULL) return;
    struct arena arena = tangent->arena; /* the struct lives in it */
    arena_release(&arena);
}

/* sum += sum over k of c_k row_k, rows of `width` whole lanes */
INLINE void add_rows(const int count, const int width, const double *restrict c, const double *restrict row,
                     double *restrict sum)
{
    for (int j = 0; j < width; j += LANES) {
        lanes s = load(sum + j);
        for (int k = 0; k < count; k++) s += c[k] * load(row + width * k + j);
        store(sum + j, s);
    }
}

/* y = x - s a x x, by threes: from derivatives relative to one frame to those relative to another, turned by s a against it */
static void turn_into(double s, const double *restrict a, const double *restrict x, double *restrict y)
{
    double sa[3] = {s * a[0], s * a[1], s * a[2]};
    add_cross3(x, sa, y);
}

/* D of O from D of the carrying frame: (25) and (26) with d and h fixed there, then relative to O, which turns by h dq */
static void hinge_tangent(const struct link_model *lm, const struct link_work *w, const struct frame *carrier,
                          const struct frame_tangent *c, double qd, double dq, double dqd, double dqdd,
                          struct frame_tangent *O)
{
    double wd[3], dwd[3], wh[3], dwh[3], *omega = O->motion, *alpha = omega + 3, *a = omega + 6;
    memcpy(O->motion, c->motion, sizeof O->motion);
    copy3(c->phi, O->phi);
    cross3(carrier->omega, w->d, wd);
    cross3(c->motion, w->d, dwd);
    add_cross3(c->motion + 3, w->d, a);
    add_cross3(c->motion, wd, a);
    add_cross3(carrier->omega, dwd, a);
    if (lm->joint == JOINT_FIXED) return;

    cross3(carrier->omega, w->h, wh);
    cross3(c->motion, w->h, dwh);
    if (lm->joint == JOINT_REVOLUTE) {
        axpy3(dqd, w->h, omega);
        for (int i = 0; i < 3; i++) alpha[i] += qd * dwh[i] + dqd * wh[i] + dqdd * w->h[i];
        axpy3(dq, w->h, O->phi);
        turn_into(dq, w->h, w->O.omega, omega);
        turn_into(dq, w->h, w->O.acc, alpha);
        turn_into(dq, w->h, w->O.acc + 3, a);
    } else { /* D d = h dq */
        double ah[3];
        cross3(carrier->acc, w->h, ah);
        add_cross3(carrier->omega, wh, ah);
        for (int i = 0; i < 3; i++) a[i] += dq * ah[i] + 2 * (qd * dwh[i] + dqd * wh[i]) + dqdd * w->h[i];
    }
}

/* What the link's own eta and eta_dot change */
INLINE void add_modes(const int m, const struct link_work *restrict w, const double *restrict dq,
                      const double *restrict dqd, struct link_tangent *restrict t)
{
    if (t->varies_q) {
        add_rows(m, SIX, dq, t->Bq[0], t->f);
        add_rows(m, TWELVE, dq, t->Tq[0], t->T.motion);
        add_rows(m, PADDED(m), dq, t->Gq, t->modal);
        add_rows(m, SIX, dq, w->J[0], t->lever);
    }
    if (t->varies_v) {
        add_rows(m, SIX, dqd, t->Bv[0], t->f);
        add_rows(m, TWELVE, dqd, t->Tv[0], t->T.motion);
        add_rows(m, PADDED(m), dqd, t->Gv, t->modal);
    }
}

/* D of the wrench of body and hub, of the motion of T and of the modal forces, as sums of columns */
INLINE void flexible_tangent(const int m, const struct link_work *restrict w, const double *restrict dq,
                             const double *restrict dqd, struct link_tangent *restrict t)
{
    const double *omega = t->O.motion, *acc = t->O.motion + 3;
    rigid_mul(&w->self, acc, t->f);
    memset(t->T.motion, 0, sizeof t->T.motion);
    motion_shift(acc, w->r, t->T.motion + 3);
    memset(t->lever, 0, sizeof t->lever);
    memset(t->modal, 0, (size_t)PADDED(m) * sizeof(double));
    add_rows(3, SIX, omega, t->Bw[0], t->f);
    add_rows(3, TWELVE, omega, t->Tw[0], t->T.motion);
    add_rows(3, PADDED(m), omega, t->Gw, t->modal);
    add_rows(6, PADDED(m), acc, t->Ft, t->modal);
    add_modes(m, w, dq, dqd, t);
    for (int i = 0; i < 3; i++) t->T.phi[i] = t->O.phi[i] + t->lever[i];
}

/* What hangs on the carrying frame: D of the payload's wrench, and a payload of more mass */
static void payload_tangent(const struct link_model *lm, const struct link_work *w, double dmass,
                            struct link_tangent *t)
{
    if (lm->has_payload) {
        rigid_mul(&w->load, t->T.motion + 3, t->fT);
        add_rows(3, SIX, t->T.motion, t->Lw[0], t->fT);
    } else memset(t->fT, 0, sizeof t->fT);
    if (dmass != 0) {
        const struct frame *frame = lm->body == NULL ? &w->O : &w->T;
        struct rigid unit;
        double wrench[6];
        rigid_rotate(&t->per_mass, frame->R, &unit);
        rigid_wrench(&unit, frame->omega, frame->acc, wrench);
        axpy6(dmass, wrench, lm->body == NULL ? t->f : t->fT);
    }
}

/* A wrench is given in world axes, so it turns against its frame:  D = dwrench - dphi x wrench */
static void load_tangent(const struct model *model, const struct work *work, struct tangent *tangent, int link,
                         enum point_frame frame, const double *wrench, const double *dwrench)
{
    const struct link_model *lm = &model->link[link];
    const struct link_work *w = &work->link[link];
    struct link_tangent *t = &tangent->link[link];
    const double *phi = dyn_tangent_turn(model, tangent, link, frame);
    const bool on_tip = frame == POINT_TIP;
    double D[6] = {0};
    if (dwrench != NULL) copy6(dwrench, D);
    for (int i = 0; wrench != NULL && i < 6; i += 3) turn_into(1, phi, wrench + i, D + i);
    axpy6(-1, D, on_tip && lm->body != NULL ? t->fT : t->f);
    if (on_tip && lm->body == NULL) {
        double r[3], moment[3];
        mul3(w->O.R, lm->tip.p, r);
        cross3(r, D + 3, moment);
        axpy3(-1, moment, t->f);
    }
}

const double *dyn_tangent_turn(const struct model *model, const struct tangent *tangent, int link,
                               enum point_frame frame)
{
    const struct link_tangent *t = &tangent->link[link];
    return frame == POINT_TIP && model->link[link].body != NULL ? t->T.phi : t->O.phi;
}

/* Whether anything of the link itself changes */
static bool link_varies(const struct link_model *lm, int i, const struct direction *d, struct link_tangent *t)
{
    bool varies = d->payload_mass[i] != 0;
    if (lm->q >= 0) varies = varies || d->q[lm->q] != 0 || d->qd[lm->q] != 0;
    if (lm->prescribed >= 0) varies = varies || d->prescribed_qdd[lm->prescribed] != 0;
    t->varies_q = t->varies_v = false;
    for (int k = lm->eta; k < lm->eta + lm->m; k++) {
        t->varies_q = t->varies_q || d->q[k] != 0;
        t->varies_v = t->varies_v || d->qd[k] != 0;
    }
    return varies || t->varies_q || t->varies_v;
}

static void stand_still(struct link_tangent *t, int m)
{
    memset(&t->O, 0, sizeof t->O);
    memset(&t->T, 0, sizeof t->T);
    memset(t->lever, 0, sizeof t->lever);
    memset(t->f, 0, sizeof t->f);
    memset(t->fT, 0, sizeof t->fT);
    if (m > 0) memset(t->modal, 0, (size_t)PADDED(m) * sizeof(double));
}

/* Base to tips: D of motions and inertia forces */
static void outward(const struct model *model, const struct work *work, struct tangent *tangent, const struct input *in)
{
    static const struct frame_tangent still;
    const struct frame world = {.acc = {0, 0, 0, -model->gravity[0], -model->gravity[1], -model->gravity[2]}};
    const struct direction *d = &tangent->direction;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i], *parent = lm->parent < 0 ? NULL : &model->link[lm->parent];
        const struct link_work *w = &work->link[i], *pw = &work->link[parent == NULL ? 0 : lm->parent];
        struct link_tangent *t = &tangent->link[i], *pt = &tangent->link[parent == NULL ? 0 : lm->parent];
        t->moves = link_varies(lm, i, d, t) || (parent != NULL && pt->moves);
        if (!t->moves) {
            stand_still(t, lm->m);
            continue;
        }
        const bool on_tip = parent != NULL && parent->body != NULL;
        const struct frame *carrier = parent == NULL ? &world : on_tip ? &pw->T : &pw->O;
        const struct frame_tangent *c = parent == NULL ? &still : on_tip ? &pt->T : &pt->O;
        const bool joint = lm->q >= 0;
        hinge_tangent(lm, w, carrier, c, joint ? in->qd[lm->q] : 0, joint ? d->q[lm->q] : 0, joint ? d->qd[lm->q] : 0,
                      lm->prescribed >= 0 ? d->prescribed_qdd[lm->prescribed] : 0, &t->O);
        if (lm->body == NULL) {
            rigid_mul(&w->self, t->O.motion + 3, t->f);
            add_rows(3, SIX, t->O.motion, t->Bw[0], t->f);
        } else {
            WITH_CONSTANT_COUNT(M, lm->m, flexible_tangent(M, w, d->q + lm->eta, d->qd + lm->eta, t))
        }
        payload_tangent(lm, w, d->payload_mass[i], t);
    }
}

/* modal += J' f_T,   f += X' f_T + D r x f_T, with f_T relative to O                                  (34, 35 differentiated) */
INLINE void tip_to_hinge(const int m, const struct link_work *restrict w, struct link_tangent *restrict t)
{
    for (int i = 0; i < 6; i += 3) add_cross3(t->lever, w->fT + i, t->fT + i);
    add_rows(6, PADDED(m), t->fT, w->Jt, t->modal);
    wrench_add_shifted(t->f, t->fT, w->r);
    add_cross3(t->lever + 3, w->fT + 3, t->f);
}

/* f to the carrying frame: relative to it, n += d x f, and D d x f of a prismatic joint */
static void hand_to_parent(const struct link_model *lm, const struct link_work *w, double dq,
                           const struct link_tangent *t, double *sum)
{
    double f[6], turn[3] = {dq * w->h[0], dq * w->h[1], dq * w->h[2]};
    copy6(t->f, f);
    if (lm->joint == JOINT_REVOLUTE) {
        add_cross3(turn, w->f, f);
        add_cross3(turn, w->f + 3, f + 3);
    } else if (lm->joint == JOINT_PRISMATIC) add_cross3(turn, w->f + 3, f);
    wrench_add_shifted(sum, f, w->d);
}

/* Tips to base: change of the generalised forces of dyn_inverse(), into tangent->force */
static void inward(const struct model *model, const struct work *work, struct tangent *tangent, const struct input *in)
{
    const struct direction *d = &tangent->direction;
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i];
        if (lm->body != NULL) {
            WITH_CONSTANT_COUNT(M, lm->m, tip_to_hinge(M, w, t))
            memcpy(tangent->force + lm->eta, t->modal, (size_t)lm->m * sizeof(double));
        }
        if (lm->q >= 0) {
            const double dqdd = lm->prescribed >= 0 ? d->prescribed_qdd[lm->prescribed] : 0;
            tangent->force[lm->q] = dot3(w->h, lm->joint == JOINT_REVOLUTE ? t->f : t->f + 3) +
                                    lm->motor_inertia * dqdd -
                                    joint_force_tangent(lm, in->q[lm->q], in->qd[lm->q], d->q[lm->q], d->qd[lm->q]);
        }
        if (lm->parent >= 0) {
            struct link_tangent *parent = &tangent->link[lm->parent];
            hand_to_parent(lm, w, lm->q >= 0 ? d->q[lm->q] : 0, t,
                           model->link[lm->parent].body == NULL ? parent->f : parent->fT);
        }
    }
}

/* dqdd = M^-1 (dQ - d ID) */
static void solve(const struct model *model, struct work *work, const struct tangent *tangent, double *dqdd)
{
    const struct direction *d = &tangent->direction;
    double *rhs = work->rhs;
    for (int i = 0; i < model->n; i++) rhs[i] = -tangent->force[i];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q >= 0 && !lm->passive && lm->prescribed < 0) rhs[lm->q] += d->tau[lm->tau];
    }
    dyn_solve_forces(model, work, rhs, dqdd);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->prescribed >= 0) dqdd[lm->q] = d->prescribed_qdd[lm->prescribed];
    }
}

void dyn_tangent_outward(const struct model *model, const struct work *work, struct tangent *tangent,
                         const struct input *in, const struct direction *direction)
{
    const double *zeros = tangent->zeros;
    tangent->direction = (struct direction){
        .q = direction->q != NULL ? direction->q : zeros,
        .qd = direction->qd != NULL ? direction->qd : zeros,
        .tau = direction->tau != NULL ? direction->tau : zeros,
        .tip_wrench = direction->tip_wrench != NULL ? direction->tip_wrench : zeros,
        .prescribed_qdd = direction->prescribed_qdd != NULL ? direction->prescribed_qdd : zeros,
        .payload_mass = direction->payload_mass != NULL ? direction->payload_mass : zeros,
    };
    outward(model, work, tangent, in);
}

void dyn_tangent_inward(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                        const double (*load)[6], double *dqdd)
{
    load_tangent(model, work, tangent, model->tip, POINT_TIP, in->tip_wrench, tangent->direction.tip_wrench);
    for (int i = 0; i < in->n_loads; i++)
        if (in->load[i].link >= 0)
            load_tangent(model, work, tangent, in->load[i].link, in->load[i].frame, in->load[i].wrench,
                         load != NULL ? load[i] : NULL);
    inward(model, work, tangent, in);
    solve(model, work, tangent, dqdd);
}

void dyn_tangent(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                 const struct direction *direction, double *dqdd)
{
    dyn_tangent_outward(model, work, tangent, in, direction);
    dyn_tangent_inward(model, work, tangent, in, NULL, dqdd);
}
