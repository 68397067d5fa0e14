/* The policy's choices, and what an integrator promises: it ends exactly where it should, counts, keeps the last good state where it
   fails, and names one cause for each failure. */
#include "test.h"

#include "ode/automatic.h"
#include "ode/policy.h"

#include <string.h>

/* ---- the policy ------------------------------------------------------------------------------------------------------ */

static void check_policy(bool oscillatory, double tolerance, int asked, int order, double share)
{
    const struct ode ode = {.n_v = 1, .oscillatory = oscillatory};
    const double nominal = 1;
    const struct integrator_options general = {
        .relative_tolerance = tolerance, .nominal = &nominal, .max_step = 0.5, .max_order = asked};
    const struct integrator_options options = policy_adapt(&ode, METHOD_CVODE, &general);
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

TEST(fixed_steps_need_a_method_that_takes_them)
{
    for (int method = 0; method < METHODS; method++) {
        const bool takes = method != METHOD_CVODE && method != METHOD_EXPLICIT;
        const struct integrator_options fixed = {.method = (enum method)method, .fixed_step = 0.1};
        const struct integrator_options controlled = {.method = (enum method)method};
        CHECK((policy_fixed_step_error(&fixed) == NULL) == takes);
        CHECK(policy_fixed_step_error(&controlled) == NULL);
    }
}

/* ---- an oscillator that can fail --------------------------------------------------------------------------------------- */

/* x'' = -x; after the time `until`, the callback that is broken fails */
enum callback { NOTHING, RHS, RHS_NAN, JACOBIAN, PROJECT, BLOW_UP };

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
    if (answer(o, RHS_NAN, t) != STATUS_OK) ydot[1] = NAN;
    return answer(o, RHS, t);
}

static enum status jacobian(void *context, double t, const double *y, double *A, double *B)
{
    const struct oscillator *o = context;
    *A = o->broken == BLOW_UP ? 0 : -1;
    *B = o->broken == BLOW_UP ? 2 * y[1] : 0;
    return answer(o, JACOBIAN, t);
}

static enum status project(void *context, double t, bool fixed, double *y, double *error)
{
    (void)fixed, (void)y, (void)error;
    return answer(context, PROJECT, t);
}

static struct ode ode_of(struct oscillator *oscillator)
{
    return (struct ode){
        .n_x = 1, .n_v = 1, .context = oscillator, .rhs = rhs, .jacobian = jacobian, .project = project};
}

static struct oscillator sound = {NOTHING, 0, STATUS_OK};
static const struct ode fine = {
    .n_x = 1, .n_v = 1, .context = &sound, .rhs = rhs, .jacobian = jacobian, .project = project};
static const struct restart fresh = {0};

/* From (0, v) at t = 0; the request's tolerance is given, too */
static struct integrator *start_with(const struct ode *ode, const struct integrator_options *request, double v)
{
    static const double nominal[2] = {1, 1};
    struct integrator_options options = *request;
    options.nominal = nominal;
    const double y[2] = {0, v};
    struct integrator *integrator;
    CHECK(automatic_make(ode, &integrator) == STATUS_OK);
    CHECK(integrator_configure(integrator, &options) == STATUS_OK);
    CHECK(request->method == METHOD_AUTOMATIC || integrator->used == request->method);
    CHECK(integrator_restart(integrator, 0, y, &fresh) == STATUS_OK);
    return integrator;
}

static struct integrator *start(const struct ode *ode, enum method method, double tolerance, double v)
{
    const struct integrator_options request = {.method = method, .relative_tolerance = tolerance};
    return start_with(ode, &request, v);
}

static long count_steps(const struct integrator *integrator)
{
    struct integrator_statistics statistics;
    integrator_statistics(integrator, &statistics);
    return statistics.steps;
}

static void check_jump(struct integrator *integrator, double t, const double y[2])
{
    const double same[2] = {y[1], -y[0]}, other[2] = {y[1], 1 - y[0]};
    if (!integrator_has_history(integrator)) return;
    CHECK(integrator_jump(integrator, t, y, same) < 10);
    CHECK(integrator_jump(integrator, t, y, other) > 1e3);
}

static void check_ends(enum method method)
{
    struct integrator *integrator = start(&fine, method, 1e-8, 1);
    struct integrator_statistics statistics;
    double y[2] = {0, 1}, reached, end = 0;
    for (int i = 1; i <= 10; i++) {
        end = 0.37 * i;
        CHECK(integrator_advance(integrator, end, y, &reached) == STATUS_OK && reached == end);
        CHECK_NEAR(y[0], sin(end), 1e-6);
        CHECK_NEAR(y[1], cos(end), 1e-6);
        CHECK(integrator_advance(integrator, end, y, &reached) == STATUS_OK && reached == end); /* there already */
    }
    check_jump(integrator, end, y);
    integrator_statistics(integrator, &statistics);
    CHECK(statistics.restarts == 1 && statistics.steps >= 10 && statistics.rhs > statistics.steps);
    CHECK(integrator_step_size(integrator) > 0);
    integrator_reset(integrator);
    integrator_statistics(integrator, &statistics);
    CHECK(statistics.restarts == 0 && statistics.steps == 0 && statistics.rhs == 0 && statistics.jacobians == 0);
    integrator_free(integrator);
}

