/* The guard against motion beyond the validity of the model: one warning for each link, and the step succeeds. The robot is an arm of
   1.8 m with two flexible links; 1e5 N.m at its first joint bend it by more than its length. */
#include "fmi_host.h"

/* Messages of the guard, counted by link */
struct heard {
    int upper, lower;
};

static void listen(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    struct heard *heard = environment;
    (void)name;
    if (strcmp(category, "logStatusWarning") != 0) return;
    CHECK(status == fmi2Warning);
    CHECK(strncmp(message, "at t = ", 7) == 0);
    CHECK(strstr(message, "more than a fifth of its length") != NULL || strstr(message, "more than 0.5 rad") != NULL);
    heard->upper += strstr(message, "link 'upper'") != NULL;
    heard->lower += strstr(message, "link 'lower'") != NULL;
}

static fmi2Component start(struct host *host, fmi2Type type, struct heard *heard)
{
    host->functions.logger = listen;
    host->functions.componentEnvironment = heard;
    fmi2Component c = host_start(host, type);
    CHECK(fmi2SetDebugLogging(c, fmi2True, 0, NULL) == fmi2OK);
    return c;
}

/* Five steps with this torque, each of which succeeds; then so many warnings of each link were heard */
static void push(struct host *host, fmi2Component c, double from, double torque, int warnings)
{
    const struct heard *heard = host->functions.componentEnvironment;
    CHECK(host_set(host, c, "shoulder.tau", torque) == fmi2OK);
    for (int i = 0; i < 5; i++) CHECK(fmi2DoStep(c, from + 1e-3 * i, 1e-3, fmi2True) == fmi2OK);
    CHECK(heard->upper == warnings && heard->lower == warnings);
}

/* Warnings belong to the instance, not to its state: a step that is repeated does not repeat them. A reset forgets them. */
HOST_TEST(each_link_warns_once)
{
    struct heard heard = {0};
    fmi2Component c = start(host, fmi2CoSimulation, &heard);
    fmi2FMUstate saved = NULL;
    push(host, c, 0, 1, 0);
    CHECK(fmi2GetFMUstate(c, &saved) == fmi2OK);
    push(host, c, 5e-3, 1e5, 1);
    push(host, c, 10e-3, -1e5, 1);
    CHECK(fmi2SetFMUstate(c, saved) == fmi2OK && fmi2FreeFMUstate(c, &saved) == fmi2OK);
    push(host, c, 5e-3, 1e5, 1);
    CHECK(fmi2Reset(c) == fmi2OK);
    host_initialize(c);
    push(host, c, 0, 1e5, 2);
}

/* The importer integrates: completed steps are looked at, trial states are not */
HOST_TEST(model_exchange_looks_at_completed_steps)
{
    struct heard heard = {0};
    fmi2Component c = start(host, fmi2ModelExchange, &heard);
    fmi2Boolean event, terminate;
    fmi2EventInfo info;
    double x[16];
    const size_t n = (size_t)instance_variables(host->sim)->n_states;
    CHECK(fmi2NewDiscreteStates(c, &info) == fmi2OK && fmi2EnterContinuousTimeMode(c) == fmi2OK);
    CHECK(fmi2GetContinuousStates(c, x, n) == fmi2OK);
    x[1] = 0.5; /* upper.eta[1] */
    CHECK(fmi2SetContinuousStates(c, x, n) == fmi2OK && fmi2GetDerivatives(c, x, n) == fmi2OK);
    CHECK(heard.upper == 0);
    for (int i = 0; i < 2; i++) CHECK(fmi2CompletedIntegratorStep(c, fmi2True, &event, &terminate) == fmi2OK);
    CHECK(heard.upper == 1 && heard.lower == 0);
}

SUITE(fmi_guard_test)
