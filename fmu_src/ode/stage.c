#include "ode/stage.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/quaternion.h"

/* Cost of the functions in units of one evaluation of the right-hand side: instructions of the Canadarm (bench/integration.py).
   Multiples of 1/64, whose sums are exact: a choice by the work of a step must not depend on what was counted before. */
static const double FACTOR = 58. / 64, RESIDUAL = 51. / 64, SOLVE = 8. / 64, STIFFNESS = 2. / 64, JACOBIAN = 8;

enum { POWER_ITERATIONS = 8 };

void stage_make(struct stage *stage, const struct ode *ode, struct arena *arena)
{
    const size_t n = (size_t)ode->n_v;
    *stage = (struct stage){.ode = ode, .dense = ode->residual == NULL, .n_z = ode->n_v + ode->n_lambda};
    arena_arrays(arena, n, ARRAYS(&stage->dx, &stage->dv));
    newton_make(&stage->newton, ode, arena);
    stage->N = arena_allocate(arena, n * n, sizeof(double));
    stage->pivot = arena_allocate(arena, n, sizeof(int));
    stage->ydot = arena_allocate(arena, (size_t)ode_states(ode), sizeof(double));
}

void stage_configure(struct stage *stage, bool dense)
{
    stage->dense = dense || stage->ode->residual == NULL;
}

enum status stage_rhs(struct stage *stage, double t, const double *y, double *ydot)
{
    stage->count.rhs++;
    stage->count.work++;
    return stage->ode->rhs(stage->ode->context, t, y, ydot);
}

enum status stage_start(struct stage *stage, double t, const double *y, double *ydot, double *z)
{
    const struct ode *ode = stage->ode;
    const enum status status = stage_rhs(stage, t, y, ydot);
    memcpy(z, ydot + ode->n_x, (size_t)ode->n_v * sizeof *z);
    if (status == STATUS_OK && ode->n_lambda > 0) ode->multipliers(ode->context, z + ode->n_v);
    return status;
}

void stage_positions(const struct stage *stage, double gamma, const double *x_star, double *y)
{
    const struct ode *ode = stage->ode;
    const int *position = stage->newton.position;
    const double *v = y + ode->n_x;
    for (int j = 0; j < ode->n_v; j++)
        if (position[j] >= 0) y[position[j]] = x_star[position[j]] + gamma * v[j];
    for (int k = 0; k < ode->n_quaternions;
         k++) { /* X = P x*                                            (theory.md 78) */
        const struct quaternion_place *place = &ode->quaternion[k];
        const double *omega = v + place->v;
        newton_P(omega, gamma, newton_D(omega, gamma), x_star + place->x, y + place->x);
    }
}

void stage_rates(const struct stage *stage, const double *y, const double *z, double *ydot)
{
    const struct ode *ode = stage->ode;
    ode_position_rates(ode, y, ydot);
    memcpy(ydot + ode->n_x, z, (size_t)ode->n_v * sizeof *z);
}

static enum status record_cause(struct stage *stage, enum status status, enum status cause)
{
    if (status != STATUS_OK) stage->cause = cause;
    return status;
}

static enum status factor(struct stage *stage, double t, const double *y, double gamma)
{
    const struct ode *ode = stage->ode;
    enum status status;
    if (stage->dense) {
        stage->count.jacobians++;
        status = ode->jacobian(ode->context, t, y, stage->newton.A, stage->newton.B);
        if (status == STATUS_OK) {
            newton_matrix(&stage->newton, gamma, y, stage->N);
            if (lu_factor(ode->n_v, stage->N, stage->pivot) != 0) status = STATUS_NEWTON_MATRIX;
        }
    } else {
        status = ode->factor(ode->context, t, y, gamma);
    }
    stage->has_factors = status == STATUS_OK;
    return record_cause(stage, status, STATUS_NEWTON_MATRIX);
}

enum status stage_factor(struct stage *stage, double t, const double *y, double gamma)
{
    stage->count.factorizations++;
    stage->count.work += stage->dense ? JACOBIAN : FACTOR;
    return factor(stage, t, y, gamma);
}

