/* Second pass, base to tips: angular velocities, accelerations and the resulting inertia forces. Gravity is an
   acceleration of the base, so it enters once. */
#include <math.h>
#include <string.h>

#include "dyn/modes.h"
#include "flex/section.h"
#include "math/vec.h"

/* Motion of O (theory.md 25, 26, 62 to 64): a rotational column adds h qd to omega and omega_c x h qd + h qdd to alpha, a
   translational one 2 omega_c x h qd + h qdd to a; the rate of the subspace adds zeta to alpha */
INLINE void hinge_motion(const int nv, const struct link_model *lm, const struct frame *carrier, const double *qd,
                         const double *qdd, struct link_work *w)
{
    acceleration_shift(carrier->omega, carrier->acc, w->d, w->O.acc);
    copy3(carrier->omega, w->O.omega);
    for (int k = 0; k < nv; k++) {
        const double *h = w->h[k];
        double wh[3];
        cross3(carrier->omega, h, wh);
        if (lm->joint.part[k] == TURNS) {
            axpy3(qd[k], h, w->O.omega);
            axpy3(qd[k], wh, w->O.acc);
        } else {
            axpy3(2 * qd[k], wh, w->O.acc + 3);
        }
        if (qdd != NULL) axpy3(qdd[k], h, w->O.acc + lm->joint.part[k]);
    }
    if (nv > 1 && lm->joint.several_turns) {
        double zeta[3];
        joint_rate(&lm->joint, (const double(*)[3])w->h, qd, zeta);
        axpy3(1, zeta, w->O.acc);
    }
}

/* Motion of F in F axes, from that of O if the hinge node moves (theory.md 27):
   omega = omega_O - w_d,  alpha = alpha_O - omega x w_d - wd_d,
   a = a_O - alpha x rho - omega x (omega x rho) - 2 omega x rho_dot - rho_ddot */
static void hinge_to_body(const struct body *body, const struct link_work *w, const double *eta, const double *etad,
                          double *omega, double *acc)
{
    double rho[3], rd[3], td[3], rdd[3], wd[3], wdd[3];
    section_rates(&body->hinge, body->m, eta, etad, rd, td, rdd);
    rotation_rate(&w->exp_d, w->theta_d, td, wd, wdd);
    tmul3(w->RF, w->rF, rho); /* minus rho */

    for (int i = 0; i < 3; i++) omega[i] -= wd[i];
    for (int i = 0; i < 3; i++) acc[i] -= wdd[i];
    add_cross3(wd, omega, acc);
    double at_F[6];
    acceleration_shift(omega, acc, rho, at_F);
    copy3(at_F + 3, acc + 3);
    double coriolis[3];
    cross3(omega, rd, coriolis);
    for (int i = 0; i < 3; i++) acc[3 + i] -= 2 * coriolis[i] + rdd[i];
}

void body_motion(const struct body *body, const struct link_work *w, const double *eta, const double *etad,
                 double omega[3], double acc[6])
{
    tmul3(w->RF, w->O.omega, omega);
    tmul3(w->RF, w->O.acc, acc);
    tmul3(w->RF, w->O.acc + 3, acc + 3);
    if (w->JF != NULL) hinge_to_body(body, w, eta, etad, omega, acc);
}

/* T from F, in world axes */
static void tip_motion(const struct body *body, const double *etad, const double *omega, const double *acc,
                       const double *r, struct link_work *w)
{
    double rd[3], td[3], rate[3], rate_dot[3], R_rd[3], R_rdd[3] = {0}, R_rate[3], R_rate_dot[3];
    section_sum(&body->tip, body->m, etad, rd, td);
    if (w->slope != NULL) { /* r_dot -= eta_dot' H eta e_x,   r_ddot = -eta_dot' H eta_dot e_x */
        const double f_dd = section_form(&body->tip, body->m, etad);
        for (int k = 0; k < body->m; k++) rd[0] -= w->slope[k] * etad[k];
        for (int i = 0; i < 3; i++) R_rdd[i] = -f_dd * w->RF[3 * i];
    }
    rotation_rate(&w->exp, w->theta, td, rate, rate_dot);
    mul3(w->RF, rd, R_rd);
    mul3(w->RF, rate, R_rate);
    mul3(w->RF, rate_dot, R_rate_dot);
    section_motion(R_rd, R_rdd, r, R_rate, R_rate_dot, omega, acc, w->T.omega, w->T.acc);
}

/* Inertia forces of the body at O, and the motion of T, for eta_ddot = 0 */
static void flexible_motion(const struct link_model *lm, enum elastic_terms terms, const double *eta,
                            const double *etad, struct link_work *w)
{
    const struct body *body = lm->body;
    double omega[3], acc[6], wrench[6];
    body_motion(body, w, eta, etad, omega, acc);
    body_force(body, terms, &w->body, eta, etad, omega, acc, wrench, w->b_eta);
    mul3(w->RF, wrench, w->b);
    mul3(w->RF, wrench + 3, w->b + 3);
    if (w->JF == NULL) {
        tip_motion(body, etad, w->O.omega, w->O.acc, w->r, w);
    } else {
        double omega_F[3], acc_F[6], r[3];
        for (int k = 0; k < body->m; k++) w->b_eta[k] += dot6(w->JF[k], w->b);
        add_cross3(w->rF, w->b + 3, w->b);
        mul3(w->RF, omega, omega_F);
        mul3(w->RF, acc, acc_F);
        mul3(w->RF, acc + 3, acc_F + 3);
        for (int i = 0; i < 3; i++) r[i] = w->r[i] - w->rF[i];
        tip_motion(body, etad, omega_F, acc_F, r, w);
    }
    if (lm->has_hub) {
        double hub[6];
        rigid_wrench(&w->hub, w->O.omega, w->O.acc, hub);
        axpy6(1, hub, w->b);
    }
}

