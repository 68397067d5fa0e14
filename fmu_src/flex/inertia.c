#include "flex/inertia.h"

#include <string.h>

#include "flex/axes.h"
#include "flex/moments.h"
#include "flex/plain.h"
#include "math/lanes.h"
#include "math/vec.h"

/* The foreshortening shapes are of second order. `linear` keeps them only through their derivatives d zeta/d eta, `ruthless` drops
   them. So `linear` sums over the ordinary shapes along x. */
static inline int axis_end(const struct body *body, enum elastic_terms terms, int axis)
{
    return axis == X && terms == TERMS_LINEAR ? body->quad_start : body->axis_start[axis + 1];
}

/* modal += (d zeta_s / d eta)' g:  g is added to k, or -w (eta_l g), -w (eta_k g) to k and l */
static inline void project(const struct body *body, int s, const double *eta, double g, double *modal)
{
    const int k = body->k[s], l = body->l[s];
    if (l < 0) {
        modal[k] += g;
    } else {
        const double wg = -body->weight[s] * g;
        modal[k] += wg * eta[l];
        modal[l] += wg * eta[k];
    }
}

static void shape_coordinates(const struct body *body, const double *eta, double *zeta)
{
    for (int s = 0; s < body->n_shapes; s++) {
        const int k = body->k[s], l = body->l[s];
        zeta[s] = l < 0 ? eta[k] : -body->weight[s] * eta[k] * eta[l];
    }
}

/* sums_a,s += sum over the shapes t along a of G_ts z_t: int phi_s u dm */
INLINE void gram_sums_of(const int n, const struct body *restrict body, enum elastic_terms terms,
                         const double *restrict z, double *restrict sums)
{
    for (int a = X; a <= Z; a++)
        for (int t = body->axis_start[a], end = axis_end(body, terms, a); t < end; t++) {
            const double *restrict G = body->G + (size_t)n * (size_t)t, zt = z[t];
            for (int s = 0; s < n; s++) sums[n * a + s] += G[s] * zt;
        }
}

static void gram_sums(const struct body *body, enum elastic_terms terms, const double *z, double *sums)
{
    WITH_CONSTANT_COUNT(N, body->n_shapes, gram_sums_of(N, body, terms, z, sums))
}

/* of a foreshortening shape `linear` keeps the zeroth order: its derivative is already of first order */
static void drop_quadratic(const struct body *body, const double *zeroth, double *sums)
{
    for (int a = X; a <= Z; a++)
        for (int s = body->quad_start; s < body->quad_end; s++) {
            const int i = body->n_shapes * a + s;
            sums[i] = zeroth != NULL ? zeroth[i] : 0;
        }
}

/* rho_s = b_s + sum_t G_st zeta_t e_a(t)                                                               (theory.md 10) */
static void first_moments(const struct body *body, enum elastic_terms terms, struct body_state *state)
{
    memcpy(state->rho, body->b, 3 * (size_t)body->n_shapes * sizeof(double));
    gram_sums(body, terms, state->zeta, state->rho);
    if (terms == TERMS_LINEAR) drop_quadratic(body, body->b, state->rho);
}

/* sum over the shapes s along a of x_s y_s */
static inline double axis_dot(const struct body *body, enum elastic_terms terms, int a, const double *restrict x,
                              const double *restrict y)
{
    double sum = 0;
    for (int s = body->axis_start[a], end = axis_end(body, terms, a); s < end; s++) sum += x[s] * y[s];
    return sum;
}

/* c = c0 + sum_s s_s zeta_s e_a,   N = N0 + sum_s zeta_s (e_a rho_s' + b_s e_a'),   J = tr(N) I - N  (theory.md 9, 11) */
static void second_moments(const struct body *body, enum elastic_terms terms, struct body_state *state)
{
    static const int row[6] = {X, Y, Z, X, X, Y}, column[6] = {X, Y, Z, Y, Z, Z};
    const int n = body->n_shapes;
    const double *zeta = state->zeta, *rho = terms == TERMS_FULL ? state->rho : body->b;
    for (int a = X; a <= Z; a++) state->c[a] = body->c0[a] + axis_dot(body, terms, a, body->s, zeta);
    for (int i = 0; i < 6; i++) {
        state->N[i] = body->N0[i] + axis_dot(body, terms, row[i], zeta, rho + n * column[i]);
        state->N[i] += axis_dot(body, terms, column[i], zeta, body->b + n * row[i]);
    }
    inertia_from_moments(state->N, state->J);
}

