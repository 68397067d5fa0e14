#include "ode/onestep.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Step control: h' = h SAFETY error^(-I/k) last_error^(P/k), within LEAST and MOST                       (Gustafsson 1991) */
static const double SAFETY = 0.9, I_SHARE = 0.7, P_SHARE = 0.4, LEAST = 0.2, MOST = 5, AFTER_FAILURE = 0.25;

/* A step may be this much longer than the error allows if it is then the last before the communication point */
static const double STRETCH = 0.05;

/* Rates that new inputs change by less than this, over a step and relative to the tolerance, are a smooth continuation */
static const double SMOOTH = 1;

/* A switch is located to this share of a step, and a step ends at it after at most so many attempts */
static const double LOCATED = 1e-6;
enum { MOST_ATTEMPTS = 5, MOST_BISECTIONS = 60 };

/* ---- making -------------------------------------------------------------------------------------------------------------- */

enum status one_step_make(struct one_step *s, const struct one_step_method *method, const struct ode *ode, int own,
                          struct arena *arena)
{
    const size_t n = (size_t)ode_states(ode), switches = (size_t)ode->n_switches;
    s->base.ops = &one_step_ops;
    s->base.ode = ode;
    s->method = method;
    s->n = (int)n;
    stage_make(&s->stage, ode, arena);
    s->n_z = s->stage.n_z;
    const size_t scalars = sizeof(struct one_step_scalars) / sizeof(double), n_z = (size_t)s->n_z;
    double *memory = arena_take(arena, scalars + n + n_z + (size_t)own, sizeof(double));
    double **const state[] = {&s->y1, &s->ydot1, &s->error, &s->weight, &s->tolerance, &s->y_switch};
    for (size_t i = 0; i < sizeof state / sizeof *state; i++) *state[i] = arena_take(arena, n, sizeof(double));
    s->z1 = arena_take(arena, n_z, sizeof(double));
    s->g0 = arena_take(arena, switches, sizeof(double));
    s->g1 = arena_take(arena, switches, sizeof(double));
    if (arena->failed) return STATUS_NO_MEMORY;
    s->now = (struct one_step_scalars *)(void *)memory;
    s->ydot = memory + scalars;
    s->z = s->ydot + n;
    s->own = s->z + n_z;
    s->n_memory = (int)(scalars + n + n_z) + own;
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

static void forget_steps(struct one_step *s)
{
    if (s->method->forget != NULL) s->method->forget(s);
}

static void forget(struct integrator *integrator)
{
    struct one_step *s = one_step_of(integrator);
    memset(&s->count, 0, sizeof s->count);
    s->stage.rhs = s->stage.residuals = s->stage.factorizations = s->stage.jacobians = 0;
    memset(s->now, 0, (size_t)s->n_memory * sizeof(double));
    forget_steps(s);
}

static enum status restart(struct integrator *integrator, double t, const double *y, const struct restart *how)
{
    struct one_step *s = one_step_of(integrator);
    (void)t, (void)y;
    s->count.restarts++;
    if (how->inputs_only) { /* keeps the step size, and the predictor if the rates hardly change */
        s->now->has_rates = s->now->has_rates != 0 ? -1 : 0;
        return STATUS_OK;
    }
    memset(s->now, 0, (size_t)s->n_memory * sizeof(double));
    s->now->h = how->first_step;
    forget_steps(s);
    return STATUS_OK;
}

static double step_size(const struct integrator *integrator)
{
    return ((const struct one_step *)(const void *)integrator)->now->h;
}

static void statistics(const struct integrator *integrator, struct integrator_statistics *result)
{
    const struct one_step *s = (const struct one_step *)(const void *)integrator;
    *result = s->count;
    result->rhs += s->stage.rhs;
    result->residuals += s->stage.residuals;
    result->factorizations += s->stage.factorizations;
    result->jacobians += s->stage.jacobians;
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
}

/* ---- the start of a step ----------------------------------------------------------------------------------------------------- */

double one_step_norm(const struct one_step *s, const double *change)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) sum += change[i] * s->weight[i] * (change[i] * s->weight[i]);
    return sqrt(sum / s->n);
}

static void weigh(struct one_step *s)
{
    for (int i = 0; i < s->n; i++) s->weight[i] = 1 / (s->relative_tolerance * fabs(s->y[i]) + s->tolerance[i]);
}

