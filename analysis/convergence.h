/* Whether a robot has enough mode shapes. */
#ifndef ANALYSIS_CONVERGENCE_H
#define ANALYSIS_CONVERGENCE_H

#include "analysis/summary.h"

/* Compares the first frequency with joints locked, at the start, with that of the same robot with every `count` of modes doubled,
   and reports a change of more than 1 % as a warning. Counts above 25, families whose count is fixed by the shape and nodal bodies
   stay as they are. A robot with more than 150 coordinates is skipped, which is reported too. STATUS_NO_MEMORY. */
enum status convergence_check(const struct robot *robot, const struct summary *summary, struct report *report);

#endif
