/* The motion of an axis: a reference with up to four smooth moves, and a position loop around it. A servo uses the reference and
   its rate, the valve of a cylinder the command. The axis may be a joint [rad] or a cylinder [m], so positions and gains have no
   unit in the table. Equations: docs/drives.md. */
#include <math.h>

#include "drive/drive.h"
#include "drive/laws.h"

/* clang-format off */
#define MOVE(X, k) \
    X(TIME##k, "move[" #k "].time", PARAMETER, "s", NULL, 0, ANY_NUMBER, "time from the start of the simulation to the beginning of the move") \
    X(DURATION##k, "move[" #k "].duration", PARAMETER, "s", NULL, 1, ABOVE_ZERO, "duration of the move") \
    X(DISTANCE##k, "move[" #k "].distance", PARAMETER, NULL, NULL, 0, ANY_NUMBER, "distance of the move; 0: no move [m or rad]")

#define AXIS_LIST(X) \
    X(POSITION, "position", INPUT, NULL, NULL, 0, ANY_NUMBER, "measured position, from the arm [m or rad]") \
    X(RATE, "rate", INPUT, NULL, NULL, 0, ANY_NUMBER, "rate of the measured position, from the arm; extrapolates the position within a step [m/s or rad/s]") \
    X(REFERENCE, "reference", OUTPUT, NULL, NULL, 0, ANY_NUMBER, "desired position of the axis, to a servo [m or rad]") \
    X(REFERENCE_RATE, "reference_rate", OUTPUT, NULL, NULL, 0, ANY_NUMBER, "rate of the reference, to a servo [m/s or rad/s]") \
    X(COMMAND, "command", OUTPUT, NULL, NULL, 0, ANY_NUMBER, "command of the position loop, to the valve of a cylinder") \
    X(CLOCK, "clock", LOCAL_STATE, "s", NULL, 1, ANY_NUMBER, "time since the start of the simulation") \
    X(START, "start", PARAMETER, NULL, NULL, 0, ANY_NUMBER, "reference before the first move [m or rad]") \
    MOVE(X, 1) MOVE(X, 2) MOVE(X, 3) MOVE(X, 4) \
    X(POSITION_GAIN, "position_gain", PARAMETER, NULL, NULL, 15, ANY_NUMBER, "command per position error [1/m or 1/rad]") \
    X(RATE_GAIN, "rate_gain", PARAMETER, NULL, NULL, 3.6, ANY_NUMBER, "command per rate of the reference (feedforward) [s/m or s/rad]")
/* clang-format on */

enum { AXIS_LIST(DRIVE_INDEX) ROWS };
enum { CLOCK_DOT = ROWS, VALUES };
enum { MOVE_ROWS = TIME2 - TIME1 };

static const struct drive_row table[] = {AXIS_LIST(DRIVE_ROW)};

/* The reference and its time derivatives */
struct reference {
    double r, rd, rdd;
};

static struct reference reference_of(const double *v)
{
    struct reference sum = {.r = v[START]};
    for (const double *move = v + TIME1; move <= v + TIME4; move += MOVE_ROWS) {
        const double T = move[DURATION1 - TIME1], d = move[DISTANCE1 - TIME1];

        /* r += d s(x),   x = (t - t0)/T limited to 0 .. 1,   s = x - sin(2 pi x)/(2 pi): s' and s'' vanish at both ends  (1) */
        const double x = fmin(fmax((v[CLOCK] - move[0]) / T, 0), 1), angle = 2 * PI * x;
        sum.r += d * (x - sin(angle) / (2 * PI));
        sum.rd += d / T * (1 - cos(angle));
        sum.rdd += d / (T * T) * 2 * PI * sin(angle);
    }
    return sum;
}

static void rates(double *v)
{
    v[CLOCK_DOT] = 1;
}

static void evaluate(double *v)
{
    rates(v);
    const struct reference reference = reference_of(v);
    v[REFERENCE] = reference.r;
    v[REFERENCE_RATE] = reference.rd;

    /* c = kd r' + kp (r - position)                                                            (2) */
    v[COMMAND] = v[RATE_GAIN] * reference.rd + v[POSITION_GAIN] * (reference.r - v[POSITION]);
}

static void tangent(const double *v, double *dv)
{
    const struct reference reference = reference_of(v);
    dv[REFERENCE] = reference.rd * dv[CLOCK];
    dv[REFERENCE_RATE] = reference.rdd * dv[CLOCK];
    dv[COMMAND] = v[RATE_GAIN] * dv[REFERENCE_RATE] + v[POSITION_GAIN] * (dv[REFERENCE] - dv[POSITION]);
    dv[CLOCK_DOT] = 0;
}

static void start(double *v)
{
    v[CLOCK] = 0;
}

const struct drive axis_drive = {
    .name = "axis",
    .description = "Motion of an axis: a sequence of smooth moves and a position loop; reference and command out",
    .n_rows = ROWS,
    .n_states = VALUES - ROWS,
    .row = table,
    .n_driven = 1,
    .position = POSITION,
    .rate = RATE,
    .share = -1,
    .start = start,
    .evaluate = evaluate,
    .rates = rates,
    .tangent = tangent};
