/* The two formats of a robot file: what needs limber-robot/2, and what this version does not read yet. */
#include <json-c/json.h>
#include <string.h>

#include "robot/read.h"

/* Also false while the format is unknown: that is an error of its own. */
static bool is_format_1(const struct place *at)
{
    return at->reader->robot->format == 1;
}

bool format_refuse_in_1(const struct place *at, const char *what)
{
    if (!at->given || !is_format_1(at)) return false;
    place_error(at, "%s needs \"format\": \"limber-robot/2\"", what);
    return true;
}

void format_refuse_unsupported(const struct place *at, const char *what, const char *advice)
{
    if (!at->given) return;
    const bool old = is_format_1(at);
    place_error(at, "%s %sis not yet supported by this version: %s", what,
                old ? "needs \"format\": \"limber-robot/2\" and " : "", advice);
}

/* In all of these, keys that are absent stay unknown, so that no list of known keys offers them. */
void format_refuse_keys(struct object *object, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        if (!place_has_key(object, *keys)) continue;
        const struct place at = place_member(object, *keys);
        format_refuse_unsupported(&at, *keys, "remove it");
    }
}

struct place format_2_member(struct object *object, const char *key)
{
    if (object->at.reader->robot->format != 1 || place_has_key(object, key)) {
        struct place at = place_member(object, key);
        if (format_refuse_in_1(&at, key)) at.given = false;
        return at;
    }
    return (struct place){.reader = object->at.reader, .parent = &object->at, .key = key};
}

/* Index of the choice that a place names, whatever the format; -1: none of them. */
static int find_choice(const struct place *at, int count, const struct choice *choice)
{
    if (!value_is_string(at)) return -1;
    for (int i = 0; i < count; i++)
        if (strcmp(choice[i].name, json_object_get_string(at->value)) == 0) return i;
    return -1;
}

int read_choice_of_format(const struct place *at, const char *what, int count, const struct choice *choice)
{
    const int chosen = find_choice(at, count, choice);
    if (chosen >= 0) {
        if (choice[chosen].format == 2) format_refuse_in_1(at, "this");
        return chosen;
    }
    const char *name[MOST_CHOICES + 1] = {NULL};
    int legal = 0;
    for (int i = 0; i < count && legal < MOST_CHOICES; i++)
        if (choice[i].format == 1 || !is_format_1(at)) name[legal++] = choice[i].name;
    return read_choice(at, REQUIRED, what, name); /* reports what is legal */
}
