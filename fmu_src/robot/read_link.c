#include <string.h>

#include "robot/read.h"

static void read_body(struct object *object, struct link *link)
{
    static const char *const keys[] = {[BODY_RIGID] = "rigid", [BODY_BEAM] = "beam", [BODY_NODAL] = "nodal"};
    struct json_path body_at[FIELD_COUNT(keys)];
    int given = 0;
    for (int type = 0; type < FIELD_COUNT(keys); type++) {
        body_at[type] = path_member(object, keys[type]);
        if (!body_at[type].given) continue;
        link->type = (enum body_type)type;
        given++;
    }
    if (given != 1)
        path_error(&object->at, "a link must have exactly one of rigid, beam, nodal; this one has %d", given);
    read_rigid(&body_at[BODY_RIGID], &link->rigid, &link->rigid_tip);
    read_beam(&body_at[BODY_BEAM], &link->beam);
    read_nodal(&body_at[BODY_NODAL], &link->nodal);
}

static void read_link(const struct json_path *at, struct link *link)
{
    struct object object;
    struct reader *reader = at->reader;
    if (!path_open_object(&object, at, REQUIRED, "link")) return;
    reader->link = link;
    link->name = read_part_name(MEMBER(&object, "name"), "link name");

    const struct json_path parent_at = path_member(&object, "parent");
    const char *parent_name = read_string(&parent_at, OPTIONAL, "parent");
    int parent = reader->robot->n_links - 1; /* the default: the link before, the world for the first */
    if (parent_name != NULL) {
        parent = name_find_link(reader, parent_name); /* -1, the world, if there is none */
        if (parent < 0 && strcmp(parent_name, "world") != 0)
            path_error(&parent_at, "parent must be \"world\" or the name of a link earlier in the file");
    }
    link->mount = robot_site_of_link(parent);
    read_joint(MEMBER(&object, "joint"), parent_at.given, link);
    read_body(&object, link);
    link->has_hub = read_attached(MEMBER(&object, "hub"), "hub", &link->hub);
    link->has_payload = read_attached(MEMBER(&object, "payload"), "payload", &link->payload);
    reader->link = NULL;
    path_close_object(&object);
}

/* A link that was read can be a parent, and its names are in use. */
void read_links(const struct json_path *at, struct robot *robot)
{
    int count;
    robot->link = path_open_list(at, REQUIRED, "links", sizeof *robot->link, &count);
    for (int i = 0; i < count; i++, robot->n_links++) read_link(ITEM(at, i), &robot->link[i]);
}
