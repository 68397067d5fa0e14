/* Stops at joint limits: (58) of theory.md, its slope and its energy. robot_joint_test has those that are deep or far off. */
#include "oracle/random.h"
#include "robot/joint.h"
#include "test.h"

static const double K = 4e3, D = 60, UPPER = 0.5, LOWER = -0.3, h = 1e-6;
static const struct joint stopped = {
    .type = JOINT_REVOLUTE,
    .axis = {0, 0, 1},
    .number = {{.coulomb_velocity = 1e-3,
                .has_limits = true,
                .limits = {.lower = -0.3, .upper = 0.5, .stiffness = 4e3, .damping = 60, .depth = 0.01}}}};

static double force(double q, double qd)
{
    struct joint_model model;
    joint_model_make(&stopped, &model);
    return joint_coordinate_force(&model.number[0], q, qd);
}

TEST(stops_push_back)
{
    for (double q = LOWER; q <= UPPER; q += 0.1) CHECK_NEAR(force(q, 3), 0, 0);
    CHECK_NEAR(force(UPPER, 3), 0, 0);
    for (int side = -1; side <= 1; side += 2) {
        const double at = side > 0 ? UPPER : LOWER;
        CHECK_NEAR(force(at + side * 0.02, 0), -side * K * 0.02, 1e-12 * K);
        CHECK_NEAR(force(at + side * 0.02, side * 0.5), -side * (K * 0.02 + D * 0.5),
                   1e-12 * K); /* deeper than depth */
        CHECK_NEAR(force(at + side * 0.005, side * 0.5), -side * (K * 0.005 + 0.5 * D * 0.5), 1e-12 * K); /* fade 1/2 */
        CHECK_NEAR(force(at + side * 0.02, side * -100), 0, 0); /* leaves fast: no pull */
    }
}

/* Central differences of force and energy, on both sides, approaching and leaving; what is not the energy's is a loss */
TEST(slopes_and_energy)
{
    struct joint_model model;
    joint_model_make(&stopped, &model);
    for (double p = 1e-3; p < 0.03; p += 1.7e-3)
        for (int side = -1; side <= 1; side += 2)
            for (double qd = -1; qd <= 1; qd += 0.37) {
                double slope_q[MOST_VELOCITIES][MOST_VELOCITIES], slope_qd[MOST_VELOCITIES][MOST_VELOCITIES];
                double elastic[MOST_VELOCITIES];
                const double q = side > 0 ? UPPER + p : LOWER - p, before = q - h, after = q + h;
                joint_force_slopes(&model, &q, &qd, slope_q, slope_qd);
                CHECK_NEAR(slope_q[0][0], (force(after, qd) - force(before, qd)) / (2 * h), 1e-6 * K);
                CHECK_NEAR(slope_qd[0][0], (force(q, qd + h) - force(q, qd - h)) / (2 * h), 1e-6 * D);
                const double rise = joint_energy(&model, &after, elastic) - joint_energy(&model, &before, elastic);
                joint_energy(&model, &q, elastic);
                CHECK_NEAR(elastic[0], -rise / (2 * h), 1e-6 * K);
                CHECK((force(q, qd) - elastic[0]) * qd <= 1e-12);
            }
}

SUITE(dyn_stops_test)
