#include "sim/stepper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ode/automatic.h"

/* A change of the inputs is a jump, and restarts the integrator, where it moves the right-hand side by more than this multiple
   of the error tolerance over the next step; the error test handles smaller changes (bench/integration.py). */
static const double JUMP = 10;

/* Inputs that differ by less, relative to their size, are continuous */
static const double ROUNDING = 1e-12;

/* ---- life ------------------------------------------------------------------------------------------------------------------ */

/* The number of the input that is the time derivative of input i; -1: none */
static int derivative_input(const struct stepper *stepper, int i)
{
    const int reference = stepper->variables->by_reference[stepper->input[i]]->rate;
    return reference >= 0 ? stepper->input_number[reference] : -1;
}

/* Numbers the inputs. Where first and second derivative of one are inputs too, the three are one motion. */
static void number_inputs(struct stepper *stepper)
{
    const struct variables *v = stepper->variables;
    for (int r = 0; r < v->n_values; r++) {
        const bool is_input = v->by_reference[r]->causality == CAUSALITY_INPUT;
        stepper->input_number[r] = is_input ? stepper->n_inputs : -1;
        if (is_input) stepper->input[stepper->n_inputs++] = r;
    }
    for (int i = 0; i < stepper->n_inputs; i++) stepper->derivative[i] = -1;
    for (int i = 0; i < stepper->n_inputs; i++) {
        const int first = derivative_input(stepper, i), second = first >= 0 ? derivative_input(stepper, first) : -1;
        if (second < 0) continue;
        stepper->derivative[i] = first;
        stepper->derivative[first] = second;
    }
    stepper->inputs.reference = stepper->input;
    stepper->inputs.derivative = stepper->derivative;
}

enum status stepper_make(struct stepper *stepper, const struct ode *ode, struct arena *arena)
{
    const struct variables *v = stepper->variables;
    const size_t values = (size_t)v->n_values, states = (size_t)v->n_states;
    stepper->place = arena_allocate(arena, values, sizeof *stepper->place);
    stepper->input = arena_allocate(arena, values, sizeof(int));
    stepper->input_number = arena_allocate(arena, values, sizeof(int));
    stepper->derivative = arena_allocate(arena, values, sizeof(int));
    arena_arrays(arena, states, ARRAYS(&stepper->y, &stepper->ydot, &stepper->nominal));
    arena_arrays(arena, values, ARRAYS(&stepper->value, &stepper->inputs.u, &stepper->inputs.rate, &stepper->given));
    if (arena->failed) return STATUS_NO_MEMORY;

