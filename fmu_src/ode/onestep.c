#include "ode/onestep.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ode/pairs.h"

/* Step control: h' = h SAFETY error^(-I/k) last_error^(P/k), within LEAST and MOST                       (Gustafsson 1991) */
static const double SAFETY = 0.9, I_SHARE = 0.7, P_SHARE = 0.4, LEAST = 0.2, MOST = 5, AFTER_FAILURE = 0.25,
                    TREND = 0.02;

/* The shortest step that struct ode.longest_step can ask for, as a multiple of the least step */
static const double RESOLVED = 1000;

/* Rates that new inputs change by less than this, over a step and relative to the tolerance, are a smooth continuation */
static const double SMOOTH = 1;

/* Switches are located to this fraction of a step, with at most MOST_ATTEMPTS attempts. After MOST_SHORT steps in a row that became
   shorter than SHORT times their planned length, a step is taken across the switches. */
static const double LOCATED = 1e-13, SHORT = 1e-3;
enum { MOST_ATTEMPTS = 12, MOST_SHORT = 6 };

/* ---- making -------------------------------------------------------------------------------------------------------------- */

enum status one_step_make(struct one_step *s, const struct one_step_method *method, const struct ode *ode, int own,
                          struct arena *arena)
{
    const size_t n = (size_t)ode_states(ode);
    s->base.ops = &one_step_ops;
    s->base.ode = ode;
    s->method = method;
    s->n = (int)n;
    stage_make(&s->stage, ode, arena);
    s->n_z = s->stage.n_z;
    const size_t scalars = sizeof(struct one_step_scalars) / sizeof(double), n_z = (size_t)s->n_z;
    double *memory = arena_allocate(arena, scalars + n + n_z + (size_t)own, sizeof(double));
    arena_arrays(arena, n, ARRAYS(&s->y1, &s->ydot1, &s->error, &s->weight, &s->tolerance));
    s->z1 = arena_allocate(arena, n_z, sizeof(double));
    events_make(&s->events, ode, arena);
    if (arena->failed) return STATUS_NO_MEMORY;
    s->now = (struct one_step_scalars *)(void *)memory;
    s->ydot = memory + scalars;
    s->z = s->ydot + n;
    s->own = s->z + n_z;
    s->n_memory = (int)(scalars + n + n_z) + own;
    return STATUS_OK;
}

enum status one_step_finish(struct one_step *s, struct arena *arena, struct integrator **made)
{
    *made = NULL;
    if (arena->failed) {
        arena_release(arena);
        return STATUS_NO_MEMORY;
    }
    s->arena = *arena;
    *made = &s->base;
    return STATUS_OK;
}

static struct one_step *one_step_of(struct integrator *integrator)
{
    return (struct one_step *)(void *)integrator;
}

static void release(struct integrator *integrator)
{
    struct arena arena = one_step_of(integrator)->arena; /* it is allocated in its own arena */
    arena_release(&arena);
}

/* ---- operations without a step --------------------------------------------------------------------------------------------- */

static enum status configure(struct integrator *integrator, const struct integrator_options *options)
{
    struct one_step *s = one_step_of(integrator);
    s->relative_tolerance = options->relative_tolerance;
    stage_configure(&s->stage, options->dense);
    s->max_step = options->max_step > 0 ? options->max_step : INFINITY;
    for (int i = 0; i < s->n; i++) s->tolerance[i] = options->relative_tolerance * options->nominal[i];
    return STATUS_OK;
}

static void clear_past(struct one_step *s)
{
    if (s->method->clear != NULL) s->method->clear(s);
}

static void reset(struct integrator *integrator)
{
    struct one_step *s = one_step_of(integrator);
    memset(&s->stage.count, 0, sizeof s->stage.count);
    memset(s->now, 0, (size_t)s->n_memory * sizeof(double));
    clear_past(s);
}

static enum status restart(struct integrator *integrator, double t, const double *y, const struct restart *how)
{
    struct one_step *s = one_step_of(integrator);
    (void)t, (void)y;
    s->stage.count.restarts++;
    s->now->jumped = how->inputs_only;
    if (how->inputs_only) { /* keeps the step size, and the predictor if the rates hardly change; input derivatives do not change them */
        if (how->values_jumped) s->now->has_rates = s->now->has_rates != 0 ? -1 : 0;
        return STATUS_OK;
    }
    memset(s->now, 0, (size_t)s->n_memory * sizeof(double));
    s->now->h = how->first_step;
    if (how->from != NULL) pairs_continue(s, (const struct one_step *)(const void *)how->from);
    clear_past(s);
    return STATUS_OK;
}

