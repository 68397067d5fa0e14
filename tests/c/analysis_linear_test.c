/* Linearizations: their parts against other derivatives, equilibria, minimal coordinates against the modes. */
#include <string.h>

#include "analysis/closure.h"
#include "analysis/linear.h"
#include "analysis/modes.h"
#include "analysis/zeros.h"
#include "oracle/specimen.h"
#include "robot/read.h"
#include "test.h"

enum { SEEDS = 40 };

static const double PI = 3.14159265358979323846;

struct linearized {
    struct operating_point point;
    struct linear linear;
    struct arena arena;
};

/* At the start, or at an equilibrium */
static enum status linearize(const char *file, const char *text, bool equilibrium, struct linearized *l)
{
    struct report silent = {0};
    memset(l, 0, sizeof *l);
    if (text == NULL) text = document_load(file, &l->arena, &silent);
    enum status status = operating_point_make(file, text, NULL, &silent, &l->point);
    if (status == STATUS_OK) status = operating_point_move(&l->point, false, equilibrium, &silent);
    if (status == STATUS_OK) status = linear_make(&l->point, &silent, &l->linear);
    return status;
}

static void linearized_free(struct linearized *l)
{
    operating_point_free(&l->point);
    arena_release(&l->arena);
}

/* The largest entry of a column of the Jacobian */
static double largest(int n, const double *column)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = larger(most, fabs(column[i]));
    return most;
}

/* Every row and column of A, B, C, D is a column of instance_directional(); the lower half of A is the Jacobian of the forward dynamics,
   which is computed by another elimination (dyn/jacobian.c): equal to rounding of the column, as far as cond(M) eps allows */
TEST(A_is_the_jacobian_of_the_accelerations)
{
    for (int seed = 0; seed < SEEDS; seed++) {
        struct specimen s;
        struct linearized l;
        static double qdd[MOST_MODES * 8], by_q[160000], by_qd[160000];
        CHECK(specimen_random(&s, seed) && s.nv <= 400);
        CHECK(linearize("random", s.text, false, &l) == STATUS_OK);
        struct mechanism *m = l.point.mechanism;
        const int n = m->model->nv, N = l.linear.n_states, half = N / 2;
        CHECK(mechanism_forward_jacobian(m, &l.point.state.input, qdd, by_q, by_qd) == STATUS_OK);
        for (int i = 0; i < half; i++)
            for (int j = 0; j < half; j++) {
                const int column = n * l.linear.coordinate[j], from = column + l.linear.coordinate[i];
                const double *row = l.linear.A + N * (half + i);
                CHECK(l.linear.A[N * i + j] == 0 && l.linear.A[N * i + half + j] == (i == j));
                CHECK_NEAR(row[j], by_q[from], 1e-11 * (1 + largest(n, by_q + column) + largest(n, qdd)));
                CHECK_NEAR(row[half + j], by_qd[from], 1e-11 * (1 + largest(n, by_qd + column)));
            }
        linearized_free(&l);
        specimen_free(&s);
    }
}

/* Of a closed robot without damping in its equilibrium, where nothing accelerates: eigenvalues of the minimal A are +-i w of its modes */
TEST(minimal_coordinates_have_the_modes)
{
    struct linearized l;
    struct report silent = {0};
    struct modes modes;
    CHECK(linearize("resources/dualemps.json", NULL, true, &l) == STATUS_OK);
    for (int i = 0; i < l.point.mechanism->model->nv; i++) CHECK_NEAR(l.point.qdd[i], 0, 1e-6);
    CHECK(linear_minimal(&l.linear, &silent) == STATUS_OK);
    CHECK(modes_make(l.point.mechanism, true, &silent, &modes) == STATUS_OK);
    CHECK(modes_at(&modes, &l.point.state.input, &silent) == STATUS_OK && modes_damp(&modes, &silent) == STATUS_OK);
    const int N = l.linear.n_states;
    CHECK(N == 2 * modes.eigen.n && N <= 100);
    struct complex_number pole[100];
    CHECK(zeros_eigenvalues(N, l.linear.A, &l.arena, pole) == STATUS_OK);
    for (int k = 0; k < modes.eigen.n; k++) {
        const double w = 2 * PI * modes.eigen.damped[k].frequency;
        double nearest = INFINITY;
        for (int i = 0; i < N; i++) nearest = fmin(nearest, fabs(fabs(pole[i].im) - w));
        CHECK(nearest <= 1e-4 * (1 + w));
    }
    modes_free(&modes);
    linearized_free(&l);
}

