/* Derivatives of the instance of a robot, all by the tangent of the recursion: the integrator's Jacobian, and directional
   derivatives of its variables. */
#include <string.h>

#include "sim/robot_instance.h"

/* ---- the integrator's Jacobian ----------------------------------------------------------------------------------------- */

/* f = (qdd; dw/dt) of the free coordinates by their positions, their rates and w */
enum status sim_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    struct sim *sim = context;
    const struct drives *drives = &sim->mechanism.drives;
    const size_t nv = (size_t)sim->mechanism.model->nv, n_w = (size_t)drives->n_states;
    sim_take(sim, t, y);
    if (sim->balance.n > 0) return balance_jacobian(sim, A, B);
    const enum status status = mechanism_forward_jacobian(&sim->mechanism, &sim->in, sim->qdd, sim->by_q, sim->by_qd);
    if (status != STATUS_OK) return status;
    for (int j = 0; j < sim->instance.stepper.ode.n_v; j++) {
        const bool moves = j < sim->n_free;
        const size_t w = (size_t)(j - sim->n_free), c = moves ? (size_t)sim->free_coordinate[j] : 0;
        for (int i = 0; i < sim->n_free; i++) {
            const size_t row = (size_t)sim->free_coordinate[i];
            *A++ = moves ? sim->by_q[nv * c + row] : 0;
            *B++ = moves ? sim->by_qd[nv * c + row] : drives->by_state[nv * w + row];
        }
        for (size_t i = 0; i < n_w; i++) {
            *A++ = moves ? drives->rate_by[BY_Q][n_w * c + i] : 0;
            *B++ = moves ? drives->rate_by[BY_QD][n_w * c + i] : drives->rate_by_state[n_w * w + i];
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

void sim_tangent(struct sim *sim, const struct input *in)
{
    const struct direction direction = point_direction(&sim->seed, sim->dx);
    mechanism_tangent(&sim->mechanism, in, &direction, true, sim->dqdd);
}

static enum status report_no_derivative(struct sim *sim, const struct variable *variable, const char *which)
{
    report_add(sim->instance.report, REPORT_ERROR, "%s: derivatives %s", variable->name, which);
    return STATUS_NO_DERIVATIVE;
}

/* The changes of the unknowns in the direction of the seed, at the point of the values */
static enum status take_changes(struct sim *sim, int n_unknown, const int *unknown, double *result)
{
    struct mechanism *m = &sim->mechanism;
    const struct input in = mechanism_loaded(m, &sim->in);
    if (!sim->tangent_up_to_date) {
        dyn_tangent_state(m->model, m->work, m->tangent, &in, sim->qdd);
        dyn_tangent_observe_state(m->model, m->work, m->tangent, &in, sim->qdd);
    }
    sim->tangent_up_to_date = true;
    sim_tangent(sim, &in);
    dyn_tangent_observe(m->model, m->work, m->tangent);
    outputs_change(sim);
    for (int i = 0; i < n_unknown; i++) {
        const struct variable *variable = sim->instance.variables.by_reference[unknown[i]];
        if (!variable_change(variable, &sim->changes, &result[i]))
            return report_no_derivative(sim, variable, "of this variable are not provided");
    }
    return STATUS_OK;
}

enum status sim_directional(struct instance *instance, int n_unknown, const int *unknown, int n_known, const int *known,
                            const double *seed, double *result)
{
    struct sim *sim = sim_of(instance);
    sim_clear_seed(sim);
    for (int i = 0; i < n_known; i++) {
        const struct variable *variable = instance->variables.by_reference[known[i]];
        double *place = variable_place(variable, &sim->seed);
        if (place == NULL) return report_no_derivative(sim, variable, "with respect to this variable are not provided");
        *place += seed[i];
    }
    model_tangent(sim->mechanism.model, sim->at.q, sim->seed.q, sim->dx);
    return take_changes(sim, n_unknown, unknown, result);
}

/* ---- in initialization mode ------------------------------------------------------------------------------------------------ */

/* The seed of a start value is that of its state */
enum status sim_start_directional(struct instance *instance, int n_unknown, const int *unknown, int n_known,
                                  const int *known, const double *seed, double *result)
{
    struct sim *sim = sim_of(instance);
    const struct variables *v = &instance->variables;
    const bool settled = instance->stepper.value[v->start_static] != 0 && sim_is_settled(sim);
    const bool loops = sim->mechanism.constraints->n_rows > 0;
    sim_clear_seed(sim);
    for (int i = 0; i < n_known; i++) {
        const struct variable *variable = v->by_reference[known[i]];
        const bool start = variable->start_of >= 0;
        double *place = variable_place(start ? &v->row[v->state[variable->start_of]] : variable, &sim->seed);
        if (place == NULL) return report_no_derivative(sim, variable, "with respect to this variable are not provided");
        if (sim->robot->n_drives > 0 && (settled || start || variable->in_drive != NULL))
            return report_no_derivative(sim, variable,
                                        "with respect to this variable are not provided: drives inside "
                                        "the arm start from it");
        if (start && loops)
            return report_no_derivative(sim, variable,
                                        "with respect to this variable are not provided: the start of a closed robot "
                                        "is a guess, from which its loops are closed");
        if (variable->state >= 0 && settled)
            return report_no_derivative(sim, variable,
                                        "with respect to this variable are not provided: a static start "
                                        "computes it; use an input or a start value");
        *place += seed[i];
    }
    model_tangent(sim->mechanism.model, sim->at.q, sim->seed.q, sim->dx);
    model_position_change(sim->mechanism.model, sim->at.q, sim->dx, sim->seed.q); /* quaternions are normalized */
    if (settled) {
        const enum status status = sim_change_equilibrium(sim);
        if (status != STATUS_OK) return status;
    }
    return take_changes(sim, n_unknown, unknown, result);
}
