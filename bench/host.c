/* host JOB [TIMES]: steps coupled FMUs as a job file says, and prints recorded variables as rows of numbers. Instructions are counted
   inside measured_step(), which holds only calls of fmi2DoStep (bench/runs.py). The time of each call goes to the file TIMES, doubles
   in ns; under callgrind the instructions counted so far go to the log after each call (bench/fixed.py).

   Lines of a job; FMU is a number that counts `fmu` lines from 0, REF a value reference, COLUMN one of the table:
     step H STEPS EVERY                      communication step, their number, steps from one printed row to the next
     couple IN_TURN SLOPES PASSES            as examples/coupling/master.py; PASSES over the connections make the start consistent
     fmu LIBRARY GUID RESOURCES TOLERANCE    0: the FMU's default
     real | integer | boolean FMU REF VALUE  a parameter
     connect FMU REF FMU REF                 from an output to an input
     table COLUMNS FILE                      doubles, one row per step and one more
     input FMU REF COLUMN                    held over the step, or linear to the next row if SLOPES
     control FMU REF Q QD KP KD R RATE       input = KP (table R - q) + KD (table RATE - qd), held over the step
     record FMU REF */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/host/functions.h"

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

enum { MOST_FMUS = 16, MOST = 128, LONGEST = 4096 };

/* The system allows a real-time process 95 % of a second. A pause after every so many steps whose times are kept stays below it. */
enum { STEPS_TO_PAUSE = 2000, PAUSE = 10000000 /* ns */ };

struct fmu {
    fmi2Component component;
    struct functions call;
    double tolerance;
};

struct variable {
    int fmu;
    fmi2ValueReference reference;
};

struct connection {
    struct variable from, to;
    double value, slope; /* at the beginning of the step, as its target sees them */
    double start;        /* value of the source at the beginning of the step      */
};

struct input {
    struct variable to;
    int column;
};

struct control {
    struct variable to, q, qd;
    double kp, kd;
    int r, rate;
};

struct job {
    double h;
    long steps, every;
    int in_turn, slopes, passes;
    int n_fmus, n_connections, n_inputs, n_controls, n_records, n_columns;
    struct fmu fmu[MOST_FMUS];
    struct connection connection[MOST];
    struct input input[MOST];
    struct control control[MOST];
    struct variable record[MOST];
    double *table;
    double *time; /* of each call of fmi2DoStep [ns]; NULL: not kept */
    long n_times;
};

static void fail(const char *what)
{
    fprintf(stderr, "host: %s\n", what);
    exit(1);
}

static void expect(fmi2Status status, const char *what)
{
    if (status > fmi2Warning) fail(what);
}

/* ---- reading a job ------------------------------------------------------------------------------------------------------ */

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    (void)environment, (void)category;
    if (status > fmi2Warning) fprintf(stderr, "host: %s: %s\n", instance, message);
}

static const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};

static void load(struct job *job, const char *file, const char *guid, const char *resources, double tolerance)
{
    if (job->n_fmus == MOST_FMUS) fail("too many FMUs");
    struct fmu *fmu = &job->fmu[job->n_fmus++];
    const char *wrong = load_functions(&fmu->call, file);
    if (wrong != NULL) fail(wrong);
    fmu->tolerance = tolerance;
    fmu->component =
        fmu->call.fmi2Instantiate(file, fmi2CoSimulation, guid, resources, &callbacks, fmi2False, fmi2False);
    if (fmu->component == NULL) fail("fmi2Instantiate");
}

static void read_table(struct job *job, const char *name)
{
    const size_t n = (size_t)job->n_columns * (size_t)(job->steps + 1);
    FILE *file = fopen(name, "rb");
    job->table = malloc(n * sizeof(double));
    if (file == NULL || job->table == NULL || fread(job->table, sizeof(double), n, file) != n) fail(name);
    fclose(file);
}

static void set_parameter(struct job *job, const char *type, const char *line)
{
    struct variable of;
    double value;
    if (sscanf(line, "%d %u %lf", &of.fmu, &of.reference, &value) != 3) fail(line);
    const struct fmu *fmu = &job->fmu[of.fmu];
    const int whole = (int)value;
    if (type[0] == 'r') expect(fmu->call.fmi2SetReal(fmu->component, &of.reference, 1, &value), "fmi2SetReal");
    else if (type[0] == 'i')
        expect(fmu->call.fmi2SetInteger(fmu->component, &of.reference, 1, &whole), "fmi2SetInteger");
    else expect(fmu->call.fmi2SetBoolean(fmu->component, &of.reference, 1, &whole), "fmi2SetBoolean");
}

