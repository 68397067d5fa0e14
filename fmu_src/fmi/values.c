/* Getting and setting variables, and directional derivatives. */
#include <limits.h>
#include <math.h>

#include "fmi/instance.h"

/* ---- getting ------------------------------------------------------------------------------------------------------------ */

static bool is_computed(const struct variable *variable)
{
    return variable->causality == CAUSALITY_OUTPUT || variable->causality == CAUSALITY_LOCAL;
}

/* Checks all references and brings up to date what they ask for. */
static fmi2Status ready_to_get(struct instance *instance, const fmi2ValueReference vr[], size_t n, const void *value,
                               enum variable_type type)
{
    bool computed = false, settled = true; /* states need no computation, but they need their start values */
    REQUIRE_ARRAY(n, vr);
    REQUIRE_ARRAY(n, value);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = instance_variable(instance, vr[i], type);
        if (variable == NULL) return fmi2Error;
        computed = computed || (is_computed(variable) && !instance_is_state(instance, variable));
        settled = settled && !is_computed(variable);
        REQUIRE(!is_computed(variable) || instance->progress.state != STATE_INSTANTIATED,
                "%s is known only from initialization mode on", variable->name);
    }
    if (settled) return fmi2OK;
    const enum status status = instance_settle(instance);
    return instance_leave(instance, status == STATUS_OK && computed ? sim_update(instance->sim) : status);
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    ENTER(c, fmi2GetReal);
    const fmi2Status status = ready_to_get(instance, vr, n, value, TYPE_REAL);
    if (status != fmi2OK) return status;
    const char *beyond = NULL;
    for (size_t i = 0; i < n; i++) {
        value[i] = sim_get(instance->sim, (int)vr[i]);
        if (!isfinite(value[i])) beyond = instance->variables->by_reference[vr[i]]->name;
    }
    if (beyond == NULL) return fmi2OK;
    instance_log(instance, fmi2Discard, CATEGORY_DISCARD, "fmi2GetReal: at t = %.9g s: %s is beyond all bounds",
                 sim_time(instance->sim), beyond);
    return fmi2Discard;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[])
{
    ENTER(c, fmi2GetInteger);
    const fmi2Status status = ready_to_get(instance, vr, n, value, TYPE_INTEGER);
    if (status != fmi2OK) return status;
    for (size_t i = 0; i < n; i++) value[i] = (fmi2Integer)sim_get(instance->sim, (int)vr[i]);
    return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[])
{
    ENTER(c, fmi2GetBoolean);
    const fmi2Status status = ready_to_get(instance, vr, n, value, TYPE_BOOLEAN);
    if (status != fmi2OK) return status;
    for (size_t i = 0; i < n; i++) value[i] = sim_get(instance->sim, (int)vr[i]) != 0 ? fmi2True : fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[])
{
    ENTER(c, fmi2GetString);
    (void)vr, (void)value;
    REQUIRE(n == 0, "this FMU has no String variables");
    return fmi2OK;
}

/* ---- setting ------------------------------------------------------------------------------------------------------------- */

/* NULL where the variable may be set now, else why not */
static const char *why_not_set(const struct instance *instance, const struct variable *variable)
{
    const enum state state = instance->progress.state;
    const bool before = state == STATE_INSTANTIATED || state == STATE_INITIALIZATION;
    if (variable->causality == CAUSALITY_INPUT) return NULL;
    if (variable->causality == CAUSALITY_PARAMETER) {
        if (before) return NULL;
        if (variable->variability == VARIABILITY_FIXED)
            return "a fixed parameter: set it before fmi2ExitInitializationMode, or reset the instance";
        return state == STATE_CONTINUOUS ? "a tunable parameter: set it in event mode" : NULL;
    }
    if (!instance_is_state(instance, variable)) return "computed, not set";
    if (instance->type == fmi2CoSimulation)
        return "a state: set its start value (parameter _start) before the simulation";
    return state == STATE_INSTANTIATED
               ? "a state: set its start value (parameter _start), or the state after initialization mode"
               : NULL;
}

/* What is set in initialization mode may act on the start. */
static void note_change(struct instance *instance, const struct variable *variable)
{
    if (instance->progress.state != STATE_INITIALIZATION) return;
    if (sim_acts_on_start(instance->sim, variable->reference)) instance->progress.stale = true;
}

