/* Articulated-body forward dynamics, O(n): in each link the modes are eliminated before the hinge. Factorization and solution are
   separate too, so that one factorization serves any number of right-hand sides. (theory.md 29 to 33, 91, 92; Jain and Rodriguez, section 7;
   the same U D U' elimination as Mohan and Saha 35 to 42.) T is the frame of a section, P_T the inertia attached to it. */
#include <string.h>

#include "dyn/dyn.h"
#include "math/dense.h"
#include "math/vec.h"

/* Z = P_T J of modes [first, last) that rotate about one axis and move along one: combinations of P_T (e; 0), P_T (0; e) */
INLINE void family_products(const struct section *restrict shape, int first, int last, const double *restrict RF,
                            const struct section_work *restrict s, double (*restrict Z)[SIX])
{
    const struct inertia *P = &s->P;
    const int a = shape->axis[first], t = shape->turn[first];
    const double e_turn[3] = {s->RJ[t], s->RJ[3 + t], s->RJ[6 + t]}, e_move[3] = {RF[a], RF[3 + a], RF[6 + a]};
    double turn[6], move[6];
    symmul3(P->A, e_turn, turn);
    tmul3(P->B, e_turn, turn + 3);
    mul3(P->B, e_move, move);
    symmul3(P->C, e_move, move + 3);
    for (int k = first; k < last; k++)
        for (int i = 0; i < 6; i++) Z[k][i] = shape->lambda[k] * turn[i] + shape->phi[k] * move[i];
}

/* Z -= P_T (0; e_x H_eta): the part of foreshortening in J */
static inline void shortening_products(int m, const double *restrict RF, const struct section_work *restrict s,
                                       double (*restrict Z)[SIX])
{
    const double e[3] = {RF[0], RF[3], RF[6]};
    double move[SIX] = {0};
    mul3(s->P.B, e, move);
    symmul3(s->P.C, e, move + 3);
    for (int k = 0; k < m; k++)
        for (int j = 0; j < SIX; j += LANES) store(Z[k] + j, load(Z[k] + j) - s->H_eta[k] * load(move + j));
}

/* P = what is attached to O + sum over the sections of X' P_T X + M_rr */
INLINE void sum_inertias(const struct link_model *lm, struct link_work *w)
{
    bool assigned = lm->has_child;
    for (int i = 0; i < lm->n_sections; i++) {
        const struct section_work *s = &w->section[i];
        if (!lm->section[i].has_inertia) continue;
        if (assigned) {
            struct inertia moved;
            inertia_shift(&s->P, s->r, &moved);
            inertia_add(&w->P, &moved);
        } else {
            inertia_shift(&s->P, s->r, &w->P);
            assigned = true;
        }
    }
    if (assigned) inertia_add_rigid(&w->P, &w->self);
    else inertia_rigid(&w->P, &w->self);
}

/* The inertia at T, moved to O and the modes:  F = M_rf + X' P_T J,  D_f = M_ff + J' P_T J                      (29, 30)
   In: P_T J in Z. Out: F in Z, D_f in L. */
INLINE void fold_tip(const int m, const double *restrict r, const double *restrict M0, const double *restrict Jt,
                     const double (*restrict F)[SIX], double (*restrict Z)[SIX], double *restrict L)
{
    const int row = PADDED(m);
    for (int k = 0; k < m; k++) {
        for (int l = LANE_START(k); l < row; l += LANES) {
            lanes sum = load(M0 + row * k + l);
            for (int a = 0; a < 6; a++) sum += Z[k][a] * load(Jt + row * a + l);
            store(L + row * k + l, sum);
        }
        add_cross3(r, Z[k] + 3, Z[k]);
        for (int i = 0; i < 6; i++) Z[k][i] += F[k][i];
    }
}

