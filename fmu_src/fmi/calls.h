/* The legal call sequence: every function that takes a component, the states in which it may be called, and the interface it
   belongs to. */
#ifndef FMI_CALLS_H
#define FMI_CALLS_H

/* X(identifier, bit, name) */
#define STATE_LIST(X)                           \
    X(INSTANTIATED, 1, "instantiated")          \
    X(INITIALIZATION, 2, "initialization mode") \
    X(EVENT, 4, "event mode")                   \
    X(CONTINUOUS, 8, "continuous-time mode")    \
    X(STEP_COMPLETE, 16, "step complete")       \
    X(STEP_FAILED, 32, "step failed")           \
    X(TERMINATED, 64, "terminated")             \
    X(ERROR, 128, "error (only reset or free it now)")

enum state {
#define STATE_CODE(identifier, bit, name) STATE_##identifier = (bit),
    STATE_LIST(STATE_CODE)
#undef STATE_CODE
};

enum audience { MODEL_EXCHANGE = 1, CO_SIMULATION = 2, BOTH = 3 };

#define STATES_STEPPING (STATE_STEP_COMPLETE | STATE_STEP_FAILED)
#define STATES_RUNNING  (STATE_EVENT | STATE_CONTINUOUS | STATES_STEPPING)
#define STATES_SANE     (STATE_INSTANTIATED | STATE_INITIALIZATION | STATES_RUNNING | STATE_TERMINATED)
#define STATES_ALL      (STATES_SANE | STATE_ERROR)
/* before initialization mode only inputs and parameters are known: the getters check that */
#define STATES_GET      STATES_SANE
#define STATES_SET      (STATE_INSTANTIATED | STATE_INITIALIZATION | STATES_RUNNING)
#define STATES_COMPUTED (STATE_INITIALIZATION | STATES_RUNNING | STATE_TERMINATED)

/* X(function, states, audience) */
#define CALL_LIST(X)                                                                                           \
    X(fmi2SetDebugLogging, STATES_ALL, BOTH)                                                                   \
    X(fmi2SetupExperiment, STATE_INSTANTIATED, BOTH)                                                           \
    X(fmi2EnterInitializationMode, STATE_INSTANTIATED, BOTH)                                                   \
    X(fmi2ExitInitializationMode, STATE_INITIALIZATION, BOTH)                                                  \
    X(fmi2Terminate, STATES_RUNNING, BOTH)                                                                     \
    X(fmi2Reset, STATES_ALL, BOTH)                                                                             \
    X(fmi2GetReal, STATES_GET, BOTH)                                                                           \
    X(fmi2GetInteger, STATES_GET, BOTH)                                                                        \
    X(fmi2GetBoolean, STATES_GET, BOTH)                                                                        \
    X(fmi2GetString, STATES_GET, BOTH)                                                                         \
    X(fmi2SetReal, STATES_SET, BOTH)                                                                           \
    X(fmi2SetInteger, STATES_SET, BOTH)                                                                        \
    X(fmi2SetBoolean, STATES_SET, BOTH)                                                                        \
    X(fmi2SetString, STATES_SET, BOTH)                                                                         \
    X(fmi2GetFMUstate, STATES_SANE, BOTH)                                                                      \
    X(fmi2SetFMUstate, STATES_ALL, BOTH)                                                                       \
    X(fmi2FreeFMUstate, STATES_ALL, BOTH)                                                                      \
    X(fmi2SerializedFMUstateSize, STATES_ALL, BOTH)                                                            \
    X(fmi2SerializeFMUstate, STATES_ALL, BOTH)                                                                 \
    X(fmi2DeSerializeFMUstate, STATES_ALL, BOTH)                                                               \
    X(fmi2GetDirectionalDerivative, STATES_COMPUTED, BOTH)                                                     \
    X(fmi2EnterEventMode, STATE_EVENT | STATE_CONTINUOUS, MODEL_EXCHANGE)                                      \
    X(fmi2NewDiscreteStates, STATE_EVENT, MODEL_EXCHANGE)                                                      \
    X(fmi2EnterContinuousTimeMode, STATE_EVENT | STATE_CONTINUOUS, MODEL_EXCHANGE)                             \
    X(fmi2CompletedIntegratorStep, STATE_CONTINUOUS, MODEL_EXCHANGE)                                           \
    X(fmi2SetTime, STATE_EVENT | STATE_CONTINUOUS, MODEL_EXCHANGE)                                             \
    X(fmi2SetContinuousStates, STATE_EVENT | STATE_CONTINUOUS, MODEL_EXCHANGE)                                 \
    X(fmi2GetDerivatives, STATES_COMPUTED, MODEL_EXCHANGE)                                                     \
    X(fmi2GetEventIndicators, STATES_COMPUTED, MODEL_EXCHANGE)                                                 \
    X(fmi2GetContinuousStates, STATES_COMPUTED, MODEL_EXCHANGE)                                                \
    X(fmi2GetNominalsOfContinuousStates, STATES_SANE, MODEL_EXCHANGE)                                          \
    X(fmi2SetRealInputDerivatives, STATE_INSTANTIATED | STATE_INITIALIZATION | STATES_STEPPING, CO_SIMULATION) \
    X(fmi2GetRealOutputDerivatives, STATES_STEPPING | STATE_TERMINATED, CO_SIMULATION)                         \
    X(fmi2DoStep, STATES_STEPPING, CO_SIMULATION)                                                              \
    X(fmi2CancelStep, STATES_SANE, CO_SIMULATION)                                                              \
    X(fmi2GetStatus, STATES_SANE, CO_SIMULATION)                                                               \
    X(fmi2GetRealStatus, STATES_SANE, CO_SIMULATION)                                                           \
    X(fmi2GetIntegerStatus, STATES_SANE, CO_SIMULATION)                                                        \
    X(fmi2GetBooleanStatus, STATES_SANE, CO_SIMULATION)                                                        \
    X(fmi2GetStringStatus, STATES_SANE, CO_SIMULATION)

enum call {
#define CALL_CODE(function, states, audience) CALL_##function,
    CALL_LIST(CALL_CODE)
#undef CALL_CODE
};

#endif
