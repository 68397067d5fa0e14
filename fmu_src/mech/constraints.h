/* Constraints: M qdd + h = Q + G' lambda with G qdd + G_dot qd = 0: closed loops, rigid couplings.
 *
 * The tree is solved first, without lambda. Each constraint then costs one inward and outward sweep with the factors of the tree,
 * so the mass matrix is never formed. With X = M^-1 G' and the accelerations of the gaps of the open tree (theory.md 50 to 55, 111, 112):
 *     (G X) lambda = -(acceleration of the gap),   qdd = qdd_tree + X lambda.
 *
 * Redundant rows (a planar mechanism in space, a robot with more legs than it needs) are found by constraints_choose() and
 * dropped; their multipliers are zero. A kind of constraint is a file with its operations and a row of the table in constraints.c. */
#ifndef MECH_CONSTRAINTS_H
#define MECH_CONSTRAINTS_H

#include <string.h>

#include "math/dense.h"
#include "mech/attachment.h"

struct mechanism;

struct constraint_kind;
struct constraints;

/* A part of the robot that gives rows of G. */
struct constraint {
    const struct constraint_kind *kind;
    int part;         /* number of the loop or coupling in the robot             */
    const char *name; /* its name in the robot                                   */
    int first, count; /* rows                                                    */
    int load;         /* first of its kind->n_loads wrenches                     */
    bool approximate; /* the start positions of its joints need not close it     */
    int group;        /* the first of the constraints that share joints with it */
};

/* Rows of one sort have sizes that can be compared: gaps that are distances, angles, sums of joint coordinates. */
enum row_sort { ROW_DISTANCE, ROW_ANGLE, ROW_JOINTS, ROW_SORTS };

struct constraint_kind {
    const char *part; /* in messages: the key of the robot file                           */
    int n_loads;      /* wrenches of its multipliers; 0: they are forces on joints          */
    /* NULL: ROW_JOINTS. */
    enum row_sort (*sort)(const struct constraints *constraints, const struct constraint *c, int k);
    /* Places for the accelerations of the last dyn_motion(); with `solved` also those of the last dyn_articulate_and_solve(). NULL:
       there are none. */
    void (*place)(struct mechanism *m, const struct constraint *c, bool solved);
    /* Sets gap and rate of its rows, at these places and at q and qd of the input. */
    void (*measure_gap)(struct mechanism *m, const struct constraint *c, const struct input *in);
    /* Adds what a multiplier x of its row number k exerts, to n_loads wrenches `on` or to the forces on joints (nv). */
    void (*add_multiplier)(const struct mechanism *m, const struct constraint *c, int k, double x, double (*on)[6],
                           double *force);
    /* Acceleration of the gap, G qdd + G_dot qd, at these places or accelerations, and its change at changed places or dqdd. */
    double (*acceleration)(const struct mechanism *m, const struct constraint *c, int k, const double *qdd);
    double (*acceleration_change)(const struct mechanism *m, const struct constraint *c, int k, const double *dqdd);
    /* Sets the changes of its places, and of its wrenches at constant multipliers; NULL: it has none. */
    void (*change)(struct mechanism *m, const struct constraint *c);
    /* Whether the joint of a link changes the gap; *bends: whether the link's elastic coordinates do. */
    bool (*moved_by)(const struct model *model, int part, int link, bool *bends);
    /* Angle between directions that it keeps parallel, which the rows do not tell from half a turn [rad]; NULL: none. */
    double (*misalignment)(const struct mechanism *m, const struct constraint *c);
};

extern const struct constraint_kind loop_constraint, coupling_constraint;

struct constraints {
    int count;
    struct constraint *constraint; /* loops in the order of the file, then rigid couplings */
    int n_rows;                    /* of all of them                                      */
    struct constraint **of_row;    /* n_rows                                              */
    int n_active;                  /* active (independent) rows                           */
    int *active;                   /* n_rows: the first n_active are rows, ascending      */
    bool turning;                  /* the plane of some loop turns with a link            */

    /* at a state; by rows */
    struct loop_places *loop; /* n_loops of the robot (loop.h)                             */
    double *gap, *rate;       /* n_rows, by constraints_gap()                     [m; m/s] */
    double *size; /* n_rows: that of the numbers of which a gap is the difference: 1 m or rad; sum |c_i| (1 + |q_i|) */
    double *lambda;        /* n_rows, by mechanism_forward()                            */
    double *G;             /* n_rows x nv: those of `active`, in its order              */
    struct span *span;     /* n_rows: of the rows of G                                  */
    double *X;             /* n_rows x nv: M^-1 G', in the same order                   */
    double *S, *inverse_d; /* n_active x n_active: factors of G X                       */
    double *rhs;           /* n_rows                                                    */
    int failed;            /* index of the constraint, after STATUS_SINGULAR_LOOP       */
    double *dlambda;       /* n_rows: change of lambda in a direction                   */
    double *direction;     /* nv                                                        */
    double
        *gap_by[DERIVATIVES]; /* nv x n_rows: changes of the accelerations of the gaps with q and qd, at constant qdd */
};

/* All memory is from the arena; NULL: it failed. n_rows = 0 if the robot has none. All rows are active until constraints_choose(). */
struct constraints *constraints_make(const struct model *model, struct arena *arena);

/* What messages call a constraint: loops[0] (name). */
enum { MOST_LABEL = 300 };
const char *constraint_label(const struct constraint *c, char text[MOST_LABEL]);

/* Places for the accelerations of the last dyn_motion(); with `solved` also those of the last dyn_articulate_and_solve(). */
void constraints_frames(struct mechanism *m, bool solved);

/* Gap and rate of all rows; rates need DYN_VELOCITY. */
void constraints_gap(struct mechanism *m, const struct input *in);

/* The largest gap of the active constraints. */
double constraints_largest_gap(const struct constraints *constraints);

/* Gap, rate and the rows of G of the active constraints; rates need DYN_VELOCITY. */
void constraints_rows(struct mechanism *m, const struct input *in);

/* G, X = M^-1 G' and S = G X, symmetric, upper triangle, at the frames of constraints_frames(), with the factors of dyn_articulate() or of
   dyn_forward_composite(). */
enum mobility { BY_ARTICULATED_FACTORS, BY_DENSE_FACTORS };
void constraints_mobility(struct mechanism *m, enum mobility by);
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

/* Sets rhs to the accelerations of the gaps of the active constraints, for the current places and these accelerations. */
void constraints_accelerations(struct mechanism *m, const double *qdd);

/* lambda, loads and qdd of the closed robot, from qdd and the loop frames of the open tree. */
void constraints_close_accelerations(struct mechanism *m, double *qdd);

/* The loads of the multipliers in lambda. */
void constraints_set_loads(struct mechanism *m);

enum row_sort constraints_row_sort(const struct constraints *constraints, int row);

/* Selects independent constraints at q and reports, in one message, how many of which loops are dropped. */
enum status constraints_choose(struct mechanism *m, const double *q, struct report *report);

/* ---- closing (close.c) ------------------------------------------------------------------------------------------- */

/* Whether the joint of a link changes the gap of a constraint. */
bool constraint_has_joint(const struct model *model, const struct constraint *c, int link);

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

/* The constraint whose dropped rows have a larger gap than inexact lengths explain, and that gap; -1: none. After
   constraints_gap(). */
int constraints_missed(const struct constraints *constraints, double *gap);

#endif
