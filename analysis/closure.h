/* Closed loops of a state: projecting a state onto the loops, and the constraint forces. */
#ifndef ANALYSIS_CLOSURE_H
#define ANALYSIS_CLOSURE_H

#include "analysis/state.h"
#include "mech/mechanism.h"

/* Largest gap due to rounding in a printed STATE [m, or cosine] */
#define GAP_OF_DIGITS 1e-6

/* Closes the loops as an instance does at its start, by constraints_close_start(); independent equations are chosen, qd is
   projected. Does nothing for an open robot. Elastic coordinates that had to move are a warning. Dropped constraints are
   reported to `redundant` (NULL: not reported). STATUS_BAD_INPUT: the loops cannot be closed. */
enum status closure_close(struct mechanism *m, struct state *state, struct report *redundant, struct report *report);

/* The same for a state that an analysis is about to use; dropped constraints are not reported. A state that is `given` and leaves a
   loop open by more than GAP_OF_DIGITS is a warning, and is reached from the start of the robot: closure_follow(). */
enum status closure_of_state(struct mechanism *m, bool given, struct state *state, struct report *report);

/* Reports a loop that the state leaves open by more than GAP_OF_DIGITS as a warning. */
void closure_report_open(struct mechanism *m, const struct state *state, struct report *report);

/* Reports the elastic coordinate that differs most from `before`, if any does: joints alone did not close the loops. */
void closure_report_bending(const struct model *model, const double *q, const double *before, enum report_level level,
                            struct report *report);

/* Name of the loop with the largest gap where that exceeds `most`; NULL: none. */
const char *closure_open_loop(struct mechanism *m, const double *q, const double *qd, double most);

/* Subtracts the part of the loops, G' lambda, from the forces of dyn_inverse(). lambda balances the undriven joints (passive, not
   prescribed), G_u' lambda = force_u, and unless `stiff` the elastic coordinates too; where it is not unique, that of the
   smallest norm. After dyn_inverse() and dyn_velocity(). */
enum status closure_subtract_forces(struct mechanism *m, bool stiff, double *force, struct report *report);

#endif
