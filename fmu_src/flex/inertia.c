#include "flex/inertia.h"

#include <string.h>

#include "flex/axes.h"
#include "flex/beam.h"
#include "flex/moments.h"
#include "math/lanes.h"
#include "math/vec.h"

/* ---- nodal bodies ------------------------------------------------------------------------------------------------ */

/* sums_a,s += sum over the shapes t along a of G_ts eta_k(t): int phi_s u dm */
INLINE void gram_sums_of(const int n, const struct body *restrict body, const double *restrict eta,
                         double *restrict sums)
{
    for (int a = X; a <= Z; a++)
        for (int t = body->axis_start[a]; t < body->axis_start[a + 1]; t++) {
            const double *restrict G = body->G + (size_t)n * (size_t)t, z = eta[body->k[t]];
            for (int s = 0; s < n; s++) sums[n * a + s] += G[s] * z;
        }
}

static void gram_sums(const struct body *body, const double *eta, double *sums)
{
    WITH_CONSTANT_COUNT(N, body->n_shapes, gram_sums_of(N, body, eta, sums))
}

/* sum over the shapes s along a of x_s eta_k(s) */
static inline double axis_dot(const struct body *body, int a, const double *restrict x, const double *restrict eta)
{
    double sum = 0;
    for (int s = body->axis_start[a]; s < body->axis_start[a + 1]; s++) sum += x[s] * eta[body->k[s]];
    return sum;
}

/* M_rf: angular sum_s rho_s x e_a + JL, linear sum_s s_s e_a over the shapes of eta_k                 (theory.md 12) */
static void nodal_coupling(const struct body *body, struct body_state *state)
{
    const int n = body->n_shapes;
    for (int k = 0; k < body->m; k++) {
        memset(state->coupling[k], 0, sizeof state->coupling[k]);
        copy3(body->JL + 3 * k, state->coupling[k]);
    }
    for (int a = X; a <= Z; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        for (int s = body->axis_start[a]; s < body->axis_start[a + 1]; s++) {
            double *column = state->coupling[body->k[s]]; /* (rho x e_a)_b = rho_c,  (rho x e_a)_c = -rho_b */
            column[b] += state->rho[n * c + s];
            column[c] -= state->rho[n * b + s];
            column[3 + a] += body->s[s];
        }
    }
    if (body->geometric != NULL) geometric_coupling(body, state);
}

/* rho_s = b_s + sum_t G_st eta_k(t) e_a(t),
   c = c0 + sum_s s_s eta_k e_a,   N = N0 + sum_s eta_k (e_a rho_s' + b_s e_a'),   J = tr(N) I - N       (theory.md 9 to 11) */
static void nodal_inertia(const struct body *body, enum elastic_terms terms, const double *eta,
                          struct body_state *state)
{
    static const int row[6] = {X, Y, Z, X, X, Y}, column[6] = {X, Y, Z, Y, Z, Z};
    const int n = body->n_shapes;
    memcpy(state->rho, body->b, 3 * (size_t)n * sizeof(double));
    gram_sums(body, eta, state->rho);
    if (body->geometric != NULL) field_inertia(body, terms, eta, state);
    const double *rho = terms == TERMS_FULL ? state->rho : body->b;
    for (int a = X; a <= Z; a++) state->c[a] = body->c0[a] + axis_dot(body, a, body->s, eta);
    for (int i = 0; i < 6; i++) {
        state->N[i] = body->N0[i] + axis_dot(body, row[i], rho + n * column[i], eta);
        state->N[i] += axis_dot(body, column[i], body->b + n * row[i], eta);
    }
    if (body->geometric != NULL) geometric_inertia(body, terms, eta, state);
    inertia_from_moments(state->N, state->J);
}

/* 2 omega x rho_dot_s of the modal forces, and the sums of the Coriolis wrench;
   rho_dot_s = sum_t G_st eta_dot_k(t) e_a(t),   hs = JL eta_dot                                        (theory.md 16, 17) */
