/* limber inverse: joint torques for a joint motion, as a table that `limber simulate --inputs` takes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "csv.h"
#include "dyn/dyn.h"
#include "instance.h"
#include "load.h"
#include "motion.h"

struct options {
    const char *robot, *trajectory, *profile, *rate, *period, *start, *elastic;
    double until, step, rtol;
    struct settings settings;
    bool rigid, json;
};

struct run {
    struct options options;
    struct robot *robot; /* as the file says, drives and all                                          */
    struct motion motion;
    struct sim *sim;               /* the same robot with every joint of a drive following the motion           */
    double *out;                   /* a row of torques                                                           */
    struct table torques, elastic; /* the second has a stream where it is wanted */
    struct columns columns;
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
    return EXIT_FINE;
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
    int code = EXIT_FINE;
    for (int i = 1; i < argc && code == EXIT_FINE; i++) {
        int found = -1;
        for (int t = 0; t < (int)(sizeof table / sizeof table[0]); t++)
            if (strcmp(argv[i], table[t].name) == 0) found = t;
        if (found >= 0) {
            if (++i >= argc) return cli_usage("inverse", "%s takes a value", table[found].name);
            if (table[found].text != NULL) *table[found].text = argv[i];
            else if (table[found].number == NULL) code = settings_add("inverse", argv[i], &options->settings);
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
    return code == EXIT_FINE ? check_options(options) : code;
}

/* ---- the table of torques: what drives the robot of the file -------------------------------------------------------------- */

static void write_name(struct table *table, const char *joint, const char *suffix)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s.%s", joint, suffix);
    table_name(table, name);
}

static void write_names(struct run *run)
{
    static const char *const motion[3] = {"q", "qd", "qdd"};
    run->torques = (struct table){.stream = stdout, .json = run->options.json};
    table_name(&run->torques, "time");
    for (int i = 0; i < run->robot->n_links; i++) {
        const struct joint *joint = &run->robot->link[i].joint;
        if (!joint_moves(joint) || joint->passive) continue;
        for (int d = 0; joint->prescribed && d < 3; d++) write_name(&run->torques, joint->name, motion[d]);
        if (!joint->prescribed) write_name(&run->torques, joint->name, "tau");
    }
}

/* force: generalised forces by coordinate; a joint that the file itself prescribes has its motion as input */
static void write_row(struct run *run, int row, const double *force)
{
    const struct model *model = sim_model(run->sim);
    int count = 0;
    run->out[count++] = motion_time(&run->motion, row);
    for (int i = 0; i < run->robot->n_links; i++) {
        const struct joint *joint = &run->robot->link[i].joint;
        if (!joint_moves(joint) || joint->passive) continue;
        if (joint->prescribed) {
            motion_at(&run->motion, motion_row(&run->motion, row), i, run->out + count);
            count += 3;
        } else {
            run->out[count++] = force[model->link[i].q];
        }
    }
    table_row(&run->torques, run->out, count);
}

/* ---- rigid: tau = M qdd + h with eta = 0 ---------------------------------------------------------------------------------- */

static int write_rigid(struct run *run)
{
    const struct model *model = sim_model(run->sim);
    const size_t n = (size_t)model->n;
    double *q = arena_take(&run->arena, n, sizeof *q), *qd = arena_take(&run->arena, n, sizeof *qd),
           *qdd = arena_take(&run->arena, n, sizeof *qdd), *force = arena_take(&run->arena, n, sizeof *force);
    const struct input in = {.q = q, .qd = qd};
    struct work *work = NULL;
    if (run->arena.failed || work_make(model, &work) != STATUS_OK) return EXIT_COMPUTATION;
    write_names(run);
    for (int row = 0; row < run->motion.n_rows; row++) {
        for (int i = 0; i < model->n_links; i++) {
            double x[3];
            if (model->link[i].q < 0) continue;
            motion_at(&run->motion, motion_row(&run->motion, row), i, x);
            q[model->link[i].q] = x[0], qd[model->link[i].q] = x[1], qdd[model->link[i].q] = x[2];
        }
        dyn_configuration(model, work, q);
        dyn_inverse(model, work, &in, qdd, force);
        write_row(run, row, force);
    }
    table_end(&run->torques);
    work_free(work);
    return EXIT_FINE;
}

/* ---- flexible: the elastic motion is integrated, the drives' torques are outputs of the instance -------------------------- */

static int write_rows_here(struct run *run, int row, double *force)
{
    const struct variables *v = sim_variables(run->sim);
    const struct model *model = sim_model(run->sim);
    const double t = motion_time(&run->motion, row);
    const int code = instance_update("inverse", run->sim, t);
    if (code != EXIT_FINE) return code;
    for (int i = 0; i < model->n_links; i++)
        if (v->first[KIND_TAU_OUT][i] >= 0) force[model->link[i].q] = sim_get(run->sim, v->first[KIND_TAU_OUT][i]);
    write_row(run, row, force);
    if (run->elastic.stream != NULL) columns_write_row(&run->columns, run->sim, t, &run->elastic);
    return EXIT_FINE;
}

