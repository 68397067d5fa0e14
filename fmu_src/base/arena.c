#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 32, BLOCK_BYTES = 1 << 16 };

struct arena_block {
    struct arena_block *older;
    unsigned char *free_from;
    unsigned char *end;
};

void *arena_allocate(struct arena *arena, size_t count, size_t size)
{
    arena->failed = arena->failed || (size != 0 && count > (SIZE_MAX / 4) / size);
    if (arena->failed) return NULL;
    const size_t bytes = (count * size / ALIGNMENT + 1) * ALIGNMENT;
    if (arena->newest == NULL || (size_t)(arena->newest->end - arena->newest->free_from) < bytes) {
        const size_t capacity = (bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES) + ALIGNMENT;
        struct arena_block *block = calloc(1, sizeof *block + capacity);
        arena->failed = block == NULL;
        if (arena->failed) return NULL;
        unsigned char *first = (unsigned char *)(block + 1);
        block->older = arena->newest;
        block->free_from = first + (ALIGNMENT - (uintptr_t)first % ALIGNMENT) % ALIGNMENT;
        block->end = first + capacity;
        arena->newest = block;
    }
    unsigned char *allocated = arena->newest->free_from;
    arena->newest->free_from = allocated + bytes;
    return allocated;
}

char *arena_string(struct arena *arena, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = arena_allocate(arena, bytes, 1);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

char *arena_joined(struct arena *arena, const char *a, const char *b, const char *c)
{
    const size_t bytes = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = arena_allocate(arena, bytes, 1);
    if (text != NULL) snprintf(text, bytes, "%s%s%s", a, b, c);
    return text;
}

void arena_release(struct arena *arena)
{
    struct arena_block *block = arena->newest;
    while (block != NULL) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    arena->newest = NULL;
    arena->failed = 0;
}
