/* All computed values of an instance at its state. */
#include <string.h>

#include "math/quaternion.h"
#include "sim/instance.h"

/* ---- the tip's quaternion: the product of half-angle quaternions along the chain, smooth in the state ------------------- */

static void turn(double quaternion[4], const double by[4])
{
    double turned[4];
    quaternion_multiply(quaternion, by, turned);
    memcpy(quaternion, turned, sizeof turned);
}

static void turn_by_matrix(double quaternion[4], const double R[9])
{
    double by[4];
    quaternion_from_matrix(R, by);
    turn(quaternion, by);
}

static void turn_by_vector(double quaternion[4], const double t[3], double sign)
{
    const double signed_t[3] = {sign * t[0], sign * t[1], sign * t[2]};
    double by[4];
    quaternion_exp(signed_t, by);
    turn(quaternion, by);
}

/* Orientation of the frame that carries link i's children, from the base outward */
static void carrying_quaternion(const struct sim *sim, int i, double quaternion[4])
{
    const struct link_model *lm = &sim->mechanism.model->link[i];
    const struct link_work *w = &sim->mechanism.work->link[i];
    if (lm->parent >= 0) carrying_quaternion(sim, lm->parent, quaternion);
    else memcpy(quaternion, (const double[4]){1, 0, 0, 0}, 4 * sizeof *quaternion);
    turn_by_matrix(quaternion, lm->R);
    if (lm->joint == JOINT_REVOLUTE) turn_by_vector(quaternion, lm->axis, sim->q[lm->q]);
    if (lm->body == NULL) return;
    if (w->JF != NULL) turn_by_vector(quaternion, w->theta_d, -1);
    turn_by_vector(quaternion, w->theta, 1);
}

/* ---- filling the values ---------------------------------------------------------------------------------------------------- */

static void put(struct sim *sim, enum kind kind, int owner, const double *from, int count)
{
    const int first = sim->variables.first[kind][owner];
    if (first >= 0) memcpy(sim->course.value + first, from, (size_t)count * sizeof *from);
}

static void put_link(struct sim *sim, int i)
{
    const struct link_model *lm = &sim->mechanism.model->link[i];
    double wrench[6];
    if (lm->q >= 0) {
        put(sim, KIND_Q, i, sim->q + lm->q, 1);
        put(sim, KIND_QD, i, sim->qd + lm->q, 1);
        put(sim, KIND_QDD, i, sim->qdd + lm->q, 1);
        put(sim, KIND_TAU_OUT, i, sim->force + lm->q, 1);
    }
    put(sim, KIND_ETA, i, sim->q + lm->eta, lm->m);
    put(sim, KIND_ETAD, i, sim->qd + lm->eta, lm->m);
    put(sim, KIND_ETADD, i, sim->qdd + lm->eta, lm->m);
    dyn_reaction(sim->mechanism.work, i, wrench);
    put(sim, KIND_ROOT_MOMENT, i, wrench, 3);
    put(sim, KIND_ROOT_FORCE, i, wrench + 3, 3);
    if (lm->body != NULL) {
        double deflection[3], rotation[3];
        dyn_deflection(sim->mechanism.model, sim->mechanism.work, i, deflection, rotation);
        put(sim, KIND_DEFLECTION, i, deflection, 3);
        put(sim, KIND_ROTATION, i, rotation, 3);
    }
}

static void put_tip(struct sim *sim)
{
    struct frame_motion tip;
    double quaternion[4];
    const struct link_model *lm = &sim->mechanism.model->link[sim->mechanism.model->tip];
    dyn_tip(sim->mechanism.model, sim->mechanism.work, sim->mechanism.model->tip, &tip);
    carrying_quaternion(sim, sim->mechanism.model->tip, quaternion);
    if (lm->body == NULL) turn_by_matrix(quaternion, lm->tip.R);
    put(sim, KIND_TIP_POSITION, 0, tip.p, 3);
    put(sim, KIND_TIP_QUATERNION, 0, quaternion, 4);
    put(sim, KIND_TIP_VELOCITY, 0, tip.v, 3);
    put(sim, KIND_TIP_ANGULAR_VELOCITY, 0, tip.omega, 3);
    put(sim, KIND_TIP_ACCELERATION, 0, tip.a, 3);
}

static void put_energy(struct sim *sim)
{
    struct energy energy;
    dyn_energy(sim->mechanism.model, sim->mechanism.work, &sim->in, &energy);
    double power = energy.power; /* prescribed joints are driven too */
    for (int i = 0; i < sim->mechanism.model->n_links; i++)
        if (sim->mechanism.model->link[i].prescribed >= 0)
            power += sim->force[sim->mechanism.model->link[i].q] * sim->qd[sim->mechanism.model->link[i].q];
    const double total = energy.kinetic + energy.elastic + energy.gravity;
    put(sim, KIND_ENERGY_KINETIC, 0, &energy.kinetic, 1);
    put(sim, KIND_ENERGY_ELASTIC, 0, &energy.elastic, 1);
    put(sim, KIND_ENERGY_GRAVITY, 0, &energy.gravity, 1);
    put(sim, KIND_ENERGY_TOTAL, 0, &total, 1);
    put(sim, KIND_POWER_JOINTS, 0, &power, 1);
    put(sim, KIND_POWER_LOSSES, 0, &energy.loss, 1);
}

static void put_actuators(struct sim *sim)
{
    double power = 0;
    actuators_measure(&sim->mechanism);
    for (int i = 0; i < sim->robot->n_actuators; i++) {
        const struct line *line = &sim->mechanism.actuators->line[i];
        put(sim, KIND_ACTUATOR_LENGTH, i, &line->length, 1);
        put(sim, KIND_ACTUATOR_RATE, i, &line->rate, 1);
        power += sim->actuator_force[i] * line->rate;
    }
    put(sim, KIND_POWER_ACTUATORS, 0, &power, 1);
}

enum status sim_compute(struct sim *sim)
{
    const enum status status = sim_forward(sim);
    if (status != STATUS_OK) return status;
    const struct input in = mechanism_loaded(&sim->mechanism, &sim->in);
    dyn_inverse(sim->mechanism.model, sim->mechanism.work, &in, sim->qdd,
                sim->force); /* motion and reactions for these accelerations */
    dyn_velocity(sim->mechanism.model, sim->mechanism.work, &in);
    for (int i = 0; i < sim->robot->n_loops; i++)
        put(sim, KIND_LOOP_FORCE, i, sim->mechanism.constraints->lambda + sim->mechanism.constraints->first[i],
            sim->mechanism.constraints->first[i + 1] - sim->mechanism.constraints->first[i]);
    for (int i = 0; i < sim->mechanism.model->n_links; i++) put_link(sim, i);
    put_tip(sim);
    put_actuators(sim);
    put_energy(sim);
    return STATUS_OK;
}
