/* First pass, base to tips: frames, Jacobians of sections and mass blocks of every link at q. World axes throughout, so that quantities
   passed between links are only shifted, never rotated. */
#include <string.h>

#include "dyn/dyn.h"
#include "flex/beam.h"
#include "flex/section.h"
#include "math/lanes.h"
#include "math/sincos.h"
#include "math/vec.h"

#include <math.h>

/* Rotates columns i and j of R, which follow the axis, by the angle with sine s and cosine c */
INLINE void rotate_columns(const int i, const int j, double s, double c, double *R)
{
    for (int row = 0; row < 9; row += 3) {
        const double x = R[row + i], y = R[row + j];
        R[row + i] = c * x + s * y;
        R[row + j] = c * y - s * x;
    }
}

/* R = R_J Rot(axis, q): only the columns normal to the axis change; a general axis by Rodrigues' formula on the rows */
static void rotate_joint(const struct joint_model *joint, const double *h, double s, double c, double *R)
{
    const double turned = joint->axis_sign * s;
    if (joint->axis_index == 2) rotate_columns(0, 1, turned, c, R);
    else if (joint->axis_index == 1) rotate_columns(2, 0, turned, c, R);
    else if (joint->axis_index == 0) rotate_columns(1, 2, turned, c, R);
    else
        for (int i = 0; i < 3; i++) {
            double *r = R + 3 * i, rxa[3];
            cross3(r, joint->axis, rxa);
            const double along = (1 - c) * h[i];
            for (int j = 0; j < 3; j++) r[j] = c * r[j] + s * rxa[j] + along * joint->axis[j];
        }
}

/* Sines and cosines of all joints with one angle */
static void joint_sines(const struct model *model, const double *q, struct joint_angles *a)
{
    bool reducible = true;
    for (int i = 0; i < model->n_links; i++) {
        const struct joint_model *joint = &model->link[i].joint;
        const double angle = joint->nv == 1 && joint->part[0] == TURNS ? q[model->link[i].q] : 0;
        a->angle[i] = angle;
        reducible = reducible && fabs(angle) <= MOST_ANGLE;
    }
    for (int i = 0; i < model->n_links; i += LANES) {
        lanes s, c;
        sincos_lanes(load(a->angle + i), &s, &c);
        store(a->sine + i, s);
        store(a->cosine + i, c);
    }
    for (int i = 0; !reducible && i < model->n_links; i++) {
        a->sine[i] = sin(a->angle[i]);
        a->cosine[i] = cos(a->angle[i]);
    }
}

/* O from the parent frame C:  d, h, R                                                                          (theory.md 20) */
static void hinge_position(const struct link_model *lm, const struct frame *C, const double *q, double sine,
                           double cosine, struct link_work *w)
{
    double *R = w->O.R;
    if (lm->turned) matmul3(C->R, lm->R, R);
    else copy9(C->R, R);
    if (lm->offset) mul3(C->R, lm->t, w->d);
    else memset(w->d, 0, sizeof w->d);

    const struct joint_model *joint = &lm->joint;
    if (joint->nv == 1) {
        double *h = w->h[0];
        if (joint->axis_index >= 0)
            for (int i = 0; i < 3; i++) h[i] = joint->axis_sign * R[3 * i + joint->axis_index];
        else mul3(R, joint->axis, h);
        if (joint->part[0] == TURNS) rotate_joint(joint, h, sine, cosine, R);
        else axpy3(q[lm->q], h, w->d);
    } else if (joint->nv > 1) {
        joint_place(joint, q + lm->q, R, w->h, w->d);
    }
}

/* Columns (R Jl Lambda_k; R (Phi_k - e_x slope_k)): velocity of a section per eta_dot, F fixed; H_eta = H eta or NULL
   (theory.md 22) */
static void section_jacobian(const struct section *section, int m, const double *H_eta, const double *R,
                             const double *Jl, double (*restrict J)[SIX])
{
    double RJ[9];
    matmul3(R, Jl, RJ);
    for (int k = 0; k < m; k++) {
        mul3(RJ, section->Lambda + 3 * k, J[k]);
        mul3(R, section->Phi + 3 * k, J[k] + 3);
    }
    for (int k = 0; H_eta != NULL && k < m; k++)
        for (int i = 0; i < 3; i++) J[k][3 + i] -= H_eta[k] * R[3 * i];
}

