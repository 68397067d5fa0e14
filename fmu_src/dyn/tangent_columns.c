/* Per state: derivatives of the inertia forces of a link and of the motion of its tip with respect to eta_k, eta_dot_k and omega of
   O. Computed in F axes by unit variations, stored in world axes. */
#include <string.h>

#include "dyn/tangent.h"
#include "math/vec.h"

/* The link at the state, in F axes. */
struct link_point {
    const struct link_model *lm;
    const struct link_work *w;
    double omega[3], acc[6]; /* of F, eta_ddot included                             */
    double omega_O[3], acc_O[6];
    double omega_T[3], acc_T[6];
    double u[3];         /* v of T minus v of O                                                */
    double fT[6];        /* wrench at T                                                        */
    double b[6];         /* wrench of the body at O                                            */
    double s[6];         /* wrench from the hinge into the body: b + X' fT                     */
    double r[3];         /* T minus O                                                          */
    double YT[9], Yd[9]; /* derivatives by theta of Jl' n: of fT at the tip, of s at the hinge */
    struct rigid body;
};

/* A unit variation and its effect, in F axes; D of the motion of O is zero except for omega. */
struct variation {
    const double *omega_O; /* D omega of O; NULL: none                            */
    int k;                 /* varied coordinate; -1: none                         */
    bool rate;             /* eta_dot_k instead of eta_k                          */
    struct section_variation hinge, tip;
    double omega[3], acc[6]; /* change of F's motion, relative to F                 */
};

static void to_F(const double *R, const double *world, int count, double *out)
{
    for (int i = 0; i < count; i += 3) tmul3(R, world + i, out + i);
}

static void to_world(const double *R, const double *x, int count, double *out)
{
    for (int i = 0; i < count; i += 3) mul3(R, x + i, out + i);
}

static void subtract_cross(const double *a, const double *b, double *c)
{
    add_cross3(b, a, c);
}

/* change of a + alpha x r + omega x (omega x r) + 2 omega x r_dot + r_ddot                             (theory.md 28) */
static void point_variation(const struct section_tangent *s, const struct section_variation *v, const double *omega,
                            const double *alpha, const double *domega, const double *dalpha, double *da)
{
    double wr[3], dwr[3], twice[3], dtwice[3];
    cross3(omega, s->r, wr);
    cross3(domega, s->r, dwr);
    add_cross3(omega, v->r, dwr);
    for (int i = 0; i < 3; i++) {
        twice[i] = wr[i] + 2 * s->rd[i];
        dtwice[i] = dwr[i] + 2 * v->rd[i];
        da[i] = v->rdd[i];
    }
    add_cross3(dalpha, s->r, da);
    add_cross3(alpha, v->r, da);
    add_cross3(domega, twice, da);
    add_cross3(omega, dtwice, da);
}

/* change of w and w_dot of a section:  dw = psi_dot + psi x w,   dw_dot = psi_ddot + psi_dot x w + psi x w_dot */
static void rate_variation(const struct section_tangent *s, const struct section_variation *v, double *dw, double *dwd)
{
    copy3(v->psid, dw);
    add_cross3(v->psi, s->rate, dw);
    copy3(v->psidd, dwd);
    add_cross3(v->psid, s->rate, dwd);
    add_cross3(v->psi, s->rate_dot, dwd);
}

/* F from O if the hinge node moves: (27) differentiated; O rotates relative to F by psi */
static void hinge_to_body(const struct link_point *at, const struct section_tangent *hinge, struct variation *v)
{
    const double *psi = v->hinge.psi;
    double dw[3], dwd[3], point[3];
    rate_variation(hinge, &v->hinge, dw, dwd);
    add_cross3(psi, at->omega_O, v->omega);
    add_cross3(psi, at->acc_O, v->acc);
    add_cross3(psi, at->acc_O + 3, v->acc + 3);
    for (int i = 0; i < 3; i++) {
        v->omega[i] -= dw[i];
        v->acc[i] -= dwd[i];
    }
    add_cross3(dw, at->omega, v->acc);
    add_cross3(hinge->rate, v->omega, v->acc);
    point_variation(hinge, &v->hinge, at->omega, at->acc, v->omega, v->acc, point);
    for (int i = 0; i < 3; i++) v->acc[3 + i] -= point[i];
}

