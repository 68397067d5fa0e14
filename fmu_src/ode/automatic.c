#include "ode/automatic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "ode/methods.h"
#include "ode/policy.h"

/* A method is chosen by trials: it runs for some steps, and the simulated time per work, counted in evaluations of the right-hand
   side, decides. ESDIRK is the first. The explicit and the symmetric method are tried if the steps of ESDIRK resolve the fastest mode
   anyway, h omega < RESOLVED, and kept if they are BETTER. Trials become rarer. Work is counted, not timed, so that runs repeat
   bit for bit. With the pair of low order the error of the explicit method is several times smaller than that of ESDIRK at the same
   tolerance, so it may take ACCURATE times the work. */
static const double RESOLVED = 3, BETTER = 1.1, HOPELESS = 0.3, FIRST_STEP = 2, FADING = 0.9, SLOWER = 0.5,
                    ACCURATE = 1.3;
enum {
    FIRST_TRIAL = 6,
    NEXT_TRIAL = 30,
    RARER = 3,
    RAREST_TRIAL = 20000,
    WARM_UP = 7,
    TRIAL = 12,
    MOST_INTERRUPTIONS = 2
};

/* The numbers of the choice, saved with a state */
struct trials {
    double best;              /* the method that is best so far                              */
    double tried;             /* the method that was tried last                              */
    double left;              /* steps of the present trial that are left; 0: there is none  */
    double wait;              /* steps until the next trial                                  */
    double pause;             /* steps between trials                                        */
    double time, work;        /* of the present method, fading                              */
    double best_speed_before; /* time per work of `best` before the trial                   */
    double best_h;            /* and its step size                                          */
    double best_speed;        /* the largest time per work of `best`                        */
    double interrupted;       /* how often inputs ended the symmetric method               */
    double compared;          /* trials since it became `best`                              */
};

static const struct trials first_trials = {
    .best = METHOD_ESDIRK, .tried = METHOD_ESDIRK, .wait = FIRST_TRIAL, .pause = FIRST_TRIAL};

struct automatic {
    struct integrator base;
    struct integrator *method[METHODS]; /* by enum method; [METHOD_AUTOMATIC] unused        */
    enum method requested;
    long changes; /* of the method in use; each is a restart that the caller did not request */
    struct trials trials;
    double *scratch; /* n_v + n_lambda */
    struct arena arena;
};

static struct automatic *automatic_of(struct integrator *integrator)
{
    return (struct automatic *)(void *)integrator;
}

static const struct automatic *const_automatic_of(const struct integrator *integrator)
{
    return (const struct automatic *)(const void *)integrator;
}

static struct integrator *in_use(const struct integrator *integrator)
{
    return const_automatic_of(integrator)->method[integrator->used];
}

/* ---- operations -------------------------------------------------------------------------------------------------------------- */

static void choose_method(struct automatic *a, enum method method, const char *why)
{
    a->base.used = a->base.chosen = method;
    snprintf(a->base.choice, CHOICE_SIZE, "%s", why);
}

static enum status configure(struct integrator *integrator, const struct integrator_options *options)
{
    struct automatic *a = automatic_of(integrator);
    enum status status = STATUS_OK;
    a->requested = options->method;
    for (int i = 1; i < METHODS && status == STATUS_OK; i++) {
        const struct integrator_options adapted = policy_adapt(integrator->ode, (enum method)i, options);
        status = integrator_configure(a->method[i], &adapted);
    }
    if (a->requested != METHOD_AUTOMATIC) choose_method(a, a->requested, "requested by solver.method");
    else choose_method(a, METHOD_ESDIRK, "initial choice, no trial yet");
    a->trials = first_trials;
    return status;
}

static void reset(struct integrator *integrator)
{
    struct automatic *a = automatic_of(integrator);
    for (int i = 1; i < METHODS; i++) integrator_reset(a->method[i]);
    a->changes = 0;
}

