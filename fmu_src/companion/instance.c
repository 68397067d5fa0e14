/* An instance of a drive: the second implementation of sim/instance.h. */
#include <math.h>
#include <string.h>

#include "companion/companion.h"

struct drive_instance {
    struct instance instance; /* the states are the stepper's y                                */
    const struct drive *drive;
    double *dv; /* n_values: a direction                                           */
};

static struct drive_instance *drive_of(struct instance *instance)
{
    return (struct drive_instance *)(void *)instance;
}

static const struct drive *equations_of(const struct instance *instance)
{
    return ((const struct drive_instance *)(const void *)instance)->drive;
}

/* ---- the equations ----------------------------------------------------------------------------------------------------- */

static void put_states(const struct variables *variables, const double *y, double *v)
{
    for (int s = 0; s < variables->n_states; s++) v[variables->state[s]] = y[s];
}

/* The values at the states y and the inputs at a local time */
static enum status put_values(struct drive_instance *d, double t, const double *y)
{
    struct stepper *stepper = &d->instance.stepper;
    stepper_apply_inputs(stepper, t);
    put_states(&d->instance.variables, y, stepper->value);
    return drive_error(d->drive, stepper->value) == NULL ? STATUS_OK : STATUS_DRIVE_ERROR;
}

static enum status rhs(void *context, double t, const double *y, double *ydot)
{
    struct drive_instance *d = context;
    double *v = d->instance.stepper.value, sum = 0;
    const enum status status = put_values(d, t, y);
    if (status != STATUS_OK) return status;
    (d->drive->rates != NULL ? d->drive->rates : d->drive->evaluate)(v);
    for (int s = 0; s < d->instance.variables.n_states; s++) {
        ydot[s] = v[d->drive->n_rows + s];
        sum += fabs(ydot[s]);
    }
    return isfinite(sum) ? STATUS_OK : STATUS_NOT_FINITE;
}

static void clear_direction(struct drive_instance *d)
{
    memset(d->dv, 0, (size_t)d->instance.variables.n_values * sizeof *d->dv);
}

static enum status jacobian(void *context, double t, const double *y, double *A, double *B)
{
    struct drive_instance *d = context;
    const struct variables *variables = &d->instance.variables;
    const int n = variables->n_states;
    double *v = d->instance.stepper.value;
    (void)A; /* of first order */
    const enum status status = put_values(d, t, y);
    if (status == STATUS_OK) d->drive->evaluate(v);
    for (int j = 0; j < n && status == STATUS_OK; j++) {
        clear_direction(d);
        d->dv[variables->state[j]] = 1;
        d->drive->tangent(v, d->dv);
        memcpy(B + n * j, d->dv + d->drive->n_rows, (size_t)n * sizeof *B);
    }
    return status;
}

/* ---- values ------------------------------------------------------------------------------------------------------------ */

static enum status report_state_error(const struct instance *instance, const double *v)
{
    const char *error = drive_error(equations_of(instance), v);
    if (error == NULL) return STATUS_OK;
    report_add(instance->report, REPORT_ERROR, "at t = %.9g s: %s", instance_time(instance), error);
    return STATUS_DRIVE_ERROR;
}

static enum status update(struct instance *instance)
{
    put_states(&instance->variables, instance->stepper.y, instance->stepper.value);
    equations_of(instance)->evaluate(instance->stepper.value);
    return STATUS_OK;
}

/* Forces can be computed for inputs with which no motion is possible; importers may set such inputs before everything is connected */
static enum status check_motion(struct instance *instance)
{
    return report_state_error(instance, instance->stepper.value);
}

/* ---- initialization and steps ------------------------------------------------------------------------------------------ */

static enum status check_parameters(struct instance *instance)
{
    const struct drive *drive = equations_of(instance);
    char text[CONFLICT_SIZE];
    if (instance_check_parameters(instance) > 0) return STATUS_BAD_DRIVE;
    const char *conflict = drive_conflict(drive, instance->stepper.value, text);
    if (conflict == NULL) return STATUS_OK;
    report_add(instance->report, REPORT_ERROR, "%s: %s", drive->name, conflict);
    return STATUS_BAD_DRIVE;
}

