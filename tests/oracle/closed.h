/* Robots with closed loops and couplings: a specimen, loops added to it, and the equations of the loops written down a second time. */
#ifndef ORACLE_CLOSED_H
#define ORACLE_CLOSED_H

#include "mech/mechanism.h"
#include "oracle/slopes.h"

enum { MOST_ROWS = 40, ANY_LOOP = -1 };

/* Adds `count` loops of a type, or of any, between random links of a random robot; sometimes one end is the ground. With `met`
   the loops are closed in the specimen's state, their rates too; otherwise they are anywhere. Equations are chosen. Nonzero
   when it worked. */
int closed_random(struct specimen *s, int seed, int type, int count, bool met);

/* Adds lines with random forces between points of random links and of the world, no shorter than 0.3 m; the state stays,
   equations are chosen anew. */
int closed_add_lines(struct specimen *s, struct random *random, int count);

/* Adds a rigid coupling and two elastic ones, one of them with backlash, each of up to three random coordinates; of a robot without
   coordinates none. With `met` the rigid one holds in the specimen's state, its rate too; that changes the state. Equations are chosen
   anew. */
int closed_add_couplings(struct specimen *s, struct random *random, bool met);

/* The value of a coupling at positions q, without its offset, or its rate or acceleration at (derivative 1) velocities or accelerations. */
double closed_coupling(const struct specimen *s, const struct coupling *coupling, int derivative, const double *x);

/* Gap, its rate and its acceleration at (q, qd) for the accelerations qdd, by rows: directions and positions differentiated as
   they stand in model.md. Arrays may be NULL. */
void closed_gap(struct specimen *s, const double *qd, const double *qdd, double *gap, double *rate,
                double *acceleration);

/* G of all rows, n_rows x nv: column j is the rate of the gap for qd = e_j. */
void closed_jacobian(struct specimen *s, double *G);

/* Forward dynamics with the dense system  [M -G'; G 0] (qdd; lambda)  of the free velocities and the active rows, by elimination
   in extended precision. Nonzero when it is regular. */
int closed_dense(struct specimen *s, double *qdd, double *lambda);

/* |M^-1 G'| of every row: the acceleration that a unit of its multiplier makes, 0 of rows left out. After mechanism_forward(). */
void closed_units(const struct specimen *s, double *unit);

/* The smallest pivot of S in units of its diagonal: how nearly one equation follows from the others. Likewise. */
double closed_independence(const struct specimen *s);

/* Rank of the free columns of G in the metric of M^-1, by elimination with complete pivoting in extended precision. */
int closed_rank(struct specimen *s);

#endif
