/* Saved states: what is put back goes on bit for bit; what was damaged is refused. */
#include "fmi_host.h"
#include "oracle/forge.h"
#include "oracle/random.h"

enum { STEPS = 20, MOST_STEPS = 1000 };

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

TEST(rollback_is_exact)
{
    struct host host;
    host_open(&host);
    fmi2Component c = host_start(&host, fmi2CoSimulation);
    double before[STEPS], first[STEPS], again[STEPS];
    fmi2FMUstate state = NULL, copy = NULL;
    run(&host, c, 0, before);
    CHECK(fmi2GetFMUstate(c, &state) == fmi2OK);
    run(&host, c, STEPS, first);
    CHECK(fmi2SetFMUstate(c, state) == fmi2OK);
    run(&host, c, STEPS, again);
    CHECK(same(first, again));

    CHECK(fmi2Terminate(c) == fmi2OK && fmi2SetFMUstate(c, state) == fmi2OK); /* after termination */
    run(&host, c, STEPS, again);
    CHECK(same(first, again));
    const fmi2FMUstate block = state;
    CHECK(fmi2GetFMUstate(c, &state) == fmi2OK && state == block); /* a given handle is used again */

    size_t size = 0;
    fmi2Byte bytes[1 << 16];
    CHECK(fmi2SerializedFMUstateSize(c, state, &size) == fmi2OK && size > 100 && size < sizeof bytes);
    CHECK(fmi2SerializeFMUstate(c, state, bytes, size - 1) == fmi2Error && host_said(&host, "needs"));
    CHECK(fmi2SerializeFMUstate(c, state, bytes, size) == fmi2OK);
    CHECK(fmi2SetFMUstate(c, state) == fmi2OK);
    run(&host, c, 2 * STEPS, first);
    CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK && state == NULL);
    fmi2FreeInstance(c);

    c = host_make(&host, fmi2CoSimulation); /* freshly instantiated, nothing else was called */
    CHECK(fmi2DeSerializeFMUstate(c, bytes, size, &copy) == fmi2OK);
    CHECK(fmi2SetFMUstate(c, copy) == fmi2OK);
    run(&host, c, 2 * STEPS, again);
    CHECK(same(first, again));
    CHECK(fmi2FreeFMUstate(c, &copy) == fmi2OK && fmi2FreeFMUstate(c, &copy) == fmi2OK &&
          fmi2FreeFMUstate(c, NULL) == fmi2OK);
    fmi2FreeInstance(c);
    host_close(&host);
}

TEST(reset_begins_anew)
{
    struct host host;
    host_open(&host);
    double first[STEPS], again[STEPS];
    fmi2Component c = host_start(&host, fmi2CoSimulation);
    run(&host, c, 0, first);
    for (int i = 0; i < 5; i++) {
        CHECK(fmi2Reset(c) == fmi2OK);
        if (i == 2) CHECK(host_set(&host, c, "upper.EIz", 700) == fmi2OK); /* forgotten by the next reset */
        CHECK(fmi2EnterInitializationMode(c) == fmi2OK && fmi2ExitInitializationMode(c) == fmi2OK);
        run(&host, c, 0, again);
        CHECK(same(first, again) == (i != 2));
    }
    fmi2FreeInstance(c);
    host_close(&host);
}

TEST(damaged_states_are_refused)
{
    struct host host;
    host_open(&host);
    fmi2Component c = host_start(&host, fmi2CoSimulation);
    fmi2FMUstate state = NULL, copy = NULL;
    size_t size = 0;
    fmi2Byte bytes[1 << 16], bad[1 << 16];
    double x[STEPS];
    run(&host, c, 0, x);
    CHECK(fmi2GetFMUstate(c, &state) == fmi2OK && fmi2SerializedFMUstateSize(c, state, &size) == fmi2OK);
    CHECK(fmi2SerializeFMUstate(c, state, bytes, size) == fmi2OK);
    CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK);
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
    fmi2Component me = host_make(&host, fmi2ModelExchange);
    CHECK(fmi2DeSerializeFMUstate(me, bytes, size, &copy) == fmi2Error && host_said(&host, "mixes"));
    fmi2FreeInstance(me);
    CHECK(fmi2DoStep(c, STEPS * 0.01, 0.01, 0) == fmi2OK); /* still usable */
    fmi2FreeInstance(c);
    host_close(&host);
}

