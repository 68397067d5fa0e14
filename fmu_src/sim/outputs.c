/* All computed values of an instance at its state. */
#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "sim/instance.h"

/* ---- the tip's quaternion: the product of half-angle quaternions along the chain, smooth in the state ------------------- */

/* a = a b, w first */
static void quaternion_multiply(double a[4], const double b[4])
{
    const double c[4] = {
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(a, c, sizeof c);
}

/* of a rotation vector: (cos |t|/2, t sin(|t|/2)/|t|) */
static void quaternion_exp(const double t[3], double quaternion[4])
{
    const double angle = sqrt(dot3(t, t)), s = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48;
    quaternion[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++) quaternion[1 + i] = s * t[i];
}

/* of a constant rotation matrix, by its largest component */
static void quaternion_of(const double R[9], double q[4])
{
    const double trace = R[0] + R[4] + R[8],
                 four[4] = {1 + trace, 1 + 2 * R[0] - trace, 1 + 2 * R[4] - trace, 1 + 2 * R[8] - trace};
    const double pair[4][4] = {{four[0], R[7] - R[5], R[2] - R[6], R[3] - R[1]},
                               {R[7] - R[5], four[1], R[1] + R[3], R[2] + R[6]},
                               {R[2] - R[6], R[1] + R[3], four[2], R[5] + R[7]},
                               {R[3] - R[1], R[2] + R[6], R[5] + R[7], four[3]}};
    int largest = 0;
    for (int i = 1; i < 4; i++)
        if (four[i] > four[largest]) largest = i;
    const double scale = 0.5 / sqrt(four[largest]);
    for (int i = 0; i < 4; i++) q[i] = scale * pair[largest][i];
}

static void turn_by_matrix(double quaternion[4], const double R[9])
{
    double by[4];
    quaternion_of(R, by);
    quaternion_multiply(quaternion, by);
}

static void turn_by_vector(double quaternion[4], const double t[3], double sign)
{
    const double signed_t[3] = {sign * t[0], sign * t[1], sign * t[2]};
    double by[4];
    quaternion_exp(signed_t, by);
    quaternion_multiply(quaternion, by);
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
