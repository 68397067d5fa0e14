/* Natural modes of M x'' + G x' + K x = 0, and the effect of the damping D. */
#ifndef ANALYSIS_EIGENMODES_H
#define ANALYSIS_EIGENMODES_H

#include "analysis/small_motion.h"

/* A solution x = Re(phi e^(lambda t)). There is one for each conjugate pair of lambda, and for the greater of two real lambda. */
struct mode {
    double frequency;     /* |Im lambda| / 2 pi                                                     [Hz]  */
    double growth;        /* Re lambda; positive: the undamped motion grows                         [1/s] */
    double damping_ratio; /* phi^H D phi / (2 w phi^H M phi), w = |Im lambda|; 0 if w = 0                 */
    double *re, *im;      /* n: y of phi = N y (without loops phi itself)                                 */
    double *share;        /* one per moving coordinate: |phi_i|^2 M_ii divided by the sum of all          */
};

struct eigenmodes {
    int n;               /* independent motions                                                             */
    struct mode *mode;   /* n, by frequency, then by falling growth                                         */
    struct mode *damped; /* n, in the same order: frequency and growth with damping; by eigenmodes_damp()   */
    int singular;        /* after STATUS_NOT_POSITIVE: index in y of the coordinate that caused it          */
    /* workspace, matrices by columns */
    double *S, *L;     /* n, n x n: S M S = L L', S = diag(M)^-1/2                      */
    double *K, *G, *D; /* n x n: S K S and so on, then L^-1 (.) L^-T of them            */
    double *companion; /* 2n x 2n                                                       */
    double *vector;    /* 2n x 2n                                                       */
    double *re, *im;   /* 2n: lambda                                                    */
    double **real;     /* 2n: those of re that belong to real lambda                    */
    size_t *column;    /* n: the index of each mode's lambda                            */
};

/* Allocates for up to n coordinates. */
enum status eigenmodes_make(int n, struct arena *arena, struct eigenmodes *modes);

/* STATUS_NOT_POSITIVE: M is singular, `singular` is its coordinate; STATUS_NOT_FINITE; STATUS_NO_EIGENVALUES. */
enum status eigenmodes_solve(const struct small_motion *motion, struct eigenmodes *modes);

/* lambda of M x'' + (G + D) x' + K x = 0. After eigenmodes_solve(). */
enum status eigenmodes_damp(const struct small_motion *motion, struct eigenmodes *modes);

/* By frequency, then by falling growth. */
void eigenmodes_sort(struct mode *mode, int n);

#endif
