#include "robot/robot.h"

#include <stdio.h>
#include <string.h>

#include "drive/drive.h"
#include "math/vec.h"

int robot_link_modes(const struct link *link)
{
    if (link->type == BODY_RIGID) return 0;
    if (link->type == BODY_NODAL) return link->nodal.modes;
    int modes = 0;
    for (int f = 0; f < FAMILY_COUNT; f++) modes += link->beam.family[f].count;
    return modes;
}

bool robot_add_sites(struct robot *robot, int count, int each)
{
    const size_t before = (size_t)robot->n_sites, all = before + (size_t)(count * each);
    struct site *site = arena_allocate(&robot->arena, all, sizeof *site);
    int *part = arena_allocate(&robot->arena, all, sizeof *part);
    if (robot->arena.failed) return false;
    if (before > 0) memcpy(site, robot->site, before * sizeof *site);
    if (before > 0) memcpy(part, robot->part, before * sizeof *part);
    robot->site = site;
    robot->part = part;
    for (int i = 0; i < count * each; i++, robot->n_sites++) {
        site[robot->n_sites] = robot_site_of_link(-1);
        part[robot->n_sites] = robot->n_sites - i % each;
    }
    return true;
}

struct site robot_site_of_link(int link)
{
    struct site site = {.link = link, .type = link < 0 ? AT_WORLD : AT_TIP};
    identity3(site.at.R);
    return site;
}

void robot_site_offset(struct site *site, const struct pose *by)
{
    struct pose at = site->at;
    add_mul3(site->at.R, by->p, at.p);
    matmul3(site->at.R, by->R, at.R);
    site->at = at;
}

const char *robot_site_text(const struct site *site, char text[SITE_SIZE])
{
    static const char *const names[] = {[AT_WORLD] = "world", [AT_HINGE] = "hinge", [AT_TIP] = "tip"};
    if (site->type == AT_STATION) snprintf(text, SITE_SIZE, "x = %.9g m", site->x);
    else if (site->type == AT_NODE) snprintf(text, SITE_SIZE, "node %d", site->node);
    else return names[site->type];
    return text;
}

enum site_type robot_site_section(const struct link *link, const struct site *site)
{
    const double L = link->beam.length;
    const struct nodal *nodal = &link->nodal;
    if (site->type == AT_STATION) return site->x <= 0 ? AT_HINGE : site->x >= L ? AT_TIP : AT_STATION;
    if (site->type != AT_NODE) return site->type;
    return site->node == nodal->hinge_node ? AT_HINGE : site->node == nodal->tip_node ? AT_TIP : AT_NODE;
}

bool robot_site_same_section(const struct robot *robot, const struct site *a, const struct site *b)
{
    if (a->link != b->link) return false;
    if (a->link < 0 || robot_link_modes(&robot->link[a->link]) == 0) return true;
    const enum site_type type = robot_site_section(&robot->link[a->link], a);
    if (type != robot_site_section(&robot->link[a->link], b)) return false;
    return (type != AT_STATION || a->x == b->x) && (type != AT_NODE || a->node == b->node);
}

static bool is_outward(const struct robot *robot, int link, int other)
{
    while (link >= 0 && link != other) link = robot->link[link].mount.link;
    return link == other;
}

/* Whether a joint is passive and changes the length of a line: one point of it is outward of the joint, the other is not */
static bool is_spanned(const struct robot *robot, int link)
{
    if (!joint_moves(&robot->link[link].joint) || !robot->link[link].joint.passive) return false;
    for (int a = 0; a < robot->n_lines; a++) {
        const struct line *line = &robot->line[a];
        if (robot_line_is_spring(robot, a)) continue;
        if (is_outward(robot, robot->site[line->site].link, link) !=
            is_outward(robot, robot->site[line->site + 1].link, link))
            return true;
    }
    return false;
}

bool robot_is_closed(const struct robot *robot)
{
    bool closed = robot->n_loops > 0;
    for (int i = 0; i < robot->n_couplings; i++) closed = closed || !robot->coupling[i].elastic;
    return closed;
}

