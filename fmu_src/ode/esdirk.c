#include "ode/methods.h"

#include <math.h>
#include <string.h>

#include "ode/combination.h"
#include "ode/pairs.h"
#include "ode/tableau.h"

/* Newton: a stage has converged when its error is this fraction of the tolerance. The fraction is small because the error of the method
   is far below its estimate, and errors of the iteration accumulate from step to step. */
static const double CONVERGED = 1e-3, CONVERGED_LOW = 1e-2;

/* The contraction rate of an iteration is known from earlier ones; since most stages need a single iteration, which does not show the
   rate, the estimate grows until a stage needs a second one. After a rate above SLOW the matrix is factored at every stage for some
   steps. */
static const double FIRST_RATE = 0.1, LEAST_RATE = 1e-4, KEPT = 0.5, GROWTH = 1.02, SLOW = 0.1, WORST = 0.9,
                    DIVERGES = 2;
enum { SLOW_STEPS = 3, MOST_ITERATIONS = 8, FIXED_ITERATIONS = 2, FIXED_ITERATIONS_COUPLED = 3 };

/* The factors of N are kept for at most MOST_AGE steps of equal gamma, and only until an iteration contracts by less than STALE */
static const double SAME_GAMMA = 1e-6, STALE = 0.03;
enum { MOST_AGE = 12 };

/* points of the predictor; a point of an earlier step is skipped if it is closer to t than this fraction of h */
enum { POINTS = 3 };
static const double NEAR = 1e-3;

/* the method's scalars of the memory */
enum { N_PAST, SLOW_LEFT, KEPT_GAMMA, AGE };

/* The factor of the error estimate with which errors of the low order are as large as those of the high one (bench/integration.py),
   and after a jump of the inputs, when the predictor has no past (found with the problems with held inputs of bench/gains.py) */
static const double LOW_FACTOR = 0.05, LOW_FACTOR_AFTER_JUMP = 0.2;

struct esdirk {
    struct one_step s;
    const struct tableau *tableau;
    double *past_time, *past_y, *past_z; /* in the memory: stages of the last step, times before t */
    double *kept_y;                      /* in the memory: where N was factored                           */
    double *k, *Y, *Z;                   /* by stages: ydot, y = (X; V), z = (a; lambda)                  */
    double *star, *guess;                /* y* of a stage; y of the predictor                             */
    double *r;
    double gamma; /* h A_ii */
};

/* ---- a stage --------------------------------------------------------------------------------------------------------------- */

/* y = (X; V) of the accelerations in z */
static void place_stage(struct esdirk *e, const double *z, double *y)
{
    const struct ode *ode = e->s.base.ode;
    const double *v_star = e->star + ode->n_x;
    double *v = y + ode->n_x;
    for (int i = 0; i < ode->n_v; i++) v[i] = v_star[i] + e->gamma * z[i];
    stage_positions(&e->s.stage, e->gamma, e->star, y);
}

/* Points of time with y and z, of earlier stages and of the last step */
struct points {
    int count;
    double time[POINTS];
    const double *y[POINTS], *z[POINTS];
};

static void add_point(struct points *points, double time, const double *y, const double *z)
{
    if (points->count == POINTS) return;
    points->time[points->count] = time;
    points->y[points->count] = y;
    points->z[points->count++] = z;
}

/* The polynomial at stage i through the latest points, this stage's predecessors first */
static void extrapolate_points(struct esdirk *e, int i, double h, double *z)
{
    const struct one_step *s = &e->s;
    const double t = e->tableau->c[i] * h;
    struct points points = {0};
    for (int j = i - 1; j > 0; j--) add_point(&points, e->tableau->c[j] * h, e->Y + s->n * j, e->Z + s->n_z * j);
    add_point(&points, 0, s->y, s->z);
    for (int j = 0; j < saved_count(s->now->own[N_PAST], POINTS - 1); j++)
        if (e->past_time[j] > NEAR * h)
            add_point(&points, -e->past_time[j], e->past_y + s->n * j, e->past_z + s->n_z * j);
    struct combination y_terms, z_terms;
    y_terms.count = z_terms.count = 0;
    for (int a = 0; a < points.count; a++) {
        double weight = 1;
        for (int b = 0; b < points.count; b++)
            if (b != a) weight *= (t - points.time[b]) / (points.time[a] - points.time[b]);
        combination_add(&y_terms, weight, points.y[a]);
        combination_add(&z_terms, weight, points.z[a]);
    }
    combination_sum(&y_terms, s->n, e->guess);
    combination_sum(&z_terms, s->n_z, z);
}

/* The predictor: M a + D v + K x changes smoothly, even where stiff modes oscillate, so it is extrapolated, not a:
       N (a - a_e) = K (x_e - X(a_e)) + D (v_e - V(a_e)),   subscript e: extrapolated                              (theory.md 76) */
