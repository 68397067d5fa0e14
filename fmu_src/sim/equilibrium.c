/* The static start: elastic coordinates at rest under gravity, payload and wrenches on the tip and on frames, joints locked. In a
   closed robot passive joints are not locked but keep the loops closed, with multipliers that balance them:
       f(x) - G' lambda = 0,   gap(x) = 0. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "sim/robot_instance.h"

/* Where K is not definite although the loops leave no motion, mu is raised by this factor, so many times */
static const double STIFFER = 100;
enum { MOST_RAISES = 4 };

/* A torque on the tip has no potential: the symmetric part of the Jacobian then converges linearly, by a third or so a step */
enum { MOST_ITERATIONS = 500 };

struct equilibrium {
    int n, k;        /* coordinates that move, equations of loops               */
    int *coordinate; /* n: in qd                                                */
    double *f, *gap; /* n, k: residuals f - G' lambda and gaps             */
    double *G;       /* k x n                                                   */
    double *K;       /* n x n: df/dx + mu G'G                                   */
    double *Y;       /* k x n: K^-1 G'                                          */
    double *S;       /* k x k: G K^-1 G'                                        */
    double *inverse_d, *inverse_s;
    double *dx, *dlambda;
    double mu; /* makes K definite off the loops [N/m]                    */
};

static struct input at_rest(const struct sim *sim)
{
    return (struct input){.q = sim->at.q, /* prescribed joints too */
                          .qd = sim->at.qd,
                          .tip_wrench = sim->at.tip_wrench,
                          .frame_wrench = sim->at.frame_wrench,
                          .actuator_force = sim->actuator_force};
}

/* Fills f, gap and G; the norm of the residual, gaps weighted by mu; infinite where an actuator has no
   direction */
static double residual(struct sim *sim, struct equilibrium *e)
{
    const struct input rest = at_rest(sim);
    const struct constraints *loops = sim->mechanism.constraints;
    double sum = 0;
    dyn_configuration(sim->mechanism.model, sim->mechanism.work, sim->at.q);
    struct input actuated;
    if (actuators_apply(&sim->mechanism, &rest, &actuated) != STATUS_OK) return INFINITY;
    dyn_inverse(sim->mechanism.model, sim->mechanism.work, &actuated, NULL, sim->force);
    dyn_velocity(sim->mechanism.model, sim->mechanism.work, &rest);
    constraints_rows(&sim->mechanism);
    for (int i = 0; i < e->n; i++) e->f[i] = sim->force[e->coordinate[i]];
    for (int k = 0; k < e->k; k++) {
        const double *G = loops->G + (size_t)sim->mechanism.model->nv * (size_t)k;
        e->gap[k] = loops->gap[loops->active[k]];
        sum += e->mu * e->gap[k] * e->mu * e->gap[k];
        for (int i = 0; i < e->n; i++) {
            e->G[e->n * k + i] = G[e->coordinate[i]];
            e->f[i] -= loops->lambda[loops->active[k]] * G[e->coordinate[i]];
        }
    }
    for (int i = 0; i < e->n; i++) sum += e->f[i] * e->f[i];
    return sqrt(sum);
}

/* K = df/dx by the tangent of the recursion, the multipliers constant; symmetric: the Hessian of the potential */
static void stiffness(struct sim *sim, struct equilibrium *e)
{
    const size_t n = (size_t)sim->mechanism.model->nv;
    constraints_set_loads(&sim->mechanism);
    const struct input rest = at_rest(sim), in = mechanism_loaded(&sim->mechanism, &rest);
    dyn_inverse(sim->mechanism.model, sim->mechanism.work, &in, NULL, sim->force);
    memset(sim->qdd, 0, n * sizeof(double));
    dyn_tangent_state(sim->mechanism.model, sim->mechanism.work, sim->mechanism.tangent, &in, sim->qdd);
    mechanism_force_jacobian(&sim->mechanism, &in, sim->by_q, sim->by_qd);
    for (int i = 0; i < e->n; i++)
        for (int j = i; j < e->n; j++) {
            const size_t a = (size_t)e->coordinate[i], b = (size_t)e->coordinate[j];
            e->K[e->n * i + j] = -0.5 * (sim->by_q[n * a + b] + sim->by_q[n * b + a]);
        }
    const bool first = e->mu == 0;
    for (int i = 0; first && e->k > 0 && i < e->n; i++) e->mu = fmax(e->mu, fabs(e->K[(e->n + 1) * i]));
    for (int k = 0; k < e->k; k++)
        for (int i = 0; i < e->n; i++)
            for (int j = i; j < e->n; j++) e->K[e->n * i + j] += e->mu * e->G[e->n * k + i] * e->G[e->n * k + j];
}

