#include "dyn/updated.h"

#include <math.h>
#include <string.h>

#include "dyn/modes.h"
#include "flex/beam.h"

/* ---- computed once --------------------------------------------------------------------------------------------------- */

/* A difference below this fraction of its terms is rounding error. */
static const double ROUNDING = 1e-14;

/* M0 = U' Delta U, without the rounding errors of the quadrature between orthogonal shapes */
static int factor_mass(const struct body *body, double *U, double *inverse_d)
{
    const int m = body->m;
    const double *M = body->Mff0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            U[m * i + j] =
                fabs(M[m * i + j]) > 10 * ROUNDING * sqrt(M[(m + 1) * i] * M[(m + 1) * j]) ? M[m * i + j] : 0;
    return cholesky_factor(m, U, inverse_d); /* the upper triangle is Delta U now */
}

/* S' = U^-1 Delta^-1/2, column by column */
static void make_S(int m, const double *DU, const double *inverse_d, double *scale, double *St, int *end)
{
    const int row = PADDED(m);
    for (int l = 0; l < m; l++) {
        scale[l] = St[row * l + l] = sqrt(inverse_d[l]);
        for (int k = l - 1; k >= 0; k--) {
            double sum = 0;
            for (int j = k + 1; j <= l; j++) sum -= DU[m * k + j] * St[row * j + l];
            St[row * k + l] = sum * inverse_d[k];
        }
    }
    for (int k = 0; k < m; k++) {
        end[k] = m;
        while (St[row * k + end[k] - 1] == 0) end[k]--;
    }
}

/* y = S c */
static void multiply_S(int m, const double *St, const double *c, double *y)
{
    for (int l = 0; l < m; l++) {
        y[l] = 0;
        for (int k = 0; k <= l; k++) y[l] += St[PADDED(m) * k + l] * c[k];
    }
}

/* Columns of one family of modes [from, to) */
struct columns {
    int from, to;
    double (*QY)[PER_MODE];
};

static void set_column(const struct columns *c, int i, const double *x)
{
    for (int k = c->from; k < c->to; k++) c->QY[k][i] = x[k];
}

static double column_product(const struct columns *c, int i, const double *x)
{
    double sum = 0;
    for (int k = c->from; k < c->to; k++) sum += c->QY[k][i] * x[k];
    return sum;
}

static double columns_product(const struct columns *c, int i, int j)
{
    double sum = 0;
    for (int k = c->from; k < c->to; k++) sum += c->QY[k][i] * c->QY[k][j];
    return sum;
}

/* Makes column i orthogonal to the first `count`; twice, so that it is orthogonal to rounding */
static void orthogonalize(const struct columns *c, int count, int i)
{
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < count; j++) {
            const double share = columns_product(c, i, j);
            for (int k = c->from; k < c->to; k++) c->QY[k][i] -= share * c->QY[k][j];
        }
}

/* Adds a column of Q_1 from a row x of S B_t', unless it is dependent; returns the number of columns. Gram-Schmidt. */
static int add_direction(const struct columns *c, int count, const double *x)
{
    if (count == c->to - c->from) return count;
    set_column(c, count, x);
    const double whole = columns_product(c, count, count);
    orthogonalize(c, count, count);
    const double rest = columns_product(c, count, count);
    const bool kept = rest > ROUNDING * ROUNDING * whole;
    for (int k = c->from; k < c->to; k++) c->QY[k][count] *= kept ? 1 / sqrt(rest) : 0;
    return count + kept;
}

/* The nonzero rows of a family, times S': of B_t, then of M_rf */
enum { LAMBDA, PHI, ABOUT, ALONG, ROWS };

/* Q_1, Y_2, B_1, mu_1 and Y_2' Y_2 of family b                                                                      (40) */
static void make_family(const struct body *body, int b, double *const row[ROWS], double (*QY)[PER_MODE],
                        struct updated *u)
{
    const struct columns c = {body->block_start[b], body->block_start[b + 1], QY};
    const int turn = body->tip.turn[c.from], axis = body->tip.axis[c.from];
    const int count = add_direction(&c, add_direction(&c, 0, row[LAMBDA]), row[PHI]);
    for (int i = 0; i < count; i++, u->n++) {
        u->turn[u->n] = turn;
        u->axis[u->n] = axis;
        u->at[u->n] = PER_MODE * b + i;
        u->lambda[u->n] = column_product(&c, i, row[LAMBDA]);
        u->phi[u->n] = column_product(&c, i, row[PHI]);
        u->about[u->n] = column_product(&c, i, row[ABOUT]);
        u->along[u->n] = column_product(&c, i, row[ALONG]);
    }
    u->start[b + 1] = u->n;
    if (count == c.to - c.from) return; /* all modes of the family move the tip */
    set_column(&c, Y_TURN, row[ABOUT]);
    set_column(&c, Y_MOVE, row[ALONG]);
    orthogonalize(&c, count, Y_TURN);
    orthogonalize(&c, count, Y_MOVE);
    u->A[turn] += columns_product(&c, Y_TURN, Y_TURN);
    u->C[axis] += columns_product(&c, Y_MOVE, Y_MOVE);
    if (turn != axis) *(axis == 1 ? &u->Bzy : &u->Byz) = columns_product(&c, Y_TURN, Y_MOVE);
}

