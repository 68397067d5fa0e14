/* An electric servo drive: a DC motor (or the torque axis of a brushless one) with a stiff gear on a joint, a current loop, a
   velocity loop and a position loop in cascade. Equations and numbers: docs/drives.md; Leonhard, Control of Electrical Drives,
   chapters 5 and 7.

   The inertia of the rotor is not modeled here: through the stiff gear it moves with the joint, so it belongs to the arm,
   J.motor_inertia = N^2 times that of the rotor. The output is the torque on both together. */
#include <math.h>
#include <stdio.h>

#include "drive/drive.h"
#include "drive/laws.h"

/* clang-format off */
#define SERVO_LIST(X) \
    X(REFERENCE, "reference", INPUT, "rad", "deg", 0, ANY_NUMBER, "desired joint position") \
    X(REFERENCE_RATE, "reference_rate", INPUT, "rad/s", "deg/s", 0, ANY_NUMBER, "rate of the reference, feedforward to the velocity loop") \
    X(FEEDFORWARD, "feedforward", INPUT, "N.m", NULL, 0, ANY_NUMBER, "known part of the required joint torque, feedforward to the current loop") \
    X(Q, "q", INPUT, "rad", "deg", 0, ANY_NUMBER, "joint position, from the arm") \
    X(QD, "qd", INPUT, "rad/s", "deg/s", 0, ANY_NUMBER, "joint velocity, from the arm") \
    X(TAU, "tau", OUTPUT, "N.m", NULL, 0, ANY_NUMBER, "torque on the joint, to the arm") \
    X(CURRENT, "current", OUTPUT_STATE, "A", NULL, 10, ANY_NUMBER, "motor current") \
    X(VOLTAGE, "voltage", OUTPUT, "V", NULL, 0, ANY_NUMBER, "motor voltage") \
    X(CURRENT_REFERENCE, "current_reference", OUTPUT, "A", NULL, 0, ANY_NUMBER, "current reference from the velocity loop, limited") \
    X(RATE_REFERENCE, "rate_reference", LOCAL, "rad/s", "deg/s", 0, ANY_NUMBER, "joint velocity reference from the position loop, limited") \
    X(VOLTAGE_INTEGRAL, "voltage_integral", OUTPUT_STATE, "V", NULL, 10, ANY_NUMBER, "integral part of the current loop") \
    X(TORQUE_INTEGRAL, "torque_integral", OUTPUT_STATE, "N.m", NULL, 1000, ANY_NUMBER, "integral part of the velocity loop") \
    X(POWER_ELECTRICAL, "power.electrical", OUTPUT, "W", NULL, 0, ANY_NUMBER, "electrical input power: voltage times current") \
    X(POWER_MECHANICAL, "power.mechanical", OUTPUT, "W", NULL, 0, ANY_NUMBER, "mechanical output power: torque times joint velocity") \
    X(POWER_COPPER, "power.copper", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost in the resistance") \
    X(POWER_GEAR, "power.gear", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost in motor bearings and gear") \
    X(POWER_MAGNETIC, "power.magnetic", OUTPUT, "W", NULL, 0, ANY_NUMBER, "rate of change of the energy in the inductance") \
    X(GEAR_RATIO, "gear_ratio", PARAMETER, "1", NULL, 120, ABOVE_ZERO, "turns of the motor per turn of the joint") \
    X(TORQUE_CONSTANT, "torque_constant", PARAMETER, "N.m/A", NULL, 0.8, ABOVE_ZERO, "motor torque per current, and voltage per speed") \
    X(RESISTANCE, "resistance", PARAMETER, "Ohm", NULL, 0.9, ABOVE_ZERO, "resistance of the winding") \
    X(INDUCTANCE, "inductance", PARAMETER, "H", NULL, 6e-3, ABOVE_ZERO, "inductance of the winding") \
    X(EFFICIENCY, "efficiency", PARAMETER, "1", NULL, 0.9, UP_TO_ONE, "efficiency of the gear when the motor drives: the rest is friction proportional to the motor torque") \
    X(VISCOUS, "viscous", PARAMETER, "N.m.s/rad", NULL, 20, NOT_NEGATIVE, "viscous friction of motor and gear, at the joint") \
    X(COULOMB, "coulomb", PARAMETER, "N.m", NULL, 10, NOT_NEGATIVE, "Coulomb friction of motor and gear, at the joint") \
    X(FRICTION_RATE, "friction_rate", PARAMETER, "rad/s", NULL, 0.05, ABOVE_ZERO, "joint velocity at which dry friction reaches tanh 1 = 76 percent") \
    X(CURRENT_BANDWIDTH, "current_bandwidth", PARAMETER, "rad/s", NULL, 3000, ABOVE_ZERO, "bandwidth of the closed current loop: the inverse of its time constant") \
    X(VELOCITY_GAIN, "velocity_gain", PARAMETER, "N.m.s/rad", NULL, 2000, ABOVE_ZERO, "joint torque per error of the joint velocity") \
    X(VELOCITY_INTEGRAL_GAIN, "velocity_integral_gain", PARAMETER, "N.m/rad", NULL, 6000, NOT_NEGATIVE, "rate of the joint torque per error of the joint velocity") \
    X(POSITION_GAIN, "position_gain", PARAMETER, "1/s", NULL, 4, NOT_NEGATIVE, "joint velocity per error of the joint position; 0: a velocity drive") \
    X(CURRENT_LIMIT, "current_limit", PARAMETER, "A", NULL, 20, ABOVE_ZERO, "limit of the current reference") \
    X(VOLTAGE_LIMIT, "voltage_limit", PARAMETER, "V", NULL, 300, ABOVE_ZERO, "limit of the supply voltage") \
    X(RATE_LIMIT, "rate_limit", PARAMETER, "rad/s", "deg/s", 1.5, ABOVE_ZERO, "limit of the joint velocity reference") \
    X(TORQUE_START, "torque_start", PARAMETER, "N.m", NULL, 0, ANY_NUMBER, "torque at the start in addition to the feedforward: current and integral parts start with the values that hold it at rest")
