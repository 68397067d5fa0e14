/* LQR in discrete time: the change over a sample, the Riccati equation, and the gain, against closed forms, for random systems,
   and for arms, in the loop with one. */
#include "controller/lqr.h"

#include "controller_rig.h"
#include "oracle/larger.h"

/* ---- what the solution must satisfy -------------------------------------------------------------------------------------- */

/* A - B F, row by row */
static void close_loop(const struct lqr *l, const double *F, double *closed)
{
    const int n = l->nx, m = l->nu;
    for (int i = 0; i < n * n; i++) {
        closed[i] = l->A[i];
        for (int k = 0; k < m; k++) closed[i] -= l->B[m * (i / n) + k] * F[n * k + i % n];
    }
}

/* A' X (A - B F) - X + Q over the largest element of X, F = (R + B' X B)^-1 B' X A */
static double residual(const struct lqr *l, const double *F)
{
    const int n = l->nx;
    static double closed[MOST * MOST], XC[MOST * MOST];
    double worst = 0, scale = 0;
    close_loop(l, F, closed);
    for (int i = 0; i < n * n; i++) {
        XC[i] = 0;
        for (int k = 0; k < n; k++) XC[i] += l->X[n * (i / n) + k] * closed[n * k + i % n];
    }
    for (int i = 0; i < n * n; i++) {
        double sum = l->Q[i] - l->X[i];
        for (int k = 0; k < n; k++) sum += l->A[n * k + i / n] * XC[n * k + i % n];
        worst = larger(worst, fabs(sum));
        scale = larger(scale, fabs(l->X[i]));
    }
    return worst / scale;
}

static double power_of_closed_loop(const struct lqr *l, const double *F, int doublings)
{
    static double C[MOST * MOST];
    close_loop(l, F, C);
    return largest_of_power(l->nx, C, doublings);
}

/* ---- closed forms -------------------------------------------------------------------------------------------------------- */

/* A damped oscillator over one sample: exp(A) and its integral in closed form, slow to fast */
TEST(one_sample_of_an_oscillator)
{
    for (double w = 1e-3; w < 100; w *= 3) {
        struct arena arena = {0};
        struct lqr l;
        CHECK(lqr_make(&l, 2, 1, &arena) == STATUS_OK);
        const double s = 0.01 * w, wd = sqrt(w * w - s * s), e = exp(-s);
        memcpy(l.A, (double[]){0, 1, -w * w, -2 * s}, 4 * sizeof(double));
        memcpy(l.B, (double[]){0, 1}, 2 * sizeof(double));
        lqr_discretize(&l);
        const double expected[] = {e * (cos(wd) + s / wd * sin(wd)), e * sin(wd) / wd, -w * w * e * sin(wd) / wd,
                                   e * (cos(wd) - s / wd * sin(wd))};
        for (int i = 0; i < 4; i++) CHECK_NEAR(l.A[i], expected[i], 1e-11 * (1 + w * w));
        CHECK_NEAR(l.B[0], (1 - expected[0]) / (w * w), 1e-9);
        CHECK_NEAR(l.B[1], expected[1], 1e-11);
        arena_release(&arena);
    }
}

/* x+ = a x + b u: X = (-p + sqrt(p^2 + 4 q r b^2))/(2 b^2) with p = r (1 - a^2) - q b^2; unstable ones too. The filter of
   x+ = a x, y = c x with noise q and r is the regulator of the dual system, b = c: the same X, and L = X c/(r + c^2 X) */
TEST(scalar_system)
{
    struct random random = {5};
    for (int trial = 0; trial < 400; trial++) {
        struct arena arena = {0};
        struct lqr l;
        double gain;
        CHECK(lqr_make(&l, 1, 1, &arena) == STATUS_OK);
        const bool filter = trial % 2 == 1;
        const double a = uniform(&random, -3, 3), b = uniform(&random, 0.1, 2), q = uniform(&random, 0.01, 2),
                     r = uniform(&random, 0.01, 2), p = r * (1 - a * a) - q * b * b;
        const double X = (-p + sqrt(p * p + 4 * q * r * b * b)) / (2 * b * b),
                     want = (filter ? 1 : a) * b * X / (r + b * b * X);
        *l.A = a, *l.B = b, *l.Q = q, *l.R = r;
        CHECK((filter ? lqr_filter : lqr_solve)(&l, &gain) == STATUS_OK);
        CHECK_NEAR(gain, want, 1e-10 * fabs(want));
        CHECK(fabs(a - (filter ? a : 1) * b * gain) < 1);
        if (!filter) CHECK_NEAR(*l.X, X, 1e-10 * X);
        arena_release(&arena);
    }
}

/* An oscillator over one step of the trapezoidal rule: a rotation without damping, by 2 atan(w/2) in place of w */
TEST(trapezoidal_step_of_an_oscillator)
{
    for (double w = 1e-3; w < 100; w *= 3) {
        struct arena arena = {0};
        struct lqr l;
        CHECK(lqr_make(&l, 2, 1, &arena) == STATUS_OK);
        memcpy(l.A, (double[]){0, 1, -w * w, 0}, 4 * sizeof(double));
        CHECK(lqr_step_trapezoidal(&l) == STATUS_OK);
        const double turn = 2 * atan(w / 2), expected[] = {cos(turn), sin(turn) / w, -w * sin(turn), cos(turn)};
        for (int i = 0; i < 4; i++) CHECK_NEAR(l.A[i], expected[i], 1e-12 * (1 + w));
        arena_release(&arena);
    }
}

