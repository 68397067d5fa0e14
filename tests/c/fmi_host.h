/* An importer for tests: a robot in a folder of its own, a logger that remembers, short names for the usual calls.
   HOST_TEST(name) { ... } is a TEST with a `host` that is open; instances of host_make() are freed at its end. */
#ifndef FMI_HOST_H
#define FMI_HOST_H

#include <fmi2Functions.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loaded.h"

static const char host_robot[] =
    "{\"format\": \"limber-robot/1\", \"name\": \"two\", \"gravity\": [0, -9.81, 0], \"links\": ["
    "{\"name\": \"upper\", \"joint\": {\"name\": \"shoulder\", \"type\": \"revolute\", \"axis\": [0, 0, 1]},"
    " \"beam\": {\"length\": 1.0, \"mass_per_length\": 2.0, \"EIz\": 500.0, \"damping_ratio\": 0.01,"
    " \"modes\": {\"y\": {\"shape\": \"clamped-free\", \"count\": 2}}}},"
    "{\"name\": \"lower\", \"joint\": {\"name\": \"elbow\", \"type\": \"revolute\", \"axis\": [0, 0, 1]},"
    " \"beam\": {\"length\": 0.8, \"mass_per_length\": 1.0, \"EIz\": 200.0, \"damping_ratio\": 0.01,"
    " \"modes\": {\"y\": {\"shape\": \"clamped-free\", \"count\": 1}}}, \"payload\": {\"mass\": 0.5}}]}";

enum { HOST_INSTANCES = 8 };

struct host {
    fmi2Component made[HOST_INSTANCES]; /* that exist, by host_make() */
    int n_made;
    char folder[64], file[128];
    const char *guid;
    fmi2CallbackFunctions functions;
    int messages, singles; /* messages; percent signs that were not doubled */
    fmi2Status status;     /* of the last message                           */
    char category[64], text[8192];
    long blocks;          /* taken minus given back */
    struct instance *sim; /* for its table */
};

static struct host *host_now; /* whose blocks the allocator counts */

static void *host_take(size_t count, size_t size)
{
    host_now->blocks++;
    return calloc(count, size);
}

static void host_give_back(void *block)
{
    if (block != NULL) host_now->blocks--;
    free(block);
}

static void host_log(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                     fmi2String message, ...)
{
    struct host *host = environment;
    host->messages++;
    host->status = status;
    CHECK(name != NULL && category != NULL && message != NULL);
    snprintf(host->category, sizeof host->category, "%s", category);
    snprintf(host->text, sizeof host->text, "%s", message);
    for (const char *at = message; (at = strchr(at, '%')) != NULL; at += 2)
        if (at[1] != '%') {
            host->singles++;
            break;
        }
}

static void host_write(const char *file, const char *text)
{
    FILE *stream = fopen(file, "wb");
    CHECK(stream != NULL);
    if (stream == NULL) return;
    fputs(text, stream);
    fclose(stream);
}

static void host_open(struct host *host)
{
    static struct report silent;
    memset(host, 0, sizeof *host);
    snprintf(host->folder, sizeof host->folder, "/tmp/limber-fmi-XXXXXX");
    CHECK(mkdtemp(host->folder) != NULL);
    snprintf(host->file, sizeof host->file, "%s/robot.json", host->folder);
    host_write(host->file, host_robot);
    host->functions = (fmi2CallbackFunctions){host_log, host_take, host_give_back, NULL, host};
    CHECK(sim_make("robot", host_robot, &silent, &host->sim) == STATUS_OK);
    host->guid = instance_guid(host->sim);
    host_now = host;
}

/* All instances of host_make() */
static void host_free_instances(struct host *host)
{
    while (host->n_made > 0) fmi2FreeInstance(host->made[--host->n_made]);
}

static void host_close(struct host *host)
{
    host_free_instances(host);
    CHECK(host->blocks == 0);
    CHECK(host->singles == 0);
    instance_free(host->sim);
    unlink(host->file);
    rmdir(host->folder);
}

static inline fmi2Component host_make(struct host *host, fmi2Type type)
{
    fmi2Component c = fmi2Instantiate("two", type, host->guid, host->folder, &host->functions, fmi2False, fmi2False);
    CHECK(c != NULL && host->n_made < HOST_INSTANCES);
    return host->made[host->n_made++] = c;
}

static inline void host_initialize(fmi2Component c)
{
    CHECK(fmi2EnterInitializationMode(c) == fmi2OK && fmi2ExitInitializationMode(c) == fmi2OK);
}

/* A new instance after initialization */
static inline fmi2Component host_start(struct host *host, fmi2Type type)
{
    fmi2Component c = host_make(host, type);
    CHECK(fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0) == fmi2OK);
    host_initialize(c);
    return c;
}

static inline fmi2ValueReference host_find(const struct host *host, const char *name)
{
    return (fmi2ValueReference)named(host->sim, "%s", name);
}

static inline double host_get(const struct host *host, fmi2Component c, const char *name)
{
    const fmi2ValueReference reference = host_find(host, name);
    double value = NAN;
    CHECK(fmi2GetReal(c, &reference, 1, &value) == fmi2OK);
    return value;
}

static inline fmi2Status host_set(const struct host *host, fmi2Component c, const char *name, double value)
{
    const fmi2ValueReference reference = host_find(host, name);
    return fmi2SetReal(c, &reference, 1, &value);
}

static inline fmi2Status host_derivative(const struct host *host, fmi2Component c, const char *unknown,
                                         const char *known, double seed, double *result)
{
    const fmi2ValueReference u = host_find(host, unknown), k = host_find(host, known);
    return fmi2GetDirectionalDerivative(c, &u, 1, &k, 1, &seed, result);
}

static inline fmi2Status host_set_integer(const struct host *host, fmi2Component c, const char *name, int value)
{
    const fmi2ValueReference reference = host_find(host, name);
    return fmi2SetInteger(c, &reference, 1, &value);
}

/* A new instance for co-simulation by this method */
static inline fmi2Component host_make_method(struct host *host, int method)
{
    fmi2Component c = host_make(host, fmi2CoSimulation);
    CHECK(host_set_integer(host, c, "solver.method", method) == fmi2OK);
    return c;
}

#define HOST_TEST(name)                         \
    static void name##_with(struct host *host); \
    TEST(name)                                  \
    {                                           \
        struct host host;                       \
        host_open(&host);                       \
        name##_with(&host);                     \
        host_close(&host);                      \
    }                                           \
    static void name##_with(struct host *host)

static inline int host_said(struct host *host, const char *part)
{
    const int found = strstr(host->text, part) != NULL;
    if (!found) printf("expected \"%s\", logged: \"%s\"\n", part, host->text);
    return found;
}

#endif
