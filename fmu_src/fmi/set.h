/* The fmi2 functions as a table. An FMU library holds everything twice: for any processor, and for those with AVX2 and FMA. Each of
   these sets has a table; the exported functions (boundary.c) choose one in fmi2Instantiate and call the functions through it. */
#ifndef FMI_SET_H
#define FMI_SET_H

#include <fmi2Functions.h>

#include "fmi/calls.h"

struct fmi_set {
    const char *name; /* of its instructions */
    fmi2InstantiateTYPE *fmi2Instantiate;
    fmi2FreeInstanceTYPE *fmi2FreeInstance;
#define SET_MEMBER(function, states, audience) function##TYPE *function;
    CALL_LIST(SET_MEMBER)
#undef SET_MEMBER
};

/* What an fmi2Component points to begins with its set, which is all that the exported functions know of it. */
struct fmi_handle {
    const struct fmi_set *set;
};

/* The table of the set that this file is compiled in */
extern const struct fmi_set fmi_set;

#endif
