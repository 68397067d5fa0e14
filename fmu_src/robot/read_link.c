#include <string.h>

#include "robot/read.h"

/* The parent: by default the link before, the world for the first. */
static void read_parent(const struct place *at, int index, struct link *link)
{
    int parent = index - 1;
    const char *name = read_string(at, OPTIONAL, "parent");
    if (name != NULL) {
        parent = name_find_link(at->reader, name); /* -1, the world, if there is none */
        if (parent < 0 && strcmp(name, "world") != 0)
            place_error(at, "parent must be \"world\" or the name of a link earlier in the file");
    }
    link->mount = robot_site_of_link(parent);
}

static void read_body(struct object *object, struct link *link)
{
    static const char *const keys[] = {[BODY_RIGID] = "rigid", [BODY_BEAM] = "beam", [BODY_NODAL] = "nodal"};
    struct place body_at[FIELD_COUNT(keys)];
    int given = 0;
    for (int type = 0; type < FIELD_COUNT(keys); type++) {
        body_at[type] = place_member(object, keys[type]);
        if (!body_at[type].given) continue;
        link->type = (enum body_type)type;
        given++;
    }
    if (given != 1)
        place_error(&object->at, "a link must have exactly one of rigid, beam, nodal; this one has %d", given);
    read_rigid(&body_at[BODY_RIGID], &link->rigid, &link->rigid_tip);
    read_beam(&body_at[BODY_BEAM], &link->beam);
    read_nodal(&body_at[BODY_NODAL], &link->nodal);
}

static void read_link(const struct place *at, int index, struct link *link)
{
    struct object object;
    if (!place_open_object(&object, at, REQUIRED, "link")) return;
    const struct place name_at = place_member(&object, "name"), parent_at = place_member(&object, "parent");
    const struct place joint_at = place_member(&object, "joint");
    at->reader->link = link;
    link->name = read_part_name(&name_at, "link name");
    read_parent(&parent_at, index, link);
    read_joint(&joint_at, parent_at.given, link);
    read_body(&object, link);

    const struct place hub_at = place_member(&object, "hub"), payload_at = place_member(&object, "payload");
    link->has_hub = read_attached(&hub_at, "hub", &link->hub);
    link->has_payload = read_attached(&payload_at, "payload", &link->payload);
    at->reader->link = NULL;
    place_close_object(&object);
}

void read_links(const struct place *at, struct robot *robot)
{
    int count;
    if (!place_open_array(at, REQUIRED, 1, -1, "links", &count)) return;
    robot->link = arena_allocate(&robot->arena, (size_t)count, sizeof *robot->link);
    if (robot->link == NULL) return;
    for (int i = 0; i < count; i++) {
        const struct place link_at = place_item(at, i);
        read_link(&link_at, i, &robot->link[i]);
        robot->n_links++; /* from here on it can be a parent, and its names are in use */
    }
}
