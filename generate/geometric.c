#include "generate/geometric.h"

#include <string.h>

#include "math/lanes.h"

enum { C = 0, N = 3, G = 9 }; /* c, N and g among the moments */

struct geometric_part *geometric_part_make(struct robot_parts *parts, const struct link_part *part)
{
    struct arena *arena = &parts->arena;
    if (part->lm->body->geometric == NULL || parts->model->terms == TERMS_RUTHLESS) return NULL;
    struct geometric_part *at = arena_allocate(arena, 1, sizeof *at);
    if (at == NULL) return NULL;
    at->slope = arena_allocate(arena, (size_t)part->m, sizeof *at->slope);
    at->Xi = arena_allocate(arena, (size_t)part->m, sizeof *at->Xi);
    return arena->failed ? NULL : at;
}

static bool is_full(const struct robot_parts *parts)
{
    return parts->model->terms == TERMS_FULL;
}

/* ---- 3 x 4 matrices ---------------------------------------------------------------------------------------------- */

/* XP += X P */
static void add_right(struct graph *g, const expr *X, const double *P, expr *XP)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int l = 0; l < 4; l++)
                XP[4 * i + j] = expr_add(g, XP[4 * i + j], expr_scale(g, P[4 * l + j], X[4 * i + l]));
}

/* BY += B Y */
static void add_left(struct graph *g, const expr *B, const expr *Y, expr *BY)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int l = 0; l < 3; l++) BY[4 * i + j] = expr_add_product(g, BY[4 * i + j], B[3 * i + l], Y[4 * l + j]);
}

/* Z = X Y' */
static void outer_product(struct graph *g, const expr *X, const expr *Y, expr Z[9])
{
    for (int i = 0; i < 9; i++) Z[i] = dot_n(g, 4, X + 4 * (i / 3), Y + 4 * (i % 3));
}

/* n += vee(F Y') */
static void add_moment(struct graph *g, const expr *F, const expr *Y, expr n[3])
{
    expr Z[9];
    outer_product(g, F, Y, Z);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        n[i] = expr_add(g, n[i], expr_sub(g, Z[3 * k + j], Z[3 * j + k]));
    }
}

/* ---- sums over coordinates ----------------------------------------------------------------------------------------- */

/* Row i of coordinate k of D x, D in m blocks of twelve rows */
static expr contracted(struct graph *g, int m, const double *D, const expr *x, int i, int k)
{
    expr sum = ZERO;
    for (int l = 0; l < m; l++) sum = expr_add(g, sum, expr_scale(g, D[PADDED(m) * (MOMENTS * l + i) + k], x[l]));
    return sum;
}

/* sum over k of x_k rows_k */
static void sum_of_rows(struct graph *g, int m, expr (*rows)[MOMENTS], const expr *x, expr sum[MOMENTS])
{
    memset(sum, 0, MOMENTS * sizeof *sum);
    for (int k = 0; k < m; k++) add_scaled(g, MOMENTS, x[k], rows[k], sum);
}

/* x' D x */
static void quadratic(struct graph *g, int m, const double *D, const expr *x, expr sum[MOMENTS])
{
    for (int i = 0; i < MOMENTS; i++) {
        sum[i] = ZERO;
        for (int k = 0; k < m; k++) sum[i] = expr_add_product(g, sum[i], x[k], contracted(g, m, D, x, i, k));
    }
}

/* Pi_k, the twelve numbers of int Phi_k psi' dm */
static expr Pi_of(struct graph *g, const struct link_part *part, int i, int k)
{
    return expr_number(g, part->lm->body->geometric->field.Pi[PADDED(part->m) * i + k]);
}

/* sum += <Pi_k, X> */
static expr add_Pi_product(struct graph *g, const struct link_part *part, int k, const expr *X, expr sum)
{
    for (int i = 0; i < MOMENTS; i++) sum = expr_add_product(g, sum, Pi_of(g, part, i, k), X[i]);
    return sum;
}

