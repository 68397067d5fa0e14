/* limber inverse: joint torques and actuator forces for a joint motion, as a table that `limber simulate --inputs` takes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "actuated.h"
#include "cli.h"
#include "closed.h"
#include "csv.h"
#include "instance.h"
#include "motion.h"
#include "result.h"

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
    struct instance *sim;          /* the same robot with every joint of a drive following the motion           */
    double *out;                   /* a row of torques                                                           */
    int n_forces;                  /* actuators that move joints in place of drives: all, or none                */
    double *F;                     /* their forces                                                               */
    struct table torques, elastic; /* the second has a stream where it is wanted */
    struct result result;          /* the file of the second                                                     */
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
    for (int a = 0; a < run->n_forces; a++) write_name(&run->torques, run->robot->actuator[a].name, "force");
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
    for (int a = 0; a < run->n_forces; a++) run->out[count++] = run->F[a];
    table_row(&run->torques, run->out, count);
}

/* ---- rigid: tau = M qdd + h with eta = 0 ---------------------------------------------------------------------------------- */

/* One row of the motion: all coordinates, and the forces that go with them */
struct rigid_row {
    double *q, *qd, *qdd, *force; /* n */
};

static void take_motion(struct run *run, int row, struct rigid_row *at)
{
    const struct model *model = sim_model(run->sim);
    for (int i = 0; i < model->n_links; i++) {
        double x[3];
        const int q = model->link[i].q;
        if (q < 0 || !motion_gives(&run->motion, i)) continue;
        motion_at(&run->motion, motion_row(&run->motion, row), i, x);
        at->q[q] = x[0], at->qd[q] = x[1], at->qdd[q] = x[2];
    }
}

/* Passive joints where the robot file has them: a guess */
static void rigid_guess(const struct run *run, struct rigid_row *at)
{
    const struct model *model = sim_model(run->sim);
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].q >= 0) at->q[model->link[i].q] = run->robot->link[i].joint.start_position;
}

/* Straightens the links where closing took their bending to help; true where it did */
static bool straighten(const struct model *model, double *q)
{
    bool bent = false;
    for (int i = 0; i < model->n_links; i++)
        for (int k = model->link[i].eta; k < model->link[i].eta + model->link[i].m; k++) {
            bent = bent || q[k] != 0;
            q[k] = 0;
        }
    return bent;
}

/* Positions of passive joints, from those of the row before */
static int close_rigid(struct cli_model *own, double t, struct rigid_row *at)
{
    struct report report = {.line = cli_print_error};
    const struct state state = {.q = at->q, .qd = at->qd};
    const bool closed = constraints_close(&own->mechanism, at->q, &report) == STATUS_OK;
    if (closed && !straighten(own->mechanism.model, at->q)) return EXIT_FINE;
    const char *open = closed_worst(own, &state, 0);
    fprintf(stderr, "limber: inverse: --rigid: at t = %.9g s: rigid links cannot follow this motion: loop '%s' opens\n",
            t, open != NULL ? open : "");
    return EXIT_COMPUTATION;
}

static double largest(int count, const double *x)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Rates of redundant drives agree to digits of a table */
static const double DRIVES_AGREE = 1e-6;

/* Rates or accelerations x of passive joints from G_p x_p = -rest, rest being what the gaps do while x_p = 0. Least squares: drives
   that contradict each other leave more than rounding. */
static int solve_passive(struct cli_model *own, const double *rest, double *x, double *left, struct arena *arena)
{
    const struct model *model = own->mechanism.model;
    const struct constraints *loops = own->mechanism.constraints;
    const size_t n = (size_t)model->n, k = (size_t)loops->n_rows;
    double *A = arena_take(arena, n * k, sizeof *A), *b = arena_take(arena, n + k, sizeof *b);
    int count = 0;
    if (arena->failed) return -1;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q < 0 || lm->prescribed >= 0) continue;
        for (size_t row = 0; row < k; row++) A[k * (size_t)count + row] = loops->G[n * row + (size_t)lm->q];
        count++;
    }
    for (size_t row = 0; row < k; row++) b[row] = -rest[row];
    const int rank = least_squares((int)k, count, A, b, arena);
    for (int i = 0, c = 0; i < model->n_links && rank == count; i++)
        if (model->link[i].q >= 0 && model->link[i].prescribed < 0) x[model->link[i].q] = b[c++];
    *left = 0;
    for (size_t row = 0; row < k && rank == count; row++) {
        double sum = rest[row];
        for (int i = 0; i < model->n_links; i++) {
            const struct link_model *lm = &model->link[i];
            if (lm->q >= 0 && lm->prescribed < 0) sum += loops->G[n * row + (size_t)lm->q] * x[lm->q];
        }
        *left = fmax(*left, fabs(sum));
    }
    return rank < 0 ? -1 : count - rank;
}

