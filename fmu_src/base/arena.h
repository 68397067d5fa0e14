/* Memory with one lifetime: many allocations, one release. Used only during initialization. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *newest; /* blocks, newest first; NULL: empty              */
    int failed;                 /* out of memory: all later calls return NULL */
};

/* Zeroed memory for count items of size bytes, aligned for any type and for 32-byte vectors; NULL if out of
   memory. count = 0 returns a valid pointer that must not be dereferenced. */
void *arena_allocate(struct arena *arena, size_t count, size_t size);

/* Lets each pointer point to n zeros: arena_arrays(arena, n, ARRAYS(&a, &b)) */
#define ARRAYS(...)       \
    (double **const[])    \
    {                     \
        __VA_ARGS__, NULL \
    }
static inline void arena_arrays(struct arena *arena, size_t n, double **const *array)
{
    for (; *array != NULL; array++) **array = arena_allocate(arena, n, sizeof(double));
}

/* A copy of a string, and of three, one after the other. */
char *arena_string(struct arena *arena, const char *text);
char *arena_joined(struct arena *arena, const char *a, const char *b, const char *c);

void arena_release(struct arena *arena);

#endif
