/* The companions: derivatives against differences, declared dependencies, conservation of energy, limits, drive files. */
#include <string.h>

#include "drive.h"
#include "laws.h"
#include "support/random.h"
#include "test.h"

enum { MOST = 128, POINTS = 300 };

enum { SERVO, CYLINDER, AXIS, SLING, COMPANIONS };

/* An axis that moves, moves that meet and overlap; a sling whose ground lies askew: nothing is zero by its default */
static const char *const files[COMPANIONS] = {
    "{\"format\": \"limber-drive/1\", \"drive\": \"servo\"}",
    "{\"format\": \"limber-drive/1\", \"drive\": \"cylinder\"}",
    ("{\"format\": \"limber-drive/1\", \"drive\": \"axis\", \"parameters\": {\"start\": 0.4,"
     "\"move[1].time\": -1.5, \"move[1].duration\": 1.2, \"move[1].distance\": 0.3,"
     "\"move[2].time\": -0.3, \"move[2].duration\": 0.8, \"move[2].distance\": -0.5,"
     "\"move[3].time\": 0, \"move[3].duration\": 1, \"move[3].distance\": 2,"
     "\"move[4].time\": 1.1, \"move[4].duration\": 0.4, \"move[4].distance\": -1}}"),
    ("{\"format\": \"limber-drive/1\", \"drive\": \"sling\", \"parameters\": {\"ground\": -0.2,"
     "\"gravity[1]\": 2, \"gravity[2]\": -3, \"gravity[3]\": -9}}")};

struct specimen {
    const struct drive *drive;
    struct variables variables;
    struct arena arena;
    double scale[MOST]; /* of inputs and states: how far they range */
    double v[MOST], dv[MOST];
};

static void make(struct specimen *s, int which)
{
    struct report report = {0};
    memset(s, 0, sizeof *s);
    s->drive = all_drives[which];
    CHECK(drive_variables(s->drive, "test", files[which], &report, &s->arena, &s->variables) == STATUS_OK);
    for (int r = 0; r < s->variables.n; r++) {
        const struct variable *variable = &s->variables.row[r];
        s->scale[r] = variable->nominal > 0 ? variable->nominal : variable->causality == CAUSALITY_INPUT ? 0.3 : 0;
        if (strcmp(variable->name, "feedforward") == 0) s->scale[r] = 2000;
    }
}

/* Inputs, states and gains anywhere, limits and end stops passed now and then; a state that the drive can be in */
static void draw(struct specimen *s, struct random *random)
{
    char text[CONFLICT_SIZE];
    do {
        for (int r = 0; r < s->variables.n; r++) {
            const struct variable *variable = &s->variables.row[r];
            s->v[r] = variable->start;
            if (variable->causality == CAUSALITY_PARAMETER) s->v[r] *= uniform(random, 0.7, 1);
            else if (s->scale[r] > 0) s->v[r] += s->scale[r] * uniform(random, -2, 2);
        }
    } while (s->drive->fault(s->v) != NULL || s->drive->conflict(s->v, text) != NULL);
    s->drive->evaluate(s->v);
}

static void check_rates(const struct specimen *s)
{
    double v[MOST];
    memcpy(v, s->v, sizeof v);
    for (int i = 0; i < s->drive->n_states; i++) v[s->drive->n_rows + i] = NAN;
    s->drive->rates(v);
    for (int i = 0; i < s->drive->n_states; i++) CHECK(v[s->drive->n_rows + i] == s->v[s->drive->n_rows + i]);
}

static double value_at(const struct specimen *s, int known, double step, int unknown)
{
    double v[MOST];
    memcpy(v, s->v, sizeof v);
    v[known] += step;
    s->drive->evaluate(v);
    return v[unknown];
}

static bool is_computed(const struct specimen *s, int r)
{
    const enum causality causality = s->variables.row[r].causality;
    return (causality == CAUSALITY_OUTPUT || causality == CAUSALITY_LOCAL) && s->variables.row[r].nominal == 0;
}

/* Slopes may bend between the two points of a difference: over a way of h they do so by h times the curvature at most, which
   the rounding of the corners keeps below some thousand of the variable's own size */
static void check_column(struct specimen *s, int known, int *nonzero)
{
    const double step = 1e-7 * s->scale[known];
    memset(s->dv, 0, sizeof s->dv);
    s->dv[known] = 1;
    s->drive->tangent(s->v, s->dv);
    for (int r = 0; r < s->variables.n; r++) {
        if (!is_computed(s, r)) continue;
        const double up = value_at(s, known, step, r), down = value_at(s, known, -step, r);
        const double size = fabs(s->v[r]) + fabs(s->dv[r]) * s->scale[known];
        CHECK_NEAR(s->dv[r] * s->scale[known], (up - down) / 2e-7, 1e-4 * size + 1e-9);
        const bool depends = drive_depends(s->drive, &s->variables, &s->variables.row[r], &s->variables.row[known]);
        if (s->dv[r] != 0) CHECK(depends);
        *nonzero += s->dv[r] != 0;
    }
}

