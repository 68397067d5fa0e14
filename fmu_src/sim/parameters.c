/* Parameters: copies the values to the robot and rebuilds the model if one has changed. */
#include <math.h>

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

/* ---- tunable parameters ----------------------------------------------------------------------------------------------------------- */

enum status sim_check_tuned(struct sim *sim)
{
    if (!sim->tuned) return STATUS_OK;
    if (robot_check(sim->robot, sim->instance.report) > 0) return STATUS_BAD_ROBOT;
    sim->tuned = false;
    return STATUS_OK;
}

void sim_tune(struct sim *sim, const struct variable *variable, double value)
{
    if (!variable_to_robot(variable, value, sim->robot)) return;
    sim->tuned = true;
    mechanism_set_masses(&sim->mechanism, variable->owner);
    code_adapt(sim);
}

/* ---- from the values to the model ------------------------------------------------------------------------------------------------ */

enum status sim_apply_parameters(struct sim *sim)
{
    const struct variables *v = &sim->instance.variables;
    bool changed = false;
    if (instance_check_parameters(&sim->instance) + check_quaternions(sim) > 0) return STATUS_BAD_ROBOT;
    for (int r = 0; r < v->n_values; r++)
        if (v->by_reference[r]->causality == CAUSALITY_PARAMETER &&
            variable_to_robot(v->by_reference[r], sim->instance.stepper.value[r], sim->robot))
            changed = true;
    drives_take_parameters(sim->robot, sim->at.drive);
    for (int i = 0; i < sim->robot->n_links; i++) /* a STATE may have torques that drives inside exert */
        if (robot_drive_of_link(sim->robot, i) != NULL) sim->at.tau[sim->mechanism.model->link[i].tau] = 0;
    if (changed) code_adapt(sim);
    if (!changed && !sim->model_is_stale) return sim_check_tuned(sim);
    sim->model_is_stale = true;
    if (robot_check(sim->robot, sim->instance.report) > 0) return STATUS_BAD_ROBOT;
    const enum status status = mechanism_remake(&sim->mechanism, sim->instance.report);
    if (status != STATUS_OK) return status;
    sim->model_is_stale = sim->tuned = false;
    sim->at.model = sim->seed.model = sim->outputs.model = sim->changes.model = sim->mechanism.model;
    return STATUS_OK;
}
