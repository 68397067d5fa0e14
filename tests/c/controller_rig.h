/* A controller's laws in the loop with an arm: the arm (plant), the model inside, what guides it, and one sample of the loop. */
#ifndef CONTROLLER_RIG_H
#define CONTROLLER_RIG_H

#include <string.h>

#include "controller/control_law.h"
#include "controller_arm.h"
#include "oracle/random.h"
#include "robot/read.h"

enum { MOST = 40, SENSORS = 12 };

struct rig {
    struct arena arena;
    struct report report;
    struct instance *plant, *model, *guided;
    struct control control;
    int n_sensors, output[SENSORS]; /* references of the plant */
    struct sensor sensor[SENSORS];
    double q_ref[MOST], qd_ref[MOST], qdd_ref[MOST];
};

static void rig_stay(void *context, double t, int link, int k, double x[3])
{
    const struct rig *rig = context;
    (void)t;
    x[0] = sim_robot(rig->model)->link[link].joint.start_position[k];
    x[1] = x[2] = 0;
}

static void rig_find_outputs(struct rig *rig)
{
    static const char *const kinds[] = {"curvature", "elongation", "specific_force"};
    for (int i = 0; i < rig->n_sensors; i++) {
        const struct sensor *s = &rig->sensor[i];
        char what[40];
        if (s->shows == ELONGATION) snprintf(what, sizeof what, "elongation");
        else snprintf(what, sizeof what, "%s[%d]", kinds[s->shows], s->k + 1);
        rig->output[i] =
            named(rig->plant, "%s.%s", s->frame == 0 ? "tip" : sim_robot(rig->plant)->frame[s->frame - 1].name, what);
    }
}

/* Computed torque of the flexible arm with these sensors, at its start position, before control_adopt() */
static void rig_make(struct rig *rig, const char *robot, int n_sensors, const struct sensor *sensor)
{
    struct control *c = &rig->control;
    const struct sim_motion motion = {.context = rig, .at = rig_stay};
    const struct experiment experiment = {0};
    rig->n_sensors = n_sensors;
    if (n_sensors > 0) memcpy(rig->sensor, sensor, (size_t)n_sensors * sizeof *sensor);
    CHECK(sim_make("plant", robot, &rig->report, &rig->plant) == STATUS_OK);
    CHECK(sim_make("model", robot, &rig->report, &rig->model) == STATUS_OK);
    CHECK(sim_make_moved("guided", robot, &motion, &rig->report, &rig->guided) == STATUS_OK);
    CHECK(instance_initialize(rig->model, &experiment) == STATUS_OK);
    CHECK(instance_initialize(rig->guided, &experiment) == STATUS_OK);
    CHECK(control_make(c, sim_mechanism(rig->model), sim_mechanism(rig->guided), n_sensors, rig->sensor, &rig->arena) ==
          STATUS_OK);
    rig_find_outputs(rig);
    c->law = LAW_FLEXIBLE;
    c->sample_time = c->observer.sample_time = 1e-3;
    for (int j = 0; j < c->n; j++) rig->q_ref[j] = sim_robot(rig->model)->link[j].joint.start_position[0];
}

static void rig_free(struct rig *rig)
{
    instance_free(rig->plant);
    instance_free(rig->model);
    instance_free(rig->guided);
    arena_release(&rig->arena);
}

/* The controller, and the arm at rest beside its commanded position, deflected by gravity (static) or not at all */
static void rig_start(struct rig *rig, bool at_rest, const double *beside)
{
    struct control *c = &rig->control;
    const struct experiment experiment = {.tolerance = 1e-8};
    const struct sample rest = {rig->q_ref, rig->qd_ref, rig->qdd_ref, rig->q_ref, rig->qd_ref, NULL};
    CHECK(control_adopt(c) == STATUS_OK && control_start(c, &rest) == STATUS_OK);
    for (int j = 0; j < c->n; j++)
        instance_set(rig->plant, joint_variable(rig->plant, j, "q_start"),
                     c->q_command[j] + (beside != NULL ? beside[j] : 0));
    instance_set(rig->plant, rig->plant->variables.start_static, at_rest);
    CHECK(instance_initialize(rig->plant, &experiment) == STATUS_OK);
}

/* One sample of the closed loop; positions of the joints at its beginning */
static void rig_step(struct rig *rig, double q[MOST])
{
    struct control *c = &rig->control;
    double qd[MOST], sensed[SENSORS];
    CHECK(instance_update(rig->plant) == STATUS_OK);
    for (int j = 0; j < c->n; j++) {
        q[j] = instance_get(rig->plant, joint_variable(rig->plant, j, "q"));
        qd[j] = instance_get(rig->plant, joint_variable(rig->plant, j, "qd"));
    }
    for (int i = 0; i < rig->n_sensors; i++) sensed[i] = instance_get(rig->plant, rig->output[i]);
    const struct sample sample = {rig->q_ref, rig->qd_ref, rig->qdd_ref, q, qd, sensed};
    CHECK(control_sample(c, &sample) == STATUS_OK);
    const double *tau = control_torque(c, *c->count * c->sample_time);
    for (int j = 0; j < c->n; j++) instance_set(rig->plant, joint_variable(rig->plant, j, "tau"), tau[j]);
    CHECK(instance_step(rig->plant, c->sample_time) == STATUS_OK);
}

/* The largest element of C^(2^doublings): falls to 0 if and only if all eigenvalues are inside the unit circle. C is overwritten. */
static double largest_of_power(int n, double *C, int doublings)
{
    static double square[MOST * MOST];
    double largest = 0;
    for (int d = 0; d < doublings; d++) {
        for (int i = 0; i < n * n; i++) {
            square[i] = 0;
            for (int k = 0; k < n; k++) square[i] += C[n * (i / n) + k] * C[n * k + i % n];
        }
        memcpy(C, square, (size_t)(n * n) * sizeof *C);
    }
    for (int i = 0; i < n * n; i++) largest = larger(largest, fabs(C[i]));
    return largest;
}

#endif
