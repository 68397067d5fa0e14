/* limber inverse: joint torques for a joint motion, as a table that `limber simulate --inputs` takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "csv.h"
#include "dyn/dyn.h"
#include "load.h"

struct options {
    const char *robot, *trajectory, *profile, *rate, *period;
    double until, step;
    bool rigid;
};

/* A joint motion: from a table, or from the cycloid  q = start + k (t - T/pi sin(pi t/T)) of Mohan and Saha (44). */
struct motion {
    const struct model *model;
    struct csv table;
    int *column;   /* n_joints x 3: columns of q, qd, qdd in the table       */
    double *k, *T; /* n_joints: profile                                      */
    double until, step;
    int n_rows;
};

/* ---- options ------------------------------------------------------------------------------------------------------------- */

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
                 {"--until", NULL, &options->until},
                 {"--step", NULL, &options->step}};
    for (int i = 1; i < argc; i++) {
        int found = -1;
        for (int t = 0; t < (int)(sizeof table / sizeof table[0]); t++)
            if (strcmp(argv[i], table[t].name) == 0) found = t;
        if (found >= 0) {
            if (++i >= argc) return cli_usage("inverse", "%s takes a value", table[found].name);
            if (table[found].text != NULL) *table[found].text = argv[i];
            else if (!((*table[found].number = strtod(argv[i], NULL)) > 0))
                return cli_usage("inverse", "%s takes a positive number", table[found].name);
        } else if (strcmp(argv[i], "--rigid") == 0) {
            options->rigid = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            continue; /* the result is a table in any case */
        } else if (argv[i][0] == '-') {
            return cli_usage("inverse", "unknown option '%s'", argv[i]);
        } else if (options->robot == NULL) {
            options->robot = argv[i];
        } else {
            return cli_usage("inverse", "too many arguments: '%s'", argv[i]);
        }
    }
    if (options->robot == NULL) return cli_usage("inverse", "expected ROBOT");
    if ((options->trajectory == NULL) == (options->profile == NULL))
        return cli_usage("inverse", "expected --trajectory CSV or --profile cycloid");
    if (options->profile != NULL && strcmp(options->profile, "cycloid") != 0)
        return cli_usage("inverse", "--profile is cycloid, not '%s'", options->profile);
    if (options->profile != NULL &&
        (options->rate == NULL || options->period == NULL || options->until == 0 || options->step == 0))
        return cli_usage("inverse", "--profile cycloid needs --rate, --period, --until and --step");
    return EXIT_FINE;
}

static int read_list(const char *option, const char *text, int count, double *number)
{
    for (int i = 0; i < count; i++) {
        char *end;
        number[i] = strtod(text, &end);
        const bool last = i == count - 1;
        if (end == text || !isfinite(number[i]) || *end != (last ? '\0' : ','))
            return cli_usage("inverse", "%s takes %d numbers with commas between", option, count);
        text = end + 1;
    }
    return EXIT_FINE;
}

/* ---- the motion -------------------------------------------------------------------------------------------------------------- */

static const char *joint_name(const struct model *model, int tau)
{
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].tau == tau) return model->robot->link[i].joint.name;
    return "";
}

static int read_table(const char *file, struct arena *arena, struct motion *motion)
{
    static const char *const suffix[3] = {".q", ".qd", ".qdd"};
    if (csv_read(file, arena, &motion->table) != 0) return EXIT_INPUT;
    int bad = 0;
    for (int j = 0; j < 3 * motion->model->n_joints; j++) {
        char name[256];
        snprintf(name, sizeof name, "%s%s", joint_name(motion->model, j / 3), suffix[j % 3]);
        motion->column[j] = -1;
        for (int c = 1; c < motion->table.n_columns; c++)
            if (strcmp(motion->table.name[c], name) == 0) motion->column[j] = c;
        if (motion->column[j] < 0) {
            fprintf(stderr, "limber: %s: column %s is missing: q, qd and qdd of every joint that moves are needed\n",
                    file, name);
            bad++;
        }
    }
    motion->n_rows = motion->table.n_rows;
    return bad == 0 ? EXIT_FINE : EXIT_INPUT;
}

