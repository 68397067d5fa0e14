/* limber simulate: the same instance as the FMU, without an importer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "csv.h"
#include "load.h"
#include "state.h"

enum { MOST_SETTINGS = 256 };

struct options {
    const char *robot, *inputs, *at;
    double until, step, rtol;
    const char *setting[MOST_SETTINGS];
    int n_settings;
    bool stats;
};

struct run {
    struct options options;
    struct sim *sim;
    const struct variables *variables;
    struct csv inputs;
    int *input_reference; /* per column of the inputs; the first (time) unused */
    int next_row;         /* first row of the inputs behind the current time   */
    int n_columns;
    int *column; /* value references of the output columns            */
    double *row;
    struct arena arena;
};

/* ---- options ------------------------------------------------------------------------------------------------------------ */

static int read_positive(const char *option, const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    if (*text != '\0' && *end == '\0' && isfinite(*number) && *number > 0) return EXIT_FINE;
    return cli_usage("simulate", "%s takes a positive number, not '%s'", option, text);
}

static int parse_options(int argc, char **argv, struct options *options)
{
    int code = EXIT_FINE;
    for (int i = 1; i < argc && code == EXIT_FINE; i++) {
        const char *option = argv[i], *next = i + 1 < argc ? argv[i + 1] : "";
        const bool takes_value = strcmp(option, "--until") == 0 || strcmp(option, "--step") == 0 ||
                                 strcmp(option, "--rtol") == 0 || strcmp(option, "--inputs") == 0 ||
                                 strcmp(option, "--at") == 0 || strcmp(option, "--set") == 0;
        if (takes_value && i + 1 >= argc) return cli_usage("simulate", "%s takes a value", option);
        i += takes_value;
        if (strcmp(option, "--until") == 0) code = read_positive(option, next, &options->until);
        else if (strcmp(option, "--step") == 0) code = read_positive(option, next, &options->step);
        else if (strcmp(option, "--rtol") == 0) code = read_positive(option, next, &options->rtol);
        else if (strcmp(option, "--inputs") == 0) options->inputs = next;
        else if (strcmp(option, "--at") == 0) options->at = next;
        else if (strcmp(option, "--set") == 0 && options->n_settings < MOST_SETTINGS)
            options->setting[options->n_settings++] = next;
        else if (strcmp(option, "--stats") == 0) options->stats = true;
        else if (strcmp(option, "--json") == 0) continue; /* the result is a table in any case; --stats is JSON */
        else if (option[0] == '-' && option[1] != '\0') code = cli_usage("simulate", "unknown option '%s'", option);
        else if (options->robot == NULL) options->robot = option;
        else code = cli_usage("simulate", "too many arguments: '%s'", option);
    }
    if (code == EXIT_FINE && options->robot == NULL) code = cli_usage("simulate", "expected ROBOT");
    if (code == EXIT_FINE && !(options->until > 0 && options->step > 0))
        code = cli_usage("simulate", "--until T and --step H are needed");
    return code;
}

/* ---- setting up ------------------------------------------------------------------------------------------------------------- */

static int find_variable(const struct run *run, const char *place, const char *name, enum causality causality)
{
    const int row = variables_find(run->variables, name);
    if (row >= 0 && run->variables->row[row].causality == causality) return run->variables->row[row].reference;
    fprintf(stderr, "limber: %s: %s: no such %s of this robot\n", place, name,
            causality == CAUSALITY_INPUT ? "input" : "parameter");
    return -1;
}

static int apply_settings(struct run *run)
{
    for (int i = 0; i < run->options.n_settings; i++) {
        const char *setting = run->options.setting[i], *equals = strchr(setting, '=');
        if (equals == NULL) return cli_usage("simulate", "--set takes NAME=VALUE, not '%s'", setting);
        char *name = arena_string(&run->arena, setting), *end;
        name[equals - setting] = '\0';
        const int reference = find_variable(run, "--set", name, CAUSALITY_PARAMETER);
        if (reference < 0) return EXIT_INPUT;
        double value = strtod(equals + 1, &end);
        if (strcmp(equals + 1, "true") == 0 || strcmp(equals + 1, "false") == 0) {
            value = equals[1] == 't';
            end = (char *)(size_t)(equals + strlen(equals));
        }
        if (*end != '\0' || end == equals + 1 || !isfinite(value)) {
            fprintf(stderr, "limber: --set %s: '%s' is not a finite number\n", name, equals + 1);
            return EXIT_INPUT;
        }
        sim_set(run->sim, reference, value);
    }
    return EXIT_FINE;
}

/* A STATE's q and qd become start values */
static int apply_state(struct run *run)
{
    if (run->options.at == NULL) return EXIT_FINE;
    struct state state;
    const int bad = state_read(sim_model(run->sim), run->options.at, &state);
    if (bad == 0) state_to_start(&state, run->sim);
    state_free(&state);
    return bad == 0 ? EXIT_FINE : EXIT_INPUT;
}

