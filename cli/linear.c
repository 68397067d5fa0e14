#include "linear.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "actuated.h"
#include "cli.h"
#include "closed.h"
#include "independent.h"
#include "json_out.h"

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

static void put_state(struct linear *linear)
{
    for (int i = 0; i < linear->n_states; i++)
        instance_set(linear->sim, linear->x[i]->reference, *state_place(linear->model, &linear->at, linear->x[i]));
    for (int i = 0; i < linear->n_inputs; i++)
        instance_set(linear->sim, linear->u[i]->reference, *state_place(linear->model, &linear->at, linear->u[i]));
}

/* h(q, 0) less the shares of tip wrench and actuators: inverse dynamics of standing still */
static int standing_forces(const char *command, struct linear *linear, double *force)
{
    struct cli_model *own = &linear->own;
    struct input in;
    dyn_configuration(own->mechanism.model, own->mechanism.work, linear->at.q);
    const enum status status = actuators_apply(&own->mechanism, &linear->at.input, &in);
    if (status != STATUS_OK) {
        cli_not_solved(command, &own->mechanism, status);
        return EXIT_COMPUTATION;
    }
    dyn_inverse(own->mechanism.model, own->mechanism.work, &in, NULL, force);
    dyn_velocity(own->mechanism.model, own->mechanism.work, &in);
    return EXIT_FINE;
}

/* tau = what is left of them when the loops have their share */
static int hold(const char *command, struct linear *linear)
{
    double *force = linear->qdd; /* filled anew afterwards */
    int code = standing_forces(command, linear, force);
    if (code == EXIT_FINE) code = closed_forces(command, &linear->own, false, force);
    for (int i = 0; i < linear->model->n_links && code == EXIT_FINE; i++) {
        const struct link_model *lm = &linear->model->link[i];
        if (lm->tau >= 0 && !lm->passive && lm->prescribed < 0) linear->at.tau[lm->tau] = force[lm->q];
    }
    return code;
}

/* The static equilibrium of the elastic coordinates, found as the instance finds its static start */
static int bend(struct linear *linear)
{
    state_to_start(&linear->at, linear->sim);
    instance_set(linear->sim, instance_variables(linear->sim)->start_static, 1);
    const struct experiment experiment = {0};
    if (instance_initialize(linear->sim, &experiment) != STATUS_OK) return EXIT_COMPUTATION;
    for (int i = 0; i < linear->n_states; i++)
        *state_place(linear->model, &linear->at, linear->x[i]) = instance_get(linear->sim, linear->x[i]->reference);
    return EXIT_FINE;
}

