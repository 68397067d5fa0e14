#include "controller/controller.h"

#include <math.h>
#include <string.h>

#include "sim/robot_instance.h"

struct controller {
    struct instance instance;
    struct instance *arm;    /* the robot with free joints                                   */
    struct instance *guided; /* the robot with joints that follow the command                */
    int *arm_reference;      /* [value]: of the parameter in the arm; -1: not of the model   */
    int *guided_reference;   /* likewise                                                     */
    struct control control;
    struct named_sensors sensors;
    double *motion; /* 5 x n: desired and measured, of a sample; then what the sensors measured */
};

static struct controller *controller_of(struct instance *instance)
{
    return (struct controller *)(void *)instance;
}

/* ---- parameters ---------------------------------------------------------------------------------------------------------- */

static double own_value(const struct controller *c, enum controller_value value)
{
    return c->instance.stepper.value[controller_reference(c->control.n, value)];
}

static double joint_value(const struct controller *c, int joint, enum joint_value value)
{
    return c->instance.stepper.value[joint_reference(joint, value)];
}

static double observer_value(const struct controller *c, enum observer_value value)
{
    return c->instance.stepper.value[observer_reference(c->control.n, value)];
}

static double sensor_value(const struct controller *c, int sensor, enum sensor_value value)
{
    return c->instance.stepper.value[sensor_reference(c->control.n, sensor, value)];
}

/* Copies the parameters to the laws */
static void set_parameters(struct controller *c)
{
    struct control *control = &c->control;
    control->law = (enum law)own_value(c, LAW);
    control->feedback = (enum feedback)own_value(c, FEEDBACK);
    control->compensation = (enum compensation)own_value(c, TIP_COMPENSATION);
    control->sample_time = own_value(c, SAMPLE_TIME);
    control->delay = own_value(c, DELAY);
    control->correction_bandwidth = own_value(c, CORRECTION_BANDWIDTH);
    control->compensation_bandwidth = own_value(c, COMPENSATION_BANDWIDTH);
    for (int j = 0; j < control->n; j++) {
        control->kp[j] = joint_value(c, j, KP);
        control->kd[j] = joint_value(c, j, KD);
        control->accepted_position[j] = joint_value(c, j, LQR_POSITION);
        control->accepted_rate[j] = joint_value(c, j, LQR_RATE);
        control->accepted_acceleration[j] = joint_value(c, j, LQR_ACCELERATION);
        control->torque_resolution[j] = joint_value(c, j, TORQUE_RESOLUTION);
    }
    if (c->sensors.n == 0) return;
    control->observer.sample_time = own_value(c, SAMPLE_TIME);
    control->observer.bandwidth = observer_value(c, OBSERVER_BANDWIDTH);
    control->vibration_damping = observer_value(c, VIBRATION_DAMPING);
    for (int i = 0; i < c->sensors.n; i++) control->observer.noise[i] = sensor_value(c, i, NOISE);
}

static enum status check_parameters(struct controller *c)
{
    struct instance *instance = &c->instance;
    if (instance_check_parameters(instance) > 0) return STATUS_BAD_DRIVE;

    /* accelerating the rigid arm's inertia against vibration excites the fast modes */
    const double damping = c->sensors.n > 0 ? observer_value(c, VIBRATION_DAMPING) : 0;
    const double delay = own_value(c, DELAY), longest = MOST_DELAY * own_value(c, SAMPLE_TIME);
    if (damping != 0 && own_value(c, LAW) == LAW_RIGID)
        report_add(instance->report, REPORT_ERROR,
                   "vibration_damping = %.9g 1/s: must be 0 with law 2, with which it makes the loop unstable",
                   damping);
    else if (!(delay <= longest * (1 + 1e-9)))
        report_add(instance->report, REPORT_ERROR, "delay = %.9g s: must be at most %d sample times, %.9g s", delay,
                   (int)MOST_DELAY, longest);
    else return STATUS_OK;
    return STATUS_BAD_DRIVE;
}

static enum status adopt_parameters(struct instance *instance, double tolerance)
{
    struct controller *c = controller_of(instance);
    const struct experiment experiment = {0};
    (void)tolerance; /* of an integrator, which a controller does not have */
    enum status status = check_parameters(c);
    if (status != STATUS_OK) return status;
    for (int r = 0; r < c->instance.variables.n_values; r++) {
        const double value = c->instance.stepper.value[r];
        if (c->arm_reference[r] >= 0) instance_set(c->arm, c->arm_reference[r], value);
        if (c->guided_reference[r] >= 0) instance_set(c->guided, c->guided_reference[r], value);
    }
    status = instance_initialize(c->arm, &experiment);
    if (status == STATUS_OK) status = instance_initialize(c->guided, &experiment);
    if (status != STATUS_OK) return status;
    set_parameters(c);
    return control_adopt(&c->control);
}