/* Motion of T: (28) differentiated, then relative to T */
static void tip_column(const struct link_point *at, const struct link_tangent *t, const struct variation *v,
                       double *column)
{
    double dw[3], dwd[3], *omega = column, *alpha = column + 3, *a = column + 6, *u = column + 9, dr[3];
    rate_variation(&t->tip, &v->tip, dw, dwd);
    point_variation(&t->tip, &v->tip, at->omega, at->acc, v->omega, v->acc, a);
    for (int i = 0; i < 3; i++) {
        omega[i] = v->omega[i] + dw[i];
        alpha[i] = v->acc[i] + dwd[i];
        a[i] += v->acc[3 + i];
        u[i] = v->tip.rd[i] - v->hinge.rd[i];
        dr[i] = v->tip.r[i] - v->hinge.r[i];
    }
    add_cross3(v->omega, t->tip.rate, alpha);
    add_cross3(at->omega, dw, alpha);
    add_cross3(v->omega, at->r, u); /* u = omega x r + r_dot of T minus that of O */
    add_cross3(at->omega, dr, u);
    subtract_cross(v->tip.psi, at->omega_T, omega);
    subtract_cross(v->tip.psi, at->acc_T, alpha);
    subtract_cross(v->tip.psi, at->acc_T + 3, a);
    subtract_cross(v->tip.psi, at->u, u);
}

/* Wrench on F:  columns of the body + M_rr dacc */
static void body_column(const struct link_point *at, const struct link_tangent *t, const struct variation *v,
                        double *wrench)
{
    rigid_mul(&at->body, v->acc, wrench);
    add_mul3(t->body.Nw, v->omega, wrench);
    add_mul3(t->body.Nw + 9, v->omega, wrench + 3);
    if (v->k >= 0) axpy6(1, v->rate ? t->body.Nv[v->k] : t->body.Nq[v->k], wrench);
}

/* Modal forces of the body:  columns + M_rf' dacc */
static void modal_column(const struct link_point *at, const struct link_tangent *t, const struct variation *v,
                         double *modal)
{
    const int m = at->lm->m;
    const double *own = v->k < 0 ? NULL : (v->rate ? t->body.Gv : t->body.Gq) + PADDED(m) * v->k;
    for (int j = 0; j < m; j++) {
        modal[j] = dot3(t->body.Gw[j], v->omega) + (own != NULL ? own[j] : 0);
        if (at->w->JF != NULL) modal[j] += dot6(at->w->body.coupling[j], v->acc);
    }
}

/* The wrench at T acts on the modes through J, which depends on eta:  Lambda' Y Lambda_k - H_k f_x */
static void add_geometric(const struct section *section, int m, int k, const double *Y, double fx, double sign,
                          double *modal)
{
    double y[3];
    mul3(Y, section->Lambda + 3 * k, y);
    for (int j = 0; j < m; j++) {
        double g = dot3(section->Lambda + 3 * j, y);
        if (section->H != NULL) g -= section->H[PADDED(m) * j + k] * fx;
        modal[j] += sign * g;
    }
}

/* If the hinge node moves: the wrench at O, n - rho x f, relative to O, and the modal forces of it and of fT. fT is constant in O,
   so it rotates relative to F by psi. */
