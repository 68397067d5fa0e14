/* A host for tests: loads the library of an FMU and takes an instance of each interface through its life. Arguments of a program:
   LIBRARY GUID RESOURCES STATES REFERENCE... (of real outputs). STATES is - where there is no model exchange. */
#ifndef HOST_LIFE_H
#define HOST_LIFE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

enum { MOST_OUTPUTS = 4096, MOST_BYTES = 1 << 20, STEPS = 3, RECORD = 16384 };

struct fmu {
    struct functions call;
    const char *guid, *resources;
    bool exchanged;
    size_t states, outputs;
    fmi2ValueReference output[MOST_OUTPUTS];
};

/* What came of a life: all numbers that were read, and the first call that failed */
struct record {
    size_t count;
    double number[RECORD];
    const char *failed; /* NULL: none */
    int messages;       /* of errors  */
    char text[256];     /* the last   */
};

/* Called after each function of the FMU */
static void after_call(const char *name);

static bool load_fmu(struct fmu *fmu, int n, char **words)
{
    if (n < 5) return false;
    const char *wrong = load_functions(&fmu->call, words[1]);
    if (wrong != NULL) {
        fprintf(stderr, "%s: %s\n", words[1], wrong);
        return false;
    }
    fmu->guid = words[2];
    fmu->resources = words[3];
    fmu->exchanged = strcmp(words[4], "-") != 0;
    fmu->states = strtoul(words[4], NULL, 10);
    for (int i = 5; i < n && fmu->outputs < MOST_OUTPUTS; i++)
        fmu->output[fmu->outputs++] = (fmi2ValueReference)strtoul(words[i], NULL, 10);
    return true;
}

static void keep_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                         fmi2String message, ...)
{
    struct record *record = environment;
    (void)name, (void)category;
    if (status < fmi2Error) return;
    record->messages++;
    snprintf(record->text, sizeof record->text, "%s", message);
}

static bool done(struct record *record, const char *name, bool good)
{
    after_call(name);
    if (!good && record->failed == NULL) record->failed = name;
    return good;
}

#define CALL(function, ...) done(record, #function, fmu->call.function(__VA_ARGS__) == fmi2OK)

static void keep_numbers(struct record *record, size_t n, const double *number)
{
    for (size_t i = 0; i < n && record->count < RECORD; i++) record->number[record->count++] = number[i];
}

static bool read_outputs(const struct fmu *fmu, fmi2Component c, struct record *record)
{
    double value[MOST_OUTPUTS];
    if (!CALL(fmi2GetReal, c, fmu->output, fmu->outputs, value)) return false;
    keep_numbers(record, fmu->outputs, value);
    return true;
}

static bool initialize(const struct fmu *fmu, fmi2Component c, struct record *record)
{
    return CALL(fmi2SetupExperiment, c, fmi2True, 1e-6, 0, fmi2False, 0) && CALL(fmi2EnterInitializationMode, c) &&
           CALL(fmi2ExitInitializationMode, c);
}

static bool step(const struct fmu *fmu, fmi2Component c, struct record *record, int first)
{
    for (int i = first; i < first + STEPS; i++)
        if (!CALL(fmi2DoStep, c, 2e-3 * i, 2e-3, fmi2True) || !read_outputs(fmu, c, record)) return false;
    return true;
}

/* Steps, and the same again from a state that was serialized */
static bool step_and_return(const struct fmu *fmu, fmi2Component c, struct record *record)
{
    fmi2Byte bytes[MOST_BYTES];
    fmi2FMUstate state = NULL, copy = NULL;
    size_t size = 0;
    bool good = initialize(fmu, c, record) && step(fmu, c, record, 0) && CALL(fmi2GetFMUstate, c, &state) &&
                CALL(fmi2SerializedFMUstateSize, c, state, &size) && size <= sizeof bytes &&
                CALL(fmi2SerializeFMUstate, c, state, bytes, size) && step(fmu, c, record, STEPS) &&
                CALL(fmi2DeSerializeFMUstate, c, bytes, size, &copy) && CALL(fmi2SetFMUstate, c, copy) &&
                step(fmu, c, record, STEPS) && CALL(fmi2Terminate, c) && CALL(fmi2Reset, c) &&
                initialize(fmu, c, record) && read_outputs(fmu, c, record);
    if (state != NULL) CALL(fmi2FreeFMUstate, c, &state);
    if (copy != NULL) CALL(fmi2FreeFMUstate, c, &copy);
    return good;
}

static bool evaluate(const struct fmu *fmu, fmi2Component c, struct record *record)
{
    double x[MOST_OUTPUTS];
    if (!initialize(fmu, c, record) || !read_outputs(fmu, c, record)) return false;
    if (!CALL(fmi2GetDerivatives, c, x, fmu->states)) return false;
    keep_numbers(record, fmu->states, x);
    return true;
}

/* One instance from its making to its end; false if a call failed */
static bool live(const struct fmu *fmu, fmi2Type type, struct record *record)
{
    const fmi2CallbackFunctions functions = {keep_message, calloc, free, NULL, record};
    fmi2Component c =
        fmu->call.fmi2Instantiate("life", type, fmu->guid, fmu->resources, &functions, fmi2False, fmi2False);
    if (!done(record, "fmi2Instantiate", c != NULL)) return false;
    const bool good = type == fmi2CoSimulation ? step_and_return(fmu, c, record) : evaluate(fmu, c, record);
    fmu->call.fmi2FreeInstance(c);
    done(record, "fmi2FreeInstance", true);
    return good;
}

#endif
