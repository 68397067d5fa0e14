/* Memory of json-c and SUNDIALS. Neither accepts an allocator, and neither survives every failure of malloc(). Therefore the build lets
   them call functions of vendor.c in place of those of the C library (build/symbols/vendor.txt), and their work runs in vendor_run():
   if memory runs out, the work ends at once, and vendor_release() frees what it allocated. An FMU library contains vendor.c once, in
   addition to its two sets of functions (fmi/set.h). */
#ifndef BASE_VENDOR_H
#define BASE_VENDOR_H

#include <stdbool.h>

struct vendor_block;

/* Blocks that were allocated in vendor_run() and not released; zeroed: none. The struct must not be moved. */
struct vendor_memory {
    struct vendor_block *first;
    bool failed; /* memory ran out */
};

/* Calls work(context); `memory` records what json-c and SUNDIALS allocate in it. False if memory ran out: the work is then unfinished,
   and its results must not be used. */
bool vendor_run(struct vendor_memory *memory, void (*work)(void *context), void *context);

void vendor_release(struct vendor_memory *memory);

#endif
