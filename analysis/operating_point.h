/* An instance at a state: what a linearization is about. Here a STATE and the variables of an instance meet. */
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
    struct report report;        /* of the instance: forwards errors to the caller's report */
    struct arena arena;
};

/* The instance of a robot file's text; `name` is what messages call it. The report must outlive the point, which must not be
   moved. Problems are reported, here and below; operating_point_free() in any case. */
enum status operating_point_make(const char *name, const char *text, struct report *report,
                                 struct operating_point *point);
void operating_point_free(struct operating_point *point);

/* Moves the instance to the state, whose loops are closed first (`given`: a state that leaves them open is a warning), and
   computes qdd. With `equilibrium` the state becomes the static equilibrium that mech/statics.h finds from it: rates and prescribed
   accelerations zero, joints that are free settle, joints and lines that are held get the torques and forces that hold them.
   STATUS_NO_EQUILIBRIUM, STATUS_BAD_INPUT where a loop stays open, STATUS_NOT_FINITE. */
enum status operating_point_move(struct operating_point *point, bool given, bool equilibrium, struct report *report);

#endif