static void refer_to_hinge(const struct link_point *at, const struct link_tangent *t, const struct variation *v,
                           double *wrench, double *modal)
{
    const struct body *body = at->lm->body;
    const double *psi = v->hinge.psi;
    double s[6], turned[6], dr[3], Jn[3], JnT[3];
    subtract_cross(t->hinge.r, wrench + 3, wrench);
    subtract_cross(v->hinge.r, at->b + 3, wrench);
    copy6(wrench, s);
    for (int i = 0; i < 6; i += 3) {
        cross3(psi, at->fT + i, turned + i);
        subtract_cross(psi, at->b + i, wrench + i);
    }
    for (int i = 0; i < 3; i++) dr[i] = v->tip.r[i] - v->hinge.r[i];
    wrench_add_shifted(s, turned, at->r);
    add_cross3(dr, at->fT + 3, s);
    tmul3(t->hinge.turn.J, s, Jn);
    tmul3(t->tip.turn.J, turned, JnT);
    for (int j = 0; j < body->m; j++)
        modal[j] += section_force(&body->tip, &t->tip, j, JnT, turned + 3) -
                    section_force(&body->hinge, &t->hinge, j, Jn, s + 3);
    if (v->k >= 0 && !v->rate) add_geometric(&body->hinge, body->m, v->k, at->Yd, at->s[3], -1, modal);
}

/* One variation: columns of the wrench at O, the motion of T and the modal forces */
static void vary(const struct link_point *at, const struct link_tangent *t, struct variation *v, double *wrench,
                 double *motion, double *modal)
{
    const struct body *body = at->lm->body;
    const double *R = at->w->RF;
    double n[6], x[12];
    memset(v->omega, 0, sizeof v->omega);
    memset(v->acc, 0, sizeof v->acc);
    if (v->omega_O != NULL) copy3(v->omega_O, v->omega);
    if (at->w->JF != NULL) hinge_to_body(at, &t->hinge, v);
    body_column(at, t, v, n);
    modal_column(at, t, v, modal);
    if (at->w->JF != NULL) refer_to_hinge(at, t, v, n, modal);
    if (v->k >= 0 && !v->rate) add_geometric(&body->tip, body->m, v->k, at->YT, at->fT[3], 1, modal);
    tip_column(at, t, v, x);
    to_world(R, n, 6, wrench);
    to_world(R, x, 12, motion);
}

/* The motion of T if F is O, which is at rest:  with sigma = psi_dot + omega x psi
   omega: sigma,   alpha: psi_ddot + omega x psi_dot + sigma x w + alpha x psi,   a: B r + 2 omega x r_dot + r_ddot + a_T x psi */
static void clamped_column(const struct link_point *at, const struct section_tangent *tip,
                           const struct section_variation *v, double *column)
{
    double *sigma = column, *alpha = column + 3, *a = column + 6, *u = column + 9;
    copy3(v->psid, sigma);
    add_cross3(at->omega, v->psi, sigma);
    copy3(v->psidd, alpha);
    add_cross3(at->omega, v->psid, alpha);
    add_cross3(sigma, tip->rate, alpha);
    add_cross3(at->acc, v->psi, alpha);
    copy3(v->rd, u);
    add_cross3(at->omega, v->r, u); /* then omega x (omega x r) + 2 omega x r_dot = omega x (u + r_dot) */
    const double twice[3] = {u[0] + v->rd[0], u[1] + v->rd[1], u[2] + v->rd[2]};
    copy3(v->rdd, a);
    add_cross3(at->acc, v->r, a);
    add_cross3(at->omega, twice, a);
    add_cross3(at->acc_T + 3, v->psi, a);
    add_cross3(at->u, v->psi, u);
}

/* The columns of a mode if F is O: vary() without the terms that are then zero */
static void vary_clamped(const struct link_point *at, const struct link_tangent *t, const struct variation *v,
                         double *wrench, double *motion, double *modal)
{
    const int m = at->lm->m;
    double x[12];
    to_world(at->w->RF, v->rate ? t->body.Nv[v->k] : t->body.Nq[v->k], 6, wrench);
    memcpy(modal, (v->rate ? t->body.Gv : t->body.Gq) + PADDED(m) * v->k, (size_t)m * sizeof(double));
    if (!v->rate) add_geometric(&at->lm->body->tip, m, v->k, at->YT, at->fT[3], 1, modal);
    clamped_column(at, &t->tip, &v->tip, x);
    to_world(at->w->RF, x, 12, motion);
}

