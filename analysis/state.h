/* STATE: positions, velocities and applied forces of a robot, from the JSON document of the command line. Members that are missing
   have the values of the robot's start (q, qd, states of drives) or are zero (tau and forces, inputs of drives). */
#ifndef ANALYSIS_STATE_H
#define ANALYSIS_STATE_H

#include "sim/point.h"

struct state {
    struct point at;
    struct input input; /* points to the arrays of `at`          */
    double *qdd;        /* nv; NULL if the document has none     */
    double *w;          /* states of drives likewise             */
    struct arena arena;
};

/* Each of these fills a state for the model. Every problem is reported with its path in the document. STATUS_BAD_INPUT, STATUS_NO_FILE,
   STATUS_NO_MEMORY; the arena of the state is to be released in any case. */

/* The robot's start, without forces. */
enum status state_start(const struct model *model, struct report *report, struct state *state);
/* A JSON text; `name` is its name in messages. */
enum status state_parse(const struct model *model, const char *name, const char *text, struct report *report,
                        struct state *state);
/* A JSON file ("-": standard input); NULL: the robot's start. */
enum status state_read(const struct model *model, const char *file, struct report *report, struct state *state);

/* The same into the arrays of a point. */
enum status state_read_into(const struct point *at, const char *file, struct report *report, struct state *state);

/* After drives have started: states of drives that the document gives. */
void state_set_drives(const struct state *state);

#endif
