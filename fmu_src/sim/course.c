#include "sim/course.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A change of the inputs is a jump, and restarts the integrator, where it moves the right-hand side by more than this multiple
   of the error tolerance over the next step; smaller changes the error test takes care of (bench/integration.py). */
static const double JUMP = 10;

/* ---- life ------------------------------------------------------------------------------------------------------------------ */

enum status course_make(struct course *course, const struct ode *ode, struct arena *arena)
{
    const struct variables *v = course->variables;
    const size_t values = (size_t)v->n_values, states = (size_t)v->n_states;
    double **const state_arrays[] = {&course->y, &course->ydot, &course->nominal};
    double **const input_arrays[] = {&course->now.u, &course->now.rate, &course->before.u, &course->before.rate,
                                     &course->given};
    course->value = arena_take(arena, values, sizeof(double));
    course->input = arena_take(arena, values, sizeof(int));
    course->input_place = arena_take(arena, values, sizeof(int));
    for (int i = 0; i < 3; i++) *state_arrays[i] = arena_take(arena, states, sizeof(double));
    for (int i = 0; i < 5; i++) *input_arrays[i] = arena_take(arena, values, sizeof(double));
    if (arena->failed) return STATUS_NO_MEMORY;

    for (int r = 0; r < v->n_values; r++) {
        const bool is_input = v->by_reference[r]->causality == CAUSALITY_INPUT;
        course->input_place[r] = is_input ? course->n_inputs : -1;
        if (is_input) course->input[course->n_inputs++] = r;
    }
    for (int s = 0; s < v->n_states; s++) course->nominal[s] = v->row[v->state[s]].nominal;
    course->ode = *ode;
    return ode_states(ode) > 0 ? policy_integrator(&course->ode, &course->integrator) : STATUS_OK;
}

void course_free(struct course *course)
{
    integrator_free(course->integrator);
}

/* Rates are given anew for every step */
static void forget_rates(struct course *course)
{
    memset(course->now.rate, 0, (size_t)course->n_inputs * sizeof(double));
    memset(course->given, 0, (size_t)course->n_inputs * sizeof(double));
}

void course_reset(struct course *course)
{
    const struct variables *v = course->variables;
    for (int r = 0; r < v->n_values; r++) course->value[r] = v->by_reference[r]->start;
    forget_rates(course);
    memset(course->before.rate, 0, (size_t)course->n_inputs * sizeof(double));
    memset(course->state, 0, (size_t)course->n_numbers * sizeof(double));
    course->start_time = course->local = course->carry = 0;
    course_interrupt(course);
    if (course->integrator != NULL) integrator_forget(course->integrator);
}

void course_interrupt(struct course *course)
{
    course->fresh = false;
    course->restart = true;
}

/* ---- start ----------------------------------------------------------------------------------------------------------------- */

enum status course_configure(struct course *course, double importer_tolerance)
{
    const double own = course->value[course->solver.relative_tolerance];
    course->tolerance = own > 0 ? own : importer_tolerance > 0 ? importer_tolerance : 1e-6;
    if (course->integrator == NULL) return STATUS_OK;
    const struct solver_request request = {.relative_tolerance = course->tolerance,
                                           .max_step = course->value[course->solver.max_step],
                                           .max_order = (int)course->value[course->solver.max_order]};
    const struct integrator_options options = policy_options(&course->ode, &request, course->nominal);
    return integrator_configure(course->integrator, &options);
}

void course_start(struct course *course, double start_time)
{
    course->start_time = start_time;
    course->local = course->carry = 0;
    course->first_step = 0;
    course_hold_inputs(course);
    course_interrupt(course);
}

/* ---- inputs ---------------------------------------------------------------------------------------------------------------- */

void course_hold_inputs(struct course *course)
{
    for (int i = 0; i < course->n_inputs; i++) course->now.u[i] = course->value[course->input[i]];
    course->now.from = course->local;
}

void course_give_rate(struct course *course, int reference, double rate)
{
    const int i = course->input_place[reference];
    course->now.rate[i] = rate;
    course->given[i] = 1;
}

void course_go_on(struct course *course, int reference, double rate)
{
    const int i = course->input_place[reference];
    if (course->given[i] == 0) course->now.rate[i] = rate;
}

