/* The range of a number, and the error for a number outside it. */
#ifndef BASE_LIMIT_H
#define BASE_LIMIT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct limit {
    double min, max; /* both allowed; infinite: no limit */
    bool whole;      /* an integer                   */
    const char *error;
};

/* The numbers next to 0 and 1, for ranges that exclude 0 or 1 */
#define ABOVE_0 DBL_MIN
#define BELOW_1 (1 - DBL_EPSILON / 2)

/* Why a value is not allowed; NULL: it is. Without a limit any value is allowed. */
static inline const char *limit_error(const struct limit *limit, double value)
{
    const bool ok =
        limit == NULL || (value >= limit->min && value <= limit->max && (!limit->whole || value == floor(value)));
    return ok ? NULL : limit->error;
}

#endif
