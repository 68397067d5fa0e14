/* Co-simulation: the FMU integrates from one communication point to the next. */
#include <float.h>
#include <math.h>

#include "fmi/component.h"

/* ---- the step ---------------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_rollback)
{
    (void)no_rollback;
    ENTER(c, fmi2DoStep);
    struct progress *progress = &component->progress;
    REQUIRE(isfinite(t) && isfinite(h) && h > 0,
            "the communication step must be positive and finite: t = %g s, h = %g s", t, h);

    /* rounding of the importer's clock: every step adds half an eps of the time, and the step size itself may have been rounded to
       a decimal number */
    const double start = fabs(progress->experiment.start_time), stop = progress->experiment.stop_time;
    const double tolerance = 1e-6 * h + (double)(progress->steps + 4) * DBL_EPSILON * fmax(fabs(t) + h, start);
    REQUIRE(fabs(t - progress->point) <= tolerance,
            "the communication point t = %.17g s is not where the last step ended, %.17g s", t, progress->point);
    REQUIRE(!progress->experiment.stop_defined || t + h <= stop + tolerance,
            "a step from t = %.9g s over h = %.9g s goes past the stop time %.9g s given in fmi2SetupExperiment", t, h,
            stop);

    const bool again = progress->state == STATE_STEP_FAILED;
    const double before = instance_time(component->instance);
    const enum status status = instance_step(component->instance, h);
    progress->point = status == STATUS_OK ? t + h : t + (instance_time(component->instance) - before);
    progress->state = status == STATUS_OK ? STATE_STEP_COMPLETE : STATE_STEP_FAILED;
    progress->steps++;
    /* no progress twice in a row: an importer that repeats discarded steps would never end */
    if (again && instance_time(component->instance) <= before) return component_fail(component, status);
    return component_leave(component, status);
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    ENTER(c, fmi2CancelStep);
    return component_error(
        component, "the FMU is not asynchronous: no step is pending, as fmi2DoStep returns when its step is done. "
                   "solver.max_steps bounds the work of a step");
}

/* ---- derivatives of inputs and outputs ------------------------------------------------------------------------------------------ */

/* References and orders of Real variables of one causality */
static fmi2Status check_rates(const struct component *component, const fmi2ValueReference vr[], size_t n,
                              const fmi2Integer order[], const fmi2Real value[], enum causality causality)
{
    REQUIRE_ARRAY(n, vr);
    REQUIRE_ARRAY(n, order);
    REQUIRE_ARRAY(n, value);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = component_variable(component, vr[i], TYPE_REAL);
        if (variable == NULL) return fmi2Error;
        REQUIRE(variable->causality == causality, "%s is not an %s", variable->name,
                causality == CAUSALITY_INPUT ? "input" : "output");
        REQUIRE(order[i] == 1, "%s: only derivatives of order 1 are supported, not %d", variable->name, order[i]);
    }
    return fmi2OK;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    ENTER(c, fmi2SetRealInputDerivatives);
    if (check_rates(component, vr, n, order, value, CAUSALITY_INPUT) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < n; i++)
        REQUIRE(isfinite(value[i]), "der(%s) = %g: must be a finite number",
                component->variables->by_reference[vr[i]]->name, value[i]);
    for (size_t i = 0; i < n; i++) instance_set_input_rate(component->instance, (int)vr[i], value[i]);
    return fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    ENTER(c, fmi2GetRealOutputDerivatives);
    if (check_rates(component, vr, n, order, value, CAUSALITY_OUTPUT) != fmi2OK) return fmi2Error;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < n && status == STATUS_OK; i++)
        status = instance_output_rate(component->instance, (int)vr[i], &value[i]);
    return component_leave(component, status);
}

/* ---- status: steps are never pending ------------------------------------------------------------------------------------------- */

/* A function that has no answer to any kind of question */
#define NO_ANSWER(function, type)                                                \
    fmi2Status function(fmi2Component c, const fmi2StatusKind kind, type *value) \
    {                                                                            \
        ENTER(c, function);                                                      \
        (void)kind;                                                              \
        REQUIRE(value != NULL, "the pointer for the answer is NULL");            \
        return fmi2Discard;                                                      \
    }
NO_ANSWER(fmi2GetStatus, fmi2Status)
NO_ANSWER(fmi2GetIntegerStatus, fmi2Integer)
NO_ANSWER(fmi2GetStringStatus, fmi2String)

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    ENTER(c, fmi2GetRealStatus);
    REQUIRE(value != NULL, "the pointer for the answer is NULL");
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = component->progress.point;
    return fmi2OK;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    ENTER(c, fmi2GetBooleanStatus);
    REQUIRE(value != NULL, "the pointer for the answer is NULL");
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = fmi2False; /* the FMU never asks to end the simulation */
    return fmi2OK;
}
