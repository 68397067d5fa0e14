/* Ruthless beams with many modes. The modal mass M0 is constant, so it is factored once; the inertia at the tip is an update of
   rank six at most (theory.md 40 to 40d; Jain and Rodriguez 76 to 78). With S of S M0 S' = 1, the modes that move the tip span a
   few orthonormal columns Q_1, and the rest of the coupling to the hinge is Y_2:
       S B_t' = Q_1 B_1',   S M_rf' = Q_1 mu_1' + Y_2,   Q_1' Y_2 = 0                                              (40)
   so n <= 6 coordinates xi_1 are eliminated as modes of mass 1, and the others by constant matrices. */
#ifndef DYN_UPDATED_H
#define DYN_UPDATED_H

#include "dyn/work.h"

enum {
    /* number of modes in addition to those that move the tip, from which this takes fewer instructions than direct elimination:
       by callgrind on bench/arms.py with 8 links, n = 2, 4, 6, orthogonal and other shapes, the two are equal at 3 to 4 */
    UPDATE_FROM = 4,
    FAMILIES = 4, /* of modes: along y, along z, twist, axial */
    MOST_TIP_MODES = 6,
};

/* Four numbers per mode of a family: its rows of Q_1 (two columns at most), of Y_2 about the rotation axis and along the other */
enum { Q_FIRST, Q_SECOND, Y_TURN, Y_MOVE, PER_MODE };

struct updated_storage;

struct updated {
    struct updated_storage *storage; /* the arrays below and scratch memory, writable, for updated_again() */
    /* S = Delta0^-1/2 L0^-1 */
    const double *scale; /* PADDED(m): its diagonal         */
    const double *St;    /* m rows of PADDED(m): S'         */
    const int *end;      /* m: end of row k of S'           */
    bool orthogonal;     /* M0 and S are diagonal           */
    /* by modes */
    const double (*QY)[PER_MODE]; /* m */
    /* by columns of Q_1, family by family */
    int n;
    int start[FAMILIES + 1]; /* columns of a family: [start[b], start[b+1])                 */
    int at[MOST_TIP_MODES];  /* PER_MODE times the family, plus the column's index in it     */
    int turn[MOST_TIP_MODES], axis[MOST_TIP_MODES];
    double lambda[MOST_TIP_MODES], phi[MOST_TIP_MODES];  /* B_1:  (lambda e_turn; phi e_axis)     */
    double about[MOST_TIP_MODES], along[MOST_TIP_MODES]; /* mu_1: (about e_turn; along e_axis)    */
    struct section tip; /* B_1 as a section                                            */
    double unit[MOST_TIP_MODES * PADDED(MOST_TIP_MODES)]; /* 1, n rows of PADDED(n)                */
    /* Y_2' Y_2 in F axes: A and C diagonal, of B the entries yz and zy */
    double A[3], C[3], Byz, Bzy;
};

/* Stored by updated_gather() for updated_spread(). */
struct updated_residual {
    double share[FAMILIES * PER_MODE]; /* (Q_1 Y_2)' e, by families      */
    double e1[MOST_TIP_MODES];         /* L_1^-1 times residuals of xi_1 */
};

struct updated_work {
    /* by updated_articulate() */
    double J1[MOST_TIP_MODES][SIX];         /* velocity of T per xi_1        */
    double J1t[6 * PADDED(MOST_TIP_MODES)]; /* the same by rows of PADDED(n) */
    double mu1[MOST_TIP_MODES][SIX];        /* world axes                    */
    struct updated_residual residual;
};

/* For a plain beam on which nothing acts but on O and on the tip. NULL if fewer than `from` modes remain in addition to those that move the tip, or if none moves it. */
enum status updated_make(const struct body *body, int from, struct arena *arena, const struct updated **made);

/* The same again in the same memory, after body_set_added_mass(). */
void updated_again(const struct body *body, const struct updated *updated);

/* For such a link, instead of articulate_modes(), gather_modes(), spread_modes() of articulated.c. */
int updated_articulate(const struct link_model *lm, struct link_work *w);
void updated_gather(const struct link_model *lm, struct link_work *w);
void updated_spread(const struct link_model *lm, struct link_work *w, double *etadd);

#endif
