/* Articulated-body forward dynamics, O(n): in each link the modes are eliminated before the hinge. Factorization and solution are
   separate, so that one factorization serves any number of right-hand sides. (theory.md 29 to 33; Jain and Rodriguez, section 7;
   the same U D U' elimination as Mohan and Saha 35 to 42.) */
#include <string.h>

#include "dyn/modes.h"
#include "dyn/updated.h"

/* Z = P_T J */
static void tip_products(const struct body *restrict body, struct link_work *restrict w)
{
    if (!body->beam || w->JF != NULL) {
        for (int k = 0; k < body->m; k++) inertia_mul(&w->PT, w->J[k], w->Z[k]);
    } else {
        for (int b = 0; b < body->n_blocks; b++)
            family_products(&body->tip, body->block_start[b], body->block_start[b + 1], w, w->Z);
        if (w->slope != NULL) shortening_products(body->m, w, w->Z);
    }
}

INLINE int articulate_modes(const int m, const struct link_model *lm, struct link_work *w)
{
    const double *own = w->own_modes;
    if (lm->loaded) {
        tip_products(lm->body, w);
        fold_tip(m, w->r, own, w->Jt, (const double(*)[SIX])w->F, w->Z, w->L);
        inertia_shift(&w->PT, w->r, &w->P);
        inertia_add_rigid(&w->P, &w->self);
    } else {
        memcpy(w->L, own, (size_t)(m * PADDED(m)) * sizeof(double));
        memcpy(w->Z, w->F, (size_t)m * sizeof *w->Z);
        inertia_rigid(&w->P, &w->self);
    }
    return eliminate_modes(m, own, w->L, w->inverse_d, w->Z, w->W, &w->P);
}

/* U = P h,   D = h' P h + Jm,   P+ = P - U U'/D;   D must exceed the rounding error of `size`                      (32) */
INLINE int eliminate_column(const struct link_model *lm, int k, double size, bool last, struct link_work *w)
{
    double D = w->own_hinge[k], *U = w->U[k];
    const double *h = w->h[k];
    if (lm->joint.part[k] == TURNS) {
        symmul3(w->P.A, h, U);
        tmul3(w->P.B, h, U + 3);
        D += dot3(h, U);
    } else {
        mul3(w->P.B, h, U);
        symmul3(w->P.C, h, U + 3);
        D += dot3(h, U + 3);
    }
    if (!(D > PIVOT_SHARE * size)) return -1;
    w->inverse_D[k] = 1 / D;
    if (last) return 0; /* P+ is not needed */
    double G[6];        /* U/D */
    for (int i = 0; i < 6; i++) G[i] = w->inverse_D[k] * U[i];
    inertia_downdate(&w->P, G, U);
    return 0;
}

/* Column by column, from the last to the first: the LDL' factorization of the pivot block H' P H + Jm                 (68) */
INLINE int eliminate_hinge(const int nv, const struct link_model *lm, struct link_work *w)
{
    double size[MOST_VELOCITIES];
    for (int k = 0; k < nv; k++) {
        const double *diagonal = lm->joint.part[k] == TURNS ? w->P.A : w->P.C;
        size[k] = diagonal[0] + diagonal[1] + diagonal[2];
    }
    for (int k = nv - 1; k >= 0; k--)
        if (eliminate_column(lm, k, size[k], k == 0 && lm->parent < 0, w) != 0) return -1;
    return 0;
}

/* Adds P+ to the parent; the first child assigns */
static void add_to_parent(const struct link_model *parent_model, const struct link_work *w, struct link_work *parent)
{
    struct inertia *sum = parent_model->body == NULL ? &parent->P : &parent->PT;
    if (parent->has_child) {
        struct inertia moved;
        inertia_shift(&w->P, w->d, &moved);
        inertia_add(sum, &moved);
    } else {
        inertia_shift(&w->P, w->d, sum);
        parent->has_child = true;
    }
}

