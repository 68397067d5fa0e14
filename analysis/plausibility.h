/* Numbers of a robot that are valid but probably an error: a wrong unit, degrees, a factor of a thousand. */
#ifndef ANALYSIS_PLAUSIBILITY_H
#define ANALYSIS_PLAUSIBILITY_H

#include "analysis/summary.h"

/* Reports each of them as a warning with its path, its value and the usual values: moduli, densities, start positions and limits of
   joints, frequencies and lengths of links, static deflections, gravity. Changes nothing but the work of the summary's mechanism.
   STATUS_NO_MEMORY. */
enum status plausibility_check(const struct robot *robot, const struct summary *summary, struct report *report);

#endif
