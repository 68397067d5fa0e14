/* Articulated-body forward dynamics, O(n): per link the modes are eliminated before the hinge. Factors and solution are
   apart, so that one factorisation serves any number of right-hand sides. (theory.md 29 to 33; Jain and Rodriguez, section 7;
   the same U D U' elimination as Mohan and Saha 35 to 42.) */
#include <string.h>

#include "dyn/modes.h"
#include "dyn/updated.h"

/* Z = P_T J */
static void weigh_tip(const struct body *restrict body, struct link_work *restrict w)
{
    if (!body->plain)
        for (int k = 0; k < body->m; k++) inertia_mul(&w->PT, w->J[k], w->Z[k]);
    else
        for (int b = 0; b < body->n_blocks; b++)
            weigh_family(&body->tip, body->block_start[b], body->block_start[b + 1], w, w->Z);
}

INLINE int articulate_modes(const int m, const struct link_model *lm, struct link_work *w)
{
    if (lm->loaded) {
        weigh_tip(lm->body, w);
        fold_tip(m, w->r, w->M0, w->Jt, (const double(*)[SIX])w->F, w->Z, w->L);
        inertia_shift(&w->PT, w->r, &w->P);
        inertia_add_rigid(&w->P, &w->self);
    } else {
        memcpy(w->L, w->M0, (size_t)(m * PADDED(m)) * sizeof(double));
        memcpy(w->Z, w->F, (size_t)m * sizeof *w->Z);
        inertia_rigid(&w->P, &w->self);
    }
    return eliminate_modes(m, w->M0, w->L, w->inverse_d, w->Z, w->W, &w->P);
}

/* U = P h,   D = h' P h + Jm,   P+ = P - U U'/D                                                                     (32) */
static int eliminate_hinge(const struct link_model *lm, struct link_work *w)
{
    double D = lm->motor_inertia;
    if (lm->joint == JOINT_REVOLUTE) {
        symmul3(w->P.A, w->h, w->U);
        tmul3(w->P.B, w->h, w->U + 3);
        D += dot3(w->h, w->U);
    } else {
        mul3(w->P.B, w->h, w->U);
        symmul3(w->P.C, w->h, w->U + 3);
        D += dot3(w->h, w->U + 3);
    }
    const double *diagonal = lm->joint == JOINT_REVOLUTE ? w->P.A : w->P.C; /* what D is rounding against */
    if (!(D > PIVOT_SHARE * (diagonal[0] + diagonal[1] + diagonal[2]))) return -1;
    w->inverse_D = 1 / D;
    if (lm->parent >= 0) {
        double G[6]; /* U/D */
        for (int i = 0; i < 6; i++) G[i] = w->inverse_D * w->U[i];
        inertia_downdate(&w->P, G, w->U);
    }
    return 0;
}

/* Hands P+ on to the parent; the first child sets, the next ones add */
static void hand_on(const struct link_model *parent_model, const struct link_work *w, struct link_work *parent)
{
    struct inertia *sum = parent_model->body == NULL ? &parent->P : &parent->PT;
    if (parent->carrying) {
        struct inertia moved;
        inertia_shift(&w->P, w->d, &moved);
        inertia_add(sum, &moved);
    } else {
        inertia_shift(&w->P, w->d, sum);
        parent->carrying = true;
    }
}

/* A link's own bodies join what it carries */
static int own_bodies(const struct link_model *lm, struct link_work *w)
{
    struct inertia *carried = lm->body == NULL ? &w->P : &w->PT;
    const struct rigid *own = lm->body == NULL ? &w->self : &w->load;
    if (!w->carrying) {
        inertia_rigid(carried, own);
    } else {
        if (lm->body == NULL || lm->has_payload) inertia_add_rigid(carried, own);
    }
    int failed = 0;
    if (lm->updated != NULL) failed = updated_articulate(lm, w);
    else if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, failed = articulate_modes(M, lm, w))
    return failed;
}

enum status dyn_articulate(const struct model *model, struct work *work)
{
    for (int i = 0; i < model->n_links; i++) work->link[i].carrying = false;
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        work->failed_link = i;
        if (own_bodies(lm, w) != 0) return STATUS_NOT_POSITIVE;
        if (lm->q >= 0 && lm->prescribed < 0 && eliminate_hinge(lm, w) != 0) return STATUS_NOT_POSITIVE;
        if (lm->parent >= 0) hand_on(&model->link[lm->parent], w, &work->link[lm->parent]);
    }
    return STATUS_OK;
}

/* e = Q_eta - b_eta */
INLINE void modal_forces(const int m, const struct body *body, const double *eta, const double *etad,
                         struct link_work *restrict w)
{
    if (body->diagonal && !body->damped) { /* the common case of add_elastic_force(), unrolled */
        for (int k = 0; k < m; k++) w->e[k] = -w->b_eta[k] - body->K[(m + 1) * k] * eta[k];
    } else {
        for (int k = 0; k < m; k++) w->e[k] = -w->b_eta[k];
        add_elastic_force(body, eta, etad, w->e);
    }
}

