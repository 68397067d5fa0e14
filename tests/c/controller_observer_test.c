/* Sensors of a controller and its observer: values and derivatives of sensors, gains for random arms, and in the loop with an arm: an
   exact model, an unknown force at the tip, deformations that start elsewhere, large motions, damping of vibration. */
#include "controller/observer.h"

#include <stdlib.h>
#include <string.h>

#include "controller/control_law.h"
#include "oracle/random.h"
#include "robot/read.h"
#include "sim/robot_instance.h"
#include "test.h"

enum { MOST = 40, TEXT = 20000, SENSORS = 12 };

static const double TS = 1e-3;

struct rig {
    struct arena arena;
    struct report report;
    struct instance *plant, *model, *guided;
    struct control control;
    int n_sensors, output[SENSORS]; /* references of the plant */
    struct sensor sensor[SENSORS];
    double q_ref[MOST], qd_ref[MOST], qdd_ref[MOST];
};

/* ---- arms ---------------------------------------------------------------------------------------------------------------- */

/* The arm of a file of format 1 in format 2, with gauges near the roots of its flexible links */
static const char *gauged(struct rig *rig, const char *file, const char *frames)
{
    const char *text = document_load(file, &rig->arena, &rig->report);
    char *both = arena_allocate(&rig->arena, TEXT, 1);
    snprintf(both, TEXT, "%s", text);
    *(strstr(both, "limber-robot/1") + strlen("limber-robot/")) = '2';
    snprintf(strrchr(both, '}'), TEXT / 2, ", \"frames\": [%s]}", frames);
    return both;
}

#define CIBICIK "resources/cibicik-servo.json"
#define CIBICIK_FRAMES                                                                                       \
    "{\"name\": \"a\", \"link\": \"boom\", \"at\": 0.1, \"sensor\": true},"                                  \
    "{\"name\": \"b\", \"link\": \"jib\", \"at\": 0.1, \"sensor\": true},"                                   \
    "{\"name\": \"c\", \"link\": \"jib\", \"at\": 0.8, \"xyz\": [0, 0.02, 0.01], \"rpy\": [0.3, 0.2, 0.1], " \
    "\"sensor\": true}"

static const struct sensor GAUGES[] = {{CURVATURE, 1, 1}, {CURVATURE, 1, 2}, {CURVATURE, 2, 1}, {CURVATURE, 2, 2}};
static const struct sensor INERTIAL[] = {{SPECIFIC_FORCE, 0, 0}, {SPECIFIC_FORCE, 0, 1}, {SPECIFIC_FORCE, 0, 2}};

static void stay(void *context, double t, int link, int k, double x[3])
{
    const struct rig *rig = context;
    (void)t;
    x[0] = sim_robot(rig->model)->link[link].joint.start_position[k];
    x[1] = x[2] = 0;
}

static int reference(const struct rig *rig, const char *owner, const char *what)
{
    char name[100];
    const struct variables *v = instance_variables(rig->plant);
    snprintf(name, sizeof name, "%s.%s", owner, what);
    const int row = variables_find(v, name);
    CHECK(row >= 0);
    return row >= 0 ? v->row[row].reference : 0;
}

static const char *joint_name(const struct rig *rig, int j)
{
    return sim_robot(rig->plant)->link[j].joint.name;
}

static void find_outputs(struct rig *rig)
{
    static const char *const kinds[] = {"curvature", "elongation", "specific_force"};
    for (int i = 0; i < rig->n_sensors; i++) {
        const struct sensor *s = &rig->sensor[i];
        char what[40];
        if (s->shows == ELONGATION) snprintf(what, sizeof what, "elongation");
        else snprintf(what, sizeof what, "%s[%d]", kinds[s->shows], s->k + 1);
        rig->output[i] = reference(rig, s->frame == 0 ? "tip" : sim_robot(rig->plant)->frame[s->frame - 1].name, what);
    }
}