static int tell(const char *what, double t)
{
    fprintf(stderr, "limber: inverse: --rigid: at t = %.9g s: %s\n", t, what);
    return EXIT_COMPUTATION;
}

/* Motion of the passive joints that the loops ask for: positions by closing, rates and accelerations from the equations */
static int follow_loops(struct cli_model *own, double t, struct rigid_row *at)
{
    const struct model *model = own->mechanism.model;
    const struct input in = {.q = at->q, .qd = at->qd};
    struct arena scratch = {0};
    double left = 0, *rest = arena_take(&scratch, (size_t)own->mechanism.constraints->n_rows, sizeof *rest);
    if (rest == NULL) return EXIT_COMPUTATION;
    int code = close_rigid(own, t, at);
    for (int derivative = 1; derivative <= 2 && code == EXIT_FINE; derivative++) {
        double *x = derivative == 1 ? at->qd : at->qdd;
        for (int i = 0; i < model->n_links; i++)
            if (model->link[i].q >= 0 && model->link[i].prescribed < 0) x[model->link[i].q] = 0;
        dyn_configuration(model, own->mechanism.work, at->q);
        dyn_motion(model, own->mechanism.work, &in, at->qdd);
        dyn_velocity(model, own->mechanism.work, &in);
        constraints_rows(&own->mechanism);
        constraints_accelerations(&own->mechanism);
        memcpy(rest, derivative == 1 ? own->mechanism.constraints->rate : own->mechanism.constraints->rhs,
               (size_t)own->mechanism.constraints->n_rows * sizeof *rest);
        const int undetermined = solve_passive(own, rest, x, &left, &scratch);
        if (undetermined != 0)
            code = tell("the loops do not determine the motion of the passive joints: without --rigid it is "
                        "integrated",
                        t);
        else if (left > DRIVES_AGREE * (1 + largest(own->mechanism.constraints->n_rows, rest)))
            code = tell("the loops have more drives than they can move with, and the given rates or accelerations "
                        "contradict each other",
                        t);
    }
    arena_release(&scratch);
    return code;
}

/* Forces of the actuators in place of drives, of which no joint's share may be left over */
static int actuate_rigid(struct run *run, struct cli_model *own, double t, double *force)
{
    const struct model *model = own->mechanism.model;
    const double most = largest(model->n, force);
    const int code = actuated_forces("inverse", own, force, run->F);
    if (code != EXIT_FINE) return code;
    for (int i = 0; i < model->n_links; i++)
        if (joint_actuated(run->robot, i) && fabs(force[model->link[i].q]) > 1e-9 * most)
            return tell(status_text(STATUS_UNBALANCED), t);
    return EXIT_FINE;
}

static int write_rigid(struct run *run)
{
    const size_t n = (size_t)sim_model(run->sim)->n;
    struct rigid_row at = {.q = arena_take(&run->arena, n, sizeof(double)),
                           .qd = arena_take(&run->arena, n, sizeof(double)),
                           .qdd = arena_take(&run->arena, n, sizeof(double)),
                           .force = arena_take(&run->arena, n, sizeof(double))};
    struct robot robot = *sim_robot(run->sim);
    struct cli_model own;
    robot.arena = (struct arena){0}; /* what it points to belongs to the instance */
    if (run->arena.failed) return EXIT_COMPUTATION;
    int code = cli_make_model(run->options.robot, &robot, &own);
    if (code != EXIT_FINE) return code;
    const struct input in = {.q = at.q, .qd = at.qd};
    if (robot.n_loops > 0) rigid_guess(run, &at);
    write_names(run);
    for (int row = 0; row < run->motion.n_rows && code == EXIT_FINE; row++) {
        take_motion(run, row, &at);
        if (robot.n_loops > 0) code = follow_loops(&own, motion_time(&run->motion, row), &at);
        dyn_configuration(own.mechanism.model, own.mechanism.work, at.q);
        dyn_inverse(own.mechanism.model, own.mechanism.work, &in, at.qdd, at.force);
        dyn_velocity(own.mechanism.model, own.mechanism.work, &in);
        if (code == EXIT_FINE) code = closed_forces("inverse", &own, true, at.force);
        if (code == EXIT_FINE && run->n_forces > 0)
            code = actuate_rigid(run, &own, motion_time(&run->motion, row), at.force);
        if (code == EXIT_FINE) write_row(run, row, at.force);
    }
    table_end(&run->torques);
    cli_free_model(&own);
    return code;
}

/* ---- flexible: the elastic motion is integrated, the drives' torques are outputs of the instance -------------------------- */

