/* Packing an FMU: fmu, drive. */
#ifndef CLI_PACK_H
#define CLI_PACK_H

#include "base/report.h"
#include "options.h"
#include "package.h"

/* Where the shared libraries of an FMU come from: the file that the environment variable of the platform names, or else `name` with the
   platform's extension beside this program. */
struct library_source {
    const char *name;
    const char *variable[PLATFORM_COUNT];
};

/* False, with a report, if one cannot be read; the one for Windows may be missing, unless it was named. `output`: the FMU, which must be
   another file. */
bool pack_libraries(const char *output, const struct library_source *source, struct arena *arena,
                    struct libraries *libraries, struct report *report);

/* Writes the FMU and prints a summary. `generated`: its code is generated, for this platform only. */
enum status pack_write(const struct common *options, const struct fmu *fmu, struct blob resource,
                       const struct libraries *libraries, bool generated, struct report *report);

#endif