bool joint_actuated(const struct robot *robot, int link)
{
    int count = 0;
    if (robot_is_closed(robot) || !is_spanned(robot, link)) return false;
    for (int i = 0; i < robot->n_links; i++) {
        const struct joint *joint = &robot->link[i].joint;
        if (!is_spanned(robot, i)) continue;
        if (!joint_may_be_prescribed(joint)) return false;
        count += joint_velocities(joint);
    }
    for (int a = 0; a < robot->n_lines; a++) count -= !robot_line_is_spring(robot, a);
    return count == 0;
}

bool robot_line_is_spring(const struct robot *robot, int line)
{
    const struct robot_drive *drive = robot_drive_of_line(robot, line);
    return drive != NULL && drive->drive->hold == NULL;
}

int robot_drive_value_count(const struct robot *robot)
{
    const struct robot_drive *last = robot->n_drives > 0 ? &robot->drive[robot->n_drives - 1] : NULL;
    return last != NULL ? last->first + drive_values(last->drive) : 0;
}

int robot_drive_states(const struct robot *robot)
{
    const struct robot_drive *last = robot->n_drives > 0 ? &robot->drive[robot->n_drives - 1] : NULL;
    return last != NULL ? last->first_w + last->drive->n_states : 0;
}

const struct robot_drive *robot_drive_of_line(const struct robot *robot, int line)
{
    for (int i = 0; i < robot->n_drives; i++)
        if (robot->drive[i].line == line) return &robot->drive[i];
    return NULL;
}

const struct robot_drive *robot_drive_of_link(const struct robot *robot, int link)
{
    for (int i = 0; i < robot->n_drives; i++)
        if (robot->drive[i].link == link) return &robot->drive[i];
    return NULL;
}

bool robot_drive_input(const struct robot_drive *robot_drive, int k)
{
    const struct drive *drive = robot_drive->drive;
    const bool position = k >= drive->position && k < drive->position + drive->n_driven;
    const bool rate = k >= drive->rate && k < drive->rate + drive->n_driven;
    return drive->row[k].role == INPUT && !position && !rate && k != drive->share;
}

const char *robot_drive_name(const struct robot *robot, int drive, char name[MOST_NAME])
{
    const int link = robot->drive[drive].link, line = robot->drive[drive].line;
    snprintf(name, MOST_NAME, "%s.drive", link >= 0 ? robot->link[link].joint.name : robot->line[line].name);
    return name;
}