/* Computed torque of the flexible arm with the correction loop and these sensors, before the start */
static void make(struct rig *rig, const char *robot, int n_sensors, const struct sensor *sensor)
{
    struct control *c = &rig->control;
    const struct sim_motion motion = {.context = rig, .at = stay};
    const struct experiment experiment = {0};
    rig->n_sensors = n_sensors;
    memcpy(rig->sensor, sensor, (size_t)n_sensors * sizeof *sensor);
    CHECK(sim_make("plant", robot, &rig->report, &rig->plant) == STATUS_OK);
    CHECK(sim_make("model", robot, &rig->report, &rig->model) == STATUS_OK);
    CHECK(sim_make_moved("guided", robot, &motion, &rig->report, &rig->guided) == STATUS_OK);
    CHECK(instance_initialize(rig->model, &experiment) == STATUS_OK);
    CHECK(instance_initialize(rig->guided, &experiment) == STATUS_OK);
    CHECK(control_make(c, sim_mechanism(rig->model), sim_mechanism(rig->guided), n_sensors, rig->sensor, &rig->arena) ==
          STATUS_OK);
    find_outputs(rig);
    c->law = LAW_FLEXIBLE;
    c->sample_time = c->observer.sample_time = TS;
    c->compensation_bandwidth = 60;
    c->correction_bandwidth = 30;
    c->observer.bandwidth = 5;
    for (int j = 0; j < c->n; j++) {
        c->kp[j] = 60, c->kd[j] = 16;
        rig->q_ref[j] = sim_robot(rig->model)->link[j].joint.start_position[0];
    }
    for (int i = 0; i < n_sensors; i++) c->observer.noise[i] = sensor[i].shows == SPECIFIC_FORCE ? 0.01 : 1e-5;
    CHECK(control_adopt(c) == STATUS_OK);
}

static void discard(struct rig *rig)
{
    instance_free(rig->plant);
    instance_free(rig->model);
    instance_free(rig->guided);
    arena_release(&rig->arena);
}

/* The controller, and the arm at rest in its commanded position, deflected by gravity (static) or not at all */
static void start(struct rig *rig, bool at_rest)
{
    struct control *c = &rig->control;
    const struct experiment experiment = {.tolerance = 1e-8};
    const struct sample rest = {rig->q_ref, rig->qd_ref, rig->qdd_ref, rig->q_ref, rig->qd_ref, NULL};
    CHECK(control_start(c, &rest) == STATUS_OK);
    for (int j = 0; j < c->n; j++)
        instance_set(rig->plant, reference(rig, joint_name(rig, j), "q_start"), c->q_command[j]);
    instance_set(rig->plant, rig->plant->variables.start_static, at_rest);
    CHECK(instance_initialize(rig->plant, &experiment) == STATUS_OK);
}

/* One sample of the closed loop */
static void step(struct rig *rig)
{
    struct control *c = &rig->control;
    double q[MOST], qd[MOST], sensed[SENSORS];
    CHECK(instance_update(rig->plant) == STATUS_OK);
    for (int j = 0; j < c->n; j++) {
        q[j] = instance_get(rig->plant, reference(rig, joint_name(rig, j), "q"));
        qd[j] = instance_get(rig->plant, reference(rig, joint_name(rig, j), "qd"));
    }
    for (int i = 0; i < rig->n_sensors; i++) sensed[i] = instance_get(rig->plant, rig->output[i]);
    const struct sample sample = {rig->q_ref, rig->qd_ref, rig->qdd_ref, q, qd, sensed};
    CHECK(control_sample(c, &sample) == STATUS_OK);
    const double *tau = control_torque(c, *c->count * c->sample_time);
    for (int j = 0; j < c->n; j++) instance_set(rig->plant, reference(rig, joint_name(rig, j), "tau"), tau[j]);
    CHECK(instance_step(rig->plant, c->sample_time) == STATUS_OK);
}

static const double *found_load(const struct rig *rig)
{
    return rig->control.observer.wrench + 3;
}

/* ---- sensors ------------------------------------------------------------------------------------------------------------- */

static const struct sensor ALL[] = {{CURVATURE, 1, 0},      {CURVATURE, 1, 1},      {CURVATURE, 2, 2},
                                    {ELONGATION, 2, 0},     {SPECIFIC_FORCE, 0, 0}, {SPECIFIC_FORCE, 0, 2},
                                    {SPECIFIC_FORCE, 2, 1}, {SPECIFIC_FORCE, 3, 0}, {SPECIFIC_FORCE, 3, 2}};
enum { N_ALL = sizeof ALL / sizeof *ALL };

