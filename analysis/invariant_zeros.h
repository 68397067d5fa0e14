/* Invariant zeros of a system with one input and one output,  dx/dt = A x + b u,  y = c x + d u. */
#ifndef ANALYSIS_INVARIANT_ZEROS_H
#define ANALYSIS_INVARIANT_ZEROS_H

#include "base/arena.h"
#include "base/status.h"

struct siso {
    int n;
    double *A, *b, *c, d; /* n x n row major, n, n                                       */
    double size_A;        /* sizes of A, b and c: rounding errors are a fraction of them */
    double size_b, size_c;
};

struct complex_number {
    double re, im;
};

/* A direct term or a vector below this fraction of its size is rounding */
#define COEFFICIENT_FRACTION 1e-10

/* The finite zeros, at most n, into zero; their number; and the gain of prod (s - z) / prod (s - p). The system is overwritten.
   STATUS_ZERO_TRANSFER: the transfer function is identically zero; STATUS_NO_EIGENVALUES, STATUS_NO_MEMORY. */
enum status invariant_zeros(struct siso *system, struct arena *arena, struct complex_number *zero, int *count,
                            double *gain);

/* The eigenvalues of A, n poles. STATUS_NO_EIGENVALUES, STATUS_NO_MEMORY. */
enum status zeros_eigenvalues(int n, const double *A, struct arena *arena, struct complex_number *pole);

#endif