static void tune(struct instance *instance, const struct variable *variable, double value)
{
    struct controller *c = controller_of(instance);
    instance_set(c->arm, c->arm_reference[variable->reference], value);
    instance_set(c->guided, c->guided_reference[variable->reference], value);
}

/* ---- samples ------------------------------------------------------------------------------------------------------------- */

static double rounded(double value, double resolution)
{
    return resolution > 0 ? resolution * round(value / resolution) : value;
}

/* The inputs at a local time */
static struct sample sample_at(struct controller *c, const struct step_inputs *inputs, double t)
{
    const struct stepper *stepper = &c->instance.stepper;
    const int n = c->control.n;
    double *x = c->motion;
    for (int j = 0; j < n; j++) {
        for (int i = Q_REF; i <= QD_MEASURED; i++)
            x[n * i + j] = step_input(inputs, stepper->input_number[joint_reference(j, (enum joint_value)i)], t);
        x[n * Q_MEASURED + j] = rounded(x[n * Q_MEASURED + j], joint_value(c, j, POSITION_RESOLUTION));
        x[n * QD_MEASURED + j] = rounded(x[n * QD_MEASURED + j], joint_value(c, j, VELOCITY_RESOLUTION));
    }
    double *sensor = x + n * TAU;
    for (int i = 0; i < c->sensors.n; i++)
        sensor[i] = rounded(step_input(inputs, stepper->input_number[sensor_reference(n, i, MEASURED)], t),
                            sensor_value(c, i, RESOLUTION));
    return (struct sample){x + n * Q_REF,      x + n * QD_REF,      x + n * QDD_REF,
                           x + n * Q_MEASURED, x + n * QD_MEASURED, sensor};
}

/* The outputs that change with a sample, other than the torques */
static void set_outputs(struct controller *c)
{
    double *value = c->instance.stepper.value;
    for (int j = 0; j < c->control.n; j++) {
        value[joint_reference(j, CORRECTION)] = c->control.d[j];
        value[joint_reference(j, Q_COMMAND)] = c->control.q_command[j];
    }
    for (int k = 0; k < 3 && c->sensors.n > 0; k++)
        value[observer_reference(c->control.n, LOAD_X) + k] = c->control.observer.wrench[3 + k];
}

static void set_torques(struct controller *c, const double *torque)
{
    for (int j = 0; j < c->control.n; j++) c->instance.stepper.value[joint_reference(j, TAU)] = torque[j];
}

/* Values do not change between samples */
static enum status update(struct instance *instance)
{
    (void)instance;
    return STATUS_OK;
}

static enum status initialize(struct instance *instance, const struct experiment *experiment)
{
    struct controller *c = controller_of(instance);
    enum status status = adopt_parameters(instance, experiment->tolerance);
    if (status != STATUS_OK) return status;
    stepper_start(&instance->stepper, experiment->start_time);
    const struct sample sample = sample_at(c, &instance->stepper.inputs, 0);
    status = control_start(&c->control, &sample);
    if (status != STATUS_OK) report_add(instance->report, REPORT_ERROR, "at the start: %s", status_text(status));
    set_outputs(c);
    set_torques(c, c->control.command);
    return status;
}

/* Samples are due at multiples of the sample time. A sample at the end of a step is computed in the next step, with the inputs that are
   set until then. */
static enum status step(struct instance *instance, double h)
{
    struct controller *c = controller_of(instance);
    struct stepper *stepper = &instance->stepper;
    const double Ts = c->control.sample_time;
    enum status status = sim_check_tuned(sim_of(c->arm));
    if (status == STATUS_OK) status = stepper_step(stepper, h);
    for (double t = *c->control.count * Ts; status == STATUS_OK && t < stepper->local - 1e-6 * Ts;
         t = *c->control.count * Ts) {
        const struct sample sample = sample_at(c, &stepper->inputs, t);
        status = control_sample(&c->control, &sample);
        if (status != STATUS_OK)
            report_add(instance->report, REPORT_ERROR, "sample at t = %.9g s: %s", stepper->start_time + t,
                       status_text(status));
        else set_outputs(c);
    }
    if (status == STATUS_OK) set_torques(c, control_torque(&c->control, stepper->local));
    return status;
}

/* Between samples the outputs do not depend on the inputs */
static enum status directional(struct instance *instance, int n_unknown, const int *unknown, int n_known,
                               const int *known, const double *seed, double *result)
{
    (void)instance, (void)unknown, (void)n_known, (void)known, (void)seed;
    for (int i = 0; i < n_unknown; i++) result[i] = 0;
    return STATUS_OK;
}

