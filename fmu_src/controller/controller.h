/* A controller of an arm, with a model of the arm, as an instance: the third implementation of sim/instance.h. Desired and measured
   motion of the joints are inputs; the torques are outputs that change at sample times. The parameters of the model are parameters of
   the controller. */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include "controller/control_law.h"
#include "sim/instance.h"

/* Values of each joint, in the order of the joints; then those of the controller; with sensors those of the observer and of each
   sensor; then parameters of the model.
   X(identifier, name, causality, unit for a revolute joint, unit for a prismatic joint, start, limit of controller_table.c, description);
   unit NULL: an integer. The names of a sensor's rows are appended to the name of the sensor; their unit is that of the sensor. */
/* clang-format off */
#define JOINT_LIST(X) \
    X(Q_REF, "q_ref", INPUT, "rad", "m", 0, NULL, "desired position") \
    X(QD_REF, "qd_ref", INPUT, "rad/s", "m/s", 0, NULL, "desired velocity") \
    X(QDD_REF, "qdd_ref", INPUT, "rad/s2", "m/s2", 0, NULL, "desired acceleration") \
    X(Q_MEASURED, "q", INPUT, "rad", "m", 0, NULL, "measured position") \
    X(QD_MEASURED, "qd", INPUT, "rad/s", "m/s", 0, NULL, "measured velocity") \
    X(TAU, "tau", OUTPUT, "N.m", "N", 0, NULL, "torque or force for the joint") \
    X(CORRECTION, "correction", OUTPUT, "N.m", "N", 0, NULL, "torque or force that the model does not explain, as estimated by the correction loop") \
    X(Q_COMMAND, "q_command", OUTPUT, "rad", "m", 0, NULL, "desired position with the compensation of the tip's deflection") \
    X(KP, "kp", PARAMETER, "1/s2", "1/s2", 25, &not_negative, "feedback of the position error, as an acceleration") \
    X(KD, "kd", PARAMETER, "1/s", "1/s", 10, &not_negative, "feedback of the velocity error, as an acceleration") \
    X(LQR_POSITION, "lqr_position", PARAMETER, "rad", "m", 0.01, &positive, "position error that LQR accepts: its weight is the inverse square") \
    X(LQR_RATE, "lqr_rate", PARAMETER, "rad/s", "m/s", 0.05, &positive, "velocity error that LQR accepts: its weight is the inverse square") \
    X(LQR_ACCELERATION, "lqr_acceleration", PARAMETER, "rad/s2", "m/s2", 0.25, &positive, "torque that LQR accepts, as acceleration of the joint's inertia with locked modes: its weight is the inverse square") \
    X(POSITION_RESOLUTION, "position_resolution", PARAMETER, "rad", "m", 0, &not_negative, "measured positions are rounded to multiples of this; 0: not rounded") \
    X(VELOCITY_RESOLUTION, "velocity_resolution", PARAMETER, "rad/s", "m/s", 0, &not_negative, "measured velocities are rounded to multiples of this; 0: not rounded") \
    X(TORQUE_RESOLUTION, "torque_resolution", PARAMETER, "N.m", "N", 0, &not_negative, "torques are rounded to multiples of this; 0: not rounded")

#define OWN_LIST(X) \
    X(LAW, "law", PARAMETER, NULL, NULL, LAW_FLEXIBLE, &one_law, "0 PD, 1 PD with gravity compensation, 2 computed torque of the rigid arm, 3 of the flexible arm") \
    X(FEEDBACK, "feedback", PARAMETER, NULL, NULL, FEEDBACK_PD, &one_feedback, "0 PD, 1 LQR: a gain for joints and predicted elastic coordinates from the linear model at the start") \
    X(TIP_COMPENSATION, "tip_compensation", PARAMETER, NULL, NULL, COMPENSATE_NOTHING, &one_compensation, "joints move against the predicted static deflection of the tip: 0 no, 1 under gravity, 2 under gravity and inertia") \
    X(CORRECTION_BANDWIDTH, "correction_bandwidth", PARAMETER, "rad/s", "rad/s", 0, &not_negative, "bandwidth of the correction loop; 0: none") \
    X(COMPENSATION_BANDWIDTH, "compensation_bandwidth", PARAMETER, "rad/s", "rad/s", 20, &positive, "bandwidth with which the joints follow the compensation of the tip's deflection") \
    X(SAMPLE_TIME, "sample_time", PARAMETER, "s", "s", 1e-3, &positive, "time from sample to sample") \
    X(DELAY, "delay", PARAMETER, "s", "s", 0, &not_negative, "time from a sample to its torques, at most 16 sample times")

