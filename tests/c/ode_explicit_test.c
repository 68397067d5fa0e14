/* DOP853: order 8 and the stability region of its polynomial. ode_integrator_test has what all methods promise. */
#include "test.h"

#include "ode/methods.h"

#include "oracle/equations.h"

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

SUITE(ode_explicit_test)