static enum status restart(struct integrator *integrator, double t, const double *y, const struct restart *how)
{
    return integrator_restart(in_use(integrator), t, y, how);
}

/* ---- trials ------------------------------------------------------------------------------------------------------------------ */

/* The next method without history, in turn. The symmetric method is for motion that no input drives, or did so at most once, without
   stops and dry friction: it keeps the oscillations of unresolved modes, which inputs excite at every kink. */
static enum method next_candidate(const struct automatic *a)
{
    const struct trials *trials = &a->trials;
    const struct ode *ode = a->base.ode;
    const bool symmetric =
        !ode->driven && trials->interrupted < MOST_INTERRUPTIONS && ode->n_switches == 0 && ode->longest_step == NULL;
    int i = (int)trials->tried;
    do i = i == METHOD_ESDIRK ? METHOD_SYMMETRIC : i - 1;
    while (i == (int)trials->best || (i == METHOD_SYMMETRIC && !symmetric));
    return (enum method)i;
}

static enum status change_to(struct automatic *a, enum method method, double t, const double *y, double h)
{
    const struct restart restart = {.first_step = h, .from = method != METHOD_SYMMETRIC ? in_use(&a->base) : NULL};
    a->base.used = method;
    a->changes++;
    a->trials.time = a->trials.work = 0;
    return integrator_restart(in_use(&a->base), t, y, &restart);
}

/* Tries another method if it can be better. `taken`: the length of the last step, which may have been cut short. */
static enum status begin_trial(struct automatic *a, double taken, double t, const double *y)
{
    struct trials *trials = &a->trials;
    const enum method candidate = next_candidate(a);
    struct integrator *esdirk = a->method[METHOD_ESDIRK];
    const double h = integrator_step_size(in_use(&a->base));
    trials->tried = candidate;
    trials->wait = trials->pause = fmin(RARER * trials->pause, RAREST_TRIAL);
    trials->best_speed_before = trials->time / trials->work;
    trials->best_h = h;
    trials->compared++;
    double first = h;
    if (candidate != METHOD_ESDIRK) {
        const double fastest = esdirk->ops->fastest(esdirk, t, y, a->scratch);
        const double resolution = fmin(h, taken) * fastest;
        if (trials->best == METHOD_ESDIRK && !(resolution < RESOLVED)) {
            snprintf(a->base.choice, CHOICE_SIZE,
                     "h omega = %.3g of the fastest mode at t = %.6g s: too stiff for others", resolution, t);
            return STATUS_OK;
        }
        first = fastest > 0 ? fmin(h, FIRST_STEP / fastest) : h;
    }
    trials->left = TRIAL;
    return change_to(a, candidate, t, y, first);
}

/* The time per work of a method as it counts in a comparison. Methods continue with the same pair, so the pair of the method in use
   is that of both. */
static double merit(struct automatic *a, enum method method, double speed)
{
    return method == METHOD_EXPLICIT && in_use(&a->base)->ops->low_order(in_use(&a->base)) ? ACCURATE * speed : speed;
}

/* Keeps the method on trial or returns to the best one */
static enum status end_trial(struct automatic *a, double t, const double *y)
{
    struct trials *trials = &a->trials;
    const double speed = trials->work > 0 ? trials->time / trials->work : 0;
    const enum method best = (enum method)trials->best;
    trials->left = 0;
    if (!(merit(a, a->base.used, speed) > BETTER * merit(a, best, trials->best_speed_before)))
        return change_to(a, best, t, y, trials->best_h);
    char why[CHOICE_SIZE];
    snprintf(why, sizeof why, "took %.2g times the work of %s in a trial at t = %.6g s",
             trials->best_speed_before / speed, integrator_method_name(best), t);
    trials->best = a->base.used;
    trials->pause = trials->wait = NEXT_TRIAL;
    trials->compared = trials->best_speed = 0;
    choose_method(a, a->base.used, why);
    return STATUS_OK;
}

