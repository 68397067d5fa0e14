/* Derivatives of the instance of a robot, all by the tangent of the recursion: the integrator's Jacobian, and directional
   derivatives of its variables. */
#include <string.h>

#include "sim/robot_instance.h"

/* ---- the integrator's Jacobian ----------------------------------------------------------------------------------------- */

enum status sim_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    struct sim *sim = context;
    const int n = sim->instance.stepper.ode.n_v;
    sim_take(sim, t, y);
    if (sim->balance.n > 0) return balance_jacobian(sim, A, B);
    const enum status status = mechanism_forward_jacobian(&sim->mechanism, &sim->in, sim->qdd, sim->by_q, sim->by_qd);
    if (status != STATUS_OK) return status;
    for (int j = 0; j < n; j++) {
        const size_t column = (size_t)sim->mechanism.model->nv * (size_t)sim->free_coordinate[j];
        for (int i = 0; i < n; i++) {
            *A++ = sim->by_q[column + (size_t)sim->free_coordinate[i]];
            *B++ = sim->by_qd[column + (size_t)sim->free_coordinate[i]];
        }
    }
    return STATUS_OK;
}

/* ---- directional derivatives --------------------------------------------------------------------------------------------- */

void sim_clear_seed(struct sim *sim)
{
    point_clear(&sim->seed);
    memset(sim->dx, 0, (size_t)sim->mechanism.model->nv * sizeof *sim->dx);
}

void sim_along_seed(struct sim *sim, const struct input *in)
{
    const struct direction direction = point_direction(&sim->seed, sim->dx);
    mechanism_tangent(&sim->mechanism, in, &direction, true, sim->dqdd);
}

/* Changes of all outputs in the direction of the seed, at the point of the values */
static void differentiate(struct sim *sim)
{
    struct mechanism *m = &sim->mechanism;
    const struct input in = mechanism_loaded(m, &sim->in);
    if (!sim->tangent_up_to_date) {
        dyn_tangent_state(m->model, m->work, m->tangent, &in, sim->qdd);
        dyn_tangent_observe_state(m->model, m->work, m->tangent, &in, sim->qdd);
    }
    sim->tangent_up_to_date = true;
    sim_along_seed(sim, &in);
    dyn_tangent_observe(m->model, m->work, m->tangent, sim->dqdd);
    outputs_change(sim);
}

static enum status refuse(struct sim *sim, const struct variable *variable, const char *role)
{
    report_add(sim->instance.report, REPORT_ERROR, "%s: no derivative is provided with this variable as %s",
               variable->name, role);
    return STATUS_NO_DERIVATIVE;
}

enum status sim_directional(struct instance *instance, int n_unknown, const int *unknown, int n_known, const int *known,
                            const double *seed, double *result)
{
    struct sim *sim = sim_of(instance);
    const struct variables *v = &instance->variables;
    sim_clear_seed(sim);
    for (int i = 0; i < n_known; i++) {
        const struct variable *variable = v->by_reference[known[i]];
        double *place = variable_place(variable, &sim->seed);
        if (place == NULL) return refuse(sim, variable, "known");
        *place += seed[i];
    }
    model_tangent(sim->mechanism.model, sim->at.q, sim->seed.q, sim->dx);
    differentiate(sim);
    for (int i = 0; i < n_unknown; i++) {
        const struct variable *variable = v->by_reference[unknown[i]];
        if (!variable_change(variable, &sim->changes, &result[i])) return refuse(sim, variable, "unknown");
    }
    return STATUS_OK;
}
