/* Getting, setting and stepping: arguments are checked before anything is touched. */
#include <float.h>

#include "fmi_host.h"

static void refused(struct host *host, fmi2Status status, const char *what)
{
    CHECK(status == fmi2Error);
    CHECK(host_said(host, what));
    host->text[0] = '\0';
}

HOST_TEST(who_may_be_set_when)
{
    for (int me = 0; me < 2; me++) {
        fmi2Component c = host_make(host, me ? fmi2ModelExchange : fmi2CoSimulation);
        CHECK(host_set(host, c, "shoulder.tau", 1) == fmi2OK);
        CHECK(host_set(host, c, "upper.EIz", 600) == fmi2OK);
        CHECK(host_set(host, c, "lower.payload.mass", 1) == fmi2OK);
        refused(host, host_set(host, c, "shoulder.q", 1), "shoulder.q");
        CHECK(fmi2EnterInitializationMode(c) == fmi2OK);
        CHECK(host_set(host, c, "shoulder.q_start", 0.3) == fmi2OK);
        CHECK(host_get(host, c, "shoulder.q") == 0.3); /* acts at once */
        CHECK(fmi2ExitInitializationMode(c) == fmi2OK);
        CHECK(host_get(host, c, "shoulder.q") == 0.3);
        refused(host, host_set(host, c, "upper.EIz", 700), "upper.EIz");
        refused(host, host_set(host, c, "tip.position[1]", 1), "tip.position[1]");
        CHECK(host_set(host, c, "lower.payload.mass", 2) == fmi2OK);
        CHECK(host_set(host, c, "shoulder.tau", 2) == fmi2OK);
        if (me) {
            CHECK(host_set(host, c, "shoulder.q", 0.7) == fmi2OK); /* CasADi */
            CHECK(host_get(host, c, "shoulder.q") == 0.7);
            CHECK(fmi2EnterContinuousTimeMode(c) == fmi2OK);
            refused(host, host_set(host, c, "lower.payload.mass", 1), "event mode");
            CHECK(host_set(host, c, "lower.eta[1]", 0.01) == fmi2OK);
            CHECK(host_get(host, c, "lower.eta[1]") == 0.01);
        } else {
            refused(host, host_set(host, c, "shoulder.q", 0.7), "shoulder.q");
        }
        host_free_instances(host);
    }
}

HOST_TEST(wrong_arguments_touch_nothing)
{
    fmi2Component c = host_start(host, fmi2CoSimulation);
    const fmi2ValueReference vr[2] = {host_find(host, "shoulder.tau"), host_find(host, "elbow.tau")},
                             wild = 4000000000U;
    double value[2] = {1, NAN};
    int integer = 0;
    refused(host, fmi2SetReal(c, vr, 2, value), "elbow.tau");
    value[1] = -INFINITY;
    refused(host, fmi2SetReal(c, vr, 2, value), "elbow.tau");
    CHECK(host_get(host, c, "shoulder.tau") == 0);
    refused(host, fmi2SetReal(c, NULL, 1, value), "NULL");
    refused(host, fmi2SetReal(c, vr, 1, NULL), "NULL");
    refused(host, fmi2GetReal(c, NULL, 1, value), "NULL");
    refused(host, fmi2GetReal(c, vr, 1, NULL), "NULL");
    refused(host, fmi2GetReal(c, &wild, 1, value), "4000000000");
    refused(host, fmi2SetReal(c, &wild, 1, value), "4000000000");
    refused(host, fmi2GetInteger(c, vr, 1, &integer), "Real");
    refused(host, fmi2GetBoolean(c, vr, 1, &integer), "Real");
    refused(host, fmi2GetString(c, vr, 1, NULL), "String");
    refused(host, fmi2SetString(c, vr, 1, NULL), "String");
    CHECK(fmi2GetReal(c, NULL, 0, NULL) == fmi2OK && fmi2SetReal(c, NULL, 0, NULL) == fmi2OK);
    CHECK(fmi2GetString(c, NULL, 0, NULL) == fmi2OK && fmi2SetString(c, NULL, 0, NULL) == fmi2OK);
}

