/* Joints that actuators move along a given motion: the forces leave their drives nothing, and the integrator's Jacobians are those
   of the accelerations with these forces. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "robot/read.h"
#include "sim/robot_instance.h"

enum { MOST = 32 };

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
    const struct experiment experiment = {0};
    struct instance *instance = NULL;
    const char *text = document_load("resources/crane.json", arena, report);
    CHECK(text != NULL && sim_make_moved("crane", text, &motion, report, &instance) == STATUS_OK);
    CHECK(instance != NULL && instance_initialize(instance, &experiment) == STATUS_OK);
    CHECK(sim_of(instance)->balance.n == 2);
    return sim_of(instance);
}

/* qdd at y + h e_j by differences of fourth order against A and B, relative to the largest in the matrix */
TEST(jacobians_follow_the_forces)
{
    struct arena arena = {0};
    struct report report = {0};
    struct sim *sim = moved_crane(&arena, &report);
    const int n = sim->instance.stepper.ode.n_v;
    const double t = 0.4, weight[2] = {8.0 / 12, -1.0 / 12};
    double y[MOST], ydot[MOST], J[2][MOST * MOST], difference[MOST];
    CHECK(2 * n <= MOST);
    for (int i = 0; i < 2 * n; i++) y[i] = 0.01 * sin(3.0 * i) / (1 + i % 3);
    CHECK(sim_jacobian(sim, t, y, J[0], J[1]) == 0);
    for (int rate = 0; rate < 2; rate++) {
        double largest = 0, worst = 0;
        for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(J[rate][i]));
        for (int j = 0; j < n; j++) {
            const double h = rate == 0 ? 1e-4 : 1e-2;
            double *moved = &y[n * rate + j], kept = *moved;
            memset(difference, 0, sizeof difference);
            for (int k = -2; k <= 2; k++) {
                if (k == 0) continue;
                *moved = kept + k * h;
                CHECK(sim_derivatives(sim, t, y, ydot) == STATUS_OK);
                for (int i = 0; i < n; i++) difference[i] += (k < 0 ? -1 : 1) * weight[abs(k) - 1] / h * ydot[n + i];
            }
            *moved = kept;
            for (int i = 0; i < n; i++) worst = fmax(worst, fabs(difference[i] - J[rate][n * j + i]));
        }
        printf("     d qdd/d%s: worst %.1e of %.1e\n", rate == 0 ? "q" : "qd", worst, largest);
        CHECK(worst <= 1e-8 * largest);
    }
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

SUITE(sim_balance_test)
