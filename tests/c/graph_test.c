/* Expressions: rules that fold and merge keep the value; a derivative equals a central difference, 1e-8 by h = 1e-5 and rounding. */
#include "test.h"

#include <stdlib.h>

#include "generate/graph/derivative.h"
#include "generate/graph/substitution.h"
#include "support/random.h"

enum { INPUTS = 4, NODES = 60, MOST_NODES = 4000 };

/* A random expression of the ones made before; its value stays of order 1 */
static expr random_expression(struct graph *g, struct random *random, const expr *made, int n)
{
    const expr a = made[pick(random, n)], b = made[pick(random, n)];
    switch (pick(random, 8)) {
    case 0: return scaled(g, 0.5, add(g, a, b));
    case 1: return scaled(g, 0.5, sub(g, a, b));
    case 2: return mul(g, a, b);
    case 3: return quotient(g, a, add_product(g, number(g, 2), b, b));
    case 4: return function(g, pick(random, 2) == 0 ? SIN : COS, a);
    case 5: return stumpff(g, 2 + pick(random, 3), mul(g, a, a));
    case 6: return function(g, SQRT, add_product(g, ONE, a, a));
    default: return mul(g, angle(g, ANGLE, add_product(g, ONE, a, a), mul(g, b, b)), b);
    }
}

static double evaluate(const struct graph *g, const double *x, expr e)
{
    static double value[MOST_NODES];
    graph_evaluate(g, x, value);
    return value_at(value, e);
}

TEST(derivatives_equal_differences)
{
    for (int seed = 0; seed < 100; seed++) {
        struct graph g;
        struct random random = {.state = (uint64_t)seed};
        expr made[INPUTS + NODES], change[MOST_NODES] = {0};
        bool given[MOST_NODES] = {false};
        double x[INPUTS];
        graph_make(&g);
        for (int i = 0; i < INPUTS; i++) {
            x[i] = uniform(&random, -1, 1);
            made[i] = input(&g, i);
            given[made[i] / 2] = true;
        }
        change[made[0] / 2] = ONE;
        for (int i = INPUTS; i < INPUTS + NODES; i++) made[i] = random_expression(&g, &random, made, i);
        differentiate(&g, g.n, given, change);
        CHECK(!g.failed && g.n < MOST_NODES);
        for (int i = INPUTS; i < INPUTS + NODES && g.n < MOST_NODES; i++) {
            const double slope = evaluate(&g, x, change_of(change, made[i])), h = 1e-5, at = x[0];
            x[0] = at + h;
            const double above = evaluate(&g, x, made[i]);
            x[0] = at - h;
            const double below = evaluate(&g, x, made[i]);
            x[0] = at;
            CHECK_NEAR(slope, (above - below) / (2 * h), 1e-8 * (1 + fabs(slope)));
        }
        graph_free(&g);
    }
}

TEST(equal_expressions_are_one_node)
{
    struct graph g;
    graph_make(&g);
    const expr x = input(&g, 0), y = input(&g, 1);
    CHECK(add(&g, x, y) == add(&g, y, x));
    CHECK(sub(&g, x, y) == negative(sub(&g, y, x)));
    CHECK(mul(&g, negative(x), y) == negative(mul(&g, y, x)));
    CHECK(sub(&g, x, x) == ZERO && mul(&g, ONE, x) == x && mul(&g, ZERO, x) == ZERO);
    CHECK(scaled(&g, 2, scaled(&g, 0.5, x)) == x);
    CHECK(add(&g, scaled(&g, 2, x), negative(x)) == x);
    CHECK(function(&g, SIN, negative(x)) == negative(function(&g, SIN, x)));
    struct substitution s = {.first = 0, .count = 1, .by = &y};
    const expr product = mul(&g, x, function(&g, COS, x));
    CHECK(substitute(&g, &s) && image_of(&s, product) == mul(&g, y, function(&g, COS, y)));
    substitution_free(&s);
    graph_free(&g);
}

int graph_test(void)
{
    RUN(derivatives_equal_differences);
    RUN(equal_expressions_are_one_node);
    return test_summary();
}
