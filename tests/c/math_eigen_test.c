/* The symmetric eigensolver: laws that any result must obey, on random and on awkward matrices. */
#include "math/eigen.h"

#include <float.h>
#include <string.h>

#include "oracle/random.h"
#include "test.h"

enum { MAX = 40 };

static struct random numbers;

static void random_symmetric(int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) A[i * n + j] = A[j * n + i] = uniform(&numbers, -1, 1);
}

/* B B' + I/10 */
static void random_positive(int n, double *A)
{
    static double B[MAX * MAX];
    for (int i = 0; i < n * n; i++) B[i] = uniform(&numbers, -1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i * n + j] = i == j ? 0.1 : 0;
            for (int k = 0; k < n; k++) A[i * n + j] += B[i * n + k] * B[j * n + k];
        }
}

static double norm(int n, const double *A)
{
    double sum = 0;
    for (int i = 0; i < n * n; i++) sum += A[i] * A[i];
    return sqrt(sum);
}

/* max over columns of |K v - w M v| and max |V' M V - I|; M = NULL is the unit matrix */
static void residuals(int n, const double *K, const double *M, const double *V, const double *w, double *equation,
                      double *basis)
{
    static double MV[MAX * MAX];
    *equation = *basis = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            MV[i * n + j] = M ? 0 : V[i * n + j];
            for (int k = 0; M && k < n; k++) MV[i * n + j] += M[i * n + k] * V[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double KV = 0, VMV = 0;
            for (int k = 0; k < n; k++) {
                KV += K[i * n + k] * V[k * n + j];
                VMV += V[k * n + i] * MV[k * n + j];
            }
            *equation = larger(*equation, fabs(KV - w[j] * MV[i * n + j]));
            *basis = larger(*basis, fabs(VMV - (i == j)));
        }
}

static int ascending(int n, const double *w)
{
    for (int i = 1; i < n; i++)
        if (!(w[i - 1] <= w[i])) return 0;
    return 1;
}

static double A[MAX * MAX], K[MAX * MAX], M[MAX * MAX], V[MAX * MAX], work[2 * MAX * MAX], w[MAX];

/* A V = V w, V'V = I; some n sweeps of n rotations touch an element: 4 n eps |A| bounds what they leave */
TEST(symmetric_random)
{
    numbers.state = 1;
    for (int n = 1; n <= MAX; n++) {
        double equation, basis;
        random_symmetric(n, K);
        memcpy(A, K, sizeof A);
        eigen_symmetric(n, A, V, w);
        residuals(n, K, NULL, V, w, &equation, &basis);
        CHECK(ascending(n, w));
        CHECK_NEAR(equation, 0, 4 * n * DBL_EPSILON * norm(n, K));
        CHECK_NEAR(basis, 0, 4 * n * DBL_EPSILON);
    }
}

/* The second-difference matrix has w_k = 2 - 2 cos(k pi/(n+1)); zero, unit and rank-one matrices are as simple as they look. */
TEST(symmetric_known)
{
    for (int n = 1; n <= 20; n++) {
        memset(A, 0, sizeof A);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[i * n + j] = i == j ? 2 : i - j == 1 || j - i == 1 ? -1 : 0;
        eigen_symmetric(n, A, V, w);
        for (int k = 1; k <= n; k++)
            CHECK_NEAR(w[k - 1], 4 * pow(sin(k * acos(-1) / (2 * (n + 1))), 2), 4 * n * DBL_EPSILON);

        for (int i = 0; i < n * n; i++) A[i] = 1;
        eigen_symmetric(n, A, V, w);
        for (int k = 1; k < n; k++) CHECK_NEAR(w[k - 1], 0, 4 * n * DBL_EPSILON);
        CHECK_NEAR(w[n - 1], n, 4 * n * DBL_EPSILON);

        memset(A, 0, sizeof A);
        eigen_symmetric(n, A, V, w);
        for (int k = 0; k < n; k++) CHECK(w[k] == 0 && V[k * n + k] == 1);
    }
}

/* D A D of a well-conditioned A keeps the relative precision of every eigenvalue, however steep the diagonal D. */
TEST(graded_matrix_keeps_small_eigenvalues)
{
    const double d = 1e-20; /* [1 d/2; d/2 d^2]: product of eigenvalues d^2 3/4, sum 1 + d^2 */
    double B[4] = {1, d / 2, d / 2, d * d}, U[4], v[2];
    eigen_symmetric(2, B, U, v);
    CHECK_NEAR(v[0] / (0.75 * d * d), 1, 4 * DBL_EPSILON);
    CHECK_NEAR(v[1], 1, 4 * DBL_EPSILON);
}

/* K V = M V w2, V'MV = I; Cholesky's error grows with the condition of M, some 100 n^2 for these */
TEST(generalised_random)
{
    numbers.state = 2;
    for (int n = 1; n <= MAX; n++) {
        double equation, basis;
        random_symmetric(n, K);
        random_positive(n, M);
        CHECK(eigen_generalized(n, K, M, work, V, w) == 0);
        residuals(n, K, M, V, w, &equation, &basis);
        const double condition = norm(n, M) / 0.1, tolerance = 4 * n * DBL_EPSILON * condition;
        CHECK(ascending(n, w));
        CHECK_NEAR(equation, 0, tolerance * norm(n, K));
        CHECK_NEAR(basis, 0, tolerance);
    }
}

/* Rank one, indefinite, negative, NaN: M is refused. */
TEST(mass_must_be_positive_definite)
{
    const double unit[4] = {1, 0, 0, 1};
    const double bad[][4] = {{1, 1, 1, 1}, {1, 2, 2, 1},           {-1, 0, 0, 1},
                             {0, 0, 0, 0}, {(double)NAN, 0, 0, 1}, {1, 0, 0, (double)NAN}};
    for (int i = 0; i < 6; i++) CHECK(eigen_generalized(2, unit, bad[i], work, V, w) != 0);

    numbers.state = 3; /* B B', B = [I; b']: rank 3 of 4, and the last pivot is a rounding of either sign */
    for (int i = 0; i < 100; i++) {
        enum { N = 4 };
        double B[N][N - 1] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        for (int c = 0; c < N - 1; c++) B[N - 1][c] = uniform(&numbers, -1, 1);
        for (int r = 0; r < N * N; r++) {
            M[r] = 0;
            K[r] = r % (N + 1) == 0;
            for (int c = 0; c < N - 1; c++) M[r] += B[r / N][c] * B[r % N][c];
        }
        for (int r = 0; r < N * N; r++) M[r] *= (r / N + 3) * (r % N + 3); /* so that the roots are not exact */
        CHECK(eigen_generalized(N, K, M, work, V, w) != 0);
    }
}

SUITE(math_eigen_test)