enum status stage_keep_factors(struct stage *stage, double t, const double *y, double gamma)
{
    return stage->has_factors ? STATUS_OK : factor(stage, t, y, gamma);
}

enum status stage_residual(struct stage *stage, double t, const double *y, const double *z, double *r)
{
    const struct ode *ode = stage->ode;
    if (!stage->dense) {
        stage->count.residuals++;
        stage->count.work += RESIDUAL;
        return record_cause(stage, ode->residual(ode->context, t, y, z, r), STATUS_NO_RATES);
    }
    const enum status status = stage_rhs(stage, t, y, stage->ydot);
    for (int i = 0; i < ode->n_v; i++) r[i] = z[i] - stage->ydot[ode->n_x + i];
    for (int i = ode->n_v; i < stage->n_z; i++) r[i] = 0;
    return record_cause(stage, status, STATUS_NO_RATES);
}

void stage_forces(struct stage *stage, const double *dx, const double *dv, double *r)
{
    const struct ode *ode = stage->ode;
    const int n = ode->n_v;
    stage->count.work += STIFFNESS;
    if (!stage->dense) {
        ode->stiffness(ode->context, dx, dv, r);
        return;
    }
    memset(r, 0, (size_t)stage->n_z * sizeof *r);
    for (int j = 0; j < n; j++) {
        const double *A = stage->newton.A != NULL ? stage->newton.A + n * j : NULL, *B = stage->newton.B + n * j;
        for (int i = 0; i < n; i++) r[i] -= B[i] * dv[j] + (A != NULL ? A[i] * dx[j] : 0);
    }
}

void stage_stiffness(struct stage *stage, const double *y0, const double *y1, double *r)
{
    const struct ode *ode = stage->ode;
    const double *v0 = y0 + ode->n_x, *v1 = y1 + ode->n_x;
    for (int j = 0; j < ode->n_v; j++) {
        const int x = stage->newton.position[j];
        stage->dx[j] = x >= 0 ? y1[x] - y0[x] : 0;
        stage->dv[j] = v1[j] - v0[j];
    }
    stage_forces(stage, stage->dx, stage->dv, r);
}

void stage_solve(struct stage *stage, double *r)
{
    stage->count.work += SOLVE;
    if (stage->dense) lu_solve(stage->ode->n_v, stage->N, stage->pivot, r);
    else stage->ode->solve(stage->ode->context, r);
}

/* The largest eigenvalue of M^-1 K or, with `damping`, of M^-1 D, by power iteration from an unsymmetric vector */
static double largest_rate(struct stage *stage, bool damping, double *x)
{
    const int n = stage->ode->n_v;
    const bool first_order = stage->ode->n_x < n && stage->ode->n_x > 0;
    double rate = 0, before = 0;
    for (int i = 0; i < n; i++) x[i] = 1 + 0.618 * (i % 3) - 0.414 * (i % 2);
    memset(stage->dx, 0, (size_t)n * sizeof(double));
    memset(stage->dv, 0, (size_t)n * sizeof(double));
    for (int k = 0; k < POWER_ITERATIONS; k++) {
        const double norm = sqrt(dense_dot(n, x, x));
        double *direction = damping ? stage->dv : stage->dx;
        if (!(norm > 0)) return 0;
        before = rate;
        rate = norm;
        for (int i = 0; i < n; i++) direction[i] = x[i] / norm;
        stage_forces(stage, stage->dx, stage->dv, x);
        stage_solve(stage, x);
    }
    return damping && first_order ? sqrt(before * rate)
                                  : rate; /* oil springs couple v and w: two steps of the iteration */
}

double stage_fastest(struct stage *stage, double t, const double *y, double *scratch)
{
    if (stage_factor(stage, t, y, 0) != STATUS_OK) return INFINITY;
    const double damping = largest_rate(stage, true, scratch), stiffness = largest_rate(stage, false, scratch);
    stage->has_factors = false;
    return fmax(damping, sqrt(stiffness));
}
