/* Status codes and their texts, in one list. The sign decides what a caller may do: 0 is success, positive is recoverable
   (another state or a smaller step may work), negative is final. One code per cause. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>

#define STATUS_LIST(X)                                                                                     \
    X(OK, 0, "success")                                                                                    \
    /* recoverable: the mechanism in this state */                                                         \
    X(NOT_POSITIVE, 1, "the mass matrix is not positive definite in this state")                           \
    X(NOT_FINITE, 2, "the time derivatives are not finite in this state")                                  \
    X(SINGULAR_LOOP, 3, "a loop is singular: its constraint forces are not determined in this position")   \
    X(LOOP_NOT_CLOSED, 4, "a loop or coupling cannot be closed")                                           \
    X(MISSED_LOOP, 5, "a redundant constraint that was dropped at the start is violated")                  \
    X(SHORT_LINE, 6, "the two points of a line coincide, so its force has no direction")                   \
    X(UNBALANCED, 7, "the forces of lines are not determined by the motion: a lever arm is zero")          \
    X(DRIVE_ERROR, 8, "the drive cannot work in this state")                                               \
    /* recoverable: the integrator from this state */                                                      \
    X(STEPS_TOO_SHORT, 20, "the motion is too fast: the steps became too small to reach the end")          \
    X(TOO_ACCURATE, 21, "the tolerance is tighter than double precision allows; increase it")              \
    X(ERROR_TEST, 22, "the error test fails even with the smallest step")                                  \
    X(NEWTON, 23, "the Newton iteration does not converge even with the smallest step")                    \
    X(NEWTON_MATRIX, 24, "the Newton matrix cannot be computed")                                           \
    X(NO_RATES, 25, "the time derivatives cannot be computed")                                             \
    X(NOT_PROJECTED, 26, "the state cannot be projected onto the constraints")                             \
    X(INTEGRATION, 27, "the integration failed")                                                           \
    X(TOO_MANY_STEPS, 28, "solver.max_steps was reached")                                                  \
    X(TOO_FAST, 29, "the motion is too fast: a state changes by 1e11 times its nominal value in a second") \
    /* recoverable: analyses of this state */                                                              \
    X(NO_EIGENVALUES, 31, "the eigenvalues could not be computed")                                         \
    X(ZERO_TRANSFER, 32, "the transfer function is identically zero")                                      \
    X(NOT_DETERMINED, 33, "the loops do not determine the motion of the passive joints")                   \
    X(CONTRADICTION, 34, "the given motions of the joints contradict each other")                          \
    X(NO_RICCATI, 35, "no gain: the Riccati equation of LQR or of the observer did not converge")          \
    /* final */                                                                                            \
    X(BAD_ROBOT, -1, "the robot file is not valid")                                                        \
    X(NO_MEMORY, -2, "out of memory")                                                                      \
    X(NO_FILE, -3, "the file cannot be read or written")                                                   \
    X(NO_DERIVATIVE, -4, "this variable has no derivative")                                                \
    X(BAD_DRIVE, -5, "the drive file or a parameter is not valid")                                         \
    X(BAD_INPUT, -6, "a state, a motion or a name is not valid")                                           \
    X(OPEN_LOOP, -7, "a loop cannot be closed from the start positions")                                   \
    X(LOOP_OPENS, -8, "a redundant constraint that was dropped at the start begins to be violated")        \
    X(NO_EQUILIBRIUM, -9, "no static equilibrium was found")                                               \
    X(SOLVER_SETUP, -10, "the integrator could not be set up")                                             \
    X(LINEAR_ALGEBRA, -11, "a matrix factorization failed")                                                \
    X(OVERLOAD, -12, "the loads are too large: the forces that balance them are not finite")

enum status {
#define STATUS_CODE(name, code, text) STATUS_##name = (code),
    STATUS_LIST(STATUS_CODE)
#undef STATUS_CODE
};

const char *status_text(enum status status);

/* Size of the text of a failure reason, names included. */
enum { REASON_SIZE = 384 };

/* Another state or a smaller step may work. */
static inline bool status_is_recoverable(enum status status)
{
    return (int)status > 0;
}

#endif