static enum status leave_symmetric(struct automatic *a, double t, const double *y)
{
    const double h = integrator_step_size(in_use(&a->base));
    choose_method(a, METHOD_ESDIRK, "inputs change, and the symmetric method is for constant inputs");
    const double interrupted = a->trials.interrupted + 1;
    a->trials = first_trials;
    a->trials.interrupted = interrupted;
    return change_to(a, METHOD_ESDIRK, t, y, h);
}

/* After a step that took this time and this work. A trial begins after a pause, which ends early if the speed of the method has
   fallen. Once the symmetric method has been compared, only that ends its use: other methods lose energy. */
static enum status compare_methods(struct automatic *a, double time, double work, double t, const double *y)
{
    struct trials *trials = &a->trials;
    if (a->base.ode->driven && a->base.used == METHOD_SYMMETRIC) return leave_symmetric(a, t, y);
    trials->time = FADING * trials->time + time;
    trials->work = FADING * trials->work + work;
    if (trials->left > 0) {
        const bool hopeless = trials->time < HOPELESS * trials->best_speed_before * trials->work;
        trials->left--;
        if (trials->left == TRIAL - WARM_UP && !hopeless) trials->time = trials->work = 0;
        return trials->left == 0 || (hopeless && trials->left <= TRIAL - WARM_UP) ? end_trial(a, t, y) : STATUS_OK;
    }
    const double speed = trials->time / trials->work;
    const bool slower = speed < SLOWER * trials->best_speed;
    trials->best_speed = fmax(trials->best_speed, speed);
    trials->wait--;
    if (slower && trials->wait > 0 && trials->wait < trials->pause - NEXT_TRIAL) {
        trials->wait = 0;
        trials->pause = NEXT_TRIAL;
        trials->best_speed = speed;
    }
    if (trials->wait > 0) return STATUS_OK;
    if (trials->best == METHOD_SYMMETRIC && trials->compared >= 2 && !slower) return STATUS_OK;
    return begin_trial(a, time, t, y);
}

static double work_of(const struct integrator *method)
{
    struct integrator_statistics s;
    integrator_statistics(method, &s);
    return s.work;
}

static enum status step(struct integrator *integrator, double end, double *y, double *t)
{
    struct automatic *a = automatic_of(integrator);
    struct integrator *method = in_use(&a->base);
    const double from = *t;
    double work = work_of(method);
    enum status status = method->ops->step(method, end, y, t);
    if (status_is_recoverable(status) && a->trials.left > 0) { /* the trial has failed */
        a->trials.time = 0;
        status = end_trial(a, *t, y);
        method = in_use(&a->base);
        work = work_of(method);
        if (status == STATUS_OK) status = method->ops->step(method, end, y, t);
    }
    method->t = *t;
    if (status != STATUS_OK) memcpy(integrator->failure, method->failure, FAILURE_SIZE);
    else if (a->requested == METHOD_AUTOMATIC && integrator->fixed_step == 0)
        status = compare_methods(a, *t - from, work_of(method) - work, *t, y);
    return status;
}

static double step_size(const struct integrator *integrator)
{
    return integrator_step_size(in_use(integrator));
}

static double jump(const struct integrator *integrator, double t, const double *y, const double *ydot)
{
    return integrator_jump(in_use(integrator), t, y, ydot);
}

static bool has_history(const struct integrator *integrator)
{
    return integrator_has_history(in_use(integrator));
}

/* The counts of all methods together, without the restarts of trials */
static void statistics(const struct integrator *integrator, struct integrator_statistics *sum)
{
    const struct automatic *a = const_automatic_of(integrator);
    *sum = (struct integrator_statistics){.restarts = -a->changes};
    for (int i = 1; i < METHODS; i++) {
        struct integrator_statistics s;
        integrator_statistics(a->method[i], &s);
        integrator_add_counts(&s, sum);
    }
}

