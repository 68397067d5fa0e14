#include "flex/beam.h"

#include "flex/axes.h"
#include "flex/moments.h"
#include "math/lanes.h"
#include "math/vec.h"

/* sums_a = start_a + sum over the modes t that move along a of G_t z_t, rows of PADDED(m): int phi_k u dm */
INLINE void gram_sums(const int m, const struct body *restrict body, const double *restrict b, const double *restrict z,
                      double *restrict sums)
{
    const int row = PADDED(m);
    for (int l = 0; l < row; l += LANES) {
        store(sums + l, load(b + l));
        store(sums + row + l, (lanes){0});
        store(sums + 2 * row + l, (lanes){0});
    }
    for (int t = 0; t < m; t++) {
        double *restrict sum = sums + row * body->tip.axis[t];
        for (int l = 0; l < row; l += LANES) store(sum + l, load(sum + l) + z[t] * load(body->mode_G + row * t + l));
    }
}

/* rho = b e_x + G zeta,   c and N as in inertia.c with b along x                                       (theory.md 9 to 11) */
INLINE void moments(const int m, const struct body *restrict body, enum elastic_terms terms, const double *restrict eta,
                    struct body_state *restrict state)
{
    const int row = PADDED(m);
    double *restrict rho = state->rho;
    gram_sums(m, body, body->mode_b, eta, rho);
    if (body->shortening != NULL) shortening_inertia(body, terms, eta, state);

    double u[9] = {0}, v[3] = {0}, c[3] = {0}; /* row a of u: sum of zeta rho over the modes along a; v: of zeta b */
    for (int k = 0; k < m; k++) {
        const int a = body->tip.axis[k];
        c[a] += body->mode_s[k] * eta[k];
        v[a] += body->mode_b[k] * eta[k];
        if (terms == TERMS_FULL)
            for (int b = a; b < 3; b++) u[3 * a + b] += eta[k] * rho[row * b + k];
    }
    if (terms == TERMS_LINEAR) u[0] = v[X];
    for (int i = 0; i < 3; i++) state->c[i] = body->c0[i] + c[i];
    const double *N0 = body->N0;
    const double N[6] = {N0[0] + u[0] + v[X], N0[1] + u[4], N0[2] + u[8], u[1] + v[Y], u[2] + v[Z], u[5]};
    copy6(N, state->N);
    if (body->shortening != NULL && terms == TERMS_FULL) shortening_moments(body, eta, state);
    inertia_from_moments(state->N, state->J);
}

void beam_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    WITH_CONSTANT_COUNT(M, body->m, moments(M, body, terms, eta, state))
}

/* At eta = 0 c is along x and N diagonal */
static void straight_wrench(const struct body *body, const double *B, const double *a, double *wrench)
{
    const double *N = body->N0, c = body->c0[0];
    wrench[0] = B[7] * N[1] - B[5] * N[2];
    wrench[1] = B[2] * N[2] - (B[6] * N[0] + a[2] * c);
    wrench[2] = B[3] * N[0] + a[1] * c - B[1] * N[1];
    for (int i = 0; i < 3; i++) wrench[3 + i] = body->mass * a[i] + B[3 * i] * c;
}

/* modal_k = (s_k a + B b_k e_x) . e_a + JL_k alpha_t                                                   (theory.md 17) */
INLINE void zeroth_order(const int m, const struct body *restrict body, const double *restrict B,
                         const double *restrict acc, double *restrict modal)
{
    for (int k = 0; k < m; k++) {
        const int axis = body->tip.axis[k];
        modal[k] =
            body->mode_s[k] * acc[3 + axis] + B[3 * axis] * body->mode_b[k] + body->mode_JL[k] * acc[body->tip.turn[k]];
    }
}

