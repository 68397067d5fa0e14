/* Which integrator an equation gets and how it is configured: the only place that decides about order and tolerance. The owner
   provides facts about its equation (struct ode) and what the user requested. */
#ifndef ODE_POLICY_H
#define ODE_POLICY_H

#include "ode/integrator.h"

/* The error message if these options combine fixed steps with a method that has none; otherwise NULL. */
const char *policy_fixed_step_error(const struct integrator_options *options);

/* Makes the integrator that suits the equation; integrator_free() frees it. */
enum status policy_integrator(const struct ode *ode, struct integrator **integrator);

/* Options as the user requested them, adapted to one method: with the tolerance at which all methods err alike, and the order limit of CVODE. */
struct integrator_options policy_adapt(const struct ode *ode, enum method method,
                                       const struct integrator_options *options);

#endif
