/* Articulated-body forward dynamics, O(n): per link the modes are eliminated before the hinge. Factors and solution are
   apart, so that one factorisation serves any number of right-hand sides. (theory.md 29 to 33; Jain and Rodriguez, section 7;
   the same U D U' elimination as Mohan and Saha 35 to 42.) */
#include <string.h>

#include "dyn/dyn.h"
#include "math/dense.h"
#include "math/vec.h"

/* What hangs on T, brought to O and the modes:  P += X' P_T X,  F = M_rf + X' P_T J,  D_f = M_ff + J' P_T J      (29, 30) */
static void fold_tip(const struct link_model *lm, struct link_work *w)
{
    const int m = lm->m;
    const double *Mff = link_Mff(lm, w);
    inertia_add_shifted(&w->P, &w->PT, w->r);
    for (int k = 0; k < m; k++) {
        double PJ[6];
        inertia_mul(&w->PT, w->J[k], PJ);
        for (int l = 0; l <= k; l++) w->L[m * k + l] = Mff[m * k + l] + dot6(PJ, w->J[l]);
        copy6(w->F[k], w->Z[k]);
        wrench_add_shifted(w->Z[k], PJ, w->r);
    }
}

/* D_f = L Delta L',   Z = L^-1 F',   W = Delta^-1 Z,   P_r = P - Z' Delta^-1 Z                                      (31) */
static int eliminate_modes(const struct link_model *lm, struct link_work *w)
{
    const int m = lm->m;
    if (!lm->loaded) {
        memcpy(w->L, link_Mff(lm, w), (size_t)(m * m) * sizeof(double));
        memcpy(w->Z, w->F, (size_t)m * sizeof *w->Z);
    }
    if (ldl_factor(m, w->L, w->inverse_d) != 0) return -1;
    for (int i = 0; i < m; i++) {
        const double *Li = w->L + m * i;
        for (int j = 0; j < i; j++) axpy6(-Li[j], w->Z[j], w->Z[i]);
        for (int a = 0; a < 6; a++) w->W[i][a] = w->inverse_d[i] * w->Z[i][a];
        inertia_downdate(&w->P, w->inverse_d[i], w->Z[i]);
    }
    return 0;
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
    if (!(D > 0)) return -1;
    w->inverse_D = 1 / D;
    if (lm->parent >= 0) inertia_downdate(&w->P, w->inverse_D, w->U);
    return 0;
}

enum status dyn_articulate(const struct model *model, struct work *work)
{
    for (int i = 0; i < model->n_links; i++) {
        struct link_work *w = &work->link[i];
        inertia_rigid(&w->P, &w->self);
        if (model->link[i].body != NULL) inertia_rigid(&w->PT, &w->load);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        if (lm->body != NULL) {
            if (lm->loaded) fold_tip(lm, w);
            if (eliminate_modes(lm, w) != 0) return STATUS_NOT_POSITIVE;
        }
        if (lm->q >= 0 && lm->prescribed < 0 && eliminate_hinge(lm, w) != 0) return STATUS_NOT_POSITIVE;
        if (lm->parent >= 0) {
            struct link_work *parent = &work->link[lm->parent];
            inertia_add_shifted(model->link[lm->parent].body == NULL ? &parent->P : &parent->PT, &w->P, w->d);
        }
    }
    return STATUS_OK;
}

/* The joint's share of a wrench: h'n of a revolute, h'f of a prismatic joint */
static double along_joint(const struct link_model *lm, const double *h, const double *wrench)
{
    return dot3(h, lm->joint == JOINT_REVOLUTE ? wrench : wrench + 3);
}

/* Tips to base: residuals u of hinges and e of modes, and the wrench z that is passed on                            (33) */
static void gather(const struct model *model, struct work *work, const struct input *in)
{
    for (int i = 0; i < model->n_links; i++) {
        copy6(work->link[i].b, work->link[i].z);
        copy6(work->link[i].bT, work->link[i].zT);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        if (lm->body != NULL) {
            /* e = L^-1 (Q_eta - b_eta - J' z_T),   z = b + X' z_T + W' e */
            for (int k = 0; k < lm->m; k++) w->e[k] = -w->b_eta[k] - (lm->loaded || model->tip == i ? dot6(w->J[k], w->zT) : 0);
            add_elastic_force(lm->body, in->q + lm->eta, in->qd + lm->eta, w->e);
            ldl_forward(lm->m, w->L, w->e);
            wrench_add_shifted(w->z, w->zT, w->r);
            for (int k = 0; k < lm->m; k++) axpy6(w->e[k], w->W[k], w->z);
        }
        if (lm->q >= 0 && lm->prescribed < 0) {
            /* u = Q_q - h' z,   z += U u/D */
            const double tau = in->tau != NULL && !lm->passive ? in->tau[lm->tau] : 0;
            w->u = tau + joint_force(lm, in->q[lm->q], in->qd[lm->q]) - along_joint(lm, w->h, w->z);
            axpy6(w->u * w->inverse_D, w->U, w->z);
        }
        if (lm->parent >= 0) {
            struct link_work *parent = &work->link[lm->parent];
            wrench_add_shifted(model->link[lm->parent].body == NULL ? parent->z : parent->zT, w->z, w->d);
        }
    }
}

/* Base to tips:  qdd = (u - U' x)/D,   eta_ddot = L^-T (Delta^-1 e - W x)                                           (33) */
static void spread(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    static const double rest[6] = {0};
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const struct link_work *parent = lm->parent < 0 ? NULL : &work->link[lm->parent];
        motion_shift(parent == NULL ? rest : model->link[lm->parent].body == NULL ? parent->x : parent->xT, w->d, w->x);
        if (lm->prescribed >= 0) {
            qdd[lm->q] = in->prescribed_qdd != NULL ? in->prescribed_qdd[lm->prescribed] : 0;
        } else if (lm->q >= 0) {
            const double a = (w->u - dot6(w->U, w->x)) * w->inverse_D;
            axpy3(a, w->h, lm->joint == JOINT_REVOLUTE ? w->x : w->x + 3);
            qdd[lm->q] = a;
        }
        if (lm->body == NULL) continue;
        double *etadd = qdd + lm->eta;
        for (int k = 0; k < lm->m; k++) etadd[k] = w->inverse_d[k] * w->e[k] - dot6(w->W[k], w->x);
        ldl_backward(lm->m, w->L, etadd);
        motion_shift(w->x, w->r, w->xT);
        for (int k = 0; k < lm->m; k++) axpy6(etadd[k], w->J[k], w->xT);
    }
}

void dyn_solve(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    gather(model, work, in);
    spread(model, work, in, qdd);
}

enum status dyn_forward(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    dyn_configuration(model, work, in->q);
    dyn_motion(model, work, in, NULL);
    const enum status status = dyn_articulate(model, work);
    if (status == STATUS_OK) dyn_solve(model, work, in, qdd);
    return status;
}
