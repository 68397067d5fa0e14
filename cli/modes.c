/* limber modes ROBOT: natural frequencies, damping ratios and what moves, at a state or over the position of a joint. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "closed.h"
#include "csv.h"
#include "eigenmodes.h"
#include "json_out.h"
#include "plot.h"

enum { MOST_POSES = 1000000, PLOTTED = 6 };

struct options {
    const char *robot, *at, *sweep, *plot;
    bool joints_free, json;
    int count; /* most modes to print; 0: all */
};

/* JOINT=a:b:n */
struct sweep {
    int link;
    double from, to;
    int poses;
};

struct analysis {
    struct options options;
    struct cli_model loaded;
    struct state state;
    struct small_motion motion;
    struct eigenmodes modes;
    int independent; /* modes there are */
    int shown;       /* modes to print  */

    /* a sweep of a closed robot: the same with the swept joint prescribed, so that the rest closes: passive joints, and drives
       where the swept joint is passive itself */
    struct robot swept;
    struct cli_model closing;
    struct arena arena;
};

/* ---- options ------------------------------------------------------------------------------------------------------------ */

/* A whole number from 1 to `most`, up to the end of the text */
static bool whole_number(const char *text, int most, int *number)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    *number = (int)value;
    return end != text && *end == '\0' && errno == 0 && value >= 1 && value <= most;
}

static int read_count(const char *text, int *count)
{
    if (whole_number(text, INT_MAX, count)) return EXIT_FINE;
    return cli_usage("modes", "--count takes a positive whole number, not '%s'", text);
}

static int read_joints(const char *text, bool *joints_free)
{
    if (strcmp(text, "locked") != 0 && strcmp(text, "free") != 0)
        return cli_usage("modes", "--joints is locked or free, not '%s'", text);
    *joints_free = strcmp(text, "free") == 0;
    return EXIT_FINE;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    static const char *const with_value[] = {"--at", "--joints", "--sweep", "--plot", "--count"};
    int code = EXIT_FINE;
    for (int i = 1; i < argc && code == EXIT_FINE; i++) {
        const char *option = argv[i], *value = NULL;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++) {
            if (strcmp(option, with_value[k]) != 0) continue;
            if (i + 1 >= argc) return cli_usage("modes", "%s takes a value", option);
            value = argv[++i];
            break;
        }
        if (strcmp(option, "--json") == 0) options->json = true;
        else if (strcmp(option, "--at") == 0) options->at = value;
        else if (strcmp(option, "--joints") == 0) code = read_joints(value, &options->joints_free);
        else if (strcmp(option, "--sweep") == 0) options->sweep = value;
        else if (strcmp(option, "--plot") == 0) options->plot = value;
        else if (strcmp(option, "--count") == 0) code = read_count(value, &options->count);
        else if (option[0] == '-' && option[1] != '\0') code = cli_usage("modes", "unknown option '%s'", option);
        else if (options->robot == NULL) options->robot = option;
        else code = cli_usage("modes", "too many arguments: '%s'", option);
    }
    if (code == EXIT_FINE && options->robot == NULL) code = cli_usage("modes", "expected ROBOT");
    if (code == EXIT_FINE && options->plot != NULL && options->sweep == NULL)
        code = cli_usage("modes", "--plot draws a sweep: give --sweep JOINT=a:b:n too");
    return code;
}

/* ---- modes at a state ------------------------------------------------------------------------------------------------------ */

/* Name of a kept coordinate */
static void name_of(const struct analysis *analysis, int kept, char name[NAME_SIZE])
{
    const struct model *model = analysis->loaded.mechanism.model;
    const int coordinate = analysis->motion.coordinate[kept];
    int i = 0;
    while (coordinate >= model->link[i].eta + model->link[i].m) i++;
    const int first = model->link[i].q >= 0 ? model->link[i].q : model->link[i].eta;
    cli_coordinate_name(&model->robot->link[i], coordinate - first, name);
}

