/* Spatial quantities in world axes: 6-vectors are (angular; linear); an inertia maps the acceleration (alpha; a) of its
   reference point to the wrench (moment about that point; force):   n = A alpha + B a,   f = B' alpha + C a. */
#ifndef MATH_SPATIAL_H
#define MATH_SPATIAL_H

#include "math/lanes.h"
#include "math/vec.h"

struct inertia {
    double A[6]; /* symmetric  [kg m^2] */
    double B[9]; /*            [kg m]   */
    double C[6]; /* symmetric  [kg]     */
};

/* A rigid body about the origin of the frame it is given in. */
struct rigid {
    double m;    /* mass                                  [kg]     */
    double h[3]; /* first moment, m times center of mass  [kg m]   */
    double J[6]; /* inertia about the origin              [kg m^2] */
};

/* The same body in world axes; R is the orientation of its frame. */
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

/* The same body about another point; r is the vector from that point to the present one:
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
static inline void inertia_rigid(struct inertia *P, const struct rigid *body)
{
    memcpy(P->A, body->J, sizeof P->A);
    skew3(body->h, P->B);
    P->C[0] = P->C[1] = P->C[2] = body->m;
    P->C[3] = P->C[4] = P->C[5] = 0;
}

/* w = P x */
static inline void inertia_mul(const struct inertia *restrict P, const double *restrict x, double *restrict w)
{
    const double *A = P->A, *B = P->B, *C = P->C;
    const double a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5];
    w[0] = A[0] * a + A[3] * b + A[4] * c + B[0] * d + B[1] * e + B[2] * f;
    w[1] = A[3] * a + A[1] * b + A[5] * c + B[3] * d + B[4] * e + B[5] * f;
    w[2] = A[4] * a + A[5] * b + A[2] * c + B[6] * d + B[7] * e + B[8] * f;
    w[3] = B[0] * a + B[3] * b + B[6] * c + C[0] * d + C[3] * e + C[4] * f;
    w[4] = B[1] * a + B[4] * b + B[7] * c + C[3] * d + C[1] * e + C[5] * f;
    w[5] = B[2] * a + B[5] * b + B[8] * c + C[4] * d + C[5] * e + C[2] * f;
}

/* P moved to another point; r is the vector from that point to the present one:
   C+ = C,   B+ = B + [r]x C,   A+ = A + ([r]x B')' + [r]x B+'                                         (theory.md 30) */
static inline void inertia_shift(const struct inertia *restrict P, const double *restrict r,
                                 struct inertia *restrict moved)
{
    const double *A = P->A, *B = P->B, *C = P->C;
    const double x = r[0], y = r[1], z = r[2];
    double *N = moved->B; /* B+ */
    N[0] = B[0] + (y * C[4] - z * C[3]);
    N[1] = B[1] + (y * C[5] - z * C[1]);
    N[2] = B[2] + (y * C[2] - z * C[5]);
    N[3] = B[3] + (z * C[0] - x * C[4]);
    N[4] = B[4] + (z * C[3] - x * C[5]);
    N[5] = B[5] + (z * C[4] - x * C[2]);
    N[6] = B[6] + (x * C[3] - y * C[0]);
    N[7] = B[7] + (x * C[1] - y * C[3]);
    N[8] = B[8] + (x * C[5] - y * C[4]);

    /* r x (column of B'): the columns of B' are the rows of B; r (b + n) where both have the same factor */
    moved->A[0] = A[0] + y * (B[2] + N[2]) - z * (B[1] + N[1]);
    moved->A[1] = A[1] + z * (B[3] + N[3]) - x * (B[5] + N[5]);
    moved->A[2] = A[2] + x * (B[7] + N[7]) - y * (B[6] + N[6]);
    moved->A[3] = A[3] + (z * B[0] - x * B[2]) + (y * N[5] - z * N[4]);
    moved->A[4] = A[4] + (x * B[1] - y * B[0]) + (y * N[8] - z * N[7]);
    moved->A[5] = A[5] + (x * B[4] - y * B[3]) + (z * N[6] - x * N[8]);
    memcpy(moved->C, C, sizeof moved->C);
}

static inline void inertia_add(struct inertia *restrict sum, const struct inertia *restrict P)
{
    for (int i = 0; i < 6; i++) sum->A[i] += P->A[i];
    for (int i = 0; i < 9; i++) sum->B[i] += P->B[i];
    for (int i = 0; i < 6; i++) sum->C[i] += P->C[i];
}

