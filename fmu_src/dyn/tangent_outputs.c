/* Derivatives of outputs in a direction: frames, reactions, deflections. */
#include <string.h>

#include "dyn/tangent.h"
#include "math/vec.h"

void dyn_tangent_observe(const struct model *model, const struct work *work, struct tangent *tangent)
{
    NEEDS(tangent, TANGENT_MOTION);
    for (int i = 0; i < model->n_links; i++)
        for (int s = model->link[i].n_sections; s < model->link[i].n_all_sections; s++)
            tangent_section_out(&model->link[i], work, tangent, i, s);
}

/* dx = D x + dphi x x */
static void absolute_change(const double *D, const double *phi, const double *x, double *dx)
{
    copy3(D, dx);
    add_cross3(phi, x, dx);
}

static void absolute_changes(const struct frame_tangent *t, const double *v, const double *omega, const double *alpha,
                             const double *a, struct frame_derivative *change)
{
    copy3(t->p, change->p);
    copy3(t->phi, change->phi);
    absolute_change(t->v, t->phi, v, change->v);
    absolute_change(t->motion, t->phi, omega, change->omega);
    absolute_change(t->motion + 3, t->phi, alpha, change->alpha);
    absolute_change(t->motion + 6, t->phi, a, change->a);
}

/* dr = phi x r,  dp + dr,  dv + domega x r + omega x dr,  ... */
static void frame_move_change(const double r[3], const double omega[3], const double alpha[3],
                              struct frame_derivative *d)
{
    double dr[3], wr[3], dwr[3];
    cross3(d->phi, r, dr);
    cross3(omega, r, wr);
    cross3(d->omega, r, dwr);
    add_cross3(omega, dr, dwr);
    axpy3(1, dr, d->p);
    axpy3(1, dwr, d->v);
    add_cross3(d->alpha, r, d->a);
    add_cross3(alpha, dr, d->a);
    add_cross3(d->omega, wr, d->a);
    add_cross3(omega, dwr, d->a);
}

void dyn_tangent_coordinate(const struct model *model, const struct work *work, struct tangent *tangent, bool rate,
                            int j)
{
    NEEDS(tangent, TANGENT_STATE);
    struct coordinate *c = &tangent->coordinate;
    int i = 0;
    tangent->done = TANGENT_STATE | TANGENT_COORDINATE;
    while (j >= model->link[i].eta_v + model->link[i].m) i++;
    const struct link_model *lm = &model->link[i];
    *c = (struct coordinate){.model = model, .rate = rate, .link = i, .mode = j - lm->eta_v};
    if (c->mode >= 0) return;
    c->mode = -1;
    tangent_hinge(model, work, tangent, i, j - lm->v, rate, &c->base);
}

void dyn_coordinate_frame(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                          const struct frame_motion *frame, struct frame_derivative *change)
{
    NEEDS(tangent, TANGENT_COORDINATE);
    const struct coordinate *c = &tangent->coordinate;
    int i = anchor->link, section = anchor->section;
    memset(change, 0, sizeof *change);
    for (; i > c->link; i = c->model->link[i].parent) section = c->model->link[i].mount;
    if (i != c->link || (c->mode >= 0 && section < 0)) return;
    const struct anchor at = {.link = i, .section = c->mode < 0 ? -1 : section};
    struct frame_tangent t = c->base;
    double a[3];
    if (c->mode >= 0) tangent_mode(work, tangent, i, section, c->mode, c->rate, &t);
    tangent_carry(dyn_anchor_frame(work, &at), &t, frame->p, frame->v, frame->omega, &t);
    for (int k = 0; k < 3; k++) a[k] = frame->a[k] - c->model->gravity[k];
    absolute_changes(&t, frame->v, frame->omega, frame->alpha, a, change);
}

void dyn_tangent_frame(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                       struct frame_derivative *change)
{
    NEEDS(tangent, TANGENT_OUTWARD);
    const struct link_tangent *lt = &tangent->link[anchor->link];
    const struct frame *frame = dyn_anchor_frame(work, anchor);
    const struct frame_tangent *t = anchor->section < 0 ? &lt->O : &lt->section[anchor->section].T;
    absolute_changes(t, frame->v, frame->omega, frame->acc, frame->acc + 3, change);
    if (anchor->offset) {
        double r[3];
        mul3(frame->R, anchor->at.p, r);
        frame_move_change(r, frame->omega, frame->acc, change);
    }
}

void tangent_in_own_axes(const double R[9], const double phi[3], const double x[3], const double dx[3],
                         double change[3])
{
    double relative[3], turned[3];
    cross3(phi, x, turned);
    copy3(dx, relative);
    axpy3(-1, turned, relative);
    tmul3(R, relative, change);
}

void dyn_tangent_reaction(const struct work *work, const struct tangent *tangent, int link, double wrench[6])
{
    NEEDS(tangent, TANGENT_MOTION);
    tmul3(work->link[link].O.R, tangent->link[link].f, wrench);
    tmul3(work->link[link].O.R, tangent->link[link].f + 3, wrench + 3);
}

void dyn_tangent_deflection(const struct model *model, const struct work *work, const struct tangent *tangent, int link,
                            double deflection[3], double rotation[3])
{
    NEEDS(tangent, TANGENT_OUTWARD);
    const struct link_model *lm = &model->link[link];
    const struct link_work *w = &work->link[link];
    const struct link_tangent *t = &tangent->link[link];
    memset(deflection, 0, 3 * sizeof *deflection);
    memset(rotation, 0, 3 * sizeof *rotation);
    if (lm->body == NULL) return;
    const double *J_deta = t->section[0].J_deta;
    tmul3(w->O.R, J_deta + 3, deflection);
    if (w->JF == NULL) { /* theta = Lambda eta */
        for (int k = 0; k < lm->m; k++)
            axpy3(tangent->direction.q[lm->eta_v + k], lm->body->tip.Lambda + 3 * k, rotation);
    } else {
        double rho[3], psi[3];
        rotation_between(w->theta_d, w->section[0].theta, rho);
        tmul3(w->O.R, J_deta, psi);
        rotation_vector_rate(rho, psi, rotation);
    }
}
