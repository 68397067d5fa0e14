/* Loops and lines: what connects links in addition to joints. */

#include "math/vec.h"
#include "robot/read.h"

/* ---- loops ------------------------------------------------------------------------------------------------------- */

static const char *const loop_types[] = {[LOOP_BALL] = "ball",
                                         [LOOP_PLANAR_PIN] = "planar-pin",
                                         [LOOP_PIN] = "pin",
                                         [LOOP_WELD] = "weld",
                                         [LOOP_WELD + 1] = NULL};

static void read_between(const struct json_path *at, struct site side[2])
{
    int length;
    bool ok = path_open_array(at, REQUIRED, 2, 2, "names of the two links or frames joined", &length);
    for (int i = 0; i < length; i++) ok &= read_link_or_frame(ITEM(at, i), "side of a loop", &side[i]);
    if (ok && side[0].link == side[1].link) path_error(at, "a loop must join two different links");
}

static void read_loop_frames(const struct json_path *at, struct site side[2])
{
    int length;
    path_open_array(at, OPTIONAL, 2, 2, "frames joined", &length);
    for (int i = 0; i < length; i++) {
        struct pose pose;
        read_pose(ITEM(at, i), "loop frame", &pose);
        robot_site_offset(&side[i], &pose);
    }
}

static void read_plane(const struct json_path *at, double plane[2][3])
{
    int length;
    bool ok = path_open_array(at, REQUIRED, 2, 2, "plane (two directions)", &length);
    for (int i = 0; i < length; i++) ok &= read_direction(ITEM(at, i), REQUIRED, "direction of the plane", plane[i]);
    double normal[3];
    if (!ok) return;
    cross3(plane[0], plane[1], normal);
    if (dot3(normal, normal) < 1e-12) path_error(at, "the two directions of a plane must not be parallel");
}

static void read_loop(const struct json_path *at, struct loop *loop)
{
    static const char *const starts[] = {"exact", "approximate", NULL};
    struct object object;
    struct site *side = at->reader->robot->site + loop->site;
    int plane_of = -1;
    if (!path_open_object(&object, at, REQUIRED, "loop")) return;
    loop->name = read_part_name(MEMBER(&object, "name"), "loop name");
    const int type = read_choice(MEMBER(&object, "type"), REQUIRED, "loop type", loop_types);
    read_between(MEMBER(&object, "between"), side);
    read_loop_frames(MEMBER(&object, "at"), side);

    const struct json_path plane_at = path_member(&object, "plane"), axis_at = path_member(&object, "axis");
    if (type >= 0) loop->type = (enum loop_type)type;
    const struct json_path plane_of_at = format_member(&object, 2, "plane_of");
    if (type == LOOP_PLANAR_PIN) {
        read_plane(&plane_at, loop->plane);
        read_link_name(&plane_of_at, OPTIONAL, "link that holds the plane", &plane_of);
    } else if (type >= 0) {
        path_reject(&object, "plane", "only a loop of type \"planar-pin\" has a plane: remove it");
        path_reject(&object, "plane_of", "only a loop of type \"planar-pin\" has a plane: remove it");
    }
    side[SIDE_PLANE] = robot_site_of_link(plane_of);
    if (plane_of >= 0) side[SIDE_PLANE].type = AT_HINGE;
    loop->axis[2] = 1; /* the default of every axis */
    if (type == LOOP_PIN) read_direction(&axis_at, OPTIONAL, "axis of the pin", loop->axis);
    else if (type >= 0) path_reject(&object, "axis", "only a loop of type \"pin\" has an axis: remove it");
    loop->approximate = read_choice(MEMBER_OF(&object, 2, "start"), OPTIONAL, "start of a loop", starts) == 1;
    path_close_object(&object);
}

void read_loops(const struct json_path *at, struct robot *robot)
{
    int count;
    robot->loop = path_open_list(at, OPTIONAL, "loops", sizeof *robot->loop, &count);
    if (!robot_add_sites(robot, count, LOOP_SITES)) return;
    for (int i = 0; i < count; i++, robot->n_loops++) {
        robot->loop[i].site = LOOP_SITES * i;
        read_loop(ITEM(at, i), &robot->loop[i]);
    }
}

