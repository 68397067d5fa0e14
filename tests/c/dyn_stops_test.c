/* Stops at joint limits: (58) of theory.md, its slope and its energy. */
#include "test.h"

#include <string.h>

#include "dyn/tangent.h"
#include "oracle/specimen.h"

static const double K = 4e3, D = 60, UPPER = 0.5, LOWER = -0.3;

static int stopped(struct specimen *s)
{
    return specimen_read(s, "{\"format\": \"limber-robot/1\", \"name\": \"stopped\", \"links\": [{\"name\": \"arm\", "
                            "\"joint\": {\"type\": \"revolute\", \"limits\": {\"lower\": -0.3, \"upper\": 0.5, "
                            "\"stiffness\": 4e3, \"damping\": 60, \"depth\": 0.01}}, "
                            "\"rigid\": {\"mass\": 2, \"com\": [0.5, 0, 0], \"inertia\": [0, 0.1, 0.1, 0, 0, 0]}}]}");
}

/* Of friction, spring and stop on the joint at q, qd */
static double force(const struct specimen *s, double q, double qd)
{
    return joint_coordinate_force(&s->model->link[0].joint.number[0], q, qd);
}

TEST(free_between_the_limits)
{
    struct specimen s;
    CHECK(stopped(&s));
    for (double q = LOWER; q <= UPPER; q += 0.1) CHECK_NEAR(force(&s, q, 3), 0, 0);
    CHECK_NEAR(force(&s, UPPER, 3), 0, 0);
    specimen_free(&s);
}

TEST(pushes_back_at_either_side)
{
    struct specimen s;
    CHECK(stopped(&s));
    CHECK_NEAR(force(&s, UPPER + 0.02, 0), -K * 0.02, 1e-12 * K);
    CHECK_NEAR(force(&s, LOWER - 0.02, 0), K * 0.02, 1e-12 * K);
    CHECK_NEAR(force(&s, UPPER + 0.02, 0.5), -K * 0.02 - D * 0.5, 1e-12 * K); /* deeper than depth */
    CHECK_NEAR(force(&s, LOWER - 0.02, -0.5), K * 0.02 + D * 0.5, 1e-12 * K);
    CHECK_NEAR(force(&s, UPPER + 0.005, 0.5), -K * 0.005 - 0.5 * D * 0.5, 1e-12 * K); /* half way: fade 1/2 */
    CHECK_NEAR(force(&s, UPPER + 0.02, -100), 0, 0);                                  /* leaves fast: no pull */
    specimen_free(&s);
}

/* Central differences of the force, on both sides, approaching and leaving */
TEST(slope)
{
    struct specimen s;
    CHECK(stopped(&s));
    const double h = 1e-6;
    double slope_q[MOST_VELOCITIES][MOST_VELOCITIES], slope_qd[MOST_VELOCITIES][MOST_VELOCITIES];
    for (double p = 1e-3; p < 0.03; p += 1.7e-3)
        for (int side = -1; side <= 1; side += 2)
            for (double rate = -1; rate <= 1; rate += 0.37) {
                const double q = side > 0 ? UPPER + p : LOWER - p, qd = rate;
                const double by_q = (force(&s, q + h, qd) - force(&s, q - h, qd)) / (2 * h),
                             by_qd = (force(&s, q, qd + h) - force(&s, q, qd - h)) / (2 * h);
                joint_force_slopes(&s.model->link[0].joint, &q, &qd, slope_q, slope_qd);
                CHECK_NEAR(slope_q[0][0], by_q, 1e-6 * K);
                CHECK_NEAR(slope_qd[0][0], by_qd, 1e-6 * D);
            }
    specimen_free(&s);
}

/* d(energy)/dt = power - loss, the loss never negative */
TEST(energy_is_kept_or_lost)
{
    struct specimen s;
    struct random random = {5};
    CHECK(stopped(&s));
    for (int i = 0; i < 200; i++) {
        const double h = 1e-6;
        double rate[2];
        struct energy e;
        s.q[0] = i % 2 ? UPPER + 0.03 * uniform(&random, 0, 1) : LOWER - 0.03 * uniform(&random, 0, 1);
        s.qd[0] = uniform(&random, -2, 2);
        CHECK(dyn_forward(s.model, s.work, &s.in, s.qdd) == STATUS_OK);
        const double q = s.q[0], qd = s.qd[0], qdd = s.qdd[0];
        for (int side = 0; side < 2; side++) {
            const double t = side == 0 ? -h : h;
            s.q[0] = q + qd * t + 0.5 * qdd * t * t;
            s.qd[0] = qd + qdd * t;
            specimen_evaluate(&s, NULL);
            dyn_energy(s.model, s.work, &s.in, &e);
            rate[side] = e.kinetic + e.elastic + e.gravity;
        }
        s.q[0] = q, s.qd[0] = qd;
        specimen_evaluate(&s, NULL);
        dyn_energy(s.model, s.work, &s.in, &e);
        CHECK(e.loss >= -1e-12);
        CHECK_NEAR((rate[1] - rate[0]) / (2 * h), -e.loss, 1e-5 * (1 + e.loss));
    }
    specimen_free(&s);
}

SUITE(dyn_stops_test)
