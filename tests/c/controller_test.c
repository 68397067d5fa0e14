/* The controller with a model of the arm inside: torques against inverse dynamics, samples, delay, rounding, the correction loop, the
   compensation of deflections, saved states, what it refuses. */
#include "controller/controller.h"

#include <stdlib.h>
#include <string.h>

#include "controller_arm.h"
#include "oracle/larger.h"
#include "oracle/random.h"
#include "robot/read.h"

enum { MOST = 8 };

#define ARM "resources/cibicik-servo.json"
static const double TS = 1e-3;

struct rig {
    struct arena arena;
    struct report report;
    struct instance *controller;
    struct instance *plant; /* the same robot; NULL: none */
    int n;
    double q0[MOST], dq[MOST], T; /* desired motion: from q0 by dq within T, then at rest */
};

/* ---- a controller, and its arm ------------------------------------------------------------------------------------------- */

/* Sensors are outputs of robots of format 2 */
static void to_format_2(char *text)
{
    char *format = strstr(text, "limber-robot/1");
    if (format != NULL) format[strlen("limber-robot/")] = '2';
}

static char last_error[1000];

static void keep_error(void *context, enum report_level level, const char *text)
{
    (void)context;
    if (level == REPORT_ERROR) snprintf(last_error, sizeof last_error, "%s", text);
}

static enum status make_with(struct rig *rig, const char *file, const char *sensors, const char *parameters)
{
    memset(rig, 0, sizeof *rig);
    rig->report.line = keep_error;
    const char *robot = document_load(file, &rig->arena, &rig->report);
    const size_t size = strlen(robot) + 1000;
    char *text = arena_allocate(&rig->arena, size, 1);
    snprintf(text, size, "{\"format\": \"limber-controller/1\", \"parameters\": {%s}, \"sensors\": %s, \"robot\": %s}",
             parameters, sensors, robot);
    if (strcmp(sensors, "[]") != 0) to_format_2(text);
    const enum status status = controller_make("test", text, &rig->report, &rig->controller);
    if (status != STATUS_OK) return status;
    rig->n = sim_model(controller_arm(rig->controller))->n_tau;
    CHECK(sim_make("plant", robot, &rig->report, &rig->plant) == STATUS_OK);
    for (int j = 0; j < rig->n; j++) {
        rig->q0[j] = rig->controller->variables.by_reference[joint_reference(j, Q_REF)]->start;
        rig->dq[j] = 0.3 - 0.1 * j;
    }
    rig->T = 0.5;
    return status;
}

static void make(struct rig *rig, const char *parameters)
{
    CHECK(make_with(rig, ARM, "[]", parameters) == STATUS_OK);
}

static void discard(struct rig *rig)
{
    instance_free(rig->controller);
    instance_free(rig->plant);
    arena_release(&rig->arena);
}

static void set(struct rig *rig, int joint, enum joint_value value, double number)
{
    instance_set(rig->controller, joint_reference(joint, value), number);
}

static double get(struct rig *rig, int joint, enum joint_value value)
{
    CHECK(instance_update(rig->controller) == STATUS_OK);
    return instance_get(rig->controller, joint_reference(joint, value));
}

static void desired(const struct rig *rig, double t, int j, double x[3])
{
    smooth_move(t, rig->T, rig->q0[j], rig->dq[j], x);
}

static void set_desired(struct rig *rig, double t)
{
    for (int j = 0; j < rig->n; j++) {
        double x[3];
        desired(rig, t, j, x);
        for (int i = 0; i < 3; i++) set(rig, j, (enum joint_value)(Q_REF + i), x[i]);
    }
}

/* Measured exactly as desired */
static void set_measured_as_desired(struct rig *rig)
{
    for (int j = 0; j < rig->n; j++) {
        set(rig, j, Q_MEASURED, instance_get(rig->controller, joint_reference(j, Q_REF)));
        set(rig, j, QD_MEASURED, instance_get(rig->controller, joint_reference(j, QD_REF)));
    }
}

static void start(struct rig *rig)
{
    const struct experiment experiment = {.start_time = 3};
    CHECK(instance_initialize(rig->controller, &experiment) == STATUS_OK);
}

