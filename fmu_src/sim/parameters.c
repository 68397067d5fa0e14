/* Parameters: copies the values to the robot and rebuilds the model if one has changed. */
#include <math.h>

#include "robot/semidefinite.h"
#include "sim/robot_instance.h"

/* A start quaternion is normalized; one far from norm 1 is an error. Returns the number of errors */
static int check_quaternions(struct sim *sim)
{
    const struct variables *v = &sim->instance.variables;
    int errors = 0;
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        if (variable->start_of >= 0) *sim->seed_state[variable->start_of] = sim->instance.stepper.value[r];
    }
    for (int i = 0; i < sim->robot->n_links; i++) {
        const struct joint *joint = &sim->robot->link[i].joint;
        const double error = joint_quaternion_error(joint, sim->seed.q + sim->mechanism.model->link[i].q);
        if (fabs(error) <= QUATERNION_ERROR) continue;
        report_add(sim->instance.report, REPORT_ERROR,
                   "%s.quaternion_start: its norm is %.9g: must be 1, within %g; give a unit quaternion (w, x, y, z)",
                   joint->name, 1 + error, QUATERNION_ERROR);
        errors++;
    }
    return errors;
}

/* ---- what several numbers must fulfill together ------------------------------------------------------------------------------- */

/* Every section is hollow. Returns the number of errors */
static int check_sections(const struct sim *sim)
{
    int errors = 0;
    for (int i = 0; i < sim->robot->n_links; i++) {
        const struct link *link = &sim->robot->link[i];
        double across;
        if (link->type != BODY_BEAM || !link->beam.has_section) continue;
        if (section_without_hollow(&link->beam.section, &across) < 0) continue;
        report_add(sim->instance.report, REPORT_ERROR,
                   "%s.section.wall = %.9g: must be less than half of the outer dimension %.9g [m]", link->name,
                   link->beam.section.wall.factor, across);
        errors++;
    }
    return errors;
}

/* Every inertia is positive semidefinite. Returns the number of errors */
static int check_payloads(const struct sim *sim)
{
    int errors = 0;
    for (int i = 0; i < sim->robot->n_links; i++) {
        const struct link *link = &sim->robot->link[i];
        const double *I = link->payload.inertia;
        if (!link->has_payload || is_semidefinite_tensor(I)) continue;
        report_add(sim->instance.report, REPORT_ERROR,
                   "%s.payload.inertia = %.9g, %.9g, %.9g, %.9g, %.9g, %.9g: must be positive semidefinite [kg.m2]",
                   link->name, I[0], I[1], I[2], I[3], I[4], I[5]);
        errors++;
    }
    return errors;
}

enum status sim_check_tuned(struct sim *sim)
{
    if (!sim->tuned) return STATUS_OK;
    if (check_payloads(sim) > 0) return STATUS_BAD_ROBOT;
    sim->tuned = false;
    return STATUS_OK;
}

void sim_tune(struct sim *sim, const struct variable *variable, double value)
{
    if (!variable_to_robot(variable, value, sim->robot)) return;
    sim->tuned = true;
    mechanism_set_masses(&sim->mechanism, variable->owner);
}

/* ---- from the values to the model ------------------------------------------------------------------------------------------------ */

static bool copy_to_robot(struct sim *sim)
{
    bool changed = false;
    for (int r = 0; r < sim->instance.variables.n_values; r++) {
        const struct variable *variable = sim->instance.variables.by_reference[r];
        if (variable->causality != CAUSALITY_PARAMETER) continue;
        if (variable_to_robot(variable, sim->instance.stepper.value[r], sim->robot)) changed = true;
    }
    return changed;
}

/* Frames stay on their beams when lengths change. Returns the number of errors */
static int check_stations(const struct sim *sim)
{
    int errors = 0;
    for (int i = 0; i < sim->robot->n_frames; i++) {
        const struct robot_frame *frame = &sim->robot->frame[i];
        const struct link *link = &sim->robot->link[frame->site.link];
        if (frame->site.type != AT_STATION || frame->site.x <= link->beam.length) continue;
        report_add(sim->instance.report, REPORT_ERROR,
                   "%s.length = %.9g: must not be below %.9g, the station of frame '%s'", link->name, link->beam.length,
                   frame->site.x, frame->name);
        errors++;
    }
    return errors;
}

enum status sim_apply_parameters(struct sim *sim)
{
    if (instance_check_parameters(&sim->instance) + check_quaternions(sim) > 0) return STATUS_BAD_ROBOT;
    if (!copy_to_robot(sim) && !sim->model_is_stale) return sim_check_tuned(sim);
    sim->model_is_stale = true;
    if (check_sections(sim) + check_payloads(sim) + check_stations(sim) > 0) return STATUS_BAD_ROBOT;
    const enum status status = mechanism_remake(&sim->mechanism, sim->instance.report);
    if (status != STATUS_OK) return status;
    sim->model_is_stale = sim->tuned = false;
    sim->at.model = sim->seed.model = sim->outputs.model = sim->changes.model = sim->mechanism.model;
    return STATUS_OK;
}
