#include "sim/instance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------------------------------------ */

struct instance *instance_allocate(size_t size, const char *name, struct report *report, const struct instance_ops *ops)
{
    struct arena arena = {0};
    struct instance *instance = arena_allocate(&arena, 1, size);
    const char *own_name = arena_string(&arena, name);
    if (arena.failed) {
        arena_release(&arena);
        return NULL;
    }
    instance->ops = ops;
    instance->name = own_name;
    instance->report = report;
    instance->arena = arena;
    return instance;
}

enum status instance_build(struct instance *instance, const struct ode *ode, const char *text)
{
    struct stepper *stepper = &instance->stepper;
    const struct variables *v = &instance->variables;
    stepper->variables = v;
    stepper->report = instance->report;
    variables_guid(v, text, instance->guid);
    const enum status status = stepper_make(stepper, ode, &instance->arena);
    if (status != STATUS_OK) return status;
    const size_t states = (size_t)v->n_states, moving = states + (size_t)stepper->n_inputs;
    instance->block = arena_allocate(&instance->arena, states, sizeof *instance->block);
    instance->moving = arena_allocate(&instance->arena, moving, sizeof *instance->moving);
    instance->rate = arena_allocate(&instance->arena, moving, sizeof *instance->rate);
    if (instance->arena.failed) return STATUS_NO_MEMORY;
    for (int s = 0; s < v->n_states; s++) instance->moving[s] = v->row[v->state[s]].reference;
    for (int i = 0; i < stepper->n_inputs; i++) instance->moving[v->n_states + i] = stepper->input[i];
    return STATUS_OK;
}

