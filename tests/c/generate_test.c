/* The generated functions as expressions: their values are those of the library, on random robots.
   The expressions round differently; the condition of M enters forward dynamics: 1e-9 of the largest acceleration. Where the
   library's own two algorithms differ by a hundredth of that, the state is too near a singular one to compare. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "generate/elements.h"
#include "generate/generate.h"
#include "oracle/closed.h"
#include "oracle/graph_values.h"

enum { ROBOTS = 150, CLOSED = 60, MOST_COORDINATES = 24 };

/* What was compared. */
struct tally {
    int robots, singular;
    double worst[MOTION];
};

static double largest(int n, const double *x)
{
    double size = 0;
    for (int i = 0; i < n; i++) size = larger(size, fabs(x[i]));
    return size;
}

/* The state of the specimen as arguments */
static void copy_inputs(const struct specimen *s, const struct robot_parts *parts, double *inputs)
{
    const double *const from[] = {s->q, s->qd, s->tau, s->qdd, s->prescribed_qdd, s->line_force};
    for (int i = 0; i < ARG_TIP_WRENCH; i++)
        memcpy(inputs + parts->first[i], from[i], (size_t)(parts->first[i + 1] - parts->first[i]) * sizeof *inputs);
    for (int i = parts->first[ARG_TIP_WRENCH]; i < parts->first[ARGUMENTS]; i++)
        inputs[i] = cos(i); /* wrenches, multipliers */
}

static void compare(const struct generation *what, const struct specimen *s, int i, struct tally *tally)
{
    struct graph g;
    struct robot_parts parts;
    expr *output;
    int n;
    CHECK(generate_expressions(what, i, &g, &parts, &output, &n) == STATUS_OK);
    double *inputs = calloc((size_t)parts.first[ARGUMENTS], sizeof *inputs);
    double *value = calloc((size_t)g.n, sizeof *value), *expected = calloc((size_t)n, sizeof *expected), error = 0;
    copy_inputs(s, &parts, inputs);
    if (generate_reference(what, i, inputs, expected) == STATUS_OK) {
        graph_evaluate(&g, inputs, value);
        for (int k = 0; k < n; k++) error = larger(error, fabs(value_at(value, output[k]) - expected[k]));
        error /= larger(largest(n, expected), 1e-6);
        CHECK(error <= 1e-9);
        tally->worst[i] = larger(tally->worst[i], error);
    }
    free(inputs);
    free(value);
    free(expected);
    parts_free(&parts);
    graph_free(&g);
}

static bool well_conditioned(struct specimen *s)
{
    double *other = s->force;
    if (mechanism_forward(&s->mechanism, &s->in, s->qdd) != STATUS_OK) return false;
    if (mechanism_forward_composite(&s->mechanism, &s->in, other) != STATUS_OK) return false;
    const double size = largest(s->nv, other), error = distance(s->nv, s->qdd, other);
    for (int i = 0; i < s->nv; i++) s->qdd[i] = sin(i + 1); /* for the inverse dynamics */
    return size > 1e-9 && error <= 1e-11 * size;            /* loops may hold everything */
}

static void compare_all(struct specimen *s, struct tally *tally)
{
    const struct generation what = {.mechanism = &s->mechanism, .prefix = "robot", .wrenches = tally->robots % 2 == 1};
    if (s->nv > MOST_COORDINATES) return;
    if (!well_conditioned(s)) {
        tally->singular++;
        return;
    }
    tally->robots++;
    for (int i = 0; i < MOTION; i++) compare(&what, s, i, tally);
}

/* Open robots, or closed ones, some with lines */
static void compare_robots(int robots, bool with_loops)
{
    struct tally tally = {0};
    for (int seed = 0; seed < test_sample(robots); seed++) {
        struct specimen closed;
        struct random random = {.state = (uint64_t)seed};
        if (with_loops ? !closed_random(&closed, seed, ANY_LOOP, 1 + seed % 2, true) : !specimen_random(&closed, seed))
            continue;
        if (with_loops && seed % 3 == 0) CHECK(closed_add_lines(&closed, &random, 1 + seed % 2));
        if (!with_loops) make_positive(&closed);
        compare_all(&closed, &tally);
        specimen_free(&closed);
    }
    CHECK_COVERAGE(tally.robots > robots / 2);
    CHECK(tally.singular < robots / (with_loops ? 10 : 20));
    printf("     %d robots, %d singular; worst", tally.robots, tally.singular);
    for (int i = 0; i < MOTION; i++) printf(" %.1e", tally.worst[i]);
    printf("\n");
}

TEST(generated_expressions_equal_the_library)
{
    compare_robots(ROBOTS, false);
}

TEST(generated_expressions_of_closed_robots_equal_the_library)
{
    compare_robots(CLOSED, true);
}

/* A kind of element or constraint that generate does not know is refused by its name, and never left out */
TEST(unknown_kinds_are_refused)
{
    static const struct force_kind force = {.part = "ropes"};
    static const struct constraint_kind constraint = {.part = "pads"};
    struct specimen s;
    struct random random = {.state = 1};
    struct report report = {0};
    for (int seed = 0; !closed_random(&s, seed, ANY_LOOP, 1, true); seed++) continue;
    CHECK(closed_add_lines(&s, &random, 1));
    CHECK(elements_known(&s.mechanism, &report) && report.errors == 0);
    s.mechanism.element[0].kind = &force;
    CHECK(!elements_known(&s.mechanism, &report) && report.errors == 1);
    s.mechanism.element[0].kind = &line_element;
    s.mechanism.constraints->constraint[0].kind = &constraint;
    CHECK(!elements_known(&s.mechanism, &report) && report.errors == 2);
    specimen_free(&s);
}

SUITE(generate_test)
