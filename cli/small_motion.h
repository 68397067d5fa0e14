/* Small motions about a state: M x'' + (G + D) x' + K x = 0, x the change of the coordinates that are kept; the others keep
 * position and rate. The bias h of M qdd + h = Q splits into h_0 + (damping and friction), and
 *     K = dh_0/dq,   G = dh_0/dqd,   D = d(h - h_0)/dqd
 * by the tangent of the recursion, exact, at qdd = 0 (prescribed joints: as given): as if forces held the state. The tip wrench
 * counts with h, for its share changes with q. */
#ifndef CLI_SMALL_MOTION_H
#define CLI_SMALL_MOTION_H

#include "dyn/tangent.h"

/* One model with what is needed to differentiate it. */
struct differentiated {
    const struct model *model;
    struct work *work;
    struct tangent *tangent;
    double *by_q, *by_qd; /* n columns of n: change of Q - ID */
};

struct small_motion {
    int n;                 /* coordinates kept                              */
    int *coordinate;       /* n: their numbers in q                         */
    double *M, *G, *D, *K; /* n x n by columns                              */
    double moment_rate;    /* largest |hinge moment| / M_jj of kept joints [1/s^2]: K's rounding, where K cancels */

    struct robot undamped;            /* the robot with damping and friction at zero   */
    struct model *made;               /* its model                                     */
    struct differentiated full, bare; /* the robot as it is; undamped */
    double *qdd, *force;              /* n of the model               */
    struct arena arena;
};

/* Coordinates kept: elastic ones and passive joints, with joints_free also the driven joints. The model must outlive it;
   small_motion_free() also after a failure. */
enum status small_motion_make(const struct model *model, bool joints_free, struct small_motion *motion);
void small_motion_free(struct small_motion *motion);

/* Fills M, G, D, K and moment_rate at a state. False: numbers overflow. */
bool small_motion_at(struct small_motion *motion, const struct input *in);

#endif
