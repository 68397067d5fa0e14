/* An elastic joint drive: a motor behind a gear that is compliant and may have play (series elastic line, harmonic drive).
   Equations and numbers: docs/drives.md; Spong, Modeling and control of elastic joint robots, 1987; Nordin and Gutman, Controlling
   mechanical systems with backlash: a survey, 2002.

   The rotor is modeled here: motor_inertia of the arm's joint must not include it. */
#include "drive/drive.h"
#include "drive/laws.h"

/* clang-format off */
#define GEAR_LIST(X) \
    X(TORQUE, "torque", INPUT, "N.m", NULL, 0, ANY_NUMBER, "torque of the motor on its rotor") \
    X(Q, "q", INPUT, "rad", "deg", 0, ANY_NUMBER, "joint position, from the arm") \
    X(QD, "qd", INPUT, "rad/s", "deg/s", 0, ANY_NUMBER, "joint velocity, from the arm") \
    X(TAU, "tau", OUTPUT, "N.m", NULL, 0, ANY_NUMBER, "torque on the joint, to the arm") \
    X(MOTOR_ANGLE, "motor_angle", OUTPUT_STATE, "rad", "deg", 10, ANY_NUMBER, "angle of the rotor; ratio times the joint position if the gear is not twisted") \
    X(MOTOR_RATE, "motor_rate", OUTPUT_STATE, "rad/s", NULL, 100, ANY_NUMBER, "angular velocity of the rotor") \
    X(TWIST, "twist", OUTPUT, "rad", "deg", 0, ANY_NUMBER, "twist of the gear at the joint: motor_angle/ratio - q, with the play") \
    X(POWER_MOTOR, "power.motor", OUTPUT, "W", NULL, 0, ANY_NUMBER, "input power: motor torque times motor_rate") \
    X(POWER_MECHANICAL, "power.mechanical", OUTPUT, "W", NULL, 0, ANY_NUMBER, "mechanical output power: torque on the joint times joint velocity") \
    X(POWER_FRICTION, "power.friction", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost in the bearings of the rotor") \
    X(POWER_DAMPING, "power.damping", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost in the gear") \
    X(POWER_SPRING, "power.spring", OUTPUT, "W", NULL, 0, ANY_NUMBER, "rate of change of the strain energy of the gear") \
    X(POWER_ROTOR, "power.rotor", OUTPUT, "W", NULL, 0, ANY_NUMBER, "rate of change of the kinetic energy of the rotor") \
    X(RATIO, "ratio", PARAMETER, "1", NULL, 100, ABOVE_ZERO, "turns of the motor per turn of the joint") \
    X(STIFFNESS, "stiffness", PARAMETER, "N.m/rad", NULL, 2e4, ABOVE_ZERO, "torsional stiffness of the gear, at the joint") \
    X(DAMPING, "damping", PARAMETER, "N.m.s/rad", NULL, 20, NOT_NEGATIVE, "damping of the twist, at the joint") \
    X(BACKLASH, "backlash", PARAMETER, "rad", "deg", 0, NOT_NEGATIVE, "play of the gear at the joint, from flank to flank") \
    X(MOTOR_INERTIA, "motor_inertia", PARAMETER, "kg.m2", NULL, 1e-3, ABOVE_ZERO, "inertia of the rotor, at the motor; at the joint it is ratio squared times as large") \
    X(MOTOR_FRICTION, "motor_friction", PARAMETER, "N.m.s/rad", NULL, 0, NOT_NEGATIVE, "viscous friction of the rotor, at the motor") \
    X(TORQUE_START, "torque_start", PARAMETER, "N.m", NULL, 0, ANY_NUMBER, "torque on the joint at the start: sets the twist")
/* clang-format on */

enum { GEAR_LIST(DRIVE_INDEX) ROWS };
enum { MOTOR_ANGLE_DOT = ROWS, MOTOR_RATE_DOT, VALUES };

static const struct drive_row table[] = {GEAR_LIST(DRIVE_ROW)};

/* Intermediate values of evaluate() and tangent() */
struct work {
    double twist, rate;      /* phi, dphi/dt                             [rad], [rad/s] */
    struct dead_zone spring; /* twist without the play                           [rad]  */
};

static struct work work_of(const double *v)
{
    /* phi = theta/N - q                                                                        (1) */
    struct work w = {.twist = v[MOTOR_ANGLE] / v[RATIO] - v[Q], .rate = v[MOTOR_RATE] / v[RATIO] - v[QD]};
    w.spring = dead_zone(w.twist, v[BACKLASH]);
    return w;
}

