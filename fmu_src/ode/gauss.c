#include "ode/methods.h"

#include <math.h>
#include <string.h>

#include "ode/gauss_solver.h"

enum { S = GAUSS_STAGES };

static const double C[S] = {0.04691007703066800360, 0.23076534494715845448, 0.5, 0.76923465505284154552,
                            0.95308992296933199640};
static const double B[S] = {0.11846344252809454376, 0.23931433524968323402, 0.28444444444444444444,
                            0.23931433524968323402, 0.11846344252809454376};
static const double A[S][S] = {{0.05923172126404727188, -0.01957036435907603749, 0.01125440081864295555,
                                -0.00559379366081218488, 0.00158811296786599854},
                               {0.12815100567004528350, 0.11965716762484161701, -0.02459211461964220039,
                                0.01031828067068335741, -0.00276899439876960304},
                               {0.11377628800422460253, 0.26000465168064151859, 0.14222222222222222222,
                                -0.02069031643095828457, 0.00468715452386994123},
                               {0.12123243692686414680, 0.22899605457899987661, 0.30903655906408664483,
                                0.11965716762484161701, -0.00968756314195073974},
                               {0.11687532956022854522, 0.24490812891049541890, 0.27319004362580148889,
                                0.25888469960875927151, 0.05923172126404727188}};

/* Weights of the stages in the value of their polynomial at the start of the step */
static const double AT_START[S] = {1.55140804909431301281, -0.89315839200007173733, 0.53333333333333333333,
                                   -0.26794165222338750930, 0.07635866179581290048};

/* Of a(t) = sum_k alpha_k P_k(2 t/h - 1) through the stages, P_k Legendre's polynomials: alpha_1 to alpha_4 */
static const double LEGENDRE[S - 1][S] = {{-0.32204755229841746931, -0.38659027500089126226, 0.00000000000000000000,
                                           0.38659027500089126226, 0.32204755229841746931},
                                          {0.43342389699652308410, -0.07786834144096752855, -0.71111111111111111111,
                                           -0.07786834144096752855, 0.43342389699652308410},
                                          {-0.41547714135083258685, 0.69919864488923337627, -0.00000000000000000000,
                                           -0.69919864488923337627, 0.41547714135083258685},
                                          {0.26199601592044532879, -0.74199601592044532879, 0.96000000000000000000,
                                           -0.74199601592044532879, 0.26199601592044532879}};

/* Newton: the stages have converged when their error, in the norm of the error test, is below CONVERGED and below
   ENERGY sqrt(rtol) of the size of the state: what an iteration leaves damps or excites a mode at each step. A
   contraction that is not measured again is trusted less by FADES at each step. */
static const double CONVERGED = 1e-4, ENERGY = 1e-7, WORST = 0.9, FIRST_RATE = 0.01, LEAST_RATE = 1e-4, FADES = 1.2;

/* The linear systems are solved to this fraction of the error that the nonlinear terms leave. An error of 1 in an eigenvector of
   A is an error of up to 70 in a stage. */
static const double LINEAR = 1e-2;
enum { MOST_ITERATIONS = 15, FIXED_ITERATIONS = 3, FIXED_DIRECTIONS = 3 };

/* Iterations of the positions of quaternions at given angular velocities */
enum { MOST_SWEEPS = 20, FIXED_SWEEPS = 4 };

/* The step size is held. It grows at once if the error and the contraction of the iteration allow it to grow by
   ATTRACTIVE, and by GROWTH if all of many steps allow that: PATIENCE, and MORE times as many after each step that
   had to be repeated. What is held grows, not what remains of it when a communication step is divided equally. */
static const double GROWTH = 1.07, ATTRACTIVE = 2, MOST_GROWTH = 5, AIM = 0.6, AIM_RATE = 0.15;
static const double LESS = 0.97, MUCH_LESS = 0.8;
enum { PATIENCE = 30, MORE = 2, EXPONENT = 10 };

/* The method's scalars of the memory: the step size, whether it was tried and not accepted, steps with it, their
   largest error, steps to wait before it grows; the norm of the last first correction */
enum { HELD, TRIED, STEPS, LARGEST_ERROR, WAIT, FIRST_CHANGE };

struct gauss {
    struct one_step s;
    struct gauss_solver solver;
    double *square; /* n_v: squares of weights; accelerations da change the state by h weight da */
    double *z;      /* S x n_z: accelerations and multipliers */
    double *y;      /* S x n: states */
    double *rate;   /* S x n_x: rates of positions */
    double *r;      /* S x n_z: residuals, then corrections */
    double *d;      /* n_z */
};

