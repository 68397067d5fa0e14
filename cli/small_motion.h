/* Small motions about a state: M x'' + (G + D) x' + K x = 0, x the change of the coordinates that are kept; the others keep
 * position and rate. The bias h of M qdd + h = Q splits into h_0 + (damping and friction), and
 *     K = dh_0/dq,   G = dh_0/dqd,   D = d(h - h_0)/dqd
 * by the tangent of the recursion, exact, at qdd = 0 (prescribed joints: as given): as if forces held the state. The tip wrench
 * counts with h, for its share changes with q.
 *
 * Loops, G_l x = 0, leave x = N y (independent.h): y has as many numbers as there are independent motions, and N'MN and so on are their
 * matrices. K then has the change of -G_l' lambda too, lambda held: that of the forward dynamics at the state, with the joints held
 * that are not kept. In motion N changes with time, which is left out. */
#ifndef CLI_SMALL_MOTION_H
#define CLI_SMALL_MOTION_H

#include "independent.h"
#include "mech/mechanism.h"

/* One model with what is needed to differentiate it. */
struct differentiated {
    struct mechanism mechanism;
    double *by_q, *by_qd; /* n columns of n: change of Q - ID */
};

struct small_motion {
    int n;                 /* coordinates kept                              */
    int *coordinate;       /* n: their numbers in q                         */
    double *M, *G, *D, *K; /* n x n by columns                              */
    double moment_rate;    /* largest |hinge moment| / M_jj of kept joints [1/s^2]: K's rounding, where K cancels */

    int r;         /* independent motions                             */
    double *N;     /* n x r, row major: x = N y; NULL: x = y          */
    int *free_one; /* r: y among the kept coordinates                 */
    struct {
        double *M, *G, *D, *K;
    } reduced; /* r x r by columns: N'MN, ...; without loops M, ... themselves */

    struct robot held,
        undamped; /* the robot with joints that are not kept prescribed; and damping and friction at zero */
    struct differentiated full, bare; /* held; undamped, with loops and loads of the first              */
    double *qdd, *force;              /* n of the model                                                 */
    double *prescribed_qdd;           /* of the held robot                                              */
    double *rows;                     /* equations x n: G_l of the kept coordinates                     */
    double *product;                  /* n x n                                                          */
    int *row_of;                      /* n                                                              */
    enum solve_for *wish;             /* n                                                              */
    struct arena arena;
};

/* Coordinates kept: elastic ones and passive joints, with joints_free also the driven joints. The model must outlive it;
   small_motion_free() also after a failure. */
enum status small_motion_make(const struct model *model, bool joints_free, struct small_motion *motion);
void small_motion_free(struct small_motion *motion);

/* Fills all of it at a state, which is on the loops. STATUS_NOT_FINITE: numbers overflow. */
enum status small_motion_at(struct small_motion *motion, const struct model *model, const struct input *in);

#endif