/* ---- life ---------------------------------------------------------------------------------------------------------------- */

static void release(struct instance *instance)
{
    struct controller *c = controller_of(instance);
    instance_free(c->arm);
    instance_free(c->guided);
}

static const struct instance_ops controller_ops = {.update = update,
                                                   .tune = tune,
                                                   .initialize = initialize,
                                                   .step = step,
                                                   .directional = directional,
                                                   .adopt_parameters = adopt_parameters,
                                                   .release = release};

/* Reports an error for a robot that the laws cannot control */
static enum status check_robot(const struct instance *arm, const char *name, struct report *report)
{
    const struct robot *robot = sim_robot(arm);
    const char *wrong = robot->n_loops > 0       ? "it has loops"
                        : robot->n_couplings > 0 ? "it has couplings"
                        : robot->n_lines > 0     ? "forces act along lines in it"
                        : robot->n_drives > 0    ? "it has drives inside the arm, whose torques are not inputs"
                                                 : NULL;
    for (int i = 0; i < robot->n_links && wrong == NULL; i++) {
        const struct joint *joint = &robot->link[i].joint;
        if (!joint_moves(joint)) continue;
        if (joint_velocities(joint) > 1) wrong = "it has a joint with several degrees of freedom";
        if (joint->passive || joint->prescribed) wrong = "it has a joint that is passive or prescribed";
    }
    if (wrong == NULL && sim_model(arm)->n_tau == 0) wrong = "no joint moves";
    if (wrong == NULL) return STATUS_OK;
    report_add(
        report, REPORT_ERROR,
        "%s: a controller is for an open chain or tree whose joints have one degree of freedom and a torque each: "
        "%s",
        name, wrong);
    return STATUS_BAD_ROBOT;
}

/* The laws set the positions of the guided model's joints; as an instance of its own it stays where the file starts it */
static void start_position(void *context, double t, int link, int k, double x[3])
{
    const struct controller *c = context;
    (void)t;
    x[0] = sim_robot(c->arm)->link[link].joint.start_position[k];
    x[1] = x[2] = 0;
}

static int reference_of(const struct instance *model, const struct variable *variable)
{
    if (variable->row == NULL) return -1;
    const struct variables *v = instance_variables(model);
    const int row = variables_find(v, variable->name);
    return row >= 0 ? v->row[row].reference : -1;
}

static enum status build(struct controller *c, const char *text)
{
    struct instance *instance = &c->instance;
    struct variables *v = &instance->variables;
    struct arena *arena = &instance->arena;
    const struct sim_motion motion = {.context = c, .at = start_position};
    const char *robot;
    enum status status = controller_robot(instance->name, text, instance->report, &instance->arena, &robot);
    if (status == STATUS_OK) status = sim_make(instance->name, robot, instance->report, &c->arm);
    if (status == STATUS_OK) status = check_robot(c->arm, instance->name, instance->report);
    if (status == STATUS_OK) status = sim_make_moved(instance->name, robot, &motion, instance->report, &c->guided);
    if (status == STATUS_OK)
        status = controller_table(instance->name, text, c->arm, instance->report, arena, &c->sensors, v);
    if (status == STATUS_OK)
        status = control_make(&c->control, sim_mechanism(c->arm), sim_mechanism(c->guided), c->sensors.n,
                              c->sensors.sensor, arena);
    if (status != STATUS_OK) return status;
    c->arm_reference = arena_allocate(arena, (size_t)v->n_values, sizeof(int));
    c->guided_reference = arena_allocate(arena, (size_t)v->n_values, sizeof(int));
    c->motion = arena_allocate(arena, TAU * (size_t)c->control.n + (size_t)c->sensors.n, sizeof(double));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int r = 0; r < v->n_values; r++) {
        c->arm_reference[r] = reference_of(c->arm, v->by_reference[r]);
        c->guided_reference[r] = reference_of(c->guided, v->by_reference[r]);
    }
    const struct ode nothing = {0};
    status = instance_build(instance, &nothing, text);
    if (status != STATUS_OK) return status;
    instance->stepper.own[0] = (struct saved_part){c->control.state, c->control.n_state};
    instance_reset(instance);
    return check_parameters(c);
}

enum status controller_make(const char *name, const char *text, struct report *report, struct instance **made)
{
    *made = NULL;
    struct instance *instance = instance_allocate(sizeof(struct controller), name, report, &controller_ops);
    if (instance == NULL) return STATUS_NO_MEMORY;
    const enum status status = build(controller_of(instance), text);
    if (status == STATUS_OK) *made = instance;
    else instance_free(instance);
    return status;
}

struct instance *controller_arm(struct instance *controller)
{
    return controller_of(controller)->arm;
}
