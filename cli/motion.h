/* A joint motion as a function of time: from a table of q, qd, qdd, or from a formula. */
#ifndef CLI_MOTION_H
#define CLI_MOTION_H

#include "csv.h"
#include "robot/robot.h"

struct motion {
    const struct robot *robot;
    bool
        passive_too; /* passive joints have a motion too, not only those with a drive, prescribed or moved by actuators */
    int n_rows;
    /* a table */
    struct csv table;
    int *column;  /* n_links x 3: columns of q, qd, qdd; NULL: a formula        */
    int interval; /* of the table, where the last time was found                */
    /* a cycloid */
    double *k, *T; /* n_links                               [rad/s or m/s], [s] */
    double until, step;
};

/* Whether the motion of this link's joint is given. */
bool motion_gives(const struct motion *motion, int link);

/* Readers: robot and passive_too are set. Problems go to standard error, the result is an exit code. */
int motion_read(const char *file, struct arena *arena, struct motion *motion);
/* q = start + k (t - T/pi sin(pi t/T)), Mohan and Saha (44); `rate` and `period` are lists of k and T, one per joint. */
int motion_cycloid(const char *command, const char *rate, const char *period, double until, double step,
                   struct arena *arena, struct motion *motion);

/* Time of a row, and how long it is after the first. */
double motion_time(const struct motion *motion, int row);
double motion_row(const struct motion *motion, int row);

/* x = (q, qd, qdd) of a link's joint, t seconds after the first row; `motion` is a struct motion (sim/sim.h: sim_motion). */
void motion_at(void *motion, double t, int link, double x[3]);

#endif
