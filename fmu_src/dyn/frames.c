/* Frames fixed to links: for output, loops, actuators and loads. */
#include <string.h>

#include "dyn/dyn.h"
#include "flex/section.h"
#include "math/vec.h"

/* Gravity is modeled as an acceleration of the base: remove it. */
static void finish(const struct model *model, const double *acc, struct frame_motion *out)
{
    copy3(acc, out->alpha);
    for (int i = 0; i < 3; i++) out->a[i] = acc[3 + i] + model->gravity[i];
}

void dyn_tip(const struct model *model, const struct work *work, int link, struct frame_motion *tip)
{
    const struct anchor anchor = model_tip(model, link);
    dyn_frame(model, work, &anchor, tip);
}

const struct frame *anchor_frame(const struct work *work, const struct anchor *anchor)
{
    const struct link_work *w = &work->link[anchor->link];
    return anchor->section < 0 ? &w->O : &w->section[anchor->section].T;
}

/* p + r,  v + omega x r,  a + alpha x r + omega x (omega x r) */
void frame_move(const struct pose *at, double r[3], struct frame_motion *f)
{
    double R[9], wr[3];
    mul3(f->R, at->p, r);
    matmul3(f->R, at->R, R);
    copy9(R, f->R);
    cross3(f->omega, r, wr);
    axpy3(1, r, f->p);
    axpy3(1, wr, f->v);
    add_cross3(f->alpha, r, f->a);
    add_cross3(f->omega, wr, f->a);
}

void dyn_frame(const struct model *model, const struct work *work, const struct anchor *anchor,
               struct frame_motion *motion)
{
    const struct frame *frame = anchor_frame(work, anchor);
    copy9(frame->R, motion->R);
    copy3(frame->p, motion->p);
    copy3(frame->v, motion->v);
    copy3(frame->omega, motion->omega);
    finish(model, frame->acc, motion);
    double r[3];
    if (anchor->offset) frame_move(&anchor->at, r, motion);
}

struct load anchor_load(const struct work *work, const struct anchor *anchor, const double wrench[6])
{
    struct load load = {.link = anchor->link, .section = anchor->section};
    copy6(wrench, load.wrench);
    if (anchor->link < 0 || !anchor->offset) return load;
    double r[3];
    mul3(anchor_frame(work, anchor)->R, anchor->at.p, r);
    add_cross3(r, wrench + 3, load.wrench);
    return load;
}

void dyn_section(const struct model *model, const struct work *work, const struct input *in, const double *qdd,
                 int link, const struct section *section, struct frame_motion *out)
{
    const struct link_model *lm = &model->link[link];
    const struct link_work *w = &work->link[link];
    const int m = lm->m;
    const double *eta = in->q + lm->eta_q, *etad = in->qd + lm->eta_v;
    double omega[3], acc[6], r[3], theta[3], rd[3], td[3], rdd[3], rate[3], rate_dot[3], turn[9];

    /* F: pose, velocity, acceleration; in F axes */
    body_motion(lm->body, w, eta, etad, omega, acc);
    double pF[3], vF[3], wF[3];
    copy3(w->O.p, pF);
    copy3(w->O.v, vF);
    if (w->JF != NULL) {
        axpy3(1, w->rF, pF);
        add_cross3(w->O.omega, w->rF, vF);
        for (int k = 0; k < m; k++) {
            double J[6]; /* in F axes */
            tmul3(w->RF, w->JF[k], J);
            tmul3(w->RF, w->JF[k] + 3, J + 3);
            axpy3(etad[k], w->JF[k] + 3, vF);
            if (qdd != NULL) axpy6(qdd[lm->eta_v + k], J, acc);
        }
    }

    /* the section in F */
    section_displacement(section, m, eta, r, theta);
    section_rates(section, m, eta, etad, rd, td, rdd);
    const struct exp_coefficients e = exp_coefficients(dot3(theta, theta));
    rotation_rate(&e, theta, td, rate, rate_dot);
    if (qdd != NULL) { /* the terms in eta_ddot have the form of a rate */
        double u[3], t[3], jt[3], unused[3];
        section_rates(section, m, eta, qdd + lm->eta_v, u, t, unused);
        rotation_rate(&e, theta, t, jt, NULL);
        for (int i = 0; i < 3; i++) {
            rdd[i] += u[i];
            rate_dot[i] += jt[i];
        }
    }
    double omega_t[3], acc_t[6], acc_world[6], v[3];
    section_motion(rd, rdd, r, rate, rate_dot, omega, acc, omega_t, acc_t);

    rotation_exp(&e, theta, turn);
    matmul3(w->RF, turn, out->R);
    copy3(pF, out->p);
    add_mul3(w->RF, r, out->p);
    mul3(w->RF, omega_t, out->omega);
    cross3(omega, r, v);
    for (int i = 0; i < 3; i++) v[i] += rd[i];
    mul3(w->RF, v, wF);
    for (int i = 0; i < 3; i++) out->v[i] = vF[i] + wF[i];
    mul3(w->RF, acc_t, acc_world);
    mul3(w->RF, acc_t + 3, acc_world + 3);
    finish(model, acc_world, out);
}

void dyn_frame_force(const struct model *model, const struct work *work, const struct load *load, double *force)
{
    double f[6];
    copy6(load->wrench, f);
    for (int i = load->link, section = load->section; i >= 0;
         section = model->link[i].mount, i = model->link[i].parent) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        if (section >= 0) {
            const struct section_work *s = &w->section[section];
            for (int k = 0; k < lm->m; k++) force[lm->eta_v + k] += dot6(s->J[k], f);
            add_cross3(s->r, f + 3, f);
        }
        for (int k = 0; k < lm->joint.nv; k++) force[lm->v + k] += along_column(lm, w, k, f);
        add_cross3(w->d, f + 3, f);
    }
}

void dyn_deflection(const struct model *model, const struct work *work, int link, double deflection[3],
                    double rotation[3])
{
    const struct body *body = model->link[link].body;
    const struct link_work *w = &work->link[link];
    memset(deflection, 0, 3 * sizeof *deflection);
    memset(rotation, 0, 3 * sizeof *rotation);
    if (body == NULL) return;
    tmul3(w->O.R, w->section[0].r, deflection);
    for (int i = 0; i < 3; i++) deflection[i] -= body->tip.x[i] - body->hinge.x[i];
    if (w->JF == NULL) copy3(w->section[0].theta, rotation);
    else rotation_between(w->theta_d, w->section[0].theta, rotation);
}
