/* Energy and power, from the same mass blocks as the equations of motion. (theory.md 39) */
#include <string.h>

#include "dyn/dyn.h"
#include "math/vec.h"

static double rigid_kinetic(const struct rigid *body, const struct frame *frame)
{
    double V[6], p[6];
    copy3(frame->omega, V);
    copy3(frame->v, V + 3);
    rigid_mul(body, V, p);
    return 0.5 * dot6(V, p);
}

/* -g . (m p + h) of a body about p */
static double gravity_energy(const struct model *model, const struct rigid *body, const double *p)
{
    return -body->m * dot3(model->gravity, p) - dot3(model->gravity, body->h);
}

/* 1/2 V' M_rr V + V' M_rf eta_dot + 1/2 eta_dot' M_ff eta_dot + payload,   1/2 eta' K eta,   eta_dot' D eta_dot */
static void add_flexible(const struct model *model, const struct link_model *lm, const struct link_work *w,
                         const double *eta, const double *etad, struct energy *energy)
{
    const double *K = lm->body->K, *D = lm->body->D;
    const int m = lm->m;
    double kinetic = 0;
    if (lm->has_payload) {
        kinetic = rigid_kinetic(&w->load, &w->section[0].T);
        energy->gravity += gravity_energy(model, &w->load, w->section[0].T.p);
    }
    for (int k = 0; k < m; k++) {
        double p = dot3(w->F[k], w->O.omega) + dot3(w->F[k] + 3, w->O.v);
        for (int l = 0; l < m; l++) {
            p += 0.5 * w->M0[PADDED(m) * k + l] * etad[l];
            energy->elastic += 0.5 * eta[k] * K[m * k + l] * eta[l];
            energy->loss += etad[k] * D[m * k + l] * etad[l];
        }
        kinetic += p * etad[k];
    }
    energy->kinetic += kinetic;
}

static double wrench_power(const struct model *model, const struct work *work, const struct anchor *anchor,
                           const double *wrench)
{
    struct frame_motion motion;
    dyn_frame(model, work, anchor, &motion);
    return dot3(wrench, motion.omega) + dot3(wrench + 3, motion.v);
}

void dyn_energy(const struct model *model, const struct work *work, const struct input *in, struct energy *energy)
{
    NEEDS(work, DYN_VELOCITY);
    memset(energy, 0, sizeof *energy);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        energy->kinetic += rigid_kinetic(&w->self, &w->O);
        energy->gravity += gravity_energy(model, &w->self, w->O.p);
        if (lm->body != NULL) add_flexible(model, lm, w, in->q + lm->eta_q, in->qd + lm->eta_v, energy);

        const double *qd = in->qd + lm->v;
        const bool driven = in->tau != NULL && !lm->passive && lm->prescribed < 0;
        double springs[MOST_VELOCITIES], own[MOST_VELOCITIES];
        energy->elastic += joint_energy(&lm->joint, in->q + lm->q, springs);
        joint_forces(&lm->joint, in->q + lm->q, qd, own);
        for (int k = 0; k < lm->joint.nv; k++) {
            energy->kinetic += 0.5 * lm->joint.motor_inertia[k] * qd[k] * qd[k];
            energy->loss -= (own[k] - springs[k]) * qd[k];
            if (driven) energy->power += in->tau[lm->tau + k] * qd[k];
        }
    }
    if (in->tip_wrench != NULL) energy->tip = wrench_power(model, work, &model->tip_frame, in->tip_wrench);
    for (int i = 0; in->frame_wrench != NULL && i < model->robot->n_frames; i++)
        if (model_frame_acts(model, i))
            energy->frames += wrench_power(model, work, &model->frame[i], in->frame_wrench + 6 * i);
}
