/* The 16-point Gauss rule on [0, 1]: what defines it is that it integrates polynomials up to degree 31. */
#include "flex/quadrature.h"

#include <float.h>

#include "test.h"

/* In shifted Legendre polynomials the rule is judged without the weakness of monomials: int P_d = 0, d = 1..31, but the
   square of P_16, which vanishes at every node, comes out 0 instead of 1/33. */
TEST(is_the_gauss_rule)
{
    double node[GAUSS_POINTS], weight[GAUSS_POINTS], sum[2 * GAUSS_POINTS] = {0}, square = 0;
    quadrature_gauss_legendre(node, weight);
    for (int i = 0; i < GAUSS_POINTS; i++) {
        const double x = 2 * node[i] - 1;
        double before = 1, P = x;
        for (int d = 1; d < 2 * GAUSS_POINTS; d++) {
            sum[d] += weight[i] * P;
            if (d == GAUSS_POINTS) square += weight[i] * P * P;
            const double next = ((2 * d + 1) * x * P - d * before) / (d + 1);
            before = P;
            P = next;
        }
    }
    /* a node off by eps moves P_d by up to d^2/2 eps near the ends, where weights are small; d eps in the sum */
    for (int d = 1; d < 2 * GAUSS_POINTS; d++) CHECK_NEAR(sum[d], 0, d * DBL_EPSILON);
    CHECK_NEAR(square, 0, 1e-26);
}

TEST(nodes_ascend_inside_and_weights_are_symmetric)
{
    double node[GAUSS_POINTS], weight[GAUSS_POINTS];
    quadrature_gauss_legendre(node, weight);
    for (int i = 0; i < GAUSS_POINTS; i++) {
        CHECK(node[i] > (i == 0 ? 0 : node[i - 1]) && node[i] < 1);
        CHECK(weight[i] > 0);
        CHECK_NEAR(node[i] + node[GAUSS_POINTS - 1 - i], 1, DBL_EPSILON);
        CHECK(weight[i] == weight[GAUSS_POINTS - 1 - i]);
    }
    /* Abramowitz and Stegun, table 25.4, n = 16, largest zero and its weight on [-1, 1] */
    CHECK_NEAR(2 * node[GAUSS_POINTS - 1] - 1, 0.989400934991649932596, 4 * DBL_EPSILON);
    CHECK_NEAR(2 * weight[GAUSS_POINTS - 1], 0.027152459411754094852, 4 * DBL_EPSILON);
}

SUITE(flex_quadrature_test)
