/* The small factorisations: A x = b is solved backward stably, and what is not positive definite is refused. */
#include "test.h"

#include "math/dense.h"

#include <float.h>
#include <string.h>

#include "support/random.h"

enum { MOST = 40 };

static double A[MOST * MOST], F[MOST * MOST], B[MOST * MOST], b[MOST], x[MOST], inverse_d[MOST];

/* B B' + I/10, symmetric and positive definite */
static void random_positive(struct random *random, int n)
{
    for (int i = 0; i < n * n; i++) B[i] = uniform(random, -1, 1);
    for (int i = 0; i < n; i++) {
        b[i] = uniform(random, -1, 1);
        for (int j = 0; j < n; j++) {
            A[n * i + j] = i == j ? 0.1 : 0;
            for (int k = 0; k < n; k++) A[n * i + j] += B[n * i + k] * B[n * j + k];
        }
    }
}

/* |A x - b| <= 4 n eps (|A| |x| + |b|), Higham's bound for Cholesky with room; A is condition free in it */
static void check_solution(int n)
{
    for (int i = 0; i < n; i++) {
        double residual = -b[i], size = fabs(b[i]);
        for (int j = 0; j < n; j++) {
            residual += A[n * i + j] * x[j];
            size += fabs(A[n * i + j] * x[j]);
        }
        CHECK_NEAR(residual, 0, 4 * n * DBL_EPSILON * (size + 1));
    }
}

TEST(ldl_solves)
{
    struct random random = {1};
    for (int n = 1; n <= MOST; n++) {
        random_positive(&random, n);
        memcpy(F, A, sizeof F);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) F[n * i + j] = (double)NAN; /* only the lower triangle is read */
        CHECK(ldl_factor(n, F, inverse_d) == 0);
        for (int i = 0; i < n; i++) CHECK(inverse_d[i] > 0);
        memcpy(x, b, sizeof x);
        ldl_forward(n, F, x);
        for (int i = 0; i < n; i++) x[i] *= inverse_d[i];
        ldl_backward(n, F, x);
        check_solution(n);
    }
}

TEST(cholesky_solves)
{
    struct random random = {2};
    for (int n = 1; n <= MOST; n++) {
        random_positive(&random, n);
        memcpy(F, A, sizeof F);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) F[n * i + j] = (double)NAN; /* only the upper triangle is read */
        CHECK(cholesky_factor(n, F, inverse_d) == 0);
        memcpy(x, b, sizeof x);
        cholesky_solve(n, F, inverse_d, x);
        check_solution(n);
    }
}

/* L Delta L' = A */
TEST(ldl_factors_multiply_to_the_matrix)
{
    struct random random = {3};
    for (int n = 1; n <= MOST; n++) {
        random_positive(&random, n);
        memcpy(F, A, sizeof F);
        CHECK(ldl_factor(n, F, inverse_d) == 0);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double sum = 0;
                for (int k = 0; k <= j; k++)
                    sum += (k == i ? 1 : F[n * i + k]) * (k == j ? 1 : F[n * j + k]) / inverse_d[k];
                CHECK_NEAR(sum, A[n * i + j], 4 * n * DBL_EPSILON * sqrt(A[n * i + i] * A[n * j + j]));
            }
    }
}

/* Rank deficient, indefinite, negative, zero, NaN at any place of any size. */
TEST(what_is_not_positive_is_refused)
{
    struct random random = {4};
    for (int n = 1; n <= 12; n++)
        for (int at = 0; at < n; at++) {
            const double bad[] = {-1, 0, (double)NAN, -INFINITY};
            for (int k = 0; k < 4; k++) {
                random_positive(&random, n);
                A[n * at + at] = bad[k];
                memcpy(F, A, sizeof F);
                CHECK(ldl_factor(n, F, inverse_d) != 0);
                memcpy(F, A, sizeof F);
                CHECK(cholesky_factor(n, F, inverse_d) != 0);
            }
        }
    const double rank_one[4] = {1, 2, 2, 4};
    memcpy(F, rank_one, sizeof rank_one);
    CHECK(ldl_factor(2, F, inverse_d) != 0);
    memcpy(F, rank_one, sizeof rank_one);
    CHECK(cholesky_factor(2, F, inverse_d) != 0);
}

int main(void)
{
    RUN(ldl_solves);
    RUN(cholesky_solves);
    RUN(ldl_factors_multiply_to_the_matrix);
    RUN(what_is_not_positive_is_refused);
    return test_summary();
}