/* Checks all references, before any value is set. */
static fmi2Status ready_to_set(struct instance *instance, const fmi2ValueReference vr[], size_t n, const void *value,
                               enum variable_type type)
{
    bool states = false;
    REQUIRE_ARRAY(n, vr);
    REQUIRE_ARRAY(n, value);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = instance_variable(instance, vr[i], type);
        if (variable == NULL) return fmi2Error;
        const char *reason = why_not_set(instance, variable);
        REQUIRE(reason == NULL, "%s cannot be set in the state \"%s\": %s", variable->name,
                instance_state_name(instance->progress.state), reason);
        states = states || is_computed(variable);
    }
    return states ? instance_leave(instance, instance_settle(instance))
                  : fmi2OK; /* states stay set until a parameter changes */
}

static void set_value(struct instance *instance, fmi2ValueReference reference, double value)
{
    sim_set(instance->sim, (int)reference, value);
    const struct variable *variable = instance->variables->by_reference[reference];
    if (!is_computed(variable)) note_change(instance, variable);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    ENTER(c, fmi2SetReal);
    const fmi2Status status = ready_to_set(instance, vr, n, value, TYPE_REAL);
    if (status != fmi2OK) return status;
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = instance->variables->by_reference[vr[i]];
        REQUIRE(isfinite(value[i]), "%s = %g: must be a finite number", variable->name, value[i]);
        const char *complaint =
            variable->variability == VARIABILITY_TUNABLE ? sim_complaint(instance->sim, (int)vr[i], value[i]) : NULL;
        REQUIRE(complaint == NULL, "%s = %g: %s", variable->name, value[i], complaint);
    }
    for (size_t i = 0; i < n; i++) set_value(instance, vr[i], value[i]);
    return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[])
{
    ENTER(c, fmi2SetInteger);
    const fmi2Status status = ready_to_set(instance, vr, n, value, TYPE_INTEGER);
    if (status != fmi2OK) return status;
    for (size_t i = 0; i < n; i++) set_value(instance, vr[i], value[i]);
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[])
{
    ENTER(c, fmi2SetBoolean);
    const fmi2Status status = ready_to_set(instance, vr, n, value, TYPE_BOOLEAN);
    if (status != fmi2OK) return status;
    for (size_t i = 0; i < n; i++) set_value(instance, vr[i], value[i] != fmi2False ? 1 : 0);
    return fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[])
{
    ENTER(c, fmi2SetString);
    (void)vr, (void)value;
    REQUIRE(n == 0, "this FMU has no String variables");
    return fmi2OK;
}

/* ---- directional derivatives ------------------------------------------------------------------------------------------------ */

static fmi2Status check_unknowns(const struct instance *instance, const fmi2ValueReference unknown[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = instance_variable(instance, unknown[i], TYPE_REAL);
        if (variable == NULL) return fmi2Error;
        REQUIRE(is_computed(variable), "%s is not an unknown: only outputs, locals and derivatives are",
                variable->name);
    }
    return fmi2OK;
}

static fmi2Status check_knowns(const struct instance *instance, const fmi2ValueReference known[], size_t n,
                               const double seed[])
{
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = instance_variable(instance, known[i], TYPE_REAL);
        if (variable == NULL) return fmi2Error;
        REQUIRE(variable->causality == CAUSALITY_INPUT || variable->variability == VARIABILITY_TUNABLE ||
                    instance_is_state(instance, variable),
                "%s is not a known: only inputs, states and tunable parameters are", variable->name);
        REQUIRE(isfinite(seed[i]), "the seed of %s must be a finite number: %g", variable->name, seed[i]);
    }
    return fmi2OK;
}

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
    if (check_unknowns(instance, unknown, n_unknown) != fmi2OK) return fmi2Error;
    if (check_knowns(instance, known, n_known, seed) != fmi2OK) return fmi2Error;
    enum status status = instance_settle(instance);
    if (status == STATUS_OK)
        status = sim_directional(instance->sim, (int)n_unknown, as_indices(unknown), (int)n_known, as_indices(known),
                                 seed, result);
    return instance_leave(instance, status);
}
