#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "robot/read.h"

/* First parts of the FMU's own variable names, and "world". From format 2 on "hinge" is reserved too, which can be given in place of a frame. */
static const char all_reserved[] = "world, tip, energy, power, solver, gravity, time, elastic_terms, start_static";

/* Files of an FMU are named after the robot, and most systems allow 255 letters in the name of a file. */
enum { MOST_LETTERS = 200 };

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static bool is_reserved(const char *name)
{
    const size_t length = strlen(name);
    for (const char *word = all_reserved; word != NULL; word = strchr(word, ' ')) {
        word += *word == ' ';
        if (strncmp(word, name, length) == 0 && (word[length] == ',' || word[length] == '\0')) return true;
    }
    return false;
}

bool name_same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* ---- names that the file defines ------------------------------------------------------------------------------------------------- */

/* An invalid name is kept, so that references to it are not further errors. */
const char *read_identifier(const struct json_path *at, const char *what)
{
    const char *name = read_string(at, REQUIRED, what);
    if (name == NULL) return NULL;
    if (strspn(name, LETTERS) == 0 || name[strspn(name, LETTERS "0123456789")] != '\0')
        path_error(at, "%s must be an identifier: a letter or underscore, then letters, digits, underscores", what);
    else if (strlen(name) > MOST_LETTERS)
        path_error(at, "%s must have at most %d letters, this one has %zu", what, (int)MOST_LETTERS, strlen(name));
    return arena_string(&at->reader->robot->arena, name);
}

/* An identifier that is not reserved */
static const char *read_name(const struct json_path *at, const char *what)
{
    const char *name = read_identifier(at, what);
    if (name == NULL) return NULL;
    if (is_reserved(name)) path_error(at, "%s must not be a reserved word: %s", what, all_reserved);
    return name;
}

/* ---- links by name ----------------------------------------------------------------------------------------------- */

enum { FIRST_CAPACITY = 64 };

static const char *indexed_name(const struct robot *robot, enum named named, int link)
{
    return named == NAMED_LINK ? robot->link[link].name : robot->link[link].joint.name;
}

/* The slot of this name, or the empty one where it belongs */
static int *find_slot(const struct reader *reader, enum named named, const char *name)
{
    const struct link_index *index = &reader->index;
    size_t at = (size_t)hash_bytes(HASH_START, name, strlen(name));
    for (;; at++) {
        int *slot = &index->slot[named][at % index->capacity];
        if (*slot == 0 || name_same(indexed_name(reader->robot, named, *slot - 1), name)) return slot;
    }
}

/* Adds the links that were read since the last update; of equal names the first counts. False: out of memory. */
static bool update_index(struct reader *reader)
{
    struct link_index *index = &reader->index;
    const size_t links = (size_t)reader->robot->n_links;
    if (index->capacity < 2 * links + 2) {
        index->capacity = index->capacity == 0 ? FIRST_CAPACITY : index->capacity;
        while (index->capacity < 4 * links) index->capacity *= 2;
        for (enum named named = 0; named < NAMED_COUNT; named++)
            index->slot[named] = arena_allocate(&reader->robot->arena, index->capacity, sizeof(int));
        index->n = 0;
    }
    if (reader->robot->arena.failed) return false;
    for (; index->n < reader->robot->n_links; index->n++)
        for (enum named named = 0; named < NAMED_COUNT; named++) {
            const char *name = indexed_name(reader->robot, named, index->n);
            int *slot = name != NULL ? find_slot(reader, named, name) : NULL;
            if (slot != NULL && *slot == 0) *slot = index->n + 1;
        }
    return true;
}

static int find_named(struct reader *reader, enum named named, const char *name)
{
    if (name == NULL || !update_index(reader)) return -1;
    return *find_slot(reader, named, name) - 1;
}

int name_find_link(struct reader *reader, const char *name)
{
    return find_named(reader, NAMED_LINK, name);
}

/* ---- names in use ------------------------------------------------------------------------------------------------ */

