/* Following the loops of a robot from its start to a pose: for a sweep, and for a STATE whose loops are not closed. */
#ifndef ANALYSIS_FOLLOW_H
#define ANALYSIS_FOLLOW_H

#include "analysis/state.h"
#include "mech/mechanism.h"

struct following {
    int swept;                 /* the link whose joint reaches its position in any case; -1: none              */
    enum report_level bending; /* level of the report that links bend to close a loop; an error is a failure   */
};

/* The closed state at the pose of `state`. If its gaps are at most GAP_OF_DIGITS, it is closed as it is: closure_close(). Otherwise
   the robot moves there from the closed start of its file, in steps of at most 0.05 rad or 0.05 m of each joint, and its loops are
   closed after each step. Joints that the state moves away from the start reach their positions. Other driven joints stay, or follow
   the passive joints that the state moves. If the loops cannot be closed in this manner, the driven joints reach their positions, and
   passive joints of loops stay as near to theirs as the loops allow. qd is projected. Does nothing for an open robot.
   STATUS_BAD_INPUT: the loops open on the path. */
enum status closure_follow(struct mechanism *m, const struct following *how, struct state *state,
                           struct report *report);

#endif
