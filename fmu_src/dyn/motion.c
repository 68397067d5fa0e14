/* Second pass, base to tips: angular velocities, accelerations and the resulting inertia forces. Gravity is an
   acceleration of the base, so it enters once. */
#include <string.h>

#include "dyn/dyn.h"
#include "flex/section.h"
#include "math/vec.h"

/* Motion of O (theory.md 25, 26, 62 to 64): a rotational column adds h qd to omega and omega_c x h qd + h qdd to alpha, a
   translational one 2 omega_c x h qd + h qdd to a; the rate of the subspace adds zeta to alpha */
INLINE void hinge_motion(const int nv, const struct link_model *lm, const struct frame *C, const double *qd,
                         const double *qdd, struct link_work *w)
{
    acceleration_shift(C->omega, C->acc, w->d, w->O.acc);
    copy3(C->omega, w->O.omega);
    for (int k = 0; k < nv; k++) {
        const double *h = w->h[k];
        double wh[3];
        cross3(C->omega, h, wh);
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

/* Motion of F in F axes, from that of O (theory.md 27); if the hinge node moves
   omega = omega_O - w_d,  alpha = alpha_O - omega x w_d - wd_d,
   a = a_O - alpha x rho - omega x (omega x rho) - 2 omega x rho_dot - rho_ddot */
void dyn_body_motion(const struct body *body, const struct link_work *w, const double *eta, const double *etad,
                     double omega[3], double acc[6])
{
    tmul3(w->RF, w->O.omega, omega);
    tmul3(w->RF, w->O.acc, acc);
    tmul3(w->RF, w->O.acc + 3, acc + 3);
    if (w->JF == NULL) return;

    double rho[3], rd[3], td[3], rdd[3], wd[3], wdd[3], at_F[6], coriolis[3];
    section_rates(&body->hinge, body->m, eta, etad, rd, td, rdd);
    rotation_rate(&w->exp_d, w->theta_d, td, wd, wdd);
    tmul3(w->RF, w->rF, rho); /* minus rho */
    for (int i = 0; i < 3; i++) {
        omega[i] -= wd[i];
        acc[i] -= wdd[i];
    }
    add_cross3(wd, omega, acc);
    acceleration_shift(omega, acc, rho, at_F);
    cross3(omega, rd, coriolis);
    for (int i = 0; i < 3; i++) acc[3 + i] = at_F[3 + i] - (2 * coriolis[i] + rdd[i]);
}

void dyn_body_acceleration(const struct body *body, const struct link_work *w, const double *etadd, double acc[6])
{
    for (int k = 0; w->JF != NULL && k < body->m; k++) {
        double J[6];
        tmul3(w->RF, w->JF[k], J);
        tmul3(w->RF, w->JF[k] + 3, J + 3);
        axpy6(etadd[k], J, acc);
    }
}

/* Motion of T of section i from that of F, in world axes, for eta_ddot = 0; r: T minus F (theory.md 28)
   omega + w,  alpha + omega x w + w_dot,  a + alpha x r + omega x (omega x r) + 2 omega x r_dot + r_ddot */
static void section_from_body(const struct link_model *lm, int i, const double *etad, const struct frame *F,
                              const double *r, struct link_work *w)
{
    const struct section *shape = &lm->section[i].shape;
    struct section_work *s = &w->section[i];
    double rd[3], td[3], rate[3], rate_dot[3], R_rd[3], R_rdd[3] = {0}, R_rate[3], R_rate_dot[3], coriolis[3];
    section_sum(shape, lm->m, etad, rd, td);
    if (s->H_eta != NULL) { /* r_dot -= eta_dot' H eta e_x,   r_ddot = -eta_dot' H eta_dot e_x */
        const double f_dd = section_form(shape, lm->m, etad);
        for (int k = 0; k < lm->m; k++) rd[0] -= s->H_eta[k] * etad[k];
        for (int k = 0; k < 3; k++) R_rdd[k] = -f_dd * w->RF[3 * k];
    }
    rotation_rate(&s->exp, s->theta, td, rate, rate_dot);
    mul3(w->RF, rd, R_rd);
    mul3(w->RF, rate, R_rate);
    mul3(w->RF, rate_dot, R_rate_dot);
    acceleration_shift(F->omega, F->acc, r, s->T.acc);
    cross3(F->omega, R_rd, coriolis);
    for (int k = 0; k < 3; k++) {
        s->T.omega[k] = F->omega[k] + R_rate[k];
        s->T.acc[k] += R_rate_dot[k];
        s->T.acc[3 + k] += 2 * coriolis[k] + R_rdd[k];
    }
    add_cross3(F->omega, R_rate, s->T.acc);
}

/* The same of sections [from, to); (omega; acc) of F in F axes */
INLINE void sections_motion(const struct link_model *lm, int from, int to, const double *etad, const double *omega,
                            const double *acc, struct link_work *w)
{
    struct frame F;
    if (w->JF == NULL) {
        for (int i = from; i < to; i++) section_from_body(lm, i, etad, &w->O, w->section[i].r, w);
        return;
    }
    mul3(w->RF, omega, F.omega);
    mul3(w->RF, acc, F.acc);
    mul3(w->RF, acc + 3, F.acc + 3);
    for (int i = from; i < to; i++) {
        const double *r = w->section[i].r, from_F[3] = {r[0] - w->rF[0], r[1] - w->rF[1], r[2] - w->rF[2]};
        section_from_body(lm, i, etad, &F, from_F, w);
    }
}

/* Inertia forces of the body at O, and the motion of its sections, for eta_ddot = 0 */
static void flexible_motion(const struct link_model *lm, enum elastic_terms terms, const double *eta,
                            const double *etad, struct link_work *w)
{
    const struct body *body = lm->body;
    double omega[3], acc[6], wrench[6];
    dyn_body_motion(body, w, eta, etad, omega, acc);
    body_force(body, terms, &w->body, eta, etad, omega, acc, wrench, w->b_eta);
    mul3(w->RF, wrench, w->b);
    mul3(w->RF, wrench + 3, w->b + 3);
    if (w->JF != NULL) {
        for (int k = 0; k < body->m; k++) w->b_eta[k] += dot6(w->JF[k], w->b);
        add_cross3(w->rF, w->b + 3, w->b);
    }
    sections_motion(lm, 0, lm->n_sections, etad, omega, acc, w);
    if (lm->has_hub) {
        double hub[6];
        rigid_wrench(&w->hub, w->O.omega, w->O.acc, hub);
        axpy6(1, hub, w->b);
    }
}

/* Terms in eta_ddot: (b; b_eta) += (M_rf; M_ff) eta_ddot,  acc_T += J eta_ddot */
INLINE void add_modal_acceleration(const int m, const double *restrict etadd, int n_sections,
                                   struct link_work *restrict w)
{
    const int row = PADDED(m);
    double b[SIX] = {0};
    add_rows(m, etadd, (const double(*)[SIX])w->F, b);
    axpy6(1, b, w->b);
    for (int s = 0; s < n_sections; s++) {
        double acc[SIX] = {0};
        add_rows(m, etadd, (const double(*)[SIX])w->section[s].J, acc);
        axpy6(1, acc, w->section[s].T.acc);
    }
    for (int l = 0; l < row; l += LANES) {
        lanes sum = load(w->b_eta + l);
        for (int k = 0; k < m; k++) sum += etadd[k] * load(w->M0 + row * k + l);
        store(w->b_eta + l, sum);
    }
}

/* Not inlined, so that rigid links do not save the registers it needs */
static __attribute__((noinline)) void add_modal_accelerations(const struct link_model *lm, const double *etadd,
                                                              struct link_work *w)
{
    const int n_sections = lm->n_sections;
    WITH_CONSTANT_COUNT(M, lm->m, add_modal_acceleration(M, etadd, n_sections, w))
}

/* Inertia wrenches of what is fixed to the sections: the payload at the tip */
INLINE void section_wrenches(const struct link_model *lm, struct link_work *w)
{
    struct section_work *tip = &w->section[0];
    if (lm->has_payload) rigid_wrench(&w->load, tip->T.omega, tip->T.acc, tip->b);
    else memset(tip->b, 0, sizeof tip->b);
    for (int s = 1; s < lm->n_sections; s++) memset(w->section[s].b, 0, sizeof w->section[s].b);
}

static void apply_load(struct work *work, const struct load *load)
{
    if (load->link < 0) return;
    struct link_work *w = &work->link[load->link];
    axpy6(-1, load->wrench, load->section < 0 ? w->b : w->section[load->section].b);
}

static void apply_wrench(struct work *work, const struct anchor *anchor, const double *wrench)
{
    const struct load load = dyn_anchor_load(work, anchor, wrench);
    apply_load(work, &load);
}

void dyn_motion(const struct model *model, struct work *work, const struct input *in, const double *qdd)
{
    NEEDS(work, DYN_CONFIGURATION);
    for (int k = 0; k < 3; k++) work->world.acc[3 + k] = -model->gravity[k];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const struct frame *C = mount_frame(lm, work);
        const double *qd = in->qd + lm->v, *accelerations = qdd != NULL ? qdd + lm->v : prescribed_acceleration(lm, in);
        WITH_COLUMNS(N, lm->joint.nv, hinge_motion(N, lm, C, qd, accelerations, w));
        if (lm->body == NULL) {
            rigid_wrench(&w->self, w->O.omega, w->O.acc, w->b);
        } else {
            flexible_motion(lm, model->terms, in->q + lm->eta_q, in->qd + lm->eta_v, w);
            if (qdd != NULL) add_modal_accelerations(lm, qdd + lm->eta_v, w);
            section_wrenches(lm, w);
        }
    }
    if (in->tip_wrench != NULL) apply_wrench(work, &model->tip_frame, in->tip_wrench);
    for (int i = 0; in->frame_wrench != NULL && i < model->robot->n_frames; i++)
        if (model_frame_acts(model, i)) apply_wrench(work, &model->frame[i], in->frame_wrench + 6 * i);
    if (in->n_loads > 0) dyn_add_loads(work, in->n_loads, in->load);
    work->done = (work->done & ~(unsigned)(DYN_VELOCITY | DYN_OBSERVED | DYN_REACTIONS)) | DYN_MOTION;
}

void dyn_add_loads(struct work *work, int n_loads, const struct load *load)
{
    for (int i = 0; i < n_loads; i++) apply_load(work, &load[i]);
}

void dyn_position(const struct model *model, struct work *work)
{
    NEEDS(work, DYN_CONFIGURATION);
    work->done |= DYN_POSITION;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const double *p = mount_frame(lm, work)->p;
        for (int k = 0; k < 3; k++) w->O.p[k] = p[k] + w->d[k];
        for (int s = 0; s < lm->n_sections; s++)
            for (int k = 0; k < 3; k++) w->section[s].T.p[k] = w->O.p[k] + w->section[s].r[k];
    }
}

