/* limber inverse: joint torques and line forces for a joint motion, as a table that `limber simulate --inputs` takes. */
#include "analysis/inverse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/failure.h"
#include "cli.h"
#include "instance.h"
#include "result.h"
#include "robot/read.h"

struct options {
    struct common common;
    const char *trajectory, *rate, *period, *elastic;
    int profile, start; /* START_ZERO, START_STATIC; 0: not given */
    double until, step, rtol;
    bool rigid;
};

enum { START_ZERO = 1, START_STATIC };

#define OF_A_PROFILE .needs = "--profile", .reason = "belongs to a profile; a trajectory has rows"

static const struct option rows[] = {
    OPTION_ROBOT,
    {"--trajectory", "CSV", OPTION_TEXT, TO(trajectory),
     .help = "columns time, then q, qd, qdd of every joint with a drive, by FMU name; cubic between rows"},
    {"--profile", "cycloid", OPTION_CHOICE, TO(profile), .needs = "--rate --period --until --step",
     .reason = "is defined by further options",
     .help = "q = start + k (t - T/pi sin(pi t/T)), exact at every instant, with --rate and --period"},
    {"--rate", "K,K,...", OPTION_TEXT, TO(rate), OF_A_PROFILE,
     .help = "k of every joint with a drive [rad/s or m/s], two where it has two coordinates"},
    {"--period", "T,T,...", OPTION_TEXT, TO(period), OF_A_PROFILE, .help = "T of every joint with a drive [s]"},
    {"--until", "T", OPTION_POSITIVE, TO(until), OF_A_PROFILE, .help = "end of a profile [s]"},
    {"--step", "H", OPTION_POSITIVE, TO(step), OF_A_PROFILE, .help = "distance of the rows of a profile [s]"},
    {"--start", "zero|static", OPTION_CHOICE, TO(start),
     .help = "elastic coordinates at the start: zero, or at rest under gravity (default), together with passive joints "
             "that nothing moves"},
    OPTIONS_HOLDING(.needs = NULL),
    {"--elastic", "CSV", OPTION_RESULT, TO(elastic),
     .help = "second table: elastic motion, tip, and everything else that simulate prints"},
    OPTION_SET,
    {"--rtol", "R", OPTION_TOLERANCE, TO(rtol), .help = "relative tolerance, below 1 (default 1e-8)"},
    {"--rigid", NULL, OPTION_FLAG, TO(rigid), .excludes = "--elastic --start --rtol", .reason = "has no elastic motion",
     .help = "elastic coordinates are zero; needs the motion of passive joints too, unless the robot has loops, which "
             "determine it"},
    OPTION_JSON("JSON instead of CSV, in both tables: columns, rows"),
    OPTION_OUTPUT,
    {0}};

static const char details[] =
    "The elastic motion that goes with the joint motion is integrated, and so are passive joints. Where an open robot "
    "has as many line actuators as passive joints between their points, the actuators move these joints in place of "
    "drives: the motion of these joints is given too, and the forces A.force are in the result. Other actuators exert "
    "no force. A joint with two coordinates counts as two; the motion of a joint with a quaternion cannot be given: if "
    "it is passive, it is integrated.";

struct run {
    const struct options *options;
    struct robot *robot; /* as the file describes it                              */
    struct motion motion;
    struct inverse inverse;
    struct table inputs, elastic; /* the second has a stream where it is wanted   */
    struct result result;         /* the file of the second                       */
    struct columns columns;
    struct report *report;
};

static int check(const void *given)
{
    const struct options *options = given;
    const struct holding *holding = &options->common.holding;
    if ((options->trajectory != NULL) == (options->profile != 0))
        return cli_usage("inverse", "expected --trajectory CSV or --profile cycloid");
    if ((holding->hold != NULL || holding->free != NULL || holding->hold_lines != NULL ||
         holding->free_lines != NULL) &&
        (options->rigid || options->start == START_ZERO))
        return cli_usage("inverse",
                         "--hold and --free choose what a static start holds: leave out --rigid and --start zero");
    return EXIT_OK;
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
            return cli_usage(
                "inverse",
                "%s takes %d number%s with commas between, one for every %s (two where it has two coordinates)", option,
                count, count == 1 ? "" : "s", motion_joint(run->robot, passive_too));
        text = end + 1;
    }
    return EXIT_OK;
}