TEST(it_ends_exactly_where_it_should_and_counts)
{
    for (int method = 0; method < METHODS; method++) check_ends((enum method)method);
}

/* The steps for the smallest tolerance too */
TEST(errors_follow_the_tolerance)
{
    static const struct {
        double share; /* of the tolerance */
        long steps;
    } most[METHODS] = {[METHOD_AUTOMATIC] = {100, 80},
                       [METHOD_CVODE] = {100, 2500},
                       [METHOD_ESDIRK] = {5, 1000},
                       [METHOD_EXPLICIT] = {5, 130},
                       [METHOD_SYMMETRIC] = {100, 40}};
    for (int method = 0; method < METHODS; method++)
        for (double tolerance = 1e-4; tolerance > 1e-11; tolerance *= 0.1) {
            struct integrator *integrator = start(&fine, (enum method)method, tolerance, 1);
            double y[2] = {0, 1}, reached;
            CHECK(integrator_advance(integrator, 20, y, &reached) == STATUS_OK);
            CHECK(hypot(y[0] - sin(20), y[1] - cos(20)) < most[method].share * tolerance);
            CHECK(count_steps(integrator) < most[method].steps);
            integrator_free(integrator);
        }
}

TEST(what_rests_stays_at_rest)
{
    for (int method = 0; method < METHODS; method++) {
        struct integrator *integrator = start(&fine, (enum method)method, 1e-6, 0);
        double y[2] = {0, 0}, reached;
        CHECK(integrator_advance(integrator, 5, y, &reached) == STATUS_OK && y[0] == 0 && y[1] == 0);
        CHECK(count_steps(integrator) < 20);
        integrator_free(integrator);
    }
}

/* On the way to t = 2: the last good state is that of the time of the failure, or of a step before it */
static void check_failure(enum method method, struct oscillator broken, enum status expected)
{
    const struct ode ode = ode_of(&broken);
    struct integrator *integrator = start(&ode, method, 1e-8, 1);
    double y[2] = {0, 1}, reached;
    const enum status status = integrator_advance(integrator, 2, y, &reached);
    if (status != expected)
        fprintf(stderr, "%s: %s, not %s\n", integrator_method_name(method), status_text(status), status_text(expected));
    CHECK(status == expected);
    CHECK(strncmp(integrator->failure, status_text(expected), strlen(status_text(expected))) == 0);
    /* a final failure ends the step in which it happens; one-step methods may take a long one */
    const double longest = status_is_recoverable(broken.status) || method == METHOD_CVODE ? 0.1 : 1;
    /* the end of a symmetric step is no stage, and a matrix is kept for some steps */
    const double beyond = method == METHOD_SYMMETRIC || broken.broken == JACOBIAN ? 0.1 : 1e-12;
    CHECK(reached >= larger(broken.until, 0) - longest && reached <= larger(broken.until, 0) + beyond);
    CHECK_NEAR(y[0], sin(reached), 1e-6);
    integrator_free(integrator);
}

TEST(each_failure_has_its_cause)
{
    for (int i = 1; i < METHODS; i++) {
        const enum method method = (enum method)i;
        check_failure(method, (struct oscillator){RHS, 1, STATUS_BAD_ROBOT}, STATUS_NO_RATES);
        check_failure(method, (struct oscillator){PROJECT, 1, STATUS_LOOP_OPENS}, STATUS_NOT_PROJECTED);
        if (method != METHOD_EXPLICIT)
            check_failure(method, (struct oscillator){JACOBIAN, 0, STATUS_BAD_ROBOT}, STATUS_NEWTON_MATRIX);
        check_failure(method, (struct oscillator){RHS, -1, STATUS_NOT_POSITIVE}, STATUS_NO_RATES);
        check_failure(method, (struct oscillator){RHS, 0, STATUS_NOT_POSITIVE}, STATUS_NO_RATES);
        check_failure(method, (struct oscillator){PROJECT, 0, STATUS_LOOP_NOT_CLOSED}, STATUS_NOT_PROJECTED);
        /* what is recoverable is tried with ever smaller steps: CVODE's then end with the rule for steps without progress */
        const bool cvode = method == METHOD_CVODE;
        check_failure(method, (struct oscillator){RHS, 1, STATUS_NOT_POSITIVE},
                      cvode ? STATUS_STEPS_TOO_SHORT : STATUS_NO_RATES);
        check_failure(method, (struct oscillator){PROJECT, 1, STATUS_LOOP_NOT_CLOSED},
                      cvode ? STATUS_STEPS_TOO_SHORT : STATUS_NOT_PROJECTED);
        if (!cvode)
            check_failure(method, (struct oscillator){RHS_NAN, 1, STATUS_NOT_FINITE},
                          method == METHOD_ESDIRK ? STATUS_NEWTON : STATUS_NO_RATES);
        if (method == METHOD_ESDIRK)
            check_failure(method, (struct oscillator){JACOBIAN, 1, STATUS_NOT_POSITIVE}, STATUS_NEWTON_MATRIX);
    }
}

