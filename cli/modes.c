/* limber modes ROBOT: natural frequencies, damping ratios and what moves, at a state or over the position of a joint. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/closure.h"
#include "analysis/modes.h"
#include "analysis/names.h"
#include "cli.h"
#include "instance.h"
#include "json_out.h"
#include "linearization.h"
#include "load.h"
#include "plot.h"
#include "sweep.h"

enum { MOST_POSES = 1000000, PLOTTED = 6 };

struct options {
    struct common common;
    const char *sweep, *plot;
    int count; /* most modes to print; 0: all */
};

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_AT("state file (-: standard input) instead of the robot's start"),
    {"--static", NULL, OPTION_FLAG, TO_COMMON(equilibrium), .excludes = "--sweep", .reason = "is about one pose",
     .help = STATIC_HELP},
    OPTIONS_HOLDING(OF_AN_EQUILIBRIUM),
    OPTION_JOINTS("locked (default): driven joints keep position and velocity; free: they move without torque, or as "
                  "their drives inside the arm move them. Passive joints always move, prescribed ones never."),
    {"--sweep", "JOINT=a:b:n", OPTION_TEXT, TO(sweep),
     .help = "n poses of a joint from a to b [rad or m], the rest as in the state: CSV of frequencies; loops follow to "
             "every pose from the robot's start; JOINT[k] is coordinate k of two"},
    {"--plot", "FILE.svg", OPTION_RESULT, TO(plot), .needs = "--sweep", .reason = "draws a sweep",
     .help = "plot of the sweep: the first --count modes, or six"},
    {"--count", "N", OPTION_WHOLE, TO(count), .least = 1, .help = "only the first N modes"},
    OPTION_JSON("JSON instead of a table or CSV"),
    OPTION_OUTPUT,
    {"frequency [Hz], growth [1/s]",
     .help = "of the undamped motion, without damping and friction, with gravity, velocities, prescribed motion and "
             "tip wrench. A mode without restoring force has frequency 0 and the growth r of exp(r t)."},
    {"damping_ratio",
     .help = "phi'D phi/(2 w phi'M phi), D with the derivative of friction at the state's velocities; 0 for w = 0"},
    {"damped_frequency, damped_growth", .help = "of the motion with damping and friction, by rising frequency. Strong "
                                                "damping changes the order of the modes."},
    {"participation", .help = "|phi_i|^2 M_ii of each coordinate as a fraction of the sum: the kinetic energy of each "
                              "coordinate if it moved alone"},
    {0}};

static const char details[] =
    "Small motions about the state as if forces held it (accelerations zero, those of prescribed joints as given). A "
    "closed robot has one mode for each independent motion that its loops leave. Joints of loops that a state leaves "
    "open follow from the robot's start to the state.\n"
    "With drives inside the arm that move (those of lines, and those of joints that are free): modes of the linearized "
    "robot with its drives and its damping, eigenvalues of A of `limber linearize`; participation of each state: left "
    "times right eigenvector, as a fraction of the sum.";

static bool joints_are_free(const struct options *options)
{
    return options->common.joints == JOINTS_FREE;
}

/* What is printed: modes, and the coordinates or states that have the shares */
struct listing {
    const struct mode *mode, *damped; /* damped: NULL: with drives, the modes have damping themselves */
    int n, n_shares;
    const char *(*name_of)(const void *context, int i, char buffer[NAME_SIZE]); /* perhaps in the buffer */
    const void *context;
};

static struct json_object *json_shares(const struct listing *list, const double *share)
{
    struct json_object *shares = json_object_new_object();
    char buffer[NAME_SIZE];
    for (int i = 0; i < list->n_shares; i++) json_add_number(shares, list->name_of(list->context, i, buffer), share[i]);
    return shares;
}

/* The largest participations, up to three, as far as they are visible */
static void print_shares(const struct listing *list, const double *share)
{
    enum { LARGEST = 3 };
    const int n = list->n_shares;
    const double least = 0.01;
    int largest[LARGEST];
    char buffer[NAME_SIZE];
    for (int k = 0; k < LARGEST && k < n; k++) {
        int best = -1;
        for (int i = 0; i < n; i++) {
            bool taken = false;
            for (int l = 0; l < k; l++) taken = taken || largest[l] == i;
            if (!taken && (best < 0 || share[i] > share[best])) best = i;
        }
        if (k > 0 && share[best] < least) return;
        largest[k] = best;
        printf("%s%s %.0f %%", k > 0 ? ", " : "", list->name_of(list->context, best, buffer), 100 * share[best]);
    }
}

/* An object of lists: one value of each key for every mode that is shown */
static int print_json(const struct listing *list, int shown)
{
    enum { KEYS = 6 };
    static const char *const keys[KEYS] = {"frequency",     "damping_ratio",    "growth",
                                           "participation", "damped_frequency", "damped_growth"};
    struct json_object *out = json_object_new_object();
    for (int key = 0; key < (list->damped != NULL ? KEYS : 4); key++) {
        struct json_object *values = json_object_new_array();
        for (int k = 0; k < shown; k++) {
            const struct mode *mode = &list->mode[k], *damped = list->damped != NULL ? &list->damped[k] : mode;
            const double number[KEYS] = {mode->frequency,   mode->damping_ratio, mode->growth, 0,
                                         damped->frequency, damped->growth};
            json_object_array_add(values,
                                  key == 3 ? json_shares(list, mode->share) : json_object_new_double(number[key]));
        }
        json_add(out, keys[key], values);
    }
    return json_print_finite("modes", out);
}

