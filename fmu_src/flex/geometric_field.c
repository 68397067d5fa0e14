#include "flex/geometric_field.h"

#include <math.h>
#include <string.h>

#include "flex/inertia.h"
#include "flex/moments.h"
#include "flex/tangent.h"
#include "math/eigen.h"
#include "math/lanes.h"
#include "math/vec.h"

enum { COUNT = 12 }; /* numbers of a 3 x 4 matrix */

/* ---- 3 x 4 matrices --------------------------------------------------------------------------------------------------- */

/* XP += X P */
static void add_right(const double *X, const double *P, double *XP)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int l = 0; l < 4; l++) XP[4 * i + j] += X[4 * i + l] * P[4 * l + j];
}

/* BY += B Y */
static void add_left(const double *B, const double *Y, double *BY)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            BY[4 * i + j] += B[3 * i] * Y[j] + B[3 * i + 1] * Y[4 + j] + B[3 * i + 2] * Y[8 + j];
}

/* Z = X Y' */
static void outer(const double *X, const double *Y, double Z[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            Z[3 * i + j] = 0;
            for (int l = 0; l < 4; l++) Z[3 * i + j] += X[4 * i + l] * Y[4 * j + l];
        }
}

/* n += vee(F Y') = int (Y psi) x (F psi) dm, if the moments are those of psi */
static void add_moment(const double *F, const double *Y, double n[3])
{
    double Z[9];
    outer(F, Y, Z);
    n[0] += Z[7] - Z[5];
    n[1] += Z[2] - Z[6];
    n[2] += Z[3] - Z[1];
}

static void axpy12(double s, const double *x, double *y)
{
    for (int i = 0; i < COUNT; i++) y[i] += s * x[i];
}

/* ---- sums over coordinates ------------------------------------------------------------------------------------------------ */

void geometric_contract(int m, const double *D, const double *x, double *rows)
{
    const int length = COUNT * PADDED(m);
    memset(rows, 0, (size_t)length * sizeof *rows);
    for (int l = 0; l < m; l++) {
        const double *restrict column_l = D + length * l, z = x[l];
        for (int i = 0; i < length; i++) rows[i] += z * column_l[i];
    }
}

void geometric_forms(int m, const double *rows, const double *x, double sum[COUNT])
{
    for (int i = 0; i < COUNT; i++) {
        sum[i] = 0;
        for (int k = 0; k < m; k++) sum[i] += rows[PADDED(m) * i + k] * x[k];
    }
}

void geometric_combine(int m, const double weight[COUNT], const double *D, double *M)
{
    const int row = PADDED(m);
    for (int l = 0; l < m; l++)
        for (int i = 0; i < COUNT; i++)
            for (int k = 0; k < m; k++) M[row * l + k] += weight[i] * D[row * (COUNT * l + i) + k];
}

/* modal_k += <rows_k, F> */
static void add_forces(int m, const double *rows, const double F[COUNT], double *modal)
{
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < m; k++) modal[k] += F[i] * rows[PADDED(m) * i + k];
}

/* moment_s += int phi_s X psi dm; shape s = m a + k moves along a */
static void add_shape_moments(const struct body *body, const double X[COUNT], double *moment)
{
    const int m = body->m, n = body->n_shapes, row = PADDED(m);
    for (int s = 0; s < n; s++) {
        const double *p = body->geometric->field.Pi + 4 * row * (s / m) + s % m;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++) moment[n * i + s] += X[4 * i + j] * p[row * j];
    }
}

/* ---- storage ------------------------------------------------------------------------------------------------------------ */

/* The pseudoinverse of P. Directions in which the nodes extend by less than 1e-3 of the body's size count as none: their
   moments cannot be distinguished from errors of the data. */
static void pseudoinverse(const double P[16], double inverse[16])
{
    memset(inverse, 0, 16 * sizeof *inverse);
    const double mass = P[0], length = mass > 0 ? sqrt((P[5] + P[10] + P[15]) / mass) : 0;
    if (length == 0) return;
    const double scale[4] = {1, 1 / length, 1 / length, 1 / length};
    double A[16], V[16], w[4];
    for (int i = 0; i < 16; i++) A[i] = P[i] * scale[i / 4] * scale[i % 4] / mass;
    eigen_symmetric(4, A, V, w);
    for (int e = 0; e < 4; e++)
        for (int i = 0; i < 16 && w[e] > 1e-6; i++)
            inverse[i] += scale[i / 4] * scale[i % 4] * V[4 * (i / 4) + e] * V[4 * (i % 4) + e] / (w[e] * mass);
}

