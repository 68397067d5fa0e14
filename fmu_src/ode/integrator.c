/* What all integrators have in common: the loop over internal steps, and when it stops early. */
#include "ode/integrator.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* From PATIENCE steps on, the mean length of the last WINDOW steps predicts how many remain */
enum { PATIENCE = 10000, WINDOW = 1000 };

static const struct {
    const char *word, *name;
} method_list[METHODS] = {
#define METHOD_ROW(method, word, name) {word, name},
    METHOD_LIST(METHOD_ROW)
#undef METHOD_ROW
};

const char *integrator_method_word(enum method method)
{
    return method_list[method].word;
}

const char *integrator_method_name(enum method method)
{
    return method_list[method].name;
}

enum status integrator_check_rates(int n, const double *ydot, const double *tolerance, double relative_tolerance)
{
    const double most = MOST_RELATIVE_RATE / relative_tolerance;
    for (int i = 0; i < n; i++)
        if (!(fabs(ydot[i]) <= most * tolerance[i])) return isnan(ydot[i]) ? STATUS_NOT_FINITE : STATUS_TOO_FAST;
    return STATUS_OK;
}

enum status integrator_configure(struct integrator *integrator, const struct integrator_options *options)
{
    integrator->max_steps = options->max_steps > 0 ? options->max_steps : MOST_INTERNAL_STEPS;
    integrator->fixed_step = options->fixed_step;
    *integrator->failure = '\0';
    return integrator->ops->configure(integrator, options);
}

enum status integrator_restart(struct integrator *integrator, double t, const double *y, const struct restart *restart)
{
    integrator->t = t;
    *integrator->failure = '\0';
    return integrator->ops->restart(integrator, t, y, restart);
}

/* Checks, every WINDOW steps, that `end` can be reached. *since: the time of the previous check. */
static enum status check_progress(const struct integrator *integrator, double steps, double end, double *since)
{
    const double t = integrator->t;
    if (steps >= integrator->max_steps && !(t >= end)) return STATUS_TOO_MANY_STEPS;
    if (fmod(steps, WINDOW) != 0) return STATUS_OK;
    const double mean = (t - *since) / WINDOW;
    *since = t;
    return steps >= PATIENCE && end - t > MOST_INTERNAL_STEPS * mean ? STATUS_STEPS_TOO_SHORT : STATUS_OK;
}

/* The text of a failure, unless the method has written a more specific one */
static void explain_failure(struct integrator *integrator, enum status status, double steps)
{
    const double h = integrator_step_size(integrator);
    char *text = integrator->failure, last[64] = "";
    if (*text != '\0') return;
    if (h > 0) snprintf(last, sizeof last, " (last step %.3g s)", h);
    if (status == STATUS_TOO_MANY_STEPS)
        snprintf(text, FAILURE_SIZE, "%s: %.0f internal steps%s did not reach the communication point",
                 status_text(status), steps, last);
    else snprintf(text, FAILURE_SIZE, "%s%s", status_text(status), last);
}

void integrator_add_counts(const struct integrator_statistics *counts, struct integrator_statistics *sum)
{
    sum->steps += counts->steps;
    sum->rhs += counts->rhs;
    sum->jacobians += counts->jacobians;
    sum->restarts += counts->restarts;
    sum->newton_iterations += counts->newton_iterations;
    sum->error_test_failures += counts->error_test_failures;
    sum->newton_failures += counts->newton_failures;
    sum->residuals += counts->residuals;
    sum->factorizations += counts->factorizations;
    sum->events += counts->events;
}

enum status integrator_advance(struct integrator *integrator, double end, double *y, double *reached)
{
    const struct ode *ode = integrator->ode;
    const double rounding = fmax(4 * DBL_EPSILON * fabs(end), 1e-100);
    enum status status = STATUS_OK;
    double since = integrator->t, steps = 0;
    *integrator->failure = '\0';
    while (status == STATUS_OK && !(end - integrator->t <= rounding)) {
        status = integrator->ops->step(integrator, end, y, &integrator->t);
        if (status == STATUS_OK && ode->accepted != NULL) ode->accepted(ode->context, integrator->t, y);
        if (status == STATUS_OK) status = check_progress(integrator, ++steps, end, &since);
    }
    if (status == STATUS_OK) integrator->t = end;
    else explain_failure(integrator, status, steps);
    *reached = integrator->t;
    return status;
}