/* ---- torques ------------------------------------------------------------------------------------------------------------- */

/* Without error, computed torque of the rigid arm is its inverse dynamics, in any motion; 1e-12: rounding of two orders of sums */
TEST(rigid_torques_are_inverse_dynamics)
{
    struct rig rig;
    struct random random = {7};
    make(&rig, "\"law\": 2");
    const struct mechanism *m = sim_mechanism(rig.plant);
    for (int trial = 0; trial < 50; trial++) {
        double q[64] = {0}, qd[64] = {0}, qdd[64] = {0}, force[64], scale = 0;
        for (int i = 0, j = 0; i < m->model->n_links; i++) {
            const int at = m->model->link[i].v;
            set(&rig, j, Q_REF, q[at] = uniform(&random, -3, 3));
            set(&rig, j, QD_REF, qd[at] = uniform(&random, -3, 3));
            set(&rig, j++, QDD_REF, qdd[at] = uniform(&random, -3, 3));
        }
        set_measured_as_desired(&rig);
        start(&rig);
        const struct input in = {.q = q, .qd = qd};
        dyn_configuration(m->model, m->work, q);
        dyn_inverse(m->model, m->work, &in, qdd, force);
        for (int j = 0; j < rig.n; j++) scale = larger(scale, fabs(force[m->model->link[j].v]));
        for (int j = 0; j < rig.n; j++) CHECK_NEAR(get(&rig, j, TAU), force[m->model->link[j].v], 1e-12 * scale);
    }
    discard(&rig);
}

static void desired_motion(void *context, double t, int link, int k, double x[3])
{
    (void)k;
    desired(context, t, link, x);
}

/* The largest difference of torques to those that the drives of the flexible arm must give, along the move */
static double error_of_flexible_torques(double sample_time)
{
    struct rig rig;
    make(&rig, "\"law\": 3");
    struct instance *moved = NULL;
    const struct sim_motion motion = {.context = &rig, .at = desired_motion};
    const char *robot = document_load(ARM, &rig.arena, &rig.report);
    CHECK(sim_make_moved("moved", robot, &motion, &rig.report, &moved) == STATUS_OK);
    instance_set(moved, moved->variables.start_static, 1);
    const struct experiment experiment = {.tolerance = 1e-9};
    CHECK(instance_initialize(moved, &experiment) == STATUS_OK);
    instance_set(rig.controller, controller_reference(rig.n, SAMPLE_TIME), sample_time);
    set_desired(&rig, 0);
    set_measured_as_desired(&rig);
    start(&rig);
    double error = 0;
    for (int k = 0; k * sample_time < 0.6 * rig.T; k++) {
        set_desired(&rig, k * sample_time);
        set_measured_as_desired(&rig);
        CHECK(instance_step(rig.controller, sample_time) == STATUS_OK);
        CHECK(instance_update(moved) == STATUS_OK);
        const double *force = sim_drive_forces(moved);
        for (int j = 0; j < rig.n; j++)
            error = larger(error, fabs(get(&rig, j, TAU) - force[sim_model(moved)->link[j].v]));
        CHECK(instance_step(moved, sample_time) == STATUS_OK);
    }
    instance_free(moved);
    discard(&rig);
    return error;
}

/* Without error, the torques of the flexible arm converge to those of its inverse dynamics with the square of the sample time */
TEST(flexible_torques_converge_to_inverse_dynamics)
{
    const double coarse = error_of_flexible_torques(1e-3), fine = error_of_flexible_torques(0.5e-3);
    CHECK(coarse < 0.1); /* of up to 600 N m */
    CHECK(coarse > 3.5 * fine && coarse < 4.5 * fine);
}

/* ---- samples ------------------------------------------------------------------------------------------------------------- */

