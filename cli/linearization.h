/* The robot linearized about an operating point: linearize, zeros, modes, view. */
#ifndef CLI_LINEARIZATION_H
#define CLI_LINEARIZATION_H

#include <json-c/json.h>

#include "analysis/linear.h"
#include "instance.h"

/* These need operating_point_free() in any case; the point must not be moved. */

/* The operating point of --at with the options of cli_holding_apply() and --set. */
enum status linearization_open(const struct common *options, struct report *report, struct operating_point *point);
/* The same after operating_point_move(), as --static says. */
enum status linearization_point(const struct common *options, struct report *report, struct operating_point *point);
/* The linearization there. */
enum status linearization_make(const struct common *options, bool minimal, struct report *report,
                               struct operating_point *point, struct linear *linear);

/* The operating point as a STATE, qdd included. */
struct json_object *linearization_json_point(const struct operating_point *point);

#endif
