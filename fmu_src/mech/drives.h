/* Drives inside the arm, each acting through an element: their values at a state, the changes of these in a direction, and what the
   drives add to the Newton matrix. All their values, states among them, are in struct input. Equations: docs/drives.md. */
#ifndef MECH_DRIVES_H
#define MECH_DRIVES_H

#include "base/report.h"
#include "dyn/tangent.h"

struct mechanism;
struct drive_slopes;
struct drive_member;

struct drives {
    int *element;                /* n_drives: that it acts through                                         */
    struct drive_member *member; /* n_drives: as drive/supply.h has them                                   */
    double *demand, *share;      /* n_supplies: flow demanded, and the share of it that the pump provides  */
    double *ddemand, *dshare;    /* n_supplies: their changes in a direction                               */
    struct drive_slopes *slopes; /* n_drives, by drives_newton()                                           */
    int failed;                  /* index, after STATUS_DRIVE_ERROR                                        */

    /* by mechanism_jacobian() with drives: columns of n_states, changes of dw/dt with q, qd and w; columns of nv: d(qdd)/dw */
    int n_states;
    double *rate_by[DERIVATIVES], *rate_by_state, *by_state;
    double *change; /* of all values */
};

/* From the arena; the caller checks whether it failed. After elements_make(). */
void drives_make(struct mechanism *m, struct arena *arena);

/* From the robot to the values: parameters, and shares of supplies. */
void drives_take_parameters(const struct robot *robot, double *values);

/* States at the start, from parameters, inputs and the motion of the arm. Reports parameters with which a drive cannot start. */
enum status drives_start(struct mechanism *m, const struct input *in, struct report *report);

/* Positions and rates of what the drives move, at the state of mechanism_set(). */
enum status drives_measure(struct mechanism *m);

/* All values of the drives, and the forces of their elements. STATUS_DRIVE_ERROR: a drive cannot work there. */
enum status drives_evaluate(struct mechanism *m, const struct input *in);

/* Changes of the values with those of states, inputs and elements, and of the forces of the elements. */
void drives_change(struct mechanism *m, const struct input *in, const struct direction *direction);

/* Columns of the states: rate_by_state, and in by_state generalized forces. */
void drives_state_columns(struct mechanism *m, const struct input *in);

/* dw/dt of all states, or its change, from all values or their changes. */
void drives_rates(const struct robot *robot, const double *values, double *rate);

/* Efforts as forces given from outside, for an input without drives: tau of joints, forces of lines. */
void drives_copy_efforts(const struct mechanism *m, const double *values, double *tau, double *line_force);

/* ---- in an implicit step ------------------------------------------------------------------------------------------------- */

/* Derivatives of the drives after drives_evaluate(), and s of their elements. */
enum status drives_newton(struct mechanism *m, const struct input *in, double gamma);

/* The two sides of the solution with the Newton matrix: force += J' gamma F_w (1 - gamma g_w)^-1 r, and then r = that of dw/dt for
   accelerations da. r begins with the states of the first drive. */
void drives_reduce(struct mechanism *m, const double *r, double *force);
void drives_expand(const struct mechanism *m, const double *da, double *r);

/* With these derivatives, for a change of (x, v, w): subtracts the change of the efforts from force; r is minus the change of dw/dt. */
void drives_stiffness(const struct mechanism *m, const double *dx, const double *dv, const double *dw, double *force,
                      double *r);

#endif
