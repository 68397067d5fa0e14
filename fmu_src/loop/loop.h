/* What joins links beside their joints: closed loops and line actuators.
 *
 * Closed loops: M qdd + h = Q + G' lambda with G qdd + G_dot qd = 0.
 *
 * The tree is solved first, without lambda; every equation then costs one sweep in and out with the factors that are there, so
 * that the mass matrix is never made. With X = M^-1 G' and the accelerations of the joined frames of the open tree
 * (theory.md 50 to 55):   (G X) lambda = -(acceleration of the gap),   qdd = qdd_tree + X lambda.
 *
 * Equations that follow from the others (a planar mechanism in space, a robot with more legs than it needs) are found by
 * loops_choose() and left out; their multipliers are zero. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include "dyn/tangent.h"

/* One equation between the joined frames A and B: the gap along a world direction, u'(p_A - p_B) = 0, or two directions that
   stay at right angles, a'b = 0, a fixed in A and b in B. */
struct equation {
    bool turning;
    double u[3];
    double a[3], b[3]; /* in the joined frames */
};

/* A joined frame of a loop. */
struct side {
    double r[3]; /* from the tip frame to the joined frame, world axes [m] */
    struct frame_motion frame;
    struct frame_derivative change; /* in a direction */
};

/* A line actuator: the points `from` and `to`, and the line through them. */
struct line {
    struct side end[2];
    double u[3];         /* unit vector, from -> to, world axes       */
    double length, rate; /*                               [m], [m/s] */
};

struct loops {
    const struct robot *robot;
    int n_rows;                /* equations of all loops                              */
    int *first;                /* n_loops + 1: first row of each loop                 */
    struct equation *equation; /* n_rows                                              */
    int n_kept;                /* independent equations                               */
    int *kept;                 /* n_rows: the first n_kept are rows                   */

    /* at a state; by rows */
    struct side (*side)[2];           /* n_loops                                              */
    double *gap, *rate;               /* n_rows, by loops_gap()                      [m; m/s] */
    double *lambda;                   /* n_rows, by loops_forward()                           */
    double *G;                        /* n_rows x n: those of `kept`, in its order            */
    double *X;                        /* n_rows x n: M^-1 G', likewise                        */
    double *S, *inverse_d;            /* n_kept x n_kept: factors of G X                      */
    double *rhs;                      /* n_rows                                               */
    struct line *line;                /* n_actuators, by loops_lines()                        */
    int failed_actuator;              /* after STATUS_SHORT_ACTUATOR                          */
    int failed_loop;                  /* after STATUS_SINGULAR_LOOP                           */
    struct load *load;                /* 2 n_loops: what the multipliers do to the tip frames; 2 n_actuators */
    double (*load_change)[6];         /* as many: in a direction                              */
    double *dlambda;                  /* n_rows                                               */
    double *direction;                /* n                                                    */
    struct frame_derivative *tips[2]; /* n x 2 n_loops: tip frames in the directions of q and of qd */
    struct arena arena;
};

/* Nothing where the robot has no loops: n_rows = 0. All equations are kept until loops_choose(). */
enum status loops_make(const struct model *model, struct loops **loops);
void loops_free(struct loops *loops);

/* Number of equations of a loop. */
int loop_equations(enum loop_type type);

/* gap and rate of all equations. After dyn_velocity(). */
void loops_gap(const struct model *model, const struct work *work, struct loops *loops);

/* The largest gap of the kept equations, by loops_gap(). */
double loops_open_by(const struct loops *loops);

/* Chooses independent equations at q and tells, for every loop, how many are left out. */
enum status loops_choose(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                         const double *q, struct report *report);

/* Forward dynamics, recursive and with the dense mass matrix; lambda and load are set too, and are the loads of `in` for
   dyn_inverse() and the tangents afterwards (loops_input()). */
enum status loops_forward(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                          const struct input *in, double *qdd);
enum status loops_forward_composite(const struct model *model, struct work *work, struct loops *loops,
                                    const struct input *in, double *qdd);

/* gap, rate and the rows of G of the kept equations. After dyn_velocity(). */
void loops_constraints(const struct model *model, const struct work *work, struct loops *loops);

/* In rhs the accelerations of the gaps of the kept equations, for those of the last dyn_motion(). After loops_constraints(). */
void loops_accelerations(struct loops *loops);

/* The loads of the multipliers in loops->lambda. After loops_gap() or loops_constraints(). */
void loops_set_loads(struct loops *loops);

/* Lines of the actuators. After dyn_position(); the rates after dyn_velocity(). */
void loops_lines(const struct model *model, const struct work *work, struct loops *loops);

/* Change of length and rate of an actuator in a direction. After dyn_tangent_motion(). */
void loops_lines_change(const struct model *model, const struct work *work, const struct tangent *tangent,
                        struct loops *loops, int actuator, double *dlength, double *drate);

/* `in` with the loads of the actuators. After dyn_configuration(). */
enum status loops_actuate(const struct model *model, struct work *work, struct loops *loops, const struct input *in,
                          struct input *actuated);

/* `in` with the loads of loops and actuators. After loops_forward(). */
struct input loops_input(const struct loops *loops, const struct input *in);

/* One direction (loop/tangent.c): dqdd, and in loops->dlambda the change of lambda. After loops_forward(), and then
   dyn_inverse(), dyn_velocity() and dyn_tangent_state() with loops_input(). `outputs`: dyn_tangent_motion() is done too, so that
   the changes of frames and reactions can be taken. */
void loops_tangent(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                   const struct input *in, const struct direction *direction, bool outputs, double *dqdd);

/* The change of Q + G' lambda - ID with q and with qd, lambda held: dyn_force_jacobian() with loops_input(), and what the frames
   do to the loads. After dyn_tangent_state() with loops_input(). */
void loops_force_jacobian(const struct model *model, const struct work *work, struct tangent *tangent,
                          struct loops *loops, const struct input *in, double *by_q, double *by_qd);

/* d(qdd)/dq and d(qdd)/dqd, n columns of n each. */
void loops_jacobian(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                    const struct input *in, double *by_q, double *by_qd);

/* qdd as loops_forward() gives it and both of these, from the state alone. */
enum status loops_forward_jacobian(const struct model *model, struct work *work, struct tangent *tangent,
                                   struct loops *loops, const struct input *in, double *qdd, double *by_q,
                                   double *by_qd);

/* Closing (loop/close.c): moves q from a guess until all gaps are closed: passive joints first, where they do not suffice all
   joints, then elastic coordinates too, where they need not bend much; prescribed joints never. Says which loop stays open, and
   by how much. All equations are kept afterwards: loops_choose() comes next. Scratch memory is taken, at the start alone. */
enum status loops_close(const struct model *model, struct work *work, struct loops *loops, double *q,
                        struct report *report);

/* Puts q and qd back onto the loops, shortest in the metric of the mass matrix; err_q, err_qd (NULL: none) lose their part off
   the loops. `near`: the last loops_forward() was at a state near this one, so that its factors may serve again. Equations that
   were left out at the start and are not met any more are STATUS_MISSED_LOOP. */
enum status loops_project(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                          bool near, double *q, double *qd, double *err_q, double *err_qd);

/* After loops_close(): chooses independent equations (what is left out goes to `redundant`), puts q and qd onto them and tells
   what that leaves open. */
enum status loops_settle(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                         double *q, double *qd, struct report *redundant, struct report *report);

/* The loop whose left-out equations have opened by more than inexact lengths explain, and by how much; -1: none. By
   loops_gap(). */
int loops_missed(const struct loops *loops, double *gap);

#endif
