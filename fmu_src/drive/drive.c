#include "drive/drive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int drive_row(const struct drive *drive, const char *name)
{
    int r = 0;
    while (strcmp(drive->row[r].name, name) != 0) r++;
    return r;
}

const struct limit *drive_limit(const struct drive_row *row)
{
    static const struct limit limit[] = {
        [ANY_NUMBER] = {-INFINITY, INFINITY, false, ""},
        [NOT_NEGATIVE] = {0, INFINITY, false, "must not be negative"},
        [BELOW_ONE] = {0, BELOW_1, false, "must be 0 (the importer's) or below 1"},
        [ABOVE_ZERO] = {ABOVE_0, INFINITY, false, "must be positive"},
        [UP_TO_ONE] = {ABOVE_0, 1, false, "must be above 0 and at most 1"},
        [WHOLE_UP_TO_FIVE] = {0, 5, true, "must be 0 (chosen) or 1 to 5"},
        [WHOLE_METHOD] = {0, 4, true, "must be 0 (automatic), 1 (CVODE), 2 (ESDIRK), 3 (explicit) or 4 (symmetric)"},
        [WHOLE] = {0, INFINITY, true, "must not be negative; 0: the default"},
    };
    return &limit[row->demand];
}

const char *drive_value_error(const struct drive_row *row, double value)
{
    if (drive_limit(row)->whole && value != rint(value)) return "must be an integer";
    return limit_error(drive_limit(row), value);
}

const char *drive_rate_unit(const char *unit, char text[UNIT_SIZE])
{
    const char *slash = strchr(unit, '/');
    if (strcmp(unit, "s") == 0) snprintf(text, UNIT_SIZE, "1");
    else if (slash == NULL) snprintf(text, UNIT_SIZE, "%s/s", unit);
    else if (strcmp(slash, "/s") == 0) snprintf(text, UNIT_SIZE, "%s2", unit);
    else snprintf(text, UNIT_SIZE, "%.*s/(%s.s)", (int)(slash - unit), unit, slash + 1);
    return text;
}

void drive_defaults(const struct drive *drive, double *v)
{
    memset(v, 0, (size_t)drive_values(drive) * sizeof *v);
    for (int r = 0; r < drive->n_rows; r++)
        if (!drive_is_state(&drive->row[r])) v[r] = drive->row[r].number;
}

bool drive_value_depends(const struct drive *drive, double *v, int unknown, int known)
{
    double dv[MOST_VALUES] = {0};
    drive->start(v);
    drive->evaluate(v);
    dv[known] = NAN;
    drive->tangent(v, dv);
    return isnan(dv[unknown]);
}