static enum status adopt_parameters(struct instance *instance, double tolerance)
{
    return stepper_configure(&instance->stepper, tolerance);
}

static enum status initialize(struct instance *instance, const struct experiment *experiment)
{
    struct stepper *stepper = &instance->stepper;
    const enum status status = check_parameters(instance);
    if (status != STATUS_OK) return status;
    equations_of(instance)->start(stepper->value);
    for (int s = 0; s < instance->variables.n_states; s++) stepper->y[s] = stepper->value[instance->variables.state[s]];
    stepper_start(stepper, experiment->start_time);
    return adopt_parameters(instance, experiment->tolerance);
}

/* After a failed step: if the drive cannot work with the inputs at the end of the step, that is reported too */
static enum status step(struct instance *instance, double h)
{
    const struct stepper *stepper = &instance->stepper;
    const enum status status = instance_integrate(instance, h);
    if (status == STATUS_OK) return STATUS_OK;
    double *v = drive_of(instance)->dv;
    memcpy(v, stepper->value, (size_t)instance->variables.n_values * sizeof *v);
    put_states(&instance->variables, stepper->y, v);
    for (int i = 0; i < stepper->n_inputs; i++)
        v[stepper->input[i]] = step_input(&stepper->inputs, i, stepper->inputs.from + h);
    (void)report_state_error(instance, v);
    return status;
}

/* ---- derivatives ------------------------------------------------------------------------------------------------------- */

static enum status directional(struct instance *instance, int n_unknown, const int *unknown, int n_known,
                               const int *known, const double *seed, double *result)
{
    struct drive_instance *d = drive_of(instance);
    clear_direction(d);
    for (int i = 0; i < n_known; i++) d->dv[known[i]] += seed[i];
    d->drive->tangent(instance->stepper.value, d->dv);
    for (int i = 0; i < n_unknown; i++) result[i] = d->dv[unknown[i]];
    return STATUS_OK;
}

/* ---- life -------------------------------------------------------------------------------------------------------------- */

static const struct instance_ops drive_ops = {.update = update,
                                              .check_motion = check_motion,
                                              .initialize = initialize,
                                              .step = step,
                                              .directional = directional,
                                              .adopt_parameters = adopt_parameters};

static enum status build(struct drive_instance *d, const char *text)
{
    struct instance *instance = &d->instance;
    enum status status =
        companion_variables(d->drive, instance->name, text, instance->report, &instance->arena, &instance->variables);
    if (status != STATUS_OK) return status;
    const size_t values = (size_t)instance->variables.n_values;
    d->dv = arena_allocate(&instance->arena, values, sizeof(double));
    const struct ode ode = {
        .n_v = d->drive->n_states, .oscillatory = true, .context = d, .rhs = rhs, .jacobian = jacobian};
    status = instance_build(instance, &ode, text);
    if (status != STATUS_OK) return status;
    double *y = instance->stepper.y;
    for (int s = 0; s < d->drive->n_states; s++) instance->stepper.place[instance->variables.state[s]] = &y[s];
    instance_states_placed(instance);
    instance->stepper.own[0] = (struct saved_part){y, d->drive->n_states};
    instance_reset(instance);
    return STATUS_OK;
}

enum status companion_make(const struct drive *drive, const char *name, const char *text, struct report *report,
                           struct instance **made)
{
    *made = NULL;
    struct instance *instance = instance_allocate(sizeof(struct drive_instance), name, report, &drive_ops);
    if (instance == NULL) return STATUS_NO_MEMORY;
    drive_of(instance)->drive = drive;
    const enum status status = build(drive_of(instance), text);
    if (status == STATUS_OK) *made = instance;
    else instance_free(instance);
    return status;
}
