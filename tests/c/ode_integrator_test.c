/* The policy's choices, and what an integrator promises: it ends exactly where it should, counts, keeps the last good state where it
   fails, and names one cause for each failure. */
#include "test.h"

#include "ode/policy.h"

#include <string.h>

/* ---- status codes --------------------------------------------------------------------------------------------------- */

static const struct {
    enum status status;
    int code;
    const char *text;
} codes[] = {
#define ROW(name, code, text) {STATUS_##name, code, text},
    STATUS_LIST(ROW)
#undef ROW
};

TEST(every_cause_has_its_code_and_text)
{
    const size_t count = sizeof codes / sizeof codes[0];
    for (size_t i = 0; i < count; i++) {
        CHECK(strcmp(status_text(codes[i].status), codes[i].text) == 0);
        CHECK(status_is_recoverable(codes[i].status) == (codes[i].code > 0));
        for (size_t j = 0; j < i; j++) {
            CHECK(codes[i].code != codes[j].code);
            CHECK(strcmp(codes[i].text, codes[j].text) != 0);
        }
    }
}

/* ---- the policy ------------------------------------------------------------------------------------------------------ */

static void check_policy(bool oscillatory, double tolerance, int asked, int order, double share)
{
    const struct ode ode = {.n_v = 1, .oscillatory = oscillatory};
    const struct solver_request request = {.relative_tolerance = tolerance, .max_step = 0.5, .max_order = asked};
    const double nominal = 1;
    const struct integrator_options options = policy_options(&ode, &request, &nominal);
    CHECK(options.max_order == order && options.max_step == 0.5 && options.nominal == &nominal);
    CHECK(options.relative_tolerance == share * tolerance);
}

TEST(the_order_is_limited_where_loose_tolerances_meet_light_damping)
{
    check_policy(true, 1e-4, 0, 2, 1);
    check_policy(true, 1e-6, 0, 5, 0.1);
    check_policy(false, 1e-4, 0, 5, 0.1);
    check_policy(true, 1e-4, 3, 3, 1); /* what the user asks for stands */
    check_policy(false, 1e-8, 1, 1, 1);
}

/* ---- an oscillator that can fail --------------------------------------------------------------------------------------- */

/* x'' = -x; after the time `until`, the callback that is broken fails */
enum callback { NOTHING, RHS, JACOBIAN, PROJECT, BLOW_UP };

struct oscillator {
    enum callback broken;
    double until;
    enum status status;
};

static enum status answer(const struct oscillator *o, enum callback callback, double t)
{
    return o->broken == callback && t > o->until ? o->status : STATUS_OK;
}

static enum status rhs(void *context, double t, const double *y, double *ydot)
{
    const struct oscillator *o = context;
    ydot[0] = y[1];
    ydot[1] = o->broken == BLOW_UP ? y[1] * y[1] : -y[0]; /* v = 1/(1/v0 - t): infinite after a while */
    return answer(o, RHS, t);
}

static enum status jacobian(void *context, double t, const double *y, double *A, double *B)
{
    const struct oscillator *o = context;
    *A = o->broken == BLOW_UP ? 0 : -1;
    *B = o->broken == BLOW_UP ? 2 * y[1] : 0;
    return answer(o, JACOBIAN, t);
}

static enum status project(void *context, double t, double *y, double *error)
{
    (void)y, (void)error;
    return answer(context, PROJECT, t);
}

static const struct restart fresh = {0};

static struct integrator *start(const struct ode *ode, double tolerance, double v)
{
    static const double nominal[2] = {1, 1};
    const struct solver_request request = {.relative_tolerance = tolerance};
    const struct integrator_options options = policy_options(ode, &request, nominal);
    const double y[2] = {0, v};
    struct integrator *integrator;
    CHECK(policy_integrator(ode, &integrator) == STATUS_OK);
    CHECK(integrator_configure(integrator, &options) == STATUS_OK);
    CHECK(integrator_restart(integrator, 0, y, &fresh) == STATUS_OK);
    return integrator;
}

static struct ode ode_of(struct oscillator *oscillator)
{
    return (struct ode){
        .n_x = 1, .n_v = 1, .context = oscillator, .rhs = rhs, .jacobian = jacobian, .project = project};
}