/* The same for a beam: a mode rotates about one axis and moves along one, except for foreshortening */
INLINE void beam_jacobian(const int m, const struct section *restrict section, const double *restrict R,
                          const double *restrict RJ, double (*restrict J)[SIX], double *restrict Jt)
{
    for (int k = 0; k < m; k++) {
        const int a = section->axis[k], t = section->turn[k];
        for (int i = 0; i < 3; i++) {
            J[k][i] = Jt[PADDED(m) * i + k] = section->lambda[k] * RJ[3 * i + t];
            J[k][3 + i] = Jt[PADDED(m) * (3 + i) + k] = section->phi[k] * R[3 * i + a];
        }
    }
}

INLINE void beam_jacobian_shortening(const int m, const double *restrict H_eta, const double *restrict R,
                                     double (*restrict J)[SIX], double *restrict Jt)
{
    for (int k = 0; k < m; k++)
        for (int i = 0; i < 3; i++) J[k][3 + i] = Jt[PADDED(m) * (3 + i) + k] -= H_eta[k] * R[3 * i];
}

/* F from O where the hinge node moves:  R_F = R_O Exp(-theta_d),  r_F = -R_F (x_d + u_d),  and
   J_F = (-R W_k; R (W_k x rho_d - Phi_k)),  W = Jl(theta_d) Lambda_d                                   (theory.md 21) */
static void body_frame(const struct body *body, const double *eta, struct link_work *w)
{
    double rho[3], minus[3], E[9], Jl[9];
    section_displacement(&body->hinge, body->m, eta, rho, w->theta_d);
    w->exp_d = rotation_exp_coefficients(dot3(w->theta_d, w->theta_d));
    for (int i = 0; i < 3; i++) minus[i] = -w->theta_d[i];
    rotation_exp(&w->exp_d, minus, E);
    matmul3(w->O.R, E, w->RF);
    mul3(w->RF, rho, w->rF);
    for (int i = 0; i < 3; i++) w->rF[i] = -w->rF[i];

    rotation_left_jacobian(&w->exp_d, w->theta_d, Jl);
    section_jacobian(&body->hinge, body->m, NULL, w->RF, Jl, w->JF); /* (R W_k; R Phi_k) */
    for (int k = 0; k < body->m; k++) {
        double *JF = w->JF[k];
        for (int i = 0; i < 6; i++) JF[i] = -JF[i];
        add_cross3(JF, w->rF, JF + 3); /* (-W) x (-rho) in world axes */
    }
}

/* T of a section and its Jacobian, relative to O                                                       (theory.md 22) */
INLINE void place_section(const struct body *body, const struct section *shape, const double *eta,
                          const struct link_work *w, struct section_work *s)
{
    double u[3], E[9], Jl[9], rT[3];
    section_sum(shape, body->m, eta, u, s->theta); /* u = x + Phi eta - 1/2 eta' H eta e_x,   theta = Lambda eta */
    for (int i = 0; i < 3; i++) u[i] += shape->x[i];
    if (s->H_eta != NULL) {
        section_H_times(shape, body->m, eta, s->H_eta);
        for (int k = 0; k < body->m; k++) u[0] -= 0.5 * s->H_eta[k] * eta[k];
    }
    s->exp = rotation_exp_coefficients(dot3(s->theta, s->theta));
    rotation_exp(&s->exp, s->theta, E);
    matmul3(w->RF, E, s->T.R);
    mul3(w->RF, u, rT);
    rotation_left_jacobian(&s->exp, s->theta, Jl);
    copy3(rT, s->r);
    if (body->beam && w->JF == NULL) {
        matmul3(w->RF, Jl, s->RJ);
        WITH_CONSTANT_COUNT(M, body->m, beam_jacobian(M, shape, w->RF, s->RJ, s->J, s->Jt))
        if (s->H_eta != NULL) WITH_CONSTANT_COUNT(M, body->m, beam_jacobian_shortening(M, s->H_eta, w->RF, s->J, s->Jt))
        return;
    }
    section_jacobian(shape, body->m, s->H_eta, w->RF, Jl, s->J);
    if (w->JF != NULL) { /* J_T = J_T|F + (T relative to F) J_F */
        for (int i = 0; i < 3; i++) s->r[i] += w->rF[i];
        for (int k = 0; k < body->m; k++) {
            axpy6(1, w->JF[k], s->J[k]);
            add_cross3(w->JF[k], rT, s->J[k] + 3);
        }
    }
    for (int k = 0; k < body->m; k++)
        for (int a = 0; a < 6; a++) s->Jt[PADDED(body->m) * a + k] = s->J[k][a];
}

