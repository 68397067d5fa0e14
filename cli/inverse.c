/* limber inverse: joint torques and actuator forces for a joint motion, as a table that `limber simulate --inputs` takes. */
#include "analysis/inverse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/failure.h"
#include "cli.h"
#include "holding.h"
#include "instance.h"
#include "result.h"
#include "robot/read.h"

struct options {
    const char *robot, *trajectory, *profile, *rate, *period, *start, *elastic;
    double until, step, rtol;
    struct settings settings;
    struct holding holding;
    bool rigid, json;
};

struct run {
    struct options options;
    struct robot *robot; /* as the file describes it                              */
    struct motion motion;
    struct inverse inverse;
    struct table inputs, elastic; /* the second has a stream where it is wanted   */
    struct result result;         /* the file of the second                       */
    struct columns columns;
    struct report report;
    struct arena arena;
};

/* ---- options ------------------------------------------------------------------------------------------------------------- */

static int check_options(const struct options *options)
{
    const bool cycloid = options->profile != NULL;
    if (options->robot == NULL) return cli_usage("inverse", "expected ROBOT");
    if ((options->trajectory != NULL) == cycloid)
        return cli_usage("inverse", "expected --trajectory CSV or --profile cycloid");
    if (cycloid && strcmp(options->profile, "cycloid") != 0)
        return cli_usage("inverse", "--profile is cycloid, not '%s'", options->profile);
    if (cycloid && (options->rate == NULL || options->period == NULL || options->until == 0 || options->step == 0))
        return cli_usage("inverse", "--profile cycloid needs --rate, --period, --until and --step");
    if (!cycloid && (options->rate != NULL || options->period != NULL || options->until != 0 || options->step != 0))
        return cli_usage("inverse", "--rate, --period, --until and --step belong to --profile; a trajectory has rows");
    if (options->start != NULL && strcmp(options->start, "zero") != 0 && strcmp(options->start, "static") != 0)
        return cli_usage("inverse", "--start is zero or static, not '%s'", options->start);
    if (options->rigid && (options->elastic != NULL || options->start != NULL || options->rtol != 0))
        return cli_usage("inverse", "--rigid has no elastic motion: leave out --elastic, --start and --rtol");
    if (holding_given(&options->holding) &&
        (options->rigid || (options->start != NULL && strcmp(options->start, "static") != 0)))
        return cli_usage("inverse", "--hold and --free are of a static start: leave out --rigid and --start zero");
    return EXIT_OK;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    const struct {
        const char *name;
        const char **text;
        double *number;
    } table[] = {{"--trajectory", &options->trajectory, NULL},
                 {"--profile", &options->profile, NULL},
                 {"--rate", &options->rate, NULL},
                 {"--period", &options->period, NULL},
                 {"--start", &options->start, NULL},
                 {"--elastic", &options->elastic, NULL},
                 {"--until", NULL, &options->until},
                 {"--step", NULL, &options->step},
                 {"--rtol", NULL, &options->rtol},
                 {"--set", NULL, NULL}};
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        int found = -1;
        bool taken;
        code = holding_option("inverse", argc, argv, &i, &options->holding, &taken);
        if (taken || code != EXIT_OK) continue;
        for (int t = 0; t < (int)(sizeof table / sizeof table[0]); t++)
            if (strcmp(argv[i], table[t].name) == 0) found = t;
        if (found >= 0) {
            if (++i >= argc) return cli_usage("inverse", "%s takes a value", table[found].name);
            if (table[found].text != NULL) *table[found].text = argv[i];
            else if (table[found].number == NULL) code = cli_settings_add("inverse", argv[i], &options->settings);
            else if (table[found].number == &options->rtol)
                code = cli_tolerance("inverse", "--rtol", argv[i], &options->rtol);
            else code = cli_positive("inverse", table[found].name, argv[i], table[found].number);
        } else if (strcmp(argv[i], "--rigid") == 0) {
            options->rigid = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            return cli_usage("inverse", "unknown option '%s'", argv[i]);
        } else if (options->robot == NULL) {
            options->robot = argv[i];
        } else {
            return cli_usage("inverse", "too many arguments: '%s'", argv[i]);
        }
    }
    return code == EXIT_OK ? check_options(options) : code;
}

/* ---- the motion ------------------------------------------------------------------------------------------------------------ */

/* One number for every coordinate whose motion is given */
static int read_list(const struct run *run, bool passive_too, const char *option, const char *text, double *number)
{
    const int count = motion_count(run->robot, passive_too);
    for (int i = 0; i < count; i++) {
        char *end;
        number[i] = strtod(text, &end);
        if (end == text || !isfinite(number[i]) || *end != (i + 1 < count ? ',' : '\0'))
            return cli_usage("inverse",
                             "%s takes %d number%s with commas between, one for every %s (two where it has "
                             "two coordinates)",
                             option, count, count == 1 ? "" : "s", motion_joint(run->robot, passive_too));
        text = end + 1;
    }
    return EXIT_OK;
}

static int check_periods(const struct robot *robot, bool passive_too, const double *T)
{
    for (int i = 0, given = 0; i < robot->n_links; i++) {
        const struct joint *joint = &robot->link[i].joint;
        for (int k = 0; motion_gives(robot, passive_too, i) && k < joint_velocities(joint); k++)
            if (!(T[given++] > 0))
                return cli_usage("inverse", "--period: T of %s must be positive, not %g", joint->name, T[given - 1]);
    }
    return EXIT_OK;
}

