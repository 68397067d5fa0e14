/* Several arrays of numbers from one arena. */
#ifndef ANALYSIS_ARRAYS_H
#define ANALYSIS_ARRAYS_H

#include "base/arena.h"

/* The addresses of pointers to arrays, for arrays_allocate(). */
#define ARRAYS(...)       \
    (double **const[])    \
    {                     \
        __VA_ARGS__, NULL \
    }

/* Lets each pointer point to n zeros. The arena notes when memory runs out. */
static inline void arrays_allocate(struct arena *arena, size_t n, double **const *array)
{
    for (; *array != NULL; array++) **array = arena_allocate(arena, n, sizeof(double));
}

#endif