static void evaluate(double *v)
{
    const struct work w = work_of(v);
    const double k = v[STIFFNESS], c = v[DAMPING] * w.spring.slope;
    v[TWIST] = w.twist;

    /* tau = k d(phi) + c d'(phi) phi'                                                          (2) */
    v[TAU] = k * w.spring.value + c * w.rate;

    /* J theta'' = torque - b theta' - tau/N                                                    (3) */
    v[MOTOR_ANGLE_DOT] = v[MOTOR_RATE];
    v[MOTOR_RATE_DOT] = (v[TORQUE] - v[MOTOR_FRICTION] * v[MOTOR_RATE] - v[TAU] / v[RATIO]) / v[MOTOR_INERTIA];

    /* motor = mechanical + friction + damping + spring + rotor                                 (4) */
    v[POWER_MOTOR] = v[TORQUE] * v[MOTOR_RATE];
    v[POWER_MECHANICAL] = v[TAU] * v[QD];
    v[POWER_FRICTION] = v[MOTOR_FRICTION] * v[MOTOR_RATE] * v[MOTOR_RATE];
    v[POWER_DAMPING] = c * w.rate * w.rate;
    v[POWER_SPRING] = k * w.spring.value * w.rate;
    v[POWER_ROTOR] = v[MOTOR_INERTIA] * v[MOTOR_RATE] * v[MOTOR_RATE_DOT];
}

static void tangent(const double *v, double *dv)
{
    const struct work w = work_of(v);
    const double k = v[STIFFNESS], c = v[DAMPING] * w.spring.slope, dmotor = dv[MOTOR_RATE];
    const double dtwist = dv[MOTOR_ANGLE] / v[RATIO] - dv[Q], drate = dmotor / v[RATIO] - dv[QD];
    const double dspring = k * w.spring.slope * dtwist, dc = v[DAMPING] * w.spring.curvature * dtwist;
    dv[TWIST] = dtwist;
    dv[TAU] = dspring + dc * w.rate + c * drate;

    dv[MOTOR_ANGLE_DOT] = dmotor;
    dv[MOTOR_RATE_DOT] = (dv[TORQUE] - v[MOTOR_FRICTION] * dmotor - dv[TAU] / v[RATIO]) / v[MOTOR_INERTIA];

    dv[POWER_MOTOR] = dv[TORQUE] * v[MOTOR_RATE] + v[TORQUE] * dmotor;
    dv[POWER_MECHANICAL] = dv[TAU] * v[QD] + v[TAU] * dv[QD];
    dv[POWER_FRICTION] = 2 * v[MOTOR_FRICTION] * v[MOTOR_RATE] * dmotor;
    dv[POWER_DAMPING] = (dc * w.rate + 2 * c * drate) * w.rate;
    dv[POWER_SPRING] = dspring * w.rate + k * w.spring.value * drate;
    dv[POWER_ROTOR] = v[MOTOR_INERTIA] * (dmotor * v[MOTOR_RATE_DOT] + v[MOTOR_RATE] * dv[MOTOR_RATE_DOT]);
}

/* The rotor moves with the joint, and the spring alone exerts this torque */
static void set_torque(double *v, double torque)
{
    v[MOTOR_ANGLE] = v[RATIO] * (v[Q] + dead_zone_inverse(torque / v[STIFFNESS], v[BACKLASH]));
    v[MOTOR_RATE] = v[RATIO] * v[QD];
}

static void start(double *v)
{
    set_torque(v, v[TORQUE_START]);
}

static const char *hold(double *v, char text[CONFLICT_SIZE])
{
    (void)text;
    set_torque(v, v[TAU]);
    v[TORQUE] = v[TAU] / v[RATIO];
    return NULL;
}

static const int start_inputs[] = {Q, QD};

const struct drive gear_drive = {
    .name = "gear",
    .description = "Elastic gear of a joint with the rotor of its motor: motor torque in, torque on the joint out",
    .n_rows = ROWS,
    .n_states = VALUES - ROWS,
    .row = table,
    .n_driven = 1,
    .position = Q,
    .rate = QD,
    .effort = TAU,
    .command = TORQUE,
    .share = -1,
    .start_inputs = start_inputs,
    .n_start_inputs = sizeof start_inputs / sizeof start_inputs[0],
    .start = start,
    .hold = hold,
    .evaluate = evaluate,
    .tangent = tangent};
