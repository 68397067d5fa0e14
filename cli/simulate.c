/* limber simulate: the same instance as the FMU, without an importer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/checked.h"
#include "analysis/csv.h"
#include "analysis/operating_point.h"
#include "cli.h"
#include "instance.h"
#include "load.h"

static const double MOST_STEPS = 1e12; /* more rows than any file holds */

struct options {
    const char *robot, *inputs, *at;
    double until, step, rtol;
    enum method method;
    struct settings settings;
    bool stats, json;
};

struct run {
    struct options options;
    struct instance *sim;
    const struct variables *variables;
    struct csv inputs;
    int *input_reference; /* per column of the inputs; the first (time) unused */
    int next_row;         /* first row of the inputs behind the current time   */
    struct columns columns;
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
        if (strcmp(text, method_word(*method)) == 0 || strcmp(text, number) == 0) return EXIT_OK;
    }
    return cli_usage("simulate", "--method is auto, cvode, esdirk, explicit or symmetric (or 0 to 4), not '%s'", text);
}

static int parse_options(int argc, char **argv, struct options *options)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *option = argv[i], *next = i + 1 < argc ? argv[i + 1] : "";
        const bool takes_value = strcmp(option, "--until") == 0 || strcmp(option, "--step") == 0 ||
                                 strcmp(option, "--rtol") == 0 || strcmp(option, "--method") == 0 ||
                                 strcmp(option, "--inputs") == 0 || strcmp(option, "--at") == 0 ||
                                 strcmp(option, "--set") == 0;
        if (takes_value && i + 1 >= argc) return cli_usage("simulate", "%s takes a value", option);
        i += takes_value;
        if (strcmp(option, "--until") == 0) code = cli_positive("simulate", option, next, &options->until);
        else if (strcmp(option, "--step") == 0) code = cli_positive("simulate", option, next, &options->step);
        else if (strcmp(option, "--rtol") == 0) code = cli_tolerance("simulate", option, next, &options->rtol);
        else if (strcmp(option, "--method") == 0) code = parse_method(next, &options->method);
        else if (strcmp(option, "--inputs") == 0) options->inputs = next;
        else if (strcmp(option, "--at") == 0) options->at = next;
        else if (strcmp(option, "--set") == 0) code = settings_add("simulate", next, &options->settings);
        else if (strcmp(option, "--stats") == 0) options->stats = true;
        else if (strcmp(option, "--json") == 0) options->json = true;
        else if (option[0] == '-' && option[1] != '\0') code = cli_usage("simulate", "unknown option '%s'", option);
        else if (options->robot == NULL) options->robot = option;
        else code = cli_usage("simulate", "too many arguments: '%s'", option);
    }
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

