/* Random robots as instances: names of variables, derivatives, dependencies, the integrator's Jacobian, sensors, starts, motion. */
#include <stdlib.h>

#include "loaded.h"
#include "math/quaternion.h"
#include "oracle/larger.h"
#include "oracle/random.h"
#include "oracle/random_frames.h"
#include "oracle/random_robot.h"
#include "oracle/variable_slopes.h"
#include "sim/robot_instance.h"
#include "sim_jacobian.h"

enum { MOST = 512, SEEDS = 60 };

static const struct experiment experiment = {0};

/* A random robot, with random frames if the seed is odd, initialized, at a random state with random inputs. Its quaternions are a
   little off norm 1 where `off`. */
static struct instance *random_instance(int seed, bool off)
{
    static struct report silent;
    struct random random = {.state = (uint64_t)seed};
    struct instance *instance = NULL;
    char *plain = random_robot(&random), *text = seed % 2 == 1 ? random_frames(&random, plain) : strdup(plain);
    free(plain);
    CHECK(text != NULL && sim_make("random", text, &silent, &instance) == STATUS_OK);
    free(text);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK);
    move_at_random(instance, &random);
    if (!off) CHECK(instance_project(instance) == STATUS_OK);
    return instance;
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

TEST(variables_have_the_names_of_the_format)
{
    static const char *const named_by[][2] = {
        {"tests/data/good/f2-free.json",
         "float.position[1] float.position[3] float.quaternion[1] float.quaternion[4] float.velocity[3] float.omega[3] "
         "float.acceleration[3] float.alpha[3] float.force[3] float.torque[3] float.position_start[1] "
         "float.quaternion_start[4] float.velocity_start[3] float.omega_start[1] der(float.quaternion[1]) "
         "der(float.position[2]) der(float.omega[3]) lift.q lift.q_start"},
        {"tests/data/good/f2-spherical.json", "ball.quaternion[4] ball.omega[3] ball.alpha[1] ball.torque[2] "
                                              "ball.viscous ball.stiffness ball.omega_start[3] der(ball.omega[3])"},
        {"tests/data/good/f2-cylindrical.json", "screw.q[1] screw.q[2] screw.qd[2] screw.qdd[1] screw.tau[2] "
                                                "screw.q_start[2] screw.viscous[2] der(screw.q[2])"}};
    for (size_t i = 0; i < sizeof named_by / sizeof *named_by; i++) {
        struct loaded l;
        loaded_make(&l, named_by[i][0], NULL, NULL);
        char *rest = strdup(named_by[i][1]), *names = rest;
        for (char *name; (name = strtok_r(rest, " ", &rest)) != NULL;) (void)named(l.instance, "%s", name);
        free(names);
        loaded_free(&l);
    }
}

/* 1 rad; the reach of the robot, or 1 m where it has none */
TEST(nominal_values_of_joints)
{
    static const char slider[] =
        "{\"format\": \"limber-robot/2\", \"name\": \"point\", \"links\": [{\"name\": \"mass\", \"joint\": {\"name\": "
        "\"slide\", "
        "\"type\": \"%s\"}, \"rigid\": {\"mass\": 1, \"com\": [0, 0, 0], \"inertia\": [1, 1, 1, 0, 0, 0]%s}}]}";
    static const struct {
        const char *type, *tip;
        double nominal;
    } cases[] = {{"prismatic", "", 1},
                 {"prismatic", ", \"tip\": {\"xyz\": [0, 3, 0]}", 3},
                 {"revolute", ", \"tip\": {\"xyz\": [0, 3, 0]}", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        struct loaded l;
        snprintf(text, sizeof text, slider, cases[i].type, cases[i].tip);
        loaded_make(&l, NULL, text, NULL);
        CHECK(instance_variables(l.instance)->by_reference[named(l.instance, "slide.q")]->nominal == cases[i].nominal);
        loaded_free(&l);
    }
}

/* ---- derivatives ----------------------------------------------------------------------------------------------------------- */

TEST(directional_derivatives_of_every_variable)
{
    double worst = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct instance *instance = random_instance(seed, true);
        CHECK(count_wrong_slopes(instance, &worst) == 0);
        instance_free(instance);
    }
    printf("     worst %.1e of the largest\n", worst);
}

