/* What modes, report and view share: sweeps over the position of a joint, and whether drives take part in the motion (modes.c). */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "analysis/modes.h"
#include "analysis/names.h"
#include "plot.h"

/* JOINT=a:b:n, the value of --sweep; an exit code, errors go to standard error. */
int sweep_read(const char *command, const char *text, const struct robot *robot, struct sweep_options *sweep);

/* J, or J[k] of a joint with several coordinates. */
void sweep_name(const struct joint *joint, int k, char name[NAME_SIZE]);

/* The first `most` frequencies over the position */
struct plot sweep_plot(const struct sweep *sweep, int most, const char *title, const char *x_label);

/* Drives of lines move passive joints, which are never locked; drives of joints are part of the motion if joints are free. */
bool modes_with_drives(const struct robot *robot, bool joints_free);

#endif