    for (int r = 0; r < v->n_values; r++) stepper->place[r] = &stepper->value[r];
    number_inputs(stepper);
    for (int s = 0; s < v->n_states; s++) stepper->nominal[s] = v->row[v->state[s]].nominal;
    stepper->ode = *ode;
    if (ode_states(ode) == 0) return STATUS_OK;
    const enum status status = automatic_make(&stepper->ode, &stepper->integrator);
    if (status != STATUS_OK) return status;
    stepper->n_memory = integrator_memory_size(stepper->integrator);
    stepper->memory = arena_allocate(arena, (size_t)stepper->n_memory, sizeof(double));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* The present value */
static double *present(const struct stepper *stepper, int i)
{
    return stepper->place[stepper->input[i]];
}

/* The inputs are the present values, constant */
static void take_inputs(struct stepper *stepper)
{
    stepper->inputs.curve = NULL;
    stepper->inputs.from = stepper->local;
    for (int i = 0; i < stepper->n_inputs; i++) {
        stepper->inputs.u[i] = *present(stepper, i);
        stepper->inputs.rate[i] = 0;
    }
}

/* Rates are given for one step */
static void clear_given(struct stepper *stepper)
{
    for (int i = 0; i < stepper->n_inputs; i++) stepper->given[i] = NAN;
}

void stepper_reset(struct stepper *stepper)
{
    const struct variables *v = stepper->variables;
    for (int i = 0; i < OWN_PARTS; i++)
        if (stepper->own[i].count > 0)
            memset(stepper->own[i].numbers, 0, (size_t)stepper->own[i].count * sizeof(double));
    for (int r = 0; r < v->n_values; r++) stepper->value[r] = *stepper->place[r] = v->by_reference[r]->start;
    stepper->start_time = stepper->local = stepper->carry = 0;
    take_inputs(stepper);
    clear_given(stepper);
    stepper_interrupt(stepper);
    if (stepper->integrator != NULL) integrator_reset(stepper->integrator);
}

void stepper_interrupt(struct stepper *stepper)
{
    stepper->up_to_date = false;
    stepper->restart = true;
}

/* ---- start ----------------------------------------------------------------------------------------------------------------- */

enum status stepper_configure(struct stepper *stepper, double importer_tolerance)
{
    struct integrator_options options = solver_options(stepper->variables, stepper->value);
    const double own = options.relative_tolerance;
    stepper->tolerance = own > 0 ? own : importer_tolerance > 0 ? importer_tolerance : 1e-6;
    if (stepper->integrator == NULL) return STATUS_OK;
    options.relative_tolerance = stepper->tolerance;
    options.nominal = stepper->nominal;
    return integrator_configure(stepper->integrator, &options);
}

/* ---- inputs ---------------------------------------------------------------------------------------------------------------- */

double stepper_input_series(const struct step_inputs *inputs, int i, double t)
{
    const double s = t - inputs->from;
    double u = inputs->u[i], term = s; /* s^k / k! */
    int highest = i;
    for (int k = 2; inputs->derivative[highest] >= 0; k++) {
        highest = inputs->derivative[highest];
        u += inputs->u[highest] * term;
        term *= s / k;
    }
    return u + inputs->rate[highest] * term;
}

double stepper_input_rate(const struct step_inputs *inputs, int i, double t)
{
    return inputs->derivative[i] >= 0 ? step_input(inputs, inputs->derivative[i], t) : inputs->rate[i];
}

void stepper_apply_inputs(struct stepper *stepper, double t)
{
    const struct step_inputs *inputs = &stepper->inputs;
    for (int i = 0; stepper->moving && i < stepper->n_inputs; i++) *present(stepper, i) = step_input(inputs, i, t);
}

/* An input whose time derivative alone is also an input is extrapolated with it, unless a rate was given (0 included) */
static double next_rate(const struct stepper *stepper, int i)
{
    const int derivative = derivative_input(stepper, i);
    if (stepper->derivative[i] >= 0) return 0;
    return !isnan(stepper->given[i]) ? stepper->given[i] : derivative >= 0 ? *present(stepper, derivative) : 0;
}

/* The present values become those of the curve, if there is one */
static void follow_curve(struct stepper *stepper)
{
    const struct input_curve *curve = stepper->curve;
    for (int i = 0; curve != NULL && i < stepper->n_inputs; i++)
        if (curve->place[stepper->input[i]] >= 0)
            curve->at(curve->context, stepper->input[i], stepper->local, present(stepper, i));
}

/* How the inputs of a step differ from those of the last one, continued to the present time. */
struct change {
    bool any, values; /* also if only input derivatives do; values jump */
};

/* From here on the inputs are those of the curve, or begin at the present values and have their rates */
static struct change begin_inputs(struct stepper *stepper)
{
    struct step_inputs *inputs = &stepper->inputs;
    struct change change = {false, false};
    follow_curve(stepper);
    for (int i = 0; i < stepper->n_inputs; i++) {
        const double u = *present(stepper, i), expected = step_input(inputs, i, stepper->local);
        change.any = change.any || u != expected || next_rate(stepper, i) != inputs->rate[i];
        change.values = change.values || !(fabs(u - expected) <= ROUNDING * (fabs(u) + fabs(expected)));
    }
    take_inputs(stepper);
    inputs->curve = stepper->curve;
    stepper->moving = stepper->ode.driven = inputs->curve != NULL;
    for (int i = 0; i < stepper->n_inputs; i++) {
        inputs->rate[i] = next_rate(stepper, i);
        stepper->ode.driven |= inputs->rate[i] != 0;
        stepper->moving |= inputs->rate[i] != 0 || stepper->derivative[i] >= 0;
    }
    clear_given(stepper);
    return change;
}

/* The present values are those of the curve at the start, or those that were set */
void stepper_start(struct stepper *stepper, double start_time)
{
    stepper->start_time = start_time;
    stepper->local = stepper->carry = 0;
    stepper->first_step = 0;
    stepper->reported = METHOD_AUTOMATIC;
    follow_curve(stepper);
    take_inputs(stepper);
    stepper_interrupt(stepper);
}

/* ---- the step -------------------------------------------------------------------------------------------------------------- */

/* Which method integrates, and why, where that has changed since it was last reported */
static void report_method(struct stepper *stepper)
{
    const struct integrator *integrator = stepper->integrator;
    if (integrator == NULL || integrator->chosen == stepper->reported) return;
    stepper->reported = integrator->chosen;
    report_note(stepper->report, "at t = %.9g s: integration by method %d, %s: %s",
                stepper->start_time + stepper->local, (int)integrator->chosen,
                integrator_method_name(integrator->chosen), integrator->choice);
}

/* Does a change of the inputs restart the integrator? */
static bool is_jump(struct stepper *stepper)
{
    if (!integrator_has_history(stepper->integrator)) return true;
    if (stepper->ode.rhs(stepper->ode.context, stepper->local, stepper->y, stepper->ydot) != STATUS_OK) return true;
    return !(integrator_jump(stepper->integrator, stepper->local, stepper->y, stepper->ydot) <= JUMP);
}

/* From the local time to h later; on failure *reached is the last good time */
static enum status integrate(struct stepper *stepper, const struct change *change, double h, double *reached)
{
    const bool jumped = stepper->integrator != NULL && !stepper->restart && change->any && is_jump(stepper);
    stepper->ode.driven |= jumped;
    if (stepper->integrator != NULL && (stepper->restart || jumped)) {
        const struct restart restart = {.first_step = stepper->first_step,
                                        .inputs_only = !stepper->restart,
                                        .values_jumped = jumped && change->values};
        const enum status status = integrator_restart(stepper->integrator, stepper->local, stepper->y, &restart);
        if (status != STATUS_OK) return status;
        stepper->restart = false;
        stepper->first_step = 0;
    }
    /* local += h, compensated: rounding errors do not accumulate over many steps (Kahan) */
    const double step = h - stepper->carry, sum = stepper->local + step;
    stepper->carry = (sum - stepper->local) - step;
    *reached = stepper->local = sum;
    if (stepper->integrator != NULL)
        return integrator_advance(stepper->integrator, stepper->local, stepper->y, reached);
    /* all motion is prescribed: it may leave the constraints */
    const struct ode *ode = &stepper->ode;
    return ode->project != NULL ? ode->project(ode->context, stepper->local, false, stepper->y, NULL) : STATUS_OK;
}

/* The state that changes fastest relative to its nominal value, where that is implausibly fast; else "" */
static const char *fastest_state(const struct stepper *stepper, char text[CAUSE_SIZE])
{
    const struct variables *v = stepper->variables;
    const double *ydot = stepper->ydot, *nominal = stepper->nominal;
    int fastest = 0;
    for (int s = 1; s < v->n_states; s++)
        if (!(fabs(ydot[s]) / nominal[s] <= fabs(ydot[fastest]) / nominal[fastest])) fastest = s;
    const struct variable *rate = v->by_reference[v->row[v->derivative[fastest]].reference];
    text[0] = '\0';
    if (!(fabs(ydot[fastest]) <= 1e9 * nominal[fastest]))
        snprintf(text, CAUSE_SIZE, "; the fastest is %s = %.3g %s", rate->name, ydot[fastest],
                 rate->unit != NULL ? rate->unit : "1");
    return text;
}

/* When the step failed, why, and the cause */
static void report_failure(struct stepper *stepper, enum status status)
{
    char text[CAUSE_SIZE];
    const char *cause = stepper->cause != NULL ? stepper->cause(stepper->ode.context, text) : NULL;
    const struct integrator *integrator = stepper->integrator;
    const char *failure = integrator == NULL             ? status_text(STATUS_NOT_PROJECTED)
                          : *integrator->failure != '\0' ? integrator->failure
                                                         : status_text(status);
    (void)stepper->ode.rhs(stepper->ode.context, stepper->local, stepper->y, stepper->ydot);
    report_add(stepper->report, REPORT_ERROR, "at t = %.9g s: %s%s", stepper->start_time + stepper->local, failure,
               cause != NULL ? cause : fastest_state(stepper, text));
}

enum status stepper_step(struct stepper *stepper, double h)
{
    const double started = stepper->local;
    double reached = started;
    report_method(stepper);
    const struct change change = begin_inputs(stepper);
    const enum status status = integrate(stepper, &change, h, &reached);
    if (status != STATUS_OK) {
        stepper->local = reached > started ? reached : started;
        stepper->carry = 0;
        if (status != STATUS_TOO_MANY_STEPS) stepper->restart = true; /* else the integrator can continue */
        report_failure(stepper, status);
    }
    report_method(stepper);
    /* the inputs at the end become the present values; a curve is then represented by these */
    stepper_apply_inputs(stepper, stepper->local);
    stepper->moving = false;
    if (stepper->inputs.curve != NULL) take_inputs(stepper);
    stepper->up_to_date = false;
    return status;
}