static int tell_not_linear(const struct analysis *analysis, enum status status)
{
    if (status == STATUS_NOT_FINITE)
        fprintf(stderr, "limber: modes: the linearised equations of motion are not finite: numbers of the robot or the "
                        "state are too large or too small to compute with\n");
    else cli_not_solved("modes", &analysis->motion.full.mechanism, status);
    return EXIT_COMPUTATION;
}

static int tell(const struct analysis *analysis, enum eigenmodes_result result)
{
    char name[NAME_SIZE];
    switch (result) {
    case EIGENMODES_FINE: return EXIT_FINE;
    case EIGENMODES_SINGULAR:
        name_of(analysis, analysis->motion.free_one[analysis->modes.singular], name);
        fprintf(stderr,
                "limber: modes: %s: nothing of its own resists the motion of '%s': give its link or what that carries "
                "mass, inertia or motor_inertia, or modes that are less alike\n",
                status_text(STATUS_NOT_POSITIVE), name);
        break;
    case EIGENMODES_OVERFLOW: return tell_not_linear(analysis, STATUS_NOT_FINITE);
    case EIGENMODES_FAILED: fprintf(stderr, "limber: modes: the eigenvalues were not found\n"); break;
    }
    return EXIT_COMPUTATION;
}

static int solve(struct analysis *analysis)
{
    const enum status status =
        small_motion_at(&analysis->motion, analysis->loaded.mechanism.model, &analysis->state.input);
    if (status != STATUS_OK) return tell_not_linear(analysis, status);
    return tell(analysis, eigenmodes_solve(&analysis->motion, &analysis->modes));
}

static struct json_object *json_participation(const struct analysis *analysis, const struct mode *mode)
{
    struct json_object *shares = json_object_new_object();
    for (int i = 0; i < analysis->motion.n; i++) {
        char name[NAME_SIZE];
        name_of(analysis, i, name);
        json_object_object_add(shares, name, json_object_new_double(mode->share[i]));
    }
    return shares;
}

static int print_json(const struct analysis *analysis)
{
    struct json_object *out = json_object_new_object(), *frequency = json_object_new_array(),
                       *damping_ratio = json_object_new_array(), *growth = json_object_new_array(),
                       *participation = json_object_new_array(), *damped_frequency = json_object_new_array(),
                       *damped_growth = json_object_new_array();
    for (int k = 0; k < analysis->shown; k++) {
        const struct mode *mode = &analysis->modes.mode[k];
        json_object_array_add(frequency, json_object_new_double(mode->frequency));
        json_object_array_add(damping_ratio, json_object_new_double(mode->damping_ratio));
        json_object_array_add(growth, json_object_new_double(mode->growth));
        json_object_array_add(participation, json_participation(analysis, mode));
        json_object_array_add(damped_frequency, json_object_new_double(analysis->modes.damped[k].frequency));
        json_object_array_add(damped_growth, json_object_new_double(analysis->modes.damped[k].growth));
    }
    json_object_object_add(out, "frequency", frequency);
    json_object_object_add(out, "damping_ratio", damping_ratio);
    json_object_object_add(out, "growth", growth);
    json_object_object_add(out, "participation", participation);
    json_object_object_add(out, "damped_frequency", damped_frequency);
    json_object_object_add(out, "damped_growth", damped_growth);
    const int code = json_print_finite("modes", out);
    json_object_put(out);
    return code;
}

/* The largest shares, up to three, as far as they can be seen */
static void print_shares(const struct analysis *analysis, const struct mode *mode)
{
    enum { MOST = 3 };
    const double least = 0.01;
    int printed[MOST];
    for (int k = 0; k < MOST && k < analysis->motion.n; k++) {
        int best = -1;
        for (int i = 0; i < analysis->motion.n; i++) {
            bool taken = false;
            for (int l = 0; l < k; l++) taken = taken || printed[l] == i;
            if (!taken && (best < 0 || mode->share[i] > mode->share[best])) best = i;
        }
        if (k > 0 && mode->share[best] < least) break;
        char name[NAME_SIZE];
        name_of(analysis, best, name);
        printf("%s%s %.0f %%", k > 0 ? ", " : "", name, 100 * mode->share[best]);
        printed[k] = best;
    }
}

