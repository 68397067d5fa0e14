#include "flex/geometric.h"

#include <string.h>

#include "flex/inertia.h"
#include "flex/moments.h"
#include "flex/tangent.h"
#include "math/lanes.h"
#include "math/vec.h"

/* The twelve moments of mu = (c; N; g) in this order: that of `acceleration`, `rates`, `angular_acceleration` in a robot file. */
enum { C = 0, N = 3, G = 9, COUNT = GEOMETRIC_MOMENTS };

/* ---- storage ---------------------------------------------------------------------------------------------------- */

enum status geometric_make(const struct nodal *nodal, const struct body *body, struct arena *arena,
                           const struct geometric **made)
{
    const int m = nodal->modes, row = PADDED(m);
    struct geometric *geometric = arena_allocate(arena, 1, sizeof *geometric);
    double *D = arena_allocate(arena, (size_t)(m * COUNT * row), sizeof *D);
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < COUNT; i++)
        for (int l = 0; l < m; l++)
            memcpy(D + row * (COUNT * l + i), nodal->geometric + m * (m * i + l), (size_t)m * sizeof *D);
    geometric->D = D;
    *made = geometric;
    return field_make(nodal, body, arena, &geometric->field);
}

void geometric_state_make(const struct body *body, struct arena *arena, struct geometric_state *state)
{
    struct field_state *field = &state->field;
    arena_arrays(arena, (size_t)(COUNT * PADDED(body->m)),
                 ARRAYS(&state->D_eta, &state->D_etad, &field->Xi, &field->Xi_d));
    field->rates = arena_allocate(arena, 1, sizeof *field->rates);
}

void geometric_tangent_make(const struct body *body, struct arena *arena, struct geometric_tangent *t)
{
    arena_arrays(arena, (size_t)(COUNT * PADDED(body->m)), ARRAYS(&t->D_etadd, &t->field.Xi_dd, &t->field.XiP));
}

/* ---- moments ---------------------------------------------------------------------------------------------------- */

/* Rates of the moments: c_dot, J_dot omega = tr(N_dot) omega - N_dot omega, omega x g_dot, in the form of add_coriolis() */
static void add_rates(const double mu_dot[COUNT], const double omega[3], struct coriolis *rates)
{
    double Nd_omega[3];
    symmul3(mu_dot + N, omega, Nd_omega);
    axpy3(1, mu_dot + C, rates->cd);
    axpy3(0.5, Nd_omega, rates->Q_omega);
    axpy3(1, mu_dot + G, rates->hs);
    rates->trace += 0.5 * (mu_dot[N] + mu_dot[N + 1] + mu_dot[N + 2]);
}

/* Weights of the matrices in the modal forces, gamma = (sum_i weight_i D_i) eta: a; 1/2 (omega omega' - |omega|^2 I), entries
   xy, xz, yz doubled; alpha                                                                            (theory.md 17a) */
static void force_weights(const double omega[3], const double alpha[3], const double a[3], double weight[COUNT])
{
    const double x = omega[0], y = omega[1], z = omega[2];
    const double rates[6] = {
        -0.5 * (y * y + z * z), -0.5 * (x * x + z * z), -0.5 * (x * x + y * y), x * y, x * z, y * z};
    copy3(a, weight + C);
    copy6(rates, weight + N);
    copy3(alpha, weight + G);
}

/* ---- inertia ---------------------------------------------------------------------------------------------------- */

void geometric_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    double mu[COUNT];
    geometric_contract(body->m, body->geometric->D, eta, state->geometric.D_eta);
    if (terms != TERMS_FULL) return;
    geometric_forms(body->m, state->geometric.D_eta, eta, mu);
    for (int i = 0; i < 3; i++) state->c[i] += 0.5 * mu[C + i];
    for (int i = 0; i < 6; i++) state->N[i] += 0.5 * mu[N + i];
    field_moments(state);
}

void geometric_coupling(const struct body *body, struct body_state *state)
{
    for (int k = 0; k < body->m; k++) {
        double mu[COUNT];
        geometric_column(body->m, state->geometric.D_eta, k, mu);
        axpy3(1, mu + G, state->coupling[k]);
        axpy3(1, mu + C, state->coupling[k] + 3);
    }
    field_coupling(body, state);
}

