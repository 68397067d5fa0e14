/* What sensors report of the tip and of the frames of a robot, and its change in a direction. */
#include <string.h>

#include "math/quaternion.h"
#include "sim/robot_instance.h"

/* ---- orientations: products of half-angle quaternions along the chain, smooth in the state ------------------------------- */

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

/* From O of a link to one of its sections: R_O Exp(theta_d)' Exp(theta); -1: to O */
static void turn_to_section(const struct link_work *w, int section, double quaternion[4])
{
    if (section < 0) return;
    if (w->JF != NULL) turn_by_vector(quaternion, w->theta_d, -1);
    turn_by_vector(quaternion, w->section[section].theta, 1);
}

void outputs_orientations(struct sim *sim)
{
    const struct model *model = sim->mechanism.model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        double *quaternion = sim->outputs.link[i].quaternion;
        const double world[4] = {1, 0, 0, 0};
        memcpy(quaternion, lm->parent >= 0 ? sim->outputs.link[lm->parent].quaternion : world, sizeof world);
        if (lm->parent >= 0) turn_to_section(&sim->mechanism.work->link[lm->parent], lm->mount, quaternion);
        turn_by_matrix(quaternion, lm->R);
        joint_turn_quaternion(&lm->joint, sim->at.q + lm->q, quaternion);
    }
}

static void orientation(const struct sim *sim, const struct anchor *anchor, double quaternion[4])
{
    memcpy(quaternion, sim->outputs.link[anchor->link].quaternion, 4 * sizeof *quaternion);
    turn_to_section(&sim->mechanism.work->link[anchor->link], anchor->section, quaternion);
    if (anchor->offset) turn_by_matrix(quaternion, anchor->at.R);
}

/* ---- frames -------------------------------------------------------------------------------------------------------------- */

/* Frame 0 is the tip. */
static struct anchor anchor_of(const struct model *model, int frame)
{
    return frame == 0 ? model_tip(model, model->tip) : model->frame[frame - 1];
}

static bool is_reported(const struct robot *robot, int frame)
{
    return frame == 0 || robot->frame[frame - 1].sensor;
}

/* Curvature and elongation for the positions, or their change for a tangent, `eta` of the link */
static void measure_strain(const struct model *model, int frame, const double *eta, struct frame_outputs *outputs)
{
    double strain[STRAINS];
    if (frame == 0) return;
    model_strain(model, frame - 1, eta, strain);
    copy3(strain, outputs->curvature);
    outputs->elongation = strain[3];
}

/* specific force R' (a - g), angular rate R' omega */
static void compute_frame(const struct sim *sim, int frame, struct frame_outputs *outputs)
{
    const struct model *model = sim->mechanism.model;
    const struct anchor anchor = anchor_of(model, frame);
    struct frame_motion motion;
    double a[3];
    dyn_frame(model, sim->mechanism.work, &anchor, &motion);
    copy3(motion.p, outputs->position);
    copy3(motion.v, outputs->velocity);
    copy3(motion.omega, outputs->angular_velocity);
    copy3(motion.a, outputs->acceleration);
    copy3(motion.a, a);
    axpy3(-1, model->gravity, a);
    tmul3(motion.R, a, outputs->specific_force);
    tmul3(motion.R, motion.omega, outputs->angular_rate);
    orientation(sim, &anchor, outputs->quaternion);
    measure_strain(model, frame, sim->at.q + model->link[anchor.link].eta_q, outputs);
}

void outputs_frames(struct sim *sim)
{
    for (int i = 0; i <= sim->robot->n_frames; i++)
        if (is_reported(sim->robot, i)) compute_frame(sim, i, &sim->outputs.frame[i]);
}

/* ---- their changes --------------------------------------------------------------------------------------------------------- */

static void change_frame(const struct sim *sim, int frame, struct frame_outputs *change)
{
    const struct mechanism *m = &sim->mechanism;
    const struct frame_outputs *at = &sim->outputs.frame[frame];
    const struct anchor anchor = anchor_of(m->model, frame);
    struct frame_derivative d;
    double R[9], a[3];
    dyn_tangent_frame(m->work, m->tangent, &anchor, &d);
    copy3(d.p, change->position);
    copy3(d.v, change->velocity);
    copy3(d.omega, change->angular_velocity);
    copy3(d.a, change->acceleration);

    quaternion_to_matrix(at->quaternion, R);
    copy3(at->acceleration, a);
    axpy3(-1, m->model->gravity, a);
    tangent_in_own_axes(R, d.phi, a, d.a, change->specific_force);
    tangent_in_own_axes(R, d.phi, at->angular_velocity, d.omega, change->angular_rate);

    /* dquaternion = 1/2 (0, phi) o quaternion, phi in world axes */
    const double half[4] = {0, 0.5 * d.phi[0], 0.5 * d.phi[1], 0.5 * d.phi[2]};
    quaternion_multiply(half, at->quaternion, change->quaternion);
    measure_strain(m->model, frame, sim->dx + m->model->link[anchor.link].eta_v, change);
}

void outputs_change_frames(struct sim *sim)
{
    for (int i = 0; i <= sim->robot->n_frames; i++)
        if (is_reported(sim->robot, i)) change_frame(sim, i, &sim->changes.frame[i]);
}
