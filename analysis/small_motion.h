/* Small motions about a state: M x'' + (G + D) x' + K x = 0, where x is the deviation of the coordinates that move. All others keep
 * position and velocity. The bias h of M qdd + h = Q splits into h_0 + (damping and friction), and
 *     K = dh_0/dq,   G = dh_0/dqd,   D = d(h - h_0)/dqd
 * by the tangent of the recursion, exact, at qdd = 0 (prescribed joints: as given), as if forces held the state. The tip wrench is
 * part of h, because its generalized force changes with q.
 *
 * With loops, G_l x = 0, x = N y (independent.h): y are the independent motions, and N'MN and so on are their matrices. K then
 * includes the change of -G_l' lambda at constant lambda, which is that of the forward dynamics at the state with the joints locked
 * that do not move. The rate of change of N is neglected. */
#ifndef ANALYSIS_SMALL_MOTION_H
#define ANALYSIS_SMALL_MOTION_H

#include "analysis/independent.h"
#include "mech/mechanism.h"

/* A mechanism and its derivatives. */
struct differentiated {
    struct mechanism mechanism;
    double *by_q, *by_qd; /* n columns of n: change of Q - ID */
};

struct small_motion {
    int n;                 /* moving coordinates                                                         */
    int *coordinate;       /* n: their indices in q                                                      */
    double *M, *G, *D, *K; /* n x n by columns                                                           */
    double moment_rate;    /* scale of the rounding of K: largest |hinge moment| / M_jj of moving joints [1/s^2] */

    int r;         /* independent motions                    */
    double *N;     /* n x r, row major: x = N y; NULL: x = y */
    int *free_one; /* r: y among the moving coordinates      */
    struct {
        double *M, *G, *D, *K;
    } reduced; /* r x r by columns: N'MN, ...; without loops M, ... themselves */

    struct robot *locked;             /* the robot, in which joints that do not move are prescribed       */
    struct robot *undamped;           /* the same with damping and friction zero                         */
    struct differentiated full, bare; /* of `locked`; of `undamped`, with loops and loads of the first   */
    double *qdd, *force;              /* n of the model                                         */
    double *prescribed_qdd;           /* of the locked robot                                             */
    double *rows;                     /* equations x n: G_l of the moving coordinates           */
    double *product;                  /* n x n                                                  */
    int *row_of;                      /* n                                                      */
    enum solve_for *wish;             /* n                                                      */
    struct arena arena;
};

/* Moving coordinates: elastic ones and passive joints, with joints_free also the driven joints. Failures are reported;
   small_motion_free() in any case. */
enum status small_motion_make(const struct robot *robot, bool joints_free, struct report *report,
                              struct small_motion *motion);
void small_motion_free(struct small_motion *motion);

/* x = N y on the coordinates of the model that move, zero on all nv others */
void small_motion_expand(const struct small_motion *motion, const double *y, double *x);

/* Computes the matrices at a state of this model of the robot; its loops are closed. STATUS_NOT_FINITE: numbers overflow. */
enum status small_motion_at(struct small_motion *motion, const struct model *model, const struct input *in,
                            struct report *report);

#endif