static int read_inputs(struct run *run)
{
    const char *file = run->options.inputs;
    if (file == NULL) return EXIT_FINE;
    if (csv_read(file, &run->arena, &run->inputs) != 0) return EXIT_INPUT;
    run->input_reference = arena_take(&run->arena, (size_t)run->inputs.n_columns, sizeof(int));
    for (int c = 1; c < run->inputs.n_columns; c++) {
        run->input_reference[c] = find_variable(run, file, run->inputs.name[c], CAUSALITY_INPUT);
        if (run->input_reference[c] < 0) return EXIT_INPUT;
    }
    return EXIT_FINE;
}

/* Outputs, then locals: every computed variable once */
static void choose_columns(struct run *run)
{
    const struct variables *v = run->variables;
    run->column = arena_take(&run->arena, (size_t)v->n_values, sizeof(int));
    run->row = arena_take(&run->arena, (size_t)v->n_values + 1, sizeof(double));
    for (int causality = CAUSALITY_OUTPUT; causality <= CAUSALITY_LOCAL; causality++)
        for (int r = 0; r < v->n_values; r++)
            if ((int)v->by_reference[r]->causality == causality) run->column[run->n_columns++] = r;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------ */

static const double *input_row(const struct run *run, int row)
{
    return run->inputs.number + (size_t)run->inputs.n_columns * (size_t)row;
}

/* Inputs at t and, where rows lie on both sides, the slope that leads to the next one; held before the first and after the last */
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
        sim_set(run->sim, run->input_reference[c], a[c] + slope * (t > a[0] ? t - a[0] : 0));
        sim_set_input_rate(run->sim, run->input_reference[c], t >= a[0] ? slope : 0);
    }
}

static int write_row(struct run *run, FILE *stream, double t)
{
    const enum status status = sim_update(run->sim);
    if (status != STATUS_OK) {
        fprintf(stderr, "limber: simulate: at t = %.9g s: %s\n", t, status_text(status));
        return EXIT_COMPUTATION;
    }
    run->row[0] = t;
    for (int c = 0; c < run->n_columns; c++) run->row[1 + c] = sim_get(run->sim, run->column[c]);
    csv_write_row(stream, run->row, run->n_columns + 1);
    return EXIT_FINE;
}

static void write_header(const struct run *run, FILE *stream)
{
    fputs("time", stream);
    for (int c = 0; c < run->n_columns; c++) fprintf(stream, ",%s", run->variables->by_reference[run->column[c]]->name);
    fputc('\n', stream);
}

/* From t to end, in pieces that end where a row of the inputs stands */
static enum status advance(struct run *run, double t, double end)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && t < end) {
        set_inputs(run, t);
        double to = end;
        if (run->next_row < run->inputs.n_rows && input_row(run, run->next_row)[0] < end * (1 - 1e-12))
            to = input_row(run, run->next_row)[0];
        status = sim_step(run->sim, to - t);
        t = to;
    }
    set_inputs(run, t);
    return status;
}

static int simulate(struct run *run, FILE *stream)
{
    const double until = run->options.until, step = run->options.step;
    const long steps = (long)ceil(until / step * (1 - 1e-12));
    const bool progress = isatty(STDERR_FILENO);
    set_inputs(run, 0);
    const struct sim_experiment experiment = {.tolerance = run->options.rtol};
    enum status status = sim_initialise(run->sim, &experiment);
    if (status != STATUS_OK) return status == STATUS_BAD_ROBOT ? EXIT_INPUT : EXIT_COMPUTATION;
    write_header(run, stream);
    int code = write_row(run, stream, 0);
    for (long i = 0; i < steps && code == EXIT_FINE; i++) {
        const double t = step * (double)i, end = i + 1 < steps ? step * (double)(i + 1) : until;
        if (advance(run, t, end) != STATUS_OK) code = EXIT_COMPUTATION;
        else code = write_row(run, stream, end);
        if (progress) fprintf(stderr, "\r%.3g of %.3g s", end, until);
    }
    if (progress) fputs("\r                              \r", stderr);
    return code;
}

static void print_statistics(const struct run *run, double cpu_seconds)
{
    struct integrator_statistics s;
    sim_statistics(run->sim, &s);
    fprintf(stderr, "{\"steps\": %ld, \"rhs\": %ld, \"jacobians\": %ld, \"restarts\": %ld, \"cpu_seconds\": %.6g}\n",
            s.steps, s.rhs, s.jacobians, s.restarts, cpu_seconds);
}

static int run_all(struct run *run)
{
    int code = apply_settings(run);
    if (code == EXIT_FINE) code = apply_state(run);
    if (code == EXIT_FINE) code = read_inputs(run);
    if (code != EXIT_FINE) return code;
    choose_columns(run);
    const clock_t start = clock();
    code = simulate(run, stdout);
    const double cpu_seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (run->options.stats) print_statistics(run, cpu_seconds);
    return code;
}

int command_simulate(int argc, char **argv)
{
    struct run run = {0};
    int code = parse_options(argc, argv, &run.options);
    if (code != EXIT_FINE) return code;
    struct report report = {.line = cli_print_error};
    code = cli_load_sim(run.options.robot, &report, &run.arena, &run.sim);
    if (code == EXIT_FINE) {
        run.variables = sim_variables(run.sim);
        code = run_all(&run);
    }
    sim_free(run.sim);
    arena_release(&run.arena);
    return code;
}
