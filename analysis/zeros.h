/* Transmission zeros from one input to one output of a linearized robot. */
#ifndef ANALYSIS_ZEROS_H
#define ANALYSIS_ZEROS_H

#include "analysis/invariant_zeros.h"
#include "analysis/linear.h"

/* Zeros and poles by modulus; pairs that cancel at the origin are removed. Numbers below sqrt(10 n eps) W, n states and W a bound
   of the frequencies, are 0. */
struct zeros {
    int n_zeros, n_poles;
    struct complex_number *zero, *pole; /*                                           [1/s] */
    int relative_degree;                /* n_poles - n_zeros                               */
    double gain;                        /* of prod (s - z) / prod (s - p)                  */
    bool minimum_phase;                 /* no zero has re > 1e-6 |z|                       */
};

/* For input u and output y, as numbered in `linear`, with memory of its point; a closed robot must be in minimal coordinates. Problems
   are reported. STATUS_ZERO_TRANSFER: the input does not act on the output. */
enum status zeros_make(const struct linear *linear, int u, int y, struct report *report, struct zeros *zeros);

/* G(i w) = gain prod (i w - z) / prod (i w - p): its modulus and its phase [rad], which is continuous in w > 0 except where a zero or
   pole is on the imaginary axis. */
void zeros_bode(const struct zeros *zeros, double omega, double *magnitude, double *phase);

/* By modulus, then real part. */
void zeros_sort(struct complex_number *z, int count);

#endif
