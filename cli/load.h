/* From a robot file to a mechanism or an instance. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "analysis/state.h"
#include "mech/mechanism.h"
#include "sim/sim.h"

struct cli_model {
    struct robot *robot;
    struct mechanism mechanism; /* all constraints are active until independent ones are chosen */
    struct state state;
};

/* A robot file and a STATE file of it (NULL: its start). elastic_terms 0 keeps the robot's. Problems go to standard error, those of
   the STATE to the report; the result is an exit code, and unless it is EXIT_OK nothing is left to free. */
int cli_load_model(const char *file, int elastic_terms, const char *at, struct report *report,
                   struct cli_model *loaded);
void cli_free_model(struct cli_model *loaded);

/* The same taken to an instance. The report must outlive it; the arena has the text. */
int cli_load_sim(const char *file, bool with_state, struct report *report, struct arena *arena, struct instance **sim);

/* full, linear, ruthless; 0 for anything else */
int cli_elastic_terms(const char *name);

#endif
