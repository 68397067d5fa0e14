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

/* f_eta += J' f_T,   f += X' f_T */
INLINE void add_section(int m, const struct section_work *s, double *modal, double *f)
{
    for (int k = 0; k < m; k++) modal[k] += dot6(s->J[k], s->f);
    wrench_add_shifted(f, s->f, s->r);
}

/* f_eta = K eta + D eta_dot + b_eta + sum J' f_T,   f = b + sum X' f_T */
static void flexible_forces(const struct link_model *lm, const struct input *in, struct link_work *w, double *modal)
{
    memset(modal, 0, (size_t)lm->m * sizeof *modal);
    dyn_add_elastic_force(lm->body, in->q + lm->eta_q, in->qd + lm->eta_v, modal);
    for (int k = 0; k < lm->m; k++) modal[k] = w->b_eta[k] - modal[k];
    add_section(lm->m, &w->section[0], modal, w->f);
    for (int s = 1; s < lm->n_sections; s++) add_section(lm->m, &w->section[s], modal, w->f);
}

void dyn_inverse_forces(const struct model *model, struct work *work, const struct input *in, const double *qdd,
                        double *force)
{
    NEEDS(work, DYN_MOTION);
    work->done |= DYN_REACTIONS;
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        if (!lm->has_child) copy6(w->b, w->f);
        for (int s = 0; s < lm->n_sections; s++)
            if (!lm->section[s].has_child) copy6(w->section[s].b, w->section[s].f);
        if (lm->body != NULL) flexible_forces(lm, in, w, force + lm->eta_v);
        const double *accelerations = qdd != NULL ? qdd + lm->v : prescribed_acceleration(lm, in);
        WITH_COLUMNS(N, lm->joint.nv, hinge_forces(N, lm, w, in, accelerations, force + lm->v));
        if (lm->parent < 0) continue;
        struct link_work *parent = &work->link[lm->parent];
        struct section_work *section = mount_section(lm, work);
        double *sum = section == NULL ? parent->f : section->f;
        if (lm->last_child)
            copy6(section == NULL ? parent->b : section->b, sum); /* the first child in this pass assigns */
        wrench_add_shifted(sum, w->f, w->d);
    }
    for (int i = 0; in->joint_force != NULL && i < model->nv; i++) force[i] -= in->joint_force[i];
}

void dyn_reaction(const struct work *work, int link, double wrench[6])
{
    NEEDS(work, DYN_REACTIONS);
    const struct link_work *w = &work->link[link];
    tmul3(w->O.R, w->f, wrench);
    tmul3(w->O.R, w->f + 3, wrench + 3);
}
