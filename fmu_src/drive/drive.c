#include "drive/drive.h"

#include <math.h>
#include <string.h>

const char *drive_no_conflict(const double *v, char text[CONFLICT_SIZE])
{
    (void)v, (void)text;
    return NULL;
}

const char *drive_no_fault(const double *v)
{
    (void)v;
    return NULL;
}

int drive_row(const struct drive *drive, const char *name)
{
    int r = 0;
    while (strcmp(drive->row[r].name, name) != 0) r++;
    return r;
}

bool drive_is_whole(const struct drive_row *row)
{
    return row->demand == WHOLE_UP_TO_FIVE || row->demand == WHOLE_METHOD || row->demand == WHOLE;
}

const char *drive_value_error(const struct drive_row *row, double value)
{
    if (drive_is_whole(row) && value != rint(value)) return "must be an integer";
    switch (row->demand) {
    case BELOW_ONE: return value >= 0 && value < 1 ? NULL : "must be 0 (the importer's) or below 1";
    case NOT_NEGATIVE: return value >= 0 ? NULL : "must not be negative";
    case ABOVE_ZERO: return value > 0 ? NULL : "must be positive";
    case UP_TO_ONE: return value > 0 && value <= 1 ? NULL : "must be above 0 and at most 1";
    case WHOLE_UP_TO_FIVE: return value >= 0 && value <= 5 ? NULL : "must be 0 (chosen) or 1 to 5";
    case WHOLE: return value >= 0 ? NULL : "must not be negative; 0: the default";
    case WHOLE_METHOD:
        return value >= 0 && value <= 4 ? NULL
                                        : "must be 0 (automatic), 1 (CVODE), 2 (ESDIRK), 3 (explicit) or 4 (symmetric)";
    case ANY_NUMBER: break;
    }
    return NULL;
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