/* modal_k = (s_k a + B rho_k + 2 omega x rho_dot_k) . e_a + JL_k alpha_t, and the sums of the Coriolis wrench (16, 17) */
INLINE void with_rates(const int m, const struct body *restrict body, enum elastic_terms terms,
                       const struct body_state *restrict state, const double *restrict etad,
                       const double *restrict omega, const double *restrict B, const double *restrict acc,
                       struct coriolis *restrict rates, double *restrict modal)
{
    const int row = PADDED(m);
    double W[9], *restrict rhod = state->rhod;
    const double *restrict rho = state->rho;
    skew3((const double[3]){2 * omega[0], 2 * omega[1], 2 * omega[2]}, W);
    gram_sums(m, body, body->zeros, etad, rhod);
    if (body->shortening != NULL && terms == TERMS_FULL) shortening_rates(body, etad, state);
    for (int k = 0; k < m; k++) {
        const int axis = body->tip.axis[k], turn = body->tip.turn[k];
        const double *Ba = B + 3 * axis, *Wa = W + 3 * axis, zd = etad[k],
                     r[3] = {rho[k], rho[row + k], rho[2 * row + k]};
        modal[k] = body->mode_s[k] * acc[3 + axis] + dot3(Ba, r) + body->mode_JL[k] * acc[turn] + Wa[0] * rhod[k] +
                   Wa[1] * rhod[row + k] + Wa[2] * rhod[2 * row + k];
        rates->cd[axis] += body->mode_s[k] * zd;
        rates->hs[turn] += body->mode_JL[k] * zd;
        if (terms == TERMS_FULL) {
            rates->Q_omega[axis] += zd * dot3(r, omega);
            rates->trace += zd * r[axis];
        } else { /* Q to first order: rho = b e_x */
            rates->Q_omega[axis] += zd * body->mode_b[k] * omega[X];
            rates->trace += axis == X ? zd * body->mode_b[k] : 0;
        }
    }
}

void beam_force(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *eta,
                const double *etad, const double omega[3], const double acc[6], double wrench[6], double *modal)
{
    double B[9];
    point_acceleration(omega, acc, B);
    if (terms == TERMS_RUTHLESS) {
        straight_wrench(body, B, acc + 3, wrench);
        WITH_CONSTANT_COUNT(M, body->m, zeroth_order(M, body, B, acc, modal))
    } else {
        struct coriolis rates = {0};
        wrench_of_moments(body->mass, state->c, state->N, B, acc + 3, wrench);
        WITH_CONSTANT_COUNT(M, body->m, with_rates(M, body, terms, state, etad, omega, B, acc, &rates, modal))
        if (body->shortening != NULL)
            shortening_force(body, terms, state, eta, etad, omega, acc, B, &rates, wrench, modal);
        add_coriolis(&rates, omega, wrench);
    }
}

INLINE void coupling_zeroth(const int m, const struct body *restrict body, const double *restrict R,
                            double (*restrict F)[SIX])
{
    for (int k = 0; k < m; k++) { /* e_x b x e_a is along the axis the mode rotates about: -e_y for z, e_z for y */
        const int axis = body->tip.axis[k], turn = body->tip.turn[k];
        const double about = body->mode_JL[k] + (axis == Y ? body->mode_b[k] : axis == Z ? -body->mode_b[k] : 0);
        for (int i = 0; i < 3; i++) {
            F[k][i] = about * R[3 * i + turn];
            F[k][3 + i] = body->mode_s[k] * R[3 * i + axis];
        }
    }
}

INLINE void coupling_full(const int m, const struct body *restrict body, const double *restrict rho,
                          const double *restrict R, double (*restrict F)[SIX])
{
    static const int next[5] = {X, Y, Z, X, Y};
    for (int k = 0; k < m; k++) {
        const int axis = body->tip.axis[k], turn = body->tip.turn[k], b = next[axis + 1], c = next[axis + 2];
        double about_b = rho[PADDED(m) * c + k], about_c = -rho[PADDED(m) * b + k], about_a = 0; /* rho x e_a */
        if (turn == b) about_b += body->mode_JL[k];
        else if (turn == c) about_c += body->mode_JL[k];
        else about_a = body->mode_JL[k]; /* twist: its rho is zero */
        for (int i = 0; i < 3; i++) {
            F[k][i] = about_b * R[3 * i + b] + about_c * R[3 * i + c];
            F[k][3 + i] = body->mode_s[k] * R[3 * i + axis];
        }
        if (about_a != 0)
            for (int i = 0; i < 3; i++) F[k][i] += about_a * R[3 * i + axis];
    }
}

void beam_coupling(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double R[9],
                   double (*F)[SIX])
{
    if (terms == TERMS_RUTHLESS) {
        WITH_CONSTANT_COUNT(M, body->m, coupling_zeroth(M, body, R, F))
    } else {
        WITH_CONSTANT_COUNT(M, body->m, coupling_full(M, body, state->rho, R, F))
        if (body->shortening != NULL) shortening_coupling(body, &state->shortened, R, F);
    }
}
