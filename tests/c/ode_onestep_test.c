/* What one-step methods have in common: step control and its failures, restarts, memory, fixed steps. With ESDIRK as the method. */
#include "test.h"

#include <float.h>
#include <string.h>

#include "ode/esdirk.h"
#include "ode/tableau.h"
#include "support/problem.h"

static const struct integrator_options tight = {.relative_tolerance = 1e-8}, loose = {.relative_tolerance = 1e-4};

/* ---- an oscillator that can fail ------------------------------------------------------------------------------------------ */

/* x'' = -x + force, after the time `until` broken in some way */
enum broken { SOUND, RHS, RHS_FINAL, RHS_NAN, JACOBIAN, PROJECT, PROJECT_FINAL, NOISE, SINGULAR, WRONG_JACOBIAN };

struct oscillator {
    enum broken broken;
    double until;
    double force;
    int calls; /* of the right-hand side */
};

static enum status rhs(void *context, double t, const double *y, double *ydot)
{
    struct oscillator *o = context;
    const bool late = t > o->until;
    o->calls++;
    ydot[0] = y[1];
    ydot[1] = -y[0] + o->force;
    if (late && o->broken == NOISE) ydot[1] += 1e12 * sin(1e18 * t);
    if (late && o->broken == WRONG_JACOBIAN) ydot[1] -= 1e3 * y[1];
    if (late && o->broken == RHS_NAN) ydot[1] = NAN;
    return late && o->broken == RHS         ? STATUS_NOT_POSITIVE
           : late && o->broken == RHS_FINAL ? STATUS_NO_MEMORY
                                            : STATUS_OK;
}

static enum status jacobian(void *context, double t, const double *y, double *A, double *B)
{
    const struct oscillator *o = context;
    const bool late = t > o->until;
    (void)y;
    *A = -1;
    *B = late && o->broken == WRONG_JACOBIAN ? 1e3 : 0;
    if (o->broken == SINGULAR) *A = 0, *B = 128; /* 1 - gamma B = 0 at gamma = 1/128 */
    return late && o->broken == JACOBIAN ? STATUS_NOT_POSITIVE : STATUS_OK;
}

static enum status project(void *context, double t, double *y, double *error)
{
    const struct oscillator *o = context;
    (void)y, (void)error;
    if (!(t > o->until)) return STATUS_OK;
    return o->broken == PROJECT ? STATUS_LOOP_NOT_CLOSED : o->broken == PROJECT_FINAL ? STATUS_NO_MEMORY : STATUS_OK;
}

static const double start[2] = {0, 1};

static struct ode oscillator_ode(struct oscillator *o)
{
    return (struct ode){.n_x = 1, .n_v = 1, .context = o, .rhs = rhs, .jacobian = jacobian, .project = project};
}

static struct one_step *one_step_of(struct integrator *integrator)
{
    return (struct one_step *)(void *)integrator;
}

/* ---- ends, counts, failures ---------------------------------------------------------------------------------------------------- */

