/* Drives inside the arm at the start: their parameters, their states, and with which commands they hold a static start. */
#include "drive/drive.h"

#include <math.h>
#include <string.h>

#include "sim/robot_instance.h"

void sim_take_drive_parameters(struct sim *sim)
{
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        double *v = sim->at.drive + rd->first, initial[MOST_VALUES];
        robot_drive_values(sim->robot, rd, initial);
        for (int r = 0; r < rd->drive->n_rows; r++)
            if (rd->drive->row[r].role == PARAMETER || r == rd->drive->share) v[r] = initial[r];
    }
}

/* Positions and rates of the joints and lines that drives move */
static enum status take_motion(struct sim *sim)
{
    if (sim->robot->n_drives == 0) return STATUS_OK;
    mechanism_set(&sim->mechanism, &sim->in);
    return drives_measure(&sim->mechanism);
}

enum status sim_start_drives(struct sim *sim)
{
    char text[CONFLICT_SIZE], name[MOST_NAME];
    const enum status status = take_motion(sim);
    for (int d = 0; d < sim->robot->n_drives && status == STATUS_OK; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        double *v = sim->at.drive + rd->first;
        const char *conflict = rd->drive->conflict(v, text);
        if (conflict != NULL) {
            report_add(sim->instance.report, REPORT_ERROR, "%s: %s", robot_drive_name(sim->robot, d, name), conflict);
            return STATUS_BAD_DRIVE;
        }
        rd->drive->start(v);
    }
    return status;
}

enum status sim_drive_efforts(struct instance *instance, const struct point *at, const double *w)
{
    struct sim *sim = sim_of(instance);
    const struct robot *robot = sim->robot;
    struct mechanism *m = &sim->mechanism;
    enum status status = sim_apply_parameters(sim);
    if (status != STATUS_OK) return status;
    memcpy(sim->at.q, at->q, (size_t)m->model->nq * sizeof(double));
    memcpy(sim->at.qd, at->qd, (size_t)m->model->nv * sizeof(double));
    for (int pass = 0; pass < 2 && status == STATUS_OK; pass++) { /* inputs, from which states start; states */
        for (int d = 0; d < robot->n_drives; d++) {
            const struct robot_drive *rd = &robot->drive[d];
            for (int r = 0; r < rd->drive->n_rows; r++) {
                double *value = &sim->at.drive[rd->first + r];
                if (pass == 0 && robot_drive_input(rd, r)) *value = at->drive[rd->first + r];
                if (pass == 1 && w != NULL && drive_is_state(&rd->drive->row[r])) *value = *w++;
            }
        }
        if (pass == 0) status = sim_start_drives(sim);
    }
    if (status == STATUS_OK) status = mechanism_efforts(m, &sim->in);
    if (status == STATUS_OK) drives_copy_efforts(m, sim->at.drive, at->tau, at->actuator_force);
    return status;
}

/* Springs and drives that are free do not hold anything. The command with which a drive holds is for the importer to set: the input
   does not change. */
static enum status hold_drive(struct sim *sim, int drive)
{
    const struct statics *s = &sim->statics;
    const struct robot_drive *rd = &sim->robot->drive[drive];
    const int command = rd->drive->command;
    const int coordinate = rd->actuator < 0 ? sim->mechanism.model->link[rd->link].v : -1;
    const bool held = rd->actuator >= 0 ? s->line[rd->actuator] > LINE_SPRING : !s->moves[coordinate];
    const double effort = rd->actuator >= 0 ? s->F[rd->actuator] : s->holding[coordinate];
    double *v = sim->at.drive + rd->first, *holding = &sim->command[drive];
    char text[CONFLICT_SIZE], name[MOST_NAME];
    *holding = NAN;
    if (rd->drive->hold == NULL || !held) {
        rd->drive->start(v);
        return STATUS_OK;
    }
    const double given = v[command];
    v[rd->drive->effort] = effort;
    const char *why = rd->drive->hold(v, text);
    robot_drive_name(sim->robot, drive, name);
    if (why != NULL) {
        report_add(sim->instance.report, REPORT_ERROR, "%s: static start: %s", name, why);
        return STATUS_BAD_DRIVE;
    }
    report_note(sim->instance.report, "static start: %s holds with %s = %.9g %s and %s = %.9g; its input is %.9g", name,
                rd->drive->row[rd->drive->effort].name, effort, rd->drive->row[rd->drive->effort].unit,
                rd->drive->row[command].name, v[command], given);
    *holding = v[command];
    v[command] = given;
    return STATUS_OK;
}

enum status sim_hold_drives(struct sim *sim)
{
    enum status status = take_motion(sim);
    for (int d = 0; d < sim->robot->n_drives && status == STATUS_OK; d++) status = hold_drive(sim, d);
    return status;
}
