/* Numbers of a robot that are legal and almost surely a slip: a wrong unit, degrees, a factor of a thousand. */
#ifndef ANALYSIS_PLAUSIBILITY_H
#define ANALYSIS_PLAUSIBILITY_H

#include "analysis/summary.h"

/* Reports each of them as a warning with its place, its value and what is usual: moduli, densities, start positions and limits of
   joints, frequencies and lengths of links, static deflections, gravity. Reports nothing else and changes nothing but the
   work of the summary's mechanism. STATUS_NO_MEMORY. */
enum status plausibility_check(const struct robot *robot, const struct summary *summary, struct report *report);

#endif