#define OBSERVER_LIST(X) \
    X(OBSERVER_BANDWIDTH, "observer_bandwidth", PARAMETER, "rad/s", "rad/s", 5, &not_negative, "bandwidth with which the sensors correct deformations and load; 0: they are ignored") \
    X(VIBRATION_DAMPING, "vibration_damping", PARAMETER, "1/s", "1/s", 0, &not_negative, "decay rate that the compensation of the tip's deflection adds to vibration; 0: none") \
    X(LOAD_X, "load[1]", OUTPUT, "N", "N", 0, NULL, "estimated unknown force at the tip, world axes") \
    X(LOAD_Y, "load[2]", OUTPUT, "N", "N", 0, NULL, "estimated unknown force at the tip, world axes") \
    X(LOAD_Z, "load[3]", OUTPUT, "N", "N", 0, NULL, "estimated unknown force at the tip, world axes")

#define SENSOR_LIST(X) \
    X(MEASURED, "", INPUT, NULL, NULL, 0, NULL, "measured: ") \
    X(NOISE, ".noise", PARAMETER, NULL, NULL, 0, &positive, "standard deviation of the noise of a sample of ") \
    X(RESOLUTION, ".resolution", PARAMETER, NULL, NULL, 0, &not_negative, "rounded to multiples of this, 0: not rounded: ")
/* clang-format on */

#define VALUE_INDEX(identifier, ...) identifier,
enum joint_value { JOINT_LIST(VALUE_INDEX) JOINT_VALUES };
enum controller_value { OWN_LIST(VALUE_INDEX) CONTROLLER_VALUES };
enum observer_value { OBSERVER_LIST(VALUE_INDEX) OBSERVER_VALUES };
enum sensor_value { SENSOR_LIST(VALUE_INDEX) SENSOR_VALUES };

/* Sensors by their names: outputs of the robot's instance. */
struct named_sensors {
    int n;
    struct sensor *sensor;
    const struct variable **output;
};

static inline int joint_reference(int joint, enum joint_value value)
{
    return joint * JOINT_VALUES + (int)value;
}

static inline int controller_reference(int n_joints, enum controller_value value)
{
    return n_joints * JOINT_VALUES + (int)value;
}

static inline int observer_reference(int n_joints, enum observer_value value)
{
    return controller_reference(n_joints, CONTROLLER_VALUES) + (int)value;
}

static inline int sensor_reference(int n_joints, int sensor, enum sensor_value value)
{
    return observer_reference(n_joints, OBSERVER_VALUES) + sensor * SENSOR_VALUES + (int)value;
}

/* The file: {"format": "limber-controller/1", "parameters": {NAME: VALUE, ...}, "sensors": [NAME, ...], "robot": a robot file}. The
   text of the robot, in the arena. */
enum status controller_robot(const char *name, const char *text, struct report *report, struct arena *arena,
                             const char **robot);
/* Its sensors, and the table with its parameters as start values, in the arena; `arm` is the instance of the robot, whose parameters
   become parameters of the model. */
enum status controller_table(const char *name, const char *text, const struct instance *arm, struct report *report,
                             struct arena *arena, struct named_sensors *sensors, struct variables *variables);

/* An instance from the text of such a file; as instance_make(). */
enum status controller_make(const char *name, const char *text, struct report *report, struct instance **instance);

/* The robot's instance inside: for packaging. */
struct instance *controller_arm(struct instance *controller);

#endif
