/* What one-step methods have in common: step control and its failures, restarts, memory, fixed steps. With ESDIRK as the method.
   ode_integrator_test has what all methods promise. */
#include "test.h"

#include <float.h>
#include <string.h>

#include "ode/methods.h"
#include "ode/tableau.h"
#include "oracle/problem.h"

static const struct integrator_options tight = {.relative_tolerance = 1e-8}, loose = {.relative_tolerance = 1e-4};

/* ---- an oscillator that can fail ------------------------------------------------------------------------------------------ */

/* x'' = -x + force, after the time `until` broken in some way */
enum broken { SOUND, RHS, RHS_NAN, NOISE, SINGULAR, WRONG_JACOBIAN };

struct oscillator {
    enum broken broken;
    double until;
    double force;
};

static enum status rhs(void *context, double t, const double *y, double *ydot)
{
    const struct oscillator *o = context;
    const bool late = t > o->until;
    ydot[0] = y[1];
    ydot[1] = -y[0] + o->force;
    if (late && o->broken == NOISE) ydot[1] += 1e12 * sin(1e18 * t);
    if (late && o->broken == WRONG_JACOBIAN) ydot[1] -= 1e3 * y[1];
    if (late && o->broken == RHS_NAN) ydot[1] = NAN;
    return late && o->broken == RHS ? STATUS_NOT_POSITIVE : STATUS_OK;
}

static enum status jacobian(void *context, double t, const double *y, double *A, double *B)
{
    const struct oscillator *o = context;
    (void)y;
    *A = -1;
    *B = t > o->until && o->broken == WRONG_JACOBIAN ? 1e3 : 0;
    if (o->broken == SINGULAR) *A = 0, *B = 128; /* 1 - gamma B = 0 at gamma = 1/128 */
    return STATUS_OK;
}

static struct one_step *one_step_of(struct integrator *integrator)
{
    return (struct one_step *)(void *)integrator;
}

/* From (0, 1) at t = 0 */
struct trial {
    struct oscillator o;
    struct ode ode;
    struct problem problem;
    struct integrator *integrator;
    double y[2], reached;
};

static void begin(struct trial *t, struct oscillator o, struct integrator_options options)
{
    static const double start[2] = {0, 1};
    t->o = o;
    t->ode = (struct ode){.n_x = 1, .n_v = 1, .context = &t->o, .rhs = rhs, .jacobian = jacobian};
    problem_make(&t->problem, &t->ode, start);
    t->integrator = problem_start(&t->problem, esdirk_make, options);
    memcpy(t->y, start, sizeof start);
}

static enum status advance(struct trial *t, double end)
{
    return integrator_advance(t->integrator, end, t->y, &t->reached);
}

/* ---- ends and failures ------------------------------------------------------------------------------------------------------------ */

/* Noise instead of a function: no step is short enough */
TEST(errors_that_do_not_fall_with_the_step_end_it)
{
    struct trial t;
    begin(&t, (struct oscillator){NOISE, 0.7, 0}, tight);
    CHECK(advance(&t, 2) == STATUS_ERROR_TEST);
    CHECK(t.reached < 0.75 && one_step_of(t.integrator)->stage.count.error_test_failures > 5);
    integrator_free(t.integrator);
}

/* 1e11 times the nominal value in a second, which is 1 for both states */
TEST(rates_have_a_limit)
{
    for (int i = 0; i < 2; i++) {
        struct trial t;
        begin(&t, (struct oscillator){SOUND, INFINITY, i == 0 ? 0.9e11 : 1.1e11}, tight);
        CHECK(advance(&t, 1e-9) == (i == 0 ? STATUS_OK : STATUS_TOO_FAST));
        CHECK(i == 0 || (t.reached == 0 && t.y[0] == 0 && t.y[1] == 1));
        integrator_free(t.integrator);
    }
}

/* Late, and over a time that is lost in the rounding of the step control */
TEST(the_last_step_may_be_tiny)
{
    struct trial t;
    begin(&t, (struct oscillator){SOUND, INFINITY, 0}, tight);
    CHECK(advance(&t, 1) == STATUS_OK);
    CHECK(advance(&t, 1 + 10 * DBL_EPSILON) == STATUS_OK && t.reached == 1 + 10 * DBL_EPSILON);
    integrator_free(t.integrator);
}

