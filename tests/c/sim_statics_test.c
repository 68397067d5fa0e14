/* The static start of instances: derivatives in initialization mode go through it, and what it must not do it refuses. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "mech/statics.h"
#include "robot/read.h"
#include "sim/sim.h"

struct started {
    struct instance *sim;
    struct report report;
    struct arena arena;
    char said[4096];
};

static void listen(void *context, enum report_level level, const char *text)
{
    struct started *s = context;
    (void)level;
    const size_t length = strlen(s->said);
    snprintf(s->said + length, sizeof s->said - length, "%s\n", text);
}

static void listen_to_notes(void *context, const char *text)
{
    listen(context, REPORT_WARNING, text);
}

static void open_file(struct started *s, const char *file)
{
    memset(s, 0, sizeof *s);
    s->report = (struct report){.line = listen, .note = listen_to_notes, .context = s};
    const char *text = document_load(file, &s->arena, &s->report);
    CHECK(text != NULL && sim_make(file, text, &s->report, &s->sim) == STATUS_OK);
}

static void open_text(struct started *s, const char *text)
{
    memset(s, 0, sizeof *s);
    s->report = (struct report){.line = listen, .note = listen_to_notes, .context = s};
    CHECK(sim_make("robot", text, &s->report, &s->sim) == STATUS_OK);
}

static void close_it(struct started *s)
{
    instance_free(s->sim);
    arena_release(&s->arena);
}

static int find(const struct started *s, const char *name)
{
    const struct variables *v = instance_variables(s->sim);
    const int row = variables_find(v, name);
    CHECK(row >= 0);
    return v->row[row].reference;
}

static enum status start(struct started *s)
{
    const struct experiment experiment = {0};
    s->said[0] = '\0';
    instance_set(s->sim, instance_variables(s->sim)->start_static, 1);
    return instance_initialize(s->sim, &experiment);
}

static double value_at(struct started *s, int known, double x, int unknown)
{
    instance_set(s->sim, known, x);
    CHECK(start(s) == STATUS_OK && instance_update(s->sim) == STATUS_OK);
    return instance_get(s->sim, unknown);
}

/* The derivative against a difference of fourth order of starts; returns it */
static double slope(struct started *s, const char *known_name, double h, const char *unknown_name)
{
    const int known = find(s, known_name), unknown = find(s, unknown_name);
    const double x = instance_get(s->sim, known), one = 1;
    double difference = 0, exact = NAN;
    difference += 8 * (value_at(s, known, x + h, unknown) - value_at(s, known, x - h, unknown));
    difference -= value_at(s, known, x + 2 * h, unknown) - value_at(s, known, x - 2 * h, unknown);
    difference /= 12 * h;
    value_at(s, known, x, unknown);
    CHECK(instance_start_directional(s->sim, 1, &unknown, 1, &known, &one, &exact) == STATUS_OK);
    printf("     d %s / d %s = %.9g, off by %.1e\n", unknown_name, known_name, exact, fabs(exact - difference));
    CHECK_NEAR(exact, difference, 1e-6 * fabs(difference) + 1e-13);
    return exact;
}

TEST(derivatives_of_the_crane)
{
    struct started s;
    open_file(&s, "resources/crane.json");
    CHECK_NEAR(slope(&s, "tip.force[2]", 100, "tip.position[2]"), 1.797e-5, 1e-8);
    slope(&s, "boom_joint.q_start", 1e-3, "tip.position[2]");
    slope(&s, "boom_joint.q_start", 1e-3, "jib.eta[1]");
    slope(&s, "jib.payload.mass", 5, "tip.position[2]");
    slope(&s, "boom.eta_start[1]", 1e-3, "tip.position[1]"); /* where the search begins has no effect */
    close_it(&s);
}

/* Lengths are kept: the joint follows the bending, and the length depends on all start values */
TEST(derivatives_of_a_boom_on_a_locked_cylinder)
{
    struct started s;
    open_text(
        &s,
        "{\"format\": \"limber-robot/2\", \"name\": \"boom\", \"gravity\": [0, 0, -9.81], \"links\": [{\"name\": "
        "\"boom\", \"joint\": {\"name\": \"base\", \"type\": \"revolute\", \"axis\": [0, 1, 0], \"passive\": true}, "
        "\"beam\": {\"length\": 4, \"mass_per_length\": 10, \"EIy\": 2e4, \"EIz\": 2e4, \"modes\": {\"z\": {\"shape\": "
        "\"clamped-free\", \"count\": 3}}}, \"payload\": {\"mass\": 20}}], \"actuators\": [{\"name\": \"lift\", "
        "\"type\": "
        "\"line\", \"static\": \"held\", \"from\": {\"link\": \"world\", \"xyz\": [0, 0, -1]}, \"to\": {\"link\": "
        "\"boom\", "
        "\"frame\": \"tip\", \"xyz\": [-1.5, 0, 0]}}]}");
    slope(&s, "tip.force[3]", 10, "tip.position[3]");
    slope(&s, "tip.force[3]", 10, "base.q");
    slope(&s, "base.q_start", 1e-3, "tip.position[3]");
    slope(&s, "boom.eta_start[1]", 1e-3, "tip.position[3]");
    slope(&s, "lift.force", 100, "tip.position[3]"); /* it is held with what it takes */
    CHECK(strstr(s.said, "actuator 'lift' holds with") != NULL && strstr(s.said, "'base' moved by") != NULL);
    CHECK(strstr(s.said, "unstable") == NULL);
    close_it(&s);
}

