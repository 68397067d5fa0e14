/* Values of an instance, checked. */
#ifndef ANALYSIS_CHECKED_H
#define ANALYSIS_CHECKED_H

#include "sim/sim.h"

/* instance_update(), with a report of why it failed and at what time. All values must be finite: STATUS_NOT_FINITE. */
enum status checked_update(struct instance *sim, double t, struct report *report);

#endif
