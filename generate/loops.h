/* Constraints: wrenches on parts or forces on joints, accelerations of gaps, and how the multipliers change a solution. */
#ifndef GENERATE_LOOPS_H
#define GENERATE_LOOPS_H

#include "generate/parts.h"

/* A point of a part, or of a section of it in axes of F; part -1: the world. */
struct site_part {
    int part, section;
    struct path path; /* to the anchor's frame                                  */
    expr r[3];        /* the anchor's origin in axes of what carries the anchor */
};

/* An active constraint: of a coupling its forces on joints; of a loop the wrench of a unit multiplier on its sides, in axes of what
   carries them. */
struct constraint_part {
    const struct coupling *coupling; /* NULL: of a loop */
    const struct equation *equation;
    int n_sides; /* 3 where the plane of the gap turns: O of the link that carries it */
    struct site_part side[LOOP_SITES];
    expr wrench[LOOP_SITES][6];
    struct vector direction;      /* u, or c = a x b, axes of our world                          */
    struct vector distance, rate; /* where the plane turns: p_A - p_B and v_A - v_B, axes of our world */
};

struct loop_parts {
    int n; /* active constraints */
    struct constraint_part *row;
    struct residual *unit; /* n: residuals of unit multipliers                  */
    expr **weighted;       /* n: the same over the pivots                       */
    expr *inverse_pivot;   /* nv: 1/D of columns and modes; 0 of prescribed     */
    expr *S, *inverse_d;   /* n x n: factors of G M^-1 G'                       */
};

/* Directions and wrenches at q; `failed` of the arena: out of memory. */
void loops_make(struct robot_parts *parts, struct loop_parts *loops);
/* Residuals of unit multipliers and the factors of S. After parts_articulate(). */
void loops_factor(struct robot_parts *parts, struct loop_parts *loops);
/* Acceleration of the gap of a row for the motion of parts_motion(), with the accelerations given there. */
expr loops_gap_acceleration(struct robot_parts *parts, const struct constraint_part *row, const expr *qdd);
/* force += generalized forces of the multiplier of a row. */
void loops_add_row(struct robot_parts *parts, const struct constraint_part *row, expr lambda, expr *force);
/* lambda = -S^-1 (G x + gap), x the solution of the open tree whose residuals are r; r becomes that of the closed robot. */
void loops_close(struct robot_parts *parts, const struct loop_parts *loops, const expr *gap, struct residual *r,
                 expr *lambda);

/* Wrenches as inertia forces with the opposite sign, in b of parts and sections: of multipliers, and a wrench (torque; force) at the origin
   of an anchor, axes of the world. */
void loops_apply(struct robot_parts *parts, const struct loop_parts *loops, const expr *lambda);
void loops_apply_wrench(struct robot_parts *parts, const struct anchor *anchor, const expr given[6]);

#endif
