#include "analysis/state.h"

#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "analysis/failure.h"
#include "analysis/names.h"
#include "drive/drive.h"
#include "robot/nearest.h"
#include "robot/read.h"

/* ---- the robot's start ---------------------------------------------------------------------------------------------------- */

void state_place(const struct point *at, struct state *state)
{
    *state = (struct state){.at = *at, .input = point_input(at)};
    point_clear(at);
    model_start(at->model, at->q, at->qd);
}

enum status state_start(const struct model *model, struct report *report, struct state *state)
{
    struct arena arena = {0};
    struct point at;
    point_make(model, &arena, &at);
    *state = (struct state){.arena = arena};
    if (arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    state_place(&at, state);
    state->arena = arena;
    return STATUS_OK;
}

void state_set_drives(const struct state *state)
{
    const struct robot *robot = state->at.model->robot;
    const double *w = state->w;
    for (int d = 0; d < robot->n_drives && w != NULL; d++)
        for (int r = 0; r < robot->drive[d].drive->n_rows; r++)
            if (drive_is_state(&robot->drive[d].drive->row[r])) state->at.drive[robot->drive[d].first + r] = *w++;
}

/* ---- members of the document ------------------------------------------------------------------------------------------------ */

struct state_member {
    const char *key, *what, *unit;
    int count;
    double *values;
};

/* The tau of a joint without a drive must be 0. */
static void check_tau(const struct json_path *at, const struct model *model, const double *tau)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < lm->joint.nv && (lm->passive || lm->prescribed >= 0); k++) {
            if (tau[lm->tau + k] == 0) continue;
            const struct json_path number_at = path_item(at, lm->tau + k);
            path_error(&number_at, "must be 0: joint '%s' is %s and takes no torque", model->robot->link[i].joint.name,
                       lm->passive ? "passive" : "prescribed");
        }
    }
}

/* Quaternions must have norm 1 up to rounding; they are then normalized. */
static void check_quaternions(const struct json_path *at, const struct model *model, double *q)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct joint *joint = &model->robot->link[i].joint;
        double *position = q + model->link[i].q;
        const double error = joint_quaternion_error(joint, position);
        if (!(fabs(error) <= QUATERNION_ERROR))
            path_error(at, "the quaternion of joint '%s' has the norm %.9g; it must be within %g of 1", joint->name,
                       1 + error, QUATERNION_ERROR);
        else joint_normalize(joint, position);
    }
}

/* `names` are those of the coordinates or frames (`what`) of the robot, as they are written in `where`. */
static void report_unknown(const struct json_path *at, const char *what, const char *where, int count,
                           const char *const *names)
{
    const char *meant = nearest(at->key, count, names);
    if (meant != NULL) path_error(at, "this robot has no such %s, did you mean \"%s\"?", what, meant);
    else if (count > 0)
        path_error(at, "this robot has no such %s; names are those of the %s, as %s", what, where, names[0]);
    else path_error(at, "this robot has no %ss", what);
}

/* {"j1.q": 0.6, "two.eta[1]": 0.01}: coordinates that are not named stay */
static void read_named(const struct json_path *at, const struct model *model, enum derivative derivative,
                       const struct quantity *quantity, const struct state_member *member, struct arena *arena)
{
    const char **names = arena_allocate(arena, (size_t)member->count, sizeof *names);
    for (int i = 0; i < member->count && !arena->failed; i++) {
        char name[NAME_SIZE];
        name_coordinate(model, derivative, i, name);
        names[i] = arena_string(arena, name);
    }
    if (arena->failed) return;
    json_object_object_foreach(at->value, key, value)
    {
        const struct json_path one = {.reader = at->reader, .parent = at, .key = key, .given = true, .value = value};
        int i = 0;
        while (i < member->count && strcmp(names[i], key) != 0) i++;
        if (i < member->count) read_number(&one, REQUIRED, quantity, &member->values[i]);
        else report_unknown(&one, "coordinate", "FMU", member->count, names);
    }
}

/* q and qd: an array, or an object whose keys are names of coordinates; other members are arrays */
static void read_member(const struct json_path *at, const struct model *model, const struct state_member *member,
                        double *const optional[2], struct state *state)
{
    const struct quantity quantity = {member->what, member->unit, ANY};
    const bool q = member->values == state->at.q, qd = member->values == state->at.qd;
    if ((q || qd) && json_object_is_type(at->value, json_type_object))
        read_named(at, model, q ? POSITION : VELOCITY, &quantity, member, &state->arena);
    else if (!read_numbers(at, OPTIONAL, &quantity, member->count, member->values)) return;
    if (q) check_quaternions(at, model, state->at.q);
    if (member->values == state->at.tau) check_tau(at, model, state->at.tau);
    if (member->values == optional[0]) state->qdd = optional[0];
    if (member->values == optional[1]) state->w = optional[1];
}

