/* Per state: derivatives of the inertia forces of a link and of the motions of its sections with respect to eta_k, eta_dot_k and omega of
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
    double b[6];  /* wrench of the body at O                                            */
    double s[6];  /* wrench from the hinge into the body: b + sum X' f of the sections  */
    double Yd[9]; /* derivative by theta_d of Jl' n of s at the hinge                   */
    struct rigid body;
};

/* A unit variation and its effect, in F axes; D of the motion of O is zero except for omega. */
struct variation {
    int axis;                       /* of D omega of O, world; -1: none                    */
    int k;                          /* varied coordinate; -1: none                         */
    bool rate;                      /* eta_dot_k instead of eta_k                          */
    struct section_variation hinge; /* zero if F is O                                      */
    double omega[3], acc[6];        /* change of F's motion, relative to F                 */
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

/* Motion of T: (28) differentiated, then relative to T */
static void section_column(const struct link_point *at, const struct section_derivative *s, const struct variation *v,
                           double *column)
{
    const struct section_variation *own = &s->variation;
    double dw[3], dwd[3], *omega = column, *alpha = column + 3, *a = column + 6, *u = column + 9, dr[3];
    rate_variation(&s->shape, own, dw, dwd);
    point_variation(&s->shape, own, at->omega, at->acc, v->omega, v->acc, a);
    for (int i = 0; i < 3; i++) {
        omega[i] = v->omega[i] + dw[i];
        alpha[i] = v->acc[i] + dwd[i];
        a[i] += v->acc[3 + i];
        u[i] = own->rd[i] - v->hinge.rd[i];
        dr[i] = own->r[i] - v->hinge.r[i];
    }
    add_cross3(v->omega, s->shape.rate, alpha);
    add_cross3(at->omega, dw, alpha);
    add_cross3(v->omega, s->r, u); /* u = omega x r + r_dot of T minus that of O */
    add_cross3(at->omega, dr, u);
    subtract_cross(own->psi, s->omega, omega);
    subtract_cross(own->psi, s->acc, alpha);
    subtract_cross(own->psi, s->acc + 3, a);
    subtract_cross(own->psi, s->u, u);
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

/* If the hinge node moves: the wrench at O, n - rho x f, relative to O, and the modal forces of it and of the sections. The wrench
   of a section is constant in O, so it rotates relative to F by psi; s is the change of the wrench from the hinge into the body. */
static void refer_to_hinge(const struct link_point *at, const struct link_tangent *t, const struct variation *v,
                           double *wrench, double *modal)
{
    const struct body *body = at->lm->body;
    const double *psi = v->hinge.psi;
    const int m = body->m;
    double s[6], Jn[3];
    subtract_cross(t->hinge.r, wrench + 3, wrench);
    subtract_cross(v->hinge.r, at->b + 3, wrench);
    copy6(wrench, s);
    for (int i = 0; i < 6; i += 3) subtract_cross(psi, at->b + i, wrench + i);
    for (int i = 0; i < at->lm->n_sections; i++) {
        const struct section *shape = &at->lm->section[i].shape;
        const struct section_derivative *T = &t->section[i];
        double turned[6], dr[3];
        cross3(psi, T->f, turned);
        cross3(psi, T->f + 3, turned + 3);
        for (int k = 0; k < 3; k++) dr[k] = T->variation.r[k] - v->hinge.r[k];
        wrench_add_shifted(s, turned, T->r);
        add_cross3(dr, T->f + 3, s);
        tmul3(T->shape.turn.J, turned, Jn);
        for (int j = 0; j < m; j++) modal[j] += section_force(shape, &T->shape, j, Jn, turned + 3);
    }
    tmul3(t->hinge.turn.J, s, Jn);
    for (int j = 0; j < m; j++) modal[j] -= section_force(&body->hinge, &t->hinge, j, Jn, s + 3);
    if (v->k >= 0 && !v->rate) add_geometric(&body->hinge, m, v->k, at->Yd, at->s[3], -1, modal);
}

/* The motion of T if F is O, which is at rest:  with sigma = psi_dot + omega x psi
   omega: sigma,   alpha: psi_ddot + omega x psi_dot + sigma x w + alpha x psi,   a: B r + 2 omega x r_dot + r_ddot + a_T x psi */
INLINE void clamped_column(const struct link_point *at, const struct section_derivative *s,
                           const struct section_variation *v, double *column)
{
    double *sigma = column, *alpha = column + 3, *a = column + 6, *u = column + 9;
    copy3(v->psid, sigma);
    add_cross3(at->omega, v->psi, sigma);
    copy3(v->psidd, alpha);
    add_cross3(at->omega, v->psid, alpha);
    add_cross3(sigma, s->shape.rate, alpha);
    add_cross3(at->acc, v->psi, alpha);
    copy3(v->rd, u);
    add_cross3(at->omega, v->r, u); /* then omega x (omega x r) + 2 omega x r_dot = omega x (u + r_dot) */
    const double twice[3] = {u[0] + v->rd[0], u[1] + v->rd[1], u[2] + v->rd[2]};
    copy3(v->rdd, a);
    add_cross3(at->acc, v->r, a);
    add_cross3(at->omega, twice, a);
    add_cross3(s->acc + 3, v->psi, a);
    add_cross3(s->u, v->psi, u);
}

/* The effect of a variation on a section without its motion in F */
static void vary_shape(const struct section *shape, const struct section_tangent *t, const struct variation *v,
                       struct section_variation *effect)
{
    if (v->k < 0) memset(effect, 0, sizeof *effect);
    else if (v->rate) section_vary_rate(shape, t, v->k, effect);
    else section_vary_position(shape, t, v->k, effect);
}

/* The change of F's motion; if the hinge node moves, (27) differentiated: O rotates relative to F by psi */
static void vary_body(const struct link_point *at, const struct link_tangent *t, struct variation *v)
{
    const struct section_tangent *hinge = &t->hinge;
    const double *psi = v->hinge.psi;
    double dw[3], dwd[3], point[3];
    memset(v->omega, 0, sizeof v->omega);
    memset(v->acc, 0, sizeof v->acc);
    if (v->axis >= 0) copy3(at->w->RF + 3 * v->axis, v->omega); /* a world axis in F */
    if (at->w->JF == NULL) return;
    vary_shape(&at->lm->body->hinge, hinge, v, &v->hinge);
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

/* Columns of the motions of the sections [from, to) with a mode */
static void vary_sections(const struct link_point *at, struct link_tangent *t, const struct variation *v, int from,
                          int to)
{
    for (int i = from; i < to; i++) {
        struct section_derivative *s = &t->section[i];
        double x[12];
        vary_shape(&at->lm->section[i].shape, &s->shape, v, &s->variation);
        if (v->k < 0) continue;
        if (at->w->JF != NULL) section_column(at, s, v, x);
        else clamped_column(at, s, &s->variation, x);
        to_world(at->w->RF, x, 12, v->rate ? s->Tv[v->k] : s->Tq[v->k]);
    }
}

/* Columns of the motions of the sections, the wrench at O and the modal forces */
static void vary(const struct link_point *at, struct link_tangent *t, struct variation *v, double *wrench,
                 double *modal)
{
    const int m = at->lm->m;
    const bool moves = at->w->JF != NULL;
    double n[6] = {0};
    vary_body(at, t, v);
    if (moves || v->k >= 0) vary_sections(at, t, v, 0, at->lm->n_sections);

    /* on F: columns of the body + (M_rr; M_rf') dacc */
    memset(modal, 0, (size_t)m * sizeof *modal);
    if (v->k >= 0) {
        copy6(v->rate ? t->body.Nv[v->k] : t->body.Nq[v->k], n);
        memcpy(modal, (v->rate ? t->body.Gv : t->body.Gq) + PADDED(m) * v->k, (size_t)m * sizeof *modal);
    }
    if (moves || v->axis >= 0) {
        double turned[6];
        rigid_mul(&at->body, v->acc, turned);
        add_mul3(t->body.Nw, v->omega, turned);
        add_mul3(t->body.Nw + 9, v->omega, turned + 3);
        axpy6(1, turned, n);
        for (int j = 0; j < m; j++) modal[j] += dot3(t->body.Gw[j], v->omega);
    }
    if (moves) {
        for (int j = 0; j < m; j++) modal[j] += dot6(at->w->body.coupling[j], v->acc);
        refer_to_hinge(at, t, v, n, modal);
    }
    to_world(at->w->RF, n, 6, wrench);
}

/* Columns of eta_k and eta_dot_k */
static void vary_mode(const struct link_point *at, struct link_tangent *t, int k)
{
    const int column = PADDED(at->lm->m) * k;
    struct variation v = {.axis = -1, .k = k};
    vary(at, t, &v, t->Bq[k], t->Gq + column);
    v.rate = true;
    vary(at, t, &v, t->Bv[k], t->Gv + column);
    for (int i = 0; i < at->lm->n_sections; i++) /* the wrenches at the sections act on the modes through J */
        add_geometric(&at->lm->section[i].shape, at->lm->m, k, t->section[i].Y, t->section[i].f[3], 1, t->Gq + column);
}

/* A link's coordinates and accelerations */
struct modal_state {
    const double *eta, *etad, *etadd;
};

/* The motion and the wrench of a section in F axes */
static void set_section(const struct section_model *sm, const struct link_work *w, const struct section_work *sw, int m,
                        const struct modal_state *x, struct section_derivative *s)
{
    double v[3];
    section_tangent(&sm->shape, m, x->eta, x->etad, x->etadd, &s->shape);
    to_F(w->RF, sw->T.omega, 3, s->omega);
    to_F(w->RF, sw->T.acc, 6, s->acc);
    for (int i = 0; i < 3; i++) v[i] = sw->T.v[i] - w->O.v[i];
    to_F(w->RF, v, 3, s->u);
    to_F(w->RF, sw->r, 3, s->r);
    to_F(w->RF, sw->f, 6, s->f);
    rotation_force_derivative(&sw->exp, sw->theta, s->f, s->Y);
}

/* The motion of F with eta_ddot and the motion of O, in F axes */
static void set_body_motion(const struct link_model *lm, const struct link_work *w, const struct modal_state *x,
                            struct link_point *at)
{
    at->lm = lm;
    at->w = w;
    dyn_body_motion(lm->body, w, x->eta, x->etad, at->omega, at->acc);
    dyn_body_acceleration(lm->body, w, x->etadd, at->acc);
    to_F(w->RF, w->O.omega, 3, at->omega_O);
    to_F(w->RF, w->O.acc, 6, at->acc_O);
}

static void flexible_columns(const struct model *model, const struct link_model *lm, const struct link_work *w,
                             const struct modal_state *x, const double *other, struct link_tangent *t)
{
    const struct body *body = lm->body;
    const int m = lm->m, row = PADDED(m);
    struct link_point at;
    double b[6]; /* wrench on the body, in world axes */
    set_body_motion(lm, w, x, &at);
    for (int i = 0; i < 6; i++) b[i] = w->b[i] - other[i];
    to_F(w->RF, b, 6, at.b);
    copy6(at.b, at.s);
    for (int i = 0; i < lm->n_sections; i++) {
        set_section(&lm->section[i], w, &w->section[i], m, x, &t->section[i]);
        wrench_add_shifted(at.s, t->section[i].f, t->section[i].r);
    }
    at.body.m = body->mass;
    copy3(w->body.c, at.body.h);
    copy6(w->body.J, at.body.J);
    if (w->JF != NULL) rotation_force_derivative(&w->exp_d, w->theta_d, at.s, at.Yd);
    body_tangent(body, model->terms, &w->body, x->eta, x->etad, x->etadd, at.omega, at.acc, &t->body);
    if (w->JF != NULL) section_tangent(&body->hinge, m, x->eta, x->etad, x->etadd, &t->hinge);

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
        struct variation v = {.axis = i, .k = -1};
        vary(&at, t, &v, t->Bw[i], t->Gw + row * i);
    }
}

/* The part of w->b that is not from the flexible body: the inertia wrench of the hub minus the loads on O */
static void other_wrench(const struct model *model, const struct work *work, const struct input *in, int link,
                         double wrench[6])
{
    const struct link_model *lm = &model->link[link];
    const struct link_work *w = &work->link[link];
    memset(wrench, 0, 6 * sizeof *wrench);
    if (lm->has_hub) rigid_wrench(&w->hub, w->O.omega, w->O.acc, wrench);
    for (int i = 0; i < in->n_loads; i++)
        if (in->load[i].link == link && in->load[i].section < 0) axpy6(-1, in->load[i].wrench, wrench);
    for (int i = 0; in->frame_wrench != NULL && i < model->robot->n_frames; i++) {
        const struct anchor *anchor = &model->frame[i];
        if (anchor->link != link || anchor->section >= 0) continue;
        const struct load load = dyn_anchor_load(work, anchor, in->frame_wrench + 6 * i);
        axpy6(-1, load.wrench, wrench);
    }
}

/* The change of the subspace and of the forces of friction, springs and stops: (D H)' f - d(friction, springs, stops)  (67, 71) */
static void joint_columns(const struct link_model *lm, const struct link_work *w, const struct input *in,
                          const double *qdd, struct link_tangent *t)
{
    const struct joint_model *joint = &lm->joint;
    double by_q[MOST_VELOCITIES][MOST_VELOCITIES], by_qd[MOST_VELOCITIES][MOST_VELOCITIES];
    if (joint->nv == 0) return;
    if (joint->nv == 1) {
        joint_coordinate_slopes(&joint->number[0], in->q[lm->q], in->qd[lm->v], &by_q[0][0], &by_qd[0][0]);
        t->Kq[0][0] = -by_q[0][0];
        t->Kv[0][0] = -by_qd[0][0];
        return;
    }
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
    NEEDS(work, DYN_REACTIONS | DYN_VELOCITY);
    tangent->done = TANGENT_STATE;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i];
        joint_columns(lm, w, in, qdd, t);
        if (lm->body == NULL) continue;
        const struct modal_state x = {in->q + lm->eta_q, in->qd + lm->eta_v, qdd + lm->eta_v};
        double other[6];
        other_wrench(model, work, in, i, other);
        flexible_columns(model, lm, w, &x, other, t);
        if (lm->body->added != NULL) tangent_added_state(lm, w, model->terms, x.eta, x.etad, x.etadd, &t->added);
    }
}

void dyn_tangent_observe_state(const struct model *model, const struct work *work, struct tangent *tangent,
                               const struct input *in, const double *qdd)
{
    NEEDS(work, DYN_OBSERVED);
    NEEDS(tangent, TANGENT_STATE);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_tangent *t = &tangent->link[i];
        const int from = lm->n_sections, to = lm->n_all_sections;
        if (from == to) continue;
        const struct modal_state x = {in->q + lm->eta_q, in->qd + lm->eta_v, qdd + lm->eta_v};
        struct link_point at;
        set_body_motion(lm, w, &x, &at);
        for (int s = from; s < to; s++) set_section(&lm->section[s], w, &w->section[s], lm->m, &x, &t->section[s]);
        for (int k = 0; k < 2 * lm->m; k++) { /* eta, eta_dot */
            struct variation v = {.axis = -1, .k = k % lm->m, .rate = k >= lm->m};
            vary_body(&at, t, &v);
            vary_sections(&at, t, &v, from, to);
        }
    }
}
