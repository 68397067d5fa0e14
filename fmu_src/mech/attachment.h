/* A frame fixed to a link or to the world: a loop frame, the hinge frame that carries the plane of a loop, an end of a line. */
#ifndef MECH_ATTACHMENT_H
#define MECH_ATTACHMENT_H

#include "dyn/tangent.h"

/* More of enum done, of a mechanism */
enum {
    MECH_MEASURED = 256, /* what elements measure      */
    MECH_FRAMES = 512    /* the places of constraints  */
};

struct attachment {
    double r[3]; /* from O or the section that it is attached to, world axes [m] */
    struct frame_motion frame;
    struct frame_derivative change; /* in a direction */
};

/* Sets r and frame, for the accelerations of the last dyn_motion(); with `solved` also those of the last dyn_articulate_and_solve(). A frame of the
   world is at rest. */
void attachment_place(const struct model *model, const struct work *work, const struct anchor *anchor, bool solved,
                      struct attachment *attachment);

/* Sets r and the position and velocity of the frame's origin alone. */
void attachment_place_point(const struct work *work, const struct anchor *anchor, struct attachment *attachment);

/* Sets change in the direction of the tangent, also in that of one coordinate. */
void attachment_change(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                       struct attachment *attachment);

/* u . (x - y) */
static inline double difference(const double *u, const double *x, const double *y)
{
    return u[0] * (x[0] - y[0]) + u[1] * (x[1] - y[1]) + u[2] * (x[2] - y[2]);
}

#endif