static double norm(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Are the actuators to hold passive joints? Not where STATE says what they give, nor in loops, with which these joints move */
static bool actuators_hold(const struct linear *linear)
{
    const int n_actuators = linear->model->robot->n_actuators;
    return linear->own.mechanism.constraints->n_rows == 0 && n_actuators > 0 &&
           norm(n_actuators, linear->at.actuator_force) == 0;
}

/* F that leaves passive joints no force, and the elastic coordinates that go with it: links bent by the forces turn their lines, a
   little, and so do these again. What they cannot hold stays, for check_standing() to see. */
static int hold_by_actuators(const char *command, struct linear *linear)
{
    enum { MOST_ITERATIONS = 200 };
    const int n_actuators = linear->model->robot->n_actuators;
    double *F = linear->at.actuator_force, *dF = arena_take(&linear->arena, (size_t)n_actuators, sizeof *dF);
    int code = dF != NULL ? EXIT_FINE : EXIT_COMPUTATION;
    for (int i = 0; i < MOST_ITERATIONS && code == EXIT_FINE; i++) {
        code = standing_forces(command, linear, linear->qdd);
        if (code == EXIT_FINE) code = actuated_forces(command, &linear->own, linear->qdd, dF);
        if (code != EXIT_FINE || norm(n_actuators, dF) <= 1e-13 * norm(n_actuators, F)) break;
        for (int a = 0; a < n_actuators; a++) F[a] += dF[a];
        code = bend(linear);
    }
    return code;
}

static int stand(const char *command, struct linear *linear)
{
    const struct model *model = linear->model;
    memset(linear->at.qd, 0, (size_t)model->n * sizeof(double));
    memset(linear->at.prescribed_qdd, 0, (size_t)model->n_prescribed * sizeof(double));
    linear->actuators_hold = actuators_hold(linear);
    int code = bend(linear);
    if (code == EXIT_FINE && linear->actuators_hold) code = hold_by_actuators(command, linear);
    return code == EXIT_FINE ? hold(command, linear) : code;
}

/* The instance chooses its equations anew at this state */
static int start_closed(const char *command, struct linear *linear)
{
    const struct experiment experiment = {0};
    if (linear->own.mechanism.constraints->n_rows == 0) return EXIT_FINE;
    state_to_start(&linear->at, linear->sim);
    instance_set(linear->sim, instance_variables(linear->sim)->start_static, 0);
    const enum status status = instance_initialize(linear->sim, &experiment);
    if (status == STATUS_OK) return EXIT_FINE;
    if (linear->report.errors == 0) fprintf(stderr, "limber: %s: %s\n", command, status_text(status));
    return EXIT_COMPUTATION;
}

/* Passive joints have nothing that holds them but actuators */
static int check_standing(const char *command, const struct linear *linear)
{
    int code = EXIT_FINE;
    for (int i = 0; i < linear->model->n_links; i++) {
        const struct link_model *lm = &linear->model->link[i];
        if (!lm->passive || lm->q < 0 || fabs(linear->qdd[lm->q]) <= STANDS) continue;
        fprintf(
            stderr,
            "limber: %s: --static: no equilibrium: passive joint '%s' at q = %.9g accelerates by %.3g %s%s; give the "
            "q at which it rests in STATE (--at)\n",
            command, linear->model->robot->link[i].joint.name, linear->at.q[lm->q], linear->qdd[lm->q],
            lm->joint == JOINT_REVOLUTE ? "rad/s^2" : "m/s^2",
            linear->actuators_hold ? ", no forces of the actuators hold it" : "");
        code = EXIT_COMPUTATION;
    }
    return code;
}

/* qdd there, which must be finite */
static int accelerate(const char *command, struct linear *linear)
{
    struct cli_model *own = &linear->own;
    struct report silent = {0}; /* redundant equations are for `limber check` */
    enum status status = constraints_choose(&own->mechanism, linear->at.q, &silent);
    if (status == STATUS_OK) status = mechanism_forward(&own->mechanism, &linear->at.input, linear->qdd);
    double sum = 0;
    for (int i = 0; i < linear->model->n; i++) sum += fabs(linear->qdd[i]);
    if (status != STATUS_OK) cli_not_solved(command, &own->mechanism, status);
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
    const struct variables *v = instance_variables(linear->sim);
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
    linear->robot = *sim_robot(linear->sim);
    linear->robot.arena = (struct arena){0}; /* what it points to belongs to the instance */
    return arena->failed ? EXIT_COMPUTATION : EXIT_FINE;
}

/* Column j of (A; C), or of (B; D): what a unit of one state, of one input, does to derivatives and outputs */
static enum status take_column(struct linear *linear, const struct variable *known, const int *unknown, double *change,
                               double *derivatives, double *outputs, int stride)
{
    const double one = 1;
    const int n = linear->n_states;
    const enum status status =
        instance_directional(linear->sim, n + linear->n_outputs, unknown, 1, &known->reference, &one, change);
    for (int i = 0; i < n && status == STATUS_OK; i++) derivatives[(size_t)stride * (size_t)i] = change[i];
    for (int i = 0; i < linear->n_outputs && status == STATUS_OK; i++)
        outputs[(size_t)stride * (size_t)i] = change[n + i];
    return status;
}

static int differentiate(const char *command, struct linear *linear)
{
    const struct variables *v = instance_variables(linear->sim);
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
    code = cli_make_model(options->robot, &linear->robot, &linear->own);
    if (code != EXIT_FINE) return code;
    if (state_read(linear->model, options->at, &linear->at) != 0) return EXIT_INPUT;
    code = closed_state(command, &linear->own, options->at != NULL, &linear->at);
    if (code == EXIT_FINE && options->standing) code = stand(command, linear);
    if (code == EXIT_FINE) code = start_closed(command, linear);
    if (code == EXIT_FINE) code = accelerate(command, linear);
    if (code == EXIT_FINE && options->standing) code = check_standing(command, linear);
    if (code != EXIT_FINE) return code;
    put_state(linear);
    return differentiate(command, linear);
}

/* ---- minimal coordinates of a closed robot -------------------------------------------------------------------------------- */

int linear_coordinate(const struct linear *linear, int i)
{
    bool velocity;
    return variable_coordinate(linear->x[i], linear->model, &velocity);
}

/* dq = N dy: all coordinates by those that the loops leave free, prescribed joints among these */
struct freedom {
    int n;         /* free coordinates */
    int *free_one; /* n                */
    double *N;     /* model's n x n    */
};

static bool find_freedom(struct linear *linear, struct freedom *f)
{
    const struct constraints *loops = linear->own.mechanism.constraints;
    struct arena *arena = &linear->arena;
    const size_t n = (size_t)linear->model->n, k = (size_t)loops->n_kept;
    double *G = arena_take(arena, n * k, sizeof *G);
    enum solve_for *wish = arena_take(arena, n, sizeof *wish);
    int *row_of = arena_take(arena, n, sizeof *row_of);
    f->n = linear->model->n - loops->n_kept;
    f->free_one = arena_take(arena, n, sizeof(int));
    f->N = arena_take(arena, n * n, sizeof(double));
    if (arena->failed) return false;
    memcpy(G, loops->G, n * k * sizeof *G);
    for (size_t i = 0; i < n; i++) wish[i] = SOLVE_IF_NEEDED;
    for (int i = 0; i < linear->model->n_links; i++) {
        const struct link_model *lm = &linear->model->link[i];
        if (lm->q >= 0 && lm->prescribed >= 0) wish[lm->q] = SOLVE_NEVER;
        else if (lm->q >= 0 && lm->passive) wish[lm->q] = SOLVE_FIRST;
    }
    return independent_coordinates((int)n, (int)k, G, wish, row_of, f->free_one, f->N);
}

/* Which free coordinate a state or an input is the position, or the rate, of; -1: of none */
static int free_of(const struct linear *linear, const struct freedom *f, const struct variable *variable, bool *rate)
{
    const int coordinate = variable_coordinate(variable, linear->model, rate);
    if (coordinate < 0) return -1;
    for (int c = 0; c < f->n; c++)
        if (f->free_one[c] == coordinate) return c;
    return -1;
}

/* What all states together do to a row of A or C while a free coordinate, or its rate, changes; input: without its own part,
   which is in B or D */
static double along(const struct linear *linear, const struct freedom *f, const double *row, int c, bool rate)
{
    const int half = linear->n_states / 2;
    double sum = 0;
    for (int i = 0; i < half; i++) sum += row[rate ? half + i : i] * f->N[f->n * linear_coordinate(linear, i) + c];
    return sum;
}

/* A row of (A B) or (C D) in minimal coordinates; `state` has the states that are left */
static void reduce_row(const struct linear *linear, const struct freedom *f, const double *row, const double *by_input,
                       int count, const int *state, double *out, double *out_input)
{
    bool rate;
    for (int j = 0; j < count; j++) {
        const int c = free_of(linear, f, linear->x[state[j]], &rate);
        out[j] = along(linear, f, row, c, rate);
    }
    for (int j = 0; j < linear->n_inputs; j++) {
        const int c = free_of(linear, f, linear->u[j], &rate);
        out_input[j] = by_input[j] + (c >= 0 ? along(linear, f, row, c, rate) : 0);
    }
}

/* Columns of N that belong to states */
static bool take_basis(struct linear *linear, const struct freedom *f)
{
    const int half = linear->n_states / 2;
    bool rate;
    linear->basis = arena_take(&linear->arena, (size_t)linear->model->n * (size_t)half, sizeof(double));
    for (int j = 0; j < half && linear->basis != NULL; j++) {
        const int c = free_of(linear, f, linear->x[j], &rate);
        for (int i = 0; i < linear->model->n; i++) linear->basis[half * i + j] = f->N[f->n * i + c];
    }
    return linear->basis != NULL;
}

static bool reduce(struct linear *linear, const struct freedom *f)
{
    const size_t n = (size_t)linear->n_states, m = (size_t)linear->n_inputs, p = (size_t)linear->n_outputs;
    struct arena *arena = &linear->arena;
    int *state = arena_take(arena, n, sizeof *state), count = 0;
    double *A = arena_take(arena, n * n, sizeof *A), *B = arena_take(arena, n * m, sizeof *B),
           *C = arena_take(arena, p * n, sizeof *C), *D = arena_take(arena, p * m, sizeof *D);
    bool rate;
    if (arena->failed) return false;
    for (int i = 0; i < linear->n_states; i++)
        if (free_of(linear, f, linear->x[i], &rate) >= 0) state[count++] = i;
    const size_t left = (size_t)count;
    for (size_t i = 0; i < left; i++) {
        const size_t from = (size_t)state[i];
        reduce_row(linear, f, linear->A + n * from, linear->B + m * from, count, state, A + left * i, B + m * i);
    }
    for (size_t i = 0; i < p; i++)
        reduce_row(linear, f, linear->C + n * i, linear->D + m * i, count, state, C + left * i, D + m * i);
    for (int i = 0; i < count; i++) linear->x[i] = linear->x[state[i]];
    linear->n_states = count;
    linear->A = A, linear->B = B, linear->C = C, linear->D = D;
    return take_basis(linear, f);
}

int linear_minimal(const char *command, struct linear *linear)
{
    struct freedom freedom;
    if (linear->own.mechanism.constraints->n_kept == 0) return EXIT_FINE;
    if (find_freedom(linear, &freedom) && reduce(linear, &freedom)) return EXIT_FINE;
    const enum status status = linear->arena.failed ? STATUS_NO_MEMORY : STATUS_SINGULAR_LOOP;
    fprintf(stderr, "limber: %s: %s\n", command, status_text(status));
    return EXIT_COMPUTATION;
}

void linear_free(struct linear *linear)
{
    state_free(&linear->at);
    cli_free_model(&linear->own);
    instance_free(linear->sim);
    arena_release(&linear->arena);
}
