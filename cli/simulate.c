/* limber simulate: the same instance as the FMU, without an importer. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/failure.h"
#include "analysis/state.h"
#include "cli.h"
#include "inputs.h"
#include "instance.h"
#include "robot/read.h"

static const double MOST_STEPS = 1e12; /* more rows than any file holds */

struct options {
    struct common common;
    const char *inputs, *method;
    int interpolate; /* LINEAR, CUBIC; 0: not given */
    double until, step, rtol;
    bool hold, stats;
};

enum { LINEAR = 1, CUBIC };

static const struct option rows[] = {
    OPTION_ROBOT,
    {"--until", "T", OPTION_POSITIVE, TO(until), .required = true, .help = "end of the simulation [s]"},
    {"--step", "H", OPTION_POSITIVE, TO(step), .required = true, .help = "communication and output step [s]"},
    {"--inputs", "CSV", OPTION_TEXT, TO(inputs),
     .help =
         "inputs by name, first column time; constant before the first and after the last row. Prescribed motion J.q, "
         "J.qd, J.qdd: the quintic through these of both rows; columns that are left out are derived from the others"},
    {"--interpolate", "linear|cubic", OPTION_CHOICE, TO(interpolate),
     .help = "other inputs between rows (default linear). cubic: a smooth spline through the rows"},
    {"--hold", NULL, OPTION_FLAG, TO(hold), .excludes = "--interpolate", .reason = "keeps inputs constant between rows",
     .help = "inputs are held from row to row and jump at rows, as if an importer set them there; prescribed motion is "
             "q + qd s + qdd s^2/2 from each row on"},
    OPTION_AT(
        "start from a state file (-: standard input); its forces are constant unless --inputs has a column for them"),
    OPTION_SET,
    {"--rtol", "R", OPTION_TOLERANCE, TO(rtol), .help = "relative tolerance, below 1 (default 1e-6)"},
    {"--method", "M", OPTION_TEXT, TO(method),
     .help = "method of integration: auto (default), cvode, esdirk, explicit or symmetric, or its number 0 to 4 "
             "(solver.method)"},
    OPTION_JSON("JSON instead of CSV: columns, rows"),
    OPTION_OUTPUT,
    {"--stats", NULL, OPTION_FLAG, TO(stats),
     .help = "method and why it was chosen, steps, right-hand sides, Jacobians, restarts, residuals, factorizations, "
             "Newton iterations, failures, events, CPU seconds as JSON on standard error"},
    {0}};

struct run {
    const struct options *options;
    struct instance *sim;
    struct inputs inputs;
    struct columns columns;
    clock_t integration; /* CPU time of the steps, without output */
    struct report *report;
};

/* The method of a word or a number; METHODS: there is none */
static int method_of(const char *text)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(text, integrator_method_word((enum method)i)) == 0 || (text[0] == '0' + i && text[1] == '\0'))
            return i;
    return METHODS;
}

