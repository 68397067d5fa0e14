/* The Newton matrix of an implicit step, as the articulated recursion factors it: what stiff forces add to the modal mass and to the
   motor inertia. Coriolis, gravity and geometric terms are omitted: they change no faster than the motion, which the step resolves.
   (theory.md 73) */
#include "dyn/dyn.h"
#include "math/lanes.h"

void dyn_newton_terms(const struct model *model, struct work *work, const double *q, const double *qd, double gamma)
{
    NEEDS(work, DYN_CONFIGURATION);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        joint_stiff_slopes(&lm->joint, q + lm->q, qd + lm->v, w->k_joint, w->d_joint);
        for (int k = 0; k < lm->joint.nv; k++)
            w->newton_hinge[k] = lm->joint.motor_inertia[k] + gamma * (w->d_joint[k] + gamma * w->k_joint[k]);
        if (lm->body == NULL) continue;

        /* N_ff = M_ff + gamma D + gamma^2 K, of which K and D are block diagonal */
        const struct body *body = lm->body;
        const int m = lm->m, row = PADDED(m);
        memcpy(w->own_modes, w->M0, (size_t)(m * row) * sizeof(double));
        for (int b = 0; b < body->n_blocks; b++)
            for (int k = body->block_start[b]; k < body->block_start[b + 1]; k++)
                for (int l = body->block_start[b]; l < body->block_start[b + 1]; l++)
                    w->own_modes[row * k + l] += gamma * (body->D[m * k + l] + gamma * body->K[m * k + l]);
    }
}

void dyn_newton_force(const struct model *model, const struct work *work, const double *dx, const double *dv,
                      double *force)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        for (int k = 0; k < lm->joint.nv; k++)
            force[lm->v + k] = w->k_joint[k] * dx[lm->v + k] + w->d_joint[k] * dv[lm->v + k];
        if (lm->body == NULL) continue;
        double *modal = force + lm->eta_v;
        memset(modal, 0, (size_t)lm->m * sizeof *modal);
        dyn_add_elastic_force(lm->body, dx + lm->eta_v, dv + lm->eta_v, modal);
        for (int k = 0; k < lm->m; k++) modal[k] = -modal[k];
    }
}
