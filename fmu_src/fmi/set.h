/* The fmi2 functions as a table. An FMU library contains two sets of all functions: one for any processor, one for processors with AVX2
   and FMA. Each set has a table; the exported functions (boundary.c) choose one in fmi2Instantiate and call the functions through it. */
#ifndef FMI_SET_H
#define FMI_SET_H

#include <fmi2Functions.h>

#include "fmi/calls.h"

struct fmi_set {
    const char *name; /* of the instruction set */
    fmi2InstantiateTYPE *fmi2Instantiate;
    fmi2FreeInstanceTYPE *fmi2FreeInstance;
#define SET_MEMBER(function, states, audience) function##TYPE *function;
    CALL_LIST(SET_MEMBER)
#undef SET_MEMBER
};

/* The beginning of what an fmi2Component points to, which is all that the exported functions use. */
struct fmi_handle {
    const struct fmi_set *set;
};

/* The table of the set that a file is compiled for */
extern const struct fmi_set fmi_set;

#endif
