/* Errors are folded with this, never with fmax(), which ignores NaN. */
#ifndef ORACLE_LARGER_H
#define ORACLE_LARGER_H

#include <math.h>

static inline double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

#endif
