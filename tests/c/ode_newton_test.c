/* The reduced Newton system has the solution of the full one, and quaternions are integrated right. */
#include "test.h"

#include "math/dense.h"
#include "math/quaternion.h"
#include "ode/methods.h"
#include "ode/newton.h"

#include <string.h>

#include "oracle/specimen.h"

/* ---- the reduced system against the full one ----------------------------------------------------------------------- */

enum { MOST_X = 16, MOST_V = 13, MOST = MOST_X + MOST_V };

/* Three quaternions between ordinary coordinates, two of them side by side, listed in another order than they stand in */
static const struct quaternion_place places[] = {{9, 7}, {1, 1}, {5, 4}};
static const struct ode with_quaternions = {.n_x = 16, .n_v = 13, .n_quaternions = 3, .quaternion = places};
/* positions of the velocities 0, 10, 11, 12, which belong to no quaternion */
static const int ordinary_x[] = {0, 13, 14, 15}, ordinary_v[] = {0, 10, 11, 12};

static const struct ode without = {.n_x = 5, .n_v = 5}, of_first_order = {.n_v = 6};
static const int five[] = {0, 1, 2, 3, 4};

static double J[MOST * MOST], full[MOST * MOST], inverse[MOST * MOST], N[MOST_V * MOST_V], N_inverse[MOST_V * MOST_V];

static void set(const struct ode *ode, int row, int column, double value)
{
    J[row * ode_states(ode) + column] = value;
}

/* Row block of dx/dt: T by unit velocities, Omega by unit quaternions (dx/dt is linear in each), and A E below it */
static void quaternion_blocks(const struct ode *ode, const struct quaternion_place *place, const double *y,
                              const double *A)
{
    const double *q = y + place->x, *omega = y + ode->n_x + place->v;
    for (int k = 0; k < 4; k++) {
        double unit[4] = {0}, column[4], tangent[4];
        unit[k] = 1;
        quaternion_rate(unit, omega, column);
        for (int i = 0; i < 4; i++) set(ode, place->x + i, place->x + k, column[i]);
        if (k > 0) quaternion_rate(q, unit + 1, column);
        for (int i = 0; i < 4 && k > 0; i++) set(ode, place->x + i, ode->n_x + place->v + k - 1, column[i]);
        quaternion_conjugate_multiply(q, unit, tangent);
        for (int i = 0; i < ode->n_v; i++) {
            double sum = 0;
            for (int l = 0; l < 3; l++)
                sum += A[ode->n_v * (place->v + l) + i] * 2 * tangent[1 + l] / quaternion_square(q);
            set(ode, ode->n_x + i, place->x + k, sum);
        }
    }
}

static void full_jacobian(const struct ode *ode, const int *x, const int *v, int count, const double *y,
                          const struct newton *newton)
{
    memset(J, 0, sizeof J);
    for (int k = 0; k < ode->n_quaternions; k++) quaternion_blocks(ode, &ode->quaternion[k], y, newton->A);
    for (int k = 0; k < count; k++) {
        set(ode, x[k], ode->n_x + v[k], 1);
        for (int i = 0; i < ode->n_v; i++) set(ode, ode->n_x + i, x[k], newton->A[ode->n_v * v[k] + i]);
    }
    for (int j = 0; j < ode->n_v; j++)
        for (int i = 0; i < ode->n_v; i++) set(ode, ode->n_x + i, ode->n_x + j, newton->B[ode->n_v * j + i]);
}

static void multiply(int n, const double *M, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) y[i] += M[n * i + j] * x[j];
    }
}

static void transpose(int n, double *M)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const double swapped = M[n * i + j];
            M[n * i + j] = M[n * j + i];
            M[n * j + i] = swapped;
        }
}

/* |gamma J| < 1 by the choice of gamma, so both are well conditioned and agree to rounding */
static void check_system(const struct ode *ode, const int *x, const int *v, int count, struct random *random)
{
    const int n = ode_states(ode);
    struct arena arena = {0};
    struct newton newton;
    double y[MOST], r[MOST], want[MOST], c[MOST_V], dv[MOST_V], d[MOST];
    newton_make(&newton, ode, &arena);
    CHECK(!arena.failed);
    if (arena.failed) return;
    for (int i = 0; i < n; i++) y[i] = uniform(random, -2, 2), r[i] = uniform(random, -1, 1);
    for (int i = 0; i < ode->n_v * ode->n_v; i++) {
        if (newton.A != NULL) newton.A[i] = uniform(random, -1, 1);
        newton.B[i] = uniform(random, -1, 1);
    }
    full_jacobian(ode, x, v, count, y, &newton);
    const double gamma = uniform(random, 0.1, 0.9) / norm(n * n, J);
    for (int i = 0; i < n * n; i++) full[i] = (i % (n + 1) == 0 ? 1 : 0) - gamma * J[i];
    CHECK(dense_invert(n, full, inverse) == 0);
    multiply(n, inverse, r, want);

    newton_matrix(&newton, gamma, y, N);
    transpose(ode->n_v, N);
    CHECK(dense_invert(ode->n_v, N, N_inverse) == 0);
    newton_reduce(&newton, r, c);
    multiply(ode->n_v, N_inverse, c, dv);
    newton_expand(&newton, r, dv, d);
    for (int i = 0; i < n; i++) CHECK_NEAR(d[i], want[i], 1e-13 * norm(n, want));
    arena_release(&arena);
}

