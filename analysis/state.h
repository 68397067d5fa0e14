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

/* The robot's start without forces: in arrays of its own, or in those of a point. STATUS_NO_MEMORY, which is reported. The arena of the
   state is to be released in any case. */
enum status state_start(const struct model *model, struct report *report, struct state *state);
void state_place(const struct point *at, struct state *state);

/* Reads members of a document into a state at the start: a JSON text, `name` being its name in messages, or a JSON file ("-": standard
   input; NULL: none). Every problem is reported with its path in the document. STATUS_BAD_INPUT, STATUS_NO_FILE, STATUS_NO_MEMORY. */
enum status state_parse(const char *name, const char *text, struct report *report, struct state *state);
enum status state_read(const char *file, struct report *report, struct state *state);

/* After drives have started: states of drives that the document gives. */
void state_set_drives(const struct state *state);

#endif