static int make_cycloid(struct run *run, bool passive_too)
{
    const struct options *options = &run->options;
    const size_t count = (size_t)motion_count(run->robot, passive_too);
    double *k = arena_allocate(&run->arena, count, sizeof *k), *T = arena_allocate(&run->arena, count, sizeof *T);
    if (run->arena.failed) return cli_no_memory("inverse");
    if (!(options->until / options->step < MOST_MOTION_ROWS))
        return cli_usage("inverse", "--until %g --step %g: too many rows", options->until, options->step);
    int code = cli_exit_code(motion_possible(run->robot, passive_too, &run->report));
    if (code == EXIT_OK) code = read_list(run, passive_too, "--rate", options->rate, k);
    if (code == EXIT_OK) code = read_list(run, passive_too, "--period", options->period, T);
    if (code == EXIT_OK) code = check_periods(run->robot, passive_too, T);
    if (code != EXIT_OK) return code;
    return cli_exit_code(
        motion_cycloid(run->robot, passive_too, k, T, options->until, options->step, &run->report, &run->motion));
}

static int make_motion(struct run *run)
{
    const bool passive_too = run->options.rigid && run->robot->n_loops == 0;
    if (run->options.trajectory == NULL) return make_cycloid(run, passive_too);
    struct csv table;
    enum status status = csv_read(run->options.trajectory, TIMES_INCREASE, &run->arena, &run->report, &table);
    if (status == STATUS_OK) status = motion_from_table(run->robot, passive_too, &table, &run->report, &run->motion);
    return cli_exit_code(status);
}

/* ---- the tables ------------------------------------------------------------------------------------------------------------ */

static int open_elastic(struct run *run)
{
    if (run->options.elastic == NULL) return EXIT_OK;
    const int code = result_open(run->options.elastic, NULL, &run->result);
    run->elastic = (struct table){.stream = run->result.stream, .json = run->options.json};
    return code == EXIT_OK ? cli_columns_choose("inverse", run->inverse.sim, &run->arena, &run->columns) : code;
}

static void write_names(struct run *run)
{
    run->inputs = (struct table){.stream = stdout, .json = run->options.json};
    table_name(&run->inputs, "time");
    for (int i = 0; i < run->inverse.n_inputs; i++) table_name(&run->inputs, run->inverse.name[i]);
    if (run->elastic.stream != NULL) cli_columns_write_names(&run->columns, run->inverse.sim, &run->elastic);
}

static void write_row(struct run *run)
{
    const double t = motion_time(&run->motion, run->inverse.row);
    table_row(&run->inputs, t, run->inverse.input, run->inverse.n_inputs);
    if (run->elastic.stream != NULL) cli_columns_write_row(&run->columns, run->inverse.sim, t, &run->elastic);
}

static int write_tables(struct run *run)
{
    const double end = motion_row(&run->motion, run->motion.n_rows - 1);
    enum status status = inverse_start(&run->inverse, &run->report);
    if (status != STATUS_OK) return cli_exit_code(status);
    write_names(run);
    write_row(run);
    while (status == STATUS_OK && run->inverse.row + 1 < run->motion.n_rows) {
        status = inverse_next(&run->inverse, &run->report);
        if (status == STATUS_OK) write_row(run);
        cli_show_progress(motion_row(&run->motion, run->inverse.row), end);
    }
    cli_show_progress(end, end);
    table_end(&run->inputs);
    if (run->elastic.stream != NULL) table_end(&run->elastic);
    return cli_exit_code(status);
}

/* ---- all together ---------------------------------------------------------------------------------------------------------- */

static int make_inverse(struct run *run, const char *text)
{
    const struct options *options = &run->options;
    const struct inverse_options wanted = {.rigid = options->rigid,
                                           .start_zero = options->start != NULL && strcmp(options->start, "zero") == 0,
                                           .tolerance = options->rtol};
    const int code = cli_exit_code(
        inverse_make(options->robot, text, run->robot, &run->motion, &wanted, &run->report, &run->inverse));
    if (code != EXIT_OK) return code;
    const int held = holding_apply("inverse", &options->holding, run->inverse.sim);
    return held == EXIT_OK ? cli_settings_apply("inverse", &options->settings, run->inverse.sim, &run->arena) : held;
}

static int run_all(struct run *run)
{
    const char *text = document_load(run->options.robot, &run->arena, &run->report);
    if (text == NULL) return EXIT_INPUT;
    struct report errors = failure_errors_only(&run->report); /* warnings of the file are left to `check` */
    int code = cli_exit_code(robot_read_text(run->options.robot, text, &run->robot, &errors));
    if (code == EXIT_OK) code = make_motion(run);
    if (code == EXIT_OK) code = make_inverse(run, text);
    if (code == EXIT_OK) code = open_elastic(run);
    if (code == EXIT_OK) code = write_tables(run);
    return result_close(&run->result, code);
}

int command_inverse(int argc, char **argv)
{
    struct run run = {.report = cli_report("inverse")};
    int code = parse_options(argc, argv, &run.options);
    if (code != EXIT_OK) return code;
    code = run_all(&run);
    inverse_free(&run.inverse);
    motion_free(&run.motion);
    robot_free(run.robot);
    arena_release(&run.arena);
    return code;
}
