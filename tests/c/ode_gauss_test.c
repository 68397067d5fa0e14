/* Gauss collocation: order 10, symmetric, its stability function, no energy drift, the linear system of its stages. */
#include "test.h"

#include "math/dense.h"
#include "ode/gauss_solver.h"
#include "ode/methods.h"

#include <complex.h>
#include <string.h>

#include "oracle/equations.h"

static struct one_step *method_for(const struct ode *ode)
{
    struct integrator *integrator;
    CHECK(gauss_make(ode, &integrator) == STATUS_OK);
    return (struct one_step *)(void *)integrator;
}

static const double nominal[18] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const struct restart fresh = {0};

static struct one_step *start(const struct ode *ode, const struct integrator_options *options, const double *y)
{
    struct one_step *s = method_for(ode);
    CHECK(integrator_configure(&s->base, options) == STATUS_OK);
    CHECK(integrator_restart(&s->base, 0, y, &fresh) == STATUS_OK);
    return s;
}

static struct integrator_statistics counts(const struct one_step *s)
{
    struct integrator_statistics statistics;
    integrator_statistics(&s->base, &statistics);
    return statistics;
}

/* ---- the method -------------------- */

static const double pendulum_start[2] = {1.2, 0.3}, top_start[7] = {0.8, 0.6, 0, 0, 1, 0.4, 2},
                    tied_start[4] = {0.1, 0.1, 0.5, 0.5};

TEST(the_order_is_10)
{
    struct one_step *s = method_for(&forced_pendulum);
    CHECK_NEAR(measured_order(s, 3, pendulum_start, 2), 10, 1);
    CHECK_NEAR(measured_order(s, 3, pendulum_start, 4), 10, 1);
    integrator_free(&s->base);
    s = method_for(&top); /* quaternions, whose stages are coupled */
    CHECK_NEAR(measured_order(s, 2, top_start, 4), 10, 0.5);
    integrator_free(&s->base);
    struct tied tied = {.M = {1, 2}, .D = {0.01, 0.02}, .K = {3e3, 6e3}, .beta = 50};
    const struct ode masses = tied_masses(&tied);
    s = method_for(&masses); /* residual form, with a multiplier */
    CHECK_NEAR(measured_order(s, 0.5, tied_start, 16), 10, 0.3);
    CHECK_NEAR(measured_order(s, 0.5, tied_start, 32), 10, 0.3);
    integrator_free(&s->base);
}

TEST(it_agrees_with_the_explicit_method)
{
    struct one_step *s = method_for(&top);
    struct integrator *other;
    double y[7], expected[7];
    CHECK(explicit_make(&top, &other) == STATUS_OK);
    memcpy(y, top_start, sizeof y);
    memcpy(expected, top_start, sizeof y);
    CHECK(several_steps(s, 0, y, 0.05, 40) == STATUS_OK);
    CHECK(several_steps((struct one_step *)(void *)other, 0, expected, 0.02, 100) == STATUS_OK);
    for (int i = 0; i < 7; i++) CHECK_NEAR(y[i], expected[i], 1e-12);
    CHECK_NEAR(top_energy(y), top_energy(top_start), 1e-12);
    CHECK_NEAR(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3], 1, 1e-14); /* quadratic invariants are exact */
    integrator_free(other);
    integrator_free(&s->base);
}

/* The multiplier takes part: both masses move as one of 3 kg, and it is the force that the tie transmits */
TEST(constraints_hold_with_their_multiplier)
{
    struct tied tied = {.M = {1, 2}, .K = {700, 800}, .beta = 30};
    const struct ode masses = tied_masses(&tied);
    struct one_step *s = method_for(&masses);
    double y[4];
    memcpy(y, tied_start, sizeof y);
    CHECK(several_steps(s, 0, y, 0.05, 20) == STATUS_OK);
    CHECK_NEAR(y[0], y[1], 1e-14);
    CHECK_NEAR(y[2], y[3], 1e-13);
    double energy[2];
    for (int k = 0; k < 2; k++) {
        const double *at = k == 0 ? tied_start : y, square = at[0] * at[0];
        energy[k] = 1.5 * at[2] * at[2] + 750 * square + 15 * square * square;
    }
    CHECK_NEAR(energy[1], energy[0], 1e-7);
    integrator_free(&s->base);
}

