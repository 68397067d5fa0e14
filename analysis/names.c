#include "analysis/names.h"

#include <stdio.h>
#include <string.h>

int coordinate_link(const struct model *model, int i)
{
    int link = 0;
    while (i >= model->link[link].eta + model->link[link].m) link++;
    return link;
}

void coordinate_name(const struct model *model, enum derivative derivative, int i, char name[NAME_SIZE])
{
    static const char *const joint[] = {"q", "qd", "qdd"}, *const elastic[] = {"eta", "etad", "etadd"};
    const int link = coordinate_link(model, i), eta = model->link[link].eta;
    const struct link *owner = &model->robot->link[link];
    if (i < eta) snprintf(name, NAME_SIZE, "%s.%s", owner->joint.name, joint[derivative]);
    else snprintf(name, NAME_SIZE, "%s.%s[%d]", owner->name, elastic[derivative], i - eta + 1);
}

void start_name(const char *name, char start[NAME_SIZE])
{
    const int stem = (int)strcspn(name, "[");
    snprintf(start, NAME_SIZE, "%.*s_start%s", stem, name, name + stem);
}
