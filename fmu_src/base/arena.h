/* Memory that lives and dies together: many takes, one release. Used at initialisation only. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *newest; /* blocks, newest first; NULL when empty          */
    int failed;                 /* a take did not find memory: nothing after it does */
};

/* Zeroed memory for count items of size bytes, aligned for any type and for 32-byte vectors; NULL when there is none.
   count = 0 gives a valid pointer that must not be read. */
void *arena_take(struct arena *arena, size_t count, size_t size);

/* A copy of a string. */
char *arena_string(struct arena *arena, const char *text);

void arena_release(struct arena *arena);

#endif
