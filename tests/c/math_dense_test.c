/* The small factorisations: A x = b is solved backward stably, and what is not positive definite is refused. */
#include "test.h"

#include "math/dense.h"

#include <float.h>
#include <string.h>

#include "oracle/random.h"

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

/* Any matrix, with row exchanges; the factors are of its transpose, as LU is column major */
TEST(lu_solves)
{
    struct random random = {5};
    int pivot[MOST];
    for (int n = 1; n <= MOST; n++) {
        for (int i = 0; i < n * n; i++) A[i] = uniform(&random, -1, 1);
        for (int i = 0; i < n; i++) {
            b[i] = uniform(&random, -1, 1);
            for (int j = 0; j < n; j++) F[n * j + i] = A[n * i + j];
        }
        CHECK(lu_factor(n, F, pivot) == 0);
        memcpy(x, b, sizeof x);
        lu_solve(n, F, pivot, x);
        check_solution(n);
        for (int i = 0; i < n; i++) F[n * i] = 0; /* a row of zeros */
        for (int i = 0; i < n; i++)
            for (int j = 1; j < n; j++) F[n * i + j] = A[n * i + j];
        CHECK(lu_factor(n, F, pivot) != 0);
    }
}

/* U' x = b and U x = b for a unit upper triangle in longer rows: terms up to 2^n, so n stays small */
TEST(unit_triangles_solve)
{
    struct random random = {5};
    for (int n = 1; n <= 8; n++) {
        const int stride = n + 3;
        for (int i = 0; i < n * stride; i++) B[i] = uniform(&random, -1, 1);
        for (int i = 0; i < n; i++) {
            b[i] = uniform(&random, -1, 1);
            for (int j = 0; j < n; j++) A[n * i + j] = i == j ? 1 : i < j ? B[stride * i + j] : 0;
        }
        memcpy(x, b, sizeof x);
        unit_backward(n, stride, B, x);
        check_solution(n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[n * i + j] = i == j ? 1 : i > j ? B[stride * j + i] : 0;
        memcpy(x, b, sizeof x);
        unit_forward(n, stride, B, x);
        check_solution(n);
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
                CHECK(cholesky_factor(n, F, inverse_d) != 0);
            }
        }
    const double rank_one[4] = {1, 2, 2, 4};
    memcpy(F, rank_one, sizeof rank_one);
    CHECK(cholesky_factor(2, F, inverse_d) != 0);
}

/* A A^-1 = 1 to n eps of the product's terms, and rows that must be exchanged: a large element in every row and column, not on the
   diagonal */
TEST(inverses_invert)
{
    struct random random = {6};
    for (int i = 0; i < 100; i++) {
        const int n = 1 + i % 8;
        for (int k = 0; k < n * n; k++) A[k] = uniform(&random, -1, 1) + (k % n == (k / n + 1) % n ? 2 * n : 0);
        memcpy(F, A, sizeof F);
        CHECK(dense_invert(n, F, B) == 0);
        for (int k = 0; k < n * n; k++) {
            double sum = k % (n + 1) == 0 ? -1 : 0;
            for (int l = 0; l < n; l++) sum += A[n * (k / n) + l] * B[n * l + k % n];
            CHECK_NEAR(sum, 0, 10 * n * DBL_EPSILON);
        }
    }
    const double singular[4] = {1, 2, 3, 6}, not_finite[1] = {NAN};
    memcpy(F, singular, sizeof singular);
    CHECK(dense_invert(2, F, B) != 0);
    CHECK(dense_invert(1, memcpy(F, not_finite, sizeof not_finite), B) != 0);
}

SUITE(math_dense_test)
