/* LQR in discrete time: the change over a sample, the Riccati equation, and the gain, against closed forms, for random systems,
   and for arms, in the loop with one. */
#include "controller/lqr.h"

#include <string.h>

#include "controller/control_law.h"
#include "oracle/random.h"
#include "robot/read.h"
#include "sim/robot_instance.h"
#include "test.h"

enum { MOST = 40 };

/* ---- what the solution must satisfy -------------------------------------------------------------------------------------- */

/* A' X A - X - A' X B F + Q over the largest element of X, F = (R + B' X B)^-1 B' X A */
static double residual(const struct lqr *l, const double *F)
{
    const int n = l->nx, m = l->nu;
    static double closed[MOST * MOST], XC[MOST * MOST];
    double worst = 0, scale = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            closed[n * i + j] = l->A[n * i + j];
            for (int k = 0; k < m; k++) closed[n * i + j] -= l->B[m * i + k] * F[n * k + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            XC[n * i + j] = 0;
            for (int k = 0; k < n; k++) XC[n * i + j] += l->X[n * i + k] * closed[n * k + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = l->Q[n * i + j] - l->X[n * i + j];
            for (int k = 0; k < n; k++) sum += l->A[n * k + i] * XC[n * k + j];
            worst = fmax(worst, fabs(sum));
            scale = fmax(scale, fabs(l->X[n * i + j]));
        }
    return worst / scale;
}

/* The largest element of (A - B F)^(2^doublings): falls to 0 if and only if all eigenvalues are inside the unit circle */
static double power_of_closed_loop(const struct lqr *l, const double *F, int doublings)
{
    const int n = l->nx, m = l->nu;
    static double C[MOST * MOST], square[MOST * MOST];
    double largest = 0;
    for (int i = 0; i < n * n; i++) {
        C[i] = l->A[i];
        for (int k = 0; k < m; k++) C[i] -= l->B[m * (i / n) + k] * F[n * k + i % n];
    }
    for (int d = 0; d < doublings; d++) {
        for (int i = 0; i < n * n; i++) {
            square[i] = 0;
            for (int k = 0; k < n; k++) square[i] += C[n * (i / n) + k] * C[n * k + i % n];
        }
        memcpy(C, square, (size_t)(n * n) * sizeof *C);
    }
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(C[i]));
    return largest;
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

/* x+ = a x + b u: X = (-p + sqrt(p^2 + 4 q r b^2))/(2 b^2) with p = r (1 - a^2) - q b^2; unstable ones too */
TEST(scalar_system)
{
    struct random random = {5};
    for (int trial = 0; trial < 200; trial++) {
        struct arena arena = {0};
        struct lqr l;
        double F;
        CHECK(lqr_make(&l, 1, 1, &arena) == STATUS_OK);
        const double a = uniform(&random, -3, 3), b = uniform(&random, 0.1, 2), q = uniform(&random, 0.01, 2),
                     r = uniform(&random, 0.01, 2), p = r * (1 - a * a) - q * b * b;
        const double X = (-p + sqrt(p * p + 4 * q * r * b * b)) / (2 * b * b);
        *l.A = a, *l.B = b, *l.Q = q, *l.R = r;
        CHECK(lqr_solve(&l, &F) == STATUS_OK);
        CHECK_NEAR(*l.X, X, 1e-10 * X);
        CHECK_NEAR(F, a * b * X / (r + b * b * X), 1e-10 * fabs(F));
        CHECK(fabs(a - b * F) < 1);
        arena_release(&arena);
    }
}

/* The filter of x+ = a x, y = c x with noise q and r is the regulator of the dual system: the same X, and L = X c/(r + c^2 X) */
TEST(scalar_filter)
{
    struct random random = {6};
    for (int trial = 0; trial < 200; trial++) {
        struct arena arena = {0};
        struct lqr l;
        double L;
        CHECK(lqr_make(&l, 1, 1, &arena) == STATUS_OK);
        const double a = uniform(&random, -3, 3), c = uniform(&random, 0.1, 2), q = uniform(&random, 0.01, 2),
                     r = uniform(&random, 0.01, 2), p = r * (1 - a * a) - q * c * c;
        const double X = (-p + sqrt(p * p + 4 * q * r * c * c)) / (2 * c * c);
        *l.A = a, *l.B = c, *l.Q = q, *l.R = r;
        CHECK(lqr_filter(&l, &L) == STATUS_OK);
        CHECK_NEAR(L, X * c / (r + c * c * X), 1e-10 * fabs(L));
        CHECK(fabs(a * (1 - L * c)) < 1);
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

/* A mass whose position alone has a weight, q/r = 4 rho in samples: the poles z + 1/z = s solve (s - 2)^2 + rho (s + 2) = 0 (spectral
   factorization of r + g(1/z) q g(z), g = (z + 1)/(2 (z - 1)^2)), and F places them: F1 = 1 - sum + product, F2 = (3 - sum - product)/2 */
TEST(double_integrator)
{
    static const double RHO[] = {1e-12, 1e-6, 1e-2, 1};
    for (int i = 0; i < 4; i++) {
        struct arena arena = {0};
        struct lqr l;
        double F[2];
        CHECK(lqr_make(&l, 2, 1, &arena) == STATUS_OK);
        memcpy(l.A, (double[]){0, 1, 0, 0}, 4 * sizeof(double));
        memcpy(l.B, (double[]){0, 1}, 2 * sizeof(double));
        memcpy(l.Q, (double[]){4 * RHO[i], 0, 0, 0}, 4 * sizeof(double));
        *l.R = 1;
        lqr_discretize(&l);
        CHECK(l.A[0] == 1 && l.A[1] == 1 && l.A[2] == 0 && l.A[3] == 1 && l.B[0] == 0.5 && l.B[1] == 1);
        CHECK(lqr_solve(&l, F) == STATUS_OK);
        CHECK(residual(&l, F) < 1e-9);
        CHECK(power_of_closed_loop(&l, F, 16) < 1e-9);
        const double sum = 2 - F[1] - F[0] / 2, factor = 1 - F[1] + F[0] / 2; /* of the poles */
        /* (s - s1)(s - s2) with s = z + 1/z over both poles: their sum and product */
        const double sums = sum + sum / factor, products = factor + 1 / factor + (sum * sum - 2 * factor) / factor;
        CHECK_NEAR(sums, 4 - RHO[i], 1e-9);
        CHECK_NEAR(products, 4 + 2 * RHO[i], 1e-9);
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

struct rig {
    struct arena arena;
    struct report report;
    struct instance *plant, *model, *guided;
    struct control control;
    double q[MOST], zero[MOST];
};

static void stay(void *context, double t, int link, int k, double x[3])
{
    const struct rig *rig = context;
    (void)t;
    x[0] = sim_robot(rig->model)->link[link].joint.start_position[k];
    x[1] = x[2] = 0;
}

/* The arm of a file with LQR at its start position */
static void make(struct rig *rig, const char *file)
{
    memset(rig, 0, sizeof *rig);
    struct control *c = &rig->control;
    const struct sim_motion motion = {.context = rig, .at = stay};
    const struct experiment experiment = {0};
    const char *robot = document_load(file, &rig->arena, &rig->report);
    CHECK(sim_make("plant", robot, &rig->report, &rig->plant) == STATUS_OK);
    CHECK(sim_make("model", robot, &rig->report, &rig->model) == STATUS_OK);
    CHECK(sim_make_moved("guided", robot, &motion, &rig->report, &rig->guided) == STATUS_OK);
    CHECK(instance_initialize(rig->model, &experiment) == STATUS_OK);
    CHECK(instance_initialize(rig->guided, &experiment) == STATUS_OK);
    CHECK(control_make(c, sim_mechanism(rig->model), sim_mechanism(rig->guided), 0, NULL, &rig->arena) == STATUS_OK);
    c->law = LAW_FLEXIBLE;
    c->feedback = FEEDBACK_LQR;
    c->sample_time = 1e-3;
    c->compensation_bandwidth = 20;
    for (int j = 0; j < c->n; j++) {
        c->accepted_position[j] = 0.01, c->accepted_rate[j] = 0.05, c->accepted_acceleration[j] = 0.25;
        rig->q[j] = sim_robot(rig->model)->link[j].joint.start_position[0];
    }
    const struct sample rest = {rig->q, rig->zero, rig->zero, rig->q, rig->zero, NULL};
    CHECK(control_adopt(c) == STATUS_OK && control_start(c, &rest) == STATUS_OK);
}

static void discard(struct rig *rig)
{
    instance_free(rig->plant);
    instance_free(rig->model);
    instance_free(rig->guided);
    arena_release(&rig->arena);
}

TEST(gains_of_arms)
{
    static const char *const FILES[] = {"resources/cibicik-servo.json", "resources/canadarm.json"};
    for (int i = 0; i < 2; i++) {
        struct rig rig;
        make(&rig, FILES[i]);
        CHECK(rig.control.lqr.nx <= MOST && rig.control.n_eta > 0);
        CHECK(residual(&rig.control.lqr, rig.control.gain) < 1e-9);
        CHECK(power_of_closed_loop(&rig.control.lqr, rig.control.gain, 30) < 1e-9);
        discard(&rig);
    }
}

/* x+ = (A - B F) x */
static void step_linear(const struct control *c, double *x)
{
    const struct lqr *l = &c->lqr;
    double next[MOST] = {0};
    for (int i = 0; i < l->nx; i++) {
        for (int k = 0; k < l->nx; k++) next[i] += l->A[l->nx * i + k] * x[k];
        for (int j = 0; j < l->nu; j++)
            for (int k = 0; k < l->nx; k++) next[i] -= l->B[l->nu * i + j] * c->gain[l->nx * j + k] * x[k];
    }
    memcpy(x, next, sizeof next);
}

static double plant_value(const struct rig *rig, int j, const char *what, const double *set)
{
    char name[100];
    const struct variables *v = instance_variables(rig->plant);
    snprintf(name, sizeof name, "%s.%s", sim_robot(rig->plant)->link[j].joint.name, what);
    const int row = variables_find(v, name);
    CHECK(row >= 0);
    if (set != NULL) instance_set(rig->plant, v->row[row].reference, *set);
    return instance_get(rig->plant, v->row[row].reference);
}

/* An arm released beside the command, at rest and deflected as there, moves as the linear system with this feedback. 3 % of the largest
   error: modes whose period is a few sample times are predicted roughly */
TEST(arm_moves_as_the_linear_system)
{
    static const double ASIDE = 1e-4;
    struct rig rig;
    double x[MOST] = {0}, largest = 0;
    make(&rig, "resources/cibicik-servo.json");
    struct control *c = &rig.control;
    const struct experiment experiment = {.tolerance = 1e-9};
    instance_set(rig.plant, rig.plant->variables.start_static, 1);
    for (int j = 0; j < c->n; j++) {
        const double start = rig.q[j] + (x[c->joint[j]] = ASIDE * (j + 1));
        plant_value(&rig, j, "q_start", &start);
    }
    CHECK(instance_initialize(rig.plant, &experiment) == STATUS_OK);
    for (int k = 0; k < 2500; k++) {
        double q[MOST], qd[MOST];
        CHECK(instance_update(rig.plant) == STATUS_OK);
        for (int j = 0; j < c->n; j++) {
            q[j] = plant_value(&rig, j, "q", NULL), qd[j] = plant_value(&rig, j, "qd", NULL);
            largest = fmax(largest, fabs(q[j] - rig.q[j]));
            CHECK_NEAR(q[j] - rig.q[j], x[c->joint[j]], 0.03 * largest);
        }
        const struct sample sample = {rig.q, rig.zero, rig.zero, q, qd, NULL};
        CHECK(control_sample(c, &sample) == STATUS_OK);
        const double *tau = control_torque(c, (k + 1) * c->sample_time);
        for (int j = 0; j < c->n; j++) plant_value(&rig, j, "tau", tau + j);
        CHECK(instance_step(rig.plant, c->sample_time) == STATUS_OK);
        step_linear(c, x);
    }
    for (int j = 0; j < c->n; j++) CHECK_NEAR(plant_value(&rig, j, "q", NULL), rig.q[j], 0.03 * largest);
    discard(&rig);
}

int controller_lqr_test(void)
{
    RUN(one_sample_of_an_oscillator);
    RUN(scalar_system);
    RUN(scalar_filter);
    RUN(trapezoidal_step_of_an_oscillator);
    RUN(double_integrator);
    RUN(random_systems);
    RUN(what_cannot_be_stabilized_is_refused);
    RUN(gains_of_arms);
    RUN(arm_moves_as_the_linear_system);
    return test_summary();
}