TEST(a_step_there_and_back_returns)
{
    const struct ode *const equations[] = {&pendulum, &forced_pendulum, &top};
    const double *const starts[] = {pendulum_start, pendulum_start, top_start};
    for (int k = 0; k < 3; k++)
        for (double h = 0.1; h < 1; h *= 2) {
            struct one_step *s = method_for(equations[k]);
            double y[7];
            memcpy(y, starts[k], (size_t)s->n * sizeof *y);
            CHECK(several_steps(s, 0.4, y, h, 1) == STATUS_OK);
            CHECK(fabs(y[0] - starts[k][0]) > 1e-3);
            CHECK(several_steps(s, 0.4 + h, y, -h, 1) == STATUS_OK);
            for (int i = 0; i < s->n; i++) CHECK_NEAR(y[i], starts[k][i], 2e-14);
            integrator_free(&s->base);
        }
}

/* ---- stability -------------------- */

/* The diagonal Pade approximation of exp(z), of degree 5: p(z)/p(-z) */
static double complex pade(double complex z)
{
    static const double c[6] = {1, 1.0 / 2, 1.0 / 9, 1.0 / 72, 1.0 / 1008, 1.0 / 30240};
    double complex p = 0, q = 0;
    for (int k = 5; k >= 0; k--) {
        p = c[k] + z * p;
        q = c[k] - z * q;
    }
    return p / q;
}

/* v' = lambda v: a step multiplies v by the Pade approximation, which is at most 1 for Re lambda <= 0 and 1 for
   imaginary lambda */
TEST(the_stability_function_is_the_pade_approximation_and_A_stable)
{
    for (int angle = 0; angle <= 6; angle++)
        for (double size = 0.1; size < 1e5; size *= 7) {
            const double phi = acos(-1) * (0.5 + angle / 12.0),
                         z[2] = {angle == 0 ? 0 : size * cos(phi), size * sin(phi)};
            const struct ode ode = test_equation(z);
            struct one_step *s = method_for(&ode);
            double v[2] = {1, 0};
            CHECK(several_steps(s, 0, v, 1, 1) == STATUS_OK);
            CHECK_NEAR(cabs(v[0] + I * v[1] - pade(z[0] + I * z[1])), 0, 1e-11);
            CHECK(hypot(v[0], v[1]) <= 1 + 1e-11);
            if (angle == 0) CHECK_NEAR(hypot(v[0], v[1]), 1, 1e-11);
            integrator_free(&s->base);
        }
}

/* ---- the linear system of the stages -------------------- */

/* n oscillators a + 2 zeta omega v + omega^2 x = 0 in residual form: M = 1, D and K are diagonal */
enum { MODES = 9 };
struct modes {
    double D[MODES], K[MODES], inverse[MODES];
    enum status broken; /* of factor() */
};

static enum status modes_rhs(void *context, double t, const double *y, double *ydot)
{
    const struct modes *p = context;
    (void)t;
    for (int i = 0; i < MODES; i++) {
        ydot[i] = y[MODES + i];
        ydot[MODES + i] = -p->K[i] * y[i] - p->D[i] * y[MODES + i];
    }
    return STATUS_OK;
}

static enum status modes_residual(void *context, double t, const double *y, const double *z, double *r)
{
    const struct modes *p = context;
    (void)t;
    for (int i = 0; i < MODES; i++) r[i] = z[i] + p->K[i] * y[i] + p->D[i] * y[MODES + i];
    return STATUS_OK;
}