/* ---- memory: the methods chosen and in use, the trials, then what the method in use saves -------------------------------------- */

enum { CHOSEN, USED, TRIALS, OWN_MEMORY = TRIALS + sizeof(struct trials) / sizeof(double) };

static int memory_size(const struct integrator *integrator)
{
    const struct automatic *a = const_automatic_of(integrator);
    int most = 0;
    for (int i = 1; i < METHODS; i++) {
        const int size = integrator_memory_size(a->method[i]);
        if (size > most) most = size;
    }
    return OWN_MEMORY + most;
}

static void save(const struct integrator *integrator, double *memory)
{
    const struct automatic *a = const_automatic_of(integrator);
    memset(memory, 0, (size_t)memory_size(integrator) * sizeof(double));
    memory[CHOSEN] = integrator->chosen;
    memory[USED] = integrator->used;
    memcpy(memory + TRIALS, &a->trials, sizeof a->trials);
    if (in_use(integrator) != NULL)
        integrator_save(in_use(integrator), memory + OWN_MEMORY); /* NULL: not configured yet */
}

/* A saved state may hold any number: one that is none of the compared methods becomes the first choice */
static enum method saved_candidate(double number)
{
    const int method = saved_count(number, METHODS - 1);
    return method >= METHOD_ESDIRK ? (enum method)method : METHOD_ESDIRK;
}

static enum method saved_method(const struct automatic *a, double number)
{
    return a->requested != METHOD_AUTOMATIC ? a->requested : saved_candidate(number);
}

static void resume(struct integrator *integrator, const double *memory)
{
    struct automatic *a = automatic_of(integrator);
    const enum method chosen = saved_method(a, memory[CHOSEN]);
    if (chosen != integrator->chosen) choose_method(a, chosen, "restored with the state");
    integrator->used = saved_method(a, memory[USED]);
    if (a->requested == METHOD_AUTOMATIC) { /* else there are no trials */
        memcpy(&a->trials, memory + TRIALS, sizeof a->trials);
        a->trials.best = saved_candidate(a->trials.best);
        a->trials.tried = saved_candidate(a->trials.tried);
    }
    integrator_resume(in_use(&a->base), integrator->t, memory + OWN_MEMORY);
}

static void release(struct integrator *integrator)
{
    struct automatic *a = automatic_of(integrator);
    for (int i = 1; i < METHODS; i++) integrator_free(a->method[i]);
    struct arena arena = a->arena; /* it is allocated in its own arena */
    arena_release(&arena);
}

static const struct integrator_ops automatic_ops = {.configure = configure,
                                                    .reset = reset,
                                                    .restart = restart,
                                                    .step = step,
                                                    .step_size = step_size,
                                                    .has_history = has_history,
                                                    .jump = jump,
                                                    .statistics = statistics,
                                                    .memory_size = memory_size,
                                                    .save = save,
                                                    .resume = resume,
                                                    .release = release};

enum status automatic_make(const struct ode *ode, struct integrator **made)
{
    struct arena arena = {0};
    struct automatic *a = arena_allocate(&arena, 1, sizeof *a);
    double *scratch = arena_allocate(&arena, (size_t)(ode->n_v + ode->n_lambda), sizeof *scratch);
    *made = NULL;
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    *a = (struct automatic){.base = {.ops = &automatic_ops, .ode = ode}, .scratch = scratch, .arena = arena};
    enum status status = cvode_make(ode, &a->method[METHOD_CVODE]);
    if (status == STATUS_OK) status = esdirk_make(ode, &a->method[METHOD_ESDIRK]);
    if (status == STATUS_OK) status = explicit_make(ode, &a->method[METHOD_EXPLICIT]);
    if (status == STATUS_OK) status = gauss_make(ode, &a->method[METHOD_SYMMETRIC]);
    if (status == STATUS_OK) *made = &a->base;
    else release(&a->base);
    return status;
}
