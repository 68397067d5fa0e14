/* Random robots as instances: names of variables, derivatives, dependencies, the integrator's Jacobian, sensors, starts, motion. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "math/quaternion.h"
#include "robot/read.h"
#include "sim/robot_instance.h"
#include "sim_jacobian.h"
#include "support/random.h"
#include "support/random_frames.h"
#include "support/random_robot.h"
#include "support/variable_slopes.h"

enum { MOST = 512, SEEDS = 60 };

static const struct experiment experiment = {0};

static struct instance *read_robot(const char *file, struct arena *arena, struct report *report)
{
    struct instance *instance = NULL;
    const char *text = document_load(file, arena, report);
    CHECK(text != NULL && sim_make(file, text, report, &instance) == STATUS_OK);
    return instance;
}

/* A random robot, with random frames if the seed is odd, initialized, at a random state with random inputs. Its quaternions are a
   little off norm 1 where `off`. */
static struct instance *random_instance(int seed, bool off, struct report *report)
{
    struct random random = {.state = (uint64_t)seed};
    struct instance *instance = NULL;
    char *plain = random_robot(&random), *text = seed % 2 == 1 ? random_frames(&random, plain) : strdup(plain);
    free(plain);
    CHECK(text != NULL && sim_make("random", text, report, &instance) == STATUS_OK);
    free(text);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK);
    move_at_random(instance, &random);
    if (!off) CHECK(instance_project(instance) == STATUS_OK);
    return instance;
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

TEST(variables_have_the_names_of_the_format)
{
    static const char *const named[][2] = {
        {"tests/data/good/f2-free.json",
         "float.position[1] float.position[3] float.quaternion[1] float.quaternion[4] float.velocity[3] float.omega[3] "
         "float.acceleration[3] float.alpha[3] float.force[3] float.torque[3] float.position_start[1] "
         "float.quaternion_start[4] float.velocity_start[3] float.omega_start[1] der(float.quaternion[1]) "
         "der(float.position[2]) der(float.omega[3]) lift.q lift.q_start"},
        {"tests/data/good/f2-spherical.json", "ball.quaternion[4] ball.omega[3] ball.alpha[1] ball.torque[2] "
                                              "ball.viscous ball.stiffness ball.omega_start[3] der(ball.omega[3])"},
        {"tests/data/good/f2-cylindrical.json", "screw.q[1] screw.q[2] screw.qd[2] screw.qdd[1] screw.tau[2] "
                                                "screw.q_start[2] screw.viscous[2] der(screw.q[2])"}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct instance *instance = read_robot(named[i][0], &arena, &report);
        char *rest = strdup(named[i][1]), *names = rest;
        for (char *name; (name = strtok_r(rest, " ", &rest)) != NULL;) {
            const bool found = variables_find(instance_variables(instance), name) >= 0;
            if (!found) printf("     %s: no %s\n", named[i][0], name);
            CHECK(found);
        }
        free(names);
        instance_free(instance);
        arena_release(&arena);
    }
}

/* ---- derivatives ----------------------------------------------------------------------------------------------------------- */

TEST(directional_derivatives_of_every_variable)
{
    double worst = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct report report = {0};
        struct instance *instance = random_instance(seed, true, &report);
        CHECK(count_wrong_slopes(instance, &worst) == 0);
        instance_free(instance);
    }
    printf("     worst %.1e of the largest\n", worst);
}

/* 1e-3: rounding of accelerations near a singular pose */
TEST(jacobians_of_random_robots)
{
    double worst = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct report report = {0};
        struct instance *instance = random_instance(seed, false, &report);
        CHECK(instance_update(instance) == STATUS_OK);
        worst = fmax(worst, jacobian_error(sim_of(instance), 0));
        instance_free(instance);
    }
    CHECK(worst < 1e-3);
    printf("     worst %.1e\n", worst);
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
        struct report report = {0};
        struct instance *instance = random_instance(seed, false, &report);
        struct sim *sim = sim_of(instance);
        CHECK(instance_update(instance) == STATUS_OK);
        check_sensor(sim, &sim->outputs.frame[0]);
        for (int i = 0; i < sim->robot->n_frames; i++)
            if (sim->robot->frame[i].sensor) check_sensor(sim, &sim->outputs.frame[1 + i]);
        instance_free(instance);
    }
}

/* ---- joints that actuators move along a given motion --------------------------------------------------------------------- */