/* The path of a part of the robot, for messages. */
struct path_text {
    char text[48];
};

static bool found(struct path_text *path, const char *format, int index)
{
    snprintf(path->text, sizeof path->text, format, index);
    return true;
}

/* Whether a link, loop, line, frame, coupling or supply read so far has this name, and where. */
static bool part_has(struct reader *reader, const char *name, struct path_text *where)
{
    const struct robot *robot = reader->robot;
    const int link = name_find_link(reader, name);
    if (link >= 0) return found(where, "links[%d].name", link);
    if (reader->link != NULL && name_same(reader->link->name, name))
        return found(where, "links[%d].name", robot->n_links);
    for (int i = 0; i < robot->n_loops; i++)
        if (name_same(robot->loop[i].name, name)) return found(where, "loops[%d].name", i);
    for (int i = 0; i < robot->n_lines; i++)
        if (name_same(robot->line[i].name, name)) return found(where, "actuators[%d].name", i);
    for (int i = 0; i < robot->n_frames; i++)
        if (name_same(robot->frame[i].name, name)) return found(where, "frames[%d].name", i);
    for (int i = 0; i < robot->n_couplings; i++)
        if (name_same(robot->coupling[i].name, name)) return found(where, "couplings[%d].name", i);
    for (int i = 0; i < robot->n_supplies; i++)
        if (name_same(robot->supply[i].name, name)) return found(where, "supplies[%d].name", i);
    return false;
}

/* The same of a joint; `current`: or the joint that is being read, which may need a frame. */
static bool joint_has(struct reader *reader, const char *name, bool current, struct path_text *where)
{
    const int link = find_named(reader, NAMED_JOINT, name);
    if (link >= 0) return found(where, "links[%d].joint", link);
    return current && reader->link != NULL && name_same(reader->link->joint.name, name) &&
           found(where, "links[%d].joint", reader->robot->n_links);
}

const char *read_part_name(const struct json_path *at, const char *what)
{
    const struct robot *robot = at->reader->robot;
    const char *name = read_name(at, what);
    struct path_text other;
    if (robot->format >= 2 && name_same(name, "hinge"))
        path_error(at, "%s must not be \"hinge\", which is reserved in limber-robot/2: choose another name", what);
    if (part_has(at->reader, name, &other))
        path_error(at, "%s must be unique among links, loops%s: %s is the same", what,
                   robot->format == 1   ? " and actuators"
                   : robot->format == 2 ? ", actuators and frames"
                                        : ", actuators, couplings and frames",
                   other.text);
    else if (robot->format >= 2 && joint_has(at->reader, name, true, &other))
        path_error(at, "%s must not be the name of another link's joint (limber-robot/2): that of %s is the same", what,
                   other.text);
    return name;
}

const char *read_joint_name(const struct json_path *at, const char *link_name)
{
    const struct robot *robot = at->reader->robot;
    const char *name = at->given ? read_name(at, "joint name") : link_name;
    struct path_text other;
    if (!at->given && robot->format >= 2) return name; /* read_part_name() compared it with all others */
    if (joint_has(at->reader, name, false, &other))
        path_error(at->given ? at : at->parent,
                   "joint name, by default the link's, must be unique among joints: \"%s\" is also that of %s", name,
                   other.text);
    else if (robot->format >= 2 && !name_same(name, link_name) && part_has(at->reader, name, &other))
        path_error(
            at,
            "joint name must not be the name of another link, loop, actuator or frame (limber-robot/2): %s is the same",
            other.text);
    return name;
}

/* ---- names referred to ------------------------------------------------------------------------------------------- */

bool read_link_name(const struct json_path *at, enum need need, const char *what, int *link)
{
    const char *name = read_string(at, need, what);
    if (name == NULL) return false;
    const int found = name_find_link(at->reader, name);
    if (found >= 0) *link = found;
    else path_error(at, "%s must be the name of a link", what);
    return found >= 0;
}
