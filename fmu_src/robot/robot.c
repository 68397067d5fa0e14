#include "robot/robot.h"

int link_modes(const struct link *link)
{
    if (link->type == BODY_RIGID) return 0;
    if (link->type == BODY_NODAL) return link->nodal.modes;
    int modes = 0;
    for (int f = 0; f < FAMILY_COUNT; f++) modes += link->beam.family[f].count;
    return modes;
}

static bool outboard(const struct robot *robot, int link, int of)
{
    while (link >= 0 && link != of) link = robot->link[link].parent;
    return link == of;
}

/* A passive joint that changes the length of an actuator: one point of it is outboard of the joint, the other is not */
static bool spanned(const struct robot *robot, int link)
{
    if (!joint_moves(&robot->link[link].joint) || !robot->link[link].joint.passive) return false;
    for (int a = 0; a < robot->n_actuators; a++) {
        const struct actuator *actuator = &robot->actuator[a];
        if (outboard(robot, actuator->from.link, link) != outboard(robot, actuator->to.link, link)) return true;
    }
    return false;
}

bool joint_actuated(const struct robot *robot, int link)
{
    int count = 0;
    for (int i = 0; i < robot->n_links; i++) count += spanned(robot, i);
    return robot->n_loops == 0 && count == robot->n_actuators && spanned(robot, link);
}

void robot_free(struct robot *robot)
{
    if (robot == NULL) return;
    struct arena arena = robot->arena; /* the robot itself lives in it */
    arena_release(&arena);
}
