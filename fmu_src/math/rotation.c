#include "math/rotation.h"

#include <math.h>

#include "math/vec.h"

/* a = sum (-y)^k / (2k+2)!,  b = sum (-y)^k / (2k+3)!. Seven terms are accurate to rounding for y < 1/4, all of them for y < 10
   (half a turn). There the formulas with sine and cosine suffer from cancellation, those of da and db most. */
enum { FEW_TERMS = 7, TERMS = 15 };
enum series { SERIES_A, SERIES_B };
static const double coefficient[TERMS][2] = {
    {1.0 / 2, 1.0 / 6},
    {1.0 / 24, 1.0 / 120},
    {1.0 / 720, 1.0 / 5040},
    {1.0 / 40320, 1.0 / 362880},
    {1.0 / 3628800, 1.0 / 39916800},
    {1.0 / 479001600, 1.0 / 6227020800.0},
    {1.0 / 87178291200.0, 1.0 / 1307674368000.0},
    {1.0 / 20922789888000.0, 1.0 / 355687428096000.0},
    {1.0 / 6402373705728000.0, 1.0 / 121645100408832000.0},
    {1.0 / 2432902008176640000.0, 1.0 / 51090942171709440000.0},
    {1.0 / 1124000727777607680000.0, 1.0 / 25852016738884976640000.0},
    {1.0 / 620448401733239439360000.0, 1.0 / 15511210043330985984000000.0},
    {1.0 / 403291461126605635584000000.0, 1.0 / 10888869450418352160768000000.0},
    {1.0 / 304888344611713860501504000000.0, 1.0 / 8841761993739701954543616000000.0},
    {1.0 / 265252859812191058636308480000000.0, 1.0 / 8222838654177922817725562880000000.0}};

/* p = sum c_k (-y)^k and dp = dp/dy by Horner's rule */
static inline void horner(enum series c, int terms, double y, double *p, double *dp)
{
    *p = coefficient[terms - 1][c];
    *dp = 0;
    for (int k = terms - 2; k >= 0; k--) {
        *dp = -*p - y * *dp;
        *p = coefficient[k][c] - y * *p;
    }
}

struct exp_coefficients rotation_exp_coefficients(double y)
{
    struct exp_coefficients e;
    if (y < 0.25) {
        horner(SERIES_A, FEW_TERMS, y, &e.a, &e.da);
        horner(SERIES_B, FEW_TERMS, y, &e.b, &e.db);
    } else if (y < 10) {
        horner(SERIES_A, TERMS, y, &e.a, &e.da);
        horner(SERIES_B, TERMS, y, &e.b, &e.db);
    } else {
        const double phi = sqrt(y), s = sin(phi), half = sin(0.5 * phi);
        e.a = 2 * half * half / y;
        e.b = (phi - s) / (y * phi);
        e.da = (1 - y * e.b - 2 * e.a) / (2 * y); /* da/dy = (sin phi/phi - 2a)/(2y) */
        e.db = (e.a - 3 * e.b) / (2 * y);         /* db/dy = (a - 3b)/(2y)           */
    }
    return e;
}

/* M = I + p [t]x + q [t]x^2, with [t]x^2 = t t' - |t|^2 I */
static void spin_matrix(double p, double q, const double *t, double *M)
{
    const double qx = q * t[0], qy = q * t[1], qz = q * t[2];
    const double xx = qx * t[0], yy = qy * t[1], zz = qz * t[2];
    const double xy = qx * t[1], xz = qx * t[2], yz = qy * t[2];
    const double px = p * t[0], py = p * t[1], pz = p * t[2];
    M[0] = 1 - (yy + zz);
    M[1] = xy - pz;
    M[2] = xz + py;
    M[3] = xy + pz;
    M[4] = 1 - (xx + zz);
    M[5] = yz - px;
    M[6] = xz - py;
    M[7] = yz + px;
    M[8] = 1 - (xx + yy);
}

void rotation_exp(const struct exp_coefficients *e, const double theta[3], double R[9])
{
    spin_matrix(1 - dot3(theta, theta) * e->b, e->a, theta, R);
}

void rotation_left_jacobian(const struct exp_coefficients *e, const double theta[3], double Jl[9])
{
    spin_matrix(e->a, e->b, theta, Jl);
}

void rotation_rate(const struct exp_coefficients *e, const double theta[3], const double td[3], double w[3],
                   double wd[3])
{
    double c[3], cc[3]; /* theta x td,  theta x (theta x td) */
    cross3(theta, td, c);
    cross3(theta, c, cc);

    /* w = td + a theta x td + b theta x (theta x td) */
    for (int i = 0; i < 3; i++) w[i] = td[i] + e->a * c[i] + e->b * cc[i];
    if (wd == NULL) return;

    /* wd = a_dot theta x td + b_dot theta x (theta x td) + b td x (theta x td),   y_dot = 2 theta . td */
    const double yd = 2 * dot3(theta, td);
    double tc[3];
    cross3(td, c, tc);
    for (int i = 0; i < 3; i++) wd[i] = yd * (e->da * c[i] + e->db * cc[i]) + e->b * tc[i];
}

/* Unit quaternion of Exp(theta): scalar cos(phi/2), vector theta sin(phi/2)/phi */
static double half_turn(const double *theta, double *v)
{
    const double phi = sqrt(dot3(theta, theta)), factor = phi > 1e-8 ? sin(0.5 * phi) / phi : 0.5;
    for (int i = 0; i < 3; i++) v[i] = factor * theta[i];
    return cos(0.5 * phi);
}

void rotation_between(const double from[3], const double to[3], double rho[3])
{
    double u[3], v[3], p[3];
    const double c = half_turn(from, u), d = half_turn(to, v);
    cross3(v, u, p); /* (c, -u)(d, v) = (c d + u.v, c v - d u - u x v) */
    for (int i = 0; i < 3; i++) p[i] += c * v[i] - d * u[i];
    const double s = sqrt(dot3(p, p)), angle = 2 * atan2(s, c * d + dot3(u, v));
    for (int i = 0; i < 3; i++) rho[i] = (s > 0 ? angle / s : 2) * p[i];
}

void rotation_rpy(const double rpy[3], double R[9])
{
    const double cr = cos(rpy[0]), sr = sin(rpy[0]), cp = cos(rpy[1]), sp = sin(rpy[1]), cy = cos(rpy[2]),
                 sy = sin(rpy[2]);
    const double M[9] = {cy * cp,
                         cy * sp * sr - sy * cr,
                         cy * sp * cr + sy * sr,
                         sy * cp,
                         sy * sp * sr + cy * cr,
                         sy * sp * cr - cy * sr,
                         -sp,
                         cp * sr,
                         cp * cr};
    copy9(M, R);
}