/* sum = start + h sum_j weight_j term_j, of n numbers; the terms are `stride` apart */
static void add_stages(int n, const double *start, double h, const double weight[S], const double *term, int stride,
                       double *sum)
{
    const double w[S] = {h * weight[0], h * weight[1], h * weight[2], h * weight[3], h * weight[4]};
    const double *t0 = term, *t1 = t0 + stride, *t2 = t1 + stride, *t3 = t2 + stride, *t4 = t3 + stride;
    for (int i = 0; i < n; i++)
        sum[i] = start[i] + (w[0] * t0[i] + w[1] * t1[i] + w[2] * t2[i] + w[3] * t3[i] + w[4] * t4[i]);
}

/* ---- states of the stages ------------------------------------------------------------------------------------------------ */

/* One iteration of X = x + h A T(X) V for quaternions; returns the largest change */
static double sweep_positions(struct gauss *g, double h)
{
    const struct ode *ode = g->s.base.ode;
    double change = 0;
    for (int i = 0; i < S; i++) ode_position_rates(ode, g->y + g->s.n * i, g->rate + ode->n_x * i);
    for (int i = 0; i < S; i++) {
        double *x = g->y + g->s.n * i;
        double before[4];
        for (int k = 0; k < ode->n_quaternions; k++) {
            const int at = ode->quaternion[k].x;
            memcpy(before, x + at, sizeof before);
            add_stages(4, g->s.y + at, h, A[i], g->rate + at, ode->n_x, x + at);
            for (int c = 0; c < 4; c++) change = fmax(change, fabs(x[at + c] - before[c]));
        }
    }
    return change;
}

/* V = v + h A a,  X = x + h A T(X) V. The quaternions' equation is solved by iteration from the present X. */
static void place_stages(struct gauss *g, double h)
{
    const struct ode *ode = g->s.base.ode;
    const int n = g->s.n, n_x = ode->n_x;
    const bool fixed = g->s.base.fixed_step > 0;
    for (int i = 0; i < S; i++) add_stages(ode->n_v, g->s.y + n_x, h, A[i], g->z, g->s.n_z, g->y + n * i + n_x);
    for (int i = 0; i < S; i++) ode_position_rates(ode, g->y + n * i, g->rate + n_x * i);
    for (int i = 0; i < S; i++) add_stages(n_x, g->s.y, h, A[i], g->rate, n_x, g->y + n * i);
    if (ode->n_quaternions == 0) return;
    for (int k = 0; k < (fixed ? FIXED_SWEEPS : MOST_SWEEPS); k++)
        if (sweep_positions(g, h) < 1e-15 && !fixed) break;
    for (int i = 0; i < S; i++) ode_position_rates(ode, g->y + n * i, g->rate + n_x * i);
}

/* ---- iteration ----------------------------------------------------------------------------------------------------------- */

static double converged(const struct gauss *g)
{
    return fmin(CONVERGED, ENERGY / sqrt(g->s.relative_tolerance));
}

/* z -= (the linear system)^-1 r, with an error of at most `absolute` or `relative` of the right-hand side */
static void correct_stages(struct gauss *g, double h, double absolute, double relative)
{
    const bool fixed = g->s.base.fixed_step > 0;
    const struct gauss_effort effort = {.absolute = fmax(absolute, LINEAR * converged(g)),
                                        .relative = relative,
                                        .most = fixed ? FIXED_DIRECTIONS : GAUSS_DIRECTIONS,
                                        .exactly = fixed};
    gauss_solve(&g->solver, h, &effort, g->r);
    for (int i = 0; i < S * g->s.n_z; i++) g->z[i] -= g->r[i];
    place_stages(g, h);
}

/* The stages of the linear part: from a = a0, where the residuals are K (X - x0) + D (V - v0) with X - x0 = c h v0 +
   c^2 h^2/2 a0 and V - v0 = c h a0 */
static void predict_stages(struct gauss *g, double h)
{
    struct one_step *s = &g->s;
    const int n = s->n_z;
    double *slope = g->r, *bend = g->d; /* residual = c h slope + (c h)^2/2 bend */
    const double *v = s->y + s->base.ode->n_x, *a = s->z;
    for (int i = 0; i < S; i++) {
        memcpy(g->z + n * i, s->z, (size_t)n * sizeof(double));
        memcpy(g->y + s->n * i, s->y, (size_t)s->n * sizeof(double));
    }
    memset(s->error, 0, (size_t)s->n * sizeof(double));
    stage_forces(&s->stage, a, s->error, bend);
    stage_forces(&s->stage, v, a, slope);
    for (int i = S - 1; i >= 0; i--) /* the first, which is `slope`, is last */
        for (int k = 0; k < n; k++) g->r[n * i + k] = C[i] * h * (slope[k] + C[i] * h / 2 * bend[k]);
    correct_stages(g, h, LINEAR * s->now->own[FIRST_CHANGE], 0);
}

