/* Spatial quantities in world axes: 6-vectors are (angular; linear); an inertia maps the acceleration (alpha; a) of its
   reference point to the wrench (moment about that point; force):   (n; f) = P (alpha; a),   P = [A B; B' C]. */
#ifndef MATH_SPATIAL_H
#define MATH_SPATIAL_H

#include "math/lanes.h"
#include "math/vec.h"

/* Symmetric, both triangles stored; rows padded to whole lanes. */
struct inertia {
    double P[6][SIX]; /* [kg m^2, kg m; kg m, kg] */
};

/* A rigid body about the origin of the frame it is given in. */
struct rigid {
    double m;    /* mass                          [kg]     */
    double h[3]; /* first moment, m times com     [kg m]   */
    double J[6]; /* inertia about the origin      [kg m^2] */
};

/* The same body in world axes, R the orientation of its frame. */
static inline void rigid_rotate(const struct rigid *restrict body, const double *restrict R,
                                struct rigid *restrict world)
{
    world->m = body->m;
    mul3(R, body->h, world->h);
    rotate_sym3(R, body->J, world->J);
}

static inline void rigid_add(struct rigid *sum, const struct rigid *body)
{
    sum->m += body->m;
    for (int i = 0; i < 3; i++) sum->h[i] += body->h[i];
    for (int i = 0; i < 6; i++) sum->J[i] += body->J[i];
}

/* The same body about a point to which its own has the distance r:
   h+ = h + m r,   J+ = J + g.r 1 - (r g' + g r')/2,   g = m r + 2 h */
static inline void rigid_shift(struct rigid *body, const double *r)
{
    double g[3];
    for (int i = 0; i < 3; i++) g[i] = body->m * r[i] + 2 * body->h[i];
    const double rg = dot3(r, g);
    for (int i = 0; i < 3; i++) body->J[i] += rg - r[i] * g[i];
    body->J[3] -= 0.5 * (r[0] * g[1] + r[1] * g[0]);
    body->J[4] -= 0.5 * (r[0] * g[2] + r[2] * g[0]);
    body->J[5] -= 0.5 * (r[1] * g[2] + r[2] * g[1]);
    axpy3(body->m, r, body->h);
}

/* w = inertia of a rigid body times (alpha; a) */
static inline void rigid_mul(const struct rigid *restrict body, const double *restrict x, double *restrict w)
{
    symmul3(body->J, x, w);
    add_cross3(body->h, x + 3, w);
    for (int i = 0; i < 3; i++) w[3 + i] = body->m * x[3 + i];
    add_cross3(x, body->h, w + 3);
}

/* P = inertia of a rigid body:  A = J,  B = [h]x,  C = m I */
static inline void inertia_rigid(struct inertia *restrict I, const struct rigid *restrict body)
{
    const double m = body->m, x = body->h[0], y = body->h[1], z = body->h[2], *J = body->J;
    const double rows[6][6] = {{J[0], J[3], J[4], 0, -z, y}, {J[3], J[1], J[5], z, 0, -x}, {J[4], J[5], J[2], -y, x, 0},
                               {0, z, -y, m, 0, 0},          {-z, 0, x, 0, m, 0},          {y, -x, 0, 0, 0, m}};
    for (int i = 0; i < 6; i++) {
        memcpy(I->P[i], rows[i], sizeof rows[i]);
        for (int j = 6; j < SIX; j++) I->P[i][j] = 0;
    }
}

/* P += inertia of a rigid body: the upper triangle */
static inline void inertia_add_rigid(struct inertia *restrict I, const struct rigid *restrict body)
{
    double(*restrict P)[SIX] = I->P;
    const double *h = body->h, *J = body->J;
    for (int i = 0; i < 3; i++) {
        P[i][i] += J[i];
        P[3 + i][3 + i] += body->m;
    }
    P[0][1] += J[3];
    P[0][2] += J[4];
    P[1][2] += J[5];
    P[0][4] -= h[2];
    P[0][5] += h[1];
    P[1][3] += h[2];
    P[1][5] -= h[0];
    P[2][3] -= h[1];
    P[2][4] += h[0];
}

/* w = P (e; 0) for `at` = 0, P (0; e) for `at` = 3; w has SIX */
static inline void inertia_mul3(const struct inertia *restrict I, int at, const double *restrict e, double *restrict w)
{
    const double(*restrict P)[SIX] = &I->P[at];
    for (int j = 0; j < SIX; j += LANES)
        store(w + j, e[0] * load(P[0] + j) + e[1] * load(P[1] + j) + e[2] * load(P[2] + j));
}

/* w = P x; w has SIX */
static inline void inertia_mul(const struct inertia *restrict I, const double *restrict x, double *restrict w)
{
    for (int j = 0; j < SIX; j += LANES) {
        lanes sum = x[0] * load(I->P[0] + j);
        for (int i = 1; i < 6; i++) sum += x[i] * load(I->P[i] + j);
        store(w + j, sum);
    }
}

