/* The companions: derivatives against differences, declared dependencies, conservation of energy, limits, drive files. */
#include <stdio.h>
#include <string.h>

#include "companion/companion.h"
#include "drive/laws.h"
#include "oracle/random.h"
#include "test.h"

enum { MOST = 128, POINTS = 300 };

enum { SERVO, CYLINDER, HOLDING_CYLINDER, LOWERING_CYLINDER, AXIS, SLING, GEAR, STIFF_GEAR, SPRING, COMPANIONS };

/* Cylinders with counterbalance valves on both sides and on one, set low so that they often open; an axis that moves, moves that
   meet and overlap; a sling whose ground lies askew; a gear with play that is a part of its twist. Nothing is zero by its default
   except in the gear without play and the cylinder without options, which declare dependencies that they have not: an importer may
   set parameters */
static const struct {
    const struct drive *drive;
    const char *parameters, *power; /* power: what goes in, NULL: not accounted for */
    int nonzero;                    /* at least so many derivatives at a point are not zero, in the mean */
    bool padded;                    /* dependencies */
} companions[COMPANIONS] = {
    [SERVO] = {&servo_drive, "", "power.electrical", 20, false},
    [CYLINDER] = {&cylinder_drive, "", "power.supply", 20, true},
    [HOLDING_CYLINDER] = {&cylinder_drive,
                          "\"counterbalance1\": 150e5, \"counterbalance2\": 120e5, \"tank_underlap\": 0.05, "
                          "\"pilot_ratio\": 2, \"tank_pressure\": 3e5, \"hose_volume1\": 1e-3, \"hose_volume2\": 5e-4",
                          "power.supply", 20, false},
    [LOWERING_CYLINDER] = {&cylinder_drive, "\"counterbalance1\": 250e5, \"tank_underlap\": 0.05, \"overlap\": 0.1",
                           "power.supply", 20, true},
    [AXIS] = {&axis_drive,
              "\"start\": 0.4, \"move[1].time\": -1.5, \"move[1].duration\": 1.2, \"move[1].distance\": 0.3,"
              "\"move[2].time\": -0.3, \"move[2].duration\": 0.8, \"move[2].distance\": -0.5,"
              "\"move[3].time\": 0, \"move[3].duration\": 1, \"move[3].distance\": 2,"
              "\"move[4].time\": 1.1, \"move[4].duration\": 0.4, \"move[4].distance\": -1",
              NULL, 3, false},
    [SLING] = {&sling_drive, "\"ground\": -0.2, \"gravity[1]\": 2, \"gravity[2]\": -3, \"gravity[3]\": -9", NULL, 20,
               false},
    [GEAR] = {&gear_drive, "\"backlash\": 0.3, \"motor_friction\": 0.01, \"torque_start\": 50", "power.motor", 20,
              false},
    [STIFF_GEAR] = {&gear_drive, "\"motor_friction\": 0.01", "power.motor", 20, true},
    [SPRING] = {&spring_drive, "\"damping\": 300, \"preload\": -2e3", "none", 5, false}};

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
    char text[1000];
    memset(s, 0, sizeof *s);
    s->drive = companions[which].drive;
    snprintf(text, sizeof text, "{\"format\": \"limber-drive/1\", \"drive\": \"%s\", \"parameters\": {%s}}",
             s->drive->name, companions[which].parameters);
    CHECK(companion_variables(s->drive, "test", text, &report, &s->arena, &s->variables) == STATUS_OK);
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
    } while (drive_error(s->drive, s->v) != NULL || drive_conflict(s->drive, s->v, text) != NULL);
    s->drive->evaluate(s->v);
}

static int find(const struct specimen *s, const char *name)
{
    return variables_find(&s->variables, name);
}

static void check_rates(const struct specimen *s)
{
    double v[MOST];
    memcpy(v, s->v, sizeof v);
    for (int i = 0; i < s->drive->n_states; i++) v[s->drive->n_rows + i] = NAN;
    (s->drive->rates != NULL ? s->drive->rates : s->drive->evaluate)(v);
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
   the rounding of the corners keeps below some thousand of the variable's own size. Counts the slopes that are not zero. */
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
        nonzero[r] += s->dv[r] != 0;
    }
}