/* M_rf: angular sum_s (rho_s x e_a) d zeta_s/d eta + JL, linear sum_s s_s e_a d zeta_s/d eta           (theory.md 12) */
static void coupling(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    const int n = body->n_shapes;
    memcpy(state->ang, body->JL, 3 * (size_t)body->m * sizeof(double));
    memset(state->lin, 0, 3 * (size_t)body->m * sizeof(double));
    for (int a = X; a <= Z; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const double *rho_b = state->rho + n * b, *rho_c = state->rho + n * c;
        for (int s = body->axis_start[a]; s < body->axis_start[a + 1]; s++) {
            const int k = body->k[s], l = body->l[s];
            if (l < 0) { /* (rho x e_a)_b = rho_c,  (rho x e_a)_c = -rho_b */
                state->ang[3 * k + b] += rho_c[s];
                state->ang[3 * k + c] -= rho_b[s];
                state->lin[3 * k + a] += body->s[s];
            } else if (terms != TERMS_RUTHLESS) {
                const int at[2] = {k, l};
                const double slope[2] = {-body->weight[s] * eta[l], -body->weight[s] * eta[k]};
                for (int i = 0; i < 2; i++) {
                    state->ang[3 * at[i] + b] += slope[i] * rho_c[s];
                    state->ang[3 * at[i] + c] -= slope[i] * rho_b[s];
                    state->lin[3 * at[i] + a] += slope[i] * body->s[s];
                }
            }
        }
    }
}

/* M_ff = M_ff0 + the part of the foreshortening shapes: S' G S over the shapes along x, S = d zeta/d eta (theory.md 13) */
static void modal_mass(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    const int m = body->m, n = body->n_shapes, end = body->axis_start[1];
    memcpy(state->Mff, body->Mff0, (size_t)(m * m) * sizeof(double));

    /* rows of G S for the shapes along x: first the foreshortening columns only */
    memset(state->Gt, 0, (size_t)(end * m) * sizeof(double));
    for (int s = 0; s < end; s++)
        for (int t = body->quad_start; t < body->quad_end; t++)
            project(body, t, eta, body->G[n * s + t], state->Gt + m * s);

    for (int s = 0; s < body->quad_start; s++) { /* ordinary with foreshortening and the transpose */
        const int k = body->k[s];
        for (int j = 0; j < m; j++) {
            state->Mff[m * k + j] += state->Gt[m * s + j];
            state->Mff[m * j + k] += state->Gt[m * s + j];
        }
    }
    if (terms == TERMS_LINEAR) return;
    for (int s = body->quad_start; s < body->quad_end; s++) {
        const int at[2] = {body->k[s], body->l[s]};
        const double slope[2] = {-body->weight[s] * eta[at[1]], -body->weight[s] * eta[at[0]]};
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < m; j++) state->Mff[m * at[i] + j] += slope[i] * state->Gt[m * s + j];
    }
}

enum status body_state_make(const struct body *body, struct arena *arena, struct body_state *state)
{
    const size_t n = (size_t)(body->plain ? PADDED(body->m) : body->n_shapes), m = (size_t)body->m;
    const bool quadratic = body->quad_end > body->quad_start;
    state->zeta = arena_take(arena, n, sizeof(double));
    state->rho = arena_take(arena, 3 * n, sizeof(double));
    state->ang = arena_take(arena, 3 * m, sizeof(double));
    state->lin = arena_take(arena, 3 * m, sizeof(double));
    state->zetad = arena_take(arena, n, sizeof(double));
    state->zetadd = arena_take(arena, n, sizeof(double));
    state->rhod = arena_take(arena, 3 * n, sizeof(double));
    state->Mff = quadratic ? arena_take(arena, m * m, sizeof(double)) : NULL;
    state->Gt = quadratic ? arena_take(arena, n * m, sizeof(double)) : NULL;
    if (arena->failed) return STATUS_NO_MEMORY;

    copy3(body->c0, state->c);
    copy6(body->N0, state->N);
    inertia_from_moments(state->N, state->J);
    if (!body->plain) {
        memcpy(state->rho, body->b, 3 * n * sizeof(double));
        coupling(body, TERMS_RUTHLESS, NULL, state);
    }
    if (quadratic) memcpy(state->Mff, body->Mff0, m * m * sizeof(double));
    return STATUS_OK;
}

void body_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    if (terms == TERMS_RUTHLESS) return;
    if (body->plain) {
        plain_inertia(body, terms, eta, state);
        return;
    }
    shape_coordinates(body, eta, state->zeta);
    first_moments(body, terms, state);
    second_moments(body, terms, state);
    coupling(body, terms, eta, state);
    if (state->Mff != NULL) modal_mass(body, terms, eta, state);
}

