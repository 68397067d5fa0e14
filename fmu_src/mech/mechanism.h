/* The whole robot as equations of motion: a tree of links (model, work, tangent), its closed loops (constraints) and its line
   actuators. Every function that needs more than the tree takes a mechanism. */
#ifndef MECH_MECHANISM_H
#define MECH_MECHANISM_H

#include "mech/actuators.h"
#include "mech/constraints.h"
#include "mech/drive_rows.h"

struct mechanism {
    const struct robot *robot;
    struct model *model;
    struct work *work;
    struct tangent *tangent;
    struct constraints *constraints;
    struct actuators *actuators;
    struct work *newton_work; /* factors of the Newton matrix, at the state where it was made                   */
    struct constraints *newton_constraints; /* G, X = N^-1 G', S = G X there                                    */
    struct drive_rows *drive_rows;          /* what drives add to it                                            */
    struct load *load;        /* LOOP_LOADS per loop: wrenches of its multipliers; then 2 per actuator          */
    double (*load_change)[6]; /* as many: change in a direction                                                 */
    struct arena arena;
};

/* Index of the first load of an actuator in load. */
static inline int actuator_load(const struct robot *robot, int actuator)
{
    return LOOP_LOADS * robot->n_loops + 2 * actuator;
}

/* The robot must outlive the mechanism. On failure nothing is left to free. */
enum status mechanism_make(const struct robot *robot, struct mechanism *m, struct report *report);
void mechanism_free(struct mechanism *m);

/* Builds model, work and tangent again after numbers of the robot have changed. On failure the mechanism is unchanged. */
enum status mechanism_remake(struct mechanism *m, struct report *report);

/* Payload and added mass of a link from the robot, at any time: no memory is allocated. */
void mechanism_set_masses(struct mechanism *m, int link);

/* Forward dynamics: recursive, and with the dense mass matrix. lambda and load are set too; mechanism_loaded() is then the
   input for dyn_inverse() and the tangents. */
enum status mechanism_forward(struct mechanism *m, const struct input *in, double *qdd);
enum status mechanism_forward_composite(struct mechanism *m, const struct input *in, double *qdd);

/* `in` with the loads of loops and actuators. After mechanism_forward(). */
struct input mechanism_loaded(const struct mechanism *m, const struct input *in);

/* Why the last function of a mechanism failed, with the link, the loop or the actuator that is the cause, and what to do. */
const char *mechanism_reason(const struct mechanism *m, enum status status, char text[REASON_SIZE]);

/* ---- residual form, for implicit steps (newton.c, theory.md 73 to 75) --------------------------------------------- */

/* force = inverse dynamics(q, qd, qdd) - tau - G' lambda, nv numbers, those of prescribed coordinates without meaning, and
   gap_acceleration = G qdd + G_dot qd, n_rows numbers, 0 for rows that are not active: all zero where qdd and lambda are those of
   mechanism_forward(). */
enum status mechanism_residual(struct mechanism *m, const struct input *in, const double *qdd, const double *lambda,
                               double *force, double *gap_acceleration);

/* Factors N = M + gamma D + gamma^2 K at (q, qd), with the terms of drives by drive_rows->s, and with loops the matrix [N -G'; G 0].
   The factors are valid until the next call; no other function changes them. */
enum status mechanism_newton_factor(struct mechanism *m, const double *q, const double *qd, double gamma);

/* N x - G' mu = force, G x = gap_acceleration: overwrites force by x and gap_acceleration by mu. */
void mechanism_newton_solve(struct mechanism *m, double *force, double *gap_acceleration);

/* force = K dx + D dv with the slopes of the last mechanism_newton_factor(), without drives. */
void mechanism_newton_force(const struct mechanism *m, const double *dx, const double *dv, double *force);

/* ---- derivatives (tangent.c) ------------------------------------------------------------------------------------- */

/* One direction: dqdd, and in constraints->dlambda the change of lambda. After mechanism_forward(), and then dyn_inverse(),
   dyn_velocity() and dyn_tangent_state() with mechanism_loaded(). `outputs`: also calls dyn_tangent_motion(), so that the
   changes of frames and reactions can be read. */
void mechanism_tangent(struct mechanism *m, const struct input *in, const struct direction *direction, bool outputs,
                       double *dqdd);

/* One direction: the change of ID - Q - G' lambda without tau, at rest and at constant lambda, nv numbers. After dyn_tangent_state()
   with mechanism_loaded(). */
void mechanism_force_change(struct mechanism *m, const struct input *in, const struct direction *direction,
                            double *change);

/* The change of Q + G' lambda - ID with q and with qd at constant lambda: dyn_force_jacobian() with mechanism_loaded(), and the
   change of the loads with the frames. After dyn_tangent_state() with mechanism_loaded(). */
void mechanism_force_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd);

/* d(qdd)/dq and d(qdd)/dqd, nv columns of nv each. */
void mechanism_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd);

/* qdd of mechanism_forward() and both of these, from the state only. */
enum status mechanism_forward_jacobian(struct mechanism *m, const struct input *in, double *qdd, double *by_q,
                                       double *by_qd);

#endif
