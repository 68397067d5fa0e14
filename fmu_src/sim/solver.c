#include "sim/solver.h"

struct integrator_options solver_options(const struct variables *variables, const double *value)
{
    const struct solver_parameters *solver = &variables->solver;
    if (solver->method < 0) return (struct integrator_options){0};
    return (struct integrator_options){.method = (enum method)value[solver->method],
                                       .relative_tolerance = value[solver->relative_tolerance],
                                       .max_step = value[solver->max_step],
                                       .max_order = (int)value[solver->max_order],
                                       .fixed_step = value[solver->fixed_step],
                                       .max_steps = value[solver->max_steps],
                                       .dense = solver->dense_jacobian >= 0 && value[solver->dense_jacobian] != 0};
}

int solver_report_conflicts(const struct variables *variables, const double *value, const char *prefix,
                            struct report *report)
{
    const struct integrator_options options = solver_options(variables, value);
    const char *error = policy_fixed_step_error(&options);
    if (error == NULL) return 0;
    report_add(report, REPORT_ERROR, "%s%s = %.9g: %s [s]", prefix,
               variables->by_reference[variables->solver.fixed_step]->name, options.fixed_step, error);
    return 1;
}
