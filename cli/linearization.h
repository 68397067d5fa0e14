/* Shared by linearize and zeros: their options, and the robot linearized with them. */
#ifndef CLI_LINEARIZATION_H
#define CLI_LINEARIZATION_H

#include <json-c/json.h>

#include "analysis/linear.h"
#include "holding.h"

struct linear_options {
    const char *robot;
    const char *at;   /* STATE file; NULL: the robot's start */
    bool equilibrium; /* --static                          */
    struct holding holding;
};

/* Takes --at STATE, --static and the options of holding.h, --json and ROBOT, one step of a loop over the arguments; an exit code. */
int linearization_option(const char *command, int argc, char **argv, int *i, struct linear_options *options);

/* What the options lack, or what does not go together; an exit code. */
int linearization_check(const char *command, const struct linear_options *options);

/* The operating point of the options; the arena has the robot file. operating_point_free() in any case. */
enum status linearization_point(const char *command, const struct linear_options *options, struct report *report,
                                struct arena *arena, struct operating_point *point);

struct linearization {
    struct operating_point point;
    struct linear linear;
    struct arena arena; /* the robot file */
};

/* To be freed in any case, and not to be moved. */
enum status linearization_make(const char *command, const struct linear_options *options, bool minimal,
                               struct report *report, struct linearization *l);
void linearization_free(struct linearization *l);

/* The operating point as a STATE, qdd included. */
struct json_object *linearization_json_point(const struct operating_point *point);

#endif
