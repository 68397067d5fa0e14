/* What linearize and zeros share: their options, and a robot linearized as these say. */
#ifndef CLI_LINEARIZATION_H
#define CLI_LINEARIZATION_H

#include <json-c/json.h>

#include "analysis/linear.h"

struct linear_options {
    const char *robot;
    const char *at; /* STATE file; NULL: the robot's start */
    bool standing;  /* --static                            */
};

/* Takes --at STATE, --static, --json and ROBOT, one step of a loop over the arguments; an exit code. */
int linear_option(const char *command, int argc, char **argv, int *i, struct linear_options *options);

struct linearization {
    struct operating_point point;
    struct linear linear;
    struct arena arena; /* the robot file */
};

/* To be freed in any case, and not to be moved. */
enum status linearization_make(const struct linear_options *options, bool minimal, struct report *report,
                               struct linearization *l);
void linearization_free(struct linearization *l);

/* The operating point as a STATE, qdd included. */
struct json_object *json_operating_point(const struct operating_point *point);

#endif
