/* Variables of drives inside the arm: each is made from a row of the drive's own table. */
#include "drive/drive.h"
#include "sim/variables_row.h"

/* ---- which values are variables ---------------------------------------------------------------------------------------- */

/* The sort of the rows of a drive that a row of the variable table stands for */
static enum role role_of(const struct table_row *row)
{
    switch (row->causality) {
    case CAUSALITY_INPUT: return INPUT;
    case CAUSALITY_OUTPUT: return row->is_state ? OUTPUT_STATE : OUTPUT;
    case CAUSALITY_LOCAL: return row->is_state ? LOCAL_STATE : LOCAL;
    case CAUSALITY_PARAMETER: break;
    }
    return PARAMETER;
}

/* The motion and the share belong to the arm, and so does the pressure of a supply: they are no variables of the drive */
int drive_value_index(const struct robot *robot, int drive, const struct table_row *row, int k)
{
    const struct robot_drive *rd = &robot->drive[drive];
    const enum role role = role_of(row);
    const int pressure = role != INPUT && rd->supply >= 0 ? drive_row(rd->drive, "supply_pressure") : -1;
    int r = 0;
    for (; r < rd->drive->n_rows; r++) {
        if (rd->drive->row[r].role != role) continue;
        if (role == INPUT && !robot_drive_input(rd, r)) continue;
        if (r == pressure) continue;
        if (k-- == 0) break;
    }
    return r;
}

int drive_value_count(const struct robot *robot, int drive, const struct table_row *row)
{
    int count = 0;
    while (drive_value_index(robot, drive, row, count) < robot->drive[drive].drive->n_rows) count++;
    return count;
}

/* ---- a variable ---------------------------------------------------------------------------------------------------------- */

/* The row of the state whose time derivative is value k */
static const struct drive_row *state_row(const struct drive *drive, int k)
{
    int r = 0, states = k - drive->n_rows;
    while (!drive_is_state(&drive->row[r]) || states-- > 0) r++;
    return &drive->row[r];
}

struct variable drive_variable(const struct robot *robot, const struct table_row *row, int drive, int k,
                               struct arena *arena)
{
    const struct drive *own = robot->drive[drive].drive;
    const bool rate = k >= own->n_rows;
    const struct drive_row *value = rate ? state_row(own, k) : &own->row[k];
    char owner[MOST_NAME];
    robot_drive_name(robot, drive, owner);
    char unit[UNIT_SIZE];
    const char *name = arena_joined(arena, owner, ".", value->name);
    if (rate && name != NULL) name = arena_joined(arena, "der(", name, ")");
    return (struct variable){.name = name,
                             .description = rate ? row->description : value->description,
                             .unit = rate ? arena_string(arena, drive_rate_unit(value->unit, unit)) : value->unit,
                             .display_unit = rate ? NULL : value->display_unit,
                             .in_drive = rate ? NULL : value,
                             .owner = drive,
                             .k = k,
                             .nominal = row->is_state ? value->number : 0};
}
