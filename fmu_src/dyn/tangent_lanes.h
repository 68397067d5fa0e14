/* Vectors in which each lane is one direction. */
#ifndef DYN_TANGENT_LANES_H
#define DYN_TANGENT_LANES_H

#include "math/lanes.h"

/* c += a x b, one factor the same in all lanes */
INLINE void add_cross_right(const lanes *a, const double *b, lanes *c)
{
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

INLINE void add_cross_left(const double *a, const lanes *b, lanes *c)
{
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

/* y += s x */
INLINE void add_scaled(int count, const double *x, lanes s, lanes *y)
{
    for (int i = 0; i < count; i++) y[i] += s * x[i];
}

/* a . x, a the same in all lanes */
INLINE lanes dot_lanes(int count, const double *a, const lanes *x)
{
    lanes sum = {0};
    for (int i = 0; i < count; i++) sum += a[i] * x[i];
    return sum;
}

/* Element i of `count` columns of n, one column per lane; missing columns are zero */
INLINE lanes load_columns(int count, int n, int i, const double *columns)
{
    double lane[LANES] = {0};
    for (int l = 0; l < count; l++) lane[l] = columns[(size_t)n * (size_t)l + (size_t)i];
    return load(lane);
}

INLINE void store_columns(lanes value, int count, int n, int i, double *columns)
{
    double lane[LANES];
    store(lane, value);
    for (int l = 0; l < count; l++) columns[(size_t)n * (size_t)l + (size_t)i] = lane[l];
}

#endif
