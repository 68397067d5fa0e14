/* Quaternions against rotation matrices: products, exponentials, both conversions. robot_joint_test has their rates. */
#include "test.h"

#include "math/quaternion.h"
#include "math/rotation.h"

#include "oracle/random.h"

/* any unit quaternion; a few rounding errors of numbers of size one are allowed below */
static const double ROUNDING = 1e-14;

static void random_quaternion(struct random *random, double q[4])
{
    do
        for (int i = 0; i < 4; i++) q[i] = uniform(random, -1, 1);
    while (quaternion_square(q) < 0.1);
    quaternion_normalize(q);
}

static void check_near(int n, const double *got, const double *want, double tolerance)
{
    for (int i = 0; i < n; i++) CHECK_NEAR(got[i], want[i], tolerance);
}

TEST(a_product_is_the_product_of_the_matrices)
{
    struct random random = {1};
    for (int i = 0; i < 200; i++) {
        double a[4], b[4], c[4], d[4], A[9], B[9], C[9], AB[9];
        random_quaternion(&random, a);
        random_quaternion(&random, b);
        quaternion_multiply(a, b, c);
        quaternion_to_matrix(a, A);
        quaternion_to_matrix(b, B);
        quaternion_to_matrix(c, C);
        matmul3(A, B, AB);
        check_near(9, C, AB, ROUNDING);
        quaternion_conjugate_multiply(a, c, d);
        check_near(4, d, b, ROUNDING);
    }
}

TEST(the_exponential_is_that_of_the_rotation_vector)
{
    struct random random = {3};
    for (int i = 0; i < 200; i++) {
        const double scale = pow(10, uniform(&random, -12, 0.5));
        double t[3], q[4], R[9], Exp[9];
        for (int k = 0; k < 3; k++) t[k] = scale * uniform(&random, -1, 1);
        const struct exp_coefficients e = rotation_exp_coefficients(dot3(t, t));
        quaternion_exp(t, q);
        quaternion_to_matrix(q, R);
        rotation_exp(&e, t, Exp);
        CHECK_NEAR(quaternion_square(q), 1, ROUNDING);
        check_near(9, R, Exp, ROUNDING);
    }
}

TEST(a_matrix_gives_its_quaternion_back)
{
    struct random random = {4};
    for (int i = 0; i < 200; i++) {
        double q[4], back[4], R[9];
        random_quaternion(&random, q);
        if (i % 4 == 0) q[pick(&random, 4)] = 0, quaternion_normalize(q); /* half turns among them */
        quaternion_to_matrix(q, R);
        quaternion_from_matrix(R, back);
        const double sign = q[0] * back[0] + dot3(q + 1, back + 1) < 0 ? -1 : 1; /* q and -q are one orientation */
        for (int k = 0; k < 4; k++) CHECK_NEAR(sign * back[k], q[k], ROUNDING);
    }
}

SUITE(math_quaternion_test)