/* One iteration: z -= corrections; `change` is the norm of all of them */
static enum status iterate_stages(struct gauss *g, double h, double *change)
{
    struct one_step *s = &g->s;
    for (int i = 0; i < S; i++) {
        const enum status status =
            stage_residual(&s->stage, s->t + C[i] * h, g->y + s->n * i, g->z + s->n_z * i, g->r + s->n_z * i);
        if (status != STATUS_OK) return status;
    }
    correct_stages(g, h, 0, LINEAR * s->now->rate);
    s->stage.count.newton_iterations++;
    double sum = 0;
    for (int i = 0; i < S; i++) {
        const double norm = gauss_norm(&g->solver, h, g->r + s->n_z * i);
        sum += norm * norm;
    }
    *change = sqrt(sum);
    return isfinite(sum) ? STATUS_OK : STATUS_NEWTON;
}

static enum status iterate_to_convergence(struct gauss *g, double h)
{
    struct one_step_scalars *now = g->s.now;
    const double enough = converged(g);
    double change, last = 0;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        const enum status status = iterate_stages(g, h, &change);
        if (status != STATUS_OK) return status;
        if (i == 0) now->own[FIRST_CHANGE] = change;
        if (i > 0 && !(change < 2 * last)) return STATUS_NEWTON;
        if (i > 0) now->rate = fmax(change / last, i > 1 ? now->rate : LEAST_RATE);
        const double rate = fmin(now->rate, WORST);
        if (change * rate / (1 - rate) <= enough) {
            if (i == 0 && change > enough) now->rate *= FADES;
            return STATUS_OK;
        }
        last = change;
    }
    return STATUS_NEWTON;
}

/* ---- error --------------------------------------------------------------------------------------------------------------- */

/* d = N^-1 M (a0 - the polynomial through the stages at the start of the step), without modes that are far faster
   than the step */
static void start_defect(struct gauss *g, double h)
{
    struct one_step *s = &g->s;
    const int n = s->base.ode->n_v;
    const double gamma = GAUSS_G * h;
    double *d = g->d, *dx = g->solver.dx, *dv = g->solver.dv;
    for (int k = 0; k < n; k++) {
        d[k] = s->z[k];
        for (int i = 0; i < S; i++) d[k] -= AT_START[i] * g->z[s->n_z * i + k];
        dv[k] = gamma * d[k];
        dx[k] = gamma * dv[k];
    }
    stage_forces(&s->stage, dx, dv, g->r);
    stage_solve(&s->stage, g->r);
    for (int k = 0; k < n; k++) d[k] -= g->r[k];
}

/* The error of a velocity over h (theory.md 83). Of an oscillation of frequency omega, z = h omega, it is 0.4 to 2.6
   times the true error for z from 2 to 5 */
static double velocity_error(const struct gauss *g, int k)
{
    double alpha[S] = {0};
    for (int m = 1; m < S; m++)
        for (int i = 0; i < S; i++) alpha[m] += LEGENDRE[m - 1][i] * g->z[g->s.n_z * i + k];
    const double low = alpha[1] * alpha[1] + alpha[2] * alpha[2], high = alpha[3] * alpha[3] + alpha[4] * alpha[4];
    const double square = high < 0.007 * low ? 60 * sqrt(high / low) : 5; /* z^2, if it is small */
    const double small = g->d[k] * g->d[k] + 0.003 * square * alpha[4] * alpha[4];
    return small > 0 ? small / (6 * sqrt(low + high + small)) : 0;
}

static void estimate_error(struct gauss *g, double h)
{
    struct one_step *s = &g->s;
    const int n_x = s->base.ode->n_x, n_v = s->base.ode->n_v;
    double *y = g->y; /* (x1; error of v) */
    start_defect(g, h);
    memcpy(y, s->y1, (size_t)n_x * sizeof *y);
    for (int k = 0; k < n_v; k++) y[n_x + k] = s->error[n_x + k] = h * velocity_error(g, k);
    ode_position_rates(s->base.ode, y, s->error);
    for (int k = 0; k < n_x; k++) s->error[k] *= h / 3; /* 1/omega = h/z */
}