/* Terms in eta_ddot: (b; b_eta) += (M_rf; M_ff) eta_ddot,  acc_T += J eta_ddot */
INLINE void add_modal_acceleration(const int m, const double *restrict etadd, struct link_work *restrict w)
{
    const int row = PADDED(m);
    double b[SIX] = {0}, acc[SIX] = {0};
    add_rows(m, etadd, (const double(*)[SIX])w->F, b);
    add_rows(m, etadd, (const double(*)[SIX])w->J, acc);
    axpy6(1, b, w->b);
    axpy6(1, acc, w->T.acc);
    for (int l = 0; l < row; l += LANES) {
        lanes sum = load(w->b_eta + l);
        for (int k = 0; k < m; k++) sum += etadd[k] * load(w->M0 + row * k + l);
        store(w->b_eta + l, sum);
    }
}

/* Not inlined, so that rigid links do not save the registers it needs */
static __attribute__((noinline)) void add_modal_accelerations(int m, const double *etadd, struct link_work *w)
{
    WITH_CONSTANT_COUNT(M, m, add_modal_acceleration(M, etadd, w))
}

static void apply(const struct link_model *lm, enum point_frame frame, const double *wrench, struct link_work *w)
{
    const bool on_tip = frame == POINT_TIP;
    axpy6(-1, wrench, on_tip && lm->body != NULL ? w->bT : w->b);
    if (on_tip && lm->body == NULL) {
        double r[3], moment[3];
        mul3(w->O.R, lm->tip.p, r);
        cross3(r, wrench + 3, moment);
        axpy3(-1, moment, w->b);
    }
}

/* Accelerations of the joint's velocities; NULL: zero */
static const double *joint_accelerations(const struct link_model *lm, const struct input *in, const double *qdd)
{
    return qdd != NULL ? qdd + lm->v : prescribed_acceleration(lm, in);
}

void dyn_motion(const struct model *model, struct work *work, const struct input *in, const double *qdd)
{
    const struct frame world = {.acc = {0, 0, 0, -model->gravity[0], -model->gravity[1], -model->gravity[2]}};
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const struct frame *carrier =
            lm->parent < 0 ? &world : parent_frame(&model->link[lm->parent], &work->link[lm->parent]);
        const double *qd = in->qd + lm->v, *accelerations = joint_accelerations(lm, in, qdd);
        WITH_COLUMNS(N, lm->joint.nv, hinge_motion(N, lm, carrier, qd, accelerations, w));
        if (lm->body == NULL) {
            rigid_wrench(&w->self, w->O.omega, w->O.acc, w->b);
        } else {
            flexible_motion(lm, model->terms, in->q + lm->eta_q, in->qd + lm->eta_v, w);
            if (qdd != NULL) add_modal_accelerations(lm->m, qdd + lm->eta_v, w);
            if (lm->has_payload) rigid_wrench(&w->load, w->T.omega, w->T.acc, w->bT);
            else memset(w->bT, 0, sizeof w->bT);
        }
    }
    if (in->tip_wrench != NULL) apply(&model->link[model->tip], POINT_TIP, in->tip_wrench, &work->link[model->tip]);
    for (int i = 0; i < in->n_loads; i++) {
        const struct load *load = &in->load[i];
        if (load->link < 0) continue;
        apply(&model->link[load->link], load->frame, load->wrench, &work->link[load->link]);
    }
}

void dyn_position(const struct model *model, struct work *work)
{
    static const double origin[3];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const double *p = lm->parent < 0 ? origin : parent_frame(&model->link[lm->parent], &work->link[lm->parent])->p;
        for (int k = 0; k < 3; k++) w->O.p[k] = p[k] + w->d[k];
        for (int k = 0; lm->body != NULL && k < 3; k++) w->T.p[k] = w->O.p[k] + w->r[k];
    }
}

void dyn_velocity(const struct model *model, struct work *work, const struct input *in)
{
    const struct frame world = {.R = {0}};
    dyn_position(model, work);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const struct frame *carrier =
            lm->parent < 0 ? &world : parent_frame(&model->link[lm->parent], &work->link[lm->parent]);
        copy3(carrier->v, w->O.v);
        add_cross3(carrier->omega, w->d, w->O.v);
        for (int k = 0; k < lm->joint.nv; k++)
            if (lm->joint.part[k] == SLIDES) axpy3(in->qd[lm->v + k], w->h[k], w->O.v);
        if (lm->body == NULL) continue;
        copy3(w->O.v, w->T.v);
        add_cross3(w->O.omega, w->r, w->T.v);
        for (int k = 0; k < lm->m; k++) axpy3(in->qd[lm->eta_v + k], w->J[k] + 3, w->T.v);
    }
}