/* --method is short for --set solver.method. */
static int check(const void *given)
{
    static const char name[] = "solver.method=";
    const struct options *options = given;
    const char *text = options->method;
    if (text != NULL && method_of(text) == METHODS)
        return cli_usage("simulate", "--method is auto, cvode, esdirk, explicit or symmetric (or 0 to 4), not '%s'",
                         text);
    for (int i = 0; i < options->common.set.n && text != NULL; i++)
        if (strncmp(options->common.set.text[i], name, sizeof name - 1) == 0)
            return cli_usage("simulate", "--method %s and --set %s both choose the method: give one of them", text,
                             options->common.set.text[i]);
    if (!(options->until / options->step <= MOST_STEPS))
        return cli_usage("simulate", "--until %g --step %g: more than %g steps", options->until, options->step,
                         MOST_STEPS);
    return EXIT_OK;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------ */

static int write_row(struct run *run, struct table *table, double t)
{
    const enum status status = analysis_update(run->sim, t, run->report);
    if (status == STATUS_OK) cli_columns_write_row(&run->columns, run->sim, t, table);
    return cli_exit_code(status);
}

static int simulate(struct run *run)
{
    const double until = run->options->until, step = run->options->step;
    const long steps = (long)ceil(until / step * (1 - 1e-12));
    const struct experiment experiment = {.tolerance = run->options->rtol};
    enum status status = instance_initialize(run->sim, &experiment);
    if (status == STATUS_NO_MEMORY && run->sim->report->errors == 0) return cli_no_memory("simulate");
    if (status != STATUS_OK) return cli_exit_code(status);
    inputs_choose_ends(&run->inputs, run->sim->stepper.tolerance);
    struct table table = {.stream = stdout, .json = run->options->common.json};
    cli_columns_write_names(&run->columns, run->sim, &table);
    int code = write_row(run, &table, 0);
    for (long i = 0; i < steps && code == EXIT_OK; i++) {
        const double end = i + 1 < steps ? step * (double)(i + 1) : until;
        const clock_t start = clock();
        for (double t = step * (double)i, to; status == STATUS_OK && t < end; t = to) {
            to = inputs_begin_step(&run->inputs, t, end); /* may be earlier, at a row of the inputs */
            status = instance_step(run->sim, to - t);
        }
        run->integration += clock() - start;
        if (status != STATUS_OK) code = EXIT_COMPUTATION;
        if (code != EXIT_OK) break;
        code = write_row(run, &table, end);
        cli_progress_time(end, until);
    }
    cli_progress_time(until, until);
    cli_table_end(&table);
    return code;
}

static void print_statistics(const struct run *run, double cpu_seconds)
{
    struct integrator_statistics s;
    instance_statistics(run->sim, &s);
    const struct integrator *integrator = instance_integrator(run->sim);
    const bool integrates = integrator != NULL;
    fprintf(stderr,
            "{\"method\": \"%s\", \"reason\": \"%s\", \"steps\": %ld, \"rhs\": %ld, \"jacobians\": %ld, \"restarts\": "
            "%ld, \"residuals\": %ld, \"factorizations\": %ld, \"newton_iterations\": %ld, \"error_test_failures\": "
            "%ld, \"newton_failures\": %ld, \"events\": %ld, \"cpu_seconds\": %.6g}\n",
            integrates ? integrator_method_word(integrator->chosen) : "none",
            integrates ? integrator->choice : "all motion is prescribed", s.steps, s.rhs, s.jacobians, s.restarts,
            s.residuals, s.factorizations, s.newton_iterations, s.error_test_failures, s.newton_failures, s.events,
            cpu_seconds);
}

/* q and qd of a STATE become start values, its forces inputs, which are constant unless --inputs has a column for them. --set is applied
   after it and has priority. */
static int set_up(struct run *run)
{
    const struct options *options = run->options;
    const struct common *common = &options->common;
    int code = EXIT_OK;
    if (common->at != NULL) {
        struct state state;
        const struct variables *v = instance_variables(run->sim);
        state_place(sim_point(run->sim), &state);
        const enum status status = state_read(common->at, run->report, &state);
        for (int r = 0; r < v->n_values; r++)
            if (v->by_reference[r]->start_of >= 0)
                instance_set(run->sim, r,
                             instance_get(run->sim, v->row[v->state[v->by_reference[r]->start_of]].reference));
        arena_release(&state.arena);
        code = cli_exit_code(status);
    }
    instance_set(run->sim, instance_variables(run->sim)->solver.method,
                 options->method != NULL ? method_of(options->method) : 0);
    if (code == EXIT_OK) code = cli_settings_apply(common, run->sim);
    if (code == EXIT_OK)
        code = inputs_read(options->inputs,
                           options->hold                   ? BETWEEN_HELD
                           : options->interpolate == CUBIC ? BETWEEN_CUBIC
                                                           : BETWEEN_LINEAR,
                           run->sim, common->arena, run->report, &run->inputs);
    return code == EXIT_OK ? cli_columns_choose(common, run->sim, &run->columns) : code;
}

static int run(const void *given, struct report *report)
{
    const struct options *options = given;
    struct run run = {.options = options, .report = report};
    struct report lines = {.line = cli_print_error, .context = (void *)(uintptr_t) "limber"};
    const char *file = options->common.robot, *text = document_load(file, options->common.arena, &lines);
    enum status status = STATUS_NO_FILE; /* with a STATE there are loads on all frames */
    if (text != NULL) status = (options->common.at != NULL ? sim_make_loaded : sim_make)(file, text, &lines, &run.sim);
    if (status != STATUS_OK && lines.errors == 0) fprintf(stderr, "limber: %s: %s\n", file, status_text(status));
    int code = cli_exit_code(status);
    if (code == EXIT_OK) {
        lines.line = cli_print_message; /* `check` prints warnings of the file; those of the start are new */
        lines.context = NULL;
        code = set_up(&run);
        if (code == EXIT_OK) {
            code = simulate(&run);
            if (options->stats) print_statistics(&run, (double)run.integration / CLOCKS_PER_SEC);
        }
    }
    instance_free(run.sim);
    return code;
}

const struct command command_simulate = {
    .name = "simulate",
    .summary = "simulates the robot as the FMU does and prints all outputs and locals as CSV",
    .option = rows,
    .size = sizeof(struct options),
    .check = check,
    .run = run};