/* A line of its own: damping may change the order */
static void print_damped(const struct analysis *analysis)
{
    bool damped = false;
    for (int k = 0; k < analysis->modes.n; k++)
        damped = damped || analysis->modes.damped[k].frequency != analysis->modes.mode[k].frequency ||
                 analysis->modes.damped[k].growth != analysis->modes.mode[k].growth;
    if (!damped) return;
    printf("\nwith damping [Hz]:");
    for (int k = 0; k < analysis->shown; k++) printf(" %.7g", analysis->modes.damped[k].frequency);
    printf("\n");
}

static int print_table(const struct analysis *analysis)
{
    printf("%s, joints %s: %d mode%s", analysis->loaded.robot->name, analysis->options.joints_free ? "free" : "locked",
           analysis->modes.n, analysis->modes.n == 1 ? "" : "s");
    if (analysis->modes.n == 0) printf(": nothing is left that can move\n");
    else printf("\n\nmode  frequency [Hz]  damping ratio  moves most\n");
    for (int k = 0; k < analysis->shown; k++) {
        const struct mode *mode = &analysis->modes.mode[k];
        printf("%4d  %14.7g  %13.5g  ", k + 1, mode->frequency, mode->damping_ratio);
        print_shares(analysis, mode);
        if (mode->growth != 0) printf("; %s as exp(%.5g t)", mode->growth > 0 ? "grows" : "shrinks", mode->growth);
        printf("\n");
    }
    print_damped(analysis);
    return EXIT_FINE;
}

/* ---- modes over the position of a joint -------------------------------------------------------------------------------------- */

/* A finite number with a colon behind it; what comes after that, or NULL */
static const char *number_and_colon(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == ':' && isfinite(*number) ? end + 1 : NULL;
}

static int read_sweep(const struct analysis *analysis, struct sweep *sweep)
{
    const char *text = analysis->options.sweep, *equals = strchr(text, '=');
    const char *rest = equals != NULL ? number_and_colon(equals + 1, &sweep->from) : NULL;
    if (rest != NULL) rest = number_and_colon(rest, &sweep->to);
    if (rest == NULL || !whole_number(rest, MOST_POSES, &sweep->poses))
        return cli_usage("modes", "--sweep takes JOINT=a:b:n, n poses from a to b, 1 to %d of them, not '%s'",
                         MOST_POSES, text);
    const struct robot *robot = analysis->loaded.robot;
    const size_t length = (size_t)(equals - text);
    for (int i = 0; i < robot->n_links; i++) {
        const struct joint *joint = &robot->link[i].joint;
        sweep->link = i;
        if (joint_moves(joint) && strlen(joint->name) == length && memcmp(joint->name, text, length) == 0)
            return EXIT_FINE;
    }
    fprintf(stderr, "limber: modes: --sweep %s: the robot has no joint '%.*s' that moves\n", text, (int)length, text);
    return EXIT_INPUT;
}

static int make_closing(struct analysis *analysis, const struct sweep *sweep)
{
    const struct robot *robot = analysis->loaded.robot;
    if (robot->n_loops == 0) return EXIT_FINE;
    analysis->swept = *robot;
    analysis->swept.arena = (struct arena){0}; /* what it points to belongs to the robot of the file */
    analysis->swept.link = arena_take(&analysis->arena, (size_t)robot->n_links, sizeof *robot->link);
    if (analysis->arena.failed) return EXIT_COMPUTATION;
    memcpy(analysis->swept.link, robot->link, (size_t)robot->n_links * sizeof *robot->link);
    const bool drives_follow = robot->link[sweep->link].joint.passive;
    for (int i = 0; i < robot->n_links; i++) {
        struct joint *joint = &analysis->swept.link[i].joint;
        if (i == sweep->link || (joint_moves(joint) && !joint->passive && !drives_follow)) joint->prescribed = true;
    }
    return cli_make_model(analysis->options.robot, &analysis->swept, &analysis->closing);
}

/* The first pose says how many modes there are; a pose in which the loops leave more is one where a motion is free that is
   not elsewhere */
