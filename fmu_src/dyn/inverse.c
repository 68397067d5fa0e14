/* Recursive inverse dynamics: all generalized forces of a motion, and the wrench of every joint. (theory.md 34, 35) */
#include <string.h>

#include "dyn/dyn.h"
#include "math/vec.h"

/* f_q = h' f + Jm qdd - joint forces */
INLINE void hinge_forces(const int nv, const struct link_model *lm, const struct link_work *w, const struct input *in,
                         const double *accelerations, double *force)
{
    double own[MOST_VELOCITIES];
    if (nv == 0) return;
    joint_own_forces(nv, lm, in, own);
    for (int k = 0; k < nv; k++) {
        force[k] = along_column(lm, w, k, w->f) - own[k];
        if (accelerations != NULL) force[k] += lm->joint.motor_inertia[k] * accelerations[k];
    }
}

void dyn_inverse(const struct model *model, struct work *work, const struct input *in, const double *qdd, double *force)
{
    dyn_motion(model, work, in, qdd);
    for (int i = 0; i < model->n_links; i++) {
        copy6(work->link[i].b, work->link[i].f);
        copy6(work->link[i].bT, work->link[i].fT);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        if (lm->body != NULL) {
            /* f_eta = b_eta + J' f_T + K eta + D eta_dot,   f = b + X' f_T */
            double *modal = force + lm->eta_v;
            memset(modal, 0, (size_t)lm->m * sizeof *modal);
            add_elastic_force(lm->body, in->q + lm->eta_q, in->qd + lm->eta_v, modal);
            for (int k = 0; k < lm->m; k++) modal[k] = w->b_eta[k] + dot6(w->J[k], w->fT) - modal[k];
            wrench_add_shifted(w->f, w->fT, w->r);
        }
        const double *accelerations = qdd != NULL ? qdd + lm->v : prescribed_acceleration(lm, in);
        WITH_COLUMNS(N, lm->joint.nv, hinge_forces(N, lm, w, in, accelerations, force + lm->v));
        if (lm->parent >= 0) {
            struct link_work *parent = &work->link[lm->parent];
            wrench_add_shifted(at_parent_frame(&model->link[lm->parent], parent->f, parent->fT), w->f, w->d);
        }
    }
}

void dyn_reaction(const struct work *work, int link, double wrench[6])
{
    const struct link_work *w = &work->link[link];
    tmul3(w->O.R, w->f, wrench);
    tmul3(w->O.R, w->f + 3, wrench + 3);
}