/* A slow swing of every joint about the crane's start */
static void swing(void *context, double t, int link, int k, double x[3])
{
    (void)context, (void)k;
    const double start = link == 0 ? 0.5 : -1.2, rate = link == 0 ? 0.7 : 1.1;
    x[0] = start + 0.1 * sin(rate * t);
    x[1] = 0.1 * rate * cos(rate * t);
    x[2] = -0.1 * rate * rate * sin(rate * t);
}

static struct sim *moved_crane(struct arena *arena, struct report *report)
{
    const struct sim_motion motion = {.at = swing};
    struct instance *instance = NULL;
    const char *text = document_load("resources/crane.json", arena, report);
    CHECK(text != NULL && sim_make_moved("crane", text, &motion, report, &instance) == STATUS_OK);
    CHECK(instance != NULL && instance_initialize(instance, &experiment) == STATUS_OK);
    CHECK(sim_of(instance)->balance.n == 2);
    return sim_of(instance);
}

TEST(jacobians_follow_the_forces)
{
    struct arena arena = {0};
    struct report report = {0};
    struct sim *sim = moved_crane(&arena, &report);
    for (int i = 0; i < sim->n_free; i++) sim->at.q[sim->free_coordinate[i]] = 0.01 * sin(3.0 * i) / (1 + i % 3);
    CHECK(jacobian_error(sim, 0.4) < 1e-8);
    instance_free(&sim->instance);
    arena_release(&arena);
}

/* tau of the joints is rounding of what the forces give */
TEST(drives_have_nothing_to_do)
{
    struct arena arena = {0};
    struct report report = {0};
    struct sim *sim = moved_crane(&arena, &report);
    double largest = 0;
    for (int step = 0; step < 10; step++) {
        CHECK(instance_step(&sim->instance, 0.02) == STATUS_OK && instance_update(&sim->instance) == STATUS_OK);
        for (int i = 0; i < 2; i++) {
            largest = fmax(largest, fabs(sim_actuator_force(&sim->instance, i)));
            CHECK_NEAR(sim_drive_forces(&sim->instance)[sim->mechanism.model->link[i].v], 0, 1e-8);
        }
    }
    CHECK(largest > 1e4);
    instance_free(&sim->instance);
    arena_release(&arena);
}

/* ---- starts ---------------------------------------------------------------------------------------------------------------- */

static void set_named(struct instance *instance, const char *name, double value)
{
    const struct variables *v = instance_variables(instance);
    instance_set(instance, v->row[variables_find(v, name)].reference, value);
}

static double get_named(struct instance *instance, const char *name)
{
    const struct variables *v = instance_variables(instance);
    return instance_get(instance, v->row[variables_find(v, name)].reference);
}

TEST(a_start_quaternion_is_normalized_or_refused)
{
    struct arena arena = {0};
    struct report report = {0};
    struct instance *instance = read_robot("tests/data/good/f2-spherical.json", &arena, &report);
    set_named(instance, "ball.quaternion_start[1]", 0.8005);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK && report.errors == 0);
    const double w = get_named(instance, "ball.quaternion[1]"), y = get_named(instance, "ball.quaternion[3]");
    CHECK_NEAR(w * w + y * y, 1, 1e-15);
    CHECK_NEAR(w / y, 0.8005 / 0.6, 1e-14);
    set_named(instance, "ball.quaternion_start[1]", 0.9);
    CHECK(instance_initialize(instance, &experiment) == STATUS_BAD_ROBOT && report.errors == 1);
    instance_free(instance);
    arena_release(&arena);
}

/* Drifted quaternions are noticed and put back; they are used as if of norm 1 */
TEST(quaternions_that_drift_are_projected)
{
    struct arena arena = {0};
    struct report report = {0};
    struct instance *instance = read_robot("tests/data/good/f2-free.json", &arena, &report);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK && instance_update(instance) == STATUS_OK);
    const double before = get_named(instance, "tip.position[1]");
    CHECK(!instance_drifted(instance));
    set_named(instance, "float.quaternion[1]", 1.01);
    CHECK(instance_drifted(instance) && instance_update(instance) == STATUS_OK);
    CHECK_NEAR(get_named(instance, "tip.position[1]"), before, 1e-14);
    CHECK(instance_project(instance) == STATUS_OK && !instance_drifted(instance));
    CHECK(get_named(instance, "float.quaternion[1]") == 1);
    instance_free(instance);
    arena_release(&arena);
}

/* ---- motion ---------------------------------------------------------------------------------------------------------------- */

/* Steps of random robots: quaternions keep their norm, rates are those of the outputs */
TEST(steps)
{
    for (int seed = 0; seed < SEEDS; seed++) {
        struct report report = {0};
        struct instance *instance = random_instance(seed, false, &report);
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
