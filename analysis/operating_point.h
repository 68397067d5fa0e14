/* An instance at a state: the operating point of a linearization. A STATE becomes values of the variables of an instance. */
#ifndef ANALYSIS_OPERATING_POINT_H
#define ANALYSIS_OPERATING_POINT_H

#include "analysis/state.h"
#include "mech/mechanism.h"
#include "sim/sim.h"

/* q and qd of the state become the start values of an instance; prescribed motions and forces become its inputs. */
void state_to_start(const struct state *state, struct instance *sim);

struct operating_point {
    struct instance *sim;
    struct mechanism *mechanism; /* the instance's                                                  */
    struct state state;          /* filled by the caller between make and move                      */
    double *qdd;                 /* nv: accelerations there                                         */
    struct report report;        /* of the instance: forwards errors to the caller's report         */
    struct arena arena;
};

/* The instance of a robot file's text; `name` is its name in messages. The report must outlive the point, which must not be
   moved. Problems are reported, here and below; operating_point_free() in any case. */
enum status operating_point_make(const char *name, const char *text, struct report *report,
                                 struct operating_point *point);
void operating_point_free(struct operating_point *point);

/* Moves the instance to the state and computes qdd. The loops of the state are closed first; if it was `given` and they are open, a
   warning is reported. With `equilibrium` the state becomes the static equilibrium that mech/statics.h finds from it: velocities
   and prescribed accelerations are zero, free joints find their equilibrium, locked joints and actuators receive the torques and
   forces that hold them. STATUS_NO_EQUILIBRIUM, STATUS_BAD_INPUT if a loop cannot be closed, STATUS_NOT_FINITE. */
enum status operating_point_move(struct operating_point *point, bool given, bool equilibrium, struct report *report);

#endif
