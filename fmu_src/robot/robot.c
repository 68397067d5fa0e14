#include "robot/robot.h"

int link_modes(const struct link *link)
{
    if (link->type == BODY_RIGID) return 0;
    if (link->type == BODY_NODAL) return link->nodal.modes;
    int modes = 0;
    for (int f = 0; f < FAMILY_COUNT; f++) modes += link->beam.family[f].count;
    return modes;
}

bool joint_moves(const struct joint *joint)
{
    return joint->type != JOINT_FIXED;
}

void robot_free(struct robot *robot)
{
    if (robot == NULL) return;
    struct arena arena = robot->arena; /* the robot itself lives in it */
    arena_release(&arena);
}
