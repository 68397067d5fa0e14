#include "flex/shortening.h"

#include <string.h>

#include "flex/axes.h"
#include "flex/inertia.h"
#include "flex/moments.h"
#include "flex/quadrature.h"
#include "math/lanes.h"
#include "math/vec.h"

/* ---- integrals --------------------------------------------------------------------------------------------------- */

static int triangle(int n)
{
    return n * (n + 1) / 2;
}

static void planes_of(const struct beam *beam, struct bending_plane plane[2])
{
    const int y = beam->family[FAMILY_Y].count, z = beam->family[FAMILY_Z].count;
    plane[0] = (struct bending_plane){0, y, 0};
    plane[1] = (struct bending_plane){y, z, triangle(y)};
}

enum status shortening_pairs_make(const struct beam *beam, int m, struct arena *arena, struct pair_integrals *pairs)
{
    struct bending_plane plane[2];
    planes_of(beam, plane);
    const size_t n = (size_t)(triangle(plane[0].n) + triangle(plane[1].n));
    pairs->n = 0;
    pairs->i = arena_allocate(arena, n, sizeof *pairs->i);
    pairs->j = arena_allocate(arena, n, sizeof *pairs->j);
    arena_arrays(arena, n, ARRAYS(&pairs->s, &pairs->b, &pairs->h_panel));
    pairs->T = arena_allocate(arena, n * (size_t)m, sizeof(double));
    pairs->G = arena_allocate(arena, n * (size_t)PADDED((int)n), sizeof(double));
    pairs->row = arena_allocate(arena, GAUSS_POINTS * (size_t)PADDED((int)n), sizeof(double));
    pairs->h = pairs->row;
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < plane[p].n; i++)
            for (int j = 0; j <= i; j++, pairs->n++) {
                pairs->i[pairs->n] = plane[p].first + i;
                pairs->j[pairs->n] = plane[p].first + j;
            }
    return STATUS_OK;
}

/* The pair of coordinates number i and j of a plane, in any order */
static int pair_of(const struct bending_plane *plane, int i, int j)
{
    return plane->pair + (i > j ? triangle(i) + j : triangle(j) + i);
}

/* int h_p h_q dm */
static double gram(const struct pair_integrals *pairs, int p, int q)
{
    const int row = PADDED(pairs->n);
    return p < q ? pairs->G[row * p + q] : pairs->G[row * q + p];
}

/* G_pq += sum over the points of a panel of dm h_p h_q: each entry is read and written once a panel, since G can be large */
void shortening_pairs_add_gram(const struct pair_integrals *pairs, const double *dm)
{
    const int n = pairs->n, row = PADDED(n);
    for (int p = 0; p < n; p++) {
        double w[GAUSS_POINTS];
        for (int g = 0; g < GAUSS_POINTS; g++) w[g] = dm[g] * pairs->row[row * g + p];
        for (int q = LANE_START(p); q < n; q += LANES) {
            lanes sum = load(pairs->G + row * p + q);
            for (int g = 0; g < GAUSS_POINTS; g++) sum += w[g] * load(pairs->row + row * g + q);
            store(pairs->G + row * p + q, sum);
        }
    }
}

/* C: the integrals of the pairs as matrices over the coordinates;  G: columns of int h_p (h; phi; 1) dm */
static void fill_integrals(const struct pair_integrals *pairs, int m, double *C, double *G)
{
    const int n = pairs->n, row = PADDED(m), column = (2 + m) * row, row_G = PADDED(n + m + 1);
    for (int p = 0; p < n; p++) {
        const int ij[2] = {pairs->i[p], pairs->j[p]};
        const double twice = ij[0] == ij[1] ? 1 : 2, *T = pairs->T + m * p;
        for (int side = 0; side < 2; side++) {
            double *c = C + column * ij[1 - side] + ij[side];
            c[0] = pairs->s[p];
            c[row] = pairs->b[p];
            for (int k = 0; k < m; k++) c[row * (2 + k)] = T[k];
        }
        for (int q = 0; q < n; q++) G[row_G * p + q] = twice * gram(pairs, p, q);
        for (int k = 0; k < m; k++) G[row_G * p + n + k] = twice * T[k];
        G[row_G * p + n + m] = twice * pairs->s[p];
    }
}

