/* The operating point of an analysis: a mechanism at a state, with the variables of its FMU. */
#ifndef ANALYSIS_OPERATING_POINT_H
#define ANALYSIS_OPERATING_POINT_H

#include "analysis/state.h"
#include "mech/mechanism.h"
#include "sim/sim.h"

struct operating_point {
    struct instance *sim;
    struct mechanism *mechanism; /* the instance's                                                  */
    struct state state;          /* its arrays are the instance's: the state has no other home      */
    const double *qdd;           /* nv: accelerations there, of the instance                        */
    double *tau;                 /* n_tau: those of the state, in an equilibrium with those that drives exert */
    struct report report;        /* of the instance: forwards errors to the caller's report         */
    struct arena arena;
};

/* For a robot file's text, `name` being its name in messages, at the STATE of a file ("-": standard input; NULL: the robot's
   start). The report must outlive the point, which must not be moved. Problems are reported, here and below; operating_point_free() in
   any case. */
enum status operating_point_make(const char *name, const char *text, const char *file, struct report *report,
                                 struct operating_point *point);
void operating_point_free(struct operating_point *point);

/* Parameters that were set act, drives start, and qdd is computed. The loops of the state are closed first; if it was `given` and they are open, a
   warning is reported. With `equilibrium` the state becomes the static equilibrium that mech/statics.h finds from it: velocities
   and prescribed accelerations are zero, free joints find their equilibrium, locked joints and lines receive the torques and
   forces that hold them. STATUS_NO_EQUILIBRIUM, STATUS_BAD_INPUT if a loop cannot be closed, STATUS_NOT_FINITE. */
enum status operating_point_move(struct operating_point *point, bool given, bool equilibrium, struct report *report);

#endif
