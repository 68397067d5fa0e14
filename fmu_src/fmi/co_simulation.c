/* Co-simulation: the FMU integrates from one communication point to the next. */
#include <float.h>
#include <math.h>

#include "fmi/instance.h"

/* ---- the step ---------------------------------------------------------------------------------------------------------------- */

/* What rounding may do to the importer's clock: every step adds half an eps of the time, and the step itself may be off by
   what a decimal number loses in print. */
static double clock_tolerance(const struct progress *progress, double t, double h)
{
    const double start = fabs(progress->experiment.start_time);
    return 1e-6 * h + (double)(progress->steps + 4) * DBL_EPSILON * fmax(fabs(t) + h, start);
}

static fmi2Status check_step(const struct instance *instance, double t, double h)
{
    const struct progress *progress = &instance->progress;
    REQUIRE(isfinite(t) && isfinite(h) && h > 0,
            "the communication step must be positive and finite: t = %g s, h = %g s", t, h);
    const double tolerance = clock_tolerance(progress, t, h), stop = progress->experiment.stop_time;
    REQUIRE(fabs(t - progress->point) <= tolerance,
            "the communication point t = %.17g s is not where the last step ended, %.17g s", t, progress->point);
    REQUIRE(!progress->experiment.stop_defined || t + h <= stop + tolerance,
            "a step from t = %.9g s over h = %.9g s goes past the stop time %.9g s given in fmi2SetupExperiment", t, h,
            stop);
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_rollback)
{
    (void)no_rollback;
    ENTER(c, fmi2DoStep);
    if (check_step(instance, t, h) != fmi2OK) return fmi2Error;
    struct progress *progress = &instance->progress;
    const bool again = progress->state == STATE_STEP_FAILED;
    const double before = sim_time(instance->sim);
    const enum status status = sim_step(instance->sim, h);
    progress->point = status == STATUS_OK ? t + h : t + (sim_time(instance->sim) - before);
    progress->state = status == STATUS_OK ? STATE_STEP_COMPLETE : STATE_STEP_FAILED;
    progress->steps++;
    /* twice in a row without getting anywhere: an importer that repeats a discarded step would do so for ever */
    if (again && sim_time(instance->sim) <= before) return instance_fail(instance, status);
    return instance_leave(instance, status);
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    ENTER(c, fmi2CancelStep);
    return instance_refuse(instance, "no step is pending: steps end before fmi2DoStep returns");
}

/* ---- derivatives of inputs and outputs ------------------------------------------------------------------------------------------ */

/* References and orders of Real variables of one causality */
static fmi2Status check_rates(const struct instance *instance, const fmi2ValueReference vr[], size_t n,
                              const fmi2Integer order[], const fmi2Real value[], enum causality causality)
{
    REQUIRE_ARRAY(n, vr);
    REQUIRE_ARRAY(n, order);
    REQUIRE_ARRAY(n, value);
    for (size_t i = 0; i < n; i++) {
        const struct variable *variable = instance_variable(instance, vr[i], TYPE_REAL);
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
    if (check_rates(instance, vr, n, order, value, CAUSALITY_INPUT) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < n; i++)
        REQUIRE(isfinite(value[i]), "der(%s) = %g: must be a finite number",
                instance->variables->by_reference[vr[i]]->name, value[i]);
    for (size_t i = 0; i < n; i++) sim_set_input_rate(instance->sim, (int)vr[i], value[i]);
    return fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    ENTER(c, fmi2GetRealOutputDerivatives);
    if (check_rates(instance, vr, n, order, value, CAUSALITY_OUTPUT) != fmi2OK) return fmi2Error;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < n && status == STATUS_OK; i++)
        status = sim_output_rate(instance->sim, (int)vr[i], &value[i]);
    return instance_leave(instance, status);
}

/* ---- status: steps are never pending ------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    ENTER(c, fmi2GetStatus);
    (void)kind;
    REQUIRE(value != NULL, "the pointer for the answer is NULL");
    return fmi2Discard;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    ENTER(c, fmi2GetRealStatus);
    REQUIRE(value != NULL, "the pointer for the answer is NULL");
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = instance->progress.point;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    ENTER(c, fmi2GetIntegerStatus);
    (void)kind;
    REQUIRE(value != NULL, "the pointer for the answer is NULL");
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    ENTER(c, fmi2GetBooleanStatus);
    REQUIRE(value != NULL, "the pointer for the answer is NULL");
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = fmi2False; /* the FMU never asks to end the simulation */
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    ENTER(c, fmi2GetStringStatus);
    (void)kind;
    REQUIRE(value != NULL, "the pointer for the answer is NULL");
    return fmi2Discard;
}
