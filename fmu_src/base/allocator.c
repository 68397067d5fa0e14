#include "base/allocator.h"

#include <stdlib.h>

struct allocator allocator_of(void *(*allocate)(size_t count, size_t size), void (*release)(void *block))
{
    if (allocate == NULL || release == NULL) return (struct allocator){calloc, free};
    return (struct allocator){allocate, release};
}
