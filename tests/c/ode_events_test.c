/* Steps end at stops and other switches, with every method, and resolve dry friction: against closed forms. */
#include "test.h"

#include <string.h>

#include "ode/events.h"
#include "ode/methods.h"
#include "oracle/equations.h"
#include "oracle/problem.h"

static const struct integrator_options tight = {.relative_tolerance = 1e-8};

static struct one_step *one_step_of(struct integrator *integrator)
{
    return (struct one_step *)(void *)integrator;
}

/* ---- stops ------------------------------------------------------------------------------------------------------------------------ */

/* A ball that falls from a height of 1 m onto a spring, as a robot */
static const char ball[] =
    "{\"format\": \"limber-robot/1\", \"name\": \"ball\", \"gravity\": [0, 0, -9.81], \"links\": [{\"name\": \"ball\", "
    "\"joint\": {\"type\": \"prismatic\", \"axis\": [0, 0, 1], \"start\": {\"position\": 1}, \"limits\": {\"lower\": "
    "0, "
    "\"stiffness\": 1e5, \"damping\": %s, \"depth\": 0.001}}, \"rigid\": {\"mass\": 1, \"com\": [0, 0, 0], "
    "\"inertia\": [0.1, 0.1, 0.1, 0, 0, 0]}}]}";
static const double GRAVITY = 9.81, OMEGA = 316.22776601683796; /* sqrt(k/m) */

static int ball_problem(struct problem *problem, const char *damping)
{
    char text[1000];
    snprintf(text, sizeof text, ball, damping);
    return problem_read(problem, text);
}

/* Fall, half an oscillation about the rest position, rise, and so on */
static double fall_time(void)
{
    return sqrt(2 / GRAVITY);
}

static double contact_time(void)
{
    return 2 / OMEGA * (acos(-1) - atan(sqrt(2 * GRAVITY) * OMEGA / GRAVITY));
}

static double ball_height(double t)
{
    const double T = 2 * fall_time() + contact_time(), s = fmod(t, T), c = s - fall_time();
    if (c > 0 && c < contact_time())
        return -(GRAVITY / (OMEGA * OMEGA) * (1 - cos(OMEGA * c)) + sqrt(2 * GRAVITY) / OMEGA * sin(OMEGA * c));
    const double air = c <= 0 ? s : T - s;
    return 1 - GRAVITY * air * air / 2;
}

static double ball_energy(const double *y)
{
    const double p = fmin(y[0], 0);
    return y[1] * y[1] / 2 + GRAVITY * y[0] + 1e5 * p * p / 2;
}

/* Five times on the stop and back: the error follows the tolerance to 1e-8 */
static void bounce(integrator_maker *make, double tolerance, double allowed, struct integrator_statistics *count)
{
    struct problem problem;
    struct integrator_options options = {.relative_tolerance = tolerance, .max_order = 5};
    double y[2] = {1, 0}, reached, worst = 0, energy = 0;
    CHECK(ball_problem(&problem, "0") && problem.ode->n_switches == 4);
    struct integrator *integrator = problem_start(&problem, make, options);
    for (int i = 1; i <= 100; i++) {
        CHECK(integrator_advance(integrator, 0.05 * i, y, &reached) == STATUS_OK);
        worst = larger(worst, fabs(y[0] - ball_height(reached)));
        energy = larger(energy, fabs(ball_energy(y) / GRAVITY - 1));
    }
    integrator_statistics(integrator, count);
    printf("     rtol %.0e: height %.1e, energy %.1e, %ld steps, %ld events\n", tolerance, worst, energy, count->steps,
           count->events);
    CHECK(worst < allowed && energy < allowed);
    integrator_free(integrator);
    problem_free(&problem);
}

TEST(errors_of_a_bouncing_ball_fall_with_the_tolerance)
{
    static const struct {
        integrator_maker *make;
        double share; /* of the tolerance */
    } methods[] = {{esdirk_make, 100}, {explicit_make, 1000}, {gauss_make, 1000}, {cvode_make, 1e4}};
    for (int i = 0; i < 4; i++)
        for (double tolerance = i == 0 ? 1e-4 : 1e-5; tolerance > 1e-9; tolerance /= 10) {
            struct integrator_statistics count;
            bounce(methods[i].make, tolerance, methods[i].share * tolerance, &count);
            CHECK(count.events == 10); /* five contacts begin and end */
            CHECK(i > 0 || count.steps < 400);
            CHECK(i < 3 || count.restarts == 11);
        }
}

