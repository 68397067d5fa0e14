/* The ESDIRK pairs: order conditions and stability of their coefficients; that the integrator takes the very steps that these define;
   its measured order on an oscillator, a spherical joint and a closed loop; and that the O(n) Newton iteration finds the stages of
   the dense one. */
#include "test.h"

#include <complex.h>
#include <string.h>

#include "ode/methods.h"
#include "ode/tableau.h"
#include "oracle/equations.h"
#include "oracle/problem.h"

static const struct tableau *const pairs[] = {&ESDIRK5, &ESDIRK3};
static const int order[] = {5, 3};
enum { PAIRS = 2 };

/* ---- coefficients ------------------------------------------------------------------------------------------------------ */

/* A x */
static void apply(const struct tableau *T, const double *x, double *Ax)
{
    for (int i = 0; i < T->stages; i++) {
        Ax[i] = 0;
        for (int j = 0; j <= i; j++) Ax[i] += T->A[i][j] * x[j];
    }
}

static double sum(const struct tableau *T, const double *b, const double *x, const double *y)
{
    double total = 0;
    for (int i = 0; i < T->stages; i++) total += b[i] * x[i] * y[i];
    return total;
}

TEST(stages_are_consistent)
{
    for (int p = 0; p < PAIRS; p++) {
        const struct tableau *T = pairs[p];
        const double one[MOST_STAGES] = {1, 1, 1, 1, 1, 1, 1};
        double c[MOST_STAGES], Ac[MOST_STAGES];
        apply(T, one, c);
        apply(T, T->c, Ac);
        for (int i = 0; i < T->stages; i++) {
            CHECK_NEAR(c[i], T->c[i], 1e-15);
            CHECK_NEAR(T->A[i][i], i == 0 ? 0 : T->gamma, 1e-16);
            CHECK_NEAR(Ac[i], T->c[i] * T->c[i] / 2,
                       1e-15); /* stage order 2: positions and velocities of second order */
            for (int j = i + 1; j < MOST_STAGES; j++) CHECK(T->A[i][j] == 0);
            for (int j = 0; j < i; j++) CHECK(T->c[i] != T->c[j]); /* points of a predictor */
        }
        CHECK(T->c[T->stages - 1] == 1 && T->c[0] == 0 && T->A[0][0] == 0);
    }
}

/* The largest residual of the order conditions of every rooted tree of an order */
static double conditions(const struct tableau *T, const double *b, int of)
{
    const double *c = T->c, one[MOST_STAGES] = {1, 1, 1, 1, 1, 1, 1};
    double c2[MOST_STAGES], c3[MOST_STAGES], c4[MOST_STAGES], Ac[MOST_STAGES], cAc[MOST_STAGES], Ac2[MOST_STAGES],
        AAc[MOST_STAGES], Ac3[MOST_STAGES], AcAc[MOST_STAGES], AAc2[MOST_STAGES], AAAc[MOST_STAGES];
    apply(T, c, Ac);
    for (int i = 0; i < T->stages; i++) {
        c2[i] = c[i] * c[i];
        c3[i] = c2[i] * c[i];
        c4[i] = c3[i] * c[i];
        cAc[i] = c[i] * Ac[i];
    }
    apply(T, c2, Ac2);
    apply(T, Ac, AAc);
    apply(T, c3, Ac3);
    apply(T, cAc, AcAc);
    apply(T, Ac2, AAc2);
    apply(T, AAc, AAAc);
    const struct {
        int order;
        const double *x, *y;
        double inverse;
    } tree[] = {{1, one, one, 1},   {2, c, one, 2},     {3, c2, one, 3},   {3, Ac, one, 6},   {4, c3, one, 4},
                {4, c, Ac, 8},      {4, Ac2, one, 12},  {4, AAc, one, 24}, {5, c4, one, 5},   {5, c2, Ac, 10},
                {5, Ac, Ac, 20},    {5, c, Ac2, 15},    {5, c, AAc, 30},   {5, Ac3, one, 20}, {5, AcAc, one, 40},
                {5, AAc2, one, 60}, {5, AAAc, one, 120}};
    double worst = 0;
    for (size_t i = 0; i < sizeof tree / sizeof *tree; i++)
        if (tree[i].order == of) worst = larger(worst, fabs(sum(T, b, tree[i].x, tree[i].y) - 1 / tree[i].inverse));
    return worst;
}

