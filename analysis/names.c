#include "analysis/names.h"

#include <stdio.h>

/* OWNER.WHAT, with an index if there are several */
static void write_name(const char *owner, const char *what, int count, int k, char name[NAME_SIZE])
{
    if (count > 1) snprintf(name, NAME_SIZE, "%s.%s[%d]", owner, what, k + 1);
    else snprintf(name, NAME_SIZE, "%s.%s", owner, what);
}

enum velocity_part { OF_VELOCITY, OF_ACCELERATION, OF_FORCE, OF_TANGENT };

static void velocity_name(const struct joint *joint, enum velocity_part part, int k, char name[NAME_SIZE])
{
    const struct joint_group group = joint_velocity_group(joint, k);
    const char *const what[] = {[OF_VELOCITY] = group.name,
                                [OF_ACCELERATION] = group.acceleration,
                                [OF_FORCE] = group.force,
                                [OF_TANGENT] = group.tangent};
    write_name(joint->name, what[part], group.count, k - group.first, name);
}

int name_velocity_link(const struct model *model, int i)
{
    int link = 0;
    while (i >= model->link[link].eta_v + model->link[link].m) link++;
    return link;
}

static void elastic_name(const struct link *link, enum derivative derivative, int k, char name[NAME_SIZE])
{
    static const char *const what[] = {"eta", "etad", "etadd"};
    snprintf(name, NAME_SIZE, "%s.%s[%d]", link->name, what[derivative], k + 1);
}

void name_coordinate(const struct model *model, enum derivative derivative, int i, char name[NAME_SIZE])
{
    int link = 0;
    if (derivative == POSITION)
        while (i >= model->link[link].eta_q + model->link[link].m) link++;
    else link = name_velocity_link(model, i);
    const struct link_model *lm = &model->link[link];
    const struct link *owner = &model->robot->link[link];
    const int eta = derivative == POSITION ? lm->eta_q : lm->eta_v;
    if (i >= eta) {
        elastic_name(owner, derivative, i - eta, name);
    } else if (derivative == POSITION) {
        const struct joint_group group = joint_position_group(&owner->joint, i - lm->q);
        write_name(owner->joint.name, group.name, group.count, i - lm->q - group.first, name);
    } else {
        velocity_name(&owner->joint, derivative == VELOCITY ? OF_VELOCITY : OF_ACCELERATION, i - lm->v, name);
    }
}

void name_tangent(const struct model *model, int i, char name[NAME_SIZE])
{
    const int link = name_velocity_link(model, i);
    const struct link_model *lm = &model->link[link];
    const struct link *owner = &model->robot->link[link];
    if (i >= lm->eta_v) elastic_name(owner, POSITION, i - lm->eta_v, name);
    else velocity_name(&owner->joint, OF_TANGENT, i - lm->v, name);
}

void name_joint_force(const struct joint *joint, int k, char name[NAME_SIZE])
{
    velocity_name(joint, OF_FORCE, k, name);
}
