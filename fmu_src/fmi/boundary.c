/* The functions that an FMU library exports. Each calls the function of the same name in the instance's set (set.h), in the
   floating-point environment that computations need (environment.h). This file is compiled for any processor. */
#include "fmi/environment.h"
#include "fmi/set.h"

/* Names of the tables in the library: build/symbols/rename.sh gives each set a prefix. */
extern const struct fmi_set base_fmi_set;
#if defined(LIMBER_AVX2)
extern const struct fmi_set avx2_fmi_set;
#endif

#define SET_OF(c) (((const struct fmi_handle *)(c))->set)

/* A function that calls the one of the same name in the set */
#define FORWARD(function, parameters, arguments)                 \
    fmi2Status function parameters                               \
    {                                                            \
        if (c == NULL) return fmi2Error;                         \
        const struct environment host = environment_enter();     \
        const fmi2Status status = SET_OF(c)->function arguments; \
        environment_leave(&host);                                \
        return status;                                           \
    }

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
    const struct fmi_set *set = &base_fmi_set;
#if defined(LIMBER_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) set = &avx2_fmi_set;
#endif
    fmi2Component c = set->fmi2Instantiate(name, type, guid, location, functions, visible, logging);
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

/* clang-format off */
/* ---- both interfaces -------------------------------------------------------------------------------- */

FORWARD(fmi2SetDebugLogging, (fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]), (c, on, n, categories))
FORWARD(fmi2SetupExperiment, (fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start, fmi2Boolean stop_defined, fmi2Real stop), (c, tolerance_defined, tolerance, start, stop_defined, stop))
FORWARD(fmi2EnterInitializationMode, (fmi2Component c), (c))
FORWARD(fmi2ExitInitializationMode, (fmi2Component c), (c))
FORWARD(fmi2Terminate, (fmi2Component c), (c))
FORWARD(fmi2Reset, (fmi2Component c), (c))
FORWARD(fmi2GetReal, (fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[]), (c, vr, n, value))
FORWARD(fmi2GetInteger, (fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[]), (c, vr, n, value))
FORWARD(fmi2GetBoolean, (fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[]), (c, vr, n, value))
FORWARD(fmi2GetString, (fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[]), (c, vr, n, value))
FORWARD(fmi2SetReal, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]), (c, vr, n, value))
FORWARD(fmi2SetInteger, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[]), (c, vr, n, value))
FORWARD(fmi2SetBoolean, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[]), (c, vr, n, value))
FORWARD(fmi2SetString, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[]), (c, vr, n, value))
FORWARD(fmi2GetFMUstate, (fmi2Component c, fmi2FMUstate *state), (c, state))
FORWARD(fmi2SetFMUstate, (fmi2Component c, fmi2FMUstate state), (c, state))
FORWARD(fmi2FreeFMUstate, (fmi2Component c, fmi2FMUstate *state), (c, state))
FORWARD(fmi2SerializedFMUstateSize, (fmi2Component c, fmi2FMUstate state, size_t *size), (c, state, size))
FORWARD(fmi2SerializeFMUstate, (fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size), (c, state, bytes, size))
FORWARD(fmi2DeSerializeFMUstate, (fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state), (c, bytes, size, state))
FORWARD(fmi2GetDirectionalDerivative, (fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown, const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[], fmi2Real result[]), (c, unknown, n_unknown, known, n_known, seed, result))

/* ---- model exchange -------------------------------------------------------------------------------- */

FORWARD(fmi2EnterEventMode, (fmi2Component c), (c))
FORWARD(fmi2NewDiscreteStates, (fmi2Component c, fmi2EventInfo *info), (c, info))
FORWARD(fmi2EnterContinuousTimeMode, (fmi2Component c), (c))
FORWARD(fmi2CompletedIntegratorStep, (fmi2Component c, fmi2Boolean no_rollback, fmi2Boolean *event, fmi2Boolean *terminate), (c, no_rollback, event, terminate))
FORWARD(fmi2SetTime, (fmi2Component c, fmi2Real time), (c, time))
FORWARD(fmi2SetContinuousStates, (fmi2Component c, const fmi2Real x[], size_t n), (c, x, n))
FORWARD(fmi2GetDerivatives, (fmi2Component c, fmi2Real derivative[], size_t n), (c, derivative, n))
FORWARD(fmi2GetEventIndicators, (fmi2Component c, fmi2Real indicator[], size_t n), (c, indicator, n))
FORWARD(fmi2GetContinuousStates, (fmi2Component c, fmi2Real x[], size_t n), (c, x, n))
FORWARD(fmi2GetNominalsOfContinuousStates, (fmi2Component c, fmi2Real nominal[], size_t n), (c, nominal, n))

/* ---- co-simulation -------------------------------------------------------------------------------- */

FORWARD(fmi2SetRealInputDerivatives, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], const fmi2Real value[]), (c, vr, n, order, value))
FORWARD(fmi2GetRealOutputDerivatives, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], fmi2Real value[]), (c, vr, n, order, value))
FORWARD(fmi2DoStep, (fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_rollback), (c, t, h, no_rollback))
FORWARD(fmi2CancelStep, (fmi2Component c), (c))
FORWARD(fmi2GetStatus, (fmi2Component c, const fmi2StatusKind kind, fmi2Status *value), (c, kind, value))
FORWARD(fmi2GetRealStatus, (fmi2Component c, const fmi2StatusKind kind, fmi2Real *value), (c, kind, value))
FORWARD(fmi2GetIntegerStatus, (fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value), (c, kind, value))
FORWARD(fmi2GetBooleanStatus, (fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value), (c, kind, value))
FORWARD(fmi2GetStringStatus, (fmi2Component c, const fmi2StatusKind kind, fmi2String *value), (c, kind, value))
/* clang-format on */
