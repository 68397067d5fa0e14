/* The call sequence: what is not allowed is refused with function, state and what is allowed, and changes nothing. */
#include "fmi_host.h"

/* status, and a message that names the function and the state */
static void refused(struct host *host, fmi2Status status, const char *function, const char *state)
{
    CHECK(status == fmi2Error);
    CHECK(host->status == fmi2Error);
    CHECK(strcmp(host->category, "logStatusError") == 0);
    CHECK(host_said(host, function));
    CHECK(host_said(host, state));
    host->text[0] = '\0';
}

HOST_TEST(co_simulation_in_order)
{
    fmi2Component c = host_make(host, fmi2CoSimulation);
    refused(host, fmi2DoStep(c, 0, 0.01, fmi2True), "fmi2DoStep", "\"instantiated\"; allowed in: step complete");
    refused(host, fmi2ExitInitializationMode(c), "fmi2ExitInitializationMode", "\"instantiated\"");
    refused(host, fmi2Terminate(c), "fmi2Terminate", "\"instantiated\"");
    CHECK(fmi2SetupExperiment(c, fmi2True, 1e-6, 0, fmi2True, 1) == fmi2OK);
    CHECK(fmi2EnterInitializationMode(c) == fmi2OK);
    refused(host, fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0), "fmi2SetupExperiment",
            "\"initialization mode\"");
    refused(host, fmi2EnterInitializationMode(c), "fmi2EnterInitializationMode", "\"initialization mode\"");
    refused(host, fmi2DoStep(c, 0, 0.01, fmi2True), "fmi2DoStep", "\"initialization mode\"");
    CHECK(fmi2ExitInitializationMode(c) == fmi2OK);
    refused(host, fmi2ExitInitializationMode(c), "fmi2ExitInitializationMode", "\"step complete\"");
    refused(host, fmi2CancelStep(c), "fmi2CancelStep", "not asynchronous: no step is pending");
    refused(host, fmi2CancelStep(c), "fmi2CancelStep", "solver.max_steps");
    refused(host, fmi2EnterEventMode(c), "fmi2EnterEventMode", "model exchange");
    refused(host, fmi2SetTime(c, 0), "fmi2SetTime", "model exchange");
    CHECK(fmi2DoStep(c, 0, 0.01, fmi2True) == fmi2OK);
    CHECK(fmi2Terminate(c) == fmi2OK);
    refused(host, fmi2DoStep(c, 0.01, 0.01, fmi2True), "fmi2DoStep", "\"terminated\"");
    refused(host, fmi2Terminate(c), "fmi2Terminate", "\"terminated\"");
    CHECK(isfinite(host_get(host, c, "tip.position[1]")));
    CHECK(fmi2Reset(c) == fmi2OK);
    host_initialize(c);
    CHECK(fmi2DoStep(c, 0, 0.01, fmi2True) == fmi2OK);
}

HOST_TEST(model_exchange_in_order)
{
    fmi2Component c = host_make(host, fmi2ModelExchange);
    fmi2EventInfo info;
    fmi2Boolean event = fmi2True, terminate = fmi2True;
    double x[64];
    const size_t n = (size_t)instance_variables(host->sim)->n_states;
    refused(host, fmi2EnterContinuousTimeMode(c), "fmi2EnterContinuousTimeMode", "\"instantiated\"");
    refused(host, fmi2GetDerivatives(c, x, n), "fmi2GetDerivatives", "\"instantiated\"");
    CHECK(fmi2EnterInitializationMode(c) == fmi2OK);
    CHECK(fmi2GetContinuousStates(c, x, n) == fmi2OK);
    CHECK(fmi2ExitInitializationMode(c) == fmi2OK);
    refused(host, fmi2CompletedIntegratorStep(c, fmi2True, &event, &terminate), "fmi2CompletedIntegratorStep",
            "\"event mode\"");
    CHECK(fmi2NewDiscreteStates(c, &info) == fmi2OK);
    CHECK(!info.newDiscreteStatesNeeded && !info.terminateSimulation && !info.nextEventTimeDefined);
    CHECK(fmi2EnterContinuousTimeMode(c) == fmi2OK);
    refused(host, fmi2NewDiscreteStates(c, &info), "fmi2NewDiscreteStates",
            "\"continuous-time mode\"; allowed in: event mode");
    refused(host, fmi2DoStep(c, 0, 1, fmi2True), "fmi2DoStep", "co-simulation");
    CHECK(fmi2SetTime(c, 0.5) == fmi2OK);
    CHECK(fmi2SetContinuousStates(c, x, n) == fmi2OK);
    CHECK(fmi2GetDerivatives(c, x, n) == fmi2OK);
    CHECK(fmi2GetNominalsOfContinuousStates(c, x, n) == fmi2OK);
    for (size_t i = 0; i < n; i++) CHECK(x[i] > 0);
    CHECK(fmi2GetEventIndicators(c, NULL, 0) == fmi2OK);
    CHECK(fmi2GetEventIndicators(c, x, 1) == fmi2Error);
    CHECK(fmi2CompletedIntegratorStep(c, fmi2True, &event, &terminate) == fmi2OK && !event && !terminate);
    refused(host, fmi2GetDerivatives(c, x, n + 1), "fmi2GetDerivatives", "states");
    refused(host, fmi2GetDerivatives(c, NULL, n), "fmi2GetDerivatives", "NULL");
    refused(host, fmi2SetTime(c, NAN), "fmi2SetTime", "finite");
    x[1] = INFINITY;
    refused(host, fmi2SetContinuousStates(c, x, n), "fmi2SetContinuousStates", "finite");
    CHECK(fmi2EnterEventMode(c) == fmi2OK);
    CHECK(fmi2Terminate(c) == fmi2OK);
}