/* D_f = L Delta L',   Z = L^-1 F',   W = Delta^-1 Z,   P_r = P - Z' Delta^-1 Z                                      (31) */
INLINE int eliminate_modes(const int m, const double *restrict M0, double *restrict L, double *restrict inverse_d,
                           double (*restrict Z)[SIX], double (*restrict W)[SIX], struct inertia *restrict P)
{
    const int row = PADDED(m);
    for (int k = 0; k < m; k++) {
        const double d = L[(row + 1) * k], inverse = 1 / d;
        if (!(d > PIVOT_SHARE * M0[(row + 1) * k])) return -1;
        inverse_d[k] = inverse;
        for (int j = 0; j < SIX; j += LANES) store(W[k] + j, inverse * load(Z[k] + j));
        for (int i = k + 1; i < m; i++) {
            const double l = inverse * L[row * k + i];
            for (int j = LANE_START(i); j < row; j += LANES)
                store(L + row * i + j, load(L + row * i + j) - l * load(L + row * k + j));
            for (int j = 0; j < SIX; j += LANES) store(Z[i] + j, load(Z[i] + j) - l * load(Z[k] + j));
            L[row * k + i] = l;
        }
    }
    inertia_downdate_rows(m, P, (const double(*)[SIX])W, (const double(*)[SIX])Z);
    return 0;
}

/* Z = P_T J of a section */
static void section_products(const struct link_model *restrict lm, int i, const struct link_work *restrict w,
                             double (*restrict Z)[SIX])
{
    const struct body *restrict body = lm->body;
    const struct section_work *restrict s = &w->section[i];
    if (!body->beam || w->JF != NULL) {
        for (int k = 0; k < body->m; k++) inertia_mul(&s->P, s->J[k], Z[k]);
    } else {
        for (int b = 0; b < body->n_blocks; b++)
            family_products(&lm->section[i].shape, body->block_start[b], body->block_start[b + 1], w->RF, s, Z);
        if (s->H_eta != NULL) shortening_products(body->m, w->RF, s, Z);
    }
}

/* The sections after the tip:  F += X' P_T J,  D_f += J' P_T J; in Z and L                                          (91) */
static __attribute__((noinline)) void fold_sections(const struct link_model *lm, struct link_work *w)
{
    const int m = lm->m, row = PADDED(m);
    for (int i = 1; i < lm->n_sections; i++) {
        const struct section_work *s = &w->section[i];
        double(*PJ)[SIX] = w->W; /* free until the modes are eliminated */
        if (!lm->section[i].has_inertia) continue;
        section_products(lm, i, w, PJ);
        for (int k = 0; k < m; k++) {
            for (int l = LANE_START(k); l < row; l += LANES) {
                lanes sum = load(w->L + row * k + l);
                for (int a = 0; a < 6; a++) sum += PJ[k][a] * load(s->Jt + row * a + l);
                store(w->L + row * k + l, sum);
            }
            wrench_add_shifted(w->Z[k], PJ[k], s->r);
        }
    }
}

