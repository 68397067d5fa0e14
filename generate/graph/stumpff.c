#include "generate/graph/stumpff.h"

#include <math.h>

double stumpff_inverse_factorial(int k)
{
    double f = 1;
    for (int i = 2; i <= k; i++) f /= i;
    return f;
}

double stumpff_value(int k, double y)
{
    if (y < STUMPFF_LARGE) {
        const int terms = y < STUMPFF_SMALL ? STUMPFF_FEW : STUMPFF_MANY;
        double sum = stumpff_inverse_factorial(2 * (terms - 1) + k);
        for (int j = terms - 2; j >= 0; j--) sum = stumpff_inverse_factorial(2 * j + k) - y * sum;
        return sum;
    }
    const double phi = sqrt(y);
    double s = k % 2 == 0 ? cos(phi) : sin(phi) / phi;
    for (int j = k % 2; j < k; j += 2) s = (stumpff_inverse_factorial(j) - s) / y; /* S_(j+2) from S_j */
    return s;
}