static enum status modes_factor(void *context, double t, const double *y, double gamma)
{
    struct modes *p = context;
    (void)t, (void)y;
    for (int i = 0; i < MODES; i++) p->inverse[i] = 1 / (1 + gamma * (p->D[i] + gamma * p->K[i]));
    return p->broken;
}

static void modes_solve(void *context, double *r)
{
    const struct modes *p = context;
    for (int i = 0; i < MODES; i++) r[i] *= p->inverse[i];
}

static void modes_stiffness(void *context, const double *dx, const double *dv, double *r)
{
    const struct modes *p = context;
    for (int i = 0; i < MODES; i++) r[i] = p->K[i] * dx[i] + p->D[i] * dv[i];
}

static struct ode modes_ode(struct modes *modes)
{
    return (struct ode){.n_x = MODES,
                        .n_v = MODES,
                        .oscillatory = true,
                        .context = modes,
                        .rhs = modes_rhs,
                        .residual = modes_residual,
                        .factor = modes_factor,
                        .solve = modes_solve,
                        .stiffness = modes_stiffness};
}

/* A of the method, from its definition: sum_j A_ij c_j^k = c_i^(k+1)/(k+1) */
static void collocation(double A[5][5])
{
    const double s = sqrt(10.0 / 7), far = sqrt(5 + 2 * s) / 6, near = sqrt(5 - 2 * s) / 6;
    const double c[5] = {0.5 - far, 0.5 - near, 0.5, 0.5 + near, 0.5 + far};
    int pivot[5];
    for (int i = 0; i < 5; i++) {
        double V[25];
        for (int k = 0; k < 5; k++) {
            for (int j = 0; j < 5; j++) V[5 * j + k] = pow(c[j], k);
            A[i][k] = pow(c[i], k + 1) / (k + 1);
        }
        CHECK(lu_factor(5, V, pivot) == 0);
        lu_solve(5, V, pivot, A[i]);
    }
}

/* |1 x M + h A x D + h^2 A^2 x K) d - r| of one mode, h = 1 */
static double defect(double D, double K, int mode, const double *d, const double *r)
{
    double A[5][5], Ad[5] = {0}, worst = 0;
    collocation(A);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) Ad[i] += A[i][j] * d[MODES * j + mode];
    for (int i = 0; i < 5; i++) {
        double sum = d[MODES * i + mode] + D * Ad[i];
        for (int j = 0; j < 5; j++) sum += K * A[i][j] * Ad[j];
        worst = larger(worst, fabs(sum - r[MODES * i + mode]));
    }
    return worst;
}

/* Frequencies h omega from 0 to 5, and stiff ones and overdamped ones: as many directions as modes solve the system
   exactly, and it is ten thousand times better than its right-hand side after five where nothing is stiff */
TEST(the_linear_system_of_the_stages)
{
    for (int stiff = 0; stiff < 2; stiff++) {
        struct modes modes = {.broken = STATUS_OK};
        for (int i = 0; i < MODES; i++) {
            const double omega = stiff && i > 4 ? pow(10, i - 4) : 5.0 * i / (MODES - 1),
                         zeta = stiff ? 0.4 * i * i : 0.01 * i;
            modes.K[i] = omega * omega;
            modes.D[i] = 2 * zeta * omega;
        }
        const struct ode ode = modes_ode(&modes);
        struct one_step *s = method_for(&ode);
        double square[MODES], r[5 * MODES], d[5 * MODES];
        struct gauss_solver solver;
        struct arena arena = {0};
        gauss_solver_make(&solver, &s->stage, square, &arena);
        for (int i = 0; i < MODES; i++) square[i] = 1;
        for (int i = 0; i < 5 * MODES; i++) r[i] = sin(1 + i * i);
        CHECK(stage_factor(&s->stage, 0, NULL, GAUSS_G) == STATUS_OK);
        for (int most = 5; most <= MODES; most += 4) {
            const struct gauss_effort effort = {.most = most, .exactly = true};
            memcpy(d, r, sizeof d);
            gauss_solve(&solver, 1, &effort, d);
            for (int i = 0; i < MODES && (most == MODES || !stiff); i++)
                CHECK(defect(modes.D[i], modes.K[i], i, d, r) <
                      (most == MODES ? 1e-9 * (1 + modes.K[i] + modes.D[i]) : 0.05));
        }
        arena_release(&arena);
        integrator_free(&s->base);
    }
}

