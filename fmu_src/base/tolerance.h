/* The range of relative tolerances, in one place: for parameters, for importers and for the command line. */
#ifndef BASE_TOLERANCE_H
#define BASE_TOLERANCE_H

#include <stdbool.h>

/* Below this tolerance rounding errors are larger than the requested error. */
#define TIGHTEST_TOLERANCE 1e-15

static inline bool is_tolerance(double value)
{
    return value >= TIGHTEST_TOLERANCE && value < 1;
}

#endif
