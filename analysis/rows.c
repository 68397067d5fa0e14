#include "analysis/rows.h"

#include <math.h>
#include <stddef.h>

enum { STENCIL = 5 };

/* ---- derivatives at rows ----------------------------------------------------------------------------------------------- */

/* c[k] = x[t_0, ..., t_k], divided differences */
static void divided_differences(int n, const double *t, const double *x, double c[STENCIL])
{
    for (int k = 0; k < n; k++) c[k] = x[k];
    for (int order = 1; order < n; order++)
        for (int k = n - 1; k >= order; k--) c[k] = (c[k] - c[k - 1]) / (t[k] - t[k - order]);
}

void rows_differentiate(int n, const double *t, const double *x, double *first, double *second)
{
    const int used = n < STENCIL ? n : STENCIL;
    for (int i = 0; i < n; i++) {
        int from = i - STENCIL / 2;
        if (from > n - used) from = n - used;
        if (from < 0) from = 0;
        double c[STENCIL], p, d = 0, dd = 0;
        divided_differences(used, t + from, x + from, c);
        p = c[used - 1];
        /* Horner in Newton's form: p = c_0 + (t - t_0)(c_1 + (t - t_1)(...)), with its derivatives */
        for (int k = used - 2; k >= 0; k--) {
            const double s = t[i] - t[from + k];
            dd = dd * s + 2 * d;
            d = d * s + p;
            p = p * s + c[k];
        }
        first[i] = d;
        if (second != NULL) second[i] = dd;
    }
}

/* ---- cubic spline ------------------------------------------------------------------------------------------------------ */

/* Right-hand side of the equation of an end, where the third derivative is continuous at the next row. h0, s0 and h1, s1 are
   lengths and slopes of the first and second interval as seen from the end:
   h1 d_0 + (h0 + h1) d_1 = ((3 h0 + 2 h1) h1 s0 + h0^2 s1) / (h0 + h1) */
static double end_equation(double h0, double h1, double s0, double s1)
{
    return ((3 * h0 + 2 * h1) * h1 * s0 + h0 * h0 * s1) / (h0 + h1);
}

void rows_spline(int n, const double *t, const double *x, double *slope, double *work)
{
    if (n <= 3) {
        rows_differentiate(n, t, x, slope, NULL);
        return;
    }
    double *upper = work; /* of the matrix after elimination, with 1 on the diagonal */
    double h = t[1] - t[0], s = (x[1] - x[0]) / h;
    for (int i = 0; i < n; i++) {
        /* interior: h_i d_{i-1} + 2 (h_{i-1} + h_i) d_i + h_{i-1} d_{i+1} = 3 (h_i s_{i-1} + h_{i-1} s_i) */
        double lower, diagonal, above, right;
        if (i == 0) {
            const double h1 = t[2] - t[1], s1 = (x[2] - x[1]) / h1;
            lower = 0, diagonal = h1, above = h + h1, right = end_equation(h, h1, s, s1);
        } else if (i == n - 1) {
            const double h1 = t[n - 2] - t[n - 3], s1 = (x[n - 2] - x[n - 3]) / h1;
            lower = h + h1, diagonal = h1, above = 0, right = end_equation(h, h1, s, s1);
        } else {
            const double before = h, s_before = s;
            h = t[i + 1] - t[i], s = (x[i + 1] - x[i]) / h;
            lower = h, diagonal = 2 * (before + h), above = before, right = 3 * (h * s_before + before * s);
        }
        const double pivot = diagonal - (i > 0 ? lower * upper[i - 1] : 0);
        upper[i] = above / pivot;
        slope[i] = (right - (i > 0 ? lower * slope[i - 1] : 0)) / pivot;
    }
    for (int i = n - 2; i >= 0; i--) slope[i] -= upper[i] * slope[i + 1];
}

/* ---- integrals --------------------------------------------------------------------------------------------------------- */

/* Integral of the cubic with values v0, v1 and slopes a0, a1 over h */
static double cubic_integral(double h, double v0, double v1, double a0, double a1)
{
    return h * (v0 + v1) / 2 + h * h * (a0 - a1) / 12;
}

void rows_integrate(int n, const double *t, const double *v, const double *a, double *x)
{
    for (int i = 1; i < n; i++) x[i] = x[i - 1] + cubic_integral(t[i] - t[i - 1], v[i - 1], v[i], a[i - 1], a[i]);
}

void rows_integrate_linear(int n, const double *t, const double *a, double *v)
{
    for (int i = 1; i < n; i++) v[i] = v[i - 1] + (t[i] - t[i - 1]) * (a[i - 1] + a[i]) / 2;
}

/* ---- between rows ------------------------------------------------------------------------------------------------------ */

double rows_cubic_at(double h, double s, double y0, double y1, double d0, double d1)
{
    const double r = 1 - s;
    return r * r * ((1 + 2 * s) * y0 + s * h * d0) + s * s * ((1 + 2 * r) * y1 - r * h * d1);
}

/* x = A + integral of the cubic v0 + h a0 s + c2 s^2 + c3 s^3 through the rates + gap w(s), where `gap` is the change of
   position that the integral lacks, and w = 10 s^3 - 15 s^4 + 6 s^5, whose first two derivatives are zero at both ends */
void rows_quintic_at(double h, double s, const double A[3], const double B[3], double x[3])
{
    if (s <= 0 || s >= 1) {
        for (int d = 0; d < 3; d++) x[d] = s <= 0 ? A[d] : B[d];
        return;
    }
    const double r = 1 - s, dv = B[1] - A[1], gap = B[0] - A[0] - cubic_integral(h, A[1], B[1], A[2], B[2]);
    const double c1 = h * A[2], c2 = 3 * dv - h * (2 * A[2] + B[2]), c3 = h * (A[2] + B[2]) - 2 * dv;
    x[0] = A[0] + h * s * (A[1] + s * (c1 / 2 + s * (c2 / 3 + s * c3 / 4))) + gap * s * s * s * (10 + s * (6 * s - 15));
    x[1] = A[1] + s * (c1 + s * (c2 + s * c3)) + gap / h * 30 * s * s * r * r;
    x[2] = A[2] + s * (2 * c2 + 3 * s * c3) / h + gap / (h * h) * 60 * s * r * (r - s);
}

/* ---- kinks --------------------------------------------------------------------------------------------------------------- */

/* The last row of the straight piece that starts at row i. A row k in between allows slopes (x_k - x_i +- tolerance)/(t_k - t_i);
   the slope to the last row must be allowed by all of them. */
static int straight_piece(int n, const double *t, const double *x, double tolerance, int i)
{
    double least = -INFINITY, most = INFINITY;
    for (int j = i + 1; j < n; j++) {
        const double slope = (x[j] - x[i]) / (t[j] - t[i]), spread = tolerance / (t[j] - t[i]);
        if (slope < least || slope > most) return j - 1;
        least = fmax(least, slope - spread);
        most = fmin(most, slope + spread);
    }
    return n - 1;
}

void rows_kinks(int n, const double *t, const double *x, double tolerance, bool *kink)
{
    double length = 0, slope = 0;
    for (int i = 0; i < n - 1;) {
        const int end = straight_piece(n, t, x, tolerance / 4, i);
        const double L = t[end] - t[i], next = (x[end] - x[i]) / L;
        if (i > 0 && fabs(next - slope) * fmax(L, length) / 8 > tolerance) kink[i] = true;
        length = L, slope = next;
        i = end;
    }
}
