/* All computed values of a robot at a point, and their changes in a direction. */
#include <string.h>

#include "math/quaternion.h"
#include "sim/robot_instance.h"

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

/* Orientation of O of link i, or of a section of it, from the base outward */
static void carrier_quaternion(const struct sim *sim, int i, int section, double quaternion[4])
{
    const struct link_model *lm = &sim->mechanism.model->link[i];
    const struct link_work *w = &sim->mechanism.work->link[i];
    if (lm->parent >= 0) carrier_quaternion(sim, lm->parent, lm->mount, quaternion);
    else memcpy(quaternion, (const double[4]){1, 0, 0, 0}, 4 * sizeof *quaternion);
    turn_by_matrix(quaternion, lm->R);
    joint_turn_quaternion(&lm->joint, sim->at.q + lm->q, quaternion);
    if (section < 0) return;
    if (w->JF != NULL) turn_by_vector(quaternion, w->theta_d, -1);
    turn_by_vector(quaternion, w->section[section].theta, 1);
}

/* Orientation of a frame fixed to a link */
static void anchor_quaternion(const struct sim *sim, const struct anchor *anchor, double quaternion[4])
{
    carrier_quaternion(sim, anchor->link, anchor->section, quaternion);
    if (anchor->offset) turn_by_matrix(quaternion, anchor->at.R);
}

/* ---- the outputs ------------------------------------------------------------------------------------------------------------ */

static void take_arrays(struct sim *sim, struct outputs *outputs)
{
    const struct model *model = sim->mechanism.model;
    struct arena *arena = &sim->instance.arena;
    const size_t n_actuators = (size_t)sim->robot->n_actuators;
    outputs->model = model;
    outputs->first_row = sim->mechanism.constraints->first;
    outputs->position_rate = arena_take(arena, (size_t)model->nq, sizeof *outputs->position_rate);
    outputs->link = arena_take(arena, (size_t)model->n_links, sizeof *outputs->link);
    outputs->length = arena_take(arena, n_actuators, sizeof *outputs->length);
    outputs->length_rate = arena_take(arena, n_actuators, sizeof *outputs->length_rate);
}

void outputs_make(struct sim *sim)
{
    take_arrays(sim, &sim->outputs);
    take_arrays(sim, &sim->changes);
}

/* All but the quaternion. f = R'(a - g),   w = R' omega */
static void put_frame(const struct frame_motion *frame, const double gravity[3], struct frame_outputs *outputs)
{
    copy3(frame->p, outputs->position);
    copy3(frame->v, outputs->velocity);
    copy3(frame->omega, outputs->angular_velocity);
    copy3(frame->a, outputs->acceleration);
    const double felt[3] = {frame->a[0] - gravity[0], frame->a[1] - gravity[1], frame->a[2] - gravity[2]};
    tmul3(frame->R, felt, outputs->specific_force);
    tmul3(frame->R, frame->omega, outputs->angular_rate);
}

static void compute_tip(struct sim *sim, struct outputs *outputs)
{
    const struct model *model = sim->mechanism.model;
    struct frame_motion tip;
    dyn_frame(model, sim->mechanism.work, &model->tip_frame, &tip);
    put_frame(&tip, model->gravity, &outputs->tip);
    anchor_quaternion(sim, &model->tip_frame, outputs->tip.quaternion);
}

static void compute_actuators(struct sim *sim, struct outputs *outputs)
{
    actuators_measure(&sim->mechanism);
    outputs->actuator_power = 0;
    for (int i = 0; i < sim->robot->n_actuators; i++) {
        const struct line *line = &sim->mechanism.actuators->line[i];
        outputs->length[i] = line->length;
        outputs->length_rate[i] = line->rate;
        outputs->actuator_power += sim->actuator_force[i] * line->rate;
    }
}

static void compute_energy(struct sim *sim, struct outputs *outputs)
{
    const struct model *model = sim->mechanism.model;
    dyn_energy(model, sim->mechanism.work, &sim->in, &outputs->energy);
    outputs->joint_power = outputs->energy.power; /* prescribed joints are driven too */
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = lm->v; lm->prescribed >= 0 && k < lm->v + lm->joint.nv; k++)
            outputs->joint_power += sim->force[k] * sim->at.qd[k];
    }
}