static void nodal_rates(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                        const double *etad, const double *omega, struct coriolis *rates, double *modal)
{
    const int n = body->n_shapes;
    const double *moment = terms == TERMS_FULL ? state->rho : body->b;
    double W[9], *rhod = state->rhod; /* W = 2 [omega]x */
    skew3((const double[3]){2 * omega[0], 2 * omega[1], 2 * omega[2]}, W);
    memset(rhod, 0, 3 * (size_t)n * sizeof(double));
    gram_sums(body, etad, rhod);
    if (body->geometric != NULL && terms == TERMS_FULL) field_rates(body, etad, state);
    for (int k = 0; k < body->m; k++) axpy3(etad[k], body->JL + 3 * k, rates->hs);
    for (int a = X; a <= Z; a++)
        for (int s = body->axis_start[a]; s < body->axis_start[a + 1]; s++) {
            const double mu[3] = {moment[s], moment[n + s], moment[2 * n + s]};
            const double u[3] = {rhod[s], rhod[n + s], rhod[2 * n + s]}, zd = etad[body->k[s]];
            modal[body->k[s]] += dot3(W + 3 * a, u);
            rates->cd[a] += body->s[s] * zd;
            rates->Q_omega[a] += zd * dot3(mu, omega);
            rates->trace += zd * mu[a];
        }
}

/* modal_k = sum over its shapes of (s_s a + B rho_s + 2 omega x rho_dot_s) . e_a  +  JL_k . alpha      (theory.md 17) */
static void nodal_force(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                        const double *etad, const double omega[3], const double acc[6], double wrench[6], double *modal)
{
    const int n = body->n_shapes;
    double B[9];
    point_acceleration(omega, acc, B);
    wrench_of_moments(body->mass, state->c, state->N, B, acc + 3, wrench);
    for (int k = 0; k < body->m; k++) modal[k] = dot3(body->JL + 3 * k, acc);
    for (int a = X; a <= Z; a++)
        for (int s = body->axis_start[a]; s < body->axis_start[a + 1]; s++) {
            const double rho[3] = {state->rho[s], state->rho[n + s], state->rho[2 * n + s]};
            modal[body->k[s]] += body->s[s] * acc[3 + a] + dot3(B + 3 * a, rho);
        }
    if (terms == TERMS_RUTHLESS) return; /* rates are of first order */
    struct coriolis rates = {0};
    nodal_rates(body, terms, state, etad, omega, &rates, modal);
    if (body->geometric != NULL) geometric_force(body, terms, state, etad, omega, acc, &rates, wrench, modal);
    if (body->geometric != NULL && terms == TERMS_FULL) field_force(body, state, omega, B, &rates, wrench, modal);
    add_coriolis(&rates, omega, wrench);
}

/* ---- all bodies -------------------------------------------------------------------------------------------------- */

/* M_rf in F axes; not needed for a beam whose F is O */
static void coupling(const struct body *body, enum elastic_terms terms, struct body_state *state)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    if (!body->beam) nodal_coupling(body, state);
    else if (body->hinge_moves) beam_coupling(body, terms, state, I, state->coupling);
}

void body_state_reset(const struct body *body, struct body_state *state)
{
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m);
    copy3(body->c0, state->c);
    copy6(body->N0, state->N);
    inertia_from_moments(state->N, state->J);
    if (!body->beam) memcpy(state->rho, body->b, 3 * (size_t)body->n_shapes * sizeof(double));
    coupling(body, TERMS_RUTHLESS, state);
    for (size_t k = 0; k < m; k++) memcpy(state->Mff + row * k, body->Mff0 + m * k, m * sizeof(double));
}

void body_state_make(const struct body *body, struct arena *arena, struct body_state *state)
{
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m), n = body->beam ? row : (size_t)body->n_shapes;
    arena_arrays(arena, 3 * n, ARRAYS(&state->rho, &state->rhod));
    state->coupling = arena_allocate(arena, m, sizeof *state->coupling);
    state->Mff = arena_allocate(arena, m * row, sizeof(double));
    if (body->geometric != NULL) geometric_state_make(body, arena, &state->geometric);
    if (body->shortening != NULL) shortening_state_make(body, arena, &state->shortened);
    if (!arena->failed) body_state_reset(body, state);
}

void body_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    if (terms == TERMS_RUTHLESS) return;
    if (body->beam) beam_inertia(body, terms, eta, state);
    else nodal_inertia(body, terms, eta, state);
    coupling(body, terms, state);
}

void body_force(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *eta,
                const double *etad, const double omega[3], const double acc[6], double wrench[6], double *modal)
{
    if (body->beam) beam_force(body, terms, state, eta, etad, omega, acc, wrench, modal);
    else nodal_force(body, terms, state, etad, omega, acc, wrench, modal);
}
