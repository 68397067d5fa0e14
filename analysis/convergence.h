/* Whether a robot has enough mode shapes. */
#ifndef ANALYSIS_CONVERGENCE_H
#define ANALYSIS_CONVERGENCE_H

#include "analysis/summary.h"

/* Compares the first frequency with joints locked, at the start, with that of the same robot with every `count` of modes doubled:
   a change of more than 1 % is reported as a warning. Counts above 25 and families whose count is fixed by the shape stay as they
   are, nodal bodies too. Robots with more than 150 coordinates are skipped, which is reported. STATUS_NO_MEMORY. */
enum status convergence_check(const struct robot *robot, const struct summary *summary, struct report *report);

#endif