/* Of a beam whose mode shapes turn the hinge, by its added mass too */
TEST(derivatives_where_mode_shapes_move_the_hinge)
{
    static const char text[] =
        "{\"format\": \"limber-robot/2\", \"name\": \"arm\", \"gravity\": [0, -9.81, 0], \"links\": [{\"name\": "
        "\"boom\", "
        "\"joint\": {\"name\": \"base\", \"type\": \"revolute\", \"start\": {\"position\": 0.4, \"velocity\": 2}}, "
        "\"beam\": "
        "{\"length\": 4, \"mass_per_length\": 10, \"added_mass_per_length\": 3, \"EIz\": 2e4, "
        "\"modes\": {\"y\": {\"shape\": \"pinned-pinned\", \"count\": 2}}}, \"payload\": {\"mass\": 20}}]}";
    struct random random = {1};
    struct loaded l;
    double worst = 0;
    loaded_make(&l, NULL, text, NULL);
    CHECK(instance_initialize(l.instance, &experiment) == STATUS_OK);
    move_at_random(l.instance, &random);
    CHECK(count_wrong_slopes(l.instance, &worst) == 0 && worst > 0);
    loaded_free(&l);
}

/* 1e-3: rounding of accelerations near a singular pose */
TEST(jacobians_of_random_robots)
{
    double worst = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct instance *instance = random_instance(seed, false);
        CHECK(instance_update(instance) == STATUS_OK);
        worst = larger(worst, jacobian_error(sim_of(instance), 0));
        instance_free(instance);
    }
    CHECK(worst < 1e-3);
    printf("     worst %.1e\n", worst);
}

/* The message has the norm that was set. */
TEST(a_start_quaternion_has_norm_1)
{
    struct loaded l;
    loaded_make(&l, "tests/data/good/f2-free.json", NULL, NULL);
    instance_set(l.instance, named(l.instance, "float.quaternion_start[1]"), 0);
    instance_set(l.instance, named(l.instance, "float.quaternion_start[3]"), 1.25);
    CHECK(instance_initialize(l.instance, &experiment) != STATUS_OK && strstr(l.said, "its norm is 1.25:") != NULL);
    loaded_free(&l);
}

/* ---- sensors --------------------------------------------------------------------------------------------------------------- */

/* Its quaternion is the rotation that turns own axes to world axes:  R f + g = a,  R w = omega */
static void check_sensor(const struct sim *sim, const struct frame_outputs *frame)
{
    double R[9], f[3], w[3];
    CHECK_NEAR(quaternion_square(frame->quaternion), 1, 1e-12);
    quaternion_to_matrix(frame->quaternion, R);
    mul3(R, frame->specific_force, f);
    mul3(R, frame->angular_rate, w);
    const double size = 1 + sqrt(dot3(frame->acceleration, frame->acceleration));
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(f[i] + sim->mechanism.model->gravity[i], frame->acceleration[i], 1e-12 * size);
        CHECK_NEAR(w[i], frame->angular_velocity[i], 1e-12 * size);
    }
}

TEST(inertial_sensors_show_acceleration_minus_gravity_and_rate_in_own_axes)
{
    for (int seed = 1; seed < 2 * SEEDS; seed += 2) {
        struct instance *instance = random_instance(seed, false);
        struct sim *sim = sim_of(instance);
        CHECK(instance_update(instance) == STATUS_OK);
        check_sensor(sim, &sim->outputs.frame[0]);
        for (int i = 0; i < sim->robot->n_frames; i++)
            if (sim->robot->frame[i].sensor) check_sensor(sim, &sim->outputs.frame[1 + i]);
        instance_free(instance);
    }
}

/* ---- joints that lines move along a given motion --------------------------------------------------------------------- */

/* A slow swing of every joint */
static void swing(void *context, double t, int link, int k, double x[3])
{
    (void)context, (void)k;
    const double start = link == 0 ? 0.5 : -1.2, rate = link == 0 ? 0.7 : 1.1;
    x[0] = start + 0.1 * sin(rate * t);
    x[1] = 0.1 * rate * cos(rate * t);
    x[2] = -0.1 * rate * rate * sin(rate * t);
}

