/* Frames in the world: position, orientation, velocity. */
#include <string.h>

#include "generate/parts.h"
#include "math/vec.h"

/* p + R r,  v + omega x r */
static void slide_frame(struct graph *g, const expr r[3], struct placed *frame)
{
    const struct vector moved = matrix_times(g, frame->R, r);
    add_vector(g, 3, moved.e, frame->p);
    add_cross(g, frame->omega, r, frame->v);
}

static void follow_path(struct graph *g, const struct path *path, const expr *qd, struct placed *frame)
{
    for (int i = 0; i < path->n; i++) {
        const struct element *e = &path->element[i];
        if (e->move == SLIDE) {
            expr r[3] = {ZERO, ZERO, ZERO};
            r[e->axis] = e->amount;
            slide_frame(g, r, frame);
        } else if (e->move == COLUMN) {
            expr *rate = e->part == TURNS ? &frame->omega[e->axis] : &frame->v[e->axis];
            *rate = expr_add(g, *rate, qd[e->k]);
        } else {
            for (int k = 0; k < 3; k++) path_element_forth(g, e, frame->R + 3 * k);
            path_element_forth(g, e, frame->omega);
            path_element_forth(g, e, frame->v);
        }
    }
}

/* T in axes of F:  v + omega x r + r_dot,  omega + Jl theta_dot */
static void move_to_section(struct graph *g, const struct link_part *part, int section, struct placed *frame)
{
    const struct section_part *s = &part->section[section];
    slide_frame(g, s->r, frame);
    for (int k = 0; k < part->m; k++) {
        add_scaled(g, 3, part->etad[k], s->J[k], frame->omega);
        add_scaled(g, 3, part->etad[k], s->J[k] + 3, frame->v);
    }
}

static struct placed part_frame(struct robot_parts *parts, int i)
{
    struct placed frame = {0};
    for (int k = 0; i < 0 && k < 9; k++) frame.R[k] = expr_number(parts->g, parts->world.R[k]);
    for (int k = 0; i < 0 && k < 3; k++) frame.p[k] = expr_number(parts->g, parts->world.p[k]);
    if (i < 0) return frame;
    const struct link_part *part = &parts->part[i];
    frame = part_frame(parts, part->parent);
    if (part->mount >= 0) move_to_section(parts->g, &parts->part[part->parent], part->mount, &frame);
    follow_path(parts->g, &part->path, parts->qd + part->lm->v, &frame);
    return frame;
}

void path_to_anchor(struct robot_parts *parts, const struct anchor *anchor, int *part, int *section, struct path *path)
{
    struct graph *g = parts->g;
    struct host host = {.part = -1, .section = -1, .at = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    path->n = 0;
    if (anchor->link >= 0) host = parts->host[anchor->link];
    if (anchor->section >= 0) host.section = anchor->section;
    if (anchor->offset) host.at = dyn_pose_compose(&host.at, &anchor->at);
    *part = host.part;
    *section = host.section;
    if (host.section >= 0) {
        path_deflection(g, parts->part[host.part].section[host.section].theta, path);
    } else {
        if (host.part >= 0) path_hinge(parts, &parts->part[host.part], false, path);
        const struct pose from = host.part >= 0 ? parts->part[host.part].own : parts->world;
        host.at = parts_pose_relative(&from, &host.at);
    }
    path_slides(g, host.at.p, path);
    path_rotation(g, host.at.R, path);
}

struct placed frames_anchor(struct robot_parts *parts, const struct anchor *anchor)
{
    int part, section;
    struct path path;
    path_to_anchor(parts, anchor, &part, &section, &path);
    struct placed frame = part_frame(parts, part);
    if (section >= 0) move_to_section(parts->g, &parts->part[part], section, &frame);
    follow_path(parts->g, &path, NULL, &frame);
    return frame;
}

void frames_tip(struct robot_parts *parts, expr *tip)
{
    const struct placed frame = frames_anchor(parts, &parts->model->tip_frame);
    const struct vector v = matrix_times(parts->g, frame.R, frame.v),
                        omega = matrix_times(parts->g, frame.R, frame.omega);
    memcpy(tip, frame.p, sizeof frame.p);
    memcpy(tip + 3, frame.R, sizeof frame.R);
    memcpy(tip + 12, v.e, sizeof v.e);
    memcpy(tip + 15, omega.e, sizeof omega.e);
}
