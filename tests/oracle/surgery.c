#include "oracle/surgery.h"

#include <string.h>

#include "math/vec.h"

static void fix(struct joint *joint)
{
    const char *name = joint->name;
    memset(joint, 0, sizeof *joint);
    joint->name = name;
    joint->type = JOINT_FIXED;
    identity3(joint->origin.R);
    joint->axis[2] = 1;
    for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++) joint->number[k].coulomb_velocity = 1e-3;
}

static void empty(struct link *link)
{
    memset(link, 0, sizeof *link);
    link->name = "added";
    link->type = BODY_RIGID;
    identity3(link->rigid_tip.R);
    fix(&link->joint);
    link->joint.name = "added";
}

/* Room for one more link; links from `at` on move up by one. */
static int make_room(struct robot *robot, int at)
{
    const int n = robot->n_links;
    struct link *link = arena_allocate(&robot->arena, (size_t)n + 1, sizeof *link);
    if (link == NULL) return 0;
    for (int i = 0; i < n; i++) {
        link[i < at ? i : i + 1] = robot->link[i];
        if (robot->link[i].mount.link >= at) link[i < at ? i : i + 1].mount.link++;
    }
    empty(&link[at]);
    if (robot->tip >= at) robot->tip++;
    robot->link = link;
    robot->n_links++;
    return 1;
}

struct link *insert_carrier(struct robot *robot, int i)
{
    if (!make_room(robot, i)) return NULL;
    struct link *carrier = &robot->link[i], *body = &robot->link[i + 1];
    carrier->joint = body->joint;
    carrier->mount = body->mount;
    fix(&body->joint);
    body->mount = robot_site_of_link(i);
    return carrier;
}

struct link *append_fixed(struct robot *robot, int i)
{
    if (!make_room(robot, robot->n_links)) return NULL;
    struct link *added = &robot->link[robot->n_links - 1];
    added->mount = robot_site_of_link(i);
    return added;
}

void beam_to_rigid(struct link *link)
{
    const struct beam_properties at = beam_at(&link->beam, 0); /* the same everywhere */
    const double L = link->beam.length, m = at.mass_per_length * L;
    link->type = BODY_RIGID;
    link->rigid = (struct mass_properties){.mass = m, .com = {L / 2, 0, 0}};
    for (int i = 0; i < 3; i++) link->rigid.inertia[i] = at.inertia_per_length[i] * L + (i > 0 ? m * L * L / 12 : 0);
    memset(&link->rigid_tip, 0, sizeof link->rigid_tip);
    link->rigid_tip.p[0] = L;
    identity3(link->rigid_tip.R);
}

/* Velocity k of a joint as a joint of its own */
static void one_of(const struct joint *whole, int k, struct joint *one)
{
    const bool coordinates = joint_has_coordinates(whole);
    fix(one);
    one->type = joint_column_part(whole, k) == TURNS ? JOINT_REVOLUTE : JOINT_PRISMATIC;
    one->passive = whole->passive;
    one->prescribed = whole->prescribed;
    if (k == 0) one->origin = whole->origin;
    if (coordinates) one->number[0] = whole->number[k];
    memset(one->axis, 0, sizeof one->axis);
    if (!coordinates) one->axis[k % 3] = 1;
    else copy3(k > 0 && whole->type == JOINT_UNIVERSAL ? whole->axis2 : whole->axis, one->axis);
}

int split_joints(struct robot *robot)
{
    int count = 0;
    for (int i = 0; i < robot->n_links; i++) {
        const struct joint whole = robot->link[i].joint;
        const struct site mount = robot->link[i].mount;
        const int nv = joint_velocities(&whole);
        if (nv < 2) continue;
        for (int k = 0; k < nv - 1; k++)
            if (!make_room(robot, i)) return -1;
        for (int k = 0; k < nv; k++) {
            one_of(&whole, k, &robot->link[i + k].joint);
            robot->link[i + k].mount = k == 0 ? mount : robot_site_of_link(i + k - 1);
        }
        i += nv - 1;
        count++;
    }
    return count;
}

void set_afloat(struct robot *robot)
{
    struct joint *joint = &robot->link[0].joint;
    fix(joint);
    joint->type = JOINT_FREE;
    joint->passive = true;
    joint_rest_position(joint, joint->start_position);
    for (int i = 1; i < robot->n_links; i++)
        if (robot->link[i].mount.link < 0) robot->link[i].mount = robot_site_of_link(0);
}

void move_world(struct robot *robot, const double R[9], const double t[3])
{
    double g[3];
    mul3(R, robot->gravity, g);
    copy3(g, robot->gravity);
    for (int i = 0; i < robot->n_links; i++) {
        if (robot->link[i].mount.link >= 0) continue;
        struct pose *origin = &robot->link[i].joint.origin;
        const struct pose before = *origin;
        matmul3(R, before.R, origin->R);
        copy3(t, origin->p);
        add_mul3(R, before.p, origin->p);
    }
}
