/* Following the loops of a robot from its start to a pose: the branch of a sweep, and of a STATE that leaves loops open. */
#ifndef ANALYSIS_FOLLOW_H
#define ANALYSIS_FOLLOW_H

#include "analysis/state.h"
#include "mech/mechanism.h"

struct following {
    int swept;                 /* link whose joint reaches its position in any case; -1: none                   */
    enum report_level bending; /* elastic coordinates that close a loop are reported so; as an error they fail  */
};

/* The closed state at the pose of `state`. Where that leaves no loop open by more than GAP_OF_DIGITS, it is closed as it is,
   closure_close(). Otherwise the robot goes there from the closed start of its file, in steps of at most 0.05 rad or
   0.05 m of each joint, and its loops are closed after each. Joints that the state moves away from the start reach their
   positions; other driven joints stay, or follow passive joints that the state moves. Where loops cannot be closed so, the driven
   joints reach their positions, and passive joints of loops stay as near to theirs as the loops allow. qd is projected. Does
   nothing for an open robot. STATUS_BAD_INPUT: the loops open on the way. */
enum status closure_follow(struct mechanism *m, const struct following *how, struct state *state,
                           struct report *report);

#endif