static int make_motion(const struct options *options, struct arena *arena, struct motion *motion)
{
    const int n = motion->model->n_joints;
    motion->column = arena_take(arena, 3 * (size_t)n, sizeof(int));
    motion->k = arena_take(arena, (size_t)n, sizeof(double));
    motion->T = arena_take(arena, (size_t)n, sizeof(double));
    if (options->trajectory != NULL) return read_table(options->trajectory, arena, motion);
    motion->until = options->until;
    motion->step = options->step;
    motion->n_rows = (int)lround(options->until / options->step) + 1;
    const int code = read_list("--rate", options->rate, n, motion->k);
    return code == EXIT_FINE ? read_list("--period", options->period, n, motion->T) : code;
}

/* Time of a row, and the motion of joint `tau` there */
static double motion_at(const struct motion *motion, int row, int tau, double start, double x[3])
{
    if (motion->table.n_rows > 0) {
        const double *numbers = motion->table.number + (size_t)motion->table.n_columns * (size_t)row;
        for (int d = 0; d < 3; d++) x[d] = numbers[motion->column[3 * tau + d]];
        return numbers[0];
    }
    const double pi = 3.14159265358979323846, t = motion->step * row, k = motion->k[tau], T = motion->T[tau];
    x[0] = start + k * (t - T / pi * sin(pi * t / T));
    x[1] = k * (1 - cos(pi * t / T));
    x[2] = k * pi / T * sin(pi * t / T);
    return t;
}

/* ---- torques -------------------------------------------------------------------------------------------------------------------- */

static void write_torques(const struct motion *motion, struct work *work, struct arena *arena, FILE *stream)
{
    const struct model *model = motion->model;
    const size_t n = (size_t)model->n;
    double *q = arena_take(arena, n, sizeof *q), *qd = arena_take(arena, n, sizeof *qd),
           *qdd = arena_take(arena, n, sizeof *qdd);
    double *force = arena_take(arena, n, sizeof *force), *out = arena_take(arena, n + 1, sizeof *out);
    const struct input in = {.q = q, .qd = qd};
    fputs("time", stream);
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].tau >= 0 && !model->link[i].passive)
            fprintf(stream, ",%s.tau", model->robot->link[i].joint.name);
    fputc('\n', stream);
    for (int row = 0; row < motion->n_rows; row++) {
        for (int i = 0; i < model->n_links; i++) {
            const struct link_model *lm = &model->link[i];
            double x[3];
            if (lm->tau < 0) continue;
            out[0] = motion_at(motion, row, lm->tau, model->robot->link[i].joint.start_position, x);
            q[lm->q] = x[0], qd[lm->q] = x[1], qdd[lm->q] = x[2];
        }
        dyn_configuration(model, work, q);
        dyn_inverse(model, work, &in, qdd, force);
        int count = 1;
        for (int i = 0; i < model->n_links; i++)
            if (model->link[i].tau >= 0 && !model->link[i].passive) out[count++] = force[model->link[i].q];
        csv_write_row(stream, out, count);
    }
}

int command_inverse(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_FINE) return code;
    struct cli_model loaded;
    code = cli_load_model(options.robot, 0, &loaded);
    if (code != EXIT_FINE) return code;
    struct arena arena = {0};
    struct motion motion = {.model = loaded.model};
    bool flexible = false;
    for (int i = 0; i < loaded.model->n_links; i++) flexible = flexible || loaded.model->link[i].m > 0;
    if (flexible && !options.rigid) {
        fprintf(stderr,
                "limber: %s: the inverse dynamics of flexible links is not yet there: --rigid holds the elastic "
                "coordinates at zero\n",
                options.robot);
        code = EXIT_COMPUTATION;
    }
    if (code == EXIT_FINE) code = make_motion(&options, &arena, &motion);
    if (code == EXIT_FINE) write_torques(&motion, loaded.work, &arena, stdout);
    arena_release(&arena);
    cli_free_model(&loaded);
    return code;
}
