/* limber modes ROBOT: natural frequencies, damping ratios and what moves, at a state or over the position of a joint. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/closure.h"
#include "analysis/driven_modes.h"
#include "analysis/modes.h"
#include "analysis/names.h"
#include "cli.h"
#include "json_out.h"
#include "linearization.h"
#include "load.h"
#include "plot.h"
#include "sweep.h"
#include "table.h"

enum { MOST_POSES = 1000000, PLOTTED = 6 };

struct options {
    const char *robot, *at, *sweep, *plot;
    bool joints_free, json, equilibrium;
    struct holding holding;
    int count; /* most modes to print; 0: all */
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
    if (whole_number(text, INT_MAX, count)) return EXIT_OK;
    return cli_usage("modes", "--count takes a positive whole number, not '%s'", text);
}

int cli_joints(const char *command, const char *text, bool *joints_free)
{
    if (strcmp(text, "locked") != 0 && strcmp(text, "free") != 0)
        return cli_usage(command, "--joints is locked or free, not '%s'", text);
    *joints_free = strcmp(text, "free") == 0;
    return EXIT_OK;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    static const char *const with_value[] = {"--at", "--joints", "--sweep", "--plot", "--count"};
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *option = argv[i], *value = NULL;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++) {
            if (strcmp(option, with_value[k]) != 0) continue;
            if (i + 1 >= argc) return cli_usage("modes", "%s takes a value", option);
            value = argv[++i];
            break;
        }
        bool taken;
        code = holding_option("modes", argc, argv, &i, &options->holding, &taken);
        if (taken || code != EXIT_OK) continue;
        if (strcmp(option, "--json") == 0) options->json = true;
        else if (strcmp(option, "--static") == 0) options->equilibrium = true;
        else if (strcmp(option, "--at") == 0) options->at = value;
        else if (strcmp(option, "--joints") == 0) code = cli_joints("modes", value, &options->joints_free);
        else if (strcmp(option, "--sweep") == 0) options->sweep = value;
        else if (strcmp(option, "--plot") == 0) options->plot = value;
        else if (strcmp(option, "--count") == 0) code = read_count(value, &options->count);
        else if (option[0] == '-' && option[1] != '\0') code = cli_usage("modes", "unknown option '%s'", option);
        else if (options->robot == NULL) options->robot = option;
        else code = cli_usage("modes", "too many arguments: '%s'", option);
    }
    if (code == EXIT_OK && options->robot == NULL) code = cli_usage("modes", "expected ROBOT");
    if (code == EXIT_OK && options->equilibrium && options->sweep != NULL)
        code = cli_usage("modes", "--static is of one pose: leave out --sweep");
    if (code == EXIT_OK && options->plot != NULL && options->sweep == NULL)
        code = cli_usage("modes", "--plot draws a sweep: give --sweep JOINT=a:b:n too");
    return code;
}

/* ---- modes at a state ------------------------------------------------------------------------------------------------------ */

/* Name of a moving coordinate */
static void name_of(const struct modes *modes, int moving, char name[NAME_SIZE])
{
    name_tangent(modes->mechanism->model, modes->motion.coordinate[moving], name);
}

static struct json_object *json_participation(const struct modes *modes, const struct mode *mode)
{
    struct json_object *shares = json_object_new_object();
    for (int i = 0; i < modes->motion.n; i++) {
        char name[NAME_SIZE];
        name_of(modes, i, name);
        json_object_object_add(shares, name, json_object_new_double(mode->share[i]));
    }
    return shares;
}