INLINE int articulate_modes(const int m, const struct link_model *lm, struct link_work *w)
{
    const double *own = w->own_modes;
    const struct section_work *tip = &w->section[0];
    if (lm->section[0].has_inertia) {
        section_products(lm, 0, w, w->Z);
        fold_tip(m, tip->r, own, tip->Jt, (const double(*)[SIX])w->F, w->Z, w->L);
    } else {
        memcpy(w->L, own, (size_t)(m * PADDED(m)) * sizeof(double));
        memcpy(w->Z, w->F, (size_t)m * sizeof *w->Z);
    }
    if (lm->n_sections > 1) fold_sections(lm, w);
    sum_inertias(lm, w);
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

/* Adds the bodies of a flexible link to the inertia of its children and eliminates the modes */
static __attribute__((noinline)) int add_own_bodies(const struct link_model *lm, struct link_work *w)
{
    int failed = 0;
    struct section_work *tip = &w->section[0];
    if (!lm->section[0].has_child) inertia_rigid(&tip->P, &w->load);
    else if (lm->has_payload) inertia_add_rigid(&tip->P, &w->load);
    WITH_CONSTANT_COUNT(M, lm->m, failed = articulate_modes(M, lm, w))
    return failed;
}

/* Adds P+ to the inertia of the parent, at O or the section that the joint is attached to. The first child in this pass assigns; on a
   rigid parent it adds the parent's own body as well. */
static void add_inertia_to_parent(const struct model *model, const struct link_model *lm, const struct link_work *w,
                                  struct work *work)
{
    struct link_work *parent = &work->link[lm->parent];
    struct section_work *section = mount_section(lm, work);
    struct inertia *sum = section == NULL ? &parent->P : &section->P;
    if (lm->last_child) {
        inertia_shift(&w->P, w->d, sum);
        if (model->link[lm->parent].body == NULL) inertia_add_rigid(sum, &parent->self);
    } else {
        struct inertia moved;
        inertia_shift(&w->P, w->d, &moved);
        inertia_add(sum, &moved);
    }
}

INLINE int articulate_link(const struct model *model, const struct link_model *lm, struct link_work *w,
                           struct work *work)
{
    int failed = 0;
    if (lm->body != NULL) failed = add_own_bodies(lm, w);
    else if (!lm->has_child) inertia_rigid(&w->P, &w->self);
    if (failed != 0) return -1;
    WITH_COLUMNS(N, free_velocities(lm), failed = eliminate_hinge(N, lm, w));
    if (failed != 0) return -1;
    if (lm->parent >= 0) add_inertia_to_parent(model, lm, w, work);
    return 0;
}

enum status dyn_articulate(const struct model *model, struct work *work)
{
    NEEDS(work, DYN_CONFIGURATION);
    for (int i = model->n_links - 1; i >= 0; i--) {
        work->failed_link = i;
        if (articulate_link(model, &model->link[i], &work->link[i], work) != 0) return STATUS_NOT_POSITIVE;
    }
    work->done |= DYN_FACTORS;
    return STATUS_OK;
}

/* e = Q_eta - b_eta */
INLINE void modal_forces(const int m, const struct body *body, const double *eta, const double *etad,
                         struct link_work *restrict w)
{
    if (body->diagonal && !body->damped) { /* the common case of dyn_add_elastic_force(), unrolled */
        for (int k = 0; k < m; k++) w->e[k] = -w->b_eta[k] - body->K[(m + 1) * k] * eta[k];
    } else {
        for (int k = 0; k < m; k++) w->e[k] = -w->b_eta[k];
        dyn_add_elastic_force(body, eta, etad, w->e);
    }
}

/* e = L^-1 (e - sum J' z_T),   z = b + sum X' z_T + W' e */
INLINE void gather_modes(const int m, const int n_sections, struct link_work *restrict w)
{
    int s = 0;
    do { /* every flexible link has a tip */
        const struct section_work *restrict section = &w->section[s];
        for (int l = 0; l < PADDED(m); l += LANES) {
            lanes sum = load(w->e + l);
            for (int a = 0; a < 6; a++) sum -= section->z[a] * load(section->Jt + PADDED(m) * a + l);
            store(w->e + l, sum);
        }
        wrench_add_shifted(w->z, section->z, section->r);
    } while (++s < n_sections);
    unit_forward(m, PADDED(m), w->L, w->e);
    add_rows(m, w->e, (const double(*)[SIX])w->W, w->z);
}

/* eta_ddot = L^-T (Delta^-1 e - W x),   x_T = X x + J eta_ddot */
INLINE void spread_modes(const int m, const int n_sections, struct link_work *restrict w, double *restrict etadd)
{
    for (int k = 0; k < m; k++) etadd[k] = w->inverse_d[k] * w->e[k] - dot6(w->W[k], w->x);
    unit_backward(m, PADDED(m), w->L, etadd);
    for (int s = 0; s < n_sections; s++) {
        struct section_work *restrict section = &w->section[s];
        motion_shift(w->x, section->r, section->x);
        add_rows(m, etadd, (const double(*)[SIX])section->J, section->x);
    }
}

/* u = Q_q - h' z,   z += U u/D                                                                                       (33) */
INLINE void gather_hinge(const int nv, const struct link_model *lm, const double *Q, struct link_work *w)
{
    for (int k = nv - 1; k >= 0; k--) {
        w->u[k] = Q[k] - along_column(lm, w, k, w->z);
        axpy6(w->u[k] * w->inverse_D[k], w->U[k], w->z);
    }
}

/* sum = own, or zero if there is none */
INLINE void set_wrench(const double *own, double *sum)
{
    if (own != NULL) copy6(own, sum);
    else memset(sum, 0, 6 * sizeof *sum);
}

/* Adds z to that of the parent, at O or the section that the joint is attached to. The first child in this pass assigns b or zero
   first. */
INLINE void add_to_parent(const struct link_model *lm, const struct link_work *w, bool inertia, struct work *work)
{
    if (lm->parent < 0) return;
    struct link_work *parent = &work->link[lm->parent];
    struct section_work *section = mount_section(lm, work);
    double *sum = section == NULL ? parent->z : section->z;
    if (lm->last_child) set_wrench(inertia ? section == NULL ? parent->b : section->b : NULL, sum);
    wrench_add_shifted(sum, w->z, w->d);
}

/* z at O and at the sections, where no child is attached: b or zero */
INLINE void set_link_wrenches(const struct link_model *lm, bool inertia, struct link_work *w)
{
    if (!lm->has_child) set_wrench(inertia ? w->b : NULL, w->z);
    for (int s = 0; s < lm->n_sections; s++)
        if (!lm->section[s].has_child) set_wrench(inertia ? w->section[s].b : NULL, w->section[s].z);
}

/* tau and the forces of friction, springs and stops */
INLINE void hinge_forces(const int nv, const struct link_model *lm, const struct input *in, double *Q)
{
    if (nv == 0) return;
    joint_own_forces(nv, lm, in, Q);
    for (int k = 0; in->joint_force != NULL && k < nv; k++) Q[k] += in->joint_force[lm->v + k];
    if (in->tau == NULL || lm->passive) return;
    for (int k = 0; k < nv; k++) Q[k] += in->tau[lm->tau + k];
}

static __attribute__((noinline)) void gather_flexible(const struct link_model *lm, const struct input *in,
                                                      struct link_work *w)
{
    const double *eta = in->q + lm->eta_q, *etad = in->qd + lm->eta_v;
    WITH_CONSTANT_COUNT(M, lm->m, modal_forces(M, lm->body, eta, etad, w); gather_modes(M, lm->n_sections, w))
}

/* Tips to base: residuals u of hinges and e of modes, for the inertia forces of dyn_motion() */
INLINE void gather_link(const struct link_model *lm, const struct input *in, struct link_work *w, struct work *work)
{
    double Q[MOST_VELOCITIES];
    set_link_wrenches(lm, true, w);
    if (lm->body != NULL) gather_flexible(lm, in, w);
    WITH_COLUMNS(N, free_velocities(lm), hinge_forces(N, lm, in, Q); gather_hinge(N, lm, Q, w));
    add_to_parent(lm, w, true, work);
}

/* qdd = (u - U' x)/D,   x += h qdd */
INLINE void spread_hinge(const int nv, const struct link_model *lm, struct link_work *w, double *qdd)
{
    for (int k = 0; k < nv; k++) {
        qdd[k] = (w->u[k] - dot6(w->U[k], w->x)) * w->inverse_D[k];
        axpy3(qdd[k], w->h[k], w->x + lm->joint.part[k]);
    }
}

void dyn_copy_prescribed(const struct link_model *lm, const struct input *in, double *qdd)
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
        const double *parent = lm->mount >= 0    ? mount_section(lm, work)->x
                               : lm->parent >= 0 ? work->link[lm->parent].x
                                                 : rest;
        motion_shift(parent, w->d, w->x);
        WITH_COLUMNS(N, free_velocities(lm), spread_hinge(N, lm, w, qdd + lm->v));
        if (lm->prescribed >= 0) dyn_copy_prescribed(lm, in, qdd);
        if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, spread_modes(M, lm->n_sections, w, qdd + lm->eta_v))
    }
}

/* One inward pass instead of two: the residuals of a link are computed while the elimination of the next one waits for its pivot */
enum status dyn_articulate_and_solve(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    NEEDS(work, DYN_MOTION);
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        work->failed_link = i;
        if (articulate_link(model, lm, w, work) != 0) return STATUS_NOT_POSITIVE;
        gather_link(lm, in, w, work);
    }
    work->done |= DYN_FACTORS;
    spread(model, work, in, qdd);
    return STATUS_OK;
}

/* ---- any right-hand side ------------------------------------------------------------------------------------------- */

void dyn_solve_forces(const struct model *model, struct work *work, const double *force, double *x)
{
    NEEDS(work, DYN_FACTORS);
    static const struct input none = {0};
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        set_link_wrenches(lm, false, w);
        if (lm->m > 0) memcpy(w->e, force + lm->eta_v, (size_t)lm->m * sizeof *force);
        if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, gather_modes(M, lm->n_sections, w))
        WITH_COLUMNS(N, free_velocities(lm), gather_hinge(N, lm, force + lm->v, w));
        add_to_parent(lm, w, false, work);
    }
    spread(model, work, &none, x);
}
