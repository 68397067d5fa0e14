#include "flex/quadrature.h"

#include <math.h>

/* P_n and P_n' at x:  (i+1) P_{i+1} = (2i+1) x P_i - i P_{i-1},   (x^2 - 1) P_n' = n (x P_n - P_{n-1}) */
static double legendre(int n, double x, double *derivative)
{
    double previous = 1, P = x;
    for (int i = 1; i < n; i++) {
        const double next = ((2 * i + 1) * x * P - i * previous) / (i + 1);
        previous = P;
        P = next;
    }
    *derivative = n * (x * P - previous) / ((x - 1) * (x + 1));
    return P;
}

void gauss_legendre(double node[GAUSS_POINTS], double weight[GAUSS_POINTS])
{
    const int n = GAUSS_POINTS;
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < n / 2; i++) {
        double x = cos(pi * (i + 0.75) / (n + 0.5)), dP; /* the i-th zero from the top, to 1e-3 or better */
        for (int step = 0; step < 6; step++) x -= legendre(n, x, &dP) / dP;
        legendre(n, x, &dP);
        node[i] = (1 - x) / 2;
        node[n - 1 - i] = (1 + x) / 2;
        weight[i] = weight[n - 1 - i] = 1 / ((1 - x) * (1 + x) * dP * dP);
    }
}
