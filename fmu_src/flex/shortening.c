#include "flex/shortening.h"

#include <string.h>

#include "flex/axes.h"
#include "flex/inertia.h"
#include "flex/moments.h"
#include "math/lanes.h"
#include "math/vec.h"

/* ---- integrals --------------------------------------------------------------------------------------------------- */

/* Coordinates [first, last) of a bending plane: they come first in eta, along y and then along z. */
struct plane {
    int first, last;
};

static void planes_of(const struct beam *beam, struct plane plane[2])
{
    const int y = beam->family[FAMILY_Y].count, z = beam->family[FAMILY_Z].count;
    plane[0] = (struct plane){0, y};
    plane[1] = (struct plane){y, y + z};
}

enum status pairs_make(const struct beam *beam, int m, struct arena *arena, struct pair_integrals *pairs)
{
    struct plane plane[2];
    planes_of(beam, plane);
    const int y = plane[0].last, z = plane[1].last - y;
    const size_t n = (size_t)((y * (y + 1) + z * (z + 1)) / 2);
    pairs->n = 0;
    pairs->i = arena_take(arena, n, sizeof *pairs->i);
    pairs->j = arena_take(arena, n, sizeof *pairs->j);
    pairs->s = arena_take(arena, n, sizeof(double));
    pairs->b = arena_take(arena, n, sizeof(double));
    pairs->T = arena_take(arena, n * (size_t)m, sizeof(double));
    pairs->G = arena_take(arena, n * n, sizeof(double));
    pairs->h = arena_take(arena, n, sizeof(double));
    pairs->h_panel = arena_take(arena, n, sizeof(double));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int p = 0; p < 2; p++)
        for (int i = plane[p].first; i < plane[p].last; i++)
            for (int j = plane[p].first; j <= i; j++, pairs->n++) {
                pairs->i[pairs->n] = i;
                pairs->j[pairs->n] = j;
            }
    return STATUS_OK;
}

/* Index of the pair (i, j) in any order; both in one plane. */
static int pair_of(const struct plane plane[2], int i, int j)
{
    const int y = plane[0].last, high = i > j ? i : j, low = i > j ? j : i;
    if (high < y) return high * (high + 1) / 2 + low;
    return y * (y + 1) / 2 + (high - y) * (high - y + 1) / 2 + low - y;
}

/* int h_p h_q dm */
static double gram(const struct pair_integrals *pairs, int p, int q)
{
    return p < q ? pairs->G[pairs->n * p + q] : pairs->G[pairs->n * q + p];
}

/* S, B and T as matrices over the coordinates */
static void fill_matrices(const struct pair_integrals *pairs, int m, double *S, double *B, double *T)
{
    const int row = PADDED(m);
    for (int p = 0; p < pairs->n; p++)
        for (int turn = 0; turn < 2; turn++) {
            const int j = turn == 0 ? pairs->i[p] : pairs->j[p], l = turn == 0 ? pairs->j[p] : pairs->i[p];
            S[row * j + l] = pairs->s[p];
            B[row * j + l] = pairs->b[p];
            for (int k = 0; k < m; k++) T[row * (m * l + k) + j] = pairs->T[m * p + k];
        }
}

/* columns of int h_p (h; phi) dm */
static void fill_gram(const struct pair_integrals *pairs, int m, double *G)
{
    const int row = PADDED(pairs->n + m);
    for (int p = 0; p < pairs->n; p++) {
        const double twice = pairs->i[p] == pairs->j[p] ? 1 : 2;
        for (int q = 0; q < pairs->n; q++) G[row * p + q] = twice * gram(pairs, p, q);
        for (int k = 0; k < m; k++) G[row * p + pairs->n + k] = twice * pairs->T[m * p + k];
    }
}