static double step_size(const struct integrator *integrator)
{
    return ((const struct one_step *)(const void *)integrator)->now->h;
}

static void statistics(const struct integrator *integrator, struct integrator_statistics *result)
{
    *result = ((const struct one_step *)(const void *)integrator)->stage.count;
}

static int memory_size(const struct integrator *integrator)
{
    return ((const struct one_step *)(const void *)integrator)->n_memory;
}

static void save(const struct integrator *integrator, double *memory)
{
    const struct one_step *s = (const struct one_step *)(const void *)integrator;
    memcpy(memory, s->now, (size_t)s->n_memory * sizeof(double));
}

static void resume(struct integrator *integrator, const double *memory)
{
    struct one_step *s = one_step_of(integrator);
    memcpy(s->now, memory, (size_t)s->n_memory * sizeof(double));
    s->stage.has_factors = false;
}

static double fastest(struct integrator *integrator, double t, const double *y, double *scratch)
{
    return stage_fastest(&one_step_of(integrator)->stage, t, y, scratch);
}

static bool low_order(const struct integrator *integrator)
{
    return pairs_low((const struct one_step *)(const void *)integrator);
}

/* ---- the start of a step ----------------------------------------------------------------------------------------------------- */

double one_step_norm(const struct one_step *s, const double *change)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) sum += change[i] * s->weight[i] * (change[i] * s->weight[i]);
    return sqrt(sum / s->n);
}

static double exponent(const struct one_step *s)
{
    return s->method->pair[s->now->low != 0].exponent;
}

/* y changes by a hundredth of its scale, relative to the tolerances                       (Hairer, Norsett, Wanner, II.4) */
static double first_step(const struct one_step *s, double remains)
{
    const double scale = 0.01 / s->relative_tolerance, speed = one_step_norm(s, s->ydot);
    const double h = pow(s->relative_tolerance, 1 / exponent(s)) * scale / speed;
    return speed > 0 ? fmin(h, remains) : remains;
}

/* Rates at (t, y), which new inputs may have changed */
static enum status find_rates(struct one_step *s)
{
    const bool changed = s->now->has_rates < 0;
    if (s->now->has_rates > 0) return STATUS_OK;
    if (changed) memcpy(s->error, s->ydot, (size_t)s->n * sizeof(double));
    const enum status status = stage_start(&s->stage, s->t, s->y, s->ydot, s->z);
    if (status != STATUS_OK) return status;
    s->now->has_rates = 1;
    if (!changed) return STATUS_OK;
    for (int i = 0; i < s->n; i++) s->error[i] = s->now->h * (s->ydot[i] - s->error[i]);
    if (s->base.fixed_step > 0 || !(one_step_norm(s, s->error) <= SMOOTH)) {
        clear_past(s);
        s->now->last_error = 0;
    }
    return STATUS_OK;
}

static enum status begin_step(struct one_step *s, double remains)
{
    for (int i = 0; i < s->n; i++) s->weight[i] = 1 / (s->relative_tolerance * fabs(s->y[i]) + s->tolerance[i]);
    const enum status status = find_rates(s);
    const enum status rates = integrator_check_rates(s->n, s->ydot, s->tolerance, s->relative_tolerance);
    if (status != STATUS_OK || rates != STATUS_OK)
        return status == STATUS_OK && rates == STATUS_TOO_FAST ? STATUS_TOO_FAST : STATUS_NO_RATES;
    if (s->relative_tolerance < DBL_EPSILON && DBL_EPSILON * one_step_norm(s, s->y) > 1) return STATUS_TOO_ACCURATE;
    if (s->now->h == 0 && s->base.fixed_step == 0) s->now->h = first_step(s, remains);
    return STATUS_OK;
}

/* ---- its length -------------------------------------------------------------------------------------------------------------- */

static double plan_step(struct one_step *s, double remains, double least)
{
    const struct ode *ode = s->base.ode;
    s->longest = s->max_step;
    if (ode->longest_step != NULL)
        s->longest = fmin(s->longest, fmax(ode->longest_step(ode->context, s->y, s->ydot), RESOLVED * least));
    return s->method->plan(s, fmin(s->now->h, s->longest), remains);
}

/* The next step size after a step of h with this error */
static void control_step_size(struct one_step *s, double h, double error, bool repeated)
{
    const bool no_trend = error < TREND && s->now->last_error < TREND; /* cut short, for example */
    const double k = exponent(s), last = no_trend ? 0 : s->now->last_error;
    double factor = MOST;
    if (error > 0)
        factor =
            SAFETY * pow(error, -I_SHARE / k) * (last > 0 ? pow(last, P_SHARE / k) : pow(error, (I_SHARE - 1) / k));
    factor = fmin(fmax(factor, LEAST), repeated ? 1 : MOST);
    s->now->h = factor < MOST ? h * factor : fmax(s->now->h, h * factor);
    s->now->last_error = fmax(error, 1e-4);
}

