/* Sensors of a controller and its observer: values and derivatives of sensors, gains for random arms, and in the loop with an arm: an
   exact model, an unknown force at the tip, deformations that start elsewhere, large motions, damping of vibration. */
#include "controller/observer.h"

#include <stdlib.h>

#include "controller_rig.h"
#include "oracle/larger.h"

enum { TEXT = 20000 };

static const double TS = 1e-3;

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

/* With the correction loop and an observer, before the start */
static void make(struct rig *rig, const char *robot, int n_sensors, const struct sensor *sensor)
{
    struct control *c = &rig->control;
    rig_make(rig, robot, n_sensors, sensor);
    c->compensation_bandwidth = 60;
    c->correction_bandwidth = 30;
    c->observer.bandwidth = 5;
    for (int j = 0; j < c->n; j++) c->kp[j] = 60, c->kd[j] = 16;
    for (int i = 0; i < n_sensors; i++) c->observer.noise[i] = sensor[i].shows == SPECIFIC_FORCE ? 0.01 : 1e-5;
}

/* Cibicik's arm with gauges and these sensors */
static void make_arm(struct rig *rig, int n_sensors, const struct sensor *sensor)
{
    make(rig, gauged(rig, CIBICIK, CIBICIK_FRAMES), n_sensors, sensor);
}

static void start(struct rig *rig, bool at_rest)
{
    rig_start(rig, at_rest, NULL);
}

static void step(struct rig *rig)
{
    double q[MOST];
    rig_step(rig, q);
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
        instance_set(rig->plant, joint_variable(rig->plant, j, "tau"), tau[j] = uniform(random, -100, 100));
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
    make_arm(&rig, N_ALL, ALL);
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
    rig_free(&rig);
}

/* Derivatives against central differences of the values: 1e-7 of the largest, from the third derivative and rounding at this step */
TEST(changes_are_derivatives_of_values)
{
    static const double EPS = 1e-5;
    struct rig rig = {0};
    struct random random = {4};
    make_arm(&rig, N_ALL, ALL);
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
        for (int i = 0; i < N_ALL; i++) scale = larger(scale, fabs(change[i]));
        for (int i = 0; i < N_ALL; i++)
            CHECK_NEAR((side[1][i] - side[0][i]) / (2 * EPS), change[i],
                       1e-7 * (ALL[i].shows == SPECIFIC_FORCE ? scale : fabs(change[i]) + 1e-3));
    }
    rig_free(&rig);
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
    static double E[MOST * MOST];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = o->filter.A[n * i + j];
            for (int s = 0; s < m; s++)
                for (int k = 0; k < n; k++)
                    sum -= o->filter.B[m * i + s] * o->transposed_gain[n * s + k] * o->filter.A[n * k + j];
            E[n * i + j] = sum;
        }
    return largest_of_power(n, E, doublings);
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
        rig_free(&rig);
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
    rig_free(&rig);
}

/* ---- in the loop --------------------------------------------------------------------------------------------------------- */

/* A smooth move of the joints within T */
static void desire(struct rig *rig, double t, double T, const double *change)
{
    for (int j = 0; j < rig->control.n; j++) {
        double x[3];
        smooth_move(t, T, sim_robot(rig->model)->link[j].joint.start_position[0], change[j], x);
        rig->q_ref[j] = x[0], rig->qd_ref[j] = x[1], rig->qdd_ref[j] = x[2];
    }
}

static const double MOVE[] = {0.3, 0.2, 0.1, 0.1};