/* int chi_i chi_j dm = sum over k, l of G_ik,jl eta_k eta_l; each product of two coordinates of one plane once */
static enum status make_group(const struct pair_integrals *pairs, const struct plane plane[2], int a, int b,
                              struct arena *arena, struct pair_group *group)
{
    const int n_a = plane[a].last - plane[a].first, n_b = plane[b].last - plane[b].first;
    const int n = a == b ? n_a * (n_a + 1) / 2 : n_a * n_b, row = PADDED(n);
    int *i = arena_take(arena, (size_t)n, sizeof *i), *j = arena_take(arena, (size_t)n, sizeof *j), count = 0;
    double *W = arena_take(arena, (size_t)(n * row), sizeof *W);
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int k = plane[a].first; k < plane[a].last; k++)
        for (int l = plane[b].first; l < (a == b ? k + 1 : plane[b].last); l++, count++) {
            i[count] = k;
            j[count] = l;
        }
    for (int p = 0; p < n; p++) /* column: the product of i[p], j[p]; row: the entry i[q], j[q] */
        for (int q = 0; q < n; q++) {
            double *w = &W[row * p + q];
            *w = gram(pairs, pair_of(plane, i[q], i[p]), pair_of(plane, j[q], j[p]));
            if (a == b && i[p] != j[p]) *w += gram(pairs, pair_of(plane, i[q], j[p]), pair_of(plane, j[q], i[p]));
        }
    *group = (struct pair_group){n, i, j, W};
    return STATUS_OK;
}

