/* Serialized states with other contents: a checksum that fits them again (fmi/state.c has the layout). */
#ifndef ORACLE_FORGE_H
#define ORACLE_FORGE_H

#include <string.h>

#include "base/hash.h"

enum { FORGE_SIZE_AT = 16, FORGE_CHECKSUM_AT = 24 };

/* The checksum of all bytes, with its own field zero */
static inline void forge_checksum(unsigned char *bytes, size_t size)
{
    if (size < FORGE_CHECKSUM_AT + sizeof(uint64_t)) return;
    memset(bytes + FORGE_CHECKSUM_AT, 0, sizeof(uint64_t));
    const uint64_t checksum = hash_bytes(HASH_START, bytes, size);
    memcpy(bytes + FORGE_CHECKSUM_AT, &checksum, sizeof checksum);
}

#endif
