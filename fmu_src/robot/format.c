/* The formats of a robot file: what needs a newer one. */
#include <json-c/json.h>
#include <string.h>

#include "robot/read.h"

/* Also false if the format of the file is not known, which is reported as an error of its own. */
static bool is_older(const struct json_path *at, int format)
{
    return at->reader->robot->format > 0 && at->reader->robot->format < format;
}

bool format_reject(const struct json_path *at, int format, const char *what)
{
    if (!at->given || !is_older(at, format)) return false;
    path_error(at, "%s needs \"format\": \"limber-robot/%d\"", what, format);
    return true;
}

/* In a file of an older format an absent key stays unknown, so that no list of known keys offers it. */
struct json_path format_member(struct object *object, int format, const char *key)
{
    if (!is_older(&object->at, format) || path_has_key(object, key)) {
        struct json_path at = path_member(object, key);
        if (format_reject(&at, format, key)) at.given = false;
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
            format_reject(at, choice[i].format, "this");
            return i;
        }
        if (!is_older(at, choice[i].format)) name[legal++] = choice[i].name;
    }
    return read_choice(at, REQUIRED, what, name); /* reports what is legal */
}
