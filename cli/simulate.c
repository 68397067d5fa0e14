/* limber simulate: the same instance as the FMU, without an importer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/checked.h"
#include "analysis/operating_point.h"
#include "cli.h"
#include "inputs.h"
#include "instance.h"
#include "load.h"

static const double MOST_STEPS = 1e12; /* more rows than any file holds */

struct options {
    const char *robot, *inputs, *at, *interpolate;
    double until, step, rtol;
    enum method method;
    const char *method_text; /* as given; NULL: not */
    struct settings settings;
    bool hold, stats, json;
};

struct run {
    struct options options;
    struct instance *sim;
    const struct variables *variables;
    struct inputs inputs;
    struct columns columns;
    clock_t integration;  /* CPU time of the steps, without output */
    struct report report; /* of this command */
    struct arena arena;
};

/* ---- options ------------------------------------------------------------------------------------------------------------ */

/* A word or a number */
static int parse_method(const char *text, enum method *method)
{
    for (int i = 0; i < METHODS; i++) {
        const char number[] = {(char)('0' + i), '\0'};
        *method = (enum method)i;
        if (strcmp(text, integrator_method_word(*method)) == 0 || strcmp(text, number) == 0) return EXIT_OK;
    }
    return cli_usage("simulate", "--method is auto, cvode, esdirk, explicit or symmetric (or 0 to 4), not '%s'", text);
}

/* What --hold and --interpolate say of the inputs between rows */
static int check_between(const struct options *options)
{
    const char *interpolate = options->interpolate;
    if (interpolate == NULL) return EXIT_OK;
    if (strcmp(interpolate, "linear") != 0 && strcmp(interpolate, "cubic") != 0)
        return cli_usage("simulate", "--interpolate is linear or cubic, not '%s'", interpolate);
    return options->hold ? cli_usage("simulate", "inputs are held (--hold) or interpolated (--interpolate), not both")
                         : EXIT_OK;
}

/* --method is short for --set solver.method: one of them */
static int check_method(const struct options *options)
{
    static const char name[] = "solver.method=";
    for (int i = 0; i < options->settings.n && options->method_text != NULL; i++)
        if (strncmp(options->settings.text[i], name, sizeof name - 1) == 0)
            return cli_usage("simulate", "--method %s and --set %s both choose the method: give one of them",
                             options->method_text, options->settings.text[i]);
    return EXIT_OK;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *option = argv[i], *next = i + 1 < argc ? argv[i + 1] : "";
        const bool takes_value = strcmp(option, "--until") == 0 || strcmp(option, "--step") == 0 ||
                                 strcmp(option, "--rtol") == 0 || strcmp(option, "--method") == 0 ||
                                 strcmp(option, "--inputs") == 0 || strcmp(option, "--at") == 0 ||
                                 strcmp(option, "--set") == 0 || strcmp(option, "--interpolate") == 0;
        if (takes_value && i + 1 >= argc) return cli_usage("simulate", "%s takes a value", option);
        i += takes_value;
        if (strcmp(option, "--until") == 0) code = cli_positive("simulate", option, next, &options->until);
        else if (strcmp(option, "--step") == 0) code = cli_positive("simulate", option, next, &options->step);
        else if (strcmp(option, "--rtol") == 0) code = cli_tolerance("simulate", option, next, &options->rtol);
        else if (strcmp(option, "--method") == 0) code = parse_method(options->method_text = next, &options->method);
        else if (strcmp(option, "--inputs") == 0) options->inputs = next;
        else if (strcmp(option, "--at") == 0) options->at = next;
        else if (strcmp(option, "--set") == 0) code = cli_settings_add("simulate", next, &options->settings);
        else if (strcmp(option, "--interpolate") == 0) options->interpolate = next;
        else if (strcmp(option, "--hold") == 0) options->hold = true;
        else if (strcmp(option, "--stats") == 0) options->stats = true;
        else if (strcmp(option, "--json") == 0) options->json = true;
        else if (option[0] == '-' && option[1] != '\0') code = cli_usage("simulate", "unknown option '%s'", option);
        else if (options->robot == NULL) options->robot = option;
        else code = cli_usage("simulate", "too many arguments: '%s'", option);
    }
    if (code == EXIT_OK) code = check_between(options);
    if (code == EXIT_OK) code = check_method(options);
    if (code == EXIT_OK && options->robot == NULL) code = cli_usage("simulate", "expected ROBOT");
    if (code == EXIT_OK && !(options->until > 0 && options->step > 0))
        code = cli_usage("simulate", "--until T and --step H are needed");
    if (code == EXIT_OK && !(options->until / options->step <= MOST_STEPS))
        code = cli_usage("simulate", "--until %g --step %g: more than %g steps", options->until, options->step,
                         MOST_STEPS);
    return code;
}

/* ---- setting up ------------------------------------------------------------------------------------------------------------- */

