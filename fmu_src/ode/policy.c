#include "ode/policy.h"

#include <stdlib.h>

#include "ode/cvode.h"
#include "ode/esdirk.h"

/* Below this tolerance the error test keeps orders 3 to 5 inside their stable region, with lightly damped modes as well
   (bench/integration.py). */
static const double TIGHT = 2e-6;

/* The fraction of the tolerance that order 5 has to meet, so that errors continue to fall where the order limit changes */
static const double FRACTION = 0.1;

enum status policy_integrator(const struct ode *ode, struct integrator **integrator)
{
    return getenv("ESDIRK") ? esdirk_make(ode, getenv("DENSE") != NULL, integrator) : cvode_make(ode, integrator);
}

/* BDF of orders 3 to 5 is unstable near the imaginary axis, where lightly damped modes lie: for these the order limit is 2 at
   loose tolerances. Otherwise order 5 takes fewer steps. */
struct integrator_options policy_options(const struct ode *ode, const struct solver_request *request,
                                         const double *nominal)
{
    const bool order_2 = ode->oscillatory && request->relative_tolerance > TIGHT;
    struct integrator_options options = {.relative_tolerance = request->relative_tolerance,
                                         .nominal = nominal,
                                         .max_step = request->max_step,
                                         .max_order = request->max_order};
    if (request->max_order > 0) return options;
    options.max_order = order_2 ? 2 : 5;
    if (!order_2) options.relative_tolerance *= FRACTION;
    return options;
}
