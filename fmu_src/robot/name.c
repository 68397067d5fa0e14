#include <string.h>

#include "robot/read.h"

/* Words that stand in the FMU's variable names beside those of links and joints. */
static const char *const reserved[] = {"world",   "tip",  "energy",        "power",       "solver",
                                       "gravity", "time", "elastic_terms", "start_static"};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_identifier(const char *name)
{
    if (!is_letter(*name)) return false;
    for (; *name != '\0'; name++)
        if (!is_letter(*name) && !is_digit(*name)) return false;
    return true;
}

static bool is_reserved(const char *name)
{
    for (int i = 0; i < FIELD_COUNT(reserved); i++)
        if (strcmp(reserved[i], name) == 0) return true;
    return false;
}

bool same_name(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* ---- names given ------------------------------------------------------------------------------------------------- */

/* A faulty name is kept all the same: what refers to it should not be a second error. */
const char *read_identifier(const struct place *at, const char *what)
{
    const char *name = read_string(at, REQUIRED, what);
    if (name == NULL) return NULL;
    if (!is_identifier(name))
        complain(at, "%s must be an identifier: a letter or underscore, then letters, digits, underscores", what);
    return arena_string(&at->reader->robot->arena, name);
}

const char *read_name(const struct place *at, const char *what)
{
    const char *name = read_identifier(at, what);
    if (name != NULL && is_reserved(name)) complain(at, "%s must not be a reserved word", what);
    return name;
}

const char *read_part_name(const struct place *at, const char *what)
{
    const struct robot *robot = at->reader->robot;
    const char *name = read_name(at, what);
    bool taken = find_link(robot, name) >= 0;
    for (int i = 0; i < robot->n_loops; i++) taken |= same_name(robot->loop[i].name, name);
    for (int i = 0; i < robot->n_actuators; i++) taken |= same_name(robot->actuator[i].name, name);
    if (taken) complain(at, "%s must be unique among links, loops and actuators", what);
    return name;
}

const char *read_joint_name(const struct place *at, const char *link_name)
{
    const struct robot *robot = at->reader->robot;
    const char *name = at->given ? read_name(at, "joint name") : link_name;
    for (int i = 0; i < robot->n_links; i++) {
        if (!same_name(robot->link[i].joint.name, name)) continue;
        complain(at->given ? at : at->parent,
                 "joint name, by default the link's, must be unique among joints: \"%s\" is not", name);
        break;
    }
    return name;
}

/* ---- names referred to ------------------------------------------------------------------------------------------- */

int find_link(const struct robot *robot, const char *name)
{
    for (int i = 0; i < robot->n_links; i++)
        if (same_name(robot->link[i].name, name)) return i;
    return -1;
}

bool read_link_name(const struct place *at, enum need need, const char *what, int *link)
{
    const char *name = read_string(at, need, what);
    if (name == NULL) return false;
    const int found = find_link(at->reader->robot, name);
    if (found >= 0) *link = found;
    else complain(at, "%s must be the name of a link", what);
    return found >= 0;
}
