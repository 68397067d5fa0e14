/* A controller of an arm with a model of it inside, as an instance: the third implementation of sim/instance.h. Desired and measured
   motion of the joints are inputs, their torques outputs that change at sample times. The parameters of the model are parameters of
   the controller. */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include "controller/control_law.h"
#include "sim/instance.h"

/* Values of each joint, in the order of the joints; then those of the controller; with sensors those of the observer and of each
   sensor; then parameters of the model. */
enum joint_value {
    Q_REF,
    QD_REF,
    QDD_REF,
    Q_MEASURED,
    QD_MEASURED,
    TAU,
    CORRECTION,
    Q_COMMAND,
    KP,
    KD,
    LQR_POSITION,
    LQR_RATE,
    LQR_ACCELERATION,
    POSITION_RESOLUTION,
    VELOCITY_RESOLUTION,
    TORQUE_RESOLUTION,
    JOINT_VALUES
};
enum controller_value {
    LAW,
    FEEDBACK,
    TIP_COMPENSATION,
    CORRECTION_BANDWIDTH,
    COMPENSATION_BANDWIDTH,
    SAMPLE_TIME,
    DELAY,
    CONTROLLER_VALUES
};

enum observer_value { OBSERVER_BANDWIDTH, VIBRATION_DAMPING, LOAD_X, LOAD_Y, LOAD_Z, OBSERVER_VALUES };
enum sensor_value { MEASURED, NOISE, RESOLUTION, SENSOR_VALUES };

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

/* The table: `arm` is the instance of the robot whose parameters the model has. */
enum status controller_variables(const struct instance *arm, const struct named_sensors *sensors, struct arena *arena,
                                 struct variables *variables);

/* The file: {"format": "limber-controller/1", "parameters": {NAME: VALUE, ...}, "sensors": [NAME, ...], "robot": a robot file}. The
   text of the robot, in the arena; NULL where the file is not valid, with a report, or where memory runs out. */
const char *controller_robot(const char *name, const char *text, struct report *report, struct arena *arena);
/* Its sensors, in the arena. */
enum status controller_sensors(const char *name, const char *text, const struct instance *arm, struct report *report,
                               struct arena *arena, struct named_sensors *sensors);
/* Its parameters become start values of the table. */
enum status controller_parameters(const char *name, const char *text, struct report *report,
                                  struct variables *variables);

/* An instance from the text of such a file; as instance_make(). */
enum status controller_make(const char *name, const char *text, struct report *report, struct instance **instance);

/* The robot's instance inside: for packaging. */
struct instance *controller_arm(struct instance *controller);

#endif