static int read_inputs(struct run *run)
{
    const char *file = run->options.inputs;
    if (file == NULL) return EXIT_OK;
    const enum status status = csv_read(file, &run->arena, &run->report, &run->inputs);
    if (status != STATUS_OK) return cli_exit_code(status);
    run->input_reference = arena_take(&run->arena, (size_t)run->inputs.n_columns, sizeof(int));
    for (int c = 1; c < run->inputs.n_columns; c++) {
        const int row = variables_find(run->variables, run->inputs.name[c]);
        if (row < 0 || run->variables->row[row].causality != CAUSALITY_INPUT) {
            fprintf(stderr, "limber: %s: %s: no such input of this robot\n", file, run->inputs.name[c]);
            return EXIT_INPUT;
        }
        run->input_reference[c] = run->variables->row[row].reference;
    }
    return EXIT_OK;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------ */

static const double *input_row(const struct run *run, int row)
{
    return run->inputs.number + (size_t)run->inputs.n_columns * (size_t)row;
}

/* Inputs at t and, where rows lie on both sides, the slope that leads to the next one; constant before the first and after the
   last */
static void set_inputs(struct run *run, double t)
{
    const struct csv *inputs = &run->inputs;
    if (inputs->n_rows == 0) return;
    while (run->next_row < inputs->n_rows && input_row(run, run->next_row)[0] <= t) run->next_row++;
    const int after = run->next_row < inputs->n_rows ? run->next_row : inputs->n_rows - 1,
              before = run->next_row > 0 ? run->next_row - 1 : 0;
    const double *a = input_row(run, before), *b = input_row(run, after), span = b[0] - a[0];
    for (int c = 1; c < inputs->n_columns; c++) {
        const double slope = span > 0 ? (b[c] - a[c]) / span : 0;
        instance_set(run->sim, run->input_reference[c], a[c] + slope * (t > a[0] ? t - a[0] : 0));
        instance_set_input_rate(run->sim, run->input_reference[c], t >= a[0] ? slope : 0);
    }
}

static int write_row(struct run *run, struct table *table, double t)
{
    const enum status status = checked_update(run->sim, t, &run->report);
    if (status == STATUS_OK) columns_write_row(&run->columns, run->sim, t, table);
    return cli_exit_code(status);
}

/* From t to end, in pieces that end at the rows of the inputs */
static enum status advance(struct run *run, double t, double end)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && t < end) {
        set_inputs(run, t);
        double to = end;
        if (run->next_row < run->inputs.n_rows && input_row(run, run->next_row)[0] < end * (1 - 1e-12))
            to = input_row(run, run->next_row)[0];
        status = instance_step(run->sim, to - t);
        t = to;
    }
    set_inputs(run, t);
    return status;
}

static int simulate(struct run *run)
{
    const double until = run->options.until, step = run->options.step;
    const long steps = (long)ceil(until / step * (1 - 1e-12));
    set_inputs(run, 0);
    const struct experiment experiment = {.tolerance = run->options.rtol};
    enum status status = instance_initialize(run->sim, &experiment);
    if (status != STATUS_OK) return cli_exit_code(status);
    struct table table = {.stream = stdout, .json = run->options.json};
    columns_write_names(&run->columns, run->sim, &table);
    int code = write_row(run, &table, 0);
    for (long i = 0; i < steps && code == EXIT_OK; i++) {
        const double t = step * (double)i, end = i + 1 < steps ? step * (double)(i + 1) : until;
        if (advance(run, t, end) != STATUS_OK) code = EXIT_COMPUTATION;
        else code = write_row(run, &table, end);
        show_progress(end, until);
    }
    show_progress(until, until);
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
        integrates ? method_word(integrator->used) : "none",
        integrates ? integrator->choice : "all motion is prescribed", s.steps, s.rhs, s.jacobians, s.restarts,
        s.residuals, s.factorizations, s.newton_iterations, s.error_test_failures, s.newton_failures, s.events,
        cpu_seconds);
}

static int run_all(struct run *run)
{
    int code = apply_state(run); /* first: --set has priority */
    instance_set(run->sim, run->variables->solver.method, run->options.method);
    if (code == EXIT_OK) code = settings_apply("simulate", &run->options.settings, run->sim, &run->arena);
    if (code == EXIT_OK) code = read_inputs(run);
    if (code == EXIT_OK) code = columns_choose(run->sim, &run->arena, &run->columns);
    if (code != EXIT_OK) return code;
    const clock_t start = clock();
    code = simulate(run);
    const double cpu_seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (run->options.stats) print_statistics(run, cpu_seconds);
    return code;
}

int command_simulate(int argc, char **argv)
{
    struct run run = {.report = cli_report("simulate")};
    int code = parse_options(argc, argv, &run.options);
    if (code != EXIT_OK) return code;
    struct report report = {.line = cli_print_error};
    code = cli_load_sim(run.options.robot, &report, &run.arena, &run.sim);
    if (code == EXIT_OK) {
        report.line = cli_print_warning; /* warnings of the file are left to `check`; those of the start are new */
        run.variables = instance_variables(run.sim);
        code = run_all(&run);
    }
    instance_free(run.sim);
    arena_release(&run.arena);
    return code;
}
