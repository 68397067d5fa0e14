/* A sweep over the position of a joint, as the option --sweep gives it: modes and report (modes.c). */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "analysis/modes.h"
#include "analysis/names.h"

/* JOINT=a:b:n; an exit code, problems go to standard error. */
int sweep_read(const char *command, const char *text, const struct robot *robot, struct sweep_options *sweep);

/* J, or J[k] of a joint with several coordinates. */
void sweep_name(const struct joint *joint, int k, char name[NAME_SIZE]);

#endif
