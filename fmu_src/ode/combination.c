#include "ode/combination.h"

#include <string.h>

#include "math/lanes.h"

/* With the count as a constant the sum over the terms stays in registers. */
INLINE void add_up(const int count, const struct combination *terms, int n, double *restrict sum)
{
    for (int i = 0; i < n; i++) {
        double s = terms->weight[0] * terms->x[0][i];
        for (int k = 1; k < count; k++) s += terms->weight[k] * terms->x[k][i];
        sum[i] = s;
    }
}

void combination_sum(const struct combination *terms, int n, double *restrict sum)
{
    if (terms->count == 0) memset(sum, 0, (size_t)n * sizeof *sum);
    else WITH_CONSTANT_COUNT(K, terms->count, add_up(K, terms, n, sum))
}