/* e = L^-1 (e - J' z_T),   z = b + X' z_T + W' e */
INLINE void gather_modes(const int m, struct link_work *restrict w)
{
    for (int l = 0; l < PADDED(m); l += LANES) {
        lanes sum = load(w->e + l);
        for (int a = 0; a < 6; a++) sum -= w->zT[a] * load(w->Jt + PADDED(m) * a + l);
        store(w->e + l, sum);
    }
    unit_forward(m, PADDED(m), w->L, w->e);
    wrench_add_shifted(w->z, w->zT, w->r);
    add_rows(m, w->e, (const double(*)[SIX])w->W, w->z);
}

/* eta_ddot = L^-T (Delta^-1 e - W x),   x_T = X x + J eta_ddot */
INLINE void spread_modes(const int m, struct link_work *restrict w, double *restrict etadd)
{
    for (int k = 0; k < m; k++) etadd[k] = w->inverse_d[k] * w->e[k] - dot6(w->W[k], w->x);
    unit_backward(m, PADDED(m), w->L, etadd);
    motion_shift(w->x, w->r, w->xT);
    add_rows(m, etadd, (const double(*)[SIX])w->J, w->xT);
}

/* u = Q_q - h' z,   z += U u/D,   and z is passed on                                                                 (33) */
static inline void gather_hinge(const struct model *model, struct work *work, int i, double Q)
{
    const struct link_model *lm = &model->link[i];
    struct link_work *w = &work->link[i];
    if (lm->q >= 0 && lm->prescribed < 0) {
        w->u = Q - along_joint(lm, w, w->z);
        axpy6(w->u * w->inverse_D, w->U, w->z);
    }
    if (lm->parent >= 0) {
        struct link_work *parent = &work->link[lm->parent];
        wrench_add_shifted(carried(&model->link[lm->parent], parent->z, parent->zT), w->z, w->d);
    }
}

/* Tips to base: residuals u of hinges and e of modes, for the inertia forces of dyn_motion() */
static void gather(const struct model *model, struct work *work, const struct input *in)
{
    for (int i = 0; i < model->n_links; i++) {
        copy6(work->link[i].b, work->link[i].z);
        if (model->link[i].body != NULL) copy6(work->link[i].bT, work->link[i].zT);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const double *eta = in->q + lm->eta, *etad = in->qd + lm->eta;
        if (lm->updated != NULL) {
            modal_forces(lm->m, lm->body, eta, etad, w);
            updated_gather(lm, w);
        } else if (lm->body != NULL) {
            WITH_CONSTANT_COUNT(M, lm->m, modal_forces(M, lm->body, eta, etad, w); gather_modes(M, w))
        }
        double Q = 0;
        if (lm->q >= 0 && lm->prescribed < 0) {
            const double tau = in->tau != NULL && !lm->passive ? in->tau[lm->tau] : 0;
            Q = tau + joint_force(lm, in->q[lm->q], in->qd[lm->q]);
        }
        gather_hinge(model, work, i, Q);
    }
}

/* The same for generalised forces alone */
static void gather_forces(const struct model *model, struct work *work, const double *force)
{
    for (int i = 0; i < model->n_links; i++) {
        memset(work->link[i].z, 0, sizeof work->link[i].z);
        memset(work->link[i].zT, 0, sizeof work->link[i].zT);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        if (lm->body != NULL) {
            memcpy(w->e, force + lm->eta, (size_t)lm->m * sizeof *force);
            if (lm->updated != NULL) updated_gather(lm, w);
            else WITH_CONSTANT_COUNT(M, lm->m, gather_modes(M, w))
        }
        gather_hinge(model, work, i, lm->q >= 0 ? force[lm->q] : 0);
    }
}

/* Base to tips:  qdd = (u - U' x)/D,   eta_ddot = L^-T (Delta^-1 e - W x)                                           (33) */
static void spread(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    static const double rest[6] = {0};
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        struct link_work *parent = lm->parent < 0 ? NULL : &work->link[lm->parent];
        motion_shift(parent == NULL ? rest : carried(&model->link[lm->parent], parent->x, parent->xT), w->d, w->x);
        if (lm->prescribed >= 0) {
            qdd[lm->q] = prescribed_acceleration(lm, in);
        } else if (lm->q >= 0) {
            const double a = (w->u - dot6(w->U, w->x)) * w->inverse_D;
            axpy3(a, w->h, lm->joint == JOINT_REVOLUTE ? w->x : w->x + 3);
            qdd[lm->q] = a;
        }
        if (lm->updated != NULL) updated_spread(lm, w, qdd + lm->eta);
        else if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, spread_modes(M, w, qdd + lm->eta))
    }
}

void dyn_solve(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    gather(model, work, in);
    spread(model, work, in, qdd);
}

void dyn_solve_forces(const struct model *model, struct work *work, const double *force, double *qdd)
{
    const struct input still = {0}; /* prescribed joints do not accelerate */
    gather_forces(model, work, force);
    spread(model, work, &still, qdd);
}

enum status dyn_forward(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    dyn_configuration(model, work, in->q);
    dyn_motion(model, work, in, NULL);
    const enum status status = dyn_articulate(model, work);
    if (status == STATUS_OK) dyn_solve(model, work, in, qdd);
    return status;
}
