#include "analysis/names.h"

#include <stdio.h>

/* OWNER.WHAT, with an index if there are several */
static void write_name(const char *owner, const char *what, int count, int k, char name[NAME_SIZE])
{
    if (count > 1) snprintf(name, NAME_SIZE, "%s.%s[%d]", owner, what, k + 1);
    else snprintf(name, NAME_SIZE, "%s.%s", owner, what);
}

int name_velocity_link(const struct model *model, int i)
{
    int link = 0;
    while (i >= model->link[link].eta_v + model->link[link].m) link++;
    return link;
}

void name_coordinate(const struct model *model, enum derivative derivative, int i, char name[NAME_SIZE])
{
    static const char *const elastic[] = {"eta", "etad", "etadd", [TANGENT] = "eta"};
    int link = 0;
    if (derivative == POSITION)
        while (i >= model->link[link].eta_q + model->link[link].m) link++;
    else link = name_velocity_link(model, i);
    const struct link_model *lm = &model->link[link];
    const struct link *owner = &model->robot->link[link];
    const int eta = derivative == POSITION ? lm->eta_q : lm->eta_v, k = i - (derivative == POSITION ? lm->q : lm->v);
    if (i >= eta) {
        snprintf(name, NAME_SIZE, "%s.%s[%d]", owner->name, elastic[derivative], i - eta + 1);
        return;
    }
    const struct joint_group group =
        derivative == POSITION ? joint_position_group(&owner->joint, k) : joint_velocity_group(&owner->joint, k);
    const char *const what[] = {group.name, group.name, group.acceleration, group.tangent};
    write_name(owner->joint.name, what[derivative], group.count, k - group.first, name);
}

void name_joint_force(const struct joint *joint, int k, char name[NAME_SIZE])
{
    const struct joint_group group = joint_velocity_group(joint, k);
    write_name(joint->name, group.force, group.count, k - group.first, name);
}
