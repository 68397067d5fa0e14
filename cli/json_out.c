#include "json_out.h"

#include <json-c/printbuf.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* The bytes of numbers as an array. Most of the time of `limber linearize` goes into its numbers, most of which are zero. */
static int write_numbers(struct json_object *numbers, struct printbuf *out, int level, int flags)
{
    const char *bytes = json_object_get_string(numbers);
    const int count = json_object_get_string_len(numbers) / (int)sizeof(double);
    const bool spaced = (flags & JSON_C_TO_STRING_SPACED) != 0;
    (void)level;
    printbuf_memappend(out, "[", 1);
    for (int i = 0; i < count; i++) {
        char text[40] = ", 0.0", *const number = text + 2, *const from = text + !spaced + (i == 0);
        double x;
        memcpy(&x, bytes + (size_t)i * sizeof x, sizeof x);
        if (x != 0 || signbit(x)) snprintf(number, sizeof text - 2, "%.17g", x);
        if (strpbrk(number, ".e") == NULL) strcat(number, ".0");
        if (!spaced) text[1] = ',';
        printbuf_memappend(out, from, (int)strlen(from));
    }
    return printbuf_memappend(out, spaced ? " ]" : "]", 1 + spaced);
}

struct json_object *json_numbers(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i])) return json_object_new_double(x[i]); /* which is not printed */
    struct json_object *numbers = json_object_new_string_len((const char *)x, count * (int)sizeof *x);
    json_object_set_serializer(numbers, write_numbers, NULL, NULL);
    return numbers;
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
