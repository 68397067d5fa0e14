/* limber eval ROBOT STATE: the equations of motion at one state, as JSON. */
#include "analysis/evaluation.h"
#include "cli.h"
#include "json_out.h"
#include "load.h"

enum { RECURSIVE = 1, COMPOSITE };

struct options {
    struct common common;
    int algorithm;
};

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_STATE(
        "a JSON file (-: standard input) with q, qd, tau, tip_force, tip_torque, frame_wrench, prescribed_qdd, "
        "actuator_force, all optional. Defaults are the robot's start (q, qd) and zero (the rest)."),
    {"--algorithm", "recursive|composite", OPTION_CHOICE, TO(algorithm),
     .help = "how qdd is computed (default: recursive)"},
    OPTION_ELASTIC_TERMS,
    OPTION_JSON_ALWAYS,
    OPTION_OUTPUT,
    {0}};

static const char details[] =
    "q and qd are arrays, or objects with FMU variable names as keys: {\"q\": {\"j1.q\": 0.6, \"two.eta[1]\": 0.01}}. "
    "frame_wrench has frames of the robot as keys: {\"F\": [fx, fy, fz, tx, ty, tz]}. If the STATE has qdd, the result "
    "also has `inverse`: M qdd + h minus the contributions of wrenches and actuator forces.";

static struct json_object *json_frames(const struct robot *robot, const struct evaluation *e)
{
    struct json_object *frames = json_object_new_object();
    for (int i = 0; i < robot->n_frames; i++) {
        const struct frame_evaluation *frame = &e->frame[i];
        struct json_object *json = json_object_new_object();
        json_add_numbers(json, "position", frame->motion.p, 3);
        json_add(json, "rotation", json_rows(frame->motion.R, 3, 3));
        json_add_numbers(json, "velocity", frame->motion.v, 3);
        json_add_numbers(json, "angular_velocity", frame->motion.omega, 3);
        json_add_numbers(json, "acceleration", frame->motion.a, 3);
        if (robot->frame[i].gauge) json_add_numbers(json, "curvature", frame->curvature, 3);
        if (robot->frame[i].gauge) json_add_number(json, "elongation", frame->elongation);
        json_add(frames, robot->frame[i].name, json);
    }
    return frames;
}

static struct json_object *json_couplings(const struct robot *robot, const struct evaluation *e)
{
    struct json_object *couplings = json_object_new_object();
    for (int i = 0; i < robot->n_couplings; i++) {
        struct json_object *json = json_object_new_object();
        json_add_number(json, "force", e->coupling_force[i]);
        json_add(couplings, robot->coupling[i].name, json);
    }
    return couplings;
}

/* In the order of cli.md */
static int print_evaluation(const struct robot *robot, const struct evaluation *e)
{
    struct json_object *out = json_object_new_object();
    json_add_numbers(out, "qdd", e->qdd, e->n);
    json_add(out, "mass_matrix", json_rows(e->M, e->n, e->n));
    json_add_numbers(out, "bias", e->bias, e->n);
    json_add_number(out, "kinetic_energy", e->energy.kinetic);
    json_add_number(out, "potential_energy", e->energy.elastic + e->energy.gravity);
    json_add_numbers(out, "tip_position", e->tip.p, 3);
    json_add(out, "tip_rotation", json_rows(e->tip.R, 3, 3));
    json_add_numbers(out, "tip_velocity", e->tip.v, 3);
    json_add_numbers(out, "tip_angular_velocity", e->tip.omega, 3);
    json_add_numbers(out, "tip_acceleration", e->tip.a, 3);
    if (robot->n_frames > 0) json_add(out, "frames", json_frames(robot, e));
    if (e->n_prescribed > 0) json_add_numbers(out, "prescribed_tau", e->prescribed_tau, e->n_prescribed);
    if (e->n_rows > 0) {
        json_add_numbers(out, "gap", e->gap, e->n_rows);
        json_add_numbers(out, "gap_rate", e->gap_rate, e->n_rows);
        json_add_numbers(out, "lambda", e->lambda, e->n_rows);
    }
    if (robot->n_couplings > 0) json_add(out, "couplings", json_couplings(robot, e));
    if (robot->n_lines > 0) {
        json_add_numbers(out, "actuator_length", e->line_length, robot->n_lines);
        json_add_numbers(out, "actuator_rate", e->line_rate, robot->n_lines);
    }
    if (e->inverse != NULL) json_add_numbers(out, "inverse", e->inverse, e->n);
    return json_print_finite("eval", out);
}

static int run(const void *given, struct cli_model *loaded, struct report *report)
{
    const struct options *options = given;
    struct evaluation evaluation;
    enum status status = evaluation_drives(&loaded->mechanism, &loaded->state, report);
    if (status != STATUS_OK) return cli_exit_code(status);
    status = evaluation_at(&loaded->mechanism, &loaded->state, options->algorithm == COMPOSITE, report, &evaluation);
    const int code = status == STATUS_OK ? print_evaluation(loaded->robot, &evaluation) : cli_exit_code(status);
    arena_release(&evaluation.arena);
    return code;
}

const struct command command_eval = {
    .name = "eval",
    .summary = "evaluates one state: accelerations, mass matrix, bias, energies, tip, frames; prints JSON",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .run_model = run};
