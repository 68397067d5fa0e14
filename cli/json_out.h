/* Numbers as JSON, and JSON as output. */
#ifndef CLI_JSON_OUT_H
#define CLI_JSON_OUT_H

#include <json-c/json.h>

struct json_object *json_numbers(const double *x, int count);
void json_add_numbers(struct json_object *object, const char *key, const double *x, int count);
/* Rows of n_columns numbers each. */
struct json_object *json_rows(const double *M, int n_rows, int n_columns);

/* Prints the object and returns EXIT_FINE; an object with a number that is not finite, which JSON cannot hold, is an error. */
int json_print_finite(const char *command, struct json_object *out);

#endif