TEST(order_conditions)
{
    for (int p = 0; p < PAIRS; p++) {
        const struct tableau *T = pairs[p];
        const double *b = T->A[T->stages - 1];
        double embedded[MOST_STAGES];
        for (int i = 0; i < T->stages; i++) embedded[i] = b[i] - T->e[i];
        for (int k = 1; k <= order[p]; k++) CHECK_NEAR(conditions(T, b, k), 0, 1e-15);
        for (int k = 1; k < order[p]; k++) CHECK_NEAR(conditions(T, embedded, k), 0, 1e-15);
        CHECK(conditions(T, embedded, order[p]) > 1e-4); /* so the difference of both is an error estimate */
    }
}

/* y_1 = R(z) y_0 of y' = lambda y, z = h lambda; `result` is R of the embedded method where it is not NULL */
static double complex stability(const struct tableau *T, double complex z, double complex *embedded)
{
    double complex Y[MOST_STAGES], error = 0;
    for (int i = 0; i < T->stages; i++) {
        Y[i] = 1;
        for (int j = 0; j < i; j++) Y[i] += z * T->A[i][j] * Y[j];
        Y[i] /= 1 - z * T->A[i][i];
        error += z * T->e[i] * Y[i];
    }
    if (embedded != NULL) *embedded = Y[T->stages - 1] - error;
    return Y[T->stages - 1];
}

/* |R| <= 1 on the imaginary axis and no pole on the left: |R| <= 1 on the left half plane; and R(-infinity) = 0 */
TEST(both_are_stable_for_every_step_size)
{
    for (int p = 0; p < PAIRS; p++) {
        double complex embedded;
        CHECK(pairs[p]->gamma > 0);
        for (double y = 1e-3; y < 1e8; y *= 1.01) CHECK(cabs(stability(pairs[p], I * y, NULL)) <= 1 + 1e-13);
        for (double x = 1e-3; x < 1e8; x *= 1.1) {
            CHECK(cabs(stability(pairs[p], -x, NULL)) < 1);
            CHECK(cabs(stability(pairs[p], x * (-1 + 3 * I), NULL)) < 1);
        }
        CHECK(cabs(stability(pairs[p], -1e9, NULL)) < 1e-7);
        CHECK(cabs(stability(pairs[p], 1e9 * I, NULL)) < 1e-7);
        stability(pairs[p], -1e9, &embedded);
        CHECK(cabs(embedded) < 1);                 /* a stiff component passes the error test */
        for (double y = 1e-3; y < 0.2; y *= 1.1) { /* e^z up to its order */
            const double complex z = y * (-0.3 + I);
            CHECK(cabs(stability(pairs[p], z, NULL) - cexp(z)) < 0.05 * pow(y, order[p] + 1) + 1e-15);
        }
    }
}

/* ---- a linear oscillator ---------------------------------------------------------------------------------------------------- */

/* x'' = -omega^2 x */
static enum status oscillator_rhs(void *omega2, double t, const double *y, double *ydot)
{
    (void)t;
    ydot[0] = y[1];
    ydot[1] = -*(const double *)omega2 * y[0];
    return STATUS_OK;
}

static enum status oscillator_jacobian(void *omega2, double t, const double *y, double *A, double *B)
{
    (void)t, (void)y;
    *A = -*(const double *)omega2;
    *B = 0;
    return STATUS_OK;
}

static void use_pair(struct integrator *integrator, int pair)
{
    struct one_step *s = (struct one_step *)(void *)integrator;
    s->now->low = pair;
    s->now->jumped = pair; /* without jumps of inputs the low order is left at once */
}

/* Fixed steps of h over the time `end` with a pair */
static void fixed_steps(const struct problem *problem, int pair, bool dense, double h, double end, double *y)
{
    const struct integrator_options options = {.relative_tolerance = 1e-6, .fixed_step = h, .dense = dense};
    struct integrator *integrator = problem_start(problem, esdirk_make, options);
    double reached;
    CHECK(integrator != NULL);
    use_pair(integrator, pair);
    memcpy(y, problem->y, (size_t)ode_states(problem->ode) * sizeof *y);
    CHECK(integrator_advance(integrator, end, y, &reached) == STATUS_OK && reached == end);
    integrator_free(integrator);
}

