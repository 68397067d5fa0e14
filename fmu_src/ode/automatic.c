#include "ode/automatic.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "ode/cvode.h"
#include "ode/esdirk.h"
#include "ode/explicit.h"
#include "ode/gauss.h"
#include "ode/policy.h"

struct automatic {
    struct integrator base;
    struct integrator *method[METHODS]; /* by enum method; [METHOD_AUTOMATIC] unused        */
    enum method asked;
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

static struct integrator *in_use(struct automatic *a)
{
    return a->method[a->base.used];
}

/* ---- operations -------------------------------------------------------------------------------------------------------------- */

static void choose(struct automatic *a, enum method method, const char *why)
{
    a->base.used = method;
    snprintf(a->base.choice, CHOICE_SIZE, "%s", why);
    a->base.choices++;
}

static enum status report_missing(struct automatic *a)
{
    snprintf(a->base.failure, FAILURE_SIZE, "solver.method = %d: the method '%s' is not available; choose 0, 1 or 2",
             (int)a->asked, method_name(a->asked));
    return STATUS_SOLVER_SETUP;
}

static enum status configure(struct integrator *integrator, const struct integrator_options *options)
{
    struct automatic *a = automatic_of(integrator);
    enum status status = STATUS_OK;
    a->asked = options->method;
    if (a->asked != METHOD_AUTOMATIC && a->method[a->asked] == NULL) return report_missing(a);
    for (int i = 1; i < METHODS && status == STATUS_OK; i++) {
        const struct integrator_options adapted = policy_adapt(integrator->ode, (enum method)i, options);
        if (a->method[i] != NULL) status = integrator_configure(a->method[i], &adapted);
    }
    if (a->asked != METHOD_AUTOMATIC) choose(a, a->asked, "as solver.method asks");
    else choose(a, METHOD_ESDIRK, "to begin with");
    return status;
}

static void forget(struct integrator *integrator)
{
    struct automatic *a = automatic_of(integrator);
    for (int i = 1; i < METHODS; i++)
        if (a->method[i] != NULL) integrator_forget(a->method[i]);
}

static enum status restart(struct integrator *integrator, double t, const double *y, const struct restart *how)
{
    return integrator_restart(in_use(automatic_of(integrator)), t, y, how);
}

static enum status step(struct integrator *integrator, double end, double *y, double *t)
{
    struct integrator *method = in_use(automatic_of(integrator));
    const enum status status = method->ops->step(method, end, y, t);
    method->t = *t;
    if (status != STATUS_OK) memcpy(integrator->failure, method->failure, FAILURE_SIZE);
    return status;
}

static double step_size(const struct integrator *integrator)
{
    const struct automatic *a = const_automatic_of(integrator);
    return integrator_step_size(a->method[a->base.used]);
}

static double jump(const struct integrator *integrator, double t, const double *y, const double *ydot)
{
    const struct automatic *a = const_automatic_of(integrator);
    return integrator_jump(a->method[a->base.used], t, y, ydot);
}

static bool has_history(const struct integrator *integrator)
{
    const struct automatic *a = const_automatic_of(integrator);
    return integrator_has_history(a->method[a->base.used]);
}

/* The counts of all methods together */
static void statistics(const struct integrator *integrator, struct integrator_statistics *sum)
{
    const struct automatic *a = const_automatic_of(integrator);
    memset(sum, 0, sizeof *sum);
    for (int i = 1; i < METHODS; i++) {
        struct integrator_statistics s;
        if (a->method[i] == NULL) continue;
        integrator_statistics(a->method[i], &s);
        sum->steps += s.steps;
        sum->rhs += s.rhs;
        sum->jacobians += s.jacobians;
        sum->restarts += s.restarts;
        sum->newton_iterations += s.newton_iterations;
        sum->error_test_failures += s.error_test_failures;
        sum->newton_failures += s.newton_failures;
        sum->residuals += s.residuals;
        sum->factorizations += s.factorizations;
        sum->events += s.events;
    }
}

/* ---- memory: the method in use, then what that method saves ------------------------------------------------------------------ */

enum { USED, OWN_MEMORY };

static int memory_size(const struct integrator *integrator)
{
    const struct automatic *a = const_automatic_of(integrator);
    int most = 0;
    for (int i = 1; i < METHODS; i++) {
        const int size = a->method[i] != NULL ? integrator_memory_size(a->method[i]) : 0;
        if (size > most) most = size;
    }
    return OWN_MEMORY + most;
}

static void save(const struct integrator *integrator, double *memory)
{
    const struct automatic *a = const_automatic_of(integrator);
    memset(memory, 0, (size_t)memory_size(integrator) * sizeof(double));
    memory[USED] = integrator->used;
    if (a->method[integrator->used] != NULL) integrator_save(a->method[integrator->used], memory + OWN_MEMORY);
}

static void resume(struct integrator *integrator, const double *memory)
{
    struct automatic *a = automatic_of(integrator);
    const enum method used = (enum method)memory[USED];
    if (used != integrator->used) choose(a, used, "as in the restored state");
    integrator_resume(in_use(a), integrator->t, memory + OWN_MEMORY);
}

static void release(struct integrator *integrator)
{
    struct automatic *a = automatic_of(integrator);
    for (int i = 1; i < METHODS; i++) integrator_free(a->method[i]);
    struct arena arena = a->arena; /* it is allocated in its own arena */
    arena_release(&arena);
}

static const struct integrator_ops automatic_ops = {.configure = configure,
                                                    .forget = forget,
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
    struct automatic *a = arena_take(&arena, 1, sizeof *a);
    *made = NULL;
    if (a == NULL) return STATUS_NO_MEMORY;
    *a = (struct automatic){.base = {.ops = &automatic_ops, .ode = ode}, .arena = arena};
    enum status status = cvode_make(ode, &a->method[METHOD_CVODE]);
    if (status == STATUS_OK) status = esdirk_make(ode, &a->method[METHOD_ESDIRK]);
    if (status == STATUS_OK) status = explicit_make(ode, &a->method[METHOD_EXPLICIT]);
    if (status == STATUS_OK) status = gauss_make(ode, &a->method[METHOD_SYMMETRIC]);
    if (status == STATUS_OK) *made = &a->base;
    else release(&a->base);
    return status;
}
