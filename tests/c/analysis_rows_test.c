/* Curves through rows: each reproduces the polynomials of its degree, has its order of convergence, and kinks are found where they
   are. Rows are unevenly spaced. */
#include "test.h"

#include "analysis/rows.h"

enum { MOST = 2001 };

/* p and its first two derivatives, for a polynomial with `degree` + 1 coefficients */
static void polynomial(int degree, double t, double p[3])
{
    static const double c[6] = {0.7, -1.2, 0.9, 2.1, -1.4, 0.6};
    p[0] = p[1] = p[2] = 0;
    for (int k = degree; k >= 0; k--) {
        p[2] = p[2] * t + 2 * p[1];
        p[1] = p[1] * t + p[0];
        p[0] = p[0] * t + c[k];
    }
}

static void uneven_rows(int n, double *t)
{
    for (int i = 0; i < n; i++) t[i] = (i + 0.3 * sin(2.0 * i)) / (n - 1);
}

TEST(quintics_are_reproduced)
{
    const double from = 0.4, h = 0.7;
    double A[3], B[3], x[3], want[3];
    polynomial(5, from, A);
    polynomial(5, from + h, B);
    for (int i = 0; i <= 20; i++) {
        rows_quintic_at(h, i / 20.0, A, B, x);
        polynomial(5, from + h * i / 20.0, want);
        for (int d = 0; d < 3; d++) CHECK_NEAR(x[d], want[d], 1e-13);
    }
    rows_quintic_at(h, 1, A, B, x);
    for (int d = 0; d < 3; d++) CHECK(x[d] == B[d]);
}

/* Derivatives of quartics and splines of cubics are exact; of few rows, those of the polynomial through them */
TEST(polynomials_are_reproduced)
{
    for (int n = 1; n <= 9; n++)
        for (int highest = 3; highest <= 4; highest++) {
            const int degree = n <= highest ? n - 1 : highest;
            double t[9] = {0}, x[9], first[9], second[9], p[3];
            if (n > 1) uneven_rows(n, t);
            for (int i = 0; i < n; i++) {
                polynomial(degree, t[i], p);
                x[i] = p[0];
            }
            rows_differentiate(n, t, x, first, second);
            for (int i = 0; i < n; i++) {
                polynomial(degree, t[i], p);
                CHECK_NEAR(first[i], p[1], 1e-11);
                CHECK_NEAR(second[i], p[2], 1e-9);
            }
            if (highest == 4 || n < 2) continue;
            rows_spline(n, t, x, first, second);
            for (int i = 0; i + 1 < n; i++) {
                const double h = t[i + 1] - t[i];
                polynomial(degree, t[i] + 0.3 * h, p);
                CHECK_NEAR(rows_cubic_at(h, 0.3, x[i], x[i + 1], first[i], first[i + 1]), p[0], 1e-13);
            }
        }
}

/* A rate that is cubic between rows has its exact integral, an acceleration that is linear too */
TEST(integrals_are_exact)
{
    double t[7], q[7] = {0.7}, qd[7], qdd[7], rate[7], line[7], p[3];
    uneven_rows(7, t);
    for (int i = 0; i < 7; i++) {
        polynomial(4, t[i] - t[0], p);
        qd[i] = p[1], qdd[i] = p[2];
        line[i] = 2 + 3 * t[i];
    }
    rows_integrate(7, t, qd, qdd, q);
    rate[0] = 2 * t[0] + 1.5 * t[0] * t[0];
    rows_integrate_linear(7, t, line, rate);
    for (int i = 0; i < 7; i++) {
        polynomial(4, t[i] - t[0], p);
        CHECK_NEAR(q[i], p[0], 1e-13);
        CHECK_NEAR(rate[i], 2 * t[i] + 1.5 * t[i] * t[i], 1e-13);
    }
}

/* A polygon that is given by many rows has its corners alone; a smooth curve has none; a coarse one has all */
TEST(kinks_are_found_where_they_are)
{
    static double t[MOST], x[MOST];
    static bool kink[MOST];
    for (int i = 0; i < MOST; i++) {
        t[i] = i / 200.0;
        x[i] = fabs(t[i] - 3) - 0.5 * fabs(t[i] - 7.5);
    }
    rows_kinks(MOST, t, x, 1e-6, kink);
    for (int i = 0; i < MOST; i++) CHECK(kink[i] == (i == 600 || i == 1500));

    for (int coarse = 0; coarse < 2; coarse++) {
        int found = 0;
        const int n = coarse ? 51 : MOST;
        for (int i = 0; i < n; i++) {
            t[i] = 10.0 * i / (n - 1);
            x[i] = sin(t[i]);
            kink[i] = false;
        }
        rows_kinks(n, t, x, 1e-5, kink);
        for (int i = 0; i < n; i++) found += kink[i];
        CHECK(coarse ? found > 40 : found == 0);
    }
}

/* Rows that creep away from a line by less than the tolerance each do not add up: no piece is further than the tolerance / 4 from
   its rows, so a parabola has pieces, and a corner of many small kinks is found */
TEST(small_kinks_do_not_add_up)
{
    static double t[MOST], x[MOST];
    static bool kink[MOST];
    int found = 0;
    for (int i = 0; i < MOST; i++) {
        const double s = (i - 1000) / 10.0; /* the corner is round over 10 rows */
        t[i] = i / 10.0;
        x[i] = s < 0 ? 0 : s > 1 ? s - 0.5 : s * s / 2;
        kink[i] = false;
    }
    rows_kinks(MOST, t, x, 0.05, kink);
    for (int i = 0; i < MOST; i++) {
        found += kink[i];
        CHECK(!kink[i] || (i >= 995 && i <= 1015));
    }
    CHECK(found > 0);
}

SUITE(analysis_rows_test)