/* A step ends at the contact: to rounding */
TEST(contact_is_located)
{
    struct problem problem;
    CHECK(ball_problem(&problem, "0"));
    struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
    struct one_step *s = one_step_of(integrator);
    double y[2] = {1, 0}, t = 0;
    while (s->stage.count.events == 0) CHECK(integrator->ops->step(integrator, 1, y, &t) == STATUS_OK);
    CHECK_NEAR(t, fall_time(), 1e-12);
    CHECK_NEAR(y[0], 0, 1e-12);
    while (s->stage.count.events == 1) CHECK(integrator->ops->step(integrator, 1, y, &t) == STATUS_OK);
    CHECK_NEAR(t, fall_time() + contact_time(), 1e-8);
    integrator_free(integrator);
    problem_free(&problem);
}

/* The damper fades in, acts in full and would pull: every kink is an event, and errors fall with the tolerance */
TEST(damped_stops_converge)
{
    struct problem problem;
    double want[2], y[2], last = INFINITY;
    struct integrator_options options = {.relative_tolerance = 1e-11};
    CHECK(ball_problem(&problem, "60"));
    CHECK(problem_solve(&problem, esdirk_make, options, 2, 2, want, NULL) == STATUS_OK);
    for (double tolerance = 1e-4; tolerance > 1e-9; tolerance /= 10) {
        struct integrator_statistics count;
        options.relative_tolerance = tolerance;
        CHECK(problem_solve(&problem, esdirk_make, options, 2, 2, y, &count) == STATUS_OK);
        const double error = problem_distance(&problem, y, want);
        printf("     rtol %.0e: %.1e, %ld steps, %ld events\n", tolerance, error, count.steps, count.events);
        CHECK(error < 300 * tolerance && error < last);
        CHECK(count.events >= 10);
        last = error;
    }
    problem_free(&problem);
}

/* Fixed steps do not look for contacts */
TEST(fixed_steps_pass_switches)
{
    struct problem problem;
    struct integrator_statistics count;
    const struct integrator_options options = {.relative_tolerance = 1e-6, .fixed_step = 1e-4};
    double y[2];
    CHECK(ball_problem(&problem, "0"));
    CHECK(problem_solve(&problem, esdirk_make, options, 1, 1, y, &count) == STATUS_OK);
    CHECK(count.events == 0 && count.steps == 10000);
    CHECK_NEAR(y[0], ball_height(1), 0.02);
    problem_free(&problem);
}

/* ---- switches of other kinds ------------------------------------------------------------------------------------------------------- */

/* Two masses x'' = -g + k max(0, -x), each with its own spring */
struct masses {
    double g, k;
    double top; /* another stop above: its force k max(0, x - top) on the first mass; INFINITY: none */
};

static enum status masses_rhs(void *context, double t, const double *y, double *ydot)
{
    const struct masses *m = context;
    (void)t;
    for (int i = 0; i < 2; i++) {
        ydot[i] = y[2 + i];
        ydot[2 + i] = -m->g + m->k * larger(0, -y[i]) - (i == 0 ? m->k * larger(0, y[0] - m->top) : 0);
    }
    return STATUS_OK;
}

static enum status masses_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    const struct masses *m = context;
    (void)t;
    memset(A, 0, 4 * sizeof *A);
    memset(B, 0, 4 * sizeof *B);
    for (int i = 0; i < 2; i++) A[3 * i] = y[i] < 0 || (i == 0 && y[0] > m->top) ? -m->k : 0;
    return STATUS_OK;
}

static void masses_switches(void *context, double t, const double *y, double *g)
{
    const struct masses *m = context;
    (void)t;
    g[0] = y[0];
    g[1] = y[1];
    g[2] = larger(y[0] - m->top, -1e3);
}

static struct ode masses_ode(struct masses *m)
{
    return (struct ode){.n_x = 2,
                        .n_v = 2,
                        .context = m,
                        .rhs = masses_rhs,
                        .jacobian = masses_jacobian,
                        .n_switches = 3,
                        .switches = masses_switches};
}

/* From a height x with a velocity v: contact, then the time s after it, in contact */
static double in_contact(const struct masses *m, double x, double v, double t)
{
    const double down = sqrt(v * v + 2 * m->g * x), s = t - (v + down) / m->g, w = sqrt(m->k);
    return -(m->g / m->k * (1 - cos(w * s)) + down / w * sin(w * s));
}