/* ---- random systems ------------------------------------------------------------------------------------------------------ */

/* Eigenvalues about 1, as those of an arm over a sample are: some grow */
TEST(random_systems)
{
    struct random random = {11};
    for (int trial = 0; trial < 60; trial++) {
        struct arena arena = {0};
        struct lqr l;
        static double F[MOST * MOST];
        const int n = 1 + trial % 24, m = 1 + trial % 3;
        const double size = 1.1 * sqrt(3.0 / n);
        CHECK(lqr_make(&l, n, m, &arena) == STATUS_OK);
        for (int i = 0; i < n * n; i++) l.A[i] = uniform(&random, -size, size);
        for (int i = 0; i < n * m; i++) l.B[i] = uniform(&random, -1, 1);
        for (int i = 0; i < n; i++) l.Q[(n + 1) * i] = uniform(&random, 0, 1);
        for (int i = 0; i < m; i++) l.R[i] = uniform(&random, 0.1, 1);
        CHECK(lqr_solve(&l, F) == STATUS_OK);
        CHECK(residual(&l, F) < 1e-9);
        CHECK(power_of_closed_loop(&l, F, 20) < 1e-6);
        arena_release(&arena);
    }
}

/* Neither damped nor reached by u, but weighted: no finite cost */
TEST(what_cannot_be_stabilized_is_refused)
{
    static const double DECAY[] = {1, 1.01, 0.99};
    for (int i = 0; i < 3; i++) {
        struct arena arena = {0};
        struct lqr l;
        double F[2];
        CHECK(lqr_make(&l, 2, 1, &arena) == STATUS_OK);
        memcpy(l.A, (double[]){0.5, 0, 0, DECAY[i]}, 4 * sizeof(double));
        memcpy(l.B, (double[]){1, 0}, 2 * sizeof(double));
        memcpy(l.Q, (double[]){1, 0, 0, 1}, 4 * sizeof(double));
        *l.R = 1;
        CHECK(lqr_solve(&l, F) == (DECAY[i] < 1 ? STATUS_OK : STATUS_NO_RICCATI));
        arena_release(&arena);
    }
}

/* ---- arms ---------------------------------------------------------------------------------------------------------------- */

/* The arm of a file with LQR at its start position */
static void make(struct rig *rig, const char *file)
{
    struct control *c = &rig->control;
    memset(rig, 0, sizeof *rig);
    rig_make(rig, document_load(file, &rig->arena, &rig->report), 0, NULL);
    c->feedback = FEEDBACK_LQR;
    c->compensation_bandwidth = 20;
    for (int j = 0; j < c->n; j++)
        c->accepted_position[j] = 0.01, c->accepted_rate[j] = 0.05, c->accepted_acceleration[j] = 0.25;
}

TEST(gains_of_arms)
{
    static const char *const FILES[] = {"resources/cibicik-servo.json", "resources/canadarm.json"};
    for (int i = 0; i < 2; i++) {
        struct rig rig;
        make(&rig, FILES[i]);
        rig_start(&rig, true, NULL);
        CHECK(rig.control.lqr.nx <= MOST && rig.control.n_eta > 0);
        CHECK(residual(&rig.control.lqr, rig.control.gain) < 1e-9);
        CHECK(power_of_closed_loop(&rig.control.lqr, rig.control.gain, 30) < 1e-9);
        rig_free(&rig);
    }
}

/* An arm released beside the command, at rest and deflected as there, moves as the linear system with this feedback. 3 % of the largest
   error: modes whose period is a few sample times are predicted roughly */
TEST(arm_moves_as_the_linear_system)
{
    static double closed[MOST * MOST];
    struct rig rig;
    double q[MOST], beside[MOST], x[MOST] = {0}, largest = 0;
    make(&rig, "resources/cibicik-servo.json");
    const struct control *c = &rig.control;
    for (int j = 0; j < c->n; j++) beside[j] = x[c->joint[j]] = 1e-4 * (j + 1);
    rig_start(&rig, true, beside);
    const int n = c->lqr.nx;
    close_loop(&c->lqr, c->gain, closed);
    for (int k = 0; k < 2500; k++) {
        double next[MOST] = {0};
        rig_step(&rig, q);
        for (int j = 0; j < c->n; j++) {
            largest = larger(largest, fabs(q[j] - rig.q_ref[j]));
            CHECK_NEAR(q[j] - rig.q_ref[j], x[c->joint[j]], 0.03 * largest);
        }
        for (int i = 0; i < n * n; i++) next[i / n] += closed[i] * x[i % n];
        memcpy(x, next, sizeof next);
    }
    for (int j = 0; j < c->n; j++) CHECK_NEAR(q[j], rig.q_ref[j], 0.03 * largest);
    rig_free(&rig);
}

SUITE(controller_lqr_test)
