/* The zip file: deflated, no links, the same bytes for the same content. */
#ifndef PACKAGE_H
#define PACKAGE_H

#include "fmu.h"

enum { PLATFORM_LINUX, PLATFORM_WINDOWS, PLATFORM_COUNT };

struct platform {
    const char *name;   /* what people call it                        */
    const char *folder; /* within binaries                            */
    const char *ending; /* of the name of a shared library            */
    const char *magic;  /* how the bytes of one begin                 */
};

extern const struct platform platforms[PLATFORM_COUNT];

/* The shared library of each system; no bytes: the FMU goes without it. */
struct libraries {
    struct blob of[PLATFORM_COUNT];
};

/* Packs the FMU: its parts, the bytes of the robot's or drive's file and the shared libraries. The file appears whole or not at all; problems go
   to `report`. */
enum status package_write(const struct fmu *fmu, struct blob resource, const struct libraries *libraries,
                          const char *file, struct report *report);

#endif