/* int Q_i psi' dm of the entry kl of all matrices, from (A; R; C): W_ij = int Q_i r0_j dm = (R_ij +- C_k) / 2 */
static void given_moments(int m, const double *D, int kl, double given[COUNT])
{
    static const int pair[9] = {3, 6, 7, 6, 4, 8, 7, 8, 5};
    for (int i = 0; i < 3; i++) {
        given[4 * i] = D[m * m * i + kl];
        for (int j = 0; j < 3; j++) {
            const double R = D[m * m * pair[3 * i + j] + kl];
            const double turn = i == j ? 0 : D[m * m * (12 - i - j) + kl]; /* C_k, k = 3 - i - j */
            given[4 * i + 1 + j] = 0.5 * (R + (i == (j + 1) % 3 ? turn : -turn));
        }
    }
}

enum status field_make(const struct nodal *nodal, const struct body *body, struct arena *arena,
                       struct geometric_field *field)
{
    const int m = nodal->modes, row = PADDED(m), n = body->n_shapes;
    double inverse[16], *Q = arena_allocate(arena, (size_t)(m * COUNT * row), sizeof *Q);
    double *Pi = arena_allocate(arena, (size_t)(COUNT * row), sizeof *Pi);
    if (arena->failed) return STATUS_NO_MEMORY;
    memset(field->P, 0, sizeof field->P);
    for (int k = 0; k < nodal->n_nodes; k++) { /* P = int psi psi' dm */
        const struct node *node = &nodal->node[k];
        double psi[4] = {1};
        for (int i = 0; i < 3; i++) psi[1 + i] = node->position[i] + node->body.com[i];
        for (int i = 0; i < 16; i++) field->P[i] += node->body.mass * psi[i / 4] * psi[i % 4];
    }
    pseudoinverse(field->P, inverse);
    for (int kl = 0; kl < m * m; kl++) {
        double given[COUNT], found[COUNT] = {0};
        given_moments(m, nodal->geometric, kl, given);
        add_right(given, inverse, found);
        for (int i = 0; i < COUNT; i++) Q[row * (COUNT * (kl % m) + i) + kl / m] = found[i];
    }
    for (int s = 0; s < n; s++) {
        double *p = Pi + 4 * row * (s / m) + s % m;
        p[0] = body->s[s];
        for (int j = 0; j < 3; j++) p[row * (1 + j)] = body->b[n * j + s];
    }
    field->Q = Q;
    field->Pi = Pi;
    return STATUS_OK;
}

/* ---- mass blocks ----------------------------------------------------------------------------------------------------------- */

/* M_ff = M_ff0 + Xi'Pi + Pi'Xi + Xi'P Xi, the last term in `full`                                             (13g) */
static void modal_mass(const struct body *body, enum elastic_terms terms, struct body_state *state)
{
    const struct geometric_field *field = &body->geometric->field;
    const int m = body->m, row = PADDED(m);
    for (int k = 0; k < m; k++) {
        double Xi[COUNT], Pi[COUNT], half[COUNT] = {0}, *M = state->Mff + row * k;
        geometric_column(m, state->geometric.field.Xi, k, Xi);
        geometric_column(m, field->Pi, k, Pi);
        if (terms == TERMS_FULL) add_right(Xi, field->P, half);
        axpy12(1, half, Pi);
        memcpy(M, body->Mff0 + m * k, (size_t)m * sizeof *M);
        add_forces(m, state->geometric.field.Xi, Pi, M);
        add_forces(m, field->Pi, Xi, M);
    }
}

/* X = 1/2 Xi eta,   Y = Pi eta + X P */
void field_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    const struct geometric_field *field = &body->geometric->field;
    struct field_state *at = &state->geometric.field;
    geometric_contract(body->m, field->Q, eta, at->Xi);
    modal_mass(body, terms, state);
    memset(at->X, 0, sizeof at->X);
    memset(at->Y, 0, sizeof at->Y);
    if (terms != TERMS_FULL) return;
    geometric_forms(body->m, at->Xi, eta, at->X);
    for (int i = 0; i < COUNT; i++) at->X[i] *= 0.5;
    geometric_forms(body->m, field->Pi, eta, at->Y);
    add_right(at->X, field->P, at->Y);
    add_shape_moments(body, at->X, state->rho);
}