/* y changes by a hundredth of its scale, relative to the tolerances                       (Hairer, Norsett, Wanner, II.4) */
static double first_step(const struct one_step *s, double remains)
{
    const double scale = 0.01 / s->relative_tolerance, speed = one_step_norm(s, s->ydot);
    const double exponent = 1 / s->method->exponent(s), h = pow(s->relative_tolerance, exponent) * scale / speed;
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
    if (!(one_step_norm(s, s->error) <= SMOOTH)) {
        forget_steps(s);
        s->now->last_error = 0;
    }
    return STATUS_OK;
}

static enum status begin(struct one_step *s, double remains)
{
    const struct ode *ode = s->base.ode;
    weigh(s);
    const enum status status = find_rates(s);
    if (status != STATUS_OK || !isfinite(one_step_norm(s, s->ydot))) return STATUS_NO_RATES;
    if (s->relative_tolerance < DBL_EPSILON && DBL_EPSILON * one_step_norm(s, s->y) > 1) return STATUS_TOO_ACCURATE;
    if (s->now->h == 0) s->now->h = first_step(s, remains);
    if (ode->n_switches > 0) ode->switches(ode->context, s->y, s->g0);
    return STATUS_OK;
}

/* ---- its length -------------------------------------------------------------------------------------------------------------- */

static double plan(struct one_step *s, double remains)
{
    const struct ode *ode = s->base.ode;
    double h = fmin(s->now->h, s->max_step);
    if (ode->longest_step != NULL) h = fmin(h, ode->longest_step(ode->context, s->y, s->ydot));
    if (s->method->plan != NULL) return s->method->plan(s, h, remains);
    return h * (1 + STRETCH) >= remains ? remains : remains / ceil(remains / h - STRETCH);
}

/* Is the step lost in the rounding of t? The last one before the communication point may be as short as it is. */
static bool is_too_short(const struct one_step *s, double h, double end)
{
    return !(h > 0) || (h < end - s->t && h <= 16 * DBL_EPSILON * fabs(s->t));
}

/* The next step size after a step of h with this error */
static void control(struct one_step *s, double h, double error, bool repeated)
{
    const double k = s->method->exponent(s), last = s->now->last_error;
    double factor = MOST;
    if (error > 0)
        factor =
            SAFETY * pow(error, -I_SHARE / k) * (last > 0 ? pow(last, P_SHARE / k) : pow(error, (I_SHARE - 1) / k));
    factor = fmin(fmax(factor, LEAST), repeated ? 1 : MOST);
    s->now->h = factor < MOST ? h * factor : fmax(s->now->h, h * factor);
    s->now->last_error = fmax(error, 1e-4);
}

/* ---- switches ---------------------------------------------------------------------------------------------------------------- */

static bool switched(const struct one_step *s, const double *g)
{
    for (int i = 0; i < s->base.ode->n_switches; i++)
        if ((s->g0[i] > 0) != (g[i] > 0)) return true;
    return false;
}

/* y(t + theta h) by the cubic through y and ydot at both ends */
static void interpolate(struct one_step *s, double h, double theta)
{
    const double a = theta, b = 1 - theta, p0 = (1 + 2 * a) * b * b, p1 = a * a * (3 - 2 * a), r0 = a * b * b * h,
                 r1 = -a * a * b * h;
    for (int i = 0; i < s->n; i++) s->y_switch[i] = p0 * s->y[i] + p1 * s->y1[i] + r0 * s->ydot[i] + r1 * s->ydot1[i];
}

/* The share of the step after which the first switch changes sign, by bisection; the side after the change */
static double locate(struct one_step *s, double h)
{
    const struct ode *ode = s->base.ode;
    double before = 0, after = 1;
    for (int i = 0; i < MOST_BISECTIONS && after - before > LOCATED * after; i++) {
        const double middle = (before + after) / 2;
        interpolate(s, h, middle);
        ode->switches(ode->context, s->y_switch, s->g1);
        if (switched(s, s->g1)) after = middle;
        else before = middle;
    }
    return after;
}

/* ---- the step ---------------------------------------------------------------------------------------------------------------- */

