/* Data of the page of `limber view`, as JSON inside it. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include <json-c/json.h>
#include <stdio.h>

#include "analysis/csv.h"
#include "load.h"

/* One result: times, positions of all coordinates and the other columns, compressed (view_result.c; view/page/result.js reads it).
   `inputs`: where prescribed positions come from if the result has no columns for them; NULL: nowhere. NULL, with a report, if it lacks
   columns that are needed. */
struct json_object *view_result(const struct model *model, const struct csv *csv, const struct csv *inputs,
                                struct arena *arena, struct report *report);

/* Natural modes at a state: a list with frequency, damping ratio and shape (view_modes.c), of the first `most` of them. The numbers are
   those of `limber modes`. NULL, with a report and the status, on failure. */
enum status view_modes(const struct common *options, int most, struct cli_model *loaded, struct report *report,
                       struct json_object **list);

/* The script of the page; NULL, with a report, if it cannot be read, or, unless it is optional, was not built. */
const char *view_script(bool optional, struct arena *arena, size_t *size, struct report *report);

#endif