TEST(after_a_failure_it_goes_on_from_the_last_good_state)
{
    for (int method = 1; method < METHODS; method++) {
        struct oscillator broken = {RHS, 1, STATUS_NOT_FINITE};
        const struct ode ode = ode_of(&broken);
        struct integrator *integrator = start(&ode, (enum method)method, 1e-8, 1);
        double y[2] = {0, 1}, reached;
        CHECK(status_is_recoverable(integrator_advance(integrator, 2, y, &reached)));
        broken.broken = NOTHING;
        CHECK(integrator_restart(integrator, reached, y, &fresh) == STATUS_OK);
        CHECK(*integrator->failure == '\0');
        CHECK(integrator_advance(integrator, 2, y, &reached) == STATUS_OK && reached == 2);
        CHECK_NEAR(y[0], sin(2), 1e-6);
        integrator_free(integrator);
    }
}

/* Steps shrink without end before v = 1/(1 - t) is infinite */
TEST(what_has_no_end_is_given_up)
{
    for (int method = 0; method < METHODS; method++) {
        struct oscillator broken = {BLOW_UP, 0, STATUS_OK};
        const struct ode ode = ode_of(&broken);
        struct integrator *integrator = start(&ode, (enum method)method, 1e-6, 1);
        double y[2] = {0, 1}, reached;
        const enum status status = integrator_advance(integrator, 2, y, &reached);
        CHECK(status_is_recoverable(status) && *integrator->failure != '\0');
        CHECK_NEAR(reached, 1, 1e-3);
        integrator_free(integrator);
    }
}

TEST(a_tolerance_beyond_rounding_is_refused)
{
    for (int method = 0; method < METHODS; method++) {
        struct integrator *integrator = start(&fine, (enum method)method, 1e-17, 1e3);
        double y[2] = {0, 1e3}, reached;
        CHECK(integrator_advance(integrator, 1, y, &reached) == STATUS_TOO_ACCURATE);
        integrator_free(integrator);
    }
}

/* ---- bounds of the work ------------------------------------------------------------------------------------------------- */

/* max_steps counts the steps of one advance; the next goes on from the time that was reached */
static void check_max_steps(enum method method)
{
    const struct integrator_options request = {
        .method = method, .relative_tolerance = 1e-6, .max_step = 0.01, .max_steps = 60};
    struct integrator *integrator = start_with(&fine, &request, 1);
    double y[2] = {0, 1}, reached;
    CHECK(integrator_advance(integrator, 0.4, y, &reached) == STATUS_OK && reached == 0.4);
    const long before = count_steps(integrator);
    CHECK(integrator_advance(integrator, 2, y, &reached) == STATUS_TOO_MANY_STEPS);
    CHECK(count_steps(integrator) == before + 60);
    CHECK(reached > 0.9 && reached <= 1 + 1e-12 && strstr(integrator->failure, "solver.max_steps") != NULL);
    CHECK_NEAR(y[0], sin(reached), 1e-6);
    CHECK(integrator_advance(integrator, reached + 0.5, y, &reached) == STATUS_OK);
    CHECK_NEAR(y[0], sin(reached), 1e-6);
    integrator_free(integrator);
}

/* Where the limit is reached together with the end, the advance succeeds */
TEST(internal_steps_are_limited)
{
    for (int method = 0; method < METHODS; method++) check_max_steps((enum method)method);
    const struct integrator_options request = {.relative_tolerance = 1e-6, .fixed_step = 0.1, .max_steps = 10};
    struct integrator *integrator = start_with(&fine, &request, 1);
    double y[2] = {0, 1}, reached;
    CHECK(integrator_advance(integrator, 1, y, &reached) == STATUS_OK && reached == 1);
    CHECK(integrator_advance(integrator, 2.1, y, &reached) == STATUS_TOO_MANY_STEPS);
    integrator_free(integrator);
}

