/* Closed robots in the command line: states are brought onto the loops before anything is computed there. */
#ifndef CLI_CLOSED_H
#define CLI_CLOSED_H

#include "load.h"
#include "state.h"

/* A gap that missing digits of a STATE explain [m, or cosine]; a larger one is told */
#define GAP_OF_DIGITS 1e-6

/* Closes the loops as an instance does at its start: q as little as passive joints, then all joints that are not prescribed, then
   elastic coordinates allow; independent equations are chosen, qd is projected. With `given` a gap above GAP_OF_DIGITS is told. Does
   nothing for an open robot. Problems go to standard error; the result is an exit code. */
int closed_state(const char *command, struct cli_model *loaded, bool given, struct state *state);

/* The same for a pose of a sweep, in which joints alone may move: links that would be deformed are an error. */
int closed_pose(const char *command, struct cli_model *loaded, struct state *state);

/* The same as the first, warnings of redundant equations included, told to a report of the caller's. */
enum status closed_report(struct cli_model *loaded, struct state *state, struct report *report);

/* The loop that the state leaves open by more than `most`, the widest of them; NULL: none. */
const char *closed_worst(struct cli_model *loaded, const struct state *state, double most);

/* Takes the share of the loops, G' lambda, out of forces of dyn_inverse(): the multipliers are those that carry what joints without a
   drive (passive ones, not prescribed) cannot, nor elastic coordinates unless these are `stiff`, G_u' lambda = force_u; where they are
   not unique, the smallest (sum of squares). After dyn_inverse() and dyn_velocity(). An exit code. */
int closed_forces(const char *command, struct cli_model *loaded, bool stiff, double *force);

/* x of A x = b, least squares, of all the smallest: A by columns, b in x, which has room for the longer of the two; A is used up.
   The rank, or -1 on failure. */
int least_squares(int rows, int columns, double *A, double *x, struct arena *arena);

#endif
