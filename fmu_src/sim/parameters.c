/* Parameters: from the values to the robot, and the model made again where one has changed. */
#include "sim/robot_instance.h"

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

enum status sim_apply_parameters(struct sim *sim)
{
    if (instance_check_parameters(&sim->instance) > 0) return STATUS_BAD_ROBOT;
    if (!copy_to_robot(sim) && !sim->model_is_stale) return STATUS_OK;
    sim->model_is_stale = true;
    const enum status status = mechanism_remake(&sim->mechanism, sim->instance.report);
    if (status != STATUS_OK) return status;
    sim->model_is_stale = false;
    sim->at.model = sim->seed.model = sim->outputs.model = sim->changes.model = sim->mechanism.model;
    return STATUS_OK;
}
