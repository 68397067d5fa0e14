/* The matrices of M qdd + C qd + K (q - rest) + damping + G = B tau at a state. */
#ifndef ANALYSIS_MATRICES_H
#define ANALYSIS_MATRICES_H

#include "mech/mechanism.h"

/* Row major. */
struct matrices {
    int n, n_tau, n_rows;
    double *M, *C, *K;           /* n x n                                                                       */
    double *G;                   /* n                                                                           */
    double *B;                   /* n x n_tau:  1 for the torque of a joint; zero for passive and prescribed joints */
    double *constraint_jacobian; /* n_rows x n: all equations of loops and rigid couplings, redundant ones too */
    struct arena arena;
};

/* All constraints of the mechanism are active (constraints_choose() was not called). The arena of the matrices is to be released in any case. */
enum status matrices_at(struct mechanism *m, const struct input *in, struct report *report, struct matrices *matrices);

#endif
