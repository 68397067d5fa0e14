#include "analysis/bode.h"

#include <math.h>

/* The argument of i w - z, continuous in w */
static double argument(const struct complex_number *z, double omega)
{
    const double y = omega - z->im;
    return z->re <= 0 ? atan2(y, -z->re) : 2 * acos(0) - atan(y / z->re);
}

/* Logarithms: the products of many numbers would overflow */
void bode_at(const struct zeros *zeros, double omega, double *magnitude, double *phase)
{
    double sum = log(fabs(zeros->gain)), turn = zeros->gain < 0 ? 2 * acos(0) : 0;
    for (int i = 0; i < zeros->n_zeros; i++) {
        sum += log(hypot(zeros->zero[i].re, omega - zeros->zero[i].im));
        turn += argument(&zeros->zero[i], omega);
    }
    for (int i = 0; i < zeros->n_poles; i++) {
        sum -= log(hypot(zeros->pole[i].re, omega - zeros->pole[i].im));
        turn -= argument(&zeros->pole[i], omega);
    }
    *magnitude = exp(sum);
    *phase = turn;
}