HOST_TEST(types_other_than_real)
{
    fmi2Component c = host_make(host, fmi2CoSimulation);
    const fmi2ValueReference terms = host_find(host, "elastic_terms"), order = host_find(host, "solver.max_order");
    const fmi2ValueReference start_static = host_find(host, "start_static");
    int value = 2, got = 0;
    CHECK(fmi2SetInteger(c, &terms, 1, &value) == fmi2OK && fmi2GetInteger(c, &terms, 1, &got) == fmi2OK && got == 2);
    CHECK(fmi2SetInteger(c, &order, 1, &value) == fmi2OK && fmi2GetInteger(c, &order, 1, &got) == fmi2OK && got == 2);
    CHECK(fmi2SetBoolean(c, &start_static, 1, &value) == fmi2OK);
    CHECK(fmi2GetBoolean(c, &start_static, 1, &got) == fmi2OK && got == fmi2True);
    CHECK(fmi2EnterInitializationMode(c) == fmi2OK);
    CHECK(fabs(host_get(host, c, "lower.eta[1]")) > 1e-6); /* it sags */
    value = 17;
    CHECK(fmi2SetInteger(c, &order, 1, &value) == fmi2OK);
    CHECK(fmi2ExitInitializationMode(c) == fmi2Error && host_said(host, "solver.max_order"));
    value = 0; /* and can be mended */
    CHECK(fmi2SetInteger(c, &order, 1, &value) == fmi2OK && fmi2ExitInitializationMode(c) == fmi2OK);
}

/* d eta/d force of a static start against a difference of starts; start values are known in initialization mode, and only there */
HOST_TEST(derivatives_in_initialization_mode)
{
    fmi2Component c = host_make(host, fmi2CoSimulation);
    const fmi2ValueReference start_static = host_find(host, "start_static");
    const double h = 0.1;
    const int yes = fmi2True;
    double exact = NAN, start[2], by_start = NAN, same = NAN;
    CHECK(fmi2SetBoolean(c, &start_static, 1, &yes) == fmi2OK && fmi2EnterInitializationMode(c) == fmi2OK);
    for (int side = 0; side < 2; side++) {
        CHECK(host_set(host, c, "tip.force[2]", side == 0 ? -h : h) == fmi2OK);
        start[side] = host_get(host, c, "lower.eta[1]");
    }
    CHECK(host_set(host, c, "tip.force[2]", 0) == fmi2OK);
    CHECK(host_derivative(host, c, "lower.eta[1]", "tip.force[2]", 1, &exact) == fmi2OK && fabs(exact) > 1e-6);
    CHECK_NEAR(exact, (start[1] - start[0]) / (2 * h), 1e-4 * fabs(exact));
    CHECK(host_derivative(host, c, "shoulder.q", "shoulder.q_start", 1, &same) == fmi2OK && same == 1);
    CHECK(host_derivative(host, c, "lower.eta[1]", "shoulder.q_start", 1, &by_start) == fmi2OK &&
          fabs(by_start) > 1e-9);
    refused(host, host_derivative(host, c, "lower.eta[1]", "shoulder.q", 1, &exact), "a static start computes it");
    refused(host, host_derivative(host, c, "lower.eta[1]", "gravity[1]", 1, &exact), "gravity[1] is not a known");
    CHECK(fmi2ExitInitializationMode(c) == fmi2OK);
    refused(host, host_derivative(host, c, "shoulder.q", "shoulder.q_start", 1, &same),
            "shoulder.q_start is not a known");
}

HOST_TEST(steps_of_wrong_length)
{
    fmi2Component c = host_make(host, fmi2CoSimulation);
    refused(host, fmi2SetupExperiment(c, 0, 0, NAN, 0, 0), "start time");
    refused(host, fmi2SetupExperiment(c, 0, 0, 1, fmi2True, 0), "stop time");
    refused(host, fmi2SetupExperiment(c, fmi2True, -1, 0, 0, 0), "tolerance");
    refused(host, fmi2SetupExperiment(c, fmi2True, 1, 0, 0, 0), "tolerance must be from 1e-15 to less than 1");
    CHECK(fmi2SetupExperiment(c, 0, 0, 0, fmi2True, 1) == fmi2OK);
    host_initialize(c);
    const double bad[] = {0, -0.1, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 5; i++) refused(host, fmi2DoStep(c, 0, bad[i], 1), "positive and finite");
    refused(host, fmi2DoStep(c, NAN, 0.1, 1), "positive and finite");
    refused(host, fmi2DoStep(c, 0.05, 0.1, 1), "communication point");
    refused(host, fmi2DoStep(c, 0, 1.1, 1), "stop time");
    CHECK(fmi2DoStep(c, 0, 0.5, 1) == fmi2OK);
    CHECK(fmi2DoStep(c, 0.5 * (1 + 4 * DBL_EPSILON), 0.5, 1) == fmi2OK); /* a rounding error late, and past the end */
    refused(host, fmi2DoStep(c, 1, 0.1, 1), "stop time");
    double time = 0;
    CHECK(fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &time) == fmi2OK);
    CHECK_NEAR(time, 1, 1e-12);
    int flag = 1;
    fmi2Status status = fmi2OK;
    CHECK(fmi2GetBooleanStatus(c, fmi2Terminated, &flag) == fmi2OK && flag == fmi2False);
    CHECK(fmi2GetStatus(c, fmi2DoStepStatus, &status) == fmi2Discard);
    CHECK(fmi2GetRealStatus(c, fmi2LastSuccessfulTime, NULL) == fmi2Error);
}

