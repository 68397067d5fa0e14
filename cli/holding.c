#include "holding.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

int holding_option(const char *command, int argc, char **argv, int *i, struct holding *holding, bool *taken)
{
    const struct {
        const char *name, **list;
    } table[] = {{"--hold", &holding->hold},
                 {"--free", &holding->free},
                 {"--hold-actuators", &holding->hold_actuators},
                 {"--free-actuators", &holding->free_actuators}};
    *taken = false;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        if (strcmp(argv[*i], table[t].name) != 0) continue;
        if (*i + 1 >= argc) return cli_usage(command, "%s takes names, separated by commas", table[t].name);
        if (*table[t].list != NULL)
            return cli_usage(command, "%s is given twice: separate the names by commas", table[t].name);
        *table[t].list = argv[++*i];
        *taken = true;
        break;
    }
    return EXIT_OK;
}

bool holding_given(const struct holding *holding)
{
    return holding->hold != NULL || holding->free != NULL || holding->hold_actuators != NULL ||
           holding->free_actuators != NULL;
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static bool lists_name(const char *list, const char *name, size_t length)
{
    while (list != NULL) {
        const size_t size = strcspn(list, ",");
        if (size == length && memcmp(list, name, length) == 0) return true;
        list = list[size] == ',' ? list + size + 1 : NULL;
    }
    return false;
}

/* One name of a list; false: the robot does not have it */
static bool apply_to(struct instance *sim, bool lines, const char *name, size_t length, enum hold hold)
{
    const struct robot *robot = sim_robot(sim);
    bool found = false;
    for (int i = 0; !lines && i < robot->n_links; i++)
        if (is_name(robot->link[i].joint.name, name, length) && joint_moves(&robot->link[i].joint)) {
            sim_hold(sim, i, (int)hold);
            found = true;
        }
    for (int a = 0; lines && a < robot->n_actuators; a++)
        if (is_name(robot->actuator[a].name, name, length)) {
            sim_hold_actuator(sim, a, (int)hold);
            found = true;
        }
    return found;
}

struct list {
    const char *option, *names;
    const char *other_names, *contradiction; /* a name must not be in both */
    bool lines;
    enum hold hold;
};

/* What is wrong with one name; NULL: nothing */
static const char *apply_name(const struct list *list, const char *name, size_t length, struct instance *sim)
{
    if (length == 0) return "a name is missing before or after a comma";
    if (lists_name(list->other_names, name, length)) return list->contradiction;
    for (int i = 0; !list->lines && list->hold == HOLD_FREE && i < sim_robot(sim)->n_links; i++)
        if (is_name(sim_robot(sim)->link[i].joint.name, name, length) && sim_robot(sim)->link[i].joint.prescribed)
            return "a prescribed joint keeps its position";
    for (int a = 0; list->lines && a < sim_robot(sim)->n_actuators; a++)
        if (is_name(sim_robot(sim)->actuator[a].name, name, length) && robot_actuator_is_spring(sim_robot(sim), a))
            return "the force of a spring follows from its length: it is neither held nor given";
    if (apply_to(sim, list->lines, name, length, list->hold)) return NULL;
    return list->lines ? "the robot has no actuator of this name"
                       : "the robot has no joint that moves and has this name";
}

static int apply_list(const char *command, const struct list *list, struct instance *sim)
{
    for (const char *name = list->names; name != NULL;) {
        const size_t length = strcspn(name, ",");
        const char *wrong = apply_name(list, name, length, sim);
        if (wrong != NULL) {
            fprintf(stderr, "limber: %s: %s %s: '%.*s': %s\n", command, list->option, list->names, (int)length, name,
                    wrong);
            return EXIT_INPUT;
        }
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    return EXIT_OK;
}

int holding_apply(const char *command, const struct holding *holding, struct instance *sim)
{
    const struct holding *h = holding;
    const struct list lists[] = {
        {"--hold", h->hold, h->free, "it is in --free too", false, HOLD_HELD},
        {"--free", h->free, h->hold, "it is in --hold too", false, HOLD_FREE},
        {"--hold-actuators", h->hold_actuators, h->free_actuators, "it is in --free-actuators too", true, HOLD_HELD},
        {"--free-actuators", h->free_actuators, h->hold_actuators, "it is in --hold-actuators too", true, HOLD_FREE}};
    int code = EXIT_OK;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && code == EXIT_OK; i++)
        code = apply_list(command, &lists[i], sim);
    return code;
}