/* clang-format on */

enum { SERVO_LIST(DRIVE_INDEX) ROWS };
enum { CURRENT_DOT = ROWS, VOLTAGE_INTEGRAL_DOT, TORQUE_INTEGRAL_DOT, VALUES };

static const struct drive_row table[] = {SERVO_LIST(DRIVE_ROW)};

/* Intermediate values of evaluate() and tangent() */
struct work {
    double k;                          /* N Kt: joint torque per current                 [N.m/A] */
    double error;                      /* of the joint velocity                          [rad/s] */
    double tau, u;                     /* torque and voltage before the limits                   */
    struct law rate, current, voltage; /* limited velocity, current, voltage                     */
    struct law load, sign;             /* |k i| and sign of the velocity, smoothed               */
    double dry;                        /* dry friction                                   [N.m]   */
};

static struct work work_of(const double *v)
{
    struct work w = {.k = v[GEAR_RATIO] * v[TORQUE_CONSTANT]};

    /* w* = sat(kp (q* - q) + qd*),   e = w* - qd                                              (2) */
    w.rate = saturate(v[POSITION_GAIN] * (v[REFERENCE] - v[Q]) + v[REFERENCE_RATE], v[RATE_LIMIT]);
    w.error = w.rate.value - v[QD];

    /* tau* = kv e + T + feedforward,   i* = sat(tau* / k)                                      (3) */
    w.tau = v[VELOCITY_GAIN] * w.error + v[TORQUE_INTEGRAL] + v[FEEDFORWARD];
    w.current = saturate(w.tau / w.k, v[CURRENT_LIMIT]);

    /* u* = wc L (i* - i) + W + k qd,   u = sat(u*)                                             (4) */
    w.u = v[CURRENT_BANDWIDTH] * v[INDUCTANCE] * (w.current.value - v[CURRENT]) + v[VOLTAGE_INTEGRAL] + w.k * v[QD];
    w.voltage = saturate(w.u, v[VOLTAGE_LIMIT]);

    /* dry friction c + (1 - eta) |k i|                                                         (6) */
    w.load = magnitude(w.k * v[CURRENT], 1e-3 * w.k * v[CURRENT_LIMIT]);
    w.sign = smooth_sign(v[QD], v[FRICTION_RATE]);
    w.dry = v[COULOMB] + (1 - v[EFFICIENCY]) * w.load.value;
    return w;
}

static void evaluate(double *v)
{
    const struct work w = work_of(v);
    const double R = v[RESISTANCE], L = v[INDUCTANCE], i = v[CURRENT], kv = v[VELOCITY_GAIN];
    v[RATE_REFERENCE] = w.rate.value;
    v[CURRENT_REFERENCE] = w.current.value;
    v[VOLTAGE] = w.voltage.value;

    /* L di/dt = u - R i - k qd                                                                 (1) */
    v[CURRENT_DOT] = (v[VOLTAGE] - R * i - w.k * v[QD]) / L;

    /* dW/dt = wc R (i* - i) - (R/L)(u* - u),   dT/dt = ki e - (ki/kv)(tau* - k i*)          (4), (3) */
    v[VOLTAGE_INTEGRAL_DOT] = v[CURRENT_BANDWIDTH] * R * (w.current.value - i) - R / L * (w.u - v[VOLTAGE]);
    v[TORQUE_INTEGRAL_DOT] = v[VELOCITY_INTEGRAL_GAIN] * (w.error - (w.tau - w.k * w.current.value) / kv);

    /* tau = k i - friction                                                                  (5), (6) */
    const double friction = v[VISCOUS] * v[QD] + w.dry * w.sign.value;
    v[TAU] = w.k * i - friction;

    /* u i = R i^2 + L i di/dt + friction qd + tau qd                                           (7) */
    v[POWER_ELECTRICAL] = v[VOLTAGE] * i;
    v[POWER_COPPER] = R * i * i;
    v[POWER_MAGNETIC] = L * i * v[CURRENT_DOT];
    v[POWER_GEAR] = friction * v[QD];
    v[POWER_MECHANICAL] = v[TAU] * v[QD];
}

