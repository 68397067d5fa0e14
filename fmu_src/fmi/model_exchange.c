/* Model exchange: the importer integrates. Tunable parameters change in event mode. The FMU itself has one kind of event: loops or the
   norms of quaternions have drifted off the constraints, and the states are projected onto them. */
#include <math.h>

#include "fmi/component.h"

/* ---- modes ---------------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    ENTER(c, fmi2EnterEventMode);
    component->progress.state = STATE_EVENT;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    ENTER(c, fmi2NewDiscreteStates);
    REQUIRE(info != NULL, "the event info is NULL");
    const bool drifted = instance_drifted(component->instance);
    const enum status status = drifted ? instance_project(component->instance) : STATUS_OK;
    *info = (fmi2EventInfo){.newDiscreteStatesNeeded = fmi2False,
                            .terminateSimulation = fmi2False,
                            .nominalsOfContinuousStatesChanged = fmi2False,
                            .valuesOfContinuousStatesChanged = drifted && status == STATUS_OK,
                            .nextEventTimeDefined = fmi2False,
                            .nextEventTime = 0};
    return component_fail(component, status); /* there is no step to discard */
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    ENTER(c, fmi2EnterContinuousTimeMode);
    component->progress.state = STATE_CONTINUOUS;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_rollback, fmi2Boolean *event,
                                       fmi2Boolean *terminate)
{
    (void)no_rollback;
    ENTER(c, fmi2CompletedIntegratorStep);
    REQUIRE(event != NULL && terminate != NULL, "a pointer for the answer is NULL");
    instance_accept(component->instance);
    *event = instance_drifted(component->instance);
    *terminate = fmi2False;
    return fmi2OK;
}

/* ---- time and states -------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    ENTER(c, fmi2SetTime);
    REQUIRE(isfinite(time), "the time must be finite: %g", time);
    instance_set_time(component->instance, time);
    return fmi2OK;
}

/* Arrays of states must have as many elements as there are states. */
static fmi2Status check_states(const struct component *component, const fmi2Real *x, size_t n)
{
    REQUIRE(n == (size_t)component->variables->n_states, "the array has %zu numbers; this %s has %d states", n,
            instance_kind(), component->variables->n_states);
    REQUIRE_ARRAY(n, x);
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    ENTER(c, fmi2SetContinuousStates);
    const struct variables *v = component->variables;
    if (check_states(component, x, n) != fmi2OK) return fmi2Error;
    for (size_t s = 0; s < n; s++)
        REQUIRE(isfinite(x[s]), "%s = %g: must be a finite number", v->row[v->state[s]].name, x[s]);
    instance_set_states(component->instance, x);
    return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    ENTER(c, fmi2GetContinuousStates);
    if (check_states(component, x, n) != fmi2OK) return fmi2Error;
    const enum status status = component_initialize(component);
    if (status == STATUS_OK) instance_get_states(component->instance, x);
    return component_leave(component, status);
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominal[], size_t n)
{
    ENTER(c, fmi2GetNominalsOfContinuousStates);
    const struct variables *v = component->variables;
    if (check_states(component, nominal, n) != fmi2OK) return fmi2Error;
    for (size_t s = 0; s < n; s++) nominal[s] = v->row[v->state[s]].nominal;
    return fmi2OK;
}

/* ---- evaluation -------------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivative[], size_t n)
{
    ENTER(c, fmi2GetDerivatives);
    if (check_states(component, derivative, n) != fmi2OK) return fmi2Error;
    const enum status status = component_initialize(component);
    return component_leave(component,
                           status == STATUS_OK ? instance_get_derivatives(component->instance, derivative) : status);
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicator[], size_t n)
{
    ENTER(c, fmi2GetEventIndicators);
    (void)indicator;
    REQUIRE(n == 0, "this FMU has no event indicators");
    return fmi2OK;
}