TEST(it_ends_exactly_where_it_should)
{
    struct oscillator o = {SOUND, INFINITY, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    struct problem problem;
    struct integrator_statistics count;
    problem_make(&problem, &ode, start);
    struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
    double y[2] = {0, 1}, reached;
    for (int i = 1; i <= 20; i++) {
        const double end = 0.37 * i;
        CHECK(integrator_advance(integrator, end, y, &reached) == STATUS_OK && reached == end);
        CHECK_NEAR(y[0], sin(end), 1e-7);
        CHECK_NEAR(y[1], cos(end), 1e-7);
        CHECK(integrator_advance(integrator, end, y, &reached) == STATUS_OK && reached == end); /* there already */
    }
    integrator_statistics(integrator, &count);
    CHECK(count.rhs >= count.steps * 3 && count.jacobians == count.factorizations && count.restarts == 1);
    CHECK(integrator_step_size(integrator) > 0 && !integrator_has_history(integrator));
    integrator_reset(integrator);
    integrator_statistics(integrator, &count);
    CHECK(count.steps == 0 && count.rhs == 0 && count.restarts == 0 && integrator_step_size(integrator) == 0);
    integrator_free(integrator);
}

/* On the way to t = 2: the last good state, at the time of the failure or a step before it, and the reason in words */
static void check_failure(enum broken broken, enum status expected)
{
    struct oscillator o = {broken, 0.7, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    struct problem problem;
    problem_make(&problem, &ode, start);
    struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
    double y[2] = {0, 1}, reached;
    const enum status status = integrator_advance(integrator, 2, y, &reached);
    if (status != expected) printf("     broken %d: %s\n", broken, status_text(status));
    CHECK(status == expected);
    CHECK(strncmp(integrator->failure, status_text(expected), strlen(status_text(expected))) == 0);
    CHECK(reached > 0.3 && reached < 0.75); /* at a stage or at the end of a step */
    CHECK_NEAR(y[0], sin(reached), 1e-6);
    integrator_free(integrator);
}

TEST(every_failure_has_its_cause)
{
    check_failure(RHS, STATUS_NO_RATES);
    check_failure(RHS_FINAL, STATUS_NO_RATES);
    check_failure(RHS_NAN, STATUS_NEWTON);
    check_failure(JACOBIAN, STATUS_NEWTON_MATRIX);
    check_failure(PROJECT, STATUS_NOT_PROJECTED);
    check_failure(PROJECT_FINAL, STATUS_NOT_PROJECTED);
}

/* Noise instead of a function: no step is short enough */
TEST(errors_that_do_not_fall_with_the_step_end_it)
{
    struct oscillator o = {NOISE, 0.7, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    struct problem problem;
    problem_make(&problem, &ode, start);
    struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
    double y[2] = {0, 1}, reached;
    CHECK(integrator_advance(integrator, 2, y, &reached) == STATUS_ERROR_TEST);
    CHECK(reached < 0.75 && one_step_of(integrator)->count.error_test_failures > 5);
    integrator_free(integrator);
}

TEST(no_rates_at_the_start)
{
    const enum broken kinds[] = {RHS, RHS_NAN, RHS_FINAL};
    const enum status expected[] = {STATUS_NO_RATES, STATUS_NO_RATES, STATUS_NO_RATES};
    for (int i = 0; i < 3; i++) {
        struct oscillator o = {kinds[i], -1, 0, 0};
        const struct ode ode = oscillator_ode(&o);
        struct problem problem;
        double y[2] = {0, 1}, reached;
        problem_make(&problem, &ode, start);
        struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
        CHECK(integrator_advance(integrator, 1, y, &reached) == expected[i]);
        CHECK(reached == 0 && y[0] == 0 && y[1] == 1);
        integrator_free(integrator);
    }
}

/* 1e11 times the nominal value in a second, which is 1 for both states */
TEST(rates_have_a_limit)
{
    struct oscillator o = {SOUND, INFINITY, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    for (int i = 0; i < 2; i++) {
        struct problem problem;
        double y[2] = {0, 1}, reached;
        problem_make(&problem, &ode, start);
        struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
        o.force = i == 0 ? 0.9e11 : 1.1e11;
        CHECK(integrator_advance(integrator, 1e-9, y, &reached) == (i == 0 ? STATUS_OK : STATUS_TOO_FAST));
        CHECK(i == 0 || (reached == 0 && y[0] == 0 && y[1] == 1));
        integrator_free(integrator);
    }
}

TEST(more_digits_than_there_are)
{
    struct oscillator o = {SOUND, INFINITY, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    const struct integrator_options options = {.relative_tolerance = 1e-17};
    struct problem problem;
    double y[2];
    problem_make(&problem, &ode, start);
    CHECK(problem_solve(&problem, esdirk_make, options, 1, 1, y, NULL) == STATUS_TOO_ACCURATE);
}

/* Late, and over a time that is lost in the rounding of the step control */
TEST(the_last_step_may_be_tiny)
{
    struct oscillator o = {SOUND, INFINITY, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    struct problem problem;
    problem_make(&problem, &ode, start);
    struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
    double y[2] = {0, 1}, reached;
    CHECK(integrator_advance(integrator, 1, y, &reached) == STATUS_OK);
    CHECK(integrator_advance(integrator, 1 + 10 * DBL_EPSILON, y, &reached) == STATUS_OK);
    CHECK(reached == 1 + 10 * DBL_EPSILON);
    integrator_free(integrator);
}

/* A matrix that is singular for one step size costs one attempt */
TEST(a_singular_newton_matrix_is_avoided)
{
    struct oscillator o = {SINGULAR, INFINITY, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    struct problem problem;
    problem_make(&problem, &ode, start);
    struct integrator *integrator = problem_start(&problem, esdirk_make, loose);
    double y[2] = {0, 1}, reached;
    const double h = 1.0 / 128 / ESDIRK5.gamma;
    one_step_of(integrator)->now->h = h;
    CHECK(integrator_advance(integrator, h, y, &reached) == STATUS_OK);
    CHECK(one_step_of(integrator)->count.newton_failures > 0);
    CHECK_NEAR(y[0], sin(h), 1e-4);
    integrator_free(integrator);
}

/* Newton's iteration diverges at all but short steps: these are found, and the motion is right */
TEST(a_wrong_jacobian_costs_steps)
{
    struct oscillator o = {WRONG_JACOBIAN, -1, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    struct problem problem;
    struct integrator_statistics count;
    double y[2];
    problem_make(&problem, &ode, start);
    CHECK(problem_solve(&problem, esdirk_make, loose, 1, 1, y, &count) == STATUS_OK);
    CHECK(count.newton_failures > 0 && count.factorizations > 2 * count.steps); /* slow: a matrix at every stage */
    CHECK_NEAR(y[0], 1e-3 * exp(-1e-3), 1e-4);
}

TEST(too_many_steps)
{
    struct oscillator o = {SOUND, INFINITY, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    struct problem problem;
    problem_make(&problem, &ode, start);
    const struct integrator_options few = {.relative_tolerance = 1e-8, .max_steps = 7},
                                    short_steps = {.relative_tolerance = 1e-8, .max_step = 1e-9};
    struct integrator *integrator = problem_start(&problem, esdirk_make, few);
    double y[2] = {0, 1}, reached;
    CHECK(integrator_advance(integrator, 100, y, &reached) == STATUS_TOO_MANY_STEPS);
    CHECK(one_step_of(integrator)->count.steps == 7 && reached > 0 && reached < 100);
    CHECK_NEAR(y[0], sin(reached), 1e-6);
    CHECK(integrator_advance(integrator, reached + 1e-3, y, &reached) == STATUS_OK); /* the next advance counts anew */
    integrator_free(integrator);

    integrator = problem_start(&problem, esdirk_make, short_steps);
    memcpy(y, start, sizeof y);
    CHECK(integrator_advance(integrator, 1, y, &reached) == STATUS_STEPS_TOO_SHORT);
    CHECK(one_step_of(integrator)->count.steps == 10000);
    CHECK(integrator_advance(integrator, reached + 1e-6, y, &reached) ==
          STATUS_OK); /* 1000 steps are no reason to stop */
    integrator_free(integrator);
}

/* y' = -1e6 (y - cos t), of first order: steps follow the solution, not the rate; nothing moves: one step */
static enum status stiff_rhs(void *context, double t, const double *y, double *ydot)
{
    (void)context;
    ydot[0] = -1e6 * (y[0] - cos(t));
    return STATUS_OK;
}

static enum status stiff_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    (void)context, (void)t, (void)y, (void)A;
    *B = -1e6;
    return STATUS_OK;
}

static enum status still_rhs(void *context, double t, const double *y, double *ydot)
{
    (void)context, (void)t, (void)y;
    ydot[0] = 0;
    return STATUS_OK;
}

TEST(stiff_and_still_equations_of_first_order)
{
    const struct ode stiff = {.n_v = 1, .rhs = stiff_rhs, .jacobian = stiff_jacobian},
                     still = {.n_v = 1, .rhs = still_rhs, .jacobian = stiff_jacobian};
    const double one = 1;
    struct problem problem;
    struct integrator_statistics count;
    double y;
    problem_make(&problem, &stiff, &one);
    CHECK(problem_solve(&problem, esdirk_make, loose, 10, 10, &y, &count) == STATUS_OK);
    CHECK_NEAR(y, cos(10), 1e-4);
    CHECK(count.steps < 300);
    problem_make(&problem, &still, &one);
    CHECK(problem_solve(&problem, esdirk_make, loose, 1e6, 1e6, &y, &count) == STATUS_OK);
    CHECK_NEAR(y, 1, 1e-9);
    CHECK(count.steps == 1);
}

/* ---- restarts and memory ------------------------------------------------------------------------------------------------------- */

/* New inputs cost one right-hand side, new slopes of them none, and keep the step size; a restart with another state chooses it anew, or takes the given one */
TEST(new_inputs_keep_the_step_size)
{
    struct oscillator o = {SOUND, INFINITY, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    const struct restart inputs = {.inputs_only = true, .values_jumped = true}, slopes = {.inputs_only = true},
                         fresh = {0}, given = {.first_step = 1e-5};
    struct problem problem;
    problem_make(&problem, &ode, start);
    struct integrator *integrator = problem_start(&problem, esdirk_make, tight);
    struct one_step *s = one_step_of(integrator);
    double y[2] = {0, 1}, reached;
    CHECK(integrator_restart(integrator, 0, y, &inputs) == STATUS_OK); /* before anything was integrated */
    CHECK(integrator_advance(integrator, 1, y, &reached) == STATUS_OK);
    for (int jump = 0; jump < 2; jump++) {
        const double h = integrator_step_size(integrator), past = s->now->own[0];
        const long before = s->count.steps;
        o.force += jump; /* first no change, then a jump */
        CHECK(past > 0);
        CHECK(integrator_restart(integrator, reached, y, &inputs) == STATUS_OK &&
              integrator_step_size(integrator) == h);
        CHECK(s->now->has_rates == -1);
        CHECK(integrator_advance(integrator, reached + 1e-3 * h, y, &reached) == STATUS_OK &&
              s->count.steps == before + 1);
        CHECK(integrator_step_size(integrator) >= h);
    }
    CHECK(integrator_restart(integrator, reached, y, &slopes) == STATUS_OK && s->now->has_rates == 1);
    /* x = 1 + (x1 - 1) cos s + v1 sin s from here */
    const double t1 = reached, x1 = y[0], v1 = y[1];
    CHECK(integrator_advance(integrator, t1 + 2, y, &reached) == STATUS_OK);
    CHECK_NEAR(y[0], 1 + (x1 - 1) * cos(2) + v1 * sin(2), 1e-6);
    CHECK(integrator_restart(integrator, reached, y, &given) == STATUS_OK && integrator_step_size(integrator) == 1e-5);
    CHECK(integrator_restart(integrator, reached, y, &fresh) == STATUS_OK && integrator_step_size(integrator) == 0);
    CHECK(s->count.restarts == 7);
    integrator_free(integrator);
}

static const char *const robots[] = {"canadarm",  "canadarm-spatial", "cibicik",  "crane",    "chain-7",
                                     "twisted-7", "four-bar",         "dualemps", "two-arms", "parallelogram"};
enum { ROBOTS = sizeof robots / sizeof *robots, MOST_MEMORY = 20000 };

/* A copy that has integrated something else before continues with the same bits: nothing but the memory matters */
TEST(memory_continues_with_the_same_bits)
{
    static double memory[MOST_MEMORY];
    for (int i = 0; i < ROBOTS; i++)
        for (int fixed = 0; fixed < 2; fixed++) {
            struct problem problem[2];
            struct integrator *integrator[2];
            const struct integrator_options options = {.relative_tolerance = 1e-6, .fixed_step = fixed ? 1e-4 : 0};
            double y[2][MOST_STATES], reached[2], other[MOST_STATES];
            char file[100];
            snprintf(file, sizeof file, "resources/%s.json", robots[i]);
            for (int k = 0; k < 2; k++) {
                CHECK(problem_load(&problem[k], file));
                integrator[k] = problem_start(&problem[k], esdirk_make, options);
            }
            const int n = ode_states(problem[0].ode);
            memcpy(y[0], problem[0].y, sizeof y[0]);
            memcpy(other, problem[0].y, sizeof other);
            CHECK(integrator_advance(integrator[1], 0.013, other, &reached[1]) == STATUS_OK);
            CHECK(integrator_advance(integrator[0], 0.005, y[0], &reached[0]) == STATUS_OK);
            CHECK(integrator_memory_size(integrator[0]) <= MOST_MEMORY);
            integrator_save(integrator[0], memory);
            integrator_resume(integrator[1], 0.005, memory);
            memcpy(y[1], y[0], sizeof y[1]);
            for (int k = 0; k < 2; k++)
                for (int j = 1; j <= 5; j++)
                    CHECK(integrator_advance(integrator[k], 0.005 + 0.001 * j, y[k], &reached[k]) == STATUS_OK);
            if (memcmp(y[0], y[1], (size_t)n * sizeof(double)) != 0) printf("     %s\n", robots[i]);
            CHECK(memcmp(y[0], y[1], (size_t)n * sizeof(double)) == 0);
            for (int k = 0; k < 2; k++) {
                integrator_free(integrator[k]);
                problem_free(&problem[k]);
            }
        }
}

/* Steps of equal size share factors of N. A copy that takes over in between makes them again, continues with the same bits, and counts
   the same work. */
TEST(factors_are_kept_over_equal_steps)
{
    static double memory[MOST_MEMORY];
    const struct integrator_options rough = {.relative_tolerance = 1e-3};
    struct problem problem[2];
    struct integrator *integrator[2];
    struct integrator_statistics before[2], after[2];
    double y[2][MOST_STATES], reached;
    for (int k = 0; k < 2; k++) {
        CHECK(problem_load(&problem[k], "resources/cibicik.json"));
        integrator[k] = problem_start(&problem[k], esdirk_make, rough);
    }
    memcpy(y[0], problem[0].y, sizeof y[0]);
    for (int j = 1; j <= 105; j++) CHECK(integrator_advance(integrator[0], 2e-4 * j, y[0], &reached) == STATUS_OK);
    integrator_save(integrator[0], memory);
    integrator_resume(integrator[1], reached, memory);
    memcpy(y[1], y[0], sizeof y[1]);
    for (int k = 0; k < 2; k++) {
        integrator_statistics(integrator[k], &before[k]);
        for (int j = 106; j <= 205; j++)
            CHECK(integrator_advance(integrator[k], 2e-4 * j, y[k], &reached) == STATUS_OK);
        integrator_statistics(integrator[k], &after[k]);
        CHECK(after[k].steps - before[k].steps == 100);
        CHECK(after[k].factorizations - before[k].factorizations <= 10);
    }
    CHECK(after[1].work - before[1].work == after[0].work - before[0].work);
    CHECK(memcmp(y[0], y[1], (size_t)ode_states(problem[0].ode) * sizeof(double)) == 0);
    for (int k = 0; k < 2; k++) {
        integrator_free(integrator[k]);
        problem_free(&problem[k]);
    }
}

/* ---- fixed steps ---------------------------------------------------------------------------------------------------------------- */

/* ceil(H/fixed - 1e-9) steps, each with the same work: six stages, two Newton iterations each, three with loops; the result is that of error control as the steps become short */
TEST(fixed_steps_have_fixed_work)
{
    for (int i = 0; i < ROBOTS; i++) {
        struct problem problem;
        struct integrator_statistics count;
        const struct integrator_options options = {.relative_tolerance = 1e-6, .fixed_step = 1e-4};
        char file[100];
        double y[MOST_STATES], want[MOST_STATES];
        snprintf(file, sizeof file, "resources/%s.json", robots[i]);
        CHECK(problem_load(&problem, file));
        CHECK(problem_solve(&problem, esdirk_make, options, 0.01, 1e-3, y, &count) == STATUS_OK);
        const long iterations = 600 * (problem.ode->n_lambda > 0 ? 3 : 2);
        CHECK(count.steps == 100 && count.factorizations == 100 && count.residuals == iterations && count.rhs == 1);
        CHECK(count.newton_iterations == iterations && count.error_test_failures == 0 && count.newton_failures == 0);
        CHECK(problem_solve(&problem, esdirk_make, options, 0.01, 2.5e-4, y, &count) == STATUS_OK &&
              count.steps == 120);
        CHECK(problem_solve(&problem, esdirk_make, options, 0.01, 1e-3 / 3, y, &count) == STATUS_OK &&
              count.steps == 120);
        CHECK(problem_solve(&problem, esdirk_make, tight, 0.01, 0.01, want, NULL) == STATUS_OK);
        printf("     %-16s off by %.1e\n", robots[i], problem_distance(&problem, y, want));
        problem_free(&problem);
    }
}

TEST(fixed_steps_that_fail)
{
    struct oscillator o = {RHS, 0.72, 0, 0};
    const struct ode ode = oscillator_ode(&o);
    const struct integrator_options options = {.relative_tolerance = 1e-6, .fixed_step = 0.05};
    struct problem problem;
    double y[2] = {0, 1}, reached;
    problem_make(&problem, &ode, start);
    struct integrator *integrator = problem_start(&problem, esdirk_make, options);
    CHECK(integrator_advance(integrator, 2, y, &reached) == STATUS_NO_RATES);
    CHECK_NEAR(reached, 0.7, 1e-9);
    CHECK_NEAR(y[0], sin(reached), 1e-6);
    integrator_free(integrator);
    o.broken = RHS_NAN;
    memcpy(y, start, sizeof y);
    integrator = problem_start(&problem, esdirk_make, options);
    CHECK(integrator_advance(integrator, 2, y, &reached) != STATUS_OK);
    CHECK_NEAR(reached, 0.7, 1e-9);
    CHECK_NEAR(y[0], sin(reached), 1e-6);
    integrator_free(integrator);

    const struct integrator_options counted = {.relative_tolerance = 1e-6, .fixed_step = 0.05, .max_steps = 10};
    CHECK(problem_solve(&problem, esdirk_make, counted, 0.5, 0.5, y, NULL) == STATUS_OK); /* as many as it takes */
    CHECK(problem_solve(&problem, esdirk_make, counted, 0.6, 0.6, y, NULL) == STATUS_TOO_MANY_STEPS);
}

int ode_onestep_test(void)
{
    RUN(it_ends_exactly_where_it_should);
    RUN(every_failure_has_its_cause);
    RUN(errors_that_do_not_fall_with_the_step_end_it);
    RUN(no_rates_at_the_start);
    RUN(rates_have_a_limit);
    RUN(more_digits_than_there_are);
    RUN(the_last_step_may_be_tiny);
    RUN(a_singular_newton_matrix_is_avoided);
    RUN(a_wrong_jacobian_costs_steps);
    RUN(too_many_steps);
    RUN(stiff_and_still_equations_of_first_order);
    RUN(new_inputs_keep_the_step_size);
    RUN(memory_continues_with_the_same_bits);
    RUN(factors_are_kept_over_equal_steps);
    RUN(fixed_steps_have_fixed_work);
    RUN(fixed_steps_that_fail);
    return test_summary();
}
