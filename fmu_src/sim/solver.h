/* The parameters solver.* of an instance, as a request to the policy of the integrators. */
#ifndef SIM_SOLVER_H
#define SIM_SOLVER_H

#include "base/report.h"
#include "ode/policy.h"
#include "sim/variables.h"

/* From the values of an instance. A relative tolerance of 0 leaves it to the importer. */
struct solver_request solver_request_of(const struct variables *variables, const double *value);

/* Reports parameters that exclude each other, though each is valid alone; `prefix` begins the message. Returns their number. */
int solver_report_conflicts(const struct variables *variables, const double *value, const char *prefix,
                            struct report *report);

#endif