static int write_rows_here(struct run *run, int row)
{
    const double t = motion_time(&run->motion, row);
    const int code = cli_update("inverse", run->sim, t);
    if (code != EXIT_FINE) return code;
    for (int a = 0; a < run->n_forces; a++) run->F[a] = sim_actuator_force(run->sim, a);
    write_row(run, row, sim_drive_forces(run->sim));
    if (run->elastic.stream != NULL) columns_write_row(&run->columns, run->sim, t, &run->elastic);
    return EXIT_FINE;
}

static int write_flexible(struct run *run)
{
    const double end = motion_row(&run->motion, run->motion.n_rows - 1);
    write_names(run);
    if (run->elastic.stream != NULL) columns_write_names(&run->columns, run->sim, &run->elastic);
    int code = write_rows_here(run, 0);
    for (int row = 1; row < run->motion.n_rows && code == EXIT_FINE; row++) {
        const double t = motion_row(&run->motion, row);
        if (instance_step(run->sim, t - motion_row(&run->motion, row - 1)) != STATUS_OK) code = EXIT_COMPUTATION;
        else code = write_rows_here(run, row);
        show_progress(t, end);
    }
    show_progress(end, end);
    table_end(&run->torques);
    if (run->elastic.stream != NULL) table_end(&run->elastic);
    return code;
}

static int open_elastic(struct run *run)
{
    if (run->options.elastic == NULL) return EXIT_FINE;
    const int code = result_open(run->options.elastic, NULL, &run->result);
    run->elastic = (struct table){.stream = run->result.stream, .json = run->options.json};
    return code == EXIT_FINE ? columns_choose(run->sim, &run->arena, &run->columns) : code;
}

/* ---- all together ---------------------------------------------------------------------------------------------------------- */

static int make_motion(struct run *run)
{
    const struct options *options = &run->options;
    run->motion = (struct motion){.robot = run->robot, .passive_too = options->rigid && run->robot->n_loops == 0};
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
    const struct experiment experiment = {.start_time = motion_time(&run->motion, 0),
                                          .tolerance = options->rtol > 0 ? options->rtol : DEFAULT_TOLERANCE};
    instance_set(run->sim, instance_variables(run->sim)->start_static, !from_zero);
    const int code = settings_apply("inverse", &options->settings, run->sim, &run->arena);
    if (code != EXIT_FINE) return code;
    const enum status status = instance_initialize(run->sim, &experiment);
    return cli_exit_code(status);
}

/* Something must be asked for: drives, or actuators as many as the passive joints that they move */
static int find_drives(struct run *run)
{
    const struct robot *robot = run->robot;
    int n_drives = 0;
    for (int i = 0; i < robot->n_links; i++) {
        n_drives += joint_moves(&robot->link[i].joint) && !robot->link[i].joint.passive;
        if (joint_actuated(robot, i)) run->n_forces = robot->n_actuators;
    }
    run->F = arena_take(&run->arena, (size_t)robot->n_actuators, sizeof(double));
    run->out = arena_take(&run->arena, 1 + 3 * (size_t)robot->n_links + (size_t)robot->n_actuators, sizeof(double));
    if (run->arena.failed) return EXIT_COMPUTATION;
    if (n_drives > 0 || run->n_forces > 0) return EXIT_FINE;
    fprintf(stderr, "limber: inverse: %s: nothing drives this robot: no joint that moves has a drive%s\n",
            run->options.robot,
            robot->n_actuators == 0 ? ""
            : robot->n_loops > 0
                ? ", and forces of line actuators are given for open robots alone: give joints a drive (no `passive`)"
                : ", and forces of line actuators follow from a motion only where there are as many as passive joints "
                  "between their points: give the other joints a drive (no `passive`), or leave out actuators");
    return EXIT_INPUT;
}

static int run_all(struct run *run, struct report *report)
{
    const struct sim_motion follow = {.context = &run->motion, .at = motion_at};
    int code = EXIT_FINE;
    run->robot = cli_load(run->options.robot, &code);
    if (code == EXIT_FINE) code = cli_load_sim(run->options.robot, &follow, report, &run->arena, &run->sim);
    if (code == EXIT_FINE) code = find_drives(run);
    if (code == EXIT_FINE) code = make_motion(run);
    if (code == EXIT_FINE) code = initialise(run);
    if (code != EXIT_FINE) return code;
    if (run->options.rigid) return write_rigid(run);
    code = open_elastic(run);
    if (code == EXIT_FINE) code = write_flexible(run);
    return result_close(&run->result, code);
}

int command_inverse(int argc, char **argv)
{
    struct run run = {0};
    int code = parse_options(argc, argv, &run.options);
    if (code != EXIT_FINE) return code;
    struct report report = {.line = cli_print_error};
    code = run_all(&run, &report);
    instance_free(run.sim);
    if (run.robot != NULL) robot_free(run.robot);
    arena_release(&run.arena);
    return code;
}