/* Adds the link's own bodies to the inertia of its children and eliminates the modes */
static int add_own_bodies(const struct link_model *lm, struct link_work *w)
{
    struct inertia *sum = lm->body == NULL ? &w->P : &w->PT;
    const struct rigid *own = lm->body == NULL ? &w->self : &w->load;
    if (!w->has_child) {
        inertia_rigid(sum, own);
    } else {
        if (lm->body == NULL || lm->has_payload) inertia_add_rigid(sum, own);
    }
    int failed = 0;
    if (w->updated != NULL) failed = updated_articulate(lm, w);
    else if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, failed = articulate_modes(M, lm, w))
    return failed;
}

enum status dyn_articulate(const struct model *model, struct work *work)
{
    for (int i = 0; i < model->n_links; i++) work->link[i].has_child = false;
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        work->failed_link = i;
        if (add_own_bodies(lm, w) != 0) return STATUS_NOT_POSITIVE;
        int failed = 0;
        WITH_COLUMNS(N, free_velocities(lm), failed = eliminate_hinge(N, lm, w));
        if (failed != 0) return STATUS_NOT_POSITIVE;
        if (lm->parent >= 0) add_to_parent(&model->link[lm->parent], w, &work->link[lm->parent]);
    }
    return STATUS_OK;
}

/* e = Q_eta - b_eta */
INLINE void modal_forces(const int m, const struct body *body, const double *eta, const double *etad,
                         struct link_work *restrict w)
{
    if (body->diagonal && !body->damped) { /* the common case of add_elastic_force(), unrolled */
        for (int k = 0; k < m; k++) w->e[k] = -w->b_eta[k] - body->K[(m + 1) * k] * eta[k];
    } else {
        for (int k = 0; k < m; k++) w->e[k] = -w->b_eta[k];
        add_elastic_force(body, eta, etad, w->e);
    }
}

/* e = L^-1 (e - J' z_T),   z = b + X' z_T + W' e */
INLINE void gather_modes(const int m, struct link_work *restrict w)
{
    for (int l = 0; l < PADDED(m); l += LANES) {
        lanes sum = load(w->e + l);
        for (int a = 0; a < 6; a++) sum -= w->zT[a] * load(w->Jt + PADDED(m) * a + l);
        store(w->e + l, sum);
    }
    unit_forward(m, PADDED(m), w->L, w->e);
    wrench_add_shifted(w->z, w->zT, w->r);
    add_rows(m, w->e, (const double(*)[SIX])w->W, w->z);
}

/* eta_ddot = L^-T (Delta^-1 e - W x),   x_T = X x + J eta_ddot */
INLINE void spread_modes(const int m, struct link_work *restrict w, double *restrict etadd)
{
    for (int k = 0; k < m; k++) etadd[k] = w->inverse_d[k] * w->e[k] - dot6(w->W[k], w->x);
    unit_backward(m, PADDED(m), w->L, etadd);
    motion_shift(w->x, w->r, w->xT);
    add_rows(m, etadd, (const double(*)[SIX])w->J, w->xT);
}

/* u = Q_q - h' z,   z += U u/D                                                                                       (33) */
INLINE void gather_hinge(const int nv, const struct link_model *lm, const double *Q, struct link_work *w)
{
    for (int k = nv - 1; k >= 0; k--) {
        w->u[k] = Q[k] - along_column(lm, w, k, w->z);
        axpy6(w->u[k] * w->inverse_D[k], w->U[k], w->z);
    }
}

static inline void pass_on(const struct model *model, struct work *work, int i)
{
    const struct link_model *lm = &model->link[i];
    if (lm->parent < 0) return;
    struct link_work *w = &work->link[i], *parent = &work->link[lm->parent];
    wrench_add_shifted(at_parent_frame(&model->link[lm->parent], parent->z, parent->zT), w->z, w->d);
}

/* tau and the forces of friction, springs and stops */
INLINE void hinge_forces(const int nv, const struct link_model *lm, const struct input *in, double *Q)
{
    if (nv == 0) return;
    joint_own_forces(nv, lm, in, Q);
    if (in->tau == NULL || lm->passive) return;
    for (int k = 0; k < nv; k++) Q[k] += in->tau[lm->tau + k];
}

