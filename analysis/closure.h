/* Closing the loops of a state. */
#ifndef ANALYSIS_CLOSURE_H
#define ANALYSIS_CLOSURE_H

#include "analysis/state.h"
#include "mech/mechanism.h"

/* Largest gap due to rounding in a printed STATE [m, or cosine] */
#define GAP_OF_DIGITS 1e-6

/* Closes the loops as an instance does at its start, by constraints_close_start(); independent equations are chosen, qd is
   projected. Does nothing for an open robot. If elastic coordinates had to move, a warning is reported. Dropped constraints are
   reported to `redundant` (NULL: not reported). STATUS_BAD_INPUT: the loops cannot be closed. */
enum status closure_close(struct mechanism *m, struct state *state, struct report *redundant, struct report *report);

/* The same for a state that an analysis is about to use; dropped constraints are not reported. If a state that was `given` has a
   gap of more than GAP_OF_DIGITS, a warning is reported, and the state is reached from the start of the robot: closure_follow(). */
enum status closure_of_state(struct mechanism *m, bool given, struct state *state, struct report *report);

/* Reports the elastic coordinate that differs most from `before`, if any differs: moving joints alone did not close the loops. */
void closure_report_bending(const struct model *model, const double *q, const double *before, enum report_level level,
                            struct report *report);

/* The name of the loop with the largest gap if this gap exceeds `most`, otherwise NULL. */
const char *closure_open_loop(struct mechanism *m, const double *q, const double *qd, double most);

/* ---- from the start of the robot to a pose (follow.c) ------------------------------------------------------------- */

/* The closed state at the pose of `state`. If its gaps are at most GAP_OF_DIGITS, it is closed as it is: closure_close(). Otherwise
   the robot moves there from the closed start of its file, in steps of at most 0.05 rad or 0.05 m of each joint, and its loops are
   closed after each step. Joints that the state moves away from the start reach their positions. Other driven joints stay, or follow
   the passive joints that the state moves. If the loops cannot be closed in this manner, the driven joints reach their positions, and
   passive joints of loops stay as near to theirs as the loops allow. qd is projected. Does nothing for an open robot.
   `swept`: of a sweep, the link whose joint reaches its position in any case, and links must not bend to close a loop; otherwise -1,
   and a warning is reported if they do. STATUS_BAD_INPUT: the loops open on the path. */
enum status closure_follow(struct mechanism *m, int swept, struct state *state, struct report *report);

#endif