static void tangent(const double *v, double *dv)
{
    const struct work w = work_of(v);
    const double R = v[RESISTANCE], L = v[INDUCTANCE], i = v[CURRENT], kv = v[VELOCITY_GAIN], di = dv[CURRENT];
    dv[RATE_REFERENCE] = w.rate.slope * (v[POSITION_GAIN] * (dv[REFERENCE] - dv[Q]) + dv[REFERENCE_RATE]);
    const double de = dv[RATE_REFERENCE] - dv[QD];
    const double dtau = kv * de + dv[TORQUE_INTEGRAL] + dv[FEEDFORWARD];
    dv[CURRENT_REFERENCE] = w.current.slope * dtau / w.k;
    const double dd = dv[CURRENT_REFERENCE] - di;
    const double du = v[CURRENT_BANDWIDTH] * L * dd + dv[VOLTAGE_INTEGRAL] + w.k * dv[QD];
    dv[VOLTAGE] = w.voltage.slope * du;

    dv[CURRENT_DOT] = (dv[VOLTAGE] - R * di - w.k * dv[QD]) / L;
    dv[VOLTAGE_INTEGRAL_DOT] = v[CURRENT_BANDWIDTH] * R * dd - R / L * (du - dv[VOLTAGE]);
    dv[TORQUE_INTEGRAL_DOT] = v[VELOCITY_INTEGRAL_GAIN] * (de - (dtau - w.k * dv[CURRENT_REFERENCE]) / kv);

    const double friction = v[VISCOUS] * v[QD] + w.dry * w.sign.value;
    const double dfriction =
        (v[VISCOUS] + w.dry * w.sign.slope) * dv[QD] + (1 - v[EFFICIENCY]) * w.load.slope * w.k * di * w.sign.value;
    dv[TAU] = w.k * di - dfriction;

    dv[POWER_ELECTRICAL] = dv[VOLTAGE] * i + v[VOLTAGE] * di;
    dv[POWER_COPPER] = 2 * R * i * di;
    dv[POWER_MAGNETIC] = L * (di * v[CURRENT_DOT] + i * dv[CURRENT_DOT]);
    dv[POWER_GEAR] = dfriction * v[QD] + friction * dv[QD];
    dv[POWER_MECHANICAL] = dv[TAU] * v[QD] + v[TAU] * dv[QD];
}

/* Current and integral parts at rest with this torque, which includes the feedforward */
static void set_torque(double *v, double torque)
{
    v[CURRENT] = torque / (v[GEAR_RATIO] * v[TORQUE_CONSTANT]);
    v[VOLTAGE_INTEGRAL] = v[RESISTANCE] * v[CURRENT];
    v[TORQUE_INTEGRAL] = torque - v[FEEDFORWARD];
}

static void start(double *v)
{
    set_torque(v, v[TORQUE_START] + v[FEEDFORWARD]);
}

/* At rest |i| < min(i limit, u limit/R) as long as saturate() is exactly linear; above, the start is not an equilibrium */
static const char *check_torque(const double *v, const char *what, double torque, char text[CONFLICT_SIZE])
{
    const double k = v[GEAR_RATIO] * v[TORQUE_CONSTANT];
    const double largest = (1 - BEND) * k * fmin(v[CURRENT_LIMIT], v[VOLTAGE_LIMIT] / v[RESISTANCE]);
    if (fabs(torque) <= largest) return NULL;
    snprintf(text, CONFLICT_SIZE,
             "%s = %.9g N.m: its magnitude must be at most nine tenths of the limits of current and voltage, %.9g N.m",
             what, torque, largest);
    return text;
}

static const char *conflict(const double *v, char text[CONFLICT_SIZE])
{
    return check_torque(v, "torque_start + feedforward", v[TORQUE_START] + v[FEEDFORWARD], text);
}

static const char *hold(double *v, char text[CONFLICT_SIZE])
{
    set_torque(v, v[TAU]);
    v[REFERENCE] = v[Q];
    return check_torque(v, "holding torque", v[TAU], text);
}

static const int start_inputs[] = {FEEDFORWARD};

const struct drive servo_drive = {
    .name = "servo",
    .description =
        "Electric servo drive of a joint: DC motor and gear, current, velocity and position loop; torque out",
    .n_rows = ROWS,
    .n_states = VALUES - ROWS,
    .row = table,
    .n_driven = 1,
    .position = Q,
    .rate = QD,
    .effort = TAU,
    .command = REFERENCE,
    .share = -1,
    .start_inputs = start_inputs,
    .n_start_inputs = sizeof start_inputs / sizeof start_inputs[0],
    .start = start,
    .hold = hold,
    .evaluate = evaluate,
    .tangent = tangent,
    .conflict = conflict};