/* x'' = -omega^2 x is z = +-i omega h: one step multiplies v + i omega x by R(i omega h) */
TEST(a_step_of_the_oscillator_is_the_stability_function)
{
    for (int p = 0; p < PAIRS; p++)
        for (double omega = 0.01; omega < 1e5; omega *= 3) {
            double omega2 = omega * omega;
            const struct ode ode = {
                .n_x = 1, .n_v = 1, .context = &omega2, .rhs = oscillator_rhs, .jacobian = oscillator_jacobian};
            const double y0[2] = {0.3 / omega, 1};
            struct problem problem;
            double y[2];
            problem_make(&problem, &ode, y0);
            fixed_steps(&problem, p, true, 1, 1, y);
            const double complex want = stability(pairs[p], I * omega, NULL) * (y0[1] + I * omega * y0[0]);
            CHECK_NEAR(y[1], creal(want), 1e-11);
            CHECK_NEAR(omega * y[0], cimag(want), 1e-11);
        }
}

/* ---- measured order -------------------------------------------------------------------------------------------------------- */

/* Steps of h with error control, of which Newton's iteration has to meet a fraction */
static void converged_steps(const struct problem *problem, int pair, bool dense, double h, double tolerance, double end,
                            double *y)
{
    const struct integrator_options options = {.relative_tolerance = tolerance, .max_step = h, .dense = dense};
    struct integrator *integrator = problem_start(problem, esdirk_make, options);
    struct one_step *s = (struct one_step *)(void *)integrator;
    double reached;
    CHECK(integrator != NULL);
    use_pair(integrator, pair);
    s->now->h = h;
    memcpy(y, problem->y, (size_t)ode_states(problem->ode) * sizeof *y);
    CHECK(integrator_advance(integrator, end, y, &reached) == STATUS_OK && reached == end);
    CHECK(s->stage.count.steps == lround(end / h) && s->stage.count.error_test_failures == 0 && s->now->low == pair);
    integrator_free(integrator);
}

/* The slope of the error over the step size, from steps of h, h/2 and h/4; a tolerance of 0: fixed steps */
static double order_of_pair(const struct problem *problem, int pair, bool dense, double h, double tolerance, double end)
{
    double y[3][MOST_STATES];
    for (int r = 0; r < 3; r++) {
        const double share = 1.0 / (1 << r);
        if (tolerance == 0) fixed_steps(problem, pair, dense, share * h, end, y[r]);
        else converged_steps(problem, pair, dense, share * h, pow(share, order[pair] + 1) * tolerance, end, y[r]);
    }
    return log2(problem_distance(problem, y[0], y[1]) / problem_distance(problem, y[1], y[2]));
}

/* Full order where the stages are solved as accurately as the step: with the exact Jacobian. The O(n) matrix leaves an error of the size
   h of the Coriolis and constraint forces after every iteration: one order less. Fixed steps iterate more often where that matters, and have the full order. */
static void check_order(const char *name, const struct problem *problem, const double h[PAIRS],
                        const double tolerance[PAIRS], double end)
{
    for (int p = 0; p < PAIRS; p++)
        for (int dense = problem->ode->residual == NULL; dense < 2; dense++) {
            const double slope = order_of_pair(problem, p, dense != 0, h[p], tolerance[p], end);
            printf("     %s, %s, %s matrix: order %.2f\n", name, pairs[p]->name, dense ? "dense" : "O(n)", slope);
            CHECK(slope > order[p] - (dense ? 0.2 : 1.2) && slope < order[p] + (dense ? 0.3 : 1));
        }
    const double slope = order_of_pair(problem, 0, problem->ode->residual == NULL, h[0] / 2, 0, end);
    printf("     %s, fixed steps: order %.2f\n", name, slope);
    CHECK(slope > order[0] - 0.3 && slope < order[0] + 0.3);
}

/* A top on a turntable: an ordinary coordinate before a quaternion */
static const char spherical_top[] =
    "{\"format\": \"limber-robot/2\", \"name\": \"top\", \"gravity\": [0, 0, -9.81], \"links\": [{\"name\": \"table\", "
    "\"joint\": {\"type\": \"revolute\", \"start\": {\"velocity\": 1}}, \"rigid\": {\"mass\": 1, \"com\": [0, 0, 0], "
    "\"inertia\": [0.1, 0.1, 0.1, 0, 0, 0], \"tip\": {\"xyz\": [0.2, 0, 0]}}}, {\"name\": \"top\", \"joint\": "
    "{\"type\": "
    "\"spherical\", \"start\": {\"position\": [0.8, 0.4, 0.2, 0.4], \"velocity\": [1, 2, 9]}}, \"rigid\": {\"mass\": "
    "2, "
    "\"com\": [0.02, 0.01, 0.3], \"inertia\": [0.03, 0.02, 0.05, 0, 0, 0]}}]}";

