/* The parameters solver.* of an instance, as options of its integrator. */
#ifndef SIM_SOLVER_H
#define SIM_SOLVER_H

#include "base/report.h"
#include "ode/policy.h"
#include "sim/variables.h"

/* The options by the values of an instance, without nominal values. A relative tolerance of 0 means that of the importer. */
struct integrator_options solver_options(const struct variables *variables, const double *value);

/* Reports combinations of values that are not possible, although each value is valid. Messages begin with `prefix`. Returns the
   number of errors. */
int solver_report_conflicts(const struct variables *variables, const double *value, const char *prefix,
                            struct report *report);

#endif