/* What is attached to FMUs; false if the line is no such */
static bool read_attachment(struct job *job, const char *word, const char *rest)
{
    struct connection *c = &job->connection[job->n_connections];
    struct input *u = &job->input[job->n_inputs];
    struct control *k = &job->control[job->n_controls];
    struct variable *r = &job->record[job->n_records];
    if (job->n_connections == MOST || job->n_inputs == MOST || job->n_controls == MOST || job->n_records == MOST)
        fail("too many lines");
    if (strcmp(word, "connect") == 0) {
        job->n_connections++;
        return sscanf(rest, "%d %u %d %u", &c->from.fmu, &c->from.reference, &c->to.fmu, &c->to.reference) == 4;
    }
    if (strcmp(word, "input") == 0) {
        job->n_inputs++;
        return sscanf(rest, "%d %u %d", &u->to.fmu, &u->to.reference, &u->column) == 3;
    }
    if (strcmp(word, "control") == 0) {
        job->n_controls++;
        const int n = sscanf(rest, "%d %u %u %u %lf %lf %d %d", &k->to.fmu, &k->to.reference, &k->q.reference,
                             &k->qd.reference, &k->kp, &k->kd, &k->r, &k->rate);
        k->q.fmu = k->qd.fmu = k->to.fmu;
        return n == 8;
    }
    job->n_records++;
    return strcmp(word, "record") == 0 && sscanf(rest, "%d %u", &r->fmu, &r->reference) == 2;
}

static void read_line(struct job *job, const char *line)
{
    char word[16], a[LONGEST], b[LONGEST], c[LONGEST];
    double tolerance;
    int used = 0;
    if (sscanf(line, "%15s %n", word, &used) != 1) return;
    const char *rest = line + used;
    bool good = true;
    if (strcmp(word, "step") == 0) good = sscanf(rest, "%lf %ld %ld", &job->h, &job->steps, &job->every) == 3;
    else if (strcmp(word, "couple") == 0)
        good = sscanf(rest, "%d %d %d", &job->in_turn, &job->slopes, &job->passes) == 3;
    else if (strcmp(word, "fmu") == 0) {
        good = sscanf(rest, "%4095s %4095s %4095s %lf", a, b, c, &tolerance) == 4;
        if (good) load(job, a, b, c, tolerance);
    } else if (strcmp(word, "table") == 0) {
        good = sscanf(rest, "%d %4095s", &job->n_columns, a) == 2;
        if (good) read_table(job, a);
    } else if (strcmp(word, "real") == 0 || strcmp(word, "integer") == 0 || strcmp(word, "boolean") == 0)
        set_parameter(job, word, rest);
    else good = read_attachment(job, word, rest);
    if (!good) fail(line);
}

static void read_job(struct job *job, const char *name)
{
    char line[3 * LONGEST];
    FILE *file = fopen(name, "r");
    if (file == NULL) fail(name);
    while (fgets(line, sizeof line, file) != NULL) read_line(job, line);
    fclose(file);
}

/* ---- running ------------------------------------------------------------------------------------------------------------ */

static double get(const struct job *job, const struct variable *of)
{
    double value;
    const struct fmu *fmu = &job->fmu[of->fmu];
    expect(fmu->call.fmi2GetReal(fmu->component, &of->reference, 1, &value), "fmi2GetReal");
    return value;
}

static double get_slope(const struct job *job, const struct variable *of)
{
    const fmi2Integer first = 1;
    double value;
    const struct fmu *fmu = &job->fmu[of->fmu];
    expect(fmu->call.fmi2GetRealOutputDerivatives(fmu->component, &of->reference, 1, &first, &value),
           "fmi2GetRealOutputDerivatives");
    return value;
}

static void set(const struct job *job, const struct variable *of, double value)
{
    const struct fmu *fmu = &job->fmu[of->fmu];
    expect(fmu->call.fmi2SetReal(fmu->component, &of->reference, 1, &value), "fmi2SetReal");
}

static void set_slope(const struct job *job, const struct variable *of, double slope)
{
    const fmi2Integer first = 1;
    const struct fmu *fmu = &job->fmu[of->fmu];
    expect(fmu->call.fmi2SetRealInputDerivatives(fmu->component, &of->reference, 1, &first, &slope),
           "fmi2SetRealInputDerivatives");
}

static void read_connections(struct job *job)
{
    for (struct connection *c = job->connection; c < job->connection + job->n_connections; c++) {
        c->value = c->start = get(job, &c->from);
        if (job->slopes) c->slope = get_slope(job, &c->from);
    }
}

