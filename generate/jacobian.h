/* Derivatives of the forward dynamics. */
#ifndef GENERATE_JACOBIAN_H
#define GENERATE_JACOBIAN_H

#include "generate/parts.h"

/* qdd, d(qdd)/dx and d(qdd)/dqd, nv and nv columns of nv each. */
enum status forward_jacobian(struct robot_parts *parts, expr *output);

#endif
