/* The licenses of the software in an FMU: build/components.py writes the table. */
#ifndef LICENSES_H
#define LICENSES_H

#include <stdbool.h>
#include <stddef.h>

struct license {
    const char *what; /* the software                              */
    const char *role; /* what it does in the FMU                   */
    const char *name; /* SPDX expression                           */
    const char *file; /* within documentation/licenses             */
    const unsigned char *text;
    size_t size;
    bool of_scene; /* only where the documentation has a scene  */
};

extern const struct license licenses[];
extern const int license_count;
extern const char license_summary[];

#endif
