/* A serialized state with any contents and a checksum that fits: refused, or restored and continued. The first bytes choose robot and
   method; then come places and the eight bytes that are put there. */
#include "fmi_instance.h"
#include "oracle/forge.h"

enum { MOST_BYTES = 1 << 16, MOST_METHODS = 5 };

static unsigned char original[FUZZ_ROBOTS][MOST_METHODS][MOST_BYTES];
static size_t original_size[FUZZ_ROBOTS][MOST_METHODS];

static fmi2Component start(int robot, int method)
{
    fmi2Component c = fuzz_instantiate(robot, fmi2CoSimulation);
    const fmi2ValueReference reference = fuzz_reference(robot, "solver.method");
    (void)fmi2SetInteger(c, &reference, 1, &method);
    if (fmi2SetupExperiment(c, fmi2True, 1e-4, 0, fmi2False, 0) != fmi2OK || fmi2EnterInitializationMode(c) != fmi2OK ||
        fmi2ExitInitializationMode(c) != fmi2OK)
        abort();
    return c;
}

static void make_original(int robot, int method)
{
    size_t *size = &original_size[robot][method];
    fmi2FMUstate state = NULL;
    fmi2Component c = start(robot, method);
    (void)fmi2DoStep(c, 0, 1e-3, fmi2False);
    if (fmi2GetFMUstate(c, &state) != fmi2OK || fmi2SerializedFMUstateSize(c, state, size) != fmi2OK ||
        *size > MOST_BYTES || fmi2SerializeFMUstate(c, state, (fmi2Byte *)original[robot][method], *size) != fmi2OK)
        abort();
    (void)fmi2FreeFMUstate(c, &state);
    fmi2FreeInstance(c);
}

static void change(struct bytes *b, unsigned char *bytes, size_t size)
{
    while (b->left > 0) {
        const size_t at = 8 * ((256 * (size_t)take_byte(b) + take_byte(b)) % (size / 8));
        const double number = take_number(b);
        memcpy(bytes + at, &number, sizeof number);
    }
}

/* Restores the bytes and steps from there; false: refused */
static bool restore(int robot, fmi2Component c, const unsigned char *bytes, size_t size)
{
    static const fmi2ValueReference reference[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    double value[8];
    fmi2FMUstate state = NULL;
    if (fmi2DeSerializeFMUstate(c, (const fmi2Byte *)bytes, size, &state) != fmi2OK) return false;
    const bool restored = fmi2SetFMUstate(c, state) == fmi2OK;
    if (restored && fuzz_limited(robot, c)) (void)fmi2DoStep(c, 1e-3, 1e-3, fmi2False);
    (void)fmi2GetReal(c, reference, 8, value);
    (void)fmi2FreeFMUstate(c, &state);
    return restored;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[MOST_BYTES];
    static fmi2Component kept[FUZZ_ROBOTS]; /* what is restored replaces all that came before, unless that fails */
    struct bytes b = {data, size};
    const int robot = (int)take_byte(&b) % FUZZ_ROBOTS, method = (int)take_byte(&b) % MOST_METHODS;
    if (original_size[robot][method] == 0) make_original(robot, method);
    const size_t whole = original_size[robot][method];
    memcpy(bytes, original[robot][method], whole);
    change(&b, bytes, whole);
    forge_checksum(bytes, whole);
    if (kept[robot] == NULL) kept[robot] = fuzz_instantiate(robot, fmi2CoSimulation);
    if (restore(robot, kept[robot], bytes, whole)) return 0;
    fmi2FreeInstance(kept[robot]);
    kept[robot] = NULL;
    return 0;
}