/* A matrix that is singular for one step size costs one attempt */
TEST(a_singular_newton_matrix_is_avoided)
{
    struct trial t;
    const double h = 1.0 / 128 / ESDIRK5.gamma;
    begin(&t, (struct oscillator){SINGULAR, INFINITY, 0}, loose);
    one_step_of(t.integrator)->now->h = h;
    CHECK(advance(&t, h) == STATUS_OK && one_step_of(t.integrator)->stage.count.newton_failures > 0);
    CHECK_NEAR(t.y[0], sin(h), 1e-4);
    integrator_free(t.integrator);
}

/* Newton's iteration diverges at all but short steps: these are found, and the motion is right */
TEST(a_wrong_jacobian_costs_steps)
{
    struct trial t;
    begin(&t, (struct oscillator){WRONG_JACOBIAN, -1, 0}, loose);
    CHECK(advance(&t, 1) == STATUS_OK);
    struct integrator_statistics count;
    integrator_statistics(t.integrator, &count);
    CHECK(count.newton_failures > 0 && count.factorizations > 2 * count.steps); /* slow: a matrix at every stage */
    CHECK_NEAR(t.y[0], 1e-3 * exp(-1e-3), 1e-4);
    integrator_free(t.integrator);
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
    const struct restart inputs = {.inputs_only = true, .values_jumped = true}, slopes = {.inputs_only = true},
                         fresh = {0}, given = {.first_step = 1e-5};
    struct trial t;
    begin(&t, (struct oscillator){SOUND, INFINITY, 0}, tight);
    struct integrator *integrator = t.integrator;
    struct one_step *s = one_step_of(integrator);
    CHECK(integrator_restart(integrator, 0, t.y, &inputs) == STATUS_OK); /* before anything was integrated */
    CHECK(advance(&t, 1) == STATUS_OK);
    for (int jump = 0; jump < 2; jump++) {
        const double h = integrator_step_size(integrator), past = s->now->own[0];
        const long before = s->stage.count.steps;
        t.o.force += jump; /* first no change, then a jump */
        CHECK(past > 0);
        CHECK(integrator_restart(integrator, t.reached, t.y, &inputs) == STATUS_OK &&
              integrator_step_size(integrator) == h);
        CHECK(s->now->has_rates == -1);
        CHECK(advance(&t, t.reached + 1e-3 * h) == STATUS_OK && s->stage.count.steps == before + 1);
        CHECK(integrator_step_size(integrator) >= h);
    }
    CHECK(integrator_restart(integrator, t.reached, t.y, &slopes) == STATUS_OK && s->now->has_rates == 1);
    /* x = 1 + (x1 - 1) cos s + v1 sin s from here */
    const double x1 = t.y[0], v1 = t.y[1];
    CHECK(advance(&t, t.reached + 2) == STATUS_OK);
    CHECK_NEAR(t.y[0], 1 + (x1 - 1) * cos(2) + v1 * sin(2), 1e-6);
    CHECK(integrator_restart(integrator, t.reached, t.y, &given) == STATUS_OK &&
          integrator_step_size(integrator) == 1e-5);
    CHECK(integrator_restart(integrator, t.reached, t.y, &fresh) == STATUS_OK && integrator_step_size(integrator) == 0);
    CHECK(s->stage.count.restarts == 7);
    integrator_free(integrator);
}

static const char *const robots[] = {"canadarm",  "canadarm-spatial", "cibicik",  "crane",    "chain-7",
                                     "twisted-7", "four-bar",         "dualemps", "two-arms", "parallelogram"};
enum { ROBOTS = sizeof robots / sizeof *robots, MOST_MEMORY = 20000 };

/* Two integrators of a robot, of which the second takes over the memory of the first */
struct twins {
    struct problem problem[2];
    struct integrator *integrator[2];
    double y[2][MOST_STATES];
};

static void twins_start(struct twins *p, const char *robot, struct integrator_options options)
{
    char file[100];
    snprintf(file, sizeof file, "resources/%s.json", robot);
    for (int k = 0; k < 2; k++) {
        CHECK(problem_load(&p->problem[k], file));
        p->integrator[k] = problem_start(&p->problem[k], esdirk_make, options);
        memcpy(p->y[k], p->problem[k].y, sizeof p->y[k]);
    }
}