HOST_TEST(instantiation_is_refused_with_a_reason)
{
    const fmi2CallbackFunctions *f = &host->functions;
    const char *guid = host->guid, *folder = host->folder;
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, "{wrong}", folder, f, 0, 0) == NULL);
    CHECK(host_said(host, "{wrong}") && host_said(host, guid));
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, NULL, folder, f, 0, 0) == NULL && host_said(host, "guid is NULL"));
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, guid, NULL, f, 0, 0) == NULL && host_said(host, "NULL"));
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, guid, "", f, 0, 0) == NULL && host_said(host, "empty"));
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, guid, "/no/such%20place", f, 0, 0) == NULL);
    CHECK(host_said(host, "/no/such%%20place/robot.json"));
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, guid, "http://x/y", f, 0, 0) == NULL &&
          host_said(host, "plain paths"));
    CHECK(fmi2Instantiate("x", (fmi2Type)7, guid, folder, f, 0, 0) == NULL && host_said(host, "type 7"));
    CHECK(strcmp(host->category, "logStatusError") == 0);
    host_write(host->file, "{\"format\": \"limber-robot/1\", \"name\": \"two\", \"links\": 100%}");
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, guid, folder, f, 0, 0) == NULL && host_said(host, "robot.json"));
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, guid, folder, NULL, 0, 0) == NULL);
    CHECK(fmi2Instantiate("x", (fmi2Type)7, guid, folder, NULL, 0, 0) == NULL);
}

HOST_TEST(a_host_without_callbacks)
{
    const fmi2CallbackFunctions nothing = {0};
    for (int given = 0; given < 2; given++) {
        fmi2Component c =
            fmi2Instantiate(NULL, fmi2CoSimulation, host->guid, host->folder, given ? &nothing : NULL, 0, fmi2True);
        fmi2FMUstate state = NULL;
        CHECK(c != NULL);
        CHECK(fmi2DoStep(c, 0, 1, 0) == fmi2Error);
        CHECK(fmi2GetFMUstate(c, &state) == fmi2OK && state != NULL);
        CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK && state == NULL);
        fmi2FreeInstance(c);
    }
    fmi2FreeInstance(NULL);
    CHECK(fmi2DoStep(NULL, 0, 1, 0) == fmi2Error);
    CHECK(fmi2GetReal(NULL, NULL, 0, NULL) == fmi2Error);
    CHECK(strcmp(fmi2GetVersion(), "2.0") == 0 && strcmp(fmi2GetTypesPlatform(), "default") == 0);
}

HOST_TEST(the_log_is_quiet_unless_asked)
{
    static const fmi2String solver[] = {"solver"}, unknown[] = {"gossip"}, none[] = {NULL}, all[] = {"logAll"};
    for (int on = 0; on < 2; on++) {
        fmi2Component c = host_start(host, fmi2CoSimulation);
        const int before = host->messages;
        CHECK(fmi2SetDebugLogging(c, on, 1, on ? solver : all) == fmi2OK);
        CHECK(fmi2DoStep(c, 0, 0.1, fmi2True) == fmi2OK);
        CHECK(fmi2Terminate(c) == fmi2OK);
        CHECK((host->messages > before) == on);
    }
    CHECK(strcmp(host->category, "solver") == 0 && host->status == fmi2OK && host_said(host, "right-hand sides"));
    fmi2Component c = host_make(host, fmi2CoSimulation);
    CHECK(fmi2SetDebugLogging(c, 1, 0, NULL) == fmi2OK);
    CHECK(fmi2SetDebugLogging(c, 1, 1, unknown) == fmi2Warning); /* the others still count */
    CHECK(host->status == fmi2Warning && host_said(host, "gossip"));
    refused(host, fmi2SetDebugLogging(c, 1, 1, none), "fmi2SetDebugLogging", "NULL");
    refused(host, fmi2SetDebugLogging(c, 1, 1, NULL), "fmi2SetDebugLogging", "NULL");
    CHECK(fmi2SetDebugLogging(c, 1, 0, NULL) == fmi2OK);
}

SUITE(fmi_calls_test)
