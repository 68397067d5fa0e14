/* Rotation vectors: Exp is a rotation about its vector, Jl and its rate are derivatives, and small angles lose nothing. */
#include "test.h"

#include "math/rotation.h"

#include <float.h>

#include "math/rotation_tangent.h"
#include "math/sincos.h"
#include "math/vec.h"
#include "oracle/random.h"

static void random_vector(struct random *random, double length, double v[3])
{
    random_direction(random, v);
    for (int i = 0; i < 3; i++) v[i] *= length;
}

static double largest(int n, const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = larger(most, fabs(x[i] - y[i]));
    return most;
}

/* Angles from far below rounding to several turns. */
static double angle(int i)
{
    return i < 40 ? pow(10, -9 + 0.25 * i) : 0.2 * (i - 39);
}

enum { ANGLES = 80 };

/* a = (1 - cos phi)/phi^2 = 1/2 (sin(phi/2)/(phi/2))^2 has no cancellation; b and the derivatives in long double: by series
   below 1, where it converges fast, by their formulas above. */
TEST(coefficients_keep_their_digits)
{
    for (int i = 0; i < ANGLES; i++) {
        const double phi = angle(i);
        const long double y = (long double)phi * phi, t = sqrtl(y);
        long double a = 0, b = 0, da = 0, db = 0, term = 0.5L; /* term: (-y)^k/(2k+2)! */
        if (y < 4) {
            for (int k = 0; k < 20; k++) {
                a += term;
                b += term / (2 * k + 3);
                if (y > 0 && k > 0) {
                    da += k * term / y;
                    db += k * term / (2 * k + 3) / y;
                }
                term *= -y / ((2 * k + 3) * (2 * k + 4));
            }
        } else {
            a = (1 - cosl(t)) / y;
            b = (t - sinl(t)) / (y * t);
            da = (sinl(t) / (2 * t) - a) / y;
            db = ((1 - cosl(t)) / (2 * y) - 1.5L * b) / y;
        }
        const struct exp_coefficients e = rotation_exp_coefficients(phi * phi);
        CHECK_NEAR(e.a, (double)a, 8 * DBL_EPSILON * 0.5);
        CHECK_NEAR(e.b, (double)b, 8 * DBL_EPSILON / 6);
        CHECK_NEAR(e.da, (double)da, 8 * DBL_EPSILON / 24);
        CHECK_NEAR(e.db, (double)db, 8 * DBL_EPSILON / 120);
    }
    const struct exp_coefficients zero = rotation_exp_coefficients(0);
    CHECK(zero.a == 0.5 && zero.b == 1.0 / 6 && zero.da == -1.0 / 24 && zero.db == -1.0 / 120);
}

/* About an axis that stays, theta = phi e_x with phi_dot = 1: Jl turns the other two as 1 - b phi^2 = sin phi/phi, a phi =
   (1 - cos phi)/phi, and their second derivatives by phi are known as series, here in long double. */
TEST(second_rates_keep_their_digits)
{
    for (int i = 0; i < ANGLES; i++) {
        const double phi = angle(i), theta[3] = {phi, 0, 0}, td[3] = {1, 0, 0}, tdd[3] = {0, 0, 0};
        const struct exp_coefficients e = rotation_exp_coefficients(phi * phi);
        struct jacobian_rates rates;
        rotation_jacobian_rates(&e, theta, td, tdd, &rates);
        long double along = 0, across = 0, term = 1 / 6.0L; /* term: (-1)^(k-1) phi^(2k-2) / (2k+1)! */
        for (int k = 1; k < 40; k++) {
            along -= 2 * k * (2 * k - 1) * term;                                     /* (sin phi/phi)''       */
            across -= (2 * k + 1) * (2 * k) * term * (long double)phi / (2 * k + 2); /* ((1 - cos phi)/phi)'' */
            term *= -(long double)phi * phi / ((2 * k + 2) * (2 * k + 3));
        }
        CHECK_NEAR(rates.Jdd[4], (double)along, 8 * DBL_EPSILON);
        CHECK_NEAR(rates.Jdd[7], (double)across, 8 * DBL_EPSILON);
    }
}

/* R'R = 1, det R = 1, R theta = theta, trace R = 1 + 2 cos phi, Exp(-theta) = R' */
TEST(exp_is_a_rotation_about_its_vector)
{
    struct random random = {1};
    for (int i = 0; i < ANGLES; i++) {
        double theta[3], R[9], back[9], product[9], I[9], turned[3], z[3];
        random_vector(&random, angle(i), theta);
        const double y = dot3(theta, theta);
        const struct exp_coefficients e = rotation_exp_coefficients(y);
        rotation_exp(&e, theta, R);
        const double minus[3] = {-theta[0], -theta[1], -theta[2]};
        rotation_exp(&e, minus, back);
        matmul3(R, back, product);
        identity3(I);
        CHECK_NEAR(largest(9, product, I), 0, 16 * DBL_EPSILON);
        mul3(R, theta, turned);
        CHECK_NEAR(largest(3, turned, theta), 0, 8 * DBL_EPSILON * sqrt(y));
        CHECK_NEAR(R[0] + R[4] + R[8], 1 + 2 * cos(sqrt(y)), 16 * DBL_EPSILON);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) CHECK_NEAR(R[3 * r + c], back[3 * c + r], 16 * DBL_EPSILON);
        const double first[3] = {R[0], R[3], R[6]}, second[3] = {R[1], R[4], R[7]}, third[3] = {R[2], R[5], R[8]};
        cross3(first, second, z);
        CHECK_NEAR(largest(3, z, third), 0, 16 * DBL_EPSILON);
    }
}

