/* Memory of json-c and SUNDIALS. Neither has an allocator to choose, and neither survives every failure of malloc(). So the build lets
   them call functions of vendor.c in place of those of the C library (build/symbols/vendor.txt), and their work runs in vendor_run():
   if memory runs out it ends there and then, and vendor_release() returns what it had taken. An FMU library has vendor.c once, beside its
   sets of instructions (fmi/set.h). */
#ifndef BASE_VENDOR_H
#define BASE_VENDOR_H

#include <stdbool.h>

struct vendor_block;

/* Blocks that were taken in vendor_run() and not given back; zeroed: none. It must stay where it is. */
struct vendor_memory {
    struct vendor_block *first;
    bool failed; /* memory ran out */
};

/* work(context), with the memory that json-c and SUNDIALS take meanwhile in `memory`. False if it ran out: the work is then unfinished,
   and what it made must not be used any more. */
bool vendor_run(struct vendor_memory *memory, void (*work)(void *context), void *context);

void vendor_release(struct vendor_memory *memory);

#endif
