#include "json_out.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli.h"

struct json_object *json_numbers(const double *x, int count)
{
    struct json_object *array = json_object_new_array_ext(count);
    for (int i = 0; i < count; i++) json_object_array_add(array, json_object_new_double(x[i]));
    return array;
}

struct json_object *json_rows(const double *M, int n_rows, int n_columns)
{
    struct json_object *array = json_object_new_array_ext(n_rows);
    for (int i = 0; i < n_rows; i++)
        json_object_array_add(array, json_numbers(M + (size_t)n_columns * (size_t)i, n_columns));
    return array;
}

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
    json_object_object_add(object, key, value);
}

void json_add_text(struct json_object *object, const char *key, const char *text)
{
    json_add(object, key, json_object_new_string(text));
}

void json_add_number(struct json_object *object, const char *key, double number)
{
    json_add(object, key, json_object_new_double(number));
}

void json_add_whole(struct json_object *object, const char *key, int number)
{
    json_add(object, key, json_object_new_int(number));
}

void json_add_numbers(struct json_object *object, const char *key, const double *x, int count)
{
    json_add(object, key, json_numbers(x, count));
}

static bool is_finite(struct json_object *value)
{
    if (json_object_is_type(value, json_type_double)) return isfinite(json_object_get_double(value));
    bool finite = true;
    for (size_t i = 0; json_object_is_type(value, json_type_array) && i < json_object_array_length(value); i++)
        finite = finite && is_finite(json_object_array_get_idx(value, i));
    return finite;
}

void json_print(struct json_object *out)
{
    puts(json_object_to_json_string_ext(out, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(out);
}

int json_print_finite(const char *command, struct json_object *out)
{
    json_object_object_foreach(out, key, value)
    {
        if (is_finite(value)) continue;
        fprintf(stderr,
                "limber: %s: %s is not finite: the robot's numbers are too large or too small to compute with\n",
                command, key);
        json_object_put(out);
        return EXIT_COMPUTATION;
    }
    json_print(out);
    return EXIT_OK;
}