/* One clock of the importer: `steps` steps from `start`, summed or multiplied, up to the stop time and not beyond. */
static void try_clock(struct host *host, double start, double h, int steps, int adding)
{
    fmi2Component c = host_make(host, fmi2CoSimulation);
    CHECK(host_set(host, c, "gravity[2]", 0) == fmi2OK);
    CHECK(fmi2SetupExperiment(c, 0, 0, start, fmi2True, start + steps * h) == fmi2OK);
    host_initialize(c);
    double t = start;
    int ok = 1;
    for (int i = 0; i < steps && ok; i++) {
        ok = fmi2DoStep(c, t, h, 1) == fmi2OK;
        t = adding ? t + h : start + (i + 1) * h;
    }
    if (!ok) printf("at t = %.17g: %s\n", t, host->text);
    CHECK(ok);
    refused(host, fmi2DoStep(c, t, h, 1), "stop time");
    host_free_instances(host);
}

/* At 1e6 s a summed clock is 1e-7 s late after 2000 steps of 1 ms: that is rounding, and not past the stop time. */
HOST_TEST(clocks_that_round_differently)
{
    for (int adding = 0; adding < 2; adding++) {
        try_clock(host, 0, 1.0 / 60 / 1024, 20000, adding);
        try_clock(host, 1e6, 1.0 / 60 / 1024, 20000, adding);
        try_clock(host, 1e6, 1e-3, 2000, adding);
        try_clock(host, -1e6, 0.1, 2000, adding);
    }
}

/* Discarded steps say how far they came and why, and the simulation continues from there. */
static void check_max_steps(struct host *host, int method)
{
    double reached = 0, t = 0;
    fmi2Component c = host_make_method(host, method);
    CHECK(host_set_integer(host, c, "solver.max_steps", 3) == fmi2OK);
    CHECK(host_set(host, c, "solver.max_step", 0.01) == fmi2OK);
    host_initialize(c);
    int discarded = 0;
    for (; t < 0.1 && discarded < 1000; t = reached, discarded++) {
        const fmi2Status status = fmi2DoStep(c, t, 0.1 - t, fmi2False);
        CHECK(fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &reached) == fmi2OK && reached > t);
        if (status == fmi2OK) break;
        CHECK(status == fmi2Discard && strcmp(host->category, "logStatusError") == 0);
        CHECK(reached <= t + 0.03 + 1e-12 && host_said(host, "solver.max_steps was reached"));
    }
    CHECK(discarded >= 3);
    CHECK_NEAR(reached, 0.1, 1e-12);
    host_free_instances(host);
}

HOST_TEST(steps_are_limited)
{
    for (int method = 0; method < METHODS; method++) check_max_steps(host, method);
}

/* Within seconds, whatever the method and the length of the step; the last good state stays, and a saved one brings the instance
   back */
HOST_TEST(absurd_torques_are_discarded)
{
    for (int method = 0; method < METHODS; method++)
        for (double h = 1e-3; h < 2e3; h *= 1e3) {
            fmi2Component c = host_make_method(host, method);
            fmi2FMUstate state = NULL;
            double reached = NAN;
            host_initialize(c);
            CHECK(fmi2DoStep(c, 0, 0.01, fmi2False) == fmi2OK && fmi2GetFMUstate(c, &state) == fmi2OK);
            CHECK(host_set(host, c, "elbow.tau", h < 1 ? 1e200 : 1e12) == fmi2OK);
            CHECK(fmi2DoStep(c, 0.01, h, fmi2False) == fmi2Discard && host_said(host, "at t = 0.01"));
            CHECK(h < 1 || host_said(host, "the motion is too fast"));
            CHECK(strcmp(host->category, "logStatusError") == 0 && isfinite(host_get(host, c, "shoulder.q")));
            CHECK(fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &reached) == fmi2OK && reached >= 0.01 &&
                  reached < 0.02);
            CHECK(fmi2SetFMUstate(c, state) == fmi2OK && host_set(host, c, "elbow.tau", 0) == fmi2OK);
            CHECK(fmi2DoStep(c, 0.01, 1e-3, fmi2False) == fmi2OK && fmi2FreeFMUstate(c, &state) == fmi2OK);
            host_free_instances(host);
        }
}

