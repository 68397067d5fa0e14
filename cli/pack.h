/* Packing an FMU: fmu, drive. */
#ifndef CLI_PACK_H
#define CLI_PACK_H

#include <json-c/json.h>

#include "generate/generate.h"
#include "options.h"
#include "package.h"

/* Writes the FMU and prints a summary. Its shared libraries are the files that environment variables name, or else those beside this program;
   the one for Windows may be missing, unless it was named. `generated`: instead the library of generated code, for this platform only;
   NULL: none. Does nothing if errors were reported. */
enum status pack_write(const struct common *options, const struct fmu *fmu, struct blob resource,
                       const struct blob *generated, struct report *report);

/* The library of an FMU with generated code, which is written, compiled and linked in a temporary folder (compile.c). No bytes, with a
   report, where that fails. */
struct blob compile_library(const struct generation *what, const char *guid, struct arena *arena,
                            struct report *report);

/* ---- what the kinds of `limber drive` share ---------------------------------------------------------------------- */

struct drive_options {
    struct common common;
    const char *drive;        /* its name, or "controller"              */
    struct text_list sensors; /* outputs of the robot, of a controller  */
};

/* The text of a resource file, with the values of --set added to its parameters; frees the file. NULL, with an exit code, on failure. */
const char *drive_resource(const struct common *options, struct json_object *file, struct json_object *parameters,
                           int *code);

/* `limber drive controller`; an exit code. */
int controller_pack(const struct drive_options *options, struct report *report);

#endif