/* The lower triangle from the upper one: upper triangles are added and shifted, whole ones multiply. */
static inline void inertia_mirror(struct inertia *restrict I)
{
    for (int i = 1; i < 6; i++)
        for (int j = 0; j < i; j++) I->P[i][j] = I->P[j][i];
}

/* The same where only rows begun at LANE_START(i) were written and all was whole before */
static inline void inertia_mirror_rest(struct inertia *restrict I)
{
    for (int i = 1; i < 6; i++)
        for (int j = 0; j < LANE_START(i); j++) I->P[i][j] = I->P[j][i];
}

/* P -= sum over k of g_k u_k', g_k a multiple of u_k, both of SIX: the upper triangle, and of a whole P the rows that lanes reach */
INLINE void inertia_downdate(const int count, struct inertia *restrict I, const double (*restrict g)[SIX],
                             const double (*restrict u)[SIX])
{
    for (int i = 0; i < 6; i++)
        for (int j = LANE_START(i); j < SIX; j += LANES) {
            lanes sum = load(I->P[i] + j);
            for (int k = 0; k < count; k++) sum -= g[k][i] * load(u[k] + j);
            store(I->P[i] + j, sum);
        }
}

/* P moved to a point to which its own has the distance r:
   B+ = B + [r]x C,   A+ = A + [r]x B' + ([r]x B+')'                                                   (theory.md 30)
   The upper triangle of P+; P whole. */
static inline void inertia_shift(const struct inertia *restrict I, const double *restrict r,
                                 struct inertia *restrict moved)
{
    const double x = r[0], y = r[1], z = r[2];
    const double(*restrict P)[SIX] = I->P;
    double(*restrict M)[SIX] = moved->P;
    /* rows (A B) += [r]x rows (B' C) */
    for (int j = 0; j < SIX; j += LANES) store(M[0] + j, load(P[0] + j) + (y * load(P[5] + j) - z * load(P[4] + j)));
    for (int j = LANE_START(1); j < SIX; j += LANES)
        store(M[1] + j, load(P[1] + j) + (z * load(P[3] + j) - x * load(P[5] + j)));
    for (int j = LANE_START(2); j < SIX; j += LANES)
        store(M[2] + j, load(P[2] + j) + (x * load(P[4] + j) - y * load(P[3] + j)));
    for (int i = 3; i < 6; i++)
        for (int j = LANE_START(3); j < SIX; j += LANES) store(M[i] + j, load(P[i] + j)); /* C */
    /* columns likewise: A_i += r x B+_i, the upper triangle */
    M[0][0] += y * M[0][5] - z * M[0][4];
    M[0][1] += z * M[0][3] - x * M[0][5];
    M[0][2] += x * M[0][4] - y * M[0][3];
    M[1][1] += z * M[1][3] - x * M[1][5];
    M[1][2] += x * M[1][4] - y * M[1][3];
    M[2][2] += x * M[2][4] - y * M[2][3];
}

/* sum += P, upper triangles */
static inline void inertia_add(struct inertia *restrict sum, const struct inertia *restrict I)
{
    for (int i = 0; i < 6; i++)
        for (int j = LANE_START(i); j < SIX; j += LANES) store(sum->P[i] + j, load(sum->P[i] + j) + load(I->P[i] + j));
}

/* w = wrench of a rigid body moving with omega and acc = (alpha; a) of its reference point:
   n = J alpha + omega x J omega + h x a,   f = m a + alpha x h + omega x (omega x h) */
static inline void rigid_wrench(const struct rigid *restrict body, const double *restrict omega,
                                const double *restrict acc, double *restrict w)
{
    double Jw[3], *n = w, *f = w + 3, wh[3];
    const double *h = body->h;
    symmul3(body->J, omega, Jw);
    symmul3(body->J, acc, n);
    add_cross3(omega, Jw, n);
    add_cross3(h, acc + 3, n);
    cross3(omega, h, wh);
    cross3(acc, h, f);
    add_cross3(omega, wh, f);
    axpy3(body->m, acc + 3, f);
}

/* sum += wrench moved likewise: n += r x f */
static inline void wrench_add_shifted(double *restrict sum, const double *restrict w, const double *restrict r)
{
    for (int i = 0; i < 6; i++) sum[i] += w[i];
    add_cross3(r, w + 3, sum);
}

/* The acceleration (or velocity) of a point at distance r that moves with the first one: a + alpha x r */
static inline void motion_shift(const double *restrict a, const double *restrict r, double *restrict shifted)
{
    copy6(a, shifted);
    add_cross3(a, r, shifted + 3);
}

/* The acceleration of a point at distance d of a frame that moves with (omega, acc): a + alpha x d + omega x (omega x d) */
static inline void acceleration_shift(const double *restrict omega, const double *restrict acc,
                                      const double *restrict d, double *restrict shifted)
{
    double wd[3];
    motion_shift(acc, d, shifted);
    cross3(omega, d, wd);
    add_cross3(omega, wd, shifted + 3);
}

#endif
