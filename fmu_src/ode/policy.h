/* Which integrator an equation gets and how it is configured: the only place that decides about order and tolerance. The owner
   provides facts about its equation (struct ode) and what the user requested. */
#ifndef ODE_POLICY_H
#define ODE_POLICY_H

#include "ode/integrator.h"

/* What the user requested. */
struct solver_request {
    enum method method;
    double relative_tolerance;
    double max_step;   /* 0: no limit                      [s] */
    int max_order;     /* of CVODE; 0: the policy decides      */
    double fixed_step; /* 0: steps by error control        [s] */
    double max_steps;  /* per communication step; 0: default   */
    bool dense;        /* the dense Jacobian in Newton iterations */
};

/* The error message if this request combines fixed steps with a method that has none; otherwise NULL. */
const char *policy_fixed_step_error(const struct solver_request *request);

/* Makes the integrator that suits the equation; integrator_free() frees it. */
enum status policy_integrator(const struct ode *ode, struct integrator **integrator);

/* Options for that integrator; `nominal` as in struct integrator_options. */
struct integrator_options policy_options(const struct solver_request *request, const double *nominal);

/* These options for one method: with the tolerance at which all methods err alike, and the order limit of CVODE. */
struct integrator_options policy_adapt(const struct ode *ode, enum method method,
                                       const struct integrator_options *options);

#endif
