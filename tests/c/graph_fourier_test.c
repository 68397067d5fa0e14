/* Sums of products with sines and cosines: the form is unique, and it keeps the value. */
#include "test.h"

#include <stdlib.h>

#include "generate/graph/fourier.h"
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
            struct sum sum = fourier_sum(&f, last), slope = fourier_derivative(&f, &sum, INPUTS - 1, 1);
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

static struct sum sum_for(struct graph *g, struct fourier *f, expr e)
{
    CHECK(fourier_make(g, 1, &e, MOST_TERMS, f) == FOURIER_OK);
    return fourier_sum(f, e);
}

TEST(identities)
{
    struct graph g;
    struct fourier f;
    graph_make(&g);
    const expr a = expr_input(&g, 0), b = expr_input(&g, 1), m = expr_input(&g, 2), ca = expr_function(&g, COS, a),
               sa = expr_function(&g, SIN, a), cb = expr_function(&g, COS, b), sb = expr_function(&g, SIN, b);

    /* m (cos^2 + sin^2) = m */
    struct sum s = sum_for(&g, &f, expr_mul(&g, m, expr_add(&g, expr_mul(&g, ca, ca), expr_mul(&g, sa, sa))));
    CHECK(s.n == 1 && s.term[0].wave == FLAT && s.term[0].n == 1 && s.term[0].c == 1);
    free(s.term);
    fourier_free(&f);

    /* cos a cos b - sin a sin b = cos(a + b) */
    s = sum_for(&g, &f, expr_sub(&g, expr_mul(&g, ca, cb), expr_mul(&g, sa, sb)));
    CHECK(s.n == 1 && s.term[0].wave == COSINE && s.term[0].angles.n == 2 && s.term[0].angles.multiple[1] == 1);
    free(s.term);
    fourier_free(&f);

    /* sin(a - b) + sin(b - a) = 0 */
    s = sum_for(&g, &f,
                expr_add(&g, expr_function(&g, SIN, expr_sub(&g, a, b)), expr_function(&g, SIN, expr_sub(&g, b, a))));
    CHECK(s.n == 0);
    free(s.term);
    fourier_free(&f);

    /* m sin^2 is one term to read */
    s = sum_for(&g, &f, expr_mul(&g, m, expr_mul(&g, sa, sa)));
    CHECK(s.n == 2 && fourier_collect_squares(s.term, s.n) == 1 && s.term[0].wave == SINE_SQUARED && s.term[0].c == 1);
    free(s.term);
    fourier_free(&f);
    graph_free(&g);
}

TEST(what_is_refused)
{
    struct graph g;
    struct fourier f;
    graph_make(&g);
    expr e = expr_function(&g, SQRT, expr_input(&g, 0));
    CHECK(fourier_make(&g, 1, &e, MOST_TERMS, &f) == FOURIER_OTHER_FUNCTION);
    fourier_free(&f);
    e = expr_function(&g, SIN, expr_mul(&g, expr_input(&g, 0), expr_input(&g, 1)));
    CHECK(fourier_make(&g, 1, &e, MOST_TERMS, &f) == FOURIER_OTHER_FUNCTION);
    fourier_free(&f);
    e = expr_add(&g, expr_input(&g, 0), expr_input(&g, 1));
    e = expr_mul(&g, expr_mul(&g, e, e), expr_mul(&g, e, e)); /* 5 terms */
    CHECK(fourier_make(&g, 1, &e, 4, &f) == FOURIER_TOO_LARGE);
    fourier_free(&f);
    CHECK(fourier_make(&g, 1, &e, 5, &f) == FOURIER_OK);
    fourier_free(&f);
    graph_free(&g);
}

int graph_fourier_test(void)
{
    RUN(value_and_slope_are_kept);
    RUN(identities);
    RUN(what_is_refused);
    return test_summary();
}
