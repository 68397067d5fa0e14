/* What sensors report of the tip and of the frames of a robot, and its change in a direction. */
#include <string.h>

#include "math/quaternion.h"
#include "sim/robot_instance.h"
#include "sim/variables_row.h"

/* ---- orientations: products of half-angle quaternions along the chain, smooth in the state ------------------------------- */

static void rotate(double quaternion[4], const double by[4])
{
    double rotated[4];
    quaternion_multiply(quaternion, by, rotated);
    memcpy(quaternion, rotated, sizeof rotated);
}

static void rotate_by_matrix(double quaternion[4], const double R[9])
{
    double by[4];
    quaternion_from_matrix(R, by);
    rotate(quaternion, by);
}

static void rotate_by_vector(double quaternion[4], const double t[3], double sign)
{
    const double signed_t[3] = {sign * t[0], sign * t[1], sign * t[2]};
    double by[4];
    quaternion_exp(signed_t, by);
    rotate(quaternion, by);
}

/* From O of a link to one of its sections: R_O Exp(theta_d)' Exp(theta); -1: to O */
static void rotate_to_section(const struct link_work *w, int section, double quaternion[4])
{
    if (section < 0) return;
    if (w->JF != NULL) rotate_by_vector(quaternion, w->theta_d, -1);
    rotate_by_vector(quaternion, w->section[section].theta, 1);
}

/* ---- frames -------------------------------------------------------------------------------------------------------------- */

static bool is_reported(const struct robot *robot, int frame)
{
    return frame == 0 || robot->frame[frame - 1].sensor;
}

/* Curvature and elongation at the elastic coordinates eta of the link, or their change for a change of eta */
static void measure_strain(const struct model *model, int frame, const double *eta, struct frame_outputs *outputs)
{
    double strain[STRAINS];
    if (frame == 0) return;
    model_strain(model, frame - 1, eta, strain);
    copy3(strain, outputs->curvature);
    outputs->elongation = strain[3];
}

/* Specific force R' (a - g), angular rate R' omega */
void outputs_frames(struct sim *sim)
{
    const struct model *model = sim->mechanism.model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        double *quaternion = sim->outputs.link[i].quaternion;
        const double world[4] = {1, 0, 0, 0};
        memcpy(quaternion, lm->parent >= 0 ? sim->outputs.link[lm->parent].quaternion : world, sizeof world);
        if (lm->parent >= 0) rotate_to_section(&sim->mechanism.work->link[lm->parent], lm->mount, quaternion);
        rotate_by_matrix(quaternion, lm->R);
        joint_turn_quaternion(&lm->joint, sim->at.q + lm->q, quaternion);
    }
    for (int i = 0; i <= sim->robot->n_frames; i++) {
        const struct anchor anchor = structure_frame(model, i);
        struct frame_outputs *outputs = &sim->outputs.frame[i];
        struct frame_motion motion;
        double a[3];
        if (!is_reported(sim->robot, i)) continue;
        dyn_frame(model, sim->mechanism.work, &anchor, &motion);
        copy3(motion.p, outputs->position);
        copy3(motion.v, outputs->velocity);
        copy3(motion.omega, outputs->angular_velocity);
        copy3(motion.a, outputs->acceleration);
        copy3(motion.a, a);
        axpy3(-1, model->gravity, a);
        tmul3(motion.R, a, outputs->specific_force);
        tmul3(motion.R, motion.omega, outputs->angular_rate);
        memcpy(outputs->quaternion, sim->outputs.link[anchor.link].quaternion, sizeof outputs->quaternion);
        rotate_to_section(&sim->mechanism.work->link[anchor.link], anchor.section, outputs->quaternion);
        if (anchor.offset) rotate_by_matrix(outputs->quaternion, anchor.at.R);
        measure_strain(model, i, sim->at.q + model->link[anchor.link].eta_q, outputs);
    }
}

/* ---- their changes --------------------------------------------------------------------------------------------------------- */

void outputs_change_frames(struct sim *sim)
{
    const struct mechanism *m = &sim->mechanism;
    for (int i = 0; i <= sim->robot->n_frames; i++) {
        const struct anchor anchor = structure_frame(m->model, i);
        const struct frame_outputs *at = &sim->outputs.frame[i];
        struct frame_outputs *change = &sim->changes.frame[i];
        struct frame_derivative d;
        double R[9], a[3];
        if (!is_reported(sim->robot, i)) continue;
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
        measure_strain(m->model, i, sim->dx + m->model->link[anchor.link].eta_v, change);
    }
}