void robot_drive_values(const struct robot *robot, const struct robot_drive *robot_drive, double *v)
{
    const struct drive *drive = robot_drive->drive;
    memcpy(v, robot_drive->value, (size_t)drive_values(drive) * sizeof *v);
    if (robot_drive->supply < 0) return;
    v[drive_row(drive, "supply_pressure")] = robot->supply[robot_drive->supply].pressure;
    v[drive->share] = 1;
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

struct robot *robot_new(void)
{
    struct arena arena = {0};
    struct robot *robot = arena_allocate(&arena, 1, sizeof *robot);
    if (robot != NULL) robot->arena = arena;
    return robot;
}

/* `count` items of `size` bytes, copied */
static void *copy_items(struct arena *arena, size_t count, size_t size, const void *items)
{
    void *copy = arena_allocate(arena, count, size);
    if (copy != NULL && count > 0) memcpy(copy, items, count * size);
    return copy;
}

static const double *copy_numbers(struct arena *arena, size_t count, const double *number)
{
    return copy_items(arena, count, sizeof *number, number);
}

/* Structs that begin with their name, copied with it */
static void *copy_named(struct arena *arena, int count, size_t size, const void *items)
{
    char *copy = copy_items(arena, (size_t)count, size, items);
    for (int i = 0; i < count && !arena->failed; i++) {
        const char **name = (const char **)(void *)(copy + (size_t)i * size);
        *name = arena_string(arena, *name);
    }
    return copy;
}

static void copy_nodal(struct arena *arena, struct nodal *nodal)
{
    const size_t m = (size_t)nodal->modes;
    struct node *node = copy_items(arena, (size_t)nodal->n_nodes, sizeof *node, nodal->node);
    for (int i = 0; i < nodal->n_nodes && node != NULL; i++) {
        node[i].translation = copy_numbers(arena, 3 * m, node[i].translation);
        node[i].rotation = copy_numbers(arena, 3 * m, node[i].rotation);
    }
    nodal->node = node;
    nodal->stiffness = copy_numbers(arena, m * m, nodal->stiffness);
    nodal->damping = copy_numbers(arena, m * m, nodal->damping);
    if (nodal->geometric != NULL) nodal->geometric = copy_numbers(arena, GEOMETRIC_MOMENTS * m * m, nodal->geometric);
}

static void copy_beam(struct arena *arena, struct beam *beam)
{
    const struct profile *list[BEAM_PROFILES];
    beam_profiles(beam, list);
    for (int i = 0; i < BEAM_PROFILES; i++) {
        struct profile *profile = (struct profile *)list[i];
        if (profile->n == 0) continue;
        profile->s = copy_numbers(arena, (size_t)profile->n, profile->s);
        profile->value = copy_numbers(arena, (size_t)profile->n, profile->value);
    }
}

/* Arrays and names of a robot whose struct has been copied, into its own arena */
static void copy_parts(struct robot *robot)
{
    struct arena *arena = &robot->arena;
    robot->name = arena_string(arena, robot->name);
    robot->description = arena_string(arena, robot->description);
    robot->link = copy_named(arena, robot->n_links, sizeof *robot->link, robot->link);
    robot->loop = copy_named(arena, robot->n_loops, sizeof *robot->loop, robot->loop);
    robot->line = copy_named(arena, robot->n_lines, sizeof *robot->line, robot->line);
    robot->coupling = copy_named(arena, robot->n_couplings, sizeof *robot->coupling, robot->coupling);
    robot->frame = copy_named(arena, robot->n_frames, sizeof *robot->frame, robot->frame);
    robot->supply = copy_named(arena, robot->n_supplies, sizeof *robot->supply, robot->supply);
    robot->site = copy_items(arena, (size_t)robot->n_sites, sizeof *robot->site, robot->site);
    robot->part = copy_items(arena, (size_t)robot->n_sites, sizeof *robot->part, robot->part);
    robot->drive = copy_items(arena, (size_t)robot->n_drives, sizeof *robot->drive, robot->drive);
    for (int i = 0; i < robot->n_links && !arena->failed; i++) {
        struct link *link = &robot->link[i];
        link->joint.name = arena_string(arena, link->joint.name);
        if (link->type == BODY_NODAL) copy_nodal(arena, &link->nodal);
        if (link->type == BODY_BEAM) copy_beam(arena, &link->beam);
    }
    for (int i = 0; i < robot->n_couplings && !arena->failed; i++) {
        struct coupling *coupling = &robot->coupling[i];
        coupling->term = copy_items(arena, (size_t)coupling->n_terms, sizeof *coupling->term, coupling->term);
    }
    for (int i = 0; i < robot->n_drives && !arena->failed; i++) {
        struct robot_drive *drive = &robot->drive[i];
        drive->value = copy_items(arena, (size_t)drive_values(drive->drive), sizeof *drive->value, drive->value);
    }
}

enum status robot_clone(const struct robot *robot, struct robot **clone)
{
    *clone = robot_new();
    if (*clone == NULL) return STATUS_NO_MEMORY;
    const struct arena arena = (*clone)->arena;
    **clone = *robot;
    (*clone)->arena = arena;
    copy_parts(*clone);
    if (!(*clone)->arena.failed) return STATUS_OK;
    robot_free(*clone);
    *clone = NULL;
    return STATUS_NO_MEMORY;
}

void robot_free(struct robot *robot)
{
    if (robot == NULL) return;
    struct arena arena = robot->arena; /* the robot itself is allocated in it */
    arena_release(&arena);
}