/* K dx - G' dlambda = -(f + mu G' gap),   G dx = -gap:   by the Schur complement S = G K^-1 G' */
static bool newton_step(struct equilibrium *e)
{
    const int n = e->n, k = e->k;
    if (cholesky_factor(n, e->K, e->inverse_d) != 0) return false;
    for (int i = 0; i < n; i++) e->dx[i] = -e->f[i];
    for (int c = 0; c < k; c++)
        for (int i = 0; i < n; i++) e->dx[i] -= e->mu * e->gap[c] * e->G[n * c + i];
    cholesky_solve(n, e->K, e->inverse_d, e->dx);
    memcpy(e->Y, e->G, (size_t)(n * k) * sizeof(double));
    for (int c = 0; c < k; c++) {
        cholesky_solve(n, e->K, e->inverse_d, e->Y + n * c);
        for (int b = 0; b <= c; b++) e->S[k * b + c] = dense_dot(n, e->G + n * b, e->Y + n * c);
        e->dlambda[c] = -e->gap[c] - dense_dot(n, e->G + n * c, e->dx);
    }
    if (cholesky_factor(k, e->S, e->inverse_s) != 0) return false;
    cholesky_solve(k, e->S, e->inverse_s, e->dlambda);
    for (int c = 0; c < k; c++)
        for (int i = 0; i < n; i++) e->dx[i] += e->dlambda[c] * e->Y[n * c + i];
    return true;
}

static void move(struct sim *sim, const struct equilibrium *e, double fraction)
{
    memset(sim->dx, 0, (size_t)sim->mechanism.model->nv * sizeof *sim->dx);
    for (int i = 0; i < e->n; i++) sim->dx[e->coordinate[i]] = e->dx[i];
    model_move(sim->mechanism.model, sim->at.q, sim->dx, fraction);
    for (int c = 0; c < e->k; c++)
        sim->mechanism.constraints->lambda[sim->mechanism.constraints->active[c]] += fraction * e->dlambda[c];
}

/* |K eta|: the size of forces that cancel each other where the search begins at an equilibrium */
static double strain_force(const struct sim *sim)
{
    double sum = 0;
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        const struct link_model *lm = &sim->mechanism.model->link[i];
        for (int j = 0; j < lm->m; j++) {
            double force = 0;
            for (int k = 0; k < lm->m; k++) force += lm->body->K[lm->m * j + k] * sim->at.q[lm->eta_q + k];
            sum += force * force;
        }
    }
    return sqrt(sum);
}

/* A Newton step, with a larger mu where K is not definite: motions that open the loops must cost more than gravity gains by them */
static bool definite_step(struct sim *sim, struct equilibrium *e, double *norm)
{
    for (int raises = 0;; raises++) {
        stiffness(sim, e);
        if (newton_step(e)) return true;
        if (e->k == 0 || raises == MOST_RAISES) return false;
        e->mu = e->mu > 0 ? STIFFER * e->mu : *norm; /* 0: sliders only */
        *norm = residual(sim, e);
    }
}

