/* The functions that an FMU library exports. Each calls the function of the same name in the instance's set (set.h), in the
   floating-point environment that computations need (environment.h). This file is compiled for any processor. */
#include "fmi/environment.h"
#include "fmi/set.h"

/* Names of the tables in the library: build/symbols/rename.sh gives each set a prefix. */
extern const struct fmi_set base_fmi_set;
#if defined(LIMBER_AVX2)
extern const struct fmi_set avx2_fmi_set;
#endif

static const struct fmi_set *set_of_processor(void)
{
#if defined(LIMBER_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2_fmi_set;
#endif
    return &base_fmi_set;
}

#define SET_OF(c) (((const struct fmi_handle *)(c))->set)

#define FORWARD(c, call)                                 \
    if ((c) == NULL) return fmi2Error;                   \
    const struct environment host = environment_enter(); \
    const fmi2Status forwarded = SET_OF(c)->call;        \
    environment_leave(&host);                            \
    return forwarded

/* ---- without an instance ----------------------------------------------------------------------------------------------- */

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String location,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    const struct environment host = environment_enter();
    fmi2Component c = set_of_processor()->fmi2Instantiate(name, type, guid, location, functions, visible, logging);
    environment_leave(&host);
    return c;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c == NULL) return;
    const struct environment host = environment_enter();
    SET_OF(c)->fmi2FreeInstance(c);
    environment_leave(&host);
}

/* ---- both interfaces -------------------------------------------------------------------------------- */

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    FORWARD(c, fmi2SetDebugLogging(c, on, n, categories));
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop)
{
    FORWARD(c, fmi2SetupExperiment(c, tolerance_defined, tolerance, start, stop_defined, stop));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    FORWARD(c, fmi2EnterInitializationMode(c));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    FORWARD(c, fmi2ExitInitializationMode(c));
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    FORWARD(c, fmi2Terminate(c));
}

fmi2Status fmi2Reset(fmi2Component c)
{
    FORWARD(c, fmi2Reset(c));
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    FORWARD(c, fmi2GetReal(c, vr, n, value));
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[])
{
    FORWARD(c, fmi2GetInteger(c, vr, n, value));
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[])
{
    FORWARD(c, fmi2GetBoolean(c, vr, n, value));
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[])
{
    FORWARD(c, fmi2GetString(c, vr, n, value));
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    FORWARD(c, fmi2SetReal(c, vr, n, value));
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[])
{
    FORWARD(c, fmi2SetInteger(c, vr, n, value));
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[])
{
    FORWARD(c, fmi2SetBoolean(c, vr, n, value));
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[])
{
    FORWARD(c, fmi2SetString(c, vr, n, value));
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    FORWARD(c, fmi2GetFMUstate(c, state));
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    FORWARD(c, fmi2SetFMUstate(c, state));
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    FORWARD(c, fmi2FreeFMUstate(c, state));
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    FORWARD(c, fmi2SerializedFMUstateSize(c, state, size));
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    FORWARD(c, fmi2SerializeFMUstate(c, state, bytes, size));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    FORWARD(c, fmi2DeSerializeFMUstate(c, bytes, size, state));
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                        const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[],
                                        fmi2Real result[])
{
    FORWARD(c, fmi2GetDirectionalDerivative(c, unknown, n_unknown, known, n_known, seed, result));
}

/* ---- model exchange -------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    FORWARD(c, fmi2EnterEventMode(c));
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    FORWARD(c, fmi2NewDiscreteStates(c, info));
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    FORWARD(c, fmi2EnterContinuousTimeMode(c));
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_rollback, fmi2Boolean *event,
                                       fmi2Boolean *terminate)
{
    FORWARD(c, fmi2CompletedIntegratorStep(c, no_rollback, event, terminate));
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    FORWARD(c, fmi2SetTime(c, time));
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    FORWARD(c, fmi2SetContinuousStates(c, x, n));
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivative[], size_t n)
{
    FORWARD(c, fmi2GetDerivatives(c, derivative, n));
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicator[], size_t n)
{
    FORWARD(c, fmi2GetEventIndicators(c, indicator, n));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    FORWARD(c, fmi2GetContinuousStates(c, x, n));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominal[], size_t n)
{
    FORWARD(c, fmi2GetNominalsOfContinuousStates(c, nominal, n));
}

/* ---- co-simulation -------------------------------------------------------------------------------- */

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    FORWARD(c, fmi2SetRealInputDerivatives(c, vr, n, order, value));
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    FORWARD(c, fmi2GetRealOutputDerivatives(c, vr, n, order, value));
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_rollback)
{
    FORWARD(c, fmi2DoStep(c, t, h, no_rollback));
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    FORWARD(c, fmi2CancelStep(c));
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    FORWARD(c, fmi2GetStatus(c, kind, value));
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    FORWARD(c, fmi2GetRealStatus(c, kind, value));
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    FORWARD(c, fmi2GetIntegerStatus(c, kind, value));
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    FORWARD(c, fmi2GetBooleanStatus(c, kind, value));
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    FORWARD(c, fmi2GetStringStatus(c, kind, value));
}
