/* Saved states: what is put back goes on bit for bit; what was damaged is refused. */
#include "fmi_host.h"
#include "oracle/forge.h"
#include "oracle/random.h"

enum { STEPS = 20, MOST_STEPS = 1000, MOST_BYTES = 1 << 16 };

/* Steps from step number `from`, the tip's path into x */
static void run(const struct host *host, fmi2Component c, int from, double x[STEPS])
{
    for (int i = 0; i < STEPS; i++) {
        const double h = 0.01;
        CHECK(host_set(host, c, "elbow.tau", 0.1 * (i % 5)) == fmi2OK);
        CHECK(fmi2DoStep(c, (from + i) * h, h, fmi2False) == fmi2OK);
        x[i] = host_get(host, c, "tip.position[2]");
    }
}

static int same(const double *a, const double *b)
{
    return memcmp(a, b, STEPS * sizeof *a) == 0;
}

/* The state of c in MOST_BYTES bytes; their number */
static size_t serialize(fmi2Component c, unsigned char *bytes)
{
    fmi2FMUstate state = NULL;
    size_t size = 0;
    CHECK(fmi2GetFMUstate(c, &state) == fmi2OK && fmi2SerializedFMUstateSize(c, state, &size) == fmi2OK);
    CHECK(size > 100 && size < MOST_BYTES && fmi2SerializeFMUstate(c, state, (fmi2Byte *)bytes, size) == fmi2OK);
    CHECK(fmi2SerializeFMUstate(c, state, (fmi2Byte *)bytes, size - 1) == fmi2Error);
    CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK && state == NULL);
    return size;
}

HOST_TEST(rollback_is_exact)
{
    fmi2Component c = host_start(host, fmi2CoSimulation);
    double before[STEPS], first[STEPS], again[STEPS];
    fmi2FMUstate state = NULL, copy = NULL;
    run(host, c, 0, before);
    CHECK(fmi2GetFMUstate(c, &state) == fmi2OK);
    run(host, c, STEPS, first);
    CHECK(fmi2SetFMUstate(c, state) == fmi2OK);
    run(host, c, STEPS, again);
    CHECK(same(first, again));

    CHECK(fmi2Terminate(c) == fmi2OK && fmi2SetFMUstate(c, state) == fmi2OK); /* after termination */
    run(host, c, STEPS, again);
    CHECK(same(first, again));
    const fmi2FMUstate block = state;
    CHECK(fmi2GetFMUstate(c, &state) == fmi2OK && state == block); /* a given handle is used again */

    unsigned char bytes[MOST_BYTES];
    const size_t size = serialize(c, bytes);
    CHECK(host_said(host, "needs") && fmi2SetFMUstate(c, state) == fmi2OK);
    run(host, c, 2 * STEPS, first);
    CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK && state == NULL);

    c = host_make(host, fmi2CoSimulation); /* freshly instantiated, nothing else was called */
    CHECK(fmi2DeSerializeFMUstate(c, (fmi2Byte *)bytes, size, &copy) == fmi2OK);
    CHECK(fmi2SetFMUstate(c, copy) == fmi2OK);
    run(host, c, 2 * STEPS, again);
    CHECK(same(first, again));
    CHECK(fmi2FreeFMUstate(c, &copy) == fmi2OK && fmi2FreeFMUstate(c, &copy) == fmi2OK &&
          fmi2FreeFMUstate(c, NULL) == fmi2OK);
}

/* Half an eps of the start time is rounding of the importer's clock, also after the state was restored elsewhere. */
HOST_TEST(a_restored_state_has_its_start_time)
{
    unsigned char bytes[MOST_BYTES];
    fmi2FMUstate state = NULL;
    fmi2Component c = host_make(host, fmi2CoSimulation);
    CHECK(fmi2SetupExperiment(c, fmi2False, 0, -10, fmi2False, 0) == fmi2OK);
    CHECK(fmi2EnterInitializationMode(c) == fmi2OK && fmi2ExitInitializationMode(c) == fmi2OK);
    CHECK(fmi2DoStep(c, -10, 10, fmi2False) == fmi2OK);
    const size_t size = serialize(c, bytes);
    c = host_start(host, fmi2CoSimulation);
    CHECK(fmi2DoStep(c, 5e-15, 1e-10, fmi2False) == fmi2Error);
    c = host_start(host, fmi2CoSimulation);
    CHECK(fmi2DeSerializeFMUstate(c, (const fmi2Byte *)bytes, size, &state) == fmi2OK);
    CHECK(fmi2SetFMUstate(c, state) == fmi2OK && fmi2DoStep(c, 5e-15, 1e-10, fmi2False) == fmi2OK);
    CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK);
}

HOST_TEST(reset_begins_anew)
{
    double first[STEPS], again[STEPS];
    fmi2Component c = host_start(host, fmi2CoSimulation);
    run(host, c, 0, first);
    for (int i = 0; i < 5; i++) {
        CHECK(fmi2Reset(c) == fmi2OK);
        if (i == 2) CHECK(host_set(host, c, "upper.EIz", 700) == fmi2OK); /* forgotten by the next reset */
        host_initialize(c);
        run(host, c, 0, again);
        CHECK(same(first, again) == (i != 2));
    }
}