/* The state before and within initialization: parameters that were set come back, and act. */
TEST(states_of_the_beginning)
{
    struct host host;
    host_open(&host);
    fmi2Component a = host_make(&host, fmi2CoSimulation), b = host_make(&host, fmi2CoSimulation);
    fmi2FMUstate state = NULL;
    CHECK(host_set(&host, a, "upper.EIz", 700) == fmi2OK);
    CHECK(fmi2GetFMUstate(a, &state) == fmi2OK && fmi2SetFMUstate(b, state) == fmi2OK);
    CHECK(host_get(&host, b, "upper.EIz") == 700);
    CHECK(fmi2EnterInitializationMode(a) == fmi2OK && host_set(&host, a, "shoulder.q_start", 0.2) == fmi2OK);
    CHECK(fmi2GetFMUstate(a, &state) == fmi2OK && fmi2SetFMUstate(b, state) == fmi2OK);
    CHECK(fmi2ExitInitializationMode(a) == fmi2OK && fmi2ExitInitializationMode(b) == fmi2OK);
    double x[STEPS], y[STEPS];
    run(&host, a, 0, x);
    run(&host, b, 0, y);
    CHECK(same(x, y));
    CHECK(fmi2FreeFMUstate(a, &state) == fmi2OK);
    fmi2FreeInstance(a);
    fmi2FreeInstance(b);
    host_close(&host);
}

/* Saves after every step if asked to */
static void run_and_save(const struct host *host, fmi2Component c, int from, bool save, double x[STEPS])
{
    fmi2FMUstate state = NULL;
    for (int i = 0; i < STEPS; i++) {
        const double h = 0.01;
        CHECK(host_set(host, c, "elbow.tau", 0.1 * (i % 5)) == fmi2OK);
        CHECK(fmi2DoStep(c, (from + i) * h, h, fmi2False) == fmi2OK);
        if (save) CHECK(fmi2GetFMUstate(c, &state) == fmi2OK);
        x[i] = host_get(host, c, "tip.position[2]");
    }
    CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK);
}

/* A state of one instance, put into another that has gone elsewhere, continues with the same bits. */
static void check_continued(struct host *host, int method, double fixed_step)
{
    double first[STEPS], again[STEPS];
    fmi2FMUstate state = NULL;
    fmi2Component a = host_start_method(host, method, fixed_step), fresh = host_make(host, fmi2CoSimulation),
                  used = host_start_method(host, METHOD_AUTOMATIC, 0);
    run(host, a, 0, first);
    run(host, used, 0, first);
    CHECK(fmi2GetFMUstate(a, &state) == fmi2OK);
    run(host, a, STEPS, first);
    CHECK(fmi2SetFMUstate(fresh, state) == fmi2OK && fmi2SetFMUstate(used, state) == fmi2OK);
    run(host, fresh, STEPS, again);
    CHECK(same(first, again));
    run(host, used, STEPS, again);
    CHECK(same(first, again));
    CHECK(fmi2FreeFMUstate(a, &state) == fmi2OK);
    fmi2FreeInstance(a);
    fmi2FreeInstance(fresh);
    fmi2FreeInstance(used);
}

/* Saving changes nothing where the method has no history. CVODE restarts. */
static void check_undisturbed(struct host *host, int method, double fixed_step)
{
    double alone[STEPS], saved[STEPS];
    fmi2Component a = host_start_method(host, method, fixed_step), b = host_start_method(host, method, fixed_step);
    run_and_save(host, a, 0, false, alone);
    run_and_save(host, b, 0, true, saved);
    CHECK(same(alone, saved) == (method != METHOD_CVODE));
    fmi2FreeInstance(a);
    fmi2FreeInstance(b);
}