/* Desired and measured motion whose extrapolation is exact: constant acceleration, constant measured rate */
static void set_parabola(struct rig *rig, double t)
{
    for (int j = 0; j < rig->n; j++) {
        const double a = 0.7 - 0.3 * j, v = 0.2 + 0.1 * j;
        set(rig, j, Q_REF, rig->q0[j] + v * t + a * t * t / 2);
        set(rig, j, QD_REF, v + a * t);
        set(rig, j, QDD_REF, a);
        set(rig, j, Q_MEASURED, rig->q0[j] + 0.01 + v * t);
        set(rig, j, QD_MEASURED, v);
    }
}

#define ALL_PARTS "\"law\": 3, \"correction_bandwidth\": 20, \"tip_compensation\": 2"

/* Communication steps of any length take the same samples: 43 of 7/3 of a sample time reach the same end as 100 and 1/3 */
TEST(communication_steps_need_not_be_multiples)
{
    struct rig even, odd;
    make(&even, ALL_PARTS), make(&odd, ALL_PARTS);
    set_parabola(&even, 0), set_parabola(&odd, 0);
    start(&even), start(&odd);
    for (int k = 0; k <= 100; k++) {
        set_parabola(&even, k * TS);
        CHECK(instance_step(even.controller, TS) == STATUS_OK);
    }
    for (int k = 0; k < 43; k++) {
        set_parabola(&odd, k * TS * 7 / 3);
        CHECK(instance_step(odd.controller, TS * 7 / 3) == STATUS_OK);
    }
    for (int j = 0; j < even.n; j++) { /* rounding of the inputs, through derivatives of the order of 1/TS */
        const double tau = get(&even, j, TAU);
        CHECK_NEAR(get(&odd, j, TAU), tau, 1e-9 * fabs(tau) + 1e-9);
        CHECK_NEAR(get(&odd, j, CORRECTION), get(&even, j, CORRECTION), 1e-9 * fabs(tau) + 1e-9);
    }
    discard(&even), discard(&odd);
}

/* Torques change at samples alone, and one that is due at the end of a step is taken with the inputs of the next. With a delay the same
   torques come later by it, a fraction of the sample time included. */
TEST(torques_are_held_and_delayed)
{
    enum { PARTS = 4, LATE = 10, STEPS = 100 }; /* 2.5 sample times */
    struct rig now, later;
    double tau[STEPS];
    make(&now, "\"law\": 2");
    make(&later, "\"law\": 2, \"delay\": 2.5e-3");
    set_desired(&now, 0), set_desired(&later, 0);
    start(&now), start(&later);
    const double first = get(&later, 2, TAU);
    for (int k = 0; k < STEPS; k++) {
        const double held = get(&now, 2, TAU);
        set_desired(&now, 0.1 + k * TS / PARTS), set_desired(&later, 0.1 + k * TS / PARTS);
        CHECK(get(&now, 2, TAU) == held);
        CHECK(instance_step(now.controller, TS / PARTS) == STATUS_OK);
        CHECK(instance_step(later.controller, TS / PARTS) == STATUS_OK);
        tau[k] = get(&now, 2, TAU);
        CHECK((tau[k] != held) == (k % PARTS == 0));
        CHECK(get(&later, 2, TAU) == (k < LATE ? first : tau[k - LATE]));
    }
    discard(&now), discard(&later);
}

/* Rounding of what is measured is as if it had been measured so; torques are multiples of their resolution */
TEST(resolution)
{
    struct rig rounded, plain;
    make(&rounded, "\"law\": 2, \"jib_joint.position_resolution\": 1e-3, \"jib_joint.velocity_resolution\": 0.5,"
                   "\"slew.torque_resolution\": 0.25");
    make(&plain, "\"law\": 2");
    set_desired(&rounded, 0.1), set_desired(&plain, 0.1);
    set(&rounded, 2, Q_MEASURED, 2.00123), set(&plain, 2, Q_MEASURED, 2.001);
    set(&rounded, 2, QD_MEASURED, 0.8), set(&plain, 2, QD_MEASURED, 1);
    start(&rounded), start(&plain);
    for (int j = 1; j < plain.n; j++) CHECK_NEAR(get(&rounded, j, TAU), get(&plain, j, TAU), 1e-9);
    const double tau = get(&rounded, 0, TAU);
    CHECK(tau == 0.25 * round(tau / 0.25));
    CHECK_NEAR(tau, get(&plain, 0, TAU), 0.125);
    CHECK(tau != get(&plain, 0, TAU));
    discard(&rounded), discard(&plain);
}

