/* Derivatives of an instance, all by the tangent of the recursion: the integrator's Jacobian, directional derivatives of its
   variables, rates of its outputs. */
#include <string.h>

#include "dyn/tangent.h"
#include "math/vec.h"
#include "sim/instance.h"

/* ---- the integrator's Jacobian ----------------------------------------------------------------------------------------- */

enum status sim_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    struct sim *sim = context;
    const int n = sim->n_free;
    sim_take(sim, &sim->course.now, t, y);
    if (sim->balance.n > 0) return balance_jacobian(sim, A, B);
    const enum status status = mechanism_forward_jacobian(&sim->mechanism, &sim->in, sim->qdd, sim->by_q, sim->by_qd);
    if (status != STATUS_OK) return status;
    for (int j = 0; j < n; j++) {
        const size_t column = (size_t)sim->mechanism.model->n * (size_t)sim->free_coordinate[j];
        for (int i = 0; i < n; i++) {
            *A++ = sim->by_q[column + (size_t)sim->free_coordinate[i]];
            *B++ = sim->by_qd[column + (size_t)sim->free_coordinate[i]];
        }
    }
    return STATUS_OK;
}

/* ---- a direction --------------------------------------------------------------------------------------------------------- */

void seed_clear(struct seed *seed, const struct model *model)
{
    memset(seed->q, 0, (size_t)model->n * sizeof(double));
    memset(seed->qd, 0, (size_t)model->n * sizeof(double));
    memset(seed->tau, 0, (size_t)model->n_joints * sizeof(double));
    memset(seed->qdd, 0, (size_t)model->n_prescribed * sizeof(double));
    memset(seed->actuator_force, 0, (size_t)model->robot->n_actuators * sizeof(double));
    memset(seed->tip_wrench, 0, sizeof seed->tip_wrench);
    memset(seed->payload_mass, 0, (size_t)model->n_links * sizeof(double));
}

/* Adds what a known (a state, an input, the mass of a payload) changes; false: it is none */
static bool add_seed(struct sim *sim, const struct variable *variable, double amount)
{
    if (variable->kind == KIND_ACTUATOR_FORCE) {
        sim->seed.actuator_force[variable->owner] += amount;
        return true;
    }
    if (variable->owner >= sim->mechanism.model->n_links) return false;
    const struct link_model *lm = &sim->mechanism.model->link[variable->owner];
    struct seed *seed = &sim->seed;
    switch (variable->kind) {
    case KIND_Q:
    case KIND_Q_IN: seed->q[lm->q] += amount; return true;
    case KIND_QD:
    case KIND_QD_IN: seed->qd[lm->q] += amount; return true;
    case KIND_ETA: seed->q[lm->eta + variable->k] += amount; return true;
    case KIND_ETAD: seed->qd[lm->eta + variable->k] += amount; return true;
    case KIND_QDD_IN: seed->qdd[lm->prescribed] += amount; return true;
    case KIND_TAU_IN: seed->tau[lm->tau] += amount; return true;
    case KIND_TIP_FORCE: seed->tip_wrench[3 + variable->k] += amount; return true;
    case KIND_TIP_TORQUE: seed->tip_wrench[variable->k] += amount; return true;
    case KIND_PAYLOAD_MASS: seed->payload_mass[variable->owner] += amount; return true;
    default: return false;
    }
}

void sim_along_seed(struct sim *sim, const struct input *in)
{
    const struct seed *seed = &sim->seed;
    const struct direction direction = {.q = seed->q,
                                        .qd = seed->qd,
                                        .tau = seed->tau,
                                        .tip_wrench = seed->tip_wrench,
                                        .prescribed_qdd = seed->qdd,
                                        .actuator_force = seed->actuator_force,
                                        .payload_mass = seed->payload_mass};
    mechanism_tangent(&sim->mechanism, in, &direction, true, sim->dqdd);
}

/* The tangent at the present state in the direction of the seed */
static enum status differentiate(struct sim *sim)
{
    const enum status status = sim_update(sim);
    if (status != STATUS_OK) return status;
    const struct input in = mechanism_loaded(&sim->mechanism, &sim->in);
    if (!sim->tangent_fresh)
        dyn_tangent_state(sim->mechanism.model, sim->mechanism.work, sim->mechanism.tangent, &in, sim->qdd);
    sim->tangent_fresh = true;
    sim_along_seed(sim, &in);
    return STATUS_OK;
}

/* ---- what it does to a variable --------------------------------------------------------------------------------------------- */

static double tip_change(struct sim *sim, const struct variable *variable)
{
    struct frame_derivative tip;
    dyn_tangent_tip(sim->mechanism.model, sim->mechanism.work, sim->mechanism.tangent, sim->mechanism.model->tip, &tip);
    switch (variable->kind) {
    case KIND_TIP_POSITION: return tip.p[variable->k];
    case KIND_TIP_VELOCITY: return tip.v[variable->k];
    case KIND_TIP_ANGULAR_VELOCITY: return tip.omega[variable->k];
    case KIND_TIP_ACCELERATION: return tip.a[variable->k];
    default: break;
    }
    /* quaternion: 1/2 (0, phi) q */
    const double *q = sim->course.value + sim->variables.first[KIND_TIP_QUATERNION][0], *phi = tip.phi;
    double vector[3];
    cross3(phi, q + 1, vector);
    for (int i = 0; i < 3; i++) vector[i] += q[0] * phi[i];
    return 0.5 * (variable->k == 0 ? -dot3(phi, q + 1) : vector[variable->k - 1]);
}

