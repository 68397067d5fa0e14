#include "linear.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "load.h"

/* What a passive joint may accelerate by in an equilibrium: what q with seven digits leaves [rad/s^2 or m/s^2] */
static const double STANDS = 1e-5;

int linear_option(const char *command, int argc, char **argv, int *i, struct linear_options *options)
{
    const char *option = argv[*i];
    if (strcmp(option, "--json") == 0) return EXIT_FINE; /* it is JSON in any case */
    if (strcmp(option, "--static") == 0) {
        options->standing = true;
    } else if (strcmp(option, "--at") == 0) {
        if (*i + 1 >= argc) return cli_usage(command, "--at takes a STATE file");
        options->at = argv[++*i];
    } else if (option[0] == '-') {
        return cli_usage(command, "unknown option '%s'", option);
    } else if (options->robot == NULL) {
        options->robot = option;
    } else {
        return cli_usage(command, "too many arguments: '%s'", option);
    }
    return EXIT_FINE;
}

/* ---- the operating point ---------------------------------------------------------------------------------------------- */

/* Where the state has the value of a state or an input of the instance */
static double *place_in_state(const struct model *model, struct state *state, const struct variable *variable)
{
    const struct link_model *lm = &model->link[variable->owner];
    switch (variable->kind) {
    case KIND_Q:
    case KIND_Q_IN: return &state->q[lm->q];
    case KIND_QD:
    case KIND_QD_IN: return &state->qd[lm->q];
    case KIND_ETA: return &state->q[lm->eta + variable->k];
    case KIND_ETAD: return &state->qd[lm->eta + variable->k];
    case KIND_QDD_IN: return &state->prescribed_qdd[lm->prescribed];
    case KIND_TAU_IN: return &state->tau[lm->tau];
    case KIND_TIP_FORCE: return &state->tip_wrench[3 + variable->k];
    default: return &state->tip_wrench[variable->k]; /* KIND_TIP_TORQUE */
    }
}

static void put_state(struct linear *linear)
{
    for (int i = 0; i < linear->n_states; i++)
        sim_set(linear->sim, linear->x[i]->reference, *place_in_state(linear->model, &linear->at, linear->x[i]));
    for (int i = 0; i < linear->n_inputs; i++)
        sim_set(linear->sim, linear->u[i]->reference, *place_in_state(linear->model, &linear->at, linear->u[i]));
}

/* tau = h(q, 0) less the tip wrench's share: inverse dynamics of standing still */
static void hold(struct linear *linear)
{
    double *force = linear->qdd; /* filled anew afterwards */
    dyn_configuration(linear->model, linear->work, linear->at.q);
    dyn_inverse(linear->model, linear->work, &linear->at.input, NULL, force);
    for (int i = 0; i < linear->model->n_links; i++) {
        const struct link_model *lm = &linear->model->link[i];
        if (lm->tau >= 0 && !lm->passive && lm->prescribed < 0) linear->at.tau[lm->tau] = force[lm->q];
    }
}

/* The static equilibrium of the elastic coordinates, found as the instance finds its static start */
static int stand(struct linear *linear)
{
    const struct model *model = linear->model;
    memset(linear->at.qd, 0, (size_t)model->n * sizeof(double));
    memset(linear->at.prescribed_qdd, 0, (size_t)model->n_prescribed * sizeof(double));
    put_state(linear);
    state_to_start(&linear->at, linear->sim);
    sim_set(linear->sim, sim_variables(linear->sim)->first[KIND_START_STATIC][0], 1);
    const struct sim_experiment experiment = {0};
    if (sim_initialise(linear->sim, &experiment) != STATUS_OK) return EXIT_COMPUTATION;
    for (int i = 0; i < linear->n_states; i++)
        *place_in_state(model, &linear->at, linear->x[i]) = sim_get(linear->sim, linear->x[i]->reference);
    hold(linear);
    return EXIT_FINE;
}

/* Passive joints have nothing that holds them */
static int check_standing(const char *command, const struct linear *linear)
{
    int code = EXIT_FINE;
    for (int i = 0; i < linear->model->n_links; i++) {
        const struct link_model *lm = &linear->model->link[i];
        if (!lm->passive || lm->q < 0 || fabs(linear->qdd[lm->q]) <= STANDS) continue;
        fprintf(stderr,
                "limber: %s: --static: no equilibrium: passive joint '%s' at q = %.9g accelerates by %.3g %s; give the "
                "q at which "
                "it rests in STATE (--at)\n",
                command, linear->model->robot->link[i].joint.name, linear->at.q[lm->q], linear->qdd[lm->q],
                lm->joint == JOINT_REVOLUTE ? "rad/s^2" : "m/s^2");
        code = EXIT_COMPUTATION;
    }
    return code;
}

/* qdd there, which must be finite */
static int accelerate(const char *command, struct linear *linear)
{
    const enum status status = dyn_forward(linear->model, linear->work, &linear->at.input, linear->qdd);
    double sum = 0;
    for (int i = 0; i < linear->model->n; i++) sum += fabs(linear->qdd[i]);
    if (status == STATUS_NOT_POSITIVE) cli_not_positive(command, linear->model, linear->work);
    else if (!isfinite(sum))
        fprintf(stderr,
                "limber: %s: the accelerations are not finite: the robot's numbers are too large or too small to "
                "compute with\n",
                command);
    return status == STATUS_OK && isfinite(sum) ? EXIT_FINE : EXIT_COMPUTATION;
}

