/* soak LIBRARY GUID RESOURCES STEPS CYCLES THREADS [Q QD TAU ...]: an FMU for a long time, through its fmi2 functions. Q, QD, TAU are
   value references of a joint, which a controller moves to and fro. Prints a JSON object; bench/soak.py calls it.

     steps    one instance makes STEPS communication steps: resident memory on the way, and the state at the end
     cycles   CYCLES times instantiate, initialize, step, free: memory, and whether all of them end in the same bits
     threads  THREADS instances at once: whether all of them end in the bits of an instance that runs alone */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "tests/host/functions.h"

enum { MOST_JOINTS = 8, SHORT_RUN = 50, THREAD_RUN = 1000 };
static const double STEP = 1e-3, STIFFNESS = 40, DAMPING = 40, SWING = 0.3, PERIOD = 4;

struct library {
    struct functions call;
    const char *guid, *resources;
    int n_joints;
    fmi2ValueReference q[MOST_JOINTS], qd[MOST_JOINTS], tau[MOST_JOINTS];
};

static void fail(const char *what)
{
    fprintf(stderr, "soak: %s\n", what);
    exit(1);
}

static void print_log(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                      fmi2String message, ...)
{
    (void)environment, (void)name, (void)category;
    if (status >= fmi2Discard) fprintf(stderr, "soak: %s\n", message);
}

static fmi2Component start(const struct library *l)
{
    static const fmi2CallbackFunctions functions = {print_log, calloc, free, NULL, NULL};
    fmi2Component c =
        l->call.fmi2Instantiate("soak", fmi2CoSimulation, l->guid, l->resources, &functions, fmi2False, fmi2False);
    if (c == NULL || l->call.fmi2SetupExperiment(c, fmi2True, 1e-4, 0, fmi2False, 0) != fmi2OK ||
        l->call.fmi2EnterInitializationMode(c) != fmi2OK || l->call.fmi2ExitInitializationMode(c) != fmi2OK)
        fail("an instance does not start");
    return c;
}

/* A square wave for every joint, with position and velocity feedback; the hash of all positions on the way */
static uint64_t run(const struct library *l, fmi2Component c, long from, long to, uint64_t hash)
{
    const size_t n = (size_t)l->n_joints;
    for (long i = from; i < to; i++) {
        const double t = STEP * (double)i, phase = t / PERIOD - (double)(long)(t / PERIOD);
        const double wanted = phase < 0.5 ? SWING : -SWING;
        double q[MOST_JOINTS], qd[MOST_JOINTS], tau[MOST_JOINTS];
        if (l->call.fmi2GetReal(c, l->q, n, q) != fmi2OK || l->call.fmi2GetReal(c, l->qd, n, qd) != fmi2OK)
            fail("values cannot be read");
        for (size_t k = 0; k < n; k++) tau[k] = STIFFNESS * (wanted - q[k]) - DAMPING * qd[k];
        if (l->call.fmi2SetReal(c, l->tau, n, tau) != fmi2OK || l->call.fmi2DoStep(c, t, STEP, fmi2True) != fmi2OK)
            fail("a step fails");
        hash = hash_bytes(hash, q, n * sizeof *q);
    }
    return hash;
}

static long resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2) fail("/proc/self/statm cannot be read");
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void show(const char *what, long done, long all)
{
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%s: %ld of %ld   ", what, done, all);
}

/* Memory after a tenth, and how much it grew from there */
static void soak_steps(const struct library *l, long steps)
{
    const double began = seconds();
    fmi2Component c = start(l);
    uint64_t hash = HASH_START;
    long early = 0;
    for (int tenth = 0; tenth < 10; tenth++) {
        hash = run(l, c, steps / 10 * tenth, steps / 10 * (tenth + 1), hash);
        if (tenth == 0) early = resident_bytes();
        show("steps", steps / 10 * (tenth + 1), steps);
    }
    printf("{\"steps\": %ld, \"steps_memory\": %ld, \"steps_growth\": %ld, \"steps_seconds\": %.1f, ", steps / 10 * 10,
           early, resident_bytes() - early, seconds() - began);
    l->call.fmi2FreeInstance(c);
}

static void soak_cycles(const struct library *l, long cycles)
{
    const double began = seconds();
    uint64_t first = 0;
    long early = 0, different = 0;
    for (long i = 0; i < cycles; i++) {
        fmi2Component c = start(l);
        const uint64_t hash = run(l, c, 0, SHORT_RUN, HASH_START);
        l->call.fmi2FreeInstance(c);
        if (i == 0) first = hash;
        different += hash != first;
        if (i == cycles / 10) early = resident_bytes();
        if (i % 100 == 99) show("cycles", i + 1, cycles);
    }
    printf("\"cycles\": %ld, \"cycles_memory\": %ld, \"cycles_growth\": %ld, \"cycles_different\": %ld, "
           "\"cycles_seconds\": %.1f, ",
           cycles, early, resident_bytes() - early, different, seconds() - began);
}

struct job {
    const struct library *library;
    uint64_t hash;
};

static void *run_job(void *argument)
{
    struct job *job = argument;
    fmi2Component c = start(job->library);
    job->hash = run(job->library, c, 0, THREAD_RUN, HASH_START);
    job->library->call.fmi2FreeInstance(c);
    return NULL;
}

static void soak_threads(const struct library *l, int threads)
{
    struct job *job = calloc((size_t)threads + 1, sizeof *job);
    pthread_t *thread = calloc((size_t)threads + 1, sizeof *thread);
    int different = 0;
    if (job == NULL || thread == NULL) fail("out of memory");
    for (int i = 0; i <= threads; i++) job[i].library = l;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run_job, &job[i]) != 0) fail("a thread cannot be made");
    for (int i = 0; i < threads; i++) (void)pthread_join(thread[i], NULL);
    (void)run_job(&job[threads]); /* alone */
    for (int i = 0; i < threads; i++) different += job[i].hash != job[threads].hash;
    printf("\"threads\": %d, \"threads_steps\": %d, \"threads_different\": %d}\n", threads, (int)THREAD_RUN, different);
    free(job);
    free(thread);
}

int main(int argc, char **argv)
{
    struct library l = {0};
    if (argc < 7 || (argc - 7) % 3 != 0 || (argc - 7) / 3 > MOST_JOINTS)
        fail("usage: soak LIBRARY GUID RESOURCES STEPS CYCLES THREADS [Q QD TAU ...]");
    const char *wrong = load_functions(&l.call, argv[1]);
    if (wrong != NULL) fail(wrong);
    l.guid = argv[2];
    l.resources = argv[3];
    for (int i = 7; i < argc; i += 3, l.n_joints++) {
        l.q[l.n_joints] = (fmi2ValueReference)strtoul(argv[i], NULL, 10);
        l.qd[l.n_joints] = (fmi2ValueReference)strtoul(argv[i + 1], NULL, 10);
        l.tau[l.n_joints] = (fmi2ValueReference)strtoul(argv[i + 2], NULL, 10);
    }
    soak_steps(&l, strtol(argv[4], NULL, 10));
    soak_cycles(&l, strtol(argv[5], NULL, 10));
    soak_threads(&l, (int)strtol(argv[6], NULL, 10));
    return 0;
}
