/* Packing an FMU: what `limber fmu` and `limber drive` share. */
#ifndef CLI_PACK_H
#define CLI_PACK_H

#include "base/report.h"
#include "package.h"

/* The options that both take. */
struct pack_options {
    const char *command; /* fmu or drive                  */
    const char *noun;    /* robot file or drive           */
    const char *subject; /* robot file, or name of a drive */
    const char *output;
    bool json;
};

/* Takes one argument, and the one behind it where it is -o; an exit code. */
int pack_argument(struct pack_options *options, int argc, char **argv, int *i);
/* Complains where something is missing. */
int pack_complete(const struct pack_options *options);

/* The shared library that goes into the FMU: the file that the environment variable names, or else `name` beside this program.
   NULL bytes, with a report, where it cannot be read. */
struct blob pack_library(const char *variable, const char *name, struct arena *arena, struct report *report);

/* Writes the FMU and prints a summary. */
enum status pack_write(const struct pack_options *options, const struct fmu *fmu, struct blob resource,
                       struct blob library, struct report *report);

/* For struct report: errors as `limber fmu: TEXT`; the context is the options. */
void pack_print_error(void *context, enum report_level level, const char *text);

int pack_exit_code(enum status status);

#endif
