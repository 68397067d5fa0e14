/* The static start of instances: derivatives in initialization mode go through it, and what it must not do it refuses. */
#include "loaded.h"
#include "mech/statics.h"

#define PI 3.14159265358979323846

static enum status start(struct loaded *s)
{
    const struct experiment experiment = {0};
    s->said[0] = '\0';
    instance_set(s->instance, instance_variables(s->instance)->start_static, 1);
    return instance_initialize(s->instance, &experiment);
}

static double value_at(struct loaded *s, int known, double x, int unknown)
{
    instance_set(s->instance, known, x);
    CHECK(start(s) == STATUS_OK && instance_update(s->instance) == STATUS_OK);
    return instance_get(s->instance, unknown);
}

/* The derivative against a difference of fourth order of starts; returns it */
static double slope(struct loaded *s, const char *known_name, double h, const char *unknown_name)
{
    const int known = named(s->instance, "%s", known_name), unknown = named(s->instance, "%s", unknown_name);
    const double x = instance_get(s->instance, known), one = 1;
    double difference = 0, exact = NAN;
    difference += 8 * (value_at(s, known, x + h, unknown) - value_at(s, known, x - h, unknown));
    difference -= value_at(s, known, x + 2 * h, unknown) - value_at(s, known, x - 2 * h, unknown);
    difference /= 12 * h;
    value_at(s, known, x, unknown);
    CHECK(instance_start_directional(s->instance, 1, &unknown, 1, &known, &one, &exact) == STATUS_OK);
    printf("     d %s / d %s = %.9g, off by %.1e\n", unknown_name, known_name, exact, fabs(exact - difference));
    CHECK_NEAR(exact, difference, 1e-6 * fabs(difference) + 1e-13);
    return exact;
}

TEST(derivatives_of_the_crane)
{
    struct loaded s;
    loaded_make(&s, "resources/crane.json", NULL, NULL);
    CHECK_NEAR(slope(&s, "tip.force[2]", 100, "tip.position[2]"), 1.797e-5, 1e-8);
    slope(&s, "boom_joint.q_start", 1e-3, "tip.position[2]");
    slope(&s, "boom_joint.q_start", 1e-3, "jib.eta[1]");
    slope(&s, "jib.payload.mass", 5, "tip.position[2]");
    slope(&s, "boom.eta_start[1]", 1e-3, "tip.position[1]"); /* where the search begins has no effect */
    loaded_free(&s);
}

/* Lengths are kept: the joint follows the bending, and the length depends on all start values */
TEST(derivatives_of_a_boom_on_a_locked_cylinder)
{
    struct loaded s;
    loaded_make(&s, NULL, BOOM, NULL);
    slope(&s, "tip.force[3]", 10, "tip.position[3]");
    slope(&s, "tip.force[3]", 10, "base.q");
    slope(&s, "base.q_start", 1e-3, "tip.position[3]");
    slope(&s, "boom.eta_start[1]", 1e-3, "tip.position[3]");
    slope(&s, "lift.force", 100, "tip.position[3]"); /* it is held with what it takes */
    CHECK(strstr(s.said, "line 'lift' holds with") != NULL && strstr(s.said, "'base' moved by") != NULL);
    CHECK(strstr(s.said, "unstable") == NULL);
    loaded_free(&s);
}

TEST(derivatives_of_closed_robots)
{
    struct loaded s;
    loaded_make(&s, "resources/concrete-pump.json", NULL, NULL);
    slope(&s, "tip.force[3]", 100, "tip.position[3]");
    slope(&s, "cylinder2.force", 100, "tip.position[3]");
    slope(&s, "cylinder2.force", 100, "linkage2.force[1]");
    const int known = named(s.instance, "slew.q_start"), unknown = named(s.instance, "tip.position[3]");
    const double one = 1;
    double result;
    CHECK(instance_start_directional(s.instance, 1, &unknown, 1, &known, &one, &result) == STATUS_NO_DERIVATIVE);
    CHECK(strstr(s.said, "slew.q_start: derivatives with respect to this variable are not provided") != NULL);
    loaded_free(&s);
}

/* ---- passive joints -------------------------------------------------------------------------------------------------------- */

#define PENDULUM(joint)                                                                                            \
    "{\"format\": \"limber-robot/2\", \"name\": \"pendulum\", \"gravity\": [0, 0, -9.81], \"links\": [{\"name\": " \
    "\"rod\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 1, 0], \"passive\": true, " joint                  \
    "}, \"rigid\": {\"mass\": 2, \"com\": [0.5, 0, 0], \"inertia\": [0.01, 0.2, 0.2, 0, 0, 0]}}]}"

