/* Drives inside the arm after a static start: their states, and with which commands they hold it. */
#include "drive/drive.h"

#include "sim/robot_instance.h"

/* Springs and drives that are free do not hold anything. The command with which a drive holds is otherwise for the importer to set: the
   input does not change. */
static enum status hold_drive(struct sim *sim, int drive, bool set)
{
    const struct statics *s = &sim->statics;
    const struct robot_drive *rd = &sim->robot->drive[drive];
    const int command = rd->drive->command;
    const int coordinate = rd->actuator < 0 ? sim->mechanism.model->link[rd->link].v : -1;
    const bool held = rd->actuator >= 0 ? s->line[rd->actuator] > LINE_SPRING : !s->moves[coordinate];
    const double effort = rd->actuator >= 0 ? s->F[rd->actuator] : s->holding[coordinate];
    double *v = sim->at.drive + rd->first;
    char text[CONFLICT_SIZE], name[MOST_NAME];
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
    if (!set) v[command] = given;
    return STATUS_OK;
}

enum status sim_hold_drives(struct sim *sim, bool set)
{
    enum status status = STATUS_OK;
    if (sim->robot->n_drives > 0) {
        mechanism_set(&sim->mechanism, &sim->in);
        status = drives_measure(&sim->mechanism);
    }
    for (int d = 0; d < sim->robot->n_drives && status == STATUS_OK; d++) status = hold_drive(sim, d, set);
    return status;
}
