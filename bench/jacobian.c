/* Compares the exact Jacobian with one by forward differences of the right-hand side, in the same instance with the same
   integrator.
       jacobian ROBOT
   Free motion from a start with bent links and moving joints; prints one line for each, columns as in docs/integration.md. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "math/vec.h"
#include "ode/cvode.h"
#include "sim/robot_instance.h"

static const double UNTIL = 2;

static void print_line(void *context, enum report_level level, const char *text)
{
    (void)context;
    if (level == REPORT_ERROR) fprintf(stderr, "%s\n", text);
}

/* ---- forward differences: columns (f(y + d e_j) - f(y)) / d ---------------------------------------------------------------------- */

struct differences {
    struct sim *sim;
    long extra; /* evaluations of the right-hand side */
    double *y, *f, *g;
};

static enum status rhs(void *context, double t, const double *y, double *ydot)
{
    const struct differences *d = context;
    return sim_derivatives(d->sim, t, y, ydot);
}

static enum status difference_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    struct differences *d = context;
    const int n = d->sim->instance.stepper.ode.n_v;
    enum status status = rhs(context, t, y, d->f);
    for (int i = 0; i < 2 * n; i++) d->y[i] = y[i];
    for (int j = 0; j < 2 * n && status == STATUS_OK; j++) {
        double *column = j < n ? A + (size_t)j * (size_t)n : B + (size_t)(j - n) * (size_t)n;
        const double step = sqrt(DBL_EPSILON) * fmax(fabs(y[j]), d->sim->instance.stepper.nominal[j]);
        d->y[j] = y[j] + step;
        status = rhs(context, t, d->y, d->g);
        for (int i = 0; i < n; i++) column[i] = (d->g[n + i] - d->f[n + i]) / step;
        d->y[j] = y[j];
    }
    d->extra += 2 * n + 1;
    return status;
}

/* ---- one run ---------------------------------------------------------------------------------------------------------- */

struct run {
    double tip[3], seconds;
    struct integrator_statistics count;
};

static int moving_start(struct sim *sim, double rtol)
{
    const struct experiment experiment = {.tolerance = rtol};
    const struct variables *v = &sim->instance.variables;
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        if (variable->start_of < 0) continue;
        const struct link_model *lm = &sim->mechanism.model->link[variable->owner];
        const double *state = sim->instance.state[variable->start_of];
        if (state == sim->at.q + lm->q) instance_set(&sim->instance, r, 0.3 + 0.1 * variable->owner);
        if (state == sim->at.qd + lm->v) instance_set(&sim->instance, r, 0.2);
    }
    return instance_initialize(&sim->instance, &experiment) == STATUS_OK;
}

static int simulate(struct sim *sim, double rtol, struct run *run)
{
    struct integrator_statistics before;
    if (!moving_start(sim, rtol)) return 0;
    instance_statistics(&sim->instance, &before);
    const clock_t from = clock();
    if (instance_step(&sim->instance, UNTIL) != STATUS_OK || instance_update(&sim->instance) != STATUS_OK) return 0;
    run->seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    instance_statistics(&sim->instance, &run->count);
    run->count.steps -= before.steps, run->count.rhs -= before.rhs, run->count.jacobians -= before.jacobians;
    copy3(sim->outputs.tip.position, run->tip);
    return 1;
}

static void print(const char *name, const struct run *run, long extra, const struct run *exact)
{
    double error = 0;
    for (int i = 0; i < 3; i++) error = fmax(error, fabs(run->tip[i] - exact->tip[i]));
    printf("%s | %ld | %ld | %ld | %.3f | %.1e\n", name, run->count.steps, run->count.rhs + extra, run->count.jacobians,
           run->seconds, error);
}

static char *read_text(const char *file)
{
    FILE *stream = fopen(file, "rb");
    char *text = calloc(1, 1 << 20);
    if (stream == NULL || text == NULL || fread(text, 1, (1 << 20) - 1, stream) == 0) return NULL;
    fclose(stream);
    return text;
}

int main(int argc, char **argv)
{
    struct report report = {.line = print_line};
    struct instance *instance;
    char *text = argc == 2 ? read_text(argv[1]) : NULL;
    if (text == NULL || sim_make(argv[1], text, &report, &instance) != STATUS_OK) return 2;
    struct sim *sim = sim_of(instance);
    const int n = sim->instance.stepper.ode.n_v;
    const size_t states = 2 * (size_t)n;
    struct run reference, run;
    if (!simulate(sim, 1e-10, &reference) || !simulate(sim, 1e-6, &run)) return 1;
    print("tangents", &run, 0, &reference);

    struct differences d = {.sim = sim,
                            .y = calloc(states, sizeof(double)),
                            .f = calloc(states, sizeof(double)),
                            .g = calloc(states, sizeof(double))};
    const struct ode ode = {.n_x = n, .n_v = n, .context = &d, .rhs = rhs, .jacobian = difference_jacobian};
    integrator_free(sim->instance.stepper.integrator);
    if (cvode_make(&ode, &sim->instance.stepper.integrator) != STATUS_OK || !simulate(sim, 1e-6, &run)) return 1;
    print("differences", &run, d.extra, &reference);
    free(d.y), free(d.f), free(d.g), free(text);
    instance_free(instance);
    return 0;
}
