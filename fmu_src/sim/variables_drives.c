/* Columns of the variable table for drives inside the arm: a row of the drive's own table makes each of their variables. */
#include <stdio.h>
#include <string.h>

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

/* Motion and share are the arm's; so is the pressure of a supply */
static bool is_hidden(const struct robot_drive *of, int r)
{
    if (of->drive->row[r].role == INPUT) return !robot_drive_input(of, r);
    return of->supply >= 0 && r == drive_row(of->drive, "supply_pressure");
}

int drive_value_index(const struct robot *robot, int drive, const struct table_row *row, int k)
{
    const struct robot_drive *of = &robot->drive[drive];
    int r = 0;
    for (; r < of->drive->n_rows; r++)
        if (of->drive->row[r].role == role_of(row) && !is_hidden(of, r) && k-- == 0) break;
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

static const char *joined(struct arena *arena, const char *a, const char *b, const char *c, const char *d)
{
    const size_t bytes = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 1;
    char *text = arena_allocate(arena, bytes, 1);
    if (text != NULL) snprintf(text, bytes, "%s%s%s%s", a, b, c, d);
    return text;
}

struct variable drive_variable(const struct robot *robot, const struct table_row *row, int drive, int k,
                               struct arena *arena)
{
    const struct drive *of = robot->drive[drive].drive;
    const bool rate = k >= of->n_rows;
    const struct drive_row *value = rate ? state_row(of, k) : &of->row[k];
    char owner[MOST_NAME];
    robot_drive_name(robot, drive, owner);
    char unit[UNIT_SIZE];
    const char *name = joined(arena, owner, ".", value->name, "");
    if (rate && name != NULL) name = joined(arena, "der(", name, ")", "");
    return (struct variable){.name = name,
                             .description = rate ? row->description : value->description,
                             .unit = rate ? arena_string(arena, drive_rate_unit(value->unit, unit)) : value->unit,
                             .display_unit = rate ? NULL : value->display_unit,
                             .type = row->type,
                             .causality = row->causality,
                             .variability = row->variability,
                             .initial = row->initial,
                             .of = row,
                             .in_drive = rate ? NULL : value,
                             .owner = drive,
                             .k = k,
                             .nominal = row->is_state ? value->number : 0,
                             .state = -1,
                             .start_of = -1,
                             .rate = -1,
                             .derivative_of = -1};
}

/* ---- where the values are ------------------------------------------------------------------------------------------------- */

static const struct robot_drive *drive_of(const struct model *model, const struct variable *variable)
{
    return &model->robot->drive[variable->owner];
}

double *place_drive_input(const struct point *point, const struct variable *variable)
{
    return &point->drive[drive_of(point->model, variable)->first + variable->k];
}

double *place_drive_state(const struct point *point, const struct variable *variable)
{
    const struct robot_drive *of = drive_of(point->model, variable);
    double *w = point->w + of->first_w;
    for (int r = 0; r < variable->k; r++) w += drive_is_state(&of->drive->row[r]);
    return w;
}

double value_drive(const struct outputs *outputs, const struct variable *variable)
{
    return outputs->drive[drive_of(outputs->model, variable)->first + variable->k];
}

double value_drive_torque(const struct outputs *outputs, const struct variable *variable)
{
    const struct robot_drive *of = robot_drive_of_link(outputs->model->robot, variable->owner);
    return outputs->drive[of->first + of->drive->effort];
}

double value_drive_force(const struct outputs *outputs, const struct variable *variable)
{
    const struct robot_drive *of = robot_drive_of_actuator(outputs->model->robot, variable->owner);
    return outputs->drive[of->first + of->drive->effort];
}

double value_supply_demand(const struct outputs *outputs, const struct variable *variable)
{
    return outputs->supply_demand[variable->owner];
}

double value_supply_share(const struct outputs *outputs, const struct variable *variable)
{
    return outputs->supply_share[variable->owner];
}

/* ---- parameters ------------------------------------------------------------------------------------------------------------ */

static double read_drive(const struct robot *robot, const struct variable *variable)
{
    return robot->drive[variable->owner].value[variable->k];
}

static void write_drive(struct robot *robot, const struct variable *variable, double value)
{
    robot->drive[variable->owner].value[variable->k] = value;
}
const struct robot_number number_drive = {read_drive, write_drive};

static double read_pressure(const struct robot *robot, const struct variable *variable)
{
    return robot->supply[variable->owner].pressure;
}

static void write_pressure(struct robot *robot, const struct variable *variable, double value)
{
    robot->supply[variable->owner].pressure = value;
}
const struct robot_number number_supply_pressure = {read_pressure, write_pressure};

static double read_flow_limit(const struct robot *robot, const struct variable *variable)
{
    return robot->supply[variable->owner].flow_limit;
}

static void write_flow_limit(struct robot *robot, const struct variable *variable, double value)
{
    robot->supply[variable->owner].flow_limit = value;
}
const struct robot_number number_supply_flow_limit = {read_flow_limit, write_flow_limit};

const struct limit *limit_drive(const struct robot *robot, const struct variable *variable, struct arena *arena)
{
    (void)robot, (void)arena;
    return drive_limit(variable->in_drive);
}
