/* Strain gauges and accelerometers of a model: their values, and derivatives of these. */
#ifndef SENSORS_H
#define SENSORS_H

#include "base/arena.h"
#include "mech/mechanism.h"

enum sensor_kind { CURVATURE, ELONGATION, SPECIFIC_FORCE, SENSOR_KINDS };

struct sensor {
    enum sensor_kind shows;
    int frame; /* 0: the tip, 1 + i: the robot's frame i */
    int k;     /* component                              */
};

struct sensors {
    int n;
    const struct sensor *sensor;
    struct mechanism *arm;
    bool inertial;              /* some sensor shows a specific force                    */
    struct input in;            /* of sensors_place()                                    */
    double *qdd, *dqdd, *force; /* nv                                                    */
};

/* Whether a force at the tip deforms what the sensor sees, in some pose. */
bool sensor_sees_load(const struct model *model, const struct sensor *sensor);

enum status sensors_make(struct sensors *s, int n, const struct sensor *sensor, struct mechanism *arm,
                         struct arena *arena);

/* The arm in a state, with forces on it; the arrays of `in` must remain valid. Then the values, and any number of changes. */
enum status sensors_place(struct sensors *s, const struct input *in);
void sensors_values(const struct sensors *s, double *value);
void sensors_change(struct sensors *s, const struct direction *direction, double *change);

#endif
