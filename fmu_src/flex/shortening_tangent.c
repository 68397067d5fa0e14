/* What foreshortening adds to the derivatives of a beam's inertia forces: those of chi = -H eta and of f. (theory.md 13a) */
#include <string.h>

#include "flex/axes.h"
#include "flex/tangent.h"
#include "math/lanes.h"
#include "math/vec.h"

void shortening_tangent_make(const struct body *body, struct arena *arena, struct shortening_tangent *t)
{
    const int m = body->m, n = body->shortening->n_pairs;
    const size_t row = (size_t)PADDED(m), rows = (size_t)m * row;
    t->weight = arena_allocate(arena, (size_t)n + row, sizeof(double));
    t->moment = arena_allocate(arena, (size_t)(m * PADDED(n + m + 1)), sizeof(double));
    arena_arrays(arena, rows, ARRAYS(&t->K, &t->Qd, &t->Qdd));
    arena_arrays(arena, 2 * row + rows, ARRAYS(&t->Cd, &t->Cdd));
    if (arena->failed) return;
    t->Ud = t->Cd + 2 * row;
    t->Udd = t->Cdd + 2 * row;
}

/* The beam, its state and its motion, in the form needed by the columns */
struct beam_input {
    const struct body *body;
    const struct shortening *sh;
    const struct shortening_state *state;
    const double *eta, *etad, *etadd, *omega, *a, *B, *W;
};

/* 1 where i = j, else 2: the number of terms eta_i eta_j in eta' H eta */
static inline double terms_of(const struct shortening *sh, int p)
{
    return sh->i[p] == sh->j[p] ? 1 : 2;
}

/* Weights of the pairs in scale f + f_ddot, f_ddot = eta_dot' H eta_dot + eta' H eta_ddot */
static void axial_weights(const struct beam_input *at, double scale, double *weight)
{
    for (int p = 0; p < at->sh->n_pairs; p++) {
        const int i = at->sh->i[p], j = at->sh->j[p];
        weight[p] = terms_of(at->sh, p) * (0.5 * scale * at->eta[i] * at->eta[j] + at->etad[i] * at->etad[j] +
                                           0.5 * (at->eta[i] * at->etadd[j] + at->etadd[i] * at->eta[j]));
    }
}

void shortening_moment_rates(const struct body *body, const double *eta, const double *etad, const double *etadd,
                             struct shortening_tangent *t, double *rhodd)
{
    const struct shortening *sh = body->shortening;
    const struct beam_input at = {.body = body, .sh = sh, .eta = eta, .etad = etad, .etadd = etadd};
    axial_weights(&at, 0, t->weight);
    for (int p = 0; p < sh->n_pairs; p++) {
        const double *with_phi = sh->G + PADDED(sh->n_pairs + body->m + 1) * p + sh->n_pairs;
        const double weight = t->weight[p] / terms_of(sh, p);
        for (int s = 0; s < body->n_shapes; s++) rhodd[s] -= weight * with_phi[body->k[s]];
    }
}

/* K_ij = int h_ij A_x dm, A the acceleration of the points:  A_x = a_x + B_xx x + sum of weight_q h_q + sum of weight_k phi_k,
   without the terms of second order in `linear`                                                              (theory.md 13a, 46) */
static void acceleration_matrix(const struct beam_input *at, bool full, struct shortening_tangent *t)
{
    const struct shortening *sh = at->sh;
    const int n = sh->n_pairs, m = at->body->m, row = PADDED(m);
    memset(t->weight, 0, (size_t)n * sizeof(double));
    if (full) axial_weights(at, at->B[0], t->weight);
    for (int p = 0; p < n; p++) t->weight[p] = -t->weight[p];
    for (int k = 0; k < m; k++) {
        const int axis = at->body->tip.axis[k];
        double *weight = &t->weight[n + k];
        *weight = axis == X ? at->etadd[k] : 0;
        if (full) *weight += at->B[axis] * at->eta[k] + at->W[axis] * at->etad[k];
    }
    for (int p = 0; p < n; p++) {
        const int i = sh->i[p], j = sh->j[p];
        const double *G = sh->G + PADDED(n + m + 1) * p, *C = sh->C + (2 + m) * row * i;
        double sum = 0;
        for (int q = 0; q < n + m; q++) sum += G[q] * t->weight[q];
        t->K[row * i + j] = sum / terms_of(sh, p) + at->a[X] * C[j] + at->B[0] * C[row + j];
        t->K[row * j + i] = t->K[row * i + j];
    }
}

/* -int (H x)_k r dm from C x and the matrix Q of int (H x) (H eta)' dm: a moment of chi, or of its rates */
static void moment_of(const struct beam_input *at, const double *C_x, const double *Q, int k, double *mu)
{
    const int m = at->body->m, row = PADDED(m);
    mu[X] = -C_x[row + k];
    mu[Y] = mu[Z] = 0;
    for (int l = 0; l < m; l++) {
        mu[X] += 0.5 * at->eta[l] * Q[row * k + l];
        mu[at->body->tip.axis[l]] -= at->eta[l] * C_x[row * (2 + l) + k];
    }
}