/* Newton with step halving; the residual must fall to 1e-10 of its first value */
static enum status iterate(struct sim *sim, struct equilibrium *e)
{
    double norm = residual(sim, e);
    const double first = fmax(norm, strain_force(sim));
    if (isinf(norm)) return STATUS_SHORT_ACTUATOR;
    for (int iteration = 0; iteration < MOST_ITERATIONS && norm > 1e-10 * first; iteration++) {
        if (!definite_step(sim, e, &norm)) break;
        double share = 1, next = INFINITY;
        move(sim, e, share);
        for (next = residual(sim, e); !(next < norm) && share > 1e-6; next = residual(sim, e)) {
            share *= 0.5;
            move(sim, e, -share);
        }
        if (!(next < norm)) break;
        norm = next;
    }
    if (norm <= 1e-8 * first) return STATUS_OK; /* 1e-10, or only rounding remains */
    report_add(sim->instance.report, REPORT_ERROR,
               "%s: no static equilibrium found: forces of %.3g remain of %.3g; start with start_static = false",
               sim->instance.name, norm, first);
    return STATUS_NO_EQUILIBRIUM;
}

/* The size of what actuators balance: weight, wrenches on the tip and on frames, strain, their own forces */
static double load_size(const struct sim *sim)
{
    const int n_wrenches = 6 * (1 + sim->robot->n_frames);
    double mass = 0, forces = 0;
    for (int i = 0; i < sim->mechanism.model->n_links; i++)
        mass += sim->mechanism.work->link[i].self.m + sim->mechanism.work->link[i].load.m;
    for (int a = 0; a < sim->balance.n; a++) forces += fabs(sim->actuator_force[a]);
    return mass * sqrt(dense_dot(3, sim->mechanism.model->gravity, sim->mechanism.model->gravity)) + strain_force(sim) +
           forces + sqrt(dense_dot(n_wrenches, sim->at.tip_wrench, sim->at.tip_wrench));
}

/* The same with the forces of actuators that hold joints in place of drives: these bend links, which rotates their lines a little */
static enum status balance_too(struct sim *sim, struct equilibrium *e)
{
    double change = INFINITY;
    enum status status = balance_at_rest(sim, &change);
    for (int i = 0; i < MOST_ITERATIONS && status == STATUS_OK && change > 1e-13 * load_size(sim); i++) {
        if (e->n > 0) status = iterate(sim, e);
        if (status == STATUS_OK) status = balance_at_rest(sim, &change);
    }
    return status == STATUS_OK && !(change <= 1e-8 * load_size(sim)) ? STATUS_NO_EQUILIBRIUM : status;
}

static void choose_coordinates(const struct sim *sim, struct equilibrium *e)
{
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        const struct link_model *lm = &sim->mechanism.model->link[i];
        for (int k = 0; e->k > 0 && lm->passive && k < lm->joint.nv; k++) e->coordinate[e->n++] = lm->v + k;
        for (int m = 0; m < lm->m; m++) e->coordinate[e->n++] = lm->eta_v + m;
    }
}

enum status sim_find_equilibrium(struct sim *sim)
{
    struct arena scratch = {0};
    const size_t n = (size_t)sim->mechanism.model->nv, k = (size_t)sim->mechanism.constraints->n_active;
    struct equilibrium e = {.k = (int)k,
                            .coordinate = arena_take(&scratch, n, sizeof(int)),
                            .f = arena_take(&scratch, n, sizeof(double)),
                            .gap = arena_take(&scratch, k, sizeof(double)),
                            .G = arena_take(&scratch, k * n, sizeof(double)),
                            .K = arena_take(&scratch, n * n, sizeof(double)),
                            .Y = arena_take(&scratch, k * n, sizeof(double)),
                            .S = arena_take(&scratch, k * k, sizeof(double)),
                            .inverse_d = arena_take(&scratch, n, sizeof(double)),
                            .inverse_s = arena_take(&scratch, k, sizeof(double)),
                            .dx = arena_take(&scratch, n, sizeof(double)),
                            .dlambda = arena_take(&scratch, k, sizeof(double))};
    enum status status = STATUS_NO_MEMORY;
    if (!scratch.failed) {
        choose_coordinates(sim, &e);
        memset(sim->at.qd, 0, n * sizeof(double));
        memset(sim->mechanism.constraints->lambda, 0, (size_t)sim->mechanism.constraints->n_rows * sizeof(double));
        status = e.n > 0 ? iterate(sim, &e) : STATUS_OK;
        if (status == STATUS_OK && sim->balance.n > 0) status = balance_too(sim, &e);
    }
    arena_release(&scratch);
    return status;
}
