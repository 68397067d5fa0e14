/* The zip file: deflated, no links, the same bytes for the same content. */
#ifndef PACKAGE_H
#define PACKAGE_H

#include "fmu.h"

/* Packs the FMU: its parts, the bytes of the robot's or drive's file and the shared library. The file appears whole or not at all; problems go
   to `report`. */
enum status package_write(const struct fmu *fmu, struct blob resource, struct blob library, const char *file,
                          struct report *report);

#endif