static void predict_stage(struct esdirk *e, double *y, double *z)
{
    stage_stiffness(&e->s.stage, y, e->guess, e->r);
    stage_solve(&e->s.stage, e->r);
    for (int k = 0; k < e->s.n_z; k++) z[k] += e->r[k];
    place_stage(e, z, y);
}

/* One iteration: z -= N^-1 residual; *change: the norm of the change of y = (X; V) */
static enum status iterate_stage(struct esdirk *e, double t, double *y, double *z, double *change)
{
    const struct ode *ode = e->s.base.ode;
    const double *weight = e->s.weight, gamma = e->gamma;
    const int matched = ode->n_quaternions == 0 ? ode->n_x : 0; /* position i has velocity i */
    const enum status status = stage_residual(&e->s.stage, t, y, z, e->r);
    double sum = 0;
    if (status != STATUS_OK) return status;
    stage_solve(&e->s.stage, e->r);
    for (int i = 0; i < e->s.n_z; i++) z[i] -= e->r[i];
    place_stage(e, z, y);
    for (int i = 0; i < ode->n_v; i++) {
        const double dv = gamma * e->r[i], x = i < matched ? gamma * weight[i] : 0, v = weight[ode->n_x + i];
        sum += dv * dv * (v * v + x * x);
    }
    *change = sqrt(sum / e->s.n);
    e->s.stage.count.newton_iterations++;
    return STATUS_OK;
}

/* Newton's iteration from the predicted z, until the estimate rate/(1 - rate) change of its error is small */
static enum status solve_stage(struct esdirk *e, double t, double *y, double *z)
{
    struct one_step_scalars *now = e->s.now;
    const double enough = pairs_low(&e->s) ? CONVERGED_LOW : CONVERGED;
    double change, last = 0;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        const enum status status = iterate_stage(e, t, y, z, &change);
        if (status != STATUS_OK) return status;
        if (i == 0) {
            now->rate = fmin(fmax(GROWTH * now->rate, LEAST_RATE), WORST);
        } else {
            const double measured = change / last;
            if (!(change <= DIVERGES * last)) return STATUS_NEWTON;
            now->rate = fmax(measured, KEPT * now->rate);
            if (measured > SLOW && i > 1 && change > enough) now->own[SLOW_LEFT] = SLOW_STEPS;
            if (measured > STALE) now->own[AGE] = MOST_AGE;
        }
        const double rate = fmin(now->rate, WORST);
        if (change * rate <= enough * (1 - rate)) return STATUS_OK;
        last = change;
    }
    return STATUS_NEWTON;
}

/* ---- a step ---------------------------------------------------------------------------------------------------------------- */

/* N for stage i: at its predicted state if it is the first or if iterations converge slowly. The factors of an earlier step may be
   kept, but not those of the dense matrix, which depends on inputs too. */
static enum status find_matrix(struct esdirk *e, int i, double t)
{
    struct one_step *s = &e->s;
    double *own = s->now->own;
    const bool fixed = s->base.fixed_step > 0, slow = own[SLOW_LEFT] > 0;
    if (i > 1 && (fixed || !slow)) return STATUS_OK;
    if (!s->stage.dense && s->base.ode->matrix_of_state && !fixed && own[SLOW_LEFT] == 0 && own[AGE] < MOST_AGE &&
        fabs(e->gamma - own[KEPT_GAMMA]) <= SAME_GAMMA * e->gamma)
        return stage_keep_factors(&s->stage, t, e->kept_y, own[KEPT_GAMMA]);
    own[KEPT_GAMMA] = e->gamma;
    own[AGE] = 0;
    memcpy(e->kept_y, e->guess, (size_t)s->n * sizeof(double));
    return stage_factor(&s->stage, t, e->guess, e->gamma);
}

static enum status find_stage(struct esdirk *e, int i, double h, double *y, double *z)
{
    struct one_step *s = &e->s;
    const struct ode *ode = s->base.ode;
    const double t = s->t + e->tableau->c[i] * h, *A = e->tableau->A[i];
    struct combination terms; /* y* = y_0 + h sum_{j < i} A_ij k_j */
    terms.count = 0;
    combination_add(&terms, 1, s->y);
    combination_add(&terms, h * A[0], s->ydot);
    for (int j = 1; j < i; j++) combination_add(&terms, h * A[j], e->k + s->n * j);
    combination_sum(&terms, s->n, e->star);
    extrapolate_points(e, i, h, z);
    place_stage(e, z, y);
    enum status status = find_matrix(e, i, t);
    if (status != STATUS_OK) return status;
    predict_stage(e, y, z);
    if (s->base.fixed_step == 0) return solve_stage(e, t, y, z);
    /* the part of the exact matrix that N neglects is larger with loops, free rotations and states of drives */
    const bool drives = ode->residual != NULL && ode->n_x < ode->n_v;
    const bool coupled = ode->n_lambda > 0 || ode->n_quaternions > 0 || drives;
    const int iterations = coupled ? FIXED_ITERATIONS_COUPLED : FIXED_ITERATIONS;
    double change;
    for (int k = 0; k < iterations && status == STATUS_OK; k++) status = iterate_stage(e, t, y, z, &change);
    return status;
}

