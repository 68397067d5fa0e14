/* Invariant zeros of a system with one input and one output,  dx/dt = A x + b u,  y = c x + d u. */
#ifndef CLI_INVARIANT_ZEROS_H
#define CLI_INVARIANT_ZEROS_H

struct siso {
    int n;
    double *A, *b, *c, d; /* n x n row major, n, n                                                       */
    double size_A;        /* what the numbers of A, b and c are known against: rounding is a share of it */
    double size_b, size_c;
};

struct complex_number {
    double re, im;
};

/* Where the direct term of a coefficient is rounding, as a share of its size */
#define COEFFICIENT_SHARE 1e-10

enum zeros_result { ZEROS_FOUND, ZEROS_EVERYWHERE, ZEROS_FAILED };

/* Finite zeros into zero[n], their number, and the gain of prod (s - z) / prod (s - p). ZEROS_EVERYWHERE: the transfer function is
   identically zero. The system is used up; `work` has 2 n^2 + 5 n + 5 numbers. */
enum zeros_result invariant_zeros(struct siso *system, double *work, struct complex_number *zero, int *count,
                                  double *gain);

/* Of A, the poles, into pole[n]; `work` as above. Nonzero on failure. */
int eigenvalues(const struct siso *system, double *work, struct complex_number *pole);

/* Euclidean */
double length(int n, const double *x);

#endif