TEST(derivatives_of_closed_robots)
{
    struct started s;
    open_file(&s, "resources/concrete-pump.json");
    slope(&s, "tip.force[3]", 100, "tip.position[3]");
    slope(&s, "cylinder2.force", 100, "tip.position[3]");
    slope(&s, "cylinder2.force", 100, "linkage2.force[1]");
    const int known = find(&s, "slew.q_start"), unknown = find(&s, "tip.position[3]");
    const double one = 1;
    double result;
    CHECK(instance_start_directional(s.sim, 1, &unknown, 1, &known, &one, &result) == STATUS_NO_DERIVATIVE);
    CHECK(strstr(s.said, "slew.q_start: derivatives with respect to this variable are not provided") != NULL);
    close_it(&s);
}

/* ---- passive joints -------------------------------------------------------------------------------------------------------- */

#define PENDULUM(joint)                                                                                            \
    "{\"format\": \"limber-robot/2\", \"name\": \"pendulum\", \"gravity\": [0, 0, -9.81], \"links\": [{\"name\": " \
    "\"rod\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 1, 0], \"passive\": true, " joint                  \
    "}, \"rigid\": {\"mass\": 2, \"com\": [0.5, 0, 0], \"inertia\": [0.01, 0.2, 0.2, 0, 0, 0]}}]}"

/* k q = -m g l cos q of a rod that a spring holds up; and hanging */
TEST(passive_joints_settle)
{
    struct started s;
    open_text(&s, PENDULUM("\"stiffness\": 40"));
    CHECK(start(&s) == STATUS_OK);
    const double q = instance_get(s.sim, find(&s, "rod.q"));
    CHECK_NEAR(40 * q, 2 * 9.81 * 0.5 * cos(q), 1e-12);
    CHECK(strstr(s.said, "joint 'rod' moved by") != NULL);
    close_it(&s);
    open_text(&s, PENDULUM("\"start\": {\"position\": 1.3}"));
    CHECK(start(&s) == STATUS_OK);
    CHECK_NEAR(instance_get(s.sim, find(&s, "rod.q")), 2 * atan(1), 1e-12);
    close_it(&s);
}

TEST(a_start_far_away_is_refused_unless_asked_for)
{
    struct started s;
    open_text(&s, PENDULUM("\"start\": {\"position\": 0.9}"));
    CHECK(start(&s) == STATUS_NO_EQUILIBRIUM && strstr(s.said, "0.671 rad away from the start of joint 'rod'") != NULL);
    close_it(&s);
    open_text(&s, PENDULUM("\"static\": \"free\", \"start\": {\"position\": 0.9}"));
    CHECK(start(&s) == STATUS_OK);
    CHECK_NEAR(instance_get(s.sim, find(&s, "rod.q")), 2 * atan(1), 1e-12);
    close_it(&s);
    open_text(&s, PENDULUM("\"static\": \"held\", \"start\": {\"position\": 0.9}"));
    CHECK(start(&s) == STATUS_OK && instance_get(s.sim, find(&s, "rod.q")) == 0.9);
    CHECK(strstr(s.said, "held by tau = -6.09") != NULL && strstr(s.said, "nothing provides") != NULL);
    close_it(&s);
}

/* Beyond the horizontal the nearest equilibrium is upright, and unstable */
TEST(an_unstable_start_is_a_warning)
{
    struct started s;
    open_text(&s, PENDULUM("\"start\": {\"position\": -1.4}"));
    CHECK(start(&s) == STATUS_OK && strstr(s.said, "unstable in 1 of 1 directions") != NULL);
    CHECK_NEAR(instance_get(s.sim, find(&s, "rod.q")), -2 * atan(1), 1e-12);
    close_it(&s);
}

/* Loads whose sizes overflow when squared: refused with a reason, as often as it is tried, and derivatives with it */
TEST(loads_that_overflow_are_refused)
{
    static const struct {
        const char *file, *name;
        double value;
    } load[] = {{"resources/crane.json", "gravity[2]", -1e152},
                {"resources/crane.json", "tip.force[2]", 1e160},
                {"resources/crane-drives.json", "gravity[2]", -1e152},
                {"resources/four-bar.json", "tip.force[2]", 1e160},
                {"resources/concrete-pump.json", "gravity[3]", -1e152}};
    for (size_t i = 0; i < sizeof load / sizeof *load; i++) {
        struct started s;
        open_file(&s, load[i].file);
        instance_set(s.sim, find(&s, load[i].name), load[i].value);
        for (int again = 0; again < 2; again++) {
            CHECK(start(&s) == STATUS_OVERLOAD);
            CHECK(strstr(s.said, "the loads are too large") != NULL);
        }
        close_it(&s);
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
        struct started s;
        char robot[1024];
        snprintf(robot, sizeof robot, text, falls ? "-10" : "0");
        open_text(&s, robot);
        CHECK(start(&s) == STATUS_OK);
        CHECK((strstr(s.said, "passive joint 'float' is held by force[3] = 50 N") != NULL) == falls);
        CHECK((strstr(s.said, "passive joint 'float' is held by torque[2] = -5 N.m") != NULL) == falls);
        CHECK(strstr(s.said, "force[1]") == NULL && strstr(s.said, "torque[3]") == NULL);
        close_it(&s);
    }
}

int sim_statics_test(void)
{
    RUN(loads_that_overflow_are_refused);
    RUN(a_wrench_left_on_a_free_joint_is_logged);
    RUN(derivatives_of_the_crane);
    RUN(derivatives_of_a_boom_on_a_locked_cylinder);
    RUN(derivatives_of_closed_robots);
    RUN(passive_joints_settle);
    RUN(a_start_far_away_is_refused_unless_asked_for);
    RUN(an_unstable_start_is_a_warning);
    return test_summary();
}
