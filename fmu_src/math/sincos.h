/* Sine and cosine of several angles at once, to 2.5 units in the last place: reduction by multiples of pi/2 in three parts (Cody and
   Waite), polynomials of fdlibm (k_sin.c, k_cos.c). */
#ifndef MATH_SINCOS_H
#define MATH_SINCOS_H

#include "math/lanes.h"

/* Up to this angle n has 20 bits at most, so that n times a part of pi/2 is exact. */
static const double MOST_ANGLE = 1e5;

/* The nearest integer: adding this number leaves no bits behind the point */
INLINE lanes nearest(lanes x)
{
    const double shift = 6755399441055744.0; /* 1.5 2^52 */
    return (x + shift) - shift;
}

/* For n = 0, 1, 2, 3 modulo 4:  0, 1, 0, -1 */
INLINE lanes quarter_sine(lanes n)
{
    return n - 2 * nearest(0.5 * n);
}

/* |angle| <= MOST_ANGLE */
INLINE void sincos_lanes(lanes angle, lanes *sine, lanes *cosine)
{
    const lanes n = nearest(angle * 6.36619772367581382433e-01);
    const lanes r =
        ((angle - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
    const lanes z = r * r, zz = z * z;
    const lanes odd = (-1.66666666666666324348e-01 + z * 8.33333333332248946124e-03) +
                      zz * ((-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) +
                            zz * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10));
    const lanes even = (4.16666666666666019037e-02 + z * -1.38888888888741095749e-03) +
                       zz * ((2.48015872894767294178e-05 + z * -2.75573143513906633035e-07) +
                             zz * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    const lanes s = r + r * z * odd, half = 0.5 * z, w = 1 - half, c = w + (((1 - w) - half) + zz * even);
    const lanes S = quarter_sine(n), C = quarter_sine(n + 1);
    *sine = C * s + S * c;
    *cosine = C * c - S * s;
}

#endif
