/* The zip file: deflated, no links; the same content gives the same bytes. */
#ifndef PACKAGE_H
#define PACKAGE_H

#include "fmu.h"

enum { PLATFORM_LINUX, PLATFORM_WINDOWS, PLATFORM_COUNT };

struct platform {
    const char *name;   /* usual name                                 */
    const char *folder; /* within binaries                            */
    const char *ending; /* extension of a shared library              */
    const char *magic;  /* first bytes of a shared library            */
};

extern const struct platform platforms[PLATFORM_COUNT];

/* The shared library of each system; no bytes: the FMU does not contain it. */
struct libraries {
    struct blob of[PLATFORM_COUNT];
};

/* Packs the FMU: its parts, the bytes of the robot's or drive's file and the shared libraries. Problems are reported to `report`, and
   the result then has no bytes. */
struct blob package_make(const struct fmu *fmu, struct blob resource, const struct libraries *libraries,
                         struct arena *arena, struct report *report);

#endif
