/* DOP853: order 8, the stability region of its polynomial, errors that follow the tolerance, failures that ask for
   shorter steps. */
#include "test.h"

#include "ode/explicit.h"

#include <string.h>

#include "support/equations.h"

static struct one_step *method_for(const struct ode *ode)
{
    struct integrator *integrator;
    CHECK(explicit_make(ode, &integrator) == STATUS_OK);
    return (struct one_step *)(void *)integrator;
}

static const double pendulum_start[2] = {1.2, 0.3}, top_start[7] = {0.8, 0.6, 0, 0, 1, 0.4, 2};

TEST(the_order_is_8)
{
    struct one_step *s = method_for(&forced_pendulum);
    CHECK_NEAR(measured_order(s, 3, pendulum_start, 4), 8, 0.3);
    CHECK_NEAR(measured_order(s, 3, pendulum_start, 8), 8, 0.3);
    integrator_free(&s->base);
    s = method_for(&top); /* a quaternion is four numbers like any others */
    CHECK_NEAR(measured_order(s, 2, top_start, 16), 8, 0.5);
    integrator_free(&s->base);
}

/* The low order for steps that communication points cut short */
TEST(the_low_order_is_3)
{
    struct one_step *s = method_for(&forced_pendulum);
    s->now->low = 1;
    CHECK_NEAR(measured_order(s, 1, pendulum_start, 32), 3, 0.1);
    CHECK_NEAR(measured_order(s, 1, pendulum_start, 64), 3, 0.1);
    integrator_free(&s->base);
}

/* |R(z)| of v' = z v, one step of 1 */
static double growth(double re, double im)
{
    const double lambda[2] = {re, im};
    const struct ode ode = test_equation(lambda);
    struct one_step *s = method_for(&ode);
    double v[2] = {1, 0};
    CHECK(several_steps(s, 0, v, 1, 1) == STATUS_OK);
    integrator_free(&s->base);
    return hypot(v[0], v[1]);
}

/* R is exp(z) up to z^8, stable to 6 on the negative real axis and to 5.5 on the imaginary one, slightly damping there */
TEST(the_stability_region_is_that_of_the_polynomial)
{
    for (double x = 0.25; x <= 6; x += 0.25) {
        CHECK(growth(-x, 0) < 1);
        if (x <= 5.5) CHECK(growth(0, x) < 1);
    }
    CHECK(growth(-6.5, 0) > 1 && growth(0, 6.5) > 1);
    for (double x = 0.25; x <= 1; x *= 2) CHECK_NEAR(growth(-x, 0), exp(-x), pow(x, 9) / 362880);
}

static double final_error(const struct ode *ode, double tolerance, double end, const double *start, const double *exact,
                          struct integrator_statistics *statistics)
{
    static const double nominal[7] = {1, 1, 1, 1, 1, 1, 1};
    const struct integrator_options options = {.relative_tolerance = tolerance, .nominal = nominal};
    const struct restart fresh = {0};
    struct one_step *s = method_for(ode);
    double y[7], reached, error = 0;
    memcpy(y, start, (size_t)s->n * sizeof *y);
    CHECK(integrator_configure(&s->base, &options) == STATUS_OK);
    CHECK(integrator_restart(&s->base, 0, y, &fresh) == STATUS_OK);
    CHECK(integrator_advance(&s->base, end, y, &reached) == STATUS_OK && reached == end);
    for (int i = 0; i < s->n; i++) error = fmax(error, fabs(y[i] - exact[i]));
    integrator_statistics(&s->base, statistics);
    integrator_free(&s->base);
    return error;
}

/* Over 20 s, within a factor of 30 of the tolerance, and a tenth of the tolerance takes 10^(1/8) = 1.33 times the steps */
TEST(errors_and_steps_follow_the_tolerance)
{
    struct integrator_statistics statistics;
    struct one_step *s = method_for(&forced_pendulum);
    double exact[2];
    memcpy(exact, pendulum_start, sizeof exact);
    CHECK(several_steps(s, 0, exact, 0.05, 400) == STATUS_OK);
    integrator_free(&s->base);
    long before = 0;
    for (double tolerance = 1e-4; tolerance > 1e-11; tolerance *= 0.01) {
        CHECK(final_error(&forced_pendulum, tolerance, 20, pendulum_start, exact, &statistics) < 30 * tolerance);
        CHECK(statistics.rhs >= 12 * statistics.steps);
        if (before > 0) CHECK((double)statistics.steps < 2.2 * (double)before && statistics.steps > before);
        before = statistics.steps;
    }
}

