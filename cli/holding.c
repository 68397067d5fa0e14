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

static int apply_list(const char *command, const char *option, const char *list, bool lines, enum hold hold,
                      struct instance *sim)
{
    for (const char *name = list; name != NULL;) {
        const size_t length = strcspn(name, ",");
        if (!apply_to(sim, lines, name, length, hold)) {
            fprintf(stderr, "limber: %s: %s %s: the robot has no %s '%.*s'\n", command, option, list,
                    lines ? "actuator" : "joint that moves and is called", (int)length, name);
            return EXIT_INPUT;
        }
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    return EXIT_OK;
}

int holding_apply(const char *command, const struct holding *holding, struct instance *sim)
{
    int code = apply_list(command, "--hold", holding->hold, false, HOLD_HELD, sim);
    if (code == EXIT_OK) code = apply_list(command, "--free", holding->free, false, HOLD_FREE, sim);
    if (code == EXIT_OK) code = apply_list(command, "--hold-actuators", holding->hold_actuators, true, HOLD_HELD, sim);
    if (code == EXIT_OK) code = apply_list(command, "--free-actuators", holding->free_actuators, true, HOLD_FREE, sim);
    return code;
}
