#include "oracle/section_motion.h"

#include "flex/section.h"
#include "math/rotation.h"
#include "math/vec.h"

void motion_of_section(const struct model *model, const struct work *work, const struct input *in, const double *qdd,
                       int link, const struct section *section, struct frame_motion *out)
{
    const struct link_model *lm = &model->link[link];
    const struct link_work *w = &work->link[link];
    const int m = lm->m;
    const double *eta = in->q + lm->eta_q, *etad = in->qd + lm->eta_v;
    double omega[3], acc[6], r[3], theta[3], rd[3], td[3], rdd[3], rate[3], rate_dot[3], turn[9];

    /* F: pose, velocity, acceleration; in F axes */
    dyn_body_motion(lm->body, w, eta, etad, omega, acc);
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
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(theta, theta));
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
    copy3(acc_world, out->alpha);
    copy3(acc_world + 3, out->a);
    axpy3(1, model->gravity, out->a);
}
