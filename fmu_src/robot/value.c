#include <json-c/json.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/rotation.h"
#include "math/vec.h"
#include "robot/read.h"
#include "robot/semidefinite.h"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

bool value_is_number(const struct json_path *at)
{
    return json_object_is_type(at->value, json_type_double) || json_object_is_type(at->value, json_type_int);
}

#define VALUE_IS(type)                                           \
    bool value_is_##type(const struct json_path *at)             \
    {                                                            \
        return json_object_is_type(at->value, json_type_##type); \
    }
VALUE_IS(string)
VALUE_IS(array)
VALUE_IS(object)

static const char *const demand[] = {
    [ANY] = "must be a number", [NON_NEGATIVE] = "must not be negative", [POSITIVE] = "must be positive"};

/* What is wrong with a number; NULL: nothing. */
static const char *number_error(const struct json_path *at, enum range range)
{
    struct json_object *value = at->value;
    if (!at->given) return demand[range];
    if (!value_is_number(at)) return demand[ANY];
    const double number = json_object_get_double(value);
    if (!isfinite(number)) return "must be finite";
    if (json_object_is_type(value, json_type_int) && /* json-c cuts integers off at 64 bits */
        (json_object_get_uint64(value) == UINT64_MAX || json_object_get_int64(value) == INT64_MIN))
        return "has too many digits for an integer, write it with an exponent";
    const bool in_range = range == POSITIVE ? number > 0 : range == NON_NEGATIVE ? number >= 0 : true;
    return in_range ? NULL : demand[range];
}

bool read_number(const struct json_path *at, enum need need, const struct quantity *quantity, double *number)
{
    if (path_absent(at, need)) return false;
    const char *error = number_error(at, quantity->range);
    if (error != NULL) {
        path_error(at, "%s %s [%s]", quantity->what, error, quantity->unit);
        return false;
    }
    *number = json_object_get_double(at->value);
    return true;
}

bool read_numbers(const struct json_path *at, enum need need, const struct quantity *quantity, int count,
                  double *number)
{
    int length;
    bool ok = path_open_array(at, need, count, count, quantity->what, &length);
    for (int i = 0; i < length; i++) ok &= read_number(ITEM(at, i), REQUIRED, quantity, &number[i]);
    return ok;
}

bool read_rows(const struct json_path *at, enum need need, const struct quantity *quantity, int rows, int columns,
               double *number)
{
    int length;
    bool ok = path_open_array(at, need, rows, rows, quantity->what, &length);
    for (int i = 0; i < length; i++) ok &= read_numbers(ITEM(at, i), REQUIRED, quantity, columns, number + columns * i);
    return ok;
}

bool read_integer(const struct json_path *at, enum need need, const char *what, int least, int most, int *integer)
{
    if (path_absent(at, need)) return false;
    const double number = number_error(at, ANY) == NULL ? json_object_get_double(at->value) : NAN;
    if (number >= least && number <= most && number == floor(number)) {
        *integer = (int)number;
        return true;
    }
    if (least == most) path_error(at, "%s must be %d", what, least);
    else path_error(at, "%s must be an integer from %d to %d", what, least, most);
    return false;
}

unsigned read_fields(struct object *object, int count, const struct number_field *field, void *into)
{
    unsigned given = 0;
    for (int i = 0; i < count; i++) {
        const struct json_path at = path_member(object, field[i].key);
        double *number = (double *)(void *)((char *)into + field[i].offset);
        if (read_number(&at, field[i].need, &field[i].quantity, number)) given |= field[i].given;
    }
    return given;
}

/* ---- other values ------------------------------------------------------------------------------------------------ */

bool read_flag(const struct json_path *at, const char *what, bool *flag)
{
    if (!at->given) return false;
    if (!json_object_is_type(at->value, json_type_boolean)) {
        path_error(at, "%s must be true or false", what);
        return false;
    }
    *flag = json_object_get_boolean(at->value);
    return true;
}

const char *read_string(const struct json_path *at, enum need need, const char *what)
{
    if (path_absent(at, need)) return NULL;
    const char *string = value_is_string(at) ? json_object_get_string(at->value) : NULL;
    if (string != NULL && strlen(string) == (size_t)json_object_get_string_len(at->value)) return string;
    path_error(at, string == NULL ? "%s must be a string" : "%s must not contain the character NUL", what);
    return NULL;
}

void read_word(struct object *object, const char *key, const char *what, const char *word)
{
    const struct json_path at = path_member(object, key);
    const char *text = read_string(&at, REQUIRED, what);
    if (text != NULL && strcmp(text, word) != 0) path_error(&at, "%s must be \"%s\"", what, word);
}

/* Whether XML 1.0 can contain a text: no control characters below U+0020 except tabs and line breaks, not U+FFFE and U+FFFF, and valid
   UTF-8: no forms longer than needed, no surrogates, nothing above U+10FFFF. (json-c checks only that as many bytes follow the first as
   it announces.) */
static bool is_xml_text(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c < ' ' && strchr("\t\n\r", *c) == NULL) return false;
        if (*c == 0xC0 || *c == 0xC1 || *c > 0xF4) return false;
        if ((*c == 0xE0 && c[1] < 0xA0) || (*c == 0xED && c[1] >= 0xA0)) return false;
        if ((*c == 0xF0 && c[1] < 0x90) || (*c == 0xF4 && c[1] >= 0x90)) return false;
    }
    return strstr(text, "\xEF\xBF\xBE") == NULL && strstr(text, "\xEF\xBF\xBF") == NULL;
}

