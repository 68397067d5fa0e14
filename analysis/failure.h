/* Reports of failures. */
#ifndef ANALYSIS_FAILURE_H
#define ANALYSIS_FAILURE_H

#include "mech/mechanism.h"
#include "sim/sim.h"

/* Reports a failure of a mechanism with the link, loop or line that caused it, and a remedy; nothing for STATUS_OK.
   Returns the status. */
enum status failure_report(struct report *report, const struct mechanism *m, enum status status);

/* The same without a mechanism. */
enum status failure_status(struct report *report, enum status status);

/* Reports that these numbers ("the accelerations") are not finite: STATUS_NOT_FINITE. */
enum status failure_not_finite(struct report *report, const char *numbers);

/* A report that forwards errors to another one and drops warnings. */
struct report failure_errors_only(struct report *to);

/* instance_update(), with a report of why it failed and at what time. All values must be finite: STATUS_NOT_FINITE. */
enum status analysis_update(struct instance *sim, double t, struct report *report);

#endif
