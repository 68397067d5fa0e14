/* Parameters: from the values to the robot, and the model made again where one has changed. */
#include <math.h>

#include "sim/instance.h"

/* Where a parameter lives in the robot; NULL: not a number of the robot. */
static double *place_of(struct robot *robot, const struct variable *variable)
{
    struct link *link = &robot->link[variable->owner];
    switch (variable->kind) {
    case KIND_GRAVITY: return &robot->gravity[variable->k];
    case KIND_LENGTH: return &link->beam.length;
    case KIND_MASS_PER_LENGTH: return &link->beam.mass_per_length;
    case KIND_EIY: return &link->beam.EIy;
    case KIND_EIZ: return &link->beam.EIz;
    case KIND_GJ: return &link->beam.GJ;
    case KIND_EA: return &link->beam.EA;
    case KIND_DAMPING_RATIO: return &link->beam.damping_ratio;
    case KIND_VISCOUS: return &link->joint.viscous;
    case KIND_COULOMB: return &link->joint.coulomb;
    case KIND_MOTOR_INERTIA: return &link->joint.motor_inertia;
    case KIND_STIFFNESS: return &link->joint.stiffness;
    case KIND_REST: return &link->joint.rest;
    case KIND_PAYLOAD_MASS: return &link->payload.mass;
    default: return NULL;
    }
}

/* What the robot file demands of the number, a parameter must keep. */
static const char *complaint(const struct variable *variable, double value)
{
    switch (variable->kind) {
    case KIND_LENGTH:
    case KIND_MASS_PER_LENGTH: return value > 0 ? NULL : "must be positive";
    case KIND_EIY:
    case KIND_EIZ:
    case KIND_GJ:
    case KIND_EA:
        return value > 0 || variable->start == 0 ? (value >= 0 ? NULL : "must not be negative") : "must be positive";
    case KIND_DAMPING_RATIO:
    case KIND_VISCOUS:
    case KIND_COULOMB:
    case KIND_MOTOR_INERTIA:
    case KIND_STIFFNESS:
    case KIND_PAYLOAD_MASS:
    case KIND_MAX_STEP: return value >= 0 ? NULL : "must not be negative";
    case KIND_RELATIVE_TOLERANCE: return value >= 0 && value < 1 ? NULL : "must be 0 (the importer's) or below 1";
    case KIND_ELASTIC_TERMS:
        return value == TERMS_FULL || value == TERMS_LINEAR || value == TERMS_RUTHLESS
                   ? NULL
                   : "must be 1 (full), 2 (linear) or 3 (ruthless)";
    case KIND_START_STATIC: return value == 0 || value == 1 ? NULL : "must be 0 (false) or 1 (true)";
    case KIND_MAX_ORDER:
        return value >= 0 && value <= 5 && value == floor(value) ? NULL : "must be 0 (chosen) or 1 to 5";
    default: return NULL;
    }
}

const char *sim_complaint(const struct sim *sim, int reference, double value)
{
    return complaint(sim->variables.by_reference[reference], value);
}

static enum status check(struct sim *sim)
{
    const int before = sim->report->errors;
    for (int r = 0; r < sim->variables.n_values; r++) {
        const struct variable *variable = sim->variables.by_reference[r];
        const char *text =
            variable->causality == CAUSALITY_PARAMETER ? complaint(variable, sim->course.value[r]) : NULL;
        if (text != NULL)
            report_add(sim->report, REPORT_ERROR, "%s = %.9g: %s [%s]", variable->name, sim->course.value[r], text,
                       variable->unit != NULL ? variable->unit : "1");
    }
    return sim->report->errors == before ? STATUS_OK : STATUS_BAD_ROBOT;
}

static bool copy_to_robot(struct sim *sim)
{
    bool changed = false;
    for (int r = 0; r < sim->variables.n_values; r++) {
        const struct variable *variable = sim->variables.by_reference[r];
        double *place = place_of(sim->robot, variable);
        if (place == NULL || *place == sim->course.value[r]) continue;
        *place = sim->course.value[r];
        changed = true;
    }
    const int terms = (int)sim->course.value[sim->variables.first[KIND_ELASTIC_TERMS][0]];
    if ((int)sim->robot->elastic_terms != terms) {
        sim->robot->elastic_terms = (enum elastic_terms)terms;
        changed = true;
    }
    return changed;
}

enum status sim_apply_parameters(struct sim *sim)
{
    if (check(sim) != STATUS_OK) return STATUS_BAD_ROBOT;
    if (!copy_to_robot(sim) && !sim->outdated) return STATUS_OK;
    sim->outdated = true;
    const enum status status = mechanism_remake(&sim->mechanism, sim->report);
    if (status != STATUS_OK) return status;
    sim->outdated = false;
    return STATUS_OK;
}

void sim_apply_payloads(struct sim *sim)
{
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        const int reference = sim->variables.first[KIND_PAYLOAD_MASS][i];
        if (reference < 0) continue;
        sim->robot->link[i].payload.mass = sim->course.value[reference];
        model_set_payload(sim->mechanism.model, i);
    }
}
