/* Expressions: rules that fold and merge keep the value; a derivative equals a central difference, 1e-8 by h = 1e-5 and rounding. */
#include "test.h"

#include <stdlib.h>

#include "generate/graph/derivative.h"
#include "oracle/graph_values.h"
#include "oracle/random.h"

enum { INPUTS = 4, NODES = 60, MOST_NODES = 4000 };

/* A random expression of the ones made before; its value stays of order 1 */
static expr random_expression(struct graph *g, struct random *random, const expr *made, int n)
{
    const expr a = made[pick(random, n)], b = made[pick(random, n)];
    switch (pick(random, 8)) {
    case 0: return expr_scale(g, 0.5, expr_add(g, a, b));
    case 1: return expr_scale(g, 0.5, expr_sub(g, a, b));
    case 2: return expr_mul(g, a, b);
    case 3: return expr_div(g, a, expr_add_product(g, expr_number(g, 2), b, b));
    case 4: return expr_function(g, pick(random, 2) == 0 ? SIN : COS, a);
    case 5: return expr_stumpff(g, 2 + pick(random, 3), expr_mul(g, a, a));
    case 6: return expr_function(g, SQRT, expr_add_product(g, ONE, a, a));
    default: return expr_mul(g, expr_angle(g, ANGLE, expr_add_product(g, ONE, a, a), expr_mul(g, b, b)), b);
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
        double x[INPUTS];
        graph_make(&g);
        for (int i = 0; i < INPUTS; i++) {
            x[i] = uniform(&random, -1, 1);
            made[i] = expr_input(&g, i);
        }
        change[made[0] / 2] = ONE;
        for (int i = INPUTS; i < INPUTS + NODES; i++) made[i] = random_expression(&g, &random, made, i);
        expr_differentiate(&g, g.n, change);
        CHECK(!g.failed && g.n < MOST_NODES);
        for (int i = INPUTS; i < INPUTS + NODES && g.n < MOST_NODES; i++) {
            const double slope = evaluate(&g, x, mapped(change, made[i])), h = 1e-5, at = x[0];
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
    const expr x = expr_input(&g, 0), y = expr_input(&g, 1);
    CHECK(expr_add(&g, x, y) == expr_add(&g, y, x));
    CHECK(expr_sub(&g, x, y) == negative(expr_sub(&g, y, x)));
    CHECK(expr_mul(&g, negative(x), y) == negative(expr_mul(&g, y, x)));
    CHECK(expr_sub(&g, x, x) == ZERO && expr_mul(&g, ONE, x) == x && expr_mul(&g, ZERO, x) == ZERO);
    CHECK(expr_scale(&g, 2, expr_scale(&g, 0.5, x)) == x);
    CHECK(expr_add(&g, expr_scale(&g, 2, x), negative(x)) == x);
    CHECK(expr_function(&g, SIN, negative(x)) == negative(expr_function(&g, SIN, x)));
    struct substitution s = {.first = 0, .count = 1, .by = &y};
    const expr product = expr_mul(&g, x, expr_function(&g, COS, x));
    CHECK(expr_substitute(&g, &s) && mapped(s.image, product) == expr_mul(&g, y, expr_function(&g, COS, y)));
    expr_substitution_free(&s);
    graph_free(&g);
}

SUITE(graph_test)
