/* Small motions and natural modes: laws of their matrices, and closed forms. */
#include <string.h>

#include "analysis/modes.h"
#include "oracle/specimen.h"
#include "test.h"

enum { SEEDS = 100 };

static const double PI = 3.14159265358979323846;

/* |X - p X'| */
static double asymmetry(int n, const double *X, double p)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double x = X[n * i + j] - p * X[n * j + i];
            sum += x * x;
        }
    return sqrt(sum);
}

static int kept_index(const struct small_motion *motion, int velocity)
{
    for (int i = 0; i < motion->n; i++)
        if (motion->coordinate[i] == velocity) return i;
    return -1;
}

/* Turns do not commute: K_ij - K_ji = e_jik f_k of an angular velocity in body axes, f the force on it. Takes that out. */
static void subtract_turning(const struct specimen *s, struct small_motion *motion)
{
    for (int l = 0; l < s->model->n_links; l++) {
        const int omega = joint_omega(&s->robot->link[l].joint), first = s->model->link[l].v + omega;
        if (omega < 0) continue;
        for (int k = 0; k < 3; k++) {
            const int i = kept_index(motion, first + (k + 1) % 3), j = kept_index(motion, first + (k + 2) % 3);
            motion->K[motion->n * j + i] += 0.5 * motion->force[first + k];
            motion->K[motion->n * i + j] -= 0.5 * motion->force[first + k];
        }
    }
}

/* At rest, where nothing but potentials acts (no torque on the tip, no friction), G = 0 and K is a second derivative: symmetric.
   Rounding: forces of the robot's size, of which K is a derivative. */
TEST(K_is_symmetric_at_rest)
{
    for (int seed = 0; seed < SEEDS; seed++) {
        struct specimen s;
        struct small_motion motion;
        struct report silent = {0};
        CHECK(specimen_random(&s, seed));
        memset(s.qd, 0, (size_t)s.nv * sizeof *s.qd);
        memset(s.prescribed_qdd, 0, (size_t)s.model->n_prescribed * sizeof(double));
        memset(s.tip_wrench, 0, 3 * sizeof(double)); /* the force stays */
        s.robot->elastic_terms = TERMS_FULL;
        CHECK(specimen_remake(&s));
        CHECK(small_motion_make(s.robot, true, &silent, &motion) == STATUS_OK);
        CHECK(small_motion_at(&motion, s.model, &s.in, &silent) == STATUS_OK);
        const int n = motion.n;
        subtract_turning(&s, &motion);
        const double M = asymmetry(n, motion.M, 0), K = asymmetry(n, motion.K, 0);
        CHECK(asymmetry(n, motion.M, 1) <= 1e-13 * M);
        CHECK(asymmetry(n, motion.K, 1) <= 1e-11 * (K + M * motion.moment_rate + 1));
        CHECK(asymmetry(n, motion.G, 0) <= 1e-11 * (sqrt(K * M) + 1));
        small_motion_free(&motion);
        specimen_free(&s);
    }
}

static void first_modes(const char *text, bool joints_free, struct modes *modes, struct specimen *s)
{
    struct report silent = {0};
    CHECK(specimen_read(s, text));
    CHECK(modes_make(&s->mechanism, joints_free, &silent, modes) == STATUS_OK);
    CHECK(modes_at(modes, &s->in, &silent) == STATUS_OK && modes_damp(modes, &silent) == STATUS_OK);
}

/* EI = 50, rho A = 0.8, L = 1.5: f_k = (beta_k L)^2 sqrt(EI/(rho A L^4)) / 2 pi. The shapes are its eigenfunctions: exact. Damping of
   2 percent gives lambda = -zeta w + i w sqrt(1 - zeta^2). */
TEST(clamped_beam)
{
    static const double beta[3] = {1.875104068711961, 4.694091132974175, 7.854757438237613};
    struct specimen s;
    struct modes modes;
    first_modes("{\"format\": \"limber-robot/1\", \"name\": \"beam\", \"links\": [{\"name\": \"a\", \"joint\": "
                "{\"type\": \"fixed\"},"
                " \"beam\": {\"length\": 1.5, \"mass_per_length\": 0.8, \"EIz\": 50, \"damping_ratio\": 0.02,"
                " \"modes\": {\"y\": {\"shape\": \"clamped-free\", \"count\": 3}}}}]}",
                false, &modes, &s);
    CHECK(modes.eigen.n == 3);
    for (int k = 0; k < 3 && k < modes.eigen.n; k++) {
        const double w = beta[k] * beta[k] * sqrt(50 / (0.8 * pow(1.5, 4)));
        CHECK_NEAR(modes.eigen.mode[k].frequency, w / (2 * PI), 1e-9 * w);
        CHECK_NEAR(modes.eigen.mode[k].damping_ratio, 0.02, 1e-9);
        CHECK(modes.eigen.mode[k].growth == 0);
        CHECK_NEAR(modes.eigen.mode[k].share[k], 1, 1e-9);
        CHECK_NEAR(modes.eigen.damped[k].frequency, w * sqrt(1 - 0.02 * 0.02) / (2 * PI), 1e-9 * w);
        CHECK_NEAR(modes.eigen.damped[k].growth, -0.02 * w, 1e-9 * w);
    }
    modes_free(&modes);
    specimen_free(&s);
}

