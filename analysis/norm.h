/* Norms of vectors. */
#ifndef ANALYSIS_NORM_H
#define ANALYSIS_NORM_H

#include <math.h>

#include "math/dense.h"

static inline double euclidean_norm(int n, const double *x)
{
    return sqrt(dense_dot(n, x, x));
}

static inline double largest_norm(int n, const double *x)
{
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

#endif
