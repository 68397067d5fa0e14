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

/* Adds the values of --set to the parameters of a resource file. An exit code. */
int drive_put_settings(const struct common *options, struct arena *arena, struct json_object *parameters);

/* `limber drive controller`; an exit code. */
int controller_pack(const struct drive_options *options, struct report *report);

#endif