/* A random state of the arm; the same to its instance */
static void scatter(struct rig *rig, struct random *random, double *q, double *qd, double *tau)
{
    const struct variables *v = instance_variables(rig->plant);
    const int nv = sim_model(rig->plant)->nv;
    for (int i = 0; i < nv; i++) q[i] = uniform(random, -0.02, 0.02), qd[i] = uniform(random, -1, 1);
    for (int j = 0; j < rig->control.n; j++) {
        q[rig->control.joint[j]] = uniform(random, -3, 3);
        instance_set(rig->plant, reference(rig, joint_name(rig, j), "tau"), tau[j] = uniform(random, -100, 100));
    }
    CHECK(v->n_states == 2 * nv);
    for (int i = 0; i < nv; i++) {
        instance_set(rig->plant, v->row[v->state[i]].reference, q[i]);
        instance_set(rig->plant, v->row[v->state[nv + i]].reference, qd[i]);
    }
}

/* They show what the arm's instance shows, in any state; 1e-12: rounding of two orders of sums */
TEST(sensors_show_what_the_arm_shows)
{
    struct rig rig = {0};
    struct random random = {3};
    double q[MOST], qd[MOST], tau[MOST], value[N_ALL];
    make(&rig, gauged(&rig, CIBICIK, CIBICIK_FRAMES), N_ALL, ALL);
    struct sensors sensors = {0};
    CHECK(sensors_make(&sensors, N_ALL, ALL, sim_mechanism(rig.model), &rig.arena) == STATUS_OK);
    const struct experiment experiment = {0};
    CHECK(instance_initialize(rig.plant, &experiment) == STATUS_OK);
    for (int trial = 0; trial < test_sample(50); trial++) {
        scatter(&rig, &random, q, qd, tau);
        const struct input in = {.q = q, .qd = qd, .tau = tau};
        CHECK(instance_update(rig.plant) == STATUS_OK && sensors_place(&sensors, &in) == STATUS_OK);
        sensors_values(&sensors, value);
        for (int i = 0; i < N_ALL; i++) {
            const double want = instance_get(rig.plant, rig.output[i]);
            CHECK_NEAR(value[i], want, 1e-12 * (fabs(want) + 100));
        }
    }
    discard(&rig);
}

/* Derivatives against central differences of the values: 1e-7 of the largest, from the third derivative and rounding at this step */
TEST(changes_are_derivatives_of_values)
{
    static const double EPS = 1e-5;
    struct rig rig = {0};
    struct random random = {4};
    make(&rig, gauged(&rig, CIBICIK, CIBICIK_FRAMES), N_ALL, ALL);
    const int nv = sim_model(rig.plant)->nv;
    struct sensors sensors = {0};
    CHECK(sensors_make(&sensors, N_ALL, ALL, sim_mechanism(rig.guided), &rig.arena) == STATUS_OK);
    const struct experiment experiment = {0};
    CHECK(instance_initialize(rig.plant, &experiment) == STATUS_OK);
    for (int trial = 0; trial < test_sample(20); trial++) {
        double q[MOST], qd[MOST], qdd[MOST], wrench[6], dq[MOST], dqd[MOST], dwrench[6];
        double change[N_ALL], side[2][N_ALL], scale = 0;
        scatter(&rig, &random, q, qd, qdd);
        for (int k = 0; k < 6; k++) wrench[k] = uniform(&random, -10, 10), dwrench[k] = uniform(&random, -10, 10);
        for (int i = 0; i < nv; i++) dq[i] = uniform(&random, -0.1, 0.1), dqd[i] = uniform(&random, -0.1, 0.1);
        const struct input in = {.q = q, .qd = qd, .prescribed_qdd = qdd, .tip_wrench = wrench};
        const struct direction along = {.q = dq, .qd = dqd, .tip_wrench = dwrench};
        CHECK(sensors_place(&sensors, &in) == STATUS_OK);
        sensors_change(&sensors, &along, change);
        for (int s = 0; s < 2; s++) {
            const double step = s == 0 ? -EPS : 2 * EPS;
            for (int i = 0; i < nv; i++) q[i] += step * dq[i], qd[i] += step * dqd[i];
            for (int k = 0; k < 6; k++) wrench[k] += step * dwrench[k];
            CHECK(sensors_place(&sensors, &in) == STATUS_OK);
            sensors_values(&sensors, side[s]);
        }
        for (int i = 0; i < N_ALL; i++) scale = fmax(scale, fabs(change[i]));
        for (int i = 0; i < N_ALL; i++)
            CHECK_NEAR((side[1][i] - side[0][i]) / (2 * EPS), change[i],
                       1e-7 * (ALL[i].shows == SPECIFIC_FORCE ? scale : fabs(change[i]) + 1e-3));
    }
    discard(&rig);
}

