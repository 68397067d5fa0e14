/* Line actuators: a force along the line through two points, each fixed in a frame of a link or in the world. (theory.md 59, 60) */
#ifndef MECH_ACTUATORS_H
#define MECH_ACTUATORS_H

#include "mech/attachment.h"

struct mechanism;

/* The points `from` and `to`, and the line through them. */
struct line {
    struct attachment end[2];
    double u[3];         /* unit vector, from -> to, world axes       */
    double length, rate; /*                               [m], [m/s] */
};

struct actuators {
    struct line *line; /* n_actuators, by actuators_measure()       */
    int failed;        /* index, after STATUS_SHORT_ACTUATOR        */
};

/* From the arena; the caller checks whether it failed. */
struct actuators *actuators_make(const struct robot *robot, struct arena *arena);

/* Directions, lengths and rates of all lines. After dyn_position(), for the rates after dyn_velocity(). */
void actuators_measure(struct mechanism *m);

/* `in` with the loads of the actuator forces. After dyn_configuration(). */
enum status actuators_apply(struct mechanism *m, const struct input *in, struct input *actuated);

/* dl/dq, nv numbers: the generalized forces of a unit force along the line. After actuators_measure(). */
void actuators_row(struct mechanism *m, int actuator, double *row);

/* Change of length and rate of an actuator in a direction. After dyn_tangent_motion(). */
void actuators_change(struct mechanism *m, int actuator, double *dlength, double *drate);

/* Change of the loads of the actuators in a direction, into m->load_change. After dyn_tangent_position(). */
void actuators_change_loads(struct mechanism *m, const struct input *in, const struct direction *direction);

#endif
