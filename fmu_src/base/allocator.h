/* Single blocks that a caller hands back one by one: from the host's functions where it gives both, else from the C library. */
#ifndef BASE_ALLOCATOR_H
#define BASE_ALLOCATOR_H

#include <stddef.h>

struct allocator {
    void *(*take)(size_t count, size_t size); /* zeroed, NULL when there is none */
    void (*give_back)(void *block);
};

/* The host's pair, or the C library's where one of them is missing. */
struct allocator allocator_of(void *(*take)(size_t count, size_t size), void (*give_back)(void *block));

#endif
