/* A robot file taken all the way to a model that can be computed with. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "mech/mechanism.h"
#include "sim/sim.h"

struct cli_model {
    struct robot *robot;
    struct mechanism mechanism; /* all equations of its loops are kept, redundant ones too, until they are chosen */
};

/* elastic_terms 0 keeps the file's. Problems go to standard error; the result is an exit code, and unless it is EXIT_FINE
   nothing is left to free. */
int cli_load_model(const char *file, int elastic_terms, struct cli_model *loaded);
/* The same for a robot that was read from this file, which it takes over. */
int cli_make_model(const char *file, struct robot *robot, struct cli_model *loaded);
void cli_free_model(struct cli_model *loaded);

/* The same taken to an instance, its drives on a given motion where `motion` is not NULL. The report must outlive it; the arena
   has the text. */
int cli_load_sim(const char *file, const struct sim_motion *motion, struct report *report, struct arena *arena,
                 struct instance **sim);

/* Says which link has nothing that resists its motion, after STATUS_NOT_POSITIVE. */
void cli_not_positive(const char *command, const struct model *model, const struct work *work);

/* Says why the equations of motion have no solution, and which link, or which actuator of the loops, is to blame. */
void cli_not_solved(const char *command, const struct mechanism *mechanism, enum status status);

/* Name of the k-th coordinate of a link, k = 0, 1, ...: that of its FMU variable. */
enum { NAME_SIZE = 1024 };
void cli_coordinate_name(const struct link *link, int k, char name[NAME_SIZE]);

/* full, linear, ruthless; 0 for anything else */
int cli_elastic_terms(const char *name);

#endif
