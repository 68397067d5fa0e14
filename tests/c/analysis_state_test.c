/* STATE documents: what is left out is the robot's start, names of coordinates, and what is wrong is reported with its place. */
#include <string.h>

#include "analysis/names.h"
#include "analysis/state.h"
#include "mech/mechanism.h"
#include "oracle/specimen.h"
#include "test.h"

static const char *const ARM =
    "{\"format\": \"limber-robot/1\", \"name\": \"arm\", \"links\": ["
    "{\"name\": \"one\", \"joint\": {\"name\": \"j1\", \"type\": \"revolute\", \"start\": {\"position\": 0.3, "
    "\"velocity\": -1}},"
    " \"rigid\": {\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0]}},"
    "{\"name\": \"two\", \"parent\": \"one\", \"joint\": {\"name\": \"j2\", \"type\": \"prismatic\", \"passive\": true,"
    " \"start\": {\"position\": 0.2}},"
    " \"beam\": {\"length\": 1, \"mass_per_length\": 1, \"EIz\": 10, \"modes\": {\"y\": {\"shape\": \"clamped-free\", "
    "\"count\": 2}}}}]}";

/* Messages, one a line */
struct said {
    char text[4096];
};

static void listen(void *context, enum report_level level, const char *text)
{
    struct said *said = context;
    (void)level;
    strncat(said->text, text, sizeof said->text - strlen(said->text) - 2);
    strcat(said->text, "\n");
}

static void check_numbers(const double *got, const double *want, int count)
{
    for (int i = 0; i < count; i++) CHECK(got[i] == want[i]);
}

TEST(what_is_left_out_is_the_start)
{
    struct specimen s;
    struct state start, empty, given;
    struct report silent = {0};
    const double q[4] = {0.3, 0.2, 0, 0}, qd[4] = {-1, 0, 0, 0}, rates[4] = {1, 2, 3, 4};
    CHECK(specimen_read(&s, ARM) && s.nv == 4);
    CHECK(state_start(s.model, &silent, &start) == STATUS_OK);
    CHECK(state_start(s.model, &silent, &empty) == STATUS_OK);
    CHECK(state_parse("state", "{}", &silent, &empty) == STATUS_OK);
    CHECK(state_start(s.model, &silent, &given) == STATUS_OK);
    CHECK(state_parse("state", "{\"qd\": [1, 2, 3, 4], \"tau\": [5, 0], \"tip_force\": [1, 2, 3]}", &silent, &given) ==
          STATUS_OK);
    check_numbers(start.at.q, q, 4);
    check_numbers(start.at.qd, qd, 4);
    check_numbers(empty.at.q, q, 4);
    check_numbers(empty.at.qd, qd, 4);
    check_numbers(given.at.q, q, 4);
    check_numbers(given.at.qd, rates, 4);
    CHECK(start.at.tau[0] == 0 && given.at.tau[0] == 5 && given.at.tip_wrench[5] == 3 && given.at.tip_wrench[0] == 0);
    CHECK(empty.qdd == NULL && empty.input.q == empty.at.q && silent.errors == 0);
    arena_release(&start.arena);
    arena_release(&empty.arena);
    arena_release(&given.arena);
    specimen_free(&s);
}

/* In documents, and back */
TEST(coordinates_have_names)
{
    struct specimen s;
    struct state state;
    struct report silent = {0};
    char name[NAME_SIZE];
    const double q[4] = {0.6, 0.2, 0, 0.01}, qd[4] = {-1, 0.5, 2, 0};
    CHECK(specimen_read(&s, ARM));
    CHECK(state_start(s.model, &silent, &state) == STATUS_OK);
    CHECK(state_parse("state",
                      "{\"q\": {\"two.eta[2]\": 0.01, \"j1.q\": 0.6}, \"qd\": {\"j2.qd\": 0.5, \"two.etad[1]\": 2}}",
                      &silent, &state) == STATUS_OK);
    check_numbers(state.at.q, q, 4);
    check_numbers(state.at.qd, qd, 4);
    arena_release(&state.arena);
    name_coordinate(s.model, ACCELERATION, 0, name);
    CHECK(strcmp(name, "j1.qdd") == 0 && name_velocity_link(s.model, 0) == 0 && name_velocity_link(s.model, 2) == 1);
    specimen_free(&s);
}

TEST(problems_are_reported_with_their_place)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"{\"q\": [1, 2]}", "q = [1,2]"},
        {"{\"q\": {\"j1.qd\": 1}}", "q.j1.qd = 1: this robot has no such coordinate, did you mean \"j1.q\"?"},
        {"{\"q\": {\"j1.q\": \"x\"}}", "q.j1.q = \"x\": q, one number per position, must be a number [rad, m]"},
        {"{\"qd\": {\"j1.qd\": null}}", "qd.j1.qd = null"},
        {"{\"tau\": {\"j1.tau\": 1}}", "tau"},
        {"{\"tau\": [0, 1]}", "joint 'j2' is passive and takes no torque"},
        {"{\"qq\": 1}", "qq = 1: unknown key"},
        {"{\"tip_force\": [1, 2, NaN]}", "tip_force[2]"},
        {"[]", "object"},
        {"{", "state"},
        {"", "state"},
    };
    struct specimen s;
    CHECK(specimen_read(&s, ARM));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct said said = {""};
        struct report report = {.line = listen, .context = &said};
        struct state state;
        CHECK(state_start(s.model, &report, &state) == STATUS_OK);
        CHECK(state_parse("state", bad[i].text, &report, &state) == STATUS_BAD_INPUT && report.errors == 1);
        if (strstr(said.text, bad[i].said) == NULL) printf("     %s: %s", bad[i].text, said.text);
        CHECK(strstr(said.text, bad[i].said) != NULL && strncmp(said.text, "state: ", 7) == 0);
        arena_release(&state.arena);
    }
    struct report silent = {0};
    struct state state;
    CHECK(state_start(s.model, &silent, &state) == STATUS_OK);
    CHECK(state_read("tests/data/none.json", &silent, &state) == STATUS_NO_FILE && silent.errors == 1);
    arena_release(&state.arena);
    specimen_free(&s);
}

SUITE(analysis_state_test)
