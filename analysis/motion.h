/* A joint motion as a function of time: from a table of q, qd, qdd, or from a formula. */
#ifndef ANALYSIS_MOTION_H
#define ANALYSIS_MOTION_H

#include "analysis/csv.h"
#include "robot/robot.h"

enum { MOST_MOTION_ROWS = 1000000000 };

struct motion {
    const struct robot *robot;
    bool passive_too; /* passive joints have a motion too, even if no lines move them */
    int n_rows;
    /* a table */
    struct csv table;
    int *first;   /* n_links: index of the joint's first coordinate among those of all joints */
    int *column;  /* coordinates x 3: columns of q, qd, qdd; NULL: a formula */
    int interval; /* of the table, that contains the last time           */
    /* a cycloid */
    double *k, *T; /* coordinates                    [rad/s or m/s], [s] */
    double until, step;
    struct arena arena;
};

/* Whether the motion of this link's joint must be given; the number of coordinates of all such joints; such a joint in words. */
bool motion_gives(const struct robot *robot, bool passive_too, int link);
int motion_count(const struct robot *robot, bool passive_too);
const char *motion_joint(const struct robot *robot, bool passive_too);

/* STATUS_BAD_INPUT with a report if the motion must be given of a joint that has no coordinates but a quaternion. */
enum status motion_possible(const struct robot *robot, bool passive_too, struct report *report);

/* From a table, whose memory must outlive the motion: columns J.q, J.qd, J.qdd (J.q[k], ... of a joint with two
   coordinates) of every joint that moves. STATUS_BAD_INPUT with a report if one is missing, or if motion_possible() fails.
   The arena of the motion is to be released in any case, here and below. */
enum status motion_from_table(const struct robot *robot, bool passive_too, const struct csv *table,
                              struct report *report, struct motion *motion);

/* q = start + k (t - T/pi sin(pi t/T)), Mohan and Saha (44): k and T > 0 have one number per coordinate. Rows are `step`
   apart up to `until`, fewer than MOST_MOTION_ROWS. */
enum status motion_cycloid(const struct robot *robot, bool passive_too, const double *k, const double *T, double until,
                           double step, struct report *report, struct motion *motion);

/* Time of a row; the same counted from the first row. */
double motion_time(const struct motion *motion, int row);
double motion_row(const struct motion *motion, int row);

/* x = (q, qd, qdd) of coordinate k of a link's joint, t seconds after the first row; the context is a struct motion, as
   struct sim_motion (sim/sim.h) has it. */
void motion_at(void *motion, double t, int link, int k, double x[3]);

#endif
