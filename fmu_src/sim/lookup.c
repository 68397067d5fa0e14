/* Functions of any variable table, of a robot or a drive: find a name, compute the guid. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "sim/variables.h"

int variables_find(const struct variables *v, const char *name)
{
    for (int r = 0; r < v->n; r++)
        if (strcmp(v->row[r].name, name) == 0) return r;
    return -1;
}

void variables_guid(const struct variables *v, const char *text, char guid[GUID_SIZE])
{
    const unsigned long long a = hash_bytes(HASH_START, text, strlen(text));
    unsigned long long b = a;
    for (int r = 0; r < v->n; r++) b = hash_bytes(b, v->row[r].name, strlen(v->row[r].name) + 1);
    snprintf(guid, GUID_SIZE, "{%08llx-%04llx-%04llx-%04llx-%012llx}", a >> 32, (a >> 16) & 0xffff, a & 0xffff, b >> 48,
             b & 0xffffffffffffULL);
}