HOST_TEST(damaged_states_are_refused)
{
    fmi2Component c = host_start(host, fmi2CoSimulation);
    fmi2FMUstate copy = NULL;
    unsigned char buffer[MOST_BYTES];
    fmi2Byte *bytes = (fmi2Byte *)buffer, bad[MOST_BYTES];
    double x[STEPS];
    run(host, c, 0, x);
    const size_t size = serialize(c, buffer);
    struct random random = {1};
    for (int i = 0; i < test_sample(2000); i++) {
        memcpy(bad, bytes, size);
        const size_t at = (size_t)pick(&random, (int)size);
        bad[at] = (fmi2Byte)(bad[at] ^ (1 + i % 255));
        CHECK(fmi2DeSerializeFMUstate(c, bad, size, &copy) == fmi2Error && copy == NULL);
    }
    for (size_t shorter = 0; shorter < size; shorter += 1 + shorter / 3)
        CHECK(fmi2DeSerializeFMUstate(c, bytes, shorter, &copy) == fmi2Error && copy == NULL);
    CHECK(fmi2DeSerializeFMUstate(c, bytes, size + 1, &copy) == fmi2Error);
    CHECK(fmi2DeSerializeFMUstate(c, NULL, size, &copy) == fmi2Error);
    CHECK(fmi2DeSerializeFMUstate(c, bytes, size, NULL) == fmi2Error);
    CHECK(fmi2SetFMUstate(c, NULL) == fmi2Error);
    CHECK(fmi2GetFMUstate(c, NULL) == fmi2Error);
    fmi2Component me = host_make(host, fmi2ModelExchange);
    CHECK(fmi2DeSerializeFMUstate(me, bytes, size, &copy) == fmi2Error && host_said(host, "mixes"));
    CHECK(fmi2DoStep(c, STEPS * 0.01, 0.01, 0) == fmi2OK); /* still usable */
}

/* The state before and within initialization: parameters that were set come back, and act. */
HOST_TEST(states_of_the_beginning)
{
    fmi2Component a = host_make(host, fmi2CoSimulation), b = host_make(host, fmi2CoSimulation);
    fmi2FMUstate state = NULL;
    CHECK(host_set(host, a, "upper.EIz", 700) == fmi2OK);
    CHECK(fmi2GetFMUstate(a, &state) == fmi2OK && fmi2SetFMUstate(b, state) == fmi2OK);
    CHECK(host_get(host, b, "upper.EIz") == 700);
    CHECK(fmi2EnterInitializationMode(a) == fmi2OK && host_set(host, a, "shoulder.q_start", 0.2) == fmi2OK);
    CHECK(fmi2GetFMUstate(a, &state) == fmi2OK && fmi2SetFMUstate(b, state) == fmi2OK);
    CHECK(fmi2ExitInitializationMode(a) == fmi2OK && fmi2ExitInitializationMode(b) == fmi2OK);
    double x[STEPS], y[STEPS];
    run(host, a, 0, x);
    run(host, b, 0, y);
    CHECK(same(x, y));
    CHECK(fmi2FreeFMUstate(a, &state) == fmi2OK);
}

/* A state whose checksum is right may still hold any numbers: none of them crashes, or is converted to an integer that it is not
   (under the sanitizers). It is restored and continued, unless it is refused or has another limit of internal steps, which may be a
   large one. */
static void try_forged(struct host *host, unsigned char *bytes, size_t size)
{
    fmi2Component c = host_make(host, fmi2CoSimulation);
    fmi2FMUstate state = NULL;
    forge_checksum(bytes, size);
    if (fmi2DeSerializeFMUstate(c, (fmi2Byte *)bytes, size, &state) == fmi2OK) {
        const fmi2ValueReference limit = host_find(host, "solver.max_steps");
        fmi2Integer most = 0;
        const bool restored = fmi2SetFMUstate(c, state) == fmi2OK;
        (void)fmi2GetInteger(c, &limit, 1, &most);
        if (restored && most > 0 && most <= MOST_STEPS) (void)fmi2DoStep(c, STEPS * 0.01, 0.01, fmi2False);
        CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK);
    }
    host_free_instances(host);
}

static void forge_states_of(struct host *host, int method)
{
    static const double odd[] = {1e300, -1, NAN, 7, INFINITY};
    static unsigned char bytes[MOST_BYTES], forged[MOST_BYTES];
    double x[STEPS];
    fmi2Component c = host_make_method(host, method);
    CHECK(host_set_integer(host, c, "solver.max_steps", MOST_STEPS) == fmi2OK);
    host_initialize(c);
    run(host, c, 0, x);
    const size_t size = serialize(c, bytes);
    host_free_instances(host);
    memcpy(forged, bytes, size);
    forge_checksum(forged, size);
    CHECK(memcmp(forged, bytes, size) == 0); /* the layout is known */
    for (size_t at = FORGE_CHECKSUM_AT + sizeof(uint64_t); at + sizeof(double) <= size;
         at += sizeof(double) * (test_is_quick() ? 7 : 1)) {
        for (int k = 0; k < 5; k++) {
            memcpy(forged, bytes, size);
            memcpy(forged + at, &odd[k], sizeof(double));
            try_forged(host, forged, size);
        }
    }
}

HOST_TEST(forged_states_do_no_harm)
{
    for (int method = METHOD_AUTOMATIC; method < METHODS; method++) forge_states_of(host, method);
}

SUITE(fmi_state_test)
