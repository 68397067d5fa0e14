#include "oracle/equations.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/quaternion.h"
#include "oracle/larger.h"

/* ---- pendulums -------------------- */

static enum status forced_pendulum_rhs(void *context, double t, const double *y, double *ydot)
{
    (void)context;
    ydot[0] = y[1];
    ydot[1] = -sin(y[0]) - 0.1 * y[1] + 0.3 * cos(t);
    return STATUS_OK;
}

static enum status forced_pendulum_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    (void)context, (void)t;
    A[0] = -cos(y[0]);
    B[0] = -0.1;
    return STATUS_OK;
}

const struct ode forced_pendulum = {
    .n_x = 1, .n_v = 1, .rhs = forced_pendulum_rhs, .jacobian = forced_pendulum_jacobian};

static enum status pendulum_rhs(void *context, double t, const double *y, double *ydot)
{
    (void)context, (void)t;
    ydot[0] = y[1];
    ydot[1] = -sin(y[0]);
    return STATUS_OK;
}

static enum status pendulum_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    (void)context, (void)t;
    A[0] = -cos(y[0]);
    B[0] = 0;
    return STATUS_OK;
}

const struct ode pendulum = {
    .n_x = 1, .n_v = 1, .oscillatory = true, .rhs = pendulum_rhs, .jacobian = pendulum_jacobian};

double pendulum_energy(const double y[2])
{
    return y[1] * y[1] / 2 - cos(y[0]);
}

/* ---- top -------------------- */

static const double J[3] = {1, 2, 2.5}, ARM[3] = {0.3, 0, 1};

/* e_z in body axes: the third row of R(q), of a quaternion of any length */
static void vertical(const double *q, double e[3])
{
    const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    e[0] = 2 * (q[1] * q[3] - q[0] * q[2]) / square;
    e[1] = 2 * (q[2] * q[3] + q[0] * q[1]) / square;
    e[2] = 1 - 2 * (q[1] * q[1] + q[2] * q[2]) / square;
}

static enum status top_rhs(void *context, double t, const double *y, double *ydot)
{
    (void)context, (void)t;
    const double *w = y + 4;
    double e[3];
    quaternion_rate(y, w, ydot);
    vertical(y, e);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        ydot[4 + i] = ((J[j] - J[k]) * w[j] * w[k] - (ARM[j] * e[k] - ARM[k] * e[j])) / J[i];
    }
    return STATUS_OK;
}

static enum status top_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    (void)context, (void)t;
    const double *w = y + 4;
    memset(A, 0, 9 * sizeof *A);
    memset(B, 0, 9 * sizeof *B);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        B[3 * j + i] = (J[j] - J[k]) * w[k] / J[i];
        B[3 * k + i] = (J[j] - J[k]) * w[j] / J[i];
    }
    return STATUS_OK;
}

static const struct quaternion_place top_place = {0, 0};
const struct ode top = {
    .n_x = 4, .n_v = 3, .n_quaternions = 1, .quaternion = &top_place, .rhs = top_rhs, .jacobian = top_jacobian};

double top_energy(const double y[7])
{
    const double *w = y + 4;
    double e[3], sum = 0;
    vertical(y, e);
    for (int i = 0; i < 3; i++) sum += J[i] * w[i] * w[i] / 2 + ARM[i] * e[i];
    return sum;
}

/* ---- the test equation -------------------- */

static enum status test_rhs(void *context, double t, const double *y, double *ydot)
{
    const double *lambda = context;
    (void)t;
    ydot[0] = lambda[0] * y[0] - lambda[1] * y[1];
    ydot[1] = lambda[1] * y[0] + lambda[0] * y[1];
    return STATUS_OK;
}

static enum status test_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    const double *lambda = context;
    (void)t, (void)y, (void)A;
    B[0] = B[3] = lambda[0];
    B[1] = lambda[1];
    B[2] = -lambda[1];
    return STATUS_OK;
}

struct ode test_equation(const double lambda[2])
{
    return (struct ode){.n_v = 2, .context = (void *)(size_t)lambda, .rhs = test_rhs, .jacobian = test_jacobian};
}