/* What goes in comes out, is lost or is stored; losses are not negative */
static void check_power(const struct specimen *s, int in)
{
    static const char *const losses[] = {"power.copper",   "power.gear",    "power.valve",         "power.leakage",
                                         "power.friction", "power.damping", "power.counterbalance"};
    double sum = 0, size = 0;
    for (int r = 0; r < s->variables.n; r++) {
        if (strncmp(s->variables.row[r].name, "power.", 6) != 0) continue;
        sum += r == in ? s->v[r] : -s->v[r];
        size += fabs(s->v[r]);
    }
    CHECK_NEAR(sum, 0, 1e-13 * size);
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        const int r = find(s, losses[i]);
        CHECK(r < 0 || s->v[r] >= 0);
    }
}

/* A derivative is zero without a declared dependency, and a declared dependency is real: somewhere it is not zero */
static void check_dependencies(const struct specimen *s, int which, int nonzero[MOST][MOST])
{
    int sum = 0;
    for (int known = 0; known < s->variables.n; known++)
        for (int r = 0; r < s->variables.n; r++) {
            if (s->scale[known] == 0 || !is_computed(s, r)) continue;
            const bool declared =
                companion_depends(s->drive, &s->variables, &s->variables.row[r], &s->variables.row[known]);
            CHECK(nonzero[known][r] > 0 ? declared : !declared || companions[which].padded);
            sum += nonzero[known][r];
        }
    CHECK(sum > companions[which].nonzero * POINTS);
}