/* ---- gains --------------------------------------------------------------------------------------------------------------- */

/* A chain of one to three links with one or two modes in each direction, damped or not, a gauge on each */
static void random_arm(struct random *random, char *text)
{
    static const char *const AXES[] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
    const int n = 1 + pick(random, 3);
    int at = snprintf(text, TEXT,
                      "{\"format\": \"limber-robot/2\", \"name\": \"arm\", \"gravity\": [0, 0, %g], \"links\": [",
                      chance(random, 0.5) ? -9.81 : 0);
    for (int i = 0; i < n; i++)
        at += snprintf(
            text + at, (size_t)(TEXT - at),
            "%s{\"name\": \"l%d\", \"joint\": {\"name\": \"j%d\", \"type\": \"revolute\", \"axis\": %s,"
            "\"motor_inertia\": 1, \"start\": {\"position\": %g}}, \"beam\": {\"length\": %g,"
            "\"mass_per_length\": %g, \"EIy\": %g, \"EIz\": %g, \"GJ\": %g, \"inertia_per_length\": [0.01, 0.005, "
            "0.005],"
            "\"modes\": {\"y\": {\"shape\": \"craig-bampton\", \"count\": %d}, \"z\": {\"shape\": \"craig-bampton\","
            "\"count\": 2}, \"twist\": {\"shape\": \"craig-bampton\", \"count\": 1}}, \"damping_ratio\": %g},"
            "\"payload\": {\"mass\": %g}}",
            i == 0 ? "" : ", ", i, i, AXES[pick(random, 3)], uniform(random, -2, 2), uniform(random, 0.5, 3),
            uniform(random, 1, 10), uniform(random, 1e3, 1e5), uniform(random, 1e3, 1e5), uniform(random, 1e3, 1e5),
            2 + pick(random, 2), chance(random, 0.5) ? 0.01 : 0, uniform(random, 0.5, 20));
    at += snprintf(text + at, (size_t)(TEXT - at), "], \"frames\": [");
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, (size_t)(TEXT - at),
                       "%s{\"name\": \"f%d\", \"link\": \"l%d\", \"at\": %g, \"sensor\": true}", i == 0 ? "" : ", ", i,
                       i, uniform(random, 0.02, 0.4));
    snprintf(text + at, (size_t)(TEXT - at), "]}");
}

/* One to five different sensors that see a load */
static int random_sensors(struct random *random, const struct model *model, struct sensor *sensor)
{
    int n = 0;
    const int wanted = 1 + pick(random, 5);
    for (int trial = 0; n < wanted && trial < 100; trial++) {
        const struct sensor s = {chance(random, 0.6) ? CURVATURE : SPECIFIC_FORCE, 1 + pick(random, model->n_links),
                                 pick(random, 3)};
        bool known = !sensor_sees_load(model, &s);
        for (int i = 0; i < n; i++) known = known || memcmp(&sensor[i], &s, sizeof s) == 0;
        if (!known) sensor[n++] = s;
    }
    return n;
}

/* The largest element of ((I - C' L') A')^(2^doublings), the transposed error of the observer: falls to 0 if and only if the
   error does */
static double power_of_error(const struct observer *o, int doublings)
{
    const int n = o->filter.nx, m = o->sensors.n;
    static double E[MOST * MOST], square[MOST * MOST];
    double largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = o->filter.A[n * i + j];
            for (int s = 0; s < m; s++)
                for (int k = 0; k < n; k++)
                    sum -= o->filter.B[m * i + s] * o->transposed_gain[n * s + k] * o->filter.A[n * k + j];
            E[n * i + j] = sum;
        }
    for (int d = 0; d < doublings; d++) {
        for (int i = 0; i < n * n; i++) {
            square[i] = 0;
            for (int k = 0; k < n; k++) square[i] += E[n * (i / n) + k] * E[n * k + i % n];
        }
        memcpy(E, square, (size_t)(n * n) * sizeof *E);
    }
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(E[i]));
    return largest;
}

