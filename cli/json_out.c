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

void json_add_numbers(struct json_object *object, const char *key, const double *x, int count)
{
    json_object_object_add(object, key, json_numbers(x, count));
}

struct json_object *json_rows(const double *M, int n_rows, int n_columns)
{
    struct json_object *array = json_object_new_array_ext(n_rows);
    for (int i = 0; i < n_rows; i++)
        json_object_array_add(array, json_numbers(M + (size_t)n_columns * (size_t)i, n_columns));
    return array;
}

static bool is_finite(struct json_object *value)
{
    if (json_object_is_type(value, json_type_double)) return isfinite(json_object_get_double(value));
    bool finite = true;
    for (size_t i = 0; json_object_is_type(value, json_type_array) && i < json_object_array_length(value); i++)
        finite = finite && is_finite(json_object_array_get_idx(value, i));
    return finite;
}

int json_print_finite(const char *command, struct json_object *out)
{
    json_object_object_foreach(out, key, value)
    {
        if (is_finite(value)) continue;
        fprintf(stderr,
                "limber: %s: %s is not finite: the robot's numbers are too large or too small to compute with\n",
                command, key);
        return EXIT_COMPUTATION;
    }
    puts(json_object_to_json_string_ext(out, JSON_C_TO_STRING_SPACED));
    return EXIT_FINE;
}