/* A STATE's q and qd become start values, its forces inputs: those that no column of --inputs changes are constant */
static int apply_state(struct run *run)
{
    if (run->options.at == NULL) return EXIT_OK;
    struct state state;
    const enum status status = state_read(sim_model(run->sim), run->options.at, &run->report, &state);
    if (status == STATUS_OK) state_to_start(&state, run->sim);
    state_free(&state);
    return cli_exit_code(status);
}

static enum between between_rows(const struct options *options)
{
    if (options->hold) return BETWEEN_HELD;
    return options->interpolate != NULL && strcmp(options->interpolate, "cubic") == 0 ? BETWEEN_CUBIC : BETWEEN_LINEAR;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------ */

static int write_row(struct run *run, struct table *table, double t)
{
    const enum status status = checked_update(run->sim, t, &run->report);
    if (status == STATUS_OK) cli_columns_write_row(&run->columns, run->sim, t, table);
    return cli_exit_code(status);
}

/* From t to end, in pieces that end where the inputs need it */
static enum status advance(struct run *run, double t, double end)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && t < end) {
        const double to = inputs_begin_step(&run->inputs, t, end);
        status = instance_step(run->sim, to - t);
        t = to;
    }
    return status;
}

static int simulate(struct run *run)
{
    const double until = run->options.until, step = run->options.step;
    const long steps = (long)ceil(until / step * (1 - 1e-12));
    const struct experiment experiment = {.tolerance = run->options.rtol};
    enum status status = instance_initialize(run->sim, &experiment);
    if (status == STATUS_NO_MEMORY && run->sim->report->errors == 0) return cli_no_memory("simulate");
    if (status != STATUS_OK) return cli_exit_code(status);
    inputs_choose_ends(&run->inputs, run->sim->stepper.tolerance);
    struct table table = {.stream = stdout, .json = run->options.json};
    cli_columns_write_names(&run->columns, run->sim, &table);
    int code = write_row(run, &table, 0);
    for (long i = 0; i < steps && code == EXIT_OK; i++) {
        const double t = step * (double)i, end = i + 1 < steps ? step * (double)(i + 1) : until;
        const clock_t start = clock();
        if (advance(run, t, end) != STATUS_OK) code = EXIT_COMPUTATION;
        run->integration += clock() - start;
        if (code != EXIT_OK) break;
        code = write_row(run, &table, end);
        cli_show_progress(end, until);
    }
    cli_show_progress(until, until);
    table_end(&table);
    return code;
}

static void print_statistics(const struct run *run, double cpu_seconds)
{
    struct integrator_statistics s;
    instance_statistics(run->sim, &s);
    const struct integrator *integrator = instance_integrator(run->sim);
    const bool integrates = integrator != NULL;
    fprintf(
        stderr,
        "{\"method\": \"%s\", \"reason\": \"%s\", \"steps\": %ld, \"rhs\": %ld, \"jacobians\": %ld, \"restarts\": %ld, "
        "\"residuals\": %ld, "
        "\"factorizations\": %ld, \"newton_iterations\": %ld, \"error_test_failures\": %ld, \"newton_failures\": %ld, "
        "\"events\": %ld, \"cpu_seconds\": %.6g}\n",
        integrates ? integrator_method_word(integrator->chosen) : "none",
        integrates ? integrator->choice : "all motion is prescribed", s.steps, s.rhs, s.jacobians, s.restarts,
        s.residuals, s.factorizations, s.newton_iterations, s.error_test_failures, s.newton_failures, s.events,
        cpu_seconds);
}

static int run_all(struct run *run)
{
    int code = apply_state(run); /* first: --set has priority */
    instance_set(run->sim, run->variables->solver.method, run->options.method);
    if (code == EXIT_OK) code = cli_settings_apply("simulate", &run->options.settings, run->sim, &run->arena);
    if (code == EXIT_OK)
        code = inputs_read(run->options.inputs, between_rows(&run->options), run->sim, &run->arena, &run->report,
                           &run->inputs);
    if (code == EXIT_OK) code = cli_columns_choose("simulate", run->sim, &run->arena, &run->columns);
    if (code != EXIT_OK) return code;
    code = simulate(run);
    if (run->options.stats) print_statistics(run, (double)run->integration / CLOCKS_PER_SEC);
    return code;
}

int command_simulate(int argc, char **argv)
{
    struct run run = {.report = cli_report("simulate")};
    int code = parse_options(argc, argv, &run.options);
    if (code != EXIT_OK) return code;
    struct report report = {.line = cli_print_error};
    code = cli_load_sim(run.options.robot, run.options.at != NULL, &report, &run.arena, &run.sim);
    if (code == EXIT_OK) {
        report.line = cli_print_warning; /* warnings of the file are left to `check`; those of the start are new */
        run.variables = instance_variables(run.sim);
        code = run_all(&run);
    }
    instance_free(run.sim);
    arena_release(&run.arena);
    return code;
}