/* ---- in the loop --------------------------------------------------------------------------------------------------------- */

/* The arm at rest in the commanded position */
static void start_plant(struct rig *rig)
{
    const struct experiment experiment = {.tolerance = 1e-8};
    for (int j = 0; j < rig->n; j++)
        instance_set(rig->plant, joint_variable(rig->plant, j, "q_start"), get(rig, j, Q_COMMAND));
    instance_set(rig->plant, rig->plant->variables.start_static, 1);
    CHECK(instance_initialize(rig->plant, &experiment) == STATUS_OK);
}

/* The loop before the move */
static void start_loop(struct rig *rig, const char *parameters)
{
    make(rig, parameters);
    set_desired(rig, 0);
    start(rig);
    start_plant(rig);
}

/* One sample of the closed loop, an unknown torque on joint 1 */
static void step_loop(struct rig *rig, double unknown)
{
    CHECK(instance_update(rig->plant) == STATUS_OK);
    for (int j = 0; j < rig->n; j++) {
        set(rig, j, Q_MEASURED, instance_get(rig->plant, joint_variable(rig->plant, j, "q")));
        set(rig, j, QD_MEASURED, instance_get(rig->plant, joint_variable(rig->plant, j, "qd")));
    }
    CHECK(instance_step(rig->controller, TS) == STATUS_OK);
    for (int j = 0; j < rig->n; j++)
        instance_set(rig->plant, joint_variable(rig->plant, j, "tau"), get(rig, j, TAU) + (j == 1 ? unknown : 0));
    CHECK(instance_step(rig->plant, TS) == STATUS_OK);
}

/* A constant torque on a joint of an arm that is otherwise known is found as D (1 - exp(-lambda t)), on this joint alone. 3 %: modes
   whose period is a few sample times are predicted roughly; it falls with the sample time */
TEST(unknown_torque_is_found)
{
    static const double D = 30, LAMBDA = 10;
    struct rig rig;
    start_loop(&rig, "\"law\": 3, \"correction_bandwidth\": 10");
    for (int k = 0; k < 1000; k++) {
        step_loop(&rig, D);
        if (k % 50 != 0) continue;
        CHECK_NEAR(get(&rig, 1, CORRECTION), D * -expm1(-LAMBDA * k * TS), 0.03 * D);
        for (int j = 0; j < rig.n; j++)
            if (j != 1) CHECK_NEAR(get(&rig, j, CORRECTION), 0, 0.03 * D);
    }
    CHECK_NEAR(instance_get(rig.plant, joint_variable(rig.plant, 1, "q")), rig.q0[1], 1e-3);
    discard(&rig);
}

/* The largest correction of an arm that is known exactly, along the move, in shares of the largest torque */
static double needless_correction(const char *parameters)
{
    struct rig rig;
    double correction = 0, torque = 0;
    start_loop(&rig, parameters);
    for (int k = 0; k < 600; k++) {
        set_desired(&rig, k * TS);
        step_loop(&rig, 0);
        for (int j = 0; j < rig.n; j++) {
            correction = larger(correction, fabs(get(&rig, j, CORRECTION)));
            torque = larger(torque, fabs(get(&rig, j, TAU)));
        }
    }
    discard(&rig);
    return correction / torque;
}

/* The loop does nothing to an arm that is as the model: the delay of the torques is in the prediction. 1e-3 is its error at 1 ms */
TEST(exact_model_is_not_corrected)
{
    CHECK(needless_correction("\"law\": 3, \"correction_bandwidth\": 10") < 1e-3);
    CHECK(needless_correction("\"law\": 3, \"correction_bandwidth\": 10, \"delay\": 2e-3") < 1e-3);
    CHECK(needless_correction("\"law\": 2, \"correction_bandwidth\": 10, \"delay\": 1e-3, \"tip_compensation\": 2") <
          1e-3);
    CHECK(needless_correction("\"law\": 3, \"feedback\": 1, \"correction_bandwidth\": 10") < 1e-3);
}