/* Arrays that are filled, and scratch memory */
struct updated_storage {
    double *scale, *St, (*QY)[PER_MODE];
    int *end;
    double *U, *inverse_d, *about, *along, *row[ROWS], (*F)[SIX];
};

static enum status take_storage(int modes, struct arena *arena, struct updated *u)
{
    const size_t m = (size_t)modes, padded = (size_t)PADDED(modes);
    struct updated_storage *s = arena_allocate(arena, 1, sizeof *s);
    if (s == NULL) return STATUS_NO_MEMORY;
    double **const by_mode[] = {&s->inverse_d, &s->about,      &s->along,     &s->row[LAMBDA],
                                &s->row[PHI],  &s->row[ABOUT], &s->row[ALONG]};
    for (size_t i = 0; i < sizeof by_mode / sizeof *by_mode; i++)
        *by_mode[i] = arena_allocate(arena, m, sizeof(double));
    s->U = arena_allocate(arena, m * m, sizeof(double));
    s->F = arena_allocate(arena, m, sizeof *s->F);
    s->scale = arena_allocate(arena, padded, sizeof(double));
    s->St = arena_allocate(arena, m * padded, sizeof(double));
    s->QY = arena_allocate(arena, m, sizeof *s->QY);
    s->end = arena_allocate(arena, m, sizeof *s->end);
    u->storage = s;
    u->scale = s->scale;
    u->St = s->St;
    u->end = s->end;
    u->QY = (const double(*)[PER_MODE])s->QY;
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

static void make_families(const struct body *body, struct updated *u)
{
    struct updated_storage *s = u->storage;
    double I[9];
    identity3(I);
    beam_coupling(body, TERMS_RUTHLESS, NULL, I, s->F);
    for (int k = 0; k < body->m; k++) {
        s->about[k] = s->F[k][body->tip.turn[k]];
        s->along[k] = s->F[k][3 + body->tip.axis[k]];
    }
    multiply_S(body->m, s->St, body->tip.lambda, s->row[LAMBDA]);
    multiply_S(body->m, s->St, body->tip.phi, s->row[PHI]);
    multiply_S(body->m, s->St, s->about, s->row[ABOUT]);
    multiply_S(body->m, s->St, s->along, s->row[ALONG]);
    for (int b = 0; b < body->n_blocks; b++) make_family(body, b, s->row, s->QY, u);
}

static enum status fill(const struct body *body, struct updated *u)
{
    struct updated_storage *s = u->storage;
    if (factor_mass(body, s->U, s->inverse_d) != 0) return STATUS_NOT_POSITIVE;
    make_S(body->m, s->U, s->inverse_d, s->scale, s->St, s->end);
    u->orthogonal = true;
    for (int k = 0; k < body->m; k++) u->orthogonal = u->orthogonal && s->end[k] == k + 1;
    make_families(body, u);
    return STATUS_OK;
}

enum status updated_make(const struct body *body, int from, struct arena *arena, const struct updated **made)
{
    struct updated *u = arena_allocate(arena, 1, sizeof *u);
    enum status status = u == NULL ? STATUS_NO_MEMORY : take_storage(body->m, arena, u);
    if (status == STATUS_OK) status = fill(body, u);
    *made = NULL;
    if (status != STATUS_OK || u->n == 0 || body->m - u->n < from) return status;
    u->tip = (struct section){.lambda = u->lambda, .phi = u->phi, .turn = u->turn, .axis = u->axis};
    for (int j = 0; j < u->n; j++) u->unit[(PADDED(u->n) + 1) * j] = 1;
    *made = u;
    return STATUS_OK;
}

/* More mass leaves M0 positive definite, and the same modes move the tip */
void updated_again(const struct body *body, const struct updated *updated)
{
    struct updated *u = (struct updated *)updated;
    struct updated_storage *s = u->storage;
    memset(s->St, 0, (size_t)(body->m * PADDED(body->m)) * sizeof(double));
    memset(s->QY, 0, (size_t)body->m * sizeof *s->QY);
    memset(u->A, 0, sizeof u->A);
    memset(u->C, 0, sizeof u->C);
    u->Byz = u->Bzy = 0;
    u->n = 0;
    fill(body, u);
}

/* As WITH_CONSTANT_COUNT */
#define WITH_TIP_MODES(N, count, statement) \
    switch (count) {                        \
        CONSTANT_CASE(N, 1, statement)      \
        CONSTANT_CASE(N, 2, statement)      \
        CONSTANT_CASE(N, 3, statement)      \
        CONSTANT_CASE(N, 4, statement)      \
        CONSTANT_CASE(N, 5, statement)      \
        CONSTANT_CASE(N, 6, statement)      \
    }

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* J_1 = E B_1 and mu_1 in world axes */
INLINE void turn_tip_modes(const int n, const struct updated *restrict u, const double *restrict RJ,
                           const double *restrict R, struct updated_work *restrict uw)
{
    for (int j = 0; j < n; j++) {
        const int t = u->turn[j], a = u->axis[j];
        for (int i = 0; i < 3; i++) {
            uw->J1[j][i] = uw->J1t[PADDED(n) * i + j] = u->lambda[j] * RJ[3 * i + t];
            uw->J1[j][3 + i] = uw->J1t[PADDED(n) * (3 + i) + j] = u->phi[j] * R[3 * i + a];
            uw->mu1[j][i] = u->about[j] * R[3 * i + t];
            uw->mu1[j][3 + i] = u->along[j] * R[3 * i + a];
        }
    }
}

/* P -= Y_2' Y_2, rotated from F axes */
static void subtract_constant(const struct updated *restrict u, const double *restrict R, struct inertia *restrict P)
{
    static const int row[6] = {0, 3, 6, 0, 0, 3}, column[6] = {0, 3, 6, 3, 6, 6};
    double RA[9], RC[9];
    for (int i = 0; i < 9; i++) {
        RA[i] = R[i] * u->A[i % 3];
        RC[i] = R[i] * u->C[i % 3];
    }
    for (int i = 0; i < 6; i++) {
        P->A[i] -= dot3(RA + row[i], R + column[i]);
        P->C[i] -= dot3(RC + row[i], R + column[i]);
    }
    for (int i = 0; i < 3; i++) {
        const double y = u->Byz * R[3 * i + 1], z = u->Bzy * R[3 * i + 2];
        for (int j = 0; j < 3; j++) P->B[3 * i + j] -= y * R[3 * j + 2] + z * R[3 * j + 1];
    }
}

/* F_1 = mu_1 + X' P_T J_1,   D_1 = 1 + J_1' P_T J_1 = L_1 Delta_1 L_1',
   P_r = M_rr - Y_2' Y_2 + X' P_T X - F_1 D_1^-1 F_1'                                                           (40a, 40b) */
INLINE int articulate_tip_modes(const int n, const struct link_model *lm, struct link_work *restrict w)
{
    const struct updated *u = lm->updated;
    struct updated_work *restrict uw = w->updated;
    const struct section_work *tip = &w->section[0];
    turn_tip_modes(n, u, tip->RJ, w->RF, uw);
    if (lm->section[0].has_inertia) {
        for (int b = 0; b < lm->body->n_blocks; b++)
            if (u->start[b] < u->start[b + 1]) family_products(&u->tip, u->start[b], u->start[b + 1], w->RF, tip, w->Z);
        fold_tip(n, tip->r, u->unit, uw->J1t, (const double(*)[SIX])uw->mu1, w->Z, w->L);
    } else {
        memcpy(w->L, u->unit, (size_t)(n * PADDED(n)) * sizeof(double));
        memcpy(w->Z, uw->mu1, (size_t)n * sizeof *w->Z);
    }
    sum_inertias(lm, w);
    subtract_constant(u, w->RF, &w->P);
    return eliminate_modes(n, u->unit, w->L, w->inverse_d, w->Z, w->W, &w->P);
}

int updated_articulate(const struct link_model *lm, struct link_work *w)
{
    int failed = 0;
    WITH_TIP_MODES(N, lm->updated->n, failed = articulate_tip_modes(N, lm, w))
    return failed;
}

/* ---- solution ---------------------------------------------------------------------------------------------------- */

/* e = S e, from the last mode to the first because S is lower triangular */
static void scale_residuals(const int m, const struct updated *restrict u, double *restrict e)
{
    if (u->orthogonal) {
        for (int k = 0; k < m; k++) e[k] *= u->scale[k];
        return;
    }
    for (int k = m - 1; k >= 0; k--) {
        const double ek = e[k], *St = u->St + PADDED(m) * k;
        e[k] = 0;
        for (int l = LANE_START(k); l < u->end[k]; l += LANES) store(e + l, load(e + l) + ek * load(St + l));
    }
}

/* x = S' y */
static void unscale(const int m, const struct updated *restrict u, const double *restrict y, double *restrict x)
{
    if (u->orthogonal) {
        for (int k = 0; k < m; k++) x[k] = u->scale[k] * y[k];
        return;
    }
    for (int k = 0; k < m; k++) {
        const double *St = u->St + PADDED(m) * k;
        lanes sum = {0};
        double part[LANES];
        for (int l = LANE_START(k); l < u->end[k]; l += LANES) sum += load(St + l) * load(y + l);
        store(part, sum);
        x[k] = part[0];
        for (int i = 1; i < LANES; i++) x[k] += part[i];
    }
}

/* share = (Q_1 Y_2)' e */
static void project(const struct body *restrict body, const struct updated *restrict u, const double *restrict e,
                    double *restrict share)
{
    for (int b = 0; b < body->n_blocks; b++)
        for (int i = 0; i < PER_MODE; i += LANES) {
            lanes sum = {0};
            for (int k = body->block_start[b]; k < body->block_start[b + 1]; k++) sum += e[k] * load(u->QY[k] + i);
            store(share + PER_MODE * b + i, sum);
        }
}

/* e_1 = L_1^-1 (Q_1' e - J_1' z_T),   z = b + X' z_T + F_1 D_1^-1 e_1                                             (40c) */
INLINE void gather_tip_modes(const int n, const struct updated *restrict u, struct link_work *restrict w)
{
    struct updated_work *restrict uw = w->updated;
    for (int j = 0; j < n; j++) uw->residual.e1[j] = uw->residual.share[u->at[j]] - dot6(uw->J1[j], w->section[0].z);
    unit_forward(n, PADDED(n), w->L, uw->residual.e1);
    wrench_add_shifted(w->z, w->section[0].z, w->section[0].r);
    add_rows(n, uw->residual.e1, (const double(*)[SIX])w->W, w->z);
}

/* e = S e,   z += Y_2' e                                                                                         (40c) */
void updated_gather(const struct link_model *lm, struct link_work *w)
{
    const struct updated *u = lm->updated;
    const struct body *body = lm->body;
    double Ye[6] = {0};
    scale_residuals(lm->m, u, w->e);
    project(body, u, w->e, w->updated->residual.share);
    for (int b = 0; b < body->n_blocks; b++) {
        const int k = body->block_start[b];
        Ye[body->tip.turn[k]] += w->updated->residual.share[PER_MODE * b + Y_TURN];
        Ye[3 + body->tip.axis[k]] += w->updated->residual.share[PER_MODE * b + Y_MOVE];
    }
    add_mul3(w->RF, Ye, w->z);
    add_mul3(w->RF, Ye + 3, w->z + 3);
    WITH_TIP_MODES(N, u->n, gather_tip_modes(N, u, w))
}

/* xi_1 = D_1^-1 (Q_1' e - J_1' z_T - F_1' x),   x_T = X x + J_1 xi_1;   change = xi_1 - Q_1' e                    (40d) */
INLINE void spread_tip_modes(const int n, const struct updated *restrict u, struct link_work *restrict w,
                             double *restrict change)
{
    const struct updated_work *restrict uw = w->updated;
    double xi[MOST_TIP_MODES];
    for (int j = 0; j < n; j++) xi[j] = w->inverse_d[j] * uw->residual.e1[j] - dot6(w->W[j], w->x);
    unit_backward(n, PADDED(n), w->L, xi);
    motion_shift(w->x, w->section[0].r, w->section[0].x);
    add_rows(n, xi, (const double(*)[SIX])uw->J1, w->section[0].x);
    for (int j = 0; j < n; j++) change[u->at[j]] = xi[j] - uw->residual.share[u->at[j]];
}

/* e += (Q_1 Y_2) change */
static void add_change(const struct body *restrict body, const struct updated *restrict u,
                       const double *restrict change, double *restrict e)
{
    for (int b = 0; b < body->n_blocks; b++)
        for (int k = body->block_start[b]; k < body->block_start[b + 1]; k++) {
            double sum = e[k];
            for (int i = 0; i < PER_MODE; i++) sum += u->QY[k][i] * change[PER_MODE * b + i];
            e[k] = sum;
        }
}

/* eta_ddot = S' (e + Q_1 (xi_1 - Q_1' e) - Y_2 x), x in F axes                                                    (40d) */
void updated_spread(const struct link_model *lm, struct link_work *w, double *etadd)
{
    const struct updated *u = lm->updated;
    const struct body *body = lm->body;
    double change[FAMILIES * PER_MODE] = {0}, x[6];
    tmul3(w->RF, w->x, x);
    tmul3(w->RF, w->x + 3, x + 3);
    for (int b = 0; b < body->n_blocks; b++) {
        const int k = body->block_start[b];
        change[PER_MODE * b + Y_TURN] = -x[body->tip.turn[k]];
        change[PER_MODE * b + Y_MOVE] = -x[3 + body->tip.axis[k]];
    }
    WITH_TIP_MODES(N, u->n, spread_tip_modes(N, u, w, change))
    add_change(body, u, change, w->e);
    unscale(lm->m, u, w->e, etadd);
}
