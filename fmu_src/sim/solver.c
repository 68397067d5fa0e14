#include "sim/solver.h"

#include "base/tolerance.h"

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
    const double tolerance = options.relative_tolerance;
    if (tolerance != 0 && !is_tolerance(tolerance)) {
        report_add(report, REPORT_ERROR, "%s%s = %.9g: must be 0 (the importer's), or from %g to less than 1", prefix,
                   variables->by_reference[variables->solver.relative_tolerance]->name, tolerance, TIGHTEST_TOLERANCE);
        return 1;
    }
    const char *error = policy_fixed_step_error(&options);
    if (error == NULL) return 0;
    report_add(report, REPORT_ERROR, "%s%s = %.9g: %s [s]", prefix,
               variables->by_reference[variables->solver.fixed_step]->name, options.fixed_step, error);
    return 1;
}