/* ---- long times -------------------- */

static double modes_energy(const struct modes *p, const double *y)
{
    double sum = 0;
    for (int i = 0; i < MODES; i++) sum += y[MODES + i] * y[MODES + i] + p->K[i] * y[i] * y[i];
    return sum / 2;
}

/* Oscillators from 1 to 81 rad/s that are struck: 1300 periods of the fastest */
TEST(the_energy_of_oscillators_does_not_drift)
{
    struct modes modes = {.broken = STATUS_OK};
    for (int i = 0; i < MODES; i++) modes.K[i] = pow(i + 1, 4);
    const struct ode ode = modes_ode(&modes);
    for (double tolerance = 1e-3; tolerance > 1e-7; tolerance *= 0.1) {
        double y[2 * MODES] = {0}, reached, scale[2 * MODES];
        const struct integrator_options options = {.relative_tolerance = tolerance, .nominal = scale};
        for (int i = 0; i < MODES; i++) {
            y[MODES + i] = 1;
            scale[i] = 0.1;
            scale[MODES + i] = 1;
        }
        const double energy = modes_energy(&modes, y);
        struct one_step *s = start(&ode, &options, y);
        CHECK(integrator_advance(&s->base, 100, y, &reached) == STATUS_OK);
        CHECK_NEAR(modes_energy(&modes, y) / energy, 1, 5e-6);
        CHECK(counts(s).steps < 8100 &&
              (double)counts(s).rhs < 1.1 * (double)counts(s).steps); /* 1 < h omega; hardly any repetitions */
        integrator_free(&s->base);
    }
}

/* A pendulum that swings far out, at a loose tolerance and with steps of a sixth of a period: in 1200 periods its
   energy errs by no more than twice what is allowed in one step */
TEST(the_energy_of_a_pendulum_does_not_drift)
{
    const struct integrator_options options = {.relative_tolerance = 1e-4, .nominal = nominal};
    double y[2] = {2.5, 0}, reached, worst = 0;
    const double energy = pendulum_energy(y);
    struct one_step *s = start(&pendulum, &options, y);
    for (int i = 1; i <= 1000; i++) {
        CHECK(integrator_advance(&s->base, 10 * i, y, &reached) == STATUS_OK);
        worst = larger(worst, fabs(pendulum_energy(y) - energy));
    }
    CHECK(worst < 2e-4 && counts(s).steps < 7000);
    integrator_free(&s->base);
}

/* ---- step size -------------------- */

/* After it has been found, the step size of a steady motion stays the same */
TEST(the_step_size_is_held)
{
    struct modes modes = {.broken = STATUS_OK};
    for (int i = 0; i < MODES; i++) modes.K[i] = pow(i + 1, 4);
    const struct ode ode = modes_ode(&modes);
    const struct integrator_options options = {.relative_tolerance = 1e-5, .nominal = nominal};
    double y[2 * MODES] = {0}, t;
    for (int i = 0; i < MODES; i++) y[MODES + i] = 1;
    struct one_step *s = start(&ode, &options, y);
    CHECK(integrator_advance(&s->base, 20, y, &t) == STATUS_OK);
    double before = 0;
    int changes = 0;
    for (int i = 0; i < 1000; i++) {
        const double from = t;
        CHECK(s->base.ops->step(&s->base, 1000, y, &t) == STATUS_OK);
        changes += fabs(t - from - before) > 1e-3 * before;
        before = t - from;
    }
    CHECK(changes <= 5);
    integrator_free(&s->base);
}

