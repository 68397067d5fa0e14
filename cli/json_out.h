/* Numbers as JSON, and JSON as output: what eval and its kin share. */
#ifndef CLI_JSON_OUT_H
#define CLI_JSON_OUT_H

#include <json-c/json.h>

struct json_object *json_numbers(const double *x, int count);
/* Rows of n_columns numbers each. */
struct json_object *json_rows(const double *M, int n_rows, int n_columns);

/* Prints the object; refuses, by an exit code and a message, one with a number that overflowed: that is no answer, and no
   JSON either. */
int json_print_finite(const char *command, struct json_object *out);

#endif