static enum status make_groups(const struct beam *beam, const struct pair_integrals *pairs, struct arena *arena,
                               struct shortening *sh)
{
    static const int of[3][2] = {{0, 0}, {1, 1}, {0, 1}};
    struct plane plane[2];
    planes_of(beam, plane);
    for (int g = 0; g < 3; g++) {
        const int a = of[g][0], b = of[g][1];
        if (plane[a].first == plane[a].last || plane[b].first == plane[b].last) continue;
        if (make_group(pairs, plane, a, b, arena, &sh->group[sh->n_groups++]) != STATUS_OK) return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

enum status shortening_make(const struct beam *beam, const struct body *body, const struct pair_integrals *pairs,
                            struct arena *arena, struct shortening **made)
{
    const int m = body->m, n = pairs->n;
    const size_t row = (size_t)PADDED(m), rows = (size_t)m * row;
    struct shortening *sh = arena_take(arena, 1, sizeof *sh);
    int *i = arena_take(arena, (size_t)n, sizeof *i), *j = arena_take(arena, (size_t)n, sizeof *j);
    double *S = arena_take(arena, rows, sizeof *S), *B = arena_take(arena, rows, sizeof *B);
    double *T = arena_take(arena, (size_t)m * rows, sizeof *T);
    double *G = arena_take(arena, (size_t)(n * PADDED(n + m)), sizeof *G);
    if (arena->failed) return STATUS_NO_MEMORY;
    memcpy(i, pairs->i, (size_t)n * sizeof *i);
    memcpy(j, pairs->j, (size_t)n * sizeof *j);
    fill_matrices(pairs, m, S, B, T);
    fill_gram(pairs, m, G);
    *sh = (struct shortening){
        .n_pairs = n, .i = i, .j = j, .S = S, .B = B, .T = T, .G = G, .axial = beam->family[FAMILY_AXIAL].count > 0};
    *made = sh;
    return make_groups(beam, pairs, arena, sh);
}

enum status shortening_state_make(const struct body *body, struct arena *arena, struct shortening_state *state)
{
    const struct shortening *sh = body->shortening;
    const size_t row = (size_t)PADDED(body->m), rows = (size_t)body->m * row;
    int most = PADDED(sh->n_pairs + body->m);
    for (int g = 0; g < sh->n_groups; g++)
        if (PADDED(sh->group[g].n) > most) most = PADDED(sh->group[g].n);
    state->share = arena_take(arena, row, sizeof(double));
    state->sigma = arena_take(arena, 3 * row, sizeof(double));
    state->U = arena_take(arena, rows, sizeof(double));
    state->Q = arena_take(arena, rows, sizeof(double));
    state->product = arena_take(arena, (size_t)most, sizeof(double));
    state->integral = arena_take(arena, (size_t)most, sizeof(double));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* `count` vectors of y = A x, A in columns of `row` */
INLINE void column_block(const int count, int columns, int row, const double *restrict A, const double *restrict x,
                         double *restrict y)
{
    lanes sum[8] = {{0}};
    for (int c = 0; c < columns; c++, A += row)
        for (int i = 0; i < count; i++) sum[i] += x[c] * load(A + LANES * i);
    for (int i = 0; i < count; i++) store(y + LANES * i, sum[i]);
}

/* y = A x, A in columns of `row`, a multiple of LANES: eight vectors of y at a time */
static void multiply(int row, int columns, const double *restrict A, const double *restrict x, double *restrict y)
{
    for (int at = 0; at < row; at += 8 * LANES) {
        const int left = (row - at) / LANES;
        switch (left < 8 ? left : 8) {
            CONSTANT_CASE(N, 1, column_block(N, columns, row, A + at, x, y + at))
            CONSTANT_CASE(N, 2, column_block(N, columns, row, A + at, x, y + at))
            CONSTANT_CASE(N, 3, column_block(N, columns, row, A + at, x, y + at))
            CONSTANT_CASE(N, 4, column_block(N, columns, row, A + at, x, y + at))
            CONSTANT_CASE(N, 5, column_block(N, columns, row, A + at, x, y + at))
            CONSTANT_CASE(N, 6, column_block(N, columns, row, A + at, x, y + at))
            CONSTANT_CASE(N, 7, column_block(N, columns, row, A + at, x, y + at))
            CONSTANT_CASE(N, 8, column_block(N, columns, row, A + at, x, y + at))
        }
    }
}

/* y += scale A x, A symmetric, m rows of PADDED(m) */
INLINE void add_product(const int m, double scale, const double *restrict A, const double *restrict x,
                        double *restrict y)
{
    const int row = PADDED(m);
    for (int l = 0; l < row; l += LANES) {
        lanes sum = load(y + l);
        for (int k = 0; k < m; k++) sum += scale * x[k] * load(A + row * k + l);
        store(y + l, sum);
    }
}

INLINE double dot(const int m, const double *restrict x, const double *restrict y)
{
    double sum = 0;
    for (int k = 0; k < m; k++) sum += x[k] * y[k];
    return sum;
}

/* ---- configuration ----------------------------------------------------------------------------------------------- */

/* share = -S eta,  sigma = -B eta e_x: all that `linear` keeps */
INLINE void first_order(const int m, const struct shortening *sh, const double *restrict eta,
                        struct shortening_state *restrict state)
{
    memset(state->share, 0, (size_t)PADDED(m) * sizeof(double));
    memset(state->sigma, 0, 3 * (size_t)PADDED(m) * sizeof(double));
    add_product(m, -1, sh->S, eta, state->share);
    add_product(m, -1, sh->B, eta, state->sigma);
    state->x_f = -0.5 * dot(m, eta, state->sigma);
}

/* U_kj = sum over l of eta_l int phi_k h_jl dm */
INLINE void contract(const int m, const double *restrict T, const double *restrict eta, double *restrict U)
{
    const int rows = m * PADDED(m);
    for (int at = 0; at < rows; at += LANES) {
        lanes sum = {0};
        for (int l = 0; l < m; l++) sum += eta[l] * load(T + rows * l + at);
        store(U + at, sum);
    }
}

void shortening_contract(const struct body *body, const double *eta, double *U)
{
    WITH_CONSTANT_COUNT(M, body->m, contract(M, body->shortening->T, eta, U))
}

/* Q = int chi chi' dm from the products eta_i eta_j */
static void quartic(const struct shortening *sh, int m, const double *eta, struct shortening_state *state)
{
    const int row = PADDED(m);
    for (int g = 0; g < sh->n_groups; g++) {
        const struct pair_group *group = &sh->group[g];
        for (int p = 0; p < group->n; p++) state->product[p] = eta[group->i[p]] * eta[group->j[p]];
        multiply(PADDED(group->n), group->n, group->W, state->product, state->integral);
        for (int p = 0; p < group->n; p++) {
            const int i = group->i[p], j = group->j[p];
            state->Q[row * i + j] = state->Q[row * j + i] = state->integral[p];
        }
    }
}

/* rho_k -= 1/2 (U eta)_k e_x,  sigma_k += 1/2 (Q eta)_k e_x - sum over l of eta_l U_lk e_a(l) */
INLINE void second_order(const int m, const struct body *body, const double *restrict eta,
                         const struct shortening_state *restrict state, double *restrict rho)
{
    const int row = PADDED(m);
    add_product(m, 0.5, state->Q, eta, state->sigma);
    for (int k = 0; k < m; k++) {
        const double *restrict U = state->U + row * k;
        double *restrict sigma = state->sigma + row * body->tip.axis[k];
        rho[k] -= 0.5 * dot(m, U, eta);
        for (int l = 0; l < row; l += LANES) store(sigma + l, load(sigma + l) - eta[k] * load(U + l));
    }
}

/* M_ff = M_ff0 + Q - U of the axial modes and its transpose                                           (theory.md 13) */
static void modal_mass(const struct body *body, enum elastic_terms terms, struct body_state *state)
{
    const int m = body->m, row = PADDED(m);
    const double *Q = state->shortened.Q, *U = state->shortened.U;
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++)
            state->Mff[m * k + j] = body->Mff0[m * k + j] + (terms == TERMS_FULL ? Q[row * k + j] : 0);
    for (int k = 0; body->shortening->axial && k < m; k++)
        for (int j = 0; body->tip.axis[k] == X && j < m; j++) {
            state->Mff[m * k + j] -= U[row * k + j];
            state->Mff[m * j + k] -= U[row * k + j];
        }
}

INLINE void inertia(const int m, const struct body *body, enum elastic_terms terms, const double *eta,
                    struct body_state *state)
{
    const struct shortening *sh = body->shortening;
    first_order(m, sh, eta, &state->shortened);
    if (terms == TERMS_FULL || sh->axial) contract(m, sh->T, eta, state->shortened.U);
    if (terms == TERMS_FULL) {
        quartic(sh, m, eta, &state->shortened);
        second_order(m, body, eta, &state->shortened, state->rho);
    }
}

void shortening_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    WITH_CONSTANT_COUNT(M, body->m, inertia(M, body, terms, eta, state))
    modal_mass(body, terms, state);
}

/* c -= 1/2 eta' S eta e_x,   N_xa -= int f r_a dm, and for a = x - int f x dm */
void shortening_moments(const struct body *body, const double *eta, struct body_state *state)
{
    const struct shortening_state *at = &state->shortened;
    const int m = body->m, row = PADDED(m);
    double *N = state->N;
    for (int k = 0; k < m; k++) {
        const double half = 0.5 * eta[k];
        state->c[X] += half * at->share[k];
        N[0] += half * at->sigma[k];
        N[3] += half * at->sigma[row + k];
        N[4] += half * at->sigma[2 * row + k];
    }
    N[0] -= at->x_f;
}

/* (sigma x e_x) = (0, sigma_z, -sigma_y) */
INLINE void coupling(const int m, const struct shortening_state *restrict state, const double *restrict R,
                     double (*restrict F)[SIX])
{
    for (int k = 0; k < m; k++) {
        const double sigma_y = state->sigma[PADDED(m) + k], sigma_z = state->sigma[2 * PADDED(m) + k];
        for (int i = 0; i < 3; i++) {
            F[k][i] += R[3 * i + 1] * sigma_z - R[3 * i + 2] * sigma_y;
            F[k][3 + i] += R[3 * i] * state->share[k];
        }
    }
}

void shortening_coupling(const struct body *body, const struct shortening_state *state, const double R[9],
                         double (*F)[SIX])
{
    WITH_CONSTANT_COUNT(M, body->m, coupling(M, state, R, F))
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

INLINE void rates_of(const int m, const double *restrict U, const double *restrict etad, double *restrict rhod)
{
    for (int k = 0; k < m; k++) rhod[k] -= dot(m, U + PADDED(m) * k, etad);
}

void shortening_rates(const struct body *body, const double *etad, const struct body_state *state)
{
    WITH_CONSTANT_COUNT(M, body->m, rates_of(M, state->shortened.U, etad, state->rhod))
}

/* The terms of r_ddot = -eta_dot' H eta_dot e_x, with its integrals over the pairs and modes            (theory.md 16, 17) */
static void add_centripetal(const struct body *body, const struct shortening_state *at, const double *eta,
                            const double *etad, double *wrench, double *modal)
{
    const struct shortening *sh = body->shortening;
    const int m = body->m, n = sh->n_pairs;
    for (int p = 0; p < n; p++) at->product[p] = etad[sh->i[p]] * etad[sh->j[p]];
    multiply(PADDED(n + m), n, sh->G, at->product, at->integral);

    /* modal_k += int (H eta)_k eta_dot' H eta_dot dm */
    for (int p = 0; p < n; p++) {
        const int i = sh->i[p], j = sh->j[p];
        modal[i] += at->integral[p] * eta[j];
        if (i != j) modal[j] += at->integral[p] * eta[i];
    }
    double moment[3] = {0};
    for (int k = 0; k < m; k++) {
        const double integral = at->integral[n + k];
        const int axis = body->tip.axis[k];
        moment[axis] += eta[k] * integral;
        if (axis == X) modal[k] -= integral;
    }
    wrench[1] -= moment[Z];
    wrench[2] += moment[Y];
}

/* modal_k += a_x int chi_k dm + B_x . int chi_k r dm + 2 [omega]x_x . int chi_k r_dot dm; the sums over eta_dot of share and sigma */
INLINE void forces(const int m, const struct body *body, const struct shortening_state *restrict at,
                   const double *restrict etad, const double *restrict omega, const double *restrict B, double a_x,
                   struct coriolis *restrict rates, double *restrict wrench, double *restrict modal)
{
    const int row = PADDED(m);
    const double W[3] = {0, -2 * omega[2], 2 * omega[1]};
    double sum[4] = {0}, acceleration = 0;
    for (int k = 0; k < m; k++) {
        const double *sigma = at->sigma + k;
        modal[k] += a_x * at->share[k] + B[0] * sigma[0] + B[1] * sigma[row] + B[2] * sigma[2 * row];
        sum[0] += etad[k] * sigma[0];
        sum[1] += etad[k] * sigma[row];
        sum[2] += etad[k] * sigma[2 * row];
        sum[3] += etad[k] * at->share[k];
    }
    for (int l = 0; l < m; l++) {
        const double turn = W[body->tip.axis[l]] * etad[l];
        for (int k = 0; k < m; k++) modal[k] -= turn * at->U[row * l + k];
    }
    for (int k = 0; k < m; k++) acceleration += etad[k] * dot(m, body->shortening->S + row * k, etad);
    wrench[3] -= acceleration;
    rates->cd[X] += sum[3];
    rates->Q_omega[X] += dot3(sum, omega);
    rates->trace += sum[0];
}

/* the same in `linear`, which keeps int chi_k (a + B x e_x) dm */
static void linear_force(const struct body *body, const struct shortening_state *at, double a_x, double B_xx,
                         double *modal)
{
    for (int k = 0; k < body->m; k++) modal[k] += a_x * at->share[k] + B_xx * at->sigma[k];
}

void shortening_force(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                      const double *eta, const double *etad, const double omega[3], const double acc[6],
                      const double B[9], struct coriolis *rates, double wrench[6], double *modal)
{
    const struct shortening_state *at = &state->shortened;
    if (terms == TERMS_LINEAR) {
        linear_force(body, at, acc[3], B[0], modal);
    } else {
        WITH_CONSTANT_COUNT(M, body->m, forces(M, body, at, etad, omega, B, acc[3], rates, wrench, modal))
        add_centripetal(body, at, eta, etad, wrench, modal);
    }
}