void instance_free(struct instance *instance)
{
    if (instance == NULL) return;
    integrator_free(instance->stepper.integrator);
    if (instance->ops->release != NULL) instance->ops->release(instance);
    struct arena arena = instance->arena; /* the instance is in it */
    arena_release(&arena);
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

static const struct variable *variable_of(const struct instance *instance, int reference)
{
    return instance->variables.by_reference[reference];
}

enum status instance_update(struct instance *instance)
{
    struct stepper *stepper = &instance->stepper;
    if (stepper->up_to_date) return STATUS_OK;
    const enum status status = instance->ops->update(instance);
    stepper->up_to_date = status == STATUS_OK;
    return status;
}

void instance_set(struct instance *instance, int reference, double value)
{
    const struct variable *variable = variable_of(instance, reference);
    struct stepper *stepper = &instance->stepper;
    *stepper->place[reference] = value;
    stepper->up_to_date = false;
    if (variable->variability == VARIABILITY_TUNABLE) instance->ops->tune(instance, variable, value);
    if (variable->state >= 0 || variable->variability == VARIABILITY_TUNABLE) stepper->restart = true;
}

const char *instance_parameter_error(const struct instance *instance, int reference, double value)
{
    return limit_error(variable_of(instance, reference)->limit, value);
}

int instance_check_parameters(struct instance *instance)
{
    int errors = 0;
    for (int r = 0; r < instance->variables.n_values; r++) {
        const struct variable *variable = variable_of(instance, r);
        const double value = instance->stepper.value[r];
        if (variable->causality != CAUSALITY_PARAMETER) continue;
        const char *error = limit_error(variable->limit, value);
        if (error == NULL) continue;
        const bool has_unit = variable->unit != NULL && strcmp(variable->unit, "1") != 0;
        report_add(instance->report, REPORT_ERROR, "%s = %.9g%s%s: %s", variable->name, value, has_unit ? " " : "",
                   has_unit ? variable->unit : "", error);
        errors++;
    }
    if (errors == 0)
        errors = solver_report_conflicts(&instance->variables, instance->stepper.value, "", instance->report);
    return errors;
}

/* ---- initialization and steps ---------------------------------------------------------------------------------------------- */

bool instance_acts_on_start(const struct instance *instance, int reference)
{
    const struct instance_ops *ops = instance->ops;
    return ops->acts_on_start == NULL || ops->acts_on_start(instance, variable_of(instance, reference));
}

enum status instance_integrate(struct instance *instance, double h)
{
    instance_get_states(instance, instance->stepper.y);
    const enum status status = stepper_step(&instance->stepper, h);
    instance_scatter(instance, instance->stepper.y);
    return status;
}

const char *instance_reason(const struct instance *instance, enum status status, char text[REASON_SIZE])
{
    if (instance->ops->reason != NULL) return instance->ops->reason(instance, status, text);
    snprintf(text, REASON_SIZE, "%s", status_text(status));
    return text;
}

void instance_set_input_rate(struct instance *instance, int reference, double rate)
{
    instance->stepper.given[instance->stepper.input_number[reference]] = rate;
}

void instance_statistics(const struct instance *instance, struct integrator_statistics *statistics)
{
    memset(statistics, 0, sizeof *statistics);
    if (instance->stepper.integrator != NULL) integrator_statistics(instance->stepper.integrator, statistics);
}

/* ---- model exchange -------------------------------------------------------------------------------------------------------- */

void instance_set_time(struct instance *instance, double time)
{
    instance->stepper.local = time - instance->stepper.start_time;
    instance->stepper.carry = 0;
    stepper_interrupt(&instance->stepper);
}

void instance_states_placed(struct instance *instance)
{
    instance->n_blocks = 0;
    for (int s = 0; s < instance->variables.n_states; s++) {
        struct state_block *last = &instance->block[instance->n_blocks - (instance->n_blocks > 0)];
        double *place = instance_state(instance, s);
        if (instance->n_blocks > 0 && last->at + last->count == place) last->count++;
        else instance->block[instance->n_blocks++] = (struct state_block){place, 1};
    }
}

/* A drive keeps its states in the y that is gathered: memmove */
void instance_get_states(const struct instance *instance, double *y)
{
    for (int b = 0; b < instance->n_blocks; y += instance->block[b++].count)
        memmove(y, instance->block[b].at, (size_t)instance->block[b].count * sizeof *y);
}

void instance_scatter(struct instance *instance, const double *y)
{
    for (int b = 0; b < instance->n_blocks; y += instance->block[b++].count)
        memmove(instance->block[b].at, y, (size_t)instance->block[b].count * sizeof *y);
}

void instance_set_states(struct instance *instance, const double *x)
{
    instance_scatter(instance, x);
    stepper_interrupt(&instance->stepper);
}

/* Up to date, and motion is possible there */
static enum status update_motion(struct instance *instance)
{
    const enum status status = instance_update(instance);
    const bool check = status == STATUS_OK && instance->ops->check_motion != NULL;
    return check ? instance->ops->check_motion(instance) : status;
}

enum status instance_get_derivatives(struct instance *instance, double *dx)
{
    const struct variables *v = &instance->variables;
    const enum status status = update_motion(instance);
    double sum = 0;
    for (int s = 0; s < v->n_states; s++) {
        dx[s] = instance->stepper.value[v->row[v->derivative[s]].reference];
        sum += fabs(dx[s]);
    }
    return status == STATUS_OK && !isfinite(sum) ? STATUS_NOT_FINITE : status;
}

void instance_accept(struct instance *instance)
{
    const struct stepper *stepper = &instance->stepper;
    if (stepper->ode.accepted == NULL) return;
    instance_get_states(instance, stepper->y);
    stepper->ode.accepted(stepper->ode.context, stepper->local, stepper->y);
}

/* ---- derivatives ----------------------------------------------------------------------------------------------------------- */

enum status instance_directional(struct instance *instance, int n_unknown, const int *unknown, int n_known,
                                 const int *known, const double *seed, double *result)
{
    const enum status status = update_motion(instance);
    if (status != STATUS_OK) return status;
    return instance->ops->directional(instance, n_unknown, unknown, n_known, known, seed, result);
}

enum status instance_start_directional(struct instance *instance, int n_unknown, const int *unknown, int n_known,
                                       const int *known, const double *seed, double *result)
{
    const enum status status = update_motion(instance);
    if (status != STATUS_OK) return status;
    if (instance->ops->start_directional != NULL)
        return instance->ops->start_directional(instance, n_unknown, unknown, n_known, known, seed, result);
    for (int i = 0; i < n_known; i++) {
        const struct variable *variable = variable_of(instance, known[i]);
        if (variable->variability == VARIABILITY_TUNABLE || !instance_acts_on_start(instance, known[i])) continue;
        report_add(instance->report, REPORT_ERROR, "%s: acts on the start, whose derivatives are not provided",
                   variable->name);
        return STATUS_NO_DERIVATIVE;
    }
    return instance->ops->directional(instance, n_unknown, unknown, n_known, known, seed, result);
}

/* The direction of time: states by their derivatives, inputs by their rates over the last step */
enum status instance_output_rate(struct instance *instance, int reference, double *rate)
{
    const struct stepper *stepper = &instance->stepper;
    const int n_states = instance->variables.n_states, n_inputs = stepper->n_inputs;
    const enum status status = instance_get_derivatives(instance, instance->rate);
    if (status != STATUS_OK) return status;
    for (int i = 0; i < n_inputs; i++)
        instance->rate[n_states + i] = stepper_input_rate(&stepper->inputs, i, stepper->local);
    return instance_directional(instance, 1, &reference, n_states + n_inputs, instance->moving, instance->rate, rate);
}

/* ---- saved state ----------------------------------------------------------------------------------------------------------- */

void instance_save(struct instance *instance, unsigned char *bytes)
{
    if (instance->ops->before_save != NULL) instance->ops->before_save(instance);
    stepper_save(&instance->stepper, bytes);
}

enum status instance_restore(struct instance *instance, const unsigned char *bytes, bool initialized)
{
    double tolerance;
    enum status status = stepper_restore(&instance->stepper, bytes, &tolerance);
    if (status != STATUS_OK) {
        report_add(instance->report, REPORT_ERROR, "the saved state is damaged: a time or tolerance is not finite");
        return status;
    }
    if (instance->ops->after_restore != NULL) instance->ops->after_restore(instance);
    if (!initialized) return STATUS_OK;
    if (instance_check_parameters(instance) > 0) return STATUS_BAD_INPUT;
    status = instance->ops->adopt_parameters(instance, tolerance);
    struct stepper *stepper = &instance->stepper;
    if (status == STATUS_OK && stepper->integrator != NULL)
        integrator_resume(stepper->integrator, stepper->local, stepper->memory);
    return status;
}
