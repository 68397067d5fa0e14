#include "ode/policy.h"

/* Below this tolerance the error test keeps orders 3 to 5 inside their stable region, with lightly damped modes as well
   (bench/integration.py). */
static const double TIGHT = 2e-6;

/* The fraction of the tolerance that order 5 has to meet, so that errors continue to fall where the order limit changes */
static const double FRACTION = 0.1;

const char *policy_fixed_step_error(const struct integrator_options *options)
{
    if (!(options->fixed_step > 0)) return NULL;
    switch (options->method) {
    case METHOD_CVODE:
        return "CVODE (solver.method = 1) takes no fixed steps; choose solver.method = 0, 2 or 4, or solver.fixed_step "
               "= 0";
    case METHOD_EXPLICIT:
        return "the explicit method (solver.method = 3) takes no fixed steps; choose solver.method = 0, 2 or 4, or "
               "solver.fixed_step = 0";
    default: return NULL;
    }
}

/* Factors of the tolerance of one-step methods. With the first two, errors of accelerations are of the same size: with rtol 1e-6 below
   1 % of their range on the forced Canadarm, with 1e-8 below 1e-4 (bench/integration.py) */
static const double TOLERANCE_FACTOR[METHODS] = {
    [METHOD_ESDIRK] = 0.7, [METHOD_EXPLICIT] = 1.5, [METHOD_SYMMETRIC] = 10};

/* BDF of orders 3 to 5 is unstable near the imaginary axis, where lightly damped modes lie: for these the order limit is 2 at
   loose tolerances. Otherwise order 5 takes fewer steps. */
struct integrator_options policy_adapt(const struct ode *ode, enum method method,
                                       const struct integrator_options *options)
{
    struct integrator_options adapted = *options;
    if (method != METHOD_CVODE) {
        adapted.relative_tolerance *= TOLERANCE_FACTOR[method];
    } else if (options->max_order <= 0) {
        const bool order_2 = ode->oscillatory && options->relative_tolerance > TIGHT;
        adapted.max_order = order_2 ? 2 : 5;
        if (!order_2) adapted.relative_tolerance *= FRACTION;
    }
    return adapted;
}
