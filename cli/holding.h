/* Which joints and lines a static equilibrium holds: options that static, linearize, modes, zeros and inverse share. */
#ifndef CLI_HOLDING_H
#define CLI_HOLDING_H

#include "options.h"
#include "sim/sim.h"

/* Applies --hold, --free, --hold-lines and --free-lines; they override the robot file. An exit code; names that the robot does
   not have are reported. */
int holding_apply(const struct common *options, struct instance *sim);

#endif
