/* A frame at an offset from a link's hinge or tip frame: a loop frame, or an end of an actuator. */
#ifndef MECH_ATTACHMENT_H
#define MECH_ATTACHMENT_H

#include "dyn/tangent.h"

static inline enum point_frame site_frame(const struct site *site)
{
    return site->kind == AT_HINGE ? POINT_HINGE : POINT_TIP;
}

struct attachment {
    double r[3]; /* from the link's frame to this one, world axes [m] */
    struct frame_motion frame;
    struct frame_derivative change; /* in a direction */
};

/* Moves attachment->frame from the link's frame to the attached frame:
   p + r,  v + omega x r,  a + alpha x r + omega x (omega x r); and the derivatives of these. */
void attachment_move(const struct pose *at, struct attachment *attachment);
void attachment_move_change(const struct attachment *attachment, struct frame_derivative *change);

/* u . (x - y) */
static inline double difference(const double *u, const double *x, const double *y)
{
    return u[0] * (x[0] - y[0]) + u[1] * (x[1] - y[1]) + u[2] * (x[2] - y[2]);
}

#endif
