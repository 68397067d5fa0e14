/* Numbers as JSON, and JSON as output. */
#ifndef CLI_JSON_OUT_H
#define CLI_JSON_OUT_H

#include <json-c/json.h>

struct json_object *json_numbers(const double *x, int count);
/* Rows of n_columns numbers each. */
struct json_object *json_rows(const double *M, int n_rows, int n_columns);

/* Members of an object. */
void json_add(struct json_object *object, const char *key, struct json_object *value);
void json_add_text(struct json_object *object, const char *key, const char *text);
void json_add_number(struct json_object *object, const char *key, double number);
void json_add_whole(struct json_object *object, const char *key, int number);
void json_add_numbers(struct json_object *object, const char *key, const double *x, int count);

/* These print an object and free it. */
void json_print(struct json_object *out);
/* EXIT_OK; an object with a number that is not finite, which JSON cannot express, is an error. */
int json_print_finite(const char *command, struct json_object *out);

#endif
