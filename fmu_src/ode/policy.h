/* How an integrator is configured: the only place that decides about order and tolerance. The owner provides facts about its equation
   (struct ode) and what the user requested. */
#ifndef ODE_POLICY_H
#define ODE_POLICY_H

#include "ode/integrator.h"

/* The error message if these options combine fixed steps with a method that has none; otherwise NULL. */
const char *policy_fixed_step_error(const struct integrator_options *options);

/* Options as the user requested them, adapted to one method: with the tolerance at which errors of all methods are of the same size,
   and with the order limit of CVODE. */
struct integrator_options policy_adapt(const struct ode *ode, enum method method,
                                       const struct integrator_options *options);

#endif