/* N += X Y' */
void field_moments(struct body_state *state)
{
    static const int place[6] = {0, 4, 8, 1, 2, 5};
    double Z[9];
    outer(state->geometric.field.X, state->geometric.field.Y, Z);
    for (int i = 0; i < 6; i++) state->N[i] += Z[place[i]];
}

void field_coupling(const struct body *body, struct body_state *state)
{
    for (int k = 0; k < body->m; k++) {
        double Xi[COUNT];
        geometric_column(body->m, state->geometric.field.Xi, k, Xi);
        add_moment(Xi, state->geometric.field.Y, state->coupling[k]);
    }
}

/* ---- forces -------------------------------------------------------------------------------------------------------------------- */

/* X_dot = Xi eta_dot,   Y_dot = Pi eta_dot + X_dot P,   X_ddot = eta_dot' Q eta_dot */
void field_rates(const struct body *body, const double *etad, const struct body_state *state)
{
    const struct geometric_field *field = &body->geometric->field;
    const struct field_state *at = &state->geometric.field;
    geometric_contract(body->m, field->Q, etad, at->Xi_d);
    geometric_forms(body->m, at->Xi, etad, at->rates->Xd);
    geometric_forms(body->m, at->Xi_d, etad, at->rates->Xdd);
    geometric_forms(body->m, field->Pi, etad, at->rates->Yd);
    add_right(at->rates->Xd, field->P, at->rates->Yd);
    add_shape_moments(body, at->rates->Xd, state->rhod);
}

/* modal_k += <Xi_k, B Y + W Y_dot + X_ddot P> + <Pi_k, X_ddot>;  n += vee(X_ddot Y');  Q += X_dot Y' */
void field_force(const struct body *body, const struct body_state *state, const double omega[3], const double B[9],
                 struct coriolis *rates, double wrench[6], double *modal)
{
    const struct geometric_field *field = &body->geometric->field;
    const struct field_state *at = &state->geometric.field;
    double W[9], F[COUNT] = {0}, Q[9];
    skew3((const double[3]){2 * omega[0], 2 * omega[1], 2 * omega[2]}, W);
    add_left(B, at->Y, F);
    add_left(W, at->rates->Yd, F);
    add_right(at->rates->Xdd, field->P, F);
    add_forces(body->m, at->Xi, F, modal);
    add_forces(body->m, field->Pi, at->rates->Xdd, modal);
    add_moment(at->rates->Xdd, at->Y, wrench);
    outer(at->rates->Xd, at->Y, Q);
    add_mul3(Q, omega, rates->Q_omega);
    rates->trace += Q[0] + Q[4] + Q[8];
}

/* ---- derivatives ---------------------------------------------------------------------------------------------------------------- */

void field_moment_rates(const struct body *body, const struct body_state *state, const double *etadd,
                        struct body_tangent *t)
{
    struct field_tangent *ft = &t->geometric.field;
    geometric_forms(body->m, state->geometric.field.Xi, etadd, ft->Xdd);
    axpy12(1, state->geometric.field.rates->Xdd, ft->Xdd);
    add_shape_moments(body, ft->Xdd, t->rhodd);
}

void field_rate_sums(const struct body_state *state, double Q[9])
{
    double Z[9];
    outer(state->geometric.field.rates->Xd, state->geometric.field.Y, Z);
    for (int i = 0; i < 9; i++) Q[i] += Z[i];
}

/* Columns of coordinate k, with the change of the acceleration's field F_k = B Xi_k + W Xi_dot_k + Xi_ddot_k per eta_k and
   W Xi_k + 2 Xi_dot_k per eta_dot_k:
       wrench:   vee(T Xi_k') + vee(F_k Y')
       modal j:  <Pi_j + Xi_j P, F_k> + <Xi_j, B Pi_k>, or W Pi_k */