/* Whatever the arm, the sensors, the bandwidth and the sample time, seen or not: there is a gain, and with it errors decay */
TEST(gains_of_random_arms)
{
    struct random random = {21};
    int sensed = 0;
    for (int trial = 0; trial < test_sample(60); trial++) {
        struct rig rig = {0};
        struct sensor sensor[SENSORS];
        struct instance *probe = NULL;
        char *text = arena_allocate(&rig.arena, TEXT, 1);
        random_arm(&random, text);
        CHECK(sim_make("probe", text, &rig.report, &probe) == STATUS_OK);
        const int n = random_sensors(&random, sim_model(probe), sensor);
        instance_free(probe);
        make(&rig, text, n, sensor);
        struct observer *o = &rig.control.observer;
        rig.control.sample_time = o->sample_time = exp(uniform(&random, log(1e-4), log(1e-2)));
        o->bandwidth = exp(uniform(&random, log(0.1), log(100)));
        start(&rig, false);
        CHECK(o->filter.nx <= MOST);
        CHECK(power_of_error(o, 32) < 1e-9); /* 4e9 samples, at least 40 times as long as the leak needs */
        for (int i = 0; i < n * 2 * o->n_eta; i++) sensed += o->gain[i] != 0;
        discard(&rig);
    }
    CHECK(sensed > 0);
}

/* More sensors than numbers to be found */
TEST(more_sensors_than_states)
{
    static const char *const ARM = "{\"format\": \"limber-robot/2\", \"name\": \"one\", \"gravity\": [0, -9.81, 0], "
                                   "\"links\": [{\"name\": \"l\", \"joint\":"
                                   "{\"name\": \"j\", \"type\": \"revolute\", \"motor_inertia\": 1}, \"beam\": "
                                   "{\"length\": 2, \"mass_per_length\": 1, \"EIz\": 1000,"
                                   "\"modes\": {\"y\": {\"shape\": \"craig-bampton\", \"count\": 2}}}}], \"frames\": ["
                                   "{\"name\": \"a\", \"link\": \"l\", \"at\": 0.1, \"sensor\": true}, {\"name\": "
                                   "\"b\", \"link\": \"l\", \"at\": 0.2, \"sensor\": true},"
                                   "{\"name\": \"c\", \"link\": \"l\", \"at\": 0.3, \"sensor\": true}, {\"name\": "
                                   "\"d\", \"link\": \"l\", \"at\": 0.4, \"sensor\": true}]}";
    static const struct sensor MANY[] = {{CURVATURE, 1, 2},      {CURVATURE, 2, 2},      {CURVATURE, 3, 2},
                                         {CURVATURE, 4, 2},      {SPECIFIC_FORCE, 1, 1}, {SPECIFIC_FORCE, 2, 1},
                                         {SPECIFIC_FORCE, 3, 1}, {SPECIFIC_FORCE, 4, 1}};
    struct rig rig = {0};
    make(&rig, ARM, 8, MANY);
    CHECK(rig.control.observer.filter.nx == 7);
    start(&rig, true);
    CHECK(power_of_error(&rig.control.observer, 32) < 1e-9);
    discard(&rig);
}

/* ---- in the loop --------------------------------------------------------------------------------------------------------- */

/* Position, rate and acceleration of a smooth move of the joints within T, s^4 (35 - 84 s + 70 s^2 - 20 s^3) */
static void desire(struct rig *rig, double t, double T, const double *change)
{
    const double s = fmin(t / T, 1);
    for (int j = 0; j < rig->control.n; j++) {
        rig->q_ref[j] = sim_robot(rig->model)->link[j].joint.start_position[0] +
                        change[j] * pow(s, 4) * (35 + s * (-84 + s * (70 - 20 * s)));
        rig->qd_ref[j] = change[j] / T * 140 * pow(s, 3) * pow(1 - s, 3);
        rig->qdd_ref[j] = change[j] / (T * T) * 420 * s * s * (1 - s) * (1 - s) * (1 - 2 * s);
    }
}

static const double MOVE[] = {0.3, 0.2, 0.1, 0.1};