static void tip_of(struct rig *rig, double p[3])
{
    CHECK(instance_update(rig->plant) == STATUS_OK);
    for (int k = 0; k < 3; k++) p[k] = instance_get(rig->plant, named(rig->plant, "tip.position[%d]", k + 1));
}

/* An arm that hangs on compensated joints has its tip where that of the undeformed arm is desired: 1e-4 of the deflection is what the
   iterations leave, of which each reduces the error by the square of the bending angle */
TEST(tip_is_where_it_is_desired)
{
    const struct experiment experiment = {0};
    struct rig rig;
    double tip[2][3], got[3], deflection = 0, error = 0; /* undeformed and sagged */
    make(&rig, "\"tip_compensation\": 1");
    for (int sagged = 0; sagged < 2; sagged++) {
        instance_set(rig.plant, rig.plant->variables.start_static, sagged);
        CHECK(instance_initialize(rig.plant, &experiment) == STATUS_OK);
        tip_of(&rig, tip[sagged]);
    }
    set_desired(&rig, 0);
    start(&rig);
    start_plant(&rig);
    tip_of(&rig, got);
    for (int k = 0; k < 3; k++) {
        deflection += fabs(tip[1][k] - tip[0][k]);
        error += fabs(got[k] - tip[0][k]);
    }
    CHECK(deflection > 0.01 && error < 1e-4 * deflection);
    discard(&rig);
}

/* ---- saved states -------------------------------------------------------------------------------------------------------- */

static void check_saved_state(const char *sensors, const char *parameters)
{
    enum { STEPS = 60 };
    struct rig rig, copy;
    double tau[STEPS][MOST];
    CHECK(make_with(&rig, ARM, sensors, parameters) == STATUS_OK);
    CHECK(make_with(&copy, ARM, sensors, parameters) == STATUS_OK);
    const int payload = named(rig.controller, "hand.payload.mass");
    instance_set(rig.controller, payload, 8);
    set_desired(&rig, 0);
    start(&rig), start(&copy);
    unsigned char *bytes = arena_allocate(&rig.arena, instance_saved_size(rig.controller), 1);
    for (int k = 0; k < 2 * STEPS; k++) {
        if (k == STEPS) instance_save(rig.controller, bytes);
        set_desired(&rig, k * 0.7e-3);
        CHECK(instance_step(rig.controller, 0.7e-3) == STATUS_OK);
        for (int j = 0; j < rig.n && k >= STEPS; j++) tau[k - STEPS][j] = get(&rig, j, TAU);
    }
    struct rig *const both[] = {&rig, &copy};
    for (int i = 0; i < 2; i++) {
        CHECK(instance_restore(both[i]->controller, bytes, true) == STATUS_OK);
        CHECK(instance_get(both[i]->controller, payload) == 8);
        for (int k = 0; k < STEPS; k++) {
            set_desired(both[i], (k + STEPS) * 0.7e-3);
            CHECK(instance_step(both[i]->controller, 0.7e-3) == STATUS_OK);
            for (int j = 0; j < rig.n; j++) CHECK(get(both[i], j, TAU) == tau[k][j]);
        }
    }
    discard(&rig), discard(&copy);
}

TEST(saved_state_continues_with_the_same_bits)
{
    check_saved_state("[]", ALL_PARTS ", \"delay\": 1.5e-3");
    check_saved_state("[]", ALL_PARTS ", \"feedback\": 1");
    check_saved_state("[\"tip.specific_force[3]\", \"tip.specific_force[1]\"]",
                      ALL_PARTS ", \"feedback\": 1, \"vibration_damping\": 1");
}

/* ---- what it refuses ----------------------------------------------------------------------------------------------------- */

