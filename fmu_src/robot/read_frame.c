/* Frames: named sites on links. A joint may name a frame, so a frame is read when it is first needed. */
#include <json-c/json.h>
#include <string.h>

#include "robot/read.h"

/* ---- one frame ------------------------------------------------------------------------------------------------------ */

/* A station of a beam */
static void read_station(const struct json_path *at, const struct link *link, struct site *site)
{
    static const struct quantity station = {"station x of a frame", "m", NON_NEGATIVE};
    if (link->type != BODY_BEAM) {
        path_error(at, "only a beam has stations: use \"hinge\", \"tip\"%s",
                   link->type == BODY_NODAL ? " or {\"node\": k}" : "");
        return;
    }
    if (!read_number(at, REQUIRED, &station, &site->x)) return;
    if (site->x > link->beam.length)
        path_error(at, "station x of a frame must not exceed the length of the beam, %.9g m", link->beam.length);
    site->type = site->x == link->beam.length ? AT_TIP : AT_STATION;
}

/* "hinge", "tip" (the default), a station of a beam, or {"node": k}. */
static void read_section_of(const struct json_path *at, const struct link *link, struct site *site)
{
    static const char *const names[] = {"hinge", "tip", NULL};
    struct object object;
    if (value_is_number(at)) read_station(at, link, site);
    else if (value_is_object(at) && path_open_object(&object, at, REQUIRED, "node of a frame")) {
        const struct json_path node_at = path_member(&object, "node");
        if (link->type != BODY_NODAL) path_error(at, "only a nodal body has nodes");
        else read_integer(&node_at, REQUIRED, "node of a frame", 0, link->nodal.n_nodes - 1, &site->node);
        site->type = AT_NODE;
        path_close_object(&object);
    } else if (at->given && !value_is_string(at))
        path_error(at, "place of a frame must be \"hinge\", \"tip\", a station x of a beam, or {\"node\": k}");
    else if (read_choice(at, OPTIONAL, "place of a frame", names) == 0) site->type = AT_HINGE;
}

static bool read_frame_link(const struct json_path *at, int *link)
{
    struct reader *reader = at->reader;
    if (reader->link == NULL) return read_link_name(at, REQUIRED, "link of a frame", link);
    const char *name = read_string(at, REQUIRED, "link of a frame");
    const int found = name != NULL ? name_find_link(reader, name) : -1;
    if (found >= 0) *link = found;
    else if (name != NULL)
        path_error(
            at, "link of a frame must be the name of a link that stands before links[%d], whose joint names the frame",
            reader->robot->n_links);
    return found >= 0;
}

static void read_frame(const struct json_path *at, struct robot_frame *frame)
{
    struct object object;
    frame->site = robot_site_of_link(0);
    if (!path_open_object(&object, at, REQUIRED, "frame")) return;
    frame->name = read_part_name(MEMBER(&object, "name"), "frame name");
    const bool found = read_frame_link(MEMBER(&object, "link"), &frame->site.link);
    const struct json_path section_at = path_member(&object, "at"), sensor_at = path_member(&object, "sensor");
    const struct json_path load_at = path_member(&object, "load");
    if (found) read_section_of(&section_at, &at->reader->robot->link[frame->site.link], &frame->site);
    frame->gauge = value_is_number(&section_at);
    read_pose_members(&object, &frame->site.at);
    read_flag(&sensor_at, "sensor", &frame->sensor);
    read_flag(&load_at, "load", &frame->load);
    path_close_object(&object);
}

/* ---- all frames ----------------------------------------------------------------------------------------------------- */

void read_frames_open(const struct json_path *at, struct robot *robot)
{
    struct reader *reader = at->reader;
    robot->frame = path_open_list(at, OPTIONAL, "frames", sizeof *robot->frame, &robot->n_frames);
    reader->frame_read = arena_allocate(&robot->arena, (size_t)robot->n_frames, sizeof *reader->frame_read);
    if (reader->frame_read == NULL) robot->n_frames = 0;
    reader->frames = at;
}

static void read_frame_once(struct reader *reader, int i)
{
    if (reader->frame_read[i]) return;
    reader->frame_read[i] = true;
    read_frame(ITEM(reader->frames, i), &reader->robot->frame[i]);
}

void read_frames(struct reader *reader)
{
    for (int i = 0; i < reader->robot->n_frames; i++) read_frame_once(reader, i);
}

/* The frame of this name, which is read now if it was not before; NULL: none. */
static const struct robot_frame *find_frame(struct reader *reader, const char *name)
{
    for (int i = 0; i < reader->robot->n_frames; i++) {
        const struct json_path at = path_item(reader->frames, i);
        struct json_object *value = NULL;
        if (!value_is_object(&at) || !json_object_object_get_ex(at.value, "name", &value)) continue;
        if (!json_object_is_type(value, json_type_string) || strcmp(json_object_get_string(value), name) != 0) continue;
        read_frame_once(reader, i);
        return &reader->robot->frame[i];
    }
    return NULL;
}

bool read_frame_name(const struct json_path *at, const char *what, struct site *site)
{
    const char *name = read_string(at, REQUIRED, what);
    const struct robot_frame *frame = name != NULL ? find_frame(at->reader, name) : NULL;
    if (frame != NULL) *site = frame->site;
    else if (name != NULL) path_error(at, "%s must be the name of a frame (of the array `frames`)", what);
    return frame != NULL;
}

bool read_link_or_frame(const struct json_path *at, const char *what, struct site *site)
{
    const char *name = read_string(at, REQUIRED, what);
    if (name == NULL) return false;
    const bool may_be_frame = at->reader->robot->format != 1;
    const int link = name_find_link(at->reader, name);
    const struct robot_frame *frame = link < 0 && may_be_frame ? find_frame(at->reader, name) : NULL;
    if (link >= 0) *site = robot_site_of_link(link);
    else if (frame != NULL) *site = frame->site;
    else path_error(at, "%s must be the name of a link%s", what, may_be_frame ? " or a frame" : "");
    return link >= 0 || frame != NULL;
}