static enum status attempt(struct one_step *s, double h)
{
    struct esdirk *e = (struct esdirk *)(void *)s;
    const bool has_past = s->now->own[N_PAST] > 0;
    e->tableau = pairs_low(s) ? &ESDIRK3 : &ESDIRK5;
    const int last = e->tableau->stages - 1;
    e->gamma = h * e->tableau->gamma;
    if (s->now->rate == 0) s->now->rate = FIRST_RATE;
    for (int i = 1; i <= last; i++) {
        double *y = i == last ? s->y1 : e->Y + s->n * i, *z = i == last ? s->z1 : e->Z + s->n_z * i;
        const enum status status = find_stage(e, i, h, y, z);
        if (status != STATUS_OK) return status;
        stage_rates(&s->stage, y, z, i == last ? s->ydot1 : e->k + s->n * i);
    }
    const double *weight = e->tableau->e,
                 scale = pairs_low(s) ? h * (has_past ? LOW_FACTOR : LOW_FACTOR_AFTER_JUMP) : h;
    struct combination terms;
    terms.count = 0;
    combination_add(&terms, scale * weight[0], s->ydot);
    for (int j = 1; j < last; j++) combination_add(&terms, scale * weight[j], e->k + s->n * j);
    combination_add(&terms, scale * weight[last], s->ydot1);
    combination_sum(&terms, s->n, s->error);
    return STATUS_OK;
}

/* ---- from step to step ------------------------------------------------------------------------------------------------------ */

static void clear(struct one_step *s)
{
    s->now->own[N_PAST] = s->now->own[KEPT_GAMMA] = 0;
}

/* Keeps the last stages before the end for the predictor of the next step */
static void accept(struct one_step *s, double h)
{
    struct esdirk *e = (struct esdirk *)(void *)s;
    const int last = e->tableau->stages - 1;
    int count = 0;
    for (int j = last - 1; j > 0 && count < POINTS - 1; j--, count++) {
        e->past_time[count] = h * (1 - e->tableau->c[j]);
        memcpy(e->past_y + s->n * count, e->Y + s->n * j, (size_t)s->n * sizeof(double));
        memcpy(e->past_z + s->n_z * count, e->Z + s->n_z * j, (size_t)s->n_z * sizeof(double));
    }
    s->now->own[N_PAST] = count;
    if (s->now->own[SLOW_LEFT] > 0) s->now->own[SLOW_LEFT]--;
    s->now->own[AGE]++;
    pairs_accept(s);
}

/* Work of a step that begins with a jump: right-hand side, factors, and residual and two solutions a stage */
static const struct one_step_method esdirk_method = {.pair = {{5, 1.9 + 6 * 1.07}, {3, 1.9 + 3 * 1.07}},
                                                     .attempt = attempt,
                                                     .accept = accept,
                                                     .clear = clear,
                                                     .plan = pairs_plan};

enum status esdirk_make(const struct ode *ode, struct integrator **made)
{
    struct arena arena = {0};
    struct esdirk *e = arena_allocate(&arena, 1, sizeof *e);
    *made = NULL;
    if (arena.failed) return STATUS_NO_MEMORY;
    const int n_point = 1 + ode_states(ode) + ode->n_v + ode->n_lambda;
    one_step_make(&e->s, &esdirk_method, ode, (POINTS - 1) * n_point + ode_states(ode), &arena);
    const size_t n = (size_t)e->s.n, n_z = (size_t)e->s.n_z;
    arena_arrays(&arena, MOST_STAGES * n, ARRAYS(&e->k, &e->Y));
    e->Z = arena_allocate(&arena, MOST_STAGES * n_z, sizeof(double));
    arena_arrays(&arena, n, ARRAYS(&e->star, &e->guess));
    e->r = arena_allocate(&arena, n_z, sizeof(double));
    const enum status status = one_step_finish(&e->s, &arena, made);
    if (status != STATUS_OK) return status;
    e->past_time = e->s.own;
    e->past_y = e->past_time + POINTS - 1;
    e->past_z = e->past_y + (POINTS - 1) * n;
    e->kept_y = e->past_z + (POINTS - 1) * n_z;
    return STATUS_OK;
}
