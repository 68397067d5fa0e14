/* Drives of joints and of lines, and the supplies that cylinders share. */
#include <string.h>

#include "drive/drive.h"
#include "robot/read.h"

/* ---- supplies ---------------------------------------------------------------------------------------------------- */

static const struct number_field supply_numbers[] = {
    NUMBER(supply, pressure, REQUIRED, POSITIVE, "supply pressure", "Pa", 0),
    NUMBER(supply, flow_limit, REQUIRED, POSITIVE, "largest flow of the pump", "m^3/s", 0),
};

void read_supplies(const struct json_path *at, struct robot *robot)
{
    int count;
    robot->supply = path_open_list(at, OPTIONAL, "supplies", sizeof *robot->supply, &count);
    for (int i = 0; i < count; i++, robot->n_supplies++) {
        struct supply *supply = &robot->supply[i];
        struct object object;
        if (!path_open_object(&object, ITEM(at, i), REQUIRED, "supply")) continue;
        supply->name = read_part_name(MEMBER(&object, "name"), "supply name");
        read_fields(&object, FIELD_COUNT(supply_numbers), supply_numbers, supply);
        path_close_object(&object);
    }
}

/* A cylinder with a supply has the pressure of the supply. */
static void read_supply_name(struct object *object, const struct robot *robot, struct robot_drive *robot_drive)
{
    const struct json_path at = path_member(object, "supply");
    const char *name = read_string(&at, OPTIONAL, "supply");
    if (name == NULL) return;
    if (!drive_has_supply(robot_drive->drive)) {
        path_error(&at, "a %s has no supply: remove it", robot_drive->drive->name);
        return;
    }
    for (int i = 0; i < robot->n_supplies; i++)
        if (name_same(robot->supply[i].name, name)) robot_drive->supply = i;
    if (robot_drive->supply < 0) path_error(&at, "supply must be the name of a supply (of the array `supplies`)");
    path_reject(object, "supply_pressure", "the supply has the pressure: leave out `supply` or `supply_pressure`");
}

/* ---- drives ------------------------------------------------------------------------------------------------------ */

enum { TYPES = 2 };

/* Drives of lines, and those of joints. */
static const struct drive *const drives[2][TYPES] = {{&cylinder_drive, &spring_drive}, {&servo_drive, &gear_drive}};

/* NULL, with an error reported, if there is none of this type here. */
static const struct drive *read_type(const struct json_path *at, bool on_joint)
{
    const char *names[TYPES + 1] = {NULL};
    const char *given = value_is_string(at) ? read_string(at, REQUIRED, "type of the drive") : NULL;
    if (value_is_string(at) && given == NULL) return NULL;
    for (int i = 0; i < TYPES; i++) {
        names[i] = drives[on_joint][i]->name;
        if (!name_same(drives[!on_joint][i]->name, given)) continue;
        path_error(at, "this drives a %s: put it there", on_joint ? "line" : "joint");
        return NULL;
    }
    const int type = read_choice(at, REQUIRED, "type of the drive", names);
    return type >= 0 ? drives[on_joint][type] : NULL;
}

void read_drive_parameter(struct object *object, const struct drive_row *row, double *value)
{
    const struct json_path at = path_member(object, row->name);
    const char *unit = row->unit != NULL ? row->unit : "1";
    const struct quantity quantity = {row->description, unit, ANY};
    if (!read_number(&at, OPTIONAL, &quantity, value)) return;
    const char *error = drive_value_error(row, *value);
    if (error != NULL) path_error(&at, "%s %s [%s]", row->description, error, unit);
}

/* One more drive. Drives are few: the arena keeps the previous, shorter list. */
static struct robot_drive *add_drive(struct robot *robot, const struct drive *drive)
{
    const size_t n = (size_t)robot->n_drives;
    struct robot_drive *list = arena_allocate(&robot->arena, n + 1, sizeof *list);
    double *value = arena_allocate(&robot->arena, (size_t)drive_values(drive), sizeof *value);
    if (robot->arena.failed) return NULL;
    if (n > 0) memcpy(list, robot->drive, n * sizeof *list);
    list[n] = (struct robot_drive){.drive = drive,
                                   .link = -1,
                                   .line = -1,
                                   .supply = -1,
                                   .value = value,
                                   .first = robot_drive_value_count(robot),
                                   .first_w = robot_drive_states(robot)};
    robot->drive = list;
    robot->n_drives++;
    return &list[n];
}

static struct robot_drive *read_drive(const struct json_path *at, bool on_joint)
{
    struct robot *robot = at->reader->robot;
    struct object object;
    if (!path_open_object(&object, at, OPTIONAL, "drive")) return NULL;
    const struct drive *drive = read_type(MEMBER(&object, "type"), on_joint);
    struct robot_drive *robot_drive = drive != NULL ? add_drive(robot, drive) : NULL;
    if (robot_drive == NULL) return NULL;

    const int errors = at->reader->report->errors;
    drive_defaults(drive, robot_drive->value);
    for (int r = 0; r < drive->n_rows; r++)
        if (drive->row[r].role == PARAMETER) read_drive_parameter(&object, &drive->row[r], &robot_drive->value[r]);
    read_supply_name(&object, robot, robot_drive);
    if (at->reader->report->errors == errors) {
        char text[CONFLICT_SIZE];
        double v[MOST_VALUES];
        robot_drive_values(robot, robot_drive, v);
        const char *conflict = drive_conflict(drive, v, text);
        if (conflict != NULL) path_error(at, "%s", conflict);
    }
    path_close_object(&object);
    return robot_drive;
}

void read_joint_drive(const struct json_path *at, const struct joint *joint)
{
    const char *why = !joint_moves(joint)             ? "a fixed joint has no drive: remove it"
                      : joint->type != JOINT_REVOLUTE ? "a drive turns a revolute joint"
                      : joint->passive                ? "a passive joint has no drive: remove `passive` or `drive`"
                      : joint->prescribed             ? "a prescribed joint has no drive: remove `motion` or `drive`"
                                                      : NULL;
    if (at->given && why != NULL) {
        path_error(at, "%s", why);
        return;
    }
    struct robot_drive *robot_drive = read_drive(at, true);
    if (robot_drive != NULL) robot_drive->link = at->reader->robot->n_links; /* the link that is being read */
}

void read_line_drive(const struct json_path *at)
{
    struct robot_drive *robot_drive = read_drive(at, false);
    if (robot_drive != NULL) robot_drive->line = at->reader->robot->n_lines; /* the one that is being read */
}