/* The largest load that is found where there is none, along a move within 0.5 s [N] */
static double needless_load(int n, const struct sensor *sensor, double sample_time)
{
    struct rig rig = {0};
    double largest = 0;
    make(&rig, gauged(&rig, CIBICIK, CIBICIK_FRAMES), n, sensor);
    rig.control.sample_time = rig.control.observer.sample_time = sample_time;
    start(&rig, true);
    for (int k = 0; k * sample_time < 0.6; k++) {
        desire(&rig, k * sample_time, 0.5, MOVE);
        step(&rig);
        for (int i = 0; i < 3; i++) largest = fmax(largest, fabs(found_load(&rig)[i]));
    }
    discard(&rig);
    return largest;
}

/* Sensors of an arm that is as the model find no load: a hundredth of the payload's weight of 98 N is the error of the prediction at
   1 ms, and falls with the sample time */
TEST(exact_model_has_no_load)
{
    const double gauges = needless_load(4, GAUGES, 1e-3), finer = needless_load(4, GAUGES, 0.5e-3);
    CHECK(gauges < 1 && finer < gauges / 2);
    CHECK(needless_load(3, INERTIAL, 1e-3) < 1);
}

/* A constant force at the tip that the model does not know */
static void push(struct rig *rig, const double force[3])
{
    static const char *const names[] = {"force[1]", "force[2]", "force[3]"};
    for (int k = 0; k < 3; k++) instance_set(rig->plant, reference(rig, "tip", names[k]), force[k]);
}

/* It is found: what the leak takes is a thousandth in the direction that is seen best, and more where it is seen less */
TEST(unknown_force_is_found)
{
    static const double FORCE[] = {5, -10, -20};
    struct rig rig = {0};
    make(&rig, gauged(&rig, CIBICIK, CIBICIK_FRAMES), 4, GAUGES);
    start(&rig, true);
    push(&rig, FORCE);
    for (int k = 0; k < 6000; k++) step(&rig);
    for (int k = 0; k < 3; k++) CHECK_NEAR(found_load(&rig)[k], FORCE[k], 0.005 * 20);
    discard(&rig);
}

/* The same after the arm has turned by 180 degrees about the vertical and its other joints by 1 rad: the gain is that of the start, but the load's share follows
   the pose. With the gain of the load as it was at the start, sensors would push the estimate away. */
TEST(force_is_found_in_other_poses)
{
    static const double FORCE[] = {5, -10, -20}, FAR[] = {3.14, 0.6, -1, 0.3};
    struct rig rig = {0};
    make(&rig, gauged(&rig, CIBICIK, CIBICIK_FRAMES), 4, GAUGES);
    start(&rig, true);
    push(&rig, FORCE);
    for (int k = 0; k < 9000; k++) {
        desire(&rig, k * TS, 4, FAR);
        step(&rig);
    }
    for (int k = 0; k < 3; k++) CHECK_NEAR(found_load(&rig)[k], FORCE[k], 0.01 * 20);
    discard(&rig);
}

/* Gauges for bending in the vertical plane of the arm, x and z of the world, see no force along y */
TEST(unseen_direction_stays_zero)
{
    static const double FORCE[] = {5, -10, -20};
    static const struct sensor IN_PLANE[] = {{CURVATURE, 1, 2}, {CURVATURE, 2, 2}};
    struct rig rig = {0};
    make(&rig, gauged(&rig, CIBICIK, CIBICIK_FRAMES), 2, IN_PLANE);
    start(&rig, true);
    push(&rig, FORCE);
    for (int k = 0; k < 3000; k++) step(&rig);
    CHECK_NEAR(found_load(&rig)[0], FORCE[0], 0.005 * 20);
    CHECK_NEAR(found_load(&rig)[1], 0, 0.005 * 20); /* the force turns the arm a little out of its plane */
    CHECK_NEAR(found_load(&rig)[2], FORCE[2], 0.005 * 20);
    discard(&rig);
}

/* Largest difference of the first elastic coordinate of the boom between model and arm within a period that begins at t, for an arm that
   starts undeformed while the model starts deflected [m] */
