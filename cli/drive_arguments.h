/* What the kinds of `limber drive` share: their options. */
#ifndef CLI_DRIVE_ARGUMENTS_H
#define CLI_DRIVE_ARGUMENTS_H

#include "instance.h"
#include "pack.h"

/* All arguments behind the first; an exit code. `sensors`: names after --sensor; NULL: there is no such option. */
int drive_arguments(int argc, char **argv, struct pack_options *options, struct settings *settings,
                    struct settings *sensors);

/* `limber drive controller`; argv[0] is "controller". */
int command_drive_controller(int argc, char **argv);

#endif