/* int chi_k r_dot dm, and p = int chi_k A dm */
static void moments_of_chi(const struct beam_input *at, const struct shortening_tangent *t, int k, const double *sigma,
                           double *sigma_d, double *p)
{
    const struct body *body = at->body;
    const int row = PADDED(body->m);
    double sigma_dd[3] = {0};
    memset(sigma_d, 0, 3 * sizeof *sigma_d);
    p[X] = 0;
    for (int l = 0; l < body->m; l++) {
        sigma_d[body->tip.axis[l]] -= at->etad[l] * at->state->U[row * l + k];
        sigma_dd[body->tip.axis[l]] -= at->etadd[l] * at->state->U[row * l + k];
        sigma_d[X] += at->state->Q[row * k + l] * at->etad[l];
        p[X] -= t->K[row * k + l] * at->eta[l];
    }
    for (int a = Y; a <= Z; a++)
        p[a] =
            -at->state->C_eta[k] * at->a[a] + dot3(at->B + 3 * a, sigma) + dot3(at->W + 3 * a, sigma_d) + sigma_dd[a];
}

/* wrench += scale (mu x v; s v): of a force field along v, with the integral s and the moment mu of a shape */
static void add_wrench(const double *mu, double s, const double *v, double scale, double *wrench)
{
    double n[3];
    cross3(mu, v, n);
    axpy3(scale, n, wrench);
    axpy3(scale * s, v, wrench + 3);
}

/* Wrench per eta_k and eta_dot_k, and modal force k per omega: chi_k is a shape along x, and so are its derivatives */
static void add_wrenches(const struct beam_input *at, const struct shortening_tangent *st, int k,
                         struct body_tangent *t)
{
    static const double e[3] = {1, 0, 0};
    const int row = PADDED(at->body->m);
    const double *at_k = at->state->sigma + k, sigma[3] = {at_k[0], at_k[row], at_k[2 * row]};
    const double Be[3] = {at->B[0], at->B[3], at->B[6]}, We[3] = {at->W[0], at->W[3], at->W[6]};
    const double s = -at->state->C_eta[k], s_d = -st->Cd[k], s_dd = -st->Cdd[k]; /* int chi_k dm and its rates */
    double sigma_d[3], p[3], mu_d[3], mu_dd[3], spin[3];
    moments_of_chi(at, st, k, sigma, sigma_d, p);
    moment_of(at, st->Cd, st->Qd, k, mu_d);
    moment_of(at, st->Cdd, st->Qdd, k, mu_dd);
    add_cross3(e, p, t->Nq[k]);
    add_wrench(sigma, s, Be, 1, t->Nq[k]);
    add_wrench(mu_d, s_d, We, 1, t->Nq[k]);
    add_wrench(mu_dd, s_dd, e, 1, t->Nq[k]);
    add_wrench(sigma, s, We, 1, t->Nv[k]);
    add_wrench(mu_d, s_d, e, 2, t->Nv[k]);
    body_spin_row(X, sigma, sigma_d, at->omega, spin);
    axpy3(1, spin, t->Gw[k]);
}

/* Modal force k per eta_j and eta_dot_j */
static void add_forces(const struct beam_input *at, const struct shortening_tangent *st, int k, int j, double *q,
                       double *v)
{
    const int row = PADDED(at->body->m), kj = row * k + j, jk = row * j + k;
    const int a = at->body->tip.axis[k], b = at->body->tip.axis[j];
    const double *U = at->state->U;
    *q += at->B[0] * at->state->Q[kj] + st->Qdd[jk] - st->K[kj];
    *q -= at->B[3 * a] * U[kj] + at->W[3 * a] * st->Ud[kj] + at->B[b] * U[jk];
    *v += 2 * st->Qd[jk] - at->W[3 * a] * U[kj] - at->W[b] * U[jk];
    if (a == X) {
        *q -= st->Udd[kj];
        *v -= 2 * st->Ud[kj];
    }
}

static void full_tangent(const struct beam_input *at, struct body_tangent *t)
{
    struct shortening_tangent *st = &t->shortening;
    const int m = at->body->m, row = PADDED(m);
    acceleration_matrix(at, true, st);
    shortening_gram(at->body, at->eta, at->etad, st->moment, st->Qd);
    shortening_gram(at->body, at->eta, at->etadd, st->moment, st->Qdd);
    shortening_contract(at->body, at->etad, st->Cd);
    shortening_contract(at->body, at->etadd, st->Cdd);
    for (int k = 0; k < m; k++) {
        add_wrenches(at, st, k, t);
        for (int j = 0; j < m; j++) add_forces(at, st, k, j, t->Gq + row * j + k, t->Gv + row * j + k);
    }
}

/* `linear` keeps int chi_k (a + B x e_x) dm and the terms of M_ff in the axial modes */
static void linear_tangent(const struct beam_input *at, struct body_tangent *t)
{
    static const double zero[3];
    struct shortening_tangent *st = &t->shortening;
    const int m = at->body->m, row = PADDED(m);
    acceleration_matrix(at, false, st);
    shortening_contract(at->body, at->etadd, st->Cdd);
    for (int k = 0; k < m; k++) {
        const double sigma[3] = {at->state->sigma[k], 0, 0};
        double spin[3];
        t->Nq[k][3] -= st->Cdd[k];
        body_spin_row(X, sigma, zero, at->omega, spin);
        axpy3(1, spin, t->Gw[k]);
        for (int j = 0; j < m; j++) {
            t->Gq[row * j + k] -= st->K[row * k + j];
            if (at->body->tip.axis[k] == X) t->Gq[row * j + k] -= st->Udd[row * k + j];
        }
    }
}

void shortening_tangent(const struct body *body, enum elastic_terms terms, const struct shortening_state *state,
                        const struct body_point *motion, struct body_tangent *t)
{
    const struct beam_input at = {body,          body->shortening, state,     motion->eta, motion->etad,
                                  motion->etadd, motion->omega,    motion->a, motion->B,   motion->W};
    if (terms == TERMS_FULL) full_tangent(&at, t);
    else linear_tangent(&at, t);
}