/* modal += sum_i weight_i D_i eta;  wrench += (g_ddot; c_ddot) for eta_ddot = 0 */
void geometric_force(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                     const double *etad, const double omega[3], const double acc[6], struct coriolis *rates,
                     double wrench[6], double *modal)
{
    double weight[COUNT], mu_dot[COUNT], mu_ddot[COUNT];
    const double *D_eta = state->geometric.D_eta;
    force_weights(omega, acc, acc + 3, weight);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < body->m; k++) modal[k] += weight[i] * D_eta[PADDED(body->m) * i + k];
    if (terms != TERMS_FULL) return;

    geometric_contract(body->m, body->geometric->D, etad, state->geometric.D_etad);
    geometric_forms(body->m, D_eta, etad, mu_dot);
    geometric_forms(body->m, state->geometric.D_etad, etad, mu_ddot);
    add_rates(mu_dot, omega, rates);
    axpy3(1, mu_ddot + G, wrench);
    axpy3(1, mu_ddot + C, wrench + 3);
}

/* ---- derivatives ------------------------------------------------------------------------------------------------ */

void geometric_rate_sums(const struct body *body, const struct body_state *state, const double *etad, double hs[3],
                         double cd[3], double Q[9])
{
    static const int place[9] = {N, N + 3, N + 4, N + 3, N + 1, N + 5, N + 4, N + 5, N + 2};
    double mu_dot[COUNT];
    geometric_forms(body->m, state->geometric.D_eta, etad, mu_dot);
    axpy3(1, mu_dot + G, hs);
    axpy3(1, mu_dot + C, cd);
    for (int i = 0; i < 9; i++) Q[i] += 0.5 * mu_dot[place[i]];
    field_rate_sums(state, Q);
}

/* Wrench per eta_k and eta_dot_k: the terms of the wrench with mu, mu_dot, mu_ddot replaced by their derivatives,
       eta:      D eta, D eta_dot, D eta_ddot
       eta_dot:  0,     D eta,     2 D eta_dot */
static void add_wrenches(const struct body *body, const struct body_state *state, const struct body_point *motion,
                         int k, struct body_tangent *t)
{
    double mu[COUNT], mu_d[COUNT], wrench[6];
    struct coriolis per_eta = {0}, per_rate = {0};
    geometric_column(body->m, state->geometric.D_eta, k, mu);
    geometric_column(body->m, state->geometric.D_etad, k, mu_d);
    wrench_of_moments(0, mu + C, mu + N, motion->B, motion->a, wrench);
    axpy3(1, wrench, t->Nq[k]);
    axpy3(1, wrench + 3, t->Nq[k] + 3);
    add_rates(mu_d, motion->omega, &per_eta);
    add_rates(mu, motion->omega, &per_rate);
    add_coriolis(&per_eta, motion->omega, t->Nq[k]);
    add_coriolis(&per_rate, motion->omega, t->Nv[k]);
    axpy3(2, mu_d + G, t->Nv[k]);
    axpy3(2, mu_d + C, t->Nv[k] + 3);
}

void geometric_tangent(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                       const struct body_point *motion, const double alpha[3], struct body_tangent *t)
{
    double weight[COUNT], mu[COUNT], N_omega[3];
    force_weights(motion->omega, alpha, motion->a, weight);
    geometric_combine(body->m, weight, body->geometric->D, t->Gq); /* the geometric stiffness matrix */
    geometric_contract(body->m, body->geometric->D, motion->etadd, t->geometric.D_etadd);
    for (int k = 0; k < body->m; k++) {
        geometric_column(body->m, state->geometric.D_eta, k, mu);
        symmul3(mu + N, motion->omega,
                N_omega); /* modal force k per omega: N_k omega - tr(N_k) omega, N_k = dN/deta_k */
        axpy3(1, N_omega, t->Gw[k]);
        axpy3(-(mu[N] + mu[N + 1] + mu[N + 2]), motion->omega, t->Gw[k]);
        geometric_column(body->m, t->geometric.D_etadd, k, mu); /* the change of M_rf eta_ddot */
        axpy3(1, mu + G, t->Nq[k]);
        axpy3(1, mu + C, t->Nq[k] + 3);
        if (terms == TERMS_FULL) add_wrenches(body, state, motion, k, t);
    }
    field_tangent(body, terms, state, motion, t);
}