/* Damped frequencies have a line of their own: damping may change the order */
static int print_table(const struct options *options, const char *robot, const struct listing *list, int shown)
{
    const bool drives = list->damped == NULL;
    bool damped = false;
    printf("%s, joints %s%s: %d mode%s", robot, joints_are_free(options) ? "free" : "locked",
           drives ? ", with drives" : "", list->n, list->n == 1 ? "" : "s");
    if (list->n == 0 && !drives) printf(": nothing is left that can move\n");
    else printf("\n\nmode  frequency [Hz]  damping ratio  %smoves most\n", drives ? "growth [1/s]  " : "");
    for (int k = 0; k < shown; k++) {
        const struct mode *mode = &list->mode[k];
        printf("%4d  %14.7g  %13.5g  ", k + 1, mode->frequency, mode->damping_ratio);
        if (drives) printf("%12.5g  ", mode->growth);
        print_shares(list, mode->share);
        if (!drives && mode->growth != 0)
            printf("; %s as exp(%.5g t)", mode->growth > 0 ? "grows" : "shrinks", mode->growth);
        printf("\n");
    }
    for (int k = 0; k < list->n && !drives; k++)
        damped = damped || list->damped[k].frequency != list->mode[k].frequency ||
                 list->damped[k].growth != list->mode[k].growth;
    if (damped) printf("\nwith damping [Hz]:");
    for (int k = 0; k < shown && damped; k++) printf(" %.7g", list->damped[k].frequency);
    if (damped) printf("\n");
    return EXIT_OK;
}

static int print_modes(const struct options *options, const char *robot, const struct listing *list)
{
    const int shown = options->count > 0 && options->count < list->n ? options->count : list->n;
    return options->common.json ? print_json(list, shown) : print_table(options, robot, list, shown);
}

/* ---- modes over the position of a joint -------------------------------------------------------------------------------------- */

/* Reads a finite number and the colon after it. Returns the text after the colon; NULL: there is no such number. */
static const char *number_and_colon(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == ':' && isfinite(*number) ? end + 1 : NULL;
}

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
    if (rest == NULL || !options_whole_number(rest, 1, MOST_POSES, &sweep->poses))
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
    fprintf(stderr,
            "limber: %s: --sweep %s: the robot has no joint '%.*s' with a coordinate; JOINT is a joint with one "
            "coordinate, or JOINT[1] or JOINT[2] of one with two\n",
            command, text, (int)length, text);
    return EXIT_INPUT;
}

struct plot sweep_plot(const struct sweep *sweep, int most, const char *title, const char *x_label)
{
    return (struct plot){.title = title,
                         .x_label = x_label,
                         .y_label = "frequency [Hz]",
                         .curve = "f",
                         .n_points = sweep->poses,
                         .n_curves = sweep->n_modes < most ? sweep->n_modes : most,
                         .stride = sweep->n_modes,
                         .x = sweep->position,
                         .y = sweep->frequency};
}

/* JSON with the name of the joint, or CSV with that of its position */
static int print_sweep(bool json, const char *joint, const char *position, const struct sweep *sweep)
{
    struct table table = {.stream = stdout};
    char name[NAME_SIZE];
    if (json) {
        struct json_object *out = json_object_new_object();
        json_add_text(out, "joint", joint);
        json_add_numbers(out, "position", sweep->position, sweep->poses);
        json_add(out, "frequency", json_rows(sweep->frequency, sweep->poses, sweep->n_modes));
        json_add(out, "damping_ratio", json_rows(sweep->damping_ratio, sweep->poses, sweep->n_modes));
        json_add(out, "growth", json_rows(sweep->growth, sweep->poses, sweep->n_modes));
        return json_print_finite("modes", out);
    }
    cli_table_name(&table, position);
    for (int k = 0; k < sweep->n_modes; k++) {
        snprintf(name, sizeof name, "f%d", k + 1);
        cli_table_name(&table, name);
    }
    for (int p = 0; p < sweep->poses; p++)
        cli_table_row(&table, sweep->position[p], sweep->frequency + (size_t)sweep->n_modes * (size_t)p,
                      sweep->n_modes);
    cli_table_end(&table);
    return EXIT_OK;
}

