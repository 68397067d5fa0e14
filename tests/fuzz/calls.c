/* Any sequence of fmi2 calls with any arguments. The first bytes choose robot and interface, then each byte is a call, followed by its
   arguments. Pointers are valid or NULL: what they point to has room for the largest count that is passed. */
#include "fmi_instance.h"

enum { ROOM = 64, MOST_CALLS = 100, MOST_STEPS = 12 };

struct session {
    int robot, steps;
    fmi2Component c;
    fmi2FMUstate state;
    fmi2Byte *saved;
    size_t saved_size;
    struct bytes input;
    fmi2ValueReference vr[ROOM], other[ROOM];
    fmi2Real real[ROOM], result[ROOM];
    fmi2Integer integer[ROOM];
    fmi2Boolean boolean[ROOM];
    fmi2String string[ROOM];
};

/* Mostly a variable, sometimes any number */
static fmi2ValueReference take_reference(struct session *s)
{
    const unsigned low = take_byte(&s->input), high = take_byte(&s->input);
    const unsigned count = (unsigned)instance_variables(fuzz_table(s->robot))->n_values;
    return high == 255 ? 0xffffff00u + low : (256 * high + low) % (count + 2);
}

static size_t take_references(struct session *s, fmi2ValueReference *vr)
{
    const size_t n = take_byte(&s->input) % 8;
    for (size_t i = 0; i < n; i++) vr[i] = take_reference(s);
    return n;
}

static size_t take_count(struct session *s)
{
    return take_byte(&s->input) % (ROOM + 1);
}

static void take_reals(struct session *s, size_t n)
{
    for (size_t i = 0; i < n; i++) s->real[i] = take_number(&s->input);
}

static fmi2Boolean take_boolean(struct session *s)
{
    return take_byte(&s->input) % 4 == 0 ? (fmi2Boolean)take_byte(&s->input) : fmi2True;
}

/* ---- groups of calls ---------------------------------------------------------------------------------------------------- */

static void set_integers(struct session *s)
{
    const size_t n = take_references(s, s->vr);
    for (size_t i = 0; i < n; i++) s->integer[i] = (int)take_byte(&s->input) - (int)take_byte(&s->input) % 3 * 256;
    (void)fmi2SetInteger(s->c, s->vr, n, s->integer);
    fuzz_limit(s->robot, s->c);
}

static void call_values(struct session *s, unsigned which)
{
    const size_t n = which == 3 ? 0 : take_references(s, s->vr);
    switch (which) {
    case 0: (void)fmi2GetReal(s->c, s->vr, n, s->result); break;
    case 1: (void)fmi2GetInteger(s->c, s->vr, n, s->integer); break;
    case 2: (void)fmi2GetBoolean(s->c, s->vr, n, s->boolean); break;
    case 3: set_integers(s); break;
    case 4:
        take_reals(s, n);
        (void)fmi2SetReal(s->c, s->vr, n, s->real);
        break;
    case 5:
        for (size_t i = 0; i < n; i++) s->boolean[i] = take_boolean(s);
        (void)fmi2SetBoolean(s->c, s->vr, n, s->boolean);
        break;
    case 6: (void)fmi2GetString(s->c, s->vr, n, s->string); break;
    default: (void)fmi2SetString(s->c, s->vr, n, s->string); break;
    }
}

static void call_lifecycle(struct session *s, unsigned which)
{
    switch (which) {
    case 0:
        take_reals(s, 3);
        (void)fmi2SetupExperiment(s->c, take_boolean(s), s->real[0], s->real[1], take_boolean(s), s->real[2]);
        break;
    case 1: (void)fmi2EnterInitializationMode(s->c); break;
    case 2: (void)fmi2ExitInitializationMode(s->c); break;
    case 3: (void)fmi2Terminate(s->c); break;
    case 4:
        (void)fmi2Reset(s->c);
        fuzz_limit(s->robot, s->c);
        break;
    default: (void)fmi2SetDebugLogging(s->c, take_boolean(s), 0, NULL); break;
    }
}

static void do_step(struct session *s)
{
    take_reals(s, 2);
    if (s->steps++ < MOST_STEPS && fuzz_limited(s->robot, s->c))
        (void)fmi2DoStep(s->c, s->real[0], s->real[1], take_boolean(s));
}