/* {"F": [fx, fy, fz, tx, ty, tz]} for any frame; a point has (torque; force) */
static void read_frame_wrenches(const struct json_path *at, const struct robot *robot, struct state *state)
{
    static const struct quantity quantity = {"wrench on a frame, [fx, fy, fz, tx, ty, tz],", "N, N.m", ANY};
    struct object object;
    if (!path_open_object(&object, at, OPTIONAL, "wrenches on frames, {\"F\": [fx, fy, fz, tx, ty, tz]}")) return;
    const char **names = arena_allocate(&state->arena, (size_t)robot->n_frames, sizeof *names);
    for (int i = 0; i < robot->n_frames && names != NULL; i++) names[i] = robot->frame[i].name;
    json_object_object_foreach(at->value, key, value)
    {
        const struct json_path one = {.reader = at->reader, .parent = at, .key = key, .given = true, .value = value};
        int i = 0;
        while (i < robot->n_frames && strcmp(robot->frame[i].name, key) != 0) i++;
        if (i < robot->n_frames) {
            double given[6], *wrench = state->at.frame_wrench + 6 * i;
            if (!read_numbers(&one, REQUIRED, &quantity, 6, given)) continue;
            memcpy(wrench, given + 3, 3 * sizeof *wrench);
            memcpy(wrench + 3, given, 3 * sizeof *wrench);
        } else if (strcmp(key, "tip") == 0) {
            path_error(&one, "the wrench on the tip is tip_force and tip_torque");
        } else if (names != NULL) {
            report_unknown(&one, "frame", "robot file", robot->n_frames, names);
        }
    }
}

/* The input of a drive with this FMU name; NULL: there is none */
static double *find_drive_input(const struct robot *robot, const char *name, double *values)
{
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        char owner[MOST_NAME];
        const size_t length = strlen(robot_drive_name(robot, d, owner));
        if (strncmp(name, owner, length) != 0 || name[length] != '.') continue;
        for (int k = 0; k < rd->drive->n_rows; k++) {
            const struct drive_row *row = &rd->drive->row[k];
            if (row->role == INPUT && robot_drive_input(rd, k) && strcmp(row->name, name + length + 1) == 0)
                return &values[rd->first + k];
        }
    }
    return NULL;
}

/* {"lift.drive.command": 0.1} */
static void read_drive_inputs(const struct json_path *at, const struct robot *robot, struct state *state)
{
    static const struct quantity quantity = {"input of a drive", "as in the FMU", ANY};
    struct object object;
    if (!path_open_object(&object, at, OPTIONAL, "inputs of drives, {\"A.drive.command\": u}")) return;
    json_object_object_foreach(at->value, key, value)
    {
        const struct json_path one = {.reader = at->reader, .parent = at, .key = key, .given = true, .value = value};
        double *input = find_drive_input(robot, key, state->at.drive);
        if (input != NULL) read_number(&one, REQUIRED, &quantity, input);
        else
            path_error(&one,
                       "no drive inside this robot has such an input; names are those of the FMU, as A.drive.command");
    }
}

static void read_document(const struct json_path *document, const struct model *model, double *const optional[2],
                          struct state *state)
{
    const struct point *at = &state->at;
    const struct state_member members[] = {
        {"q", "q, one number per position,", "rad, m", model->nq, at->q},
        {"qd", "qd, one number per velocity,", "rad/s, m/s", model->nv, at->qd},
        {"tau", "tau, one number per velocity of every joint that is not fixed,", "N.m, N", model->n_tau, at->tau},
        {"tip_force", "tip force", "N", 3, at->tip_wrench + 3},
        {"tip_torque", "tip torque", "N.m", 3, at->tip_wrench},
        {"prescribed_qdd", "one number per prescribed velocity", "rad/s^2, m/s^2", model->n_prescribed,
         at->prescribed_qdd},
        {"actuator_force", "one number per actuator", "N", model->robot->n_lines, at->line_force},
        {"qdd", "qdd, one number per velocity,", "rad/s^2, m/s^2", model->nv, optional[0]},
        {"drive_states", "drive_states, one number per state of a drive,", "as in the FMU",
         robot_drive_states(model->robot), optional[1]},
    };
    struct object object;
    if (!path_open_object(&object, document, REQUIRED, "state (an object with q, qd, tau, ...)")) return;
    for (int i = 0; i < FIELD_COUNT(members); i++) {
        const struct json_path member = path_member(&object, members[i].key);
        read_member(&member, model, &members[i], optional, state);
    }
    const struct json_path wrenches = path_member(&object, "frame_wrench");
    read_frame_wrenches(&wrenches, model->robot, state);
    const struct json_path inputs = path_member(&object, "drive_inputs");
    read_drive_inputs(&inputs, model->robot, state);
    path_close_object(&object);
}

/* ---- documents ---------------------------------------------------------------------------------------------------------------- */

enum status state_parse(const char *name, const char *text, struct report *report, struct state *state)
{
    const struct model *model = state->at.model;
    struct reader reader = {.file = name, .report = report};
    const int errors_before = report->errors;
    struct json_path document;
    double *qdd, *w;
    arena_arrays(&state->arena, (size_t)model->nv, ARRAYS(&qdd));
    arena_arrays(&state->arena, (size_t)robot_drive_states(model->robot), ARRAYS(&w));
    if (state->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    if (document_parse(&reader, text, &document)) read_document(&document, model, (double *const[2]){qdd, w}, state);
    const bool no_memory = document_free(&reader);
    if (no_memory || state->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    return report->errors == errors_before ? STATUS_OK : STATUS_BAD_INPUT;
}

enum status state_read(const char *file, struct report *report, struct state *state)
{
    if (file == NULL) return STATUS_OK;
    const char *text = document_load(file, &state->arena, report);
    return text != NULL ? state_parse(file, text, report, state) : STATUS_NO_FILE;
}