/* ---- lines ---------------------------------------------------------------------------------------------- */

static const struct quantity xyz = {"position xyz", "m", ANY};

static const char *const frames_of_links[] = {"hinge", "tip", NULL};

/* The frame of an end: the world, a link's hinge or tip frame. */
static bool read_end_frame(struct object *object, const struct json_path *link_at, const struct json_path *frame_at,
                           struct site *end)
{
    const char *name = read_string(link_at, REQUIRED, "link");
    int link = -1;
    if (name == NULL) return false;
    if (name_same(name, "world")) {
        path_reject(object, "frame", "a point of the world has no frame");
        return true;
    }
    const bool found = read_link_name(link_at, REQUIRED, "link (if not \"world\")", &link);
    const int frame = read_choice(frame_at, REQUIRED, "frame", frames_of_links);
    *end = robot_site_of_link(link);
    if (frame == 0) end->type = AT_HINGE;
    return found && frame >= 0;
}

/* A point of the world, of a link's hinge or tip frame, or of a named frame: {"frame": F} without a link. */
static bool read_point(const struct json_path *at, struct site *point)
{
    struct object object;
    if (!path_open_object(&object, at, REQUIRED, "end point of the actuator")) return false;
    const struct json_path link_at = path_member(&object, "link"), frame_at = path_member(&object, "frame");
    const struct json_path xyz_at = path_member(&object, "xyz");
    *point = robot_site_of_link(-1);
    const char *frame = !link_at.given && value_is_string(&frame_at) ? read_string(&frame_at, REQUIRED, "frame") : NULL;
    const bool named = frame != NULL && !name_same(frame, frames_of_links[0]) && !name_same(frame, frames_of_links[1]);
    struct pose offset = {.p = {0}};
    identity3(offset.R);
    bool ok =
        named ? !format_reject(&frame_at, 2, "a named frame") && read_frame_name(&frame_at, "frame of an end", point)
              : read_end_frame(&object, &link_at, &frame_at, point);
    ok &= read_numbers(&xyz_at, named ? OPTIONAL : REQUIRED, &xyz, 3, offset.p) || (named && !xyz_at.given);
    robot_site_offset(point, &offset);
    path_close_object(&object);
    return ok;
}

static void read_line(const struct json_path *at, struct line *line)
{
    static const char *const types[] = {"line", NULL};
    const struct robot *robot = at->reader->robot;
    struct object object;
    if (!path_open_object(&object, at, REQUIRED, "actuator")) return;
    line->name = read_part_name(MEMBER(&object, "name"), "actuator name");
    read_choice(MEMBER(&object, "type"), REQUIRED, "actuator type", types);
    const struct json_path from_at = path_member(&object, "from"), to_at = path_member(&object, "to");
    line->hold = read_hold(&object);
    struct site *end = robot->site + line->site;
    const bool from = read_point(&from_at, &end[0]), to = read_point(&to_at, &end[1]);
    if (from && to && robot_site_same_section(robot, &end[0], &end[1]))
        path_error(at,
                   "the two points of an actuator must not be fixed in the same frame: its length would never change");
    read_line_drive(MEMBER_OF(&object, 2, "drive"));
    if (line->hold != HOLD_USUAL && robot_line_is_spring(robot, robot->n_lines))
        path_error(MEMBER(&object, "static"), "the force of a spring follows from its length: leave it out");
    path_close_object(&object);
}

void read_lines(const struct json_path *at, struct robot *robot)
{
    int count;
    robot->line = path_open_list(at, OPTIONAL, "actuators", sizeof *robot->line, &count);
    const int first = robot->n_sites;
    if (!robot_add_sites(robot, count, 2)) return;
    for (int i = 0; i < count; i++, robot->n_lines++) {
        robot->line[i].site = first + 2 * i;
        read_line(ITEM(at, i), &robot->line[i]);
    }
}