/* An attempt, back on the constraints, and its error */
static enum status attempt(struct one_step *s, double h, double *error)
{
    const struct ode *ode = s->base.ode;
    s->stage.cause = STATUS_OK;
    enum status status = s->method->attempt(s, h);
    if (status == STATUS_OK && ode->project != NULL) {
        status = ode->project(ode->context, s->t + h, s->y1, s->base.fixed_step > 0 ? NULL : s->error);
        stage_rates(&s->stage, s->y1, s->z1, s->ydot1);
        if (status != STATUS_OK) s->stage.cause = STATUS_NOT_PROJECTED;
    }
    *error = status == STATUS_OK ? one_step_norm(s, s->base.fixed_step > 0 ? s->ydot1 : s->error) : INFINITY;
    if (status == STATUS_OK && !isfinite(*error)) status = STATUS_NOT_FINITE;
    return status;
}

/* Shortens a step over a switch until it ends at it; the last attempt remains */
static enum status end_at_switch(struct one_step *s, double *h, double *error)
{
    const struct ode *ode = s->base.ode;
    if (ode->n_switches == 0) return STATUS_OK;
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
        ode->switches(ode->context, s->y1, s->g1);
        if (!switched(s, s->g1)) return STATUS_OK;
        const double share = locate(s, *h);
        if (share > 1 - 10 * LOCATED) break;
        *h *= share;
        const enum status status = attempt(s, *h, error);
        if (status != STATUS_OK) return status;
    }
    s->count.events++;
    forget_steps(s);
    return STATUS_OK;
}

static void move_on(struct one_step *s, double h, double *y, double *t)
{
    const size_t n = (size_t)s->n * sizeof(double);
    if (s->method->accept != NULL) s->method->accept(s, h);
    memcpy(y, s->y1, n);
    memcpy(s->ydot, s->ydot1, n);
    memcpy(s->z, s->z1, (size_t)s->n_z * sizeof(double));
    *t = s->t + h;
    s->count.steps++;
}

/* What the last attempt could not do */
static enum status give_up(const struct one_step *s, enum status status)
{
    if (status == STATUS_OK) return STATUS_ERROR_TEST;
    if (status == STATUS_NEWTON) return STATUS_NEWTON;
    return s->stage.cause != STATUS_OK ? s->stage.cause : STATUS_NO_RATES;
}

static enum status controlled_step(struct one_step *s, double end, double *y, double *t)
{
    enum status status = STATUS_OK;
    bool repeated = false;
    for (;;) {
        double error, h = plan(s, end - s->t);
        if (is_too_short(s, h, end)) return give_up(s, status);
        status = attempt(s, h, &error);
        if (status == STATUS_OK && error <= 1) {
            const double full = h, full_error = error;
            status = end_at_switch(s, &h, &error);
            if (status == STATUS_OK) {
                move_on(s, h, y, t);
                control(s, full, full_error, repeated);
                return STATUS_OK;
            }
        }
        if (status < 0) return give_up(s, status);
        repeated = true;
        if (status == STATUS_OK) {
            s->count.error_test_failures++;
            s->now->h = h * fmax(LEAST, SAFETY * pow(error, -1 / s->method->exponent(s)));
        } else {
            s->count.newton_failures++;
            s->now->h = h * AFTER_FAILURE;
            forget_steps(s);
        }
    }
}

/* Of ceil(H / fixed_step) equal steps over H, those from t on. Late in a simulation `end` and t are rounded: that must not make one
   step more. */
static double count_fixed_steps(const struct one_step *s, double end)
{
    const double rounding = 8 * DBL_EPSILON * fabs(end) / s->base.fixed_step;
    return fmax(1, ceil((end - s->t) / s->base.fixed_step - 1e-9 - rounding));
}

static enum status fixed_step(struct one_step *s, double end, double *y, double *t)
{
    const double h = (end - s->t) / count_fixed_steps(s, end);
    double size;
    const enum status status = attempt(s, h, &size);
    if (status != STATUS_OK) return give_up(s, status);
    s->now->h = h;
    move_on(s, h, y, t);
    return STATUS_OK;
}

static enum status step(struct integrator *integrator, double end, double *y, double *t)
{
    struct one_step *s = one_step_of(integrator);
    s->t = *t;
    s->y = y;
    const enum status status = begin(s, end - *t);
    if (status != STATUS_OK) return status;
    return integrator->fixed_step > 0 ? fixed_step(s, end, y, t) : controlled_step(s, end, y, t);
}

const struct integrator_ops one_step_ops = {.configure = configure,
                                            .forget = forget,
                                            .restart = restart,
                                            .step = step,
                                            .step_size = step_size,
                                            .statistics = statistics,
                                            .memory_size = memory_size,
                                            .save = save,
                                            .resume = resume,
                                            .release = release};
