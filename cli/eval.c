/* limber eval ROBOT STATE: the equations of motion at one state, as JSON. */
#include <stdio.h>
#include <string.h>

#include "analysis/evaluation.h"
#include "cli.h"
#include "json_out.h"
#include "load.h"

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
    return EXIT_OK;
}

static struct json_object *json_frame(const struct frame_evaluation *frame)
{
    const struct frame_motion *motion = &frame->motion;
    struct json_object *json = json_object_new_object();
    json_add_numbers(json, "position", motion->p, 3);
    json_object_object_add(json, "rotation", json_rows(motion->R, 3, 3));
    json_add_numbers(json, "velocity", motion->v, 3);
    json_add_numbers(json, "angular_velocity", motion->omega, 3);
    json_add_numbers(json, "acceleration", motion->a, 3);
    if (!frame->gauge) return json;
    json_add_numbers(json, "curvature", frame->curvature, 3);
    json_object_object_add(json, "elongation", json_object_new_double(frame->elongation));
    return json;
}

static void add_frames(const struct evaluation *e, struct json_object *out)
{
    struct json_object *frames = json_object_new_object();
    for (int i = 0; i < e->n_frames; i++) json_object_object_add(frames, e->frame[i].name, json_frame(&e->frame[i]));
    json_object_object_add(out, "frames", frames);
}

/* In the order of cli.md */
static int print_evaluation(const struct evaluation *e)
{
    struct json_object *out = json_object_new_object();
    json_add_numbers(out, "qdd", e->qdd, e->n);
    json_object_object_add(out, "mass_matrix", json_rows(e->M, e->n, e->n));
    json_add_numbers(out, "bias", e->bias, e->n);
    json_object_object_add(out, "kinetic_energy", json_object_new_double(e->energy.kinetic));
    json_object_object_add(out, "potential_energy", json_object_new_double(e->energy.elastic + e->energy.gravity));
    json_add_numbers(out, "tip_position", e->tip.p, 3);
    json_object_object_add(out, "tip_rotation", json_rows(e->tip.R, 3, 3));
    json_add_numbers(out, "tip_velocity", e->tip.v, 3);
    json_add_numbers(out, "tip_angular_velocity", e->tip.omega, 3);
    json_add_numbers(out, "tip_acceleration", e->tip.a, 3);
    if (e->n_frames > 0) add_frames(e, out);
    if (e->n_prescribed > 0) json_add_numbers(out, "prescribed_tau", e->prescribed_tau, e->n_prescribed);
    if (e->n_rows > 0) {
        json_add_numbers(out, "gap", e->gap, e->n_rows);
        json_add_numbers(out, "gap_rate", e->gap_rate, e->n_rows);
        json_add_numbers(out, "lambda", e->lambda, e->n_rows);
    }
    if (e->n_actuators > 0) {
        json_add_numbers(out, "actuator_length", e->actuator_length, e->n_actuators);
        json_add_numbers(out, "actuator_rate", e->actuator_rate, e->n_actuators);
    }
    if (e->inverse != NULL) json_add_numbers(out, "inverse", e->inverse, e->n);
    const int code = json_print_finite("eval", out);
    json_object_put(out);
    return code;
}

/* Forces of drives inside the arm, from the states and inputs of drives in the STATE, in place of torques and forces */
static int take_efforts(const struct options *options, struct cli_model *loaded, struct report *report)
{
    struct arena arena = {0};
    struct instance *sim;
    int code = cli_load_sim(options->robot, true, report, &arena, &sim);
    if (code == EXIT_OK) {
        code = cli_exit_code(sim_drive_efforts(sim, &loaded->state.at, loaded->state.w != NULL));
        instance_free(sim);
    }
    arena_release(&arena);
    return code;
}

int command_eval(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_OK) return code;

    struct report report = cli_report("eval");
    struct cli_model loaded;
    struct evaluation evaluation;
    code = cli_load_model(options.robot, options.elastic_terms, options.state, &report, &loaded);
    if (code != EXIT_OK) return code;
    if (loaded.mechanism.robot->n_drives > 0) code = take_efforts(&options, &loaded, &report);
    if (code == EXIT_OK) {
        const enum status status =
            evaluation_at(&loaded.mechanism, &loaded.state, options.composite, &report, &evaluation);
        code = status == STATUS_OK ? print_evaluation(&evaluation) : cli_exit_code(status);
        evaluation_free(&evaluation);
    }
    cli_free_model(&loaded);
    return code;
}