static int count_modes(struct analysis *analysis, bool first)
{
    const int n = analysis->modes.n, count = analysis->options.count;
    if (first) {
        analysis->independent = n;
        analysis->shown = count > 0 && count < n ? count : n;
    }
    if (n == analysis->independent) return EXIT_FINE;
    fprintf(stderr, "limber: modes: the loops leave %d independent motions here and %d at the first pose\n", n,
            analysis->independent);
    return EXIT_COMPUTATION;
}

/* Modes at a pose of a sweep */
static int solve_pose(struct analysis *analysis, bool first)
{
    int code = EXIT_FINE;
    if (analysis->loaded.robot->n_loops > 0) code = closed_pose("modes", &analysis->closing, &analysis->state);
    if (code == EXIT_FINE) code = solve(analysis);
    return code == EXIT_FINE ? count_modes(analysis, first) : code;
}

/* What a sweep finds: rows by pose, columns by mode. */
struct map {
    double *position; /* poses */
    double *frequency, *damping_ratio, *growth;
};

static int fill_map(struct analysis *analysis, const struct sweep *sweep, struct map *map)
{
    const bool progress = isatty(STDERR_FILENO);
    double *position = &analysis->state.q[analysis->loaded.mechanism.model->link[sweep->link].q];
    int code = EXIT_FINE;
    for (int p = 0; p < sweep->poses && code == EXIT_FINE; p++) {
        const double part = sweep->poses > 1 ? (double)p / (sweep->poses - 1) : 0;
        map->position[p] = *position = (1 - part) * sweep->from + part * sweep->to;
        code = solve_pose(analysis, p == 0);
        if (code != EXIT_FINE) {
            fprintf(stderr, "limber: modes: at %s.q = %.9g\n", analysis->loaded.robot->link[sweep->link].joint.name,
                    *position);
            break;
        }
        for (int k = 0; k < analysis->shown; k++) {
            const size_t at = (size_t)analysis->shown * (size_t)p + (size_t)k;
            map->frequency[at] = analysis->modes.mode[k].frequency;
            map->damping_ratio[at] = analysis->modes.mode[k].damping_ratio;
            map->growth[at] = analysis->modes.mode[k].growth;
        }
        if (progress) fprintf(stderr, "\rpose %d of %d", p + 1, sweep->poses);
    }
    if (progress) fputs("\r                              \r", stderr);
    return code;
}

static int print_map_json(const struct analysis *analysis, const struct sweep *sweep, const struct map *map)
{
    struct json_object *out = json_object_new_object();
    const char *joint = analysis->loaded.robot->link[sweep->link].joint.name;
    const int poses = sweep->poses, shown = analysis->shown;
    json_object_object_add(out, "joint", json_object_new_string(joint));
    json_object_object_add(out, "position", json_numbers(map->position, poses));
    json_object_object_add(out, "frequency", json_rows(map->frequency, poses, shown));
    json_object_object_add(out, "damping_ratio", json_rows(map->damping_ratio, poses, shown));
    json_object_object_add(out, "growth", json_rows(map->growth, poses, shown));
    const int code = json_print_finite("modes", out);
    json_object_put(out);
    return code;
}

static int print_map_csv(const struct analysis *analysis, const struct sweep *sweep, const struct map *map, double *row)
{
    printf("%s.q", analysis->loaded.robot->link[sweep->link].joint.name);
    for (int k = 0; k < analysis->shown; k++) printf(",f%d", k + 1);
    printf("\n");
    for (int p = 0; p < sweep->poses; p++) {
        row[0] = map->position[p];
        memcpy(row + 1, map->frequency + (size_t)analysis->shown * (size_t)p, (size_t)analysis->shown * sizeof *row);
        csv_write_row(stdout, row, analysis->shown + 1);
    }
    return EXIT_FINE;
}

