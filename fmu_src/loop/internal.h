/* What the files of this layer share. */
#ifndef LOOP_INTERNAL_H
#define LOOP_INTERNAL_H

#include "loop/loop.h"

/* The joined frame from the tip frame, or the point's from its frame:  p + r,  v + omega x r,
   a + alpha x r + omega x (omega x r); and that differentiated. */
void join(const struct pose *at, struct side *side);
void join_change(const struct side *side, struct frame_derivative *change);

/* actuator.c: how the loads of actuators change in a direction, into load_change. After dyn_tangent_outward(). */
void change_actuator_loads(const struct model *model, const struct work *work, struct tangent *tangent,
                           struct loops *loops, const struct input *in, const struct direction *direction);

/* The joined frames for the accelerations of the last dyn_motion(), and with `solved` what the last dyn_solve() adds to them. */
void join_all(const struct model *model, const struct work *work, struct loops *loops, bool solved);

int loop_of(const struct loops *loops, int row);

/* a, b of a turning equation in world axes, and c = a x b */
void turning_directions(const struct equation *e, const struct side *side, double *a, double *b, double *c);

/* The wrenches of a unit multiplier on the two tip frames, times x, added to two loads:  (r x u; u) or (c; 0) */
void add_multiplier(const struct equation *e, const struct side *side, double x, double *on_A, double *on_B);

/* Row k of G: the generalised forces of a unit multiplier of equation kept[k], swept from the joined frames to the base  (52) */
void jacobian_row(const struct model *model, const struct work *work, struct loops *loops, int k);

/* Joined frames at the last dyn_configuration(), G and S = G M^-1 G' of the kept equations, factored. After
   dyn_articulate(). */
enum status loops_mobility(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops);

/* x += X S^-1 rhs; rhs = S^-1 rhs */
void add_response(int n, struct loops *loops, double *x);

static inline double difference(const double *u, const double *x, const double *y)
{
    return u[0] * (x[0] - y[0]) + u[1] * (x[1] - y[1]) + u[2] * (x[2] - y[2]);
}

static inline double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

#endif
