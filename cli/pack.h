/* What commands that make one file of another share (fmu, drive, upgrade): their options; and packing an FMU. */
#ifndef CLI_PACK_H
#define CLI_PACK_H

#include "base/report.h"
#include "package.h"

/* The options that all of them take. */
struct pack_options {
    const char *command;     /* fmu, drive or upgrade              */
    const char *noun, *file; /* what subject and output are called */
    const char *subject;     /* robot file, or name of a drive     */
    const char *output;
    bool json;
    bool generated; /* of fmu alone: for this system, and why */
};

/* Takes one argument, and the one behind it where it is -o; an exit code. */
int pack_argument(struct pack_options *options, int argc, char **argv, int *i);
/* Complains where something is missing. */
int pack_complete(const struct pack_options *options);
/* All arguments of a command that takes no others. */
int pack_arguments(struct pack_options *options, int argc, char **argv);

/* Where the shared libraries of an FMU come from: the file that the system's environment variable names, or else `name` with the
   system's ending beside this program. */
struct library_source {
    const char *name;
    const char *variable[PLATFORM_COUNT];
};

/* False, with a report, where one cannot be read; the one for Windows may be missing, unless it was named. */
bool pack_libraries(const struct pack_options *options, const struct library_source *source, struct arena *arena,
                    struct libraries *libraries, struct report *report);

/* Writes the FMU and prints a summary. */
enum status pack_write(const struct pack_options *options, const struct fmu *fmu, struct blob resource,
                       const struct libraries *libraries, struct report *report);

/* For struct report: errors as `limber fmu: TEXT`; the context is the options. */
void pack_print_error(void *context, enum report_level level, const char *text);

#endif