static int draw_map(const struct analysis *analysis, const struct sweep *sweep, const struct map *map)
{
    const struct robot *robot = analysis->loaded.robot;
    const struct joint *joint = &robot->link[sweep->link].joint;
    char title[NAME_SIZE], x_label[NAME_SIZE];
    const int most = analysis->options.count > 0 ? analysis->shown : PLOTTED;
    snprintf(title, sizeof title, "%s: natural frequencies, joints %s", robot->name,
             analysis->options.joints_free ? "free" : "locked");
    snprintf(x_label, sizeof x_label, "%s.q [%s]", joint->name, joint->type == JOINT_PRISMATIC ? "m" : "rad");
    const struct plot plot = {.title = title,
                              .x_label = x_label,
                              .y_label = "frequency [Hz]",
                              .curve = "f",
                              .n_points = sweep->poses,
                              .n_curves = analysis->shown < most ? analysis->shown : most,
                              .stride = analysis->shown,
                              .x = map->position,
                              .y = map->frequency};
    return plot_write(&plot, analysis->options.plot);
}

static int run_sweep(struct analysis *analysis)
{
    struct sweep sweep = {0};
    int code = read_sweep(analysis, &sweep);
    if (code != EXIT_FINE) return code;
    struct arena arena = {0};
    const size_t poses = (size_t)sweep.poses, shown = (size_t)analysis->motion.n; /* at most */
    struct map map = {.position = arena_take(&arena, poses, sizeof(double)),
                      .frequency = arena_take(&arena, poses * shown, sizeof(double)),
                      .damping_ratio = arena_take(&arena, poses * shown, sizeof(double)),
                      .growth = arena_take(&arena, poses * shown, sizeof(double))};
    double *row = arena_take(&arena, shown + 1, sizeof *row);
    code = arena.failed ? EXIT_COMPUTATION : make_closing(analysis, &sweep);
    if (code == EXIT_FINE) code = fill_map(analysis, &sweep, &map);
    if (arena.failed || analysis->arena.failed) fprintf(stderr, "limber: modes: %s\n", status_text(STATUS_NO_MEMORY));
    if (code == EXIT_FINE && analysis->options.plot != NULL) code = draw_map(analysis, &sweep, &map);
    if (code == EXIT_FINE)
        code = analysis->options.json ? print_map_json(analysis, &sweep, &map)
                                      : print_map_csv(analysis, &sweep, &map, row);
    arena_release(&arena);
    return code;
}

/* ---- the command --------------------------------------------------------------------------------------------------------------- */

static int analyse(struct analysis *analysis)
{
    if (state_read(analysis->loaded.mechanism.model, analysis->options.at, &analysis->state) != 0) return EXIT_INPUT;
    enum status status =
        small_motion_make(analysis->loaded.mechanism.model, analysis->options.joints_free, &analysis->motion);
    if (status == STATUS_OK && !eigenmodes_make(analysis->motion.n, &analysis->modes)) status = STATUS_NO_MEMORY;
    if (status != STATUS_OK) {
        fprintf(stderr, "limber: modes: %s\n", status_text(status));
        return EXIT_COMPUTATION;
    }
    if (analysis->options.sweep != NULL) return run_sweep(analysis);
    int code = closed_state("modes", &analysis->loaded, analysis->options.at != NULL, &analysis->state);
    if (code == EXIT_FINE) code = solve(analysis);
    if (code == EXIT_FINE) code = tell(analysis, eigenmodes_damp(&analysis->motion, &analysis->modes));
    if (code != EXIT_FINE) return code;
    code = count_modes(analysis, true);
    if (code != EXIT_FINE) return code;
    return analysis->options.json ? print_json(analysis) : print_table(analysis);
}

int command_modes(int argc, char **argv)
{
    struct analysis analysis = {0};
    int code = parse_options(argc, argv, &analysis.options);
    if (code == EXIT_FINE) code = cli_load_model(analysis.options.robot, 0, &analysis.loaded);
    if (code != EXIT_FINE) return code;
    code = analyse(&analysis);
    eigenmodes_free(&analysis.modes);
    small_motion_free(&analysis.motion);
    state_free(&analysis.state);
    cli_free_model(&analysis.closing);
    arena_release(&analysis.arena);
    cli_free_model(&analysis.loaded);
    return code;
}
