/* Getting and setting variables, and directional derivatives. */
#include <limits.h>
#include <math.h>

#include "fmi/component.h"

/* ---- getting ------------------------------------------------------------------------------------------------------------ */

static bool is_computed(const struct variable *variable)
{
    return variable->causality == CAUSALITY_OUTPUT || variable->causality == CAUSALITY_LOCAL;
}

/* Checks all references, and updates the values if they need it. */
static fmi2Status ready_to_get(struct component *component, const fmi2ValueReference vr[], size_t n, const void *value,
                               enum variable_type type)
{
    bool computed = false, known = true; /* states need no computation, but they need their start values */
    REQUIRE_ARRAY(n, vr);
    REQUIRE_ARRAY(n, value);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = component_variable(component, vr[i], type);
        if (variable == NULL) return fmi2Error;
        computed = computed || (is_computed(variable) && variable->state < 0);
        known = known && !is_computed(variable);
        REQUIRE(!is_computed(variable) || component->progress.state != STATE_INSTANTIATED,
                "%s is known only from initialization mode on", variable->name);
    }
    if (known) return fmi2OK;
    const enum status status = component_initialize(component);
    return component_leave(component, status == STATUS_OK && computed ? instance_update(component->instance) : status);
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    ENTER(c, fmi2GetReal);
    const fmi2Status status = ready_to_get(component, vr, n, value, TYPE_REAL);
    if (status != fmi2OK) return status;
    const char *not_finite = NULL;
    for (size_t i = 0; i < n; i++) {
        value[i] = instance_get(component->instance, (int)vr[i]);
        if (!isfinite(value[i])) not_finite = component->variables->by_reference[vr[i]]->name;
    }
    if (not_finite == NULL) return fmi2OK;
    component_log(component, fmi2Discard, CATEGORY_DISCARD, "fmi2GetReal: at t = %.9g s: %s is not finite",
                  instance_time(component->instance), not_finite);
    return fmi2Discard;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[])
{
    ENTER(c, fmi2GetInteger);
    const fmi2Status status = ready_to_get(component, vr, n, value, TYPE_INTEGER);
    if (status != fmi2OK) return status;
    for (size_t i = 0; i < n; i++) {
        const double x = instance_get(component->instance, (int)vr[i]); /* any number, after a forged state */
        value[i] = x >= INT_MAX ? INT_MAX : x > INT_MIN ? (fmi2Integer)x : INT_MIN;
    }
    return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[])
{
    ENTER(c, fmi2GetBoolean);
    const fmi2Status status = ready_to_get(component, vr, n, value, TYPE_BOOLEAN);
    if (status != fmi2OK) return status;
    for (size_t i = 0; i < n; i++) value[i] = instance_get(component->instance, (int)vr[i]) != 0 ? fmi2True : fmi2False;
    return fmi2OK;
}

/* ---- setting ------------------------------------------------------------------------------------------------------------- */

/* Why the variable must not be set now; NULL: it may */
static const char *why_not_set(const struct component *component, const struct variable *variable)
{
    const enum state state = component->progress.state;
    const bool before = state == STATE_INSTANTIATED || state == STATE_INITIALIZATION;
    if (variable->causality == CAUSALITY_INPUT) return NULL;
    if (variable->causality == CAUSALITY_PARAMETER) {
        if (before) return NULL;
        if (variable->variability == VARIABILITY_FIXED)
            return "a fixed parameter: set it before fmi2ExitInitializationMode, or reset the instance";
        return state == STATE_CONTINUOUS ? "a tunable parameter: set it in event mode" : NULL;
    }
    if (variable->state < 0) return "computed, not set";
    if (component->type == fmi2CoSimulation)
        return "a state: set its start value (parameter _start) before the simulation";
    return state == STATE_INSTANTIATED
               ? "a state: set its start value (parameter _start), or the state after initialization mode"
               : NULL;
}

/* Checks all references, before any value is set. */
static fmi2Status ready_to_set(struct component *component, const fmi2ValueReference vr[], size_t n, const void *value,
                               enum variable_type type)
{
    bool states = false;
    REQUIRE_ARRAY(n, vr);
    REQUIRE_ARRAY(n, value);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = component_variable(component, vr[i], type);
        if (variable == NULL) return fmi2Error;
        const char *reason = why_not_set(component, variable);
        REQUIRE(reason == NULL, "%s cannot be set in the state \"%s\": %s", variable->name,
                component_state_name(component->progress.state), reason);
        states = states || is_computed(variable);
    }
    return states ? component_leave(component, component_initialize(component))
                  : fmi2OK; /* states stay set until a parameter changes */
}

