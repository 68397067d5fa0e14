/* What the kinds of `limber drive` share: their options. */
#ifndef CLI_DRIVE_OPTIONS_H
#define CLI_DRIVE_OPTIONS_H

#include <json-c/json.h>

#include "options.h"
#include "pack.h"

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