static void add_columns(const struct body *body, const struct body_state *state, const struct body_point *motion,
                        const double T[COUNT], int k, struct body_tangent *t)
{
    const int m = body->m, row = PADDED(m);
    const struct field_state *at = &state->geometric.field;
    double Xi[COUNT], Xi_d[COUNT], Pi[COUNT], per_eta[COUNT], per_rate[COUNT] = {0}, BPi[COUNT] = {0}, WPi[COUNT] = {0};
    geometric_column(m, at->Xi, k, Xi);
    geometric_column(m, at->Xi_d, k, Xi_d);
    geometric_column(m, t->geometric.field.Xi_dd, k, per_eta);
    geometric_column(m, body->geometric->field.Pi, k, Pi);
    add_left(motion->B, Xi, per_eta);
    add_left(motion->W, Xi_d, per_eta);
    add_left(motion->W, Xi, per_rate);
    axpy12(2, Xi_d, per_rate);
    add_left(motion->B, Pi, BPi);
    add_left(motion->W, Pi, WPi);
    add_moment(T, Xi, t->Nq[k]);
    add_moment(per_eta, at->Y, t->Nq[k]);
    add_moment(per_rate, at->Y, t->Nv[k]);
    add_forces(m, t->geometric.field.XiP, per_eta, t->Gq + row * k);
    add_forces(m, at->Xi, BPi, t->Gq + row * k);
    add_forces(m, t->geometric.field.XiP, per_rate, t->Gv + row * k);
    add_forces(m, at->Xi, WPi, t->Gv + row * k);
}

/* Modal force k per omega: <Xi_k, B Y + W Y_dot> differentiated, column by column of Y */
static void add_spin_rows(const struct body *body, const struct body_state *state, const double omega[3],
                          struct body_tangent *t)
{
    const struct field_state *at = &state->geometric.field;
    for (int i = 0; i < COUNT; i++) {
        const int j = i % 4;
        const double y[3] = {at->Y[j], at->Y[4 + j], at->Y[8 + j]};
        const double yd[3] = {at->rates->Yd[j], at->rates->Yd[4 + j], at->rates->Yd[8 + j]};
        double row[3];
        body_spin_row(i / 4, y, yd, omega, row);
        for (int k = 0; k < body->m; k++) axpy3(at->Xi[PADDED(body->m) * i + k], row, t->Gw[k]);
    }
}

void field_tangent(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                   const struct body_point *motion, struct body_tangent *t)
{
    const struct geometric_field *field = &body->geometric->field;
    const struct field_state *at = &state->geometric.field;
    struct field_tangent *ft = &t->geometric.field;
    double T[COUNT];
    geometric_contract(body->m, field->Q, motion->etadd, ft->Xi_dd);
    geometric_forms(body->m, field->Pi, motion->etadd, T);
    if (terms != TERMS_FULL) { /* `linear` keeps M_ff eta_ddot: <Q_kl, Pi eta_ddot> + <Pi_k, Xi_ddot_l> */
        geometric_combine(body->m, T, field->Q, t->Gq);
        for (int l = 0; l < body->m; l++) {
            double Xi_dd[COUNT];
            geometric_column(body->m, ft->Xi_dd, l, Xi_dd);
            add_forces(body->m, field->Pi, Xi_dd, t->Gq + PADDED(body->m) * l);
        }
        return;
    }
    /* T = int (acceleration) psi' dm without the terms of geometric.c: B Y + W Y_dot + Y_ddot,   Y_ddot = Pi eta_ddot + X_ddot P */
    add_right(ft->Xdd, field->P, T);
    add_left(motion->B, at->Y, T);
    add_left(motion->W, at->rates->Yd, T);
    geometric_combine(body->m, T, field->Q, t->Gq);
    for (int k = 0; k < body->m; k++) { /* XiP_k = Pi_k + Xi_k P */
        double Xi[COUNT], sum[COUNT];
        geometric_column(body->m, at->Xi, k, Xi);
        geometric_column(body->m, field->Pi, k, sum);
        add_right(Xi, field->P, sum);
        for (int i = 0; i < COUNT; i++) ft->XiP[PADDED(body->m) * i + k] = sum[i];
    }
    for (int k = 0; k < body->m; k++) add_columns(body, state, motion, T, k, t);
    add_spin_rows(body, state, motion->omega, t);
}
