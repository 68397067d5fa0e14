/* base/vendor.h in the page, in place of base/vendor.c: WebAssembly has no setjmp(), and a page that runs out of memory ends. json-c calls
   the functions of its C library here. */
#include "base/vendor.h"

bool vendor_run(struct vendor_memory *memory, void (*work)(void *context), void *context)
{
    (void)memory;
    work(context);
    return true;
}

void vendor_release(struct vendor_memory *memory)
{
    (void)memory;
}