TEST(tangent_is_the_derivative)
{
    static const int fewest[COMPANIONS] = {20, 20, 3, 20}; /* derivatives at a point that are not zero, in the mean */
    for (int which = 0; which < COMPANIONS; which++) {
        struct specimen s;
        struct random random = {(uint64_t)which};
        int nonzero = 0;
        make(&s, which);
        for (int point = 0; point < POINTS; point++) {
            draw(&s, &random);
            check_rates(&s);
            for (int r = 0; r < s.variables.n; r++)
                if (s.scale[r] > 0) check_column(&s, r, &nonzero);
        }
        CHECK(nonzero > fewest[which] * POINTS);
        arena_release(&s.arena);
    }
}

/* A declared dependency is real: somewhere it is not zero */
TEST(dependencies_are_not_padded)
{
    for (int which = 0; which < COMPANIONS; which++) {
        struct specimen s;
        make(&s, which);
        for (int known = 0; known < s.variables.n; known++) {
            bool found[MOST] = {false};
            struct random random = {7};
            if (s.scale[known] == 0) continue;
            for (int point = 0; point < POINTS; point++) {
                draw(&s, &random);
                memset(s.dv, 0, sizeof s.dv);
                s.dv[known] = 1;
                s.drive->tangent(s.v, s.dv);
                for (int r = 0; r < s.variables.n; r++) found[r] = found[r] || s.dv[r] != 0;
            }
            for (int r = 0; r < s.variables.n; r++) {
                if (!is_computed(&s, r)) continue;
                CHECK(found[r] == drive_depends(s.drive, &s.variables, &s.variables.row[r], &s.variables.row[known]));
            }
        }
        arena_release(&s.arena);
    }
}

/* What goes in comes out, is lost or is stored; losses are not negative */
TEST(power_is_accounted_for)
{
    static const char *const losses[] = {"power.copper", "power.gear", "power.valve", "power.leakage",
                                         "power.friction"};
    for (int which = SERVO; which <= CYLINDER; which++) {
        struct specimen s;
        struct random random = {3};
        make(&s, which);
        const int in = variables_find(&s.variables, which == SERVO ? "power.electrical" : "power.supply");
        for (int point = 0; point < POINTS; point++) {
            double sum = 0, size = 0;
            draw(&s, &random);
            for (int r = 0; r < s.variables.n; r++) {
                if (strncmp(s.variables.row[r].name, "power.", 6) != 0) continue;
                sum += r == in ? s.v[r] : -s.v[r];
                size += fabs(s.v[r]);
            }
            CHECK_NEAR(sum, 0, 1e-13 * size);
            for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
                const int r = variables_find(&s.variables, losses[i]);
                CHECK(r < 0 || s.v[r] >= 0);
            }
        }
        arena_release(&s.arena);
    }
}

/* The change of all values with time, the driven motion going on by its rates: into s->dv */
static void pass_time(struct specimen *s)
{
    memset(s->dv, 0, sizeof s->dv);
    for (int i = 0; i < s->drive->n_driven; i++) s->dv[s->drive->position + i] = s->v[s->drive->rate + i];
    for (int k = 0; k < s->variables.n_states; k++) s->dv[s->variables.state[k]] = s->v[s->drive->n_rows + k];
    s->drive->tangent(s->v, s->dv);
}

/* What the hook gives is stored in the load, in rope and ground, or lost: force.hook' + d(total)/dt + losses = 0. Forces pull and
   push, and never the other way; losses are not negative. All that can happen does */
TEST(sling_keeps_its_energy)
{
    struct specimen s;
    struct random random = {5};
    make(&s, SLING);
    const int hook = variables_find(&s.variables, "hook.velocity[1]"), force = variables_find(&s.variables, "force[1]");
    const int tension = variables_find(&s.variables, "tension"), ground = variables_find(&s.variables, "ground_force");
    const int total = variables_find(&s.variables, "energy.total"),
              losses = variables_find(&s.variables, "power.losses");
    const int parts[] = {variables_find(&s.variables, "energy.kinetic"), variables_find(&s.variables, "energy.gravity"),
                         variables_find(&s.variables, "energy.strain")};
    int taut = 0, slack = 0, lying = 0, lifted = 0;
    for (int point = 0; point < POINTS; point++) {
        draw(&s, &random);
        pass_time(&s);
        double given = 0, size = fabs(s.v[losses]), strength = 0;
        for (int i = 0; i < 3; i++) {
            given -= s.v[force + i] * s.v[hook + i];
            size += fabs(s.v[force + i] * s.v[hook + i]) + fabs(s.dv[parts[i]]);
            strength += s.v[force + i] * s.v[force + i];
        }
        CHECK_NEAR(s.dv[total] + s.v[losses], given, 1e-13 * size);
        CHECK_NEAR(sqrt(strength), s.v[tension], 1e-14 * s.v[tension]);
        CHECK(s.v[tension] >= 0 && s.v[ground] >= 0 && s.v[losses] >= -1e-13 * size);
        taut += s.v[tension] > 0, slack += s.v[tension] == 0;
        lying += s.v[ground] > 0, lifted += s.v[ground] == 0;
    }
    CHECK(taut > POINTS / 10 && slack > POINTS / 10 && lying > POINTS / 10 && lifted > POINTS / 10);
    arena_release(&s.arena);
}

