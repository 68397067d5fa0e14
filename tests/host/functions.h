/* The functions of an FMU's library that hosts of tests and benchmarks call. */
#ifndef HOST_FUNCTIONS_H
#define HOST_FUNCTIONS_H

#include <dlfcn.h>
#include <string.h>

#include "fmi2FunctionTypes.h"

/* X(function) */
#define USED_LIST(X)                \
    X(fmi2Instantiate)              \
    X(fmi2FreeInstance)             \
    X(fmi2SetupExperiment)          \
    X(fmi2EnterInitializationMode)  \
    X(fmi2ExitInitializationMode)   \
    X(fmi2DoStep)                   \
    X(fmi2GetReal)                  \
    X(fmi2SetReal)                  \
    X(fmi2SetInteger)               \
    X(fmi2SetBoolean)               \
    X(fmi2GetRealOutputDerivatives) \
    X(fmi2SetRealInputDerivatives)  \
    X(fmi2GetFMUstate)              \
    X(fmi2SetFMUstate)              \
    X(fmi2FreeFMUstate)             \
    X(fmi2SerializedFMUstateSize)   \
    X(fmi2SerializeFMUstate)        \
    X(fmi2DeSerializeFMUstate)      \
    X(fmi2GetDerivatives)           \
    X(fmi2GetDirectionalDerivative) \
    X(fmi2Reset)                    \
    X(fmi2Terminate)

struct functions {
#define USED_MEMBER(function) function##TYPE *function;
    USED_LIST(USED_MEMBER)
#undef USED_MEMBER
};

/* NULL, or what is wrong with the library */
static const char *load_functions(struct functions *functions, const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL), *address;
    if (library == NULL) return dlerror();
#define USED_ADDRESS(function)                   \
    address = dlsym(library, #function);         \
    if (address == NULL) return "no " #function; \
    memcpy(&functions->function, &address, sizeof address); /* ISO C has no conversion */
    USED_LIST(USED_ADDRESS)
#undef USED_ADDRESS
    return NULL;
}

#endif