/* ---- iterations that fail -------------------- */

/* v' = -1000 (v - cos t) with the Jacobian of another equation: with 0 the iteration only converges for h < 1e-2, with -3000 it
   contracts by 1/2 only */
static enum status decay_rhs(void *context, double t, const double *y, double *ydot)
{
    (void)context;
    *ydot = -1000 * (*y - cos(t));
    return STATUS_OK;
}

static enum status wrong_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    (void)t, (void)y, (void)A;
    *B = *(const double *)context;
    return isnan(*B) ? STATUS_NO_MEMORY : STATUS_OK;
}

TEST(an_iteration_that_diverges_or_is_too_slow_shortens_the_step)
{
    static const double says[] = {0, -3000}, tolerance[] = {1e-3, 1e-6};
    static const struct restart long_step = {.first_step = 0.5};
    for (int k = 0; k < 2; k++) {
        double B = says[k], v = 1, reached;
        const struct ode decay = {.n_v = 1, .context = &B, .rhs = decay_rhs, .jacobian = wrong_jacobian};
        const struct integrator_options options = {.relative_tolerance = tolerance[k], .nominal = nominal};
        struct one_step *s = start(&decay, &options, &v);
        CHECK(integrator_restart(&s->base, 0, &v, &long_step) == STATUS_OK);
        CHECK(integrator_advance(&s->base, 0.5, &v, &reached) == STATUS_OK);
        CHECK_NEAR(v, cos(0.5), 2e-3);
        CHECK(counts(s).newton_failures > 0 && counts(s).steps > (k == 0 ? 50 : 1));
        B = (double)NAN; /* a matrix that cannot be had */
        CHECK(integrator_advance(&s->base, 1, &v, &reached) == STATUS_NEWTON_MATRIX);
        integrator_free(&s->base);
    }
}

/* ---- fixed steps -------------------- */

static double fixed_error(const struct ode *ode, double h, double end, const double *from, const double *exact)
{
    const struct integrator_options options = {.relative_tolerance = 1e-6, .nominal = nominal, .fixed_step = h};
    double y[7], reached, error = 0;
    struct one_step *s = start(ode, &options, from);
    memcpy(y, from, (size_t)s->n * sizeof *y);
    CHECK(integrator_advance(&s->base, end, y, &reached) == STATUS_OK);
    for (int i = 0; i < s->n; i++) error = larger(error, fabs(y[i] - exact[i]));
    const struct integrator_statistics n = counts(s);
    CHECK(n.steps == lround(end / h) && n.factorizations == n.steps && n.newton_iterations == 3 * n.steps);
    CHECK(n.rhs == 16 * n.steps); /* the start of the step, and three iterations of five stages */
    integrator_free(&s->base);
    return error;
}

/* The work of a fixed step does not depend on the numbers, and its three iterations leave order 6 at least */
TEST(fixed_steps_have_fixed_work)
{
    const struct ode *const equations[] = {&forced_pendulum, &top};
    const double *const starts[] = {pendulum_start, top_start};
    for (int k = 0; k < 2; k++) {
        struct one_step *s = method_for(equations[k]);
        double exact[7];
        memcpy(exact, starts[k], (size_t)s->n * sizeof *exact);
        CHECK(several_steps(s, 0, exact, 0.025, 80) == STATUS_OK);
        integrator_free(&s->base);
        const double h = k == 0 ? 0.5 : 0.2, coarse = fixed_error(equations[k], h, 2, starts[k], exact),
                     fine = fixed_error(equations[k], h / 2, 2, starts[k], exact);
        CHECK(fine < 1e-9 && log2(coarse / fine) > 6);
    }
}

SUITE(ode_gauss_test)