TEST(the_reduced_system_has_the_solution_of_the_full_one)
{
    struct random random = {1};
    for (int i = 0; i < 200; i++) check_system(&with_quaternions, ordinary_x, ordinary_v, 4, &random);
    for (int i = 0; i < 200; i++) check_system(&without, five, five, 5, &random);
    for (int i = 0; i < 100; i++) check_system(&of_first_order, NULL, NULL, 0, &random);
}

/* ---- a free symmetric top between two oscillators ------------------------------------------------------------------ */

/* x = (x1, q, x2), v = (v1, omega, v2). The oscillators are stiff and damped; the top has moments I1 = I2, I3. */
static const double I1 = 1, I3 = 2.5, k1 = 4e4, d1 = 400, k2 = 1;
static const struct quaternion_place middle = {1, 1};
static const double start[11] = {1, 0.5, 0.5, 0.5, 0.5, 0.3, 0, 1.1, -0.7, 2.3, 0};

static enum status top_rhs(void *context, double t, const double *y, double *ydot)
{
    const double *x = y, *v = y + 6, *omega = v + 1;
    double *vdot = ydot + 6;
    (void)context, (void)t;
    ydot[0] = v[0];
    quaternion_rate(x + 1, omega, ydot + 1);
    ydot[5] = v[4];
    vdot[0] = -k1 * x[0] - d1 * v[0];
    vdot[1] = (I1 - I3) / I1 * omega[1] * omega[2];
    vdot[2] = (I3 - I1) / I1 * omega[2] * omega[0];
    vdot[3] = 0;
    vdot[4] = -k2 * x[5];
    return STATUS_OK;
}

static enum status top_jacobian(void *context, double t, const double *y, double *A, double *B)
{
    const double *omega = y + 7, r = (I1 - I3) / I1;
    (void)context, (void)t;
    memset(A, 0, 25 * sizeof *A);
    memset(B, 0, 25 * sizeof *B);
    A[0] = -k1;
    A[24] = -k2;
    B[0] = -d1;
    B[5 * 2 + 1] = r * omega[2];
    B[5 * 3 + 1] = r * omega[1];
    B[5 * 1 + 2] = -r * omega[2];
    B[5 * 3 + 2] = -r * omega[0];
    return STATUS_OK;
}

static enum status top_project(void *context, double t, bool fixed, double *y, double *error)
{
    (void)context, (void)t, (void)fixed, (void)error;
    quaternion_normalize(y + 1);
    return STATUS_OK;
}

/* q(t) = exp(t L/I1) o q0 o exp(t (1 - I3/I1) omega3 e3): the axis precesses about the angular momentum L = R(q0) I omega */
static void top_attitude(double t, double q[4])
{
    const double *q0 = start + 1, *omega = start + 7, H[3] = {I1 * omega[0], I1 * omega[1], I3 * omega[2]};
    double R[9], L[3], precession[4], spin[4], half[4];
    quaternion_to_matrix(q0, R);
    mul3(R, H, L);
    for (int i = 0; i < 3; i++) L[i] *= t / I1;
    const double s[3] = {0, 0, t * (1 - I3 / I1) * omega[2]};
    quaternion_exp(L, precession);
    quaternion_exp(s, spin);
    quaternion_multiply(precession, q0, half);
    quaternion_multiply(half, spin, q);
}

static double top_error(double tolerance, struct integrator_statistics *statistics)
{
    const struct ode ode = {.n_x = 6,
                            .n_v = 5,
                            .n_quaternions = 1,
                            .quaternion = &middle,
                            .rhs = top_rhs,
                            .jacobian = top_jacobian,
                            .project = top_project};
    const double end = 20;
    const struct restart restart = {0};
    double nominal[11], y[11], q[4], reached, error = 0;
    struct integrator *integrator;
    for (int i = 0; i < 11; i++) nominal[i] = 1;
    const struct integrator_options options = {.relative_tolerance = tolerance, .nominal = nominal, .max_order = 5};
    memcpy(y, start, sizeof y);
    CHECK(cvode_make(&ode, &integrator) == STATUS_OK);
    CHECK(integrator_configure(integrator, &options) == STATUS_OK);
    CHECK(integrator_restart(integrator, 0, y, &restart) == STATUS_OK);
    CHECK(integrator_advance(integrator, end, y, &reached) == STATUS_OK);
    integrator_statistics(integrator, statistics);
    integrator_free(integrator);
    top_attitude(end, q);
    for (int i = 0; i < 4; i++) error = larger(error, fabs(y[1 + i] - q[i]));
    CHECK_NEAR(quaternion_square(y + 1), 1, 1e-14);
    CHECK_NEAR(y[0], 0, tolerance);
    return larger(error, fabs(y[5] - start[5] * cos(sqrt(k2) * end)));
}

/* The global error falls at least 4-fold per decade of the tolerance. The Newton matrix is exact where it is made, so that few
   iterations suffice and none fails. */
TEST(a_tumbling_top_follows_its_closed_form)
{
    double most = 1e-3;
    for (double tolerance = 1e-6; tolerance > 9e-12; tolerance /= 10, most /= 4) {
        struct integrator_statistics statistics;
        CHECK(top_error(tolerance, &statistics) < most);
        CHECK((double)statistics.newton_iterations < 1.2 * (double)statistics.steps);
        CHECK(statistics.newton_failures == 0);
    }
}

SUITE(ode_newton_test)