/* ---- zeros ---------------------------------------------------------------------------------------------------------------------- */

/* Controllable canonical form of gain (s + 1)(s^2 - 2 s + 5) / (s + 2)^5: zeros -1, 1 +- 2i. */
TEST(zeros_of_a_known_system)
{
    const double den[5] = {32, 80, 80, 40, 10}, num[5] = {5, 3, -1, 1, 0}, gain = 2.5;
    double A[25] = {0}, b[5] = {0}, c[5], got;
    struct complex_number zero[5];
    int count;
    for (int i = 0; i < 4; i++) A[5 * i + i + 1] = 1;
    for (int j = 0; j < 5; j++) A[20 + j] = -den[j], c[j] = gain * num[j];
    b[4] = 1;
    struct arena arena = {0};
    struct siso system = {.n = 5, .A = A, .b = b, .c = c, .size_A = 100, .size_b = 1, .size_c = 10};
    CHECK(invariant_zeros(&system, &arena, zero, &count, &got) == STATUS_OK && count == 3);
    CHECK_NEAR(got, gain, 1e-12);
    for (int i = 0; i < 3; i++) {
        const bool real = fabs(zero[i].im) < 1e-9;
        CHECK_NEAR(zero[i].re, real ? -1 : 1, 1e-10);
        CHECK_NEAR(fabs(zero[i].im), real ? 0 : 2, 1e-10);
    }
    arena_release(&arena);
}

TEST(zero_transfer_function)
{
    double A[4] = {-1, 0, 0, -2}, b[2] = {1, 0}, c[2] = {0, 1}, gain;
    struct complex_number zero[2];
    int count;
    struct arena arena = {0};
    struct siso system = {.n = 2, .A = A, .b = b, .c = c, .size_A = 2, .size_b = 1, .size_c = 1};
    CHECK(invariant_zeros(&system, &arena, zero, &count, &gain) == STATUS_ZERO_TRANSFER);
    arena_release(&arena);
}

/* Two carts with a spring k between: force on the first to its position has zeros +-i sqrt(k/m2), relative degree 2, gain 1/m1 */
TEST(two_carts)
{
    struct linearized l;
    struct report silent = {0};
    struct zeros zeros;
    CHECK(linearize(
              "carts",
              "{\"format\": \"limber-robot/1\", \"name\": \"carts\", \"links\": ["
              "{\"name\": \"a\", \"joint\": {\"type\": \"prismatic\", \"axis\": [1, 0, 0]}, \"rigid\": {\"mass\": 2}},"
              "{\"name\": \"b\", \"parent\": \"a\", \"joint\": {\"type\": \"prismatic\", \"axis\": [1, 0, 0], "
              "\"passive\": true,"
              " \"stiffness\": 12}, \"rigid\": {\"mass\": 3}}]}",
              false, &l) == STATUS_OK);
    const int u = linear_find_input(&l.linear, "a.tau", &silent), y = linear_find_output(&l.linear, "a.q", &silent);
    CHECK(silent.errors == 0 && linear_find_input(&l.linear, "a.tua", &silent) == -1 && silent.errors == 1);
    CHECK(u >= 0 && y >= 0 && zeros_make(&l.linear, u, y, &silent, &zeros) == STATUS_OK);
    CHECK(zeros.n_zeros == 2 && zeros.n_poles == 4 && zeros.relative_degree == 2 && zeros.minimum_phase);
    CHECK_NEAR(zeros.gain, 0.5, 1e-12);
    for (int i = 0; i < zeros.n_zeros; i++) {
        CHECK_NEAR(zeros.zero[i].re, 0, 1e-12);
        CHECK_NEAR(fabs(zeros.zero[i].im), sqrt(12.0 / 3), 1e-12);
    }
    CHECK_NEAR(fabs(zeros.pole[3].im), sqrt(12 * (1 / 2.0 + 1 / 3.0)), 1e-12);
    linearized_free(&l);
}

SUITE(analysis_linear_test)