TEST(laws_at_random_states)
{
    for (int which = 0; which < COMPANIONS; which++) {
        static int nonzero[MOST][MOST];
        struct specimen s;
        struct random random = {(uint64_t)which};
        make(&s, which);
        memset(nonzero, 0, sizeof nonzero);
        for (int point = 0; point < POINTS; point++) {
            draw(&s, &random);
            check_rates(&s);
            if (companions[which].power != NULL) check_power(&s, find(&s, companions[which].power));
            for (int r = 0; r < s.variables.n; r++)
                if (s.scale[r] > 0) check_column(&s, r, nonzero[r]);
        }
        check_dependencies(&s, which, nonzero);
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

/* The drive at rest somewhere, other inputs as at the start, no oil leaks: what hold() has to find */
static void draw_rest(struct specimen *s, struct random *random)
{
    static const char *const leaks[] = {"leakage", "clearance"};
    const struct drive *drive = s->drive;
    draw(s, random);
    for (int r = 0; r < s->variables.n; r++) {
        const struct variable *variable = &s->variables.row[r];
        if (variable->causality == CAUSALITY_INPUT && r != drive->position) s->v[r] = variable->start;
        for (int i = 0; i < 2; i++)
            if (strcmp(variable->name, leaks[i]) == 0)
                s->v[r] = i == 0 ? 0 : 1e-100; /* edges closed by their overlap */
        if (strcmp(variable->name, "overlap") == 0) s->v[r] = 0.1;
    }
    s->v[drive->rate] = 0;
}

/* Held at rest with an effort within its range, a drive exerts that effort and its states keep their values. 1e-12: of the forces
   of both chambers and an end stop, which balance each other */
TEST(hold_is_an_equilibrium)
{
    char text[CONFLICT_SIZE];
    for (int which = 0; which < COMPANIONS; which++) {
        struct specimen s;
        struct random random = {13};
        make(&s, which);
        const struct drive *drive = s.drive;
        const double range = drive == &cylinder_drive ? 2e4 : 500;
        int held = 0;
        for (int point = 0; drive->hold != NULL && point < POINTS; point++) {
            draw_rest(&s, &random);
            const double effort = s.v[drive->effort] = uniform(&random, -1, 1) * range;
            if (drive->hold(s.v, text) != NULL) continue; /* an end stop that the oil cannot hold */
            held++;
            drive->evaluate(s.v);
            CHECK_NEAR(s.v[drive->effort], effort, 1e-12 * (drive == &cylinder_drive ? 1e5 : 500));
            for (int k = 0; k < drive->n_states; k++)
                CHECK_NEAR(s.v[drive->n_rows + k], 0, 1e-10 * s.variables.row[s.variables.state[k]].nominal);
        }
        CHECK(drive->hold == NULL || held > POINTS / 4);
        arena_release(&s.arena);
    }
}

/* What hold() says to an effort at the start values of the others; NULL: nothing */
static const char *answer(int which, double effort, char text[CONFLICT_SIZE])
{
    struct specimen s;
    make(&s, which);
    for (int r = 0; r < s.variables.n; r++) s.v[r] = s.variables.row[r].start;
    s.v[s.drive->effort] = effort;
    const char *why = s.drive->hold(s.v, text);
    arena_release(&s.arena);
    return why;
}

/* More than the limits allow is refused, with the numbers: 0.9 of 96 N.m/A at 20 A; 200 and 10 bar on bore and ring; a pressure that
   opens the counterbalance valve, 250 bar less 4 times the 10 bar of the other chamber, on the bore less the 10 bar on the ring */
TEST(hold_is_refused_beyond_the_limits)
{
    const double A1 = PI / 4 * 0.08 * 0.08, A2 = A1 - PI / 4 * 0.045 * 0.045;
    const struct {
        int which;
        double most;
        const char *reason;
    } cases[] = {{SERVO, 1728, "voltage, 1728 N.m"},
                 {SERVO, -1728, "voltage, 1728 N.m"},
                 {CYLINDER, 200e5 * A1 - 10e5 * A2, "supply_pressure"},
                 {CYLINDER, 10e5 * A1 - 200e5 * A2, "supply_pressure"},
                 {HOLDING_CYLINDER, 150e5 * A1 - 10e5 * A2, "opens counterbalance1"},
                 {LOWERING_CYLINDER, 210e5 * A1 - 10e5 * A2, "opens counterbalance1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[CONFLICT_SIZE];
        const char *why = answer(cases[i].which, 1.1 * cases[i].most, text);
        CHECK(why != NULL && strstr(why, cases[i].reason) != NULL);
        CHECK(answer(cases[i].which, 0.8 * cases[i].most, text) == NULL);
    }
}

/* Through a counterbalance valve oil enters freely and leaves only when the pressures have opened it. A line keeps no oil, and its
   pressure is between those around it. The supply gives its share of the demand, which does not depend on it. 1e-12: of the flow
   through open edges, as the pressure of a line is known to rounding */
enum { PRESSURE, LINE, FLOW, SETTING, SUPPLY, TANK, FROM_SUPPLY, TO_TANK, RATIO, SIZE, NAMES };

/* Of a chamber with such a valve; 1: the valve is closed and the oil stays */
static int check_valve(const double *v, const int *at, int c, double pilot)
{
    const double ps = v[at[SUPPLY]], pt = v[at[TANK]];
    const double p = v[at[PRESSURE] + c], line = v[at[LINE] + c], flow = v[at[FLOW] + c];
    const bool unopened = p + v[at[RATIO]] * pilot <= v[at[SETTING] + c];
    if (v[cylinder_drive.share] <= 1) CHECK(line >= fmin(fmin(p, ps), pt) && line <= larger(larger(p, ps), pt));
    CHECK(flow * (line - p) >= 0);
    CHECK(!unopened || flow >= 0);
    return unopened && flow == 0;
}

TEST(counterbalance_valves_hold)
{
    static const char *const names[NAMES] = {
        "p1",          "line1",       "flow1",       "counterbalance1", "supply_pressure", "tank_pressure",
        "supply_flow", "return_flow", "pilot_ratio", "nominal_flow"};
    for (int which = HOLDING_CYLINDER; which <= LOWERING_CYLINDER; which++) {
        const int valves = which == HOLDING_CYLINDER ? 2 : 1;
        struct specimen s;
        struct random random = {15};
        int at[NAMES], closed = 0, out = 0, in = 0;
        make(&s, which);
        for (int i = 0; i < NAMES; i++) at[i] = find(&s, names[i]);
        for (int point = 0; point < 3 * POINTS; point++) {
            draw(&s, &random);
            const double *v = s.v, *p = v + at[PRESSURE], share = v[cylinder_drive.share];
            for (int c = 0; c < valves; c++) { /* the pilot is the other pressure, or at most the highest one */
                closed += check_valve(v, at, c, valves == 1 ? p[1] : larger(p[1 - c], v[at[SUPPLY]]));
                out += v[at[FLOW] + c]<0, in += v[at[FLOW] + c]> 0;
            }
            CHECK_NEAR(v[at[FLOW]] + v[at[FLOW] + 1], v[at[FROM_SUPPLY]] - v[at[TO_TANK]], 1e-12 * v[at[SIZE]]);
            CHECK_NEAR(v[at[FROM_SUPPLY]], share * v[cylinder_drive.demand],
                       1e-15 * (fabs(v[at[FROM_SUPPLY]]) + v[at[SIZE]]));
            CHECK(value_at(&s, cylinder_drive.share, -0.1, cylinder_drive.demand) == v[cylinder_drive.demand]);
        }
        CHECK((valves == 2 || closed > POINTS / 10) && out > POINTS / 3 && in > POINTS / 3);
        arena_release(&s.arena);
    }
}

/* What the hook gives is stored in the load, in rope and ground, or lost: force.hook' + d(total)/dt + losses = 0. Forces pull and
   push, and never the other way; losses are not negative. All that can happen does */
TEST(sling_keeps_its_energy)
{
    struct specimen s;
    struct random random = {5};
    make(&s, SLING);
    const int hook = find(&s, "hook.velocity[1]"), force = find(&s, "force[1]");
    const int tension = find(&s, "tension"), ground = find(&s, "ground_force");
    const int total = find(&s, "energy.total"), losses = find(&s, "power.losses");
    const int parts[] = {find(&s, "energy.kinetic"), find(&s, "energy.gravity"), find(&s, "energy.strain")};
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
    const int hook = find(&s, "hook.position[1]"), load = find(&s, "position[1]");
    const int tension = find(&s, "tension"), ground = find(&s, "ground_force");
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

/* Odd, increasing, x beyond the play by half of it; its inverse inverts it. Without play it is x */
TEST(play_is_a_dead_zone)
{
    struct random random = {12};
    for (int i = 0; i < 1000; i++) {
        const double x = uniform(&random, -3, 3), b = uniform(&random, 0, 1) * (i % 4 > 0);
        const struct dead_zone at = dead_zone(x, b);
        const double beyond = larger(fabs(x) - b / 2, 0);
        CHECK(at.value == -dead_zone(-x, b).value && at.slope > 0 && at.slope <= 1);
        CHECK(fabs(at.value) >= beyond && fabs(at.value) <= beyond + b / 40); /* the width of a corner is b/20 */
        CHECK(b > 0 || (at.value == x && at.slope == 1 && at.curvature == 0));
        CHECK_NEAR(dead_zone_inverse(at.value, b), x, 1e-15 * 20 / at.slope);
        CHECK_NEAR(dead_zone_inverse(0, b), 0, 1e-15);
    }
}

/* The supply gives what is asked for up to nine tenths of its limit, the limit from eleven tenths, never more */
TEST(supply_is_shared)
{
    struct random random = {14};
    for (int i = 0; i < 1000; i++) {
        const double limit = uniform(&random, 0.1, 2), d = uniform(&random, -3, 3), h = 1e-6;
        const struct law share = supply_share(d, limit);
        CHECK(share.value > 0 && share.value <= 1 && share.value * d <= limit * (1 + 1e-15));
        CHECK(d > 0.9 * limit || (share.value == 1 && share.slope == 0));
        if (d > 1.1 * limit) CHECK_NEAR(share.value, limit / d, 1e-15);
        CHECK_NEAR(share.slope, (supply_share(d + h, limit).value - supply_share(d - h, limit).value) / (2 * h), 1e-4);
    }
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
        CHECK(positive_part(x, w).value >= larger(x, 0));
        CHECK(fabs(signed_root(x, w).value) <= sqrt(fabs(x)) && signed_root(x, w).value * x >= 0);
    }
}

TEST(drive_files_are_checked)
{
#define DRIVE(name, parameters) \
    "{\"format\": \"limber-drive/1\", \"drive\": \"" name "\", \"parameters\": " parameters "}"
    static const struct {
        const struct drive *drive;
        const char *text;
    } bad[] = {{&servo_drive, ""},
               {&servo_drive, "{"},
               {&servo_drive, "[]"},
               {&servo_drive, "null"},
               {&servo_drive, "{}"},
               {&servo_drive, "{\"format\": \"limber-robot/1\", \"drive\": \"servo\"}"},
               {&servo_drive, DRIVE("cylinder", "{}")},
               {&servo_drive, DRIVE("servo", "3")},
               {&servo_drive, DRIVE("servo", "{\"bore\": 3}")},
               {&servo_drive, DRIVE("servo", "{\"resistance\": -1}")},
               {&servo_drive, DRIVE("servo", "{\"efficiency\": 1.01}")},
               {&servo_drive, DRIVE("servo", "{\"solver.max_order\": 6}")},
               {&servo_drive, DRIVE("servo", "{\"resistance\": \"1\"}")},
               {&servo_drive, DRIVE("servo", "{\"resistance\": 1e999}")},
               {&cylinder_drive, DRIVE("cylinder", "{\"rod\": 0.08}")},
               {&sling_drive, DRIVE("sling", "{\"gravity[3]\": 0}")}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct report report = {0};
        struct arena arena = {0};
        struct variables variables;
        CHECK(companion_variables(bad[i].drive, "test", bad[i].text, &report, &arena, &variables) == STATUS_BAD_DRIVE);
        CHECK(report.errors > 0);
        arena_release(&arena);
    }
}

SUITE(companion_test)