static int make_cycloid(struct run *run, bool passive_too)
{
    const struct options *options = run->options;
    const struct robot *robot = run->robot;
    const size_t count = (size_t)motion_count(robot, passive_too);
    double *k, *T;
    arena_arrays(options->common.arena, count, ARRAYS(&k, &T));
    if (options->common.arena->failed) return cli_no_memory("inverse");
    if (!(options->until / options->step < MOST_MOTION_ROWS))
        return cli_usage("inverse", "--until %g --step %g: too many rows", options->until, options->step);
    int code = cli_exit_code(motion_possible(robot, passive_too, run->report));
    if (code == EXIT_OK) code = read_list(run, passive_too, "--rate", options->rate, k);
    if (code == EXIT_OK) code = read_list(run, passive_too, "--period", options->period, T);
    if (code != EXIT_OK) return code;
    for (int i = 0, given = 0; i < robot->n_links; i++) {
        const struct joint *joint = &robot->link[i].joint;
        for (int c = 0; motion_gives(robot, passive_too, i) && c < joint_velocities(joint); c++)
            if (!(T[given++] > 0))
                return cli_usage("inverse", "--period: T of %s must be positive, not %g", joint->name, T[given - 1]);
    }
    return cli_exit_code(
        motion_cycloid(robot, passive_too, k, T, options->until, options->step, run->report, &run->motion));
}

/* ---- the tables ------------------------------------------------------------------------------------------------------------ */

static void write_row(struct run *run)
{
    const double t = motion_time(&run->motion, run->inverse.row);
    cli_table_row(&run->inputs, t, run->inverse.input, run->inverse.n_inputs);
    if (run->elastic.stream != NULL) cli_columns_write_row(&run->columns, run->inverse.sim, t, &run->elastic);
}

static int write_tables(struct run *run)
{
    const double end = motion_row(&run->motion, run->motion.n_rows - 1);
    enum status status = inverse_start(&run->inverse, run->report);
    if (status != STATUS_OK) return cli_exit_code(status);
    run->inputs = (struct table){.stream = stdout, .json = run->options->common.json};
    cli_table_name(&run->inputs, "time");
    for (int i = 0; i < run->inverse.n_inputs; i++) cli_table_name(&run->inputs, run->inverse.name[i]);
    if (run->elastic.stream != NULL) cli_columns_write_names(&run->columns, run->inverse.sim, &run->elastic);
    write_row(run);
    while (status == STATUS_OK && run->inverse.row + 1 < run->motion.n_rows) {
        status = inverse_next(&run->inverse, run->report);
        if (status == STATUS_OK) write_row(run);
        cli_progress_time(motion_row(&run->motion, run->inverse.row), end);
    }
    cli_progress_time(end, end);
    cli_table_end(&run->inputs);
    if (run->elastic.stream != NULL) cli_table_end(&run->elastic);
    return cli_exit_code(status);
}

/* ---- all together ---------------------------------------------------------------------------------------------------------- */

static int make_inverse(struct run *run, const char *text)
{
    const struct options *options = run->options;
    const struct inverse_options wanted = {
        .rigid = options->rigid, .start_zero = options->start == START_ZERO, .tolerance = options->rtol};
    int code = cli_exit_code(
        inverse_make(options->common.robot, text, run->robot, &run->motion, &wanted, run->report, &run->inverse));
    if (code == EXIT_OK) code = cli_holding_apply(&options->common, run->inverse.sim);
    if (code == EXIT_OK) code = cli_settings_apply(&options->common, run->inverse.sim);
    if (code != EXIT_OK || options->elastic == NULL) return code;
    code = result_open(options->elastic, NULL, &run->result);
    run->elastic = (struct table){.stream = run->result.stream, .json = options->common.json};
    return code == EXIT_OK ? cli_columns_choose(&options->common, run->inverse.sim, &run->columns) : code;
}

static int run(const void *given, struct report *report)
{
    const struct options *options = given;
    struct run run = {.options = options, .report = report};
    struct report errors = failure_errors_only(report); /* `check` prints warnings of the file */
    const char *text = document_load(options->common.robot, options->common.arena, report);
    enum status status = STATUS_NO_FILE;
    if (text != NULL) status = robot_read_text(options->common.robot, text, &run.robot, &errors);
    int code = cli_exit_code(status);
    const bool passive_too = status == STATUS_OK && options->rigid && !robot_is_closed(run.robot);
    if (status == STATUS_OK && options->trajectory != NULL) {
        struct csv table;
        status = csv_read(options->trajectory, TIMES_INCREASE, options->common.arena, report, &table);
        if (status == STATUS_OK) status = motion_from_table(run.robot, passive_too, &table, report, &run.motion);
        code = cli_exit_code(status);
    } else if (status == STATUS_OK) {
        code = make_cycloid(&run, passive_too);
    }
    if (code == EXIT_OK) code = make_inverse(&run, text);
    if (code == EXIT_OK) code = write_tables(&run);
    code = result_close(&run.result, code);
    inverse_free(&run.inverse);
    arena_release(&run.motion.arena);
    robot_free(run.robot);
    return code;
}

const struct command command_inverse = {
    .name = "inverse",
    .summary = "joint torques and actuator forces for a joint motion, as CSV that simulate --inputs takes",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .check = check,
    .run = run};