TEST(impossible_controllers_are_refused)
{
    static const char *const CHAIN = "resources/chain-7.json", *const TIP = "[\"tip.specific_force[1]\"]",
                             *const TWICE = "[\"tip.specific_force[1]\", \"tip.specific_force[1]\"]";
    const struct {
        const char *file, *sensors, *parameters, *why;
    } cases[] = {
        {"resources/four-bar.json", "[]", "", "it has loops"},
        {"resources/cibicik-servo-drives.json", "[]", "", "drives inside"},
        {ARM, "[]", "\"law\": 4", "must be 0, 1, 2 or 3"},
        {ARM, "[]", "\"law\": 1.5", "must be 0, 1, 2 or 3"},
        {ARM, "[]", "\"feedback\": 2", "must be 0 or 1"},
        {ARM, "[]", "\"slew.lqr_rate\": 0", "must be positive"},
        {ARM, "[]", "\"sample_time\": 0", "must be positive"},
        {ARM, "[]", "\"delay\": 0.017", "at most 16 sample times"},
        {ARM, "[]", "\"slew.kp\": -1", "must not be negative"},
        {ARM, "[]", "\"hand.payload.mass\": -1", "hand.payload.mass"},
        {ARM, "[]", "\"slew.q_ref\": 1", "no parameter of this name"},
        {ARM, "[]", "\"slew.kp\": \"much\"", "parameters"},
        {ARM, "[]", "\"observer_bandwidth\": 1", "no parameter of this name"},
        {ARM, TIP, "\"observer_bandwidth\": -1", "must not be negative"},
        {ARM, TIP, "\"tip.specific_force[1].noise\": 0", "must be positive"},
        {ARM, "[\"tip.specific_force[4]\"]", "", "a sensor may be tip.specific_force[1], tip.specific_force[2]"},
        {ARM, "[\"boom.deflection[2]\"]", "", "no such sensor"},
        {ARM, TWICE, "", "sensors[1]"},
        {ARM, TWICE, "", "named before"},
        {ARM, "[7]", "", "sensors[0] = 7"},
        {ARM, "\"tip\"", "", "sensors"},
        {CHAIN, TIP, "", "does not see"},
        {CHAIN, "[\"gauge.curvature[1]\"]", "", "links with modes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig rig;
        last_error[0] = '\0';
        const enum status status = make_with(&rig, cases[i].file, cases[i].sensors, cases[i].parameters);
        CHECK(status != STATUS_OK && rig.controller == NULL);
        if (strstr(last_error, cases[i].why) == NULL) printf("\"%s\" is not in \"%s\"\n", cases[i].why, last_error);
        CHECK(strstr(last_error, cases[i].why) != NULL);
        discard(&rig);
    }
}

/* Names, units and starts of the table; the measured value has a resolution */
TEST(sensors_are_inputs)
{
    struct rig rig;
    CHECK(make_with(&rig, ARM, "[\"tip.specific_force[3]\"]", "\"tip.specific_force[3].resolution\": 0.5") ==
          STATUS_OK);
    const struct variables *v = instance_variables(rig.controller);
    const int input = variables_find(v, "tip.specific_force[3]"),
              noise = variables_find(v, "tip.specific_force[3].noise");
    CHECK(input >= 0 && v->row[input].causality == CAUSALITY_INPUT && strcmp(v->row[input].unit, "m/s2") == 0);
    CHECK(v->row[input].reference == sensor_reference(rig.n, 0, MEASURED));
    CHECK(noise >= 0 && v->row[noise].start == 0.01 && strcmp(v->row[noise].unit, "m/s2") == 0);
    CHECK(variables_find(v, "load[3]") == observer_reference(rig.n, LOAD_Z));
    discard(&rig);
}

/* Weights whose squares are not numbers */
TEST(lqr_without_a_gain_is_refused)
{
    struct rig rig;
    const struct experiment experiment = {0};
    make(&rig, "\"feedback\": 1, \"slew.lqr_position\": 1e-200");
    CHECK(instance_initialize(rig.controller, &experiment) == STATUS_NO_RICCATI);
    CHECK(strstr(last_error, "no gain") != NULL);
    instance_set(rig.controller, joint_reference(0, LQR_POSITION), 1e-2);
    CHECK(instance_initialize(rig.controller, &experiment) == STATUS_OK);
    discard(&rig);
}

SUITE(controller_test)