static void call_co_simulation(struct session *s, unsigned which)
{
    const size_t n = which == 2 || which == 3 ? take_references(s, s->vr) : 0;
    for (size_t i = 0; i < n; i++) s->integer[i] = (int)take_byte(&s->input) % 6;
    switch (which) {
    case 0:
    case 1: do_step(s); break;
    case 2:
        take_reals(s, n);
        (void)fmi2SetRealInputDerivatives(s->c, s->vr, n, s->integer, s->real);
        break;
    case 3: (void)fmi2GetRealOutputDerivatives(s->c, s->vr, n, s->integer, s->result); break;
    case 4: (void)fmi2CancelStep(s->c); break;
    case 5: (void)fmi2GetStatus(s->c, (fmi2StatusKind)(take_byte(&s->input) % 6), (fmi2Status *)s->integer); break;
    case 6: (void)fmi2GetRealStatus(s->c, (fmi2StatusKind)(take_byte(&s->input) % 6), s->result); break;
    default: (void)fmi2GetBooleanStatus(s->c, (fmi2StatusKind)(take_byte(&s->input) % 6), s->boolean); break;
    }
}

static void call_model_exchange(struct session *s, unsigned which)
{
    fmi2EventInfo info;
    const size_t n = which <= 4 ? take_count(s) : 0;
    switch (which) {
    case 0:
        take_reals(s, n);
        (void)fmi2SetContinuousStates(s->c, s->real, n);
        break;
    case 1: (void)fmi2GetContinuousStates(s->c, s->result, n); break;
    case 2: (void)fmi2GetDerivatives(s->c, s->result, n); break;
    case 3: (void)fmi2GetEventIndicators(s->c, s->result, n); break;
    case 4: (void)fmi2GetNominalsOfContinuousStates(s->c, s->result, n); break;
    case 5: (void)fmi2SetTime(s->c, take_number(&s->input)); break;
    case 6: (void)fmi2EnterEventMode(s->c); break;
    case 7: (void)fmi2NewDiscreteStates(s->c, &info); break;
    case 8: (void)fmi2EnterContinuousTimeMode(s->c); break;
    default: (void)fmi2CompletedIntegratorStep(s->c, take_boolean(s), s->boolean, s->boolean + 1); break;
    }
}

static void serialize(struct session *s)
{
    if (s->state == NULL || fmi2SerializedFMUstateSize(s->c, s->state, &s->saved_size) != fmi2OK) return;
    free(s->saved);
    s->saved = malloc(s->saved_size);
    if (s->saved == NULL) abort();
    (void)fmi2SerializeFMUstate(s->c, s->state, s->saved, s->saved_size);
}

static void call_states(struct session *s, unsigned which)
{
    switch (which) {
    case 0: (void)fmi2GetFMUstate(s->c, &s->state); break;
    case 1: (void)fmi2SetFMUstate(s->c, s->state); break;
    case 2: (void)fmi2FreeFMUstate(s->c, &s->state); break;
    case 3: serialize(s); break;
    case 4:
        if (s->saved == NULL) break;
        (void)fmi2FreeFMUstate(s->c, &s->state);
        (void)fmi2DeSerializeFMUstate(s->c, s->saved, s->saved_size - take_byte(&s->input) % 2, &s->state);
        break;
    default: {
        const size_t unknowns = take_references(s, s->vr), knowns = take_references(s, s->other);
        take_reals(s, knowns);
        (void)fmi2GetDirectionalDerivative(s->c, s->vr, unknowns, s->other, knowns, s->real, s->result);
        break;
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        void (*call)(struct session *, unsigned);
        unsigned count;
    } group[] = {
        {call_values, 8}, {call_lifecycle, 6}, {call_co_simulation, 8}, {call_model_exchange, 10}, {call_states, 6}};
    struct session s = {.input = {data, size}};
    s.robot = (int)take_byte(&s.input) % FUZZ_ROBOTS;
    s.c = fuzz_instantiate(s.robot, take_byte(&s.input) % 2 == 0 ? fmi2CoSimulation : fmi2ModelExchange);
    for (int i = 0; i < MOST_CALLS && s.input.left > 0; i++) {
        const unsigned byte = take_byte(&s.input), which = byte % 5;
        group[which].call(&s, byte / 5 % group[which].count);
    }
    (void)fmi2FreeFMUstate(s.c, &s.state);
    fmi2FreeInstance(s.c);
    free(s.saved);
    return 0;
}
