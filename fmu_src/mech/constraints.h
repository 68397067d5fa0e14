/* Closed loops: M qdd + h = Q + G' lambda with G qdd + G_dot qd = 0.
 *
 * The tree is solved first, without lambda. Each equation then costs one sweep in and out with the factors of the tree, so
 * the mass matrix is never formed. With X = M^-1 G' and the accelerations of the joined frames of the open tree
 * (theory.md 50 to 55):   (G X) lambda = -(acceleration of the gap),   qdd = qdd_tree + X lambda.
 *
 * Redundant equations (a planar mechanism in space, a robot with more legs than it needs) are found by constraints_choose()
 * and left out; their multipliers are zero. */
#ifndef MECH_CONSTRAINTS_H
#define MECH_CONSTRAINTS_H

#include "mech/attachment.h"

struct mechanism;

/* One equation between the joined frames A and B: the gap along a world direction, u'(p_A - p_B) = 0, or two directions that
   stay perpendicular, a'b = 0, a fixed in A and b in B. */
struct equation {
    bool turning;
    double u[3];
    double a[3], b[3]; /* in the joined frames */
};

struct constraints {
    int n_loops;
    int n_rows;                /* equations of all loops                              */
    int *first;                /* n_loops + 1: first row of each loop                 */
    struct equation *equation; /* n_rows                                              */
    int n_kept;                /* independent equations                               */
    int *kept;                 /* n_rows: the first n_kept are rows, ascending        */

    /* at a state; by rows */
    struct attachment (*side)[2];     /* n_loops: the joined frames                           */
    double *gap, *rate;               /* n_rows, by constraints_gap()                [m; m/s] */
    double *lambda;                   /* n_rows, by mechanism_forward()                       */
    double *G;                        /* n_rows x nv: those of `kept`, in its order           */
    double *X;                        /* n_rows x nv: M^-1 G', likewise                       */
    double *S, *inverse_d;            /* n_kept x n_kept: factors of G X                      */
    double *rhs;                      /* n_rows                                               */
    int failed;                       /* loop, after STATUS_SINGULAR_LOOP                     */
    double *dlambda;                  /* n_rows: change of lambda in a direction              */
    double *direction;                /* nv                                                   */
    struct frame_derivative *tips[2]; /* nv x loads: tip frames in the directions of q, of qd */
    struct arena arena;
};

/* n_rows = 0 where the robot has no loops. All equations are kept until constraints_choose(). */
enum status constraints_make(const struct model *model, struct constraints **constraints);
void constraints_free(struct constraints *constraints);

/* Number of equations of a loop. */
int loop_equations(enum loop_type type);

/* The loop that a row belongs to. */
int constraints_loop(const struct constraints *constraints, int row);

/* Joined frames for the accelerations of the last dyn_motion(); with `solved` those that the last dyn_solve() adds too. */
void constraints_frames(struct mechanism *m, bool solved);

/* Gap and rate of all equations. After dyn_velocity(). */
void constraints_gap(struct mechanism *m);

/* The largest gap of the kept equations, by constraints_gap(). */
double constraints_open_by(const struct constraints *constraints);

/* Gap, rate and the rows of G of the kept equations. After dyn_velocity(). */
void constraints_rows(struct mechanism *m);

/* G, X = M^-1 G' and S = G X, symmetric, upper triangle, at the frames of constraints_frames(). After dyn_articulate(). */
void constraints_mobility(struct mechanism *m);
/* S factored: STATUS_SINGULAR_LOOP where it is not positive definite. */
enum status constraints_factor(struct mechanism *m);

/* Row k of G: generalized forces of a unit multiplier of equation kept[k], swept from the joined frames to the base  (52) */
void constraints_row(struct mechanism *m, int k);

/* x += X S^-1 rhs; rhs = S^-1 rhs */
void constraints_respond(struct mechanism *m, double *x);

/* In rhs the accelerations of the gaps of the kept equations, for the joined frames as they are. */
void constraints_accelerations(struct mechanism *m);

/* lambda, loads and qdd of the closed robot, from qdd and joined frames of the open tree. */
void constraints_close_accelerations(struct mechanism *m, double *qdd);

/* The loads of the multipliers in lambda. After constraints_gap() or constraints_rows(). */
void constraints_set_loads(struct mechanism *m);

/* Chooses independent equations at q and reports, for every loop, how many are left out. */
enum status constraints_choose(struct mechanism *m, const double *q, struct report *report);

/* ---- the directions of an equation ------------------------------------------------------------------------------------------ */

/* a, b of a turning equation in world axes, and c = a x b */
void turning_directions(const struct equation *e, const struct attachment *side, double *a, double *b, double *c);

/* The wrenches of a unit multiplier on the two tip frames, times x, added to two loads:  (r x u; u) or (c; 0) */
void add_multiplier(const struct equation *e, const struct attachment *side, double x, double *on_A, double *on_B);

/* ---- closing (close.c) ------------------------------------------------------------------------------------------------------ */

/* Moves q from a guess until all gaps are closed: passive joints first, then all joints that are not prescribed, then elastic
   coordinates too, if they need not bend much. Reports which loop stays open, and by how much. All equations are kept
   afterwards: constraints_choose() comes next. Takes scratch memory: for initialization only. */
enum status constraints_close(struct mechanism *m, double *q, struct report *report);

/* Projects q and qd onto the loops, shortest in the metric of the mass matrix; err_q (a tangent) and err_qd, nv each (NULL: none), lose their part off
   the loops. `near`: the last mechanism_forward() was at a state near this one, so its factors may be used again. Equations that
   were left out at the start and are not met any more are STATUS_MISSED_LOOP. */
enum status constraints_project(struct mechanism *m, bool near, double *q, double *qd, double *err_q, double *err_qd);

/* After constraints_close(): chooses independent equations (what is left out goes to `redundant`), projects q and qd onto
   them and reports the gaps that remain. */
enum status constraints_settle(struct mechanism *m, double *q, double *qd, struct report *redundant,
                               struct report *report);

/* The loop whose left-out equations have opened by more than inexact lengths explain, and by how much; -1: none. By
   constraints_gap(). */
int constraints_missed(const struct constraints *constraints, double *gap);

#endif