static int run_sweep(const struct options *options, struct modes *modes, struct state *state, struct report *report)
{
    const struct robot *robot = modes->mechanism->robot;
    const struct model *model = modes->mechanism->model;
    struct sweep_options wanted = {.count = options->count, .given = options->common.at != NULL};
    int code = sweep_read("modes", options->sweep, robot, &wanted);
    if (code != EXIT_OK) return code;
    struct sweep sweep;
    const struct joint *joint = &robot->link[wanted.link].joint;
    char short_name[NAME_SIZE], name[NAME_SIZE], title[NAME_SIZE], x_label[NAME_SIZE + 16];
    sweep_name(joint, wanted.k, short_name);
    name_coordinate(model, POSITION, model->link[wanted.link].q + wanted.k, name);
    report->progress = cli_progress_show;
    code = cli_exit_code(modes_sweep_make(modes, &wanted, state, report, &sweep));
    cli_progress_end();
    if (code == EXIT_OK && options->plot != NULL) {
        snprintf(title, sizeof title, "%s: natural frequencies, joints %s", robot->name,
                 joints_are_free(options) ? "free" : "locked");
        snprintf(x_label, sizeof x_label, "%s [%s]", name, joint_position_unit(joint, wanted.k));
        const struct plot plot = sweep_plot(&sweep, options->count > 0 ? sweep.n_modes : PLOTTED, title, x_label);
        code = plot_write(&plot, options->plot);
    }
    if (code == EXIT_OK) code = print_sweep(options->common.json, short_name, name, &sweep);
    return code;
}

/* ---- with drives inside the arm -------------------------------------------------------------------------------------------------- */

struct linear_modes {
    struct linear linear;
    struct driven_modes modes;
};

static const char *state_name(const void *context, int i, char buffer[NAME_SIZE])
{
    const struct linear_modes *l = context;
    (void)buffer;
    return l->linear.x[l->modes.state[i]].name;
}

static int run_linear(const struct options *options, struct operating_point *point, struct report *report)
{
    struct linear_modes l;
    enum status status = linear_make(point, report, &l.linear);
    if (status == STATUS_OK) status = linear_minimal(&l.linear, report);
    if (status == STATUS_OK) status = modes_driven_make(&l.linear, joints_are_free(options), report, &l.modes);
    if (status != STATUS_OK) return cli_exit_code(status);
    const struct listing list = {l.modes.mode, NULL, l.modes.n, l.modes.n_states, state_name, &l};
    return print_modes(options, point->mechanism->robot->name, &list);
}

bool modes_with_drives(const struct robot *robot, bool joints_free)
{
    for (int d = 0; d < robot->n_drives; d++)
        if (joints_free || robot->drive[d].line >= 0) return true;
    return false;
}

/* ---- the command --------------------------------------------------------------------------------------------------------------- */

static const char *coordinate_name(const void *context, int i, char buffer[NAME_SIZE])
{
    const struct modes *modes = context;
    name_coordinate(modes->mechanism->model, TANGENT, modes->motion.coordinate[i], buffer);
    return buffer;
}

/* Modes at the state, which is closed first unless it is an equilibrium, or over the poses of a sweep */
static int run_modes(const struct options *options, struct mechanism *mechanism, struct state *state,
                     struct report *report)
{
    struct modes modes;
    enum status status = modes_make(mechanism, joints_are_free(options), report, &modes);
    int code = cli_exit_code(status);
    if (status == STATUS_OK && options->sweep != NULL) {
        code = run_sweep(options, &modes, state, report);
    } else if (status == STATUS_OK) {
        if (!options->common.equilibrium)
            status = closure_of_state(mechanism, options->common.at != NULL, state, report);
        if (status == STATUS_OK) status = modes_at(&modes, &state->input, report);
        if (status == STATUS_OK) status = modes_damp(&modes, report);
        const struct listing list = {modes.eigen.mode, modes.eigen.damped, modes.eigen.n,
                                     modes.motion.n,   coordinate_name,    &modes};
        code = status == STATUS_OK ? print_modes(options, mechanism->robot->name, &list) : cli_exit_code(status);
    }
    modes_free(&modes);
    return code;
}

/* At a point of an instance: an equilibrium, or with drives */
static int run_point(const struct options *options, struct report *report)
{
    struct operating_point point;
    int code = cli_exit_code(linearization_point(&options->common, report, &point));
    if (code == EXIT_OK)
        code = modes_with_drives(point.mechanism->robot, joints_are_free(options))
                   ? run_linear(options, &point, report)
                   : run_modes(options, point.mechanism, &point.state, report);
    operating_point_free(&point);
    return code;
}

static int run(const void *given, struct report *report)
{
    const struct options *options = given;
    struct cli_model loaded;
    if (options->common.equilibrium) return run_point(options, report);
    int code = cli_load_model(&options->common, report, &loaded);
    if (code != EXIT_OK) return code;
    const bool drives = modes_with_drives(loaded.robot, joints_are_free(options));
    if (!drives) code = run_modes(options, &loaded.mechanism, &loaded.state, report);
    cli_free_model(&loaded);
    if (drives && options->sweep != NULL)
        return cli_usage("modes", "--sweep is not provided with drives inside the arm: give the poses by --at");
    return drives ? run_point(options, report) : code;
}

const struct command command_modes = {
    .name = "modes",
    .summary =
        "natural frequencies, damping ratios and participation of coordinates, at a state or over a joint's position",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .run = run};
