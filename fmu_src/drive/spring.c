/* A spring and damper between the two pins of a line. It has no states and no command. Equations: docs/drives.md. */
#include "drive/drive.h"

/* clang-format off */
#define SPRING_LIST(X) \
    X(LENGTH, "length", INPUT, "m", NULL, 1, ANY_NUMBER, "distance between the two pins, from the arm") \
    X(RATE, "rate", INPUT, "m/s", NULL, 0, ANY_NUMBER, "rate of the length, from the arm") \
    X(FORCE, "force", OUTPUT, "N", NULL, 0, ANY_NUMBER, "force that pushes the two pins apart, to the arm") \
    X(POWER_MECHANICAL, "power.mechanical", OUTPUT, "W", NULL, 0, ANY_NUMBER, "mechanical output power: force times rate") \
    X(POWER_DAMPING, "power.damping", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost in the damper") \
    X(POWER_SPRING, "power.spring", OUTPUT, "W", NULL, 0, ANY_NUMBER, "rate of change of the energy in the spring") \
    X(STIFFNESS, "stiffness", PARAMETER, "N/m", NULL, 1e5, NOT_NEGATIVE, "stiffness of the spring") \
    X(DAMPING, "damping", PARAMETER, "N.s/m", NULL, 0, NOT_NEGATIVE, "damping: force against the motion per rate") \
    X(REST_LENGTH, "rest_length", PARAMETER, "m", NULL, 1, ABOVE_ZERO, "length at which the force at rest is the preload") \
    X(PRELOAD, "preload", PARAMETER, "N", NULL, 0, ANY_NUMBER, "force at rest_length; positive: pushes")
/* clang-format on */

enum { SPRING_LIST(DRIVE_INDEX) ROWS };

static const struct drive_row table[] = {SPRING_LIST(DRIVE_ROW)};

static double elastic_force(const double *v)
{
    return v[PRELOAD] + v[STIFFNESS] * (v[REST_LENGTH] - v[LENGTH]);
}

static void evaluate(double *v)
{
    const double elastic = elastic_force(v);

    /* F = F0 + k (l0 - l) - c l'                                                               (1) */
    v[FORCE] = elastic - v[DAMPING] * v[RATE];

    /* 0 = mechanical + damping + spring                                                        (2) */
    v[POWER_MECHANICAL] = v[FORCE] * v[RATE];
    v[POWER_DAMPING] = v[DAMPING] * v[RATE] * v[RATE];
    v[POWER_SPRING] = -elastic * v[RATE];
}

static void tangent(const double *v, double *dv)
{
    const double drate = dv[RATE], force = elastic_force(v) - v[DAMPING] * v[RATE];
    dv[FORCE] = -v[STIFFNESS] * dv[LENGTH] - v[DAMPING] * drate;
    dv[POWER_MECHANICAL] = dv[FORCE] * v[RATE] + force * drate;
    dv[POWER_DAMPING] = 2 * v[DAMPING] * v[RATE] * drate;
    dv[POWER_SPRING] = v[STIFFNESS] * dv[LENGTH] * v[RATE] - elastic_force(v) * drate;
}

static void start(double *v)
{
    (void)v;
}

const struct drive spring_drive = {
    .name = "spring",
    .description = "Spring and damper between the two points of a line: length and rate in, force out",
    .n_rows = ROWS,
    .n_states = 0,
    .row = table,
    .n_driven = 1,
    .position = LENGTH,
    .rate = RATE,
    .effort = FORCE,
    .share = -1,
    .start = start,
    .evaluate = evaluate,
    .tangent = tangent};