static enum status attempt(struct one_step *s, double h)
{
    struct gauss *g = (struct gauss *)(void *)s;
    const struct ode *ode = s->base.ode;
    const int n_x = ode->n_x, n_v = ode->n_v;
    double change;
    s->now->own[TRIED] = 1;
    if (s->now->rate == 0) s->now->rate = FIRST_RATE;
    for (int i = 0; i < n_v; i++) { /* da changes velocities by h da and positions by about h^2 da/2 */
        const double x = i < n_x ? 0.5 * h * s->weight[i] : 0, v = s->weight[n_x + i];
        g->square[i] = v * v + x * x;
    }
    /* factors in the middle of the step */
    for (int i = 0; i < s->n; i++) s->y1[i] = s->y[i] + (i < n_x ? h / 2 * s->ydot[i] : 0);
    enum status status = stage_factor(&s->stage, s->t + h / 2, s->y1, GAUSS_G * h);
    if (status != STATUS_OK) return status;
    predict_stages(g, h);
    if (s->base.fixed_step == 0) status = iterate_to_convergence(g, h);
    for (int i = 0; s->base.fixed_step > 0 && i < FIXED_ITERATIONS && status == STATUS_OK; i++)
        status = iterate_stages(g, h, &change);
    if (status != STATUS_OK) return status;
    add_stages(n_x, s->y, h, B, g->rate, n_x, s->y1);
    add_stages(n_v, s->y + n_x, h, B, g->z, s->n_z, s->y1 + n_x);
    if (s->base.fixed_step == 0) estimate_error(g, h);
    return STATUS_OK;
}

/* ---- step size: held as long as possible --------------------------------------------------------------------------------- */

static void hold_step_size(double *own, double h, double wait)
{
    own[HELD] = h;
    own[WAIT] = fmin(fmax(wait, PATIENCE), 1e6);
    own[STEPS] = own[LARGEST_ERROR] = 0;
}

static void accept(struct one_step *s, double h)
{
    double *own = s->now->own;
    own[TRIED] = 0;
    if (s->base.fixed_step > 0 || h < 0.5 * own[HELD]) return; /* cut short: its error is not used */
    own[STEPS]++;
    own[LARGEST_ERROR] = fmax(own[LARGEST_ERROR], one_step_norm(s, s->error));
    const double by_error = pow(AIM / fmax(own[LARGEST_ERROR], 1e-30), 1.0 / EXPONENT);
    const double growth = fmin(fmin(by_error, AIM_RATE / s->now->rate), MOST_GROWTH);
    if (growth > ATTRACTIVE) hold_step_size(own, h * growth, 0);
    else if (own[STEPS] >= own[WAIT])
        hold_step_size(own, fmax(own[HELD], fmin(GROWTH * own[HELD], growth * h)), own[WAIT]);
}

/* `allowed`, from the step control by the error, is used only for the first step, after a failure, and if it is a
   limit of the problem. After a failure that asks for a slightly shorter step, one step is shorter, and those that
   follow are shortened by the factor LESS. */
static double plan(struct one_step *s, double allowed, double remains)
{
    double *own = s->now->own, h = allowed;
    if (own[HELD] == 0) hold_step_size(own, allowed, 0);
    else if (own[TRIED] != 0)
        hold_step_size(own, allowed < MUCH_LESS * own[HELD] ? allowed : LESS * own[HELD], MORE * own[WAIT]);
    else h = allowed < s->now->h ? fmin(own[HELD], allowed) : own[HELD];
    return remains / ceil(remains / h * (1 - 1e-9));
}

static const struct one_step_method gauss_method = {
    .pair = {{.exponent = EXPONENT}}, .open_end = true, .attempt = attempt, .accept = accept, .plan = plan};

enum status gauss_make(const struct ode *ode, struct integrator **made)
{
    struct arena arena = {0};
    struct gauss *g = arena_allocate(&arena, 1, sizeof *g);
    *made = NULL;
    if (arena.failed) return STATUS_NO_MEMORY;
    one_step_make(&g->s, &gauss_method, ode, 0, &arena);
    const size_t n = (size_t)g->s.n, n_z = (size_t)g->s.n_z;
    g->square = arena_allocate(&arena, (size_t)ode->n_v, sizeof(double));
    arena_arrays(&arena, S * n_z, ARRAYS(&g->z, &g->r));
    g->y = arena_allocate(&arena, S * n, sizeof(double));
    g->rate = arena_allocate(&arena, S * (size_t)ode->n_x, sizeof(double));
    g->d = arena_allocate(&arena, n_z, sizeof(double));
    gauss_solver_make(&g->solver, &g->s.stage, g->square, &arena);
    return one_step_finish(&g->s, &arena, made);
}