HOST_TEST(fixed_steps_are_refused_where_the_method_has_none)
{
    for (int method = 0; method < METHODS; method++) {
        const bool takes = method != METHOD_CVODE && method != METHOD_EXPLICIT;
        fmi2Component c = host_make_method(host, method);
        CHECK(host_set(host, c, "solver.fixed_step", 0.001) == fmi2OK && fmi2EnterInitializationMode(c) == fmi2OK);
        CHECK(fmi2ExitInitializationMode(c) == (takes ? fmi2OK : fmi2Error));
        if (!takes)
            CHECK(host_said(host, "solver.fixed_step = 0.001") && host_said(host, "choose solver.method = 0, 2 or 4"));
        host_free_instances(host);
    }
}

/* The log has the method at the start, and again where it changes */
HOST_TEST(the_method_is_logged)
{
    const fmi2String solver[] = {"solver"};
    fmi2Component c = host_start(host, fmi2CoSimulation);
    CHECK(fmi2SetDebugLogging(c, fmi2True, 1, solver) == fmi2OK);
    const int before = host->messages;
    CHECK(fmi2DoStep(c, 0, 1e-6, fmi2False) == fmi2OK);
    CHECK(host->messages == before + 1 && host->status == fmi2OK && strcmp(host->category, "solver") == 0);
    CHECK(host_said(host, "at t = 0 s: integration by method 2, ESDIRK: "));
    for (int i = 0; i < 100; i++) CHECK(fmi2DoStep(c, 1e-6 + 0.01 * i, 0.01, fmi2False) == fmi2OK);
    CHECK(host->messages <= before + 10 && host_said(host, "integration by method "));
}

HOST_TEST(derivatives_of_inputs_and_outputs)
{
    fmi2Component c = host_start(host, fmi2CoSimulation);
    const fmi2ValueReference in = host_find(host, "shoulder.tau"), out = host_find(host, "shoulder.q"), wild = 99999;
    const int first = 1, second = 2;
    double value = 3;
    CHECK(fmi2SetRealInputDerivatives(c, &in, 1, &first, &value) == fmi2OK);
    refused(host, fmi2SetRealInputDerivatives(c, &in, 1, &second, &value), "order 1");
    refused(host, fmi2SetRealInputDerivatives(c, &out, 1, &first, &value), "not an input");
    refused(host, fmi2SetRealInputDerivatives(c, &wild, 1, &first, &value), "99999");
    refused(host, fmi2SetRealInputDerivatives(c, &in, 1, NULL, &value), "NULL");
    value = NAN;
    refused(host, fmi2SetRealInputDerivatives(c, &in, 1, &first, &value), "shoulder.tau");
    CHECK(fmi2DoStep(c, 0, 0.1, 1) == fmi2OK);
    CHECK_NEAR(host_get(host, c, "shoulder.tau"), 0.3, 1e-12); /* the input went along its derivative */
    CHECK(fmi2GetRealOutputDerivatives(c, &out, 1, &first, &value) == fmi2OK);
    CHECK_NEAR(value, host_get(host, c, "shoulder.qd"), 1e-12);
    refused(host, fmi2GetRealOutputDerivatives(c, &in, 1, &first, &value), "not an output");
    refused(host, fmi2GetRealOutputDerivatives(c, &out, 1, &second, &value), "order 1");
}

HOST_TEST(directional_derivatives)
{
    fmi2Component c = host_start(host, fmi2ModelExchange);
    const fmi2ValueReference q = host_find(host, "shoulder.q");
    double result = 0;
    const double before = host_get(host, c, "shoulder.qdd");
    CHECK(host_derivative(host, c, "shoulder.qdd", "shoulder.tau", 2, &result) == fmi2OK);
    CHECK(host_set(host, c, "shoulder.tau", 2) == fmi2OK); /* linear in tau: the difference is the derivative */
    CHECK_NEAR(result, host_get(host, c, "shoulder.qdd") - before, 1e-10 * fabs(before));
    CHECK(host_derivative(host, c, "shoulder.q", "shoulder.q", 2, &result) == fmi2OK && result == 2);
    refused(host, host_derivative(host, c, "shoulder.tau", "shoulder.q", 2, &result), "shoulder.tau is not an unknown");
    refused(host, host_derivative(host, c, "shoulder.qdd", "gravity[1]", 2, &result), "gravity[1] is not a known");
    refused(host, fmi2GetDirectionalDerivative(c, &q, 1, &q, 1, NULL, &result), "NULL");
    refused(host, host_derivative(host, c, "shoulder.qdd", "shoulder.tau", NAN, &result), "seed of shoulder.tau");
    CHECK(fmi2GetDirectionalDerivative(c, NULL, 0, NULL, 0, NULL, NULL) == fmi2OK);
}

SUITE(fmi_values_test)
