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
    stepper->now.reference = stepper->before.reference = stepper->input;
    stepper->now.derivative = stepper->before.derivative = stepper->derivative;
}

enum status stepper_make(struct stepper *stepper, const struct ode *ode, struct arena *arena)
{
    const struct variables *v = stepper->variables;
    const size_t values = (size_t)v->n_values, states = (size_t)v->n_states;
    stepper->value = arena_allocate(arena, values, sizeof(double));
    stepper->input = arena_allocate(arena, values, sizeof(int));
    stepper->input_number = arena_allocate(arena, values, sizeof(int));
    stepper->derivative = arena_allocate(arena, values, sizeof(int));
    arena_arrays(arena, states, ARRAYS(&stepper->y, &stepper->ydot, &stepper->nominal));
    arena_arrays(
        arena, values,
        ARRAYS(&stepper->now.u, &stepper->now.rate, &stepper->before.u, &stepper->before.rate, &stepper->given));
    if (arena->failed) return STATUS_NO_MEMORY;

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

void stepper_free(struct stepper *stepper)
{
    integrator_free(stepper->integrator);
}

/* Rates are given for one step */
static void clear_rates(struct stepper *stepper)
{
    memset(stepper->now.rate, 0, (size_t)stepper->n_inputs * sizeof(double));
    memset(stepper->given, 0, (size_t)stepper->n_inputs * sizeof(double));
}

void stepper_reset(struct stepper *stepper)
{
    const struct variables *v = stepper->variables;
    for (int r = 0; r < v->n_values; r++) stepper->value[r] = v->by_reference[r]->start;
    clear_rates(stepper);
    memset(stepper->before.rate, 0, (size_t)stepper->n_inputs * sizeof(double));
    for (int i = 0; i < OWN_PARTS; i++)
        if (stepper->own[i].count > 0)
            memset(stepper->own[i].numbers, 0, (size_t)stepper->own[i].count * sizeof(double));
    stepper->start_time = stepper->local = stepper->carry = 0;
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

double stepper_input_curve(const struct step_inputs *inputs, int i, double t)
{
    const double s = t - inputs->from;
    double u = inputs->u[i], term = s; /* s^k / k! */
    int highest = i;
    for (int k = 2; inputs->derivative[highest] >= 0; k++) {
        highest = inputs->derivative[highest];
        u += inputs->u[highest] * term;
        term *= s / k;
    }
    u += inputs->rate[highest] * term;
    if (inputs->curve != NULL) inputs->curve->at(inputs->curve->context, inputs->reference[i], t, &u);
    return u;
}

double stepper_input_rate(const struct step_inputs *inputs, int i, double t)
{
    return inputs->derivative[i] >= 0 ? step_input(inputs, inputs->derivative[i], t) : inputs->rate[i];
}

void stepper_take_inputs(struct stepper *stepper)
{
    stepper->now.curve = NULL;
    for (int i = 0; i < stepper->n_inputs; i++) stepper->now.u[i] = stepper->value[stepper->input[i]];
    stepper->now.from = stepper->local;
}

void stepper_set_rate(struct stepper *stepper, int reference, double rate)
{
    const int i = stepper->input_number[reference];
    stepper->now.rate[i] = rate;
    stepper->given[i] = 1;
}

/* From here on the inputs are those of the curve, if there is one */
static void follow_curve(struct stepper *stepper)
{
    stepper->now.curve = stepper->curve;
    for (int i = 0; stepper->curve != NULL && i < stepper->n_inputs; i++)
        stepper->now.u[i] = step_input(&stepper->now, i, stepper->local);
}

/* Did values jump, not only input derivatives? */
static bool values_jumped(const struct stepper *stepper)
{
    const struct step_inputs *now = &stepper->now, *before = &stepper->before;
    for (int i = 0; i < stepper->n_inputs; i++) {
        const double expected = step_input(before, i, stepper->local);
        if (!(fabs(now->u[i] - expected) <= ROUNDING * (fabs(now->u[i]) + fabs(expected)))) return true;
    }
    return false;
}

/* Did the inputs jump? Compares the inputs of the last step, continued to the present time, with those that are set. */
static bool inputs_jumped(struct stepper *stepper)
{
    bool changed = false;
    const struct step_inputs *now = &stepper->now, *before = &stepper->before;
    for (int i = 0; i < stepper->n_inputs; i++)
        changed = changed || now->u[i] != step_input(before, i, stepper->local) || now->rate[i] != before->rate[i];
    if (!changed || !integrator_has_history(stepper->integrator)) return changed;
    if (stepper->ode.rhs(stepper->ode.context, stepper->local, stepper->y, stepper->ydot) != STATUS_OK) return true;
    return !(integrator_jump(stepper->integrator, stepper->local, stepper->y, stepper->ydot) <= JUMP);
}

/* The inputs become those of the last step; a curve is represented by its values at the end */
static void keep_inputs(struct stepper *stepper)
{
    if (stepper->now.curve != NULL) {
        stepper_take_inputs(stepper);
        clear_rates(stepper);
    }
    memcpy(stepper->before.u, stepper->now.u, (size_t)stepper->n_inputs * sizeof(double));
    memcpy(stepper->before.rate, stepper->now.rate, (size_t)stepper->n_inputs * sizeof(double));
    stepper->before.from = stepper->now.from;
    clear_rates(stepper);
}

/* The inputs at the end of the step become values, so that outputs there belong to them */
static void advance_inputs(struct stepper *stepper)
{
    for (int i = 0; i < stepper->n_inputs; i++)
        stepper->value[stepper->input[i]] = step_input(&stepper->now, i, stepper->local);
}

/* The inputs are the values of the curve at the start, or those that were set */
void stepper_start(struct stepper *stepper, double start_time)
{
    stepper->start_time = start_time;
    stepper->local = stepper->carry = 0;
    stepper->first_step = 0;
    stepper->reported = METHOD_AUTOMATIC;
    stepper_take_inputs(stepper);
    follow_curve(stepper);
    advance_inputs(stepper);
    stepper_take_inputs(stepper);
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

/* From the local time to h later; on failure *reached is the last good time */
static enum status integrate(struct stepper *stepper, double h, double *reached)
{
    const bool jumped = stepper->integrator != NULL && !stepper->restart && inputs_jumped(stepper);
    bool driven = jumped || stepper->now.curve != NULL;
    for (int i = 0; i < stepper->n_inputs; i++) driven = driven || stepper->now.rate[i] != 0;
    stepper->ode.driven = driven;
    if (stepper->integrator != NULL && (stepper->restart || jumped)) {
        const struct restart restart = {.first_step = stepper->first_step,
                                        .inputs_only = !stepper->restart,
                                        .values_jumped = jumped && values_jumped(stepper)};
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
    stepper_take_inputs(stepper);
    for (int i = 0; i < stepper->n_inputs; i++) {
        /* an input whose time derivative alone is also an input is extrapolated with it, unless a rate was given (0 included) */
        const int derivative = derivative_input(stepper, i);
        if (stepper->derivative[i] >= 0) stepper->now.rate[i] = 0;
        else if (derivative >= 0 && stepper->given[i] == 0) stepper->now.rate[i] = stepper->now.u[derivative];
    }
    report_method(stepper);
    follow_curve(stepper);
    const enum status status = integrate(stepper, h, &reached);
    if (status != STATUS_OK) {
        stepper->local = reached > started ? reached : started;
        stepper->carry = 0;
        if (status != STATUS_TOO_MANY_STEPS) stepper->restart = true; /* else the integrator can continue */
        report_failure(stepper, status);
    }
    report_method(stepper);
    advance_inputs(stepper);
    keep_inputs(stepper);
    stepper->up_to_date = false;
    return status;
}

void stepper_set_time(struct stepper *stepper, double time)
{
    stepper->local = time - stepper->start_time;
    stepper->carry = 0;
    stepper_interrupt(stepper);
}
