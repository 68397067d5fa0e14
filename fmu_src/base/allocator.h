/* Memory blocks that are released one by one: from the host's functions if it provides both, else from the C library. */
#ifndef BASE_ALLOCATOR_H
#define BASE_ALLOCATOR_H

#include <stdlib.h>

struct allocator {
    void *(*allocate)(size_t count, size_t size); /* zeroed; NULL if out of memory */
    void (*release)(void *block);
};

/* The host's functions, or calloc() and free() if one of them is missing. */
static inline struct allocator allocator_of(void *(*allocate)(size_t count, size_t size), void (*release)(void *block))
{
    if (allocate == NULL || release == NULL) return (struct allocator){calloc, free};
    return (struct allocator){allocate, release};
}

#endif
