#include "fmi/set.h"

#if defined(__AVX2__) && defined(__FMA__)
#define INSTRUCTIONS "AVX2 and FMA"
#elif defined(__SSE2__)
#define INSTRUCTIONS "SSE2"
#else
#define INSTRUCTIONS "the compiler's default"
#endif

const struct fmi_set fmi_set = {INSTRUCTIONS, fmi2Instantiate, fmi2FreeInstance,
#define SET_ADDRESS(function, states, audience) function,
                                CALL_LIST(SET_ADDRESS)
#undef SET_ADDRESS
};
