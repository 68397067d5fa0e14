#include "oracle/problem.h"

#include <math.h>
#include <string.h>

#include "robot/read.h"

int problem_read(struct problem *p, const char *text)
{
    const struct experiment experiment = {0};
    memset(p, 0, sizeof *p);
    if (text == NULL || sim_make("robot", text, &p->report, &p->instance) != STATUS_OK) return 0;
    if (instance_initialize(p->instance, &experiment) != STATUS_OK) return 0;
    p->ode = &p->instance->stepper.ode;
    if (ode_states(p->ode) > MOST_STATES) return 0;
    instance_get_states(p->instance, p->y);
    memcpy(p->nominal, p->instance->stepper.nominal, (size_t)ode_states(p->ode) * sizeof(double));
    return 1;
}

int problem_load(struct problem *p, const char *file)
{
    struct arena arena = {0};
    struct report silent = {0};
    const int made = problem_read(p, document_load(file, &arena, &silent));
    arena_release(&arena);
    return made;
}

void problem_make(struct problem *p, const struct ode *ode, const double *y)
{
    memset(p, 0, sizeof *p);
    p->ode = ode;
    memcpy(p->y, y, (size_t)ode_states(ode) * sizeof *y);
    for (int i = 0; i < ode_states(ode); i++) p->nominal[i] = 1;
}

void problem_free(struct problem *p)
{
    if (p->instance != NULL) instance_free(p->instance);
}

struct integrator *problem_start(const struct problem *p, integrator_maker *make, struct integrator_options options)
{
    const struct restart fresh = {0};
    struct integrator *integrator;
    options.nominal = p->nominal;
    if (make(p->ode, &integrator) != STATUS_OK) return NULL;
    if (integrator_configure(integrator, &options) == STATUS_OK &&
        integrator_restart(integrator, 0, p->y, &fresh) == STATUS_OK)
        return integrator;
    integrator_free(integrator);
    return NULL;
}

enum status problem_solve(const struct problem *p, integrator_maker *make, struct integrator_options options,
                          double end, double H, double *y, struct integrator_statistics *statistics)
{
    struct integrator *integrator = problem_start(p, make, options);
    if (integrator == NULL) return STATUS_SOLVER_SETUP;
    enum status status = STATUS_OK;
    double reached;
    const int steps = (int)lround(end / H);
    memcpy(y, p->y, (size_t)ode_states(p->ode) * sizeof *y);
    for (int i = 1; i <= steps && status == STATUS_OK; i++)
        status = integrator_advance(integrator, i * (end / steps), y, &reached);
    if (statistics != NULL) integrator_statistics(integrator, statistics);
    integrator_free(integrator);
    return status;
}

double problem_distance(const struct problem *p, const double *x, const double *y)
{
    double largest = 0;
    for (int i = 0; i < ode_states(p->ode); i++) {
        const double d = fabs(x[i] - y[i]) / p->nominal[i];
        if (!(d <= largest)) largest = d;
    }
    return largest;
}
