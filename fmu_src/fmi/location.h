/* The file name for the resource location that the importer passes. */
#ifndef FMI_LOCATION_H
#define FMI_LOCATION_H

#include "base/arena.h"

/* The file `name` in the folder that a resource location means: file:///x, file:/x, file:////x, file://localhost/x, percent
   codes, trailing slashes, or a plain path; on Windows also file:///C:/x, file://server/x and backslashes. NULL, with the reason in
   *error, if it means none. */
const char *location_file(const char *location, const char *name, struct arena *arena, const char **error);

/* The contents of a file as text, in the arena. NULL with the reason in *error. */
const char *location_read(const char *file, struct arena *arena, const char **error);

#endif