/* Columns of eta_k and eta_dot_k */
static void vary_mode(const struct link_point *at, struct link_tangent *t, int k)
{
    const struct body *body = at->lm->body;
    const int column = PADDED(body->m) * k;
    struct variation v = {.k = k};
    section_vary_position(&body->tip, &t->tip, k, &v.tip);
    if (at->w->JF != NULL) {
        section_vary_position(&body->hinge, &t->hinge, k, &v.hinge);
        vary(at, t, &v, t->Bq[k], t->Tq[k], t->Gq + column);
    } else vary_clamped(at, t, &v, t->Bq[k], t->Tq[k], t->Gq + column);
    v.rate = true;
    section_vary_rate(&body->tip, &t->tip, k, &v.tip);
    if (at->w->JF != NULL) {
        section_vary_rate(&body->hinge, &t->hinge, k, &v.hinge);
        vary(at, t, &v, t->Bv[k], t->Tv[k], t->Gv + column);
    } else vary_clamped(at, t, &v, t->Bv[k], t->Tv[k], t->Gv + column);
}

/* Columns of a rigid body's wrench per omega:  n: e x J omega + omega x J e,   f: e x (omega x h) + omega x (e x h) */
static void add_spin(const struct rigid *body, const double *omega, double (*column)[SIX])
{
    double Jw[3], wh[3];
    symmul3(body->J, omega, Jw);
    cross3(omega, body->h, wh);
    for (int i = 0; i < 3; i++) {
        double e[3] = {0}, Je[3], eh[3];
        e[i] = 1;
        symmul3(body->J, e, Je);
        cross3(e, body->h, eh);
        add_cross3(e, Jw, column[i]);
        add_cross3(omega, Je, column[i]);
        add_cross3(e, wh, column[i] + 3);
        add_cross3(omega, eh, column[i] + 3);
    }
}

/* The motion of F with eta_ddot, the motions of O and T in F axes, and the wrenches on the body */
static void set_link_point(const struct link_model *lm, const struct link_work *w, const double *eta,
                           const double *etad, const double *etadd, const double *other, struct link_point *at)
{
    const double *R = w->RF;
    double v[3], b[6];
    at->lm = lm;
    at->w = w;
    body_motion(lm->body, w, eta, etad, at->omega, at->acc);
    for (int k = 0; w->JF != NULL && k < lm->m; k++) {
        double J[6];
        to_F(R, w->JF[k], 6, J);
        axpy6(etadd[k], J, at->acc);
    }
    to_F(R, w->O.omega, 3, at->omega_O);
    to_F(R, w->O.acc, 6, at->acc_O);
    to_F(R, w->T.omega, 3, at->omega_T);
    to_F(R, w->T.acc, 6, at->acc_T);
    for (int i = 0; i < 3; i++) v[i] = w->T.v[i] - w->O.v[i];
    to_F(R, v, 3, at->u);
    to_F(R, w->r, 3, at->r);
    to_F(R, w->fT, 6, at->fT);
    for (int i = 0; i < 6; i++) b[i] = w->b[i] - other[i];
    to_F(R, b, 6, at->b);
    copy6(at->b, at->s);
    wrench_add_shifted(at->s, at->fT, at->r);
    at->body.m = lm->body->mass;
    copy3(w->body.c, at->body.h);
    copy6(w->body.J, at->body.J);
    rotation_force_derivative(&w->exp, w->theta, at->fT, at->YT);
    if (w->JF != NULL) rotation_force_derivative(&w->exp_d, w->theta_d, at->s, at->Yd);
}

