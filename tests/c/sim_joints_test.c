/* Joints with several degrees of freedom as variables of an instance: names, derivatives, dependencies, starts, motion. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "math/quaternion.h"
#include "oracle/random.h"
#include "oracle/random_robot.h"
#include "oracle/variable_slopes.h"
#include "robot/read.h"
#include "sim/robot_instance.h"

enum { MOST = 512, SEEDS = 40 };

static const struct experiment experiment = {0};

static struct instance *read_robot(const char *file, struct arena *arena, struct report *report)
{
    struct instance *instance = NULL;
    const char *text = document_load(file, arena, report);
    CHECK(text != NULL && sim_make(file, text, report, &instance) == STATUS_OK);
    return instance;
}

/* A random robot, initialized, at a random state with random inputs. Its quaternions are a little off norm 1 where `off`. */
static struct instance *random_instance(int seed, bool off, struct report *report)
{
    struct random random = {.state = (uint64_t)seed};
    struct instance *instance = NULL;
    char *text = random_robot(&random);
    CHECK(text != NULL && sim_make("random", text, report, &instance) == STATUS_OK);
    free(text);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK);
    move_at_random(instance, &random);
    if (!off) CHECK(instance_project(instance) == STATUS_OK);
    return instance;
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

static void check_names(const char *file, const char *const *name)
{
    struct arena arena = {0};
    struct report report = {0};
    struct instance *instance = read_robot(file, &arena, &report);
    for (; *name != NULL; name++) {
        const int row = variables_find(instance_variables(instance), *name);
        if (row < 0) printf("     %s: no %s\n", file, *name);
        CHECK(row >= 0);
    }
    instance_free(instance);
    arena_release(&arena);
}

TEST(variables_have_the_names_of_the_format)
{
    static const char *const floating[] = {"float.position[1]",
                                           "float.position[3]",
                                           "float.quaternion[1]",
                                           "float.quaternion[4]",
                                           "float.velocity[3]",
                                           "float.omega[3]",
                                           "float.acceleration[3]",
                                           "float.alpha[3]",
                                           "float.force[3]",
                                           "float.torque[3]",
                                           "float.position_start[1]",
                                           "float.quaternion_start[4]",
                                           "float.velocity_start[3]",
                                           "float.omega_start[1]",
                                           "der(float.quaternion[1])",
                                           "der(float.position[2])",
                                           "der(float.omega[3])",
                                           "lift.q",
                                           "lift.q_start",
                                           NULL};
    static const char *const ball[] = {"ball.quaternion[4]",  "ball.omega[3]",      "ball.alpha[1]",
                                       "ball.torque[2]",      "ball.viscous",       "ball.stiffness",
                                       "ball.omega_start[3]", "der(ball.omega[3])", NULL};
    static const char *const screw[] = {"screw.q[1]",       "screw.q[2]",      "screw.qd[2]",
                                        "screw.qdd[1]",     "screw.tau[2]",    "screw.q_start[2]",
                                        "screw.viscous[2]", "der(screw.q[2])", NULL};
    check_names("tests/data/good/f2-free.json", floating);
    check_names("tests/data/good/f2-spherical.json", ball);
    check_names("tests/data/good/f2-cylindrical.json", screw);
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

/* The integrator's Jacobian by the tangent of q: differences along q o exp(dtheta/2) */
TEST(jacobians_by_the_tangent)
{
    static const double weight[2] = {8.0 / 12, -1.0 / 12};
    double worst = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct report report = {0};
        struct sim *sim = sim_of(random_instance(seed, false, &report));
        const struct ode *ode = &sim->instance.stepper.ode;
        const int n = ode->n_v;
        double *A = calloc((size_t)(n * n + 1), sizeof *A), *B = calloc((size_t)(n * n + 1), sizeof *B);
        double y[MOST], ydot[MOST], q[MOST], dx[MOST], column[MOST];
        CHECK(instance_update(&sim->instance) == STATUS_OK);
        instance_get_states(&sim->instance, y);
        CHECK(sim_jacobian(sim, 0, y, A, B) == STATUS_OK);
        memcpy(q, sim->at.q, (size_t)sim->at.model->nq * sizeof *q);
        double size = largest_slope(A, n * n);
        for (int j = 0; j < n; j++) {
            memset(column, 0, sizeof column);
            for (int k = -2; k <= 2; k++) {
                if (k == 0) continue;
                memset(dx, 0, sizeof dx);
                dx[sim->free_coordinate[j]] = k * 1e-4;
                memcpy(sim->at.q, q, (size_t)sim->at.model->nq * sizeof *q);
                model_move(sim->at.model, sim->at.q, dx, 1);
                instance_get_states(&sim->instance, y);
                CHECK(sim_derivatives(sim, 0, y, ydot) == STATUS_OK);
                for (int i = 0; i < n; i++)
                    column[i] += (k < 0 ? -1 : 1) * weight[abs(k) - 1] / 1e-4 * ydot[ode->n_x + i];
            }
            for (int i = 0; i < n; i++) worst = fmax(worst, fabs(column[i] - A[n * j + i]) / size);
        }
        free(A), free(B);
        instance_free(&sim->instance);
    }
    printf("     worst %.1e of the largest\n", worst);
    CHECK(worst < 1e-6);
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

/* Steps of random robots: quaternions keep their norm, rates are those of the outputs, saved states continue bit for bit */
TEST(steps_and_saved_states)
{
    for (int seed = 0; seed < SEEDS; seed++) {
        struct report report = {0};
        struct arena arena = {0};
        struct instance *instance = random_instance(seed, false, &report);
        unsigned char *bytes = arena_allocate(&arena, instance_saved_size(instance), 1);
        double x[3][MOST], rate;
        const struct variables *v = instance_variables(instance);
        instance_save(instance, bytes);
        for (int run = 0; run < 2; run++) {
            CHECK(instance_step(instance, 0.01) == STATUS_OK);
            instance_get_states(instance, x[run]);
            if (run == 0) CHECK(instance_restore(instance, bytes, true) == STATUS_OK);
        }
        CHECK(v->n_states == 0 || memcmp(x[0], x[1], (size_t)v->n_states * sizeof(double)) == 0);
        CHECK(!instance_drifted(instance) && instance_get_derivatives(instance, x[2]) == STATUS_OK);
        for (int s = 0; s < v->n_states; s++) {
            CHECK(instance_output_rate(instance, v->row[v->state[s]].reference, &rate) == STATUS_OK);
            CHECK_NEAR(rate, x[2][s], 1e-12 * (1 + fabs(rate)));
        }
        instance_free(instance);
        arena_release(&arena);
    }
}

int sim_joints_test(void)
{
    RUN(variables_have_the_names_of_the_format);
    RUN(directional_derivatives_of_every_variable);
    RUN(jacobians_by_the_tangent);
    RUN(a_start_quaternion_is_normalized_or_refused);
    RUN(quaternions_that_drift_are_projected);
    RUN(steps_and_saved_states);
    return test_summary();
}