TEST(it_ends_exactly_where_it_should_and_counts)
{
    struct oscillator fine = {NOTHING, 0, STATUS_OK};
    const struct ode ode = ode_of(&fine);
    struct integrator *integrator = start(&ode, 1e-8, 1);
    struct integrator_statistics statistics;
    double y[2], reached, end = 0;
    for (int i = 1; i <= 10; i++) {
        end = 0.37 * i;
        CHECK(integrator_advance(integrator, end, y, &reached) == STATUS_OK && reached == end);
        CHECK_NEAR(y[0], sin(end), 1e-6);
        CHECK_NEAR(y[1], cos(end), 1e-6);
    }
    const double same[2] = {y[1], -y[0]}, other[2] = {y[1], 1 - y[0]};
    CHECK(integrator_jump(integrator, end, y, same) < 10);
    CHECK(integrator_jump(integrator, end, y, other) > 1e3);
    integrator_statistics(integrator, &statistics);
    CHECK(statistics.restarts == 1 && statistics.steps > 10 && statistics.rhs > statistics.steps);
    CHECK(integrator_step_size(integrator) > 0);
    integrator_forget(integrator);
    integrator_statistics(integrator, &statistics);
    CHECK(statistics.restarts == 0 && statistics.steps == 0 && statistics.rhs == 0 && statistics.jacobians == 0);
    integrator_free(integrator);
}

/* On the way to t = 2: the last good state is that of the time of the failure, or of a step before it */
static void check_failure(struct oscillator broken, enum status expected)
{
    const struct ode ode = ode_of(&broken);
    struct integrator *integrator = start(&ode, 1e-8, 1);
    double y[2] = {0, 1}, reached;
    CHECK(integrator_advance(integrator, 2, y, &reached) == expected);
    CHECK(strncmp(integrator->failure, status_text(expected), strlen(status_text(expected))) == 0);
    CHECK(reached > broken.until - 0.1 && reached <= broken.until + 1e-12);
    CHECK_NEAR(y[0], sin(reached), 1e-6);
    integrator_free(integrator);
}

TEST(each_failure_has_its_cause)
{
    check_failure((struct oscillator){RHS, 1, STATUS_BAD_ROBOT}, STATUS_NO_RATES);
    check_failure((struct oscillator){PROJECT, 1, STATUS_LOOP_OPENS}, STATUS_NOT_PROJECTED);
    check_failure((struct oscillator){JACOBIAN, 0, STATUS_BAD_ROBOT}, STATUS_NEWTON_MATRIX);
    /* what is recoverable is tried with ever smaller steps */
    check_failure((struct oscillator){RHS, 1, STATUS_NOT_POSITIVE}, STATUS_STEPS_TOO_SHORT);
    check_failure((struct oscillator){RHS, 0, STATUS_NOT_POSITIVE}, STATUS_NO_RATES);
    check_failure((struct oscillator){PROJECT, 1, STATUS_LOOP_NOT_CLOSED}, STATUS_STEPS_TOO_SHORT);
    check_failure((struct oscillator){PROJECT, 0, STATUS_LOOP_NOT_CLOSED}, STATUS_NOT_PROJECTED);
}

TEST(after_a_failure_it_goes_on_from_the_last_good_state)
{
    struct oscillator broken = {RHS, 1, STATUS_NOT_FINITE};
    const struct ode ode = ode_of(&broken);
    struct integrator *integrator = start(&ode, 1e-8, 1);
    double y[2] = {0, 1}, reached;
    CHECK(status_is_recoverable(integrator_advance(integrator, 2, y, &reached)));
    broken.broken = NOTHING;
    CHECK(integrator_restart(integrator, reached, y, &fresh) == STATUS_OK);
    CHECK(*integrator->failure == '\0');
    CHECK(integrator_advance(integrator, 2, y, &reached) == STATUS_OK && reached == 2);
    CHECK_NEAR(y[0], sin(2), 1e-6);
    integrator_free(integrator);
}

/* Steps shrink without end before v = 1/(1 - t) is infinite */
TEST(what_has_no_end_is_given_up)
{
    struct oscillator broken = {BLOW_UP, 0, STATUS_OK};
    const struct ode ode = ode_of(&broken);
    struct integrator *integrator = start(&ode, 1e-6, 1);
    double y[2] = {0, 1}, reached;
    const enum status status = integrator_advance(integrator, 2, y, &reached);
    CHECK(status_is_recoverable(status) && *integrator->failure != '\0');
    CHECK_NEAR(reached, 1, 1e-3);
    integrator_free(integrator);
}

TEST(a_tolerance_beyond_rounding_is_refused)
{
    struct oscillator fine = {NOTHING, 0, STATUS_OK};
    const struct ode ode = ode_of(&fine);
    struct integrator *integrator = start(&ode, 1e-17, 1e3);
    double y[2], reached;
    CHECK(integrator_advance(integrator, 1, y, &reached) == STATUS_TOO_ACCURATE);
    integrator_free(integrator);
}

int main(void)
{
    RUN(every_cause_has_its_code_and_text);
    RUN(the_order_is_limited_where_loose_tolerances_meet_light_damping);
    RUN(it_ends_exactly_where_it_should_and_counts);
    RUN(each_failure_has_its_cause);
    RUN(after_a_failure_it_goes_on_from_the_last_good_state);
    RUN(what_has_no_end_is_given_up);
    RUN(a_tolerance_beyond_rounding_is_refused);
    return test_summary();
}