/* ---- the step ---------------------------------------------------------------------------------------------------------------- */

/* Rates at the end of an attempt: those of its last stage, or, where the method has none there, at the start of the next step,
   unless switches need them now */
static enum status find_end_rates(struct one_step *s, double h)
{
    s->has_end = true;
    if (!s->method->open_end) {
        if (s->base.ode->project != NULL) stage_rates(&s->stage, s->y1, s->z1, s->ydot1);
        return STATUS_OK;
    }
    s->has_end = !s->far;
    return s->has_end ? stage_start(&s->stage, s->t + h, s->y1, s->ydot1, s->z1) : STATUS_OK;
}

/* An attempt, projected onto the constraints, and its error */
static enum status attempt(struct one_step *s, double h, double *error)
{
    const struct ode *ode = s->base.ode;
    const bool fixed = s->base.fixed_step > 0, no_switches = ode->n_switches == 0 || fixed;
    s->stage.cause = STATUS_OK;
    enum status status = s->method->attempt(s, h);
    if (status == STATUS_OK && ode->project != NULL) {
        status = ode->project(ode->context, s->t + h, fixed, s->y1, fixed ? NULL : s->error);
        if (status != STATUS_OK) s->stage.cause = STATUS_NOT_PROJECTED;
    }
    if (status == STATUS_OK) s->far = no_switches || events_far(&s->events, s->t, s->y, s->t + h, s->y1);
    if (status == STATUS_OK) status = find_end_rates(s, h);
    *error = status == STATUS_OK ? one_step_norm(s, fixed ? s->y1 : s->error) : INFINITY;
    if (status == STATUS_OK && !isfinite(*error)) status = STATUS_NOT_FINITE;
    return status;
}

static struct event_step event_step(const struct one_step *s, double h)
{
    return (struct event_step){s->t, h, s->y, s->ydot, s->y1, s->ydot1};
}

/* A step at a switch: the longest step that did not cross it and the shortest that did */
struct search {
    double before, after;
    double accuracy; /* of its time                 */
    bool found;      /* the last attempt ends there */
};

/* The length of the next attempt at a switch after one of length h: by the path if it crossed the switch, otherwise by the rates at its
   end. INFINITY: there is no switch. An attempt that ends just before the switch is the result: if it ended beyond, its stages would
   have the forces of the other side. */
static double next_attempt(struct one_step *s, double h, struct search *search)
{
    const struct event_step step = event_step(s, h);
    double fraction;
    const bool crossed = events_crossed(&s->events, &step, false, &fraction);
    const double next = crossed ? fmin(fraction * h, h - search->accuracy) : h + events_ahead(&s->events, &step);
    if (crossed) search->after = h;
    else search->before = h;
    search->found = !crossed && next - h <= 2 * search->accuracy;
    if (search->found || (next >= search->before && next < search->after)) return next;
    return isfinite(next) && isfinite(search->after) ? (search->before + search->after) / 2 : INFINITY;
}

/* Shortens a step that crosses a switch, or is expected to end at one, until it ends there; the last attempt remains. *found: it ends
   just after a switch. */
static enum status end_at_switch(struct one_step *s, bool expected, double *h, double *error, bool *found)
{
    struct search search = {0, INFINITY, LOCATED * *h + 4 * DBL_EPSILON * fabs(s->t), false};
    *found = false;
    if ((s->far && !expected) || s->events.ode->n_switches == 0 || s->now->short_steps >= MOST_SHORT) return STATUS_OK;
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
        const double next = next_attempt(s, *h, &search);
        if (next == INFINITY || (search.after == INFINITY && !expected)) return STATUS_OK;
        *found = true;
        if (search.found) { /* from just before the switch to the other side */
            const double time = next - *h + search.accuracy;
            for (int k = 0; k < s->n; k++) s->y1[k] += time * s->ydot1[k];
            *h += time;
            return STATUS_OK;
        }
        *h = next;
        const enum status status = attempt(s, *h, error);
        if (status != STATUS_OK) return status;
    }
    return STATUS_OK;
}

static void accept_step(struct one_step *s, double h, double *y, double *t)
{
    const size_t n = (size_t)s->n * sizeof(double);
    s->method->accept(s, h);
    memcpy(y, s->y1, n);
    s->now->has_rates = s->has_end;
    if (s->has_end) memcpy(s->ydot, s->ydot1, n);
    if (s->has_end) memcpy(s->z, s->z1, (size_t)s->n_z * sizeof(double));
    *t = s->t + h;
    s->stage.count.steps++;
}