/* int chi_i chi_j dm = sum over k, l of eta_k eta_l int h_ik h_jl dm; of one plane each product of k and l once */
static enum status make_group(const struct pair_integrals *pairs, const struct bending_plane *a,
                              const struct bending_plane *b, struct arena *arena, struct pair_group *group)
{
    const int n = a == b ? triangle(a->n) : a->n * b->n, row = PADDED(n);
    int *i = arena_allocate(arena, (size_t)n, sizeof *i), *j = arena_allocate(arena, (size_t)n, sizeof *j);
    double *W = arena_allocate(arena, (size_t)(n * row), sizeof *W);
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int k = 0, p = 0; k < a->n; k++) /* the coordinates of every product, as numbers within their planes */
        for (int l = 0; l < (a == b ? k + 1 : b->n); l++, p++) {
            i[p] = k;
            j[p] = l;
        }
    for (int p = 0; p < n; p++) /* column: the product p; row: the entry q of the result */
        for (int q = 0; q < n; q++) {
            double *w = &W[row * p + q];
            *w = gram(pairs, pair_of(a, i[q], i[p]), pair_of(b, j[q], j[p]));
            if (a == b && i[p] != j[p]) *w += gram(pairs, pair_of(a, i[q], j[p]), pair_of(a, j[q], i[p]));
        }
    group->n = n;
    group->W = W;
    return STATUS_OK;
}

enum status shortening_make(const struct beam *beam, const struct body *body, const struct pair_integrals *pairs,
                            struct arena *arena, struct shortening **made)
{
    static const int plane_of[3][2] = {{0, 0}, {1, 1}, {0, 1}}; /* of the groups */
    const int m = body->m, n = pairs->n;
    const size_t row = (size_t)PADDED(m), rows = (size_t)m * row;
    struct shortening *sh = arena_allocate(arena, 1, sizeof *sh);
    int *i = arena_allocate(arena, (size_t)n, sizeof *i), *j = arena_allocate(arena, (size_t)n, sizeof *j);
    double *C = arena_allocate(arena, (size_t)(2 + m) * rows, sizeof *C),
           *Mff0 = arena_allocate(arena, rows, sizeof *Mff0);
    double *G = arena_allocate(arena, (size_t)(n * PADDED(n + m + 1)), sizeof *G);
    if (arena->failed) return STATUS_NO_MEMORY;
    memcpy(i, pairs->i, (size_t)n * sizeof *i);
    memcpy(j, pairs->j, (size_t)n * sizeof *j);
    fill_integrals(pairs, m, C, G);
    for (int k = 0; k < m; k++) memcpy(Mff0 + row * (size_t)k, body->Mff0 + m * k, (size_t)m * sizeof *Mff0);
    *sh = (struct shortening){
        .n_pairs = n, .i = i, .j = j, .C = C, .G = G, .Mff0 = Mff0, .axial = beam->family[FAMILY_AXIAL].count > 0};
    planes_of(beam, sh->plane);
    *made = sh;
    for (int g = 0; g < 3; g++) {
        const struct bending_plane *a = &sh->plane[plane_of[g][0]], *b = &sh->plane[plane_of[g][1]];
        if (a->n == 0 || b->n == 0) continue;
        struct pair_group *group = &sh->group[sh->n_groups++];
        group->a = plane_of[g][0];
        group->b = plane_of[g][1];
        if (make_group(pairs, a, b, arena, group) != STATUS_OK) return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

void shortening_state_make(const struct body *body, struct arena *arena, struct shortening_state *state)
{
    const struct shortening *sh = body->shortening;
    const size_t row = (size_t)PADDED(body->m), rows = (size_t)body->m * row;
    int most = PADDED(sh->n_pairs + body->m + 1);
    for (int g = 0; g < sh->n_groups; g++)
        if (PADDED(sh->group[g].n) > most) most = PADDED(sh->group[g].n);
    state->C_eta = arena_allocate(arena, 2 * row + rows, sizeof(double));
    if (state->C_eta != NULL) state->U = state->C_eta + 2 * row;
    state->sigma = arena_allocate(arena, 3 * row, sizeof(double));
    state->Q = arena_allocate(arena, rows, sizeof(double));
    arena_arrays(arena, (size_t)most, ARRAYS(&state->product, &state->integral));
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

enum { MOST_VECTORS = 12 };

/* `count` vectors of y = A x, A in columns of `row` */
INLINE void column_block(const int count, int columns, int row, const double *restrict A, const double *restrict x,
                         double *restrict y)
{
    lanes sum[MOST_VECTORS];
    for (int i = 0; i < count; i++) sum[i] = x[0] * load(A + LANES * i);
    for (int c = 1; c < columns; c++)
        for (int i = 0; i < count; i++) sum[i] += x[c] * load(A + row * c + LANES * i);
    for (int i = 0; i < count; i++) store(y + LANES * i, sum[i]);
}

/* The first `rows` of y = A x, A in columns of `row`, multiples of LANES: as many vectors of y at a time as there are registers */
static void multiply(int rows, int row, int columns, const double *restrict A, const double *restrict x,
                     double *restrict y)
{
    for (int at = 0; at < rows; at += MOST_VECTORS * LANES) {
        const int left = (rows - at) / LANES, count = left < MOST_VECTORS ? left : MOST_VECTORS;
        WITH_CONSTANT_COUNT(N, count, column_block(N, columns, row, A + at, x, y + at))
    }
}

/* The products x_i x_j, i >= j, by rows */
INLINE void triangle_products(const int n, const double *restrict x, double *restrict product)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) *product++ = x[i] * x[j];
}

/* The symmetric matrix of `rows` with this lower triangle */
INLINE void triangle_unpack(const int n, const double *restrict packed, int row, double *restrict A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) A[row * i + j] = A[row * j + i] = *packed++;
}

