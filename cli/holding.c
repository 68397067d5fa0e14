#include "holding.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

struct list {
    const char *option, *names;
    const char *other_names, *contradiction; /* a name must not be in both */
    bool lines;
    enum hold hold;
};

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* Holds or frees the joint or line of one name. Returns what is wrong with the name; NULL: nothing */
static const char *apply_name(const struct list *list, const char *name, size_t length, struct instance *sim)
{
    struct robot *robot = sim_robot(sim);
    bool found = false;
    if (length == 0) return "a name is missing before or after a comma";
    for (const char *other = list->other_names; other != NULL;) {
        const size_t size = strcspn(other, ",");
        if (size == length && memcmp(other, name, length) == 0) return list->contradiction;
        other = other[size] == ',' ? other + size + 1 : NULL;
    }
    for (int i = 0; !list->lines && i < robot->n_links; i++) {
        struct joint *joint = &robot->link[i].joint;
        if (!is_name(joint->name, name, length) || !joint_moves(joint)) continue;
        if (joint->prescribed && list->hold == HOLD_FREE) return "a prescribed joint keeps its position";
        joint->hold = list->hold;
        found = true;
    }
    for (int a = 0; list->lines && a < robot->n_lines; a++) {
        if (!is_name(robot->line[a].name, name, length)) continue;
        if (robot_line_is_spring(robot, a))
            return "the force of a spring follows from its length: it is neither held nor given";
        robot->line[a].hold = list->hold;
        found = true;
    }
    if (found) return NULL;
    return list->lines ? "the robot has no actuator of this name"
                       : "the robot has no joint that moves and has this name";
}

int holding_apply(const struct common *options, struct instance *sim)
{
    const struct holding *h = &options->holding;
    const struct list lists[] = {
        {"--hold", h->hold, h->free, "it is in --free too", false, HOLD_HELD},
        {"--free", h->free, h->hold, "it is in --hold too", false, HOLD_FREE},
        {"--hold-actuators", h->hold_lines, h->free_lines, "it is in --free-actuators too", true, HOLD_HELD},
        {"--free-actuators", h->free_lines, h->hold_lines, "it is in --hold-actuators too", true, HOLD_FREE}};
    for (const struct list *list = lists; list < lists + sizeof lists / sizeof *lists; list++)
        for (const char *name = list->names; name != NULL;) {
            const size_t length = strcspn(name, ",");
            const char *wrong = apply_name(list, name, length, sim);
            if (wrong != NULL) {
                fprintf(stderr, "limber: %s: %s %s: '%.*s': %s\n", options->command, list->option, list->names,
                        (int)length, name, wrong);
                return EXIT_INPUT;
            }
            name = name[length] == ',' ? name + length + 1 : NULL;
        }
    return EXIT_OK;
}
