/* Hinge and tip frames of links, and frames that the robot file names, at the state of a robot. */
#include <string.h>

#include "internal.h"
#include "math/vec.h"

static bool is_frame(const limber_robot *robot, int link, int frame)
{
    if (robot == NULL || link < 0) return false;
    if (frame == LIMBER_NAMED) return link < robot->robot->n_frames;
    return link < robot->robot->n_links && (frame == LIMBER_HINGE || frame == LIMBER_TIP);
}

static struct anchor anchor_of(const limber_robot *robot, int link, int frame)
{
    if (frame == LIMBER_NAMED) return robot->mechanism.model->frame[link];
    return frame == LIMBER_HINGE ? model_hinge(link) : model_tip(robot->mechanism.model, link);
}

static struct frame_motion motion_of(limber_robot *robot, int link, int frame)
{
    const struct anchor anchor = anchor_of(robot, link, frame);
    struct frame_motion motion;
    mechanism_place(&robot->mechanism, PLACED_AND_MOVING);
    dyn_frame(robot->mechanism.model, robot->mechanism.work, &anchor, &motion);
    return motion;
}

int limber_robot_pose(limber_robot *robot, int link, int frame, double *p, double *R)
{
    if (!is_frame(robot, link, frame)) return LIMBER_BAD_ARGUMENT;
    const struct frame_motion motion = motion_of(robot, link, frame);
    if (p != NULL) copy3(motion.p, p);
    if (R != NULL) copy9(motion.R, R);
    return LIMBER_OK;
}

int limber_robot_velocity(limber_robot *robot, int link, int frame, double *omega, double *v)
{
    if (!is_frame(robot, link, frame)) return LIMBER_BAD_ARGUMENT;
    const struct frame_motion motion = motion_of(robot, link, frame);
    if (omega != NULL) copy3(motion.omega, omega);
    if (v != NULL) copy3(motion.v, v);
    return LIMBER_OK;
}

int limber_robot_acceleration(limber_robot *robot, int link, int frame, const double *qdd, double *alpha, double *a)
{
    if (!is_frame(robot, link, frame)) return LIMBER_BAD_ARGUMENT;
    mechanism_at(&robot->mechanism, STAGE_POSITION);
    dyn_motion(robot->mechanism.model, robot->mechanism.work, &robot->in, qdd != NULL ? qdd : robot->zeros);
    dyn_velocity(robot->mechanism.model, robot->mechanism.work, &robot->in);
    const struct anchor anchor = anchor_of(robot, link, frame);
    struct frame_motion motion;
    dyn_frame(robot->mechanism.model, robot->mechanism.work, &anchor, &motion);
    if (alpha != NULL) copy3(motion.alpha, alpha);
    if (a != NULL) copy3(motion.a, a);
    return LIMBER_OK;
}

int limber_robot_strain(const limber_robot *robot, int frame, double *curvature, double *elongation)
{
    if (!is_frame(robot, frame, LIMBER_NAMED) || !robot->robot->frame[frame].gauge) return LIMBER_BAD_ARGUMENT;
    const struct model *model = robot->mechanism.model;
    double strain[STRAINS];
    model_strain(model, frame, robot->at.q + model->link[model->frame[frame].link].eta_q, strain);
    if (curvature != NULL) copy3(strain, curvature);
    if (elongation != NULL) *elongation = strain[3];
    return LIMBER_OK;
}

/* Row k: generalized forces of the unit wrench k */
int limber_robot_jacobian(limber_robot *robot, int link, int frame, double *J)
{
    if (!is_frame(robot, link, frame) || J == NULL) return LIMBER_BAD_ARGUMENT;
    const struct model *model = robot->mechanism.model;
    memset(J, 0, 6 * (size_t)model->nv * sizeof *J);
    mechanism_at(&robot->mechanism, STAGE_POSITION);
    const struct anchor anchor = anchor_of(robot, link, frame);
    for (int k = 0; k < 6; k++) {
        double unit[6] = {0};
        unit[k] = 1;
        const struct load load = dyn_anchor_load(robot->mechanism.work, &anchor, unit);
        dyn_frame_force(model, robot->mechanism.work, &load, J + (size_t)model->nv * (size_t)k);
    }
    return LIMBER_OK;
}