static void put_values(struct sim *sim)
{
    const struct variables *v = &sim->instance.variables;
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        if (variable->causality == CAUSALITY_OUTPUT || variable->causality == CAUSALITY_LOCAL)
            sim->instance.stepper.value[r] = variable_value(variable, &sim->outputs);
    }
}

enum status outputs_compute(struct sim *sim)
{
    struct mechanism *m = &sim->mechanism;
    struct outputs *outputs = &sim->outputs;
    const enum status status = sim_forward(sim);
    if (status != STATUS_OK) return status;
    const struct input in = mechanism_loaded(m, &sim->in);
    dyn_inverse(m->model, m->work, &in, sim->qdd, sim->force); /* motion and reactions for these accelerations */
    dyn_velocity(m->model, m->work, &in);
    outputs->q = sim->at.q, outputs->qd = sim->at.qd, outputs->qdd = sim->qdd;
    outputs->force = sim->force;
    outputs->lambda = m->constraints->lambda;
    model_position_change(m->model, sim->at.q, sim->at.qd, outputs->position_rate);
    for (int i = 0; i < m->model->n_links; i++) {
        struct link_outputs *link = &outputs->link[i];
        dyn_reaction(m->work, i, link->wrench);
        dyn_deflection(m->model, m->work, i, link->deflection, link->rotation);
    }
    compute_tip(sim, outputs);
    compute_actuators(sim, outputs);
    compute_energy(sim, outputs);
    put_values(sim);
    return STATUS_OK;
}

/* ---- their changes ---------------------------------------------------------------------------------------------------------- */

/* d(R' x) = R' (dx - phi x x) */
static void change_in_frame(const double R[9], const double phi[3], const double x[3], const double dx[3],
                            double change[3])
{
    double turned[3];
    cross3(phi, x, turned);
    const double seen[3] = {dx[0] - turned[0], dx[1] - turned[1], dx[2] - turned[2]};
    tmul3(R, seen, change);
}

/* Changes of put_frame(), and of the quaternion */
static void change_frame(const struct frame_motion *frame, const struct frame_derivative *change,
                         const double gravity[3], const double quaternion[4], struct frame_outputs *changes)
{
    copy3(change->p, changes->position);
    copy3(change->v, changes->velocity);
    copy3(change->omega, changes->angular_velocity);
    copy3(change->a, changes->acceleration);
    const double felt[3] = {frame->a[0] - gravity[0], frame->a[1] - gravity[1], frame->a[2] - gravity[2]};
    change_in_frame(frame->R, change->phi, felt, change->a, changes->specific_force);
    change_in_frame(frame->R, change->phi, frame->omega, change->omega, changes->angular_rate);

    /* dquaternion = 1/2 (0, phi) o quaternion, phi in world axes */
    const double half[4] = {0, 0.5 * change->phi[0], 0.5 * change->phi[1], 0.5 * change->phi[2]};
    quaternion_multiply(half, quaternion, changes->quaternion);
}

static void change_tip(struct sim *sim, struct outputs *changes)
{
    struct frame_motion tip;
    struct frame_derivative change;
    const struct mechanism *m = &sim->mechanism;
    dyn_tip(m->model, m->work, m->model->tip, &tip);
    dyn_tangent_tip(m->model, m->work, m->tangent, m->model->tip, &change);
    change_frame(&tip, &change, m->model->gravity, sim->outputs.tip.quaternion, &changes->tip);
}

void outputs_change(struct sim *sim)
{
    struct mechanism *m = &sim->mechanism;
    struct outputs *changes = &sim->changes;
    changes->q = sim->seed.q, changes->qd = sim->seed.qd, changes->qdd = sim->dqdd;
    changes->force = m->tangent->force;
    changes->lambda = m->constraints->dlambda;
    for (int i = 0; i < m->model->n_links; i++) {
        struct link_outputs *link = &changes->link[i];
        const struct link_model *lm = &m->model->link[i];
        joint_position_rate_change(&lm->joint, sim->at.q + lm->q, sim->at.qd + lm->v, sim->seed.q + lm->q,
                                   sim->seed.qd + lm->v, changes->position_rate + lm->q);
        dyn_tangent_reaction(m->work, m->tangent, i, link->wrench);
        dyn_tangent_deflection(m->model, m->work, m->tangent, i, link->deflection, link->rotation);
    }
    for (int i = 0; i < sim->robot->n_actuators; i++)
        actuators_change(m, i, &changes->length[i], &changes->length_rate[i]);
    change_tip(sim, changes);
}
