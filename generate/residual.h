/* The equations of motion in residual form. */
#ifndef GENERATE_RESIDUAL_H
#define GENERATE_RESIDUAL_H

#include "generate/parts.h"

/* Inverse dynamics without the loads and G' lambda: nv, at accelerations and multipliers that are inputs; and the accelerations of the
   gaps of active constraints. */
enum status residual_forces(struct robot_parts *parts, expr *force, expr *gap);

#endif
