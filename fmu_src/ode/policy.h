/* Which integrator an equation gets, and how it is configured: the one place that decides about method, order and tolerance.
   The owner states facts about its equation (struct ode) and what the user asked for. */
#ifndef ODE_POLICY_H
#define ODE_POLICY_H

#include "ode/integrator.h"

/* What the user asked for. */
struct solver_request {
    enum method method;
    double relative_tolerance;
    double max_step;   /* 0: no limit                      [s] */
    int max_order;     /* of CVODE; 0: the policy decides      */
    double fixed_step; /* 0: steps by error control        [s] */
    double max_steps;  /* per communication step; 0: MOST_INTERNAL_STEPS */
    bool dense;        /* Newton iterations with the dense Jacobian */
};

/* Why this request cannot have fixed steps, in words; NULL: it can, or does not ask for them. */
const char *policy_fixed_step_error(const struct solver_request *request);

/* Makes the integrator that suits the equation; integrator_free() frees it. */
enum status policy_integrator(const struct ode *ode, struct integrator **integrator);

/* Options for that integrator; `nominal` as in struct integrator_options. */
struct integrator_options policy_options(const struct solver_request *request, const double *nominal);

/* The same for one method: the tolerance that it has to meet so that all methods err alike, and its order limit. */
struct integrator_options policy_adapt(const struct ode *ode, enum method method,
                                       const struct integrator_options *options);

#endif
