/* The parameters solver.* of an instance, as a request to ode/policy.h. */
#ifndef SIM_SOLVER_H
#define SIM_SOLVER_H

#include "base/report.h"
#include "ode/policy.h"
#include "sim/variables.h"

/* The request, from the values of an instance. A relative tolerance of 0 means that of the importer. */
struct solver_request solver_request_of(const struct variables *variables, const double *value);

/* Reports combinations of values that are not possible, although each value is valid. Messages begin with `prefix`. Returns the
   number of errors. */
int solver_report_conflicts(const struct variables *variables, const double *value, const char *prefix,
                            struct report *report);

#endif
