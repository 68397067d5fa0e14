/* Forces of line actuators that hold passive joints. */
#ifndef ANALYSIS_ACTUATED_H
#define ANALYSIS_ACTUATED_H

#include "mech/mechanism.h"

/* Actuator forces F of B_p F = force_p, which give passive joints the generalized forces of dyn_inverse(): the least-squares
   solution of the smallest norm. B F is subtracted from `force`, for all coordinates. After dyn_configuration() and
   dyn_inverse(). */
enum status actuated_forces(struct mechanism *m, double *force, double *F, struct report *report);

#endif