/* Hanging: w = sqrt(m g l / J). Upright: growth of the same size. Locked: nothing moves. */
TEST(pendulum)
{
    const char *const text =
        "{\"format\": \"limber-robot/1\", \"name\": \"p\", \"gravity\": [0, -9.81, 0], \"links\": [{\"name\": \"rod\","
        " \"joint\": {\"type\": \"revolute\"}, \"rigid\": {\"mass\": 2, \"com\": [0.4, 0, 0], \"inertia\": [0, 0, 0.1, "
        "0, 0, 0]}}]}";
    const double w = sqrt(2 * 9.81 * 0.4 / (0.1 + 2 * 0.4 * 0.4));
    struct specimen s;
    struct modes modes;
    struct report silent = {0};
    first_modes(text, true, &modes, &s);
    for (int up = 0; up < 2; up++) {
        s.q[0] = up ? PI / 2 : -PI / 2;
        CHECK(modes_at(&modes, &s.in, &silent) == STATUS_OK && modes.eigen.n == 1);
        CHECK_NEAR(modes.eigen.mode[0].frequency, up ? 0 : w / (2 * PI), 1e-12 * w);
        CHECK_NEAR(modes.eigen.mode[0].growth, up ? w : 0, 1e-12 * w);
    }
    modes_free(&modes);
    CHECK(modes_make(&s.mechanism, false, &silent, &modes) == STATUS_OK && modes.motion.n == 0);
    CHECK(modes_at(&modes, &s.in, &silent) == STATUS_OK && modes.eigen.n == 0);
    modes_free(&modes);
    specimen_free(&s);
}

/* A sweep has the modes of each pose; poses in which a loop opens fail and say where */
TEST(sweep)
{
    struct report silent = {0};
    struct robot *robot;
    struct mechanism mechanism;
    struct state state;
    struct modes modes;
    struct sweep sweep;
    CHECK(robot_read_file("resources/canadarm.json", &robot, &silent) == STATUS_OK);
    CHECK(mechanism_make(robot, &mechanism, &silent) == STATUS_OK);
    CHECK(state_start(mechanism.model, &silent, &state) == STATUS_OK);
    CHECK(modes_make(&mechanism, false, &silent, &modes) == STATUS_OK);
    const int link = 1, q = mechanism.model->link[link].q;
    const struct sweep_options options = {.link = link, .from = -1, .to = 1, .poses = 5, .count = 2};
    CHECK(modes_sweep_make(&modes, &options, &state, &silent, &sweep) == STATUS_OK && sweep.n_modes == 2);
    for (int p = 0; p < 5; p++) {
        state.at.q[q] = -1 + 0.5 * p;
        CHECK_NEAR(sweep.position[p], state.at.q[q], 1e-15);
        CHECK(modes_at(&modes, &state.input, &silent) == STATUS_OK);
        for (int k = 0; k < 2; k++) CHECK_NEAR(sweep.frequency[2 * p + k], modes.eigen.mode[k].frequency, 1e-12);
    }
    modes_free(&modes);
    arena_release(&state.arena);
    mechanism_free(&mechanism);
    robot_free(robot);
}

/* A coordinate without inertia is named */
TEST(singular_mass_matrix)
{
    struct report silent = {0};
    struct specimen s;
    struct modes modes;
    CHECK(specimen_read(&s, "{\"format\": \"limber-robot/1\", \"name\": \"p\", \"links\": [{\"name\": \"rod\","
                            " \"joint\": {\"type\": \"revolute\"}, \"rigid\": {\"mass\": 0}}]}"));
    CHECK(modes_make(&s.mechanism, true, &silent, &modes) == STATUS_OK);
    CHECK(modes_at(&modes, &s.in, &silent) == STATUS_NOT_POSITIVE && silent.errors == 1);
    modes_free(&modes);
    specimen_free(&s);
}

SUITE(analysis_modes_test)
