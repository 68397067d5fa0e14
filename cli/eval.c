/* limber eval ROBOT STATE: the equations of motion at one state, as JSON. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "load.h"
#include "state.h"

struct options {
    const char *robot, *state;
    bool composite;
    int elastic_terms; /* 0: the file's */
};

static int parse_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--json") == 0) {
            continue; /* it is JSON in any case */
        } else if (strcmp(argv[i], "--algorithm") == 0) {
            if (strcmp(next, "recursive") != 0 && strcmp(next, "composite") != 0)
                return cli_usage("eval", "--algorithm is recursive or composite, not '%s'", next);
            options->composite = strcmp(next, "composite") == 0;
            i++;
        } else if (strcmp(argv[i], "--elastic-terms") == 0) {
            options->elastic_terms = cli_elastic_terms(next);
            if (options->elastic_terms == 0)
                return cli_usage("eval", "--elastic-terms is full, linear or ruthless, not '%s'", next);
            i++;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            return cli_usage("eval", "unknown option '%s'", argv[i]);
        } else if (options->robot == NULL) {
            options->robot = argv[i];
        } else if (options->state == NULL) {
            options->state = argv[i];
        } else {
            return cli_usage("eval", "too many arguments: '%s'", argv[i]);
        }
    }
    if (options->state == NULL) return cli_usage("eval", "expected ROBOT and STATE");
    return EXIT_FINE;
}

static void describe_loops(struct cli_model *loaded, struct json_object *out)
{
    struct constraints *loops = loaded->mechanism.constraints;
    if (loops->n_rows == 0) return;
    constraints_gap(&loaded->mechanism);
    json_object_object_add(out, "gap", json_numbers(loops->gap, loops->n_rows));
    json_object_object_add(out, "gap_rate", json_numbers(loops->rate, loops->n_rows));
    json_object_object_add(out, "lambda", json_numbers(loops->lambda, loops->n_rows));
}

static void describe_actuators(struct cli_model *loaded, struct json_object *out)
{
    const int count = loaded->robot->n_actuators;
    if (count == 0) return;
    struct json_object *length = json_object_new_array(), *rate = json_object_new_array();
    actuators_measure(&loaded->mechanism);
    for (int i = 0; i < count; i++) {
        json_object_array_add(length, json_object_new_double(loaded->mechanism.actuators->line[i].length));
        json_object_array_add(rate, json_object_new_double(loaded->mechanism.actuators->line[i].rate));
    }
    json_object_object_add(out, "actuator_length", length);
    json_object_object_add(out, "actuator_rate", rate);
}

/* Adds everything that is known once qdd is, in the order of cli.md. */
static void describe(struct cli_model *loaded, const struct state *state, const double *qdd, double *force,
                     struct json_object *out)
{
    const struct model *model = loaded->mechanism.model;
    struct work *work = loaded->mechanism.work;
    const int n = model->n;
    json_object_object_add(out, "qdd", json_numbers(qdd, n));
    dyn_mass_matrix(model, work);
    json_object_object_add(out, "mass_matrix", json_rows(work->M, n, n));
    const struct input alone = {.q = state->q, .qd = state->qd},
                       in = mechanism_loaded(&loaded->mechanism, &state->input);
    dyn_inverse(model, work, &alone, NULL, force);
    json_object_object_add(out, "bias", json_numbers(force, n));

    dyn_inverse(model, work, &in, qdd, force);
    dyn_velocity(model, work, &in);
    struct energy energy;
    struct frame_motion tip;
    dyn_energy(model, work, &in, &energy);
    dyn_tip(model, work, model->tip, &tip);
    json_object_object_add(out, "kinetic_energy", json_object_new_double(energy.kinetic));
    json_object_object_add(out, "potential_energy", json_object_new_double(energy.elastic + energy.gravity));
    json_object_object_add(out, "tip_position", json_numbers(tip.p, 3));
    json_object_object_add(out, "tip_rotation", json_rows(tip.R, 3, 3));
    json_object_object_add(out, "tip_velocity", json_numbers(tip.v, 3));
    json_object_object_add(out, "tip_angular_velocity", json_numbers(tip.omega, 3));
    json_object_object_add(out, "tip_acceleration", json_numbers(tip.a, 3));
    if (model->n_prescribed > 0) {
        struct json_object *prescribed = json_object_new_array();
        for (int i = 0; i < model->n_links; i++)
            if (model->link[i].prescribed >= 0)
                json_object_array_add(prescribed, json_object_new_double(force[model->link[i].q]));
        json_object_object_add(out, "prescribed_tau", prescribed);
    }
    describe_loops(loaded, out);
    describe_actuators(loaded, out);
    if (state->qdd != NULL) {
        dyn_inverse(model, work, &state->input, state->qdd, force);
        json_object_object_add(out, "inverse", json_numbers(force, n));
    }
}

static enum status forward(struct cli_model *loaded, const struct state *state, bool composite, double *qdd)
{
    struct report report = {.line = cli_print_warning};
    const enum status status = constraints_choose(&loaded->mechanism, state->q, &report);
    if (status != STATUS_OK) return status;
    return composite ? mechanism_forward_composite(&loaded->mechanism, &state->input, qdd)
                     : mechanism_forward(&loaded->mechanism, &state->input, qdd);
}

static int evaluate(struct cli_model *loaded, const struct state *state, bool composite)
{
    struct arena scratch = {0};
    const size_t n = (size_t)loaded->mechanism.model->n;
    double *qdd = arena_take(&scratch, n, sizeof *qdd), *force = arena_take(&scratch, n, sizeof *force);
    int code = EXIT_COMPUTATION;
    const enum status status = scratch.failed ? STATUS_NO_MEMORY : forward(loaded, state, composite, qdd);
    if (status == STATUS_OK) {
        struct json_object *out = json_object_new_object();
        describe(loaded, state, qdd, force, out);
        code = json_print_finite("eval", out);
        json_object_put(out);
    } else {
        cli_not_solved("eval", &loaded->mechanism, status);
    }
    arena_release(&scratch);
    return code;
}

int command_eval(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_FINE) return code;

    struct cli_model loaded;
    code = cli_load_model(options.robot, options.elastic_terms, &loaded);
    if (code != EXIT_FINE) return code;
    struct state state;
    code = state_read(loaded.mechanism.model, options.state, &state) == 0 ? EXIT_FINE : EXIT_INPUT;
    if (code == EXIT_FINE) code = evaluate(&loaded, &state, options.composite);
    state_free(&state);
    cli_free_model(&loaded);
    return code;
}