TEST(every_method_continues_from_a_saved_state)
{
    struct host host;
    host_open(&host);
    for (int method = 0; method < METHODS; method++) {
        check_continued(&host, method, 0);
        check_undisturbed(&host, method, 0);
        if (method == METHOD_CVODE || method == METHOD_EXPLICIT) continue;
        check_continued(&host, method, 0.003);
        check_undisturbed(&host, method, 0.003);
    }
    host_close(&host);
}

/* The size of a saved state does not depend on the method, nor on what has happened */
TEST(all_states_have_one_size)
{
    struct host host;
    host_open(&host);
    size_t sizes[METHODS + 1];
    for (int method = 0; method <= METHODS; method++) {
        double x[STEPS];
        fmi2FMUstate state = NULL;
        fmi2Component c = method < METHODS ? host_start_method(&host, method, 0) : host_make(&host, fmi2CoSimulation);
        if (method < METHODS) run(&host, c, 0, x);
        CHECK(fmi2GetFMUstate(c, &state) == fmi2OK);
        CHECK(fmi2SerializedFMUstateSize(c, state, &sizes[method]) == fmi2OK && sizes[method] == sizes[0]);
        CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK);
        fmi2FreeInstance(c);
    }
    host_close(&host);
}

/* A state whose checksum is right may still hold any numbers: none of them crashes, or is converted to an integer that it is not
   (under the sanitizers) */
/* Restored and continued, unless it is refused or has another limit of internal steps, which may be a large one */
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
    fmi2FreeInstance(c);
}

static void forge_states_of(int method)
{
    static const double odd[] = {1e300, -1, NAN, 7, INFINITY};
    static unsigned char bytes[1 << 16], forged[1 << 16];
    struct host host;
    double x[STEPS];
    size_t size = 0;
    fmi2FMUstate state = NULL;
    host_open(&host);
    fmi2Component c = host_make(&host, fmi2CoSimulation);
    CHECK(host_set_integer(&host, c, "solver.method", method) == fmi2OK);
    CHECK(host_set_integer(&host, c, "solver.max_steps", MOST_STEPS) == fmi2OK);
    CHECK(fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0) == fmi2OK);
    CHECK(fmi2EnterInitializationMode(c) == fmi2OK && fmi2ExitInitializationMode(c) == fmi2OK);
    run(&host, c, 0, x);
    CHECK(fmi2GetFMUstate(c, &state) == fmi2OK && fmi2SerializedFMUstateSize(c, state, &size) == fmi2OK);
    CHECK(size <= sizeof bytes && fmi2SerializeFMUstate(c, state, (fmi2Byte *)bytes, size) == fmi2OK);
    CHECK(fmi2FreeFMUstate(c, &state) == fmi2OK);
    fmi2FreeInstance(c);
    memcpy(forged, bytes, size);
    forge_checksum(forged, size);
    CHECK(memcmp(forged, bytes, size) == 0); /* the layout is known */
    for (size_t at = FORGE_CHECKSUM_AT + sizeof(uint64_t); at + sizeof(double) <= size;
         at += sizeof(double) * (test_is_quick() ? 7 : 1)) {
        for (int k = 0; k < 5; k++) {
            memcpy(forged, bytes, size);
            memcpy(forged + at, &odd[k], sizeof(double));
            try_forged(&host, forged, size);
        }
    }
    host_close(&host);
}

TEST(forged_states_do_no_harm)
{
    for (int method = METHOD_AUTOMATIC; method < METHODS; method++) forge_states_of(method);
}

int fmi_state_test(void)
{
    RUN(forged_states_do_no_harm);
    RUN(every_method_continues_from_a_saved_state);
    RUN(all_states_have_one_size);
    RUN(rollback_is_exact);
    RUN(reset_begins_anew);
    RUN(damaged_states_are_refused);
    RUN(states_of_the_beginning);
    return test_summary();
}