/* After 10 000 steps: ends where the mean of the last 1000 needs more than 1e8 others */
static void check_progress(enum method method, double max_step, double end, bool hopeless)
{
    const struct integrator_options request = {.method = method, .relative_tolerance = 1e-6, .max_step = max_step};
    struct integrator *integrator = start_with(&fine, &request, 1);
    double y[2] = {0, 1}, reached;
    const enum status status = integrator_advance(integrator, end, y, &reached);
    CHECK(status == (hopeless ? STATUS_STEPS_TOO_SHORT : STATUS_OK));
    CHECK(hopeless ? count_steps(integrator) == 10000 && reached < end : reached == end);
    integrator_free(integrator);
}

TEST(steps_without_prospect_end)
{
    for (int method = 0; method < METHODS; method++) {
        check_progress((enum method)method, 1e-9, 0.2, true);
        check_progress((enum method)method, 1e-6, 0.02, false);
    }
}

/* ---- fixed steps ---------------------------------------------------------------------------------------------------------- */

static void check_fixed(enum method method, double from, double step, double fixed, long expected)
{
    const struct integrator_options request = {.method = method, .relative_tolerance = 1e-6, .fixed_step = fixed};
    struct integrator *integrator = start_with(&fine, &request, 1);
    double y[2] = {0, 1}, reached;
    CHECK(integrator_restart(integrator, from, y, &fresh) == STATUS_OK);
    for (int i = 1; i <= 20; i++) {
        const long before = count_steps(integrator);
        CHECK(integrator_advance(integrator, from + i * step, y, &reached) == STATUS_OK);
        CHECK(count_steps(integrator) - before == expected);
    }
    integrator_free(integrator);
}

/* ceil(H / fixed_step - 1e-9) of them, also where rounding of the time changes H */
TEST(a_communication_step_has_equal_fixed_steps)
{
    static const enum method method[] = {METHOD_AUTOMATIC, METHOD_ESDIRK, METHOD_SYMMETRIC};
    for (int i = 0; i < 3; i++) {
        check_fixed(method[i], 0, 0.1, 0.03, 4);
        check_fixed(method[i], 0, 0.1, 0.1, 1);
        check_fixed(method[i], 0, 0.1, 7, 1);
        check_fixed(method[i], 0, 0.3, 0.1, 3);
        check_fixed(method[i], 0, 0.7, 0.1, 7);
        check_fixed(method[i], 0, 0.1, 0.1 / 3, 3);
        check_fixed(method[i], 0, 0.1, 0.0333, 4);
        check_fixed(method[i], 0, 0.001, 0.001 / 97, 97);
        check_fixed(method[i], 1e5, 0.001, 0.001, 1);
        check_fixed(method[i], 1e5, 0.001, 0.0003, 4);
    }
}

/* ---- memory ----------------------------------------------------------------------------------------------------------------- */

/* A second integrator that takes the memory of the first continues with the same bits, and the first is not disturbed */
static void check_memory(enum method method, double fixed)
{
    enum { MOST = 128 };
    const struct integrator_options request = {.method = method, .relative_tolerance = 1e-7, .fixed_step = fixed};
    struct integrator *a = start_with(&fine, &request, 1), *b = start_with(&fine, &request, 2),
                      *undisturbed = start_with(&fine, &request, 1);
    double y[2] = {0, 1}, copy[2], other[2] = {0, 1}, reached, memory[MOST];
    CHECK(integrator_memory_size(a) == integrator_memory_size(b) && integrator_memory_size(a) <= MOST);
    for (int i = 1; i <= 40; i++) {
        CHECK(integrator_advance(undisturbed, 0.1 * i, other, &reached) == STATUS_OK);
        CHECK(integrator_advance(a, 0.1 * i, y, &reached) == STATUS_OK);
        CHECK(memcmp(y, other, sizeof y) == 0);
        if (i > 20) {
            CHECK(integrator_advance(b, 0.1 * i, copy, &reached) == STATUS_OK);
            CHECK(memcmp(y, copy, sizeof y) == 0);
        }
        integrator_save(a, memory);
        if (i == 20) {
            memcpy(copy, y, sizeof y);
            integrator_resume(b, reached, memory);
        }
    }
    integrator_free(a);
    integrator_free(b);
    integrator_free(undisturbed);
}

TEST(memory_continues_with_the_same_bits)
{
    check_memory(METHOD_AUTOMATIC, 0);
    check_memory(METHOD_ESDIRK, 0);
    check_memory(METHOD_ESDIRK, 0.03);
    check_memory(METHOD_EXPLICIT, 0);
    check_memory(METHOD_SYMMETRIC, 0);
    check_memory(METHOD_SYMMETRIC, 0.03);
}

SUITE(ode_integrator_test)
