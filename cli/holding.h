/* Which joints and actuators a static equilibrium holds: options that static, linearize, modes, zeros and inverse share. */
#ifndef CLI_HOLDING_H
#define CLI_HOLDING_H

#include <stdbool.h>

#include "base/arena.h"
#include "sim/sim.h"

/* Lists of names, separated by commas; NULL: not given. */
struct holding {
    const char *hold, *free, *hold_actuators, *free_actuators;
};

/* Takes --hold, --free, --hold-actuators or --free-actuators with its value, if argument i is one of them: *taken. An exit code. */
int holding_option(const char *command, int argc, char **argv, int *i, struct holding *holding, bool *taken);

bool holding_given(const struct holding *holding);

/* In place of what the robot file says. An exit code; names that the robot does not have are reported. */
int holding_apply(const char *command, const struct holding *holding, struct instance *sim);

#endif
