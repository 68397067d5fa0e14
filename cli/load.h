/* From a robot file to a mechanism. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "analysis/state.h"
#include "mech/mechanism.h"
#include "options.h"

struct cli_model {
    struct robot *robot;
    struct mechanism mechanism; /* all constraints are active until independent ones are chosen */
    struct state state;
};

/* The robot with its STATE and elastic terms, as the options choose them. Errors go to standard error, those of the STATE to the
   report. The result is an exit code; unless it is EXIT_OK, nothing is left to free. */
int cli_load_model(const struct common *options, struct report *report, struct cli_model *loaded);
void cli_free_model(struct cli_model *loaded);

#endif