/* Did the inputs jump? What the last step's inputs would have come to by now, against what is set. */
static bool inputs_jumped(struct course *course)
{
    bool changed = false;
    const struct held_inputs *now = &course->now, *before = &course->before;
    const double elapsed = course->local - before->from;
    for (int i = 0; i < course->n_inputs; i++)
        changed = changed || now->u[i] != before->u[i] + before->rate[i] * elapsed || now->rate[i] != before->rate[i];
    if (!changed) return false;
    if (course->ode.rhs(course->ode.context, course->local, course->y, course->ydot) != STATUS_OK) return true;
    return !(integrator_jump(course->integrator, course->local, course->y, course->ydot) <= JUMP);
}

static void keep_inputs(struct course *course)
{
    memcpy(course->before.u, course->now.u, (size_t)course->n_inputs * sizeof(double));
    memcpy(course->before.rate, course->now.rate, (size_t)course->n_inputs * sizeof(double));
    course->before.from = course->now.from;
    forget_rates(course);
}

/* Inputs at the end of the step become the values again, so that outputs there belong to them */
static void advance_inputs(struct course *course)
{
    for (int i = 0; i < course->n_inputs; i++)
        course->value[course->input[i]] = course->now.u[i] + course->now.rate[i] * (course->local - course->now.from);
}

/* ---- the step -------------------------------------------------------------------------------------------------------------- */

/* local += h, compensated: a million steps add up to their sum (Kahan) */
static void advance_time(struct course *course, double h)
{
    const double step = h - course->carry, sum = course->local + step;
    course->carry = (sum - course->local) - step;
    course->local = sum;
}

/* From the local time to h later; on failure *reached is the last good time */
static enum status integrate(struct course *course, double h, double *reached)
{
    if (course->integrator != NULL && (course->restart || inputs_jumped(course))) {
        const struct restart restart = {.first_step = course->first_step, .inputs_only = !course->restart};
        const enum status status = integrator_restart(course->integrator, course->local, course->y, &restart);
        if (status != STATUS_OK) return status;
        course->restart = false;
        course->first_step = 0;
    }
    advance_time(course, h);
    *reached = course->local;
    if (course->integrator != NULL) return integrator_advance(course->integrator, course->local, course->y, reached);
    /* all is prescribed: it may leave the constraints */
    const struct ode *ode = &course->ode;
    return ode->project != NULL ? ode->project(ode->context, course->local, course->y, NULL) : STATUS_OK;
}

/* What changes fastest against its scale, where it is beyond all reason; "" where nothing is */
static const char *runaway(const struct course *course, char text[BLAME_SIZE])
{
    const struct variables *v = course->variables;
    const double *ydot = course->ydot, *nominal = course->nominal;
    int fastest = 0;
    for (int s = 1; s < v->n_states; s++)
        if (!(fabs(ydot[s]) / nominal[s] <= fabs(ydot[fastest]) / nominal[fastest])) fastest = s;
    const struct variable *rate = v->by_reference[v->row[v->derivative[fastest]].reference];
    text[0] = '\0';
    if (!(fabs(ydot[fastest]) <= 1e9 * nominal[fastest]))
        snprintf(text, BLAME_SIZE, "; the fastest is %s = %.3g %s", rate->name, ydot[fastest],
                 rate->unit != NULL ? rate->unit : "1");
    return text;
}

/* When it failed, why, and what is to blame */
static void report_failure(struct course *course, enum status status)
{
    char text[BLAME_SIZE];
    const char *culprit = course->blame != NULL ? course->blame(course->ode.context, text) : NULL;
    const struct integrator *integrator = course->integrator;
    const char *failure = integrator == NULL             ? status_text(STATUS_NOT_PROJECTED)
                          : *integrator->failure != '\0' ? integrator->failure
                                                         : status_text(status);
    (void)course->ode.rhs(course->ode.context, course->local, course->y, course->ydot);
    report_add(course->report, REPORT_ERROR, "at t = %.9g s: %s%s", course->start_time + course->local, failure,
               culprit != NULL ? culprit : runaway(course, text));
}

enum status course_step(struct course *course, double h)
{
    const double started = course->local;
    double reached = started;
    const enum status status = integrate(course, h, &reached);
    if (status != STATUS_OK) {
        course->local = reached > started ? reached : started;
        course->carry = 0;
        course->restart = true;
        report_failure(course, status);
    }
    advance_inputs(course);
    keep_inputs(course);
    course->fresh = false;
    return status;
}

void course_set_time(struct course *course, double time)
{
    course->local = time - course->start_time;
    course->carry = 0;
    course_interrupt(course);
}
