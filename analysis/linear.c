#include "analysis/linear.h"

#include <string.h>

#include "analysis/failure.h"
#include "analysis/names.h"
#include "math/quaternion.h"
#include "math/vec.h"
#include "robot/nearest.h"

/* ---- states --------------------------------------------------------------------------------------------------------------------- */

/* A tangent of q as a seed on positions of the FMU: one of them, or the four of a quaternion. */
struct position_seed {
    int count;
    int reference[4];
    double seed[4];
};

/* Seeds of all tangents of the positions among the states, and the velocities that they belong to. That of a quaternion is
   1/2 quaternion o (0, e_k) on its four components. */
static void seed_positions(const struct linear *linear, struct position_seed *seed)
{
    const struct variables *v = instance_variables(linear->point->sim);
    const struct model *model = linear->point->mechanism->model;
    int count = 0, state = 0; /* tangents, positions among the states */
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const int moving = free_velocities(lm), quaternion = joint_quaternion(&model->robot->link[i].joint);
        const int plain = quaternion < 0 ? moving : quaternion;
        for (int k = 0; k < moving + lm->m; k++, count++) {
            struct position_seed *s = &seed[count];
            linear->coordinate[count] = (k < moving ? lm->v : lm->eta_v - moving) + k;
            if (k >= plain && k < moving) {
                const double rotation[3] = {k == plain, k == plain + 1, k == plain + 2};
                s->count = 4;
                for (int c = 0; c < 4; c++) s->reference[c] = v->row[v->state[state + c]].reference;
                quaternion_rate(linear->point->state.at.q + lm->q + quaternion, rotation, s->seed);
            } else {
                *s = (struct position_seed){1, {v->row[v->state[state++]].reference}, {1}};
            }
            if (quaternion >= 0 && k == moving - 1) state += 4;
        }
    }
}

/* A tangent has the unit of its position, or rad if that is a quaternion */
static enum status name_states(struct linear *linear)
{
    const struct variables *v = instance_variables(linear->point->sim);
    const struct model *model = linear->point->mechanism->model;
    const int n = linear->n_positions, rates = linear->n_states - n;
    for (int i = 0; i < n; i++) {
        char name[NAME_SIZE];
        name_coordinate(model, TANGENT, linear->coordinate[i], name);
        const int row = variables_find(v, name);
        linear->x[i] = (struct signal){arena_string(&linear->point->arena, name), row >= 0 ? v->row[row].unit : "rad",
                                       -1, row >= 0 ? v->row[row].nominal : 1};
    }
    for (int i = 0; i < rates; i++) {
        const struct variable *rate = &v->row[v->state[v->n_states - rates + i]];
        linear->x[n + i] = (struct signal){rate->name, rate->unit, -1, rate->nominal};
    }
    return linear->point->arena.failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Inputs and outputs of the instance, and memory for states and matrices */
static enum status number_variables(struct linear *linear)
{
    const struct variables *v = instance_variables(linear->point->sim);
    const struct model *model = linear->point->mechanism->model;
    struct arena *arena = &linear->point->arena;
    for (int i = 0; i < model->n_links; i++) linear->n_positions += free_velocities(&model->link[i]) + model->link[i].m;
    linear->n_states = 2 * linear->n_positions + robot_drive_states(model->robot);
    const size_t values = (size_t)v->n_values, states = (size_t)linear->n_states;
    linear->x = arena_allocate(arena, states, sizeof *linear->x);
    linear->u = arena_allocate(arena, values, sizeof *linear->u);
    linear->y = arena_allocate(arena, values, sizeof *linear->y);
    linear->coordinate = arena_allocate(arena, states, sizeof(int));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        const struct signal signal = {variable->name, variable->unit, r, 0};
        if (variable->causality == CAUSALITY_INPUT) linear->u[linear->n_inputs++] = signal;
        if (variable->causality == CAUSALITY_OUTPUT) linear->y[linear->n_outputs++] = signal;
    }
    const size_t inputs = (size_t)linear->n_inputs, outputs = (size_t)linear->n_outputs;
    arena_arrays(arena, states * states, ARRAYS(&linear->A));
    arena_arrays(arena, states * inputs, ARRAYS(&linear->B));
    arena_arrays(arena, outputs * states, ARRAYS(&linear->C));
    arena_arrays(arena, outputs * inputs, ARRAYS(&linear->D));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- matrices ------------------------------------------------------------------------------------------------------------------- */

/* The variables that are differentiated: rates of the states that are not positions, then outputs */
struct unknowns {
    int count;
    int *reference;
    double *change;
};

/* Column j of (A; C), or of (B; D): the rows of A and B below those of the positions */
static enum status compute_column(struct linear *linear, const struct position_seed *known,
                                  const struct unknowns *unknown, double *derivatives, double *outputs, int stride)
{
    const int n = linear->n_positions, rates = linear->n_states - n;
    const enum status status = instance_directional(linear->point->sim, unknown->count, unknown->reference,
                                                    known->count, known->reference, known->seed, unknown->change);
    if (status != STATUS_OK) return status;
    for (int i = 0; i < rates; i++) derivatives[(size_t)stride * (size_t)(n + i)] = unknown->change[i];
    for (int i = 0; i < linear->n_outputs; i++) outputs[(size_t)stride * (size_t)i] = unknown->change[rates + i];
    return STATUS_OK;
}

/* d(dx)/dt = dv; of a quaternion, with quaternion0 fixed, d(dtheta)/dt = domega - 1/2 omega x dtheta                      (66) */
static void differentiate_positions(struct linear *linear)
{
    const struct model *model = linear->point->mechanism->model;
    const int n = linear->n_positions, N = linear->n_states;
    for (int i = 0; i < n; i++) linear->A[N * i + n + i] = 1;
    for (int i = 0; i < n; i++) {
        const int link = name_velocity_link(model, linear->coordinate[i]);
        const int first = model->link[link].v + joint_omega(&model->robot->link[link].joint);
        if (joint_omega(&model->robot->link[link].joint) < 0 || linear->coordinate[i] != first) continue;
        const double *omega = linear->point->state.at.qd + first;
        double cross[9];
        skew3(omega, cross);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) linear->A[N * (i + r) + i + c] = -0.5 * cross[3 * r + c];
    }
}