/* P += inertia of a rigid body */
INLINE void inertia_add_rigid(struct inertia *restrict P, const struct rigid *restrict body)
{
    for (int i = 0; i < 6; i++) P->A[i] += body->J[i];
    P->B[1] -= body->h[2];
    P->B[2] += body->h[1];
    P->B[3] += body->h[2];
    P->B[5] -= body->h[0];
    P->B[6] -= body->h[1];
    P->B[7] += body->h[0];
    for (int i = 0; i < 3; i++) P->C[i] += body->m;
}

/* P -= g u', symmetric: g is a multiple of u */
static inline void inertia_downdate(struct inertia *restrict P, const double *restrict g, const double *restrict u)
{
    P->A[0] -= g[0] * u[0];
    P->A[1] -= g[1] * u[1];
    P->A[2] -= g[2] * u[2];
    P->A[3] -= g[0] * u[1];
    P->A[4] -= g[0] * u[2];
    P->A[5] -= g[1] * u[2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) P->B[3 * i + j] -= g[i] * u[3 + j];
    P->C[0] -= g[3] * u[3];
    P->C[1] -= g[4] * u[4];
    P->C[2] -= g[5] * u[5];
    P->C[3] -= g[3] * u[4];
    P->C[4] -= g[3] * u[5];
    P->C[5] -= g[4] * u[5];
}

/* P -= sum over k of g_k u_k', g_k a multiple of u_k, both of length SIX: summed in lanes, then subtracted entry by entry */
INLINE void inertia_downdate_rows(const int count, struct inertia *restrict P, const double (*restrict g)[SIX],
                                  const double (*restrict u)[SIX])
{
    double S[6][SIX];
    for (int i = 0; i < 6; i++)
        for (int j = LANE_START(i); j < SIX; j += LANES) {
            lanes sum = g[0][i] * load(u[0] + j);
            for (int k = 1; k < count; k++) sum += g[k][i] * load(u[k] + j);
            store(S[i] + j, sum);
        }
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; i++) {
        P->A[i] -= S[row[i]][column[i]];
        P->C[i] -= S[3 + row[i]][3 + column[i]];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) P->B[3 * i + j] -= S[i][3 + j];
}

/* w = inertia wrench of a rigid body moving with omega and acc = (alpha; a) of its reference point:
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

/* sum += wrench moved in the same way: n += r x f */
/* The change of that wrench with omega along w, added to it: w x J omega + omega x J w,   w x (omega x h) + omega x (w x h) */
static inline void rigid_add_spin(const struct rigid *body, const double *omega, const double *w, double *wrench)
{
    double Jw[3], a[3], b[3];
    symmul3(body->J, omega, Jw);
    add_cross3(w, Jw, wrench);
    symmul3(body->J, w, Jw);
    add_cross3(omega, Jw, wrench);
    cross3(omega, body->h, a);
    cross3(w, body->h, b);
    add_cross3(w, a, wrench + 3);
    add_cross3(omega, b, wrench + 3);
}

static inline void wrench_add_shifted(double *restrict sum, const double *restrict w, const double *restrict r)
{
    for (int i = 0; i < 6; i++) sum[i] += w[i];
    add_cross3(r, w + 3, sum);
}

/* The acceleration (or velocity) of a point at r, fixed to the same body: a + alpha x r */
static inline void motion_shift(const double *restrict a, const double *restrict r, double *restrict shifted)
{
    copy6(a, shifted);
    add_cross3(a, r, shifted + 3);
}

/* The acceleration of a point at d in a frame that moves with (omega, acc): a + alpha x d + omega x (omega x d) */
static inline void acceleration_shift(const double *restrict omega, const double *restrict acc,
                                      const double *restrict d, double *restrict shifted)
{
    double wd[3];
    motion_shift(acc, d, shifted);
    cross3(omega, d, wd);
    add_cross3(omega, wd, shifted + 3);
}

/* sum += sum over k of c_k row_k */
INLINE void add_rows(const int m, const double *restrict c, const double (*restrict row)[SIX], double *restrict sum)
{
    for (int j = 0; j < SIX; j += LANES) {
        lanes s = load(sum + j);
        for (int k = 0; k < m; k++) s += c[k] * load(row[k] + j);
        store(sum + j, s);
    }
}

#endif