/* y += A x, A symmetric with this lower triangle */
INLINE void triangle_multiply(const int n, const double *restrict packed, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < i; j++, packed++) {
            sum += *packed * x[j];
            y[j] += *packed * x[i];
        }
        y[i] += sum + *packed++ * x[i];
    }
}

/* y += scale A x, A symmetric, m rows of PADDED(m) */
INLINE void add_product(const int m, double scale, const double *restrict A, const double *restrict x,
                        double *restrict y)
{
    const int row = PADDED(m);
    for (int l = 0; l < row; l += LANES) {
        lanes sum = x[0] * load(A + l);
        for (int k = 1; k < m; k++) sum += x[k] * load(A + row * k + l);
        store(y + l, load(y + l) + scale * sum);
    }
}

INLINE double dot(const int m, const double *restrict x, const double *restrict y)
{
    const int whole = LANE_START(m);
    lanes partial = {0};
    double sum = 0, part[LANES];
    for (int k = 0; k < whole; k += LANES) partial += load(x + k) * load(y + k);
    for (int k = whole; k < m; k++) sum += x[k] * y[k];
    store(part, partial);
    for (int i = 0; i < LANES; i++) sum += part[i];
    return sum;
}

/* ---- configuration ----------------------------------------------------------------------------------------------- */

void shortening_contract(const struct body *body, const double *x, double *C_x)
{
    const int m = body->m, rows = (2 + m) * PADDED(m);
    multiply(rows, rows, m, body->shortening->C, x, C_x);
}

/* y += s x, n a multiple of LANES */
static void add_scaled(int n, double s, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i += LANES) store(y + i, load(y + i) + s * load(x + i));
}

/* moment_jp = int (H y)_j h_p dm,   Q_jk = sum over the pairs p = (k, l) of x_l moment_jp */
void shortening_gram(const struct body *body, const double *x, const double *y, double *moment, double *Q)
{
    const struct shortening *sh = body->shortening;
    const int m = body->m, row = PADDED(m), column = PADDED(sh->n_pairs + m + 1), used = PADDED(sh->n_pairs);
    memset(moment, 0, (size_t)(m * column) * sizeof *moment);
    for (int p = 0; p < sh->n_pairs; p++) {
        const int i = sh->i[p], j = sh->j[p];
        const double *G = sh->G + column * p, half = i == j ? 1 : 0.5; /* G is doubled where i > j */
        add_scaled(used, half * y[j], G, moment + column * i);
        if (i != j) add_scaled(used, half * y[i], G, moment + column * j);
    }
    memset(Q, 0, (size_t)(m * row) * sizeof *Q);
    for (int j = 0; j < m; j++)
        for (int p = 0; p < 2; p++) {
            const struct bending_plane *plane = &sh->plane[p];
            const double *packed = moment + column * j + plane->pair, *x_plane = x + plane->first;
            double *Q_j = Q + row * j + plane->first;
            WITH_CONSTANT_COUNT(N, plane->n, triangle_multiply(N, packed, x_plane, Q_j))
        }
}

