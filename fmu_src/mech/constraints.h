/* Closed loops: M qdd + h = Q + G' lambda with G qdd + G_dot qd = 0.
 *
 * The tree is solved first, without lambda. Each constraint then costs one inward and outward sweep with the factors of the tree,
 * so the mass matrix is never formed. With X = M^-1 G' and the accelerations of the loop frames of the open tree
 * (theory.md 50 to 55):   (G X) lambda = -(acceleration of the gap),   qdd = qdd_tree + X lambda.
 *
 * Redundant constraints (a planar mechanism in space, a robot with more legs than it needs) are found by constraints_choose() and
 * dropped; their multipliers are zero. */
#ifndef MECH_CONSTRAINTS_H
#define MECH_CONSTRAINTS_H

#include <string.h>

#include "mech/attachment.h"

struct mechanism;

/* The frames of a loop, and the wrenches of its multipliers: A, B, and O of the link that carries the plane of a planar pin. */
enum { SIDE_A, SIDE_B, SIDE_PLANE, LOOP_LOADS };

/* One constraint between the loop frames A and B: the gap along a direction, u'(p_A - p_B) = 0, u fixed in the world or, if it turns,
   in O of a link; or, if rotational, two directions that stay perpendicular, a'b = 0, a fixed in A and b in B. */
struct equation {
    bool rotational, turns;
    double u[3];       /* world axes, or axes of O */
    double a[3], b[3]; /* in the loop frames */
};

struct constraints {
    int n_loops;
    int n_rows;                /* constraints of all loops                            */
    int *first;                /* n_loops + 1: first row of each loop                 */
    int *group;                /* n_loops: its group; loops of a group share joints   */
    struct equation *equation; /* n_rows                                              */
    int n_active;              /* active (independent) constraints                    */
    int *active;               /* n_rows: the first n_active are rows, ascending        */

    /* at a state; by rows */
    bool turning;                          /* some plane turns with a link                         */
    struct attachment (*side)[LOOP_LOADS]; /* n_loops: the loop frames, and O that carries the plane */
    double *gap, *rate;                    /* n_rows, by constraints_gap()                [m; m/s] */
    double *lambda;                        /* n_rows, by mechanism_forward()                       */
    double *G;                             /* n_rows x nv: those of `active`, in its order         */
    double *X;                             /* n_rows x nv: M^-1 G', in the same order              */
    double *S, *inverse_d;                 /* n_active x n_active: factors of G X                      */
    double *rhs;                           /* n_rows                                               */
    int failed;                            /* index of the loop, after STATUS_SINGULAR_LOOP        */
    double *dlambda;                       /* n_rows: change of lambda in a direction              */
    double *direction;                     /* nv                                                   */
    /* nv x loads of loops: changes of the frames that have the loop frames attached, in the directions of q, of qd; NULL without
       loops */
    struct frame_derivative *frames[2];
};

/* All memory is from the arena; NULL: it failed. n_rows = 0 if the robot has no loops. All constraints are active until
   constraints_choose(). */
struct constraints *constraints_make(const struct model *model, struct arena *arena);

/* Number of constraints of a loop. */
int constraints_loop_equations(enum loop_type type);

/* The loop that a row belongs to. */
int constraints_loop(const struct constraints *constraints, int row);

/* Positions and velocities for the accelerations of the gaps, which only planes that turn need. After dyn_motion(). */
void constraints_prepare(struct mechanism *m, const struct input *in);

/* Loop frames for the accelerations of the last dyn_motion(); with `solved` also those of the last dyn_articulate_and_solve(). */
void constraints_frames(struct mechanism *m, bool solved);

/* Gap and rate of all constraints. After dyn_velocity(). */
void constraints_gap(struct mechanism *m);

/* The largest gap of the active constraints. After constraints_gap() or constraints_rows(). */
double constraints_largest_gap(const struct constraints *constraints);

/* Gap, rate and the rows of G of the active constraints. After dyn_velocity(). */
void constraints_rows(struct mechanism *m);

/* G, X = M^-1 G' and S = G X, symmetric, upper triangle, at the frames of constraints_frames(). After dyn_articulate(). */
void constraints_mobility(struct mechanism *m);
/* Factors S: STATUS_SINGULAR_LOOP if it is not positive definite. */
enum status constraints_factor(struct mechanism *m);

/* Row k of G: generalized forces of a unit multiplier of constraint active[k], swept from the loop frames to the base  (52) */
void constraints_row(struct mechanism *m, int k);

