#include "generate/graph/spatial.h"

struct vector spatial_turned_back(struct graph *g, const struct turn *turn, const expr *x)
{
    const int k = turn->axis, i = (k + 1) % 3, j = (k + 2) % 3;
    struct vector y;
    y.e[k] = x[k];
    y.e[i] = expr_sub_product(g, expr_mul(g, turn->c, x[i]), turn->s, x[j]);
    y.e[j] = expr_add_product(g, expr_mul(g, turn->s, x[i]), turn->c, x[j]);
    return y;
}

/* Products of cosine and sine. */
struct products {
    expr ss, cs, cos2; /* s^2, c s, c^2 - s^2 */
};

static struct products products_of(struct graph *g, const struct turn *turn)
{
    struct products p;
    p.ss = expr_mul(g, turn->s, turn->s);
    p.cs = expr_mul(g, turn->c, turn->s);
    p.cos2 = expr_sub(g, ONE, expr_add(g, p.ss, p.ss));
    return p;
}

/* The block [a b; b d] in the plane of the turn:  a - e, d + e, b cos 2 + (a - d) c s,  e = (a - d) s^2 + 2 b c s.
   The part normal to the plane turns as a vector. */
static void turn_symmetric(struct graph *g, const struct turn *turn, expr S[6])
{
    const int k = turn->axis, i = (k + 1) % 3, j = (k + 2) % 3, ij = packed(i, j);
    const struct products p = products_of(g, turn);
    const expr a = S[i], d = S[j], b = S[ij];
    expr along[3] = {ZERO, ZERO, ZERO};
    along[i] = S[packed(k, i)];
    along[j] = S[packed(k, j)];
    const struct vector v = spatial_turned_back(g, turn, along);
    S[packed(k, i)] = v.e[i];
    S[packed(k, j)] = v.e[j];
    if (turn->c == ZERO) {
        S[i] = d;
        S[j] = a;
        S[ij] = negative(b);
        return;
    }
    const expr D = expr_sub(g, a, d), e = expr_add_product(g, expr_mul(g, D, p.ss), b, expr_add(g, p.cs, p.cs));
    S[i] = expr_sub(g, a, e);
    S[j] = expr_add(g, d, e);
    S[ij] = expr_add_product(g, expr_mul(g, b, p.cos2), D, p.cs);
}

/* The block [a b; b' d] in the plane:  a - e, d + e, b + f, b' + f,  e = (a - d) s^2 + (b + b') c s,
   f = (a - d) c s - (b + b') s^2 */
void spatial_turn(struct graph *g, const struct turn *turn, struct spatial *P)
{
    expr *M = P->B;
    turn_symmetric(g, turn, P->A);
    const int k = turn->axis, i = (k + 1) % 3, j = (k + 2) % 3, ij = 3 * i + j, ji = 3 * j + i;
    const struct products p = products_of(g, turn);
    const expr row[3] = {M[3 * k], M[3 * k + 1], M[3 * k + 2]}, column[3] = {M[k], M[3 + k], M[6 + k]};
    const struct vector r = spatial_turned_back(g, turn, row), c = spatial_turned_back(g, turn, column);
    M[3 * k + i] = r.e[i];
    M[3 * k + j] = r.e[j];
    M[3 * i + k] = c.e[i];
    M[3 * j + k] = c.e[j];
    const expr a = M[4 * i], d = M[4 * j], b = M[ij], b2 = M[ji];
    if (turn->c == ZERO) {
        M[4 * i] = d;
        M[4 * j] = a;
        M[ij] = negative(b2);
        M[ji] = negative(b);
        turn_symmetric(g, turn, P->C);
        return;
    }
    const expr D = expr_sub(g, a, d), S = expr_add(g, b, b2);
    const expr e = expr_add_product(g, expr_mul(g, D, p.ss), S, p.cs),
               f = expr_sub_product(g, expr_mul(g, D, p.cs), S, p.ss);
    M[4 * i] = expr_sub(g, a, e);
    M[4 * j] = expr_add(g, d, e);
    M[ij] = expr_add(g, b, f);
    M[ji] = expr_add(g, b2, f);
    turn_symmetric(g, turn, P->C);
}

void spatial_turn_solid(struct graph *g, const struct turn *turn, struct solid *solid)
{
    const struct vector h = spatial_turned_back(g, turn, solid->h);
    for (int i = 0; i < 3; i++) solid->h[i] = h.e[i];
    turn_symmetric(g, turn, solid->J);
}

void spatial_skew(const expr r[3], expr M[9])
{
    const expr S[9] = {ZERO, negative(r[2]), r[1], r[2], ZERO, negative(r[0]), negative(r[1]), r[0], ZERO};
    for (int i = 0; i < 9; i++) M[i] = S[i];
}

/* B+ = B + [r]x C,   A+ = A + [r]x B' - B+ [r]x */
void spatial_shift(struct graph *g, const expr r[3], struct spatial *P)
{
    expr rx[9], B[9];
    spatial_skew(r, rx);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            B[3 * i + j] = P->B[3 * i + j];
            for (int k = 0; k < 3; k++)
                B[3 * i + j] = expr_add_product(g, B[3 * i + j], rx[3 * i + k], P->C[packed(k, j)]);
        }
    for (int e = 0; e < 6; e++) {
        const int i = packed_row(e), j = packed_column(e);
        for (int k = 0; k < 3; k++) {
            P->A[e] = expr_add_product(g, P->A[e], rx[3 * i + k], P->B[3 * j + k]);
            P->A[e] = expr_sub_product(g, P->A[e], B[3 * i + k], rx[3 * k + j]);
        }
    }
    for (int i = 0; i < 9; i++) P->B[i] = B[i];
}