/* Why the last attempt failed */
static enum status failure_cause(const struct one_step *s, enum status status)
{
    if (status == STATUS_OK) return STATUS_ERROR_TEST;
    if (status == STATUS_NEWTON) return STATUS_NEWTON;
    return s->stage.cause != STATUS_OK ? s->stage.cause : STATUS_NO_RATES;
}

/* A shorter step size after an attempt at h that failed. After the first failure the step is only shortened to the next switch, if one
   is expected within it: *reach is the time to it. */
static void shorten_step(struct one_step *s, double h, enum status status, double error, double *reach)
{
    const struct event_step step = event_step(s, h);
    const bool first = *reach == INFINITY;
    double fraction, factor = AFTER_FAILURE;
    if (status == STATUS_OK) {
        s->stage.count.error_test_failures++;
        factor = fmax(LEAST, SAFETY * pow(error, -1 / exponent(s)));
    } else {
        s->stage.count.newton_failures++;
        clear_past(s);
    }
    if (first && events_crossed(&s->events, &step, true, &fraction)) {
        *reach = fraction * h;
    } else {
        s->now->h = h * factor;
        *reach = h;
    }
}

/* At a switch the step size does not change, because the error of the step says nothing about those that follow, and the rates are
   computed again, with the forces of the other side */
static enum status controlled_step(struct one_step *s, double end, double *y, double *t)
{
    /* a step must be longer, or it is lost in the rounding of t; but the last one before the communication point may be shorter */
    const double least = 16 * DBL_EPSILON * fabs(s->t), remains = end - s->t;
    enum status status = STATUS_OK;
    double reach = INFINITY;
    for (;;) {
        const double planned = plan_step(s, remains, least);
        double error, h = fmin(planned, fmax(reach, 2 * least));
        bool at_switch = false;
        if (!(h > least) && (h < remains || !(h > 0))) return failure_cause(s, status);
        if (!(h <= remains)) { /* memory that was restored may hold any number */
            snprintf(s->base.failure, FAILURE_SIZE,
                     "the step size is not finite: the saved state that was restored is damaged");
            return STATUS_ERROR_TEST;
        }
        status = attempt(s, h, &error);
        if (status == STATUS_OK && error <= 1) status = end_at_switch(s, reach < planned, &h, &error, &at_switch);
        if (status == STATUS_OK && error <= 1) {
            accept_step(s, h, y, t);
            s->now->short_steps = h < SHORT * planned ? s->now->short_steps + 1 : 0;
            if (!at_switch) {
                control_step_size(s, h, error, reach < INFINITY);
                return STATUS_OK;
            }
            s->stage.count.events++;
            s->now->last_error = 0;
            s->now->has_rates = 0;
            clear_past(s);
            return STATUS_OK;
        }
        if (status < 0) return failure_cause(s, status);
        shorten_step(s, h, status, error, &reach);
    }
}

/* One of ceil(H / fixed_step) equal steps over H. Late in a simulation `end` and t are rounded, which must not add a step. */
static enum status fixed_step(struct one_step *s, double end, double *y, double *t)
{
    const double rounding = 8 * DBL_EPSILON * fabs(end) / s->base.fixed_step;
    const double h = (end - s->t) / fmax(1, ceil((end - s->t) / s->base.fixed_step - 1e-9 - rounding));
    double size;
    const enum status status = attempt(s, h, &size);
    s->now->h = h;
    if (status != STATUS_OK) {
        const enum status cause = failure_cause(s, status);
        snprintf(s->base.failure, FAILURE_SIZE, "%s in a step of %.3g s: solver.fixed_step may be too long",
                 status_text(cause), h);
        return cause;
    }
    accept_step(s, h, y, t);
    return STATUS_OK;
}

static enum status step(struct integrator *integrator, double end, double *y, double *t)
{
    struct one_step *s = one_step_of(integrator);
    s->t = *t;
    s->y = y;
    const enum status status = begin_step(s, end - *t);
    if (status != STATUS_OK) return status;
    return integrator->fixed_step > 0 ? fixed_step(s, end, y, t) : controlled_step(s, end, y, t);
}

const struct integrator_ops one_step_ops = {.configure = configure,
                                            .reset = reset,
                                            .restart = restart,
                                            .step = step,
                                            .step_size = step_size,
                                            .statistics = statistics,
                                            .memory_size = memory_size,
                                            .save = save,
                                            .resume = resume,
                                            .fastest = fastest,
                                            .low_order = low_order,
                                            .release = release};