/* Wherever the hook is, the load starts in equilibrium; a hook that is where the load is has a slack rope and no trouble */
TEST(sling_starts_at_rest)
{
    struct specimen s;
    struct random random = {6};
    make(&s, SLING);
    const int hook = variables_find(&s.variables, "hook.position[1]"),
              load = variables_find(&s.variables, "position[1]");
    const int tension = variables_find(&s.variables, "tension"), ground = variables_find(&s.variables, "ground_force");
    int both = 0;
    for (int point = 0; point < POINTS; point++) {
        draw(&s, &random);
        for (int i = 0; i < 3; i++) {
            s.v[hook + i] =
                uniform(&random, 0, 3) * (i == 2 ? 1 : 0.01); /* above the ground, often near the rope's length */
            s.v[hook + 3 + i] = 0;
        }
        s.drive->start(s.v);
        s.drive->evaluate(s.v);
        for (int i = 0; i < 6; i++) CHECK_NEAR(s.v[s.drive->n_rows + i], 0, 1e-10);
        CHECK(s.v[tension] + s.v[ground] > 0);
        both += s.v[tension] > 0 && s.v[ground] > 0;
        memcpy(s.v + hook, s.v + load, 3 * sizeof *s.v);
        s.drive->evaluate(s.v);
        pass_time(&s);
        CHECK(s.v[tension] == 0);
        for (int r = 0; r < s.variables.n; r++) CHECK(isfinite(s.v[r]) && isfinite(s.dv[r]));
    }
    CHECK(both > 0);
    arena_release(&s.arena);
}

TEST(limits_are_never_passed)
{
    struct random random = {11};
    double before = -HUGE_VAL;
    for (int i = -3000; i <= 3000; i++) { /* never decreasing, odd, within, exactly linear well below */
        const double x = i * 1e-3, y = saturate(x, 1).value;
        CHECK(fabs(y) <= 1 && y >= before && y == -saturate(-x, 1).value);
        CHECK(fabs(x) > 0.9 || y == x);
        before = y;
    }
    for (int i = 0; i < 1000; i++) {
        const double x = uniform(&random, -10, 10), w = uniform(&random, 0, 1);
        CHECK(magnitude(x, w).value <= fabs(x) && magnitude(x, w).value >= fabs(x) - w);
        CHECK(positive_part(x, w).value >= fmax(x, 0));
        CHECK(fabs(signed_root(x, w).value) <= sqrt(fabs(x)) && signed_root(x, w).value * x >= 0);
    }
}

static void check_refused(const struct drive *drive, const char *text)
{
    struct report report = {0};
    struct arena arena = {0};
    struct variables variables;
    CHECK(drive_variables(drive, "test", text, &report, &arena, &variables) == STATUS_BAD_DRIVE);
    CHECK(report.errors > 0);
    arena_release(&arena);
}

TEST(drive_files_are_checked)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"format\": \"limber-robot/1\", \"drive\": \"servo\"}",
        "{\"format\": \"limber-drive/1\", \"drive\": \"cylinder\"}",
        "{\"format\": \"limber-drive/1\", \"drive\": \"servo\", \"parameters\": 3}",
        "{\"format\": \"limber-drive/1\", \"drive\": \"servo\", \"parameters\": {\"bore\": 3}}",
        "{\"format\": \"limber-drive/1\", \"drive\": \"servo\", \"parameters\": {\"resistance\": -1}}",
        "{\"format\": \"limber-drive/1\", \"drive\": \"servo\", \"parameters\": {\"efficiency\": 1.01}}",
        "{\"format\": \"limber-drive/1\", \"drive\": \"servo\", \"parameters\": {\"solver.max_order\": 6}}",
        "{\"format\": \"limber-drive/1\", \"drive\": \"servo\", \"parameters\": {\"resistance\": \"1\"}}",
        "{\"format\": \"limber-drive/1\", \"drive\": \"servo\", \"parameters\": {\"resistance\": 1e999}}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) check_refused(&servo_drive, bad[i]);
    check_refused(&cylinder_drive,
                  "{\"format\": \"limber-drive/1\", \"drive\": \"cylinder\", \"parameters\": {\"rod\": 0.08}}");
    check_refused(&sling_drive,
                  "{\"format\": \"limber-drive/1\", \"drive\": \"sling\", \"parameters\": {\"gravity[3]\": 0}}");
}

int main(void)
{
    RUN(tangent_is_the_derivative);
    RUN(dependencies_are_not_padded);
    RUN(power_is_accounted_for);
    RUN(sling_keeps_its_energy);
    RUN(sling_starts_at_rest);
    RUN(limits_are_never_passed);
    RUN(drive_files_are_checked);
    return test_summary();
}