static double link_change(struct sim *sim, const struct variable *variable)
{
    double wrench[6], deflection[3], rotation[3];
    switch (variable->kind) {
    case KIND_ROOT_MOMENT:
    case KIND_ROOT_FORCE:
        dyn_tangent_reaction(sim->mechanism.work, sim->mechanism.tangent, variable->owner, wrench);
        return wrench[variable->kind == KIND_ROOT_FORCE ? 3 + variable->k : variable->k];
    default:
        dyn_tangent_deflection(sim->mechanism.model, sim->mechanism.work, sim->mechanism.tangent, variable->owner,
                               deflection, rotation);
        return variable->kind == KIND_DEFLECTION ? deflection[variable->k] : rotation[variable->k];
    }
}

/* Change of a variable in the direction of the last differentiate(); false: it is not one that has a derivative here */
static bool change_of(struct sim *sim, const struct variable *variable, double *change)
{
    double dlength, drate;
    switch (variable->kind) {
    case KIND_LOOP_FORCE:
        *change = sim->mechanism.constraints->dlambda[sim->mechanism.constraints->first[variable->owner] + variable->k];
        return true;
    case KIND_ACTUATOR_LENGTH:
    case KIND_ACTUATOR_RATE:
        actuators_change(&sim->mechanism, variable->owner, &dlength, &drate);
        *change = variable->kind == KIND_ACTUATOR_LENGTH ? dlength : drate;
        return true;
    default: break;
    }
    if (variable->owner >= sim->mechanism.model->n_links) return false;
    const struct link_model *lm = &sim->mechanism.model->link[variable->owner];
    switch (variable->kind) {
    case KIND_Q: *change = sim->seed.q[lm->q]; return true;
    case KIND_QD: *change = sim->seed.qd[lm->q]; return true;
    case KIND_QDD: *change = sim->dqdd[lm->q]; return true;
    case KIND_ETA: *change = sim->seed.q[lm->eta + variable->k]; return true;
    case KIND_ETAD: *change = sim->seed.qd[lm->eta + variable->k]; return true;
    case KIND_ETADD: *change = sim->dqdd[lm->eta + variable->k]; return true;
    case KIND_TAU_OUT: *change = sim->mechanism.tangent->force[lm->q]; return true;
    case KIND_TIP_POSITION:
    case KIND_TIP_QUATERNION:
    case KIND_TIP_VELOCITY:
    case KIND_TIP_ANGULAR_VELOCITY:
    case KIND_TIP_ACCELERATION: *change = tip_change(sim, variable); return true;
    case KIND_DEFLECTION:
    case KIND_ROTATION:
    case KIND_ROOT_FORCE:
    case KIND_ROOT_MOMENT: *change = link_change(sim, variable); return true;
    default: return false;
    }
}

static enum status refuse(struct sim *sim, const struct variable *variable, const char *role)
{
    report_add(sim->report, REPORT_ERROR, "%s: no derivative is provided with this variable as %s", variable->name,
               role);
    return STATUS_NO_DERIVATIVE;
}

enum status sim_directional(struct sim *sim, int n_unknown, const int *unknown, int n_known, const int *known,
                            const double *seed, double *result)
{
    seed_clear(&sim->seed, sim->mechanism.model);
    for (int i = 0; i < n_known; i++) {
        const struct variable *variable = sim->variables.by_reference[known[i]];
        if (!add_seed(sim, variable, seed[i])) return refuse(sim, variable, "known");
    }
    const enum status status = differentiate(sim);
    if (status != STATUS_OK) return status;
    for (int i = 0; i < n_unknown; i++) {
        const struct variable *variable = sim->variables.by_reference[unknown[i]];
        if (!change_of(sim, variable, &result[i])) return refuse(sim, variable, "unknown");
    }
    return STATUS_OK;
}

/* The direction of time: states by their rates, inputs by those of the last step */
enum status sim_output_rate(struct sim *sim, int reference, double *rate)
{
    enum status status = sim_update(sim);
    if (status != STATUS_OK) return status;
    seed_clear(&sim->seed, sim->mechanism.model);
    for (int i = 0; i < sim->n_free; i++) {
        const int c = sim->free_coordinate[i];
        sim->seed.q[c] = sim->qd[c];
        sim->seed.qd[c] = sim->qdd[c];
    }
    for (int i = 0; i < sim->course.n_inputs; i++)
        (void)add_seed(sim, sim->variables.by_reference[sim->course.input[i]], sim->course.before.rate[i]);
    status = differentiate(sim);
    if (status != STATUS_OK) return status;
    const struct variable *variable = sim->variables.by_reference[reference];
    return change_of(sim, variable, rate) ? STATUS_OK : refuse(sim, variable, "output");
}