static void shape_rates(const struct body *body, const double *eta, const double *etad, struct body_state *state)
{
    for (int s = 0; s < body->n_shapes; s++) {
        const int k = body->k[s], l = body->l[s];
        if (l < 0) {
            state->zetad[s] = etad[k];
        } else {
            const double w = -body->weight[s];
            state->zetad[s] = w * (etad[k] * eta[l] + eta[k] * etad[l]);
            state->zetadd[s] = 2 * w * etad[k] * etad[l];
        }
    }
}

void body_rates(const struct body *body, enum elastic_terms terms, const double *eta, const double *etad,
                struct body_state *state)
{
    if (terms == TERMS_RUTHLESS || body->plain) return; /* rates are of first order; plain_force() has its own */
    const int n = body->n_shapes;
    shape_rates(body, eta, etad, state);

    /* hs = JL eta_dot */
    memset(state->hs, 0, sizeof state->hs);
    for (int k = 0; k < body->m; k++) axpy3(etad[k], body->JL + 3 * k, state->hs);

    /* rho_dot_s = sum_t G_st zeta_dot_t e_a(t) */
    memset(state->rhod, 0, 3 * (size_t)n * sizeof(double));
    gram_sums(body, terms, state->zetad, state->rhod);
    if (terms == TERMS_LINEAR) drop_quadratic(body, NULL, state->rhod);
}

/* The terms in eta_dot^2 from the foreshortening: r_ddot = -e_x sum h_kl (...)                        (theory.md 16) */
static void add_shortening(const struct body *body, const struct body_state *state, double *wrench)
{
    for (int s = body->quad_start; s < body->quad_end; s++) {
        const double z = state->zetadd[s];
        wrench[3] += body->s[s] * z;
        wrench[1] += state->rho[2 * body->n_shapes + s] * z;
        wrench[2] -= state->rho[body->n_shapes + s] * z;
    }
}

void body_force(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *eta,
                const double *etad, const double omega[3], const double acc[6], double wrench[6], double *modal)
{
    if (body->plain) {
        plain_force(body, terms, state, etad, omega, acc, wrench, modal);
        return;
    }
    const double *a = acc + 3;
    double B[9], W[9]; /* W = 2 [omega]x */
    point_acceleration(omega, acc, B);
    skew3((const double[3]){2 * omega[0], 2 * omega[1], 2 * omega[2]}, W);
    wrench_of_moments(body->mass, state->c, state->N, B, a, wrench);

    /* modal_k = sum_s d zeta_s/d eta_k (s_s a + B rho_s + 2 omega x rho_dot_s + ...) . e_a  +  JL_k . alpha  (theory.md 17) */
    const int n = body->n_shapes;
    const double *restrict rho = state->rho, *restrict rhod = state->rhod,
                           *moment = terms == TERMS_FULL ? state->rho : body->b;
    struct coriolis rates = {0};
    copy3(state->hs, rates.hs);
    for (int k = 0; k < body->m; k++) modal[k] = dot3(body->JL + 3 * k, acc);
    for (int axis = X; axis <= Z; axis++) {
        const double *Ba = B + 3 * axis, *Wa = W + 3 * axis;
        const int end = terms == TERMS_RUTHLESS && axis == X ? body->quad_start : body->axis_start[axis + 1];
        const int rates_end = terms == TERMS_RUTHLESS ? 0 : axis_end(body, terms, axis);
        for (int s = body->axis_start[axis]; s < end; s++) {
            double g = body->s[s] * a[axis] + Ba[0] * rho[s] + Ba[1] * rho[n + s] + Ba[2] * rho[2 * n + s];
            if (terms != TERMS_RUTHLESS) g += Wa[0] * rhod[s] + Wa[1] * rhod[n + s] + Wa[2] * rhod[2 * n + s];
            if (terms == TERMS_FULL && axis == X)
                for (int t = body->quad_start; t < body->quad_end; t++) g += body->G[n * s + t] * state->zetadd[t];
            project(body, s, eta, g, modal);
            if (s < rates_end) {
                const double zd = state->zetad[s];
                rates.cd[axis] += body->s[s] * zd;
                rates.Q_omega[axis] +=
                    zd * (moment[s] * omega[0] + moment[n + s] * omega[1] + moment[2 * n + s] * omega[2]);
                rates.trace += zd * moment[n * axis + s];
            }
        }
    }
    if (terms != TERMS_RUTHLESS) add_coriolis(&rates, omega, wrench);
    if (terms == TERMS_FULL) add_shortening(body, state, wrench);
}
