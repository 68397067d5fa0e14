#include "math/rotation_tangent.h"

#include "math/vec.h"

/* sum over k >= 2 of k (k-1) (-1)^k y^(k-2) / (2k + first)!; nine terms are accurate to rounding for y < 1/4, fifteen for y < 10 */
static double series(double y, int first, double leading)
{
    const int end = y < 0.25 ? 11 : 17;
    double sum = 0, term = leading; /* term: (-y)^(k-2) / (2k + first)! */
    for (int k = 2; k < end; k++) {
        sum += k * (k - 1) * term;
        term *= -y / ((2 * k + first + 1) * (2 * k + first + 2));
    }
    return sum;
}

/* M += [v]x */
static void add_skew(const double *v, double *M)
{
    M[1] -= v[2];
    M[2] += v[1];
    M[3] += v[2];
    M[5] -= v[0];
    M[6] -= v[1];
    M[7] += v[0];
}

/* M += [x]x [y]x + [y]x [x]x = x y' + y x' - 2 x.y I */
static void add_double_skew(const double *x, const double *y, double *M)
{
    const double twice = 2 * dot3(x, y);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) M[3 * i + j] += x[i] * y[j] + y[i] * x[j];
        M[4 * i] -= twice;
    }
}

void rotation_jacobian_rates(const struct exp_coefficients *e, const double theta[3], const double td[3],
                             const double tdd[3], struct jacobian_rates *rates)
{
    const double y = dot3(theta, theta), yd = 2 * dot3(theta, td), ydd = 2 * (dot3(td, td) + dot3(theta, tdd));

    /* second derivatives of a and b with respect to y = phi^2: series for y < 10 as in rotation.c, otherwise from the identities
       2 y a' = 1 - y b - 2 a  and  2 y b' = a - 3 b, differentiated once more */
    const double dda = y < 10 ? series(y, 2, 1.0 / 720) : -(e->b + y * e->db + 4 * e->da) / (2 * y);
    const double ddb = y < 10 ? series(y, 3, 1.0 / 5040) : (e->da - 5 * e->db) / (2 * y);
    const double ad = e->da * yd, bd = e->db * yd;
    const double add = dda * yd * yd + e->da * ydd, bdd = ddb * yd * yd + e->db * ydd;
    double u[3], v[3], p[3], q[3], r[3];
    for (int i = 0; i < 3; i++) {
        u[i] = ad * theta[i] + e->a * td[i];
        v[i] = 0.5 * bd * theta[i] + e->b * td[i];
        p[i] = add * theta[i] + 2 * ad * td[i] + e->a * tdd[i];
        q[i] = 0.5 * bdd * theta[i] + 2 * bd * td[i] + e->b * tdd[i];
        r[i] = e->b * td[i];
    }
    rotation_left_jacobian(e, theta, rates->J);
    /* Jl_dot = [(a theta)_dot]x + ([theta]x^2 b)_dot, and differentiated once more */
    memset(rates->Jd, 0, sizeof rates->Jd);
    memset(rates->Jdd, 0, sizeof rates->Jdd);
    add_skew(u, rates->Jd);
    add_double_skew(theta, v, rates->Jd);
    add_skew(p, rates->Jdd);
    add_double_skew(theta, q, rates->Jdd);
    add_double_skew(td, r, rates->Jdd);
}

void rotation_force_derivative(const struct exp_coefficients *e, const double theta[3], const double n[3], double Y[9])
{
    /* Jl' n = n - a theta x n + b theta x (theta x n);  with c = theta x n
       Y = 2 (-a' c + b' theta x c) theta' + a [n]x - b (2 n theta' - theta n' - theta.n I) */
    double c[3], tc[3], an[3];
    cross3(theta, n, c);
    cross3(theta, c, tc);
    for (int i = 0; i < 3; i++) {
        const double u = 2 * (e->db * tc[i] - e->da * c[i] - e->b * n[i]);
        for (int j = 0; j < 3; j++) Y[3 * i + j] = u * theta[j] + e->b * theta[i] * n[j];
        Y[4 * i] += e->b * dot3(theta, n);
        an[i] = e->a * n[i];
    }
    add_skew(an, Y);
}

void rotation_vector_rate(const double rho[3], const double psi[3], double drho[3])
{
    /* Jl^-1 = I - [rho]x/2 - (a'/a) [rho]x^2 */
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(rho, rho));
    double c[3], cc[3];
    cross3(rho, psi, c);
    cross3(rho, c, cc);
    for (int i = 0; i < 3; i++) drho[i] = psi[i] - 0.5 * c[i] - e.da / e.a * cc[i];
}
