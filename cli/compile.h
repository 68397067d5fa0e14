/* The library of an FMU with generated code: written, compiled and linked in a temporary folder. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "generate/generate.h"
#include "package.h"

/* Its bytes; none, with a report, where that fails. */
struct blob compile_library(const struct generation *what, const char *guid, struct arena *arena,
                            struct report *report);

#endif