static int print_json(const struct modes *modes, int shown)
{
    struct json_object *out = json_object_new_object(), *frequency = json_object_new_array(),
                       *damping_ratio = json_object_new_array(), *growth = json_object_new_array(),
                       *participation = json_object_new_array(), *damped_frequency = json_object_new_array(),
                       *damped_growth = json_object_new_array();
    for (int k = 0; k < shown; k++) {
        const struct mode *mode = &modes->eigen.mode[k];
        json_object_array_add(frequency, json_object_new_double(mode->frequency));
        json_object_array_add(damping_ratio, json_object_new_double(mode->damping_ratio));
        json_object_array_add(growth, json_object_new_double(mode->growth));
        json_object_array_add(participation, json_participation(modes, mode));
        json_object_array_add(damped_frequency, json_object_new_double(modes->eigen.damped[k].frequency));
        json_object_array_add(damped_growth, json_object_new_double(modes->eigen.damped[k].growth));
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

/* The largest participations, up to three, as far as they are visible: their indices, -1 behind the last */
enum { LARGEST = 3 };

static void find_largest(int n, const double *share, int largest[LARGEST + 1])
{
    const double least = 0.01;
    for (int k = 0; k <= LARGEST; k++) largest[k] = -1;
    for (int k = 0; k < LARGEST && k < n; k++) {
        int best = -1;
        for (int i = 0; i < n; i++) {
            bool taken = false;
            for (int l = 0; l < k; l++) taken = taken || largest[l] == i;
            if (!taken && (best < 0 || share[i] > share[best])) best = i;
        }
        if (k > 0 && share[best] < least) return;
        largest[k] = best;
    }
}

static void print_share(int k, const char *name, double share)
{
    printf("%s%s %.0f %%", k > 0 ? ", " : "", name, 100 * share);
}

static void print_shares(const struct modes *modes, const struct mode *mode)
{
    int largest[LARGEST + 1];
    find_largest(modes->motion.n, mode->share, largest);
    for (int k = 0; largest[k] >= 0; k++) {
        char name[NAME_SIZE];
        name_of(modes, largest[k], name);
        print_share(k, name, mode->share[largest[k]]);
    }
}

/* A line of its own: damping may change the order */
static void print_damped(const struct modes *modes, int shown)
{
    bool damped = false;
    for (int k = 0; k < modes->eigen.n; k++)
        damped = damped || modes->eigen.damped[k].frequency != modes->eigen.mode[k].frequency ||
                 modes->eigen.damped[k].growth != modes->eigen.mode[k].growth;
    if (!damped) return;
    printf("\nwith damping [Hz]:");
    for (int k = 0; k < shown; k++) printf(" %.7g", modes->eigen.damped[k].frequency);
    printf("\n");
}

static int print_table(const struct options *options, const struct modes *modes, int shown)
{
    printf("%s, joints %s: %d mode%s", modes->mechanism->robot->name, options->joints_free ? "free" : "locked",
           modes->eigen.n, modes->eigen.n == 1 ? "" : "s");
    if (modes->eigen.n == 0) printf(": nothing is left that can move\n");
    else printf("\n\nmode  frequency [Hz]  damping ratio  moves most\n");
    for (int k = 0; k < shown; k++) {
        const struct mode *mode = &modes->eigen.mode[k];
        printf("%4d  %14.7g  %13.5g  ", k + 1, mode->frequency, mode->damping_ratio);
        print_shares(modes, mode);
        if (mode->growth != 0) printf("; %s as exp(%.5g t)", mode->growth > 0 ? "grows" : "shrinks", mode->growth);
        printf("\n");
    }
    print_damped(modes, shown);
    return EXIT_OK;
}

/* ---- modes over the position of a joint -------------------------------------------------------------------------------------- */

/* A finite number with a colon behind it; what comes after that, or NULL */
static const char *number_and_colon(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == ':' && isfinite(*number) ? end + 1 : NULL;
}

/* J, or J[k] of a joint with several coordinates */
void sweep_name(const struct joint *joint, int k, char name[NAME_SIZE])
{
    if (joint_positions(joint) > 1) snprintf(name, NAME_SIZE, "%s[%d]", joint->name, k + 1);
    else snprintf(name, NAME_SIZE, "%s", joint->name);
}

int sweep_read(const char *command, const char *text, const struct robot *robot, struct sweep_options *sweep)
{
    const char *equals = strchr(text, '=');
    const char *rest = equals != NULL ? number_and_colon(equals + 1, &sweep->from) : NULL;
    if (rest != NULL) rest = number_and_colon(rest, &sweep->to);
    if (rest == NULL || !whole_number(rest, MOST_POSES, &sweep->poses))
        return cli_usage(command, "--sweep takes JOINT=a:b:n, n poses from a to b, 1 to %d of them, not '%s'",
                         MOST_POSES, text);
    const size_t length = (size_t)(equals - text);
    for (int i = 0; i < robot->n_links; i++)
        for (int k = 0; joint_has_coordinates(&robot->link[i].joint) && k < joint_positions(&robot->link[i].joint);
             k++) {
            char name[NAME_SIZE];
            sweep_name(&robot->link[i].joint, k, name);
            sweep->link = i, sweep->k = k;
            if (strlen(name) == length && memcmp(name, text, length) == 0) return EXIT_OK;
        }
    fprintf(stderr, "limber: %s: --sweep %s: the robot has no joint '%.*s' with a coordinate", command, text,
            (int)length, text);
    fprintf(stderr, "; JOINT is a joint with one coordinate, or JOINT[1] or JOINT[2] of one with two\n");
    return EXIT_INPUT;
}

static void show_pose(void *context, int done, int poses)
{
    (void)context;
    if (done < poses) fprintf(stderr, "\rpose %d of %d", done, poses);
    else fputs("\r                              \r", stderr);
}

static int print_sweep_json(const char *joint, const struct sweep *sweep)
{
    struct json_object *out = json_object_new_object();
    json_object_object_add(out, "joint", json_object_new_string(joint));
    json_object_object_add(out, "position", json_numbers(sweep->position, sweep->poses));
    json_object_object_add(out, "frequency", json_rows(sweep->frequency, sweep->poses, sweep->n_modes));
    json_object_object_add(out, "damping_ratio", json_rows(sweep->damping_ratio, sweep->poses, sweep->n_modes));
    json_object_object_add(out, "growth", json_rows(sweep->growth, sweep->poses, sweep->n_modes));
    const int code = json_print_finite("modes", out);
    json_object_put(out);
    return code;
}

static int print_sweep_csv(const char *position, const struct sweep *sweep)
{
    struct table table = {.stream = stdout};
    char name[NAME_SIZE];
    table_name(&table, position);
    for (int k = 0; k < sweep->n_modes; k++) {
        snprintf(name, sizeof name, "f%d", k + 1);
        table_name(&table, name);
    }
    for (int p = 0; p < sweep->poses; p++)
        table_row(&table, sweep->position[p], sweep->frequency + (size_t)sweep->n_modes * (size_t)p, sweep->n_modes);
    table_end(&table);
    return EXIT_OK;
}

static int draw_sweep(const struct options *options, const struct robot *robot, const char *name, const char *unit,
                      const struct sweep *sweep)
{
    char title[NAME_SIZE], x_label[NAME_SIZE + 16];
    const int most = options->count > 0 ? sweep->n_modes : PLOTTED;
    snprintf(title, sizeof title, "%s: natural frequencies, joints %s", robot->name,
             options->joints_free ? "free" : "locked");
    snprintf(x_label, sizeof x_label, "%s [%s]", name, unit);
    const struct plot plot = {.title = title,
                              .x_label = x_label,
                              .y_label = "frequency [Hz]",
                              .curve = "f",
                              .n_points = sweep->poses,
                              .n_curves = sweep->n_modes < most ? sweep->n_modes : most,
                              .stride = sweep->n_modes,
                              .x = sweep->position,
                              .y = sweep->frequency};
    return plot_write(&plot, options->plot);
}

static int run_sweep(const struct options *options, struct modes *modes, struct state *state, struct report *report)
{
    const struct robot *robot = modes->mechanism->robot;
    struct sweep_options wanted = {.count = options->count, .given = options->at != NULL};
    if (isatty(STDERR_FILENO)) wanted.progress = show_pose;
    int code = sweep_read("modes", options->sweep, robot, &wanted);
    if (code != EXIT_OK) return code;
    struct sweep sweep;
    const struct joint *joint = &robot->link[wanted.link].joint;
    char short_name[NAME_SIZE], name[NAME_SIZE];
    sweep_name(joint, wanted.k, short_name);
    name_coordinate(modes->mechanism->model, POSITION, modes->mechanism->model->link[wanted.link].q + wanted.k, name);
    code = cli_exit_code(modes_sweep_make(modes, &wanted, state, report, &sweep));
    if (code == EXIT_OK && options->plot != NULL)
        code = draw_sweep(options, robot, name, joint_position_unit(joint, wanted.k), &sweep);
    if (code == EXIT_OK) code = options->json ? print_sweep_json(short_name, &sweep) : print_sweep_csv(name, &sweep);
    modes_sweep_free(&sweep);
    return code;
}

/* ---- the command --------------------------------------------------------------------------------------------------------------- */

static int print_modes(const struct options *options, struct modes *modes, const struct input *at,
                       struct report *report)
{
    enum status status = modes_at(modes, at, report);
    if (status == STATUS_OK) status = modes_damp(modes, report);
    if (status != STATUS_OK) return cli_exit_code(status);
    const int n = modes->eigen.n, shown = options->count > 0 && options->count < n ? options->count : n;
    return options->json ? print_json(modes, shown) : print_table(options, modes, shown);
}

static int run_state(const struct options *options, struct modes *modes, struct state *state, struct report *report)
{
    const enum status status = closure_of_state(modes->mechanism, options->at != NULL, state, report);
    return status == STATUS_OK ? print_modes(options, modes, &state->input, report) : cli_exit_code(status);
}

/* ---- with drives inside the arm -------------------------------------------------------------------------------------------------- */

static int print_driven_json(const struct linear *linear, const struct driven_modes *modes, int shown)
{
    struct json_object *out = json_object_new_object(), *frequency = json_object_new_array(),
                       *damping_ratio = json_object_new_array(), *growth = json_object_new_array(),
                       *participation = json_object_new_array();
    for (int k = 0; k < shown; k++) {
        const struct driven_mode *mode = &modes->mode[k];
        struct json_object *shares = json_object_new_object();
        for (int i = 0; i < modes->n_states; i++)
            json_object_object_add(shares, linear->x[modes->state[i]].name, json_object_new_double(mode->share[i]));
        json_object_array_add(frequency, json_object_new_double(mode->frequency));
        json_object_array_add(damping_ratio, json_object_new_double(mode->damping_ratio));
        json_object_array_add(growth, json_object_new_double(mode->growth));
        json_object_array_add(participation, shares);
    }
    json_object_object_add(out, "frequency", frequency);
    json_object_object_add(out, "damping_ratio", damping_ratio);
    json_object_object_add(out, "growth", growth);
    json_object_object_add(out, "participation", participation);
    const int code = json_print_finite("modes", out);
    json_object_put(out);
    return code;
}

static int print_driven_table(const struct options *options, const struct linear *linear,
                              const struct driven_modes *modes, int shown)
{
    printf("%s, joints %s, with drives: %d mode%s\n\nmode  frequency [Hz]  damping ratio  growth [1/s]  moves most\n",
           linear->point->mechanism->robot->name, options->joints_free ? "free" : "locked", modes->n,
           modes->n == 1 ? "" : "s");
    for (int k = 0; k < shown; k++) {
        const struct driven_mode *mode = &modes->mode[k];
        int largest[LARGEST + 1];
        printf("%4d  %14.7g  %13.5g  %12.5g  ", k + 1, mode->frequency, mode->damping_ratio, mode->growth);
        find_largest(modes->n_states, mode->share, largest);
        for (int i = 0; largest[i] >= 0; i++)
            print_share(i, linear->x[modes->state[largest[i]]].name, mode->share[largest[i]]);
        printf("\n");
    }
    return EXIT_OK;
}

static int print_driven(const struct options *options, struct operating_point *point, struct report *report)
{
    struct linear linear;
    struct driven_modes modes = {0};
    enum status status = linear_make(point, report, &linear);
    if (status == STATUS_OK) status = linear_minimal(&linear, report);
    if (status == STATUS_OK) status = driven_modes_make(&linear, options->joints_free, report, &modes);
    int code = cli_exit_code(status);
    const int shown = options->count > 0 && options->count < modes.n ? options->count : modes.n;
    if (code == EXIT_OK)
        code = options->json ? print_driven_json(&linear, &modes, shown)
                             : print_driven_table(options, &linear, &modes, shown);
    driven_modes_free(&modes);
    linear_free(&linear);
    return code;
}

/* ---- at a point of an instance: an equilibrium, or with drives ------------------------------------------------------------------ */

/* Drives of lines move passive joints, which are never locked; drives of joints are part of the motion of free ones */
static bool is_driven(const struct options *options, const struct robot *robot)
{
    for (int d = 0; d < robot->n_drives; d++)
        if (options->joints_free || robot->drive[d].actuator >= 0) return true;
    return false;
}

static int run_point(const struct options *options, struct report *report)
{
    const struct linear_options linear = {
        .robot = options->robot, .at = options->at, .equilibrium = options->equilibrium, .holding = options->holding};
    struct operating_point point = {0};
    struct arena arena = {0};
    struct modes modes;
    int code = cli_exit_code(linearization_point("modes", &linear, report, &arena, &point));
    if (code == EXIT_OK && is_driven(options, point.mechanism->robot)) {
        code = print_driven(options, &point, report);
    } else if (code == EXIT_OK) {
        code = cli_exit_code(modes_make(point.mechanism, options->joints_free, report, &modes));
        if (code == EXIT_OK) code = print_modes(options, &modes, &point.state.input, report);
        modes_free(&modes);
    }
    operating_point_free(&point);
    arena_release(&arena);
    return code;
}

int command_modes(int argc, char **argv)
{
    struct options options = {0};
    struct cli_model loaded;
    struct report report = cli_report("modes");
    int code = parse_options(argc, argv, &options);
    if (code == EXIT_OK && holding_given(&options.holding) && !options.equilibrium)
        code = cli_usage("modes", "--hold and --free are of an equilibrium: give --static too");
    if (code == EXIT_OK && options.equilibrium) return run_point(&options, &report);
    if (code == EXIT_OK) code = cli_load_model(options.robot, 0, options.at, &report, &loaded);
    if (code != EXIT_OK) return code;
    if (is_driven(&options, loaded.mechanism.robot)) {
        cli_free_model(&loaded);
        if (options.sweep != NULL)
            return cli_usage("modes", "--sweep is not provided with drives inside the arm: give the poses by --at");
        return run_point(&options, &report);
    }
    struct modes modes;
    code = cli_exit_code(modes_make(&loaded.mechanism, options.joints_free, &report, &modes));
    if (code == EXIT_OK)
        code = options.sweep != NULL ? run_sweep(&options, &modes, &loaded.state, &report)
                                     : run_state(&options, &modes, &loaded.state, &report);
    modes_free(&modes);
    cli_free_model(&loaded);
    return code;
}
