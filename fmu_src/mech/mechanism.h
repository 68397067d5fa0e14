/* The whole robot as equations of motion: a tree of links (model, work, tangent), its constraints and its force elements. Every
   function that needs more than the tree takes a mechanism. */
#ifndef MECH_MECHANISM_H
#define MECH_MECHANISM_H

#include "mech/constraints.h"
#include "mech/drives.h"
#include "mech/element.h"
#include "mech/loop.h"

/* How far a state has been evaluated; each stage includes those before it.
     STAGE_POSITION      frames and mass blocks
     STAGE_VELOCITY      inertia forces, for zero accelerations
     STAGE_FORCES        what elements measure, their forces and wrenches, all values of drives
     STAGE_ACCELERATION  accelerations and multipliers */
enum mechanism_stage { STAGE_NONE, STAGE_POSITION, STAGE_VELOCITY, STAGE_FORCES, STAGE_ACCELERATION };

/* Beside the stages: the origins of all frames; also their velocities. */
enum places { NOT_PLACED = 0, PLACED = DYN_POSITION, PLACED_AND_MOVING = DYN_POSITION | DYN_VELOCITY };

struct mechanism {
    const struct robot *robot;
    struct model *model;
    struct work *work;
    struct tangent *tangent;
    struct constraints *constraints;
    int n_elements;
    struct force_element *element;
    struct drives drives;
    int failed_element;  /* index, after STATUS_SHORT_LINE                                    */
    enum places acts_at; /* what elements need                                                    */

    struct input in;            /* the state and what acts on it, by mechanism_set()                     */
    enum mechanism_stage stage; /* that it has reached                                                   */
    double *qdd, *own_qdd;      /* nv, by STAGE_ACCELERATION: the caller's of mechanism_forward(), or its own */

    struct work *newton_work;               /* factors of the Newton matrix, at the state where it was made          */
    struct constraints *newton_constraints; /* G, X = N^-1 G', S = G X there                           */
    struct element_rows rows;               /* what elements add to it                                 */

    /* wrenches: LOOP_SITES per loop, of its multipliers; then those of the elements */
    int n_loads;
    struct load *load;
    double (*load_change)[6]; /* their changes in a direction                                           */
    /* nv; NULL: nothing acts on joints: forces of elements and of multipliers, their sum; its change in a direction */
    double *joint_force, *multiplier_force, *joint_force_sum, *joint_force_change;
    struct arena arena;
};

/* The robot must outlive the mechanism. On failure nothing is left to free. */
enum status mechanism_make(const struct robot *robot, struct mechanism *m, struct report *report);
void mechanism_free(struct mechanism *m);

/* Builds model, work and tangent again after numbers of the robot have changed. On failure the mechanism is unchanged. */
enum status mechanism_remake(struct mechanism *m, struct report *report);

/* Payload and added mass of a link from the robot, at any time: no memory is allocated. */
void mechanism_set_masses(struct mechanism *m, int link);

/* A new state: nothing is evaluated yet. The arrays of the input must remain valid. */
void mechanism_set(struct mechanism *m, const struct input *in);
/* Evaluates what is missing up to a stage. */
enum status mechanism_at(struct mechanism *m, enum mechanism_stage stage);
/* Computes the origins of frames, for their velocities also STAGE_VELOCITY, if they are missing. */
void mechanism_place(struct mechanism *m, enum places places);

/* Forward dynamics: recursive, which is STAGE_ACCELERATION, and with the dense mass matrix. lambda and load are set too;
   mechanism_loaded() is then the input for dyn_inverse() and the tangents. */
enum status mechanism_forward(struct mechanism *m, const struct input *in, double *qdd);
enum status mechanism_forward_composite(struct mechanism *m, const struct input *in, double *qdd);

/* `in` with the loads and joint forces of elements and multipliers. */
struct input mechanism_loaded(const struct mechanism *m, const struct input *in);

/* `in` with those of the elements alone, whose forces are computed. */
enum status mechanism_load_elements(struct mechanism *m, const struct input *in, struct input *loaded);

/* Sets joint forces and loads of `in` to those of elements with a law of their own, which belong to h; whether there are any. The forces
   are those of STAGE_FORCES. */
bool mechanism_add_laws(const struct mechanism *m, struct input *in);

/* Efforts of the drives alone: no more is computed than these need. */
enum status mechanism_efforts(struct mechanism *m, const struct input *in);

/* dyn_energy(), and that of the elements. After STAGE_FORCES and dyn_velocity(). */
void mechanism_energy(const struct mechanism *m, const struct input *in, struct energy *energy);

/* The force of every coupling on its gap, for an elastic one of what elements_measure() found, for a rigid one its multiplier among all
   lambda; and its gap, 0 of a rigid one; n_couplings each. (coupling.c) */
void mechanism_couplings(struct mechanism *m, const double *lambda, double *force, double *gap);

/* Why the last function of a mechanism failed, with the link, the loop or the line that is the cause, and what to do. */
const char *mechanism_reason(const struct mechanism *m, enum status status, char text[REASON_SIZE]);

/* ---- residual form, for implicit steps (newton.c, theory.md 73 to 75) --------------------------------------------- */

/* force = inverse dynamics(q, qd, qdd) - tau - G' lambda, nv numbers, those of prescribed coordinates without meaning, and
   gap_acceleration = G qdd + G_dot qd, n_rows numbers, 0 for rows that are not active: all zero where qdd and lambda are those of
   mechanism_forward(). */
enum status mechanism_residual(struct mechanism *m, const struct input *in, const double *qdd, const double *lambda,
                               double *force, double *gap_acceleration);

/* Factors N = M + gamma D + gamma^2 K at a state, with the terms of elements and drives, and with constraints the matrix [N -G'; G 0].
   The factors are valid until the next call; no other function changes them. */
enum status mechanism_newton_factor(struct mechanism *m, const struct input *in, double gamma);

/* N x - G' mu = force, G x = gap_acceleration: overwrites force by x and gap_acceleration by mu. */
void mechanism_newton_solve(struct mechanism *m, double *force, double *gap_acceleration);

/* force = K dx + D dv with the slopes of the last mechanism_newton_factor(), without drives. */
void mechanism_newton_force(const struct mechanism *m, const double *dx, const double *dv, double *force);

/* ---- derivatives (tangent.c) ------------------------------------------------------------------------------------- */

/* One direction from a state of mechanism_forward(): dqdd, and in constraints->dlambda the change of lambda. Here and below `in` is
   mechanism_loaded(), as for dyn_tangent_state() before. `outputs`: also calls dyn_tangent_motion(), so that the changes of frames and
   reactions can be read. */
void mechanism_tangent(struct mechanism *m, const struct input *in, const struct direction *direction, bool outputs,
                       double *dqdd);

/* One direction: the change of ID - Q - G' lambda without tau, at rest and at constant lambda, nv numbers. */
void mechanism_force_change(struct mechanism *m, const struct input *in, const struct direction *direction,
                            double *change);

/* The change of Q + G' lambda - ID with q and with qd at constant lambda: dyn_force_jacobian(), and the change of the loads with the
   frames. */
void mechanism_force_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd);

/* d(qdd)/dq and d(qdd)/dqd, nv columns of nv each. */
void mechanism_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd);

/* qdd of mechanism_forward() and both of these, from the state only. */
enum status mechanism_forward_jacobian(struct mechanism *m, const struct input *in, double *qdd, double *by_q,
                                       double *by_qd);

#endif