static void initialize(struct job *job)
{
    for (struct fmu *fmu = job->fmu; fmu < job->fmu + job->n_fmus; fmu++) {
        expect(fmu->call.fmi2SetupExperiment(fmu->component, fmu->tolerance > 0, fmu->tolerance, 0, fmi2False, 0),
               "fmi2SetupExperiment");
        expect(fmu->call.fmi2EnterInitializationMode(fmu->component), "fmi2EnterInitializationMode");
    }
    for (int pass = 0; pass < job->passes; pass++)
        for (struct connection *c = job->connection; c < job->connection + job->n_connections; c++)
            set(job, &c->to, get(job, &c->from));
    for (struct fmu *fmu = job->fmu; fmu < job->fmu + job->n_fmus; fmu++)
        expect(fmu->call.fmi2ExitInitializationMode(fmu->component), "fmi2ExitInitializationMode");
    read_connections(job);
}

static void set_inputs(const struct job *job, long i)
{
    const double *row = job->table + job->n_columns * i, *next = row + job->n_columns;
    for (const struct input *u = job->input; u < job->input + job->n_inputs; u++) {
        set(job, &u->to, row[u->column]);
        if (job->slopes) set_slope(job, &u->to, (next[u->column] - row[u->column]) / job->h);
    }
    for (const struct control *k = job->control; k < job->control + job->n_controls; k++)
        set(job, &k->to, k->kp * (row[k->r] - get(job, &k->q)) + k->kd * (row[k->rate] - get(job, &k->qd)));
}

__attribute__((noinline)) static fmi2Status measured_step(const struct fmu *fmu, double t, double h)
{
    const fmi2Status status = fmu->call.fmi2DoStep(fmu->component, t, h, fmi2True);
    __asm__ volatile("" ::: "memory"); /* no tail call: the function returns after the step */
    return status;
}

static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void log_count(void)
{
#ifdef RUNNING_ON_VALGRIND
    if (RUNNING_ON_VALGRIND) VALGRIND_MONITOR_COMMAND("status internal");
#endif
}

static fmi2Status timed_step(struct job *job, const struct fmu *fmu, double t)
{
    const double start = nanoseconds();
    const fmi2Status status = measured_step(fmu, t, job->h);
    job->time[job->n_times++] = nanoseconds() - start;
    log_count();
    if (job->n_times % STEPS_TO_PAUSE == 0) nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    return status;
}

static void step_fmu(struct job *job, int i, double t)
{
    struct connection *const end = job->connection + job->n_connections;
    for (const struct connection *c = job->connection; c < end; c++) {
        if (c->to.fmu != i) continue;
        set(job, &c->to, c->value);
        if (job->slopes) set_slope(job, &c->to, c->slope);
    }
    const struct fmu *fmu = &job->fmu[i];
    expect(job->time != NULL ? timed_step(job, fmu, t) : measured_step(fmu, t, job->h), "fmi2DoStep");
    if (!job->in_turn) return;
    for (struct connection *c = job->connection; c < end; c++) {
        if (c->from.fmu != i) continue;
        if (job->slopes) c->slope = (get(job, &c->from) - c->start) / job->h;
        else c->value = get(job, &c->from);
    }
}

static void print_row(const struct job *job)
{
    for (int k = 0; k < job->n_records; k++)
        printf("%.17g%c", get(job, &job->record[k]), k + 1 < job->n_records ? ',' : '\n');
}

/* Memory that is written now is present when the steps write to it */
static void prepare_times(struct job *job)
{
    const size_t n = (size_t)job->steps * (size_t)job->n_fmus;
    job->time = malloc(n * sizeof(double));
    if (job->time == NULL) fail("no memory for times");
    for (size_t i = 0; i < n; i++) job->time[i] = -1;
}

static void write_times(const struct job *job, const char *name)
{
    FILE *file = fopen(name, "wb");
    if (file == NULL || fwrite(job->time, sizeof(double), (size_t)job->n_times, file) != (size_t)job->n_times)
        fail(name);
    fclose(file);
}

int main(int argc, char **argv)
{
    static struct job job; /* large */
    if (argc != 2 && argc != 3) fail("usage: host JOB [TIMES]");
    read_job(&job, argv[1]);
    if (argc == 3) prepare_times(&job);
    initialize(&job);
    clock_t inside = 0;
    print_row(&job);
    for (long i = 0; i < job.steps; i++) {
        const clock_t start = clock();
        set_inputs(&job, i);
        for (int k = 0; k < job.n_fmus; k++) step_fmu(&job, k, job.h * (double)i);
        read_connections(&job);
        inside += clock() - start;
        if ((i + 1) % job.every == 0) print_row(&job);
    }
    fprintf(stderr, "{\"cpu_seconds\": %.6g}\n", (double)inside / CLOCKS_PER_SEC);
    if (argc == 3) write_times(&job, argv[2]);
    free(job.time);
    free(job.table);
    return 0;
}
