/* Frames as variables of an instance: names, derivatives, dependencies, what sensors show, power of loads. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/quaternion.h"
#include "oracle/random.h"
#include "oracle/random_frames.h"
#include "oracle/random_robot.h"
#include "oracle/variable_slopes.h"
#include "sim/robot_instance.h"

enum { SEEDS = 60 };

static const struct experiment experiment = {0};

/* A random robot with random frames, initialized, at a random state with random inputs */
static struct instance *framed_instance(int seed, struct report *report)
{
    struct random random = {.state = (uint64_t)seed};
    struct instance *instance = NULL;
    char *plain = random_robot(&random), *text = random_frames(&random, plain);
    CHECK(text != NULL && sim_make("random", text, report, &instance) == STATUS_OK);
    free(plain);
    free(text);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK);
    move_at_random(instance, &random);
    return instance;
}

TEST(derivatives_of_frames_and_of_all_that_hangs_on_them)
{
    double worst = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct report report = {0};
        struct instance *instance = framed_instance(seed, &report);
        CHECK(count_wrong_slopes(instance, &worst) == 0);
        instance_free(instance);
    }
    printf("     worst %.1e of the largest\n", worst);
}

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
    for (int seed = 100; seed < 100 + SEEDS; seed++) {
        struct report report = {0};
        struct instance *instance = framed_instance(seed, &report);
        struct sim *sim = sim_of(instance);
        CHECK(instance_project(instance) == STATUS_OK && instance_update(instance) == STATUS_OK);
        check_sensor(sim, &sim->outputs.frame[0]);
        for (int i = 0; i < sim->robot->n_frames; i++)
            if (sim->robot->frame[i].sensor) check_sensor(sim, &sim->outputs.frame[1 + i]);
        instance_free(instance);
    }
}

int sim_frames_test(void)
{
    RUN(derivatives_of_frames_and_of_all_that_hangs_on_them);
    RUN(inertial_sensors_show_acceleration_minus_gravity_and_rate_in_own_axes);
    return test_summary();
}