/* Contacts in one step, at the same time and apart by any time: each is found */
TEST(several_switches_in_one_step)
{
    struct masses m = {10, 1e4, INFINITY};
    const struct ode ode = masses_ode(&m);
    for (double apart = 0.1; apart > 1e-17; apart *= 0.01) {
        const double from[4] = {1, 1 + apart, 0, 0}, end = sqrt(0.2) + 0.015;
        struct problem problem;
        struct integrator_statistics count;
        double y[4];
        problem_make(&problem, &ode, from);
        CHECK(problem_solve(&problem, esdirk_make, tight, end, end, y, &count) == STATUS_OK);
        const double fall = sqrt(2 * from[1] / m.g);
        CHECK_NEAR(y[0], in_contact(&m, 1, 0, end), 1e-6);
        CHECK_NEAR(y[1], fall < end ? in_contact(&m, from[1], 0, end) : from[1] - m.g * end * end / 2, 1e-6);
        CHECK(count.events >= 1 && count.events <= 4);
    }
}

/* Thrown up to a stop that it just reaches, does not reach, or passes by little: the step over the top sees it */
TEST(grazing_contact)
{
    for (int side = -1; side <= 1; side += 2)
        for (double depth = 1e-2; depth > 1e-13; depth *= 0.1) {
            struct masses m = {10, 1e4, 5 - side * depth}; /* its top is at 5 */
            const struct ode ode = masses_ode(&m);
            const double from[4] = {0.2, 100, sqrt(2 * 10 * 4.8), 0}, up = from[2] / 10;
            struct problem problem;
            struct integrator_statistics count;
            double y[4];
            problem_make(&problem, &ode, from);
            CHECK(problem_solve(&problem, esdirk_make, tight, 1.5 * up, 1.5 * up, y, &count) == STATUS_OK);
            if (side < 0 || depth < 1e-10) CHECK(count.events <= 10); /* rounding decides */
            else CHECK(count.events == 2);                            /* in and out */
            CHECK(count.steps < 200);
            if (side < 0) {
                CHECK_NEAR(y[0], 5 - 1.25 * up * up, 1e-6);
                continue;
            }
            /* up to the stop, half an oscillation about its rest position, down */
            const double v = sqrt(2 * 10 * depth), w = 100, rise = (from[2] - v) / 10, T = 2 / w * atan(v * w / 10);
            const double left = 1.5 * up - rise - T, x = m.top - v * left - 5 * left * left;
            CHECK_NEAR(y[0], x, 1e-6);
        }
}

/* At rest on the stop, exactly at it, moving in and out: the start is no event, and no step is tiny */
TEST(start_on_a_switch)
{
    struct masses m = {10, 1e4, INFINITY};
    const struct ode ode = masses_ode(&m);
    const double at[][4] = {
        {0, 0, 0, 0}, {0, 0, -1, 1}, {0, -m.g / m.k, 1, 0}, {1e-17, -1e-17, -1, -1}, {1e-12, 0, -2, 3}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct problem problem;
        struct integrator_statistics count;
        double y[4];
        problem_make(&problem, &ode, at[i]);
        CHECK(problem_solve(&problem, esdirk_make, tight, 0.01, 0.01, y, &count) == STATUS_OK);
        CHECK(count.steps < 120 && count.events <= 2);
        for (int k = 0; k < 2; k++) {
            const double v = at[i][2 + k], w = 100;
            if (fabs(at[i][k]) > 1e-11 || v > 0) continue;
            CHECK_NEAR(y[k], -(m.g / m.k * (1 - cos(w * 0.01)) - v / w * sin(w * 0.01)), 1e-7);
        }
    }
}

/* Two functions that change sign and change back within a step y = t, the later one first */
static void two_arches(void *context, double t, const double *y, double *g)
{
    (void)context, (void)t;
    g[0] = 0.01 - (y[0] - 0.7) * (y[0] - 0.7);
    g[1] = 0.01 - (y[0] - 0.3) * (y[0] - 0.3);
}

/* The fraction at which a step of 1 s crosses a switch; NAN: nowhere */
static double crossing(const struct ode *ode, const double *y1, bool failed)
{
    const double zero = 0;
    const struct event_step step = {0, 1, &zero, y1, y1, y1};
    struct arena arena = {0};
    struct events events;
    double share = NAN;
    events_make(&events, ode, &arena);
    if (arena.failed || !events_crossed(&events, &step, failed, &share)) share = NAN;
    arena_release(&arena);
    return share;
}

TEST(the_first_of_two_arches_is_found)
{
    const struct ode ode = {.n_v = 1, .n_switches = 2, .switches = two_arches};
    const double one = 1;
    for (int failed = 0; failed < 2; failed++) CHECK_NEAR(crossing(&ode, &one, failed != 0), 0.2, 1e-9);
}

/* Positive at both ends of the step, negative within 0.003 of 0.3: a cubic, of which values and slopes at the ends give the extremum */
static void narrow_dip(void *context, double t, const double *y, double *g)
{
    (void)context, (void)y;
    g[0] = (t - 0.3) * (t - 0.3) * (t + 1) - 1e-5;
}