void dyn_section_position(const struct body *body, const struct section *shape, const double *eta,
                          const struct link_work *w, struct section_work *s)
{
    place_section(body, shape, eta, w, s);
}

/* Mass blocks where F is not O: with V_F = X V_O + J_F eta_dot,
   M_rf = X'(M_rf + M_rr J_F),  M_ff = M_ff + J_F' M_rf + M_rf' J_F + J_F' M_rr J_F                     (theory.md 24) */
static void refer_to_hinge(const struct body *body, struct link_work *w)
{
    const int m = body->m, row = PADDED(m);
    for (int k = 0; k < m; k++)
        for (int l = 0; l < m; l++)
            w->M0[row * k + l] = w->body.Mff[row * k + l] + dot6(w->JF[k], w->F[l]) + dot6(w->F[k], w->JF[l]);
    for (int k = 0; k < m; k++) {
        double MJ[6];
        rigid_mul(&w->self, w->JF[k], MJ);
        for (int l = 0; l < m; l++) w->M0[row * k + l] += dot6(MJ, w->JF[l]);
        axpy6(1, MJ, w->F[k]);
        add_cross3(w->rF, w->F[k] + 3, w->F[k]);
    }
    rigid_shift(&w->self, w->rF);
}

/* (m, c, J) in world axes; at eta = 0 the first moment of a beam is along x and its inertia diagonal */
static void rotate_body(const struct body *body, enum elastic_terms terms, struct link_work *w)
{
    const double *R = w->RF, *J = w->body.J;
    struct rigid *self = &w->self;
    if (terms == TERMS_RUTHLESS && body->beam) {
        double RJ[9];
        self->m = body->mass;
        for (int i = 0; i < 3; i++) self->h[i] = R[3 * i] * body->c0[0];
        for (int i = 0; i < 9; i++) RJ[i] = R[i] * J[i % 3];
        self->J[0] = dot3(RJ, R);
        self->J[1] = dot3(RJ + 3, R + 3);
        self->J[2] = dot3(RJ + 6, R + 6);
        self->J[3] = dot3(RJ, R + 3);
        self->J[4] = dot3(RJ, R + 6);
        self->J[5] = dot3(RJ + 3, R + 6);
    } else {
        struct rigid locked = {.m = body->mass};
        copy3(w->body.c, locked.h);
        copy6(J, locked.J);
        rigid_rotate(&locked, R, self);
    }
}

/* Mass blocks in world axes at O */
static void flexible_blocks(const struct link_model *lm, enum elastic_terms terms, const double *eta,
                            struct link_work *w)
{
    const struct body *body = lm->body;
    body_inertia(body, terms, eta, &w->body);
    rotate_body(body, terms, w);
    if (body->beam && w->JF == NULL) {
        beam_coupling(body, terms, &w->body, w->RF, w->F);
    } else {
        for (int k = 0; k < body->m; k++) {
            mul3(w->RF, w->body.coupling[k], w->F[k]);
            mul3(w->RF, w->body.coupling[k] + 3, w->F[k] + 3);
        }
    }
    if (w->JF != NULL) refer_to_hinge(body, w);
    if (lm->has_hub) {
        rigid_rotate(&lm->rigid, w->O.R, &w->hub);
        rigid_add(&w->self, &w->hub);
    }
    if (lm->has_payload) rigid_rotate(&lm->payload, w->section[0].T.R, &w->load);
}

void dyn_configuration(const struct model *model, struct work *work, const double *q)
{
    static const struct frame world = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const struct joint_angles *angles = &work->angles;
    work->done = DYN_CONFIGURATION;
    joint_sines(model, q, &work->angles);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        hinge_position(lm, mount_frame(lm, work, &world), q, angles->sine[i], angles->cosine[i], w);
        if (lm->body == NULL) {
            rigid_rotate(&lm->rigid, w->O.R, &w->self);
        } else {
            if (lm->body->hinge_moves) body_frame(lm->body, q + lm->eta_q, w);
            for (int s = 0; s < lm->n_sections; s++)
                place_section(lm->body, &lm->section[s].shape, q + lm->eta_q, w, &w->section[s]);
            flexible_blocks(lm, model->terms, q + lm->eta_q, w);
        }
    }
}
