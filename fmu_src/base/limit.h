/* The range of a number, and what to say of one outside it. */
#ifndef BASE_LIMIT_H
#define BASE_LIMIT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct limit {
    double min, max; /* both allowed; infinite: none */
    bool whole;      /* an integer                   */
    const char *error;
};

/* The numbers next to 0 and 1, for ranges that exclude these */
#define ABOVE_0 DBL_MIN
#define BELOW_1 (1 - DBL_EPSILON / 2)

/* What is wrong with a value, in words; NULL: nothing. No limit allows any value. */
static inline const char *limit_error(const struct limit *limit, double value)
{
    const bool fine =
        limit == NULL || (value >= limit->min && value <= limit->max && (!limit->whole || value == floor(value)));
    return fine ? NULL : limit->error;
}

#endif