static void add_numbers(struct json_object *object, const char *key, const double *x, int count)
{
    json_object_object_add(object, key, json_numbers(x, count));
}

struct json_object *linear_operating_point(const struct linear *linear)
{
    const struct model *model = linear->model;
    const struct state *at = &linear->at;
    struct json_object *point = json_object_new_object();
    add_numbers(point, "q", at->q, model->n);
    add_numbers(point, "qd", at->qd, model->n);
    add_numbers(point, "qdd", linear->qdd, model->n);
    add_numbers(point, "tau", at->tau, model->n_joints);
    add_numbers(point, "tip_force", at->tip_wrench + 3, 3);
    add_numbers(point, "tip_torque", at->tip_wrench, 3);
    add_numbers(point, "prescribed_qdd", at->prescribed_qdd, model->n_prescribed);
    add_numbers(point, "actuator_force", at->actuator_force, model->robot->n_actuators);
    return point;
}

/* ---- the matrices --------------------------------------------------------------------------------------------------------- */

/* States, inputs, outputs of the table, and room for all */
static int number_variables(struct linear *linear)
{
    const struct variables *v = sim_variables(linear->sim);
    struct arena *arena = &linear->arena;
    const size_t values = (size_t)v->n_values, states = (size_t)v->n_states;
    linear->x = arena_take(arena, states, sizeof *linear->x);
    linear->u = arena_take(arena, values, sizeof *linear->u);
    linear->y = arena_take(arena, values, sizeof *linear->y);
    linear->qdd = arena_take(arena, (size_t)linear->model->n, sizeof(double));
    if (arena->failed) return EXIT_COMPUTATION;
    for (int s = 0; s < v->n_states; s++) linear->x[linear->n_states++] = &v->row[v->state[s]];
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        if (variable->causality == CAUSALITY_INPUT) linear->u[linear->n_inputs++] = variable;
        if (variable->causality == CAUSALITY_OUTPUT) linear->y[linear->n_outputs++] = variable;
    }
    const size_t inputs = (size_t)linear->n_inputs, outputs = (size_t)linear->n_outputs;
    linear->A = arena_take(arena, states * states, sizeof(double));
    linear->B = arena_take(arena, states * inputs, sizeof(double));
    linear->C = arena_take(arena, outputs * states, sizeof(double));
    linear->D = arena_take(arena, outputs * inputs, sizeof(double));
    return arena->failed || work_make(linear->model, &linear->work) != STATUS_OK ? EXIT_COMPUTATION : EXIT_FINE;
}

/* Column j of (A; C), or of (B; D): what a unit of one state, of one input, does to derivatives and outputs */
static enum status take_column(struct linear *linear, const struct variable *known, const int *unknown, double *change,
                               double *derivatives, double *outputs, int stride)
{
    const double one = 1;
    const int n = linear->n_states;
    const enum status status =
        sim_directional(linear->sim, n + linear->n_outputs, unknown, 1, &known->reference, &one, change);
    for (int i = 0; i < n && status == STATUS_OK; i++) derivatives[(size_t)stride * (size_t)i] = change[i];
    for (int i = 0; i < linear->n_outputs && status == STATUS_OK; i++)
        outputs[(size_t)stride * (size_t)i] = change[n + i];
    return status;
}

static int differentiate(const char *command, struct linear *linear)
{
    const struct variables *v = sim_variables(linear->sim);
    const int n = linear->n_states, m = linear->n_inputs;
    const size_t count = (size_t)n + (size_t)linear->n_outputs;
    int *unknown = arena_take(&linear->arena, count, sizeof *unknown);
    double *change = arena_take(&linear->arena, count, sizeof *change);
    enum status status = linear->arena.failed ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        for (int i = 0; i < n; i++) unknown[i] = v->row[v->derivative[i]].reference;
        for (int i = 0; i < linear->n_outputs; i++) unknown[n + i] = linear->y[i]->reference;
    }
    for (int j = 0; j < n && status == STATUS_OK; j++)
        status = take_column(linear, linear->x[j], unknown, change, linear->A + j, linear->C + j, n);
    for (int j = 0; j < m && status == STATUS_OK; j++)
        status = take_column(linear, linear->u[j], unknown, change, linear->B + j, linear->D + j, m);
    if (status == STATUS_OK) return EXIT_FINE;
    if (linear->report.errors == 0) fprintf(stderr, "limber: %s: %s\n", command, status_text(status));
    return EXIT_COMPUTATION;
}

int linear_make(const char *command, const struct linear_options *options, struct linear *linear)
{
    memset(linear, 0, sizeof *linear);
    linear->report.line = cli_print_error;
    int code = cli_load_sim(options->robot, NULL, &linear->report, &linear->arena, &linear->sim);
    if (code != EXIT_FINE) return code;
    linear->model = sim_model(linear->sim);
    code = number_variables(linear);
    if (code != EXIT_FINE) {
        fprintf(stderr, "limber: %s: %s\n", command, status_text(STATUS_NO_MEMORY));
        return code;
    }
    if (state_read(linear->model, options->at, &linear->at) != 0) return EXIT_INPUT;
    if (options->standing) code = stand(linear);
    if (code == EXIT_FINE) code = accelerate(command, linear);
    if (code == EXIT_FINE && options->standing) code = check_standing(command, linear);
    if (code != EXIT_FINE) return code;
    put_state(linear);
    return differentiate(command, linear);
}

void linear_free(struct linear *linear)
{
    state_free(&linear->at);
    work_free(linear->work);
    sim_free(linear->sim);
    arena_release(&linear->arena);
}
