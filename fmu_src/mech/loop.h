/* Closed loops: frames on two links that a ball, a pin, a weld or a plane keeps together. (theory.md 50 to 57, 95, 96) */
#ifndef MECH_LOOP_H
#define MECH_LOOP_H

#include "mech/attachment.h"

/* One row: the gap along a direction, u'(p_A - p_B) = 0, u fixed in the world or, if it turns, in O of a link; or, if rotational, two
   directions that stay perpendicular, a'b = 0, a fixed in A and b in B. */
struct equation {
    bool rotational, turns;
    double u[3];       /* world axes, or axes of O */
    double a[3], b[3]; /* in the loop frames */
};

enum { MOST_EQUATIONS = 6 };

struct loop_places {
    struct equation equation[MOST_EQUATIONS];
    struct attachment side[LOOP_SITES];
};

/* Its equations; returns their number. */
int loop_make(const struct robot *robot, const struct loop *loop, struct equation *equation);
int loop_equations(enum loop_type type);

#endif
