/* One list makes the codes and their texts: 0 fine, positive recoverable (another state may work), negative failure. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#define STATUS_LIST(X)                                                                              \
    X(OK, 0, "fine")                                                                                \
    X(NOT_POSITIVE, 1, "the mass matrix is not positive definite in this state")                    \
    X(INTEGRATION, 2, "the integration cannot go on from this state")                               \
    X(NO_EQUILIBRIUM, 3, "no static equilibrium was found")                                         \
    X(SINGULAR_LOOP, 4, "a loop is in a position in which its forces are not determined")           \
    X(OPEN_LOOP, 5, "a loop cannot be closed")                                                      \
    X(MISSED_LOOP, 6, "an equation that was left out at the start is no longer met")                \
    X(SHORT_ACTUATOR, 7, "the two points of an actuator coincide: its force has no direction")      \
    X(UNBALANCED, 8, "the forces of the actuators do not follow from the motion: one has no lever") \
    X(BAD_ROBOT, -1, "the robot file is not valid")                                                 \
    X(NO_MEMORY, -2, "out of memory")                                                               \
    X(NO_FILE, -3, "the file cannot be read")                                                       \
    X(NO_DERIVATIVE, -4, "there is no derivative of this variable")                                 \
    X(BAD_DRIVE, -5, "the drive file or a parameter is not valid")                                  \
    /* of analyses */                                                                               \
    X(NOT_FINITE, 30, "the results are not finite in this state")                                   \
    X(NO_EIGENVALUES, 31, "the eigenvalues could not be computed")                                  \
    X(ZERO_TRANSFER, 32, "the transfer function is identically zero")                               \
    X(NOT_DETERMINED, 33, "the loops do not determine the motion of the passive joints")            \
    X(CONTRADICTION, 34, "the given motions of the joints contradict each other")                   \
    X(BAD_INPUT, -30, "a state, a motion or a name is not valid")                                   \
    X(LINEAR_ALGEBRA, -31, "a matrix factorization failed")

enum status {
#define STATUS_CODE(name, code, text) STATUS_##name = (code),
    STATUS_LIST(STATUS_CODE)
#undef STATUS_CODE
};

const char *status_text(enum status status);

#endif