static int write_flexible(struct run *run)
{
    double *force = arena_take(&run->arena, (size_t)sim_model(run->sim)->n, sizeof *force);
    if (force == NULL) return EXIT_COMPUTATION;
    const double end = motion_row(&run->motion, run->motion.n_rows - 1);
    write_names(run);
    if (run->elastic.stream != NULL) columns_write_names(&run->columns, run->sim, &run->elastic);
    int code = write_rows_here(run, 0, force);
    for (int row = 1; row < run->motion.n_rows && code == EXIT_FINE; row++) {
        const double t = motion_row(&run->motion, row);
        if (sim_step(run->sim, t - motion_row(&run->motion, row - 1)) != STATUS_OK) code = EXIT_COMPUTATION;
        else code = write_rows_here(run, row, force);
        show_progress(t, end);
    }
    show_progress(end, end);
    table_end(&run->torques);
    if (run->elastic.stream != NULL) table_end(&run->elastic);
    return code;
}

static int open_elastic(struct run *run)
{
    const char *file = run->options.elastic;
    if (file == NULL) return EXIT_FINE;
    run->elastic = (struct table){.stream = fopen(file, "w"), .json = run->options.json};
    if (run->elastic.stream != NULL) return columns_choose(run->sim, &run->arena, &run->columns);
    fprintf(stderr, "limber: %s: cannot be written: %s\n", file, strerror(errno));
    return EXIT_INPUT;
}

/* A table that could not be written is no success. */
static int close_elastic(struct run *run, int code)
{
    FILE *stream = run->elastic.stream;
    if (stream == NULL) return code;
    const bool bad = ferror(stream) != 0;
    if (fclose(stream) == 0 && !bad) return code;
    fprintf(stderr, "limber: %s: could not be written: %s\n", run->options.elastic, strerror(errno));
    return code == EXIT_FINE ? EXIT_INPUT : code;
}

/* ---- all together ---------------------------------------------------------------------------------------------------------- */

static int make_motion(struct run *run)
{
    const struct options *options = &run->options;
    run->motion = (struct motion){.robot = run->robot, .passive_too = options->rigid};
    if (options->trajectory != NULL) return motion_read(options->trajectory, &run->arena, &run->motion);
    return motion_cycloid("inverse", options->rate, options->period, options->until, options->step, &run->arena,
                          &run->motion);
}

/* Torques take K times the error of eta; a tight tolerance hardly costs more than a loose one (docs/analyses.md) */
static const double DEFAULT_TOLERANCE = 1e-8;

/* A motion from rest starts from the static equilibrium, unless told otherwise */
static int initialise(struct run *run)
{
    const struct options *options = &run->options;
    const bool from_zero = options->rigid || (options->start != NULL && strcmp(options->start, "zero") == 0);
    const struct sim_experiment experiment = {.start_time = motion_time(&run->motion, 0),
                                              .tolerance = options->rtol > 0 ? options->rtol : DEFAULT_TOLERANCE};
    sim_set(run->sim, sim_variables(run->sim)->first[KIND_START_STATIC][0], !from_zero);
    const int code = settings_apply("inverse", &options->settings, run->sim, &run->arena);
    if (code != EXIT_FINE) return code;
    const enum status status = sim_initialise(run->sim, &experiment);
    return status == STATUS_OK ? EXIT_FINE : status == STATUS_BAD_ROBOT ? EXIT_INPUT : EXIT_COMPUTATION;
}

static int run_all(struct run *run, struct report *report)
{
    const struct sim_motion follow = {.context = &run->motion, .at = motion_at};
    int code = EXIT_FINE;
    run->robot = cli_load(run->options.robot, &code);
    if (code == EXIT_FINE) code = cli_load_sim(run->options.robot, &follow, report, &run->arena, &run->sim);
    if (code == EXIT_FINE) code = make_motion(run);
    if (code == EXIT_FINE) code = initialise(run);
    if (code != EXIT_FINE) return code;
    run->out = arena_take(&run->arena, 1 + 3 * (size_t)run->robot->n_links, sizeof(double));
    if (run->out == NULL) return EXIT_COMPUTATION;
    if (run->options.rigid) return write_rigid(run);
    code = open_elastic(run);
    if (code == EXIT_FINE) code = write_flexible(run);
    return close_elastic(run, code);
}

int command_inverse(int argc, char **argv)
{
    struct run run = {0};
    int code = parse_options(argc, argv, &run.options);
    if (code != EXIT_FINE) return code;
    struct report report = {.line = cli_print_error};
    code = run_all(&run, &report);
    sim_free(run.sim);
    if (run.robot != NULL) robot_free(run.robot);
    arena_release(&run.arena);
    return code;
}
