/* The static start: elastic coordinates at rest under gravity, payload and tip wrench, joints held. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "sim/instance.h"

/* A torque on the tip has no potential: the symmetric part of the Jacobian then converges linearly, by a third or so a step */
enum { MOST_ITERATIONS = 500 };

struct equilibrium {
    int n;             /* elastic coordinates                 */
    int *coordinate;   /* n                                   */
    double *residual;  /* n: generalised forces at rest       */
    double *trial;     /* n                                   */
    double *J;         /* n x n: d residual / d eta           */
    double *inverse_d; /* n                                   */
    double *step;      /* n                                   */
};

/* residual = h(q, 0): what the inverse dynamics of rest asks for */
static double residual(struct sim *sim, struct equilibrium *e, double *out)
{
    const struct input rest = {.q = sim->q, .qd = sim->qd, .tip_wrench = sim->tip_wrench}; /* prescribed joints too */
    double sum = 0;
    dyn_configuration(sim->model, sim->work, sim->q);
    dyn_inverse(sim->model, sim->work, &rest, NULL, sim->force);
    for (int i = 0; i < e->n; i++) {
        out[i] = sim->force[e->coordinate[i]];
        sum += out[i] * out[i];
    }
    return sqrt(sum);
}

/* Central differences: only the speed of Newton's iteration depends on them, not where it ends */
static void jacobian(struct sim *sim, struct equilibrium *e)
{
    for (int j = 0; j < e->n; j++) {
        double *x = &sim->q[e->coordinate[j]];
        const double kept = *x, h = 1e-6 * (1 + fabs(kept));
        *x = kept + h;
        residual(sim, e, e->trial);
        for (int i = 0; i < e->n; i++) e->J[e->n * i + j] = e->trial[i];
        *x = kept - h;
        residual(sim, e, e->trial);
        for (int i = 0; i < e->n; i++) e->J[e->n * i + j] = (e->J[e->n * i + j] - e->trial[i]) / (2 * h);
        *x = kept;
    }
    for (int i = 0; i < e->n; i++) /* the Hessian of the potential, but for a torque on the tip: its symmetric part */
        for (int j = 0; j < i; j++) e->J[e->n * j + i] = 0.5 * (e->J[e->n * j + i] + e->J[e->n * i + j]);
}

/* |K eta|: the size of forces that cancel each other where the search begins at an equilibrium */
static double strain_force(const struct sim *sim)
{
    double sum = 0;
    for (int i = 0; i < sim->model->n_links; i++) {
        const struct link_model *lm = &sim->model->link[i];
        for (int j = 0; j < lm->m; j++) {
            double force = 0;
            for (int k = 0; k < lm->m; k++) force += lm->body->K[lm->m * j + k] * sim->q[lm->eta + k];
            sum += force * force;
        }
    }
    return sqrt(sum);
}

/* Newton with step halving; the forces must balance to 1e-10 of what they were at first */
static enum status iterate(struct sim *sim, struct equilibrium *e)
{
    double norm = residual(sim, e, e->residual);
    const double first = fmax(norm, strain_force(sim));
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        if (norm <= 1e-10 * first) return STATUS_OK;
        jacobian(sim, e);
        memcpy(e->step, e->residual, (size_t)e->n * sizeof(double));
        if (cholesky_factor(e->n, e->J, e->inverse_d) != 0) break;
        cholesky_solve(e->n, e->J, e->inverse_d, e->step);
        double share = 1, next = INFINITY;
        for (int i = 0; i < e->n; i++) sim->q[e->coordinate[i]] -= e->step[i];
        for (next = residual(sim, e, e->trial); !(next < norm) && share > 1e-6; next = residual(sim, e, e->trial)) {
            share *= 0.5;
            for (int i = 0; i < e->n; i++) sim->q[e->coordinate[i]] += share * e->step[i];
        }
        if (!(next < norm)) break;
        norm = next;
        memcpy(e->residual, e->trial, (size_t)e->n * sizeof(double));
    }
    if (norm <= 1e-8 * first) return STATUS_OK; /* rounding is all that is left */
    report_add(sim->report, REPORT_ERROR,
               "%s: no static equilibrium found: forces of %.3g remain of %.3g; start with start_static = false",
               sim->name, norm, first);
    return STATUS_NO_EQUILIBRIUM;
}

enum status sim_find_equilibrium(struct sim *sim)
{
    struct arena scratch = {0};
    const size_t n = (size_t)sim->model->n;
    struct equilibrium e = {.coordinate = arena_take(&scratch, n, sizeof(int)),
                            .residual = arena_take(&scratch, n, sizeof(double)),
                            .trial = arena_take(&scratch, n, sizeof(double)),
                            .J = arena_take(&scratch, n * n, sizeof(double)),
                            .inverse_d = arena_take(&scratch, n, sizeof(double)),
                            .step = arena_take(&scratch, n, sizeof(double))};
    enum status status = STATUS_NO_MEMORY;
    if (!scratch.failed) {
        for (int i = 0; i < sim->model->n_links; i++)
            for (int k = 0; k < sim->model->link[i].m; k++) e.coordinate[e.n++] = sim->model->link[i].eta + k;
        memset(sim->qd, 0, n * sizeof(double));
        status = e.n > 0 ? iterate(sim, &e) : STATUS_OK;
    }
    arena_release(&scratch);
    return status;
}