static enum status rest_rhs(void *context, double t, const double *y, double *ydot)
{
    (void)context, (void)t, (void)y;
    *ydot = 0;
    return STATUS_OK;
}

TEST(what_rests_stays_at_rest)
{
    const struct ode rest = {.n_v = 1, .rhs = rest_rhs};
    const double start = 3;
    struct integrator_statistics statistics;
    CHECK(final_error(&rest, 1e-6, 5, &start, &start, &statistics) == 0);
    CHECK(statistics.steps == 1);
}

/* The right-hand side of x'' = 1 exists only for x < 1.5: stages beyond it ask for shorter steps */
static enum status limited_rhs(void *context, double t, const double *y, double *ydot)
{
    (void)t;
    ydot[0] = y[1];
    ydot[1] = 1;
    return y[0] < 1.5 ? STATUS_OK : *(const enum status *)context;
}

TEST(a_stage_that_fails_asks_for_a_shorter_step)
{
    enum status status = STATUS_NOT_FINITE;
    static const double nominal[2] = {1, 1};
    const struct ode limited = {.n_x = 1, .n_v = 1, .context = &status, .rhs = limited_rhs};
    const struct integrator_options options = {.relative_tolerance = 1e-6, .nominal = nominal};
    const struct restart long_step = {.first_step = 3};
    struct integrator_statistics statistics;
    double y[2] = {0, 0}, reached;
    struct one_step *s = method_for(&limited);
    CHECK(integrator_configure(&s->base, &options) == STATUS_OK);
    CHECK(integrator_restart(&s->base, 0, y, &long_step) == STATUS_OK);
    CHECK(integrator_advance(&s->base, 3, y, &reached) == STATUS_NO_RATES);
    integrator_statistics(&s->base, &statistics);
    CHECK(statistics.newton_failures > 0);
    CHECK_NEAR(y[0], 1.5, 1e-3); /* it came as far as it could */
    CHECK_NEAR(y[0], reached * reached / 2, 1e-9);
    status = STATUS_NO_MEMORY; /* a final one ends it at once */
    y[0] = y[1] = 0;
    CHECK(integrator_restart(&s->base, 0, y, &long_step) == STATUS_OK);
    CHECK(integrator_advance(&s->base, 3, y, &reached) == STATUS_NO_RATES && reached == 0);
    integrator_free(&s->base);
}

/* Equal steps without error estimate: of order 8 too */
TEST(fixed_steps)
{
    static const double nominal[2] = {1, 1};
    const struct integrator_options options = {.relative_tolerance = 1e-6, .nominal = nominal, .fixed_step = 0.25};
    const struct restart fresh = {0};
    struct integrator_statistics statistics;
    struct one_step *s = method_for(&forced_pendulum);
    double y[2], exact[2], reached;
    memcpy(y, pendulum_start, sizeof y);
    memcpy(exact, pendulum_start, sizeof exact);
    CHECK(several_steps(s, 0, exact, 0.25, 8) == STATUS_OK);
    integrator_reset(&s->base);
    CHECK(integrator_configure(&s->base, &options) == STATUS_OK);
    CHECK(integrator_restart(&s->base, 0, y, &fresh) == STATUS_OK);
    CHECK(integrator_advance(&s->base, 2, y, &reached) == STATUS_OK);
    integrator_statistics(&s->base, &statistics);
    CHECK(statistics.steps == 8 && statistics.rhs == 8 * 12);
    CHECK_NEAR(y[0], exact[0], 1e-14);
    CHECK_NEAR(y[1], exact[1], 1e-14);
    integrator_free(&s->base);
}

int ode_explicit_test(void)
{
    RUN(the_order_is_8);
    RUN(the_low_order_is_3);
    RUN(the_stability_region_is_that_of_the_polynomial);
    RUN(errors_and_steps_follow_the_tolerance);
    RUN(what_rests_stays_at_rest);
    RUN(a_stage_that_fails_asks_for_a_shorter_step);
    RUN(fixed_steps);
    return test_summary();
}