/* ---- tied masses -------------------- */

static double spring_force(const struct tied *p, const double *y, int i)
{
    return p->D[i] * y[2 + i] + p->K[i] * y[i] + p->beta * y[i] * y[i] * y[i];
}

static enum status tied_rhs(void *context, double t, const double *y, double *ydot)
{
    const struct tied *p = context;
    (void)t;
    ydot[0] = y[2];
    ydot[1] = y[3];
    ydot[2] = ydot[3] = -(spring_force(p, y, 0) + spring_force(p, y, 1)) / (p->M[0] + p->M[1]);
    return STATUS_OK;
}

/* Of the state after the last factor() or rhs() there is no record: a guess, which the iteration corrects */
static void tied_multipliers(void *context, double *mu)
{
    (void)context;
    *mu = 0;
}

static enum status tied_residual(void *context, double t, const double *y, const double *z, double *r)
{
    const struct tied *p = context;
    (void)t;
    r[0] = p->M[0] * z[0] + spring_force(p, y, 0) - z[2];
    r[1] = p->M[1] * z[1] + spring_force(p, y, 1) + z[2];
    r[2] = z[0] - z[1];
    return STATUS_OK;
}

static enum status tied_factor(void *context, double t, const double *y, double gamma)
{
    struct tied *p = context;
    (void)t, (void)y;
    memset(p->N, 0, sizeof p->N);
    for (int i = 0; i < 2; i++) {
        p->N[4 * i] = p->M[i] + gamma * (p->D[i] + gamma * p->K[i]);
        p->N[6 + i] = i == 0 ? -1 : 1;
        p->N[3 * i + 2] = i == 0 ? 1 : -1;
    }
    return lu_factor(3, p->N, p->pivot) == 0 ? STATUS_OK : STATUS_NEWTON_MATRIX;
}

static void tied_solve(void *context, double *r)
{
    const struct tied *p = context;
    lu_solve(3, p->N, p->pivot, r);
}

static void tied_stiffness(void *context, const double *dx, const double *dv, double *r)
{
    const struct tied *p = context;
    for (int i = 0; i < 2; i++) r[i] = p->K[i] * dx[i] + p->D[i] * dv[i];
    r[2] = 0;
}

struct ode tied_masses(struct tied *tied)
{
    return (struct ode){.n_x = 2,
                        .n_v = 2,
                        .n_lambda = 1,
                        .context = tied,
                        .rhs = tied_rhs,
                        .multipliers = tied_multipliers,
                        .residual = tied_residual,
                        .factor = tied_factor,
                        .solve = tied_solve,
                        .stiffness = tied_stiffness};
}

/* ---- single steps -------------------- */

enum status single_step(struct one_step *s, double t, const double *y, double h)
{
    s->t = t;
    s->y = y;
    s->relative_tolerance = 1e-12;
    s->now->rate = 0;
    for (int i = 0; i < s->n; i++) s->weight[i] = 1e12;
    const enum status status = stage_start(&s->stage, t, y, s->ydot, s->z);
    return status == STATUS_OK ? s->method->attempt(s, h) : status;
}

enum status several_steps(struct one_step *s, double t0, double *y, double h, int steps)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < steps && status == STATUS_OK; i++) {
        status = single_step(s, t0 + i * h, y, h);
        memcpy(y, s->y1, (size_t)s->n * sizeof *y);
    }
    return status;
}

double measured_order(struct one_step *s, double end, const double *y0, int steps)
{
    double error[2] = {0}, exact[16], y[16];
    const size_t size = (size_t)s->n * sizeof *y;
    memcpy(exact, y0, size);
    if (several_steps(s, 0, exact, end / (16 * steps), 16 * steps) != STATUS_OK) return NAN;
    for (int k = 0; k < 2; k++) {
        const int count = steps << k;
        memcpy(y, y0, size);
        if (several_steps(s, 0, y, end / count, count) != STATUS_OK) return NAN;
        for (int i = 0; i < s->n; i++) error[k] = larger(error[k], fabs(y[i] - exact[i]));
    }
    return log2(error[0] / error[1]);
}
