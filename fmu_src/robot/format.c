/* The two formats of a robot file: what needs limber-robot/2. */
#include <json-c/json.h>
#include <string.h>

#include "robot/read.h"

/* Also false if the format is not known, which is reported as an error of its own. */
static bool is_format_1(const struct json_path *at)
{
    return at->reader->robot->format == 1;
}

bool format_reject_in_1(const struct json_path *at, const char *what)
{
    if (!at->given || !is_format_1(at)) return false;
    path_error(at, "%s needs \"format\": \"limber-robot/2\"", what);
    return true;
}

/* In a file of format 1 an absent key stays unknown, so that no list of known keys offers it. */
struct json_path format_2_member(struct object *object, const char *key)
{
    if (object->at.reader->robot->format != 1 || path_has_key(object, key)) {
        struct json_path at = path_member(object, key);
        if (format_reject_in_1(&at, key)) at.given = false;
        return at;
    }
    return (struct json_path){.reader = object->at.reader, .parent = &object->at, .key = key};
}

int read_choice_of_format(const struct json_path *at, const char *what, int count, const struct choice *choice)
{
    const char *name[MOST_CHOICES + 1] = {NULL};
    int legal = 0;
    for (int i = 0; i < count && legal < MOST_CHOICES; i++) {
        if (value_is_string(at) && strcmp(choice[i].name, json_object_get_string(at->value)) == 0) {
            if (choice[i].format == 2) format_reject_in_1(at, "this");
            return i;
        }
        if (choice[i].format == 1 || !is_format_1(at)) name[legal++] = choice[i].name;
    }
    return read_choice(at, REQUIRED, what, name); /* reports what is legal */
}