/* k q = -m g l cos q of a rod that a spring holds up; hanging; far away, refused unless asked for; beyond the horizontal the nearest
   equilibrium is upright, and unstable */
TEST(passive_joints_settle)
{
    static const struct {
        const char *robot;
        enum status status;
        double spring, q;
        const char *said[2];
    } cases[] = {
        {PENDULUM("\"stiffness\": 40"), STATUS_OK, 40, NAN, {"joint 'rod' moved by"}},
        {PENDULUM("\"start\": {\"position\": 1.3}"), STATUS_OK, 0, PI / 2, {""}},
        {PENDULUM("\"start\": {\"position\": 0.9}"),
         STATUS_NO_EQUILIBRIUM,
         0,
         NAN,
         {"0.671 rad away from the start of joint 'rod'"}},
        {PENDULUM("\"static\": \"free\", \"start\": {\"position\": 0.9}"), STATUS_OK, 0, PI / 2, {""}},
        {PENDULUM("\"static\": \"held\", \"start\": {\"position\": 0.9}"),
         STATUS_OK,
         NAN,
         0.9,
         {"held by tau = -6.09", "nothing exerts this force"}},
        {PENDULUM("\"start\": {\"position\": -1.4}"), STATUS_OK, 0, -PI / 2, {"unstable in 1 of 1 directions"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded s;
        loaded_make(&s, NULL, cases[i].robot, NULL);
        CHECK(start(&s) == cases[i].status);
        for (int k = 0; k < 2; k++) CHECK(cases[i].said[k] == NULL || strstr(s.said, cases[i].said[k]) != NULL);
        const double q = instance_get(s.instance, named(s.instance, "rod.q"));
        if (!isnan(cases[i].q)) CHECK_NEAR(q, cases[i].q, 1e-12);
        if (cases[i].status == STATUS_OK && !isnan(cases[i].spring))
            CHECK_NEAR(cases[i].spring * q, 2 * 9.81 * 0.5 * cos(q), 1e-12 * 9.81);
        loaded_free(&s);
    }
}

/* Loads whose sizes overflow when squared: refused with a reason, as often as it is tried, and derivatives with it */
TEST(loads_that_overflow_are_refused)
{
    static const struct {
        const char *file, *name;
        double value;
    } heavy[] = {{"resources/crane.json", "gravity[2]", -1e152},
                 {"resources/crane.json", "tip.force[2]", 1e160},
                 {"resources/crane-drives.json", "gravity[2]", -1e152},
                 {"resources/four-bar.json", "tip.force[2]", 1e160},
                 {"resources/concrete-pump.json", "gravity[3]", -1e152}};
    for (size_t i = 0; i < sizeof heavy / sizeof *heavy; i++) {
        struct loaded s;
        loaded_make(&s, heavy[i].file, NULL, NULL);
        instance_set(s.instance, named(s.instance, "%s", heavy[i].name), heavy[i].value);
        for (int again = 0; again < 2; again++) {
            CHECK(start(&s) == STATUS_OVERLOAD);
            CHECK(strstr(s.said, "the loads are too large") != NULL);
        }
        loaded_free(&s);
    }
}

/* What nothing provides after the start is a warning, component by component, but none that is zero */
TEST(a_wrench_left_on_a_free_joint_is_logged)
{
    static const char *const text =
        "{\"format\": \"limber-robot/2\", \"name\": \"raft\", \"gravity\": [0, 0, %s], \"links\": [{\"name\": "
        "\"raft\", "
        "\"joint\": {\"name\": \"float\", \"type\": \"free\", \"passive\": true}, \"rigid\": {\"mass\": 5, \"com\": "
        "[0.1, 0, 0], \"inertia\": [0.1, 0.1, 0.1, 0, 0, 0]}}]}";
    for (int falls = 0; falls < 2; falls++) {
        struct loaded s;
        char robot[1024];
        snprintf(robot, sizeof robot, text, falls ? "-10" : "0");
        loaded_make(&s, NULL, robot, NULL);
        CHECK(start(&s) == STATUS_OK);
        CHECK((strstr(s.said, "passive joint 'float' is held by force[3] = 50 N") != NULL) == falls);
        CHECK((strstr(s.said, "passive joint 'float' is held by torque[2] = -5 N.m") != NULL) == falls);
        CHECK(strstr(s.said, "force[1]") == NULL && strstr(s.said, "torque[3]") == NULL);
        loaded_free(&s);
    }
}

SUITE(sim_statics_test)