/* J+ = J + 2 (h.r) 1 - h r' - r h' + m (r.r 1 - r r'),   h+ = h + m r */
void spatial_shift_solid(struct graph *g, const expr r[3], struct solid *solid)
{
    expr h[3], both[3]; /* h + m r, and h + h+ */
    for (int i = 0; i < 3; i++) {
        h[i] = expr_add_product(g, solid->h[i], solid->m, r[i]);
        both[i] = expr_add(g, solid->h[i], h[i]);
    }
    const expr trace = dot(g, both, r);
    for (int e = 0; e < 6; e++) {
        const int i = packed_row(e), j = packed_column(e);
        if (i == j) solid->J[e] = expr_add(g, solid->J[e], expr_sub_product(g, trace, both[i], r[i]));
        else solid->J[e] = expr_sub_product(g, expr_sub_product(g, solid->J[e], solid->h[i], r[j]), r[i], h[j]);
    }
    for (int i = 0; i < 3; i++) solid->h[i] = h[i];
}

void spatial_add(struct graph *g, const struct spatial *P, struct spatial *to)
{
    add_vector(g, 6, P->A, to->A);
    add_vector(g, 9, P->B, to->B);
    add_vector(g, 6, P->C, to->C);
}

void spatial_add_solid(struct graph *g, const struct solid *solid, struct solid *to)
{
    to->m = expr_add(g, to->m, solid->m);
    add_vector(g, 3, solid->h, to->h);
    add_vector(g, 6, solid->J, to->J);
}

/* A = J,  B = [h]x,  C = m 1 */
struct spatial spatial_of(const struct solid *solid)
{
    struct spatial P = {.C = {solid->m, solid->m, solid->m, ZERO, ZERO, ZERO}};
    for (int i = 0; i < 6; i++) P.A[i] = solid->J[i];
    spatial_skew(solid->h, P.B);
    return P;
}

void spatial_times(struct graph *g, const struct spatial *P, const expr x[6], expr y[6])
{
    const struct vector A = symmetric_times(g, P->A, x), B = matrix_times(g, P->B, x + 3),
                        C = symmetric_times(g, P->C, x + 3);
    for (int i = 0; i < 3; i++) {
        const expr column[3] = {P->B[i], P->B[3 + i], P->B[6 + i]};
        y[i] = expr_add(g, A.e[i], B.e[i]);
        y[3 + i] = expr_add(g, dot(g, column, x), C.e[i]);
    }
}

void spatial_downdate(struct graph *g, const expr G[6], const expr U[6], struct spatial *P)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            P->B[3 * i + j] = expr_sub_product(g, P->B[3 * i + j], G[i], U[3 + j]);
            if (j < i) continue;
            P->A[packed(i, j)] = expr_sub_product(g, P->A[packed(i, j)], G[i], U[j]);
            P->C[packed(i, j)] = expr_sub_product(g, P->C[packed(i, j)], G[3 + i], U[3 + j]);
        }
}

void spatial_point_accelerations(struct graph *g, const expr omega[3], const expr alpha[3], expr B[9])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const expr product = expr_mul(g, omega[i], omega[j]);
        B[4 * i] = negative(expr_add(g, expr_mul(g, omega[j], omega[j]), expr_mul(g, omega[k], omega[k])));
        B[3 * i + j] = expr_sub(g, product, alpha[k]);
        B[3 * j + i] = expr_add(g, product, alpha[k]);
    }
}

void spatial_wrench_of(struct graph *g, expr m, const expr c[3], const expr N[6], const expr B[9], const expr a[3],
                       expr wrench[6])
{
    const struct vector force = matrix_times(g, B, c), moment = cross(g, c, a);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        wrench[3 + i] = expr_add_product(g, force.e[i], m, a[i]);
        /* Z_kj - Z_jk,  Z = B N */
        expr sum = expr_mul(g, expr_sub(g, B[4 * k], B[4 * j]), N[packed(j, k)]);
        sum = expr_add_product(g, sum, B[3 * k + i], N[packed(i, j)]);
        sum = expr_sub_product(g, sum, B[3 * j + i], N[packed(i, k)]);
        sum = expr_add_product(g, sum, B[3 * k + j], N[j]);
        sum = expr_sub_product(g, sum, B[3 * j + k], N[k]);
        wrench[i] = expr_add(g, sum, moment.e[i]);
    }
}

/* N = tr(J)/2 I - J */
void spatial_solid_wrench(struct graph *g, const struct solid *solid, const expr omega[3], const expr acc[6],
                          expr wrench[6])
{
    const expr *J = solid->J;
    expr B[9], N[6];
    spatial_point_accelerations(g, omega, acc, B);
    const expr half = expr_scale(g, 0.5, expr_add(g, expr_add(g, J[0], J[1]), J[2]));
    for (int i = 0; i < 3; i++) N[i] = expr_sub(g, half, J[i]);
    for (int i = 3; i < 6; i++) N[i] = negative(J[i]);
    spatial_wrench_of(g, solid->m, solid->h, N, B, acc + 3, wrench);
}