/* sigma = -B eta e_x: all that `linear` keeps */
INLINE void first_order(const int m, const double *restrict eta, struct shortening_state *restrict state)
{
    const int row = PADDED(m);
    const double *B_eta = state->C_eta + row;
    for (int l = 0; l < row; l += LANES) {
        store(state->sigma + l, -load(B_eta + l));
        store(state->sigma + row + l, (lanes){0});
        store(state->sigma + 2 * row + l, (lanes){0});
    }
    state->x_f = 0.5 * dot(m, eta, B_eta);
}

/* The block of Q for two different planes */
static void quartic_between(const struct pair_group *group, const struct bending_plane *a,
                            const struct bending_plane *b, int row, const double *eta, struct shortening_state *state)
{
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) state->product[b->n * i + j] = eta[a->first + i] * eta[b->first + j];
    multiply(PADDED(group->n), PADDED(group->n), group->n, group->W, state->product, state->integral);
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++)
            state->Q[row * (a->first + i) + b->first + j] = state->Q[row * (b->first + j) + a->first + i] =
                state->integral[b->n * i + j];
}

/* Q = int chi chi' dm from the products eta_i eta_j */
static void quartic(const struct shortening *sh, int m, const double *eta, struct shortening_state *state)
{
    const int row = PADDED(m);
    for (int g = 0; g < sh->n_groups; g++) {
        const struct pair_group *group = &sh->group[g];
        const struct bending_plane *a = &sh->plane[group->a];
        if (group->a != group->b) {
            quartic_between(group, a, &sh->plane[group->b], row, eta, state);
            continue;
        }
        double *Q = state->Q + (row + 1) * a->first;
        WITH_CONSTANT_COUNT(N, a->n, triangle_products(N, eta + a->first, state->product))
        multiply(PADDED(group->n), PADDED(group->n), group->n, group->W, state->product, state->integral);
        WITH_CONSTANT_COUNT(N, a->n, triangle_unpack(N, state->integral, row, Q))
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

/* M_ff = M_ff0 + Q, without Q in `linear`, ...                                                       (theory.md 13) */
INLINE void modal_mass(const int m, const double *restrict Mff0, const double *restrict Q, double *restrict Mff)
{
    const int row = PADDED(m);
    for (int at = 0; at < m * row; at += LANES) store(Mff + at, load(Mff0 + at) + load(Q + at));
}

INLINE void inertia(const int m, const struct body *body, enum elastic_terms terms, const double *eta,
                    struct body_state *state)
{
    const struct shortening *sh = body->shortening;
    const int rows = (2 + m) * PADDED(m), needed = terms == TERMS_FULL || sh->axial ? rows : 2 * PADDED(m);
    multiply(needed, rows, m, sh->C, eta, state->shortened.C_eta);
    first_order(m, eta, &state->shortened);
    if (terms == TERMS_FULL) {
        quartic(sh, m, eta, &state->shortened);
        second_order(m, body, eta, &state->shortened, state->rho);
    }
    modal_mass(m, sh->Mff0, state->shortened.Q, state->Mff);
}

void shortening_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state)
{
    WITH_CONSTANT_COUNT(M, body->m, inertia(M, body, terms, eta, state))
    if (!body->shortening->axial) return;
    const int m = body->m, row = PADDED(m);
    const double *U = state->shortened.U;
    for (int k = 0; k < m; k++) /* ... - U of the axial modes and its transpose */
        for (int j = 0; body->tip.axis[k] == X && j < m; j++) {
            state->Mff[row * k + j] -= U[row * k + j];
            state->Mff[row * j + k] -= U[row * k + j];
        }
}

/* c -= 1/2 eta' S eta e_x,   N_xa -= int f r_a dm, and for a = x - int f x dm */
INLINE void moments(const int m, const struct shortening_state *restrict at, const double *restrict eta,
                    struct body_state *restrict state)
{
    const int row = PADDED(m);
    state->c[X] -= 0.5 * dot(m, at->C_eta, eta);
    state->N[0] += 0.5 * dot(m, at->sigma, eta) - at->x_f;
    state->N[3] += 0.5 * dot(m, at->sigma + row, eta);
    state->N[4] += 0.5 * dot(m, at->sigma + 2 * row, eta);
}

void shortening_moments(const struct body *body, const double *eta, struct body_state *state)
{
    const struct shortening_state *at = &state->shortened;
    WITH_CONSTANT_COUNT(M, body->m, moments(M, at, eta, state))
}

/* (sigma x e_x) = (0, sigma_z, -sigma_y) */
INLINE void coupling(const int m, const struct shortening_state *restrict state, const double *restrict R,
                     double (*restrict F)[SIX])
{
    for (int k = 0; k < m; k++) {
        const double sigma_y = state->sigma[PADDED(m) + k], sigma_z = state->sigma[2 * PADDED(m) + k];
        for (int i = 0; i < 3; i++) {
            F[k][i] += R[3 * i + 1] * sigma_z - R[3 * i + 2] * sigma_y;
            F[k][3 + i] -= R[3 * i] * state->C_eta[k];
        }
    }
}

void shortening_coupling(const struct body *body, const struct shortening_state *state, const double R[9],
                         double (*F)[SIX])
{
    const int m = body->m;
    WITH_CONSTANT_COUNT(M, m, coupling(M, state, R, F))
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
    for (int p = 0; p < 2; p++) {
        const struct bending_plane *plane = &sh->plane[p];
        WITH_CONSTANT_COUNT(N, plane->n, triangle_products(N, etad + plane->first, at->product + plane->pair))
    }
    multiply(PADDED(n + m + 1), PADDED(n + m + 1), n, sh->G, at->product, at->integral);
    for (int p = 0; p < 2; p++) { /* modal_k += int (H eta)_k eta_dot' H eta_dot dm */
        const struct bending_plane *plane = &sh->plane[p];
        const int first = plane->first;
        WITH_CONSTANT_COUNT(N, plane->n, triangle_multiply(N, at->integral + plane->pair, eta + first, modal + first))
    }
    double moment[3] = {0};
    for (int k = 0; k < m; k++) {
        const double integral = at->integral[n + k];
        const int axis = body->tip.axis[k];
        moment[axis] += eta[k] * integral;
        if (axis == X) modal[k] -= integral;
    }
    wrench[3] -= at->integral[n + m];
    wrench[1] -= moment[Z];
    wrench[2] += moment[Y];
}

/* modal_k += a_x int chi_k dm + B_x . int chi_k r dm + 2 [omega]x_x . int chi_k r_dot dm; the sums over eta_dot of S eta and sigma */
INLINE void forces(const int m, const struct body *body, const struct shortening_state *restrict at,
                   const double *restrict etad, const double *restrict omega, const double *restrict B, double a_x,
                   struct coriolis *restrict rates, double *restrict modal)
{
    const int row = PADDED(m);
    const double W[3] = {0, -2 * omega[2], 2 * omega[1]};
    const double *S_eta = at->C_eta, *sigma = at->sigma;
    for (int l = 0; l < row; l += LANES) {
        lanes sum = load(modal + l) - a_x * load(S_eta + l) + B[0] * load(sigma + l) + B[1] * load(sigma + row + l) +
                    B[2] * load(sigma + 2 * row + l);
        for (int k = 0; k < m; k++) sum -= W[body->tip.axis[k]] * etad[k] * load(at->U + row * k + l);
        store(modal + l, sum);
    }
    const double Q[3] = {dot(m, etad, sigma), dot(m, etad, sigma + row), dot(m, etad, sigma + 2 * row)};
    rates->cd[X] -= dot(m, etad, S_eta);
    rates->Q_omega[X] += dot3(Q, omega);
    rates->trace += Q[0];
}

void shortening_force(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                      const double *eta, const double *etad, const double omega[3], const double acc[6],
                      const double B[9], struct coriolis *rates, double wrench[6], double *modal)
{
    const struct shortening_state *at = &state->shortened;
    if (terms == TERMS_LINEAR) {
        for (int k = 0; k < body->m; k++) /* int chi_k (a + B x e_x) dm is all that `linear` keeps */
            modal[k] += B[0] * at->sigma[k] - acc[3] * at->C_eta[k];
    } else {
        WITH_CONSTANT_COUNT(M, body->m, forces(M, body, at, etad, omega, B, acc[3], rates, modal))
        add_centripetal(body, at, eta, etad, wrench, modal);
    }
}