const char *read_text(const struct json_path *at, enum need need, const char *what)
{
    const char *text = read_string(at, need, what);
    if (text == NULL || is_xml_text(text)) return text;
    path_error(at, "%s must not contain control characters other than tabs and line breaks, or bytes that are no UTF-8",
               what);
    return NULL;
}

int read_choice(const struct json_path *at, enum need need, const char *what, const char *const *names)
{
    if (path_absent(at, need)) return -1;
    const char *chosen = value_is_string(at) ? json_object_get_string(at->value) : "";
    char all[256] = "";
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], chosen) == 0) return i;
        strncat(all, i > 0 ? ", \"" : "\"", sizeof all - strlen(all) - 1);
        strncat(all, names[i], sizeof all - strlen(all) - 1);
        strncat(all, "\"", sizeof all - strlen(all) - 1);
    }
    path_error(at, "%s must be %s%s", what, names[1] != NULL ? "one of " : "", all);
    return -1;
}

/* ---- vectors, poses, matrices ------------------------------------------------------------------------------------ */

bool read_direction(const struct json_path *at, enum need need, const char *what, double direction[3])
{
    const struct quantity component = {what, "1", ANY};
    double v[3];
    if (!read_numbers(at, need, &component, 3, v)) return false;
    const double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (largest == 0) {
        path_error(at, "%s must not be zero", what);
        return false;
    }
    for (int i = 0; i < 3; i++) v[i] /= largest; /* so that squares neither overflow nor vanish */
    const double length = sqrt(dot3(v, v));
    for (int i = 0; i < 3; i++) direction[i] = v[i] / length;
    return true;
}

double *read_allocate(const struct json_path *at, int count)
{
    return arena_allocate(&at->reader->robot->arena, (size_t)count, sizeof(double));
}

void read_pose_members(struct object *object, struct pose *pose)
{
    static const struct quantity xyz = {"position xyz", "m", ANY}, rpy = {"roll, pitch, yaw", "rad", ANY};
    double angle[3];
    read_numbers(MEMBER(object, "xyz"), OPTIONAL, &xyz, 3, pose->p);
    if (read_numbers(MEMBER(object, "rpy"), OPTIONAL, &rpy, 3, angle)) rotation_rpy(angle, pose->R);
}

void read_pose(const struct json_path *at, const char *what, struct pose *pose)
{
    struct object object;
    memset(pose->p, 0, sizeof pose->p);
    identity3(pose->R);
    if (!path_open_object(&object, at, OPTIONAL, what)) return;
    read_pose_members(&object, pose);
    path_close_object(&object);
}

/* Whether A is symmetric within 1e-9 of its largest entry; if not, the entry (i, j), i < j, that differs most from (j, i) */
static bool is_symmetric(int n, const double *A, int *i, int *j)
{
    double largest = 0, difference = 0;
    *i = *j = 0;
    for (int k = 0; k < n; k++) {
        for (int l = k; l < n; l++) {
            const double upper = A[n * k + l], lower = A[n * l + k];
            largest = fmax(largest, fmax(fabs(upper), fabs(lower)));
            if (fabs(upper - lower) <= difference) continue;
            difference = fabs(upper - lower);
            *i = k;
            *j = l;
        }
    }
    return difference <= 1e-9 * largest;
}

bool read_symmetric(const struct json_path *at, enum need need, const struct quantity *quantity, int n, double *A)
{
    int i, j;
    if (!read_rows(at, need, quantity, n, n, A)) return false;
    if (!is_symmetric(n, A, &i, &j)) {
        path_error(ITEM(ITEM(at, i), j), "%s must be symmetric within 1e-9 of the largest entry, but [%d][%d] is %.12g",
                   quantity->what, j, i, A[n * j + i]);
        return false;
    }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < k; l++) A[n * k + l] = A[n * l + k] = 0.5 * (A[n * k + l] + A[n * l + k]);
    return true;
}

bool read_semidefinite(const struct json_path *at, enum need need, const struct quantity *quantity, int n,
                       double *matrix)
{
    int i, j;
    if (!read_rows(at, need, quantity, n, n, matrix)) return false;
    if (!is_symmetric(n, matrix, &i, &j)) path_error(at, "%s must be symmetric", quantity->what);
    else if (!semidefinite_matrix(n, matrix)) path_error(at, "%s must be positive semidefinite", quantity->what);
    else return true;
    return false;
}
