#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 32, BLOCK_BYTES = 1 << 16 };

struct arena_block {
    struct arena_block *older;
    unsigned char *free_from;
    unsigned char *end;
};

static unsigned char *align_up(unsigned char *at)
{
    const uintptr_t over = (uintptr_t)at % ALIGNMENT;
    return over == 0 ? at : at + (ALIGNMENT - over);
}

static int add_block(struct arena *arena, size_t bytes)
{
    const size_t room = (bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES) + ALIGNMENT;
    struct arena_block *block = calloc(1, sizeof *block + room);
    if (block == NULL) return -1;
    block->older = arena->newest;
    block->free_from = align_up((unsigned char *)(block + 1));
    block->end = (unsigned char *)(block + 1) + room;
    arena->newest = block;
    return 0;
}

void *arena_allocate(struct arena *arena, size_t count, size_t size)
{
    if (arena->failed || (size != 0 && count > (SIZE_MAX / 4) / size)) {
        arena->failed = 1;
        return NULL;
    }
    const size_t bytes = (count * size / ALIGNMENT + 1) * ALIGNMENT;
    if (arena->newest == NULL || (size_t)(arena->newest->end - arena->newest->free_from) < bytes) {
        if (add_block(arena, bytes) != 0) {
            arena->failed = 1;
            return NULL;
        }
    }
    unsigned char *taken = arena->newest->free_from;
    arena->newest->free_from = taken + bytes;
    return taken;
}

char *arena_string(struct arena *arena, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = arena_allocate(arena, bytes, 1);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
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
