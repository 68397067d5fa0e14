/* Robots with closed loops: a specimen, loops added to it, and the equations of the loops written down a second time. */
#ifndef SUPPORT_CLOSED_H
#define SUPPORT_CLOSED_H

#include "mech/mechanism.h"
#include "oracle/slopes.h"

enum { MOST_ROWS = 40, ANY_LOOP = -1 };

struct closed {
    struct specimen s;
};

/* Adds `count` loops of a type, or of any, between random links of a random robot; sometimes one end is the ground. With `met`
   the loops are closed in the specimen's state, their rates too; otherwise they are anywhere. Equations are chosen. Nonzero
   when it worked. */
int closed_random(struct closed *closed, int seed, int type, int count, bool met);

/* Adds line actuators with random forces between points of random links and of the world, no shorter than 0.3 m; the state stays,
   equations are chosen anew. */
int closed_add_actuators(struct closed *closed, struct random *random, int count);
int closed_read(struct closed *closed, const char *text); /* at zero; all constraints active */
void closed_free(struct closed *closed);

/* Gap, its rate and its acceleration at (q, qd) for the accelerations qdd, by rows: directions and positions differentiated as
   they stand in model.md. Arrays may be NULL. */
void closed_gap(struct closed *closed, const double *qd, const double *qdd, double *gap, double *rate,
                double *acceleration);

/* G of all rows, n_rows x nv: column j is the rate of the gap for qd = e_j. */
void closed_jacobian(struct closed *closed, double *G);

/* Forward dynamics with the dense system  [M -G'; G 0] (qdd; lambda)  of the free velocities and the active rows, by elimination
   in extended precision. Nonzero when it is regular. */
int closed_dense(struct closed *closed, double *qdd, double *lambda);

/* |M^-1 G'| of every row: the acceleration that a unit of its multiplier makes, 0 of rows left out. After mechanism_forward(). */
void closed_units(const struct closed *closed, double *unit);

/* The smallest pivot of S in units of its diagonal: how nearly one equation follows from the others. Likewise. */
double closed_independence(const struct closed *closed);

/* Rank of the free columns of G in the metric of M^-1, by elimination with complete pivoting in extended precision. */
int closed_rank(struct closed *closed);

#endif