/* Tips to base: residuals u of hinges and e of modes, for the inertia forces of dyn_motion() */
static void gather(const struct model *model, struct work *work, const struct input *in)
{
    for (int i = 0; i < model->n_links; i++) {
        copy6(work->link[i].b, work->link[i].z);
        if (model->link[i].body != NULL) copy6(work->link[i].bT, work->link[i].zT);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const double *eta = in->q + lm->eta_q, *etad = in->qd + lm->eta_v;
        if (w->updated != NULL) {
            modal_forces(lm->m, lm->body, eta, etad, w);
            updated_gather(lm, w);
        } else if (lm->body != NULL) {
            WITH_CONSTANT_COUNT(M, lm->m, modal_forces(M, lm->body, eta, etad, w); gather_modes(M, w))
        }
        double Q[MOST_VELOCITIES];
        WITH_COLUMNS(N, free_velocities(lm), hinge_forces(N, lm, in, Q); gather_hinge(N, lm, Q, w));
        pass_on(model, work, i);
    }
}

/* qdd = (u - U' x)/D,   x += h qdd */
INLINE void spread_hinge(const int nv, const struct link_model *lm, struct link_work *w, double *qdd)
{
    for (int k = 0; k < nv; k++) {
        qdd[k] = (w->u[k] - dot6(w->U[k], w->x)) * w->inverse_D[k];
        axpy3(qdd[k], w->h[k], w->x + lm->joint.part[k]);
    }
}

void copy_prescribed(const struct link_model *lm, const struct input *in, double *qdd)
{
    const double *given = prescribed_acceleration(lm, in);
    for (int k = 0; k < lm->joint.nv; k++) qdd[lm->v + k] = given != NULL ? given[k] : 0;
}

/* Base to tips:  qdd = (u - U' x)/D,   eta_ddot = L^-T (Delta^-1 e - W x)                                           (33) */
static void spread(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    static const double rest[6] = {0};
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        struct link_work *parent = lm->parent < 0 ? NULL : &work->link[lm->parent];
        motion_shift(parent == NULL ? rest : at_parent_frame(&model->link[lm->parent], parent->x, parent->xT), w->d,
                     w->x);
        WITH_COLUMNS(N, free_velocities(lm), spread_hinge(N, lm, w, qdd + lm->v));
        if (lm->prescribed >= 0) copy_prescribed(lm, in, qdd);
        if (w->updated != NULL) updated_spread(lm, w, qdd + lm->eta_v);
        else if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, spread_modes(M, w, qdd + lm->eta_v))
    }
}

void dyn_solve(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    gather(model, work, in);
    spread(model, work, in, qdd);
}

/* ---- any right-hand side ------------------------------------------------------------------------------------------- */

static void gather_forces(const struct model *model, struct work *work, const double *force)
{
    for (int i = 0; i < model->n_links; i++) {
        memset(work->link[i].z, 0, sizeof work->link[i].z);
        memset(work->link[i].zT, 0, sizeof work->link[i].zT);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        if (lm->m > 0) memcpy(w->e, force + lm->eta_v, (size_t)lm->m * sizeof *force);
        if (w->updated != NULL) updated_gather(lm, w);
        else if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, gather_modes(M, w))
        WITH_COLUMNS(N, free_velocities(lm), gather_hinge(N, lm, force + lm->v, w));
        pass_on(model, work, i);
    }
}

void dyn_solve_forces(const struct model *model, struct work *work, const double *force, double *x)
{
    static const struct input none = {0};
    gather_forces(model, work, force);
    spread(model, work, &none, x);
}

enum status dyn_forward(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    dyn_configuration(model, work, in->q);
    dyn_motion(model, work, in, NULL);
    const enum status status = dyn_articulate(model, work);
    if (status == STATUS_OK) dyn_solve(model, work, in, qdd);
    return status;
}