/* The crane, or the boom */
static struct sim *make_moved(struct loaded *l, bool crane)
{
    const struct sim_motion motion = {.at = swing};
    struct instance *instance = loaded_make(l, crane ? "resources/crane.json" : NULL, BOOM, &motion);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK);
    CHECK(sim_of(instance)->balance.n == (crane ? 2 : 1));
    return sim_of(instance);
}

TEST(jacobians_follow_the_forces)
{
    for (int crane = 0; crane < 2; crane++) {
        struct loaded l;
        struct sim *sim = make_moved(&l, crane);
        for (int i = 0; i < sim->n_free; i++) sim->at.q[sim->free_coordinate[i]] = 0.01 * sin(3.0 * i) / (1 + i % 3);
        CHECK(jacobian_error(sim, 0.4) < 1e-7);
        loaded_free(&l);
    }
}

/* tau of the joints is rounding of what the forces give */
TEST(drives_have_nothing_to_do)
{
    struct loaded l;
    struct sim *sim = make_moved(&l, true);
    double largest = 0;
    for (int step = 0; step < 10; step++) {
        CHECK(instance_step(l.instance, 0.02) == STATUS_OK && instance_update(l.instance) == STATUS_OK);
        for (int i = 0; i < 2; i++) {
            largest = larger(largest, fabs(sim_line_force(l.instance, i)));
            CHECK_NEAR(sim_drive_forces(l.instance)[sim->mechanism.model->link[i].v], 0, 1e-8);
        }
    }
    CHECK(largest > 1e4);
    loaded_free(&l);
}

/* ---- starts ---------------------------------------------------------------------------------------------------------------- */

TEST(a_start_quaternion_is_normalized_or_refused)
{
    struct loaded l;
    struct instance *ball = loaded_make(&l, "tests/data/good/f2-spherical.json", NULL, NULL);
    const int start = named(ball, "ball.quaternion_start[1]");
    instance_set(ball, start, 0.8005);
    CHECK(instance_initialize(ball, &experiment) == STATUS_OK && l.report.errors == 0);
    const double w = instance_get(ball, named(ball, "ball.quaternion[1]")),
                 y = instance_get(ball, named(ball, "ball.quaternion[3]"));
    CHECK_NEAR(w * w + y * y, 1, 1e-15);
    CHECK_NEAR(w / y, 0.8005 / 0.6, 1e-14);
    instance_set(ball, start, 0.9);
    CHECK(instance_initialize(ball, &experiment) == STATUS_BAD_ROBOT && l.report.errors == 1);
    loaded_free(&l);
}

/* Drifted quaternions are noticed and put back; they are used as if of norm 1 */
TEST(quaternions_that_drift_are_projected)
{
    struct loaded l;
    struct instance *ship = loaded_make(&l, "tests/data/good/f2-free.json", NULL, NULL);
    const int tip = named(ship, "tip.position[1]"), quaternion = named(ship, "float.quaternion[1]");
    CHECK(instance_initialize(ship, &experiment) == STATUS_OK && instance_update(ship) == STATUS_OK);
    const double before = instance_get(ship, tip);
    CHECK(!instance_drifted(ship));
    instance_set(ship, quaternion, 1.01);
    CHECK(instance_drifted(ship) && instance_update(ship) == STATUS_OK);
    CHECK_NEAR(instance_get(ship, tip), before, 1e-14);
    CHECK(instance_project(ship) == STATUS_OK && !instance_drifted(ship) && instance_get(ship, quaternion) == 1);
    loaded_free(&l);
}

/* ---- motion ---------------------------------------------------------------------------------------------------------------- */

/* Steps of random robots: quaternions keep their norm, rates are those of the outputs */
TEST(steps)
{
    for (int seed = 0; seed < SEEDS; seed++) {
        struct instance *instance = random_instance(seed, false);
        double derivative[MOST], rate;
        const struct variables *v = instance_variables(instance);
        CHECK(instance_step(instance, 0.01) == STATUS_OK && !instance_drifted(instance));
        CHECK(instance_get_derivatives(instance, derivative) == STATUS_OK);
        for (int s = 0; s < v->n_states; s++) {
            CHECK(instance_output_rate(instance, v->row[v->state[s]].reference, &rate) == STATUS_OK);
            CHECK_NEAR(rate, derivative[s], 1e-12 * (1 + fabs(rate)));
        }
        instance_free(instance);
    }
}

SUITE(sim_joints_test)