TEST(order_of_the_integrator)
{
    const double start[2] = {2, -1};
    struct problem problem;
    problem_make(&problem, &forced_pendulum, start);
    check_order("pendulum", &problem, (double[]){0.1, 0.02}, (double[]){1e-4, 1e-4}, 2);

    CHECK(problem_read(&problem, spherical_top));
    check_order("spherical top", &problem, (double[]){0.005, 0.001}, (double[]){1e-7, 2e-5}, 0.1);
    problem_free(&problem);

    CHECK(problem_load(&problem, "resources/four-bar.json"));
    CHECK(problem.ode->n_lambda > 0);
    check_order("four-bar", &problem, (double[]){2.5e-5, 1e-5}, (double[]){6e-5, 3e-2}, 5e-3);
    problem_free(&problem);
}

/* ---- the O(n) Newton iteration against the dense one ---------------------------------------------------------------------------- */

static const char *const robots[] = {"canadarm",  "canadarm-spatial", "cibicik",  "crane",    "chain-7",
                                     "twisted-7", "four-bar",         "dualemps", "two-arms", "parallelogram"};

/* Stages differ by the tolerance of Newton's iteration, a fraction of that of the step. Loops need more iterations: the change of
   the directions of their forces is not in the O(n) matrix. */
TEST(both_newton_iterations_find_the_same_stages)
{
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
        char file[100];
        double y[2][MOST_STATES];
        struct problem problem;
        struct integrator_statistics count[2];
        snprintf(file, sizeof file, "resources/%s.json", robots[i]);
        CHECK(problem_load(&problem, file));
        for (int dense = 0; dense < 2; dense++) {
            const struct integrator_options options = {.relative_tolerance = 1e-7, .dense = dense != 0};
            CHECK(problem_solve(&problem, esdirk_make, options, 0.02, 0.02, y[dense], &count[dense]) == STATUS_OK);
        }
        printf("     %-16s steps %ld %ld, iterations %ld %ld, differ by %.1e\n", robots[i], count[0].steps,
               count[1].steps, count[0].newton_iterations, count[1].newton_iterations,
               problem_distance(&problem, y[0], y[1]));
        CHECK_NEAR(problem_distance(&problem, y[0], y[1]), 0, 3e-7 * (double)count[0].steps);
        CHECK(count[0].jacobians == 0 && count[0].residuals > 0 && count[1].jacobians > 0 && count[1].residuals == 0);
        CHECK((double)count[0].newton_iterations < 1.7 * (double)count[1].newton_iterations);
        problem_free(&problem);
    }
}

/* ---- the fastest motion -------------------------------------------------------------------------------------------------------- */

/* A mass of 2 kg on a spring or a damper: sqrt(k/m), d/m; a free one has no rate */
TEST(the_fastest_rate_of_one_coordinate)
{
    static const struct {
        const char *numbers;
        double rate;
    } cases[] = {{"\"stiffness\": 800", 20},
                 {"\"viscous\": 100", 50},
                 {"\"stiffness\": 800, \"viscous\": 4", 20},
                 {"\"viscous\": 0", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        double scratch[MOST_STATES];
        struct problem problem;
        const struct integrator_options options = {.relative_tolerance = 1e-6};
        snprintf(text, sizeof text,
                 "{\"format\": \"limber-robot/1\", \"name\": \"mass\", \"links\": [{\"name\": \"mass\", \"joint\": "
                 "{\"type\": "
                 "\"prismatic\", %s}, \"rigid\": {\"mass\": 2, \"com\": [0, 0, 0], \"inertia\": [1, 1, 1, 0, 0, 0]}}]}",
                 cases[i].numbers);
        CHECK(problem_read(&problem, text));
        struct integrator *integrator = problem_start(&problem, esdirk_make, options);
        struct stage *stage = &((struct one_step *)(void *)integrator)->stage;
        for (int dense = 0; dense < 2; dense++) {
            stage_configure(stage, dense != 0);
            CHECK_NEAR(stage_fastest(stage, 0, problem.y, scratch), cases[i].rate, 1e-12 * cases[i].rate);
        }
        integrator_free(integrator);
        problem_free(&problem);
    }
}

SUITE(ode_esdirk_test)