TEST(a_narrow_dip_is_found)
{
    const struct ode ode = {.n_v = 1, .n_switches = 1, .switches = narrow_dip};
    const double zero = 0;
    CHECK_NEAR(crossing(&ode, &zero, false), 0.3 - sqrt(1e-5 / 1.3), 1e-5);
}

static const double pendulum_start[2] = {0, 1};

/* g = sin(1/(t0 - t)) has infinitely many zeros: the steps go on */
static void many_switches(void *context, double t, const double *y, double *g)
{
    (void)context, (void)y;
    g[0] = sin(1 / (1 - t + 1e-30));
}

TEST(switches_without_end_do_not_stop_it)
{
    struct ode ode = pendulum;
    struct problem problem;
    struct integrator_statistics count;
    double y[2];
    ode.n_switches = 1;
    ode.switches = many_switches;
    problem_make(&problem, &ode, pendulum_start);
    CHECK(problem_solve(&problem, esdirk_make, tight, 2, 2, y, &count) == STATUS_OK);
    CHECK_NEAR(pendulum_energy(y), pendulum_energy(pendulum_start), 1e-6);
    CHECK(count.events > 3 && count.steps < 2000);
    printf("     %ld steps, %ld events\n", count.steps, count.events);
}

/* ---- dry friction --------------------------------------------------------------------------------------------------------------------- */

/* m v' = -F tanh(v/c):  sinh(v/c) = sinh(v0/c) e^(-F t/(m c)) */
static double sliding(double v0, double F, double c, double t)
{
    const double log_sinh = v0 / c - log(2) + log1p(-exp(-2 * v0 / c)) - F * t / c;
    return log_sinh > 20 ? c * (log_sinh + log(2)) : c * asinh(exp(log_sinh));
}

static const char slider[] =
    "{\"format\": \"limber-robot/1\", \"name\": \"slider\", \"gravity\": [0, 0, 0], \"links\": [{\"name\": \"slider\", "
    "\"joint\": {\"type\": \"prismatic\", \"axis\": [1, 0, 0], \"start\": {\"velocity\": 1}, \"coulomb\": 5, "
    "\"coulomb_velocity\": 0.001}, \"rigid\": {\"mass\": 1, \"com\": [0, 0, 0], \"inertia\": [0.1, 0.1, 0.1, 0, 0, "
    "0]}}]}";

TEST(a_sliding_mass_comes_to_rest)
{
    const double c = 1e-3;
    for (double tolerance = 1e-3; tolerance > 1e-9; tolerance /= 10) {
        struct problem problem;
        const struct integrator_options options = {.relative_tolerance = tolerance};
        CHECK(problem_read(&problem, slider) && problem.ode->longest_step != NULL);
        struct integrator *integrator = problem_start(&problem, esdirk_make, options);
        double y[2] = {0, 1}, t = 0, worst = 0;
        int inside = 0;
        while (t < 0.3) {
            const double v = y[1];
            CHECK(integrator->ops->step(integrator, 0.3, y, &t) == STATUS_OK);
            if (fabs(v) > 3 * c) CHECK(y[1] > 0); /* the band is not jumped over */
            if (fabs(v) < 3 * c) CHECK(fabs(y[1] - v) < 4 * c);
            inside += fabs(v) < 3 * c && fabs(v) > 0.05 * c;
            worst = larger(worst, fabs(y[1] - sliding(1, 5, c, t)));
        }
        printf("     rtol %.0e: velocity off by %.1e, %ld steps\n", tolerance, worst,
               one_step_of(integrator)->stage.count.steps);
        CHECK(worst < 10 * tolerance + 1e-9 && inside >= 1);
        CHECK(one_step_of(integrator)->stage.count.steps < 600);
        integrator_free(integrator);
        problem_free(&problem);
    }
}

/* A limit that is shorter than any step can be does not stop it */
static double no_step(void *context, const double *y, const double *ydot)
{
    (void)context, (void)y, (void)ydot;
    return 1e-300;
}

TEST(the_longest_step_is_not_shorter_than_the_shortest)
{
    struct ode ode = pendulum;
    struct problem problem;
    double y[2] = {0, 1}, t = 0.5;
    ode.longest_step = no_step;
    problem_make(&problem, &ode, pendulum_start);
    struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
    for (int i = 0; i < 10; i++) CHECK(integrator->ops->step(integrator, 1, y, &t) == STATUS_OK);
    CHECK(t > 0.5);
    integrator_free(integrator);
}

SUITE(ode_events_test)