static void section_velocity(const struct link_work *w, int m, const double *etad, struct section_work *s)
{
    copy3(w->O.v, s->T.v);
    add_cross3(w->O.omega, s->r, s->T.v);
    for (int k = 0; k < m; k++) axpy3(etad[k], s->J[k] + 3, s->T.v);
}

void dyn_velocity(const struct model *model, struct work *work, const struct input *in)
{
    NEEDS(work, DYN_MOTION);
    dyn_position(model, work);
    work->done |= DYN_VELOCITY;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const struct frame *C = mount_frame(lm, work);
        copy3(C->v, w->O.v);
        add_cross3(C->omega, w->d, w->O.v);
        for (int k = 0; k < lm->joint.nv; k++)
            if (lm->joint.part[k] == SLIDES) axpy3(in->qd[lm->v + k], w->h[k], w->O.v);
        for (int s = 0; s < lm->n_sections; s++) section_velocity(w, lm->m, in->qd + lm->eta_v, &w->section[s]);
    }
}

void dyn_observe(const struct model *model, struct work *work, const struct input *in, const double *qdd)
{
    NEEDS(work, DYN_VELOCITY);
    work->done |= DYN_OBSERVED;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const double *eta = in->q + lm->eta_q, *etad = in->qd + lm->eta_v;
        const int from = lm->n_sections, to = lm->n_all_sections;
        double omega[3], acc[6];
        if (from == to) continue;
        dyn_body_motion(lm->body, w, eta, etad, omega, acc);
        for (int s = from; s < to; s++) dyn_section_position(lm->body, &lm->section[s].shape, eta, w, &w->section[s]);
        sections_motion(lm, from, to, etad, omega, acc, w);
        for (int s = from; s < to; s++) {
            struct section_work *section = &w->section[s];
            for (int k = 0; k < 3; k++) section->T.p[k] = w->O.p[k] + section->r[k];
            section_velocity(w, lm->m, etad, section);
            for (int k = 0; qdd != NULL && k < lm->m; k++) axpy6(qdd[lm->eta_v + k], section->J[k], section->T.acc);
        }
    }
}