enum status linear_make(struct operating_point *point, struct report *report, struct linear *linear)
{
    memset(linear, 0, sizeof *linear);
    linear->point = point;
    enum status status = number_variables(linear);
    if (status != STATUS_OK) return failure_report(report, point->mechanism, status);
    const struct variables *v = instance_variables(point->sim);
    const int n = linear->n_positions, N = linear->n_states, rates = N - n, m = linear->n_inputs;
    const int first = v->n_states - rates; /* velocities and states of drives follow the positions */
    const size_t count = (size_t)(rates + linear->n_outputs);
    struct unknowns unknown = {.count = (int)count,
                               .reference = arena_allocate(&linear->point->arena, count, sizeof(int)),
                               .change = arena_allocate(&linear->point->arena, count, sizeof(double))};
    struct position_seed *position = arena_allocate(&linear->point->arena, (size_t)n, sizeof *position);
    if (linear->point->arena.failed) return failure_report(report, point->mechanism, STATUS_NO_MEMORY);
    for (int i = 0; i < rates; i++) unknown.reference[i] = v->row[v->derivative[first + i]].reference;
    for (int i = 0; i < linear->n_outputs; i++) unknown.reference[rates + i] = linear->y[i].reference;
    seed_positions(linear, position);
    differentiate_positions(linear);
    status = name_states(linear);
    for (int j = 0; j < N && status == STATUS_OK; j++) {
        const struct position_seed velocity = {1, {v->row[v->state[j < n ? 0 : first + j - n]].reference}, {1}};
        status = compute_column(linear, j < n ? &position[j] : &velocity, &unknown, linear->A + j, linear->C + j, N);
    }
    for (int j = 0; j < m && status == STATUS_OK; j++) {
        const struct position_seed input = {1, {linear->u[j].reference}, {1}};
        status = compute_column(linear, &input, &unknown, linear->B + j, linear->D + j, m);
    }
    return failure_report(report, point->mechanism, status);
}

/* ---- names ------------------------------------------------------------------------------------------------------------------------ */

static int find(const char *role, const char *name, const struct signal *signal, int count, struct report *report)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, signal[i].name) == 0) return i;
    struct arena scratch = {0};
    const char **names = arena_allocate(&scratch, (size_t)count, sizeof *names);
    for (int i = 0; i < count && names != NULL; i++) names[i] = signal[i].name;
    const char *meant = names != NULL ? nearest(name, count, names) : NULL;
    if (meant != NULL)
        report_add(report, REPORT_ERROR, "this robot has no %s '%s', did you mean '%s'?", role, name, meant);
    else report_add(report, REPORT_ERROR, "this robot has no %s '%s'; `limber linearize` lists them", role, name);
    arena_release(&scratch);
    return -1;
}

int linear_find_input(const struct linear *linear, const char *name, struct report *report)
{
    return find("input", name, linear->u, linear->n_inputs, report);
}

int linear_find_output(const struct linear *linear, const char *name, struct report *report)
{
    return find("output", name, linear->y, linear->n_outputs, report);
}
