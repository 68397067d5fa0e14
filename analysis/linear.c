#include "analysis/linear.h"

#include <string.h>

#include "analysis/failure.h"
#include "robot/nearest.h"

/* Coordinates whose positions and velocities are states: all that are not prescribed */
static void number_coordinates(const struct model *model, int *coordinate)
{
    int count = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q >= 0 && lm->prescribed < 0) coordinate[count++] = lm->q;
        for (int k = 0; k < lm->m; k++) coordinate[count++] = lm->eta + k;
    }
}

/* States, inputs and outputs of the instance, and room for the matrices */
static enum status number_variables(struct linear *linear)
{
    const struct variables *v = instance_variables(linear->point->sim);
    struct arena *arena = &linear->arena;
    const size_t values = (size_t)v->n_values, states = (size_t)v->n_states;
    linear->x = arena_take(arena, states, sizeof *linear->x);
    linear->u = arena_take(arena, values, sizeof *linear->u);
    linear->y = arena_take(arena, values, sizeof *linear->y);
    linear->coordinate = arena_take(arena, (size_t)linear->point->mechanism->model->n, sizeof(int));
    if (arena->failed) return STATUS_NO_MEMORY;
    number_coordinates(linear->point->mechanism->model, linear->coordinate);
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
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Column j of (A; C), or of (B; D): derivatives of state derivatives and outputs by one state, by one input */
static enum status take_column(struct linear *linear, const struct variable *known, const int *unknown, double *change,
                               double *derivatives, double *outputs, int stride)
{
    const double one = 1;
    const int n = linear->n_states;
    const enum status status =
        instance_directional(linear->point->sim, n + linear->n_outputs, unknown, 1, &known->reference, &one, change);
    for (int i = 0; i < n && status == STATUS_OK; i++) derivatives[(size_t)stride * (size_t)i] = change[i];
    for (int i = 0; i < linear->n_outputs && status == STATUS_OK; i++)
        outputs[(size_t)stride * (size_t)i] = change[n + i];
    return status;
}

static enum status differentiate(struct linear *linear)
{
    const struct variables *v = instance_variables(linear->point->sim);
    const int n = linear->n_states, m = linear->n_inputs;
    const size_t count = (size_t)n + (size_t)linear->n_outputs;
    int *unknown = arena_take(&linear->arena, count, sizeof *unknown);
    double *change = arena_take(&linear->arena, count, sizeof *change);
    if (linear->arena.failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < n; i++) unknown[i] = v->row[v->derivative[i]].reference;
    for (int i = 0; i < linear->n_outputs; i++) unknown[n + i] = linear->y[i]->reference;
    enum status status = STATUS_OK;
    for (int j = 0; j < n && status == STATUS_OK; j++)
        status = take_column(linear, linear->x[j], unknown, change, linear->A + j, linear->C + j, n);
    for (int j = 0; j < m && status == STATUS_OK; j++)
        status = take_column(linear, linear->u[j], unknown, change, linear->B + j, linear->D + j, m);
    return status;
}

enum status linear_make(struct operating_point *point, struct report *report, struct linear *linear)
{
    memset(linear, 0, sizeof *linear);
    linear->point = point;
    enum status status = number_variables(linear);
    if (status == STATUS_OK) status = differentiate(linear);
    return report_failure(report, point->mechanism, status);
}

void linear_free(struct linear *linear)
{
    arena_release(&linear->arena);
}

/* ---- names ------------------------------------------------------------------------------------------------------------------------ */

static int find(const char *role, const char *name, const struct variable *const *variable, int count,
                struct report *report)
{
    struct arena scratch = {0};
    const char **names = arena_take(&scratch, (size_t)count, sizeof *names);
    int found = -1;
    for (int i = 0; i < count && names != NULL; i++) {
        names[i] = variable[i]->name;
        if (strcmp(name, names[i]) == 0) found = i;
    }
    if (found < 0) {
        const char *meant = names != NULL ? nearest(name, count, names) : NULL;
        if (meant != NULL)
            report_add(report, REPORT_ERROR, "this robot has no %s '%s', did you mean '%s'?", role, name, meant);
        else report_add(report, REPORT_ERROR, "this robot has no %s '%s'; `limber linearize` lists them", role, name);
    }
    arena_release(&scratch);
    return found;
}

int linear_find_input(const struct linear *linear, const char *name, struct report *report)
{
    return find("input", name, linear->u, linear->n_inputs, report);
}

int linear_find_output(const struct linear *linear, const char *name, struct report *report)
{
    return find("output", name, linear->y, linear->n_outputs, report);
}
