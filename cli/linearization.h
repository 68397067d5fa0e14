/* The robot linearized about an operating point: linearize, zeros, modes, view. */
#ifndef CLI_LINEARIZATION_H
#define CLI_LINEARIZATION_H

#include <json-c/json.h>

#include "analysis/linear.h"
#include "holding.h"

/* The operating point of --at, --static and the options of holding.h; the arena has the robot file. operating_point_free() in any
   case. */
enum status linearization_point(const struct common *options, struct report *report, struct arena *arena,
                                struct operating_point *point);

struct linearization {
    struct operating_point point;
    struct linear linear;
    struct arena arena; /* the robot file */
};

/* To be freed in any case, and not to be moved. */
enum status linearization_make(const struct common *options, bool minimal, struct report *report,
                               struct linearization *l);
void linearization_free(struct linearization *l);

/* The operating point as a STATE, qdd included. */
struct json_object *linearization_json_point(const struct operating_point *point);

#endif
