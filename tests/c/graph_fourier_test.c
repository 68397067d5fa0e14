/* Sums of products with sines and cosines: the form is unique, and it keeps the value. */
#include "test.h"

#include <stdlib.h>

#include "generate/graph/fourier.h"
#include "oracle/graph_values.h"
#include "oracle/random.h"

enum { INPUTS = 5, NODES = 12, MOST_TERMS = 2000 };

static double angle_at(const struct angles *angles, const double *x)
{
    double sum = 0;
    for (int i = 0; i < angles->n; i++) sum += angles->multiple[i] * x[angles->symbol[i]];
    return sum;
}

static double term_at(const struct term *t, const double *x)
{
    const double a = angle_at(&t->angles, x);
    double value = t->c;
    for (int i = 0; i < t->n; i++) value *= x[t->factor[i]];
    switch (t->wave) {
    case FLAT: return value;
    case COSINE: return value * cos(a);
    case SINE: return value * sin(a);
    case COSINE_SQUARED: return value * cos(a) * cos(a);
    case SINE_SQUARED: return value * sin(a) * sin(a);
    }
    return 0;
}

static double sum_at(const struct sum *s, const double *x)
{
    double value = 0;
    for (int i = 0; i < s->n; i++) value += term_at(&s->term[i], x);
    return value;
}

/* Polynomials in the inputs, sines and cosines of integer combinations of the first two */
static expr random_expression(struct graph *g, struct random *random, const expr *made, int n)
{
    const expr a = made[pick(random, n)], b = made[pick(random, n)];
    const expr q = expr_add(g, expr_scale(g, pick(random, 3), expr_input(g, 0)),
                            expr_scale(g, 1 - pick(random, 3), expr_input(g, 1)));
    switch (pick(random, 5)) {
    case 0: return expr_add(g, a, b);
    case 1: return expr_sub(g, a, b);
    case 2: return expr_function(g, COS, expr_add(g, q, expr_number(g, 0.3)));
    case 3: return expr_function(g, SIN, q);
    default: return expr_mul(g, a, b);
    }
}

TEST(value_and_slope_are_kept)
{
    int converted = 0;
    for (int seed = 0; seed < 200; seed++) {
        struct graph g;
        struct fourier f;
        struct random random = {.state = (uint64_t)seed};
        expr made[INPUTS + NODES];
        double x[INPUTS], value[2000];
        graph_make(&g);
        for (int i = 0; i < INPUTS; i++) {
            x[i] = uniform(&random, -1, 1);
            made[i] = expr_input(&g, i);
        }
        for (int i = INPUTS; i < INPUTS + NODES; i++) made[i] = random_expression(&g, &random, made, i);
        CHECK(g.n < 2000);
        graph_evaluate(&g, x, value);
        const expr last = made[INPUTS + NODES - 1];
        if (fourier_make(&g, 1, &last, MOST_TERMS, &f) == FOURIER_OK) {
            struct sum sum = fourier_sum(&f, last), slope = fourier_derivative(&f, &sum, INPUTS - 1);
            const double want = value_at(value, last), h = 1e-4, at = x[INPUTS - 1];
            CHECK_NEAR(sum_at(&sum, x), want, 1e-12 * (1 + fabs(want)));
            x[INPUTS - 1] = at + h; /* polynomials in it of low degree: differences of second order */
            const double above = sum_at(&sum, x);
            x[INPUTS - 1] = at - h;
            const double below = sum_at(&sum, x);
            x[INPUTS - 1] = at;
            CHECK_NEAR(sum_at(&slope, x), (above - below) / (2 * h), 1e-6 * (1 + fabs(sum_at(&slope, x))));
            sum.n = fourier_collect_squares(sum.term, sum.n);
            CHECK_NEAR(sum_at(&sum, x), want, 1e-12 * (1 + fabs(want)));
            free(sum.term);
            free(slope.term);
            converted++;
        }
        fourier_free(&f);
        graph_free(&g);
    }
    CHECK(converted > 150);
}

TEST(identities)
{
    struct graph g;
    graph_make(&g);
    const expr a = expr_input(&g, 0), b = expr_input(&g, 1), m = expr_input(&g, 2), ca = expr_function(&g, COS, a),
               sa = expr_function(&g, SIN, a), cb = expr_function(&g, COS, b), sb = expr_function(&g, SIN, b);
    const expr one = expr_add(&g, expr_mul(&g, ca, ca), expr_mul(&g, sa, sa)),
               forth = expr_function(&g, SIN, expr_sub(&g, a, b)), back = expr_function(&g, SIN, expr_sub(&g, b, a));
    const struct {
        expr e;
        int terms, collected; /* before and after fourier_collect_squares() */
        enum wave wave;       /* of one term */
        int symbols, angles;
    } cases[] = {{expr_mul(&g, m, one), 1, 1, FLAT, 1, 0}, /* m (cos^2 + sin^2) = m */
                 {expr_sub(&g, expr_mul(&g, ca, cb), expr_mul(&g, sa, sb)), 1, 1, COSINE, 0, 2}, /* cos(a + b) */
                 {expr_add(&g, forth, back), 0, 0, FLAT, 0, 0},
                 {expr_mul(&g, m, expr_mul(&g, sa, sa)), 2, 1, SINE_SQUARED, 1, 1}}; /* one term to read */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fourier f;
        CHECK(fourier_make(&g, 1, &cases[i].e, MOST_TERMS, &f) == FOURIER_OK);
        struct sum s = fourier_sum(&f, cases[i].e);
        CHECK(s.n == cases[i].terms && fourier_collect_squares(s.term, s.n) == cases[i].collected);
        if (cases[i].collected == 1) {
            const struct term *t = s.term;
            CHECK(t->wave == cases[i].wave && t->c == 1 && t->n == cases[i].symbols && t->angles.n == cases[i].angles);
            for (int k = 0; k < t->angles.n; k++) CHECK(t->angles.multiple[k] == 1);
        }
        free(s.term);
        fourier_free(&f);
    }
    graph_free(&g);
}

TEST(what_is_refused)
{
    struct graph g;
    graph_make(&g);
    const expr x = expr_input(&g, 0), y = expr_input(&g, 1), sum = expr_add(&g, x, y), square = expr_mul(&g, sum, sum);
    const struct {
        expr e;
        int most;
        enum fourier_status status;
    } cases[] = {{expr_function(&g, SQRT, x), MOST_TERMS, FOURIER_OTHER_FUNCTION},
                 {expr_function(&g, SIN, expr_mul(&g, x, y)), MOST_TERMS, FOURIER_OTHER_FUNCTION},
                 {expr_mul(&g, square, square), 4, FOURIER_TOO_LARGE}, /* 5 terms */
                 {expr_mul(&g, square, square), 5, FOURIER_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fourier f;
        CHECK(fourier_make(&g, 1, &cases[i].e, cases[i].most, &f) == cases[i].status);
        fourier_free(&f);
    }
    graph_free(&g);
}

SUITE(graph_fourier_test)