/* Y = Pi x + X P */
static void field_moment(struct graph *g, const struct link_part *part, const expr *x, const expr *X, expr Y[MOMENTS])
{
    for (int i = 0; i < MOMENTS; i++) {
        Y[i] = ZERO;
        for (int k = 0; k < part->m; k++) Y[i] = expr_add_product(g, Y[i], Pi_of(g, part, i, k), x[k]);
    }
    add_right(g, X, part->lm->body->geometric->field.P, Y);
}

/* moment += int phi_s X psi dm; shape s = m a + k moves along a */
static void add_shape_moment(struct graph *g, const struct link_part *part, int s, const expr *X, expr moment[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            moment[i] =
                expr_add_product(g, moment[i], Pi_of(g, part, 4 * (s / part->m) + j, s % part->m), X[4 * i + j]);
}

/* ---- inertia ----------------------------------------------------------------------------------------------------- */

/* X = 1/2 Xi eta,   Y = Pi eta + X P */
void geometric_field_at(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    struct geometric_part *at = part->geometric;
    if (at == NULL) return;
    const struct geometric *geometric = part->lm->body->geometric;
    for (int k = 0; k < part->m; k++)
        for (int i = 0; i < MOMENTS; i++) {
            at->slope[k][i] = contracted(g, part->m, geometric->D, part->eta, i, k);
            at->Xi[k][i] = contracted(g, part->m, geometric->field.Q, part->eta, i, k);
        }
    if (!is_full(parts)) return;
    sum_of_rows(g, part->m, at->Xi, part->eta, at->X);
    for (int i = 0; i < MOMENTS; i++) at->X[i] = expr_scale(g, 0.5, at->X[i]);
    field_moment(g, part, part->eta, at->X, at->Y);
    for (int s = 0; s < part->lm->body->n_shapes; s++) add_shape_moment(g, part, s, at->X, part->rho[s]);
}

/* mu += 1/2 eta' D eta,   N += X Y' */
void geometric_moments(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct geometric_part *at = part->geometric;
    expr mu[MOMENTS], Z[9];
    if (at == NULL || !is_full(parts)) return;
    sum_of_rows(g, part->m, at->slope, part->eta, mu);
    outer_product(g, at->X, at->Y, Z);
    for (int i = 0; i < 3; i++) part->c[i] = expr_add(g, part->c[i], expr_scale(g, 0.5, mu[C + i]));
    for (int i = 0; i < 6; i++)
        part->N[i] = expr_add(g, part->N[i],
                              expr_add(g, expr_scale(g, 0.5, mu[N + i]), Z[3 * packed_row(i) + packed_column(i)]));
}

void geometric_couplings(struct graph *g, struct link_part *part)
{
    const struct geometric_part *at = part->geometric;
    for (int k = 0; at != NULL && k < part->m; k++) {
        add_vector(g, 3, at->slope[k] + G, part->F[k]);
        add_vector(g, 3, at->slope[k] + C, part->F[k] + 3);
        add_moment(g, at->Xi[k], at->Y, part->F[k]);
    }
}

/* M_ff += Xi'Pi + Pi'Xi + Xi'P Xi, the last in `full` */
void geometric_mass(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct geometric_part *at = part->geometric;
    const int m = part->m;
    for (int k = 0; at != NULL && k < m; k++) {
        expr F[MOMENTS];
        for (int i = 0; i < MOMENTS; i++) F[i] = Pi_of(g, part, i, k);
        if (is_full(parts)) add_right(g, at->Xi[k], part->lm->body->geometric->field.P, F);
        for (int l = 0; l < m; l++) {
            const expr sum = add_Pi_product(g, part, l, at->Xi[k], dot_n(g, MOMENTS, at->Xi[l], F));
            part->D[m * k + l] = expr_add(g, part->D[m * k + l], sum);
        }
    }
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

void geometric_shape_rate(struct robot_parts *parts, const struct link_part *part, int s, expr rhod[3])
{
    expr Xd[MOMENTS];
    if (part->geometric == NULL || !is_full(parts)) return;
    sum_of_rows(parts->g, part->m, part->geometric->Xi, part->etad, Xd);
    add_shape_moment(parts->g, part, s, Xd, rhod);
}

/* modal += sum_i weight_i D_i eta: a; 1/2 (omega omega' - |omega|^2 I), entries xy, xz, yz doubled; alpha            (17a) */
static void add_weighted(struct graph *g, struct link_part *part, const expr omega[3], const expr acc[6])
{
    expr weight[MOMENTS], B[9], none[3] = {ZERO, ZERO, ZERO};
    spatial_point_accelerations(g, omega, none, B); /* [omega]x^2 */
    const expr rates[6] = {
        expr_scale(g, 0.5, B[0]), expr_scale(g, 0.5, B[4]), expr_scale(g, 0.5, B[8]), B[1], B[2], B[5]};
    memcpy(weight + C, acc + 3, 3 * sizeof *weight);
    memcpy(weight + N, rates, sizeof rates);
    memcpy(weight + G, acc, 3 * sizeof *weight);
    for (int k = 0; k < part->m; k++)
        part->b_eta[k] = expr_add(g, part->b_eta[k], dot_n(g, MOMENTS, weight, part->geometric->slope[k]));
}

/* Rates of the moments mu, and mu_ddot for eta_ddot = 0 */
static void add_moment_rates(struct graph *g, struct link_part *part, const expr omega[3], struct rates *rates)
{
    expr mu_dot[MOMENTS], mu_ddot[MOMENTS];
    sum_of_rows(g, part->m, part->geometric->slope, part->etad, mu_dot);
    quadratic(g, part->m, part->lm->body->geometric->D, part->etad, mu_ddot);
    const struct vector turned_rate = symmetric_times(g, mu_dot + N, omega);
    const expr trace = expr_add(g, expr_add(g, mu_dot[N], mu_dot[N + 1]), mu_dot[N + 2]);
    add_vector(g, 3, mu_dot + C, rates->cd);
    add_vector(g, 3, mu_dot + G, rates->spin);
    add_scaled(g, 3, expr_number(g, 0.5), turned_rate.e, rates->Q_omega);
    rates->trace = expr_add(g, rates->trace, expr_scale(g, 0.5, trace));
    add_vector(g, 3, mu_ddot + G, part->frame->b);
    add_vector(g, 3, mu_ddot + C, part->frame->b + 3);
}

/* modal_k += <Xi_k, B Y + W Y_dot + X_ddot P> + <Pi_k, X_ddot>;  n += vee(X_ddot Y');  Q += X_dot Y'                   (17b) */
static void add_field(struct graph *g, struct link_part *part, const expr omega[3], const expr B[9],
                      struct rates *rates)
{
    const struct geometric_part *at = part->geometric;
    const struct geometric_field *field = &part->lm->body->geometric->field;
    expr W[9], F[MOMENTS] = {ZERO}, Xd[MOMENTS], Yd[MOMENTS], Xdd[MOMENTS], Q[9];
    spatial_skew(scaled(g, 2, omega).e, W);
    sum_of_rows(g, part->m, at->Xi, part->etad, Xd);
    field_moment(g, part, part->etad, Xd, Yd);
    quadratic(g, part->m, field->Q, part->etad, Xdd);
    add_left(g, B, at->Y, F);
    add_left(g, W, Yd, F);
    add_right(g, Xdd, field->P, F);
    for (int k = 0; k < part->m; k++) {
        const expr sum = add_Pi_product(g, part, k, Xdd, dot_n(g, MOMENTS, at->Xi[k], F));
        part->b_eta[k] = expr_add(g, part->b_eta[k], sum);
    }
    add_moment(g, Xdd, at->Y, part->frame->b);
    outer_product(g, Xd, at->Y, Q);
    const struct vector Q_omega = matrix_times(g, Q, omega);
    add_vector(g, 3, Q_omega.e, rates->Q_omega);
    rates->trace = expr_add(g, rates->trace, expr_add(g, expr_add(g, Q[0], Q[4]), Q[8]));
}

void geometric_forces(struct robot_parts *parts, struct link_part *part, const expr omega[3], const expr acc[6],
                      const expr B[9], struct rates *rates)
{
    if (part->geometric == NULL) return;
    add_weighted(parts->g, part, omega, acc);
    if (!is_full(parts)) return;
    add_moment_rates(parts->g, part, omega, rates);
    add_field(parts->g, part, omega, B, rates);
}