static void flexible_columns(const struct model *model, const struct link_model *lm, const struct link_work *w,
                             const double *eta, const double *etad, const double *etadd, const double *other,
                             struct link_tangent *t)
{
    const struct body *body = lm->body;
    const int m = lm->m, row = PADDED(m);
    struct link_point at;
    set_link_point(lm, w, eta, etad, etadd, other, &at);
    body_tangent(body, model->terms, &w->body, eta, etad, etadd, at.omega, at.acc, &t->body);
    section_tangent(&body->tip, m, eta, etad, etadd, &t->tip);
    if (w->JF != NULL) section_tangent(&body->hinge, m, eta, etad, etadd, &t->hinge);

    for (int k = 0; k < m; k++) {
        vary_mode(&at, t, k);
        if (body->diagonal) t->Gq[(row + 1) * k] += body->K[(m + 1) * k];
        for (int j = 0; j < m; j++) {
            if (!body->diagonal) t->Gq[row * k + j] += body->K[m * j + k];
            if (body->damped) t->Gv[row * k + j] += body->D[m * j + k];
        }
        for (int i = 0; i < 6; i++) t->Ft[row * i + k] = w->F[k][i];
    }
    for (int i = 0; i < 3; i++) {
        struct variation v = {.k = -1, .omega_O = w->RF + 3 * i}; /* world axis i in F */
        vary(&at, t, &v, t->Bw[i], t->Tw[i], t->Gw + row * i);
    }
}

/* The part of w->b that is not from the flexible body: the inertia wrench of the hub minus the loads on O */
static void other_wrench(const struct link_model *lm, const struct link_work *w, const struct input *in, int link,
                         double wrench[6])
{
    memset(wrench, 0, 6 * sizeof *wrench);
    if (lm->has_hub) rigid_wrench(&w->hub, w->O.omega, w->O.acc, wrench);
    for (int i = 0; i < in->n_loads; i++)
        if (in->load[i].link == link && in->load[i].frame == POINT_HINGE) axpy6(-1, in->load[i].wrench, wrench);
}

/* The change of the subspace and of the forces of friction, springs and stops: (D H)' f - d(friction, springs, stops)  (67, 71) */
static void joint_columns(const struct link_model *lm, const struct link_work *w, const struct input *in,
                          const double *qdd, struct link_tangent *t)
{
    const struct joint_model *joint = &lm->joint;
    double by_q[MOST_VELOCITIES][MOST_VELOCITIES], by_qd[MOST_VELOCITIES][MOST_VELOCITIES];
    if (joint->nv == 0) return;
    joint_force_slopes(joint, in->q + lm->q, in->qd + lm->v, by_q, by_qd);
    if (joint->several_turns) {
        joint_subspace_change(joint, (const double(*)[3])w->h, in->qd + lm->v, qdd + lm->v, &t->subspace);
        joint_force_turn(joint, (const double(*)[3])w->h, w->f, t->Kq);
    } else memset(t->Kq, 0, sizeof t->Kq);
    for (int k = 0; k < joint->nv; k++)
        for (int j = 0; j < joint->nv; j++) {
            t->Kq[k][j] -= by_q[k][j];
            t->Kv[k][j] = -by_qd[k][j];
        }
}

void dyn_tangent_state(const struct model *model, const struct work *work, struct tangent *tangent,
                       const struct input *in, const double *qdd)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i];
        memset(t->Bw, 0, sizeof t->Bw);
        joint_columns(lm, w, in, qdd, t);
        if (lm->body == NULL) {
            add_spin(&w->self, w->O.omega, t->Bw);
            continue;
        }
        double other[6];
        other_wrench(lm, w, in, i, other);
        flexible_columns(model, lm, w, in->q + lm->eta_q, in->qd + lm->eta_v, qdd + lm->eta_v, other, t);
        if (lm->has_hub) add_spin(&w->hub, w->O.omega, t->Bw);
        memset(t->Lw, 0, sizeof t->Lw);
        if (lm->has_payload) add_spin(&w->load, w->T.omega, t->Lw);
    }
}