/* The largest load that is found where there is none, along a move within 0.5 s [N] */
static double needless_load(int n, const struct sensor *sensor, double sample_time)
{
    struct rig rig = {0};
    double largest = 0;
    make_arm(&rig, n, sensor);
    rig.control.sample_time = rig.control.observer.sample_time = sample_time;
    start(&rig, true);
    for (int k = 0; k * sample_time < 0.6; k++) {
        desire(&rig, k * sample_time, 0.5, MOVE);
        step(&rig);
        for (int i = 0; i < 3; i++) largest = larger(largest, fabs(found_load(&rig)[i]));
    }
    rig_free(&rig);
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

/* The load that is found when a constant force at the tip, which the model does not know, has acted on an arm that moves within 4 s */
static void find_force(int n, const struct sensor *sensor, const double force[3], const double *move, int steps,
                       double found[3])
{
    struct rig rig = {0};
    make_arm(&rig, n, sensor);
    start(&rig, true);
    for (int k = 0; k < 3; k++) instance_set(rig.plant, named(rig.plant, "tip.force[%d]", k + 1), force[k]);
    for (int k = 0; k < steps; k++) {
        desire(&rig, k * TS, 4, move);
        step(&rig);
    }
    memcpy(found, found_load(&rig), 3 * sizeof *found);
    rig_free(&rig);
}

static const double FORCE[] = {5, -10, -20};

/* It is found after the arm has turned by 180 degrees about the vertical and its other joints by 1 rad: the gain is that of the start,
   but the load's share follows the pose. With the gain of the load as it was at the start, sensors would push the estimate away. The
   leak takes a thousandth in the direction that is seen best, and more where it is seen less. */
TEST(unknown_force_is_found)
{
    static const double FAR[] = {3.14, 0.6, -1, 0.3};
    double found[3];
    find_force(4, GAUGES, FORCE, FAR, 9000, found);
    for (int k = 0; k < 3; k++) CHECK_NEAR(found[k], FORCE[k], 0.01 * 20);
}

/* Gauges for bending in the vertical plane of the arm, x and z of the world, see no force along y, which turns the arm a little out of
   its plane */
TEST(unseen_direction_stays_zero)
{
    static const struct sensor IN_PLANE[] = {{CURVATURE, 1, 2}, {CURVATURE, 2, 2}};
    static const double STAY[4] = {0};
    double found[3];
    find_force(2, IN_PLANE, FORCE, STAY, 3000, found);
    for (int k = 0; k < 3; k++) CHECK_NEAR(found[k], k == 1 ? 0 : FORCE[k], 0.005 * 20);
}

/* Of an arm that starts undeformed, with `extra` times the payload of its model, which starts deflected: within periods that begin at t,
   the largest difference of the first elastic coordinate of the boom between model and arm, or the swing of that of the arm [m] */
struct vibration {
    enum compensation compensation;
    double bandwidth, damping, extra, period;
    bool swing;
};

static void vibrate(const struct vibration *v, int n, const double *t, double *result)
{
    struct rig rig = {0};
    make_arm(&rig, 4, GAUGES);
    struct control *c = &rig.control;
    c->compensation = v->compensation;
    c->vibration_damping = v->damping;
    c->observer.bandwidth = v->bandwidth;
    const int payload = named(rig.plant, "hand.payload.mass");
    instance_set(rig.plant, payload, v->extra * instance_get(rig.plant, payload));
    start(&rig, false);
    const int eta = named(rig.plant, "boom.eta[1]"), at = sim_model(rig.plant)->link[1].eta_v;
    for (int i = 0, k = 0; i < n; i++) {
        double least = v->swing ? INFINITY : 0, most = v->swing ? -INFINITY : 0;
        for (; k * TS < t[i] + v->period; k++) {
            step(&rig); /* control_sample() predicts for the next sample, so compare after the arm's step */
            CHECK(instance_update(rig.plant) == STATUS_OK);
            const double x = instance_get(rig.plant, eta) - (v->swing ? 0 : c->predicted_q[at]);
            if (k * TS < t[i]) continue;
            least = fmin(least, x), most = larger(most, x);
        }
        result[i] = v->swing ? most - least : larger(most, -least);
    }
    rig_free(&rig);
}

/* They differ by e^(-omega_o t), about: +-20 % of the rate; and in the end by the error of the prediction */
TEST(deformations_are_found)
{
    static const double SLOW = 2, FAST = 10, TIMES[] = {0, 0.5, 2};
    const struct vibration wide = {COMPENSATE_GRAVITY, FAST, 0, 1, 0.4, false},
                           narrow = {COMPENSATE_GRAVITY, SLOW, 0, 1, 0.4, false};
    double slow[3], fast[3];
    vibrate(&narrow, 3, TIMES, slow);
    vibrate(&wide, 3, TIMES, fast);
    CHECK(slow[0] > 0.01 && fast[0] > 0.01);
    CHECK_NEAR(log(slow[1] / slow[2]) / 1.5, SLOW, 0.2 * SLOW);
    CHECK_NEAR(log(fast[0] / fast[1]) / 0.5, FAST, 0.2 * FAST);
    CHECK(fast[2] < 1e-3 * fast[0]);
}

/* Its rate of decay grows by sigma_v, less what the filter of the compensated positions takes: here 0.7 to 1 of it */
TEST(vibration_is_damped)
{
    static const double SIGMA[] = {0, 0.75, 1.5}, TIMES[] = {0.5, 2.5};
    double rate[3];
    for (int i = 0; i < 3; i++) {
        const struct vibration vibration = {COMPENSATE_GRAVITY, 5, SIGMA[i], 1, 0.5, true};
        double swing[2];
        vibrate(&vibration, 2, TIMES, swing);
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
        const struct vibration vibration = {COMPENSATE_NOTHING, 5, 0, EXTRA[i], 0.5, true};
        double swing[2];
        vibrate(&vibration, 2, TIMES, swing);
        CHECK(swing[0] > 1e-3 && swing[1] < 1e-3 * swing[0]);
    }
}

SUITE(controller_observer_test)
