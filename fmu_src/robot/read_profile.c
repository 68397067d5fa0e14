/* Quantities along a beam: a number, or a table of values at stations x. */
#include <math.h>

#include "robot/read.h"

/* ---- stations ---------------------------------------------------------------------------------------------------- */

/* x ascends from 0 to the length */
static bool check_stations(const struct json_path *at, double length, int n, const double *x)
{
    static const double SAME = 1e-9;
    const int before = at->reader->report->errors, *errors = &at->reader->report->errors;
    if (x[0] != 0) path_error(ITEM(at, 0), "the first station must be 0, the root of the beam [m]");
    for (int i = 1; i < n; i++)
        if (!(x[i] > x[i - 1])) path_error(ITEM(at, i), "stations must ascend: the one before is %.9g [m]", x[i - 1]);
    if (*errors == before && length > 0 && fabs(x[n - 1] - length) > SAME * fmax(1, length))
        path_error(ITEM(at, n - 1), "the last station must be the length of the beam, %.9g [m]", length);
    return *errors == before;
}

bool read_stations(const struct json_path *at, double length, int *n, const double **s)
{
    static const struct quantity station = {"station x", "m", NON_NEGATIVE};
    if (!path_open_array(at, REQUIRED, 2, -1, "stations x", n)) return false;
    double *x = read_allocate(at, *n);
    if (x == NULL || !read_numbers(at, REQUIRED, &station, *n, x) || !check_stations(at, length, *n, x)) return false;
    for (int i = 0; i < *n; i++) x[i] /= x[*n - 1];
    *s = x;
    return true;
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* One number, or a row of `count` numbers, for each of n stations, as `count` profiles */
static bool read_values(const struct json_path *at, const struct quantity *quantity, int count, int n, const double *s,
                        struct profile *profile)
{
    int length;
    double *row = read_allocate(at, n * count), *column = read_allocate(at, n * count);
    if (row == NULL || column == NULL) return false;
    if (!path_open_array(at, REQUIRED, n, n, "values, one for each station x,", &length)) return false;
    const bool ok =
        count == 1 ? read_numbers(at, REQUIRED, quantity, n, row) : read_rows(at, REQUIRED, quantity, n, count, row);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < n; i++) column[n * k + i] = row[count * i + k];
        profile[k] = (struct profile){1, n, s, column + n * k};
    }
    return ok;
}

static bool read_table(const struct json_path *at, const struct quantity *quantity, double length, int count,
                       struct profile *profile)
{
    struct object table;
    int n;
    const double *s;
    if (format_reject(at, 2, "a table along x") || !path_open_object(&table, at, REQUIRED, quantity->what))
        return false;
    const struct json_path x_at = path_member(&table, "x"), value_at = path_member(&table, "value");
    path_close_object(&table);
    return read_stations(&x_at, length, &n, &s) && read_values(&value_at, quantity, count, n, s, profile);
}

enum profile_kind read_profile(const struct json_path *at, enum need need, const struct quantity *quantity,
                               double length, struct profile *profile)
{
    if (value_is_object(at)) return read_table(at, quantity, length, 1, profile) ? IS_TABLE : NOT_GIVEN;
    return read_number(at, need, quantity, &profile->factor) ? IS_NUMBER : NOT_GIVEN;
}

enum { MOST_PROFILES = 3 };

enum profile_kind read_profiles(const struct json_path *at, enum need need, const struct quantity *quantity,
                                double length, int count, struct profile *profile)
{
    double number[MOST_PROFILES];
    if (value_is_object(at)) return read_table(at, quantity, length, count, profile) ? IS_TABLE : NOT_GIVEN;
    if (!read_numbers(at, need, quantity, count, number)) return NOT_GIVEN;
    for (int k = 0; k < count; k++) profile[k].factor = number[k];
    return IS_NUMBER;
}