static void set_value(struct component *component, fmi2ValueReference reference, double value)
{
    instance_set(component->instance, (int)reference, value);
    const struct variable *variable = component->variables->by_reference[reference];
    if (!is_computed(variable) && component->progress.state == STATE_INITIALIZATION &&
        instance_acts_on_start(component->instance, variable->reference))
        component->progress.stale = true;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    ENTER(c, fmi2SetReal);
    const fmi2Status status = ready_to_set(component, vr, n, value, TYPE_REAL);
    if (status != fmi2OK) return status;
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = component->variables->by_reference[vr[i]];
        REQUIRE(isfinite(value[i]), "%s = %g: must be a finite number", variable->name, value[i]);
        const char *error = variable->variability == VARIABILITY_TUNABLE
                                ? instance_parameter_error(component->instance, (int)vr[i], value[i])
                                : NULL;
        REQUIRE(error == NULL, "%s = %g: %s", variable->name, value[i], error);
    }
    for (size_t i = 0; i < n; i++) set_value(component, vr[i], value[i]);
    return fmi2OK;
}

/* A function that sets values of a type which have all been checked */
#define SETTER(function, c_type, type, number)                                                          \
    fmi2Status function(fmi2Component c, const fmi2ValueReference vr[], size_t n, const c_type value[]) \
    {                                                                                                   \
        ENTER(c, function);                                                                             \
        const fmi2Status status = ready_to_set(component, vr, n, value, type);                          \
        for (size_t i = 0; i < n && status == fmi2OK; i++) set_value(component, vr[i], number);         \
        return status;                                                                                  \
    }
SETTER(fmi2SetInteger, fmi2Integer, TYPE_INTEGER, value[i])
SETTER(fmi2SetBoolean, fmi2Boolean, TYPE_BOOLEAN, value[i] != fmi2False ? 1 : 0)

/* ---- strings ---------------------------------------------------------------------------------------------------------------- */

#define NO_STRINGS(function, string)                                                              \
    fmi2Status function(fmi2Component c, const fmi2ValueReference vr[], size_t n, string value[]) \
    {                                                                                             \
        ENTER(c, function);                                                                       \
        (void)vr, (void)value;                                                                    \
        REQUIRE(n == 0, "this FMU has no String variables");                                      \
        return fmi2OK;                                                                            \
    }
NO_STRINGS(fmi2GetString, fmi2String)
NO_STRINGS(fmi2SetString, const fmi2String)

/* ---- directional derivatives ------------------------------------------------------------------------------------------------ */

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                        const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[],
                                        fmi2Real result[])
{
    ENTER(c, fmi2GetDirectionalDerivative);
    REQUIRE_ARRAY(n_unknown, unknown);
    REQUIRE_ARRAY(n_unknown, result);
    REQUIRE_ARRAY(n_known, known);
    REQUIRE_ARRAY(n_known, seed);
    REQUIRE(n_unknown <= INT_MAX && n_known <= INT_MAX, "too many variables: %zu, %zu", n_unknown, n_known);
    for (size_t i = 0; i < n_unknown; i++) {
        const struct variable *variable = component_variable(component, unknown[i], TYPE_REAL);
        if (variable == NULL) return fmi2Error;
        REQUIRE(is_computed(variable), "%s is not an unknown: only outputs, locals and derivatives are",
                variable->name);
    }
    const bool starting = component->progress.state == STATE_INITIALIZATION;
    for (size_t i = 0; i < n_known; i++) {
        const struct variable *variable = component_variable(component, known[i], TYPE_REAL);
        if (variable == NULL) return fmi2Error;
        REQUIRE(variable->causality == CAUSALITY_INPUT || variable->variability == VARIABILITY_TUNABLE ||
                    variable->state >= 0 || (starting && variable->start_of >= 0),
                "%s is not a known: only inputs, states and tunable parameters are, and start values in initialization "
                "mode",
                variable->name);
        REQUIRE(isfinite(seed[i]), "the seed of %s must be a finite number: %g", variable->name, seed[i]);
    }
    enum status status = component_initialize(component);
    if (status == STATUS_OK)
        status = (starting ? instance_start_directional : instance_directional)(
            component->instance, (int)n_unknown, as_indices(unknown), (int)n_known, as_indices(known), seed, result);
    return component_leave(component, status);
}
