#include "linearization.h"

#include <stdio.h>

#include "cli.h"
#include "drive/drive.h"
#include "instance.h"
#include "json_out.h"
#include "robot/read.h"

enum status linearization_open(const struct common *options, struct report *report, struct operating_point *point)
{
    *point = (struct operating_point){0};
    const char *text = document_load(options->robot, options->arena, report);
    if (text == NULL) return STATUS_NO_FILE;
    const enum status status = operating_point_make(options->robot, text, options->at, report, point);
    if (status != STATUS_OK) return status;
    const bool set =
        cli_settings_apply(options, point->sim) == EXIT_OK && cli_holding_apply(options, point->sim) == EXIT_OK;
    return set ? STATUS_OK : options->arena->failed ? STATUS_NO_MEMORY : STATUS_BAD_INPUT;
}

enum status linearization_point(const struct common *options, struct report *report, struct operating_point *point)
{
    const enum status status = linearization_open(options, report, point);
    if (status != STATUS_OK) return status;
    return operating_point_move(point, options->at != NULL, options->equilibrium, report);
}

enum status linearization_make(const struct common *options, bool minimal, struct report *report,
                               struct operating_point *point, struct linear *linear)
{
    enum status status = linearization_point(options, report, point);
    if (status == STATUS_OK) status = linear_make(point, report, linear);
    return status == STATUS_OK && minimal ? linear_minimal(linear, report) : status;
}

/* Inputs of drives by FMU name; in an equilibrium, the commands that hold it */
static struct json_object *json_drive_inputs(const struct robot *robot, const double *value)
{
    struct json_object *all = json_object_new_object();
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        for (int r = 0; r < rd->drive->n_rows; r++) {
            if (rd->drive->row[r].role != INPUT || !robot_drive_input(rd, r)) continue;
            char owner[MOST_NAME], name[MOST_NAME + 64];
            robot_drive_name(robot, d, owner);
            snprintf(name, sizeof name, "%s.%s", owner, rd->drive->row[r].name);
            json_add_number(all, name, value[rd->first + r]);
        }
    }
    return all;
}

struct json_object *linearization_json_point(const struct operating_point *point)
{
    const struct model *model = point->mechanism->model;
    const struct robot *robot = model->robot;
    const struct point *at = &point->state.at;
    struct json_object *json = json_object_new_object();
    json_add_numbers(json, "q", at->q, model->nq);
    json_add_numbers(json, "qd", at->qd, model->nv);
    json_add_numbers(json, "qdd", point->qdd, model->nv);
    json_add_numbers(json, "tau", point->tau, model->n_tau);
    json_add_numbers(json, "tip_force", at->tip_wrench + 3, 3);
    json_add_numbers(json, "tip_torque", at->tip_wrench, 3);
    struct json_object *wrenches = robot->n_frames > 0 ? json_object_new_object() : NULL;
    for (int i = 0; i < robot->n_frames; i++) { /* as a STATE has them: force, then torque */
        const double *w = at->frame_wrench + (size_t)6 * (size_t)i, given[6] = {w[3], w[4], w[5], w[0], w[1], w[2]};
        json_add_numbers(wrenches, robot->frame[i].name, given, 6);
    }
    if (wrenches != NULL) json_add(json, "frame_wrench", wrenches);
    json_add_numbers(json, "prescribed_qdd", at->prescribed_qdd, model->n_prescribed);
    json_add_numbers(json, "actuator_force", at->line_force, robot->n_lines);
    struct json_object *states = robot_drive_states(robot) > 0 ? json_object_new_array() : NULL;
    for (int d = 0; d < robot->n_drives; d++)
        for (int r = 0; r < robot->drive[d].drive->n_rows; r++)
            if (drive_is_state(&robot->drive[d].drive->row[r]))
                json_object_array_add(states, json_object_new_double(at->drive[robot->drive[d].first + r]));
    if (states != NULL) json_add(json, "drive_states", states);
    if (robot->n_drives > 0) json_add(json, "drive_inputs", json_drive_inputs(robot, at->drive));
    return json;
}