static void differences(double bandwidth, int n, const double *t, double *difference)
{
    struct rig rig = {0};
    make(&rig, gauged(&rig, CIBICIK, CIBICIK_FRAMES), 4, GAUGES);
    struct control *c = &rig.control;
    c->observer.bandwidth = bandwidth;
    start(&rig, false);
    const int eta = reference(&rig, "boom", "eta[1]"), at = sim_model(rig.plant)->link[1].eta_v;
    for (int i = 0, k = 0; i < n; i++) {
        for (difference[i] = 0; k * TS < t[i] + 0.4; k++) {
            /* control_sample() predicts for the next sample, so compare after the arm's step */
            step(&rig);
            CHECK(instance_update(rig.plant) == STATUS_OK);
            if (k * TS >= t[i])
                difference[i] = fmax(difference[i], fabs(c->predicted_q[at] - instance_get(rig.plant, eta)));
        }
    }
    discard(&rig);
}

/* They differ by e^(-omega_o t), about: +-20 % of the rate; and in the end by the error of the prediction */
TEST(deformations_are_found)
{
    static const double SLOW = 2, FAST = 10, TIMES[] = {0, 0.5, 2};
    double slow[3], fast[3];
    differences(SLOW, 3, TIMES, slow);
    differences(FAST, 3, TIMES, fast);
    CHECK(slow[0] > 0.01 && fast[0] > 0.01);
    CHECK_NEAR(log(slow[1] / slow[2]) / 1.5, SLOW, 0.2 * SLOW);
    CHECK_NEAR(log(fast[0] / fast[1]) / 0.5, FAST, 0.2 * FAST);
    CHECK(fast[2] < 1e-3 * fast[0]);
}

/* Swing of the boom's first elastic coordinate within a period of 0.5 s that begins at t, for an arm that starts undeformed with
   `extra` times the payload of its model */
static void swings(enum compensation compensation, double damping, double extra, int n, const double *t, double *swing)
{
    struct rig rig = {0};
    make(&rig, gauged(&rig, CIBICIK, CIBICIK_FRAMES), 4, GAUGES);
    struct control *c = &rig.control;
    c->compensation = compensation;
    c->vibration_damping = damping;
    const int payload = reference(&rig, "hand", "payload.mass");
    instance_set(rig.plant, payload, extra * instance_get(rig.plant, payload));
    start(&rig, false);
    const int eta = reference(&rig, "boom", "eta[1]");
    for (int i = 0, k = 0; i < n; i++) {
        double least = INFINITY, most = -INFINITY;
        for (; k * TS < t[i] + 0.5; k++) {
            step(&rig);
            CHECK(instance_update(rig.plant) == STATUS_OK);
            if (k * TS < t[i]) continue;
            least = fmin(least, instance_get(rig.plant, eta)), most = fmax(most, instance_get(rig.plant, eta));
        }
        swing[i] = most - least;
    }
    discard(&rig);
}

/* Its rate of decay grows by sigma_v, less what the filter of the compensated positions takes: here 0.7 to 1 of it */
TEST(vibration_is_damped)
{
    static const double SIGMA[] = {0, 0.75, 1.5}, TIMES[] = {0.5, 2.5};
    double rate[3];
    for (int i = 0; i < 3; i++) {
        double swing[2];
        swings(COMPENSATE_GRAVITY, SIGMA[i], 1, 2, TIMES, swing);
        rate[i] = log(swing[0] / swing[1]) / 2;
    }
    CHECK(rate[0] > 0 && rate[0] < 0.2);
    for (int i = 1; i < 3; i++) CHECK_NEAR((rate[i] - rate[0]) / SIGMA[i], 0.85, 0.15);
}

/* What the load does to the modes is no reason for torques in their rhythm: without compensation the joints damp vibration, with an
   exact model and with a wrong one */
TEST(the_load_does_not_excite)
{
    static const double TIMES[] = {0.5, 4.5}, EXTRA[] = {1, 1.4};
    for (int i = 0; i < 2; i++) {
        double swing[2];
        swings(COMPENSATE_NOTHING, 0, EXTRA[i], 2, TIMES, swing);
        CHECK(swing[0] > 1e-3 && swing[1] < 1e-3 * swing[0]);
    }
}

int controller_observer_test(void)
{
    RUN(sensors_show_what_the_arm_shows);
    RUN(changes_are_derivatives_of_values);
    RUN(gains_of_random_arms);
    RUN(more_sensors_than_states);
    RUN(exact_model_has_no_load);
    RUN(unknown_force_is_found);
    RUN(force_is_found_in_other_poses);
    RUN(unseen_direction_stays_zero);
    RUN(deformations_are_found);
    RUN(vibration_is_damped);
    RUN(the_load_does_not_excite);
    return test_summary();
}
