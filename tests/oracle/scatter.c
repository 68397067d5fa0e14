#include "oracle/scatter.h"

#include "math/rotation.h"
#include "math/vec.h"

void random_pose(struct random *random, struct pose *at)
{
    double t[3];
    for (int i = 0; i < 3; i++) {
        t[i] = uniform(random, -1, 1);
        at->p[i] = uniform(random, -0.3, 0.3);
    }
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(t, t));
    rotation_exp(&e, t, at->R);
}

struct site random_site(struct random *random, const struct robot *robot, int index)
{
    const struct link *link = &robot->link[index];
    struct site site = robot_site_of_link(index);
    const int kind = pick(random, 4);
    if (kind == 0) site.type = AT_HINGE;
    if (kind >= 2 && link->type == BODY_BEAM) {
        site.type = AT_STATION;
        site.x = link->beam.length * (chance(random, 0.1) ? pick(random, 2) : uniform(random, 0, 1));
    } else if (kind >= 2 && link->type == BODY_NODAL) {
        site.type = AT_NODE;
        site.node = pick(random, link->nodal.n_nodes);
    }
    if (chance(random, 0.5)) random_pose(random, &site.at);
    return site;
}

int specimen_scatter(struct specimen *s, struct random *random)
{
    struct robot *robot = s->robot;
    robot->n_frames = 2 * robot->n_links;
    robot->frame = arena_allocate(&robot->arena, (size_t)robot->n_frames, sizeof *robot->frame);
    if (robot->frame == NULL) return 0;
    for (int i = 0; i < robot->n_links; i++)
        if (robot->link[i].mount.link >= 0)
            robot->link[i].mount = random_site(random, robot, robot->link[i].mount.link);
    for (int i = 0; i < robot->n_frames; i++)
        robot->frame[i] = (struct robot_frame){
            .name = "frame", .site = random_site(random, robot, i / 2), .sensor = true, .load = chance(random, 0.33)};
    if (!specimen_remake(s)) return 0;
    for (int i = 0; i < 6 * robot->n_frames; i++)
        s->frame_wrench[i] = model_frame_acts(s->model, i / 6) ? uniform(random, -10, 10) : 0;
    return 1;
}

int specimen_mixed(struct specimen *s, int seed)
{
    struct random random = {(uint64_t)seed * 104729u + 5};
    return specimen_random(s, seed) && (seed % 2 == 0 || specimen_scatter(s, &random));
}