/* Communication steps `from` to `to` of H */
static void twins_advance(struct twins *p, int k, int from, int to, double H)
{
    double reached;
    for (int j = from; j <= to; j++) CHECK(integrator_advance(p->integrator[k], H * j, p->y[k], &reached) == STATUS_OK);
}

static void twins_hand_over(struct twins *p, double t)
{
    static double memory[MOST_MEMORY];
    CHECK(integrator_memory_size(p->integrator[0]) <= MOST_MEMORY);
    integrator_save(p->integrator[0], memory);
    integrator_resume(p->integrator[1], t, memory);
    memcpy(p->y[1], p->y[0], sizeof p->y[1]);
}

static void twins_compare_and_free(struct twins *p)
{
    CHECK(memcmp(p->y[0], p->y[1], (size_t)ode_states(p->problem[0].ode) * sizeof(double)) == 0);
    for (int k = 0; k < 2; k++) {
        integrator_free(p->integrator[k]);
        problem_free(&p->problem[k]);
    }
}

/* A copy that has integrated something else before continues with the same bits: nothing but the memory matters */
TEST(memory_continues_with_the_same_bits)
{
    for (int i = 0; i < ROBOTS; i++)
        for (int fixed = 0; fixed < 2; fixed++) {
            struct twins p;
            const int failed = test_failed_checks;
            twins_start(&p, robots[i],
                        (struct integrator_options){.relative_tolerance = 1e-6, .fixed_step = fixed ? 1e-4 : 0});
            twins_advance(&p, 1, 1, 1, 0.013);
            twins_advance(&p, 0, 1, 1, 0.005);
            twins_hand_over(&p, 0.005);
            for (int k = 0; k < 2; k++) twins_advance(&p, k, 6, 10, 0.001);
            twins_compare_and_free(&p);
            if (test_failed_checks != failed) printf("     %s\n", robots[i]);
        }
}

/* Steps of equal size share factors of N. A copy that takes over in between makes them again, continues with the same bits, and counts
   the same work. */
TEST(factors_are_kept_over_equal_steps)
{
    struct integrator_statistics before[2], after[2];
    struct twins p;
    twins_start(&p, "cibicik", (struct integrator_options){.relative_tolerance = 1e-3});
    twins_advance(&p, 0, 1, 105, 2e-4);
    twins_hand_over(&p, 2e-4 * 105);
    for (int k = 0; k < 2; k++) {
        integrator_statistics(p.integrator[k], &before[k]);
        twins_advance(&p, k, 106, 205, 2e-4);
        integrator_statistics(p.integrator[k], &after[k]);
        CHECK(after[k].steps - before[k].steps == 100);
        CHECK(after[k].factorizations - before[k].factorizations <= 10);
    }
    CHECK(after[1].work - before[1].work == after[0].work - before[0].work);
    twins_compare_and_free(&p);
}

/* ---- fixed steps ---------------------------------------------------------------------------------------------------------------- */

/* Every step has the same work: six stages, two Newton iterations each, three with loops; the result is that of error control as the steps become short */
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
        CHECK(problem_solve(&problem, esdirk_make, tight, 0.01, 0.01, want, NULL) == STATUS_OK);
        printf("     %-16s off by %.1e\n", robots[i], problem_distance(&problem, y, want));
        problem_free(&problem);
    }
}

TEST(fixed_steps_that_fail)
{
    static const struct integrator_options options = {.relative_tolerance = 1e-6, .fixed_step = 0.05};
    for (int i = 0; i < 2; i++) {
        struct trial t;
        begin(&t, (struct oscillator){i == 0 ? RHS : RHS_NAN, 0.72, 0}, options);
        const enum status status = advance(&t, 2);
        CHECK(i == 0 ? status == STATUS_NO_RATES : status != STATUS_OK);
        CHECK_NEAR(t.reached, 0.7, 1e-9);
        CHECK_NEAR(t.y[0], sin(t.reached), 1e-6);
        integrator_free(t.integrator);
    }
}

SUITE(ode_onestep_test)