static void rotation_at(const double *theta, const double *td, double t, double *R)
{
    double moved[3];
    copy3(theta, moved);
    axpy3(t, td, moved);
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(moved, moved));
    rotation_exp(&e, moved, R);
}

static void rate_at(const double *theta, const double *td, double t, double *w)
{
    double moved[3];
    copy3(theta, moved);
    axpy3(t, td, moved);
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(moved, moved));
    rotation_rate(&e, moved, td, w, NULL);
}

/* dR/dt = [w]x R and dw/dt = wd along theta + td t, by sixth-order differences: h^6/140 against eps/h, 1e-12 with h = 4e-3;
   w = Jl td */
TEST(rates_are_derivatives)
{
    static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    struct random random = {2};
    const double h = 4e-3;
    for (int i = 0; i < ANGLES; i++) {
        double theta[3], td[3], R[9], plus[9], minus[9], dR[9] = {0}, dw[3] = {0}, w[3], wd[3], Jl[9], Jltd[3], spin[9],
                                                         expected[9];
        random_vector(&random, fmin(angle(i), 6), theta);
        random_vector(&random, 1, td);
        const struct exp_coefficients e = rotation_exp_coefficients(dot3(theta, theta));
        rotation_exp(&e, theta, R);
        rotation_rate(&e, theta, td, w, wd);
        rotation_left_jacobian(&e, theta, Jl);
        mul3(Jl, td, Jltd);
        CHECK_NEAR(largest(3, w, Jltd), 0, 16 * DBL_EPSILON);
        for (int k = 1; k <= 3; k++) {
            rotation_at(theta, td, k * h, plus);
            rotation_at(theta, td, -k * h, minus);
            for (int j = 0; j < 9; j++) dR[j] += weight[k - 1] * (plus[j] - minus[j]) / h;
            rate_at(theta, td, k * h, plus);
            rate_at(theta, td, -k * h, minus);
            for (int j = 0; j < 3; j++) dw[j] += weight[k - 1] * (plus[j] - minus[j]) / h;
        }
        skew3(w, spin);
        matmul3(spin, R, expected);
        CHECK_NEAR(largest(9, dR, expected), 0, 1e-12);
        CHECK_NEAR(largest(3, dw, wd), 0, 1e-12);
    }
}

/* R = Rz(yaw) Ry(pitch) Rx(roll), each an Exp about its axis */
TEST(rpy_is_three_turns)
{
    struct random random = {3};
    for (int i = 0; i < 20; i++) {
        double rpy[3], R[9], turn[3][9], zy[9], zyx[9];
        for (int k = 0; k < 3; k++) {
            double axis[3] = {0};
            rpy[k] = axis[k] = uniform(&random, -4, 4);
            const struct exp_coefficients e = rotation_exp_coefficients(rpy[k] * rpy[k]);
            rotation_exp(&e, axis, turn[k]);
        }
        matmul3(turn[2], turn[1], zy);
        matmul3(zy, turn[0], zyx);
        rotation_rpy(rpy, R);
        CHECK_NEAR(largest(9, R, zyx), 0, 16 * DBL_EPSILON);
    }
}

/* In units of the last place of the result: the reduced angle is off by one unit, and the polynomial with its sum by another */
static double units(double found, long double exact)
{
    const double near = fabs((double)exact);
    return (double)fabsl(found - exact) / (nextafter(near, 2) - near);
}

/* Of all sizes, and beside multiples of a quarter turn, where the reduction cancels most */
TEST(sines_in_lanes)
{
    struct random random = {17};
    for (int i = 0; i < 200000; i++) {
        double x[LANES], s[LANES], c[LANES];
        lanes sine, cosine;
        for (int l = 0; l < LANES; l++) {
            const double size = fmin(MOST_ANGLE, pow(10, uniform(&random, -9, 5)));
            x[l] = uniform(&random, -size, size);
            if (i % 4 == 0) x[l] = 1e-9 * x[l] / size + 2 * atan(1) * floor(uniform(&random, -6e4, 6e4));
        }
        sincos_lanes(load(x), &sine, &cosine);
        store(s, sine);
        store(c, cosine);
        for (int l = 0; l < LANES; l++) {
            CHECK_NEAR(units(s[l], sinl(x[l])), 0, 2.5);
            CHECK_NEAR(units(c[l], cosl(x[l])), 0, 2.5);
        }
    }
}

SUITE(math_rotation_test)