/* x += X S^-1 rhs; rhs = S^-1 rhs */
void constraints_respond(struct mechanism *m, double *x);

/* Copies numbers of the active constraints, n_active, to all rows; 0 for the others. */
static inline void constraints_scatter(const struct constraints *constraints, const double *x, double *by_row)
{
    memset(by_row, 0, (size_t)constraints->n_rows * sizeof *by_row);
    for (int k = 0; k < constraints->n_active; k++) by_row[constraints->active[k]] = x[k];
}

/* Sets rhs to the accelerations of the gaps of the active constraints, for the current loop frames. */
void constraints_accelerations(struct mechanism *m);

/* lambda, loads and qdd of the closed robot, from qdd and the loop frames of the open tree. */
void constraints_close_accelerations(struct mechanism *m, double *qdd);

/* The loads of the multipliers in lambda. After constraints_gap() or constraints_rows(). */
void constraints_set_loads(struct mechanism *m);

/* Selects independent constraints at q and reports, in one message, how many of which loops are dropped. */
enum status constraints_choose(struct mechanism *m, const double *q, struct report *report);

/* ---- the directions of a constraint ------------------------------------------------------------------------------ */

/* a, b of a rotational constraint in world axes, and c = a x b */
void constraints_rotation_directions(const struct equation *e, const struct attachment *side, double *a, double *b,
                                     double *c);

/* u of a translational constraint in world axes */
void constraints_translation_direction(const struct equation *e, const struct attachment *side, double u[3]);

/* Adds to loads (LOOP_LOADS) the wrenches of a multiplier x on the links of A, B and the plane: x times
   (r x u; u) and (-r x u; -u), or (c; 0) and (-c; 0); on the plane (u x (p_A - p_B); 0)                              (96) */
void constraints_add_multiplier(const struct equation *e, const struct attachment *side, double x, double (*on)[6]);

/* ---- closing (close.c) ------------------------------------------------------------------------------------------- */

/* Whether the joint of a link is on the path between the two sides of a loop: a joint of that loop. */
bool constraints_loop_has_joint(const struct model *model, int loop, int link);

/* How loops are closed. */
struct closing {
    const bool *locked; /* n_links: joints that do not move, like prescribed ones; NULL: none         */
    const double *near; /* nq: positions from which the change is the least; NULL: those of the guess */
    bool rigid;         /* elastic coordinates do not change                                          */
};

/* Moves q from a guess until all gaps are closed, by the least change (sum of squares, rad and m) of passive joints, if these are
   not sufficient of all joints, and if these are not of elastic coordinates too, where the deflections are small. Only joints of the
   loops move, and loops that share no joint do not act on each other. `how`: NULL is zero. Reports which loop cannot be closed, and
   its gap. Afterwards all constraints are active; call constraints_choose() next. Allocates scratch memory: for initialization only. */
enum status constraints_close(struct mechanism *m, const struct closing *how, double *q, struct report *report);

/* The same for the start: the joints that move are noted. Where q is the start of the robot file, a joint that moves by more than
   0.3 rad or m is an error, STATUS_OPEN_LOOP, unless one of its loops has an approximate start. */
enum status constraints_close_start(struct mechanism *m, double *q, struct report *report);

/* Factors of a nearby state that a projection may use in place of new ones: X and S of the last mechanism_forward(), or of the last
   mechanism_newton_factor(). */
enum projection { BY_NEW_FACTORS, BY_FORWARD_FACTORS, BY_NEWTON_FACTORS };

/* Projects q and qd onto the constraints by the smallest change in the metric of the mass matrix, or of N of the Newton factors,
   in which elastic coordinates are stiff; err_q (a tangent) and err_qd, nv each (NULL: none), lose their part that violates the
   constraints. STATUS_MISSED_LOOP: a dropped constraint is violated. */
enum status constraints_project(struct mechanism *m, enum projection by, double *q, double *qd, double *err_q,
                                double *err_qd);

/* The same with the factors of the last mechanism_newton_factor() and a fixed number of iterations, for fixed steps. */
enum status constraints_project_fixed(struct mechanism *m, double *q, double *qd);

/* After constraints_close(): selects independent constraints (the dropped ones are reported to `redundant`), projects q and qd onto
   them and reports the gaps that remain. */
enum status constraints_choose_and_project(struct mechanism *m, double *q, double *qd, struct report *redundant,
                                           struct report *report);

/* The loop whose dropped constraints have a larger gap than inexact lengths explain, and that gap; -1: none. After
   constraints_gap(). */
int constraints_missed(const struct constraints *constraints, double *gap);

#endif
